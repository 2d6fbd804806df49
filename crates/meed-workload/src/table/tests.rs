use proptest::prelude::*;

use super::*;

fn kinds() -> ResourceKinds {
    let kind = |name: &str, unit| (name.to_owned(), unit);
    let kinds = [kind("cpu", Unit::Milli), kind("memory", Unit::Bytes), kind("gpu", Unit::Milli)];
    ResourceKinds::new(kinds.to_vec()).unwrap()
}

fn options(map: &[(&str, &str)]) -> TableAssumptions {
    let map = map.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    TableAssumptions { map, ..TableAssumptions::default() }
}

fn open_as(
    text: &str,
    options: &TableAssumptions,
    on_bad_line: OnBadLine,
) -> Result<TableSource, TraceError> {
    let origin = Origin::bytes("jobs.csv", text.as_bytes());
    TableSource::open(&origin, &kinds(), options, on_bad_line)
}

/// Label, queue, submission, tasks, cpu (thousandths), MiB, gpu (thousandths), seconds.
fn rows(source: &mut TableSource) -> Vec<String> {
    let queues = source.queues().to_vec();
    let mut rows = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(queues.len(), 3).unwrap();
        let group = &job.groups[0];
        let mut row = format!(
            "{} {} {} {}x {}/{}/{} {}",
            job.label,
            queues[job.queue as usize],
            job.submit.as_secs_f64(),
            group.count,
            group.demand.get(0),
            group.demand.get(1) >> 20,
            group.demand.get(2),
            group.duration.get(0).as_secs_f64(),
        );
        if let Some(limit) = group.limit {
            row += &format!(" limit {}", limit.as_secs_f64());
        }
        if let Some(gang) = &group.gang {
            row += &format!(" gang {}", gang.least);
        }
        row += if group.cut { " cut" } else { "" };
        rows.push(row);
    }
    rows
}

fn read(text: &str, options: &TableAssumptions) -> Vec<String> {
    rows(&mut open_as(text, options, OnBadLine::Stop).unwrap())
}

fn words(text: &str, options: &TableAssumptions) -> String {
    open_as(text, options, OnBadLine::Skip).unwrap().assumptions().join("\n")
}

#[test]
fn a_table_is_understood_by_the_names_of_its_columns() {
    let text = "job_id,tenant,submit_time,duration_s,gpus,cpus,mem_gib,node\n\
                b,ads,2026-01-01T00:01:00,30.5,0.5,4,2,n1\n\
                7,web,2026-01-01 00:00:00,60,1,8,0.5,n2\n";
    let expected = ["7 web 0 1x 8000/512/1000 60", "b ads 60 1x 4000/2048/500 30.5"];
    assert_eq!(read(text, &options(&[])), expected);
    for (from, to) in [(",", ";"), (",", "\t"), (",", "|"), ("\n", "\r\n")] {
        assert_eq!(read(&text.replace(from, to), &options(&[])), expected, "{to:?}");
    }
    let words = words(text, &options(&[]));
    for told in [
        "table: tenant is `tenant`, guessed by its name",
        "table: submit is `submit_time`, in dates, guessed by its name",
        "table: duration is `duration_s`, in seconds, guessed by its name",
        "table: memory is `mem_gib`, in GiB, guessed by its name",
        "table: dates without a zone are in UTC (time_zone says another)",
        "table: columns that are not used: `node`",
        "table: time 0 is the first submission, 2026-01-01T00:00:00Z",
    ] {
        assert!(words.contains(told), "{told} in\n{words}");
    }
}

#[test]
fn what_is_mapped_is_taken() {
    let text = "who,grp,t,begin,stop,asked,n,c,m\n\
                ann.b,lab,1000,2000,5000,01:00,3,2,4096M\n\
                eve,lab,500,500,500,UNLIMITED,1,1,0\n";
    let map = [
        ("tenant", "grp/who"),
        ("submit", "t:ms"),
        ("start", "begin:ms"),
        ("end", "stop:ms"),
        ("limit", "asked"),
        ("count", "n"),
        ("gang", "=true"),
        ("cpu", "c"),
        ("memory", "m"),
    ];
    let expected =
        ["3 lab.eve 0.5 1x 1000/0/0 0", "2 lab.ann_b 1 3x 2000/3906/0 3 limit 60 gang 3"];
    assert_eq!(read(text, &options(&map)), expected);
    let binary = TableAssumptions {
        sizes: Some(TableSizes::Binary),
        amounts: Some(TableAmounts::PerJob),
        dots: TableDots::Path,
        ..options(&map)
    };
    let expected = ["3 lab.eve 0.5 1x 1000/0/0 0", "2 lab.ann.b 1 3x 667/1365/0 3 limit 60 gang 3"];
    assert_eq!(read(text, &binary), expected);
}

