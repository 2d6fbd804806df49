//! How large a cluster was that a workload ran on: for traces that come without one.
//!
//! Where the trace tells when jobs started, what ran at once is known, and the cluster is assumed
//! to be what did in 99 % of the time, or the widest job ([`SizeRest::RanAtOnce`]). The peak itself
//! is often an artefact: on CTC-SP2, with 338 processors, it is 592, and 341 in 99 % of the time.
//!
//! Where the trace does not tell, all that can be said is how much the jobs would keep busy in the
//! mean from the first submission to the last ([`SizeRest::JustFull`]).
//!
//! Single absurd rows do not decide: outliers ([`crate::outliers`]) are left out of the size.
//!
//! Cost: some integers for each job, and their starts and ends sorted.

use meed::Time;

use crate::outliers::{self, Outliers};
use crate::{Job, JobLabel, JobSource, TraceError};

/// How much of a resource ran at once, in smallest units, over the time in which anything ran.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AtOnce {
    /// The mean.
    pub mean: f64,
    /// Ran at once, or less, in 99 % of the time.
    pub p99: u64,
    /// The most.
    pub peak: u64,
}

/// On what a size rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeRest {
    /// What ran at once in 99 % of the time, and at least the widest job.
    RanAtOnce,
    /// What the jobs keep busy in the mean: the trace does not tell when they started.
    JustFull,
}

/// A size, and on what it rests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssumedSize {
    /// Per resource in order, smallest units; 0 for what no job holds.
    pub amounts: Vec<u64>,
    /// On what they rest.
    pub rest: SizeRest,
    /// Rows that are left out.
    pub outliers: Outliers,
}

/// The size of the cluster for which `source`, of which all jobs are taken, was made. `kinds` is
/// how many resources there are.
pub fn assumed_size(source: &mut dyn JobSource, kinds: usize) -> Result<AssumedSize, TraceError> {
    Ok(Footprints::of(source, kinds)?.size())
}

/// What jobs held, and when.
pub struct Footprints {
    kinds: usize,
    /// What jobs are called: their numbers, and which have names instead.
    numbers: Vec<u64>,
    names: Vec<(usize, Box<str>)>,
    submits: Vec<u64>,
    /// [`NEVER`] where nobody says.
    starts: Vec<u64>,
    lengths: Vec<u64>,
    /// Job after job, kind after kind: what it holds at once, what it cannot do without, and amount
    /// x microseconds.
    held: Vec<u64>,
    widths: Vec<u64>,
    work: Vec<u128>,
}

const NEVER: u64 = u64::MAX;

