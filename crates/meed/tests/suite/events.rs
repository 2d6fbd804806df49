//! Nodes and queues come and go while tasks run: by hand, step by step, with the twin beside.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

struct Stage {
    shadow: Shadow,
    running: Vec<AllocationId>,
}

impl Stage {
    fn new(config: &Config) -> Stage {
        Stage { shadow: Shadow::new(config), running: Vec::new() }
    }

    fn queue(&self, name: &str) -> QueueId {
        self.shadow.engine.view().find_queue(name).expect("declared")
    }

    fn send(&mut self, second: u64, event: Ev) -> Effect {
        self.shadow.apply(second * S, &event).expect("sound")
    }

    /// `count` tasks of `demand`; three attempts each.
    fn job(
        &mut self,
        second: u64,
        queue: &str,
        count: u32,
        demand: Resources,
        open: bool,
    ) -> JobId {
        let queue = self.queue(queue);
        let groups = if count == 0 { vec![] } else { vec![TaskGroup::new(count, demand)] };
        match self.send(second, Ev::Job { queue, weight: 1000, groups, open, max_attempts: 3 }) {
            Effect::Job(job) => job,
            other => panic!("{other:?}"),
        }
    }

    /// (task, node, failures) of what starts now.
    fn decide(&mut self, second: u64) -> Vec<(u32, usize, u16)> {
        let starts = self.shadow.decide(second * S);
        self.running.extend(starts.iter().map(|start| start.allocation));
        starts.iter().map(|start| (start.task, start.node.index(), start.failures)).collect()
    }
}

fn two_nodes() -> Config {
    let mut config = slots_config(2, &policy("long-term"), &["a", "b"]);
    config.nodes.push(node("m", slots(2)));
    config
}

#[test]
fn lost_tasks_wait_again_and_keep_their_failures() {
    let mut stage = Stage::new(&two_nodes());
    stage.job(0, "a", 4, slots(1), false);
    assert_eq!(stage.decide(0), [(0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 1, 0)]);
    let ids: Vec<NodeId> = stage.shadow.engine.view().node_ids().collect();
    stage.send(1, Ev::Failed(stage.running[2]));
    assert_eq!(stage.decide(1), [(2, 1, 1)]);
    // The last on node m is now task 2: the newest goes first.
    let lost = stage.send(2, Ev::NodeChanged(ids[1], slots(1)));
    assert_eq!(lost, Effect::Lost(vec![stage.running[4]]));
    assert_eq!(stage.decide(2), []);
    assert_eq!(stage.send(3, Ev::NodeLeft(ids[1])), Effect::Lost(vec![stage.running[3]]));
    assert_eq!(stage.decide(3), []);
    let Effect::Node(back) = stage.send(4, Ev::NodeJoined(node("m", slots(2)))) else {
        panic!("it joins")
    };
    assert_eq!(back.index(), 2);
    assert_eq!(stage.decide(4), [(2, 2, 1), (3, 2, 0)]);
}

/// Slots that were free before are given out again the last first: here the second of two tasks
/// that start at one instant has the smaller one.
#[test]
fn of_tasks_of_one_instant_the_one_that_started_last_is_lost() {
    let mut stage = Stage::new(&slots_config(6, &policy("fair"), &["a"]));
    stage.job(0, "a", 2, slots(1), false);
    stage.decide(0);
    stage.send(3, Ev::Ended(stage.running[0]));
    stage.send(3, Ev::Ended(stage.running[1]));
    stage.job(9, "a", 2, slots(3), false);
    assert_eq!(stage.decide(9), [(0, 0, 0), (1, 0, 0)]);
    let [.., first, last] = stage.running[..] else { panic!("two run") };
    assert!(last.slot() < first.slot(), "the case is of interest");
    // Whoever reads the state loses the same task.
    let state = stage.shadow.engine.state();
    let text = serde_json::to_string(&state).expect("plain data");
    let node = stage.shadow.engine.view().node_ids().next().expect("there is one");
    let lost_by = |state: &State| {
        let place = Box::new(meed::place::FirstFit::new(1));
        let mut engine = Engine::from_state(state, place).expect("it was written");
        assert_eq!(engine.state(), *state, "read and written again");
        let event = Event::NodeChanged(node, slots(3));
        engine.apply(secs(13), event).expect("sound")
    };
    assert_eq!(lost_by(&state), Effect::Lost(vec![last]));
    assert_eq!(lost_by(&serde_json::from_str(&text).expect("it was written")), lost_by(&state));
    let lost = stage.send(13, Ev::NodeChanged(node, slots(3)));
    assert_eq!(lost, Effect::Lost(vec![last]));
}

#[test]
fn a_job_fails_when_a_task_used_up_its_attempts() {
    let mut stage = Stage::new(&two_nodes());
    let job = stage.job(0, "a", 6, slots(1), false);
    stage.decide(0);
    for (attempt, expected) in [(1, JobState::Active), (2, JobState::Active), (3, JobState::Failed)]
    {
        let last = stage.running[stage.running.len() - 1];
        let effect = stage.send(attempt, Ev::Failed(last));
        let stopped =
            if expected == JobState::Failed { stage.running[..3].to_vec() } else { vec![] };
        assert_eq!(effect, Effect::Ended { job, state: expected, stopped });
        stage.decide(attempt);
    }
    let engine = &stage.shadow.engine;
    assert_eq!(
        (
            engine.view().live_jobs(),
            engine.view().running_tasks(),
            engine.view().queue(stage.queue("a")).waiting
        ),
        (0, 0, 0)
    );
}

