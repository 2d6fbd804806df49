//! How large a cluster was that a workload ran on: for traces that come without one.
//!
//! Where the trace tells when jobs started, what ran at once is known, and the cluster is assumed
//! to be what did in 99 % of the time, or the widest job ([`SizeRest::RanAtOnce`]). The peak itself
//! is often an artefact: on CTC-SP2, with 338 processors, it is 592, and 341 in 99 % of the time.
//!
//! Where the trace does not tell, all that can be said is how much the jobs would keep busy in the
//! mean from the first submission to the last ([`SizeRest::JustFull`]).
//!
//! Single absurd rows do not decide. A job that is far wider than all others together ever were
//! is left out of the size, and named; a first or last submission far from all others does not
//! stretch the time.
//!
//! Cost: some integers for each job, and their starts and ends sorted.

use meed::Time;

use crate::{Job, JobSource, TraceError};

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
    /// Names of jobs that are left out, for they are far wider than all others.
    pub giants: Vec<String>,
}

/// A job is a giant where it is more than so many times as wide as all others together ever were.
const GIANT: u64 = 4;
/// Of fewer jobs nobody can say which is absurd.
const FEW: usize = 50;
/// A first or last submission is far from all others where it is apart by more than this part of
/// the time between these.
const FAR: u64 = 10;

/// The size of the cluster for which `source`, of which all jobs are taken, was made. `kinds` is
/// how many resources there are.
pub fn assumed_size(source: &mut dyn JobSource, kinds: usize) -> Result<AssumedSize, TraceError> {
    let mut ran = Footprints::new(kinds);
    while let Some(job) = source.next_job()? {
        ran.add(&job, source.waited().map(|wait| job.submit.saturating_add(wait)));
    }
    Ok(ran.size())
}

/// What jobs held, and when.
pub struct Footprints {
    kinds: usize,
    submits: Vec<u64>,
    /// [`NEVER`] where nobody says.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Job after job, kind after kind: what it holds at once, what it cannot do without, and amount
    /// x microseconds.
    held: Vec<u64>,
    widths: Vec<u64>,
    work: Vec<u128>,
    /// Of the widest in each kind: which, and its name.
    widest: Vec<Option<(usize, String)>>,
}

const NEVER: u64 = u64::MAX;

impl Footprints {
    /// Of jobs over so many resources.
    pub fn new(kinds: usize) -> Footprints {
        Footprints {
            kinds,
            submits: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            held: Vec::new(),
            widths: Vec::new(),
            work: Vec::new(),
            widest: vec![None; kinds],
        }
    }

    /// Takes in a job, which started then, where that is known. A job of several stages holds all
    /// the time what its widest stage holds.
    pub fn add(&mut self, job: &Job, start: Option<Time>) {
        let number = self.submits.len();
        self.submits.push(job.submit.as_micros());
        let start = start.map_or(NEVER, Time::as_micros);
        self.starts.push(start);
        self.ends.push(start.saturating_add(length(job)));
        for kind in 0..self.kinds {
            let sizes = Sizes::of(job, kind);
            let before = self.widest[kind].as_ref().map_or(0, |(at, _)| self.width(*at, kind));
            self.held.push(sizes.held);
            self.widths.push(sizes.width);
            self.work.push(sizes.work);
            if sizes.width > before {
                self.widest[kind] = Some((number, job.label.to_string()));
            }
        }
    }

    fn width(&self, job: usize, kind: usize) -> u64 {
        self.widths.get(job * self.kinds + kind).copied().unwrap_or(0)
    }

    /// Whether the starts of most jobs are known.
    fn tells_starts(&self) -> bool {
        let known = self.starts.iter().filter(|start| **start != NEVER).count();
        known > 0 && known * 2 >= self.starts.len()
    }

    /// Whether a job is a giant beside what all others are.
    fn is_giant(&self, width: u64, others: u64) -> bool {
        others > 0 && self.submits.len() >= FEW && width > others.saturating_mul(GIANT)
    }

