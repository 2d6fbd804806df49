//! What the engine costs: task lifetimes (arrive, start, end), and the structures that its speed
//! rests on against the plain scans that they replace. Run with `cargo bench -p meed-bench --bench
//! engine`; a run takes about a minute.
//!
//! The structures are private, so they are measured through the engine: the heap as a decision
//! among n tenants against a scan over n keys, the ledger as a start and an end of a task in a tree
//! of one tenant.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use meed::place::{Allowed, BestFit, FirstFit, Placement};
use meed::*;
use meed_bench::random::Random;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

fn config(tenants: usize, nodes: usize, policy: &Policy) -> Config {
    let kinds = ResourceKinds::new(vec![
        ("cpu".to_owned(), Unit::Milli),
        ("memory".to_owned(), Unit::Bytes),
    ]);
    let leaf = Policy::preset("fifo").expect("a preset");
    let queue = |i| QueueSpec {
        name: format!("q{i}"),
        weight: 1000,
        min: None,
        max: None,
        policy: leaf.clone(),
    };
    let node = |i| NodeSpec::new(format!("n{i}"), demand(16));
    Config {
        kinds: kinds.expect("distinct"),
        measured: 0,
        root: policy.clone(),
        queues: (0..tenants).map(queue).collect(),
        nodes: (0..nodes).map(node).collect(),
    }
}

/// Cores, and 4 GiB for each.
fn demand(cores: u64) -> Resources {
    Resources::new(&[cores * 1000, cores << 32])
}

fn long_term(quantum: u64) -> Policy {
    let mut policy = Policy::preset("long-term").expect("a preset");
    policy.quantum = Quantum::Fixed(Span::from_secs(quantum).expect("in range"));
    policy
}

/// A cluster kept full: for each task that ends, a job of one task arrives, and the poorest tenant
/// starts one.
struct Full {
    engine: Engine,
    queues: Vec<QueueId>,
    running: VecDeque<AllocationId>,
    micros: u64,
    next: usize,
}

impl Full {
    fn new(tenants: usize, nodes: usize, policy: &Policy) -> Full {
        let config = config(tenants, nodes, policy);
        let engine = Engine::new(config, Box::new(FirstFit::new(2))).expect("sound");
        let queues = engine.view().queue_ids().skip(1).collect();
        let mut full = Full { engine, queues, running: Default::default(), micros: 0, next: 0 };
        for _ in 0..16 * nodes + 2 * tenants {
            full.arrive();
        }
        full.decide();
        full
    }

    fn now(&self) -> Time {
        Time::from_micros(self.micros).expect("in range")
    }

    fn arrive(&mut self) {
        self.next = (self.next + 7919) % self.queues.len();
        let groups = [TaskGroup::new(1, demand(1))];
        let queue = self.queues[self.next];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        self.engine.apply(self.now(), Event::JobArrived(job)).expect("sound");
    }

    fn decide(&mut self) {
        self.engine.decide(false, |start| self.running.push_back(start.allocation));
    }

    fn lifetime(&mut self) {
        self.micros += 50;
        let ended = self.running.pop_front().expect("the cluster is full");
        self.engine.apply(self.now(), Event::TaskEnded(ended)).expect("it runs");
        self.arrive();
        self.decide();
    }
}

fn lifetimes(c: &mut Criterion) {
    let mut group = c.benchmark_group("task lifetime");
    group.throughput(Throughput::Elements(1));
    for (tenants, nodes) in [(4, 100), (10_000, 10_000)] {
        for (name, policy) in [
            ("fifo", Policy::preset("fifo").expect("a preset")),
            ("fair", Policy::preset("fair").expect("a preset")),
            ("long-term", long_term(60)),
            // Tasks run for 8 s at the larger size: keys then move with time, and many are passed.
            ("long-term, quantum outrun", long_term(1)),
        ] {
            let mut full = Full::new(tenants, nodes, &policy);
            let id = BenchmarkId::new(name, format!("{tenants} tenants, {nodes} nodes"));
            group.bench_function(id, |b| b.iter(|| full.lifetime()));
        }
    }
    group.finish();
}

/// Serve the poorest of n tenants again and again: the engine's heap, and a scan over n keys that
/// does no more.
fn serve(c: &mut Criterion) {
    let mut group = c.benchmark_group("serve and rekey");
    for tenants in [100usize, 10_000] {
        let mut full = Full::new(tenants, 1, &long_term(1));
        group.bench_function(BenchmarkId::new("engine", tenants), |b| b.iter(|| full.lifetime()));
        let mut keys: Vec<(u128, u64)> =
            (0..tenants as u128).map(|i| (i * 7919 % 1000, 1000)).collect();
        group.bench_function(BenchmarkId::new("scan of keys alone", tenants), |b| {
            b.iter(|| {
                let value = |i: &usize| (keys[*i].0 / u128::from(keys[*i].1), *i);
                let least = (0..keys.len()).min_by_key(value).expect("not empty");
                keys[black_box(least)].0 += 1_000_000;
            });
        });
    }
    group.finish();
}

