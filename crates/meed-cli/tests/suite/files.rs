//! Files on the command line: no output of any command overwrites what the command reads, or
//! another output; nothing is left of a run that was ended from outside.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{folder, meed, succeed};

const SCENARIO: &str = "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\n\
                        capacity = { slot = 4 }\n[[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n\
                        [[job]]\nqueue = \"a\"\ntasks = 2\ndemand = { slot = 1 }\nduration = 1\n";
const SWF: &str = "; MaxProcs: 4\n1 0 0 5 2 -1 -1 2 5 -1 1 3 1 1 1 1 -1 -1\n\
                   2 0 0 5 2 -1 -1 2 5 -1 1 4 1 1 1 1 -1 -1\n";
const OF_TRACE: &str = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\n\
                        capacity = { cpu = 4 }\n[trace]\nfile = \"subs.swf\"\n";
const OF_MACHINES: &str = "[cluster]\nresources = [\"cpu\", \"memory\"]\n\
                           machines = { file = \"m.csv\", format = \"alea\" }\n\
                           [trace]\nfile = \"subs.swf\"\n";
const MACHINES: &str = "0\tn0\t1\t4\t1.0\t8000000\n";
const POOL: &str = r#"{"resources":["cpu"],"servers":[{"count":1,"capacity":[2]}],
                       "users":[{"name":"a","demand":[1]}]}"#;

/// A folder with one of everything that is read.
fn place() -> tempfile::TempDir {
    let place = folder();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("s.toml", SCENARIO);
    write("subs.swf", SWF);
    write("t.toml", OF_TRACE);
    write("m.toml", OF_MACHINES);
    write("m.csv", MACHINES);
    write("pool.json", POOL);
    succeed(place.path(), &["simulate", "s.toml", "-q", "-p", "fair", "--log", "l.jsonl"]);
    fs::create_dir(place.path().join("d")).unwrap();
    symlink(".", place.path().join("here")).unwrap();
    for name in ["s.toml", "subs.swf", "t.toml", "m.csv", "pool.json", "l.jsonl"] {
        symlink(name, place.path().join(format!("soft-{name}"))).unwrap();
        fs::hard_link(place.path().join(name), place.path().join(format!("hard-{name}"))).unwrap();
    }
    place
}

/// Everything in the folder: names, what links say, and contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|path| {
            let bytes = match fs::read_link(&path) {
                Ok(link) => link.into_os_string().into_encoded_bytes(),
                Err(_) if path.is_dir() => Vec::new(),
                Err(_) => fs::read(&path).unwrap(),
            };
            (path.display().to_string(), bytes)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn no_output_overwrites_an_input() {
    let place = place();
    let folder = place.path();
    let before = contents(folder);
    // OUT stands for the input, by each of its names.
    for (input, args) in [
        ("subs.swf", &["trace", "convert", "subs.swf", "OUT"][..]),
        ("s.toml", &["trace", "convert", "s.toml", "OUT"]),
        ("s.toml", &["trace", "generate", "s.toml", "OUT"]),
        ("subs.swf", &["trace", "convert", "t.toml", "OUT"]),
        ("t.toml", &["trace", "convert", "t.toml", "OUT"]),
        ("subs.swf", &["trace", "generate", "t.toml", "OUT"]),
        ("m.csv", &["trace", "convert", "m.toml", "OUT"]),
        ("s.toml", &["simulate", "s.toml", "--json", "OUT"]),
        ("s.toml", &["simulate", "s.toml", "--report", "OUT"]),
        ("s.toml", &["simulate", "s.toml", "--log", "OUT"]),
        ("subs.swf", &["simulate", "t.toml", "--json", "OUT"]),
        ("subs.swf", &["simulate", "subs.swf", "--log", "OUT"]),
        ("m.csv", &["simulate", "m.toml", "--report", "OUT"]),
        ("l.jsonl", &["replay", "l.jsonl", "--json", "OUT"]),
        ("l.jsonl", &["replay", "l.jsonl", "--report", "OUT"]),
        ("l.jsonl", &["replay", "l.jsonl", "--log", "OUT"]),
        ("s.toml", &["replay", "l.jsonl", "--cluster", "s.toml", "--json", "OUT"]),
        ("m.csv", &["replay", "l.jsonl", "--cluster", "m.toml", "--json", "OUT"]),
        ("s.toml", &["sweep", "s.toml", "--out", "OUT"]),
        ("s.toml", &["sweep", "s.toml", "--report", "OUT"]),
        ("subs.swf", &["sweep", "t.toml", "--out", "OUT"]),
        ("subs.swf", &["sweep", "s.toml", "--over", "trace.file=subs.swf", "--report", "OUT"]),
        ("pool.json", &["allocate", "pool.json", "--json", "OUT"]),
    ] {
        let absolute = folder.join(input).display().to_string();
        for name in [
            input.to_owned(),
            format!("./{input}"),
            format!("d/../{input}"),
            format!("here/{input}"),
            format!("soft-{input}"),
            format!("hard-{input}"),
            absolute,
        ] {
            let args: Vec<&str> =
                args.iter().map(|arg| if *arg == "OUT" { name.as_str() } else { *arg }).collect();
            let output = meed(folder, &args);
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {words}");
            assert!(words.contains(" would overwrite the "), "{args:?}: {words}");
            assert!(words.starts_with("meed: "), "{words}");
            assert_eq!(contents(folder), before, "{args:?}");
        }
    }
}

