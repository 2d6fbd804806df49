//! What a scenario asks for that cannot be, found before the run begins: minimum shares that no
//! cluster could give, and more jobs than anybody could wait for.
//!
//! A minimum above all that the cluster ever has is an error. Minimums that are together above it
//! are not: queues need not want theirs at one time, so that is a remark. The number of a
//! generator's jobs is its time divided by the mean gap, or its own limit if that is less; what is
//! expected beyond [`MOST_JOBS`] must be asked for by `most_jobs`. Cost: O(queues + generators).

use std::collections::BTreeMap;

use meed::{ResourceKinds, Resources, Span, Time};
use meed_config::units::{format_amount, format_span};
use meed_workload::generate::{Arrivals, GeneratorSpec};

/// Jobs of a generator that are run without being asked for: some hours of computing.
pub(super) const MOST_JOBS: u64 = 1_000_000_000;

/// What is wrong with the minimum of the queue `name`, in a cluster that never has more than
/// `most`.
pub(super) fn minimum(
    name: &str,
    min: Option<&Resources>,
    most: &Resources,
    kinds: &ResourceKinds,
) -> Result<(), String> {
    let Some(min) = min else { return Ok(()) };
    let amount = |of: &Resources, kind| format_amount(of.get(kind), kinds.unit(kind));
    match (0..kinds.len()).find(|kind| min.get(*kind) > most.get(*kind)) {
        None => Ok(()),
        Some(kind) => Err(format!(
            "queue `{name}`: a minimum of {resource} {} can never be given; all nodes together \
             have {}",
            amount(min, kind),
            amount(most, kind),
            resource = kinds.name(kind)
        )),
    }
}

/// Remarks about queues below one parent whose minimums are together above what there is.
pub(super) fn sums<'a>(
    queues: impl Iterator<Item = (&'a str, Option<&'a Resources>)>,
    most: &Resources,
    kinds: &ResourceKinds,
) -> Vec<String> {
    let mut sums: BTreeMap<&str, Vec<u128>> = BTreeMap::new();
    for (name, min) in queues {
        let Some(min) = min else { continue };
        let parent = name.rsplit_once('.').map_or("", |(parent, _)| parent);
        let sum = sums.entry(parent).or_insert_with(|| vec![0; kinds.len()]);
        for (kind, sum) in sum.iter_mut().enumerate() {
            *sum += u128::from(min.get(kind));
        }
    }
    let remark = |(parent, sum): (&str, Vec<u128>)| {
        let kind = (0..kinds.len()).find(|kind| sum[*kind] > u128::from(most.get(*kind)))?;
        let of = if parent.is_empty() { String::new() } else { format!(" below `{parent}`") };
        Some(format!(
            "the minimums of the queues{of} are together above the {} of all nodes ({}): not all \
             can have theirs at one time",
            kinds.name(kind),
            format_amount(most.get(kind), kinds.unit(kind))
        ))
    };
    sums.into_iter().filter_map(remark).collect()
}

/// What is wrong with the number of jobs that `spec` is expected to make, of which `most` are
/// allowed.
pub(super) fn jobs(spec: &GeneratorSpec, most: u64) -> Result<(), String> {
    let (start, gap_s) = match &spec.arrivals {
        Arrivals::Every { start, gap } => (*start, Some(gap.as_secs_f64())),
        Arrivals::Gaps { start, gap_s } => (*start, gap_s.mean()),
        Arrivals::At(_) | Arrivals::Closed { .. } => (Time::ZERO, None),
    };
    let by_time = spec.limit.until.zip(gap_s).map(|(until, gap_s)| {
        let span = until.saturating_since(start);
        (span, gap_s, span.as_secs_f64() / gap_s.max(1e-6))
    });
    let asked = format!(
        "more than the {most} that are run without being asked; make it fewer, or allow them with \
         most_jobs in [run]"
    );
    let name = &spec.stream;
    match (spec.limit.jobs, by_time) {
        (Some(jobs), None) if jobs > most => {
            Err(format!("generator `{name}`: {jobs} jobs are {asked}"))
        }
        (limit, Some((span, gap_s, count)))
            if limit.is_none_or(|jobs| jobs > most) && count > most as f64 =>
        {
            let gap = Span::from_secs_f64(gap_s).map_or_else(String::new, format_span);
            let span = format_span(span);
            Err(format!(
                "generator `{name}`: a job each {gap} for {span} makes about {count:.0} jobs, \
                 {asked}"
            ))
        }
        _ => Ok(()),
    }
}
