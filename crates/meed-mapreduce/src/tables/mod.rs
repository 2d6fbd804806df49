//! `[mapreduce]` of a scenario, checked: machines, kinds of jobs, and what is submitted when.

mod cluster;
mod hosts;
mod keys;
mod raw;
mod workload;

use meed::{Config, NodeSpec, Resources, Span};
use meed_config::{Place, TextError};
use meed_driver::StopAt;
use meed_workload::stretch::Load;

use crate::classes::{Classes, ClassesError, Limits, Rule};
use crate::{Cluster, Machine, MapReduceKind, MapReduceSetup};
use keys::{bandwidth, optional, span, thousandths, whole};
pub use raw::MapReduceForm;
use workload::Workload;

/// What a scenario of this world has besides policies and queues.
pub struct MapReducePlan {
    cluster: Cluster,
    limits: Limits,
    kinds: Vec<MapReduceKind>,
    workload: Workload,
    load: Load,
}

impl MapReducePlan {
    /// What `raw` says, at `load` times the speed at which jobs come. An error names file, line
    /// and key.
    pub fn read(
        raw: &MapReduceForm,
        load: Load,
        place: &Place<'_>,
    ) -> Result<MapReducePlan, TextError> {
        let cluster = cluster::cluster(raw, place)?;
        let limits = limits(raw, &cluster, place)?;
        let kinds = workload::kinds(&raw.kind, place)?;
        let workload = workload::workload(raw, &kinds, cluster.block_bytes, place)?;
        Ok(MapReducePlan { cluster, limits, kinds, workload, load })
    }

    /// A node of the engine for each machine, with its slots as capacity: resources `map` and
    /// `reduce`, in thousandths of a slot.
    pub fn nodes(&self) -> Vec<NodeSpec> {
        self.cluster.machines.iter().map(node).collect()
    }

    /// What a run starts from under the policy of `config` and `rule`, without samples; what is
    /// random is drawn from `seed`.
    pub fn setup(
        &self,
        config: Config,
        rule: &'static Rule,
        stop: StopAt,
        seed: u64,
    ) -> MapReduceSetup {
        MapReduceSetup {
            config,
            rule,
            limits: self.limits,
            cluster: self.cluster.clone(),
            requests: self.workload.requests(seed, &self.kinds, self.load),
            kinds: self.kinds.clone(),
            stop,
            seed,
            strict: false,
            series_points: 0,
        }
    }

    /// Whether the rule can be used on these machines.
    pub fn check_rule(&self, rule: &'static Rule) -> Result<(), ClassesError> {
        let slots = self.cluster.machines.iter().map(|machine| machine.map_slots).collect();
        Classes::new(rule, self.limits, slots).map(|_| ())
    }
}

fn node(machine: &Machine) -> NodeSpec {
    let slots = [machine.map_slots, machine.reduce_slots].map(|slots| u64::from(slots) * 1000);
    NodeSpec::new(machine.name.clone(), Resources::new(&slots))
}

/// What the rules compare with.
fn limits(raw: &MapReduceForm, cluster: &Cluster, place: &Place<'_>) -> Result<Limits, TextError> {
    let disks = cluster.machines.iter().map(|machine| u128::from(machine.speeds.disk_bytes_per_s));
    let mean = (disks.sum::<u128>() / cluster.machines.len() as u128) as u64;
    let busy = optional(place, &raw.overload_cpu, "overload_cpu", |raw| match thousandths(raw)? {
        busy @ 1..=1000 => Ok(busy as u32),
        _ => Err(format!("{} must be above 0, at most 1: a part of the cores", raw.text())),
    })?;
    let beats = cluster.heartbeat.as_micros();
    Ok(Limits {
        disk_bytes_per_s: optional(
            place,
            &raw.average_disk_bytes_per_s,
            "average_disk_bytes_per_s",
            bandwidth,
        )?
        .unwrap_or(mean),
        cpu_busy: busy.unwrap_or(OVERLOAD_CPU),
        io_bytes_per_s: optional(
            place,
            &raw.overload_io_bytes_per_s,
            "overload_io_bytes_per_s",
            bandwidth,
        )?
        .unwrap_or(OVERLOAD_IO),
        threshold: whole(place, &raw.threshold, "threshold", 1, 1 << 30)?.unwrap_or(THRESHOLD),
        local_wait: optional(place, &raw.local_wait, "local_wait", span)?
            .unwrap_or(Span::from_micros(beats + beats / 2).unwrap_or(Span::MAX)),
    })
}

/// Algorithm 10's default: 90 %.
const OVERLOAD_CPU: u32 = 900;
/// Algorithm 10's default: 35 MB, in a second.
const OVERLOAD_IO: u64 = 35_000_000;
/// Fig. 10's best.
const THRESHOLD: u32 = 300;
