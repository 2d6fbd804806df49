//! Which candidate is chosen, and which others are as good.
//!
//! The candidates within all bounds compete; that with the smallest mean of the aimed figure is the
//! best. Another is *worse* where the best is better beyond chance ([`super::chance`]); else it is
//! as good. Where the best is not better than the baseline beyond chance, the baseline, which the
//! site has, stays.
//!
//! Among those that are as good, and better than the baseline beyond chance, the one is chosen that
//! the site's scheduler can be told, then the one that most schedulers can be told, then the one
//! with the smallest figure.
//!
//! Where the cluster is seldom full ([`SELDOM`]) no order decides anything, and none is chosen. The
//! same holds where many jobs fit on no node ([`UNFIT`]): the cluster is not that of the log.

use super::aims::{Aims, FIGURES, Figure};
use super::chance::Chance;
use super::seen::{NOTICED, Seen};

/// The cluster is seldom full where fewer jobs than this part waited a minute.
pub const SELDOM: f64 = 0.05;
/// The cluster cannot be that of the log where more than this part of the jobs fit nowhere.
pub const UNFIT: f64 = 0.05;
/// One tenant makes most of a gain where it makes more than this part.
const MOST: f64 = 1.0 / 3.0;

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
    /// Whether the aimed figure is smaller than under the baseline beyond chance.
    pub gains: bool,
}

/// How the tenants fare under the chosen candidate, against the baseline.
#[derive(Clone, PartialEq, Debug)]
pub struct People {
    /// How many wait less, by a minute or more in the mean.
    pub gain: usize,
    /// How many wait longer, by as much.
    pub lose: usize,
    /// Of how many.
    pub of: usize,
    /// The median over the tenants that the aim is of: under the baseline, and under the chosen.
    pub median_s: Option<[f64; 2]>,
    /// Who makes more than a third of the gain, and which part.
    pub one: Option<(String, f64)>,
    /// Each with its mean wait in seconds: under the baseline, and under the chosen.
    pub each: Vec<(String, [f64; 2])>,
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
    /// How many jobs of how many fit on no node, where these are so many that no answer would be
    /// one for this log.
    pub unfit: Option<[u64; 2]>,
    /// The part of jobs that waited a minute under the baseline, where that is so small that no
    /// order decides anything.
    pub seldom_full: Option<f64>,
    /// Whether tenants and parts of time were drawn anew.
    pub drawn: [bool; 2],
    /// Days of a part of time.
    pub part_s: f64,
    /// How the tenants fare, where another than the baseline is chosen.
    pub people: Option<People>,
}

/// How much better it is to choose a candidate among equals: whether the site's scheduler can be
/// told it, and how many schedulers can.
pub type Telling = (bool, usize);

/// Weighs `runs`, by candidate and replicate; `candidates` are their names, the baseline first, and
/// `telling` says who can be told each.
pub fn weigh(
    aims: &Aims,
    candidates: &[String],
    runs: &[Vec<Seen>],
    telling: &[Telling],
) -> Advice {
    let values = |candidate: usize, row: usize| -> Vec<f64> {
        let runs = runs.get(candidate).into_iter().flatten();
        runs.filter_map(|seen| *seen.figures.get(row)?).collect()
    };
    let at = |figure: &Figure| FIGURES.iter().position(|row| row.name == figure.name);
    let aim = at(aims.aim).unwrap_or(0);
    let chance = Chance::of(runs, aim);
    let candidate = |(number, policy): (usize, &String)| {
        let is_beyond = |bound: &&super::aims::AtMost| {
            at(bound.figure)
                .is_some_and(|row| exceeds(&values(number, row), &values(0, row), bound.ratio))
        };
        let figures = (0..FIGURES.len()).map(|row| measured(&values(number, row), &values(0, row)));
        let beyond = aims.bounds.iter().filter(is_beyond).map(|bound| bound.figure.name);
        Candidate {
            policy: policy.clone(),
            figures: figures.collect(),
            beyond: beyond.collect(),
            as_good: false,
            gains: number > 0 && chance.is_less(number, 0),
        }
    };
    let mut weighed: Vec<Candidate> = candidates.iter().enumerate().map(candidate).collect();
    let waited = runs.first().into_iter().flatten().filter_map(|seen| seen.waited);
    let waited = waited.max_by(f64::total_cmp);
    let unfit = unfit(runs);
    let seldom_full = waited.filter(|part| *part < SELDOM && unfit.is_none());
    let best = match (seldom_full, unfit) {
        (None, None) => best(&weighed, aim),
        _ => 0,
    };
    for (number, one) in weighed.iter_mut().enumerate() {
        let is_worse = chance.is_less(best, number);
        one.as_good = one.beyond.is_empty() && one.figures[aim].is_some() && !is_worse;
    }
    let chosen = preferred(&weighed, best, aim, telling);
    let people = (chosen > 0).then(|| people(&runs[0], &runs[chosen], aim));
    let incident = |at: usize| {
        let all = runs.iter().flatten().map(|seen| seen.incidents[at]);
        all.max().unwrap_or(0)
    };
    let is_missing = |name: &&str| {
        let row = FIGURES.iter().position(|row| row.name == *name);
        row.is_none_or(|row| values(0, row).is_empty())
    };
    let bounded = aims.bounds.iter().map(|bound| bound.figure.name);
    let first = runs.first().and_then(|runs| runs.first());
    Advice {
        candidates: weighed,
        chosen,
        unchecked: bounded.filter(is_missing).collect(),
        replicates: runs.first().map_or(0, Vec::len),
        incidents: [incident(0), incident(1), incident(2)],
        unfit,
        seldom_full,
        drawn: chance.drawn,
        part_s: first.map_or(0.0, |seen| seen.part_s),
        people,
    }
}

