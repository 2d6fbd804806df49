//! What is refused, and in which words: a row for each way to be wrong.

use crate::common::shadow::Ev;
use crate::common::*;
use meed::place::FirstFit;
use meed::*;

fn sound() -> Config {
    slots_config(10, &policy("long-term"), &["p", "p.a", "b"])
}

type Change = fn(&mut Config);
type PolicyChange = fn(&mut Policy);

fn check_config(rows: &[(Change, &str)]) {
    for (change, expected) in rows {
        let mut config = sound();
        change(&mut config);
        let kinds = config.kinds.len();
        let answer = Engine::new(config, Box::new(FirstFit::new(kinds)));
        assert_eq!(answer.err().map(|error| error.to_string()).as_deref(), Some(*expected));
    }
}

fn add(config: &mut Config, name: &str) {
    config.queues.push(queue(name, 1000, policy("fair")));
}

#[test]
fn configurations() {
    check_config(&[
        (|c| c.queues.clear(), "there is no queue: declare at least one"),
        (
            |c| c.kinds = ResourceKinds::default(),
            "policy of queue `root`: there is no resource number 0 to measure fairness in",
        ),
        (
            |c| c.measured = 1,
            "policy of queue `root`: there is no resource number 1 to measure fairness in",
        ),
        (|c| add(c, "b"), "queue `b` is declared twice"),
        (|c| add(c, "b."), "queue name `b.` has an empty part; write `parent.child`"),
        (|c| add(c, ""), "queue name `` has an empty part; write `parent.child`"),
        (|c| add(c, "q.r"), "queue `q.r`: its parent `q` is not declared before it"),
        (|c| c.queues[2].weight = 0, "queue `b`: weight must be above 0 and at most 1000000"),
        (
            |c| c.queues[2].weight = MAX_WEIGHT + 1,
            "queue `b`: weight must be above 0 and at most 1000000",
        ),
        (
            |c| (c.queues[2].min, c.queues[2].max) = (Some(slots(2)), Some(slots(1))),
            "queue `b`: minimum share of `kind0` is above its maximum",
        ),
        (
            |c| (c.queues[0].min, c.queues[1].min) = (Some(slots(1)), Some(slots(2))),
            "queue `p`: the minimum shares of `kind0` below it add up to more than its own minimum",
        ),
        (
            |c| (c.queues[0].max, c.queues[1].min) = (Some(slots(1)), Some(slots(2))),
            "queue `p`: the minimum shares of `kind0` below it add up to more than its own maximum",
        ),
        (
            |c| c.queues[2].max = Some(Resources::new(&[1, 1])),
            "queue `b`, maximum share: 2 amounts for 1 resource kinds",
        ),
        (
            |c| c.queues[2].min = Some(Resources::new(&[MAX_AMOUNT + 1])),
            "queue `b`, minimum share: amount of `kind0` exceeds 9007199254740992 of its smallest \
             unit",
        ),
        (
            |c| c.nodes[0].capacity = Resources::new(&[1, 1]),
            "node `n`: 2 amounts for 1 resource kinds",
        ),
        (
            |c| c.nodes[0].capacity = slots(0),
            "node `n`: capacity must be above zero in at least one resource",
        ),
        (|c| c.nodes[0].weight = 0, "node `n`: weight must be above 0 and at most 10"),
        (|c| c.nodes[0].weight = 10_001, "node `n`: weight must be above 0 and at most 10"),
        (|c| c.nodes.push(node("n", slots(1))), "node `n` is declared twice"),
        (
            |c| c.nodes.push(node("m", Resources::new(&[MAX_AMOUNT]))),
            "the cluster's total of `kind0` exceeds 9007199254740992 of its smallest unit",
        ),
        (
            |c| c.queues[1].policy.discount = 1001,
            "policy of queue `p.a`: discount must lie between 0 and 1",
        ),
    ]);
}

