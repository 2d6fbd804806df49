//! The search for a counterexample to one property under one policy: sampling, climbing, refining,
//! shrinking.
//!
//! | step | what |
//! |---|---|
//! | known | the cases of [`super::classics`] |
//! | sample | `trials` random cases; the same for every policy, so that their means compare |
//! | climb | from the most promising, each [`steps`](super::AuditOptions::steps) times: a random change is kept when it is worse for the property |
//! | adopt | the worst cases of the other policies are tried, and climbed from |
//! | refine | more slots and tasks in proportion, where rounding to whole tasks can make less of the value |
//! | shrink | the worst that is left, made readable |
//!
//! Random numbers come from streams named after property, tasks and place in the search: results
//! depend on nothing else, nor on the number of threads. Cost: about trials + 11 * steps + 500
//! judgements of one to two tiny runs.

use meed_workload::generate::Stream;

use super::case::{Case, Tasks};
use super::classics::classics;
use super::error::AuditError;
use super::ground::Ground;
use super::measure::{Judged, judge, promise};
use super::options::AuditOptions;
use super::property::PropertyRow;
use super::random::Kind;
use super::shrink::shrink;
use crate::cores;

/// Cases that are climbed from.
const CLIMBERS: usize = 6;
/// Known cases that are climbed from too.
const KNOWN: usize = 3;
/// Worst cases of other policies that are climbed from.
const ADOPTED: usize = 3;
/// Factors of slots and tasks that refining tries.
const SCALES: [u32; 5] = [1, 2, 4, 8, 16];
/// Slots of the largest cluster that refining makes.
const MOST_SLOTS: u32 = 200;

/// What a search found.
pub(super) struct Found {
    /// Random cases.
    pub(super) trials: u32,
    /// How many of them showed a violation as they were.
    pub(super) showed: u32,
    /// Mean value over them.
    pub(super) mean: f64,
    /// Largest value of any case, whether or not it is more than whole tasks explain.
    pub(super) largest: f64,
    /// The worst violation, shrunk.
    pub(super) worst: Option<Judged>,
}

/// One search.
pub(super) struct Search<'a> {
    pub(super) property: &'static PropertyRow,
    pub(super) tasks: Tasks,
    pub(super) ground: &'a Ground,
    pub(super) alone: &'a Ground,
    pub(super) options: &'a AuditOptions,
}

/// What the first half of a search found.
pub(super) struct Sampled {
    showed: u32,
    mean: f64,
    /// The most promising, climbed.
    climbed: Vec<Judged>,
}

