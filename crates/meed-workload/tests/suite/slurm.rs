//! Accounting of Slurm and of Grid Engine: what Meed makes of it is what their own sums say.
//!
//! The inputs are small ones of our own in the form of real outputs: Slurm 22.05.8 (`sacct
//! --parsable2 --duplicates`) and Grid Engine 8.1.9 (its accounting file). Those of `sacct --json`
//! are made by hand, as each of them says, or in the form of 24.11.5.

use std::collections::BTreeMap;

use meed::{ResourceKinds, Unit};
use meed_workload::format::TraceFormat;
use meed_workload::size::assumed_size;
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::{Job, JobSource, OnBadLine, Origin, TraceError};
use proptest::prelude::*;

fn kinds() -> ResourceKinds {
    let kind = |name: &str, unit| (name.to_owned(), unit);
    let kinds = [kind("cpu", Unit::Milli), kind("memory", Unit::Bytes), kind("gpu", Unit::Milli)];
    ResourceKinds::new(kinds.to_vec()).unwrap()
}

fn open_with(text: &str, map: &[(&str, &str)]) -> Result<TableSource, TraceError> {
    let format = TraceFormat::of_content(text.as_bytes()).unwrap();
    let (form, known) = format.table().unwrap();
    let map = map.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let options = TableAssumptions { form, known, map, ..TableAssumptions::default() };
    TableSource::open(&Origin::bytes("log", text.as_bytes()), &kinds(), &options, OnBadLine::Stop)
}

/// The source of a log whose format its content tells.
fn open(text: &str) -> TableSource {
    open_with(text, &[]).unwrap()
}

fn all(source: &mut TableSource) -> Vec<Job> {
    let (queues, kinds) = (source.queues().len(), 3);
    let jobs: Vec<Job> = std::iter::from_fn(|| source.next_job().unwrap()).collect();
    jobs.iter().for_each(|job| job.check(queues, kinds).unwrap());
    jobs
}

/// Each job: its name, when it comes, and for each group stage, tasks, cpus/GPUs of each, seconds.
fn shown(source: &mut TableSource) -> Vec<String> {
    let show = |job: &Job| {
        let groups = job.groups.iter().map(|group| {
            let joint =
                if group.gang.as_ref().is_some_and(|gang| gang.joint) { " joint" } else { "" };
            format!(
                "{}:{}x{}/{} {}s{joint}",
                group.stage,
                group.count,
                group.demand.get(0) / 1000,
                group.demand.get(2) / 1000,
                group.duration.get(0).as_secs_f64()
            )
        });
        let groups = groups.collect::<Vec<_>>().join(" + ");
        format!("{} @{} {groups}", job.label, job.submit.as_secs_f64())
    };
    all(source).iter().map(show).collect()
}

/// Whole seconds of cpus of each queue.
fn cpu_seconds(source: &mut TableSource) -> BTreeMap<String, u64> {
    let queues = source.queues().to_vec();
    let mut sums = BTreeMap::new();
    for job in all(source) {
        let of = |group: &meed_workload::JobGroup| {
            let micros = group.duration.total_micros(group.count);
            u64::try_from(micros * u128::from(group.demand.get(0)) / 1_000_000_000).unwrap()
        };
        *sums.entry(queues[job.queue as usize].clone()).or_default() +=
            job.groups.iter().map(of).sum::<u64>();
    }
    sums
}