    /// The widest job of a resource, but for those left out.
    fn widest_but(&self, kind: usize, left_out: &[usize]) -> u64 {
        let jobs = (0..self.submits.len()).filter(|job| !left_out.contains(job));
        jobs.map(|job| self.width(job, kind)).max().unwrap_or(0)
    }

    /// How much of each resource ran at once, without giants; nothing where most starts are
    /// unknown.
    pub fn ran_at_once(&self) -> Option<RanAtOnce> {
        self.without_giants().map(|(ran, _)| ran)
    }

    /// The same, and which jobs were left out.
    fn without_giants(&self) -> Option<(RanAtOnce, Vec<usize>)> {
        if !self.tells_starts() {
            return None;
        }
        let order = Order::of(self);
        let mut giants: Vec<(usize, String)> = Vec::new();
        for kind in 0..self.kinds {
            // Where one is a giant, another may be one besides it.
            let Some((job, name)) = &self.widest[kind] else { continue };
            let others = order.at_once(self, kind, &[*job]).peak;
            if self.is_giant(self.width(*job, kind), others) {
                giants.push((*job, name.clone()));
            }
        }
        giants.sort();
        giants.dedup();
        let left_out: Vec<usize> = giants.iter().map(|(job, _)| *job).collect();
        let resources = (0..self.kinds).map(|kind| order.at_once(self, kind, &left_out)).collect();
        let giants = giants.into_iter().map(|(_, name)| name).collect();
        Some((RanAtOnce { resources, giants }, left_out))
    }

    /// The size of the cluster.
    pub fn size(&self) -> AssumedSize {
        match self.without_giants() {
            Some((RanAtOnce { resources, giants }, left_out)) => AssumedSize {
                amounts: resources
                    .iter()
                    .enumerate()
                    .map(|(kind, ran)| ran.p99.max(self.widest_but(kind, &left_out)))
                    .collect(),
                rest: SizeRest::RanAtOnce,
                giants,
            },
            None => self.just_full(),
        }
    }

    /// For each resource what the jobs keep busy in the mean between the first and the last
    /// submission; at least what the widest needs, at most what all hold together.
    fn just_full(&self) -> AssumedSize {
        let span = self.span();
        let mut giants = Vec::new();
        let mean = |work: u128| u64::try_from(work / u128::from(span.max(1))).unwrap_or(u64::MAX);
        let amount = |kind: usize| {
            let work = self.work.iter().skip(kind).step_by(self.kinds);
            let all = work.fold(0u128, |sum, work| sum.saturating_add(*work));
            let held = self.held.iter().skip(kind).step_by(self.kinds);
            let held = held.fold(0u64, |sum, held| sum.saturating_add(*held));
            let size = |work: u128, widest: u64| mean(work).max(widest).min(held);
            let Some((job, name)) = &self.widest[kind] else { return size(all, 0) };
            let (widest, second) = (self.width(*job, kind), self.widest_but(kind, &[*job]));
            let own = self.work[job * self.kinds + kind];
            if self.is_giant(widest, mean(all.saturating_sub(own)).max(second)) {
                giants.push(name.clone());
                return size(all - own, second);
            }
            size(all, widest)
        };
        let amounts = (0..self.kinds).map(amount).collect();
        giants.sort();
        giants.dedup();
        AssumedSize { amounts, rest: SizeRest::JustFull, giants }
    }

    /// From the first submission to the last, each unless it is far from all others.
    fn span(&self) -> u64 {
        let mut all = self.submits.as_slice();
        if all.len() >= FEW {
            let apart = |a: u64, b: u64| b.saturating_sub(a);
            if let [first, second, .., last] = *all
                && apart(first, second) > apart(second, last) / FAR
            {
                all = &all[1..];
            }
            if let [first, .., second, last] = *all
                && apart(second, last) > apart(first, second) / FAR
            {
                all = &all[..all.len() - 1];
            }
        }
        all.last().unwrap_or(&0) - all.first().unwrap_or(&0)
    }
}

/// How much ran at once.
#[derive(Clone, PartialEq, Debug)]
pub struct RanAtOnce {
    /// Of each resource in order.
    pub resources: Vec<AtOnce>,
    /// Names of jobs that are left out, for they are far wider than all others.
    pub giants: Vec<String>,
}

