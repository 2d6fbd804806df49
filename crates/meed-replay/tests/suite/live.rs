//! What ran live replays to the same decisions: the random live world of the driver's tests, with
//! all that it can tell, written to a folder and read from there.

use std::collections::BTreeSet;
use std::path::Path;

use meed_driver::explain::QueueStatus;
use meed_driver::live::Live;
use meed_journal::{Fact, Header, Kind, Record};
use meed_replay::explain::{LogSubject, explain};
use meed_replay::{Recording, ReplayOptions, Replayed, replay, verify};
use meed_scenario::log::read::LogFile;
use meed_sim::Unwatched;
use meed_store::{FileStore, FileStoreOptions, Retention, Seq, Store};

use crate::world::{Machine, WALL, config, header, lines, opening, step};

/// Runs a live world in `folder`, opened anew now and then; its books at the end.
pub(crate) fn lives(
    folder: &Path,
    seed: u64,
    steps: u64,
    header: Header,
) -> (Vec<QueueStatus>, Vec<String>) {
    let mut machine = Machine::default();
    let open = || -> Live<u32> {
        let options = FileStoreOptions::default().segment_bytes(20_000).room_bytes(4096);
        let store: Box<dyn Store> = Box::new(FileStore::open_folder(folder, options).unwrap());
        let opening = opening(seed);
        Live::open(store, meed_driver::live::Opening { header: header.clone(), ..opening })
            .unwrap()
            .0
    };
    let mut live = open();
    while machine.step < steps {
        if machine.step % 37 == 36 {
            drop(live);
            live = open();
        }
        step(&mut live, &mut machine, seed).unwrap();
    }
    live.tidy(&Retention::default(), WALL).unwrap();
    let now = live.engine().now();
    let books = live.queues(now).unwrap().into_iter().map(|(_, state)| state).collect();
    (books, lines(live.store(), Seq::new(1)))
}

/// Who starts when and where.
fn starts(lines: impl Iterator<Item = String>) -> Vec<String> {
    let start = |line: String| match Record::decode(line.as_bytes()).unwrap() {
        Record { t, fact: Fact::TaskStarted(start), .. } => {
            Some(format!("{t} {} {} {} {:?}", start.queue, start.key(), start.node, start.since))
        }
        _ => None,
    };
    lines.filter_map(start).collect()
}

fn replayed(recording: &Recording, policies: &[&str], log: &mut Vec<u8>) -> Replayed {
    let policies = policies.iter().map(|words| words.to_string()).collect();
    let options = ReplayOptions { policies, series_points: 20, ..ReplayOptions::default() };
    replay(recording, &options, Some(log), &mut Unwatched).unwrap()
}

