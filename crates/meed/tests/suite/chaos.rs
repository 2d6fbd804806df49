//! Random events, valid and invalid: what the engine shows stays what the twin counts up, every
//! decision is the scan's, nothing that could start is missed, a refused event leaves no trace, and
//! the same events give the same decisions.

use crate::common::dice::{Dice, dice};
use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;
use proptest::prelude::*;

pub(crate) enum Step {
    Event(u64, Box<Ev>, Result<Effect, Rejected>),
    Decide(u64, Vec<Start>),
    DecideSome(u64, usize, Vec<Start>),
}

/// A policy that does not depend on the order of events within an instant.
fn chaos_policy(dice: &mut Dice, kinds: usize) -> Policy {
    let mut policy = dice.policy(kinds);
    if policy.memory != Memory::Forever {
        policy.newcomer = Newcomer::Zero;
    }
    policy
}

fn groups(dice: &mut Dice, kinds: usize) -> Vec<TaskGroup> {
    let one = |dice: &mut Dice| {
        let demand = match dice.below(12) {
            0 => Resources::zero(kinds),
            1 => Resources::zero(kinds + 1),
            2 => dice.amounts(kinds, 40),
            _ => dice.amounts(kinds, 4),
        };
        let count = dice.pick(&[1, 2, 3, 5, 1, 2, 0]);
        let limit = dice.pick(&[None, Some(span(1)), Some(span(S)), Some(span(4 * S))]);
        let (constraints, gang) = (dice.constraints(), dice.gang(count));
        TaskGroup { constraints, limit, gang, ..TaskGroup::new(count, demand) }
    };
    let mut groups: Vec<TaskGroup> = (0..dice.pick(&[1, 1, 2, 0, 3])).map(|_| one(dice)).collect();
    if dice.below(3) == 0 {
        // One gang of all, mostly a right one.
        let same = dice.pick(&[None, None, Some("zone"), Some("disk")]).map(str::to_owned);
        for group in &mut groups {
            let right = dice.below(12) > 0;
            let gang = Gang { same: same.clone(), ..Gang::part(group.count) };
            group.gang = right.then(|| Box::new(gang));
        }
    }
    groups
}

fn any_queue(dice: &mut Dice, shadow: &Shadow) -> QueueId {
    let ids: Vec<QueueId> = shadow.engine.view().queue_ids().collect();
    dice.pick(&ids)
}

fn any_node(dice: &mut Dice, shadow: &Shadow) -> NodeId {
    let ids: Vec<NodeId> = shadow.engine.view().node_ids().collect();
    dice.pick(&ids)
}

fn any_job(dice: &mut Dice, shadow: &Shadow) -> Option<JobId> {
    let jobs = &shadow.model.jobs;
    (!jobs.is_empty()).then(|| jobs[dice.below(jobs.len() as u64) as usize].id)
}

fn any_task(dice: &mut Dice, shadow: &Shadow) -> Option<AllocationId> {
    let running: Vec<AllocationId> = shadow.model.running().map(|task| task.allocation).collect();
    if running.is_empty() || dice.below(20) == 0 {
        return shadow.model.tasks.first().map(|task| task.allocation);
    }
    Some(dice.pick(&running))
}

fn bound(dice: &mut Dice, kinds: usize) -> Option<Option<Resources>> {
    match dice.below(4) {
        0 => Some(Some(dice.amounts(kinds, 12))),
        1 => Some(None),
        _ => None,
    }
}

/// Whether what a task was charged can be told apart from what others were: a discount is of the
/// sum, and of that only what is charged at this instant can be taken back exactly.
fn charges_apart(shadow: &Shadow, since: u64) -> bool {
    let discounts = |queue: &crate::common::model::Queue| queue.spec.policy.discount != 1000;
    since == shadow.model.now || !shadow.model.queues.iter().any(discounts)
}

/// What is told of a queue, now and then, where the root is told.
fn rank(dice: &mut Dice, shadow: &Shadow) -> Option<Rank> {
    let told = shadow.model.queues[0].spec.policy.measure == Measure::Told;
    (told && dice.below(4) > 0).then(|| Rank {
        amount: dice.pick(&[0, 1, 2, 3, 7, 5000, u64::MAX]),
        step: dice.pick(&[0, 0, 1, 3, u32::MAX]),
        per: dice.pick(&[1, 1, 2, 1000, 3000, u32::MAX]).try_into().expect("above zero"),
        quota: dice.pick(&[u64::MAX, u64::MAX, 0, 1000, 3000]),
    })
}

