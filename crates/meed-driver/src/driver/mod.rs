//! The driver: what happened goes in, starts come out.
//!
//! A world tells what it sees by the verbs of this page, each with its time, and asks
//! [`Driver::decide`] (or, where nodes ask for work, [`Driver::offer`]) what starts. At one instant
//! it tells ends first, then arrivals and changes, then asks. References are the engine's handles,
//! which the verbs give out: a world keeps no names to find a job or a task again.
//!
//! Order within each verb: the engine takes the event or refuses it (then nothing has changed), the
//! rows follow, the record is appended, the world gets its answer.
//!
//! Invariant: a row of a job lives exactly as long as the engine knows the job, a row of a task as
//! long as it runs. Cost: O(1) besides the engine's for each verb; no allocation for a task's start
//! or end where there is no journal.

pub(crate) mod apply;
mod cluster;
pub(crate) mod jobs;
pub(crate) mod live;
mod play;
mod queues;
pub(crate) mod tasks;

use std::borrow::Cow;

use meed::place::Placement;
use meed::{
    Config, ConfigError, Effect, Engine, Event, MAX_KINDS, NodeId, QueueId, Rejected, Start, Stop,
    Time, View,
};
use meed_journal::{Fact, Finish, Name, StartReason};

use crate::books::Books;
use crate::by_queue::ByQueue;
use crate::capacity::CapacityTime;
use crate::counting::CountedSpan;
use crate::explain::{self, QueueStatus, Standing, Subject};
use crate::index::Index;
use crate::journal::{Failed, Journal, Off};
use crate::names::Names;
use crate::rows::{LiveJob, Rows, Task};
use crate::tally::{QueueTally, Tally, Totals};

/// One engine with the names and the live jobs of its world, its journal and its counts: what
/// happened goes in by verbs, starts come out. `J` is what the world keeps of each live job, `K`
/// where records go. The [crate's page](crate) has a whole world as an example.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// assert_eq!(starts.len(), 2); // three tasks of a core each, two cores
/// let ended = driver.task_ended(Time::from_secs(5).ok_or("in range")?, starts[0].allocation)?;
/// assert!(ended.gone.is_none()); // the job has more tasks
/// let facts = driver.journal().iter().map(|(_, fact)| fact.kind().word());
/// assert_eq!(facts.collect::<Vec<_>>(), ["arrive", "start", "start", "end"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Driver<J, K = Off> {
    pub(crate) engine: Engine,
    journal: K,
    /// Whether the journal is on.
    tells: bool,
    pub(crate) names: Names,
    pub(crate) index: Option<Index>,
    pub(crate) jobs: Rows<LiveJob<J>>,
    pub(crate) tasks: Rows<Task>,
    /// Which queues have never had children: those that take jobs.
    pub(crate) is_leaf: ByQueue<bool>,
    pub(crate) tally: Tally,
    pub(crate) capacity: CapacityTime,
    /// Whether something has happened since the last decisions.
    pub(crate) touched: bool,
    /// Decisions before they are handed out.
    starts: Vec<Start>,
    stops: Vec<Stop>,
    /// Whether records tell which tasks a node that shrinks has lost.
    losses_told: bool,
    /// The node that shrank last, where they do.
    shrunk: Option<NodeId>,
    /// Whether records of starts say why.
    reasons: bool,
    /// The last reason that was told: its room is the next one's.
    why: Option<Box<StartReason>>,
}

impl<J, K: Journal> Driver<J, K> {
    /// A driver of the queues and nodes of `config`, placing by `place`, with its records in
    /// `journal`. The header of the run is the world's to write.
    pub fn new(
        config: Config,
        place: Box<dyn Placement>,
        journal: K,
    ) -> Result<Driver<J, K>, ConfigError> {
        let engine = Engine::new(config, place)?;
        let is_leaf = engine.view().queue_ids().map(|id| (id, engine.view().queue(id).is_leaf));
        let is_leaf = ByQueue::of(is_leaf);
        Ok(Driver::around(engine, is_leaf, journal))
    }

    /// A driver of `engine` with no row yet.
    pub(crate) fn around(engine: Engine, is_leaf: ByQueue<bool>, journal: K) -> Driver<J, K> {
        let mut tally = Tally::default();
        engine.view().queue_ids().for_each(|queue| tally.add_queue(queue));
        Driver {
            engine,
            tells: journal.is_on(),
            journal,
            names: Names::default(),
            index: None,
            jobs: Rows::default(),
            tasks: Rows::default(),
            is_leaf,
            tally,
            capacity: CapacityTime::default(),
            touched: false,
            starts: Vec::new(),
            stops: Vec::new(),
            losses_told: false,
            shrunk: None,
            reasons: true,
            why: None,
        }
    }

    /// The same driver, with its records in `journal` from now on.
    pub fn with_journal<L: Journal>(self, journal: L) -> Driver<J, L> {
        Driver {
            tells: journal.is_on(),
            journal,
            engine: self.engine,
            names: self.names,
            index: self.index,
            jobs: self.jobs,
            tasks: self.tasks,
            is_leaf: self.is_leaf,
            tally: self.tally,
            capacity: self.capacity,
            touched: self.touched,
            starts: self.starts,
            stops: self.stops,
            losses_told: self.losses_told,
            shrunk: self.shrunk,
            reasons: self.reasons,
            why: self.why,
        }
    }

    /// Records of starts do not say why: they are a third as long, and faster to make.
    pub fn without_reasons(mut self) -> Driver<J, K> {
        self.reasons = false;
        self
    }

