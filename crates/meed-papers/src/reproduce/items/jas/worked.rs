//! Fig. 2 to 5: which task goes where in clusters of two and three nodes, by the rules and the
//! engine that all runs use.

use meed::{
    Config, Effect, Engine, Event, JobId, JobSpec, NodeId, NodeSpec, Policy, QueueSpec,
    ResourceKinds, Resources, Span, TaskGroup, Time, Unit, place,
};
use meed_mapreduce::classes::capability::Capability;
use meed_mapreduce::classes::locality::NodeTimes;
use meed_mapreduce::classes::{
    Class, ClassLoad, Classes, Limits, Remote, Rule, SlotKind, TaskReport,
};
use meed_report::page::{Block, Cell, Table};

use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Verdict};

/// Thousandths of a map slot.
const SLOT: u64 = 1000;

const LIMITS: Limits = Limits {
    disk_bytes_per_s: 35_000_000,
    cpu_busy: 900,
    io_bytes_per_s: 35_000_000,
    threshold: 300,
    local_wait: Span::ZERO,
};

/// A JobTracker with its TaskTrackers, without time: heartbeats come when they are called for, and
/// no task ends.
struct Bench {
    engine: Engine,
    classes: Classes,
    nodes: Vec<NodeId>,
    /// By number, from 1: what the engine calls it.
    jobs: Vec<JobId>,
    /// Tasks handed out so far, by number of job.
    given: Vec<u32>,
}

fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds).unwrap_or(Span::MAX)
}

impl Bench {
    /// Nodes with so many map slots.
    fn new(rule: &str, slots: &[u32]) -> Result<Bench, ReproduceError> {
        let fifo = Policy::preset("fifo").expect("a preset");
        let node = |(number, slots): (usize, &u32)| {
            NodeSpec::new(
                format!("TaskTracker{}", number + 1),
                Resources::new(&[u64::from(*slots) * SLOT]),
            )
        };
        let queue = QueueSpec {
            name: "all".to_owned(),
            weight: 1000,
            min: None,
            max: None,
            policy: fifo.clone(),
        };
        let config = Config {
            kinds: ResourceKinds::new(vec![("map".to_owned(), Unit::Milli)])?,
            measured: 0,
            root: fifo,
            queues: vec![queue],
            nodes: slots.iter().enumerate().map(node).collect(),
        };
        let engine = Engine::new(config, (place::PLACEMENTS[0].new)(1, 0))?;
        let rule = Rule::find(rule).expect("a rule of the table");
        let classes = Classes::new(rule, LIMITS, slots.to_vec()).expect("two slots or more");
        let nodes = engine.view().node_ids().collect();
        Ok(Bench { engine, classes, nodes, jobs: Vec::new(), given: Vec::new() })
    }

    /// A job of so many maps comes, of a class that is known from a task before.
    fn job(&mut self, maps: u32, class: Class) -> JobId {
        let groups = [TaskGroup::new(maps, Resources::new(&[SLOT]))];
        let queue = self.engine.view().find_queue("all").expect("it was declared");
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        let Ok(Effect::Job(id)) = self.engine.apply(Time::ZERO, Event::JobArrived(spec)) else {
            unreachable!("maps fit every node")
        };
        self.classes.job_arrived(id);
        self.ended(id, 0, seconds(10), class);
        self.jobs.push(id);
        self.given.push(0);
        id
    }

    /// A map of the job took so long on a node, and moved as much data as its class does.
    fn ended(&mut self, job: JobId, node: usize, lasted: Span, class: Class) {
        let bytes = if class == Class::Io { 1 << 30 } else { 0 };
        self.classes.task_ended(&TaskReport {
            job,
            node,
            lasted,
            local: true,
            map_input_bytes: bytes,
            map_output_bytes: 0,
            shuffle_in_bytes: 0,
            shuffle_out_bytes: 0,
        });
    }

    /// The heartbeat of a node: what it is given, as "J1t1". `local`: whether a block of the job
    /// lies there.
    fn heartbeat(&mut self, node: usize, local: &dyn Fn(usize) -> bool) -> Vec<String> {
        self.classes.beat(ClassLoad::default());
        let mut got = Vec::new();
        for &kind in self.classes.slot_kinds() {
            for _ in 0..self.classes.slots(node).of(kind) {
                let Some(number) = self.offer(node, kind, local) else { break };
                self.given[number] += 1;
                got.push(format!("J{}t{}", number + 1, self.given[number]));
            }
        }
        got
    }

    /// One slot of a node is offered; the number of the job that takes it.
    fn offer(
        &mut self,
        node: usize,
        kind: SlotKind,
        local: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let (jobs, classes) = (&self.jobs, &self.classes);
        let number = |id: JobId| jobs.iter().position(|job| *job == id);
        let remote = || Remote { holder: 1 - node.min(1), transfer: seconds(1) };
        let mut rank = |id: JobId, _: u32| classes.rank(node, kind, id, local(number(id)?), remote);
        let start = self.engine.offer(self.nodes[node], false, &mut rank)?;
        number(start.job)
    }
}

