//! What the journal does not keep: jobs as they were submitted, and how their tasks ended. An
//! embedded database (redb) beside the journal.
//!
//! | table | key | value |
//! |---|---|---|
//! | `specs` | job | what was submitted; never changes |
//! | `jobs` | job | where it stands |
//! | `open` | job | those that have not ended |
//! | `tasks` | job, task | its failures, and how its last attempt ended |
//! | `tokens` | their number | who they are for, and the hash of their secret |
//! | `samples` | ring, step | who held what ([`crate::world`]) |
//! | `meta` | name | the next number, the clock, how far the journal is in here |
//!
//! Two kinds of writes. What the journal cannot tell (a submission, a hold) is durable before
//! anything follows from it. What follows from the journal is written without a sync: after a crash
//! it is read from the journal again, from `cursor` on. So there is one sync here for a
//! submission, none for a start or an end.

pub mod check;
mod overlay;
mod parts;
mod row;

use std::collections::BTreeMap;
use std::path::Path;

use redb::{
    Database, Durability, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::TokenRow;
use crate::spec::Submission;
pub use parts::JobPart;
pub use row::{AfterJob, Clock, Fate, JobRow, Meta, Phase, TaskRow};

const SPECS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("specs");
const JOBS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("jobs");
const OPEN: TableDefinition<'_, u64, ()> = TableDefinition::new("open");
const TASKS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("tasks");
const TOKENS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tokens");
const SAMPLES: TableDefinition<'_, (u8, u64), &[u8]> = TableDefinition::new("samples");
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// Names of all tables.
const TABLES: [&str; 7] = ["specs", "jobs", "open", "tasks", "tokens", "samples", "meta"];

/// The database in its folder.
pub const FILE: &str = "jobs.redb";
/// What it is called until it has its tables and its first row.
const UNFINISHED: &str = "jobs.redb.unfinished";

/// What queues held, by their names.
pub(crate) type Means = BTreeMap<String, f64>;

/// Memory for pages. The system keeps the file's in its own, as far as there is room.
const CACHE_BYTES: usize = 8 << 20;

/// Why the books cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BooksError {
    /// The database.
    #[error("the database of jobs: {0}")]
    Database(String),
    /// A row that this program has not written.
    #[error("the database of jobs holds a row that cannot be read: {0}")]
    Row(String),
    /// It is of another version.
    #[error(
        "jobs.redb: the database of jobs has version {0}, and this program reads {version}: it is \
         of a newer meed; serve it with that one, or name another folder with --state",
        version = Meta::VERSION
    )]
    Version(u32),
}

impl<E: Into<redb::Error>> From<E> for BooksError {
    fn from(error: E) -> BooksError {
        BooksError::Database(error.into().to_string())
    }
}

/// What the journal does not keep: jobs as they were submitted, and how their tasks ended. A
/// database beside the journal.
pub struct JobBooks {
    database: Database,
}

/// Rows to be written together.
#[derive(Default)]
pub struct Writes {
    specs: Vec<(u64, Vec<u8>)>,
    /// And whether it is over.
    jobs: Vec<(u64, bool, Vec<u8>)>,
    tasks: Vec<((u64, u32), Vec<u8>)>,
    /// `None`: it goes.
    tokens: Vec<(String, Option<Vec<u8>>)>,
    /// And the first step of its ring that is kept.
    samples: Vec<((u8, u64), u64, Vec<u8>)>,
    meta: Option<Vec<u8>>,
    /// Which write it is.
    number: Option<u64>,
}

impl Writes {
    /// What was submitted.
    pub fn spec(&mut self, job: u64, spec: &Submission) {
        self.specs.push((job, bytes(spec)));
    }

    /// Where a job stands.
    pub fn job(&mut self, row: &JobRow) {
        self.jobs.push((row.id, row.is_over(), bytes(row)));
    }

    /// Where a task stands.
    pub fn task(&mut self, job: u64, task: u32, row: &TaskRow) {
        self.tasks.push(((job, task), bytes(row)));
    }

