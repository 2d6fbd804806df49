//! The page cache (`page_cache`): times by hand, whose memory it is, and that it only ever saves.

use serde_json::json;

use crate::mapreduce::{JOB, RULES, WORLD, of, plain, run};
use crate::mapreduce_as_hadoop::{QUICK, ends, with};

/// One node of two slots of 1 MB each, and so much memory besides.
fn memory(megabytes: f64, keys: &str) -> String {
    let node = format!("map_slots = 1\nmemory = \"{}MB\"\n", 2.0 + megabytes);
    with(&format!("page_cache = true\ntask_memory = \"1MB\"\n{keys}"), &node, &[QUICK])
}

/// What was read, and what of it from memory.
fn read(text: &str, input: &str) -> serde_json::Value {
    let text = format!("{text}{JOB}input = \"{input}\"\n");
    serde_json::to_value(of(&run(&text, &["fifo"], 0).runs[0])).expect("it can be written")
        ["page_cache"]
        .clone()
}

#[test]
fn what_was_written_is_not_read_again() {
    // Read 1, compute 2, write 0.5; shuffle 0.5, write 0.5 to merge it, read that, compute 1, write
    // 0.25.
    for (room, reduce) in [(0.0, 2.75), (0.2, 2.55), (0.5, 2.25), (100.0, 2.25)] {
        assert_eq!(ends(&memory(room, ""), "1MB"), [3.5, 3.5 + reduce], "{room}");
    }
    // The shuffle from disks: of the spills too what is kept is not read, and they cross no link.
    for (room, reduce) in [(0.0, 2.75), (0.4, 1.95), (0.5, 1.75), (100.0, 1.75)] {
        let text = memory(room, "parallel_copies = 1\n");
        assert_eq!(ends(&text, "1MB"), [3.5, 3.5 + reduce], "{room}");
    }
    // A block of 1 MB, spills and merge of 0.5 each.
    let told = |room: f64| read(&memory(room, "parallel_copies = 1\n"), "1MB");
    assert_eq!(told(100.0), json!({ "read_bytes": 2_000_000, "memory_bytes": 1_000_000 }));
    assert_eq!(told(0.4), json!({ "read_bytes": 2_000_000, "memory_bytes": 800_000 }));
    assert_eq!(told(0.0), json!({ "read_bytes": 2_000_000, "memory_bytes": 0 }));
    // Without the option nothing is said of it.
    assert_eq!(read(&plain(""), "1MB"), serde_json::Value::Null);
}

#[test]
fn a_later_job_displaces_what_an_earlier_one_left_and_what_a_job_keeps_for_itself_goes_with_it() {
    // Two maps one after the other: blocks of 1 MB, 0.5 MB of spills after each. 2 MB of room:
    // after the second block (2 MB) its spills take 0.5 from the first block. The reduce fetches
    // 1 MB, all of it kept, and its merge of 1 MB displaces blocks.
    let text = memory(2.0, "parallel_copies = 1\n");
    assert_eq!(read(&text, "2MB"), json!({ "read_bytes": 4_000_000, "memory_bytes": 2_000_000 }));
    // With 1 MB the second block displaces the first one's spills, and its spills half of it:
    // 0.5 of 1 MB is kept, and of the merge all.
    let text = memory(1.0, "parallel_copies = 1\n");
    assert_eq!(read(&text, "2MB"), json!({ "read_bytes": 4_000_000, "memory_bytes": 1_500_000 }));
}

/// Two nodes on one host, of two slots of 1 MB each.
fn shared(room: f64, more: &str) -> String {
    let host = format!(
        "[[mapreduce.host]]\nname = \"h\"\nmemory = \"{}MB\"\n[[mapreduce.kind]]",
        4.0 + room
    );
    let node = format!("count = 2\nmap_slots = 1\nhost = \"h\"\n{more}");
    let keys = "page_cache = true\ntask_memory = \"1MB\"\nparallel_copies = 2\n";
    with(keys, &node, &[QUICK, ("replicas = 1", "replicas = 2"), ("[[mapreduce.kind]]", &host)])
}

#[test]
fn machines_of_a_host_share_its_memory_and_nobody_elses() {
    // A map of 1 MB on each, then one reduce: blocks 2 MB, spills and merge 1 MB each.
    let all = |from_memory: u64| json!({ "read_bytes": 4_000_000, "memory_bytes": from_memory });
    assert_eq!(read(&shared(10.0, ""), "2MB"), all(2_000_000));
    assert_eq!(read(&shared(0.0, ""), "2MB"), all(0));
    // Half of each one's spills were displaced by the other's; of the merge 0.5 are kept.
    assert_eq!(read(&shared(0.5, ""), "2MB"), all(500_000 + 500_000));
    // What a node has itself does not count where its host has memory.
    assert_eq!(read(&shared(0.5, "memory = \"50MB\"\n"), "2MB"), all(1_000_000));
    // On two hosts, each of half the room: as much of each one's spills, and of the merge half.
    let two = shared(0.5, "").replace("name = \"h\"\nmemory", "name = \"h\"\ncount = 2\nmemory");
    let two = two.replace("memory = \"4.5MB\"", "memory = \"2.25MB\"");
    assert_eq!(read(&two, "2MB"), all(500_000 + 250_000));
}

#[test]
fn memory_only_ever_saves_and_every_job_ends_under_every_rule() {
    let options = "output_replicas = 3\nparallel_copies = 5\nspeculative = true\n";
    let with = |more: &str, memory: &str| {
        WORLD
            .replace("[mapreduce]\n", &format!("[mapreduce]\n{options}{more}"))
            .replace("[[mapreduce.node]]\n", &format!("[[mapreduce.node]]\n{memory}"))
            .replace("at = \"5min\", speed = 0.3", "at = \"1min\", speed = 0.01")
    };
    let policies = RULES.map(|rule| format!("long-term,placement={rule}"));
    let policies = policies.each_ref().map(String::as_str);
    let disk = |text: &str| -> Vec<f64> {
        let result = run(text, &policies, 0);
        let bytes = result.runs.iter().map(|run| {
            let record = of(run);
            assert_eq!((run.unfinished, run.failed, record.jobs.len()), (0, 0, 32));
            if let Some(used) = record.page_cache {
                assert!(used.memory_bytes > 0 && used.memory_bytes < used.read_bytes);
            }
            record.nodes.iter().map(|node| node.disk_bytes_per_s).sum::<f64>() * run.end_s
        });
        bytes.collect()
    };
    let none = disk(&with("", ""));
    let some = disk(&with("page_cache = true\n", "memory = \"2GB\"\n"));
    assert!(none.iter().zip(&some).all(|(none, some)| some < none), "{none:?} {some:?}");
}