/// An array of which one runs at a time (`%1`), a job that depends on another, one that is held; a
/// heterogeneous job; a job that was requeued, one that was suspended for 28 s, one that a node's
/// failure ended, one that was cancelled before it began and one whose array was; a job that was
/// resized twice, whose later rows are submitted when it was (22.05); GPUs by type.
const SACCT: &str = "\
JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|CPUTimeRAW|\
AllocTRES|ReqMem|State
1_1|ann|lab|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:00:01|\
2026-03-02T08:00:21|00:00:20|00:05:00|20|billing=1,cpu=1,mem=100M,node=1|100M|COMPLETED
1_1.batch||lab|||2026-03-02T08:00:01|2026-03-02T08:00:01|2026-03-02T08:00:01|\
2026-03-02T08:00:21|00:00:20||20|cpu=1,mem=100M,node=1||COMPLETED
1_2|ann|lab|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:21|2026-03-02T08:00:22|\
2026-03-02T08:00:42|00:00:20|00:05:00|20|billing=1,cpu=1,mem=100M,node=1|100M|COMPLETED
2|ann|lab|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:42|2026-03-02T08:00:42|\
2026-03-02T08:01:42|00:01:00|UNLIMITED|120|billing=2,cpu=2,mem=1.50G,node=1|1.50G|COMPLETED
3+0|bob|lab|main|normal|2026-03-02T08:00:05|2026-03-02T08:00:05|2026-03-02T08:00:36|\
2026-03-02T08:01:06|00:00:30|00:05:00|60|billing=2,cpu=2,mem=400M,node=1|400M|COMPLETED
3+0.batch||lab|||2026-03-02T08:00:36|2026-03-02T08:00:36|2026-03-02T08:00:36|\
2026-03-02T08:01:06|00:00:30||60|cpu=2,mem=400M,node=1||COMPLETED
3+1|bob|lab|main|normal|2026-03-02T08:00:05|2026-03-02T08:00:05|2026-03-02T08:00:36|\
2026-03-02T08:01:06|00:00:30|00:05:00|120|billing=4,cpu=4,mem=1500M,node=1|1500M|COMPLETED
16|cy|bio|main|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:00:11|\
2026-03-02T08:00:21|00:00:10|00:10:00|20|billing=2,cpu=2,mem=200M,node=1|200M|REQUEUED
16|cy|bio|main|normal|2026-03-02T08:00:21|2026-03-02T08:02:22|2026-03-02T08:02:23|\
2026-03-02T08:03:23|00:01:00|00:10:00|120|billing=2,cpu=2,mem=200M,node=1|200M|COMPLETED
17|cy|bio|main|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:00:10|\
2026-03-02T08:01:10|00:00:32|00:10:00|64|billing=2,cpu=2,mem=200M,node=1|200M|COMPLETED
18|cy|bio|main|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:00:11|\
2026-03-02T08:00:17|00:00:06|00:10:00|6|billing=1,cpu=1,mem=100M,node=1|100M|NODE_FAIL
19|cy|bio|main|normal|2026-03-02T08:00:12|Unknown|None|2026-03-02T08:00:30|00:00:00|00:10:00|0|\
|100M|CANCELLED by 1000
20_[6-10%2]|cy|bio|main|normal|2026-03-02T08:00:12|2026-03-02T08:00:12|2026-03-02T08:00:16|\
2026-03-02T08:00:16|00:00:00|00:10:00|0||800M|CANCELLED by 0
21|dan|bio|main|normal|2026-03-02T08:00:20|2026-03-02T08:00:20|2026-03-02T08:00:20|\
2026-03-02T08:01:00|00:00:40|00:10:00|320|billing=8,cpu=8,mem=1G,node=4|1G|RESIZING
22|dan|bio|main|normal|2026-03-02T08:00:40|2026-03-02T08:00:40|2026-03-02T08:00:40|\
2026-03-02T08:00:50|00:00:10|00:10:00|20|\
billing=2,cpu=2,gres/gpu:a100=1,gres/gpu:v100=2,mem=1G,node=1|1G|COMPLETED
21|dan|bio|main|normal|2026-03-02T08:01:00|2026-03-02T08:01:00|2026-03-02T08:01:00|\
2026-03-02T08:01:10|00:00:10|00:10:00|40|billing=4,cpu=4,mem=1G,node=2|1G|RESIZING
21|dan|bio|main|normal|2026-03-02T08:01:10|2026-03-02T08:01:10|2026-03-02T08:01:10|\
2026-03-02T08:01:40|00:00:30|00:10:00|60|billing=2,cpu=2,mem=1G,node=1|1G|COMPLETED
23|dan|bio|main|normal|2026-03-02T08:00:41|2026-03-02T08:00:41|2026-03-02T08:00:42|\
2026-03-02T08:00:52|00:00:10|00:10:00|10|\
billing=1,cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=1G,node=1|1G|COMPLETED
";

/// CPUTimeRAW of jobs, by what stands in these columns: Slurm's own sums.
fn sums_of_slurm(text: &str, columns: &[usize]) -> BTreeMap<String, u64> {
    let rows = text.lines().skip(1).map(|line| line.split('|').collect::<Vec<_>>());
    let mut sums = BTreeMap::new();
    for row in rows.filter(|row| !row[0].contains('.')) {
        let name = columns.iter().map(|column| row[*column]).collect::<Vec<_>>().join(".");
        *sums.entry(name).or_insert(0) += row[11].parse::<u64>().unwrap();
    }
    sums
}

