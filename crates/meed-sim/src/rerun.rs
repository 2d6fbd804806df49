//! Second runs, that answer what a first one leaves open: when would the task that was overtaken
//! most have started, had room been held for it; and what ran where then?
//!
//! Cost: that of the first run up to the start of that task there, or to the end of the window that
//! is drawn, at most, and of the plans. Only runs of up to [`MOST_STARTS`] starts, on few enough
//! nodes, are run again.

use std::ops::ControlFlow;

use meed::policy::{Blocked, Reservations};
use meed::{Span, Time};
use meed_driver::record::{MostOvertaken, RunRecord, WithReserve};
use meed_driver::{Progress, StopAt};
use meed_scenario::Scenario;
use meed_workload::OnBadLine;

use crate::holds::HoldStep;
use crate::simulate::{SimulateError, Watch, setup_of};
use crate::world::{Looks, Most, RunError, Window, World, WorldSetup};

/// Tasks that were overtaken less often are not worth a second run, nor a sentence.
const NOTABLE: u64 = 10;

/// Longer runs are not run again.
const MOST_STARTS: u64 = 200_000;

/// Plans look at all nodes.
const MOST_LOOKS: u64 = 20_000_000;

/// The task of the run that was overtaken most, in its record.
fn the_most<'r>(run: &'r mut RunRecord, most: &[Most]) -> Option<(&'r mut MostOvertaken, Most)> {
    let times = |most: &Most| {
        let overtaken = run.queues[most.place].overtaken.as_ref()?.most.as_ref()?;
        Some(overtaken.times).filter(|times| *times >= NOTABLE)
    };
    // The first of equal ones.
    let (_, first) = most
        .iter()
        .rev()
        .filter_map(|most| Some((times(most)?, *most)))
        .max_by_key(|(times, _)| *times)?;
    Some((run.queues[first.place].overtaken.as_mut()?.most.as_mut()?, first))
}

/// Fills in what `when_blocked = "reserve"` would have made of the task that was overtaken most,
/// where the run was another's and a second one is cheap.
pub(crate) fn add_reserve(
    scenario: &Scenario,
    words: &str,
    seed: u64,
    (run, most): (&mut RunRecord, &[Most]),
    watch: &mut dyn Watch,
) -> Result<(), SimulateError> {
    let mut plan = scenario.plan(words)?;
    let nodes = plan.config.nodes.len() as u64;
    let cheap = run.decisions <= MOST_STARTS && run.decisions.saturating_mul(nodes) <= MOST_LOOKS;
    let holds = matches!(plan.config.root.blocked, Blocked::Reserve(_));
    // Servers that decide one by one hold no room.
    if !cheap || holds || plan.partitioned || plan.config.root.per_server {
        return Ok(());
    }
    let Some((told, most)) = the_most(run, most) else { return Ok(()) };
    plan.config.root.blocked = Blocked::Reserve(Reservations::ONE);
    let source = scenario.source(seed, OnBadLine::Skip)?;
    let setup = WorldSetup {
        looks: Looks::until(most.name),
        stop: StopAt { at: most.until, hold: false },
        ..setup_of(scenario, plan, seed, source)
    };
    let mut stopped = |progress| watch.goes_on(progress);
    let found = match first_start(setup, &mut stopped) {
        Ok(found) => found,
        Err(stopped @ RunError::Stopped { .. }) => return Err(stopped.into()),
        // What cannot be run under that policy says nothing of it; the first run stands.
        Err(_) => return Ok(()),
    };
    let waited = found.map(|(since, started)| started.saturating_since(since));
    told.with_reserve = Some(WithReserve { waited_s: waited.map(Span::as_secs_f64) });
    Ok(())
}

/// Since when the task that is looked for waited, and when it started; `None`: it did not.
fn first_start(
    setup: WorldSetup<'_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<(Time, Time)>, RunError> {
    let last = setup.stop.at;
    let mut world = World::whole(setup)?;
    world.begin(None)?;
    world.run_to(last, progress)?;
    Ok(world.notes().found)
}

/// Tasks that a window should hold, as far as can be told before.
const TASKS_OF_WINDOW: f64 = 2500.0;

/// A window is longer than the wait that it shows.
const WINDOW_OF_WAIT: f64 = 1.6;

/// Where a task would have had a reservation, a window is so many times as long as that.
const WINDOW_OF_HOLD: f64 = 8.0;

/// A time that is worth a look, and what happened then.
struct Sight {
    from: Time,
    /// How long a window may be.
    length_s: f64,
    why: String,
}