#[test]
fn policies() {
    let rows: [(PolicyChange, &str); 9] = [
        (|p| p.memory = Memory::Rounds(Span::ZERO), "round length must be above zero"),
        (|p| p.memory = Memory::HalfLife(Span::ZERO), "half-life must be above zero"),
        (|p| p.memory = Memory::HalfLife(Span::MAX), "half-life must be at most a year"),
        (|p| p.scalar = Scalar::Kind(1), "there is no resource number 1"),
        (|p| p.scalar = Scalar::Priced(vec![]), "0 prices for 1 resources"),
        (|p| p.scalar = Scalar::Priced(vec![0]), "at least one price must be above zero"),
        (
            |p| p.scalar = Scalar::Priced(vec![(1 << 32) + 1]),
            "prices must be at most 1 per smallest unit; only their ratios matter",
        ),
        (
            |p| {
                p.quantum = Quantum::Adaptive {
                    initial: Span::ZERO,
                    interval: Span::ZERO,
                    untried: Untried::Handed,
                }
            },
            "quantum interval must be above zero",
        ),
        (
            |p| (p.measure, p.t_wait) = (Measure::Allocation, Some(Span::ZERO)),
            "t_wait guards against starvation under long-term only",
        ),
    ];
    for (change, expected) in rows {
        let mut config = sound();
        change(&mut config.root);
        let error =
            Engine::new(config, Box::new(FirstFit::new(1))).err().map(|error| error.to_string());
        assert_eq!(error, Some(format!("policy of queue `root`: {expected}")));
    }
}

#[test]
fn kinds_of_resources() {
    let kind = |name: &str| (name.to_owned(), Unit::Bytes);
    for (given, expected) in [
        (vec![], "a cluster has 1 to 7 resource kinds, not 0"),
        (
            (0..8).map(|i| kind(&i.to_string())).collect(),
            "a cluster has 1 to 7 resource kinds, not 8",
        ),
        (vec![kind("a"), kind("a")], "resource names must be distinct and not empty: `a`"),
        (vec![kind("")], "resource names must be distinct and not empty: ``"),
    ] {
        assert_eq!(
            ResourceKinds::new(given).err().map(|error| error.to_string()).as_deref(),
            Some(expected)
        );
    }
}

/// An engine at second 5 whose `p.a` runs a task and `b` is being removed; its ids and stale
/// handles.
struct Scene {
    engine: Engine,
    a: QueueId,
    p: QueueId,
    b: QueueId,
    gone: QueueId,
    job: JobId,
    dead_job: JobId,
    dead_task: AllocationId,
    left: NodeId,
}

fn scene() -> Scene {
    let mut config = sound();
    config.queues[1].max = Some(slots(4));
    config.queues.push(queue("gone", 1000, policy("fifo")));
    let mut engine = engine(&config);
    let [p, a, b, gone] =
        ["p", "p.a", "b", "gone"].map(|name| engine.view().find_queue(name).expect("declared"));
    let mut send = |second: u64, event: Ev| event.send(&mut engine, second * S).expect("sound");
    let job_of = |effect: Effect| match effect {
        Effect::Job(job) => job,
        other => panic!("{other:?}"),
    };
    let dead_job = job_of(send(1, job(a, 1, slots(1))));
    let job_id = job_of(send(1, job(a, 1, slots(1))));
    send(1, job(b, 1, slots(1)));
    send(1, Ev::QueueRemoved(b));
    send(1, Ev::QueueRemoved(gone));
    let Effect::Node(left) = send(2, Ev::NodeJoined(node("m", slots(1)))) else {
        panic!("a node joins")
    };
    send(2, Ev::NodeLeft(left));
    let mut first = None;
    engine.advance(secs(3)).expect("time goes on");
    engine.decide(false, |start| {
        first = first.or((start.job == dead_job).then_some(start.allocation))
    });
    let dead_task = first.expect("it started");
    Ev::Ended(dead_task).send(&mut engine, 5 * S).expect("it runs");
    Scene { engine, a, p, b, gone, job: job_id, dead_job, dead_task, left }
}

fn job(queue: QueueId, count: u32, demand: Resources) -> Ev {
    Ev::Job {
        queue,
        weight: 1000,
        groups: vec![TaskGroup::new(count, demand)],
        open: false,
        max_attempts: 0,
    }
}

