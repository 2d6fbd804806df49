//! Why: what stands in the way of a job or a queue at an instant of a recorded run, in numbers.
//!
//! The run is made again up to that instant; where this program's decisions are not the recorded
//! ones, the recorded ones are played back instead, and that is said. What is told is then read
//! from the engine's own books. In the end the run is left alone from there on: what runs and waits
//! goes on with its recorded durations, nothing arrives or changes, and the time at which the
//! waiting would end is the answer to "when".

mod ahead;
mod all;
mod find;
mod passed;
mod worlds;

use meed::{NodeId, ReservationView, Span, Time, View};
use meed_driver::explain::Standing;
use meed_driver::record::SCHEMA;
use meed_driver::{Books, Off};
use meed_mapreduce::MapReduceWorld;
use meed_scenario::log::read::LogError;
use meed_sim::PausedRun;
use meed_sim::holds::{HoldHistory, HoldStep};
use meed_sim::log::Log;
use meed_sim::world::{Looks, RunError, Script};
use serde::Serialize;

pub use all::{QueueAt, QueuesAt, queues_at};
pub use passed::OvertakenSoFar;

pub use meed_driver::explain::{
    Ahead, Bound, Child, GangGroup, GuardStatus, HeldNode, HeldWithThem, HoldMove, Holder, Leaf,
    Level, MoveReason, Obstacle, QueueStatus, Reserved,
};

use crate::live::Mode;
use crate::replay::{Compare, Difference, RecordedWorld, Recording, ReplayError};
use find::Found;
use worlds::Explained;

/// Whose waiting is to be explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogSubject {
    /// A job, as LABEL or QUEUE/LABEL.
    Job(String),
    /// A leaf queue: what it would start next.
    Queue(String),
}

/// The answer (docs/json.md). Times are seconds of the run, amounts natural units.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Version of this form.
    pub schema: u32,
    /// The policy of the run.
    pub policy: String,
    /// What the clock said at time 0, in microseconds since 1970; `None` where nobody knows.
    pub clock_us: Option<u64>,
    /// The leaf queue.
    pub queue: String,
    /// The job, where one was asked for.
    pub job: Option<JobStatus>,
    /// The instant that is explained.
    pub at_s: f64,
    /// How that instant was chosen.
    pub at_is: AtIs,
    /// Whether this program decides as recorded up to then; if not, the state is that of the
    /// record.
    pub as_recorded: bool,
    /// Whether anything of it waits at that instant.
    pub waits: bool,
    /// Tasks that wait: of the job, or of the queue.
    pub waiting_tasks: u64,
    /// Since when the first of them has waited.
    pub waiting_since_s: Option<f64>,
    /// The queue's books.
    pub state: QueueStatus,
    /// The order at each level, from the root down; empty under the static partition, where there
    /// is none.
    pub levels: Vec<Level>,
    /// The starvation guard, where there is one.
    pub guard: Option<GuardStatus>,
    /// The order within the leaf.
    pub leaf: Option<Leaf>,
    /// What stands in the way, the hardest first.
    pub obstacles: Vec<Obstacle>,
    /// Room that is held for tasks of it.
    pub reservations: Vec<Reserved>,
    /// How often the first of its tasks that wait was overtaken so far, where a job was asked for;
    /// `null`: never.
    pub overtaken: Option<OvertakenSoFar>,
    /// When it would be served if nothing arrived or changed any more.
    pub forecast: Option<Forecast>,
    /// When the record says that its next task started.
    pub recorded_start_s: Option<f64>,
    /// Worth a line to the user each.
    pub remarks: Vec<String>,
}

/// How the instant was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtIs {
    /// It was asked for.
    Given,
    /// The middle of its longest wait.
    MiddleOfLongestWait,
    /// It never waited: when it arrived (a job), or the start of the run.
    NeverWaited,
}

/// A job of the record.
#[derive(Clone, Debug, Serialize)]
pub struct JobStatus {
    /// Its label.
    pub job: String,
    /// When it arrived.
    pub arrived_s: f64,
    /// When it ended; `null` if it did not.
    pub ended_s: Option<f64>,
    /// Whether it was refused.
    pub refused: bool,
    /// Why; `null` if it was not.
    pub why_refused: Option<String>,
    /// Its longest wait in the record.
    pub longest_wait_s: f64,
    /// Its running tasks at the instant.
    pub running_tasks: u64,
}

/// If nothing arrived or changed any more.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Forecast {
    /// When its next task would start; `null`: never.
    pub first_start_s: Option<f64>,
    /// When all that wait now would have started; `null`: never.
    pub all_started_s: Option<f64>,
}

