//! Opening: a new state folder, or what a server before this one has left, however it ended.
//!
//! 0. Journal, books and tasks' folders must be whole and of one moment ([`super::agree`]).
//! 1. The driver recovers from its journal.
//! 2. The books follow: records behind their cursor are read from the journal.
//! 3. What the books have and the journal does not, since the crash came between their two writes,
//!    is told: cancels, holds, submissions. A job that only the journal has was never acknowledged.
//! 4. Tasks that run, as the journal says, are compared with their folders: who lives is waited for
//!    again; who has ended is told with its true end, in the order of these ends, while nothing may
//!    start; who was lost waits again; who never began begins.
//! 5. Folders that the journal knows no running task of are of tasks that were being stopped: they
//!    are stopped again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::DirBuilder;
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use meed::Time;
use meed_driver::live::{Live, Opening, SnapshotRule};
use meed_driver::{Taken, header_of};
use meed_journal::{Fact, Header, JobKey, Opened, Outcome, Record, TaskKey};
use meed_store::Seq;

use super::{
    Devices, Held, Places, Run, SampleRing, Watched, World, WorldError, agree, alive, now,
    wall_millis,
};
use crate::books::{Clock, Fate, JobRow, Meta, Phase};
use crate::clock::boot_id;
use crate::group::{Groups, NO_GROUPS};
use crate::run::{FolderState, SupervisorWatch, TaskEnd, TaskFolder};
use crate::settings::{Settings, ThisMachine};

impl World {
    /// Opens the state folder; `gone` is called with the token of each supervisor that has ended,
    /// and brings it to a turn.
    ///
    /// # Errors
    ///
    /// The system's; damage; settings that are not those of the folder.
    pub fn open(
        places: Places,
        settings: Settings,
        machine: ThisMachine,
        gone: impl Fn(u64) + Send + 'static,
    ) -> Result<World, WorldError> {
        make_folders(&places)?;
        let boot = boot_id().map_err(WorldError::system("boot_id"))?;
        let agree::Opened { books, mut meta, store, marks } =
            agree::open(&places, || new_meta(&boot, &settings))?;
        alive::check(&places)?;
        let same_boot = meta.clock.boot == boot;
        let (live, recovered) = Live::open(Box::new(store), opening(&settings, &meta.clock))?;
        meta.clock = meta.clock.go_on(boot, now(), live.engine().now());
        let kinds = live.engine().kinds();
        let gpus = kinds.find("gpu").map_or(0, |kind| settings.node().capacity.get(kind) / 1000);
        let devices = Devices::new(&machine.processors, u32::try_from(gpus).unwrap_or(u32::MAX));
        let open_jobs = books.open_jobs()?;
        let name = format!("{:x}", meta.clock.epoch_us);
        let groups = match settings.control_groups {
            true => Groups::find(&name),
            false => Groups::none(NO_GROUPS),
        };
        let mut world = World {
            name,
            groups,
            live,
            books,
            durable_writes: meta.writes.unwrap_or(0),
            meta,
            marks,
            machine,
            places,
            rows: BTreeMap::new(),
            rows_of: BTreeMap::new(),
            named: BTreeMap::new(),
            dependents: BTreeMap::new(),
            runs: BTreeMap::new(),
            running: BTreeMap::new(),
            watch: SupervisorWatch::start(gone)
                .map_err(WorldError::system("waiting for processes"))?,
            tokens: BTreeMap::new(),
            next_token: 0,
            devices,
            deferred: VecDeque::new(),
            has_room: false,
            writes: Default::default(),
            fresh: BTreeMap::new(),
            changed: BTreeSet::new(),
            precede: false,
            is_dirty: true,
            over: Vec::new(),
            queues_read: None,
            waiters: BTreeMap::new(),
            ended: Vec::new(),
            refused: BTreeMap::new(),
            remarks: recovered.remarks,
            settings: settings.clone(),
            doors: Default::default(),
            watched: Watched::new(),
            samples: SampleRing::both(),
        };
        open_jobs.into_iter().for_each(|row| world.know(row));
        world.books.tokens()?.into_iter().for_each(|row| world.doors.admit(row));
        let changes = world.adopt(settings).map_err(|why| WorldError::System {
            what: "the settings".to_owned(),
            error: std::io::Error::other(why.text),
        })?;
        let next = world.meta.next;
        let winners = world.catch_up()?;
        world.reconcile(same_boot, changes, &winners, next)?;
        world.sweep_groups();
        world.tidy()?;
        Ok(world)
    }

