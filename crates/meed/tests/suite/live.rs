//! What happens in a live cluster, step by step, with the twin beside.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

/// Two nodes of two slots, queues `a` and `b`.
struct Stage {
    shadow: Shadow,
}

impl Stage {
    fn new(root: &Policy) -> Stage {
        let mut config = slots_config(2, root, &["a", "b"]);
        config.nodes.push(node("m", slots(2)));
        Stage { shadow: Shadow::new(&config) }
    }

    fn send(&mut self, second: u64, event: Ev) -> Effect {
        self.shadow.apply(second * S, &event).expect("sound")
    }

    fn job(&mut self, second: u64, queue: &str, count: u32) -> JobId {
        let queue = self.shadow.engine.view().find_queue(queue).expect("declared");
        let groups = vec![TaskGroup::new(count, slots(1))];
        let event = Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 1 };
        match self.send(second, event) {
            Effect::Job(job) => job,
            other => panic!("{other:?}"),
        }
    }

    /// (queue, task, failures) of what starts, and the handles.
    fn decide(&mut self, second: u64) -> (Vec<(usize, u32, u16)>, Vec<AllocationId>) {
        let starts = self.shadow.decide(second * S);
        let row = |start: &Start| (start.queue.index(), start.task, start.failures);
        (starts.iter().map(row).collect(), starts.iter().map(|start| start.allocation).collect())
    }

    fn charged(&self, queue: &str, second: u64) -> f64 {
        let queue = self.shadow.engine.view().find_queue(queue).expect("declared");
        self.shadow.engine.view().charged(queue, secs(second))
    }
}

#[test]
fn an_undone_start_is_charged_nothing_and_no_attempt() {
    let rounds = Policy { memory: Memory::Rounds(span(100 * S)), ..policy("long-term") };
    for root in [policy("long-term"), policy("long-term-drf"), rounds] {
        let mut stage = Stage::new(&root);
        stage.job(0, "a", 2);
        let (_, running) = stage.decide(0);
        stage.send(5, Ev::StartFailed(running[0]));
        assert_eq!(stage.charged("a", 5), 5000.0, "only the one that runs");
        let (starts, _) = stage.decide(7);
        assert_eq!(starts, [(1, 0, 0)], "its old place, no attempt");
        stage.send(8, Ev::TaskLost(running[1]));
        assert_eq!(stage.charged("a", 8), 9000.0, "8 s of the lost one, 1 s of the other");
        let (starts, _) = stage.decide(8);
        assert_eq!(starts, [(1, 1, 0)], "no attempt either");
    }
}

#[test]
fn an_undone_start_is_no_service_to_the_guard() {
    let root = Policy { t_wait: Some(span(20 * S)), ..policy("long-term") };
    let mut stage = Stage::new(&root);
    let a = stage.shadow.engine.view().find_queue("a").expect("declared");
    stage.job(2, "a", 1);
    let (_, first) = stage.decide(5);
    stage.send(8, Ev::StartFailed(first[0]));
    let since = |stage: &Stage| stage.shadow.engine.view().waits_since(a);
    assert_eq!(since(&stage), secs(2), "its demand has never ceased");
    let (_, second) = stage.decide(9);
    stage.job(10, "a", 2);
    let (_, third) = stage.decide(11);
    assert_eq!(since(&stage), secs(11));
    stage.send(12, Ev::StartFailed(third[0]));
    assert_eq!(since(&stage), secs(11), "the other of that instant was a service");
    stage.send(13, Ev::StartFailed(third[1]));
    assert_eq!(since(&stage), secs(10), "when its demand began anew");
    let state = stage.shadow.engine.state();
    let again = Engine::from_state(&state, Box::new(place::FirstFit::new(1))).expect("its own");
    assert_eq!(again.state(), state);
    stage.send(14, Ev::Ended(second[0]));
    assert_eq!(since(&stage), secs(10));
    let (_, fourth) = stage.decide(15);
    stage.send(16, Ev::TaskLost(fourth[0]));
    assert_eq!(since(&stage), secs(16), "what is lost was served, and demand begins anew");
}