#[test]
fn names_that_come_late_are_columns() {
    let json = TableAssumptions { form: TableForm::JsonLines, ..options(&[]) };
    let row = |job: u32| format!("{{\"user\":\"a\",\"submit\":{job},\"duration\":1,\"cpus\":1}}\n");
    let late = "{\"user\":\"b\",\"submit\":2000,\"duration\":1,\"cpus\":1,\"gpus\":2}\n";
    let text = (0..1500).map(row).collect::<String>() + late;
    let found = read(&text, &json);
    assert_eq!(found.len(), 1501, "no row is lost, and none is there twice");
    assert_eq!(found[0], "1 a 0 1x 1000/0/0 1");
    assert_eq!(found[1500], "1501 b 2000 1x 1000/0/2000 1");
    // Of a bare table it is a resource; a mapping may name it.
    let origin = Origin::bytes("jobs.jsonl", text.as_bytes());
    let kinds = table_resources(&origin, &json).expect("a table");
    assert_eq!(kinds.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["cpu", "gpu"]);
    let mapped = TableAssumptions { map: options(&[("cpu", "gpus|cpus")]).map, ..json };
    assert_eq!(read(&text, &mapped)[1500], "1501 b 2000 1x 2000/0/0 1");
}

#[test]
fn people_may_be_called_as_words_for_nothing() {
    let text = "user,submit,duration,cpu\nna,0,1,1\nnone,0,1,1\nNaN,0,1,1\nunknown,0,none,1\n\
        unknown,0,1,1\n-,0,1,1\nnone,0,1,1\n";
    let mut source = open_as(text, &options(&[]), OnBadLine::Skip).unwrap();
    assert_eq!(source.queues(), ["na", "none", "unknown"]);
    // A duration that is `none` is still none.
    assert_eq!(rows(&mut source).len(), 4);
}

#[test]
fn lines_of_json_are_rows() {
    let text = concat!(
        r#"{"id":"a","user":"ann","submit":"2026-01-01T00:00:00+01:00","runtime":90,"#,
        r#""res":{"cpu":2,"mem":"4Gi"},"tags":["x"]}"#,
        "\n\n",
        r#"{"id":5,"user":"eve","submit":"2025-12-31T23:00:10Z","runtime":1.5e1,"#,
        r#""res":{"cpu":0.25,"mem":null}}"#,
        "\n",
    );
    let options = TableAssumptions {
        form: TableForm::JsonLines,
        ..options(&[("cpu", "res.cpu"), ("memory", "res.mem")])
    };
    assert_eq!(read(text, &options), ["a ann 0 1x 2000/4096/0 90", "5 eve 10 1x 250/0/0 15"]);
    assert!(words(text, &options).contains("columns that are not used: `tags`"));
}

#[test]
fn quotes_hold_separators_and_lines() {
    let text = "user,\"submit\",duration,name\n\
                \"a, \"\"b\"\"\",0,1,\"two\nlines\"\n\
                eve,1,2,x\n";
    let map = options(&[]);
    assert_eq!(read(text, &map)[0].replace('\n', "~"), "two~lines a, \"b\" 0 1x 1000/0/0 1");
    // A quote that stays open costs its own line.
    let text = "user,submit,duration,name\nann,0,1,\"x\neve,1,2,y\nbob,2,2,z\n";
    let mut source = open_as(text, &map, OnBadLine::Skip).unwrap();
    assert_eq!(rows(&mut source), ["y eve 1 1x 1000/0/0 2", "z bob 2 1x 1000/0/0 2"]);
    let counts = source.counts();
    assert_eq!((counts.lines, counts.bad, counts.jobs), (3, 1, 2));
    let bad = source.bad_lines()[0].to_string();
    assert_eq!(bad, "jobs.csv:2: a quote is opened and not closed within 64 lines");
}

#[test]
fn rows_that_are_no_jobs_are_counted_by_reason() {
    let text = "user,submit,duration,tasks,cpu\n\
                ann,0,5,1,1\n\
                ann,1,,1,1\n\
                ann,2,-5,1,1\n\
                ,3,5,1,1\n\
                ann,4,5,0,1\n\
                ann,5,5,1,0\n\
                ann,6,5,1\n\
                ann,7,soon,1,1\n\
                ann,8,5,1,2\n\
                ann,9,5,1,3\n\
                ann,noon,5,1,3\n\
                ann,10,5,1,3\n\
                ann,11,,1,3\n\
                ann,12,5,1,3\n";
    let mut source = open_as(text, &options(&[]), OnBadLine::Skip).unwrap();
    let words = source.assumptions().join("\n");
    for told in [
        "table: 1 row wrong: its duration is negative (the first is line 4)",
        "table: 1 row wrong: it has no tenant (the first is line 5)",
        "table: 1 row wrong: another number of values than there are columns (the first is line 8)",
        "table: 1 row wrong: its duration cannot be used (the first is line 9)",
        "table: 1 row wrong: its submission is no time (the first is line 12)",
        "table: 2 rows left out: jobs without a duration (the first is line 3)",
        "table: 1 row left out: jobs of no tasks (the first is line 6)",
        "table: 1 row left out: jobs that hold nothing the cluster counts (the first is line 7)",
    ] {
        assert!(words.contains(told), "{told} in\n{words}");
    }
    assert_eq!(rows(&mut source).len(), 5);
    let counts = source.counts();
    assert_eq!(counts, SourceCounts { lines: 14, jobs: 5, bad: 5, ignored: 4 });
    let first = source.bad_lines()[0].to_string();
    let wanted = "wanted is a number, 1-02:03:04, 02:03:04 or 90min";
    assert_eq!(first, format!("jobs.csv:4: `duration`: \"-5\" is below zero; {wanted}"));
    let error = open_as(text, &options(&[]), OnBadLine::Stop).err().unwrap();
    assert!(error.is_bad_line(), "{error}");
}