#[test]
fn what_users_and_accounts_of_slurm_have_used_is_what_slurm_counts() {
    for (tenant, columns) in
        [("User", &[1][..]), ("Account", &[2]), ("Account/User", &[2, 1]), ("User/JobID", &[1, 0])]
    {
        let mut source = open_with(SACCT, &[("tenant", tenant)]).unwrap();
        let mut expected = sums_of_slurm(SACCT, columns);
        // Those that never started are no jobs.
        expected.retain(|_, sum| *sum > 0);
        assert_eq!(cpu_seconds(&mut source), expected, "by {tenant}");
    }
}

#[test]
fn jobs_of_slurm_are_what_slurm_ran() {
    let mut source = open(SACCT);
    let words = source.assumptions().join("\n");
    let expected = [
        "1_1 @0 0:1x1/0 20s",
        "3 @5 0:1x2/0 30s joint + 0:1x4/0 30s joint",
        "16 @10 0:1x2/0 10s",
        "17 @10 0:1x2/0 32s",
        "18 @10 0:1x1/0 6s",
        // One job of three sizes, one after the other.
        "21 @20 0:1x8/0 40s + 1:1x4/0 10s + 2:1x2/0 30s",
        // The second of an array of which one runs at a time, and what depends on it.
        "1_2 @21 0:1x1/0 20s",
        "22 @40 0:1x2/3 10s",
        "23 @41 0:1x1/2 10s",
        "2 @42 0:1x2/0 60s",
        "16 @142 0:1x2/0 60s",
    ];
    assert_eq!(shown(&mut source), expected);
    for told in [
        "Slurm: eligible is `Eligible`, in dates",
        "Slurm: a job comes when it was submitted, or when it could first start if that is later",
        "Slurm: 2 rows are components of 1 heterogeneous job: those of a job start together",
        "Slurm: 3 rows are sizes of 1 resized job: they follow each other",
        "Slurm: 2 runs requeued, preempted or lost with the node: each counts as a job",
        "Slurm: 2 rows left out: jobs that never started",
        "Slurm: 2 rows left out: steps of jobs",
    ] {
        assert!(words.contains(told), "{told} in\n{words}");
    }
    assert_eq!(source.counts().jobs, 11);
    assert_eq!(size(open(SACCT))[2], 5000, "3 GPUs of two types and 2 of one ran at once");
    // The components of a heterogeneous job need room at one time, and those of a resized one do
    // not.
    let het = rows_of(SACCT, &["3+"]);
    assert_eq!(size(open(&het))[0], 6000);
    let sizes = rows_of(SACCT, &["21|"]);
    assert_eq!(size(open(&sizes))[0], 8000);
}

/// The size that is assumed, of each resource.
fn size(mut source: TableSource) -> Vec<u64> {
    assumed_size(&mut source, 3).unwrap().amounts
}

/// The first line and those that begin with one of these.
fn rows_of(text: &str, begin: &[&str]) -> String {
    let is = |line: &&str| begin.iter().any(|begin| line.starts_with(begin));
    let lines = text.lines().take(1).chain(text.lines().filter(is));
    lines.map(|line| line.to_owned() + "\n").collect()
}

/// Without Eligible, as earlier recipes asked: told, and read as before.
#[test]
fn a_table_of_slurm_says_what_it_lacks() {
    let without: String = rows_of(SACCT, &["1_"]).replace("|Eligible|", "|Reserved|");
    let mut source = open(&without);
    let words = source.assumptions().join("\n");
    assert!(words.contains("no column says when a job could first start"), "{words}");
    assert!(words.contains("no job holds a GPU; sacct tells of them where"), "{words}");
    assert_eq!(shown(&mut source), ["1_1 @0 0:1x1/0 20s", "1_2 @0 0:1x1/0 20s"]);
    // A column of another name that the mapping tells.
    let mapped = open_with(&without, &[("eligible", "Reserved")]).unwrap().assumptions().join("\n");
    assert!(!mapped.contains("no column says"), "{mapped}");
    let ignored = open_with(&rows_of(SACCT, &["1_"]), &[("eligible", "-")]).unwrap();
    let ignored = ignored.assumptions().join("\n");
    assert!(ignored.contains("no column says when a job could first start"), "{ignored}");
    // What `sacct -P` prints where nobody names columns.
    let usual =
        "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n5|x|main|lab|1|COMPLETED|0:0\n";
    let error = open_with(usual, &[]).err().unwrap().to_string();
    assert!(error.contains("no column is known to be the submit"), "{error}");
    assert!(error.contains("sacct prints it with --parsable2 -o JobID,User,Account"), "{error}");
}