/// Explains why `subject` waits at `at`; without `at` in the middle of its longest wait.
pub fn explain(
    recording: &Recording,
    subject: &LogSubject,
    at: Option<Time>,
) -> Result<Explanation, ReplayError> {
    let (queue, found) = match subject {
        LogSubject::Job(words) => {
            let job = find::the_job(recording, words, at)?;
            (job.queue.clone(), vec![job])
        }
        LogSubject::Queue(name) => {
            check_leaf(recording, name)?;
            (name.clone(), find::jobs(recording, |job| *job.queue == **name)?)
        }
    };
    let job = matches!(subject, LogSubject::Job(_)).then(|| found[0].clone());
    let (at, at_is) = instant(at, &found, job.as_ref());
    let mut remarks = recording.remarks();
    let at = clamp(recording, at, &mut remarks);
    let one = One { queue: &queue, job: job.as_ref() };
    let (seen, as_recorded) = in_its_world(recording, at, one, &mut remarks)?;
    if seen.is_none() {
        remarks.push(format!("queue `{queue}` is gone by then"));
    }
    let (told, forecast) = seen.unwrap_or_default();
    let overtaken = match (&job, told.waits) {
        (Some(job), Some(waits)) if !recording.run.header.partitioned => {
            passed::overtaken(recording, job.number, waits.since, at)?
        }
        _ => None,
    };
    let recorded =
        found.iter().flat_map(|job| job.starts.iter().copied()).filter(|start| *start > at).min();
    let seconds = |time: Time| time.as_secs_f64();
    Ok(Explanation {
        schema: SCHEMA,
        policy: recording.policy().to_owned(),
        clock_us: recording.clock_us(),
        job: job.as_ref().map(|job| JobStatus {
            job: job.label.to_string(),
            arrived_s: seconds(job.arrived),
            ended_s: job.ended.filter(|_| !job.refused).map(seconds),
            refused: job.refused,
            why_refused: job.why_refused.clone(),
            longest_wait_s: longest(job).as_secs_f64(),
            running_tasks: told.running,
        }),
        queue,
        at_s: seconds(at),
        at_is,
        as_recorded,
        waits: told.waits.is_some(),
        waiting_tasks: told.waits.map_or(0, |waits| waits.tasks),
        waiting_since_s: told.waits.map(|waits| seconds(waits.since)),
        state: told.state,
        levels: told.levels,
        guard: told.guard,
        leaf: told.leaf,
        obstacles: told.obstacles,
        reservations: told.reservations,
        overtaken,
        forecast,
        recorded_start_s: recorded.filter(|_| told.waits.is_some()).map(seconds),
        remarks,
    })
}

fn longest(job: &Found) -> Span {
    job.longest.map_or(Span::ZERO, |(from, to)| to - from)
}

/// The instant to explain: in the middle of the longest wait it is neither just queued nor about to
/// start.
fn instant(at: Option<Time>, found: &[Found], job: Option<&Found>) -> (Time, AtIs) {
    if let Some(at) = at {
        return (at, AtIs::Given);
    }
    // The first of equally long ones.
    let longest = found.iter().rev().max_by_key(|job| longest(job)).and_then(|job| job.longest);
    match longest {
        Some((from, to)) => {
            let half = Span::from_micros((to - from).as_micros() / 2).unwrap_or(Span::ZERO);
            (from.saturating_add(half), AtIs::MiddleOfLongestWait)
        }
        None => (job.map_or(Time::ZERO, |job| job.arrived), AtIs::NeverWaited),
    }
}

fn check_leaf(recording: &Recording, name: &str) -> Result<(), LogError> {
    let names = || recording.run.header.queues.iter().map(|form| form.queue.as_str());
    let below = format!("{name}.");
    let children: Vec<&str> = names().filter(|queue| queue.starts_with(&below)).take(5).collect();
    let is_there = names().any(|queue| queue == name) || recording.came_later(name);
    match (is_there, children.is_empty()) {
        (false, _) => Err(find::unknown_queue(recording, name)),
        (true, true) => Ok(()),
        (true, false) => Err(LogError::Which {
            file: recording.log.file().clone(),
            what: format!(
                "has `{name}` as a parent; jobs wait in leaves: ask for one below it, as in {}",
                children.join(", ")
            ),
        }),
    }
}

/// The instant, or, with a remark, the end of the run where it is later, or its beginning where it
/// is earlier: in a record that begins in the middle jobs may have come before.
fn clamp(recording: &Recording, at: Time, remarks: &mut Vec<String>) -> Time {
    let (begin, end) = (recording.run.begin, recording.run.end);
    if at > end {
        remarks.push(format!("the run was over at {end}; this is its end"));
    }
    if at < begin {
        remarks.push(format!("the run begins at {begin}; this is its beginning"));
    }
    at.min(end).max(begin)
}

/// What is looked at in a world.
trait Look {
    /// What is seen.
    type Seen;

    /// Looks at `at`, everything at that instant included. `script` decides where this program does
    /// not decide as recorded.
    fn look<'a, W: Explained<'a>>(
        self,
        world: W,
        script: Option<Script<'a>>,
        at: Time,
    ) -> Result<Self::Seen, RunError>;
}