#[test]
fn a_decimal_comma_is_told_with_the_key_that_reads_it() {
    let text = "user;submit;duration\nann;0;3,32\nann;1;4,5\n";
    let why = open_as(text, &options(&[]), OnBadLine::Skip).err().unwrap().to_string();
    assert!(why.contains("--set trace.decimal=comma reads a comma as the decimal point"), "{why}");
    let text = "user;submit;duration\nann;0;3,32,1\nann;1;x\n";
    let why = open_as(text, &options(&[]), OnBadLine::Skip).err().unwrap().to_string();
    assert!(!why.contains("decimal"), "{why}");
}

#[test]
fn what_cannot_be_understood_says_what_would_be_right() {
    let text = "user,submit,duration\nann,0,1\n";
    type Map<'a> = &'a [(&'a str, &'a str)];
    let cases: &[(&str, Map<'_>, &str)] = &[
        (
            "user,when,took\nann,0,1\n",
            &[],
            "jobs.csv:1: no column is known to be the submit; the columns are user, when, took; \
             say which it is with --map submit=COLUMN, or map.submit in [trace]",
        ),
        (
            text,
            &[("tenant", "usr")],
            "jobs.csv:1: map.tenant: there is no column \"usr\"; did you mean \"user\"?",
        ),
        (
            text,
            &[("tenent", "user")],
            "jobs.csv:1: map.tenent: no part of a job and no resource of the cluster is called \
             so; did you mean \"tenant\"?",
        ),
        (text, &[("submit", "submit:fortnight")], "is no unit of time; known are s, ms, us"),
        (text, &[("cpu", "user:GiB")], "map.cpu: \"GiB\" is no unit of it; known are milli"),
        (
            text,
            &[("eligible", "submit*duration")],
            "map.eligible: \"submit*duration\" cannot stand here; a*b is a count or an amount",
        ),
        (text, &[("tenant", "-")], "no column is known to be the tenant"),
        ("", &[], "no jobs: the file is empty; a table has a line"),
        (
            "user,submit,duration\nann,x,1\nann,y,1\nann,2,1\n",
            &[],
            "jobs.csv:2: 2 of 3 rows are wrong, so the table is read wrongly; `submit`: \"x\"",
        ),
        (
            "user,submit,duration\n",
            &[],
            "no jobs: a line names the columns of the table, and no row",
        ),
        (
            "user,submit,start,end\nann,1767225600,5,6\n",
            &[],
            "submit and start do not count from the same zero",
        ),
    ];
    for (text, map, expected) in cases {
        let error = open_as(text, &options(map), OnBadLine::Skip).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}\nshould say\n{expected}");
    }
    let zone = TableAssumptions { time_zone: Some("Mars".to_owned()), ..options(&[]) };
    let error = open_as(text, &zone, OnBadLine::Skip).err().unwrap().to_string();
    assert!(error.contains("time_zone: \"Mars\" is not known"), "{error}");
}

#[test]
fn a_table_without_names_has_numbers() {
    let text = "ann;0;90;2\neve;30;00:01:00;1\n";
    let map = [("tenant", "#1"), ("submit", "#2"), ("duration", "#3"), ("cpu", "#4")];
    let options = TableAssumptions { header: Some(false), ..options(&map) };
    assert_eq!(read(text, &options), ["1 ann 0 1x 2000/0/0 90", "2 eve 30 1x 1000/0/0 60"]);
}

#[test]
fn what_the_cluster_has_none_of_is_said() {
    let kinds = ResourceKinds::new(vec![("cores".to_owned(), Unit::Milli)]).unwrap();
    let text = "user,submit,duration,ncpus,ngpus\nann,0,1,2,3\n";
    let origin = Origin::bytes("jobs.csv", text.as_bytes());
    let mut table = TableSource::open(&origin, &kinds, &options(&[]), OnBadLine::Stop).unwrap();
    let words = table.assumptions().join("\n");
    assert!(words.contains("gpu is in the table, and not counted"), "{words}");
    assert!(words.contains("cores is `ncpus`, in pieces, guessed by its name"), "{words}");
    assert_eq!(crate::size::assumed_size(&mut table, 1).unwrap().amounts, [2000]);
    let found = table_resources(&origin, &options(&[])).unwrap();
    assert_eq!(found, [("cpu".to_owned(), Unit::Milli), ("gpu".to_owned(), Unit::Milli)]);
    let mapped = options(&[("fpga", "ngpus"), ("gpu", "-")]);
    let found = table_resources(&origin, &mapped).unwrap();
    assert_eq!(found, [("cpu".to_owned(), Unit::Milli), ("fpga".to_owned(), Unit::Milli)]);
}