#[test]
fn a_removed_queue_drains_first() {
    let mut stage = Stage::new(&two_nodes());
    let (a, b) = (stage.queue("a"), stage.queue("b"));
    stage.job(0, "a", 2, slots(2), false);
    stage.decide(0);
    stage.send(1, Ev::QueueRemoved(a));
    stage.send(1, Ev::QueueRemoved(b));
    let view = |stage: &Stage, id| {
        let view = stage.shadow.engine.view().queue(id);
        (view.removed, view.share.get(0))
    };
    assert_eq!((view(&stage, a), view(&stage, b).0), ((false, 4000), true));
    stage.send(2, Ev::Ended(stage.running[0]));
    assert_eq!(view(&stage, a), (false, 4000));
    stage.send(3, Ev::Ended(stage.running[1]));
    assert!(view(&stage, a).0);
    // Under its name it is the queue that it was; another has a number of its own.
    let added = stage.send(4, Ev::QueueAdded(queue("a", 1000, policy("fair"))));
    assert_eq!(added, Effect::Queue(a));
    let added = stage.send(4, Ev::QueueAdded(queue("d", 1000, policy("fair"))));
    assert!(matches!(added, Effect::Queue(id) if id.index() == 3));
    stage.job(4, "a", 1, slots(1), false);
    assert_eq!(stage.decide(4), [(0, 0, 0)]);
}

#[test]
fn an_open_job_waits_for_more() {
    let mut stage = Stage::new(&two_nodes());
    let job = stage.job(0, "a", 0, slots(1), true);
    assert_eq!(stage.decide(0), []);
    let groups = |count| vec![TaskGroup::new(count, slots(1))];
    stage.send(1, Ev::Tasks { job, groups: groups(1), open: true });
    assert_eq!(stage.decide(1), [(0, 0, 0)]);
    let drained = stage.send(2, Ev::Ended(stage.running[0]));
    assert_eq!(drained, Effect::Ended { job, state: JobState::Drained, stopped: vec![] });
    stage.send(3, Ev::Tasks { job, groups: groups(2), open: false });
    assert_eq!(stage.decide(3), [(1, 0, 0), (2, 0, 0)]);
    stage.send(4, Ev::Ended(stage.running[1]));
    let done = stage.send(5, Ev::Ended(stage.running[2]));
    assert_eq!(done, Effect::Ended { job, state: JobState::Done, stopped: vec![] });
}

#[test]
fn parked_leaves_wake() {
    let mut config = slots_config(6, &policy("long-term"), &["p", "p.a", "p.b", "c"]);
    config.queues[0].max = Some(slots(3));
    let mut stage = Stage::new(&config);
    let p = stage.queue("p");
    stage.job(0, "p.a", 4, slots(2), false);
    let small = stage.job(0, "p.b", 2, slots(2), false);
    stage.job(0, "c", 1, slots(3), false);
    assert_eq!(stage.decide(0).len(), 2, "p may hold one of two slots, c has one of three");
    stage.send(
        1,
        Ev::QueueChanged(p, QueueChange { max: Some(Some(slots(2))), ..Default::default() }),
    );
    assert_eq!(stage.decide(1), []);
    // One slot is free: raising the maximum alone helps nobody, room alone neither.
    stage.send(
        2,
        Ev::QueueChanged(p, QueueChange { max: Some(Some(slots(5))), ..Default::default() }),
    );
    assert_eq!(stage.decide(2), []);
    let Effect::Node(_) = stage.send(3, Ev::NodeJoined(node("m", slots(2)))) else {
        panic!("it joins")
    };
    assert_eq!(stage.decide(3), [(0, 1, 0)]);
    stage.send(4, Ev::Cancelled(small));
    assert_eq!(stage.decide(4), [(1, 1, 0)]);
    stage.send(5, Ev::QueueChanged(p, QueueChange { max: Some(None), ..Default::default() }));
    assert_eq!(stage.decide(5), []);
    stage.send(6, Ev::Ended(stage.running[1]));
    assert_eq!(stage.decide(6), [(2, 0, 0), (3, 0, 0)]);
}

#[test]
fn large_tasks_may_be_waited_for() {
    for (blocked, expected) in [(Blocked::Skip, vec![(0, 0, 0)]), (Blocked::Wait, vec![])] {
        let mut root = policy("fifo");
        root.blocked = blocked;
        let mut stage = Stage::new(&slots_config(4, &root, &["a", "b"]));
        stage.job(0, "a", 1, slots(3), false);
        stage.decide(0);
        stage.job(1, "a", 1, slots(2), false);
        stage.job(1, "b", 1, slots(1), false);
        assert_eq!(stage.decide(1), expected, "{blocked:?}");
    }
}