/// Adds what ran where over one window of time, the same for all runs: around the task that was
/// overtaken most, or else the longest reservation. Nothing where there is neither.
pub(crate) fn add_charts(
    scenario: &Scenario,
    policies: &[String],
    seed: u64,
    runs: &mut [RunRecord],
    watch: &mut dyn Watch,
) -> Result<(), SimulateError> {
    if runs.iter().any(|run| run.decisions > 10 * MOST_STARTS) {
        return Ok(());
    }
    let mut sight = passed(runs);
    for words in policies {
        if sight.is_none() {
            sight = longest_hold(scenario, words, seed, watch)?;
        }
    }
    let Some(sight) = sight else { return Ok(()) };
    let window = window(&sight, runs);
    for (words, run) in policies.iter().zip(runs) {
        let plan = scenario.plan(words)?;
        if plan.partitioned {
            continue;
        }
        let source = scenario.source(seed, OnBadLine::Skip)?;
        let setup =
            WorldSetup { looks: Looks::window(window), ..setup_of(scenario, plan, seed, source) };
        let last = window.to.min(setup.stop.at);
        let mut world = World::whole(setup)?;
        world.begin(None)?;
        world.run_to(last, &mut |progress| watch.goes_on(progress))?;
        let rooms = world.notes_mut().rooms.take();
        let engine = world.desk().engine();
        run.chart = rooms.map(|rooms| Box::new(rooms.chart(engine, run, &sight.why)));
    }
    Ok(())
}

/// The task that was overtaken most, of all runs.
fn passed(runs: &[RunRecord]) -> Option<Sight> {
    let queues = runs.iter().flat_map(|run| &run.queues);
    let most = queues.filter_map(|queue| Some((queue, queue.overtaken.as_ref()?.most.as_ref()?)));
    let most = most.filter(|(_, most)| most.times >= NOTABLE);
    let (queue, most) = most.rev().max_by_key(|(_, most)| most.times)?;
    let whole = most.waited_s * WINDOW_OF_WAIT;
    let held = most.with_reserve.and_then(|run| run.waited_s).map(|held| held * WINDOW_OF_HOLD);
    Some(Sight {
        from: Time::ZERO.saturating_add(span(most.since_s)),
        length_s: held.map_or(whole, |held| held.min(whole)),
        why: format!(
            "job {} of {}, the task overtaken most, begins to wait",
            most.job, queue.queue
        ),
    })
}

/// The reservation that was there longest under a policy that makes any.
fn longest_hold(
    scenario: &Scenario,
    words: &str,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Option<Sight>, SimulateError> {
    let plan = scenario.plan(words)?;
    if plan.partitioned || !matches!(plan.config.root.blocked, Blocked::Reserve(_)) {
        return Ok(None);
    }
    let source = scenario.source(seed, OnBadLine::Skip)?;
    let setup = WorldSetup { looks: Looks::holds(), ..setup_of(scenario, plan, seed, source) };
    let last = setup.stop.at;
    let mut world = World::whole(setup)?;
    world.begin(None)?;
    world.run_to(last, &mut |progress| watch.goes_on(progress))?;
    let events = world.notes_mut().holds.take().map(|history| history.events).unwrap_or_default();
    let over = events.iter().filter(|event| event.step == HoldStep::Over);
    let longest = over.rev().max_by_key(|event| event.at.saturating_since(event.hold.since));
    Ok(longest.map(|event| Sight {
        from: event.hold.since,
        length_s: event.at.saturating_since(event.hold.since).as_secs_f64() * WINDOW_OF_WAIT,
        why: "the reservation that was there longest is made".to_owned(),
    }))
}

fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).unwrap_or(Span::ZERO)
}

/// A window that begins a while before, and ends a while after, but where that would hold too much.
fn window(sight: &Sight, runs: &[RunRecord]) -> Window {
    let per_second = |run: &RunRecord| run.decisions as f64 / run.end_s.max(1.0);
    let most = runs.iter().map(per_second).fold(f64::MIN_POSITIVE, f64::max);
    let length = sight.length_s.max(1.0).min((TASKS_OF_WINDOW / most).max(1.0));
    let before = span(length / 5.0);
    let from = Span::from_micros(sight.from.as_micros().saturating_sub(before.as_micros()));
    let from = Time::ZERO.saturating_add(from.unwrap_or(Span::ZERO));
    let end = runs.iter().map(|run| run.end_s).fold(0.0, f64::max);
    let to = from.saturating_add(span(length)).min(Time::ZERO.saturating_add(span(end)));
    Window { from, to }
}
