//! Class-aware placement: tasks go where what they strain is free (JAS, TCC 2018).
//!
//! A job is CPU-bound or I/O-bound, which is seen from its first map task that ends ([`classify`]);
//! what each node did of each class tells its capability ([`capability`]); map slots of each class
//! are shared out by it. With locality a task leaves its data only where that pays ([`locality`]);
//! with adaption slots are set anew when nodes overload ([`overload`]). What a rule does of all
//! this is a row of [`RULES`].
//!
//! It says which jobs may have a free slot of a node, not whose turn it is: a world asks
//! [`Classes::rank`] for each offer ([`meed::Engine::offer`]), so every order policy works with
//! every rule. It knows no world: nodes are numbers, times and bytes are told.
//!
//! Where the paper is silent: a task holds the slot that it was given until it ends, whatever its
//! class turns out to be (counted by class, as printed, a node whose other class has no work would
//! be given tasks without end); a measured node has at least one slot of each class; a threshold
//! that was reached starts its count again. Cost: O(log jobs + log nodes) for each call, O(nodes)
//! when a job ends or slots are set. Memory: O(nodes) for each live job where slots follow
//! capability.

pub mod capability;
pub mod classify;
pub mod locality;
pub mod overload;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::{Locality, RULES, Rule};

use std::collections::BTreeMap;

use capability::Capability;
use locality::{NodeTimes, pays};
use meed::JobId;
use meed::time::{Span, Time};
use overload::Overload;

/// What a job strains.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// The processors.
    Cpu,
    /// Disk and network.
    Io,
}

impl Class {
    /// All classes, in the order in which slots are filled (Algorithm 6, lines 27 and 28).
    pub const ALL: [Class; 2] = [Class::Cpu, Class::Io];

    /// What users read.
    pub fn name(self) -> &'static str {
        match self {
            Class::Cpu => "cpu",
            Class::Io => "io",
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// Which jobs a slot is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SlotKind {
    /// All.
    Any,
    /// Those of a class first.
    Of(Class),
}

/// Map slots of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slots {
    /// For all jobs.
    pub any: u32,
    /// For CPU-bound jobs.
    pub cpu: u32,
    /// For I/O-bound jobs.
    pub io: u32,
}

impl Slots {
    /// Slots of a kind.
    pub fn of(&self, kind: SlotKind) -> u32 {
        match kind {
            SlotKind::Any => self.any,
            SlotKind::Of(Class::Cpu) => self.cpu,
            SlotKind::Of(Class::Io) => self.io,
        }
    }

    /// Slots of all kinds.
    pub fn total(&self) -> u32 {
        self.any + self.cpu + self.io
    }
}

/// What the rules compare with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// DIOR: bytes that a disk moves in a second on average. A job with less throughput is
    /// CPU-bound.
    pub disk_bytes_per_s: u64,
    /// Thousandths of its processors above which a node is overloaded: 900 in Algorithm 10.
    pub cpu_busy: u32,
    /// Bytes a second above which a node's disk is overloaded: 35 MB in Algorithm 10.
    pub io_bytes_per_s: u64,
    /// Heartbeats of overloaded nodes after which slots are set anew: 100 in Algorithm 10, best at
    /// 300 (Fig. 10).
    pub threshold: u32,
    /// How long delay scheduling waits for a slot near the data.
    pub local_wait: Span,
}

/// A map task that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskReport {
    /// Its job.
    pub job: JobId,
    /// Where it ran.
    pub node: usize,
    /// MTCT: how long.
    pub lasted: Span,
    /// Whether its input lay there.
    pub local: bool,
    /// MID.
    pub map_input_bytes: u64,
    /// MOD.
    pub map_output_bytes: u64,
    /// SID.
    pub shuffle_in_bytes: u64,
    /// SOD.
    pub shuffle_out_bytes: u64,
}

/// What a node did since its last heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassLoad {
    /// Busy thousandths of all its processors.
    pub cpu_busy: u32,
    /// Bytes a second that its disk read and wrote.
    pub io_bytes_per_s: u64,
}

/// A block that lies elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote {
    /// A node that holds it.
    pub holder: usize,
    /// How long its transfer takes.
    pub transfer: Span,
}