/// The most jobs that were refused under the baseline, and how many there were with them.
fn unfit(runs: &[Vec<Seen>]) -> Option<[u64; 2]> {
    let seen = runs.first().into_iter().flatten();
    let most = seen.map(|seen| [seen.incidents[1], seen.jobs + seen.incidents[1]]).max()?;
    (most[0] as f64 > most[1] as f64 * UNFIT).then_some(most)
}

/// The candidate within its bounds whose aimed figure is the smallest, if that is a gain beyond
/// chance; the first of equals. Else the baseline.
fn best(weighed: &[Candidate], aim: usize) -> usize {
    let mean = |at: usize| weighed[at].figures[aim].as_ref().map(|figure| figure.mean);
    let allowed = (1..weighed.len()).filter(|&at| weighed[at].beyond.is_empty());
    let known = allowed.filter_map(|at| Some((mean(at)?, at)));
    let best = known.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.map(|(_, at)| at).filter(|&at| weighed[at].gains).unwrap_or(0)
}

/// Among those as good as `best` the one that people can be told.
fn preferred(weighed: &[Candidate], best: usize, aim: usize, telling: &[Telling]) -> usize {
    if best == 0 {
        return 0;
    }
    let mean = |at: usize| weighed[at].figures[aim].as_ref().map_or(f64::MAX, |of| of.mean);
    let told = |at: usize| telling.get(at).copied().unwrap_or_default();
    let good = (1..weighed.len()).filter(|&at| weighed[at].as_good && weighed[at].gains);
    let order = |a: &usize, b: &usize| {
        told(*b).cmp(&told(*a)).then(mean(*a).total_cmp(&mean(*b))).then(a.cmp(b))
    };
    good.min_by(order).unwrap_or(best)
}

/// Mean waits of tenants over the replicates, where all have one.
fn waits(runs: &[Seen], tenant: usize) -> Option<f64> {
    let all: Option<Vec<f64>> = runs.iter().map(|seen| seen.tenants.get(tenant)?.wait_s).collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

fn people(base: &[Seen], own: &[Seen], aim: usize) -> People {
    let Some(first) = base.first() else {
        return People { gain: 0, lose: 0, of: 0, median_s: None, one: None, each: Vec::new() };
    };
    // (name, wait under the baseline, wait under the chosen)
    let pair = |tenant: usize| {
        let name = &first.tenants.get(tenant)?.name;
        Some((name.as_str(), waits(base, tenant)?, waits(own, tenant)?))
    };
    let all: Vec<(&str, f64, f64)> = (0..first.tenants.len()).filter_map(pair).collect();
    let aimed: Vec<(&str, f64, f64)> = first.whose(aim).into_iter().filter_map(pair).collect();
    let median = |of: fn(&(&str, f64, f64)) -> f64| {
        let mut all: Vec<f64> = aimed.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        crate::sweep::summary::quantile(&all, 0.5)
    };
    let total: f64 = aimed.iter().map(|(_, base, own)| base - own).sum();
    let most = aimed.iter().max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)));
    let one = most.map(|(name, base, own)| ((*name).to_owned(), (base - own) / total));
    People {
        gain: all.iter().filter(|(_, base, own)| base - own >= NOTICED).count(),
        lose: all.iter().filter(|(_, base, own)| own - base >= NOTICED).count(),
        of: all.len(),
        median_s: median(|one| one.1).zip(median(|one| one.2)).map(|(a, b)| [a, b]),
        one: one.filter(|(_, part)| total > 0.0 && *part > MOST),
        each: all.iter().map(|(name, base, own)| ((*name).to_owned(), [*base, *own])).collect(),
    }
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
