//! The paper's examples, each rule's choices as rows, and what always holds of slots.

use super::*;
use meed::place::FirstFit;
use meed::{
    Config, Effect, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
    TaskGroup, Unit,
};
use proptest::prelude::*;

const MB: u64 = 1_000_000;

fn secs(seconds: u64) -> Span {
    Span::from_secs(seconds).expect("in range")
}

fn limits() -> Limits {
    Limits {
        disk_bytes_per_s: 30 * MB,
        cpu_busy: 900,
        io_bytes_per_s: 35 * MB,
        threshold: 3,
        local_wait: secs(5),
    }
}

/// Handles of so many live jobs: only an engine makes them.
fn jobs(n: usize) -> Vec<JobId> {
    let kinds = ResourceKinds::new(vec![("map".to_owned(), Unit::Milli)]).expect("a kind");
    let policy = Policy::preset("fifo").expect("a preset");
    let queue = QueueSpec {
        name: "q".to_owned(),
        weight: 1000,
        min: None,
        max: None,
        policy: policy.clone(),
    };
    let nodes = vec![NodeSpec::new("n", Resources::new(&[1000]))];
    let config = Config { kinds, measured: 0, root: policy, queues: vec![queue], nodes };
    let mut engine = Engine::new(config, Box::new(FirstFit::new(1))).expect("sound");
    let queue = engine.view().find_queue("q").expect("declared");
    let groups = [TaskGroup::new(1, Resources::new(&[1000]))];
    let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
    let mut arrive = || match engine.apply(Time::ZERO, Event::JobArrived(spec)) {
        Ok(Effect::Job(job)) => job,
        other => panic!("{other:?}"),
    };
    (0..n).map(|_| arrive()).collect()
}

fn report(job: JobId, node: usize, seconds: u64, bytes: u64) -> TaskReport {
    TaskReport {
        job,
        node,
        lasted: secs(seconds),
        local: true,
        map_input_bytes: bytes,
        map_output_bytes: 0,
        shuffle_in_bytes: 0,
        shuffle_out_bytes: 0,
    }
}

fn classes(rule: &str, map_slots: &[u32]) -> Classes {
    Classes::new(Rule::find(rule).expect("a rule"), limits(), map_slots.to_vec()).expect("sound")
}

/// A cluster on which a job of each class has ended, with these times of one task on each node.
fn measured(rule: &str, map_slots: &[u32], cpu: &[u64], io: &[u64]) -> Classes {
    let mut classes = classes(rule, map_slots);
    for (job, (seconds, bytes)) in jobs(2).into_iter().zip([(cpu, 0), (io, 1 << 40)]) {
        classes.job_arrived(job);
        for (node, &seconds) in seconds.iter().enumerate().filter(|(_, seconds)| **seconds > 0) {
            classes.task_ended(&report(job, node, seconds, bytes));
        }
        classes.job_ended(job);
    }
    classes
}

fn slots_of(classes: &Classes) -> Vec<(u32, u32)> {
    (0..classes.slots.len()).map(|node| (classes.slots(node).cpu, classes.slots(node).io)).collect()
}

#[test]
fn eq_1_compares_the_throughput_of_a_full_node_with_the_disk() {
    let job = jobs(1)[0];
    for (at_once, mb, seconds, expected) in [
        (4, 64, 10, Class::Cpu), // 25.6 MB/s
        (4, 75, 10, Class::Io),  // 30 MB/s: not below the disk's rate
        (4, 74, 10, Class::Cpu),
        (1, 64, 2, Class::Io),
        (4, 0, 10, Class::Cpu),
        (4, 1, 0, Class::Io),
    ] {
        let quarter = mb * MB / 4;
        let all = TaskReport {
            map_output_bytes: quarter,
            shuffle_in_bytes: quarter,
            shuffle_out_bytes: quarter,
            ..report(job, 0, seconds, mb * MB - 3 * quarter)
        };
        assert_eq!(
            classify::class(&all, at_once, 30 * MB),
            expected,
            "{at_once} x {mb} MB in {seconds} s"
        );
    }
}

/// Sec. 3.1.2 and Fig. 4: nine tasks on three nodes; c_y is the inverse of the mean time (the text
/// prints the mean).
#[test]
fn fig_4_slots_follow_the_tasks_that_a_node_ends_in_a_second() {
    let job = jobs(1)[0];
    let mut classes = classes("jas", &[4, 4, 4]);
    classes.job_arrived(job);
    let times = [(0, [10, 10, 10].as_slice()), (1, &[5, 5, 5, 5]), (2, &[20, 20])];
    for (node, times) in times {
        times.iter().for_each(|&seconds| classes.task_ended(&report(job, node, seconds, 0)));
    }
    assert_eq!(slots_of(&classes), [(2, 2); 3], "before the job has ended");
    classes.job_ended(job);
    assert!(classes.beat(ClassLoad::default()));
    // c = 1/10, 1/5, 1/20: of six slots 1.71, 3.43, 0.86, whole by largest remainder.
    assert_eq!(slots_of(&classes), [(2, 2), (3, 2), (1, 2)]);
    assert!(!classes.beat(ClassLoad::default()), "once is enough");
}

