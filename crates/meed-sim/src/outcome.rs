//! From a finished run to its record.

use std::collections::BTreeMap;

use meed::fairness::Lending;
use meed::fairness::indices::{jain, sharing_benefit, sharing_loss};
use meed::{Engine, QueueId, Resources, Time};

use crate::record::{GroupRecord, JOB_PERCENTILES, JobRecord, QueueRecord, RunRecord};
use crate::world::{Finished, KeptJob, Parts, Tally};

/// The leaf queues that there were, in order of declaration.
pub(crate) fn leaves(parts: &Parts) -> Vec<QueueId> {
    parts.tree().queue_ids().filter(|&id| parts.route(id).is_some()).collect()
}

/// What each of `leaves` (all of them) lent and borrowed. Alone on its share nobody lends.
pub(crate) fn lending(t: Time, leaves: &[QueueId], parts: &Parts) -> Vec<Lending> {
    if parts.is_partitioned() {
        return vec![Lending::default(); leaves.len()];
    }
    // A parent that has lost its last child has a share that others can borrow: without it sums
    // would differ.
    let tree = parts.tree();
    let childless =
        tree.queue_ids().filter(|&id| tree.queue(id).is_leaf && parts.route(id).is_none());
    let all: Vec<QueueId> = leaves.iter().copied().chain(childless).collect();
    let mut lending = parts.engines[0].lending(&all, t);
    lending.truncate(leaves.len());
    lending
}

/// The record of a run under the policy called `policy`; speed-ups are filled in later.
pub(crate) fn record(policy: &str, finished: Finished) -> RunRecord {
    let Finished { mut parts, tally, end, sampler, counts, capacity, .. } = finished;
    for engine in &mut parts.engines {
        engine.advance(end).expect("the end is not before the last event");
    }
    let leaves = leaves(&parts);
    let lending = lending(end, &leaves, &parts);
    let tree = parts.tree();
    let (kinds, measured) = (tree.kinds(), tree.measured());
    let queues: Vec<QueueRecord> = leaves
        .iter()
        .zip(lending)
        .map(|(&leaf, lent)| queue_record(leaf, lent, end, &parts, &tally))
        .collect();
    let rhos = || queues.iter().filter_map(|queue| queue.rho);
    let dominant = || queues.iter().filter_map(|queue| queue.dominant_rho);
    let jobs: u64 = leaves.iter().map(|leaf| tally.queues[leaf.index()].jobs).sum();
    let job_micros: u128 = leaves.iter().map(|leaf| tally.queues[leaf.index()].job_micros).sum();
    let job_times = tally.times.percentiles(&[50.0, 99.0]);
    let counted = || leaves.iter().map(|leaf| &tally.queues[leaf.index()]);
    let utilization = (0..kinds.len()).map(|kind| {
        let used: u128 = leaves.iter().map(|&leaf| usage(leaf, end, &parts)[kind]).sum();
        let fraction = if capacity[kind] > 0 { used as f64 / capacity[kind] as f64 } else { 0.0 };
        (kinds.name(kind).to_owned(), fraction)
    });
    RunRecord {
        policy: policy.to_owned(),
        measured: kinds.name(measured).to_owned(),
        end_s: end.as_secs_f64(),
        events: tally.events,
        decisions: tally.starts,
        refused: tally.refused,
        failed: tally.failed,
        unfinished: tally.unfinished,
        trace_lines: counts.lines,
        skipped_lines: counts.bad,
        ignored_lines: counts.ignored,
        utilization: utilization.collect(),
        psi: sharing_benefit(rhos()),
        omega: sharing_loss(rhos()),
        jain: jain(rhos()),
        dominant_psi: sharing_benefit(dominant()),
        dominant_omega: sharing_loss(dominant()),
        dominant_jain: jain(dominant()),
        mean_job_s: mean_seconds(job_micros, jobs),
        p50_job_s: job_times.first().copied(),
        p99_job_s: job_times.last().copied(),
        mean_wait_s: mean_seconds(
            counted().map(|queue| queue.wait_micros).sum(),
            counted().map(|queue| queue.waits).sum(),
        ),
        longest_wait_s: counted()
            .filter_map(|queue| queue.longest_wait)
            .max()
            .map(|span| span.as_secs_f64()),
        groups: groups(&parts, end),
        series: sampler.map(|sampler| sampler.series(&parts)).unwrap_or_default(),
        mapreduce: None,
        jobs: job_records(&leaves, tally.kept_jobs),
        queues,
    }
}

