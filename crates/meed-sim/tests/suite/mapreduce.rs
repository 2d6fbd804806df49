//! The MapReduce world as a whole: times by hand, nothing lost, nothing random, every rule under
//! every order.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::record::mapreduce::MapReduceRecord;
use meed_sim::record::{Comparison, RunRecord};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

pub(crate) const RULES: [&str; 6] = ["hadoop", "delay", "dmr", "jas", "jasl", "djasl"];

pub(crate) fn run(text: &str, policies: &[&str], points: usize) -> Comparison {
    let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop)
        .unwrap_or_else(|why| panic!("{why}\n{text}"));
    let policies = policies.iter().map(|&words| words.to_owned()).collect();
    let options = SimulateOptions {
        policies,
        series_points: points,
        strict: true,
        ..SimulateOptions::default()
    };
    simulate(&scenario, &options, None, &mut Unwatched).expect("it runs")
}

pub(crate) fn of(run: &RunRecord) -> &MapReduceRecord {
    run.mapreduce.as_deref().expect("a run of this world")
}

/// One node with round numbers: reads 1 MB a second, and every block is 1 MB.
pub(crate) fn plain(more: &str) -> String {
    format!(
        "[mapreduce]\nheartbeat = \"1s\"\nblock = \"1MB\"\nreplicas = 1\nstart_up = \
         0\nseek_penalty = 0\n\
         [[mapreduce.node]]\nname = \"n\"\ncores = 1\ndisk_bytes_per_s = \
         \"1MB\"\nnetwork_bytes_per_s = \"1MB\"\n{more}\n\
         [[mapreduce.kind]]\nname = \"k\"\nmap_cpu_per_mb = \"2s\"\nmap_output = 0.5\nshuffle = \
         0.5\n\
         reduce_cpu_per_mb = \"2s\"\noutput = 0.25\nreduces = 1\n[[queue]]\nname = \"q\"\n"
    )
}

pub(crate) const JOB: &str = "[[mapreduce.job]]\nqueue = \"q\"\nkind = \"k\"\n";

#[test]
fn one_job_takes_the_time_that_its_phases_take() {
    let text = plain("") + JOB + "input = \"1MB\"\n";
    let result = run(&text, &["fifo"], 0);
    let job = &of(&result.runs[0]).jobs[0];
    // Read 1 s, compute 2 s, write 0.5 s; seen at the heartbeat of second 4. Shuffle 0.5 s, write
    // and read again 1 s, compute 1 s, write 0.25 s; seen at second 7.
    assert_eq!((job.maps_end_s, job.end_s), (Some(4.0), Some(7.0)));
    let node = &of(&result.runs[0]).nodes[0];
    assert_eq!(
        (node.cpu_busy, node.disk_bytes_per_s, node.network_bytes_per_s),
        (0.429, 392_857.0, 71_428.0)
    );
    assert_eq!(result.runs[0].queues[0].usage["map"], 4.0);
}

#[test]
fn what_memory_holds_is_not_read_again() {
    let fast = |memory: &str| {
        let text = plain(memory).replace("\"1s\"", "\"10ms\"") + JOB + "input = \"1MB\"\n";
        of(&run(&text, &["fifo"], 0).runs[0]).jobs[0].end_s
    };
    let slots = "map_slots = 1\nreduce_slots = 1\n";
    // As above, with heartbeats that cost nothing: 3.5 s and 2.75 s.
    assert_eq!(fast(slots), Some(6.25));
    // Two slots take 0.4 of 0.6 GB, so nothing of 0.5 MB is read again.
    assert_eq!(fast(&format!("{slots}memory = \"0.6GB\"\n")), Some(5.75));
    let text = |memory: &str| {
        let memory = format!("{slots}memory = \"{memory}\"\n");
        let text = plain(&memory).replace("\"1s\"", "\"10ms\"\ntask_memory = \"0.25MB\"");
        text + JOB + "input = \"1MB\"\n"
    };
    // 0.2 MB stay in memory; none where slots take all.
    for (memory, end) in [("0.7MB", 6.05), ("0.5MB", 6.25), ("0.4MB", 6.25)] {
        let result = run(&text(memory), &["fifo"], 0);
        assert_eq!(of(&result.runs[0]).jobs[0].end_s, Some(end), "{memory}");
    }
}