    /// The books follow the journal. For whom tasks were told to stop.
    fn catch_up(&mut self) -> Result<BTreeMap<TaskKey, JobKey>, WorldError> {
        let (mut facts, mut winners) = (Vec::new(), BTreeMap::new());
        let (from, to) = (Seq::new(self.meta.cursor).next(), self.live.store().durable());
        if to >= from {
            let read = self.live.store().read(from, &mut |_, line| {
                facts.extend(Record::decode(line).ok().map(|record| record.fact));
                ControlFlow::Continue(())
            });
            read.map_err(meed_driver::live::OpenError::from)?;
        }
        for fact in facts {
            match fact {
                Fact::JobArrived(arrival) => {
                    // The crash may have come between the journal and the books: no number twice.
                    let id = JobRow::id_of(&arrival.job).unwrap_or(0);
                    self.meta.next = self.meta.next.max(id + 1);
                    let tasks = arrival.groups.iter().map(|group| group.tasks).sum();
                    self.told(&arrival.job, tasks);
                }
                Fact::TasksAdded(added) => {
                    let tasks = added.groups.iter().map(|group| group.tasks).sum();
                    self.told(&added.job, tasks);
                }
                Fact::TaskEnded(task) | Fact::TaskFailed(task) => self.count_again(&task.key())?,
                Fact::TaskWithdrawn(task) => self.joins_held(&task.job, task.task, task.attempt),
                Fact::TaskLost(task) => self.count_loss_again(&task.key())?,
                Fact::TaskReclaimed(told) => drop(winners.insert(told.key(), told.winner.job)),
                Fact::JobEnded(end) => {
                    let id = JobRow::id_of(&end.job);
                    let row = id.and_then(|id| self.rows.get(&id));
                    // A job of several parts is over with any of them.
                    let is_part =
                        |row: &JobRow| end.outcome == Outcome::Done && !row.parts.is_empty();
                    let row = row.filter(|row| row.key() == end.job || is_part(row));
                    let Some(id) = row.map(|row| row.id) else { continue };
                    // Nobody waits yet: that is made anew below.
                    match end.outcome {
                        Outcome::Done => self.all_tasks_over(id)?,
                        Outcome::Failed => self.job_over(id, Fate::Failed, None)?,
                        Outcome::Cancelled => self.job_over(id, Fate::Cancelled, None)?,
                    };
                }
                _ => {}
            }
        }
        self.meta.cursor = to.get();
        self.write(false)?;
        self.ended.clear();
        Ok(winners)
    }

    fn reconcile(
        &mut self,
        same_boot: bool,
        changes: Vec<Fact>,
        winners: &BTreeMap<TaskKey, JobKey>,
        next: u64,
    ) -> Result<(), WorldError> {
        let mut facts = self.cut_off(next)?;
        facts.extend(changes);
        let running: Vec<TaskKey> = self.live.running().map(|running| running.task).collect();
        let mut ended: Vec<(Time, TaskKey, TaskEnd)> = Vec::new();
        let mut again: Vec<TaskKey> = Vec::new();
        let told = self.told_before(winners);
        for task in &running {
            let folder = self.adopt_run(task, false);
            let gives_back = told.get(task).copied();
            self.runs.get_mut(task).into_iter().for_each(|run| run.gives_back = gives_back);
            let shown = folder.path().display().to_string();
            match folder.look().map_err(WorldError::system(shown.clone()))? {
                FolderState::Runs(supervisor) if self.watch_process(task, supervisor) => {}
                FolderState::Runs(_) | FolderState::Ended(_) => {
                    let look = folder.look().map_err(WorldError::system(shown))?;
                    match look {
                        FolderState::Ended(end) => {
                            ended.push((self.meta.clock.of(&end.boot, end.at), task.clone(), end));
                        }
                        _ => facts.extend(self.look_at(task)?),
                    }
                }
                // It never begins, and the start is undone.
                FolderState::Waits | FolderState::Nothing if same_boot && gives_back.is_some() => {
                    facts.extend(self.look_at(task)?);
                }
                FolderState::Waits | FolderState::Nothing if same_boot => {
                    // It is marked, and begins when it is handed out once more.
                    self.runs.remove(task);
                    again.push(task.clone());
                }
                FolderState::Orphaned => facts.extend(self.look_at(task)?),
                // What it had begun is gone with the machine's memory.
                FolderState::Waits | FolderState::Nothing => {
                    self.free(task);
                    let why = "the machine was started again";
                    facts.push(Fact::task_lost(task.clone(), Some(why)));
                }
            }
        }
        facts.extend(self.settle(ended)?);
        for task in again {
            // One that was lost meanwhile, as with its job, does not start.
            if let Err(why) = self.live.start_again(&task) {
                self.remarks.push(format!("task {task} is not started again: {why}"));
            }
        }
        self.stop_strays(&running)?;
        let mut waiting: Vec<u64> = Vec::new();
        for (&id, row) in &self.rows {
            if row.phase == Phase::New {
                waiting.push(id);
            }
        }
        waiting.iter().for_each(|&id| self.await_others(id));
        for id in waiting {
            self.arrive_if_ready(id, None, &mut facts)?;
        }
        self.has_room = true;
        self.carry_on(None, facts)?;
        self.ended.clear();
        self.refused.clear();
        Ok(())
    }