/// With queues by their place in the record.
fn job_records(leaves: &[QueueId], kept: Option<Vec<KeptJob>>) -> Vec<JobRecord> {
    let places: BTreeMap<QueueId, usize> =
        leaves.iter().enumerate().map(|(place, leaf)| (*leaf, place)).collect();
    let record = |job: KeptJob| JobRecord {
        queue: places[&job.queue],
        label: job.label,
        submit_s: job.submit.as_secs_f64(),
        ended_s: job.ended.map(Time::as_secs_f64),
        tasks: job.tasks,
    };
    kept.into_iter().flatten().map(record).collect()
}

fn mean_seconds(micros: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| micros as f64 / count as f64 / 1e6)
}

fn usage(leaf: QueueId, end: Time, parts: &Parts) -> [u128; meed::MAX_KINDS] {
    let (part, queue) = parts.route(leaf).expect("leaves are scheduled");
    parts.engines[part as usize].integrals(queue, end).usage
}

fn queue_record(
    leaf: QueueId,
    lent: Lending,
    end: Time,
    parts: &Parts,
    tally: &Tally,
) -> QueueRecord {
    let (part, queue) = parts.route(leaf).expect("leaves are scheduled");
    let (tree, engine) = (parts.tree(), &parts.engines[part as usize]);
    let (kinds, measured) = (tree.kinds(), tree.measured());
    let scale = kinds.unit(measured).scale() as f64;
    let (view, integrals) = (tree.queue(leaf), engine.integrals(queue, end));
    let counted = &tally.queues[leaf.index()];
    let percentiles = counted.times.percentiles(&JOB_PERCENTILES);
    let at = |wanted: f64| {
        JOB_PERCENTILES.iter().position(|&p| p == wanted).and_then(|i| percentiles.get(i).copied())
    };
    QueueRecord {
        queue: view.name.to_owned(),
        weight: view.weight as f64 / 1000.0,
        share: if view.removed { 0.0 } else { view.share.get(measured) as f64 / scale },
        usage: resource_seconds(&integrals.usage, engine),
        charged: engine.charged(queue, end) / scale,
        rho: integrals.rho(measured),
        dominant_rho: integrals.dominant_rho(),
        lent: lent.lent as f64 / scale / 1e6,
        borrowed: lent.borrowed as f64 / scale / 1e6,
        balance: (lent.lent as i128 - lent.borrowed as i128) as f64 / scale / 1e6,
        jobs: counted.jobs,
        tasks: counted.tasks,
        mean_job_s: mean_seconds(counted.job_micros, counted.jobs),
        p50_job_s: at(50.0),
        p99_job_s: at(99.0),
        mean_wait_s: mean_seconds(counted.wait_micros, counted.waits),
        longest_wait_s: counted.longest_wait.map(|span| span.as_secs_f64()),
        speedup: None,
        job_s_percentiles: percentiles,
    }
}

fn resource_seconds(usage: &[u128], engine: &Engine) -> BTreeMap<String, f64> {
    let kinds = engine.kinds();
    let seconds = |kind: usize| usage[kind] as f64 / kinds.unit(kind).scale() as f64 / 1e6;
    (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), seconds(kind))).collect()
}

fn groups(parts: &Parts, end: Time) -> Vec<GroupRecord> {
    let tree = parts.tree();
    let scale = tree.kinds().unit(tree.measured()).scale() as f64;
    let mut sums = vec![[0u128; meed::MAX_KINDS]; tree.queue_ids().len()];
    for leaf in leaves(parts) {
        let used = usage(leaf, end, parts);
        let mut at = tree.queue(leaf).parent;
        while let Some(id) = at {
            sums[id.index()].iter_mut().zip(used).for_each(|(sum, used)| *sum += used);
            at = tree.queue(id).parent;
        }
    }
    let parents = tree.queue_ids().skip(1).filter(|&id| parts.route(id).is_none());
    let record = |id: QueueId| {
        let sum = &sums[id.index()];
        let charged = if parts.is_partitioned() {
            sum[tree.measured()] as f64 / 1e6
        } else {
            tree.charged(id, end)
        };
        GroupRecord {
            queue: tree.queue(id).name.to_owned(),
            weight: tree.queue(id).weight as f64 / 1000.0,
            usage: resource_seconds(sum, tree),
            charged: charged / scale,
        }
    };
    parents.map(record).collect()
}

/// Capacity x time of the cluster, which may change.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapacityTime {
    passed: [u128; meed::MAX_KINDS],
    at: Time,
}

impl CapacityTime {
    /// `capacity` was there since the last call, up to `now`.
    pub(crate) fn pass(&mut self, now: Time, capacity: &Resources) {
        let micros = u128::from((now - self.at).as_micros());
        self.passed
            .iter_mut()
            .zip(capacity.as_slice())
            .for_each(|(sum, &amount)| *sum += u128::from(amount) * micros);
        self.at = now;
    }

    pub(crate) fn total(&self) -> [u128; meed::MAX_KINDS] {
        self.passed
    }
}
