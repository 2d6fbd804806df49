//! The world of one machine: what the scheduler decides becomes processes, and their ends become
//! events.
//!
//! It has one thread, which calls [`World::turn`] with all that has come since the last time:
//! requests of users and ends of supervisors. A turn:
//!
//! | step | what | durable |
//! |---|---|---|
//! | 1 | requests are checked; what the journal cannot tell is noted for the books | |
//! | 2 | the driver is told, and decides | |
//! | 3 | books and journal are written, each by a thread | with one sync each, at a time |
//! | 4 | what followed goes into the books | with the next sync |
//! | 5 | supervisors are started and stopped, users get their answers | |
//!
//! So nothing is answered or begun that a crash could take back. Between any two steps the process
//! may die, and of the two writes of step 3 either may be the only one; `recover` says what is
//! found then: a job that only the journal knows was never acknowledged, and goes. Where more than
//! submissions has come (a hold, a cancel), the books are written before the driver is told; what a
//! crash has kept from the driver then is told at the next start.
//!
//! It decides nothing itself and keeps no copy of what the engine knows: a row of a job holds what
//! was submitted and what became of it, a run holds a process.

mod access;
mod agree;
mod alive;
mod clock;
mod devices;
mod entrance;
mod events;
mod facts;
mod history;
mod hold;
mod launch;
mod marks;
mod metrics;
mod planned;
mod reclaim;
mod recover;
mod reload;
mod room;
mod samples;
mod shown;
mod submit;
mod tasks;
mod views;
mod watched;
mod why;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use meed_driver::Failed;
use meed_driver::live::{Action, Live, OpenError};
use meed_journal::{Fact, TaskKey};
use meed_store::{Retention, UnixMillis};

use crate::access::Doors;
use crate::books::{BooksError, JobBooks, JobRow, Meta, Writes};
use crate::clock::{Moment, boot_us, wall_us};
use crate::group::Groups;
use crate::protocol::{Answer, Request};
use crate::run::{StopOrder, SupervisorWatch, TaskFolder, Watched as Supervisor};
use crate::settings::{Settings, ThisMachine};
use crate::spec::Submission;
use crate::user::LocalUser;
use devices::{Devices, Held};
use marks::{Marks, MarksFile};
use planned::Planned;
use samples::SampleRing;
pub(crate) use shown::{ClusterShown, MeShown, QueueShown, QueuesShown, WhyShown};
use watched::Watched;

/// Why the server cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The journal: nothing more can be decided.
    #[error(transparent)]
    Journal(#[from] Failed),
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The books.
    #[error(transparent)]
    JobBooks(#[from] BooksError),
    /// Parts of the state folder are damaged, or do not belong together. Nothing was started or
    /// stopped.
    #[error("{}: {found}; expected: {right}", path.display())]
    Damaged {
        /// The file or folder that is wrong.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What would be right.
        right: String,
    },
    /// The system.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// Why it failed.
        error: std::io::Error,
    },
}

impl WorldError {
    pub(crate) fn damaged(path: PathBuf, found: String, right: String) -> WorldError {
        WorldError::Damaged { path, found, right }
    }

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> WorldError {
        let what = what.into();
        move |error| WorldError::System { what, error }
    }
}

/// What a user asks, and where the answer goes.
pub struct Ask {
    /// Who asks.
    pub user: LocalUser,
    /// What.
    pub request: Request,
    /// Takes the answer; who has gone is not told.
    pub reply: Reply,
}

/// Takes an answer.
pub type Reply = Box<dyn FnOnce(Answer) + Send>;

/// What comes to a turn.
pub enum TurnEvent {
    /// A user asks.
    Ask(Box<Ask>),
    /// A supervisor is gone.
    Gone(u64),
    /// The configuration is to be read again.
    Reload,
}

/// A task that the engine runs, or whose processes are not gone yet.
struct Run {
    folder: TaskFolder,
    /// What it holds; nothing while it waits for it.
    held: Held,
    /// Its supervisor, where it has one.
    watched: Option<Supervisor>,
    /// The engine does not know it any more: it is being stopped.
    stops: bool,
    /// Its room is taken back for another: it is asked to end, and waits again then.
    gives_back: Option<StopOrder>,
}