#[test]
fn names_that_would_meet_are_refused() {
    let text = "user,submit,duration\na.b,0,1\na_b,1,1\nc,2,1\nc,3,1\n";
    let source = open_as(text, &options(&[]), OnBadLine::Skip).unwrap();
    let bad = source.bad_lines()[0].to_string();
    assert!(bad.contains("would have the name of another tenant, a_b"), "{bad}");
    let path = TableAssumptions { dots: TableDots::Path, ..options(&[]) };
    let source = open_as(text, &path, OnBadLine::Stop).unwrap();
    assert_eq!(source.queues(), ["a.b", "a_b", "c"]);
}

const SACCT: &str = "\
JobID|JobName|User|Account|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|AllocTRES|ReqMem|State
1001|train|ann|lab|gpu|normal|2026-01-05T08:00:00|2026-01-05T08:10:00|2026-01-05T10:10:00|02:00:00|\
1-00:00:00|billing=16,cpu=16,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=2|64G|COMPLETED
1001.batch|batch||lab|||2026-01-05T08:10:00|2026-01-05T08:10:00|2026-01-05T10:10:00|02:00:00||\
cpu=16,mem=64G,node=1||COMPLETED
1001.0|python||lab|||2026-01-05T08:10:00|2026-01-05T08:10:00|2026-01-05T10:10:00|02:00:00||\
cpu=16,mem=64G,node=2||COMPLETED
1002_4|sweep|eve|lab|cpu|normal|2026-01-05T07:59:59|2026-01-06T08:00:00|2026-01-07T09:00:01|\
1-01:00:01|UNLIMITED|billing=1,cpu=1,mem=4000M,node=1|4000M|TIMEOUT
1002_[5-9]|sweep|eve|lab|cpu|normal|2026-01-05T07:59:59|Unknown|Unknown|00:00:00|UNLIMITED||4000M|\
PENDING
1003|never|ann|lab|cpu|normal|2026-01-05T09:00:00|None|2026-01-05T09:01:00|00:00:00|01:00||1G|\
CANCELLED by 1000
1004|runs|bob|ops|cpu|high|2026-01-05T09:00:00|2026-01-05T09:00:00|Unknown|5-00:00:00|\
Partition_Limit|billing=2,cpu=2,mem=0,node=1|0|RUNNING
1005|failed|bob|ops|cpu|high|2026-01-05T09:00:00|2026-01-05T09:00:01|2026-01-05T09:00:01|00:00:00|\
10:00|billing=2,cpu=2,mem=2.50G,node=1|2500M|NODE_FAIL
";

fn slurm(map: &[(&str, &str)]) -> TableAssumptions {
    TableAssumptions { known: Some(KnownTable::Slurm), separator: Some(b'|'), ..options(map) }
}

#[test]
fn jobs_of_slurm_are_read() {
    let expected = [
        "1002_4 eve 0 1x 1000/4000/0 90001",
        "1001 ann 1 1x 16000/65536/2000 7200 limit 86400",
        "1004 bob 3601 1x 2000/0/0 432000 cut",
        "1005 bob 3601 1x 2000/2560/0 0 limit 600",
    ];
    let mut source = open_as(SACCT, &slurm(&[]), OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    assert_eq!(rows(&mut source), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 8, jobs: 4, bad: 0, ignored: 4 });
    for told in [
        "Slurm: 2 rows left out: steps of jobs (the first is line 3)",
        "Slurm: 2 rows left out: jobs that never started (the first is line 6)",
        "Slurm: 1 job ran still when the log ended: it runs as long as it had by then, counts as \
         unfinished, and its time is no figure",
        "Slurm: time 0 is the first submission, 2026-01-05T07:59:59Z",
        "Slurm: tenant is `User|Account`",
    ] {
        assert!(words.contains(told), "{told} in\n{words}");
    }
    // `sacct --parsable` ends each line with a bar.
    let bars: String = SACCT.lines().map(|line| line.to_owned() + "|\n").collect();
    assert_eq!(read(&bars, &slurm(&[])), expected);
    let map = [("tenant", "Account/User"), ("count", "AllocTRES[node]"), ("gang", "=true")];
    let expected = [
        "1002_4 lab.eve 0 1x 1000/4000/0 90001",
        "1001 lab.ann 1 2x 8000/32768/1000 7200 limit 86400 gang 2",
        "1004 ops.bob 3601 1x 2000/0/0 432000 cut",
        "1005 ops.bob 3601 1x 2000/2560/0 0 limit 600",
    ];
    assert_eq!(read(SACCT, &slurm(&map)), expected);
}

