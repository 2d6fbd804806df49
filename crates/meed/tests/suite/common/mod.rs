//! The smallest world there can be: jobs with known durations, run to the end, every decision
//! checked by the twin.

pub(crate) mod audit;
pub(crate) mod charge;
pub(crate) mod dice;
pub(crate) mod fraction;
pub(crate) mod gangs;
pub(crate) mod joint;
pub(crate) mod life;
pub(crate) mod model;
pub(crate) mod quanta;
pub(crate) mod reclaim;
pub(crate) mod reserve;
pub(crate) mod shadow;
pub(crate) mod stream;
pub(crate) mod tetris;
pub(crate) mod verify;
pub(crate) mod way;

use meed::place::{BestFit, FirstFit, Placement};
use meed::*;
use proptest::test_runner::Config as ProptestConfig;
use shadow::{Ev, Shadow};
use std::collections::BTreeMap;

/// So many random cases where `MEED_CASES=all`, as in CI (CONTRIBUTING.md); else a quarter: who
/// tries Meed does not wait for cases that have passed before.
pub(crate) fn cases(all: u32) -> ProptestConfig {
    let all_of_them = std::env::var_os("MEED_CASES").is_some_and(|cases| cases == "all");
    ProptestConfig::with_cases(if all_of_them { all } else { all.div_ceil(4) })
}

pub(crate) const S: u64 = MICROS_PER_S;

pub(crate) fn secs(seconds: u64) -> Time {
    Time::from_secs(seconds).expect("in range")
}

pub(crate) fn micros(us: u64) -> Time {
    Time::from_micros(us).expect("in range")
}

pub(crate) fn span(us: u64) -> Span {
    Span::from_micros(us).expect("in range")
}

/// Whole slots of the only kind.
pub(crate) fn slots(n: u64) -> Resources {
    Resources::new(&[n * 1000])
}

pub(crate) fn kinds(n: usize) -> ResourceKinds {
    let kind = |i: usize| (format!("kind{i}"), Unit::Milli);
    ResourceKinds::new((0..n).map(kind).collect()).expect("distinct names")
}

/// A preset with a fixed quantum of a second.
pub(crate) fn policy(name: &str) -> Policy {
    let mut policy = Policy::preset(name).expect("a preset");
    policy.quantum = Quantum::Fixed(span(S));
    policy
}

pub(crate) fn queue(name: &str, weight: u64, policy: Policy) -> QueueSpec {
    QueueSpec { name: name.to_owned(), weight, min: None, max: None, policy }
}

pub(crate) fn node(name: &str, capacity: Resources) -> NodeSpec {
    NodeSpec::new(name, capacity)
}

/// One node of `n` slots; queues of weight one with fifo leaves; all parents ordered by `root`.
pub(crate) fn slots_config(n: u64, root: &Policy, names: &[&str]) -> Config {
    let is_parent = |name: &str| names.iter().any(|other| other.starts_with(&format!("{name}.")));
    let spec = |name: &&str| {
        queue(name, 1000, if is_parent(name) { root.clone() } else { policy("fifo") })
    };
    Config {
        kinds: kinds(1),
        measured: 0,
        root: root.clone(),
        queues: names.iter().map(spec).collect(),
        nodes: vec![node("n", slots(n))],
    }
}

/// With two kinds of resources it places by best fit, otherwise, and where each server decides by
/// itself, by first fit.
pub(crate) fn engine(config: &Config) -> Engine {
    let place: Box<dyn Placement> = match config.kinds.len() {
        2 if !config.root.per_server => Box::new(BestFit::new(2)),
        kinds => Box::new(FirstFit::new(kinds)),
    };
    Engine::new(config.clone(), place).expect("a sound configuration")
}

/// A job of the little world: groups of a demand and the durations of its tasks in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct SimJob {
    pub(crate) queue: QueueId,
    pub(crate) at: u64,
    pub(crate) weight: u64,
    pub(crate) groups: Vec<(Resources, Vec<u64>)>,
}

