use meed::{ResourceKinds, Unit};

use super::*;

fn kinds() -> ResourceKinds {
    let cpu = ("cpu".to_owned(), Unit::Milli);
    ResourceKinds::new(vec![cpu, ("memory".to_owned(), Unit::Bytes)]).unwrap()
}

fn open_as(
    text: &str,
    kinds: &ResourceKinds,
    assumptions: &YarnAssumptions,
    on_bad_line: OnBadLine,
) -> Result<YarnSource, TraceError> {
    let origin = Origin::bytes("apps.json", text.as_bytes());
    YarnSource::open(&origin, kinds, assumptions, on_bad_line)
}

fn open(text: &str, assumptions: &YarnAssumptions) -> YarnSource {
    open_as(text, &kinds(), assumptions, OnBadLine::Stop).unwrap()
}

/// One application as Hadoop 3.4 tells it, with some of the fields that are passed over.
fn app(id: &str, queue: &str, times: [i64; 3], sums: [i64; 2]) -> String {
    let [started, launched, finished] = times;
    let [memory, vcores] = sums;
    format!(
        r#"{{"id":"{id}","user":"ann","name":"q \"1\"","queue":"{queue}","state":"FINISHED",
        "finalStatus":"SUCCEEDED","progress":100.0,"startedTime":{started},
        "launchTime":{launched},"finishedTime":{finished},"elapsedTime":1,"allocatedMB":-1,
        "memorySeconds":{memory},"vcoreSeconds":{vcores},
        "resourceSecondsMap":{{"entry":{{"key":"vcores","value":"7"}}}}}}"#
    )
}

fn list(apps: &[String]) -> String {
    format!("{{\"apps\":{{\"app\":[{}]}}}}\n", apps.join(","))
}

/// Label, queue, submission (ms), tasks, milli-vcores and bytes of each, microseconds of each.
type Row = (String, String, u64, u32, u64, u64, u64);

fn rows(source: &mut YarnSource) -> Vec<Row> {
    let queues = source.queues().to_vec();
    let mut rows = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(queues.len(), 2).unwrap();
        let group = &job.groups[0];
        rows.push((
            job.label.to_string(),
            queues[job.queue as usize].clone(),
            job.submit.as_micros() / 1000,
            group.count,
            group.demand.get(0),
            group.demand.get(1),
            group.duration.get(0).as_micros(),
        ));
    }
    rows
}

const T: i64 = 1_700_000_000_000;
const MIB: u64 = 1 << 20;

#[test]
fn an_application_has_its_mean_width_and_its_work() {
    // 25 vcore-seconds in 10 s: three tasks of 8.333333 s; 51,200 MiB-seconds: 2,048 MiB a vcore.
    let wide =
        app("application_1_0002", "root.eng.ml", [T + 500, T + 2_000, T + 12_000], [51_200, 25]);
    // Older versions tell no launch: it counts from its submission.
    let old = app("application_1_0001", "root.ops", [T, 0, T + 4_000], [4_096, 4]);
    let mut source = open(&list(&[wide.clone(), old.clone()]), &YarnAssumptions::default());
    let row = |id: &str, queue: &str, at, tasks, cpu, memory, micros| {
        (id.to_owned(), queue.to_owned(), at, tasks, cpu, memory, micros)
    };
    let old_row = row("application_1_0001", "ops", 0, 1, 1000, 1024 * MIB, 4_000_000);
    let wide_row = row("application_1_0002", "eng.ml", 500, 3, 1000, 2048 * MIB, 8_333_333);
    // In order of submission, whatever the order of the list, and queues in that of the list.
    assert_eq!(source.queues(), ["eng.ml", "ops"]);
    assert_eq!(rows(&mut source), [old_row, wide_row]);
    assert_eq!(source.counts(), SourceCounts { lines: 2, jobs: 2, bad: 0, ignored: 0 });
    let words = source.assumptions().join("\n");
    assert!(words.contains("1700000000.000 s after 1970"), "{words}");

    let rigid = YarnAssumptions { shape: YarnShape::Rigid, ..YarnAssumptions::default() };
    let last = rows(&mut open(&list(&[wide.clone(), old.clone()]), &rigid)).pop().unwrap();
    assert_eq!(last, row("application_1_0002", "eng.ml", 500, 1, 3000, 3 * 2048 * MIB, 8_333_333));
    let users = YarnAssumptions { queues: YarnQueues::User, ..YarnAssumptions::default() };
    assert_eq!(open(&list(&[wide.clone(), old.clone()]), &users).queues(), ["ann"]);
    // Half a second between the submissions, 29 vcore-seconds of work: but four tasks are all.
    let size = open(&list(&[wide, old]), &YarnAssumptions::default()).size();
    assert_eq!((size.vcores, size.memory / MIB), (4, 3 * 2048 + 1024));
}

