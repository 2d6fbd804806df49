//! Recovery: the last snapshot, and what the journal holds behind it.
//!
//! Records of one instant stand together, decisions at their end. So inputs are told again, it is
//! decided again, and the decisions must be the recorded ones: what comes out is in every bit what
//! was there before the crash. Where they are not (another version decided otherwise), what was
//! recorded is what happened: all is played once more, each start as it is told.

use std::fmt;
use std::ops::ControlFlow;

use meed::place::Placement;
use meed::{AllocationId, Config, ConfigError, Start, Time};
use meed_journal::{Arrival, Fact, Header, Opened, Reclaimed, Record, Started, TaskKey};
use meed_store::{Seq, Snapshot, Store, StoreError, UnixMillis};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::book::{self, Book};
use super::{Live, SnapshotRule};
use crate::driver::Driver;
use crate::driver::apply::Taken;
use crate::journal::Off;

/// Says what the world keeps of a job, by its record alone: so it is the same after a crash.
pub type Take<J> = Box<dyn FnMut(&Arrival) -> Taken<J>>;

/// With what a journal is opened.
///
/// The example of [`Live`] opens a new journal.
pub struct Opening<J> {
    /// Queues and nodes of a new journal. One that exists says itself what it has; changes of the
    /// configuration since are the world's to tell.
    pub config: Config,
    /// How tasks are placed, with nothing placed yet.
    pub place: Box<dyn Fn() -> Box<dyn Placement>>,
    /// The first record of a new journal.
    pub header: Header,
    /// What the world keeps of a job.
    pub take: Take<J>,
    /// Who opens, and the wall clock at time 0.
    pub opened: Opened,
    /// When snapshots are due.
    pub rule: SnapshotRule,
    /// Whether records of starts say why.
    pub reasons: bool,
    /// Now, by the wall clock.
    pub wall: UnixMillis,
}

/// What was found.
///
/// After it, the world compares [`Live::running`] with what it finds on its nodes, for a start may
/// have become durable just before the crash, and an end may have gone unheard. Of each task that
/// is not there it says so before it commits: it has ended or failed; or it was never begun, and is
/// to be started ([`Live::start_again`]). What runs and is unknown here is to be stopped:
/// with starts handed out by commits alone there is no such task.
///
/// The example of [`Live`] reads one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Recovered {
    /// The last record that the snapshot held; `None`: there was none, and all was played.
    pub snapshot: Option<Seq>,
    /// Records behind it that were played.
    pub played: u64,
    /// Worth a line to the operator each: a torn tail that was cut, decisions that this version
    /// would not have taken.
    pub remarks: Vec<String>,
}

/// Why a journal cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store: damage, a disk that refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration of a new journal.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A record that is none, or contradicts those before it.
    #[error("record {seq} of the store: {what}")]
    Record {
        /// Which.
        seq: Seq,
        /// What is wrong.
        what: String,
    },
    /// A snapshot that cannot be read.
    #[error("the snapshot after record {seq}: {what}")]
    Snapshot {
        /// The last record that it holds.
        seq: Seq,
        /// What is wrong.
        what: String,
    },
    /// A journal without a snapshot is of another configuration.
    #[error(
        "the journal has no snapshot yet, and its header is not that of the given configuration: \
         open it with the configuration it began with"
    )]
    OtherHeader,
}