/// sacct prints a `|` in a job's name as it is: the row is wrong, and says nothing of the columns.
#[test]
fn a_bar_in_a_name_spoils_its_row_only() {
    let row = |name: &str, job: u32| {
        format!(
            "{job}|{name}|ann|1|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:01:00|\
             00:01:00|cpu=1|COMPLETED\n"
        )
    };
    let head = "JobID|JobName|User|Priority|Submit|Start|End|Elapsed|AllocTRES|State\n";
    let text = [head.to_owned(), row("a|b", 1), row("c", 2), row("d", 3)].concat();
    let (form, known) = TraceFormat::Sacct.table().unwrap();
    let options = TableAssumptions { form, known, ..TableAssumptions::default() };
    let origin = Origin::bytes("log", text.as_bytes());
    let mut source = TableSource::open(&origin, &kinds(), &options, OnBadLine::Skip).unwrap();
    assert_eq!(shown(&mut source), ["2 @0 0:1x1/0 60s", "3 @0 0:1x1/0 60s"]);
    assert_eq!(source.counts().bad, 1);
}

/// Rows of a resized job with one submission, as another version may write them; components that
/// were requeued; a job's number that comes again.
#[test]
fn rows_belong_together_by_name_and_submission() {
    let head = SACCT.lines().next().unwrap();
    let row = |id: &str, user: &str, submit: &str, cpus: u32, state: &str| {
        format!(
            "{id}|{user}|lab|main|normal|2026-03-02T{submit}|2026-03-02T{submit}|\
             2026-03-02T{submit}|2026-03-02T23:00:00|00:00:10|00:05:00|0|cpu={cpus},mem=1G,node=1|1G|{state}\n"
        )
    };
    let rows = [
        row("7", "ann", "08:00:00", 4, "RESIZING"),
        row("8", "bob", "08:00:00", 1, "COMPLETED"),
        row("7", "ann", "08:00:00", 2, "COMPLETED"),
        row("9+0", "ann", "08:10:00", 1, "REQUEUED"),
        row("9+1", "ann", "08:10:00", 2, "REQUEUED"),
        row("9+0", "ann", "08:20:00", 1, "COMPLETED"),
        row("9+1", "ann", "08:20:00", 2, "COMPLETED"),
        row("9+2", "eve", "08:20:00", 3, "COMPLETED"),
        row("7", "eve", "09:00:00", 8, "COMPLETED"),
        row("6", "eve", "09:00:00", 8, "RESIZING"),
    ];
    let mut source = open(&format!("{head}\n{}", rows.concat()));
    let words = source.assumptions().join("\n");
    let expected = [
        "7 @0 0:1x4/0 10s + 1:1x2/0 10s",
        "8 @0 0:1x1/0 10s",
        "9 @600 0:1x1/0 10s joint + 0:1x2/0 10s joint",
        "9 @1200 0:1x1/0 10s joint + 0:1x2/0 10s joint",
        "9+2 @1200 0:1x3/0 10s",
        "7 @3600 0:1x8/0 10s",
        "6 @3600 0:1x8/0 10s",
    ];
    assert_eq!(shown(&mut source), expected);
    assert!(words.contains("1 resized job without a row behind the last RESIZING"), "{words}");
}