/// `n` equal tasks of one slot and a second each.
pub(crate) fn unit_job(queue: QueueId, at: u64, n: u64) -> SimJob {
    SimJob { queue, at, weight: 1000, groups: vec![(slots(1), vec![S; n as usize])] }
}

/// Now and then a limit: what the tasks take at most, twice or half of it.
fn limit_of(tasks: &[u64]) -> Option<Span> {
    let (sum, most) = (tasks.iter().sum::<u64>(), tasks.iter().copied().max()?);
    let limit = match (sum / S + tasks.len() as u64) % 5 {
        0 => return None,
        1 => most / 2,
        2 => 2 * most,
        _ => most,
    };
    Some(span(limit.max(1)))
}

/// Now and then a gang of all, or of some.
pub(crate) fn gang_of(tasks: &[u64]) -> Option<Box<Gang>> {
    let count = tasks.len() as u32;
    let gang = match (tasks.iter().sum::<u64>() / S + 3 * tasks.len() as u64) % 11 {
        0 => Gang::of(count),
        1 => Gang::of(count.div_ceil(2)),
        2 => Gang::of(count).within("zone"),
        3 => Gang::of(1).within("zone"),
        _ => return None,
    };
    Some(Box::new(gang))
}

/// Now and then one gang of all groups.
pub(crate) fn joint_of(groups: &[TaskGroup], tasks: usize) -> Option<Vec<TaskGroup>> {
    if groups.len() < 2 || tasks.is_multiple_of(3) {
        return None;
    }
    let part = |group: &TaskGroup| {
        let gang = Gang::part(group.count);
        let gang = if tasks % 4 == 1 { gang.within("zone") } else { gang };
        TaskGroup { gang: Some(Box::new(gang)), ..group.clone() }
    };
    Some(groups.iter().map(part).collect())
}

/// So many instants are more than any of these runs has that ends.
const MANY_STEPS: usize = 5000;

/// Runs jobs to the end; every decision and every instant is checked by the twin.
pub(crate) struct World {
    pub(crate) shadow: Shadow,
    jobs: Vec<SimJob>,
    next_job: usize,
    durations: Vec<Vec<u64>>,
    ends: BTreeMap<(u64, usize), AllocationId>,
    served: usize,
    /// Whether some groups are gangs.
    gangs: bool,
    /// Tasks that stop, and when.
    stops: BTreeMap<u64, Vec<AllocationId>>,
}

impl World {
    pub(crate) fn new(config: &Config, mut jobs: Vec<SimJob>) -> World {
        jobs.sort_by_key(|job| job.at);
        World {
            shadow: Shadow::new(config),
            jobs,
            next_job: 0,
            durations: Vec::new(),
            ends: BTreeMap::new(),
            served: 0,
            gangs: false,
            stops: BTreeMap::new(),
        }
    }

    /// The same with groups that start together or not at all among the others.
    pub(crate) fn run_with_gangs(config: &Config, jobs: Vec<SimJob>) {
        let mut world = World { gangs: true, ..World::new(config, jobs) };
        let mut steps = 0;
        while world.step().is_some() {
            steps += 1;
            assert!(steps < MANY_STEPS, "the run does not end");
        }
    }

    pub(crate) fn run(config: &Config, jobs: Vec<SimJob>) -> World {
        let mut world = World::new(config, jobs);
        while world.step().is_some() {}
        world
    }

