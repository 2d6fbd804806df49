//! What a file says is shown, not obeyed: no control and no change of the writing direction in any
//! name, text or number reaches people by any command. JSON and logs keep it, for programs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

/// As TOML and JSON write it: escape sequences, a bell, controls of Latin-1, line breaks that forge
/// a line, directions, separators, what has no width.
const NASTY: &str = "\\u001b[31mred\\u001b[2J\\u0007\\b\\u007f\\u0085\\u009b1m\\nFORGED\\r\
                     \\t\\u202egnp\
                     \\u2066\\u2067\\u2068\\u2069\\u202a\\u202b\\u202c\\u202d\\u200e\\u200f\
                     \\u061c\\u2028\\u2029\
                     \\u200b\\ufeffz";

/// The same as it is.
fn nasty() -> String {
    serde_json::from_str(&format!("\"{NASTY}\"")).unwrap()
}

/// May people see this, in a text of lines?
fn is_shown(c: char) -> bool {
    c == '\n' || !c.is_control() && meed_config::text::mark(c).is_none()
}

/// Runs a command; nothing of what it says, and of the pages that it writes, may be obeyed.
fn check(folder: &Path, args: &[&str], code: i32) -> String {
    let output = meed(folder, args);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
    let mut all = String::new();
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).expect("text");
        let bad = text.chars().find(|c| !is_shown(*c));
        assert_eq!(bad, None, "{args:?}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{args:?}: {text}");
        all += text;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "html") {
            let page = fs::read_to_string(&path).unwrap();
            let bad = page.chars().find(|c| !is_shown(*c) && *c != '\t');
            assert_eq!(bad, None, "{args:?}");
            for escaped in ["\\u001b", "\\u007f", "\\u202e", "\\u2066"] {
                assert!(!page.contains(escaped), "{args:?}: the page holds {escaped}");
            }
            assert!(page.contains("red"), "{args:?}: the page does not show the name at all");
            fs::remove_file(path).unwrap();
        }
    }
    all
}

fn scenario() -> String {
    let resource = NASTY.replace("\\n", "");
    format!(
        "[cluster]\nresources = [\"cpu\", \"r{resource}\"]\n[[cluster.node]]\nname = \"n{NASTY}\"\n\
         capacity = {{ cpu = 2, \"r{resource}\" = 2 }}\nlabels = {{ \"l{NASTY}\" = \"v{NASTY}\" \
         }}\n\
         [[queue]]\nname = \"q{NASTY}\"\nmin = {{ cpu = 2 }}\n[[queue]]\nname = \"b\"\n\
         min = {{ cpu = 2 }}\n[policies.\"p{NASTY}\"]\norder = \"fair\"\n\
         [[job]]\nqueue = \"q{NASTY}\"\nname = \"j{NASTY}\"\ntasks = 5\ndemand = {{ cpu = 1 }}\n\
         duration = 10\n\
         [[job]]\nqueue = \"b\"\nname = \"j\"\ntasks = 5\ndemand = {{ cpu = 1 }}\nduration = 10\n"
    )
}

