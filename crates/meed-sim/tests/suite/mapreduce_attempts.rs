//! What second attempts cost whom: slots of both attempts are charged, to the second, from the
//! heartbeat that gave them to the heartbeat that told of the quicker one's end. By hand.

use meed_sim::record::RunRecord;

use crate::mapreduce::{JOB, of, run};
use crate::mapreduce_as_hadoop::unequal;

/// One job under `policy`, with second attempts.
fn one(changes: &[(&str, &str)], input: &str, policy: &str) -> RunRecord {
    let text = format!("{}{JOB}input = \"{input}\"\n", unequal("speculative = true"));
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}\n{text}");
        text.replace(from, to)
    });
    run(&text, &[policy], 0).runs.swap_remove(0)
}

/// Second attempts and those that won; slot-seconds of maps and of reduces.
fn charged(run: &RunRecord) -> (u64, u64, f64, f64) {
    let seconds = of(run).speculation.expect("the option is on");
    let usage = &run.queues[0].usage;
    (seconds.copies, seconds.won, usage["map"], usage["reduce"])
}

#[test]
fn a_first_attempt_that_is_too_slow_is_charged_until_it_is_stopped() {
    // Node n beats at whole seconds and does five maps in 4 s each, with beats; the slow node's
    // begins at 0.5. It is slow from the beat of second 61 on; the second attempt is told of at 65,
    // and there and then the first one's slot is free: 20 + 64.5 + 4. The reduce runs from 65 to
    // 81.5, told at 82.
    let run = one(&[], "6MB", "fifo");
    assert_eq!(charged(&run), (1, 1, 20.0 + 64.5 + 4.0, 17.0));
    assert_eq!(of(&run).jobs[0].maps_end_s, Some(65.0));
    // Any order charges the same, and the ledger of one with a memory has it all.
    for order in ["fair", "long-term", "drf"] {
        assert_eq!(charged(&one(&[], "6MB", order)), charged(&run), "{order}");
    }
    assert_eq!(one(&[], "6MB", "long-term").queues[0].charged, 88.5);
}

#[test]
fn a_second_attempt_that_loses_is_charged_and_leaves_its_slot_and_its_servers() {
    // The slow node computes 60.6 s for its map, which ends at 62.6 and is told of at 63.5. Its
    // progress at 61 is 0.66, the mean 0.94. The second attempt has run for 2.5 s then.
    let run = one(&[("speed = 0.01", "speed = 0.033")], "6MB", "fifo");
    let job = &of(&run).jobs[0];
    assert_eq!(job.maps_end_s, Some(63.5));
    let (copies, won, maps, _) = charged(&run);
    assert_eq!((copies, won, maps), (1, 0, 20.0 + 63.0 + 2.5));
    // It had read its block and computed for 1.5 s. Core of n: five maps of 2 s, that, and the
    // reduce of 6 s there or at the slow node; cpu_busy is in thousandths.
    let node = &of(&run).nodes[0];
    let reduce = if node.reduces == 1 { 6.0 } else { 0.0 };
    let busy = (10.0 + 1.5 + reduce) / run.end_s;
    assert!((node.cpu_busy - busy).abs() <= 0.001, "{} {busy}", node.cpu_busy);
    // The job is whole, and nothing is counted twice.
    assert_eq!((job.maps, of(&run).maps, of(&run).reduces), (6, 6, 1));
    assert_eq!((run.unfinished, run.failed, run.decisions), (0, 0, 8));
}

#[test]
fn of_two_attempts_at_a_reduce_both_are_charged() {
    // One map, on n until the beat of second 4. Two reduces: that of n takes 0.25 (shuffle) + 0.5
    // (merge) + 0.5 (compute) + 0.125 s and is told of at 6; that of the slow node begins at 4.5
    // and computes 250 s. At 65 its progress is 0.56, the mean 0.78; the second attempt is told of
    // at 67.
    let changes = [("speed = 0.01", "speed = 0.002"), ("reduces = 1", "reduces = 2")];
    let run = one(&changes, "1MB", "fifo");
    assert_eq!(charged(&run), (1, 1, 4.0, 2.0 + 62.5 + 2.0));
    assert_eq!(of(&run).jobs[0].end_s, Some(67.0));
    // The slow node's core was busy until then: nothing goes on there after.
    let slow = &of(&run).nodes[1];
    let busy = (67.0 - 4.5 - 0.75) / 67.0;
    assert!((slow.cpu_busy - busy).abs() <= 0.001, "{} {busy}", slow.cpu_busy);
}

#[test]
fn who_asks_for_second_attempts_is_charged_for_them_and_nobody_else() {
    // Another queue's job runs beside it, on a slot of its own of n.
    let two = "map_slots = 2\n";
    let text = unequal("speculative = true").replacen("map_slots = 1\n", two, 1)
        + "[[queue]]\nname = \"other\"\n"
        + JOB
        + "input = \"6MB\"\n";
    let other = "[[mapreduce.job]]\nqueue = \"other\"\nkind = \"k\"\ninput = \"1MB\"\n";
    let later = format!("{text}{other}submit = \"30s\"\n");
    let own = |text: &str, policy: &str| {
        let run = run(text, &[policy], 0).runs.swap_remove(0);
        let queue = run.queues.iter().find(|queue| queue.queue == "other").expect("it is there");
        (of(&run).speculation.is_some_and(|seconds| seconds.copies > 0), queue.usage["map"])
    };
    for policy in ["fifo", "fair", "long-term"] {
        // Alone on n at 30: 3.5 s, told of at 34.
        assert_eq!(own(&later, policy), (true, 4.0), "{policy}");
        assert_eq!(own(&later.replace("speculative = true", ""), policy), (false, 4.0), "{policy}");
    }
}
