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

const SUSPENDED: &str = "\
JobID|User|Submit|Start|End|Suspended|AllocTRES|State
1|ana|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T14:00:00|04:00:00|cpu=1|COMPLETED
2|ana|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T09:00:00|00:00:00|cpu=1|COMPLETED
3|ana|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T09:00:00||cpu=1|COMPLETED
4|ana|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T09:00:00|02:00:00|cpu=1|COMPLETED
";

#[test]
fn suspended_time_of_slurm_is_no_run_time_without_elapsed() {
    let mut source = open(SUSPENDED).unwrap();
    let words = source.assumptions().join("\n");
    assert!(words.contains("Slurm: suspended is `Suspended`, in seconds"), "{words}");
    assert!(!words.contains("no column says how long a job ran"), "{words}");
    assert_eq!(jobs(&mut source), ["1 @0 0:1x7200s", "2 @0 0:1x3600s", "3 @0 0:1x3600s"]);
    let told = source.bad_lines()[0].to_string();
    let wrong = "log:5: `Suspended` (suspended): it was suspended for longer than from its start \
                 to its end";
    assert_eq!(told, wrong);
    // Elapsed is without it already.
    let elapsed = SUSPENDED.replace("|End|Suspended|", "|End|Elapsed|");
    assert_eq!(jobs(&mut open(&elapsed).unwrap())[0], "1 @0 0:1x14400s");
    let with_both =
        SUSPENDED.replace("|User|", "|Elapsed|User|").replace("|ana|", "|02:00:00|ana|");
    assert_eq!(jobs(&mut open(&with_both).unwrap())[0], "1 @0 0:1x7200s");
    // What nobody asked for is said.
    let without = SUSPENDED.replace("|End|Suspended|", "|End|Reserved|");
    let mut source = open(&without).unwrap();
    let words = source.assumptions().join("\n");
    assert!(words.contains("no column says how long a job ran or was suspended"), "{words}");
    assert_eq!(jobs(&mut source)[0], "1 @0 0:1x21600s");
}

/// Made by hand, after the source of 22.05; without `elapsed`, which sacct prints always.
#[test]
fn suspended_time_of_sacct_json_is_no_run_time_without_elapsed() {
    for (elapsed, seconds) in [("", 7200), ("\"elapsed\":7000,", 7000)] {
        let text = format!(
            "{{\"jobs\":[{{\"job_id\":5,\"account\":\"lab\",\"user\":\"ann\",\"steps\":[],\
             \"state\":{{\"current\":\"COMPLETED\"}},\"time\":{{{elapsed}\"submission\":1772438400,\
             \"start\":1772438400,\"end\":1772460000,\"suspended\":14400}},\
             \"tres\":{{\"allocated\":[{{\"type\":\"cpu\",\"count\":1}}]}}}}]}}\n"
        );
        assert_eq!(jobs(&mut open(&text).unwrap()), [format!("5 @0 0:1x{seconds}s")]);
    }
}