impl<J: Clone + Serialize + DeserializeOwned> Live<J> {
    /// Makes a journal in the empty `store`, or goes on where the one in it ends.
    ///
    /// # Errors
    ///
    /// Damage, with its place; records that contradict each other.
    pub fn open(
        store: Box<dyn Store>,
        opening: Opening<J>,
    ) -> Result<(Live<J>, Recovered), OpenError> {
        let mut opening = opening;
        let mut recovered = Recovered { remarks: store.remarks().to_vec(), ..Recovered::default() };
        let snapshot = store.last_snapshot()?;
        recovered.snapshot = snapshot.as_ref().map(|snapshot| snapshot.seq);
        let begins = store.durable() == Seq::ZERO;
        let seq = recovered.snapshot.unwrap_or(Seq::ZERO);
        let driver = match play(&*store, snapshot.as_ref(), &mut opening, Starts::DecidedAgain) {
            // Another version may have decided otherwise.
            Err(OpenError::Record { seq, what }) => {
                let told = play(&*store, snapshot.as_ref(), &mut opening, Starts::AsTold)?;
                let remark = format!("record {seq}: {what}; starts are taken as recorded");
                recovered.remarks.push(remark);
                told
            }
            played => played?,
        };
        drop(snapshot);
        recovered.played = store.durable().get() - seq.get();
        let last = driver.engine().now();
        let mut live = Live {
            driver: driver.with_journal(Book::new(store, seq)),
            take: opening.take,
            actions: Vec::new(),
            starts: Vec::new(),
            last,
            rule: opening.rule,
            failed: None,
        };
        let first = match begins {
            true => Fact::Run(Box::new(opening.header)),
            false => Fact::Open(opening.opened),
        };
        let noted = live.driver.note(last, || first).and_then(|()| live.commit(opening.wall));
        let seq = store_error(live.driver.journal().store().durable(), noted)?;
        if begins {
            let kept = live.snapshot(opening.wall);
            store_error(seq, kept)?;
        }
        Ok((live, recovered))
    }
}

fn store_error<T>(seq: Seq, done: Result<T, crate::Failed>) -> Result<Seq, OpenError> {
    match done {
        Ok(_) => Ok(seq),
        Err(failed) => Err(OpenError::Record { seq: seq.next(), what: failed.to_string() }),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Starts {
    DecidedAgain,
    AsTold,
}

/// Tells a driver what the store holds.
fn play<J: DeserializeOwned>(
    store: &dyn Store,
    snapshot: Option<&Snapshot>,
    opening: &mut Opening<J>,
    starts: Starts,
) -> Result<Driver<J, Off>, OpenError> {
    let place = (opening.place)();
    let driver = match snapshot {
        Some(Snapshot { seq, bytes }) => {
            let wrong = |what| OpenError::Snapshot { seq: *seq, what };
            Driver::from_state(bytes, place, Off).map_err(wrong)?
        }
        None => Driver::new(opening.config.clone(), place, Off)?,
    };
    let driver = driver.find_by_key();
    let mut driver = if opening.reasons { driver } else { driver.without_reasons() };
    // Who is lost with a node that shrinks is decided again as well, or taken as recorded.
    driver.losses_are_told(starts == Starts::AsTold);
    let mut player = Player { driver, starts, opening, instant: Instant::default() };
    let from = snapshot.map_or(Seq::ZERO, |snapshot| snapshot.seq).next();
    let mut stopped = None;
    if store.durable() >= from {
        store.read(from, &mut |seq, line| match player.line(seq, line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                stopped = Some(why);
                ControlFlow::Break(())
            }
        })?;
    }
    match stopped {
        Some(stopped) => Err(stopped),
        None => {
            player.end_instant()?;
            player.driver.losses_are_told(false);
            Ok(player.driver)
        }
    }
}

struct Player<'o, J> {
    driver: Driver<J, Off>,
    starts: Starts,
    opening: &'o mut Opening<J>,
    instant: Instant,
}

/// What was read of an instant whose decisions are not checked yet.
#[derive(Default)]
struct Instant {
    at: Time,
    /// Its last record so far.
    last: Seq,
    /// Something happened.
    happened: bool,
    starts: Vec<(Seq, Started)>,
    stops: Vec<(Seq, Box<Reclaimed>)>,
}