/// As 22.05.8 writes it under `SelectTypeParameters=CR_Core`: who asks for no memory has asked for
/// that of the node, says ReqMem, and nobody holds any.
#[test]
fn memory_that_slurm_has_not_allocated_is_not_held() {
    let row = |name: &str, allocated: &str, asked: &str| {
        format!(
            "{name}|ann|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T09:00:00|01:00:00|\
             {allocated}|{asked}|COMPLETED\n"
        )
    };
    let head = "JobID|User|Submit|Start|End|Elapsed|AllocTRES|ReqMem|State\n".to_owned();
    let text = head.clone()
        + &row("1", "billing=1,cpu=1,node=1", "8000M")
        + &row("4", "billing=8,cpu=8,node=1", "100M");
    let expected = ["1 ann 0 1x 1000/0/0 3600", "4 ann 0 1x 8000/0/0 3600"];
    let mut source = open_as(&text, &slurm(&[]), OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    assert_eq!(rows(&mut source), expected);
    let told = "no job holds memory; AllocTRES has none where Slurm does not allocate it";
    assert!(words.contains(told), "{words}");
    let asked = read(&text, &slurm(&[("memory", "ReqMem:MiB")]));
    assert_eq!(asked, ["1 ann 0 1x 1000/8000/0 3600", "4 ann 0 1x 8000/100/0 3600"]);
    // A partition may have parameters of its own; and where nothing tells what was allocated, what
    // was asked for is all that is known.
    let mixed = text + &row("5", "billing=1,cpu=1,mem=2G,node=1", "2G");
    let mut source = open_as(&mixed, &slurm(&[]), OnBadLine::Stop).unwrap();
    assert!(!source.assumptions().join("\n").contains(told));
    assert_eq!(rows(&mut source)[2], "5 ann 0 1x 1000/2048/0 3600");
    let without = (head + &row("6", "2", "2G")).replace("AllocTRES", "AllocCPUS");
    assert_eq!(read(&without, &slurm(&[])), ["6 ann 0 1x 2000/2048/0 3600"]);
}

#[test]
fn what_older_slurms_write_is_read() {
    let text = "JobIDRaw|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|NNodes|ReqMem\n\
                7|ann|1767225600|1767225660|1767225720|60|90|8|2|4000Mn\n\
                7.batch||1767225600|1767225660|1767225720|60||8|2|\n\
                8|ann|1767225601|1767225660|1767225720|60|90|8|2|2Gc\n\
                9|ann|1767225602|1767225660|1767225660|0|90|0|2|2Gc\n\
                10|ann|1767225603|1767225660|1767225720|60|90|8|2|2000\n";
    let expected = [
        "7 ann 0 1x 8000/8000/0 60 limit 5400",
        "8 ann 1 1x 8000/16384/0 60 limit 5400",
        "10 ann 3 1x 8000/2000/0 60 limit 5400",
    ];
    assert_eq!(read(text, &slurm(&[])), expected);
    // Slurm puts nothing in quotes, so one is a letter of a name.
    for quoted in ["|\"train|", "|tr\"ain|", "|\"train\"|"] {
        let named = SACCT.replace("|train|", quoted);
        assert_eq!(read(&named, &slurm(&[])), read(SACCT, &slurm(&[])), "{quoted}");
    }
    // An attempt that was requeued has held what it held.
    let again = SACCT.replace("|COMPLETED", "|REQUEUED");
    assert_eq!(read(&again, &slurm(&[])), read(SACCT, &slurm(&[])));
}

/// The sizes of a cluster for the table hold its widest gang.
#[test]
fn counts_may_be_products_and_gangs_have_room() {
    let text = "user,submit,duration,nodes,ppn\nann,0,60,4,16\neve,900000,60,1,1\n";
    let map = [("count", "nodes*ppn"), ("gang", "=true"), ("cpu", "=1")];
    let opened = || open_as(text, &options(&map), OnBadLine::Stop).unwrap();
    assert_eq!(crate::size::assumed_size(&mut opened(), 3).unwrap().amounts[0], 64_000);
    let mut source = opened();
    assert_eq!(rows(&mut source)[0], "2 ann 0 64x 1000/0/0 60 gang 64");
    for (key, given) in [("duration", "nodes*ppn"), ("memory", "nodes/ppn")] {
        let refused = open_as(text, &options(&[(key, given)]), OnBadLine::Stop).err().unwrap();
        assert!(refused.to_string().contains("cannot stand here"), "{refused}");
    }
}

#[test]
fn pods_of_openb_are_read() {
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
                deletion_time,scheduled_time\n\
                p-0,12000,16384,1,460,,LS,Running,5,12537496,7\n\
                p-1,8000,1024,8,1000,V100M16,BE,Succeeded,3,100,50\n\
                p-2,1000,1024,0,0,,BE,Pending,5,9,\n";
    let openb = TableAssumptions { known: Some(KnownTable::Openb), ..options(&[]) };
    let expected = ["p-1 BE 3 1x 8000/1024/8000 50", "p-0 LS 5 1x 12000/16384/460 12537489"];
    assert_eq!(read(text, &openb), expected);
    let words = words(text, &openb);
    assert!(words.contains("openb: the file names no users; quality-of-service"), "{words}");
    assert!(words.contains("openb: 1 row left out: jobs that never started"), "{words}");
}

#[test]
fn tasks_of_alibaba_2018_are_read() {
    let text = "task1,2,j_1,1,Terminated,87076,87083,100.0,0.39\n\
                M2_1,3,j_1,2,Failed,87080,87099,50,0.2\n\
                M3_1,1,j_1,2,Running,87081,0,50,0.2\n\
                R4_1,1,j_2,1,Terminated,87081,87082,50,\n";
    let known = TableAssumptions { known: Some(KnownTable::Alibaba2018), ..options(&[]) };
    let expected = [
        "j_1/task1 1 87076 2x 1000/399/0 7",
        "j_1/M2_1 2 87080 3x 500/204/0 19",
        "j_2/R4_1 1 87081 1x 500/0/0 1",
    ];
    assert_eq!(read(text, &known), expected);
}

#[test]
fn virtual_machines_of_azure_are_read() {
    let text = "v/1=,sub+a,dep1,0,2591700,99.36,3.42,10.19,Delay-insensitive,4,32\n\
                v/2=,sub+b,dep2,300,900,9.3,3.4,10.1,Interactive,>24,>64\n\
                v/3=,sub+a,dep1,300,300,0,0,0,Unknown,1,1.75\n\
                v/4=,sub+a,dep1,300,600,0,0,0,Unknown,1x,2\n";
    let known = TableAssumptions { known: Some(KnownTable::AzureVms), ..options(&[]) };
    let expected = [
        "v/1= sub+a 0 1x 4000/32768/0 2591700",
        "v/2= sub+b 300 1x 24000/65536/0 600",
        "v/3= sub+a 300 1x 1000/1792/0 0",
    ];
    let skipping = |text: &str, options: &TableAssumptions| {
        rows(&mut open_as(text, options, OnBadLine::Skip).unwrap())
    };
    assert_eq!(skipping(text, &known), expected);
    let words = words(text, &known);
    assert!(words.contains("`>24` cores counts as 24"), "{words}");
    assert!(words.contains("1 row wrong"), "{words}");
    // With a line that names them, in whatever order.
    let named = "vmid,subscriptionid,deploymentid,vmcreated,vmdeleted,maxcpu,avgcpu,p95maxcpu,\
                 vmcategory,vmcorecount,vmmemory\n";
    let format = crate::format::TraceFormat::of_content(named.as_bytes());
    assert_eq!(format, Some(crate::format::TraceFormat::AzureVms));
    // Elsewhere `>24` is no number.
    let csv = "user,submit,duration,cpu\nann,0,5,4\nann,0,5,4\nann,0,5,>24\n";
    assert_eq!(skipping(csv, &options(&[])).len(), 2);
}

/// Bytes that break tables, or mean something in them.
const ODD: &[u8] = b"\"\\,;|\t\n\r0-9:.eEzKMGni[]{}=#/*\xff\0 ";

proptest! {
    /// A table of which bytes were changed is read or refused, and every row is accounted for.
    #[test]
    fn damaged_tables_are_read_or_refused(
        which in 0usize..4,
        damage in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..ODD.len(), 0u8..3),
            1..12,
        ),
    ) {
        let csv = "job_id,user,submit,duration,tasks,cpu,mem_gib\n1,ann,2026-01-01,90,2,1,4\n\
                   2,\"e, v\",2026-01-01T01:00:00Z,1-00:00:00,1,500m,1Gi\n\
                   3,bob,1767225600,PT1M,1,2,\n";
        let json = "{\"user\":\"a\",\"submit\":1,\"duration\":2,\"x\":{\"cpu\":1}}\n\
                    {\"user\":\"b\",\"submit\":2.5,\"duration\":\"1h\"}\n";
        let lines = TableAssumptions { form: TableForm::JsonLines, ..options(&[]) };
        let paths = options(&[("tenant", "user|#1"), ("cpu", "cpu*tasks"), ("gang", "=true")]);
        let (text, options) = [
            (csv, options(&[])),
            (csv, paths),
            (SACCT, slurm(&[("tenant", "Account/User")])),
            (json, lines),
        ][which].clone();
        let mut bytes = text.as_bytes().to_vec();
        for (place, odd, how) in damage {
            let place = place.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match how {
                0 => bytes[place] = ODD[odd],
                1 => bytes.insert(place, ODD[odd]),
                _ if bytes.len() > 1 => { bytes.remove(place); }
                _ => {}
            }
        }
        let origin = Origin::bytes("f.csv", bytes.as_slice());
        let open = |policy| TableSource::open(&origin, &kinds(), &options, policy);
        let strict = open(OnBadLine::Stop);
        match open(OnBadLine::Skip) {
            Err(error) => prop_assert!(strict.is_err() && !error.to_string().is_empty()),
            Ok(mut source) => {
                prop_assert_eq!(strict.is_ok(), source.counts().bad == 0);
                let jobs = rows(&mut source).len() as u64;
                let counts = source.counts();
                prop_assert_eq!(counts.jobs, jobs);
                prop_assert_eq!(counts.lines, counts.jobs + counts.bad + counts.ignored);
            }
        }
    }
}