/// Fig. 2 and 3: DMR halves whatever the nodes are; by capability each class goes where it is done
/// fastest.
#[test]
fn fig_3_halves_do_not_fit_unequal_nodes() {
    let (cpu, io) = ([10, 20, 20], [20, 20, 10]);
    let slots = |rule: &str| {
        let mut classes = measured(rule, &[4; 3], &cpu, &io);
        classes.beat(ClassLoad::default());
        slots_of(&classes)
    };
    assert_eq!(slots("dmr"), [(2, 2); 3]);
    for rule in ["jas", "jasl", "djasl"] {
        assert_eq!(slots(rule), [(3, 2), (2, 1), (1, 3)], "{rule}");
    }
}

/// Eq. 2 is over the tasks of one job: a node that was given a long job's tasks is not slower than
/// one with a short job's.
#[test]
fn jobs_are_not_mixed() {
    let ids = jobs(2);
    let mut classes = classes("djasl", &[8, 8, 8]);
    ids.iter().for_each(|&job| classes.job_arrived(job));
    for (job, node, seconds) in
        [(0, 0, 100), (0, 0, 100), (0, 1, 100), (1, 1, 10), (1, 2, 10), (1, 2, 10)]
    {
        classes.task_ended(&report(ids[job], node, seconds, 0));
    }
    ids.iter().for_each(|&job| classes.job_ended(job));
    classes.beat(ClassLoad::default());
    assert_eq!(slots_of(&classes), [(4, 4); 3]);
    // A job that ran on two nodes compares these two only; their sum stays.
    let job = jobs(3)[2];
    classes.job_arrived(job);
    classes.task_ended(&report(job, 0, 3, 0));
    classes.task_ended(&report(job, 1, 1, 0));
    classes.job_ended(job);
    for _ in 0..3 {
        classes.beat(ClassLoad { cpu_busy: 1000, io_bytes_per_s: 0 });
    }
    assert_eq!(slots_of(&classes), [(2, 4), (6, 4), (4, 4)]);
}

#[test]
fn a_node_without_records_keeps_its_slots() {
    let mut classes = measured("jas", &[4, 4, 4, 0], &[10, 0, 10], &[0, 0, 0]);
    assert!(!classes.beat(ClassLoad::default()), "equal nodes keep halves");
    let mut classes = measured("jas", &[8, 8, 8, 0], &[10, 0, 30], &[0, 0, 0]);
    classes.beat(ClassLoad::default());
    assert_eq!(slots_of(&classes), [(6, 4), (4, 4), (2, 4), (0, 0)]);
}

/// Rows: rule, slot, class of the job (unknown: `None`), whether a block is local; the rank.
#[test]
fn who_may_have_a_slot() {
    use Class::{Cpu, Io};
    let (any, cpu, io) = (SlotKind::Any, SlotKind::Of(Cpu), SlotKind::Of(Io));
    let rows = [
        ("hadoop", any, None, false, Some(0)),
        ("hadoop", any, Some(Cpu), true, Some(0)),
        ("delay", any, Some(Io), false, Some(0)),
        ("dmr", cpu, None, false, Some(0)),
        ("dmr", cpu, Some(Cpu), false, Some(1)),
        ("dmr", cpu, Some(Io), true, None),
        ("dmr", io, Some(Cpu), true, None),
        ("jas", cpu, Some(Cpu), false, Some(1)),
        ("jas", cpu, Some(Io), false, Some(2)),
        ("jas", io, Some(Io), false, Some(1)),
        ("jas", io, None, false, Some(0)),
        ("jasl", io, Some(Io), true, Some(1)),
        ("jasl", io, Some(Io), false, None),
        ("jasl", io, Some(Cpu), false, Some(2)),
        ("djasl", cpu, None, false, Some(0)),
        ("djasl", cpu, Some(Cpu), false, None),
    ];
    for (rule, slot, class, local, expected) in rows {
        let (job, mut classes) = (jobs(1)[0], classes(rule, &[4, 4]));
        classes.job_arrived(job);
        if let Some(class) = class {
            classes.task_ended(&report(job, 1, 10, if class == Cpu { 0 } else { 1 << 40 }));
            assert_eq!(classes.class(job), Some(class));
        }
        let remote = || Remote { holder: 1, transfer: secs(1) };
        assert_eq!(
            classes.rank(0, slot, job, local, remote),
            expected,
            "{rule} {slot:?} {class:?} {local}"
        );
    }
}