    /// The next instant: ends, arrivals, decisions. `None` when nothing is left.
    pub(crate) fn step(&mut self) -> Option<u64> {
        let arrival = self.jobs.get(self.next_job).map(|job| job.at);
        let end = self.ends.first_key_value().map(|(&(at, _), _)| at);
        let stop = self.stops.first_key_value().map(|(&at, _)| at);
        // By time alone something is decided only while something runs.
        let look =
            self.shadow.engine.view().next_look().map(Time::as_micros).filter(|_| end.is_some());
        let now = [arrival, end, stop, look].into_iter().flatten().min()?;
        while let Some(entry) = self.ends.first_entry().filter(|entry| entry.key().0 == now) {
            let allocation = entry.remove();
            self.shadow.apply(now, &Ev::Ended(allocation)).expect("it runs");
        }
        for allocation in self.stops.remove(&now).unwrap_or_default() {
            // It may have ended before.
            if self.shadow.apply(now, &Ev::TaskLost(allocation)).is_ok() {
                self.ends.retain(|_, task| *task != allocation);
            }
        }
        while let Some(job) = self.jobs.get(self.next_job).filter(|job| job.at == now).cloned() {
            self.next_job += 1;
            let group = |(demand, tasks): &(Resources, Vec<u64>)| TaskGroup {
                limit: self.shadow.tells_limits.then(|| limit_of(tasks)).flatten(),
                ..TaskGroup::new(tasks.len() as u32, *demand)
            };
            let mut groups: Vec<TaskGroup> = job.groups.iter().map(group).collect();
            for (group, (_, tasks)) in groups.iter_mut().zip(&job.groups) {
                group.gang = gang_of(tasks).filter(|_| self.gangs);
                if self
                    .shadow
                    .engine
                    .view()
                    .check_tasks(job.queue, std::slice::from_ref(group))
                    .is_err()
                {
                    group.gang = None;
                }
            }
            let tasks = job.groups.iter().map(|(_, tasks)| tasks.len()).sum();
            if let Some(joint) = joint_of(&groups, tasks).filter(|_| self.gangs)
                && self.shadow.engine.view().check_tasks(job.queue, &joint).is_ok()
            {
                groups = joint;
            }
            let event = Ev::Job {
                queue: job.queue,
                weight: job.weight,
                groups,
                open: false,
                max_attempts: 0,
            };
            self.shadow.apply(now, &event).expect("a sound job");
            self.durations.push(job.groups.iter().flat_map(|(_, tasks)| tasks.clone()).collect());
        }
        self.shadow.decide(now);
        for (index, task) in self.shadow.model.tasks.iter().enumerate().skip(self.served) {
            let duration = self.durations[task.job][task.number as usize];
            self.ends.insert((now + duration, index), task.allocation);
        }
        self.served = self.shadow.model.tasks.len();
        self.stop_told(now);
        Some(now)
    }

    fn stop_told(&mut self, now: u64) {
        let grace = self.shadow.model.queues[0].spec.policy.reclaim.map(|rules| rules.grace);
        let told = std::mem::take(&mut self.shadow.told_to_stop);
        for allocation in told {
            let at = now + grace.map_or(0, Span::as_micros);
            self.stops.entry(at).or_default().push(allocation);
        }
    }

    /// Slots that started in `queue` in each of the given seconds.
    pub(crate) fn started(&self, queue: QueueId, from: u64, to: u64) -> Vec<u64> {
        let at = |second: u64| {
            let starts = self.shadow.model.tasks.iter();
            let here =
                starts.filter(|task| task.queue == queue.index() && task.start == second * S);
            here.map(|task| task.demand.get(0) / 1000).sum()
        };
        (from..to).map(at).collect()
    }

    /// (queue, job, task, start) of all starts in order.
    pub(crate) fn sequence(&self) -> Vec<(String, usize, u32, u64)> {
        let model = &self.shadow.model;
        let row = |task: &model::Task| {
            let name = &model.queues[task.queue].spec.name;
            (name.rsplit('.').next().unwrap_or(name).to_owned(), task.job, task.number, task.start)
        };
        model.tasks.iter().map(row).collect()
    }

    pub(crate) fn id(&self, name: &str) -> QueueId {
        self.shadow.engine.view().find_queue(name).expect("a declared queue")
    }
}