/// As Torque and PBS Professional write it: the second of PBS, `start` before it was run again.
const PBS: &str = "\
06/06/2005 14:04:25;D;406.ign1;requestor=guest@ign1
06/06/2005 14:04:44;Q;407.ign1;queue=batch
06/06/2005 14:06:06;S;407.ign1;user=ann group=phys jobname=STDIN queue=batch ctime=1118087915
06/06/2005 14:07:17;E;407.ign1;user=ann group=phys jobname=my job queue=batch ctime=1118087915 \
qtime=1118087915 etime=1118087915 start=1118088366 owner=ann@ign1 exec_host=n1/0+n1/1+n2/0+n2/1 \
Resource_List.ncpus=1 Resource_List.neednodes=2:ppn=2 Resource_List.nodect=2 \
Resource_List.nodes=2:ppn=2 Resource_List.pmem=512mb Resource_List.walltime=00:16:40 session=6365 \
end=1118088437 Exit_status=0 resources_used.cput=00:00:00 resources_used.walltime=00:01:11
06/06/2005 14:08:00;L;license;floating license hour:3 day:3 month:3 max:10
06/06/2005 15:07:17;R;9[3].pbs;user=bob group=chem ctime=1118087900 start=1118088000
06/06/2005 16:00:00;E;9[3].pbs;user=bob group=chem account=\"proj x\" project=_pbs_project_default \
jobname=a queue=gpu ctime=1118087900 qtime=1118087900 etime=1118087900 start=1118088500 \
exec_host=g1/1*8+g2/0*8 exec_vnode=(g1:ncpus=8:ngpus=2)+(g2:ncpus=8:ngpus=2) \
Resource_List.mem=64gb Resource_List.ncpus=16 Resource_List.ngpus=4 Resource_List.nodect=2 \
Resource_List.place=scatter Resource_List.select=2:ncpus=8:ngpus=2:mem=32gb \
Resource_List.walltime=24:00:00 session=1 end=1118092100 Exit_status=271 \
resources_used.ncpus=16 resources_used.walltime=01:00:00 run_count=2
06/06/2005 16:00:01;E;8.pbs;user=bob ctime=1118087901 start=0 end=1118088501 Exit_status=-1
06/06/2005 16:00:01;E;10.pbs;user=bob ctime=1118087901 exec_host=g1/x start=1118088500 \
end=1118088501
";

