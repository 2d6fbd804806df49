//! Reclaim by the rules of docs/reclaim.md, told from the stream of events alone ([`Audit`]), over
//! one and two resources, trees of queues, unequal weights, gangs and jobs of several groups.

use crate::common::audit::Audit;
use crate::common::dice::{Dice, dice};
use crate::common::stream::{Record, Stream, Work, for_seconds, live};
use crate::common::*;
use meed::*;
use proptest::prelude::*;
use std::num::NonZeroU32;

/// So many records are more than any of these scenarios has whose run ends.
const MANY: usize = 4000;

fn audited(config: &Config, jobs: &[Work]) -> (usize, Stream) {
    let stream = live(config, jobs, MANY);
    assert!(stream.len() < MANY, "the run does not end");
    let stops = Audit::new(config, jobs).check(&stream);
    (stops, stream)
}

fn some(reservations: u32) -> Reservations {
    NonZeroU32::new(reservations).map_or(Reservations::All, Reservations::AtMost)
}

/// Reservations 0 is all.
fn under(order: &str, rules: [u64; 4], reservations: u32) -> Policy {
    let [after, min_runtime, guard, grace] = rules.map(for_seconds);
    let reclaim = Some(Reclaim { after, min_runtime, guard, grace });
    let quantum = Quantum::Fixed(Span::ZERO);
    Policy { blocked: Blocked::Reserve(some(reservations)), reclaim, quantum, ..policy(order) }
}

/// So many nodes of so many slots.
fn cluster(policy: &Policy, (nodes, slots_each): (usize, u64), names: &[&str]) -> Config {
    let mut config = slots_config(slots_each, policy, names);
    config.nodes = (0..nodes).map(|at| node(&format!("n{at}"), slots(slots_each))).collect();
    config
}

const HOUR: u64 = 3600;

/// Each of these jobs is a task that runs for a day.
fn days(queue: usize, at: u64, jobs: usize, limited: bool) -> Vec<Work> {
    let (runs, limit) = (24 * HOUR * S, limited.then(|| for_seconds(24 * HOUR)));
    let group = TaskGroup { limit, ..TaskGroup::new(1, slots(1)) };
    vec![Work { queue, at: at * S, runs, groups: vec![group] }; jobs]
}

/// How many tasks are told to stop before the first ends.
fn stops_at_first(stream: &Stream) -> usize {
    let before = stream.iter().take_while(|(_, record)| !matches!(record, Record::Ended(_)));
    before.filter(|(_, record)| matches!(record, Record::Told { .. })).count()
}

const AN_HOUR: [u64; 4] = [HOUR, 300, HOUR, 30];

#[test]
fn with_many_reservations_no_more_is_taken_back_than_with_one() {
    for reservations in [1, 2, 3, 4, 6, 8, 0] {
        for (limited, late) in [(false, 5), (false, 6), (false, 7), (false, 8), (true, 8)] {
            let config = cluster(&under("long-term", AN_HOUR, reservations), (1, 8), &["a", "b"]);
            let jobs = [days(0, 0, 8, limited), days(1, 600, late, limited)].concat();
            let (stops, stream) = audited(&config, &jobs);
            let told = (stops_at_first(&stream), stops);
            assert_eq!(told, (4, 4), "{late} jobs, {reservations} reservations, {limited}");
        }
    }
}

#[test]
fn what_is_owed_comes_back_on_several_nodes() {
    for reservations in [1, 4, 8, 10, 0] {
        let config = cluster(&under("long-term", AN_HOUR, reservations), (4, 4), &["a", "b"]);
        let jobs = [days(0, 0, 16, false), days(1, 600, 16, false)].concat();
        let (_, stream) = audited(&config, &jobs);
        assert_eq!(stops_at_first(&stream), 8, "{reservations} reservations");
    }
}

#[test]
fn a_minimum_is_given_back_whatever_is_reserved() {
    for reservations in [1, 2, 4, 8, 0] {
        let mut config = cluster(&under("fair", AN_HOUR, reservations), (1, 8), &["a", "b"]);
        config.queues.iter_mut().for_each(|queue| queue.min = Some(slots(4)));
        for late in [8, 9, 16] {
            let jobs = [days(0, 0, late, false), days(1, 600, late, false)].concat();
            let (stops, stream) = audited(&config, &jobs);
            let told = (stops_at_first(&stream), stops);
            assert_eq!(told, (4, 4), "{late} jobs each, {reservations} reservations");
        }
    }
}

