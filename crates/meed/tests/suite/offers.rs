//! Offers of one node: the order is that of `decide`, and ranks, places and bounds come before it.

use std::collections::BTreeMap;

use crate::common::dice::dice;
use crate::common::*;
use meed::*;
use proptest::prelude::*;

fn arrive(engine: &mut Engine, at: u64, job: &SimJob) -> JobId {
    let group =
        |(demand, tasks): &(Resources, Vec<u64>)| TaskGroup::new(tasks.len() as u32, *demand);
    let groups: Vec<TaskGroup> = job.groups.iter().map(group).collect();
    let spec = JobSpec {
        queue: job.queue,
        weight: job.weight,
        groups: &groups,
        open: false,
        max_attempts: 0,
    };
    match engine.apply(micros(at), Event::JobArrived(spec)) {
        Ok(Effect::Job(id)) => id,
        other => panic!("{other:?}"),
    }
}

/// Runs the jobs to the end; every start, with its time and its reason's levels.
fn run(
    config: &Config,
    jobs: &[SimJob],
    serve: &dyn Fn(&mut Engine) -> Vec<Start>,
) -> Vec<(u64, Start)> {
    let mut engine = engine(config);
    let mut jobs: Vec<&SimJob> = jobs.iter().collect();
    jobs.sort_by_key(|job| std::cmp::Reverse(job.at));
    let mut durations: BTreeMap<JobId, Vec<u64>> = BTreeMap::new();
    let mut ends: BTreeMap<(u64, usize), AllocationId> = BTreeMap::new();
    let mut started = Vec::new();
    loop {
        let arrival = jobs.last().map(|job| job.at);
        let end = ends.first_key_value().map(|(&(at, _), _)| at);
        let Some(now) = [arrival, end].into_iter().flatten().min() else { return started };
        while let Some(entry) = ends.first_entry().filter(|entry| entry.key().0 == now) {
            engine.apply(micros(now), Event::TaskEnded(entry.remove())).expect("it runs");
        }
        while let Some(job) = jobs.pop_if(|job| job.at == now) {
            let id = arrive(&mut engine, now, job);
            durations.insert(id, job.groups.iter().flat_map(|(_, tasks)| tasks.clone()).collect());
        }
        for mut start in serve(&mut engine) {
            let lasts = durations[&start.job][start.task as usize];
            ends.insert((now + lasts, started.len()), start.allocation);
            if let Some(reason) = &mut start.reason {
                reason.place = "";
            }
            started.push((now, start));
        }
    }
}

fn decide(engine: &mut Engine) -> Vec<Start> {
    let mut starts = Vec::new();
    engine.decide(true, |start| starts.push(start));
    starts
}

fn offer_all(engine: &mut Engine, rank: &mut dyn FnMut(JobId, u32) -> Option<u32>) -> Vec<Start> {
    let node = engine.view().node_ids().next().expect("a node");
    std::iter::from_fn(|| engine.offer(node, true, rank)).collect()
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn of_the_only_node_start_what_decide_starts(mut dice in dice(200), wait in 0u64..8) {
        let mut config = dice.config();
        config.nodes.truncate(1);
        // Rescaled parents set apart what fits nowhere first; `wait` stops at what does not fit.
        let policies = config.queues.iter_mut().map(|queue| &mut queue.policy);
        for policy in std::iter::once(&mut config.root).chain(policies) {
            (policy.blocked, policy.reclaim) = (Blocked::Skip, None);
            (policy.reserve_after, policy.estimates) = (Span::ZERO, Estimates::Limits);
            if policy.scalar == Scalar::Dominant {
                policy.measure = Measure::Usage;
            }
        }
        if wait < 4 && config.root.measure == Measure::Usage {
            config.root.t_wait = Some(span(wait * S));
        }
        let fits = |job: &SimJob| job.groups.iter()
            .all(|(demand, _)| demand.fits_in(&config.nodes[0].capacity));
        let mut jobs = dice.jobs(&config, 12);
        jobs.retain(fits);
        if config.root.t_wait.is_some() {
            // The guard looks at the least of all that want something, fitting or not.
            jobs.iter_mut().flat_map(|job| &mut job.groups).for_each(|(demand, _)| {
                *demand = config.nodes[0].capacity;
            });
            config.queues.iter_mut().for_each(|queue| queue.max = None);
        }
        let runner_ups_differ = |starts: &mut Vec<(u64, Start)>| {
            // Offers know only those that fit as runners-up.
            let levels = starts.iter_mut().filter_map(|(_, start)| start.reason.as_mut());
            levels.flat_map(|reason| &mut reason.levels).for_each(|level| level.runner_up = None);
        };
        let mut by_walk = run(&config, &jobs, &decide);
        let mut by_offer = run(&config, &jobs, &|engine| offer_all(engine, &mut |_, _| Some(7)));
        runner_ups_differ(&mut by_walk);
        runner_ups_differ(&mut by_offer);
        prop_assert_eq!(by_walk, by_offer);
    }
}

#[test]
fn ranks_come_before_the_order_and_none_never_starts() {
    let config = slots_config(4, &policy("fair"), &["a", "b", "c"]);
    let mut engine = engine(&config);
    let jobs: Vec<JobId> = ["a", "b", "c"]
        .iter()
        .map(|name| {
            let queue = engine.view().find_queue(name).expect("declared");
            arrive(&mut engine, 0, &unit_job(queue, 0, 3))
        })
        .collect();
    let mut rank = |job: JobId, _: u32| match jobs.iter().position(|&known| known == job) {
        Some(2) => Some(0),
        Some(1) => Some(5),
        _ => None,
    };
    let starts = offer_all(&mut engine, &mut rank);
    let served: Vec<&str> =
        starts.iter().map(|start| engine.view().queue(start.queue).name).collect();
    assert_eq!(
        served,
        ["c", "c", "c", "b"],
        "a has no rank, and c the lower one; then the node is full"
    );
}

#[test]
fn a_node_that_has_left_or_has_no_room_gets_nothing() {
    let mut config = slots_config(2, &policy("long-term"), &["a"]);
    config.nodes.push(node("m", slots(1)));
    let mut engine = engine(&config);
    let queue = engine.view().find_queue("a").expect("declared");
    arrive(&mut engine, 0, &unit_job(queue, 0, 9));
    let nodes: Vec<NodeId> = engine.view().node_ids().collect();
    let count = |engine: &mut Engine, node| {
        std::iter::from_fn(|| engine.offer(node, false, &mut |_, _| Some(0))).count()
    };
    assert_eq!(count(&mut engine, nodes[1]), 1, "only what fits, and only there");
    engine.apply(micros(1), Event::NodeLeft(nodes[1])).expect("it is up");
    assert_eq!((count(&mut engine, nodes[1]), count(&mut engine, nodes[0])), (0, 2));
}