impl Footprints {
    /// Of jobs over so many resources.
    pub fn new(kinds: usize) -> Footprints {
        Footprints {
            kinds,
            numbers: Vec::new(),
            names: Vec::new(),
            submits: Vec::new(),
            starts: Vec::new(),
            lengths: Vec::new(),
            held: Vec::new(),
            widths: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Of all jobs that `source` hands out.
    pub fn of(source: &mut dyn JobSource, kinds: usize) -> Result<Footprints, TraceError> {
        let mut ran = Footprints::new(kinds);
        while let Some(job) = source.next_job()? {
            ran.add(&job, source.waited().map(|wait| job.submit.saturating_add(wait)));
        }
        Ok(ran)
    }

    /// Takes in a job, which started then, where that is known. A job of several stages holds all
    /// the time what its widest stage holds.
    pub fn add(&mut self, job: &Job, start: Option<Time>) {
        self.numbers.push(match &job.label {
            JobLabel::Number(number) => *number,
            JobLabel::Name(name) => {
                self.names.push((self.numbers.len(), name.clone()));
                0
            }
        });
        self.submits.push(job.submit.as_micros());
        self.starts.push(start.map_or(NEVER, Time::as_micros));
        self.lengths.push(length(job));
        for kind in 0..self.kinds {
            let sizes = Sizes::of(job, kind);
            self.held.push(sizes.held);
            self.widths.push(sizes.width);
            self.work.push(sizes.work);
        }
    }

    /// How many jobs there are.
    pub fn count(&self) -> usize {
        self.submits.len()
    }

    pub(crate) fn kinds(&self) -> usize {
        self.kinds
    }

    /// What a job is called.
    pub(crate) fn name(&self, job: usize) -> String {
        match self.names.binary_search_by_key(&job, |(named, _)| *named) {
            Ok(place) => self.names[place].1.to_string(),
            Err(_) => self.numbers[job].to_string(),
        }
    }

    pub(crate) fn submit(&self, job: usize) -> u64 {
        self.submits[job]
    }

    pub(crate) fn length(&self, job: usize) -> u64 {
        self.lengths[job]
    }

    /// What a job cannot do without.
    pub(crate) fn width(&self, job: usize, kind: usize) -> u64 {
        self.widths[job * self.kinds + kind]
    }

    /// What a job holds at once.
    pub(crate) fn held(&self, job: usize, kind: usize) -> u64 {
        self.held[job * self.kinds + kind]
    }

    /// When a job was submitted.
    pub(crate) fn submitted(&self, job: usize) -> Time {
        Time::from_micros(self.submits[job]).unwrap_or(Time::MAX)
    }

    /// When a job started, where that is known.
    pub(crate) fn started(&self, job: usize) -> Option<Time> {
        Some(self.starts[job]).filter(|start| *start != NEVER).and_then(Time::from_micros)
    }

    pub(crate) fn end(&self, job: usize) -> u64 {
        self.starts[job].saturating_add(self.lengths[job])
    }

    /// Whether the starts of most jobs are known.
    pub(crate) fn tells_starts(&self) -> bool {
        let known = self.starts.iter().filter(|start| **start != NEVER).count();
        known > 0 && known * 2 >= self.starts.len()
    }

    /// When the last job but outliers comes, in a source without these.
    pub fn last_submission(&self, outliers: &Outliers) -> Option<Time> {
        let left_out = self.without(outliers);
        let mut kept = self.kept(&left_out);
        let first = self.submit(kept.next()?);
        let last = kept.next_back().map_or(first, |job| self.submit(job));
        let zero = self.submits.first().copied().unwrap_or(0);
        Time::from_micros(last - (first - zero))
    }

    /// How many jobs but outliers come in that time, in a source without these.
    pub fn submitted_in(&self, outliers: &Outliers, from: Time, to: Time) -> (usize, usize) {
        let left_out = self.without(outliers);
        let zero = self.submits.first().copied().unwrap_or(0);
        let first = self.kept(&left_out).next().map_or(zero, |job| self.submit(job));
        let submits = || self.kept(&left_out).map(|job| self.submit(job) - (first - zero));
        let is_in = |at: &u64| *at >= from.as_micros() && (*at < to.as_micros() || to == Time::MAX);
        (submits().filter(is_in).count(), submits().count())
    }

    /// Rows that are far from all others, on a cluster of this capacity, where that is known.
    pub fn outliers(&self, capacity: Option<&[u64]>) -> Outliers {
        outliers::find(self, capacity)
    }

    pub(crate) fn without(&self, outliers: &Outliers) -> Vec<bool> {
        let mut left_out = vec![false; self.count()];
        outliers.rows().iter().for_each(|row| left_out[row.number()] = true);
        left_out
    }

    /// How much of each resource ran at once, without outliers; nothing where most starts are
    /// unknown.
    pub fn ran_at_once(&self) -> Option<Vec<AtOnce>> {
        self.ran_at_once_without(&self.outliers(None))
    }

    pub(crate) fn ran_at_once_without(&self, outliers: &Outliers) -> Option<Vec<AtOnce>> {
        if !self.tells_starts() {
            return None;
        }
        let left_out = self.without(outliers);
        let order = Order::of(self);
        Some((0..self.kinds).map(|kind| order.at_once(self, kind, &left_out)).collect())
    }

    /// How much of a resource all jobs but those left out need together: what ran at once at most,
    /// where that is known.
    pub(crate) fn together(&self, kind: usize, left_out: &[bool]) -> u64 {
        match self.tells_starts() {
            true => Order::of(self).at_once(self, kind, left_out).peak,
            false => self.mean(kind, left_out).max(self.widest(kind, left_out)),
        }
    }

    /// The size of the cluster.
    pub fn size(&self) -> AssumedSize {
        let outliers = self.outliers(None);
        let left_out = self.without(&outliers);
        let (rest, amounts) = match self.tells_starts() {
            true => {
                let order = Order::of(self);
                let ran = |kind| order.at_once(self, kind, &left_out).p99;
                let amount = |kind| self.widest(kind, &left_out).max(ran(kind));
                (SizeRest::RanAtOnce, (0..self.kinds).map(amount).collect())
            }
            false => {
                // At most what all hold together.
                let amount = |kind| {
                    let mean = self.mean(kind, &left_out).max(self.widest(kind, &left_out));
                    mean.min(self.all_held(kind, &left_out))
                };
                (SizeRest::JustFull, (0..self.kinds).map(amount).collect())
            }
        };
        AssumedSize { amounts, rest, outliers }
    }

    /// Work without outliers over this amount of a resource, for the time from the first submission
    /// to the last; above 1 the jobs pile up. `outliers`: those of no known capacity.
    pub(crate) fn loads(&self, capacity: &[u64], outliers: &Outliers) -> Vec<Option<f64>> {
        // On a cluster that is known there are no more of them.
        let left_out = match outliers.is_empty() {
            true => vec![false; self.count()],
            false => self.without(&self.outliers(Some(capacity))),
        };
        let span = self.span(&left_out) as f64;
        let load = |(kind, amount): (usize, &u64)| {
            let offered = *amount as f64 * span;
            (offered > 0.0).then(|| self.all_work(kind, &left_out) as f64 / offered)
        };
        capacity.iter().enumerate().map(load).collect()
    }

    pub(crate) fn kept<'a>(
        &'a self,
        left_out: &'a [bool],
    ) -> impl DoubleEndedIterator<Item = usize> + 'a {
        (0..self.count()).filter(|job| !left_out[*job])
    }

