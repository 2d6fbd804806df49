//! Folders: in use, newer, of another kind, of somebody else.

use meed::Time;
use meed_journal::{Arrival, BufLines, Fact, Group, Header, Reader, SCHEMA, Writer};
use meed_store::testing::SimDisk;
use meed_store::{DatabaseStore, FileStore, FileStoreOptions, Store, StoreError, UnixMillis};

use crate::workload::{Kind, Progress, Step};

#[test]
fn a_folder_in_use_is_refused_until_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FileStore::open_folder(folder.path(), FileStoreOptions::default());
    let mut store = open().unwrap();
    store.append(&[b"one"]).unwrap();
    store.commit(UnixMillis::new(1)).unwrap();
    let error = open().unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }));
    assert!(error.to_string().contains("in use by another process"), "{error}");
    drop(store);
    assert_eq!(open().unwrap().durable().get(), 1);
    let error = DatabaseStore::open_folder(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("this is a store of kind \"segments\", not \"redb\""), "{error}");
}

#[test]
fn a_folder_of_a_newer_version_and_one_of_somebody_else_are_refused() {
    let kind = Kind::Files(1500, 1);
    let disk = SimDisk::new();
    Progress::default().step(&mut *kind.open(&disk).unwrap(), Step::Group(3)).unwrap();
    let newer = disk.copy();
    newer.put("store.json", b"{\"store\":\"segments\",\"version\":2}\n");
    let error = kind.open(&newer).unwrap_err().to_string();
    assert_eq!(
        error,
        "disk/store.json has version 2, this program knows versions up to 1: open it with a newer \
         program"
    );
    let foreign = SimDisk::new();
    foreign.put("thesis.tex", b"");
    let error = kind.open(&foreign).unwrap_err().to_string();
    assert!(error.contains("\"thesis.tex\" but no store.json"), "{error}");
    let newer = disk.copy();
    let name = "00000000000000000001.jsonl";
    let text = String::from_utf8(newer.content(name).unwrap()).unwrap();
    newer.put(name, text.replace("{\"version\":1", "{\"version\":2").as_bytes());
    assert!(matches!(kind.open(&newer).unwrap_err(), StoreError::Newer { found: 2, .. }));
}

#[test]
fn the_live_segment_is_text_that_any_tool_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = FileStore::open_folder(folder.path(), FileStoreOptions::default()).unwrap();
    store.append(&[b"{\"t\":1}", b"{\"t\":2}"]).unwrap();
    store.commit(UnixMillis::new(5)).unwrap();
    let text = std::fs::read_to_string(folder.path().join("00000000000000000001.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("{\"segment\":{\"version\":1,\"first\":1,\"at_ms\":5,"));
    assert!(lines[1].starts_with("{\"block\":{\"seq\":1,\"records\":2,\"bytes\":16,\"at_ms\":5,"));
    assert_eq!(lines[2..], ["{\"t\":1}", "{\"t\":2}"]);
}
/// The journal's reader passes over the store's own lines, so `replay` and `explain` read segments.
#[test]
fn a_segment_is_a_log() {
    let mut writer = Writer::new(Vec::new());
    let header = Header { schema: SCHEMA, world: "server".to_owned(), ..Header::default() };
    writer.append(Time::ZERO, &Fact::Run(Box::new(header))).unwrap();
    for job in ["9f1c", "9f1d", "9f1e"] {
        let group = Group { tasks: 2, ..Group::default() };
        let arrival = Arrival::new("physics".into(), job.into(), vec![group]);
        writer.append(Time::ZERO, &Fact::JobArrived(Box::new(arrival))).unwrap();
    }
    let disk = SimDisk::new();
    let mut store = Kind::Files(1 << 20, 512).open(&disk).unwrap();
    let log = writer.into_inner();
    for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        store.append(&[line]).unwrap();
        store.commit(UnixMillis::new(1)).unwrap();
    }
    let text = disk.content("00000000000000000001.jsonl").unwrap();
    let mut reader = Reader::new("a.jsonl".into(), BufLines::new(&text[..]));
    let mut jobs = Vec::new();
    while let Some((_, record)) = reader.next(&[meed_journal::Kind::JobArrived]).unwrap() {
        let Fact::JobArrived(job) = record.fact else { panic!("only arrivals were asked for") };
        jobs.push(job.job.to_string());
    }
    assert_eq!(jobs, ["9f1c", "9f1d", "9f1e"]);
}