#[test]
fn a_master_does_one_thing_after_the_other() {
    let keys = "\"1s\"\nmaster_heartbeat = \"100ms\"\nmaster_task = \"200ms\"";
    let text = plain("").replacen("\"1s\"", keys, 1) + JOB + "input = \"1MB\"\n";
    let job = of(&run(&text, &["fifo"], 0).runs[0]).jobs[0].clone();
    // The map begins after 0.3 s and has ended when second 4 is told; so the reduce begins at 4.3,
    // and its end is told at second 8.
    assert_eq!((job.maps_end_s, job.end_s), (Some(4.0), Some(8.0)));
    // Three nodes whose heartbeats come every third of a second and take half a second each: the
    // third is heard after a second, and its map has begun a task later.
    let text = plain("count = 3\nmap_slots = 1\n").replacen(
        "\"1s\"",
        "\"1s\"\nmaster_heartbeat = \"500ms\"",
        1,
    ) + JOB
        + "input = \"3MB\"\n";
    let result = run(&text, &["fifo"], 0);
    let log = &of(&result.runs[0]).jobs[0];
    // Local blocks or not, a map takes 3.5 s or 4.5 s; heard in turn, each node every 1.5 s.
    assert!(log.maps_end_s.is_some_and(|end| (end * 2.0).fract() == 0.0), "{log:?}");
}