/// What happens in a live cluster.
fn live_event(dice: &mut Dice, shadow: &Shadow) -> Option<Ev> {
    let kinds = shadow.engine.view().kinds().len();
    Some(match dice.below(10) {
        3 | 4 => {
            let (now, node) = (shadow.model.now, any_node(dice, shadow));
            let since = dice.pick(&[now, now, now.saturating_sub(7 * S / 3), 0, now + 5 * S]);
            charges_apart(shadow, since).then_some(())?;
            Ev::Adopted { job: any_job(dice, shadow)?, task: dice.below(7) as u32, node, since }
        }
        5 => {
            let (task, node) = (any_task(dice, shadow)?, any_node(dice, shadow));
            let known = shadow.model.running().find(|running| running.allocation == task);
            known.is_none_or(|task| charges_apart(shadow, task.start)).then_some(())?;
            Ev::Moved(task, node)
        }
        6 => Ev::Resized(any_node(dice, shadow), Resources::new(&vec![dice.below(9); kinds])),
        7 => Ev::Cordoned(any_node(dice, shadow), dice.below(2) == 0),
        8 => {
            let label = (dice.pick(&["zone", "gpu"]), dice.pick(&["a", "b"]));
            let labels = [(label.0.to_owned(), label.1.to_owned())].into();
            Ev::Relabelled(any_node(dice, shadow), labels)
        }
        9 => Ev::UsedByOthers(any_node(dice, shadow), Resources::new(&vec![dice.below(9); kinds])),
        0 => {
            let task = any_task(dice, shadow)?;
            let known = shadow.model.running().find(|running| running.allocation == task);
            known.is_none_or(|task| charges_apart(shadow, task.start)).then_some(())?;
            Ev::StartFailed(task)
        }
        1 => Ev::TaskLost(any_task(dice, shadow)?),
        _ => Ev::Withdrawn(any_job(dice, shadow)?, dice.below(7) as u32),
    })
}

fn event(dice: &mut Dice, shadow: &Shadow) -> Option<Ev> {
    let kinds = shadow.engine.view().kinds().len();
    Some(match dice.below(34) {
        0..6 => {
            let (queue, weight) =
                (any_queue(dice, shadow), dice.pick(&[1000, 1000, 2000, 7, 1000, 0]));
            let (groups, open) = (groups(dice, kinds), dice.below(4) == 0);
            Ev::Job { queue, weight, groups, open, max_attempts: dice.pick(&[0, 1, 2, 3]) }
        }
        6..13 => Ev::Ended(any_task(dice, shadow)?),
        13 => Ev::Failed(any_task(dice, shadow)?),
        14 => Ev::Cancelled(any_job(dice, shadow)?),
        15 => match rank(dice, shadow) {
            None => Ev::JobChanged(any_job(dice, shadow)?, dice.weight()),
            rank => {
                let change = QueueChange { rank, ..QueueChange::default() };
                Ev::QueueChanged(any_queue(dice, shadow), change)
            }
        },
        16 => {
            let job = any_job(dice, shadow)?;
            Ev::Tasks { job, groups: groups(dice, kinds), open: dice.below(2) == 0 }
        }
        17 => {
            let name = dice.pick(&["n0", "n7", "n8", "n9", "n10"]);
            Ev::NodeJoined(node(name, dice.amounts(kinds, 9)))
        }
        18 => Ev::NodeChanged(any_node(dice, shadow), Resources::new(&vec![dice.below(9); kinds])),
        19 => Ev::NodeLeft(any_node(dice, shadow)),
        20 => {
            let name =
                dice.pick(&["l0", "x", "y", "x.a", "x.b", "y.x", "l0.z", "g0.new", "x..y", "q.q"]);
            let mut spec = queue(name, dice.weight(), chaos_policy(dice, kinds));
            (spec.min, spec.max) = (bound(dice, kinds).flatten(), bound(dice, kinds).flatten());
            Ev::QueueAdded(spec)
        }
        21 | 22 => {
            let weight = dice.pick(&[None, Some(1000), Some(3000), Some(0), Some(1)]);
            let (min, max) = (bound(dice, kinds), bound(dice, kinds));
            let rank = rank(dice, shadow);
            let change = QueueChange { weight, min, max, rank };
            Ev::QueueChanged(any_queue(dice, shadow), change)
        }
        23 => Ev::QueueRemoved(any_queue(dice, shadow)),
        _ => return live_event(dice, shadow),
    })
}