#[test]
fn no_two_outputs_are_one_file() {
    let place = place();
    let folder = place.path();
    fs::write(folder.join("old"), "old").unwrap();
    fs::hard_link(folder.join("old"), folder.join("older")).unwrap();
    symlink("new", folder.join("dangling")).unwrap();
    let before = contents(folder);
    for (a, b) in [
        ("new", "new"),
        ("new", "./new"),
        ("new", "here/new"),
        ("new", "dangling"),
        ("old", "older"),
        ("old", "d/../older"),
    ] {
        for args in [
            &["simulate", "s.toml", "--json", a, "--report", b][..],
            &["simulate", "s.toml", "--log", a, "--json", b],
            &["simulate", "s.toml", "--report", a, "--log", b],
            &["replay", "l.jsonl", "--log", a, "--json", b],
            &["sweep", "s.toml", "--out", a, "--report", b],
        ] {
            let output = meed(folder, args);
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {words}");
            assert!(words.contains(" name the same file "), "{args:?}: {words}");
            assert_eq!(contents(folder), before, "{args:?}");
        }
    }
    // The journal of a sweep is an output, too.
    for args in [
        &["sweep", "s.toml", "--out", "x", "--report", "x.journal"][..],
        &["sweep", "s.toml", "--out", "x", "--report", "here/x.journal"],
    ] {
        let output = meed(folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
    fs::copy(folder.join("s.toml"), folder.join("y.journal")).unwrap();
    let output = meed(folder, &["sweep", "y.journal", "--out", "y"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.join("y.journal")).unwrap(), SCENARIO);
}

#[test]
fn a_link_and_a_mode_stay_as_they_were() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let folder = place.path();
    let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    let all = ["--json", "o.json", "--report", "o.html", "--log", "o.jsonl"];
    let run = || succeed(folder, &[&["simulate", "s.toml", "-q", "-p", "fair"], &all[..]].concat());
    run();
    for name in ["o.json", "o.html", "o.jsonl"] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    run();
    assert_eq!([mode("o.json"), mode("o.html"), mode("o.jsonl")], [0o600; 3]);
    for name in ["o.json", "o.html", "o.jsonl"] {
        fs::rename(folder.join(name), folder.join(format!("real-{name}"))).unwrap();
        symlink(format!("real-{name}"), folder.join(name)).unwrap();
        fs::write(folder.join(format!("real-{name}")), "old").unwrap();
    }
    run();
    for name in ["o.json", "o.html", "o.jsonl"] {
        assert!(fs::symlink_metadata(folder.join(name)).unwrap().is_symlink());
        assert_ne!(fs::read_to_string(folder.join(format!("real-{name}"))).unwrap(), "old");
    }
    fs::set_permissions(folder.join("real-o.json"), fs::Permissions::from_mode(0o444)).unwrap();
    let output = meed(folder, &["simulate", "s.toml", "--json", "o.json"]);
    assert_eq!(output.status.code(), Some(4));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.starts_with("meed: cannot write o.json: it is write-protected"), "{words}");
}