/// Made by hand, after the source of 22.05 (`dbv0.0.38`): numbers are plain, and null where unset;
/// the state is a text; memory is counted in MiB; 0 is no time.
const JSON_22_05: &str = r#"{
  "meta": {"plugin": {"type": "openapi/dbv0.0.38"}, "Slurm": {"version": {"major": 22}}},
  "errors": [],
  "jobs": [
    {"account": "lab", "allocation_nodes": 1, "job_id": 12, "name": "a [\"jobs\":[{", "user": "ann",
     "array": {"job_id": 10, "task_id": 2}, "het": {"job_id": 0, "job_offset": null},
     "partition": "main", "qos": "normal", "state": {"current": "COMPLETED", "reason": "None"},
     "steps": [{"step": {"id": "12.batch"}, "tres": {"allocated": []}}],
     "time": {"elapsed": 60, "eligible": 1772438430, "submission": 1772438400,
              "start": 1772438431, "end": 1772438491, "suspended": 0, "limit": 5},
     "tres": {"allocated": [{"type": "cpu", "name": null, "id": 1, "count": 4},
                            {"type": "mem", "name": null, "id": 2, "count": 8192},
                            {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 2}],
              "requested": []}},
    {"account": "lab", "allocation_nodes": 1, "job_id": 13, "user": "bob",
     "array": {"job_id": 0, "task_id": null}, "het": {"job_id": 13, "job_offset": 0},
     "state": {"current": "COMPLETED"},
     "time": {"elapsed": 30, "eligible": 1772438400, "submission": 1772438400,
              "start": 1772438431, "end": 1772438461, "limit": null},
     "tres": {"allocated": [{"type": "cpu", "name": null, "count": 2}]}},
    {"account": "lab", "allocation_nodes": 1, "job_id": 14, "user": "bob",
     "array": {"job_id": 0, "task_id": null}, "het": {"job_id": 13, "job_offset": 1},
     "state": {"current": "COMPLETED"},
     "time": {"elapsed": 30, "eligible": 1772438400, "submission": 1772438400,
              "start": 1772438431, "end": 1772438461, "limit": null},
     "tres": {"allocated": [{"type": "cpu", "name": null, "count": 1}]}},
    {"account": "lab", "allocation_nodes": 0, "job_id": 15, "user": "bob",
     "array": {"job_id": 0, "task_id": null}, "het": {"job_id": 0, "job_offset": null},
     "state": {"current": "CANCELLED"},
     "time": {"elapsed": 0, "eligible": 0, "submission": 1772438400, "start": 0,
              "end": 1772438461, "limit": null},
     "tres": {"allocated": []}}
  ]
}
"#;

/// Made by hand, after the sources of later versions (`data_parser`, v0.0.39 to v0.0.43).
const JSON_LATER: &str = r#"{"meta":{"slurm":{"version":{"major":"23"}}},"jobs":[
{"association":{"account":"lab","user":"ann"},"account":"lab","job_id":20,"steps":[],"user":"",
"array":{"job_id":0,"task_id":{"set":false,"infinite":false,"number":0}},
"het":{"job_id":0,"job_offset":{"set":false,"infinite":false,"number":0}},
"state":{"current":["PENDING","REQUEUED"]},
"time":{"elapsed":10,"eligible":1772438400,"submission":1772438400,"start":1772438401,
"end":{"set":true,"infinite":false,"number":1772438411},
"limit":{"set":true,"infinite":true,"number":0}},
"tres":{"allocated":[{"type":"cpu","name":"","id":1,"count":3}],"requested":[]}},
{"account":"lab","job_id":21,"steps":[],"user":"bob",
"array":{"job_id":21,"task_id":{"set":true,"infinite":false,"number":0}},
"het":{"job_id":0,"job_offset":{"set":false,"infinite":false,"number":0}},
"state":{"current":["RUNNING"]},
"time":{"elapsed":10,"eligible":1772438400,"submission":1772438400,"start":1772438401,"end":0},
"tres":{"allocated":[{"type":"cpu","name":"","id":1,"count":3}]}},
{"account":"lab","job_id":22,"steps":[],"user":"bob",
"array":{"job_id":22,"task_id":{"set":true,"infinite":false,"number":0}},
"state":{"current":["TIMEOUT"]},
"time":{"elapsed":90,"eligible":1772438405,"submission":1772438400,"start":1772438410,
"end":1772438500,"limit":{"set":true,"infinite":false,"number":1}},
"tres":{"allocated":[{"type":"cpu","name":"","id":1,"count":1},
{"type":"gres","name":"gpu","count":1},
{"type":"gres","name":"gpu:a100","count":1}]}}],"warnings":[],"errors":[]}
"#;