    /// No queue is forgotten, however many are removed: for runs that end with a report of all. A
    /// world that lives for ever would hold a row for each name that there ever was.
    pub fn remembering_all_queues(mut self) -> Driver<J, K> {
        self.engine.set_remembered_queues(u32::MAX);
        self
    }

    /// What is submitted, or begins to wait, outside of `counted` is in no figure of jobs, tasks
    /// and waits. Nothing is decided otherwise.
    pub fn counting(mut self, counted: CountedSpan) -> Driver<J, K> {
        self.tally.count_only(counted);
        self
    }

    /// In records its only queue is called `name`, and its nodes follow from other records: a
    /// tenant that is alone on its share (static partition).
    pub fn alone(mut self, name: &str) -> Driver<J, K> {
        self.names.alone = Some(Name::from(name));
        self
    }

    /// Keeps live jobs and running tasks findable by their keys from now on ([`Driver::job_of`],
    /// [`Driver::task_of`]): for worlds that hear of tasks by name, and to play records.
    pub fn find_by_key(mut self) -> Driver<J, K> {
        let (jobs, tasks) = (self.engine.view().live_jobs(), self.engine.view().running_tasks());
        let mut index = Index::with_room_for(jobs, tasks);
        self.jobs.iter().for_each(|live| index.add_job(&live.key, live.id));
        for row in self.tasks.iter() {
            let live = self.jobs.get(row.job.slot()).expect("a running task has a job");
            index.add_task(&live.key, row.task, row.allocation);
        }
        self.index = Some(index);
        self
    }

    /// The engine, to be read.
    pub fn engine(&self) -> View<'_> {
        self.engine.view()
    }

    /// Where its records go.
    pub fn journal(&self) -> &K {
        &self.journal
    }

    /// The same, for the world's own business with it: headers, snapshots, commits.
    pub fn journal_mut(&mut self) -> &mut K {
        &mut self.journal
    }

    /// What was counted.
    pub fn counted(&self) -> &Tally {
        &self.tally
    }

    /// Appends a record of the world's own, which changes nothing here.
    pub fn note(&mut self, now: Time, fact: impl FnOnce() -> Fact) -> Result<(), Failed> {
        self.tell(now, |_| fact())
    }

    /// Does `verb` without a record: what it does follows from records before.
    pub fn untold<T>(&mut self, verb: impl FnOnce(&mut Driver<J, K>) -> T) -> T {
        let tells = std::mem::replace(&mut self.tells, false);
        let done = verb(self);
        self.tells = tells;
        done
    }

    /// How a leaf queue, or a job of it, stands at `now`: nothing is run again.
    ///
    /// # Errors
    ///
    /// Where `now` lies before the last event, or there is no such leaf.
    pub fn explain(
        &mut self,
        now: Time,
        leaf: QueueId,
        subject: Subject,
    ) -> Result<Standing, Rejected> {
        self.engine.advance(now)?;
        match self.leaf(leaf) {
            Some(_) => Ok(explain::standing(self, self, (leaf, leaf), subject)),
            None => Err(Rejected::UnknownQueue),
        }
    }

    /// The books of all leaf queues at `now`, in order of declaration.
    pub fn queues(&mut self, now: Time) -> Result<Vec<(QueueId, QueueStatus)>, Rejected> {
        self.engine.advance(now)?;
        Ok(explain::queues(self))
    }

    /// Counts what is still there at the end of a run: jobs that are not done, tasks that wait.
    pub fn finish(&mut self, end: Time) {
        for live in self.jobs.iter() {
            if let Some(waiting) = live.waiting() {
                self.tally.still_waits(live.queue, waiting.since, end);
            }
            self.tally.totals.unfinished += 1;
        }
    }

    #[inline]
    fn event(&mut self, now: Time, event: Event<'_>) -> Result<Effect, Rejected> {
        self.touched = true;
        self.tally.totals.events += 1;
        self.engine.apply(now, event)
    }

    /// Something happened that is no event of the engine's.
    fn happened(&mut self) {
        self.touched = true;
        self.tally.totals.events += 1;
    }

    /// Appends a record, which is made only when somebody wants it.
    #[inline]
    fn tell(
        &mut self,
        now: Time,
        fact: impl FnOnce(&mut Telling<'_, J>) -> Fact,
    ) -> Result<(), Failed> {
        if self.tells {
            let Driver { engine, names, jobs, .. } = self;
            let fact = fact(&mut Telling { engine: engine.view(), names, jobs });
            self.journal.append(now, &fact)?;
        }
        Ok(())
    }
}

/// The last record of a run.
pub fn finish_of(totals: &Totals) -> Fact {
    Fact::Finish(Finish { events: totals.events, decisions: totals.starts, detail: None })
}

/// What a record is made from.
struct Telling<'d, J> {
    engine: View<'d>,
    names: &'d mut Names,
    jobs: &'d Rows<LiveJob<J>>,
}

impl<J> Telling<'_, J> {
    fn queue(&mut self, id: QueueId) -> Name {
        self.names.queue(self.engine, id)
    }
}

impl<J, K: Journal> Books for Driver<J, K> {
    fn tree(&self) -> View<'_> {
        self.engine.view()
    }

    #[inline]
    fn leaf(&self, queue: QueueId) -> Option<(View<'_>, QueueId)> {
        self.is_leaf[queue].then_some((self.engine.view(), queue))
    }

    fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        self.engine.advance(now)
    }

    fn tally(&self, leaf: QueueId) -> &QueueTally {
        self.tally.queue(leaf)
    }

    fn totals(&self) -> Cow<'_, Totals> {
        Cow::Borrowed(&self.tally.totals)
    }

    fn capacity_time(&self, now: Time) -> [u128; MAX_KINDS] {
        self.capacity.until(now, self.engine.view().capacity())
    }
}