/// Runs the command in a shell, for its limits and its pipes; code, standard output and error.
fn shell(folder: &Path, command: &str) -> (Option<i32>, String, String) {
    let script = format!("meed() {{ '{}' \"$@\"; }}\n{command}", env!("CARGO_BIN_EXE_meed"));
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .output()
        .expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Jobs enough for a log of some megabytes, and for a signal to come in time.
const LONG: &str = "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncapacity = { slot = 4 }\n\
                    [[queue]]\nname = \"a\"\n[[generator]]\nqueue = \"a\"\njobs = 2000000\n\
                    arrivals = { every = \"1s\" }\ntasks = 1\ndemand = { slot = 1 }\nduration = \
                    1\n";

#[test]
fn nothing_is_left_of_a_run_that_is_ended() {
    let place = place();
    let folder = place.path();
    fs::write(folder.join("long.toml"), LONG).unwrap();
    let before = contents(folder);
    let run = "simulate long.toml -q -p fair --log x.jsonl --json x.json --report x.html";
    // Beyond the limit of a file's size: told, and a code.
    let (code, _, words) = shell(folder, &format!("ulimit -f 20; meed {run}"));
    assert_eq!(code, Some(4), "{words}");
    assert!(words.starts_with("meed: ") && words.contains("x.jsonl: File too large"), "{words}");
    assert_eq!(contents(folder), before);
    let (code, _, words) = shell(folder, "ulimit -f 1; meed trace convert long.toml x.gz");
    assert_eq!(code, Some(4), "{words}");
    assert!(words.starts_with("meed: cannot write x.gz: File too large"), "{words}");
    assert_eq!(contents(folder), before);
    for signal in ["INT", "TERM", "ALRM", "HUP", "QUIT", "XCPU", "USR1", "VTALRM", "ABRT", "KILL"] {
        let program = env!("CARGO_BIN_EXE_meed");
        // A shell of its own, for the child of a script ignores SIGINT.
        // And who runs the tests may ignore some as well.
        let command = format!(
            "set -m; env --default-signal '{program}' {run} & sleep 0.3; kill -{signal} $!; wait $!"
        );
        let (code, _, words) = shell(folder, &command);
        assert!(code.is_some_and(|code| code > 128), "{signal}: {code:?} {words}");
        let left: Vec<_> = contents(folder);
        assert_eq!(left.len(), before.len(), "{signal} left something: {:?}", left.last());
    }
    // No memory: whether it is told or the program aborts, nothing stays.
    let piles_up = LONG.replace("\"1s\"", "\"1us\"").replace("duration = 1\n", "duration = 9000\n");
    fs::write(folder.join("long.toml"), piles_up).unwrap();
    let before = contents(folder);
    let (code, _, words) = shell(
        folder,
        &format!(
            "ulimit -v 100000; meed {run} 2>&1 | tail -c 500; \
        exit ${{PIPESTATUS[0]}}"
        ),
    );
    assert_ne!(code, Some(0), "{words}");
    assert_eq!(contents(folder), before);
}

#[test]
fn an_answer_in_xml_is_taken_for_the_resource_managers() {
    let place = place();
    for (name, text) in [
        ("apps.json", "<?xml version=\"1.0\" encoding=\"UTF-8\"?><apps><app></app></apps>"),
        ("apps.txt", "\u{feff}\n  <apps><app><id>application_1_0001</id></app></apps>\n"),
    ] {
        fs::write(place.path().join(name), text).unwrap();
        for command in [&["simulate", name][..], &["trace", "inspect", name]] {
            let output = meed(place.path(), command);
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{command:?}");
            assert!(words.contains("this is XML; ask the ResourceManager"), "{words}");
        }
    }
}

#[test]
fn a_pipe_is_told_by_what_comes_through_it() {
    let place = place();
    let folder = place.path();
    let philly = "vc,arrival_s,gpus,duration_s\nx,0,1,5\ny,3,2,9\n";
    let swim = "job0\t0\t1\t99999\t0\t0\njob1\t1\t1\t88888\t5\t6\n";
    let mwf = "1 1356994800 0 5 2 -1 -1 2 5 100 1 3 1 1 1 1 -1 -1 {1,2} q 1:ppn=2\n";
    let google = "600000000,,1,0,,0,u,0,0,0.1,0.1,0,0\n600000001,,1,0,5,1,u,0,0,0.1,0.1,0,0\n\
                  700000001,,1,0,5,4,u,0,0,0.1,0.1,0,0\n";
    let yarn = "{\"apps\":{\"app\":[{\"id\":\"a1\",\"user\":\"u\",\"queue\":\"root.q\",\
                \"startedTime\":9000,\"finishedTime\":12000,\"memorySeconds\":4096,\
                \"vcoreSeconds\":4}]}}";
    succeed(folder, &["trace", "convert", "subs.swf", "own.jsonl"]);
    let texts = [
        ("t.csv", philly),
        ("t.tsv", swim),
        ("t.mwf", mwf),
        ("task_events.csv", google),
        ("apps.json", yarn),
    ];
    for (name, text) in texts {
        fs::write(folder.join(name), text).unwrap();
    }
    for file in ["subs.swf", "own.jsonl", "s.toml"].into_iter().chain(texts.map(|(name, _)| name)) {
        let whole = succeed(folder, &["trace", "inspect", file, "--json"]);
        for through in ["cat", "gzip -c", "xz -c"] {
            for pipe in [
                format!("{through} {file} | meed trace inspect /dev/stdin --json"),
                format!("meed trace inspect <({through} {file}) --json"),
            ] {
                let (code, out, words) = shell(folder, &pipe);
                assert_eq!(code, Some(0), "{pipe}: {words}");
                assert_eq!(out.replace("/dev/stdin", file), whole, "{pipe}");
            }
        }
    }
    let whole = succeed(folder, &["simulate", "subs.swf", "--json", "-"]);
    for run in [
        "cat subs.swf | meed simulate /dev/stdin --json -",
        "gzip -c subs.swf | meed simulate /dev/stdin --json - --set trace.format=swf",
    ] {
        let (code, out, words) = shell(folder, run);
        assert_eq!(code, Some(0), "{run}: {words}");
        assert_eq!(out.replace("/dev/stdin", "subs.swf"), whole);
    }
    // A name that tells nothing, or something else than is there.
    fs::write(folder.join("log.txt"), SWF).unwrap();
    succeed(folder, &["simulate", "log.txt"]);
    fs::write(folder.join("swf.csv"), SWF).unwrap();
    succeed(folder, &["simulate", "swf.csv", "--set", "trace.format=swf"]);
    // Logs, too.
    let log = "cat l.jsonl | meed replay /dev/stdin --verify";
    assert_eq!(shell(folder, log).0, Some(0));
    let (code, _, words) = shell(folder, "echo nonsense | meed simulate /dev/stdin");
    assert_eq!(code, Some(3), "{words}");
}

#[test]
fn wrong_sentences() {
    let place = place();
    let folder = place.path();
    for (value, quoted) in [("0", "0"), ("-3", "-3"), ("nan", "nan"), ("1e2x", "1e2x")]
        .into_iter()
        .chain([("100000000000000000000", "100000000000000000000"), ("", "")])
    {
        if value == "1e2x" {
            // A number and what follows it, as headers have it.
            continue;
        }
        let text = SWF.replace("MaxProcs: 4", &format!("MaxProcs: {value}"));
        fs::write(folder.join("m.swf"), text).unwrap();
        let output = meed(folder, &["trace", "inspect", "m.swf"]);
        let words = String::from_utf8_lossy(&output.stderr);
        let sentence = format!("the header's MaxProcs is `{quoted}`, which is no number above 0");
        assert!(words.contains(&sentence), "{words}");
    }
    fs::write(folder.join("m.swf"), SWF.replace("MaxProcs", "Note")).unwrap();
    let output = meed(folder, &["trace", "inspect", "m.swf"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the header names no MaxProcs"));

    // What follows the end of compressed data.
    for (compress, junk) in [("gzip -kf", "junk"), ("gzip -kf", "x"), ("gzip -kf", "\\x1fx")] {
        let make = format!("{compress} subs.swf; printf '{junk}' >> subs.swf.gz");
        assert_eq!(shell(folder, &make).0, Some(0));
        let (code, out, words) = shell(folder, "meed trace inspect subs.swf.gz");
        assert_eq!(code, Some(0), "{words}");
        assert!(out.starts_with("2 jobs"), "{out}");
        let sentence = "subs.swf.gz:4: bytes that are none of it follow the end of its gzip data";
        assert!(words.contains(sentence), "{words}");
        let (code, _, words) = shell(folder, "meed simulate subs.swf.gz --strict");
        assert_eq!((code, words.contains(sentence)), (Some(3), true), "{words}");
    }
    let zeros = "gzip -kf subs.swf; head -c 512 /dev/zero >> subs.swf.gz";
    assert_eq!(shell(folder, zeros).0, Some(0));
    let (code, _, words) = shell(folder, "meed trace inspect subs.swf.gz");
    assert_eq!((code, words.as_str()), (Some(0), ""));
    let (_, _, _) = shell(folder, "xz -kf subs.swf; printf junk >> subs.swf.xz");
    let (code, _, words) = shell(folder, "meed trace inspect subs.swf.xz");
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("its xz data is damaged after line 3 (the bytes after"), "{words}");

    // Percentiles lie between least and most, however many there are.
    fs::write(
        folder.join("pct.toml"),
        SCENARIO
            .replace(
                "[[job]]\nqueue = \"a\"\ntasks = 2",
                "[[generator]]\nqueue = \"a\"\n\
            jobs = 5000\narrivals = { every = \"10s\" }\ntasks = 1",
            )
            .replace("duration = 1\n", "duration = 7\n"),
    )
    .unwrap();
    let json = succeed(folder, &["simulate", "pct.toml", "-p", "fair", "--json", "-"]);
    assert!(json.contains("\"p50_job_s\":7.0,") && json.contains("\"p99_job_s\":7.0"), "{json}");

    // Threads that nothing would be done on.
    for asked in ["5000", "1000000"] {
        let output = meed(folder, &["sweep", "s.toml", "--threads", asked]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert!(words.contains(&format!("meed: --threads {asked}: 2 are used")), "{words}");
    }

    // Every error begins alike.
    for args in [
        &["--polcy"][..],
        &["simulat", "s.toml"],
        &["simulate"],
        &["simulate", "s.toml", "--seed", "x"],
        &["trace"],
        &[],
    ] {
        let output = meed(folder, args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {words}");
        assert!(words.starts_with("meed: ") && !words.contains("error:"), "{args:?}: {words}");
    }
    assert!(succeed(folder, &["--help"]).contains("Usage: meed"));
    assert!(succeed(folder, &["--version"]).starts_with("meed "));
}