pub(crate) fn config(dice: &mut Dice) -> Config {
    let mut config = dice.config();
    let plain = |policy: &mut Policy| {
        if policy.memory != Memory::Forever {
            policy.newcomer = Newcomer::Zero;
        }
    };
    plain(&mut config.root);
    config.queues.iter_mut().for_each(|queue| plain(&mut queue.policy));
    if dice.below(6) == 0 {
        let order = dice.by_server();
        config.root = order.clone();
        for queue in config.queues.iter_mut().step_by(2) {
            queue.policy = order.clone();
        }
    }
    config
}

pub(crate) fn run(dice: &mut Dice, config: &Config) -> (Shadow, Vec<Step>) {
    let (mut shadow, mut steps, mut now) = (Shadow::new(config), Vec::new(), 0);
    for _ in 0..60 {
        now += dice.pick(&[0, 0, S, S / 3, 5 * S]);
        for _ in 0..1 + dice.below(3) {
            let Some(event) = event(dice, &shadow) else { continue };
            let at = if now > 0 && dice.below(40) == 0 { now - 1 } else { now };
            let answer = shadow.apply(at, &event);
            steps.push(Step::Event(at, Box::new(event), answer));
        }
        match dice.below(8) {
            0 => {}
            1 | 2 => {
                let most = dice.below(4) as usize;
                let starts = shadow.decide_some(now, most);
                steps.push(Step::DecideSome(now, most.max(starts.len()), starts));
            }
            _ => {
                let starts = shadow.decide(now);
                steps.push(Step::Decide(now, starts));
            }
        }
    }
    (shadow, steps)
}

/// Tells a fresh engine the same story; without the refused events if asked.
fn replay(config: &Config, steps: &[Step], with_refused: bool) -> Engine {
    let mut engine = engine(config);
    for step in steps {
        match step {
            Step::Event(at, event, answer) if with_refused || answer.is_ok() => {
                assert_eq!(event.send(&mut engine, *at), *answer, "{event:?} at {at} us");
            }
            Step::Event(..) => {}
            Step::Decide(at, starts) => {
                engine.advance(micros(*at)).expect("time goes on");
                let mut again = Vec::new();
                engine.decide(true, |start| again.push(start));
                assert_eq!(again, *starts, "at {at} us");
            }
            Step::DecideSome(at, most, starts) => {
                engine.advance(micros(*at)).expect("time goes on");
                let next = std::iter::from_fn(|| engine.next_start(true));
                let again: Vec<Start> = next.take(*most).collect();
                assert_eq!(again, *starts, "at {at} us");
            }
        }
    }
    engine
}

/// All that can be seen of an engine.
fn state(engine: &mut Engine) -> String {
    let (now, ids) = (engine.view().now(), engine.view().queue_ids().collect::<Vec<_>>());
    let nodes: Vec<_> =
        engine.view().node_ids().map(|id| format!("{:?}", engine.view().node(id))).collect();
    let lending = engine.view().lending(&ids[1..], now);
    let queue = |&id: &QueueId| {
        format!(
            "{:?} {:?} {}",
            engine.view().queue(id),
            engine.view().integrals(id, now),
            engine.view().charged(id, now)
        )
    };
    let queues: Vec<String> = ids.iter().map(queue).collect();
    format!(
        "{nodes:#?} {queues:#?} {lending:?} {} {}",
        engine.view().running_tasks(),
        engine.view().live_jobs()
    )
}

proptest! {
    #![proptest_config(cases(4000))]
    #[test]
    fn keeps_its_books_through_anything(mut dice in dice(700)) {
        let config = config(&mut dice);
        let (mut shadow, steps) = run(&mut dice, &config);
        let end = micros(shadow.model.now);
        let mut again = replay(&config, &steps, true);
        let mut spared = replay(&config, &steps, false);
        for engine in [&mut shadow.engine, &mut again, &mut spared] {
            engine.advance(end).expect("time goes on");
        }
        let seen = state(&mut shadow.engine);
        prop_assert_eq!(&state(&mut again), &seen, "the same events");
        prop_assert_eq!(&state(&mut spared), &seen, "without the refused events");
    }
}