#[test]
fn tasks_on_one_node_slow_each_other_down() {
    let text = plain("map_slots = 2\n") + JOB + "input = \"2MB\"\n";
    // Two maps at once: reading takes 2 s, computing 4 s, writing 1 s.
    assert_eq!(of(&run(&text, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(7.0));
    // With two cores computing takes 2 s.
    let cores = text.replace("cores = 1", "cores = 2");
    assert_eq!(of(&run(&cores, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(5.0));
    // A second stream costs the disk half of its bandwidth: reading takes 4 s, writing 2 s.
    let seeks = text.replace("seek_penalty = 0", "seek_penalty = 1");
    assert_eq!(of(&run(&seeks, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(10.0));
    // One slot, two waves: 3.5 s each, the second from the heartbeat of second 4.
    let waves = text.replace("map_slots = 2", "map_slots = 1");
    assert_eq!(of(&run(&waves, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(8.0));
}

#[test]
fn speeds_change_while_tasks_run() {
    // The core is half as fast from second 2 on: one of two seconds of work is left then, which
    // takes two.
    let text = plain("change = [{ at = \"2s\", speed = 0.5 }]\n") + JOB + "input = \"1MB\"\n";
    // Read until 1, compute until 4, write until 4.5.
    assert_eq!(of(&run(&text, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(5.0));
    let disk = text.replace("speed = 0.5", "disk_bytes_per_s = \"125kB\"");
    // The write of 500 kB takes 4 s instead of 0.5.
    assert_eq!(of(&run(&disk, &["fifo"], 0).runs[0]).jobs[0].maps_end_s, Some(7.0));
}

#[test]
fn a_block_elsewhere_crosses_the_network() {
    // Two nodes, one block: node 0 beats first, at second 0, and takes it whether it has it or not.
    let text = plain("count = 2\n") + JOB + "input = \"1MB\"\n";
    for seed in 0..20 {
        let result = run(&format!("{text}[run]\nseed = {seed}\n"), &["fifo"], 0);
        let job = &of(&result.runs[0]).jobs[0];
        let expected = if job.local_maps == 1 { 4.0 } else { 5.0 };
        assert_eq!(job.maps_end_s, Some(expected), "seed {seed}");
    }
    // Delay scheduling leaves it to the other node, which beats half a second later.
    let delayed = |seed| {
        let result = run(&format!("{text}[run]\nseed = {seed}\n"), &["fifo,placement=delay"], 0);
        of(&result.runs[0]).jobs[0].local_maps
    };
    assert!((0..20).all(|seed| delayed(seed) == 1));
}

#[test]
fn racks_are_nearer_than_the_rest_and_their_links_can_be_the_bottleneck() {
    let racked = |uplink: &str| {
        format!(
            "[mapreduce]\nblock = \"1MB\"\nreplicas = 2\n{uplink}\n\
             [[mapreduce.node]]\nname = \"a\"\nrack = \"a\"\ncount = 4\ncores = \
             2\ndisk_bytes_per_s = \"10MB\"\nnetwork_bytes_per_s = \"10MB\"\n\
             [[mapreduce.node]]\nname = \"b\"\nrack = \"b\"\ncount = 4\ncores = \
             2\ndisk_bytes_per_s = \"10MB\"\nnetwork_bytes_per_s = \"10MB\"\n\
             [[queue]]\nname = \"q\"\n[[mapreduce.job]]\nqueue = \"q\"\nkind = \"terasort\"\ninput \
             = \"40MB\"\n"
        )
    };
    let end = |text: &str| {
        let result = run(text, &["fifo,placement=jas"], 0);
        let record = of(&result.runs[0]);
        assert_eq!(record.maps, 40);
        // Two replicas are in different racks: every block is in every rack.
        assert_eq!(record.local_maps + record.rack_maps, 40);
        assert!(record.rack_maps > 0);
        record.jobs[0].end_s.expect("it ends")
    };
    assert!(end(&racked("")) < end(&racked("uplink_bytes_per_s = \"100kB\"")));
}

/// Unequal nodes, jobs of all kinds, two tenants.
pub(crate) const WORLD: &str = "[mapreduce]\nthreshold = 20\n\
    [[mapreduce.node]]\nname = \"small\"\ncount = 4\ncores = 1\ndisk_bytes_per_s = \
    \"60MB\"\nnetwork_bytes_per_s = \"50MB\"\n\
    [[mapreduce.node]]\nname = \"large\"\ncount = 4\ncores = 8\nspeed = 1.5\ndisk_bytes_per_s = \
    \"90MB\"\nnetwork_bytes_per_s = \"100MB\"\n\
    change = [{ at = \"5min\", speed = 0.3 }]\n\
    [[mapreduce.request]]\nqueue = \"a\"\ninput = [\"200MB\", \"2GB\"]\ncount = 2\n\
    [[mapreduce.request]]\nname = \"other\"\nqueue = \"b\"\ninput = \"1GB\"\nat = \"1min\"\nevery \
    = \"3min\"\ncount = 2\n\
    [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n";

#[test]
fn every_rule_does_all_the_work_under_every_order() {
    for order in ["fifo", "fair", "long-term", "drf"] {
        let policies = RULES.map(|rule| format!("{order},placement={rule}"));
        let result = run(WORLD, &policies.each_ref().map(String::as_str), 50);
        for run in &result.runs {
            let record = of(run);
            assert_eq!(
                (run.unfinished, run.failed, run.refused, record.jobs.len()),
                (0, 0, 0, 32),
                "{}",
                run.policy
            );
            for job in &record.jobs {
                assert_eq!(
                    job.maps,
                    job.input_bytes.div_ceil(64 << 20),
                    "{} {}",
                    run.policy,
                    job.job
                );
                assert!(job.end_s > job.maps_end_s && job.maps_end_s > Some(job.submit_s));
                assert!(job.local_maps + job.rack_maps <= job.maps);
            }
            assert_eq!(run.decisions, record.maps + record.reduces);
            let started: u64 = record.nodes.iter().map(|node| node.maps).sum();
            assert_eq!(started, record.maps);
            // The second request of `a` comes when the first has ended.
            assert_eq!(record.requests[1].submit_s, record.requests[0].end_s);
            check_series(record);
        }
        // The same work was done, whoever did it: bytes to disk differ by nothing, for every map
        // reads somewhere.
        let bytes = |run: &RunRecord| {
            let sum: f64 = of(run).nodes.iter().map(|node| node.disk_bytes_per_s).sum();
            sum * run.end_s
        };
        let first = bytes(&result.runs[0]);
        for run in &result.runs {
            assert!(
                (bytes(run) / first - 1.0).abs() < 1e-4,
                "{}: {} {first}",
                run.policy,
                bytes(run)
            );
        }
    }
}

fn check_series(record: &MapReduceRecord) {
    let points = record.series.t_s.len();
    assert!((10..=51).contains(&points), "{points}");
    for (series, node) in record.series.nodes.iter().zip(&record.nodes) {
        assert_eq!(series.cpu_busy.len(), points);
        assert!(series.cpu_busy.iter().all(|busy| (0.0..=1.0).contains(busy)));
        let maps: u32 = series.maps_started.iter().sum();
        let local: u32 = series.local_maps_started.iter().sum();
        assert_eq!((u64::from(maps), u64::from(local)), (node.maps, node.local_maps));
        // Slots are exceeded only while tasks from before a change run on.
        let most = node
            .slots
            .iter()
            .map(|slots| slots.any.unwrap_or(0) + slots.cpu.unwrap_or(0) + slots.io.unwrap_or(0));
        let most = 2 * most.max().expect("slots at the start");
        let running = |i: usize| series.cpu_maps[i] + series.io_maps[i] + series.other_maps[i];
        assert!((0..points).all(|i| running(i) <= most));
    }
}

#[test]
fn rules_learn_classes_and_set_slots() {
    let result =
        run(WORLD, &["fifo,placement=hadoop", "fifo,placement=jas", "fifo,placement=djasl"], 0);
    let class = |run: usize, kind: &str| {
        let record = of(&result.runs[run]);
        record.jobs.iter().find(|job| job.kind == kind).and_then(|job| job.class.clone())
    };
    assert_eq!(
        (class(1, "pi").as_deref(), class(1, "k-means").as_deref()),
        (Some("cpu"), Some("cpu"))
    );
    let settings = |run: usize| of(&result.runs[run]).slot_settings;
    assert_eq!(settings(0), 0);
    assert!((1..=2).contains(&settings(1)), "jas sets the slots of each class once");
    assert!(settings(2) > settings(1), "djasl sets them anew: {}", settings(2));
    // Slots follow capability: nodes with eight fast cores have more of them for CPU-bound maps.
    let last = |name: &str| {
        let node = of(&result.runs[1]).nodes.iter().find(|node| node.node == name).expect("a node");
        node.slots.last().and_then(|slots| slots.cpu).expect("slots by class")
    };
    assert!(last("large-0") > last("small-0"), "{} {}", last("large-0"), last("small-0"));
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_one_another() {
    let json = |seed: u64| {
        let text = format!("{WORLD}[run]\nseed = {seed}\n");
        serde_json::to_string(&run(&text, &["long-term,placement=djasl"], 100))
            .expect("it can be written")
    };
    assert_eq!(json(1), json(1));
    assert_ne!(json(1), json(2));
    // Looking more often changes nothing of the run.
    let ends = |points: usize| {
        let result = run(WORLD, &["long-term,placement=djasl"], points);
        of(&result.runs[0]).jobs.iter().map(|job| job.end_s).collect::<Vec<_>>()
    };
    assert_eq!(ends(0), ends(100));
}

#[test]
fn tenants_get_their_shares_over_time_under_long_term() {
    let text = WORLD
        .replace("at = \"1min\"\nevery = \"3min\"\ncount = 2", "")
        .replace("count = 2\n[[mapreduce.request]]", "[[mapreduce.request]]");
    let result = run(&text, &["fifo,placement=djasl", "long-term,placement=djasl"], 0);
    let first_end = |run: &RunRecord, queue: usize| of(run).requests[queue].end_s.expect("all end");
    // First come, first served: the second tenant waits for the first. Long-term: it need not.
    let [fifo, fair] =
        [0, 1].map(|run| first_end(&result.runs[run], 1) / first_end(&result.runs[run], 0));
    assert!(fair < fifo, "{fair} {fifo}");
}

#[test]
fn an_end_in_the_middle_leaves_jobs_unfinished() {
    let text = format!("{WORLD}[run]\nuntil = \"2min\"\n");
    let result = run(&text, &["fifo"], 10);
    assert!(result.runs[0].unfinished > 0);
    assert_eq!(result.runs[0].end_s, 120.0);
    assert!(of(&result.runs[0]).requests[0].end_s.is_none());
}