/// Start and end in one ledger: plain, discounted, with a half-life.
fn ledgers(c: &mut Criterion) {
    let mut group = c.benchmark_group("start and end, one tenant");
    let plain = long_term(1);
    let mut discounted = plain.clone();
    discounted.discount = 500;
    let mut half_life = plain.clone();
    half_life.memory = Memory::HalfLife(Span::from_secs(3600).expect("in range"));
    for (name, policy) in [("plain", plain), ("discount", discounted), ("half-life", half_life)] {
        let mut full = Full::new(1, 1, &policy);
        group.bench_function(name, |b| b.iter(|| full.lifetime()));
    }
    group.finish();
}

/// The first node with room when most are full: the tree, and a scan over the same nodes.
fn first_fit(c: &mut Criterion) {
    let mut group = c.benchmark_group("first fit");
    for nodes in [100usize, 10_000] {
        let ids: Vec<NodeRow> = (0..nodes as u32).map(NodeRow::new).collect();
        let free: Vec<Resources> =
            (0..nodes).map(|i| demand(if i * 10 > nodes * 9 { 16 } else { 0 })).collect();
        let mut tree = FirstFit::new(2);
        ids.iter().zip(&free).for_each(|(id, free)| tree.set_free(*id, free));
        let need = demand(1);
        let found = tree.find(&need, Allowed::ANY).expect("some are empty");
        group.bench_function(BenchmarkId::new("tree, find and set", nodes), |b| {
            b.iter(|| {
                let node = tree.find(black_box(&need), Allowed::ANY).expect("some are empty");
                tree.set_free(node, &demand(16));
            });
        });
        group.bench_function(BenchmarkId::new("scan, find", nodes), |b| {
            b.iter(|| {
                let scan = free.iter().position(|room| black_box(&need).fits_in(room));
                assert_eq!(scan, Some(found.index()));
            });
        });
    }
    group.finish();
}

/// Nodes with leftovers of two kinds, on which tasks start by best fit; a task ends when as many as
/// a tenth of the nodes have started after it.
struct Leftovers {
    ids: Vec<NodeRow>,
    free: Vec<[u64; 2]>,
    running: VecDeque<(usize, [u64; 2])>,
    random: Random,
}

impl Leftovers {
    fn new(nodes: usize) -> Leftovers {
        let mut random = Random(1);
        let free = (0..nodes).map(|_| [10 * random.below(12), 6 * random.below(14)]).collect();
        let ids = (0..nodes as u32).map(NodeRow::new).collect();
        Leftovers { ids, free, running: VecDeque::new(), random }
    }

    /// A task is placed by `find`, and what ran longest ends: `set` is told what is free then.
    fn step(
        &mut self,
        find: impl FnOnce(&[[u64; 2]], [u64; 2]) -> Option<usize>,
        mut set: impl FnMut(usize, [u64; 2]),
    ) -> Option<usize> {
        let task = [10 + 10 * self.random.below(12), 6 + 6 * self.random.below(12)];
        let found = find(&self.free, task);
        if let Some(node) = found {
            self.free[node] = std::array::from_fn(|kind| self.free[node][kind] - task[kind]);
            set(node, self.free[node]);
            self.running.push_back((node, task));
        }
        if self.running.len() > self.free.len() / 10 {
            let (node, task) = self.running.pop_front().expect("some run");
            self.free[node] = std::array::from_fn(|kind| self.free[node][kind] + task[kind]);
            set(node, self.free[node]);
        }
        found
    }
}

/// What a scan finds: the least H of DRFH Eq. 9, exactly; of equals the first.
fn scan_best(free: &[[u64; 2]], task: [u64; 2]) -> Option<usize> {
    let mut best: Option<(usize, u128, u64)> = None;
    for (node, room) in free.iter().enumerate() {
        if room[0] < task[0] || room[1] < task[1] {
            continue;
        }
        let (up, down) =
            (u128::from(task[1]) * u128::from(room[0]), u128::from(room[1]) * u128::from(task[0]));
        let away = up.abs_diff(down);
        if best.is_none_or(|(_, least, of)| away * u128::from(of) < least * u128::from(room[0])) {
            best = Some((node, away, room[0]));
        }
    }
    best.map(|(node, ..)| node)
}

/// The node that fits best among leftovers: blocks in order of the ratio, and a scan over the same
/// nodes.
fn best_fit(c: &mut Criterion) {
    let mut group = c.benchmark_group("best fit");
    for nodes in [1_000usize, 10_000, 100_000] {
        let (mut ordered, mut scanned) = (Leftovers::new(nodes), Leftovers::new(nodes));
        let ids = ordered.ids.clone();
        let mut place = BestFit::new(2);
        ids.iter()
            .zip(&ordered.free)
            .for_each(|(id, free)| place.set_free(*id, &Resources::new(free)));
        let place = std::cell::RefCell::new(place);
        let mut step = || {
            let find = |_: &[[u64; 2]], task: [u64; 2]| {
                place.borrow_mut().find(&Resources::new(&task), Allowed::ANY).map(NodeRow::index)
            };
            ordered.step(find, |node, free| {
                place.borrow_mut().set_free(ids[node], &Resources::new(&free))
            })
        };
        for _ in 0..200 {
            assert_eq!(step(), scanned.step(scan_best, |_, _| {}));
        }
        group.bench_function(BenchmarkId::new("order, find and set", nodes), |b| b.iter(&mut step));
        group.bench_function(BenchmarkId::new("scan, find", nodes), |b| {
            b.iter(|| scanned.step(scan_best, |_, _| {}));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = lifetimes, serve, ledgers, first_fit, best_fit
}
criterion_main!(benches);