/// Which of a job's blocks a task takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The next, wherever it lies.
    InOrder,
    /// One on the node, else one near, else the next.
    LocalFirst,
}

/// Why a rule cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClassesError {
    /// Slots that cannot be halved.
    #[error(
        "{rule} splits the map slots of each node into two classes; node {node} has {slots}, at \
         least 2 are needed"
    )]
    TooFewSlots {
        /// The rule.
        rule: &'static str,
        /// Number of the node.
        node: usize,
        /// Its map slots.
        slots: u32,
    },
    /// A limit of zero.
    #[error("{limit} must be above zero")]
    ZeroLimit {
        /// Which.
        limit: &'static str,
    },
}

struct Job {
    class: Option<Class>,
    /// Of its map tasks; empty where the rule does not ask.
    times: NodeTimes,
    /// Of its local map tasks; empty where the rule does not ask.
    local_times: NodeTimes,
    /// Since when delay scheduling passes it over.
    passed_over: Option<Time>,
}

/// The state of one rule over one cluster.
pub struct Classes {
    rule: &'static Rule,
    limits: Limits,
    /// As configured.
    map_slots: Vec<u32>,
    slots: Vec<Slots>,
    jobs: BTreeMap<JobId, Job>,
    /// By class.
    capability: [Capability; 2],
    overload: Overload,
    /// By class: slots are to be set at the next heartbeat.
    due: [bool; 2],
}

impl Classes {
    /// A rule over nodes with so many map slots each. A node may have none.
    pub fn new(
        rule: &'static Rule,
        limits: Limits,
        map_slots: Vec<u32>,
    ) -> Result<Classes, ClassesError> {
        check_limits(&limits)?;
        let odd = map_slots.iter().position(|&slots| rule.splits && slots == 1);
        if let Some(node) = odd {
            return Err(ClassesError::TooFewSlots {
                rule: rule.name,
                node,
                slots: map_slots[node],
            });
        }
        let slots = map_slots.iter().map(|&slots| rule.usual_slots(slots)).collect();
        let capability = Class::ALL.map(|_| Capability::new(map_slots.len()));
        let overload = Overload::new(limits.threshold);
        Ok(Classes {
            rule,
            limits,
            map_slots,
            slots,
            jobs: BTreeMap::new(),
            capability,
            overload,
            due: [false; 2],
        })
    }

    /// The rule.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// A job comes, of no class yet.
    pub fn job_arrived(&mut self, job: JobId) {
        let (times, local_times) = (NodeTimes::default(), NodeTimes::default());
        self.jobs.insert(job, Job { class: None, times, local_times, passed_over: None });
    }

    /// A job has ended: its times tell what nodes are capable of, and the first of its class lets
    /// slots be set (Algorithms 2 and 3, line 2).
    pub fn job_ended(&mut self, job: JobId) {
        let Some(Job { class: Some(class), times, .. }) = self.jobs.remove(&job) else { return };
        if self.rule.by_capability {
            let capability = &mut self.capability[class.index()];
            capability.learn(&times);
            self.due[class.index()] |= !capability.is_set();
        }
    }

    /// What a job was found to be; `None` before its first map task has ended.
    pub fn class(&self, job: JobId) -> Option<Class> {
        self.jobs.get(&job)?.class
    }

    /// A map task has ended: its job may be classified by it, and its time is noted for the node
    /// (Algorithms 1 and 7).
    pub fn task_ended(&mut self, report: &TaskReport) {
        let Some(job) = self.jobs.get_mut(&report.job) else { return };
        let at_once = self.map_slots[report.node];
        job.class
            .get_or_insert_with(|| classify::class(report, at_once, self.limits.disk_bytes_per_s));
        if self.rule.by_capability {
            job.times.add(report.node, report.lasted);
        }
        if report.local && self.rule.locality == Locality::IfItPays {
            job.local_times.add(report.node, report.lasted);
        }
    }