#[test]
fn sacct_json_is_read_whole_and_line_by_line() {
    let expected = ["13 @0 0:1x2/0 30s joint + 0:1x1/0 30s joint", "10_2 @30 0:1x4/2 60s"];
    let mut source = open(JSON_22_05);
    assert_eq!(shown(&mut source), expected);
    assert_eq!((source.counts().lines, source.counts().ignored), (4, 1));
    let first = all(&mut open(JSON_22_05)).pop().unwrap();
    assert_eq!(first.groups[0].demand.get(1), 8192 << 20);
    assert_eq!(first.groups[0].limit.map(|limit| limit.as_secs_f64()), Some(300.0));
    // What `jq -c '.jobs[]'` makes of it: each job on a line.
    let document: serde_json::Value = serde_json::from_str(JSON_22_05).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let lines: String = jobs.iter().map(|job| format!("{job}\n")).collect();
    assert_eq!(shown(&mut open(&lines)), expected);
    let list = document["jobs"].to_string();
    assert_eq!(shown(&mut as_json(&list).unwrap()), expected);

    let mut source = open(JSON_LATER);
    let expected = ["20 @0 0:1x3/0 10s", "21_0 @0 0:1x3/0 10s", "22_0 @5 0:1x1/1 90s"];
    assert_eq!(shown(&mut source), expected);
    let words = source.assumptions().join("\n");
    assert!(words.contains("1 run requeued"), "{words}");
    assert!(words.contains("1 job ran still when the log ended"), "{words}");
    assert_eq!(source.queues(), ["ann", "bob"]);
}

/// As Slurm 24.11.5 and 26.05.5 print it, shortened: a job that was put back and cancelled before
/// it started again, whose start is 2^32 - 2, and one that ran.
#[test]
fn a_start_of_sacct_json_that_is_no_instant_is_none() {
    let text = r#"{"jobs": [
{"account": "bio", "user": "ann", "job_id": 184, "steps": [],
 "array": {"job_id": 0, "task_id": {"set": false, "infinite": false, "number": 0}},
 "state": {"current": ["CANCELLED"], "reason": "BeginTime"},
 "time": {"elapsed": 0, "eligible": 1796079571, "end": 1796079572, "start": 4294967294,
          "submission": 1796079394, "suspended": 0,
          "limit": {"set": true, "infinite": false, "number": 5}},
 "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4},
                        {"type": "billing", "name": "", "id": 5, "count": 4}]}},
{"account": "bio", "user": "ann", "job_id": 185, "steps": [],
 "array": {"job_id": 0, "task_id": {"set": false, "infinite": false, "number": 0}},
 "state": {"current": ["COMPLETED"], "reason": "None"},
 "time": {"elapsed": 7, "eligible": 1796079395, "end": 1796079405, "start": 1796079396,
          "submission": 1796079395, "suspended": 2},
 "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 2},
                        {"type": "energy", "name": "", "id": 3, "count": -2}]}}],
"meta": {"slurm": {"release": "24.11.5"}}, "errors": [], "warnings": []}"#;
    let mut source = open(text);
    assert_eq!(shown(&mut source), ["185 @0 0:1x2/0 7s"]);
    assert_eq!((source.counts().lines, source.counts().ignored), (2, 1));
}

/// Anybody's table may have a column `steps`, of numbers.
#[test]
fn a_table_with_a_column_steps_is_none_of_slurm() {
    let row = |job: u64, rest: &str| {
        format!(
            "{{\"job_id\":{job},\"account\":\"lab\",\"user\":\"ann\",\"submit\":{job},\
             \"duration\":60,\"cpus\":2{rest}}}\n"
        )
    };
    for rest in ["", ",\"steps\": 12000", ",\"tres\":\"cpu=2\"", ",\"steps\":null"] {
        let text = [row(5, rest), row(6, rest)].concat();
        assert_eq!(
            TraceFormat::of_content(text.as_bytes()),
            Some(TraceFormat::JsonLines),
            "{rest}"
        );
        assert_eq!(shown(&mut open(&text)), ["5 @5 0:1x2/0 60s", "6 @6 0:1x2/0 60s"]);
    }
    let spaced = "{\"job_id\": 5, \"account\": \"lab\", \"steps\" : [\n";
    assert_eq!(TraceFormat::of_content(spaced.as_bytes()), Some(TraceFormat::SacctJson));
}