    /// A token.
    pub fn token(&mut self, row: &TokenRow) {
        self.tokens.push((row.id.clone(), Some(bytes(row))));
    }

    /// A token that is good for nothing any more.
    pub fn token_gone(&mut self, id: &str) {
        self.tokens.push((id.to_owned(), None));
    }

    /// Who held what in a step of a ring; steps before `oldest` go.
    pub fn sample(&mut self, key: (u8, u64), means: &Means, oldest: u64) {
        self.samples.push((key, oldest, bytes(means)));
    }

    /// The rest.
    pub fn meta(&mut self, meta: &Meta) {
        self.meta = Some(bytes(meta));
        self.number = meta.writes;
    }

    /// Which write it is ([`Meta::writes`]).
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
            && self.jobs.is_empty()
            && self.tasks.is_empty()
            && self.tokens.is_empty()
            && self.samples.is_empty()
            && self.meta.is_none()
    }
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("memory takes all, and keys are text")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BooksError> {
    serde_json::from_slice(bytes).map_err(|why| BooksError::Row(why.to_string()))
}

impl JobBooks {
    /// Opens the database of `folder`, which [`check`] has found sound.
    ///
    /// # Errors
    ///
    /// The system's; a database of another version, or without its row of what there is once.
    pub fn open(folder: &Path) -> Result<(JobBooks, Meta), BooksError> {
        let path = folder.join(FILE);
        let database = redb::Builder::new().set_cache_size(CACHE_BYTES).open(&path)?;
        let books = JobBooks { database };
        match books.meta()? {
            Some(meta) if meta.version == Meta::VERSION => Ok((books, meta)),
            Some(meta) => Err(BooksError::Version(meta.version)),
            None => Err(BooksError::Row("jobs.redb has no row `meta`".to_owned())),
        }
    }