    fn widest(&self, kind: usize, left_out: &[bool]) -> u64 {
        self.kept(left_out).map(|job| self.width(job, kind)).max().unwrap_or(0)
    }

    fn all_held(&self, kind: usize, left_out: &[bool]) -> u64 {
        let held = |job: usize| self.held[job * self.kinds + kind];
        self.kept(left_out).fold(0, |sum, job| sum.saturating_add(held(job)))
    }

    fn all_work(&self, kind: usize, left_out: &[bool]) -> u128 {
        let work = |job: usize| self.work[job * self.kinds + kind];
        self.kept(left_out).fold(0, |sum, job| sum.saturating_add(work(job)))
    }

    /// What the jobs keep busy in the mean between the first submission and the last.
    fn mean(&self, kind: usize, left_out: &[bool]) -> u64 {
        let span = u128::from(self.span(left_out).max(1));
        u64::try_from(self.all_work(kind, left_out) / span).unwrap_or(u64::MAX)
    }

    fn span(&self, left_out: &[bool]) -> u64 {
        let mut submits = self.kept(left_out).map(|job| self.submits[job]);
        let first = submits.next().unwrap_or(0);
        submits.next_back().map_or(0, |last| last.saturating_sub(first))
    }
}

/// How long a job runs that starts at once: the longest task of each stage, after each other.
pub(crate) fn length(job: &Job) -> u64 {
    let (mut all, mut stage, mut longest) = (0u64, 0, 0u64);
    for group in &job.groups {
        if group.stage != stage {
            all = all.saturating_add(longest);
            (stage, longest) = (group.stage, 0);
        }
        longest = longest.max(group.duration.longest().as_micros());
    }
    all.saturating_add(longest)
}

/// Of one job in one resource.
#[derive(Default)]
struct Sizes {
    held: u64,
    width: u64,
    work: u128,
}