/// `a` is below its minimum in the resource that the policy counts: it takes room back for tasks
/// that ask for some of that, and for no others.
#[test]
fn a_minimum_takes_back_only_for_what_it_counts() {
    for (asks, expected) in [(0, 0), (1, 4)] {
        let mut policy = under("long-term", AN_HOUR, 0);
        policy.scalar = Scalar::Kind(1);
        let mut config = cluster(&policy, (1, 8), &["a", "b"]);
        config.kinds = kinds(2);
        config.nodes[0].capacity = Resources::new(&[8000, 8000]);
        config.queues[0].min = Some(Resources::new(&[0, 4000]));
        let mut jobs = [days(1, 0, 8, false), days(0, 600, 8, false)].concat();
        let demand = Resources::new(&[1000, asks * 1000]);
        jobs.iter_mut().for_each(|job| job.groups[0].demand = demand);
        let (_, stream) = audited(&config, &jobs);
        assert_eq!(stops_at_first(&stream), expected, "each asks for {asks} of what is counted");
    }
}

/// The minimum shares are of memory, and the tasks ask for cores: two of them do not fit beside
/// each other. Whoever runs has its minimum share as a dominant share, and would be below it
/// without that task. So nobody is stopped.
#[test]
fn nobody_is_stopped_for_a_minimum_that_both_cannot_have() {
    for order in ["drf", "tsf", "long-term-drf"] {
        let mut config = cluster(&under(order, [1, 0, 1, 0], 3), (1, 8), &["a", "b"]);
        config.kinds = kinds(2);
        config.nodes[0].capacity = Resources::new(&[3000, 12_000]);
        for queue in &mut config.queues {
            queue.min = Some(Resources::new(&[0, 1000]));
        }
        let mut jobs = [days(0, 0, 2, false), days(1, 600, 2, false)].concat();
        for job in &mut jobs {
            job.groups[0].demand = Resources::new(&[2000, 0]);
        }
        let (stops, _) = audited(&config, &jobs);
        assert_eq!(stops, 0, "{order}");
    }
}

/// A task of `queue` that asks for `wide` slots and runs for so long; so many of them.
fn work(queue: usize, at: u64, tasks: u32, wide: u64, runs: u64) -> Work {
    Work { queue, at: at * S, runs: runs * S, groups: vec![TaskGroup::new(tasks, slots(wide))] }
}

fn by_usage(mut config: Config) -> Config {
    for queue in &mut config.queues {
        queue.policy = Policy { quantum: Quantum::Fixed(Span::ZERO), ..policy("long-term") };
    }
    config
}

/// What is reserved for `b` leaves room for a narrow task of its own: it starts when others stop,
/// by what is held then.
#[test]
fn nobody_is_stopped_for_a_queue_that_is_owed_no_more() {
    let rules = under("long-term", [1, 5, 1, 0], 1);
    let mut config = by_usage(cluster(&rules, (2, 8), &["a", "a.x", "a.y", "b"]));
    config.queues[3].min = Some(slots(2));
    let jobs = [
        work(3, 0, 2, 4, 50),
        work(3, 0, 1, 8, 300),
        work(1, 7, 1, 4, 100),
        work(2, 27, 1, 1, 100),
    ];
    audited(&config, &jobs);
}