#[test]
fn names_of_a_scenario() {
    let place = folder();
    let folder = place.path();
    fs::write(folder.join("s.toml"), scenario()).unwrap();
    let told = check(folder, &["trace", "inspect", "s.toml"], 0);
    assert!(told.contains("q␛[31mred␛[2J␇␈␡"), "{told}");
    check(folder, &["trace", "convert", "s.toml", "own.jsonl"], 0);
    check(folder, &["trace", "inspect", "own.jsonl"], 0);
    check(folder, &["simulate", "own.jsonl"], 0);
    let named = format!("p{}", nasty());
    for policy in ["fair", "long-term", "drf", &named] {
        check(folder, &["simulate", "s.toml", "-p", policy], 0);
        check(
            folder,
            &["simulate", "s.toml", "-p", policy, "-p", "static", "--report", "r.html"],
            0,
        );
        check(folder, &["simulate", "s.toml", "-p", policy, "-q", "--log", "l.jsonl"], 0);
        check(folder, &["replay", "l.jsonl", "--report", "r.html"], 0);
        check(folder, &["replay", "l.jsonl", "-p", "fifo"], 0);
        check(folder, &["replay", "l.jsonl", "--verify"], 0);
        for queue in ["b".to_owned(), format!("q{}", nasty())] {
            check(folder, &["explain", "l.jsonl", "--queue", &queue, "--at", "5s"], 0);
        }
        for job in ["b/j".to_owned(), format!("q{0}/j{0}", nasty())] {
            check(folder, &["explain", "l.jsonl", "--job", &job, "--at", "5s"], 0);
        }
        check(folder, &["explain", "l.jsonl", "--at", "5s"], 0);
        check(folder, &["explain", "l.jsonl", "--queue", "nobody", "--at", "5s"], 2);
        check(folder, &["replay", "l.jsonl", "--run", "nobody"], 2);
    }
    let log = fs::read_to_string(folder.join("l.jsonl")).unwrap();
    let changed = log.replacen("\"seed\":0", "\"seed\":1", 1).replace(NASTY, "other");
    fs::write(folder.join("changed.jsonl"), changed + "{\"t\":\"\\u001b\u{202e}\"}\n").unwrap();
    check(folder, &["replay", "changed.jsonl", "--verify"], 3);
    check(
        folder,
        &[
            "sweep",
            "s.toml",
            "--over",
            "queue.0.weight=1,2",
            "--report",
            "s.html",
            "--out",
            "s.csv",
        ],
        0,
    );
    check(folder, &["sweep", "s.toml", "-p", &named], 0);
    check(folder, &["sweep", "s.toml", "--over", &format!("policy=fair,{named}")], 2);
    // Programs get the name as it is.
    let json = succeed(folder, &["simulate", "s.toml", "-p", "fair", "--json", "-"]);
    assert!(!json.contains('\u{1b}'), "JSON escapes controls");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json.to_string().contains(&serde_json::to_string(&nasty()).unwrap()[1..20]));
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert!(first.to_string().contains("red"));
}