#[test]
fn an_undone_start_under_a_half_life() {
    let root = Policy { memory: Memory::HalfLife(span(10 * S)), ..policy("long-term") };
    let charges = |undone: bool| {
        // The twin knows no half-life.
        let mut engine = engine(&slots_config(4, &root, &["a", "b"]));
        let a = engine.view().find_queue("a").expect("declared");
        let groups = [TaskGroup::new(if undone { 2 } else { 1 }, slots(1))];
        let spec =
            JobSpec { queue: a, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        engine.apply(secs(0), Event::JobArrived(spec)).expect("sound");
        let mut last = None;
        engine.decide(false, |start| last = Some(start.allocation));
        // Three landmarks later.
        engine.advance(secs(250)).expect("time goes on");
        if undone {
            let start = last.expect("it starts");
            engine.apply(secs(250), Event::StartFailed(start)).expect("it runs");
        }
        engine.view().charged(a, secs(250))
    };
    let (undone, never) = (charges(true), charges(false));
    assert!((undone - never).abs() < 1e-3, "{undone} is not {never}");
}

#[test]
fn one_task_of_a_job_is_withdrawn() {
    let mut stage = Stage::new(&policy("long-term"));
    let job = stage.job(0, "a", 7);
    let (starts, running) = stage.decide(0);
    assert_eq!(starts.len(), 4);
    let ended =
        |state, stopped: &[AllocationId]| Effect::Ended { job, state, stopped: stopped.to_vec() };
    // One that waits, not the next; one that runs; the next.
    assert_eq!(stage.send(1, Ev::Withdrawn(job, 5)), ended(JobState::Active, &[]));
    let stopped = ended(JobState::Active, &running[2..3]);
    assert_eq!(stage.send(1, Ev::Withdrawn(job, 2)), stopped);
    assert_eq!(stage.send(1, Ev::Withdrawn(job, 4)), ended(JobState::Active, &[]));
    let again = stage.shadow.apply(S, &Ev::Withdrawn(job, 5));
    assert_eq!(again, Err(Rejected::NoSuchTask { task: 5 }));
    let (starts, last) = stage.decide(1);
    assert_eq!(starts, [(1, 6, 0)]);
    for allocation in [running[0], running[1], running[3]] {
        stage.send(2, Ev::Ended(allocation));
    }
    assert_eq!(stage.send(3, Ev::Withdrawn(job, 6)), ended(JobState::Done, &last));
}

#[test]
fn starts_may_be_asked_for_one_by_one() {
    let mut stage = Stage::new(&policy("long-term"));
    stage.job(0, "a", 4);
    assert_eq!(stage.shadow.decide_some(0, 2).len(), 2);
    stage.job(0, "b", 4);
    let starts = stage.shadow.decide_some(0, 9);
    assert!(starts.iter().all(|start| start.queue.index() == 2), "what came in between counts");
    assert_eq!(stage.shadow.decide_some(0, 1), []);
}

/// The one node of two slots, and the other.
fn nodes(stage: &Stage) -> [NodeId; 2] {
    let ids: Vec<NodeId> = stage.shadow.engine.view().node_ids().collect();
    [ids[0], ids[1]]
}

#[test]
fn running_tasks_are_adopted_as_if_decided_then() {
    let mut stage = Stage::new(&policy("long-term"));
    let [n, m] = nodes(&stage);
    let job = stage.job(50, "a", 6);
    for (task, node, since) in [(4, n, 10), (1, n, 20), (0, n, 50)] {
        let adopted = Ev::Adopted { job, task, node, since: since * S };
        assert!(matches!(stage.send(50, adopted), Effect::Started(_)), "over-full, out of turn");
    }
    let late = Ev::Adopted { job, task: 2, node: m, since: 60 * S };
    assert!(matches!(stage.shadow.apply(50 * S, &late), Err(Rejected::RunsLater { .. })));
    let again = Ev::Adopted { job, task: 4, node: m, since: 0 };
    assert_eq!(stage.shadow.apply(50 * S, &again), Err(Rejected::TaskDoesNotWait { task: 4 }));
    assert_eq!(stage.charged("a", 50), 1000.0 * (40 + 30 + 1) as f64);
    assert!(stage.shadow.engine.view().is_over_full(n));
    stage.job(50, "b", 1);
    let (starts, _) = stage.decide(50);
    assert_eq!(starts, [(2, 0, 0), (1, 2, 0)], "b has used less; nothing fits on the full node");
}

#[test]
fn a_task_may_run_elsewhere_than_was_assumed() {
    let mut config = slots_config(2, &policy("long-term"), &["a", "b"]);
    config.nodes.push(NodeSpec { weight: 500, ..node("m", slots(2)) });
    let mut stage = Stage { shadow: Shadow::new(&config) };
    let [n, m] = nodes(&stage);
    stage.job(0, "a", 1);
    let (_, running) = stage.decide(0);
    stage.send(10, Ev::Moved(running[0], m));
    assert_eq!(stage.charged("a", 10), 5000.0, "by the weight of its node, from its start");
    assert_eq!(
        (stage.shadow.engine.view().node(n).1, stage.shadow.engine.view().node(m).1),
        (slots(2), slots(1))
    );
    stage.send(12, Ev::Ended(running[0]));
    assert_eq!(stage.charged("a", 12), 6000.0);
}

#[test]
fn nodes_are_cordoned_relabelled_resized_and_used_by_others() {
    let mut stage = Stage::new(&policy("long-term"));
    let [n, m] = nodes(&stage);
    stage.job(0, "a", 9);
    stage.send(0, Ev::Cordoned(n, true));
    stage.send(0, Ev::UsedByOthers(m, slots(1)));
    assert_eq!(stage.decide(0).0, [(1, 0, 0)]);
    stage.send(1, Ev::UsedByOthers(m, slots(5)));
    assert_eq!(*stage.shadow.engine.view().capacity(), slots(4), "the pool stays");
    stage.send(2, Ev::Cordoned(n, false));
    let (starts, running) = stage.decide(2);
    assert_eq!(starts, [(1, 1, 0), (1, 2, 0)]);
    assert_eq!(stage.send(3, Ev::Resized(n, slots(1))), Effect::None);
    stage.send(4, Ev::Ended(running[0]));
    assert_eq!(stage.decide(4).0, [], "it is full now");
    stage.send(5, Ev::UsedByOthers(m, slots(0)));
    assert_eq!(stage.decide(5).0, [(1, 3, 0)]);
    stage.send(6, Ev::Relabelled(m, [("zone".to_owned(), "a".to_owned())].into()));
    assert_eq!(stage.shadow.engine.view().node(m).0.labels.len(), 1);
}

#[test]
fn what_fits_no_node_yet_waits_where_it_may() {
    let mut stage = Stage::new(&policy("long-term"));
    let queue = stage.shadow.engine.view().find_queue("a").expect("declared");
    let event = |zone: Option<&str>| {
        let rule = |zone: &str| [("zone".to_owned(), vec![zone.to_owned()])].into();
        let constraints = zone
            .map(|zone| Box::new(Constraints { require: rule(zone), ..Constraints::default() }));
        let groups = vec![TaskGroup { constraints, ..TaskGroup::new(1, slots(3)) }];
        Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 }
    };
    assert!(stage.shadow.apply(0, &event(None)).is_err());
    stage.shadow.set_infeasible(Infeasible::Wait);
    stage.send(0, event(None));
    stage.send(0, event(Some("a")));
    assert_eq!(stage.decide(0).0, []);
    let groups = stage.shadow.engine.view().groups_in_order(queue);
    assert!(groups.iter().all(|group| !stage.shadow.engine.view().some_node_could_hold(group)));
    stage.send(1, Ev::NodeJoined(node("big", slots(3))));
    assert_eq!(stage.decide(1).0, [(1, 0, 0)]);
    let labels = [("zone".to_owned(), "a".to_owned())].into();
    stage.send(2, Ev::NodeJoined(NodeSpec { labels, ..node("bigger", slots(4)) }));
    assert_eq!(stage.decide(2).0, [(1, 0, 0)]);
}

#[test]
fn time_that_goes_back_is_refused_and_changes_nothing() {
    let mut stage = Stage::new(&policy("long-term"));
    stage.job(5, "a", 1);
    let [n, _] = nodes(&stage);
    let refused = stage.shadow.apply(5 * S - 1, &Ev::Cordoned(n, true));
    assert!(matches!(refused, Err(Rejected::TimeWentBack { .. })));
    assert_eq!(stage.decide(5).0, [(1, 0, 0)]);
}