#[test]
fn a_live_run_replays_to_the_same_decisions() {
    let mut told: BTreeSet<Kind> = BTreeSet::new();
    for seed in 0..18 {
        let folder = tempfile::tempdir().unwrap();
        let (books, lines) = lives(folder.path(), seed, 150, header(seed));
        let recorded: Vec<Record> =
            lines.iter().map(|line| Record::decode(line.as_bytes()).unwrap()).collect();
        told.extend(recorded.iter().map(|record| record.fact.kind()));
        let recording = Recording::open(folder.path(), None).unwrap();
        assert_eq!(verify(&recording, &mut Unwatched).unwrap(), None, "seed {seed}");

        // As it was: the same books at the end.
        let mut log = Vec::new();
        let own = replayed(&recording, &[], &mut log);
        assert_eq!(own.differs, None);
        assert_eq!(String::from_utf8(log).unwrap(), lines.join("\n") + "\n");
        let record = &own.comparison.runs[0];
        let count = |kind: Kind| recorded.iter().filter(|one| one.fact.kind() == kind).count();
        assert_eq!(record.refused as usize, count(Kind::JobRefused));
        let (mut mine, mut theirs) = (books.iter(), record.queues.iter());
        while let (Some(mine), Some(theirs)) = (mine.next(), theirs.next()) {
            assert_eq!(mine.rho, theirs.rho, "seed {seed}, {}", theirs.queue);
        }
        assert_eq!((mine.next().is_none(), theirs.next().is_none()), (true, true));

        // From how long its tasks took: the same decisions, too.
        let mut log = Vec::new();
        let policy = recording.policy().to_owned();
        let again = replayed(&recording, &[&policy], &mut log);
        let text = String::from_utf8(log).unwrap();
        let (mine, theirs) =
            (starts(text.lines().map(str::to_owned)), starts(lines.iter().cloned()));
        assert_eq!(mine, theirs, "seed {seed}");
        assert!(mine.len() > 50, "{}", mine.len());
        let left_out = |remark: &&String| remark.contains("left out");
        assert_eq!(again.remarks.iter().find(left_out), None);
    }
    let wanted = [
        Kind::StartFailed,
        Kind::TaskLost,
        Kind::TaskWithdrawn,
        Kind::TaskMoved,
        Kind::QueueAdded,
        Kind::QueueRemoved,
        Kind::NodeCordoned,
        Kind::NodeUsedByOthers,
        Kind::NodeRelabelled,
        Kind::NodeResized,
        Kind::NodeLeft,
        Kind::Infeasible,
        Kind::JobChanged,
        Kind::TasksAdded,
        Kind::JobCancelled,
        Kind::JobRefused,
        Kind::TaskFailed,
        Kind::Clock,
        Kind::Open,
        Kind::TaskReclaimed,
        Kind::TimePassed,
    ];
    for kind in wanted {
        assert!(told.contains(&kind), "{kind:?} was not drawn");
    }
}

#[test]
fn what_if_says_what_cannot_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines) = lives(folder.path(), 0, 150, header(0));
    let recording = Recording::open(folder.path(), None).unwrap();
    let mut log = Vec::new();
    let result = replayed(&recording, &["fair", "drf,when_blocked=wait"], &mut log);
    let runs = &result.comparison.runs;
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run.decisions > 60 && !run.series.t_s.is_empty()));
    assert!(runs[1].end_s == runs[0].end_s, "all are measured to the end of the record");
    let says = |words: &str| result.remarks.iter().any(|remark| remark.contains(words));
    assert!(says("what came later is not known"), "{:?}", result.remarks);
    assert!(says("ran still at the end"), "{:?}", result.remarks);
    let adopted = starts(lines.into_iter()).iter().filter(|line| line.contains("Some")).count();
    let others = format!("another scheduler decided {adopted} of the starts: these happen as");
    assert!(adopted > 0 && says(&others), "{adopted}: {:?}", result.remarks);
    let own = replayed(&recording, &[], &mut Vec::new());
    assert!(!own.remarks.iter().any(|remark| remark.contains("another scheduler")));
    // The log of what was run is a log that replays.
    let file = folder.path().join("others.jsonl");
    std::fs::write(&file, &log).unwrap();
    let log = LogFile::open(&file).unwrap();
    for run in ["1", "2"] {
        let recording = Recording::of(log.clone(), Some(run)).unwrap();
        assert_eq!(verify(&recording, &mut Unwatched).unwrap(), None, "run {run}");
    }
    let options = ReplayOptions { policies: vec!["static".into()], ..ReplayOptions::default() };
    let refused = replay(&recording, &options, None, &mut Unwatched).err().unwrap().to_string();
    assert!(refused.contains("cannot be run under `static`"), "{refused}");
}