    /// Makes the database of `folder`. Under its name it has all tables and its first row, also
    /// after a crash.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn make(folder: &Path, meta: &Meta) -> Result<JobBooks, BooksError> {
        let system = |error: std::io::Error| BooksError::Database(error.to_string());
        let unfinished = folder.join(UNFINISHED);
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(system(error));
            }
            _ => {}
        }
        let database = redb::Builder::new().set_cache_size(CACHE_BYTES).create(&unfinished)?;
        let books = JobBooks { database };
        books.make_tables()?;
        let mut writes = Writes::default();
        writes.meta(meta);
        books.write(&writes, true)?;
        std::fs::rename(&unfinished, folder.join(FILE)).map_err(system)?;
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(system)?;
        Ok(books)
    }

    fn make_tables(&self) -> Result<(), BooksError> {
        let write = self.database.begin_write()?;
        write.open_table(SPECS)?;
        write.open_table(JOBS)?;
        write.open_table(OPEN)?;
        write.open_table(TASKS)?;
        write.open_table(TOKENS)?;
        write.open_table(SAMPLES)?;
        write.open_table(META)?;
        Ok(write.commit()?)
    }

    /// Writes all of it or nothing. `durably`: it survives a crash once this comes back, with all
    /// that was written before.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn write(&self, writes: &Writes, durably: bool) -> Result<(), BooksError> {
        let mut write = self.database.begin_write()?;
        let durability = if durably { Durability::Immediate } else { Durability::None };
        write.set_durability(durability).map_err(|why| BooksError::Database(why.to_string()))?;
        put(&write, writes)?;
        Ok(write.commit()?)
    }

    /// The rest.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn meta(&self) -> Result<Option<Meta>, BooksError> {
        let table = self.database.begin_read()?.open_table(META)?;
        table.get("meta")?.map(|row| read(row.value())).transpose()
    }

    /// All tokens.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, BooksError> {
        let table = self.database.begin_read()?.open_table(TOKENS)?;
        table.iter()?.map(|row| read(row?.1.value())).collect()
    }

    /// Samples of a ring from a step on.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn samples(&self, ring: u8, from: u64) -> Result<Vec<(u64, Means)>, BooksError> {
        let table = self.database.begin_read()?.open_table(SAMPLES)?;
        let rows = table.range((ring, from)..=(ring, u64::MAX))?;
        let sample =
            |row: Result<(redb::AccessGuard<'_, (u8, u64)>, redb::AccessGuard<'_, _>), _>| {
                let (key, row) = row?;
                let bytes: &[u8] = row.value();
                Ok((key.value().1, read(bytes)?))
            };
        rows.map(sample).collect()
    }

    /// What was submitted.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn spec(&self, job: u64) -> Result<Option<Submission>, BooksError> {
        let table = self.database.begin_read()?.open_table(SPECS)?;
        table.get(job)?.map(|row| read(row.value())).transpose()
    }

    /// Where a job stands.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn job(&self, job: u64) -> Result<Option<JobRow>, BooksError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        table.get(job)?.map(|row| read(row.value())).transpose()
    }

    /// Jobs that have not ended.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn open_jobs(&self) -> Result<Vec<JobRow>, BooksError> {
        let table = self.database.begin_read()?.open_table(OPEN)?;
        let mut rows = Vec::new();
        for key in table.iter()? {
            let key = key?.0.value();
            let missing = || BooksError::Row(format!("job {key} is open and has no row"));
            rows.push(self.job(key)?.ok_or_else(missing)?);
        }
        Ok(rows)
    }

    /// Jobs with smaller numbers than `below`, the newest first, until `visit` says that it is
    /// enough.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn jobs_below(
        &self,
        below: u64,
        mut visit: impl FnMut(JobRow) -> bool,
    ) -> Result<(), BooksError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        for row in table.range(..below)?.rev() {
            if !visit(read(row?.1.value())?) {
                break;
            }
        }
        Ok(())
    }

    /// Where a task stands.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn task(&self, job: u64, task: u32) -> Result<Option<TaskRow>, BooksError> {
        let table = self.database.begin_read()?.open_table(TASKS)?;
        table.get((job, task))?.map(|row| read(row.value())).transpose()
    }

    /// Tasks of a job that have ended at least once, from number `from` on, at most `limit`.
    ///
    /// # Errors
    ///
    /// The system's; a row that is none.
    pub fn tasks(
        &self,
        job: u64,
        from: u32,
        limit: usize,
    ) -> Result<Vec<(u32, TaskRow)>, BooksError> {
        let table = self.database.begin_read()?.open_table(TASKS)?;
        let mut rows = Vec::new();
        for row in table.range((job, from)..=(job, u32::MAX))?.take(limit) {
            let (key, row) = row?;
            rows.push((key.value().1, read(row.value())?));
        }
        Ok(rows)
    }
}

fn put(write: &WriteTransaction, writes: &Writes) -> Result<(), BooksError> {
    let mut specs = write.open_table(SPECS)?;
    for (key, row) in &writes.specs {
        specs.insert(key, row.as_slice())?;
    }
    let mut jobs = write.open_table(JOBS)?;
    let mut open = write.open_table(OPEN)?;
    for (key, is_over, row) in &writes.jobs {
        jobs.insert(key, row.as_slice())?;
        match is_over {
            true => drop(open.remove(key)?),
            false => drop(open.insert(key, ())?),
        }
    }
    let mut tasks = write.open_table(TASKS)?;
    for (key, row) in &writes.tasks {
        tasks.insert(key, row.as_slice())?;
    }
    let mut tokens = write.open_table(TOKENS)?;
    for (id, row) in &writes.tokens {
        match row {
            Some(row) => drop(tokens.insert(id.as_str(), row.as_slice())?),
            None => drop(tokens.remove(id.as_str())?),
        }
    }
    let mut samples = write.open_table(SAMPLES)?;
    for (key, oldest, row) in &writes.samples {
        samples.insert(key, row.as_slice())?;
        samples.retain_in((key.0, 0)..(key.0, *oldest), |_, _| false)?;
    }
    if let Some(meta) = &writes.meta {
        write.open_table(META)?.insert("meta", meta.as_slice())?;
    }
    Ok(())
}
