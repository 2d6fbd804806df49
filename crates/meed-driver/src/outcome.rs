//! From a finished run to its record.

use std::collections::BTreeMap;

use meed::fairness::Integrals;
use meed::fairness::indices::{jain, sharing_benefit, sharing_loss};
use meed::{MAX_KINDS, QueueId, Time, View};

use crate::books::{Books, leaves};
use crate::counting::{CountedSpan, Counting, LeafMark, Mark};
use crate::record::{
    CountedRecord, GroupRecord, JOB_PERCENTILES, JobRecord, QueueRecord, RunRecord,
};
use crate::series::Sampler;
use crate::tally::KeptJob;

/// How a run ended, besides what the books hold.
///
/// The example of [`RunRecord`](crate::record::RunRecord) ends a run.
pub struct Ending {
    /// When.
    pub end: Time,
    /// Its samples.
    pub sampler: Option<Sampler>,
    /// Its jobs one by one, where they were kept.
    pub jobs: Vec<KeptJob>,
    /// What was seen at both ends of the part of it that counts; all does where nobody looked.
    pub counting: Option<Counting>,
}

/// The record of a run under the policy called `policy`. What only its world knows (lines of a
/// trace, speed-ups over another run) is filled in later.
pub fn outcome(
    policy: &str,
    books: &mut impl Books,
    ending: Ending,
) -> Result<RunRecord, meed::Rejected> {
    let Ending { end, sampler, jobs: kept, counting } = ending;
    books.advance(end)?;
    let (books, leaves) = (&*books, leaves(books));
    let span = counting.as_ref().map(Counting::span);
    let seen = match counting {
        Some(counting) => counting.figures(end, books),
        None => Mark::of(end, books),
    };
    let (tree, totals, capacity) = (books.tree(), books.totals(), seen.capacity);
    let (kinds, measured) = (tree.kinds(), tree.measured());
    let queues: Vec<QueueRecord> =
        seen.leaves.iter().map(|mark| queue_record(mark, end, books)).collect();
    let rhos = || queues.iter().filter_map(|queue| queue.rho);
    let dominant = || queues.iter().filter_map(|queue| queue.dominant_rho);
    let jobs: u64 = leaves.iter().map(|leaf| books.tally(*leaf).jobs).sum();
    let job_micros: u128 = leaves.iter().map(|leaf| books.tally(*leaf).job_micros).sum();
    let job_times = totals.times.percentiles(&[50.0, 99.0]);
    let counted = || leaves.iter().map(|leaf| books.tally(*leaf));
    let part = |of: fn(&Integrals) -> &[u128; MAX_KINDS]| -> BTreeMap<String, f64> {
        let fraction = |kind: usize| {
            let amounts = seen.leaves.iter().map(|mark| of(&mark.integrals)[kind]);
            let sum: u128 = amounts.sum();
            let fraction =
                if capacity[kind] > 0 { sum as f64 / capacity[kind] as f64 } else { 0.0 };
            (kinds.name(kind).to_owned(), fraction)
        };
        (0..kinds.len()).map(fraction).collect()
    };
    Ok(RunRecord {
        policy: policy.to_owned(),
        measured: kinds.name(measured).to_owned(),
        end_s: end.as_secs_f64(),
        events: totals.events,
        decisions: totals.starts,
        refused: totals.refused,
        first_refused: totals.first_refused.clone(),
        failed: totals.failed,
        unfinished: totals.unfinished,
        trace_lines: 0,
        skipped_lines: 0,
        ignored_lines: 0,
        utilization: part(|integrals| &integrals.usage),
        held_idle: tree.makes_reservations().then(|| part(|integrals| &integrals.held_idle)),
        stopped: None,
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
        groups: groups(books, &seen, end),
        counted: span.map(|span| CountedRecord::of(span, end)),
        series: sampler.map(|sampler| sampler.series(books)).unwrap_or_default(),
        mapreduce: None,
        accounts: None,
        jobs: job_records(&leaves, kept, kinds.unit(measured).scale(), span.unwrap_or_default()),
        chart: None,
        queues,
    })
}

/// With queues by their place in the record.
fn job_records(
    leaves: &[QueueId],
    kept: Vec<KeptJob>,
    scale: u64,
    span: CountedSpan,
) -> Vec<JobRecord> {
    let places: BTreeMap<QueueId, usize> =
        leaves.iter().enumerate().map(|(place, leaf)| (*leaf, place)).collect();
    let record = |job: KeptJob| JobRecord {
        queue: places[&job.queue],
        label: job.label,
        counts: span.holds(job.submit),
        submit_s: job.submit.as_secs_f64(),
        started_s: job.started.map(Time::as_secs_f64),
        ended_s: job.ended.map(Time::as_secs_f64),
        tasks: job.tasks,
        width: job.width as f64 / scale as f64,
    };
    kept.into_iter().map(record).collect()
}

fn mean_seconds(micros: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| micros as f64 / count as f64 / 1e6)
}

fn queue_record(mark: &LeafMark, end: Time, books: &impl Books) -> QueueRecord {
    let LeafMark { leaf, integrals, lending: lent } = *mark;
    let (engine, queue) = books.leaf(leaf).expect("it is a leaf");
    let tree = books.tree();
    let (kinds, measured) = (tree.kinds(), tree.measured());
    let scale = kinds.unit(measured).scale() as f64;
    let view = tree.queue(leaf);
    let counted = books.tally(leaf);
    let percentiles = counted.times.percentiles(&JOB_PERCENTILES);
    let at = |wanted: f64| {
        JOB_PERCENTILES.iter().position(|&p| p == wanted).and_then(|i| percentiles.get(i).copied())
    };
    QueueRecord {
        queue: view.name.to_owned(),
        weight: view.weight as f64 / 1000.0,
        share: view.part.of_amount(tree.capacity().get(measured)) / scale,
        usage: resource_seconds(&integrals.usage, engine),
        held_idle: tree
            .makes_reservations()
            .then(|| resource_seconds(&integrals.held_idle, engine)),
        stopped: None,
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
        overtaken: None,
    }
}

/// Sums over time, in smallest units x microseconds, by resource in resource-seconds.
pub fn resource_seconds(usage: &[u128], engine: View<'_>) -> BTreeMap<String, f64> {
    let kinds = engine.kinds();
    let seconds = |kind: usize| usage[kind] as f64 / kinds.unit(kind).scale() as f64 / 1e6;
    (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), seconds(kind))).collect()
}

fn groups(books: &impl Books, seen: &Mark, end: Time) -> Vec<GroupRecord> {
    let tree = books.tree();
    let scale = tree.kinds().unit(tree.measured()).scale() as f64;
    let mut sums = vec![[0u128; meed::MAX_KINDS]; tree.queue_ids().len()];
    for mark in &seen.leaves {
        let used = mark.integrals.usage;
        let mut at = tree.queue(mark.leaf).parent;
        while let Some(id) = at {
            sums[id.index()].iter_mut().zip(used).for_each(|(sum, used)| *sum += used);
            at = tree.queue(id).parent;
        }
    }
    let parents = tree.queue_ids().skip(1).filter(|&id| books.leaf(id).is_none());
    let record = |id: QueueId| {
        let sum = &sums[id.index()];
        let charged =
            if !books.lends() { sum[tree.measured()] as f64 / 1e6 } else { tree.charged(id, end) };
        GroupRecord {
            queue: tree.queue(id).name.to_owned(),
            weight: tree.queue(id).weight as f64 / 1000.0,
            usage: resource_seconds(sum, tree),
            charged: charged / scale,
        }
    };
    parents.map(record).collect()
}