/// However short the guard is, no more is stopped than is owed.
#[test]
fn nobody_is_stopped_for_a_queue_above_its_share() {
    for guard in [2, 5, 10, 30, 100] {
        let rules = under("long-term", [1, 5, guard, 2], 1);
        let mut config = by_usage(cluster(&rules, (2, 8), &["a", "b", "c"]));
        config.queues[0].weight = 2000;
        let jobs = [
            work(1, 0, 4, 1, 50),
            work(1, 0, 1, 1, 300),
            work(0, 0, 4, 4, 20),
            work(2, 0, 4, 1, 100),
            work(0, 24, 1, 3, 300),
        ];
        assert_eq!(audited(&config, &jobs).0, 2, "a guard of {guard} s");
    }
    for guard in [1, 2, 5, 10, 30, 100] {
        let config = cluster(&under("long-term", [1, 0, guard, 0], 0), (1, 8), &["a", "b"]);
        let mut jobs = [days(0, 0, 8, false), days(1, 60, 8, false)].concat();
        jobs.iter_mut().for_each(|job| job.runs = 600 * S);
        assert_eq!(audited(&config, &jobs).0, 4, "a guard of {guard} s");
    }
}

/// Two nodes of eight hold two of three tasks that are wider than what is left beside each other.
/// Each queue is within its share, and whoever waits is owed soon: nobody is stopped, for then both
/// would only have changed places.
#[test]
fn nobody_is_stopped_to_change_places() {
    for guard in [1, 5, 30] {
        let rules = under("long-term", [1, 5, guard, 1], 1);
        let mut config = by_usage(cluster(&rules, (2, 8), &["a", "a.x", "a.y", "b"]));
        config.queues[0].weight = 3000;
        let jobs = [work(1, 0, 1, 6, 300), work(2, 0, 1, 6, 300), work(3, 0, 1, 3, 300)];
        let (stops, stream) = audited(&config, &jobs);
        let last = stream.last().map_or(0, |(at, _)| *at / S);
        assert_eq!((stops, last), (0, 600), "a guard of {guard} s");
    }
}

/// Each node holds one job, so that two queues with equal shares cannot both have theirs: of three
/// nodes the one that lent all gets one back, and has the next when a job ends.
#[test]
fn shares_that_cannot_be_had_together_are_not_fought_for() {
    for (nodes, each, wide, reservations) in
        [(3, 4, 3, 1), (3, 4, 3, 3), (3, 4, 3, 0), (5, 8, 5, 2)]
    {
        let config =
            cluster(&under("long-term", AN_HOUR, reservations), (nodes, each), &["a", "b"]);
        let jobs = |queue: usize, at: u64| vec![work(queue, at, 1, wide, 100 * HOUR); 2 * nodes];
        let (all, stream) = audited(&config, &[jobs(0, 0), jobs(1, 2 * HOUR)].concat());
        let stops = stops_at_first(&stream);
        assert_eq!(stops, nodes / 2, "{nodes} nodes, {reservations} reservations");
        assert!(all <= nodes, "{all} stops on {nodes} nodes, {reservations} reservations");
    }
}

/// A minimum share above the share leaves less than the shares of the others.
#[test]
fn what_a_minimum_takes_of_the_others_is_not_fought_for() {
    for reservations in [1, 2, 8, 0] {
        let names = &["a", "b", "c"];
        let mut config = cluster(&under("long-term", AN_HOUR, reservations), (1, 4), names);
        config.queues[2].weight = 2000;
        config.queues[0].min = Some(slots(2));
        let jobs = |queue: usize, at: u64| vec![work(queue, at, 1, 1, 1000 * HOUR); 4];
        let all = [jobs(2, 0), jobs(1, HOUR), jobs(0, 2 * HOUR)].concat();
        let (_, stream) = audited(&config, &all);
        assert!(stops_at_first(&stream) <= 4, "{} stops", stops_at_first(&stream));
    }
}