/// Eq. 6, with the class's times where the job never ran on the node that asks.
#[test]
fn eq_6_data_moves_only_where_that_pays() {
    let ids = jobs(3);
    let mut classes = classes("jasl", &[4, 4, 4]);
    ids.iter().for_each(|&job| classes.job_arrived(job));
    for (job, node, seconds) in
        [(0, 0, 30), (0, 1, 10), (1, 2, 20), (1, 1, 10), (2, 0, 4), (2, 1, 1), (2, 2, 2)]
    {
        classes.task_ended(&report(ids[job], node, seconds, 0));
    }
    // From this one it is known how nodes compare.
    classes.job_ended(ids[2]);
    for (job, node, holder, transfer, expected) in [
        (0, 1, 0, 19, true),  // 30 > 10 + 19
        (0, 1, 0, 20, false), // 30 = 10 + 20
        (0, 0, 1, 0, false),  // slower here
        (0, 2, 0, 14, true),  // here by the class: 30 * 2 / 4 = 15 s
        (0, 2, 0, 15, false),
        (1, 0, 2, 0, false), // 40 s here by the class
    ] {
        let remote = || Remote { holder, transfer: secs(transfer) };
        let rank = classes.rank(node, SlotKind::Of(Class::Cpu), ids[job], false, remote);
        assert_eq!(rank.is_some(), expected, "job {job}: from {holder} to {node} in {transfer} s");
    }
}

#[test]
fn delay_scheduling_passes_over_for_a_time() {
    let (job, mut classes) = (jobs(1)[0], classes("delay", &[2]));
    classes.job_arrived(job);
    let at = |seconds| Time::from_secs(seconds).expect("in range");
    for (now, local, expected) in [
        (0, false, false),
        (4, false, false),
        (5, false, true),
        (6, false, true),
        (7, true, true),
        (8, false, false),
        (13, false, true),
    ] {
        assert_eq!(classes.accepts(at(now), job, local), expected, "at {now} s");
    }
}

/// Algorithm 10: slots follow what the latest jobs took, once the threshold is reached.
#[test]
fn overload_sets_slots_anew() {
    let job = jobs(3)[2];
    let mut classes = measured("djasl", &[4, 4], &[10, 10], &[10, 10]);
    classes.beat(ClassLoad::default());
    assert_eq!(slots_of(&classes), [(2, 2), (2, 2)]);
    classes.job_arrived(job);
    classes.task_ended(&report(job, 0, 30, 0));
    classes.task_ended(&report(job, 1, 10, 0));
    classes.job_ended(job);
    let busy = ClassLoad { cpu_busy: 901, io_bytes_per_s: 35 * MB };
    assert_eq!([0; 3].map(|_| classes.beat(busy)), [false, false, true], "the threshold is 3");
    assert_eq!(
        slots_of(&classes),
        [(1, 2), (3, 2)],
        "the slower node has fewer; 35 MB/s is not above 35 MB/s"
    );
    let mut still = measured("jasl", &[4, 4], &[10, 10], &[10, 10]);
    assert!(!(0..9).any(|_| still.beat(busy)), "only DJASL counts");
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |rule: &str, limits, slots: &[u32]| {
        let made = Classes::new(Rule::find(rule).expect("a rule"), limits, slots.to_vec());
        made.err().map(|why| why.to_string())
    };
    assert_eq!(new("hadoop", limits(), &[1, 0]), None);
    let odd = "jas splits the map slots of each node into two classes; node 1 has 1, at least 2 \
        are needed";
    assert_eq!(new("jas", limits(), &[4, 1]).as_deref(), Some(odd));
    let zero = Limits { threshold: 0, ..limits() };
    assert_eq!(new("djasl", zero, &[4]).as_deref(), Some("the threshold must be above zero"));
}

proptest! {
    /// Slots add up to what they were, and each node has some, whatever was measured.
    #[test]
    fn slots_are_moved_never_lost(
        nodes in prop::collection::vec((2u32..9, 0u64..2000, 0u64..2000), 1..12),
    ) {
        let map_slots: Vec<u32> = nodes.iter().map(|node| node.0).collect();
        let (cpu, io): (Vec<u64>, Vec<u64>) = nodes.iter().map(|node| (node.1, node.2)).unzip();
        let mut classes = measured("jas", &map_slots, &cpu, &io);
        classes.beat(ClassLoad::default());
        let now = slots_of(&classes);
        prop_assert_eq!(now.iter().map(|(cpu, io)| cpu + io).sum::<u32>(), map_slots.iter()
            .sum::<u32>());
        prop_assert!(now.iter().all(|&(cpu, io)| cpu > 0 && io > 0));
    }
}