impl Sizes {
    fn of(job: &Job, kind: usize) -> Sizes {
        if let [group] = &job.groups[..] {
            let each = group.demand.get(kind);
            let together = group.gang.as_ref().map_or(1, |gang| gang.least);
            let micros = group.duration.total_micros(group.count);
            return Sizes {
                held: each.saturating_mul(u64::from(group.count)),
                width: each.saturating_mul(u64::from(together)),
                work: u128::from(each).saturating_mul(micros),
            };
        }
        let mut sizes = Sizes::default();
        // Of the groups of a stage: all together, and those that are one gang.
        let (mut stage, mut held, mut joint) = (0, 0u64, 0u64);
        for group in &job.groups {
            if group.stage != stage {
                (stage, held, joint) = (group.stage, 0, 0);
            }
            let each = group.demand.get(kind);
            let together = group.gang.as_ref().map_or(1, |gang| gang.least);
            let width = each.saturating_mul(u64::from(together));
            sizes.width = sizes.width.max(width);
            if group.gang.as_ref().is_some_and(|gang| gang.joint) {
                joint = joint.saturating_add(width);
                sizes.width = sizes.width.max(joint);
            }
            held = held.saturating_add(each.saturating_mul(u64::from(group.count)));
            sizes.held = sizes.held.max(held);
            let micros = group.duration.total_micros(group.count);
            sizes.work = sizes.work.saturating_add(u128::from(each).saturating_mul(micros));
        }
        sizes
    }
}

/// Jobs whose starts are known, by their starts and by their ends.
struct Order {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Order {
    fn of(ran: &Footprints) -> Order {
        // A job without length holds nothing for any time.
        let known = |job: &u32| {
            let job = *job as usize;
            ran.starts[job] != NEVER && ran.lengths[job] > 0
        };
        let sorted = |instant: &dyn Fn(usize) -> u64| {
            let all = (0..ran.starts.len() as u32).filter(known);
            let mut rows: Vec<(u64, u32)> = all.map(|job| (instant(job as usize), job)).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, job)| job).collect()
        };
        Order { starts: sorted(&|job| ran.starts[job]), ends: sorted(&|job| ran.end(job)) }
    }

    /// Who ends at an instant makes room for who starts at it.
    fn at_once(&self, ran: &Footprints, kind: usize, left_out: &[bool]) -> AtOnce {
        let held = |job: u32| ran.held[job as usize * ran.kinds + kind];
        let is_kept = |job: &&u32| !left_out[**job as usize];
        let ends = self.ends.iter().filter(is_kept);
        let (mut ends, mut level, mut running, mut before) = (ends, 0u64, 0usize, 0u64);
        let mut peak = 0;
        let mut levels: Vec<(u64, u64)> = Vec::new();
        let mut next_end = ends.next();
        let mut passes = |level: u64, from: u64, to: u64| {
            if to > from {
                levels.push((level, to - from));
            }
        };
        let mut starts = self.starts.iter().filter(is_kept).peekable();
        loop {
            let start = starts.peek().map(|job| ran.starts[**job as usize]);
            let end = next_end.map(|job| ran.end(*job as usize));
            match (start, end) {
                (Some(at), end) if end.is_none_or(|end| at < end) => {
                    if running > 0 {
                        passes(level, before, at);
                    }
                    if let Some(job) = starts.next() {
                        level = level.saturating_add(held(*job));
                        running += 1;
                    }
                    before = at;
                }
                (_, Some(at)) => {
                    if running > 0 {
                        passes(level, before, at);
                    }
                    if let Some(job) = next_end {
                        level = level.saturating_sub(held(*job));
                        running = running.saturating_sub(1);
                    }
                    (before, next_end) = (at, ends.next());
                }
                (_, None) => break,
            }
            peak = peak.max(level);
        }
        let all: u128 = levels.iter().map(|(_, time)| u128::from(*time)).sum();
        let area = |(level, time): &(u64, u64)| u128::from(*level) * u128::from(*time);
        let work = levels.iter().map(area).fold(0u128, u128::saturating_add);
        AtOnce {
            mean: if all > 0 { work as f64 / all as f64 } else { 0.0 },
            p99: least_for(&mut levels, (all * 99).div_ceil(100)),
            peak,
        }
    }
}

/// The least level such that levels up to it last for `wanted` in all; 0 where there are none.
/// O(levels) in the mean.
fn least_for(mut levels: &mut [(u64, u64)], mut wanted: u128) -> u64 {
    while levels.len() > 1 {
        let middle = levels.len() / 2;
        let (low, (level, time), high) = levels.select_nth_unstable(middle);
        let below: u128 = low.iter().map(|(_, time)| u128::from(*time)).sum();
        let with = below + u128::from(*time);
        if below >= wanted && below > 0 {
            levels = low;
        } else if with >= wanted {
            return *level;
        } else {
            wanted -= with;
            levels = high;
        }
    }
    levels.first().map_or(0, |(level, _)| *level)
}