impl Search<'_> {
    fn kind(&self) -> Kind {
        // A queue that comes back has nothing to shed where it is alone on its share.
        let (grouped, remembers) = (self.ground.grouped, !self.ground.partitioned);
        Kind { property: self.property, tasks: self.tasks, grouped, remembers }
    }

    fn judge(&self, case: &Case) -> Result<Judged, AuditError> {
        judge(self.property, case, self.ground, self.alone)
    }

    fn promise(&self, judged: &Judged) -> f64 {
        promise(self.property, self.ground, judged)
    }

    fn stream(&self, what: &str) -> Stream {
        Stream::new(
            self.options.seed,
            &format!("audit {} {:?} {what}", self.property.name, self.tasks),
        )
    }

    /// Whether `other` is about the same property and kind of tasks.
    pub(super) fn is_like(&self, other: &Search<'_>) -> bool {
        self.property.property == other.property.property && self.tasks == other.tasks
    }

    /// Known and random cases, and climbs from the most promising.
    pub(super) fn sample(&self) -> Result<Sampled, AuditError> {
        let kind = self.kind();
        let draw = |i: &u32| self.judge(&kind.draw(&mut self.stream(&format!("case {i}"))));
        let trials = self.options.trials;
        let sampled = cores::map(&(0..trials).collect::<Vec<u32>>(), draw)?;
        let known =
            classics(kind).iter().map(|case| self.judge(case)).collect::<Result<Vec<_>, _>>()?;
        let showed = sampled.iter().filter(|judged| judged.violates()).count() as u32;
        let mean =
            sampled.iter().map(|judged| judged.value).sum::<f64>() / f64::from(trials.max(1));
        let mut starts = self.best(known, KNOWN);
        starts.extend(self.best(sampled, CLIMBERS));
        Ok(Sampled { showed, mean, climbed: self.climb(starts, "climb")? })
    }

    fn best(&self, mut from: Vec<Judged>, many: usize) -> Vec<Judged> {
        sort(&mut from, |judged| self.promise(judged));
        from.dedup_by(|a, b| a.case == b.case);
        from.truncate(many);
        from
    }

    /// Climbs from each of `starts`; returns these too, in case that is where it was finest.
    fn climb(&self, starts: Vec<Judged>, name: &str) -> Result<Vec<Judged>, AuditError> {
        let kind = self.kind();
        let climb = |&(rank, start): &(usize, &Judged)| {
            let mut dice = self.stream(&format!("{name} {} {rank}", self.ground.words));
            let mut best = start.clone();
            for _ in 0..self.options.steps() {
                let judged = self.judge(&kind.change(&best.case, &mut dice))?;
                // Equal ones too: a plateau is left only by walking over it.
                if self.promise(&judged) >= self.promise(&best) {
                    best = judged;
                }
            }
            Ok::<_, AuditError>(best)
        };
        let ranked: Vec<(usize, &Judged)> = starts.iter().enumerate().collect();
        let mut climbed = cores::map(&ranked, climb)?;
        climbed.extend(starts);
        Ok(climbed)
    }

    /// What is the worst for this policy in the end, after the worst cases of other policies have
    /// been tried too.
    pub(super) fn finish(
        &self,
        sampled: &Sampled,
        others: &[&Sampled],
    ) -> Result<Found, AuditError> {
        let kind = self.kind();
        let theirs = others
            .iter()
            .filter_map(|other| other.climbed.iter().max_by(|a, b| a.value.total_cmp(&b.value)));
        let adapted = theirs.filter_map(|judged| kind.adapt(&judged.case));
        let tried = adapted.map(|case| self.judge(&case)).collect::<Result<Vec<_>, _>>()?;
        let mut all = self.climb(self.best(tried, ADOPTED), "adopted")?;
        all.extend(sampled.climbed.iter().cloned());
        let largest = all.iter().map(|judged| judged.value).fold(f64::NEG_INFINITY, f64::max);
        let refined = cores::map(&all, |judged| self.refine(judged))?;
        let mut refined: Vec<Judged> = refined.into_iter().flatten().collect();
        sort(&mut refined, Judged::excess);
        let worst = match refined.into_iter().next() {
            Some(worst) => Some(shrink(worst, &|case| self.judge(case), kind.needs_lie())?),
            None => None,
        };
        let (showed, mean) = (sampled.showed, sampled.mean);
        Ok(Found { trials: self.options.trials, showed, mean, largest, worst })
    }

    /// The case at the scale at which it shows most beyond what whole tasks can make; nothing where
    /// it never does.
    fn refine(&self, judged: &Judged) -> Result<Option<Judged>, AuditError> {
        let mut best: Option<Judged> = None;
        // What is no violation of divisible tasks does not become one by dividing more finely.
        for scale in SCALES.into_iter().filter(|_| judged.value > 0.0) {
            let case = Case { scale, ..judged.case.clone() };
            if case.capacity() > MOST_SLOTS {
                break;
            }
            let finer = self.judge(&case)?;
            if finer.violates() && best.as_ref().is_none_or(|best| finer.excess() > best.excess()) {
                best = Some(finer);
            }
        }
        Ok(best)
    }
}

/// The largest first; equal ones by their case, for a result that depends on nothing else.
fn sort(judged: &mut [Judged], by: impl Fn(&Judged) -> f64) {
    judged.sort_by(|a, b| by(b).total_cmp(&by(a)).then_with(|| a.case.cmp(&b.case)));
}