    /// A heartbeat of some node: overload is counted, and slots are set where that is due
    /// (Algorithms 6, 9 and 10). Whether slots have changed, perhaps those of other nodes.
    pub fn beat(&mut self, load: ClassLoad) -> bool {
        let over = [
            load.cpu_busy > self.limits.cpu_busy,
            load.io_bytes_per_s > self.limits.io_bytes_per_s,
        ];
        let mut changed = false;
        for class in Class::ALL {
            let i = class.index();
            if self.rule.adapts && self.overload.count(class, over[i]) {
                self.due[i] = true;
            }
            if std::mem::take(&mut self.due[i]) {
                changed |= self.set_slots(class);
            }
        }
        changed
    }

    /// Eq. 3 and 5.
    fn set_slots(&mut self, class: Class) -> bool {
        let usual: Vec<u32> = self
            .map_slots
            .iter()
            .map(|&slots| self.rule.usual_slots(slots).of(SlotKind::Of(class)))
            .collect();
        let Some(set) = self.capability[class.index()].share_out(&usual) else { return false };
        let mut changed = false;
        for (slots, set) in self.slots.iter_mut().zip(set) {
            let place = match class {
                Class::Cpu => &mut slots.cpu,
                Class::Io => &mut slots.io,
            };
            changed |= std::mem::replace(place, set) != set;
        }
        changed
    }

    /// Map slots of a node now.
    pub fn slots(&self, node: usize) -> Slots {
        self.slots[node]
    }

    /// The kinds of slots, in the order in which free ones are offered.
    pub fn slot_kinds(&self) -> &'static [SlotKind] {
        if self.rule.splits {
            &[SlotKind::Of(Class::Cpu), SlotKind::Of(Class::Io)]
        } else {
            &[SlotKind::Any]
        }
    }

    /// Which block a task takes that may start.
    pub fn pick(&self) -> Pick {
        if self.rule.locality == Locality::None { Pick::InOrder } else { Pick::LocalFirst }
    }

    /// Whether a map task of `job` may have a free slot of this kind on `node`, and how early:
    /// unclassified jobs, then those of the slot's class, then the other class (Algorithms 4, 5 and
    /// 8). `local` says whether a block of it lies there; `remote`, asked only where it matters,
    /// where the block lies that it would take else.
    pub fn rank(
        &self,
        node: usize,
        slot: SlotKind,
        job: JobId,
        local: bool,
        remote: impl FnOnce() -> Remote,
    ) -> Option<u32> {
        let known = self.jobs.get(&job)?;
        match (slot, known.class) {
            (SlotKind::Any, _) | (_, None) => Some(0),
            (SlotKind::Of(slot), Some(class)) if slot == class => {
                let may = local
                    || self.rule.locality != Locality::IfItPays
                    || self.pays(node, known, class, &remote());
                may.then_some(1)
            }
            _ => self.rule.fills_other.then_some(2),
        }
    }

    fn pays(&self, node: usize, job: &Job, class: Class, remote: &Remote) -> bool {
        let there = job.local_times.mean_us(remote.holder);
        // A node that never had a block of this job: as much faster or slower as it is with the
        // class.
        let by_class =
            || Some(there? * self.capability[class.index()].slowdown(node, remote.holder)?);
        let here = job.local_times.mean_us(node).or_else(by_class);
        pays(there, here, remote.transfer)
    }

    /// Whether a job whose turn it is takes the slot now: delay scheduling passes it over while it
    /// has no block there, for a time. For `Engine::offer_if`.
    pub fn accepts(&mut self, now: Time, job: JobId, local: bool) -> bool {
        if self.rule.locality != Locality::Delay {
            return true;
        }
        let Some(known) = self.jobs.get_mut(&job) else { return true };
        if local {
            known.passed_over = None;
            return true;
        }
        let since = *known.passed_over.get_or_insert(now);
        now.saturating_since(since) >= self.limits.local_wait
    }
}

fn check_limits(limits: &Limits) -> Result<(), ClassesError> {
    let rows = [
        ("the disk rate", limits.disk_bytes_per_s),
        ("the limit of busy processors", u64::from(limits.cpu_busy)),
        ("the limit of disk use", limits.io_bytes_per_s),
        ("the threshold", u64::from(limits.threshold)),
    ];
    match rows.into_iter().find(|(_, limit)| *limit == 0) {
        Some((limit, _)) => Err(ClassesError::ZeroLimit { limit }),
        None => Ok(()),
    }
}