#[test]
fn what_has_not_ended_or_used_nothing_is_left_out_and_pages_are_joined() {
    let ended = app("application_1_0001", "root.a", [T, T, T + 1_000], [1_024, 1]);
    let runs = app("application_1_0002", "root.a", [T, T, 0], [1_024, 1]);
    let killed = app("application_1_0003", "root.a", [T, 0, T + 5], [0, 0]);
    let memory_only = app("application_1_0004", "root.b", [T, T, T + 2_000], [3_000, 0]);
    let ended_later = app("application_1_0002", "root.a", [T, T, T + 3_000], [9_000, 9]);
    let text = [
        list(&[ended.clone(), runs, killed]),
        "{\"apps\":null}\n{ \"apps\" : {} }".to_owned(),
        list(&[memory_only, ended, ended_later]),
    ];
    let mut source = open(&text.concat(), &YarnAssumptions::default());
    let found: Vec<_> =
        rows(&mut source).into_iter().map(|row| (row.0, row.3, row.4, row.5)).collect();
    let row =
        |number, tasks, cpu, memory| (format!("application_1_000{number}"), tasks, cpu, memory);
    assert_eq!(
        found,
        [row(1, 1, 1000, 1024 * MIB), row(4, 1, 1000, 1500 * MIB), row(2, 3, 1000, 1000 * MIB)]
    );
    assert_eq!(source.counts(), SourceCounts { lines: 6, jobs: 3, bad: 0, ignored: 3 });
    // A cluster that counts memory only, and one that counts vcores only.
    for (kind, unit, jobs) in [("memory", Unit::Bytes, 3), ("cpu", Unit::Milli, 3)] {
        let kinds = ResourceKinds::new(vec![(kind.to_owned(), unit)]).unwrap();
        let default = YarnAssumptions::default();
        let mut source = open_as(&text.concat(), &kinds, &default, OnBadLine::Stop).unwrap();
        let count = std::iter::from_fn(|| source.next_job().unwrap()).count();
        assert_eq!(count, jobs, "{kind}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = app("application_1_0001", "root.a", [T, T, T + 1_000], [1_024, 1]);
    let table: &[(String, &str)] = &[
        (good.replace("1700000001000", "1600000000000"), "finishedTime of application"),
        (good.replace("1700000001000", "-5"), "-5; wanted are milliseconds since 1970"),
        (good.replace("\"vcoreSeconds\":1", "\"vcoreSeconds\":-1"), "wanted is 0 to 2^53"),
        (good.replace("\"vcoreSeconds\":1", "\"vcoreSeconds\":90000000"), "wider than"),
        (good.replace("\"vcoreSeconds\":1", "\"vcoreSeconds\":1.5"), "invalid type"),
        (good.replace("memorySeconds\":1024", "memorySeconds\":9007199254740992"), "bytes; the l"),
        (good.replace("\"queue\":\"root.a\",", ""), "missing field `queue`"),
        (good.replace("root.a", &"q".repeat(201)), "201 bytes long; wanted are 1 to 200"),
        ("7".to_owned(), "an application: invalid type"),
    ];
    for (wrong, why) in table {
        let text = list(&[good.clone(), format!("\n{wrong}")]);
        let default = YarnAssumptions::default();
        let line = good.matches('\n').count() + 2;
        let error = match open_as(&text, &kinds(), &default, OnBadLine::Stop) {
            Ok(_) => panic!("{wrong} was taken"),
            Err(error) => error.to_string(),
        };
        assert!(
            error.starts_with(&format!("apps.json:{line}: ")) && error.contains(why),
            "{error}"
        );
        let mut source = open_as(&text, &kinds(), &default, OnBadLine::Skip).unwrap();
        assert_eq!(rows(&mut source).len(), 1);
        assert_eq!((source.counts().bad, source.bad_lines().len()), (1, 1));
    }
    // What follows the end of compressed data is passed over, but told.
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, list(std::slice::from_ref(&good)).as_bytes()).unwrap();
    let zipped = [zipped.finish().unwrap(), b"more".to_vec()].concat();
    let open = |on_bad_line| {
        let (origin, default) =
            (Origin::bytes("apps.json.gz", &*zipped), YarnAssumptions::default());
        YarnSource::open(&origin, &kinds(), &default, on_bad_line)
    };
    let told = open(OnBadLine::Skip).unwrap().bad_lines()[0].to_string();
    assert!(told.contains("follow the end of its gzip data"), "{told}");
    assert!(open(OnBadLine::Stop).is_err());
    let whole = |text: &str| {
        let opened = open_as(text, &kinds(), &YarnAssumptions::default(), OnBadLine::Skip);
        opened.err().expect("it is no list").to_string()
    };
    assert!(whole("<?xml version=\"1.0\"?>").contains("Accept: application/json"));
    assert!(whole("").contains("the file is empty"));
    for none in ["{\"apps\":{\"app\":[]}}", "{\"apps\":null}", "{\"apps\":{}}\n{\"apps\":null}"] {
        let told = whole(none);
        assert!(told.contains("no applications: the ResourceManager's list is empty"), "{told}");
    }
    let cut = list(&[good]);
    assert!(whole(&cut[..cut.len() - 9]).contains("EOF while parsing"));
    assert!(whole("{\"jobs\":[]}").contains("wanted is `{\"apps\""));
}
