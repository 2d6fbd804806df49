//! A slow twin of nodes, hosts and courses, for tests: the formulas of `sharing`, `hosts` and
//! `flows` in floating point, stepping from end to end over lists.

use std::collections::BTreeMap;

use super::cluster::Machine;
use super::flows::{Chain, Round};
use super::hosts::Host;
use super::machines::Place;

/// Work somewhere, and what is left of it.
struct Rest {
    user: u32,
    place: Place,
    rest: f64,
}

/// The formulas of the module and of `sharing`, in floating point, stepping from end to end.
pub(super) struct Twin {
    pub(super) machines: Vec<Machine>,
    hosts: Vec<Host>,
    /// Of machines' own disks.
    penalty: f64,
    now: f64,
    running: Vec<Rest>,
    /// By user.
    pub(super) ends: BTreeMap<u32, f64>,
    courses: Vec<TwinCourse>,
    /// Users of courses so far.
    users: u32,
}

/// What a task does side by side.
struct TwinCourse {
    task: u32,
    /// Of each round how many chains go on at once, and the chains.
    rounds: Vec<(usize, Vec<TwinChain>)>,
    end: Option<f64>,
}

struct TwinChain {
    works: Vec<(Place, u64)>,
    begun: bool,
    done: usize,
    /// Who does the next of them.
    user: Option<u32>,
}

impl TwinChain {
    fn is_over(&self) -> bool {
        self.begun && self.done == self.works.len()
    }
}

/// Users of courses, apart from those of tests.
const USERS: u32 = 1 << 20;

impl Twin {
    pub(super) fn new(machines: Vec<Machine>, hosts: Vec<Host>, penalty: u32) -> Twin {
        Twin {
            machines,
            hosts,
            penalty: f64::from(penalty) / 1000.0,
            now: 0.0,
            running: Vec::new(),
            ends: BTreeMap::new(),
            courses: Vec::new(),
            users: USERS,
        }
    }

    /// `user` begins `work` at `place`.
    pub(super) fn start(&mut self, user: u32, place: Place, work: u64) {
        self.running.push(Rest { user, place, rest: work as f64 });
    }

    /// The task begins these rounds, where there is anything to do.
    pub(super) fn begin(&mut self, task: u32, rounds: Vec<Round>) {
        let chain = |works: Chain| TwinChain {
            works: works.into_iter().filter(|(_, work)| *work > 0).collect(),
            begun: false,
            done: 0,
            user: None,
        };
        let rounds: Vec<_> = rounds
            .into_iter()
            .map(|round| (round.width, round.chains.into_iter().map(chain).collect::<Vec<_>>()))
            .collect();
        if rounds.iter().flat_map(|(_, chains)| chains).any(|chain| !chain.works.is_empty()) {
            self.courses.push(TwinCourse { task, rounds, end: None });
            self.settle();
        }
    }

    /// The task goes no further.
    pub(super) fn stop(&mut self, task: u32) {
        let stopped = |course: &mut TwinCourse| course.task == task && course.end.is_none();
        for course in self.courses.extract_if(.., stopped) {
            let chains = course.rounds.iter().flat_map(|(_, chains)| chains);
            let users: Vec<u32> = chains.filter_map(|chain| chain.user).collect();
            self.running.retain(|rest| !users.contains(&rest.user));
        }
    }

    /// When the task's course has ended.
    pub(super) fn course_end(&self, task: u32) -> Option<f64> {
        self.courses.iter().find(|course| course.task == task)?.end
    }