impl<J> Player<'_, J> {
    fn line(&mut self, seq: Seq, line: &[u8]) -> Result<(), OpenError> {
        let wrong = |what| OpenError::Record { seq, what };
        let Record { t, fact, .. } = book::read(seq, line).map_err(wrong)?;
        if t > self.instant.at {
            self.end_instant()?;
            self.instant.at = t;
        }
        if t < self.instant.at {
            return Err(wrong(format!("{t} comes after {}", self.instant.at)));
        }
        self.instant.last = seq;
        match fact {
            Fact::Run(header) => return self.begin(seq, &header),
            fact if !fact.kind().happens() => {
                let passed = self.driver.engine.advance(t);
                return passed.map_err(|why| wrong(why.to_string()));
            }
            Fact::TaskStarted(start)
                if self.starts == Starts::DecidedAgain && start.since.is_none() =>
            {
                self.instant.starts.push((seq, start));
            }
            Fact::TaskReclaimed(stop)
                if self.starts == Starts::DecidedAgain && stop.by.is_none() =>
            {
                self.instant.stops.push((seq, stop));
            }
            fact => {
                let Player { driver, opening, .. } = self;
                let told = driver.play(t, &fact, &mut opening.take);
                told.map_err(|why| wrong(why.to_string()))?;
            }
        }
        self.instant.happened = true;
        Ok(())
    }

    fn begin(&self, seq: Seq, header: &Header) -> Result<(), OpenError> {
        // A journal of an earlier version goes on by the rules of this one.
        let same = |ours: &Header| Header { rules: header.rules, ..ours.clone() } == *header;
        match seq == Seq::new(1) {
            true if same(&self.opening.header) => Ok(()),
            true => Err(OpenError::OtherHeader),
            false => {
                let what = "a second run begins; a store holds one".to_owned();
                Err(OpenError::Record { seq, what })
            }
        }
    }

    /// It is decided, and compared with what was recorded.
    fn end_instant(&mut self) -> Result<(), OpenError> {
        let Instant { at, last, happened, starts, stops } = std::mem::take(&mut self.instant);
        (self.instant.at, self.instant.last) = (at, last);
        if !happened || self.starts == Starts::AsTold {
            return Ok(());
        }
        let driver = &mut self.driver;
        let mut decided = Vec::new();
        let on = |start: Start| decided.push(start.allocation);
        let done = driver.decide_at(at, on);
        done.map_err(|why| OpenError::Record { seq: last, what: why.to_string() })?;
        let stopped = driver.take_stops();
        let start = |&id: &AllocationId| Told::of(driver, id, true);
        let recorded = starts.into_iter().map(|(seq, start)| {
            let node = Some(start.node.to_string());
            (seq, Told { task: start.key(), node })
        });
        compare(last, recorded, decided.iter().map(start))?;
        let stop = |stop: &meed::Stop| Told::of(driver, stop.allocation, false);
        let recorded =
            stops.into_iter().map(|(seq, stop)| (seq, Told { task: stop.key(), node: None }));
        compare(last, recorded, stopped.iter().map(stop))
    }
}

/// A start or a stop, as it is compared.
#[derive(PartialEq, Eq)]
struct Told {
    task: TaskKey,
    /// Where it starts; `None`: it is to stop.
    node: Option<String>,
}

impl Told {
    fn of<J>(driver: &Driver<J, Off>, id: AllocationId, starts: bool) -> Told {
        let row = driver.running(id).expect("it runs");
        let job = driver.job(row.job).expect("it lives").key().clone();
        let node = starts.then(|| driver.engine().node(row.node).0.name.clone());
        Told { task: TaskKey { job, task: row.task, attempt: row.attempt }, node }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "{} starts on {node}", self.task),
            None => write!(f, "{} is to stop", self.task),
        }
    }
}

/// The first difference between what was recorded, of which `last` is the last record, and what is
/// decided now.
fn compare(
    last: Seq,
    mut recorded: impl Iterator<Item = (Seq, Told)>,
    decided: impl Iterator<Item = Told>,
) -> Result<(), OpenError> {
    for mine in decided {
        match recorded.next() {
            Some((_, theirs)) if theirs == mine => {}
            Some((seq, theirs)) => {
                let what = format!("{theirs}; this version decides: {mine}");
                return Err(OpenError::Record { seq, what });
            }
            None => {
                let what = format!("{mine}, unrecorded");
                return Err(OpenError::Record { seq: last, what });
            }
        }
    }
    match recorded.next() {
        None => Ok(()),
        Some((seq, theirs)) => {
            let what = format!("{theirs}; this version decides nothing more");
            Err(OpenError::Record { seq, what })
        }
    }
}