    /// What the driver was to be told of jobs that the journal knows, when the crash came between
    /// books and journal: their row is over, or was taken back to be held, or is not there. `next`:
    /// the number that the books were about to give.
    fn cut_off(&mut self, next: u64) -> Result<Vec<Fact>, WorldError> {
        let mut facts = Vec::new();
        let keys: Vec<JobKey> = self.live.jobs().map(|job| job.key().clone()).collect();
        for key in keys {
            let row = JobRow::id_of(&key).map(|id| self.row_of(id)).transpose()?.flatten();
            match row {
                // The crash came before anybody was told that the job was taken.
                None => {
                    self.check_never_known(&key, next)?;
                    self.remarks.push(format!(
                        "job {key}: its submission was cut off and never acknowledged; it goes"
                    ));
                    facts.push(Fact::job_cancelled(key));
                }
                Some(row) if row.is_over() => {
                    self.remarks.push(format!(
                        "job {key}: the server died while it was cancelled; it is stopped now"
                    ));
                    facts.push(Fact::job_cancelled(key));
                }
                // Tasks of parts that are held are taken back when they are started.
                Some(row) if row.parts.is_empty() && row.key() != key => {
                    facts.push(Fact::job_cancelled(key));
                }
                Some(_) => {}
            }
        }
        Ok(facts)
    }

    /// Numbers are given in order, so a job below the next number was acknowledged.
    fn check_never_known(&self, key: &JobKey, next: u64) -> Result<(), WorldError> {
        match JobRow::id_of(key) {
            Some(id) if id < next => {
                let found = format!(
                    "has no job {id}, which the journal has, and has given numbers up to {}",
                    next - 1
                );
                let file = self.places.books().join(crate::books::FILE);
                Err(WorldError::damaged(file, found, format!("a database with job {id}")))
            }
            _ => Ok(()),
        }
    }

    /// Ends that nobody heard of, each at its time, while nothing can start: what starts later is
    /// charged from then on only. What follows from them.
    fn settle(
        &mut self,
        mut ended: Vec<(Time, TaskKey, TaskEnd)>,
    ) -> Result<Vec<Fact>, WorldError> {
        if ended.is_empty() {
            return Ok(Vec::new());
        }
        ended.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let node = self.settings.node().name.clone();
        let first = self.live.instant(Time::ZERO);
        let mut later = self.tell_once(
            first,
            vec![Fact::node_cordoned(node.clone(), Some("the server comes back"))],
        )?;
        for (at, task, end) in ended {
            let facts = self.has_ended(&task, end)?;
            let now = self.live.instant(at.min(self.meta.clock.now()));
            later.extend(self.tell_once(now, facts)?);
        }
        later.push(Fact::node_uncordoned(node, None));
        Ok(later)
    }

    /// Groups of attempts that nobody knows any more go, with all that is in them.
    fn sweep_groups(&mut self) {
        let known: BTreeSet<TaskKey> = self.runs.keys().cloned().collect();
        let is_known = |name: &str| key_of(name).is_some_and(|task| known.contains(&task));
        if let Err(error) = self.groups.sweep(is_known) {
            self.remarks.push(format!("control groups: {error}"));
        }
    }