/// Where the server keeps what it keeps.
#[derive(Clone, Debug)]
pub struct Places {
    /// The state folder.
    pub state: PathBuf,
}

impl Places {
    /// Folders of tasks.
    pub fn runs(&self) -> PathBuf {
        self.state.join("run")
    }

    /// What happened, and what was decided.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// Jobs as they were submitted: nobody else's to read.
    pub fn books(&self) -> PathBuf {
        self.state.join("jobs")
    }

    /// Output of a job's tasks.
    pub fn logs(&self, job: u64) -> PathBuf {
        self.state.join("log").join(format!("{:03}", job / 1000)).join(job.to_string())
    }

    /// The folder of an attempt.
    fn run(&self, task: &TaskKey) -> TaskFolder {
        TaskFolder::at(self.runs().join(format!("{}-{}-{}", task.job, task.task, task.attempt)))
    }
}

/// The world of one machine: what the scheduler decides becomes processes, and their ends become
/// events. One thread calls [`World::turn`] with all that has come since the last turn.
pub struct World {
    live: Live<()>,
    books: JobBooks,
    meta: Meta,
    /// What was acknowledged, beside both.
    marks: MarksFile,
    /// The last write of the books that is durable.
    durable_writes: u64,
    settings: Settings,
    machine: ThisMachine,
    places: Places,
    /// Tells this server's tasks from those of others.
    name: String,
    /// Jobs that have not ended.
    rows: BTreeMap<u64, JobRow>,
    /// How many of them each user has.
    rows_of: BTreeMap<u32, usize>,
    /// Those whose user has given them a name: no two have the same.
    named: BTreeMap<(u32, String), u64>,
    /// Who waits for a job.
    dependents: BTreeMap<u64, BTreeSet<u64>>,
    runs: BTreeMap<TaskKey, Run>,
    /// Running tasks of each job.
    running: BTreeMap<u64, BTreeSet<TaskKey>>,
    watch: SupervisorWatch,
    tokens: BTreeMap<u64, TaskKey>,
    next_token: u64,
    devices: Devices,
    /// Where tasks are kept together.
    groups: Groups,
    /// Tasks that wait until others have let go of their processors or GPUs.
    deferred: VecDeque<TaskKey>,
    /// Whether somebody has let go of some since it was last looked.
    has_room: bool,
    /// Rows to be written.
    writes: Writes,
    /// What was submitted in this turn, and is not in the books yet.
    fresh: BTreeMap<u64, Submission>,
    /// Jobs whose rows are to be written.
    changed: BTreeSet<u64>,
    /// Whether these must be durable before the driver is told of anything.
    precede: bool,
    /// Whether something was written that is not durable yet.
    is_dirty: bool,
    /// Folders of tasks whose ends are in the books, once these are durable.
    over: Vec<TaskFolder>,
    /// The queues as they were read, once the journal has what differs.
    queues_read: Option<Option<String>>,
    /// Who waits for the end of a job.
    waiters: BTreeMap<u64, Vec<(LocalUser, Reply)>>,
    /// Jobs that have ended in this turn.
    ended: Vec<u64>,
    /// Why jobs were refused by the engine in this turn.
    refused: BTreeMap<u64, String>,
    /// Worth a line to the operator each.
    remarks: Vec<String>,
    /// Who comes in by HTTP.
    doors: Arc<Doors>,
    watched: Watched,
    samples: [SampleRing; 2],
}