/// Who recorded nobody's stop: under a policy that stops tasks each stops when its grace is over,
/// unless it ends before, and its work is counted as lost.
#[test]
fn another_policy_stops_tasks_by_its_own_grace() {
    let (mut told, mut lost) = (0, 0);
    for seed in [0, 12] {
        let folder = tempfile::tempdir().unwrap();
        lives(folder.path(), seed, 150, header(seed));
        let recording = Recording::open(folder.path(), None).unwrap();
        let policy = "long-term,when_blocked=reserve,reservations=2,reclaim_after=3s,\
                      reclaim_min_runtime=1s,reclaim_guard=3s,reclaim_grace=1s";
        let mut log = Vec::new();
        let run = replayed(&recording, &[policy], &mut log);
        let text = String::from_utf8(log).unwrap();
        let mut due = std::collections::BTreeMap::new();
        let mut stopped = 0;
        for record in text.lines().map(|line| Record::decode(line.as_bytes()).unwrap()) {
            match record.fact {
                Fact::TaskReclaimed(stop) => {
                    told += 1;
                    due.insert(stop.key(), record.t.saturating_add(stop.grace));
                }
                Fact::TaskLost(task) => {
                    let why = task.why.as_deref();
                    if let Some(due) = due.remove(&task.key())
                        && why == Some("its room was taken back")
                    {
                        assert_eq!(record.t, due, "seed {seed}");
                        stopped += 1;
                    }
                }
                _ => {}
            }
        }
        lost += stopped;
        let counted = run.comparison.runs[1].stopped.as_ref().unwrap();
        assert!(counted.tasks >= stopped, "{counted:?}, {stopped} in the log");
        assert!(counted.lost.values().sum::<f64>() > 0.0 || stopped == 0);
    }
    assert!(told > 0 && lost > 0, "{told} told to stop, {lost} stopped");
}

/// Journals whose decisions are not this program's are played back as they say; what they tell of
/// after the first other decision may be of jobs that have ended where that decision was another.
#[test]
fn the_record_is_right() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        // They place by first and by best fit.
        let placed = Header { placement: "worst-fit".to_owned(), ..header(seed) };
        let (books, _) = lives(folder.path(), seed, 80, placed);
        let recording = Recording::open(folder.path(), None).unwrap();
        let result = replayed(&recording, &[], &mut Vec::new());
        let difference = result.differs.unwrap();
        assert_ne!(difference.recorded, difference.replayed, "seed {seed}");
        assert!(result.remarks.iter().any(|remark| remark.contains("played back")));
        let rhos = result.comparison.runs[0].queues.iter().map(|queue| queue.rho);
        let of_books = books.iter().map(|queue| queue.rho);
        assert_eq!(rhos.collect::<Vec<_>>(), of_books.collect::<Vec<_>>(), "seed {seed}");
        let told = explain(&recording, &LogSubject::Queue("a".to_owned()), None).unwrap();
        assert!(told.remarks.iter().any(|remark| remark.contains("played back")), "{told:?}");
    }
}

#[test]
fn a_live_journal_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (books, lines) = lives(folder.path(), 0, 150, header(0));
    let recording = Recording::open(folder.path(), None).unwrap();
    let names = config(0).queues.into_iter().map(|queue| queue.name);
    let mut waited = 0;
    for name in names.filter(|name| name != "b") {
        let told = explain(&recording, &LogSubject::Queue(name), None).unwrap();
        assert!(told.as_recorded);
        waited += u64::from(told.waits && told.recorded_start_s.is_some());
    }
    assert!(waited > 0);
    // At the end its books are those of the live driver.
    let end = Record::decode(lines.last().unwrap().as_bytes()).unwrap().t;
    let told = explain(&recording, &LogSubject::Queue("a".to_owned()), Some(end)).unwrap();
    let json = |state: &QueueStatus| serde_json::to_string(state).unwrap();
    assert_eq!(json(&told.state), json(&books[0]));
    let job = lines.iter().find_map(|line| match Record::decode(line.as_bytes()).unwrap().fact {
        Fact::TaskStarted(start) if start.since.is_none() => Some(start.job.to_string()),
        _ => None,
    });
    let told = explain(&recording, &LogSubject::Job(job.unwrap()), None).unwrap();
    assert!(told.as_recorded && told.job.is_some());
}

/// Whose beginning is forgotten, and what is no journal.
#[test]
fn folders_that_cannot_be_read_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = || Recording::open(folder.path(), None).err().unwrap().to_string();
    assert!(error().contains("holds no journal"), "{}", error());
    std::fs::write(folder.path().join("00000000000000000077.jsonl"), "").unwrap();
    assert!(error().contains("begins with record 77"), "{}", error());
}
