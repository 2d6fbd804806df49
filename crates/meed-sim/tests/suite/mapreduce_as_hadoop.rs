//! What of Hadoop may be modelled besides: the output's pipeline, the shuffle's fetches, second
//! attempts. Times by hand; the same work and every job's end under every rule and order.

use serde_json::Value;

use crate::mapreduce::{JOB, RULES, WORLD, of, plain, run};

/// `plain` with keys of `[mapreduce]`, nodes and kinds replaced.
pub(crate) fn with(keys: &str, node: &str, changes: &[(&str, &str)]) -> String {
    let text = plain(node).replacen("[mapreduce]\n", &format!("[mapreduce]\n{keys}\n"), 1);
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}\n{text}");
        text.replacen(from, to, 1)
    })
}

/// Beats cost nothing.
pub(crate) const QUICK: (&str, &str) = ("\"1s\"", "\"1ms\"");

/// Of a job of `input`, when its maps and when it has ended, to a hundredth of a second.
pub(crate) fn ends(text: &str, input: &str) -> [f64; 2] {
    let text = format!("{text}{JOB}input = \"{input}\"\n");
    let result = run(&text, &["fifo"], 0);
    let job = &of(&result.runs[0]).jobs[0];
    [job.maps_end_s, job.end_s].map(|end| (end.expect("it ends") * 100.0).round() / 100.0)
}

#[test]
fn a_block_of_output_is_written_when_the_slowest_of_the_pipeline_is() {
    let count = "count = 3\nmap_slots = 1\n";
    // One map of 1 MB writes 0.25 MB of output by one reduce: as without the option where the only
    // replica is the own.
    let usual = ends(&with("", count, &[QUICK]), "1MB");
    assert_eq!(ends(&with("output_replicas = 1", count, &[QUICK]), "1MB"), usual);
    // Three disks and two links at once, each at 1 MB/s: as long as one of them alone.
    assert_eq!(ends(&with("output_replicas = 3", count, &[QUICK]), "1MB"), usual);
    // Links of half the speed: 0.5 s for 0.25 MB instead of 0.25, shuffle of 0.5 MB 1 s, not 0.5;
    // a map that is not local reads 1 s longer.
    let slow = [QUICK, ("network_bytes_per_s = \"1MB\"", "network_bytes_per_s = \"0.5MB\"")];
    let [maps, alone] = ends(&with("output_replicas = 1", count, &slow), "1MB");
    let [same, three] = ends(&with("output_replicas = 3", count, &slow), "1MB");
    assert_eq!((same, three), (maps, alone + 0.25));
    // The others' disks count what is written there.
    let written = |replicas: u32| {
        let keys = format!("output_replicas = {replicas}");
        let text = with(&keys, count, &[QUICK]) + JOB + "input = \"1MB\"\n";
        let result = run(&text, &["fifo"], 0);
        let nodes = &of(&result.runs[0]).nodes;
        let sum: f64 = nodes.iter().map(|node| node.disk_bytes_per_s).sum();
        (sum * result.runs[0].end_s / 1e4).round() / 100.0
    };
    // Read 1, write 0.5, merge 1, output 0.25 or three times that.
    assert_eq!((written(1), written(3)), (2.75, 3.25));
}

#[test]
fn a_shuffle_reads_where_maps_ran_and_so_many_at_once() {
    // One node: its outputs are read from its disk (0.5 MB in 0.5 s) and cross no link.
    let usual = ends(&with("", "", &[QUICK]), "1MB");
    assert_eq!(ends(&with("parallel_copies = 1", "", &[QUICK]), "1MB"), usual);
    let slow = ("network_bytes_per_s = \"1MB\"", "network_bytes_per_s = \"1kB\"");
    assert_eq!(ends(&with("parallel_copies = 1", "", &[QUICK, slow]), "1MB"), usual);
    // Four maps on four nodes, of which each holds every block, at 3.5 s; then 0.5 MB lie on each.
    // One after the other: 0.5 s to read and 0.5 s over the link of three, 0.5 s for the own.
    let four = |keys: &str| {
        let replicas = [QUICK, ("replicas = 1", "replicas = 4")];
        ends(&with(keys, "count = 4\nmap_slots = 1\n", &replicas), "4MB")
    };
    let [maps, one] = four("parallel_copies = 1");
    assert_eq!(maps, 3.5);
    // Merge 4 s, compute 4 s, write 1 s.
    assert_eq!(one, 3.5 + 3.5 + 9.0);
    // All at once: read in 0.5 s, then 1.5 MB over the one link.
    assert_eq!(four("parallel_copies = 4"), [3.5, 3.5 + 2.0 + 9.0]);
    // From memory: 2 MB over the link, the own among them.
    assert_eq!(four(""), [3.5, 3.5 + 2.0 + 9.0]);
    // Two at once: two read until 0.5, both over the link until 1.5, the third and the own read
    // until 2, the third over the link until 2.5.
    assert_eq!(four("parallel_copies = 2"), [3.5, 3.5 + 2.5 + 9.0]);
}