#[test]
fn errors_that_quote() {
    let place = folder();
    let folder = place.path();
    let good = scenario();
    for (from, to) in [
        (format!("queue = \"q{NASTY}\""), format!("queue = \"x{NASTY}\"")),
        ("duration = 10".to_owned(), format!("duration = \"{NASTY}\"")),
        ("tasks = 5".to_owned(), format!("tasks = 5\n\"k{NASTY}\" = 1")),
        ("demand = { cpu = 1 }".to_owned(), format!("demand = {{ \"{NASTY}\" = 1 }}")),
        ("order = \"fair\"".to_owned(), format!("order = \"{NASTY}\"")),
        ("order = \"fair\"".to_owned(), format!("\"{NASTY}\" = 1")),
        ("min = { cpu = 2 }".to_owned(), "min = { cpu = 3 }".to_owned()),
        ("capacity = {".to_owned(), format!("capacity = {{ \"c{NASTY}\" = 1,")),
        ("[[job]]".to_owned(), format!("[trace]\nfile = \"{NASTY}.swf\"\n[[job]]")),
        ("[[job]]".to_owned(), format!("[trace]\nfile = \"x\"\nformat = \"{NASTY}\"\n[[job]]")),
        ("[[queue]]".to_owned(), format!("[[queue]]\nname = \"q{NASTY}\"\n[[queue]]")),
        ("name = \"b\"".to_owned(), format!("name = \"b\"\nweight = \"{NASTY}\"")),
        ("[cluster]".to_owned(), "[cluster\u{202e}\u{1b}]".to_owned()),
        ("[cluster]".to_owned(), "\u{1b}]0;title\u{7}\n[cluster]".to_owned()),
    ] {
        assert!(good.contains(&from), "{from}");
        fs::write(folder.join("s.toml"), good.replacen(&from, &to, 1)).unwrap();
        for args in [
            &["simulate", "s.toml", "--strict"][..],
            &["trace", "inspect", "s.toml"],
            &["sweep", "s.toml"],
        ] {
            let output = meed(folder, args);
            let code = output.status.code().unwrap();
            assert!(matches!(code, 3 | 4), "{to}: {}", String::from_utf8_lossy(&output.stderr));
            let told = check(folder, args, code);
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
    let changed = format!("{good}[[change]]\nat = 1\nnode_leaves = \"n{NASTY}x\"\n");
    fs::write(folder.join("s.toml"), changed).unwrap();
    let code = meed(folder, &["simulate", "s.toml"]).status.code().unwrap();
    check(folder, &["simulate", "s.toml"], code);
    fs::write(folder.join("s.toml"), &good).unwrap();
    for args in [
        &["simulate", "s.toml", "-p", "x\u{1b}[31m\u{202e}"][..],
        &["simulate", "s.toml", "--set", "x\u{1b}[31m\u{202e}=1"],
        &["simulate", "x\u{1b}[31m\u{202e}\n.toml"],
        &["simulate", "--x\u{1b}[31m\u{202e}"],
        &["x\u{1b}[31m\u{202e}"],
        &["allocate", "x\u{1b}[31m\u{202e}"],
    ] {
        let code = meed(folder, args).status.code().unwrap();
        assert_ne!(code, 0);
        check(folder, args, code);
    }
}

#[test]
fn traces_and_pools() {
    let place = folder();
    let folder = place.path();
    let raw = "\u{1b}[31mred\u{7}\u{85}\u{202e}\u{2066}\u{200b}";
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    let swf = "1 0 0 5 2 -1 -1 2 5 -1 1 3 1 1 1 1 -1 -1\n";
    write("a.swf", format!("; MaxProcs: {raw}\n{swf}{raw} {raw}\n2 {raw}{}", &swf[3..]));
    write("a.csv", format!("vc,arrival_s,gpus,duration_s\nv{raw},0,1,60\nw,x{raw},1,60\n"));
    write("a.tsv", format!("j{raw}\t0\t1\t99\t0\t0\nk\t{raw}\t1\t9\t0\t0\n"));
    write(
        "a.mwf",
        format!(
            "1 1356994800 0 5 2 -1 -1 2 5 100 1 3 1 1 1 1 -1 -1 {{1}} q{raw} 1:ppn=2:cl_{raw}\n\
             2 1356994801 0 5 2 -1 -1 2 5 100 1 3 1 1 1 1 -1 -1 {{1}} q{raw} {raw}\n"
        ),
    );
    write("a.machines", format!("0\tm{raw}\t1\t8\t1.0\t8000000\n1\t{raw}\t{raw}\t8\t1\t1\n"));
    write("task_events.csv", {
        let row = |t: u32, machine: &str, event: u32| {
            format!("{t},,1,0,{machine},{event},u{raw},0,0,0.1,0.1,0,0\n")
        };
        row(600_000_000, "", 0) + &row(600_000_001, "5", 1) + &row(700_000_000, "5", 4) + raw
    });
    for file in ["a.swf", "a.csv", "a.tsv", "a.mwf", "task_events.csv"] {
        for args in [
            &["trace", "inspect", file][..],
            &["simulate", file, "-p", "fair", "--report", "r.html"],
            &["simulate", file, "--strict"],
            &["sweep", file, "-p", "fair"],
            &["trace", "convert", file, "o.jsonl"],
        ] {
            let output = meed(folder, args);
            let code = output.status.code().unwrap();
            // The page of a trace without names has none to show.
            if args.contains(&"--report") && matches!(file, "a.swf" | "a.tsv") {
                let _ = fs::remove_file(folder.join("r.html"));
                continue;
            }
            check(folder, args, code);
        }
    }
    // Not text at all.
    fs::write(folder.join("b.swf"), b"; MaxProcs: 4\n\xff\xfe\x1b[31m 1 2\n").unwrap();
    check(folder, &["trace", "inspect", "b.swf"], 3);
    let pool = format!(
        "{{\"servers\":[{{\"count\":1,\"capacity\":{{\"c{NASTY}\":9}}}}],\"users\":[{{\"name\":\"u\
            {NASTY}\",\
         \"demand\":{{\"c{NASTY}\":1}}}},{{\"name\":\"B\",\"demand\":{{\"c{NASTY}\":3}}}}]}}"
    );
    write("pool.json", pool.clone());
    for policy in ["drf", "drfh", "long-term-drf", "per-server-drf", "slots"] {
        let told = check(folder, &["allocate", "pool.json", "--policy", policy], 0);
        assert!(told.contains("u␛[31mred"), "{told}");
    }
    write("pool.json", pool.replace("\"demand\":{\"c", "\"demand\":{\"x"));
    check(folder, &["allocate", "pool.json"], 3);
}