impl World {
    /// Does all that has come.
    ///
    /// # Errors
    ///
    /// The journal or the books cannot be written: nobody was answered, and the server must begin
    /// again from what they hold.
    pub fn turn(&mut self, events: Vec<TurnEvent>) -> Result<(), WorldError> {
        let began_us = boot_us();
        let (mut asks, mut others) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                TurnEvent::Ask(ask) => asks.push(*ask),
                other => others.push(other),
            }
        }
        let (mut facts, mut planned) = (Vec::new(), Vec::new());
        for Ask { user, request, reply } in asks {
            planned.push((self.plan(&user, request, &mut facts)?, user, reply));
        }
        // What the journal cannot tell, as it is now; what follows from it is written behind it.
        if std::mem::take(&mut self.precede) {
            self.write(true)?;
        }
        let first = self.take_writes();
        for event in others {
            match event {
                TurnEvent::Gone(token) => facts.extend(self.gone(token)?),
                TurnEvent::Reload | TurnEvent::Ask(_) => match self.reload() {
                    Ok(changes) => facts.extend(changes),
                    Err(why) => self.remarks.push(why.text),
                },
            }
        }
        if self.is_to_look() {
            facts.push(Fact::time_passed());
        }
        self.carry_on(first, facts)?;
        for (planned, user, reply) in planned {
            match planned {
                Planned::Wait(job) => self.wait(job, user, reply)?,
                other => reply(self.answer(other, &user)?),
            }
        }
        self.wake()?;
        self.turn_over(began_us)
    }

    /// Tells, commits and carries out until nothing follows. `rows` become durable with the first
    /// commit.
    fn carry_on(
        &mut self,
        mut rows: Option<Writes>,
        mut facts: Vec<Fact>,
    ) -> Result<(), WorldError> {
        let mut first = true;
        while !facts.is_empty() || std::mem::take(&mut first) {
            let now = self.live.instant(self.meta.clock.now());
            self.tell(now, facts)?;
            let begins = boot_us();
            let actions = match rows.take() {
                Some(rows) => self.commit_with(&rows)?,
                None => self.live.commit(wall_millis())?,
            };
            self.note_marks();
            let took = meed::Span::from_micros(boot_us().saturating_sub(begins));
            self.live.counters().commit_took(took.unwrap_or_default());
            self.meta.cursor = self.live.store().durable().get();
            // Not before: a crash between would leave queues that nobody tells the journal of.
            if let Some(queues) = self.queues_read.take() {
                self.meta.queues = queues;
            }
            // Rows of open jobs say what the journal says, and are looked at here: they can wait
            // for the next that must be written.
            if !self.writes.is_empty() || !self.ended.is_empty() {
                self.write(false)?;
            }
            facts = self.act(actions)?;
        }
        Ok(())
    }

    /// Books and journal become durable at a time: a disk makes less of two syncs than of one after
    /// the other.
    fn commit_with(&mut self, rows: &Writes) -> Result<Vec<Action>, WorldError> {
        let World { books, live, .. } = self;
        let (written, actions) = std::thread::scope(|scope| {
            let written = scope.spawn(|| books.write(rows, true));
            let actions = live.commit(wall_millis());
            (written.join(), actions)
        });
        written.map_err(|_| {
            let error = std::io::Error::other("the thread that wrote them has panicked");
            WorldError::System { what: "the database of jobs".to_owned(), error }
        })??;
        self.is_dirty = false;
        self.durable_writes = rows.number().unwrap_or(self.durable_writes);
        self.fresh.clear();
        Ok(actions?)
    }

    /// What is to be written, as it is now.
    fn take_writes(&mut self) -> Option<Writes> {
        for id in std::mem::take(&mut self.changed) {
            if let Some(row) = self.rows.get(&id) {
                self.writes.job(row);
            }
        }
        if self.writes.is_empty() {
            return None;
        }
        self.meta.writes = Some(self.meta.writes.unwrap_or(0) + 1);
        self.writes.meta(&self.meta);
        Some(std::mem::take(&mut self.writes))
    }

    /// Writes what has changed. `durably`: only if there is something that must be.
    fn write(&mut self, durably: bool) -> Result<(), WorldError> {
        if let Some(writes) = self.take_writes() {
            self.books.write(&writes, durably)?;
            self.is_dirty = !durably;
            self.fresh.clear();
            if durably {
                self.durable_writes = writes.number().unwrap_or(self.durable_writes);
                self.note_marks();
            }
        }
        let over = self.ended.iter().filter(|id| self.rows.get(id).is_some_and(JobRow::is_over));
        let over: Vec<u64> = over.copied().collect();
        for row in over.iter().filter_map(|id| self.rows.remove(id)) {
            if let Some(count) = self.rows_of.get_mut(&row.uid) {
                *count -= 1;
            }
            let name = (row.uid, row.name);
            if row.is_named && self.named.get(&name) == Some(&row.id) {
                self.named.remove(&name);
            }
        }
        Ok(())
    }

    /// Notes what is durable by now, before anybody hears of it.
    fn note_marks(&mut self) {
        let marks = Marks { journal: self.live.store().durable().get(), jobs: self.durable_writes };
        if let Err(error) = self.marks.write(marks) {
            self.remarks.push(format!("{}: {error}", MarksFile::NAME));
        }
    }

    /// A job that has not ended is known from now on.
    fn know(&mut self, row: JobRow) {
        *self.rows_of.entry(row.uid).or_default() += 1;
        if row.is_named {
            self.named.insert((row.uid, row.name.clone()), row.id);
        }
        self.rows.insert(row.id, row);
    }

    /// What a quiet moment is for: what was written becomes durable, folders that are not needed
    /// any more go, a snapshot is left where one is due.
    ///
    /// # Errors
    ///
    /// As [`World::turn`].
    pub fn tidy(&mut self) -> Result<(), WorldError> {
        self.sample();
        let is_due = self.is_dirty || !self.over.is_empty() || !self.writes.is_empty();
        if is_due || !self.changed.is_empty() {
            self.writes.meta(&self.meta);
            self.write(true)?;
            for folder in std::mem::take(&mut self.over) {
                let group = self.groups.of(folder.path());
                let removed = group.map_or(Ok(()), |group| group.remove());
                if let Err(error) = removed.and_then(|()| folder.remove()) {
                    self.remarks.push(format!("{}: {error}", folder.path().display()));
                }
            }
        }
        self.live.tidy(&Retention::default(), wall_millis())?;
        Ok(())
    }

    /// The last words before the server stops: tasks run on.
    ///
    /// # Errors
    ///
    /// As [`World::turn`].
    pub fn close(mut self) -> Result<(), WorldError> {
        self.is_dirty = true;
        self.tidy()?;
        self.live.snapshot(wall_millis())?;
        Ok(())
    }

    /// What the kernel bounds for tasks, and what nothing does, for the operator.
    pub fn bounds_remarks(&self) -> Vec<String> {
        let not_bounded = self.settings.not_bounded(self.groups.walls());
        std::iter::once(self.groups.remark(self.settings.closes_gpus()))
            .chain(not_bounded)
            .collect()
    }

    /// What the operator is to be told since the last time.
    pub fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Answers when the job has ended.
    fn wait(&mut self, job: u64, user: LocalUser, reply: Reply) -> Result<(), WorldError> {
        match self.rows.contains_key(&job) {
            true => self.waiters.entry(job).or_default().push((user, reply)),
            false => reply(self.view_of(job, &user)?),
        }
        Ok(())
    }

    fn wake(&mut self) -> Result<(), WorldError> {
        for job in std::mem::take(&mut self.ended) {
            for (user, reply) in self.waiters.remove(&job).unwrap_or_default() {
                reply(self.view_of(job, &user)?);
            }
        }
        self.refused.clear();
        Ok(())
    }

    fn row_mut(&mut self, id: u64) -> Option<&mut JobRow> {
        self.changed.insert(id);
        self.watched.touch(id);
        self.rows.get_mut(&id)
    }

    /// Who comes in by HTTP.
    pub(crate) fn doors(&self) -> Arc<Doors> {
        self.doors.clone()
    }

    /// The settings, to be read.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

fn wall_millis() -> UnixMillis {
    UnixMillis::new(wall_us() / 1000)
}

fn now() -> Moment {
    Moment::now()
}