/// Equal jobs of one slot that run long, on few nodes, of few tenants.
fn equal_jobs(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term", "long-term", "fair"]);
    let mut policy = under(order, [HOUR, 300, HOUR, 30], dice.below(9) as u32);
    policy.spares = dice.below(3) as u32;
    let names = &["a", "b", "c", "d"][..2 + dice.below(3) as usize];
    let (nodes, each) = dice.pick(&[(1, 8), (1, 4), (2, 4), (4, 4), (2, 8), (1, 16), (3, 3)]);
    let mut config = cluster(&policy, (nodes, each), names);
    let all = nodes as u64 * each;
    if order == "fair" || dice.below(3) == 0 {
        let min = Some(slots(all / names.len() as u64));
        config.queues.iter_mut().for_each(|queue| queue.min = min);
    }
    let limited = dice.below(3) == 0;
    let mut jobs = days(0, 0, all as usize, limited);
    for queue in 1..names.len() {
        let many = dice.below(all + 4) as usize;
        jobs.extend(days(queue, 60 * (1 + dice.below(90)), many, limited));
    }
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

/// Any jobs, with gangs, on one to three nodes.
fn any_jobs(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term", "long-term", "long-term", "fair"]);
    let [after, min_runtime] = [dice.pick(&[1, 3, 10]), dice.pick(&[0, 1, 5])];
    let grace = dice.pick(&[0, 1, 2]);
    let guard = grace + dice.pick(&[0, 1, 5, 30]);
    let policy = under(order, [after, min_runtime, guard, grace], 1 + dice.below(4) as u32);
    let names: &[&str] = if dice.below(2) == 0 { &FLAT } else { &DEEP };
    let mut config = by_usage(cluster(&policy, (1 + dice.below(3) as usize, 8), names));
    for queue in &mut config.queues {
        queue.policy.measure = config.root.measure;
        queue.weight = dice.pick(&[1000, 1000, 2000, 3000]);
        if !queue.name.contains('.') && dice.below(4) == 0 {
            queue.min = Some(slots(1 + dice.below(3)));
        }
    }
    let leaves = leaves(names);
    let mut jobs: Vec<Work> = (0..3 + dice.below(8)).map(|_| any_job(dice, &leaves)).collect();
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

fn any_job(dice: &mut Dice, leaves: &[usize]) -> Work {
    let (tasks, wide) = (dice.pick(&[1, 2, 4, 8]), dice.pick(&[1, 1, 2, 3, 4, 6, 8]));
    let (soon, late) = (dice.below(30), dice.below(100));
    let at = dice.pick(&[0, 0, soon, late]);
    let runs = dice.pick(&[5, 20, 50, 100, 300]);
    let mut job = work(dice.pick(leaves), at, tasks, wide, runs);
    if tasks > 1 && u64::from(tasks) * wide <= 8 && dice.below(3) == 0 {
        let least = dice.pick(&[tasks, tasks / 2]);
        job.groups[0].gang = Some(Box::new(Gang::of(least)));
    }
    job
}

/// Two resources, of which each node has as much as of the other, or twice.
fn of_two(mut config: Config, dice: &mut Dice, order: &str) -> Config {
    let each = config.nodes[0].capacity.get(0);
    let other = each * dice.pick(&[1, 1, 2]);
    config.kinds = kinds(2);
    config.nodes.iter_mut().for_each(|node| node.capacity = Resources::new(&[each, other]));
    if order == "long-term" {
        config.root.scalar = Scalar::Kind(dice.below(2) as usize);
    }
    for queue in &mut config.queues {
        let scalar = config.root.scalar.clone();
        queue.policy = Policy { quantum: Quantum::Fixed(Span::ZERO), scalar, ..policy(order) };
    }
    config
}

/// So many whole units of what the policy counts of the two.
fn minimum(config: &Config, whole: [u64; 2]) -> Option<Resources> {
    let counts = |kind: usize| match &config.root.scalar {
        Scalar::Kind(counted) => *counted == kind,
        _ => true,
    };
    let of = |kind: usize| if counts(kind) { whole[kind] * 1000 } else { 0 };
    Some(Resources::new(&[of(0), of(1)]))
}

const FLAT: [&str; 3] = ["a", "b", "c"];
const DEEP: [&str; 5] = ["a", "a.x", "a.y", "b", "b.z"];

fn leaves(names: &[&str]) -> Vec<usize> {
    let is_parent = |name: &str| names.iter().any(|other| other.starts_with(&format!("{name}.")));
    (0..names.len()).filter(|&queue| !is_parent(names[queue])).collect()
}

/// Any jobs of one or two groups, with gangs, over two resources.
fn any_jobs_of_two(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term-drf", "long-term-drf", "long-term", "drf"]);
    let [after, min_runtime] = [dice.pick(&[1, 3, 10]), dice.pick(&[0, 1, 5])];
    let grace = dice.pick(&[0, 1, 2]);
    let guard = grace + dice.pick(&[0, 1, 5, 30]);
    let policy = under(order, [after, min_runtime, guard, grace], 1 + dice.below(4) as u32);
    let names: &[&str] = if dice.below(2) == 0 { &FLAT } else { &DEEP };
    let config = cluster(&policy, (1 + dice.below(3) as usize, 8), names);
    let mut config = of_two(config, dice, order);
    for (queue, name) in names.iter().enumerate() {
        config.queues[queue].weight = dice.pick(&[1000, 1000, 2000, 3000]);
        if !name.contains('.') && dice.below(3) == 0 {
            let whole = [1 + dice.below(3), 1 + dice.below(3)];
            config.queues[queue].min = minimum(&config, whole);
        }
    }
    let leaves = leaves(names);
    let mut jobs: Vec<Work> = (0..3 + dice.below(8)).map(|_| any_job(dice, &leaves)).collect();
    for job in &mut jobs {
        let wide = job.groups[0].demand.get(0);
        let together = job.groups[0].gang.as_ref().map_or(1, |gang| u64::from(gang.least));
        let more = dice.pick(&[0, 1, 2, 4, 8]).min(8 / together);
        job.groups[0].demand = Resources::new(&[wide, more * 1000]);
        if dice.below(4) == 0 {
            let demand = Resources::new(&[1000 * dice.below(4), 1000 * (1 + dice.below(4))]);
            job.groups.push(TaskGroup::new(1 + dice.below(3) as u32, demand));
        }
    }
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

/// Equal tasks that run long, of tenants with unequal weights, on few large nodes: how many tasks
/// of two resources fit into the share of a queue.
fn equal_jobs_of_two(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term-drf", "long-term-drf", "long-term", "drf"]);
    let mut policy = under(order, [HOUR, 300, HOUR, 30], dice.below(9) as u32);
    policy.spares = dice.below(3) as u32;
    let names: &[&str] = if dice.below(3) > 0 { &FLAT } else { &DEEP };
    let config = cluster(&policy, dice.pick(&[(1, 8), (2, 8), (1, 16), (2, 12), (3, 6)]), names);
    let mut config = of_two(config, dice, order);
    // Each node holds whole tasks without a rest, so all shares fit at once.
    let whole = [dice.pick(&[1, 1, 2]), dice.pick(&[1, 2])];
    let demand = Resources::new(&whole.map(|amount| amount * 1000));
    for queue in &mut config.queues {
        queue.weight = dice.pick(&[1000, 1000, 2000, 3000, 4000]);
    }
    let tops = || (0..names.len()).filter(|&queue| !names[queue].contains('.'));
    let fit: Vec<u64> = (0..names.len()).map(|queue| fit(&config, queue, &demand)).collect();
    if order == "drf" || dice.below(3) == 0 {
        for queue in tops() {
            config.queues[queue].min = minimum(&config, whole.map(|amount| amount * fit[queue]));
        }
    }
    let all: u64 = config.nodes.iter().map(|node| demand.copies_in(&node.capacity)).sum();
    let leaves = leaves(names);
    let many = |queue: usize, at: u64, jobs: u64| {
        let work = work(queue, at, 1, 1, 24 * HOUR);
        vec![Work { groups: vec![TaskGroup::new(1, demand)], ..work }; jobs as usize]
    };
    let mut jobs = many(leaves[0], 0, all);
    for &queue in &leaves[1..] {
        let count = dice.below(all + 4);
        jobs.extend(many(queue, 60 * (1 + dice.below(90)), count));
    }
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

/// How many tasks of this demand fit into the share of a queue.
fn fit(config: &Config, queue: usize, demand: &Resources) -> u64 {
    let audit = Audit::new(config, &[]);
    let most = |kind: usize| {
        let (share, of) = audit.share(queue, kind);
        (share / (of * u128::from(demand.get(kind)))) as u64
    };
    (0..2).map(most).min().unwrap_or(0)
}

/// What each queue holds when the first task ends, in slots.
fn held_at_first_end(config: &Config, jobs: &[Work], stream: &Stream) -> Vec<u64> {
    let mut held = vec![0; config.queues.len()];
    for (_, record) in stream {
        match record {
            Record::Started { task, .. } => held[jobs[task.0].queue] += 1,
            Record::Lost(task) => held[jobs[task.0].queue] -= 1,
            Record::Ended(_) => break,
            _ => {}
        }
    }
    held
}

proptest! {
    #![proptest_config(cases(1600))]

    /// No more is stopped than the others are owed together, every run ends, and who has a minimum
    /// share and work for it has it before the first task ends.
    #[test]
    fn stops_are_bounded_by_what_is_owed(mut dice in dice(60)) {
        let (config, jobs) = equal_jobs(&mut dice);
        let (_, stream) = audited(&config, &jobs);
        let held = held_at_first_end(&config, &jobs, &stream);
        let all: u64 = config.nodes.iter().map(|node| node.capacity.get(0) / 1000).sum();
        let share = all / config.queues.len() as u64;
        let work = |queue: usize| jobs.iter().filter(|job| job.queue == queue).count() as u64;
        let owed: u64 = (1..config.queues.len()).map(|queue| work(queue).min(share)).sum();
        let stops = stops_at_first(&stream) as u64;
        prop_assert!(stops <= owed, "{stops} stops where {owed} are owed");
        // Where starts are promised, a share that is no minimum waits for these.
        let promised = jobs.iter().any(|job| job.groups[0].limit.is_some());
        let lasts = |queue: &QueueSpec| queue.min.is_some() || !promised;
        for (queue, &held) in held.iter().enumerate().filter(|it| lasts(&config.queues[it.0])) {
            let least = work(queue).min(share);
            let times = || jobs.iter().map(|job| (job.queue, job.at / S)).collect::<Vec<_>>();
            let stops = stops_at_first(&stream);
            prop_assert!(
                held >= least,
                "queue {queue} holds {held} of {least} after {stops} stops: {:?} {:?}",
                config.root.blocked,
                times(),
            );
        }
    }

    /// The same over two resources, with unequal weights, also where queues have others below them.
    #[test]
    fn stops_over_two_resources_are_bounded_by_what_is_owed(mut dice in dice(60)) {
        let (config, jobs) = equal_jobs_of_two(&mut dice);
        let (_, stream) = audited(&config, &jobs);
        let held = held_at_first_end(&config, &jobs, &stream);
        let demand = jobs[0].groups[0].demand;
        let work = |queue: usize| jobs.iter().filter(|job| job.queue == queue).count() as u64;
        let names: Vec<&str> = config.queues.iter().map(|queue| queue.name.as_str()).collect();
        let others = || leaves(&names).into_iter().skip(1);
        let top = |queue: usize| {
            let top = names[queue].split('.').next();
            names.iter().position(|name| Some(*name) == top).unwrap_or(queue)
        };
        // A leaf may take all of the share above it until its siblings have work.
        let owed: u64 = others().map(|it| work(it).min(fit(&config, top(it), &demand))).sum();
        let stops = stops_at_first(&stream) as u64;
        prop_assert!(stops <= owed, "{stops} stops where {owed} are owed");
        // The last reservation may be of a task beyond the share of its queue, and others wait
        // until that starts (docs/reclaim.md).
        let all = config.root.blocked == Blocked::Reserve(Reservations::All);
        let uses = config.root.measure == Measure::Usage && all;
        for queue in others().filter(|&queue| uses || config.queues[queue].min.is_some()) {
            let (least, held) = (work(queue).min(fit(&config, queue, &demand)), held[queue]);
            prop_assert!(held >= least, "{} has {held} of {least} tasks", names[queue]);
        }
    }

    /// Each stop over two resources is right by every rule, also of jobs of several groups.
    #[test]
    fn each_stop_over_two_resources_is_right_by_the_rules(mut dice in dice(160)) {
        let (config, jobs) = any_jobs_of_two(&mut dice);
        audited(&config, &jobs);
    }

    /// Each stop is right by every rule.
    #[test]
    fn each_stop_is_right_by_the_rules(mut dice in dice(120)) {
        let (config, jobs) = any_jobs(&mut dice);
        audited(&config, &jobs);
    }
}
