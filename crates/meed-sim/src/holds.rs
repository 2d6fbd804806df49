//! What became of reservations: when each was made, where it moved and why, when it ended.
//!
//! The engine tells what there is now; compared from instant to instant, that says what happened.
//! Cost: O(reservations) for each look.

use meed::{NodeId, ReservationView, Time, View};
use meed_driver::explain::MoveReason;

/// Something happened to a reservation.
///
/// It is part of a [`HoldHistory`], whose page has an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldEvent {
    /// When.
    pub at: Time,
    /// How it is from now on; as it was, where it is no more.
    pub hold: ReservationView,
    /// What happened.
    pub step: HoldStep,
}

/// What happened.
///
/// It is part of a [`HoldEvent`]: the page of [`HoldHistory`] has an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HoldStep {
    /// It is made.
    Made,
    /// To other nodes or another instant, and from which.
    Moved {
        /// The nodes before.
        from: Vec<NodeId>,
        /// The instant before.
        before: Option<Time>,
        /// Why.
        why: MoveReason,
    },
    /// Its task has started, or waits without one, or is gone.
    Over,
}

/// What is known of reservations so far.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed::Time;
/// use meed_sim::world::{Looks, WorldSetup};
/// use meed_sim::{PausedRun, setup};
/// let words = "fair,when_blocked=reserve";
/// let noted = WorldSetup { looks: Looks::holds(), ..setup(&scenario, words, 1)? };
/// let mut run = PausedRun::new(noted)?;
/// run.begin_to(Time::ZERO, None)?;
/// let holds = run.holds().ok_or("they are noted")?;
/// assert_eq!((holds.now().len(), holds.events.len()), (0, 0)); // all that came has room
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HoldHistory {
    now: Vec<ReservationView>,
    /// What happened, in order.
    pub events: Vec<HoldEvent>,
}

impl HoldHistory {
    /// Whether two views are of one reservation.
    pub fn is_same(a: &ReservationView, b: &ReservationView) -> bool {
        (a.job, a.group, a.since) == (b.job, b.group, b.since)
    }

    /// Whether both hold the same, whichever of the nodes are spares.
    pub fn holds_alike(a: &ReservationView, b: &ReservationView) -> bool {
        let with_spares = !a.spares.is_empty() && !b.spares.is_empty();
        a.all().eq(b.all()) || with_spares && a.places() == b.places()
    }

    /// Those that there are now.
    pub fn now(&self) -> &[ReservationView] {
        &self.now
    }

    /// All of this instant has happened.
    pub fn look(&mut self, engine: View<'_>) {
        let at = engine.now();
        let mut before = std::mem::take(&mut self.now);
        for hold in engine.reservations() {
            self.now.push(hold.clone());
            let step = match before.iter().position(|old| HoldHistory::is_same(old, &hold)) {
                None => HoldStep::Made,
                Some(place) => match moved(engine, &before.remove(place), &hold) {
                    Some(step) => step,
                    None => continue,
                },
            };
            self.note(at, hold, step);
        }
        before.into_iter().for_each(|old| self.note(at, old, HoldStep::Over));
    }

    fn note(&mut self, at: Time, hold: ReservationView, step: HoldStep) {
        self.events.push(HoldEvent { at, hold, step });
    }

    /// Those that have happened to the reservations of a job that there are now.
    pub fn of(&self, hold: &ReservationView) -> impl Iterator<Item = &HoldEvent> {
        self.events.iter().filter(move |event| HoldHistory::is_same(&event.hold, hold))
    }
}

/// How a reservation has moved, if it has.
fn moved(engine: View<'_>, old: &ReservationView, new: &ReservationView) -> Option<HoldStep> {
    let reclaims = new.reclaims && !old.reclaims;
    let stays = HoldHistory::holds_alike(old, new);
    if stays && old.at == new.at && !reclaims {
        return None;
    }
    let is_open = |node: NodeId| engine.is_up(node) && !engine.is_cordoned(node);
    let from = old.places();
    let why = match (from.iter().all(|&node| is_open(node)), new.moved) {
        (false, _) => MoveReason::NodeWent,
        (true, _) if reclaims => MoveReason::Reclaims,
        (true, times) if times > old.moved => MoveReason::Overran,
        (true, _) => MoveReason::Better,
    };
    Some(HoldStep::Moved { from, before: old.at, why })
}
