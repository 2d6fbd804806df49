//! Journals of live worlds, from their folder: replayed, checked and explained by the program.
//! Random ones with all that can be told are in `meed-replay/tests/suite/live.rs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

const FIRST: &str = r#"{"segment":{"version":1}}
{"seq":0,"t":0.0,"run":{"schema":2,"rules":2,"world":"server","policy":"fair","resources":["cpu"],"units":["milli"],"measured":"cpu","placement":"first-fit","root":{"order":"fair"},"nodes":[{"name":"n","capacity":{"cpu":1.0}}],"queues":[{"queue":"a"},{"queue":"b"}]}}
{"seq":1,"t":1.0,"arrive":{"queue":"a","job":"x","max_attempts":0,"groups":[{"tasks":3,"demand":{"cpu":1.0}}]}}
{"seq":2,"t":1.0,"start":{"queue":"a","job":"x","task":0,"node":"n"}}
{"seq":3,"t":5.0,"end":{"job":"x","task":0}}
{"seq":4,"t":5.0,"start":{"queue":"a","job":"x","task":1,"node":"n"}}
"#;

/// The second segment, with room behind that is not used yet.
const SECOND: &str = concat!(
    r#"{"seq":5,"t":6.0,"arrive":{"queue":"b","job":"y","max_attempts":0,"#,
    r#""groups":[{"tasks":2,"demand":{"cpu":1.0}}]}}
{"seq":6,"t":9.0,"undone":{"job":"x","task":1,"why":"no image"}}
{"seq":7,"t":9.0,"start":{"queue":"b","job":"y","task":0,"node":"n"}}
{"seq":8,"t":12.0,"end":{"job":"y","task":0}}
{"seq":9,"t":12.0,"start":{"queue":"a","job":"x","task":1,"attempt":1,"node":"n"}}



"#
);

fn journal(folder: &Path, second: &str) {
    let path = folder.join("journal");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("00000000000000000001.jsonl"), FIRST).unwrap();
    fs::write(path.join("00000000000000000006.jsonl"), second).unwrap();
    fs::write(path.join("snapshot"), "no segment").unwrap();
}

#[test]
fn a_journal_is_replayed_from_its_folder() {
    let here = folder();
    journal(here.path(), SECOND);
    let said = succeed(here.path(), &["replay", "journal", "--verify"]);
    assert!(said.contains("fair decides as recorded"), "{said}");
    let args = ["replay", "journal", "--policy", "long-term", "--json", "out.json"];
    let output = meed(here.path(), &args);
    let remarks = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{remarks}");
    assert!(remarks.contains("the journal goes to 12 s"), "{remarks}");
    assert!(remarks.contains("how long 3 tasks take is not known: 1 ran still"), "{remarks}");
    let json: Value =
        serde_json::from_str(&fs::read_to_string(here.path().join("out.json")).unwrap()).unwrap();
    let decisions = |run: usize| json["runs"][run]["decisions"].as_u64().unwrap();
    // What was undone starts at another instant under no policy here: all starts but one are two's.
    assert_eq!(decisions(0), 4);
    assert!((2..=4).contains(&decisions(1)), "{}", decisions(1));
    let told = succeed(here.path(), &["explain", "journal", "--queue", "a", "--at", "10s"]);
    assert!(told.contains("cpu 1 asked for, 0 free"), "{told}");
}

#[test]
fn what_a_journal_cannot_be_asked_is_told() {
    let here = folder();
    let last = r#""queue":"a","job":"x","task":1,"attempt":1,"node":"n""#;
    let elsewhere = r#""queue":"a","job":"x","task":1,"attempt":1,"node":"m""#;
    journal(here.path(), &SECOND.replace(last, elsewhere));
    let output = meed(here.path(), &["replay", "journal", "--verify"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("journal:11: there is no such node"), "{said}");
    journal(here.path(), &SECOND.replace(last, r#""queue":"b","job":"y","task":1,"node":"n""#));
    let output = meed(here.path(), &["replay", "journal", "--verify"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("the first difference under fair"), "{said}");
}