fn pbs(map: &[(&str, &str)]) -> TableAssumptions {
    let known = Some(KnownTable::Pbs);
    TableAssumptions { form: TableForm::Accounting, known, ..options(map) }
}

#[test]
fn jobs_of_pbs_are_read() {
    let mut source = open_as(PBS, &pbs(&[]), OnBadLine::Skip).unwrap();
    let words = source.assumptions().join("\n");
    assert_eq!(
        source.bad_lines()[0].to_string(),
        "jobs.csv:9: exec_host: \"g1/x\" is not \
        HOST/SLOT, HOST/FROM-TO or HOST/TASK*N"
    );
    let expected = [
        "9[3].pbs bob 0 1x 16000/65536/4000 3600 limit 86400",
        "407.ign1 ann 15 1x 4000/2048/0 71 limit 1000",
    ];
    assert_eq!(rows(&mut source), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 9, jobs: 2, bad: 1, ignored: 6 });
    let told = "PBS: 5 rows left out: records of other kinds than ends of jobs";
    assert!(words.contains(told), "{words}");
    // A task for each node, and tenants by account.
    let gang =
        [("count", "Resource_List.nodect|hosts"), ("gang", "=true"), ("tenant", "group/user")];
    let mut source = open_as(PBS, &pbs(&gang), OnBadLine::Skip).unwrap();
    let expected = [
        "9[3].pbs chem.bob 0 2x 8000/32768/2000 3600 limit 86400 gang 2",
        "407.ign1 phys.ann 15 2x 2000/1024/0 71 limit 1000 gang 2",
    ];
    assert_eq!(rows(&mut source), expected);
}

#[test]
fn what_is_no_accounting_log_is_refused() {
    for (text, expected) in [
        ("", "no jobs: the file is empty; wanted are jobs of PBS"),
        ("06/06/2005 14:04:25;D;406.ign1;requestor=guest@ign1\n", "jobs.csv:1: no record says how"),
        ("a;b\n", "wanted is DATE;TYPE;JOB;KEY=VALUE"),
    ] {
        let told = open_as(text, &pbs(&[]), OnBadLine::Skip).err().unwrap().to_string();
        assert!(told.contains(expected), "{text}: {told}");
    }
}