/// A job of three sizes, another one, and a later job of the same number.
#[test]
fn the_rows_of_a_resized_job_may_come_in_any_order() {
    let head = "JobID|User|Submit|Start|End|Elapsed|AllocTRES|State\n";
    let row = |id: u32, submit: &str, start: &str, hours: u32, cpus: u32, state: &str| {
        format!(
            "{id}|bo|2026-03-02T{submit}|2026-03-02T{start}|2026-03-02T23:00:00|0{hours}:00:00|\
             cpu={cpus}|{state}\n"
        )
    };
    // All with one submission, and as 22.05 writes them.
    let same = ["08:00:00"; 3];
    for [first, second, third] in [same, ["08:00:00", "09:10:00", "11:10:00"]] {
        let rows = [
            row(71, first, "08:10:00", 1, 8, "RESIZING"),
            row(71, second, "09:10:00", 2, 6, "RESIZING"),
            row(71, third, "11:10:00", 3, 4, "COMPLETED"),
            row(72, "08:00:00", "08:00:00", 1, 1, "COMPLETED"),
            row(71, "20:00:00", "20:00:00", 1, 2, "COMPLETED"),
        ];
        for order in [[0, 1, 2, 3, 4], [2, 1, 0, 3, 4], [4, 3, 1, 2, 0], [2, 0, 4, 1, 3]] {
            let text: String = order.iter().map(|place| rows[*place].as_str()).collect();
            let mut source = open(&format!("{head}{text}")).unwrap();
            let words = source.assumptions().join("\n");
            let told = "3 rows are sizes of 1 resized job: they follow each other";
            assert!(words.contains(told), "{order:?}: {words}");
            assert!(!words.contains("without a row behind"), "{order:?}: {words}");
            let mut found = jobs(&mut source);
            found.sort();
            let expected = [
                "71 @0 0:8x3600s + 1:6x7200s + 2:4x10800s",
                "71 @43200 0:2x3600s",
                "72 @0 0:1x3600s",
            ];
            assert_eq!(found, expected, "{order:?}");
            assert_eq!(source.counts().jobs, 3);
        }
    }
}

#[test]
fn jobs_with_more_unlike_components_than_a_gang_has_are_told() {
    let head = "JobID|User|Submit|Eligible|Start|End|Elapsed|AllocTRES|State\n";
    let row = |job: u32, part: u32, cpus: u32| {
        format!(
            "{job}+{part}|ana|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:10:00|\
             2026-03-02T09:10:00|01:00:00|cpu={cpus}|COMPLETED\n"
        )
    };
    let of = |job: u32, parts: u32| (0..parts).map(move |part| row(job, part, part + 1));
    let words = |rows: Vec<String>| {
        let source = open(&format!("{head}{}", rows.concat())).unwrap();
        source.assumptions().join("\n")
    };
    let few = words(of(60, 7).chain((0..9).map(|part| row(61, part, 2))).collect());
    let told = "16 rows are components of 2 heterogeneous jobs: those of a job start together";
    assert!(few.lines().any(|line| line.ends_with(told)), "{few}");
    let many = words(of(60, 8).chain(of(61, 2)).collect());
    let told = "10 rows are components of 2 heterogeneous jobs: those of a job start together, but \
                for 1 job. Unlike components, or their tasks, are more there than one gang can \
                have: each group of like ones starts by itself";
    assert!(many.contains(told), "{many}");
}

#[test]
fn a_date_in_another_order_names_the_setting_that_reads_it() {
    for (date, expected) in [
        ("1/31/2026 11:59:59 PM", "dates = \"month-first\" in [trace] reads it"),
        ("31.01.2026 23:59:59", "dates = \"day-first\" in [trace] reads it"),
        ("1/2/2026", "dates = \"month-first\" or \"day-first\" in [trace] says which comes first"),
    ] {
        let error = open(&format!("user,submit,duration,cpus\nann,{date},60,1\n")).err().unwrap();
        let told = format!("`submit`: \"{date}\" is no date of ISO 8601; {expected}");
        assert!(error.to_string().contains(&told), "{error}");
    }
}

#[test]
fn sacct_without_parsable2_or_with_noheader_says_the_command() {
    let row = "5|ann|2026-03-02T08:00:00|2026-03-02T08:00:00|00:01:00|cpu=1|COMPLETED\n";
    let aligned = "       JobID      User              Submit    Elapsed      State\n\
                   ------------ --------- ------------------- ---------- ----------\n\
                   5                  ann 2026-03-02T08:00:00   00:01:00  COMPLETED\n";
    for (text, why) in [(row, "no line names the columns"), (aligned, "aligned by blanks")] {
        assert_eq!(TraceFormat::of_content(text.as_bytes()), Some(TraceFormat::Sacct));
        let error = open(text).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("sacct prints it with --parsable2 -o JobID,User,"), "{error}");
    }
}
