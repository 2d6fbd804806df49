//! Rows that differ from the others of their table: in another unit, out of order, with time in
//! which a job was suspended, of jobs with many components.

use meed::{ResourceKinds, Unit};
use meed_workload::format::TraceFormat;
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::{JobSource, OnBadLine, Origin, SourceCounts, TraceError};

/// Opens a log whose format its content tells.
fn open(text: &str) -> Result<TableSource, TraceError> {
    let kind = |name: &str, unit| (name.to_owned(), unit);
    let kinds = [kind("cpu", Unit::Milli), kind("memory", Unit::Bytes)];
    let kinds = ResourceKinds::new(kinds.to_vec()).unwrap();
    let (form, known) = TraceFormat::of_content(text.as_bytes()).unwrap().table().unwrap();
    let options = TableAssumptions { form, known, ..TableAssumptions::default() };
    TableSource::open(&Origin::bytes("log", text.as_bytes()), &kinds, &options, OnBadLine::Skip)
}

/// Each job: its name, when it comes, and the stage, cpus and seconds of each group.
fn jobs(source: &mut TableSource) -> Vec<String> {
    let mut shown = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(source.queues().len(), 2).unwrap();
        let groups = job.groups.iter().map(|group| {
            let (cpus, time) = (group.demand.get(0) / 1000, group.duration.get(0).as_secs_f64());
            format!("{}:{cpus}x{time}s", group.stage)
        });
        let groups = groups.collect::<Vec<_>>().join(" + ");
        shown.push(format!("{} @{} {groups}", job.label, job.submit.as_secs_f64()));
    }
    shown
}

/// 20 rows of 100 s with times in seconds, and behind them a row with these times.
fn table(odd: [&str; 3]) -> String {
    let row = |job: u64| {
        let at = 1_772_438_400 + job;
        format!("{job},a,{at},{},{},2\n", at + 10, at + 110)
    };
    let rows: String = (0..20).map(row).collect();
    format!("job,team,submitted,started,ended,cpus\n{rows}99,a,{},2\n", odd.join(","))
}

#[test]
fn a_row_in_another_unit_is_wrong_and_changes_no_other() {
    let millis = ["1772438420000", "1772438430000", "1772438530000"];
    let seconds = ["1772438420", "1772438430", "1772438530"];
    let mut expected: Vec<String> = (0..20).map(|job| format!("{job} @{job} 0:2x100s")).collect();
    let since_start = ["20", "30", "130"];
    for odd in [
        millis,
        [seconds[0], seconds[1], millis[2]],
        [seconds[0], millis[1], millis[2]],
        since_start,
        [seconds[0], "0", seconds[2]],
    ] {
        let mut source = open(&table(odd)).unwrap();
        let words = source.assumptions().join("\n");
        assert_eq!(jobs(&mut source), expected, "{odd:?}");
        assert_eq!(source.counts(), SourceCounts { lines: 21, jobs: 20, bad: 1, ignored: 0 });
        let told = "1 row wrong: a time has another unit than those of the other rows (the first \
                    is line 22)";
        assert!(words.contains(told), "{words}");
    }
    let source = open(&table([seconds[0], seconds[1], millis[2]])).unwrap();
    let told = source.bad_lines()[0].to_string();
    let fits = "log:22: `ended` (end): \"1772438530000\" does not fit the other rows, which are in \
                seconds since 1970";
    assert_eq!(told, fits);
    expected.push("99 @20 0:2x100s".to_owned());
    assert_eq!(jobs(&mut open(&table(seconds)).unwrap()), expected);
}

#[test]
fn a_line_of_grid_engine_in_another_unit_is_wrong_and_changes_no_other() {
    let line = |job: u64, at: u64, scale: u64| {
        let times = [at, at + 10, at + 110].map(|time| (time * scale).to_string()).join(":");
        format!(
            "all.q:head:g:ann:plain:{job}:sge:0:{times}:0:0:10:0.0:0.0:0.0:0:0:0:0:0:0:0:0.0:0:0:\
             0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.0:0.0:0.0:NONE:0.0:NONE:0.0:0:0\n"
        )
    };
    let first = 1_772_438_400;
    let text = [line(1, first, 1), line(2, first + 5, 1000), line(3, first + 9, 1)].concat();
    let mut source = open(&text).unwrap();
    assert_eq!(jobs(&mut source), ["1 @0 0:1x100s", "3 @9 0:1x100s"]);
    assert_eq!(source.counts().bad, 1);
}
