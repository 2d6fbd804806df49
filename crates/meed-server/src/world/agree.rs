//! Journal, database of jobs and tasks' folders must be of one state folder and of one moment:
//! looked at before anything is told, started or stopped.
//!
//! | what is found | what follows |
//! |---|---|
//! | no database, and the journal, the marks or tasks' folders are there | refused |
//! | a database that is not sound ([`check`]) | refused |
//! | a database with fewer writes than were acknowledged ([`Marks`]) | refused |
//! | no journal, and the database has seen records or jobs | refused |
//! | a journal that ends before what the database has seen, or what was acknowledged | refused |
//! | a journal that began at another instant than the database says | refused |
//! | jobs of several instants that only the journal has | refused |
//! | jobs of one instant that only the journal has | never acknowledged: they go |
//! | supervisors that live and that no folder names | refused ([`super::alive`]) |
//!
//! Each refusal is an error that names the file, and leaves everything as it was found.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

use meed::Time;
use meed_driver::live::OpenError;
use meed_journal::{Fact, Record};
use meed_store::{FileStore, FileStoreOptions, Seq, Store};

use super::marks::{Marks, MarksFile};
use super::{Places, WorldError, recover};
use crate::books::check::{self, Soundness};
use crate::books::{self, BooksError, JobBooks, JobRow, Meta};

/// What goes together.
const ONE_MOMENT: &str = "journal, jobs and run of one state folder and of one moment: put back \
    what was there, restore all of the folder from one backup, or begin a new one with --state; \
    nothing was started or stopped";

/// What has been opened, and agrees.
pub(super) struct Opened {
    pub(super) books: JobBooks,
    pub(super) meta: Meta,
    pub(super) store: FileStore,
    pub(super) marks: MarksFile,
}

/// Opens the parts of a state folder. `new`: what the books of a new one begin with.
pub(super) fn open(places: &Places, new: impl FnOnce() -> Meta) -> Result<Opened, WorldError> {
    let shown = places.state.join(MarksFile::NAME).display().to_string();
    let marks = MarksFile::open(&places.state).map_err(WorldError::system(shown))?;
    let known = marks.last().unwrap_or_default();
    let (books, meta) = open_books(places, known, new)?;
    let store = open_journal(places, known, &meta)?;
    check_beginning(places, &store, &meta)?;
    check_unknown(places, &store, &meta)?;
    Ok(Opened { books, meta, store, marks })
}

fn open_books(
    places: &Places,
    known: Marks,
    new: impl FnOnce() -> Meta,
) -> Result<(JobBooks, Meta), WorldError> {
    let folder = places.books();
    let file = folder.join(books::FILE);
    let system = || WorldError::system(file.display().to_string());
    let found = match std::fs::metadata(&file) {
        Ok(there) if there.len() > 0 => None,
        Ok(_) => Some("is empty"),
        Err(error) if error.kind() == ErrorKind::NotFound => Some("is not there"),
        Err(error) => return Err(system()(error)),
    };
    if let Some(found) = found {
        if let Some(witness) = witness(places, known)? {
            let found = format!("{found}, but {witness}");
            return Err(WorldError::damaged(file, found, ONE_MOMENT.to_owned()));
        }
        let meta = new();
        return Ok((JobBooks::make(&folder, &meta)?, meta));
    }
    match check::ask(&file).map_err(system())? {
        Soundness::Sound => {}
        Soundness::OtherVersion(version) => return Err(BooksError::Version(version).into()),
        Soundness::Damaged(why) => {
            let found = format!("is damaged: {why}");
            let right = format!("a sound database; {ONE_MOMENT}");
            return Err(WorldError::damaged(file, found, right));
        }
    }
    let (books, mut meta) = JobBooks::open(&folder)?;
    match meta.writes {
        // An earlier version wrote last, and neither counted nor left marks.
        None => {
            meta.writes = Some(known.jobs);
            Ok((books, meta))
        }
        Some(writes) if writes < known.jobs => {
            let found = format!(
                "has {writes} writes, and {} were acknowledged: it is an older copy, or has lost \
                 the last of them",
                known.jobs
            );
            Err(WorldError::damaged(file, found, ONE_MOMENT.to_owned()))
        }
        _ => Ok((books, meta)),
    }
}