fn as_json(text: &str) -> Result<TableSource, TraceError> {
    let (form, known) = TraceFormat::SacctJson.table().unwrap();
    let options = TableAssumptions { form, known, ..TableAssumptions::default() };
    TableSource::open(&Origin::bytes("log", text.as_bytes()), &kinds(), &options, OnBadLine::Skip)
}

#[test]
fn what_is_wrong_in_sacct_json_is_said_with_its_line() {
    let lines: Vec<String> = {
        let document: serde_json::Value = serde_json::from_str(JSON_22_05).unwrap();
        document["jobs"].as_array().unwrap().iter().map(|job| format!("{job}\n")).collect()
    };
    let damaged = [&lines[0], "{\"job_id\": \"x\"}\n", &lines[1], &lines[2], "{\"job_id\": 5,"];
    let source = as_json(&damaged.concat()).unwrap();
    let bad: Vec<String> = source.bad_lines().iter().map(|line| line.to_string()).collect();
    assert!(bad[0].starts_with("log:2: invalid type: string \"x\""), "{bad:?}");
    assert!(bad[0].ends_with("wanted is a job as sacct --json prints it"), "{bad:?}");
    assert_eq!(bad[1], "log:5: an object of JSON is opened and not closed");
    for (text, expected) in [("", "no jobs"), ("[]", "no jobs"), ("x y z", "wanted are objects")] {
        let error = as_json(text).err().unwrap().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// As Grid Engine 8.1.9 writes it: a job, one of a parallel environment, two tasks of an array, one
/// that was lost with its host (failed 25, no times) and ran again later, one that never began
/// (failed 26), one of a task of a parallel job, whose own row follows.
const GRID_ENGINE: &str = "\
# Version: 8.1.9
#
# DO NOT MODIFY THIS FILE MANUALLY!
#
all.q:head:g1:ann:plain:1:sge:0:1795917332:1795917347:1795917357:0:0:10:0.007:0.006:4472.0:0:0:\
0:0:624:0:0:0.0:8:0:0:0:6:3:NONE:defaultdepartment:NONE:1:0:0.013:0.0:0.0:NONE:0.0:NONE:\
5304320.0:0:0
all.q:head:g2:bob:pe:4:sge:0:1795917333:1795917346:1795917359:0:0:13:0.008:0.004:4724.0:0:0:0:\
0:619:0:0:8.0:16:0:0:0:8:6:NONE:defaultdepartment:smp:3:0:0.013:0.0:0.0:\
-l h_rt=600,h_vmem=1G -pe smp 3:0.0:NONE:5345280.0:0:0
all.q:head:g2:bob:arr:3:sge:0:1795917333:1795917363:1795917371:0:0:8:0.008:0.004:4588.0:0:0:0:\
0:621:0:0:0.0:16:0:0:0:8:5:NONE:defaultdepartment:NONE:1:1:0.012:0.0:0.0:NONE:0.0:NONE:\
5107712.0:0:0
all.q:head:g2:bob:arr:3:sge:0:1795917333:1795917377:1795917385:0:0:8:0.008:0.004:4588.0:0:0:0:\
0:621:0:0:0.0:16:0:0:0:8:5:NONE:defaultdepartment:NONE:1:3:0.012:0.0:0.0:NONE:0.0:NONE:\
5107712.0:0:0
all.q:head:g3:cy:rerun:10:sge:0:0:0:0:25:0:0:0.0:0.0:0.0:0:0:0:0:0:0:0:0.0:0:0:0:0:0:0:NONE:\
defaultdepartment:NONE:1:0:0.0:0.0:0.0:NONE:0.0:NONE:0.0:0:0
all.q:head:g3:cy:badout:7:sge:0:1795917335:0:0:26:0:0:0.0:0.0:0.0:0:0:0:0:0:0:0:0.0:0:0:0:0:0:\
0:NONE:defaultdepartment:NONE:1:0:0.0:0.0:0.0:NONE:0.0:NONE:0.0:0:0
all.q:head:g3:cy:mpi:11:sge:0:1795917340:1795917350:1795917360:0:0:10:0.0:0.0:0.0:0:0:0:0:0:0:\
0:0.0:0:0:0:0:0:0:p1:defaultdepartment:mpi:1:0:0.0:0.0:0.0:-pe mpi 4:0.0:1.node02:0.0:0:0
all.q:head:g3:cy:mpi:11:sge:0:1795917340:1795917350:1795917360:0:0:10:0.0:0.0:0.0:0:0:0:0:0:0:\
0:0.0:0:0:0:0:0:0:p1:defaultdepartment:mpi:4:0:0.0:0.0:0.0:-pe mpi 4:0.0:NONE:0.0:0:0
all.q:head:g3:cy:rerun:10:sge:0:1795917384:1795917389:1795917429:0:0:40:0.012:0.0:4532.0:0:0:0:\
0:621:0:0:0.0:8:0:0:0:8:6:NONE:defaultdepartment:NONE:1:0:0.0:0.0:0.0:NONE:0.0:NONE:0.0:0:0
";

#[test]
fn the_accounting_file_of_grid_engine_is_read() {
    let mut source = open(GRID_ENGINE);
    let words = source.assumptions().join("\n");
    let expected = [
        "1 @0 0:1x1/0 10s",
        "4 @1 0:1x3/0 13s",
        "3.1 @1 0:1x1/0 8s",
        "3.3 @1 0:1x1/0 8s",
        "11 @8 0:1x4/0 10s",
        "10 @52 0:1x1/0 40s",
    ];
    assert_eq!(shown(&mut source), expected);
    for told in [
        "Grid Engine: 2 rows left out: runs without times: they never began, or were lost",
        "Grid Engine: 1 row left out: tasks of parallel jobs that have a line of their own",
        "Grid Engine: time 0 is the first submission, 2026-11-29T01:55:32Z",
    ] {
        assert!(words.contains(told), "{told} in\n{words}");
    }
    let sums = [("ann", 10), ("bob", 55), ("cy", 80)].map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(cpu_seconds(&mut open(GRID_ENGINE)), sums.into());
    let limit = all(&mut open(GRID_ENGINE))[1].groups[0].limit;
    assert_eq!(limit.map(|limit| limit.as_secs_f64()), Some(600.0));
    // Requests are columns, and sites know whether they are for each slot.
    let map = [("memory", "request.h_vmem*slots"), ("tenant", "project|group")];
    let mut source = open_with(GRID_ENGINE, &map).unwrap();
    assert_eq!(source.queues(), ["g1", "g2", "p1", "g3"]);
    assert_eq!(all(&mut source)[1].groups[0].demand.get(1), 3 << 30);
    let short = GRID_ENGINE.replacen(":NONE:5345280.0:0:0", "", 1);
    let error = open_with(&short, &[]).err().unwrap().to_string();
    assert!(error.contains("fields between colons; wanted are 45"), "{error}");
}

proptest! {
    /// Accounting of which bytes were changed is read or refused, and what is read are jobs.
    #[test]
    fn damaged_accounting_is_read_or_refused(
        which in 0usize..4,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0usize..24, 0u8..3), 1..12),
    ) {
        const ODD: &[u8] = b"\"\\,;|:+[]{}0-9RESIZING\n ";
        let formats = [
            (SACCT, TraceFormat::Sacct),
            (JSON_22_05, TraceFormat::SacctJson),
            (JSON_LATER, TraceFormat::SacctJson),
            (GRID_ENGINE, TraceFormat::GridEngine),
        ];
        let (text, format) = formats[which];
        let mut bytes = text.as_bytes().to_vec();
        for (place, odd, how) in damage {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = ODD[odd],
                1 => bytes.insert(place, ODD[odd]),
                _ if bytes.len() > 1 => { bytes.remove(place); }
                _ => {}
            }
        }
        let (form, known) = format.table().unwrap();
        let options = TableAssumptions { form, known, ..TableAssumptions::default() };
        let origin = Origin::bytes("log", bytes.as_slice());
        let open = |policy| TableSource::open(&origin, &kinds(), &options, policy);
        match open(OnBadLine::Skip) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(mut source) => {
                prop_assert_eq!(open(OnBadLine::Stop).is_ok(), source.counts().bad == 0);
                assumed_size(&mut open(OnBadLine::Skip).unwrap(), 3).unwrap();
                let jobs = all(&mut source);
                prop_assert!(jobs.windows(2).all(|two| two[0].submit <= two[1].submit));
                prop_assert_eq!(source.counts().jobs, jobs.len() as u64);
            }
        }
    }
}