/// How long a job runs that starts at once: the longest task of each stage, after each other.
fn length(job: &Job) -> u64 {
    let (mut all, mut stage, mut longest) = (0u64, 0, 0u64);
    for group in &job.groups {
        let most = match &group.duration {
            crate::Durations::Same(span) => span.as_micros(),
            crate::Durations::Each(spans) => {
                spans.iter().map(|span| span.as_micros()).max().unwrap_or(0)
            }
        };
        if group.stage != stage {
            all = all.saturating_add(longest);
            (stage, longest) = (group.stage, 0);
        }
        longest = longest.max(most);
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
            ran.starts[job] != NEVER && ran.starts[job] < ran.ends[job]
        };
        let all: Vec<u32> = (0..ran.starts.len() as u32).filter(known).collect();
        let by = |times: &[u64]| {
            let mut order = all.clone();
            order.sort_by_key(|job| times[*job as usize]);
            order
        };
        Order { starts: by(&ran.starts), ends: by(&ran.ends) }
    }

    /// Who ends at an instant makes room for who starts at it.
    fn at_once(&self, ran: &Footprints, kind: usize, left_out: &[usize]) -> AtOnce {
        let held = |job: u32| match left_out.contains(&(job as usize)) {
            true => 0,
            false => ran.held[job as usize * ran.kinds + kind],
        };
        let (mut ends, mut level, mut running, mut before) = (self.ends.iter(), 0u64, 0usize, 0u64);
        let mut peak = 0;
        let mut levels: Vec<(u64, u64)> = Vec::new();
        let mut next_end = ends.next();
        let mut passes = |level: u64, from: u64, to: u64| {
            if to > from {
                levels.push((level, to - from));
            }
        };
        let mut starts = self.starts.iter().peekable();
        loop {
            let start = starts.peek().map(|job| ran.starts[**job as usize]);
            let end = next_end.map(|job| ran.ends[*job as usize]);
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
        levels.sort_unstable();
        let all: u128 = levels.iter().map(|(_, time)| u128::from(*time)).sum();
        let work: f64 = levels.iter().map(|(level, time)| *level as f64 * *time as f64).sum();
        let mut below = 0u128;
        let p99 = levels.iter().find(|(_, time)| {
            below += u128::from(*time);
            below * 100 >= all * 99
        });
        AtOnce {
            mean: if all > 0 { work / all as f64 } else { 0.0 },
            p99: p99.map_or(0, |(level, _)| *level),
            peak,
        }
    }
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
        let at_once = ran.ran_at_once().unwrap().resources[0];
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
        assert_eq!(all.ran_at_once().unwrap().resources[0].peak, 12);
        assert_eq!(all.size().amounts, [4]);
    }

    /// A day of jobs of 1 to 4, one every 10 minutes.
    fn a_day() -> Vec<(u64, u64, u64)> {
        (0..144).map(|n| (n * 600 + 10_000_000, 1 + n % 4, 1500 + n)).collect()
    }

    #[test]
    fn one_absurd_row_of_any_kind_changes_nothing_but_itself() {
        for known in [true, false] {
            let plain = ran(&a_day(), known).size();
            for absurd in [(0, 2, 600), (4_000_000_000, 2, 600), (10_040_000, 1_000_000, 3600)] {
                let mut jobs = a_day();
                jobs.push(absurd);
                jobs.sort();
                let size = ran(&jobs, known).size();
                let difference = size.amounts[0].abs_diff(plain.amounts[0]);
                assert!(difference <= u64::from(!known), "{known} {absurd:?} {size:?} {plain:?}");
                assert_eq!(size.giants.len(), usize::from(absurd.1 > 100), "{absurd:?}");
            }
        }
        // Of few jobs the widest is what the cluster is for.
        assert_eq!(ran(&[(0, 1, 10), (20, 1, 10), (40, 64, 10)], true).size().amounts, [64]);
    }

    proptest! {
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
            prop_assert_eq!(ran(&sorted, true).ran_at_once().unwrap().resources[0].peak, expected);
        }
    }
}