    /// The run of a task that an earlier server began.
    fn adopt_run(&mut self, task: &TaskKey, stops: bool) -> TaskFolder {
        let folder = self.places.run(task);
        // What is over holds nothing, though its folder may be there still: others may have its
        // numbers by now, and must not lose them when it is cleared away.
        let holds = !stops || matches!(folder.look(), Ok(FolderState::Runs(_)));
        let held = folder.ticket().ok().filter(|_| holds);
        let held = held.map(|ticket| Held { processors: ticket.processors, gpus: ticket.gpus });
        let held = held.unwrap_or_default();
        self.devices.mark(&held);
        let run = Run { folder: folder.clone(), held, watched: None, stops, gives_back: None };
        self.runs.insert(task.clone(), run);
        if let Some(id) = JobRow::id_of(&task.job).filter(|_| !stops) {
            self.running.entry(id).or_default().insert(task.clone());
        }
        folder
    }

    /// TaskRange that the driver knows no more are stopped; folders of no use go.
    fn stop_strays(&mut self, running: &[TaskKey]) -> Result<(), WorldError> {
        let known: BTreeSet<&TaskKey> = running.iter().collect();
        let runs = self.places.runs();
        let shown = runs.display().to_string();
        let entries = std::fs::read_dir(&runs).map_err(WorldError::system(shown))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(task) = name.to_str().and_then(key_of) else { continue };
            if known.contains(&task) {
                continue;
            }
            self.adopt_run(&task, true);
            // Nothing is told of it: the driver has forgotten it.
            self.look_at(&task)?;
        }
        Ok(())
    }
}

/// The task of a folder's name.
fn key_of(name: &str) -> Option<TaskKey> {
    let mut parts = name.rsplitn(3, '-');
    let attempt = parts.next()?.parse().ok()?;
    let task = parts.next()?.parse().ok()?;
    let job = parts.next()?;
    let job = job.parse().map_or_else(|_| JobKey::from(job), JobKey::Number);
    JobRow::id_of(&job)?;
    Some(TaskKey { job, task, attempt })
}

/// Whether a path below `run` is the folder of a task.
pub(super) fn is_of_a_task(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).and_then(key_of).is_some()
}

fn make_folders(places: &Places) -> Result<(), WorldError> {
    let make = |path: &Path, mode: u32| {
        let made = DirBuilder::new().recursive(true).mode(mode).create(path);
        made.map_err(WorldError::system(path.display().to_string()))
    };
    // Users reach their own output through these, and can list nothing.
    let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    make(&places.state, mode)?;
    make(&places.state.join("log"), mode)?;
    make(&places.journal(), 0o700)?;
    make(&places.books(), 0o700)?;
    make(&places.runs(), 0o700)
}

fn new_meta(boot: &str, settings: &Settings) -> Meta {
    let clock = Clock::begin(boot.to_owned(), now());
    let (version, queues) = (Meta::VERSION, settings.known());
    Meta { version, next: 1, cursor: 0, clock, queues, writes: Some(0) }
}

fn opening(settings: &Settings, clock: &Clock) -> Opening<()> {
    let placement = settings.placement;
    let kinds = settings.config.kinds.len();
    let by = format!("meed {}", env!("CARGO_PKG_VERSION"));
    Opening {
        config: settings.config.clone(),
        place: Box::new(move || (placement.new)(kinds, 0)),
        header: header(settings, clock),
        take: Box::new(|_| Taken { detail: (), max_attempts: 0 }),
        opened: Opened { by, epoch_us: Some(clock.epoch_us) },
        rule: SnapshotRule::default(),
        reasons: true,
        wall: wall_millis(),
    }
}

/// What the journal begins with: all that a replay must know.
fn header(settings: &Settings, clock: &Clock) -> Header {
    let policy = settings.policy.word("order").unwrap_or_default();
    let mut told = header_of("server", policy, &settings.config, settings.placement.name);
    told.queues.iter_mut().for_each(|queue| queue.own = settings.own_keys(queue.queue.as_str()));
    Header { epoch_us: Some(clock.epoch_us), ..told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_called_after_their_tasks() {
        let task = |job: JobKey| TaskKey { job, task: 3, attempt: 1 };
        for job in [JobKey::Number(17), JobKey::from("17.2")] {
            let key = task(job);
            let name = format!("{}-{}-{}", key.job, key.task, key.attempt);
            assert_eq!(key_of(&name), Some(key));
        }
        for name in ["", "1-2", "x-1-1", "lost+found", "1-2-x"] {
            assert_eq!(key_of(name), None, "{name}");
        }
    }
}
