//! `meed allocate` through the program: the page's example, exit codes, and that nothing is
//! half-written.

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

fn project(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The example of docs/allocate.md in a folder of its own.
fn example() -> tempfile::TempDir {
    let page = project("docs/allocate.md");
    let input = page
        .split("```json\n")
        .nth(1)
        .and_then(|rest| rest.split("\n```").next())
        .expect("an example");
    let folder = folder();
    fs::write(folder.path().join("in.json"), input).expect("a writable folder");
    folder
}

fn json(folder: &Path, policy: &str) -> Value {
    serde_json::from_str(&succeed(
        folder,
        &["allocate", "in.json", "--policy", policy, "--json", "-"],
    ))
    .expect("JSON")
}

#[test]
fn the_example_of_the_page() {
    let folder = example();
    for (policy, level, tasks) in [
        ("drfh", 5.0 / 7.0, 10.0),
        ("long-term-drf", 5.0 / 7.0, 10.0),
        ("drf", 5.0 / 6.0, 35.0 / 3.0),
        ("per-server-drf", 3.0 / 7.0, 6.0),
        ("slots", 1.0 / 14.0, 1.0),
    ] {
        let result = json(folder.path(), policy);
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        assert_eq!(result["policy"], policy);
        assert!((number(&result["level"]) - level).abs() < 1e-12, "{result}");
        for (user, name) in ["a", "b"].iter().enumerate() {
            assert_eq!(result["users"][user]["name"], *name);
            assert!((number(&result["users"][user]["tasks"]) - tasks).abs() < 1e-9, "{result}");
        }
    }
    let result = json(folder.path(), "drfh");
    // The prices that the page checks by hand.
    let prices = &result["certificate"]["rounds"][0]["prices"];
    for (server, resource, price) in
        [(0, "cpu", 1.0 / 12.0), (0, "memory", 0.0), (1, "cpu", 0.0), (1, "memory", 5.0 / 12.0)]
    {
        let got = prices[server][resource].as_f64().unwrap_or(f64::NAN);
        assert!((got - price).abs() < 1e-12, "{prices}");
    }
}

/// examples/paid.json by the formula alone: (received + worth x) / paid is the level of all who
/// want more.
#[test]
fn what_was_paid_decides() {
    let folder = folder();
    let input = project("examples/paid.json");
    fs::write(folder.path().join("in.json"), &input).expect("a writable folder");
    let (input, result): (Value, Value) =
        (serde_json::from_str(&input).expect("JSON"), json(folder.path(), "as-you-pay"));
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let level = number(&result["level"]);
    let mut at_level = 0;
    for (user, row) in input["users"].as_array().expect("users").iter().enumerate() {
        let (tasks, most) = (number(&result["users"][user]["tasks"]), row["tasks"].as_f64());
        let share = number(&result["users"][user]["dominant_share"]);
        let key =
            (number(&row["received"]) + number(&input["worth"]) * share) / number(&row["paid"]);
        let has_all = most.is_some_and(|most| (tasks - most).abs() < 1e-9);
        at_level += usize::from((key - level).abs() < 1e-9);
        assert!((key - level).abs() < 1e-9 || (has_all && key < level), "{row} {result}");
    }
    assert_eq!(at_level, 3, "{result}");
}

#[test]
fn tables_files_and_the_same_bytes_again() {
    let folder = example();
    let table = succeed(folder.path(), &["allocate", "in.json", "--json", "out.json"]);
    assert!(table.contains("level 0.714286") && table.contains("nobody can have more"), "{table}");
    let first = fs::read(folder.path().join("out.json")).expect("it was written");
    assert!(
        succeed(folder.path(), &["allocate", "in.json", "--json", "out.json", "-q"]).is_empty()
    );
    assert_eq!(fs::read(folder.path().join("out.json")).expect("it was written"), first);
    assert_eq!(succeed(folder.path(), &["allocate", "in.json", "--json", "-"]).into_bytes(), first);
    let slots = |policy: &str| json(folder.path(), policy)["users"][0]["tasks"].as_f64();
    assert!(slots("slots,slots_per_server=28") > slots("slots,slots_per_server=14"));
}

#[test]
fn what_is_wrong_has_its_exit_code_and_leaves_no_file() {
    let folder = example();
    let good = fs::read_to_string(folder.path().join("in.json")).expect("the example");
    fs::create_dir(folder.path().join("dir")).expect("a writable folder");
    fs::write(folder.path().join("bytes.json"), [0xff, 0xfe]).expect("a writable folder");
    let check = |file: &str, more: &[&str], code: i32, message: &str| {
        let args = [&["allocate", file][..], more].concat();
        let output = meed(folder.path(), &args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
        assert!(
            words.contains(message) && !words.contains("panicked"),
            "{args:?}: `{message}` is not in: {words}"
        );
        assert!(output.stdout.is_empty() && !folder.path().join("out.json").exists(), "{args:?}");
        let left = fs::read_dir(folder.path()).expect("a readable folder").count();
        assert!(left <= 4, "{args:?} left something behind");
    };
    let out = ["--json", "out.json"];
    for (from, to, message) in [
        ("\"memory\":12", "\"memory\":-1", "wrong.json: servers[0]: capacity of `memory` is -1"),
        (
            "\"cpu\":0.2",
            "\"cpu\":13",
            "wrong.json: user `a`: a task demands 13 of `cpu`; the largest server has 12",
        ),
        ("\"name\":\"b\"", "\"name\":\"a\"", "wrong.json: there are two users `a`"),
        ("\"cpu\":0.2", "\"cpus\":0.2", "unknown resource `cpus`; did you mean `cpu`?"),
        ("\"cpu\":0.2", "\"cpu\":NaN", "wrong.json:3: expected value"),
        ("\"weight\":1", "\"wieght\":1", "wrong.json:3: unknown field `wieght`"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(folder.path().join("wrong.json"), good.replacen(from, to, 1))
            .expect("a writable folder");
        check("wrong.json", &out, 3, message);
    }
    check("none.json", &out, 4, "none.json: cannot be read: No such file");
    check("dir", &out, 4, "dir: cannot be read: ");
    check("bytes.json", &out, 3, "bytes.json: is not text in UTF-8");
    check("in.json", &["--json", "none/out.json"], 4, "cannot write none/out.json");
    check("in.json", &["--json", "dir"], 4, "cannot write dir");
    check("in.json", &["--json", "in.json"], 2, "--json would overwrite the input in.json");
    check(
        "in.json",
        &["--policy", "drfx"],
        3,
        "unknown policy `drfx`; known are drf, drfh, long-term-drf",
    );
    check(
        "in.json",
        &["--policy", "drfh,slots_per_server=3"],
        3,
        "the only key is slots_per_server, of slots",
    );
    check("in.json", &["--policy", "slots,slots_per_server=0"], 3, "must be a whole number from 1");
    check(
        "in.json",
        &["--policy", "as-you-pay"],
        3,
        "in.json: user `a`: has paid nothing; under as-you-pay `paid` must be above 0",
    );
    check("in.json", &["--polcy", "drf"], 2, "unexpected argument");
}
