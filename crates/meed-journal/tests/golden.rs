//! Lines that are kept as files: each kind of schema 2 as it is written, and a whole log of schema
//! 1, made by the last version that wrote it.

use std::collections::{BTreeMap, BTreeSet};

use meed_journal::*;
use serde_json::Value;

const TWO: &str = include_str!("golden/schema2.jsonl");
const ONE: &str = include_str!("golden/schema1.jsonl");

fn records(text: &str) -> Vec<Record> {
    let mut reader = Reader::new("log".into(), BufLines::new(text.as_bytes()));
    let mut all = Vec::new();
    while let Some((_, record)) = reader.next_any().expect("a good log") {
        all.push(record);
    }
    all
}

fn line_of(record: &Record) -> String {
    let mut line = Vec::new();
    record.encode(&mut line);
    String::from_utf8(line).expect("JSON is text")
}

#[test]
fn each_kind_is_written_as_it_always_was() {
    let all = records(TWO);
    for (record, line) in all.iter().zip(TWO.lines()) {
        assert_eq!(line_of(record), line);
    }
    let kinds: BTreeSet<Kind> = all.iter().map(|record| record.fact.kind()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), Kind::ALL, "a kind without a line here");
    assert_eq!(all.len(), TWO.lines().count());
}

#[test]
fn a_log_of_schema_1_tells_the_same() {
    let all = records(ONE);
    let lines: Vec<Value> = ONE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.len(), lines.len());
    let mut expected_seq = 0;
    let mut jobs: BTreeMap<JobKey, (String, Value)> = BTreeMap::new();
    let mut running: BTreeMap<TaskKey, String> = BTreeMap::new();
    let (mut attempts, mut cancelled) = (BTreeSet::new(), 0);
    for (record, line) in all.iter().zip(&lines) {
        assert_eq!(record.t.as_secs_f64(), line["t"].as_f64().unwrap());
        match &record.fact {
            Fact::Run(header) => {
                assert_eq!(header.schema, SCHEMA);
                (expected_seq, jobs) = (0, BTreeMap::new());
            }
            Fact::JobArrived(job) => {
                let value = (job.queue.to_string(), line["arrive"]["job"].clone());
                assert_eq!(serde_json::to_value(job.name()).unwrap(), value.1);
                assert!(jobs.insert(job.job.clone(), value).is_none(), "keys are unique");
            }
            Fact::TaskStarted(start) => {
                let (queue, label) = &jobs[&start.job];
                let told = &line["start"];
                assert_eq!((&told["queue"], &told["job"]), (&queue.as_str().into(), label));
                assert_eq!(
                    (&told["task"], &told["node"]),
                    (&start.task.into(), &(*start.node).into())
                );
                assert!(start.attempt >= u32::from(start.failures));
                attempts.insert(start.attempt);
                assert!(running.insert(start.key(), start.node.to_string()).is_none());
            }
            Fact::TaskEnded(task)
            | Fact::TaskFailed(task)
            | Fact::TaskLost(task)
            | Fact::TaskStopped(task) => {
                let node = running.remove(&task.key()).expect("it runs");
                let told = &line[record.fact.kind().word()];
                let (queue, label) = &jobs[&task.job];
                assert_eq!((&told["queue"], &told["job"]), (&queue.as_str().into(), label));
                assert_eq!(told["node"], node.as_str());
            }
            Fact::JobEnded(end) => {
                cancelled += usize::from(end.outcome == Outcome::Cancelled);
                assert_eq!(end.outcome == Outcome::Done, line["job_end"]["outcome"] == "done");
            }
            _ => {}
        }
        assert_eq!(record.seq, expected_seq);
        expected_seq += 1;
        assert_eq!(Record::decode(line_of(record).as_bytes()).as_ref(), Ok(record));
    }
    assert!(attempts.contains(&1) && cancelled > 0 && running.is_empty());
    // As a log of this version it reads the same.
    let anew: String = all.iter().map(|record| line_of(record) + "\n").collect();
    assert_eq!(records(&anew), all);
    assert!(anew.len() < ONE.len(), "{} bytes, not {}", anew.len(), ONE.len());
    let mut reader = Reader::new("log".into(), BufLines::new(ONE.as_bytes()));
    for line in anew.lines() {
        let (_, raw) = reader.next_raw().expect("a good log").expect("as many lines");
        assert_eq!(String::from_utf8_lossy(raw), line);
    }
}