/// What tells that there were jobs here, in words.
fn witness(places: &Places, known: Marks) -> Result<Option<String>, WorldError> {
    if has_records(&places.journal())? {
        return Ok(Some(format!("{} has records", places.journal().display())));
    }
    if known != Marks::default() {
        let Marks { journal, jobs } = known;
        let marks = places.state.join(MarksFile::NAME);
        let marks = marks.display();
        let words = format!("{marks} says that {journal} records and {jobs} writes were made");
        return Ok(Some(words));
    }
    let runs = places.runs();
    let entries = std::fs::read_dir(&runs);
    let entries = entries.map_err(WorldError::system(runs.display().to_string()))?;
    let task = entries.flatten().map(|entry| entry.path()).find(|path| recover::is_of_a_task(path));
    Ok(task.map(|task| format!("there is a task at {}", task.display())))
}

/// Whether the folder of a journal has segments or snapshots.
fn has_records(journal: &Path) -> Result<bool, WorldError> {
    let entries = match std::fs::read_dir(journal) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(WorldError::system(journal.display().to_string())(error)),
    };
    let is_record = |name: &str| {
        name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || name.starts_with("snapshot-")
    };
    Ok(entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_record)))
}

fn open_journal(places: &Places, known: Marks, meta: &Meta) -> Result<FileStore, WorldError> {
    let folder = places.journal();
    let acknowledged = known.journal.max(meta.cursor);
    if !has_records(&folder)? && (acknowledged > 0 || meta.next > 1) {
        let (jobs, next) = (places.books().join(books::FILE), meta.next);
        let found = format!(
            "has no records, but {} knows jobs up to number {} and records up to {acknowledged}",
            jobs.display(),
            next - 1
        );
        return Err(WorldError::damaged(folder, found, ONE_MOMENT.to_owned()));
    }
    let options = FileStoreOptions::default().acknowledged(Seq::new(acknowledged));
    Ok(FileStore::open_folder(&folder, options).map_err(OpenError::from)?)
}

/// Journal and database began at one instant.
fn check_beginning(places: &Places, store: &FileStore, meta: &Meta) -> Result<(), WorldError> {
    if store.first() != Seq::new(1) || store.durable() == Seq::ZERO {
        return Ok(());
    }
    let mut began = None;
    let read = store.read(Seq::new(1), &mut |_, line| {
        began = match Record::decode(line) {
            Ok(Record { fact: Fact::Run(header), .. }) => header.epoch_us,
            _ => None,
        };
        ControlFlow::Break(())
    });
    read.map_err(OpenError::from)?;
    match began {
        Some(began) if began != meta.clock.epoch_us => {
            let found = format!(
                "began at {began} us since 1970, and {} is of a journal that began at {}",
                places.books().join(books::FILE).display(),
                meta.clock.epoch_us
            );
            Err(WorldError::damaged(places.journal(), found, ONE_MOMENT.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Jobs are acknowledged once both know them, and are told at the instant of their turn: those of
/// several instants were.
fn check_unknown(places: &Places, store: &FileStore, meta: &Meta) -> Result<(), WorldError> {
    let from = Seq::new(meta.cursor).next();
    let mut unknown: BTreeSet<(Time, u64)> = BTreeSet::new();
    if from <= store.durable() && from >= store.first() {
        let read = store.read(from, &mut |_, line| {
            if let Ok(Record { t, fact: Fact::JobArrived(arrival), .. }) = Record::decode(line) {
                let id = JobRow::id_of(&arrival.job).filter(|id| *id >= meta.next);
                unknown.extend(id.map(|id| (t, id)));
            }
            ControlFlow::Continue(())
        });
        read.map_err(OpenError::from)?;
    }
    match (unknown.first(), unknown.last()) {
        (Some((first, job)), Some((last, other))) if first != last => {
            let found = format!(
                "has jobs up to number {} only, and the journal has jobs {job} and {other}, of \
                 different instants: it is an older copy",
                meta.next - 1
            );
            let file = places.books().join(books::FILE);
            Err(WorldError::damaged(file, found, ONE_MOMENT.to_owned()))
        }
        _ => Ok(()),
    }
}