fn same(what: &str, paper: &str, measured: String, reason: &str) -> Check {
    Check {
        what: what.to_owned(),
        paper: paper.to_owned(),
        verdict: if paper == measured { Verdict::Same } else { Verdict::Differs },
        measured: Measured::Words(measured),
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
        under: Vec::new(),
        again: None,
    }
}

/// CPU-bound and I/O-bound tasks that each TaskTracker of Fig. 3 runs at once without one waiting.
const CAPABILITIES: [[u32; 2]; 3] = [[2, 1], [1, 2], [1, 3]];

/// Tasks that wait, and places that stay free, of both classes.
fn over_and_idle(slots: [u32; 2], node: usize) -> String {
    let words = |class: usize, name: &str| {
        let (has, can) = (slots[class], CAPABILITIES[node][class]);
        match has.cmp(&can) {
            std::cmp::Ordering::Greater => Some(format!("{} {name} too many", has - can)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => Some(format!("{} {name} idle", can - has)),
        }
    };
    let all: Vec<String> = [words(0, "CPU"), words(1, "I/O")].into_iter().flatten().collect();
    if all.is_empty() { "fits".to_owned() } else { all.join(", ") }
}

/// Fig. 2 and 3: DMR gives every node half of its slots for each class, whatever it is capable of.
pub(in super::super) fn figure_3(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut bench = Bench::new("dmr", &[4; 3])?;
    bench.job(8, Class::Cpu);
    bench.job(8, Class::Io);
    let mut checks = Vec::new();
    let printed = ["J1t1, J1t2, J2t1, J2t2", "J1t3, J1t4, J2t3, J2t4", "J1t5, J1t6, J2t5, J2t6"];
    let loads = ["1 I/O too many", "1 CPU too many", "1 CPU too many, 1 I/O idle"];
    let mut table = Table {
        caption:
            "Slots against what each node runs without waiting (Fig. 3): CPU-bound and I/O-bound"
                .to_owned(),
        columns: ["node", "capable of", "DMR", "that is", "JAS", "that is"]
            .map(str::to_owned)
            .to_vec(),
        rows: Vec::new(),
    };
    let jas = slots_by_capability()?;
    for node in 0..3 {
        let got = bench.heartbeat(node, &|_| true).join(", ");
        let what = format!("tasks that TaskTracker{} is given by DMR (Fig. 2)", node + 1);
        checks.push(same(&what, printed[node], got, ""));
        let slots = bench.classes.slots(node);
        let dmr = [slots.cpu, slots.io];
        let what = format!("TaskTracker{} under DMR (Fig. 3)", node + 1);
        let misprint = "the text has \"three CPU slots and one I/O slot\" for it once; all it says \
            of it then, and its first \
                        half sentence, are of one CPU-bound and three I/O-bound tasks";
        checks.push(same(
            &what,
            loads[node],
            over_and_idle(dmr, node),
            if node == 2 { misprint } else { "" },
        ));
        let pair = |[cpu, io]: [u32; 2]| Cell::Text(format!("{cpu} and {io}"));
        table.rows.push(vec![
            Cell::Text(format!("TaskTracker{}", node + 1)),
            pair(CAPABILITIES[node]),
            pair(dmr),
            Cell::Text(over_and_idle(dmr, node)),
            pair(jas[node]),
            Cell::Text(over_and_idle(jas[node], node)),
        ]);
    }
    let assumptions = vec![
        "Both jobs are classified already. JAS has measured each node alone with its class: its \
         capability is what Fig. 3 \
         says that it runs at once. JAS too hands out half of all slots to each class: six CPU \
         slots, where the three nodes \
         run four such tasks without waiting."
            .to_owned(),
    ];
    Ok(ItemOutcome { checks, assumptions, blocks: vec![Block::Table(table)] })
}

/// What JAS makes of the nodes of Fig. 3.
fn slots_by_capability() -> Result<[[u32; 2]; 3], ReproduceError> {
    let mut bench = Bench::new("jas", &[4; 3])?;
    for (i, class) in Class::ALL.into_iter().enumerate() {
        let job = bench.job(9, class);
        // Classified by a first task of 10 s; then 600 s of each node, as many tasks as it runs at
        // once.
        for (node, capable) in CAPABILITIES.iter().enumerate() {
            for _ in 0..capable[i] * 600 {
                bench.ended(job, node, seconds(u64::from(60 / capable[i])), class);
            }
        }
        bench.classes.job_ended(job);
    }
    bench.classes.beat(ClassLoad::default());
    Ok([0, 1, 2].map(|node| {
        let slots = bench.classes.slots(node);
        [slots.cpu, slots.io]
    }))
}

/// Who ran which of the nine tasks of Fig. 4, and how long each took, in milliseconds (ours: 30 s
/// of each node).
const FIGURE_4: [(u32, u64); 3] = [(3, 10_000), (4, 7_500), (2, 15_000)];

/// Fig. 4: slots from measured times, by Eq. 2 and 3.
pub(in super::super) fn figure_4(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let slots = |usual: u32| {
        let (mut capability, mut times) = (Capability::new(3), NodeTimes::default());
        for (node, (tasks, millis)) in FIGURE_4.into_iter().enumerate() {
            let lasted = Span::from_micros(millis * 1000).unwrap_or(Span::MAX);
            (0..tasks).for_each(|_| times.add(node, lasted));
        }
        capability.learn(&times);
        capability.share_out(&[usual; 3]).unwrap_or_default()
    };
    let words = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let mean = |i: usize| FIGURE_4[i].1 as f64 / 1000.0;
    let all: f64 = (0..3).map(mean).sum();
    let inverse: Vec<String> = (0..3).map(|i| format!("{:.2}", 9.0 * mean(i) / all)).collect();
    let checks = vec![
        same(
            "CPU slots of r1, r2, r3 with s = 18: k = 9 c / (c1 + c2 + c3)",
            "3, 4, 2",
            words(&slots(3)),
            "c = 3/30, 4/30 and 2/30 tasks a second; no times and no slots are printed, both are \
             ours",
        )
        .given(),
        same(
            "the same with s = 12: 2, 2.67 and 1.33, whole by largest remainder",
            "2, 3, 1",
            words(&slots(2)),
            "how slots are made whole is not printed, nor are times and slots",
        )
        .given(),
        Check {
            what: "CPU slots by the example's c1 = (t1 + t3 + t5) / 3, s = 18".to_owned(),
            paper: "as by Eq. 2".to_owned(),
            measured: Measured::Words(inverse.join(", ")),
            verdict: Verdict::Differs,
            reason: Some(
                "the example prints mean times where Eq. 2 has tasks per second: the slowest node \
                 would get the most slots. We \
                 take Eq. 2"
                    .to_owned(),
            ),
            under: Vec::new(),
            again: None,
        },
    ];
    let assumptions = vec![
        "Who ran which task is the paper's. The times are ours, for none are in its text: each of \
         r1's three tasks takes 10 s, \
         of r2's four 7.5 s, of r3's two 15 s, so that all three work for 30 s."
            .to_owned(),
    ];
    Ok(ItemOutcome { checks, assumptions, ..ItemOutcome::default() })
}

/// Fig. 5: JAS gives J2t1 to TaskTracker2, though its block lies on TaskTracker1.
pub(in super::super) fn figure_5(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut given = Vec::new();
    for rule in ["jas", "jasl"] {
        let mut bench = Bench::new(rule, &[5, 3])?;
        // An I/O-bound job before sets the I/O slots to the figure's one and two.
        let earlier = bench.job(1, Class::Io);
        for (node, lasted) in [(0, 20), (1, 10)] {
            (0..100).for_each(|_| bench.ended(earlier, node, seconds(lasted), Class::Io));
        }
        bench.classes.job_ended(earlier);
        bench.classes.beat(ClassLoad::default());
        let slots: Vec<String> = (0..2)
            .map(|node| {
                format!("{} and {}", bench.classes.slots(node).cpu, bench.classes.slots(node).io)
            })
            .collect();
        // Jobs 1 and 2 of the figure, and one that keeps the I/O slots busy.
        (bench.jobs, bench.given) = (Vec::new(), Vec::new());
        bench.job(4, Class::Cpu);
        bench.job(1, Class::Cpu);
        bench.job(9, Class::Io);
        let cpu = |tasks: Vec<String>| {
            tasks.into_iter().filter(|task| !task.starts_with("J3")).collect::<Vec<_>>()
        };
        let first = cpu(bench.heartbeat(0, &|_| true)).join(", ");
        let second = cpu(bench.heartbeat(1, &|job| job != 1)).join(", ");
        given.push((slots.join("; "), first, second));
    }
    let (slots, first, second) = given[0].clone();
    let checks = vec![
        same(
            "CPU and I/O slots of TaskTracker1; TaskTracker2",
            "3 and 1; 2 and 2",
            slots,
            "the figure's slots, put in",
        )
        .given(),
        same("CPU-bound tasks that TaskTracker1 is given by JAS", "J1t1, J1t2, J1t3", first, ""),
        same(
            "CPU-bound tasks that TaskTracker2 is given by JAS, J2t1's block being on TaskTracker1",
            "J1t4, J2t1",
            second,
            "",
        ),
        same(
            "the same by JASL: J2t1 waits for TaskTracker1 (Algorithm 8; no figure)",
            "J1t4",
            given[1].2.clone(),
            "both nodes are alike, so Eq. 6 does not hold: the block's way costs more than it \
             gains",
        )
        .given(),
    ];
    let assumptions = vec![
        "The figure has five CPU slots of eight, though half of all slots is four (Sec. 3.1.2): \
         TaskTracker1 is configured \
         with five slots here, TaskTracker2 with three. A third job, I/O-bound, keeps the I/O \
         slots busy: Algorithm 5 \
         would give them to Job 1 else."
            .to_owned(),
    ];
    Ok(ItemOutcome { checks, assumptions, ..ItemOutcome::default() })
}