#[cfg(test)]
mod tests {
    use meed::{Resources, Span};
    use meed_files::open::Origin;
    use proptest::prelude::*;

    use super::*;
    use crate::canonical::CanonicalSource;
    use crate::{Durations, JobGroup, JobLabel, OnBadLine};

    fn size(jobs: &[&str]) -> Vec<u64> {
        let header =
            r#"{"meed_trace":1,"resources":{"slot":"milli","gpu":"milli"},"queues":["a"]}"#;
        let text = format!("{header}\n{}\n", jobs.join("\n"));
        let origin = Origin::bytes("t", text.as_bytes());
        let mut source = CanonicalSource::open(&origin, None, OnBadLine::Stop).expect("a trace");
        let size = assumed_size(&mut source, 2).expect("a size");
        assert_eq!(size.rest, SizeRest::JustFull);
        size.amounts
    }

    const LONG: &str = r#"{"submit_s":0,"queue":"a","tasks":[
        {"count":4,"demand":{"slot":1},"duration_s":[5,5,10,20]}]}"#;
    const LAST: &str = r#"{"submit_s":10,"queue":"a","tasks":[
        {"count":2,"demand":{"slot":0.5},"duration_s":10}]}"#;

    #[test]
    fn without_starts_a_cluster_has_room_for_the_work_between_first_and_last() {
        let line = |text: &str| text.replace('\n', "");
        let (long, last) = (line(LONG), line(LAST));
        // 40 + 10 slot-seconds in 10 s, but never more than 5 slots at once.
        assert_eq!(size(&[&long, &last]), [5000, 0]);
        // In 20 s half of it.
        let late = last.replace(":10,\"q", ":20,\"q");
        assert_eq!(size(&[&long, &late]), [2500, 0]);
        // The widest gang fits, and what is submitted at one moment needs room for all.
        let gang = late.replace("\"duration_s\":10", "\"duration_s\":10,\"gang\":true");
        let wide = gang.replace("0.5", "1.9");
        assert_eq!(size(&[&long, &wide]), [3900, 0]);
        assert_eq!(size(&[&long]), [4000, 0]);
    }

    fn job(submit_s: u64, amount: u64, length_s: u64) -> Job {
        let mut demand = Resources::zero(1);
        demand.as_mut_slice()[0] = amount;
        let duration = Durations::Same(Span::from_secs(length_s).unwrap());
        Job {
            label: JobLabel::Number(submit_s),
            queue: 0,
            submit: Time::from_secs(submit_s).unwrap(),
            weight: 1,
            chain: None,
            groups: vec![JobGroup::new(1, demand, duration)],
        }
    }

    /// Jobs as (start, amount, length).
    fn ran(jobs: &[(u64, u64, u64)], known: bool) -> Footprints {
        let mut all = Footprints::new(1);
        for &(start, amount, length) in jobs {
            all.add(&job(start, amount, length), known.then(|| Time::from_secs(start).unwrap()));
        }
        all
    }

    #[test]
    fn who_ends_makes_room_for_who_starts() {
        let ran = ran(&[(0, 3, 10), (10, 4, 10), (15, 2, 5), (90, 1, 80), (30, 9, 0)], true);
        let at_once = ran.ran_at_once().unwrap()[0];
        assert_eq!((at_once.peak, at_once.p99), (6, 6));
        // 30 + 40 + 10 + 80 over the 100 s in which something ran.
        assert!((at_once.mean - 1.6).abs() < 1e-9, "{at_once:?}");
        // The widest has to fit, however short it was.
        assert_eq!(ran.size().amounts, [9]);
    }

    /// What 99 % of the time was enough is the size, not a peak of a moment.
    #[test]
    fn a_short_peak_is_no_size() {
        let mut jobs: Vec<(u64, u64, u64)> = (0..100).map(|n| (n * 1000, 4, 1000)).collect();
        jobs.extend([(50_000, 4, 5), (50_000, 4, 5)]);
        jobs.sort();
        let all = ran(&jobs, true);
        assert_eq!(all.ran_at_once().unwrap()[0].peak, 12);
        assert_eq!(all.size().amounts, [4]);
    }

    /// A day of jobs of 1 to 4, one every 10 minutes.
    fn a_day() -> Vec<(u64, u64, u64)> {
        (0..144).map(|n| (n * 600 + 10_000_000, 1 + n % 4, 1500 + n)).collect()
    }

    /// Rows as (submit and start, amount, length), each absurd in its own way.
    const PAST: (u64, u64, u64) = (0, 2, 600);
    const FUTURE: (u64, u64, u64) = (4_000_000_000, 2, 600);
    const GIANT: (u64, u64, u64) = (10_040_000, 1_000_000, 3600);
    const YEARS: (u64, u64, u64) = (10_050_000, 2, 400_000_000);

    #[test]
    fn absurd_rows_change_nothing_but_themselves() {
        let second = (10_041_000, 3_000_000, 60);
        let cases: [&[(u64, u64, u64)]; 7] = [
            &[PAST],
            &[FUTURE],
            &[GIANT],
            &[YEARS],
            &[GIANT, second],
            &[PAST, FUTURE, GIANT, YEARS],
            &[PAST, (1, 1, 600), FUTURE, (4_000_900_000, 1, 1), GIANT, second, YEARS],
        ];
        let loads = |ran: &Footprints| ran.loads(&[8], &ran.outliers(None));
        for known in [true, false] {
            let plain = ran(&a_day(), known);
            assert!(plain.outliers(None).is_empty());
            for absurd in cases {
                let mut jobs = a_day();
                jobs.extend(absurd);
                jobs.sort();
                let odd = ran(&jobs, known);
                let size = odd.size();
                assert_eq!(size.amounts, plain.size().amounts, "{known} {absurd:?}");
                assert_eq!(size.outliers.rows().len(), absurd.len(), "{size:?}");
                assert_eq!(odd.ran_at_once(), plain.ran_at_once(), "{known} {absurd:?}");
                assert_eq!(loads(&odd), loads(&plain), "{known} {absurd:?}");
            }
        }
        // Of few jobs the widest is what the cluster is for.
        assert_eq!(ran(&[(0, 1, 10), (20, 1, 10), (40, 64, 10)], true).size().amounts, [64]);
        // On a cluster that has room for it a wide job is none.
        let mut jobs = a_day();
        jobs.push(GIANT);
        jobs.sort();
        assert_eq!(ran(&jobs, true).outliers(Some(&[1_000_000])).rows().len(), 0);
        assert_eq!(ran(&jobs, true).outliers(Some(&[999_999])).rows().len(), 1);
    }

    proptest! {
        /// The level is that of a walk over all levels in order.
        #[test]
        fn the_least_level_is_that_of_a_walk(
            levels in prop::collection::vec((0u64..9, 1u64..50), 1..60),
        ) {
            let all: u128 = levels.iter().map(|(_, time)| u128::from(*time)).sum();
            let mut sorted = levels.clone();
            sorted.sort_unstable();
            let mut below = 0;
            let walked = sorted.iter().find(|(_, time)| {
                below += u128::from(*time);
                below * 100 >= all * 99
            });
            let found = least_for(&mut levels.clone(), (all * 99).div_ceil(100));
            prop_assert_eq!(Some(found), walked.map(|(level, _)| *level));
        }

        /// The most at once is that of a plain count at every start.
        #[test]
        fn the_peak_is_that_of_a_count_at_every_start(
            jobs in prop::collection::vec((0..50u64, 1..9u64, 0..20u64), 1..30)
        ) {
            let at = |time: u64| -> u64 {
                let here = jobs.iter().filter(|(start, _, length)| {
                    *start <= time && time < start + length
                });
                here.map(|(_, amount, _)| amount).sum()
            };
            let expected = jobs.iter().map(|(start, ..)| at(*start)).max().unwrap_or(0);
            let mut sorted = jobs.clone();
            sorted.sort();
            prop_assert_eq!(ran(&sorted, true).ran_at_once().unwrap()[0].peak, expected);
        }
    }
}
