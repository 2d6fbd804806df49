//! Who gains and who loses, in words: each policy against the one without memory, as the report's
//! first screen says it (`assets/js/gains.js`).
//!
//! What a tenant feels is its mean job time. A change below [`ALIKE`] is none to act on. Tenants of
//! whom no job has ended under one of the two are counted apart.

use std::iter::once;

use meed_driver::record::{Comparison, RunRecord};

use crate::number::{Scale, count};
use crate::words::{capital, clean};

/// Changes below this part are none that a reader should act on.
const ALIKE: f64 = 0.05;
/// So many tenants are named at either end.
const NAMED: usize = 3;

/// A sentence for each pair of runs of which something is to be said.
pub(crate) fn sentences(comparison: &Comparison) -> Vec<String> {
    let runs = &comparison.runs;
    let pairs = pairs(comparison).into_iter();
    pairs.filter_map(|[base, run]| sentence(&runs[base], &runs[run])).collect()
}

/// What is compared, as numbers of runs: what the others are held against, and another one. That is
/// the baseline, where somebody named one, and then sharing without a memory as well; else what
/// people have today, a policy without memory; else the first. Of `static` nothing is said where
/// nobody asked for it.
pub(crate) fn pairs(comparison: &Comparison) -> Vec<[usize; 2]> {
    let runs = &comparison.runs;
    if runs.len() < 2 {
        return Vec::new();
    }
    // `fair,when_blocked=wait`, `fair (recorded)`
    let order = |run: &RunRecord| run.policy.split([',', ' ']).next().map(str::to_owned);
    let is = |run: usize, names: &[&str]| {
        order(&runs[run]).is_some_and(|order| names.contains(&order.as_str()))
    };
    let memoryless = (0..runs.len()).find(|&run| is(run, &["fair", "drf"]));
    let named = comparison.baseline.as_ref();
    let named = named.and_then(|name| runs.iter().position(|run| run.policy == *name));
    let base = named.or(memoryless).unwrap_or(0);
    let is_told = |run: &usize| *run != base && !(comparison.is_usual && is(*run, &["static"]));
    let mut others: Vec<usize> = (0..runs.len()).filter(is_told).collect();
    if others.is_empty() {
        others = (0..runs.len()).filter(|run| *run != base).collect();
    }
    let beside = memoryless.filter(|fair| named.is_some() && *fair != base);
    let first = others.iter().map(|run| [base, *run]);
    let second = others.iter().filter_map(|run| Some([beside?, *run]));
    first.chain(second.filter(|[fair, run]| fair != run)).collect()
}

/// A tenant with its mean job time under both, in seconds.
struct Change<'a> {
    tenant: &'a str,
    before: f64,
    now: f64,
}

impl Change<'_> {
    fn ratio(&self) -> f64 {
        if self.before == self.now { 1.0 } else { self.now / self.before }
    }

    /// `nlp (31.0 to 20.6 h)`
    fn named(&self) -> String {
        let scale = Scale::time(once(Some(self.before.max(self.now))));
        let [before, now] = [self.before, self.now].map(|seconds| scale.show(Some(seconds)));
        format!("{} ({before} to {now} {})", clean(self.tenant), scale.unit)
    }
}

fn sentence(base: &RunRecord, run: &RunRecord) -> Option<String> {
    let pairs = || base.queues.iter().zip(&run.queues);
    let both = pairs().filter_map(|(old, new)| {
        let (before, now) = (old.mean_job_s?, new.mean_job_s?);
        Some(Change { tenant: &new.queue, before, now })
    });
    let mut changes: Vec<Change<'_>> = both.collect();
    changes.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    let all = changes.len();
    if all == 0 {
        return None;
    }
    let won = changes.partition_point(|change| change.ratio() < 1.0 - ALIKE);
    let lost = all - changes.partition_point(|change| change.ratio() <= 1.0 + ALIKE);
    let (won, lost) = (&changes[..won], &changes[all - lost..]);
    let (policy, beside) = (clean(&run.policy), clean(&base.policy));
    let mut text = match (won.is_empty(), lost.is_empty()) {
        (true, true) => {
            format!(
                "{policy} instead of {beside}: no tenant's mean job time changes by 5 % or more."
            )
        }
        _ => format!(
            "{policy} instead of {beside}: {} of {} {} {} sooner (mean job time shorter by 5 % or \
             more){} {} {} later{}",
            some(won.len()),
            count(all as u64),
            if all == 1 { "tenant" } else { "tenants" },
            finish(won.len()),
            names(won.iter()),
            capital(&some(lost.len())),
            finish(lost.len()),
            names(lost.iter().rev()),
        ),
    };
    let gone = pairs().filter(|(old, new)| old.mean_job_s.is_some() && new.mean_job_s.is_none());
    let gone = gone.count();
    if gone > 0 {
        text += &format!(" No job of {gone} more has ended.");
    }
    let is_below = |rho: &f64| *rho < 1.0 - 1e-9;
    let below =
        |run: &RunRecord| run.queues.iter().filter_map(|it| it.rho).filter(is_below).count();
    text += &match (below(run), below(base)) {
        (0, 0) => " Nobody gets less than its own share, under either.".to_owned(),
        (now, before) => {
            let words = if now > 1 { "get less than their" } else { "gets less than its" };
            let (now, before) = (capital(&some(now)), some(before));
            format!(" {now} {words} own share (rho < 1), under {beside} {before}.")
        }
    };
    Some(text)
}

fn finish(found: usize) -> &'static str {
    if found > 1 { "finish" } else { "finishes" }
}

fn some(found: usize) -> String {
    if found == 0 { "none".to_owned() } else { count(found as u64) }
}

fn names<'a>(changes: impl ExactSizeIterator<Item = &'a Change<'a>>) -> String {
    let more = if changes.len() > NAMED { ", ..." } else { "." };
    let named: Vec<String> = changes.take(NAMED).map(Change::named).collect();
    if named.is_empty() { ".".to_owned() } else { format!(": {}{more}", named.join(", ")) }
}
