//! Which candidate is chosen, and which others are as good.
//!
//! The candidates within all bounds compete; that with the smallest mean of the aimed figure is the
//! best. A replicate is one load and one seed. A candidate is *worse* than the best where its
//! figure is larger at every replicate; else it is as good, within chance. Where the best is not
//! smaller than the baseline at every replicate the gain may be chance, and the baseline, which is
//! simpler, is chosen. Fewer than [`LEAST`] replicates tell nothing apart.
//!
//! This is a screen, not a test with a known error: the loads are of the same jobs, and the best is
//! the least of a dozen.

use super::aims::{Aims, FIGURES, Figure};
use crate::sweep::Results;

/// So many replicates are needed to call a difference more than chance.
pub const LEAST: usize = 3;

/// A figure of one candidate over all replicates.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// Mean over the replicates.
    pub mean: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The mean over that of the baseline; nothing where that is 0.
    pub ratio: Option<f64>,
}

/// A candidate and how it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The policy's words.
    pub policy: String,
    /// For each of [`FIGURES`]; nothing where it exists at no replicate.
    pub figures: Vec<Option<Observed>>,
    /// Names of the figures beyond their bounds.
    pub beyond: Vec<&'static str>,
    /// Whether it is as good as the chosen one within chance.
    pub as_good: bool,
    /// Whether the aimed figure is smaller than under the baseline at every replicate.
    pub gains: bool,
}

/// The answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The baseline first, then the others as they were named.
    pub candidates: Vec<Candidate>,
    /// Index of the chosen one; 0, the baseline, where a gain may be chance.
    pub chosen: usize,
    /// Names of bounded figures that exist at no replicate of the baseline: nothing is beyond them.
    pub unchecked: Vec<&'static str>,
    /// How many loads and seeds each was run at.
    pub replicates: usize,
    /// Lines and jobs that were left out, at most at one point: of the trace, refused, unfinished.
    pub incidents: [u64; 3],
}

/// Weighs `results`, in which `candidates` are the policies, the baseline first.
pub fn weigh(aims: &Aims, candidates: &[String], results: &Results) -> Advice {
    let values: Vec<Vec<Vec<f64>>> = candidates
        .iter()
        .map(|policy| {
            FIGURES.iter().map(|figure| replicates(results, policy, figure.column)).collect()
        })
        .collect();
    let base = values.first().map(Vec::as_slice).unwrap_or_default();
    let at = |figure: &Figure| FIGURES.iter().position(|row| row.name == figure.name);
    let aim = at(aims.aim).unwrap_or(0);
    let mut weighed: Vec<Candidate> = candidates
        .iter()
        .zip(&values)
        .map(|(policy, own)| Candidate {
            policy: policy.clone(),
            figures: own.iter().zip(base).map(|(own, base)| measured(own, base)).collect(),
            beyond: aims
                .bounds
                .iter()
                .filter(|bound| {
                    at(bound.figure).is_some_and(|at| exceeds(&own[at], &base[at], bound.ratio))
                })
                .map(|bound| bound.figure.name)
                .collect(),
            as_good: false,
            gains: smaller_everywhere(&own[aim], &base[aim]),
        })
        .collect();
    let chosen = best(&weighed, aim);
    for (candidate, own) in weighed.iter_mut().zip(&values) {
        candidate.as_good = candidate.beyond.is_empty()
            && !own[aim].is_empty()
            && !smaller_everywhere(&values[chosen][aim], &own[aim]);
    }
    let replicates = base.iter().map(Vec::len).max().unwrap_or(0);
    let incidents = ["skipped_lines", "refused", "unfinished"].map(|column| most(results, column));
    let is_missing = |name: &&str| {
        let at = FIGURES.iter().position(|row| row.name == *name);
        at.and_then(|at| base.get(at)).is_none_or(Vec::is_empty)
    };
    let bounded = aims.bounds.iter().map(|bound| bound.figure.name);
    let unchecked = bounded.filter(is_missing).collect();
    Advice { candidates: weighed, chosen, unchecked, replicates, incidents }
}

/// The candidate within its bounds whose aimed figure is the smallest, if that is a gain at every
/// replicate;
/// the first of equals. Else the baseline.
fn best(weighed: &[Candidate], aim: usize) -> usize {
    let mean = |at: usize| weighed[at].figures[aim].as_ref().map(|figure| figure.mean);
    let allowed = (1..weighed.len()).filter(|&at| weighed[at].beyond.is_empty());
    let known = allowed.filter_map(|at| Some((mean(at)?, at)));
    let best = known.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.map(|(_, at)| at).filter(|&at| weighed[at].gains).unwrap_or(0)
}

/// One value for each load and seed, in the order of the sweep.
pub(super) fn replicates(results: &Results, policy: &str, column: &str) -> Vec<f64> {
    let Some(at) = results.measured.iter().position(|name| name == column) else {
        return Vec::new();
    };
    let Some(named) = results.parameters.iter().position(|name| name == "policy") else {
        return Vec::new();
    };
    let rows = results.rows.iter().filter(|row| row.parameters[named] == policy);
    rows.filter_map(|row| row.cells.get(at)?.parse().ok()).collect()
}

fn measured(own: &[f64], base: &[f64]) -> Option<Observed> {
    let mean = mean(own)?;
    let base = self::mean(base).filter(|base| *base > 0.0);
    Some(Observed {
        mean,
        least: own.iter().copied().fold(f64::INFINITY, f64::min),
        most: own.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ratio: base.map(|base| mean / base),
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Whether the mean is above `ratio` thousandths of the baseline's.
fn exceeds(own: &[f64], base: &[f64], ratio: u32) -> bool {
    match (mean(own), mean(base)) {
        (Some(own), Some(base)) => own * 1000.0 > base * f64::from(ratio),
        _ => false,
    }
}

/// Replicate by replicate, where both have all.
fn smaller_everywhere(a: &[f64], b: &[f64]) -> bool {
    a.len() >= LEAST && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a < b)
}

fn most(results: &Results, column: &str) -> u64 {
    let Some(at) = results.measured.iter().position(|name| name == column) else { return 0 };
    let counts = results.rows.iter().filter_map(|row| row.cells.get(at)?.parse::<f64>().ok());
    counts.fold(0.0, f64::max) as u64
}