/// Two nodes, one a hundredth as fast; each holds every block.
pub(crate) fn unequal(keys: &str) -> String {
    let second = "[[mapreduce.node]]\nname = \"slow\"\ncores = 1\nspeed = 0.01\nmap_slots = \
        1\ndisk_bytes_per_s = \"1MB\"\nnetwork_bytes_per_s = \"1MB\"\n";
    let changes = [
        ("replicas = 1", "replicas = 2"),
        ("[[mapreduce.kind]]", &format!("{second}[[mapreduce.kind]]")),
    ];
    with(keys, "map_slots = 1\n", &changes.map(|(from, to)| (from, to)))
}

#[test]
fn a_slow_map_gets_a_second_attempt_after_a_minute() {
    // The slow node computes 200 s for its map. The other does its five in 20 s, and then nothing
    // waits: from second 60 on the slow one has a second attempt, at its progress of 0.43 against a
    // mean of 0.9, at the beat of second 61, as the map began at 0.5; with beats it takes 4 s.
    let [alone, _] = ends(&unequal(""), "6MB");
    assert!(alone > 200.0, "{alone}");
    let [second, _] = ends(&unequal("speculative = true"), "6MB");
    assert_eq!(second, 65.0);
    // Where progress is near the mean nobody is slow: two maps, one of them ended and one a
    // twentieth, are 0.47 in the mean, and the gap is a fifth.
    let record = |text: &str, input: &str| {
        let text = format!("{text}{JOB}input = \"{input}\"\n");
        serde_json::to_value(of(&run(&text, &["fifo"], 0).runs[0])).expect("it can be written")
    };
    let told = record(&unequal("speculative = true"), "6MB");
    assert_eq!(told["speculation"], serde_json::json!({ "copies": 1, "won": 1 }));
    assert_eq!((&told["maps"], &told["reduces"]), (&6.into(), &1.into()));
    // Without the option nothing is said of it.
    assert_eq!(record(&unequal(""), "6MB")["speculation"], Value::Null);
    // Equal nodes: nobody is slow.
    let text = with("speculative = true", "count = 4\n", &[]);
    assert_eq!(record(&text, "40MB")["speculation"]["copies"], 0);
}

#[test]
fn every_job_ends_with_all_options_under_every_rule_and_order() {
    let all = "output_replicas = 3\nparallel_copies = 5\nspeculative = true\n";
    let stragglers = WORLD
        .replace("[mapreduce]\n", &format!("[mapreduce]\n{all}"))
        .replace("at = \"5min\", speed = 0.3", "at = \"1min\", speed = 0.01");
    let mut copies = 0;
    for order in ["fifo", "fair", "long-term", "drf"] {
        let policies = RULES.map(|rule| format!("{order},placement={rule}"));
        let result = run(&stragglers, &policies.each_ref().map(String::as_str), 50);
        for run in &result.runs {
            let record = of(run);
            assert_eq!(
                (run.unfinished, run.failed, record.jobs.len()),
                (0, 0, 32),
                "{}",
                run.policy
            );
            let seconds = record.speculation.expect("the option is on");
            assert!(seconds.won <= seconds.copies);
            assert_eq!(run.decisions, record.maps + record.reduces + seconds.copies);
            for job in &record.jobs {
                assert_eq!(job.maps, job.input_bytes.div_ceil(64 << 20), "{}", job.job);
            }
            copies += seconds.copies;
        }
    }
    assert!(copies > 0, "the cores of four nodes nearly stop");
}

#[test]
fn with_all_options_the_same_seed_gives_the_same_record() {
    let all = "output_replicas = 2\nparallel_copies = 2\nspeculative = true\n";
    let text = WORLD.replace("[mapreduce]\n", &format!("[mapreduce]\n{all}"));
    let json = || {
        let result = run(&text, &["long-term,placement=djasl"], 100);
        serde_json::to_string(&result).expect("it can be written")
    };
    assert_eq!(json(), json());
}
