//! Partitions and QOS of a Slurm log on the cluster of its `slurm.conf`: what is honoured is, and
//! what is not is counted and said.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use crate::common::{folder, succeed};
use serde_json::Value;

/// Two nodes of the partition `main`, one of `gpu`, which `fast` uses as well.
const SLURM_CONF: &str = "\
ClusterName=lab
PriorityType=priority/multifactor
PriorityWeightFairshare=100000
NodeName=n[1-3] CPUs=4 RealMemory=65536
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=1:00:00
PartitionName=gpu Nodes=n3 MaxTime=UNLIMITED
PartitionName=fast Nodes=n3 DefaultTime=10 MaxTime=1-0 PriorityTier=10 MaxNodes=1
";

/// Jobs of four cpus that come at once and run for ten minutes: number, partition, QOS, time limit.
const JOBS: [(u32, &str, &str, &str); 8] = [
    (1, "main", "normal", "00:30:00"),
    (2, "gpu", "normal", "00:30:00"),
    (3, "gpu", "high", "00:30:00"),
    (4, "gpu", "normal", "00:30:00"),
    (5, "fast", "normal", "Partition_Limit"),
    (6, "gpu,main", "normal", "00:30:00"),
    (7, "old", "normal", "00:30:00"),
    (8, "main", "low", "UNLIMITED"),
];

fn sacct() -> String {
    let row = |(number, partition, qos, limit): &(u32, &str, &str, &str)| {
        format!(
            "{number}|ann|lab|{partition}|{qos}|2026-03-02T08:00:00|2026-03-02T08:00:00|\
             2026-03-02T08:00:00|2026-03-02T08:10:00|00:10:00|{limit}|cpu=4,mem=1G,node=1|COMPLETED\n"
        )
    };
    let rows: String = JOBS.iter().map(row).collect();
    format!(
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|AllocTRES|\
         State\n{rows}"
    )
}

/// When each job starts, in minutes, on which node, and the assumptions.
fn run(folder: &Path, more: &[&str]) -> (Vec<(u64, String)>, Vec<String>) {
    fs::write(folder.join("sacct.txt"), sacct()).unwrap();
    fs::write(folder.join("slurm.conf"), SLURM_CONF).unwrap();
    let fixed = ["simulate", "sacct.txt", "--cluster", "slurm.conf", "-q", "-p", "fifo"];
    let out = ["--json", "-", "--log", "log.jsonl"];
    let text = succeed(folder, &[&fixed[..], &out, more].concat());
    let json: Value = serde_json::from_str(&text).unwrap();
    let words = json["assumptions"].as_array().unwrap().iter().filter_map(Value::as_str);
    let log = fs::read_to_string(folder.join("log.jsonl")).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut starts = vec![(0, String::new()); JOBS.len()];
    for record in &records {
        let Some(start) = record.get("start") else { continue };
        let number = start["job"].as_u64().unwrap() as usize;
        let node = start["node"].as_str().unwrap().to_owned();
        starts[number] = ((record["t"].as_f64().unwrap() / 60.0) as u64, node);
    }
    (starts, words.map(str::to_owned).collect())
}

#[test]
fn jobs_run_on_the_nodes_of_their_partition_only() {
    let folder = folder();
    let (starts, words) = run(folder.path(), &[]);
    let at = |job: usize| (starts[job - 1].0, starts[job - 1].1.as_str());
    // One after the other on the only node of gpu and fast, whatever is free elsewhere.
    let gpu = [at(2), at(3), at(4), at(5)];
    assert_eq!(gpu, [(0, "n3"), (10, "n3"), (20, "n3"), (30, "n3")], "{starts:?}");
    let is_main = |job: usize| ["n1", "n2"].contains(&at(job).1);
    assert!(is_main(1) && is_main(6) && is_main(8), "{starts:?}");
    for told in [
        "partitions: 7 of 8 jobs run on nodes of their partition only",
        "partitions: 1 job runs on any node, for no node is of their partition (old: 1)",
        "partitions: 2 jobs have the time limit of the partition",
        "partitions: PriorityTier is not followed; 1 job is of a higher tier than others \
         on the same nodes (fast: 1), and Slurm looks at them first",
        "these keys of partitions are not followed: PriorityTier (of 1)",
        "jobs of a log met these keys of partitions when they ran: MaxNodes (of 1)",
        "QOS of 8 jobs is not used: neither its priority nor its limits (normal: 6, high: 1, \
         low: 1)",
    ] {
        assert!(words.iter().any(|words| words.contains(told)), "{told} in {words:#?}");
    }
    // The limits are those that backfilling sees.
    let log = fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let limits: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|record| Some(record.get("arrive")?["groups"][0]["limit_s"].clone()))
        .collect();
    assert_eq!(
        (&limits[4], &limits[7], &limits[0]),
        (&600.0.into(), &3600.0.into(), &1800.0.into())
    );
}

#[test]
fn partitions_can_be_passed_over() {
    let folder = folder();
    let (starts, words) = run(folder.path(), &["--set", "trace.partitions=ignore"]);
    let last = starts.iter().map(|(at, _)| *at).max();
    assert_eq!(last, Some(20), "eight jobs on three nodes: {starts:?}");
    let told = "partitions: their nodes are open to all jobs, and their limits are not followed";
    assert!(words.iter().any(|words| words == told), "{words:#?}");
    assert!(!words.iter().any(|words| words.contains("of their partition only")), "{words:#?}");
}

#[test]
fn what_is_not_followed_stands_in_answer_page_and_json() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("sacct.txt"), sacct()).unwrap();
    fs::write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    for command in ["advise", "simulate"] {
        let out = ["--report", "out.html", "--json", "out.json"];
        let run = [command, "sacct.txt", "--cluster", "slurm.conf", "-p", "long-term"];
        let told = succeed(path, &[&run[..], &out].concat());
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let json: Value = serde_json::from_str(&read("out.json")).unwrap();
        let page = read("out.html");
        for words in ["PriorityTier is not followed; 1 job", "QOS of 8 jobs is not used"] {
            let notes = json["assumptions"].as_array().unwrap();
            let has = |note: &Value| note.as_str().is_some_and(|note| note.contains(words));
            assert!(notes.iter().any(has), "{command}: {words}");
            assert!(page.contains(words), "{command}: {words}");
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(command == "simulate" || told.contains(words), "{command}: {told}");
        }
    }
}