/// As `condor_history -jsonl` writes it, newest first; each object on a line of its own.
const CONDOR: [&str; 5] = [
    r#"{"ClusterId":12,"ProcId":1,"Owner":"bob","User":"bob@pool","QDate":1700000100,
       "JobStatus":4,"JobUniverse":5,"JobCurrentStartDate":1700003000,
       "CompletionDate":1700006600,"RemoteWallClockTime":4000.0,"RequestCpus":4,
       "RequestMemory":"\/Expr(ifThenElse(MemoryUsage =!= undefined,MemoryUsage,1))\/",
       "CpusProvisioned":4,"MemoryProvisioned":8192,"GPUsProvisioned":1,"AcctGroup":"chem"}"#,
    r#"{"ClusterId":11,"ProcId":0,"Owner":"ann","QDate":1700000000,"JobStatus":3,
       "JobUniverse":5,"CompletionDate":0,"EnteredCurrentStatus":1700000600,
       "RemoteWallClockTime":500.0,"RequestCpus":1,"RequestMemory":2048}"#,
    r#"{"ClusterId":10,"ProcId":0,"Owner":"ann","QDate":1700000000,"JobStatus":3,
       "JobUniverse":5,"RemoteWallClockTime":0.0,"RequestCpus":1,"RequestMemory":2048}"#,
    r#"{"ClusterId":9,"ProcId":0,"Owner":"ann","QDate":1699999000,"JobStatus":4,
       "JobUniverse":7,"RemoteWallClockTime":9000.0,"RequestCpus":1,"RequestMemory":1}"#,
    r#"{"ClusterId":8,"ProcId":0,"Owner":"ann","QDate":1699999000,"JobStatus":2,
       "JobUniverse":5,"RemoteWallClockTime":90.0,"RequestCpus":1,"RequestMemory":1}"#,
];

#[test]
fn jobs_of_condor_are_read() {
    let known = Some(KnownTable::Condor);
    let condor = TableAssumptions { form: TableForm::JsonLines, known, ..options(&[]) };
    let text = CONDOR.map(|object| object.replace('\n', " ")).join("\n");
    let mut source = open_as(&text, &condor, OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    let expected = ["11/0 ann 0 1x 1000/2048/0 500", "12/1 bob 100 1x 4000/8192/1000 4000"];
    assert_eq!(rows(&mut source), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 5, jobs: 2, bad: 0, ignored: 3 });
    for told in ["hold no slot (the first is line 4)", "have not ended (the first is line 5)"] {
        assert!(words.contains(told), "{words}");
    }
}

/// As LSF writes it, up to the fields that all versions have, each on a line of its own; the first
/// of a job that was killed before it started.
const LSF: [&str; 5] = [
    r#""JOB_FINISH" "10.1" 1700000600 7 1000 33554438 4 1700000000 0 0 0 "ann" "normal" "" ""
       "" "h" "w" "" "" "" "j" 0 0 32 0.0 "" "sleep" -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
       -1 -1 -1 -1 -1 "" "p1" 130 4 "" "" 0 -1 -1 "" """#,
    r#""JOB_FINISH" "9.11" 1700004600 8 1001 33554438 32 1700000100 0 0 1700001000 "bob" "big"
       "select[type == ""any""]" "" "" "h" "w" "" "" "" "j" 2 "n1" "n2" 2 "16*n1" "16*n2" 64
       60.0 "my ""job"" " "run a b" 1.0 2.0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
       "" "p2" 0 32 "" "" 3 2097152 0 "" "" 0"#,
    r#""JOB_RESIZE" "10.1" 1700004000 9 0 1000"#,
    r#""JOB_FINISH" "5.1" 1700002000 9 1001 33554438 1 1700000200 0 0 1700001900 "bob" "big" ""
       "" "" "h" "w" "" "" "" "j" 0 1 "n1" 64 3.3 "" "x" 277.2 17.2 0 0 -1 0 0 927804 87722 0 0
       0 -1 0 0 0 0 0 -1 "" "default" 0 1 "" "" 0 1024 0"#,
    r#""JOB_FINISH" "10.1" 1700004600 10 1001 33554438 1 1700000100"#,
];

#[test]
fn jobs_of_lsf_are_read() {
    let known = Some(KnownTable::Lsf);
    let lsf = TableAssumptions { form: TableForm::Lsf, known, ..options(&[]) };
    let text = LSF.map(|record| record.replace('\n', " ")).join("\n");
    let mut source = open_as(&text, &lsf, OnBadLine::Skip).unwrap();
    let expected = ["8/3 bob 0 1x 32000/2048/0 3600", "9/0 bob 100 1x 1000/1/0 100"];
    assert_eq!(rows(&mut source), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 5, jobs: 2, bad: 1, ignored: 2 });
    assert_eq!(
        source.bad_lines()[0].to_string(),
        "jobs.csv:5: it ends before `beginTime`; wanted is a whole record"
    );
    let words = source.assumptions().join("\n");
    assert!(words.contains("jobs that never started (the first is line 1)"), "{words}");
    // One task for each host, and tenants by project.
    let usual = [("tenant", "projectName"), ("count", "hosts"), ("gang", "=true")];
    let lsf = TableAssumptions { form: TableForm::Lsf, known, ..options(&usual) };
    let mut source = open_as(&text, &lsf, OnBadLine::Skip).unwrap();
    let expected = ["8/3 p2 0 2x 16000/1024/0 3600 gang 2", "9/0 default 100 1x 1000/1/0 100"];
    assert_eq!(rows(&mut source), expected);
}