    /// What has ended is noted in its chain, and what may begin begins.
    fn settle(&mut self) {
        for course in self.courses.iter_mut().filter(|course| course.end.is_none()) {
            for (width, chains) in &mut course.rounds {
                for chain in chains.iter_mut() {
                    if chain.user.is_some_and(|user| self.ends.contains_key(&user)) {
                        (chain.user, chain.done) = (None, chain.done + 1);
                    }
                }
                let mut open =
                    chains.iter().filter(|chain| chain.begun && !chain.is_over()).count();
                for chain in chains.iter_mut() {
                    if !chain.begun && open < *width {
                        chain.begun = true;
                        open += usize::from(!chain.works.is_empty());
                    }
                    if chain.begun && !chain.is_over() && chain.user.is_none() {
                        let (place, work) = chain.works[chain.done];
                        chain.user = Some(self.users);
                        self.running.push(Rest { user: self.users, place, rest: work as f64 });
                        self.users += 1;
                    }
                }
                if !chains.iter().all(TwinChain::is_over) {
                    break;
                }
            }
            let over =
                |(_, chains): &(usize, Vec<TwinChain>)| chains.iter().all(TwinChain::is_over);
            course.end = course.rounds.iter().all(over).then_some(self.now);
        }
    }

    fn count(&self, place: Place) -> f64 {
        self.running.iter().filter(|rest| rest.place == place).count() as f64
    }

    /// What machine `node` takes by itself, in what its host counts; 0 with nobody there.
    fn own(&self, node: usize, like: fn(usize) -> Place) -> f64 {
        let (n, machine) = (self.count(like(node)), &self.machines[node]);
        match like(node) {
            _ if n == 0.0 => 0.0,
            Place::Cores(_) => n.min(f64::from(machine.cores)),
            Place::Disk(_) => {
                machine.speeds.disk_bytes_per_s as f64 / (1.0 + self.penalty * (n - 1.0))
            }
            _ => machine.speeds.network_bytes_per_s as f64,
        }
    }

    /// Units a microsecond for each task at the place.
    fn rate(&self, place: Place) -> f64 {
        let (node, like): (usize, fn(usize) -> Place) = match place {
            Place::Cores(node) => (node, Place::Cores),
            Place::Disk(node) => (node, Place::Disk),
            Place::Network(node) => (node, Place::Network),
            Place::Uplink(_) => unreachable!("there are none"),
        };
        let machine = &self.machines[node];
        let hosts = &machine.hosts;
        let (host, unit) = match place {
            Place::Cores(_) => (hosts.cores, f64::from(machine.speeds.core) / 1000.0),
            Place::Disk(_) => (hosts.disk, 1e-6),
            _ => (hosts.network, 1e-6),
        };
        let mine = self.own(node, like) * unit / self.count(place);
        let Some(host) = host else { return mine };
        let beside = (0..self.machines.len()).filter(|&other| {
            let other = &self.machines[other].hosts;
            let same = match place {
                Place::Cores(_) => other.cores,
                Place::Disk(_) => other.disk,
                _ => other.network,
            };
            same == Some(host)
        });
        let beside: Vec<usize> = beside.collect();
        let wanted: f64 = beside.iter().map(|&other| self.own(other, like)).sum();
        let all: f64 = beside.iter().map(|&other| self.count(like(other))).sum();
        let shared = &self.hosts[host as usize];
        let capacity = match place {
            Place::Cores(_) => all.min(f64::from(shared.cores.expect("it has"))),
            Place::Disk(_) => {
                shared.disk_bytes_per_s.expect("it has") as f64
                    / (1.0 + f64::from(shared.seek_penalty) / 1000.0 * (all - 1.0))
            }
            _ => shared.network_bytes_per_s.expect("it has") as f64,
        };
        mine * (capacity / wanted).min(1.0)
    }

    /// Lets time pass to `to`.
    pub(super) fn run(&mut self, to: f64) {
        loop {
            let rates: Vec<f64> = self.running.iter().map(|rest| self.rate(rest.place)).collect();
            let ends = self.running.iter().zip(&rates).map(|(rest, rate)| rest.rest / rate);
            let first = ends.fold(f64::INFINITY, f64::min).min(to - self.now);
            self.now += first;
            for (rest, rate) in self.running.iter_mut().zip(&rates) {
                rest.rest -= first * rate;
            }
            let gone = self.running.extract_if(.., |rest| rest.rest < 1e-6);
            let users: Vec<u32> = gone.map(|rest| rest.user).collect();
            self.ends.extend(users.iter().map(|&user| (user, self.now)));
            if users.is_empty() {
                return;
            }
            self.settle();
        }
    }
}