#[test]
fn events() {
    let Scene { mut engine, a, p, b, gone, job: live, dead_job, dead_task, left } = scene();
    let empty =
        |queue| Ev::Job { queue, weight: 1000, groups: vec![], open: false, max_attempts: 0 };
    let weighted =
        |weight| Ev::Job { queue: a, weight, groups: vec![], open: true, max_attempts: 0 };
    let max = TaskGroup::new(u32::MAX, slots(1));
    let tasks = |job, groups| Ev::Tasks { job, groups, open: false };
    let below_b = queue("b.c", 1000, policy("fifo"));
    let min = |slots_| QueueChange { min: Some(Some(slots(slots_))), ..QueueChange::default() };
    let before = snapshot(&engine);
    for (second, event, expected) in [
        (
            4,
            job(a, 1, slots(1)),
            "event at 4000000 us comes after the engine has seen 5000000 us; events must not go \
             back in time",
        ),
        (5, job(gone, 1, slots(1)), "there is no such queue"),
        (5, job(QueueId::ROOT, 1, slots(1)), "there is no such queue"),
        (5, Ev::QueueRemoved(gone), "there is no such queue"),
        (5, Ev::QueueChanged(QueueId::ROOT, min(1)), "there is no such queue"),
        (5, job(p, 1, slots(1)), "queue `p` is a parent; jobs go to its leaves"),
        (5, job(b, 1, slots(1)), "queue `b` is being removed and takes no new jobs"),
        (5, Ev::QueueRemoved(p), "queue `p` still has queues below it; remove those first"),
        (5, Ev::Cancelled(dead_job), "there is no such job (it has ended, or never was)"),
        (5, Ev::JobChanged(dead_job, 1), "there is no such job (it has ended, or never was)"),
        (5, tasks(dead_job, vec![]), "there is no such job (it has ended, or never was)"),
        (5, Ev::Ended(dead_task), "there is no such running task (it has ended, or never ran)"),
        (5, Ev::Failed(dead_task), "there is no such running task (it has ended, or never ran)"),
        (5, Ev::NodeLeft(left), "there is no such node (it has left, or never joined)"),
        (
            5,
            Ev::NodeChanged(left, slots(1)),
            "there is no such node (it has left, or never joined)",
        ),
        (5, empty(a), "a job needs at least one task"),
        (5, job(a, 0, slots(1)), "a job needs at least one task"),
        (5, job(a, 1, slots(0)), "a task must ask for some amount of at least one resource"),
        (5, job(a, 1, Resources::new(&[1, 1])), "a task: 2 amounts for 1 resource kinds"),
        (
            5,
            job(a, 1, slots(5)),
            "a task asks for kind0 5, more than the maximum share of queue `p.a` (kind0 4)",
        ),
        (5, tasks(live, vec![max]), "a job can have at most 4294967295 tasks"),
        (5, weighted(0), "queue `of the job`: weight must be above 0 and at most 1000000"),
        (
            5,
            Ev::JobChanged(live, 0),
            "queue `of the job`: weight must be above 0 and at most 1000000",
        ),
        (5, Ev::NodeJoined(node("n", slots(1))), "node `n` is declared twice"),
        (
            5,
            Ev::NodeChanged(
                NodeId::clone(&engine.view().node_ids().next().expect("one")),
                slots(0),
            ),
            "node `n`: capacity must be above zero in at least one resource",
        ),
        (
            5,
            Ev::QueueAdded(below_b),
            "queue `b.c` cannot lie below `b`: that queue takes jobs itself",
        ),
        (
            5,
            Ev::QueueChanged(a, min(5)),
            "queue `p.a`: minimum share of `kind0` is above its maximum",
        ),
    ] {
        let answer = event.send(&mut engine, second * S).map_err(|error| error.to_string());
        assert_eq!(answer, Err(expected.to_owned()), "{event:?}");
        assert_eq!(snapshot(&engine), before, "{event:?} left a trace");
    }
    let free = engine.view().find_queue("p").expect("declared");
    engine.apply(secs(6), Event::QueueRemoved(a)).expect("drains");
    assert!(engine.view().queue(free).jobs == 0 && !engine.view().queue(a).removed);
}

#[test]
fn demands_that_no_node_could_hold() {
    let mut config = slots_config(10, &policy("fair"), &["a"]);
    for (nodes, expected) in [
        (
            vec![node("n", slots(10))],
            "which no node of this cluster could hold; the largest has kind0 10",
        ),
        (
            vec![],
            "which no node of this cluster could hold; the largest has nothing: it has no nodes",
        ),
    ] {
        config.nodes = nodes;
        let mut engine = engine(&config);
        let a = engine.view().find_queue("a").expect("declared");
        let answer = job(a, 1, slots(11)).send(&mut engine, 0).map_err(|error| error.to_string());
        assert_eq!(answer, Err(format!("a task asks for kind0 11, {expected}")));
    }
}

fn snapshot(engine: &Engine) -> String {
    let queue = |id| {
        format!(
            "{:?} {:?}",
            engine.view().queue(id),
            engine.view().integrals(id, engine.view().now())
        )
    };
    let queues: Vec<String> = engine.view().queue_ids().map(queue).collect();
    format!(
        "{:?} {queues:?} {} {}",
        engine.view().now(),
        engine.view().live_jobs(),
        engine.view().running_tasks()
    )
}
