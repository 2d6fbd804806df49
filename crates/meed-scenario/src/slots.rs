//! The single-resource abstraction: servers are cut into slots, and slots are what is shared (the
//! paper's baseline).
//!
//! > slot_r = largest_r / N;  slots of a server = min over r of floor(C_r / slot_r);  of a task =
//! > max over r of ceil(D_r / slot_r)
//!
//! with `largest` the most of each kind that a server has at the start and N the slots of a server
//! that has all of it (DRFH Sec. 6.2, Table 2: "dividing the maximum server into 14 slots"). A task
//! takes the slots that cover it; what it leaves of them is lost. Slots are one more resource kind,
//! the last, so the engine needs to know nothing of them: since slots cover what they stand for,
//! whatever fits by slots fits by all kinds.

use meed::{Config, MAX_AMOUNT, MAX_KINDS, ResourceKinds, Resources, Scalar, Unit};
use meed_workload::changed::{Changed, JobChange};
use meed_workload::{Job, JobSource};

use crate::changes::{Change, TimedChange};

/// What the kind is called.
const NAME: &str = "slot";

/// How servers are cut.
///
/// ```
/// use meed::Resources;
/// use meed_scenario::slots::SlotCut;
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// let (config, slots) = SlotCut::cut(scenario.plan("fair")?.config, 4)?; // a node of two cores
/// assert_eq!((slots.per_largest(), config.kinds.len()), (4, 2));
/// // Of a task its cores, and in thousandths the slots that it takes: half a core each.
/// assert_eq!(slots.demand(&Resources::new(&[1000])), Resources::new(&[1000, 2000]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SlotCut {
    per_largest: u32,
    largest: Resources,
}

impl SlotCut {
    /// `config` with slots as its last kind; why it cannot have them.
    pub fn cut(mut config: Config, per_largest: u32) -> Result<(Config, SlotCut), String> {
        let kinds = config.kinds.len();
        if kinds == MAX_KINDS {
            return Err(format!(
                "`slots` needs a resource kind of its own; {kinds} are taken, at most {MAX_KINDS} \
                 are possible"
            ));
        }
        let names =
            (0..kinds).map(|kind| (config.kinds.name(kind).to_owned(), config.kinds.unit(kind)));
        let largest = config.largest_node();
        // A cluster whose own kind is called so keeps it.
        let own = std::iter::successors(Some(NAME.to_owned()), |name| Some(format!("{name}'")))
            .find(|name| config.kinds.find(name).is_none())
            .unwrap_or_default();
        config.kinds = ResourceKinds::new(names.chain([(own, Unit::Milli)]).collect())
            .map_err(|why| why.to_string())?;
        if largest.is_zero() {
            return Err(
                "`slots` cuts the largest server that is there at the start; give the cluster a \
                 node then"
                    .to_owned(),
            );
        }
        let slots = SlotCut { per_largest, largest };
        for node in &mut config.nodes {
            node.capacity = slots.with(&node.capacity, slots.of_node(&node.capacity));
        }
        for queue in &mut config.queues {
            queue.min = queue.min.map(|min| slots.with(&min, 0));
            queue.max = queue.max.map(|max| slots.with(&max, MAX_AMOUNT));
        }
        for policy in std::iter::once(&mut config.root)
            .chain(config.queues.iter_mut().map(|queue| &mut queue.policy))
        {
            if policy.scalar == Scalar::Dominant {
                return Err(
                    "`slots` shares one resource; no queue below it can compare dominant shares"
                        .to_owned(),
                );
            }
        }
        Ok((config, slots))
    }

    /// Slots of the largest server.
    pub fn per_largest(&self) -> u32 {
        self.per_largest
    }

    /// In thousandths.
    fn of_node(&self, capacity: &Resources) -> u64 {
        let parts = self.parts(capacity).map(|(amount, largest)| amount / largest);
        let slots = u64::try_from(parts.min().unwrap_or(0)).unwrap_or(u64::MAX);
        1000 * slots.min(MAX_AMOUNT / 1000)
    }

    /// In thousandths; at least one.
    fn of_task(&self, demand: &Resources) -> u64 {
        let parts = self.parts(demand).map(|(amount, largest)| amount.div_ceil(largest));
        1000 * u64::try_from(parts.max().unwrap_or(0).max(1))
            .unwrap_or(MAX_AMOUNT)
            .min(MAX_AMOUNT / 1000)
    }

    /// N times the amount, and the largest server's, kind by kind.
    fn parts<'a>(&'a self, amounts: &'a Resources) -> impl Iterator<Item = (u128, u128)> {
        let pairs = amounts
            .as_slice()
            .iter()
            .zip(self.largest.as_slice())
            .filter(|(_, largest)| **largest > 0);
        pairs.map(|(&amount, &largest)| {
            (u128::from(amount) * u128::from(self.per_largest), u128::from(largest))
        })
    }

    fn with(&self, amounts: &Resources, slots: u64) -> Resources {
        let mut all = amounts.as_slice().to_vec();
        all.push(slots);
        Resources::new(&all)
    }

    /// `source` with demands in slots as well.
    pub fn source<'a>(self, source: Box<dyn JobSource + 'a>) -> Box<dyn JobSource + 'a> {
        Box::new(Changed::new(source, self))
    }

    /// Changes of the cluster and of bounds, in slots as well.
    pub fn changes(&self, changes: Vec<TimedChange>) -> Vec<TimedChange> {
        let one =
            |timed: TimedChange| TimedChange { at: timed.at, change: self.change(timed.change) };
        changes.into_iter().map(one).collect()
    }

    /// A demand, in slots as well.
    pub fn demand(&self, demand: &Resources) -> Resources {
        self.with(demand, self.of_task(demand))
    }

    fn change(&self, change: Change) -> Change {
        match change {
            Change::NodeJoins(mut spec) => {
                spec.capacity = self.with(&spec.capacity, self.of_node(&spec.capacity));
                Change::NodeJoins(spec)
            }
            Change::NodeResized(name, capacity) => {
                Change::NodeResized(name, self.with(&capacity, self.of_node(&capacity)))
            }
            Change::Queue(name, mut change) => {
                change.min = change.min.map(|min| min.map(|min| self.with(&min, 0)));
                change.max = change.max.map(|max| max.map(|max| self.with(&max, MAX_AMOUNT)));
                Change::Queue(name, change)
            }
            other @ (Change::NodeLeaves(_) | Change::QueueRemoved(_) | Change::JobCancelled(_)) => {
                other
            }
        }
    }
}

impl JobChange for SlotCut {
    fn submitted(&self, mut job: Job) -> Job {
        for group in &mut job.groups {
            group.demand = self.demand(&group.demand);
        }
        job
    }

    /// The policy's name says it.
    fn words(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_tasks_in_slots() {
        // Thousandths of the largest server, as in DRFH Table 1.
        let check = |per_largest: u32, amounts: [u64; 2], of_node: u64, of_task: u64| {
            let slots = SlotCut { per_largest, largest: Resources::new(&[1000, 1000]) };
            let amounts = Resources::new(&amounts);
            assert_eq!(
                (slots.of_node(&amounts), slots.of_task(&amounts)),
                (1000 * of_node, 1000 * of_task),
                "{amounts:?}"
            );
        };
        check(14, [1000, 1000], 14, 14);
        check(14, [500, 500], 7, 7);
        check(14, [500, 250], 3, 7);
        check(10, [500, 30], 0, 5);
        check(10, [20, 101], 0, 2);
        check(10, [0, 1], 0, 1);
    }
}