/// What `look` sees in the world of a run, and whether this program decides as recorded up to then;
/// where it does not, a remark.
fn in_its_world<L: Look>(
    recording: &Recording,
    at: Time,
    look: L,
    remarks: &mut Vec<String>,
) -> Result<(L::Seen, bool), ReplayError> {
    // The world that is compared logs; the one that is looked at, and left alone afterwards, does
    // not.
    let differs = differs(recording, at)?;
    let seen = match recording.world {
        RecordedWorld::Live { .. } => {
            let mode = if differs.is_some() { Mode::AsTold } else { Mode::Again };
            look.look(recording.live_world(mode, 0, Log::off())?, None, at)?
        }
        RecordedWorld::MapReduce => {
            let setup = recording.mapreduce_setup(recording.policy(), 0)?;
            let world = MapReduceWorld::new(setup, Box::new(Off)).map_err(RunError::from)?;
            look.look(world, None, at)?
        }
        RecordedWorld::Simulated => {
            let script = differs.is_some().then(|| recording.script()).transpose()?;
            let mut setup = recording.recorded_setup(0, Log::off())?;
            setup.looks = Looks::holds();
            look.look(PausedRun::new(setup)?, script, at)?
        }
    };
    if let Some(difference) = &differs {
        let whose = match recording.world {
            RecordedWorld::MapReduce => "that of its own run",
            _ => "that of the record, played back",
        };
        remarks.push(recording.decides_otherwise(difference, &format!("the state is {whose}")));
    }
    Ok((seen, differs.is_none()))
}

/// A queue, or a job of it: how it stands, and when what waits would be served; `None` where the
/// queue is gone.
struct One<'q> {
    queue: &'q str,
    job: Option<&'q Found>,
}

impl Look for One<'_> {
    type Seen = Option<(Standing, Option<Forecast>)>;

    fn look<'a, W: Explained<'a>>(
        self,
        mut world: W,
        script: Option<Script<'a>>,
        at: Time,
    ) -> Result<Self::Seen, RunError> {
        world.begin_to(at, script)?;
        world.rest_until(at)?;
        let Some(leaf) = world.books().tree().find_queue(self.queue) else { return Ok(None) };
        let asked = self.job.map(|job| world.job(job.number));
        let Some(mut standing) = world.standing(leaf, asked) else { return Ok(None) };
        if let Some(history) = world.holds() {
            add_moves(&mut standing, history, world.books().tree());
        }
        let forecast = match standing.waits {
            Some(_) => Some(ahead::forecast(&mut world, leaf, asked.flatten())?),
            None => None,
        };
        Ok(Some((standing, forecast)))
    }
}

/// How the reservations that there are have moved.
fn add_moves(standing: &mut Standing, history: &HoldHistory, engine: View<'_>) {
    let names = |nodes: &[NodeId]| -> Vec<String> {
        nodes.iter().map(|node| engine.node(*node).0.name.clone()).collect()
    };
    for told in &mut standing.reservations {
        let is_it = |hold: &ReservationView| {
            names(&hold.places()).iter().eq(told.nodes.iter().map(|held| &held.node))
                && hold.since.as_secs_f64() == told.since_s
        };
        let Some(hold) = engine.reservations().find(is_it) else { continue };
        for event in history.of(&hold) {
            let HoldStep::Moved { from, before, why } = &event.step else { continue };
            told.moves.push(HoldMove {
                at_s: event.at.as_secs_f64(),
                from: names(from),
                to: names(&event.hold.places()),
                before_s: before.map(Time::as_secs_f64),
                expected_s: event.hold.at.map(Time::as_secs_f64),
                why: *why,
            });
        }
    }
}

/// Where this program's decisions up to `at` part from the record.
fn differs(recording: &Recording, at: Time) -> Result<Option<Difference>, ReplayError> {
    if let RecordedWorld::Live { .. } = recording.world {
        let mut world = recording.live_world(Mode::Again, 0, Log::off())?;
        world.begin_to(at, None)?;
        return Ok(world.difference());
    }
    let compare = Compare::new(&recording.log, &recording.run, None)?;
    let mut writer = compare.clone();
    let mut log = Log::to(&mut writer);
    log.header(|| recording.run.header.clone()).map_err(RunError::Log)?;
    let ran = match recording.world {
        RecordedWorld::MapReduce => {
            let setup = recording.mapreduce_setup(recording.policy(), 0)?;
            let world = MapReduceWorld::new(setup, Box::new(log)).map_err(RunError::from);
            world?.begin_to(at, None)
        }
        _ => {
            let setup = recording.recorded_setup(0, log)?;
            PausedRun::new(setup)?.begin_to(at, None)
        }
    };
    let (_, decisions) = compare.verdict(false)?;
    ran?;
    Ok(decisions)
}
