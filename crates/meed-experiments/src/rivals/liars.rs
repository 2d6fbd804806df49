//! What a tenant gains by lying, and who pays (`meed rivals --liars`).
//!
//! Each liar lies alone, in the log that all others tell the truth in, and every run is compared
//! with the run of the truth under the same order, load and seed:
//!
//! > T = mean over the liar's jobs of (end of the true work - true submission)
//! > gain = 1 - T(lie) / T(truth); above 0 the lie pays
//! > others' wait = sum over the tasks of all others of their waits, over the same in truth, - 1
//!
//! A job that has not ended counts as ending with the run. One changed job moves every later
//! decision, so some gain is chance: the last of [`LIES`] is none, and says how much.
//!
//! Invariant: a lie changes the liar's jobs alone; jobs still come in order of time. Cost: a run
//! for each order, liar and lie.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use meed::{Resources, Span, Time};
use meed_sim::record::RunRecord;
use meed_workload::{
    BadLine, Cause, Durations, Job, JobGroup, JobSource, SourceCounts, TraceError,
};

/// A lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deceit {
    /// Each task asks for one and a half times of all that it needs, at most what the largest node
    /// has.
    Inflates,
    /// It is idle in a tenth of the hours, drawn by the seed: what would come in them comes when
    /// they are over.
    Hides,
    /// Each task of a job's last stage holds its room half as long again when its work is done.
    Holds,
    /// No lie: all comes a second late.
    Late,
}

/// All, with the name in JSON and the heading.
pub const LIES: [(Deceit, &str, &str); 4] = [
    (Deceit::Inflates, "inflates", "asks for 1.5 times"),
    (Deceit::Hides, "hides", "hides in a tenth of the hours"),
    (Deceit::Holds, "holds", "holds half as long again"),
    (Deceit::Late, "control", "no lie, a second late"),
];

/// What the liar's jobs were in truth.
#[derive(Clone, Copy, Default, Debug)]
struct Truth {
    jobs: u64,
    /// Sums of true submissions, and of what is held after the work is done, in seconds.
    submitted: f64,
    filler: f64,
}

/// Who lies, and how.
#[derive(Clone, Debug)]
pub(super) struct Liar {
    pub(super) tenant: String,
    pub(super) lie: Deceit,
    pub(super) seed: u64,
}

/// Jobs, with one tenant's as it tells them.
pub(super) struct Lying<'a> {
    source: Box<dyn JobSource + 'a>,
    queue: Option<u32>,
    liar: Liar,
    most: Resources,
    truth: Rc<RefCell<Truth>>,
    /// Held back, by the time at which they come, then in order of true submission.
    late: BTreeMap<(Time, u64), Job>,
    held_back: u64,
    ahead: Option<Job>,
}

/// The answer of a run with a liar, when it is over.
pub(super) struct Confession(Rc<RefCell<Truth>>);

const HOUR: u64 = 3_600_000_000;

impl<'a> Lying<'a> {
    /// `most` is what the largest node has of each resource.
    pub(super) fn new(
        source: Box<dyn JobSource + 'a>,
        liar: Liar,
        most: Resources,
    ) -> (Lying<'a>, Confession) {
        let queue = source.queues().iter().position(|name| *name == liar.tenant);
        let truth = Rc::new(RefCell::new(Truth::default()));
        let confession = Confession(Rc::clone(&truth));
        let (queue, late) = (queue.map(|at| at as u32), BTreeMap::new());
        (Lying { source, queue, liar, most, truth, late, held_back: 0, ahead: None }, confession)
    }

    /// The job as it is told, but for its time.
    fn told(&self, mut job: Job) -> Job {
        if Some(job.queue) != self.queue {
            return job;
        }
        let mut truth = self.truth.borrow_mut();
        truth.jobs += 1;
        truth.submitted += job.submit.as_secs_f64();
        match self.liar.lie {
            Deceit::Inflates => {
                job.groups.iter_mut().for_each(|group| inflate(group, &self.most));
            }
            Deceit::Holds => {
                let last = job.groups.last().map_or(0, |group| group.stage);
                let groups = job.groups.iter_mut().filter(|group| group.stage == last);
                truth.filler += groups.map(hold).fold(0.0, f64::max);
            }
            Deceit::Hides | Deceit::Late => {}
        }
        job
    }

    /// When a job that is submitted at `time` comes.
    fn comes(&self, time: Time) -> Time {
        let micros = match self.liar.lie {
            Deceit::Inflates | Deceit::Holds => return time,
            Deceit::Late => time.as_micros().saturating_add(1_000_000),
            Deceit::Hides => {
                let mut hour = time.as_micros() / HOUR;
                if !hides(self.liar.seed, hour) {
                    return time;
                }
                while hides(self.liar.seed, hour) {
                    hour += 1;
                }
                hour * HOUR
            }
        };
        Time::from_micros(micros).unwrap_or(Time::MAX)
    }
}

/// Whether the liar is idle in that hour: one in ten are.
fn hides(seed: u64, hour: u64) -> bool {
    let mut mixed = (seed ^ 0x6c69_6172).wrapping_add(hour.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).is_multiple_of(10)
}

fn inflate(group: &mut JobGroup, most: &Resources) {
    // Tasks that start together must still fit: with them no more than the nodes have in all can
    // be asked for, which a liar does not know either. They tell the truth.
    if group.gang.is_some() {
        return;
    }
    for (amount, &most) in group.demand.as_mut_slice().iter_mut().zip(most.as_slice()) {
        let more = amount.saturating_add(amount.div_ceil(2));
        *amount = more.min(most).max(*amount);
    }
}

/// Makes a group's tasks longer; by how many seconds the longest is.
fn hold(group: &mut JobGroup) -> f64 {
    let half = |span: Span| Span::from_micros(span.as_micros() / 2).unwrap_or(Span::ZERO);
    let longer = |span: Span| {
        let micros = span.as_micros().saturating_add(half(span).as_micros());
        Span::from_micros(micros).unwrap_or(span)
    };
    let mut most = Span::ZERO;
    let mut one = |span: Span| {
        most = most.max(half(span));
        longer(span)
    };
    group.duration = match &group.duration {
        Durations::Same(span) => Durations::Same(one(*span)),
        Durations::Each(spans) => Durations::Each(spans.iter().map(|&span| one(span)).collect()),
    };
    group.limit = group.limit.map(longer);
    most.as_secs_f64()
}

impl JobSource for Lying<'_> {
    fn queues(&self) -> &[String] {
        self.source.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        while self.ahead.is_none() {
            let Some(job) = self.source.next_job()? else { break };
            let (is_liar, time) = (Some(job.queue) == self.queue, job.submit);
            let job = self.told(job);
            let comes = if is_liar { self.comes(time) } else { time };
            if comes > time {
                self.late.insert((comes, self.held_back), Job { submit: comes, ..job });
                self.held_back += 1;
            } else {
                self.ahead = Some(job);
            }
        }
        let ahead = self.ahead.as_ref().map_or(Time::MAX, |job| job.submit);
        match self.late.first_entry() {
            Some(first) if first.key().0 <= ahead || self.ahead.is_none() => {
                Ok(Some(first.remove()))
            }
            _ => Ok(self.ahead.take()),
        }
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        let job = self.source.job_ended(chain, now)?;
        Some(self.told(job))
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.source.cause(chain)
    }

    fn counts(&self) -> SourceCounts {
        self.source.counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.source.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.source.assumptions()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

/// What a run says of each tenant, as far as lies are judged by it.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    refused: u64,
    /// By name: jobs, the sum of their ends, of their submissions, tasks, the sum of their waits.
    tenants: BTreeMap<String, Row>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Row {
    jobs: u64,
    ended: f64,
    submitted: f64,
    tasks: u64,
    waited: f64,
}

impl Ledger {
    /// Of a run that kept its jobs.
    pub(super) fn of(run: &RunRecord) -> Ledger {
        let row = |queue: &meed_sim::record::QueueRecord| {
            let waited = queue.mean_wait_s.unwrap_or(0.0) * queue.tasks as f64;
            (queue.queue.clone(), Row { tasks: queue.tasks, waited, ..Row::default() })
        };
        let mut tenants: BTreeMap<String, Row> = run.queues.iter().map(row).collect();
        for job in run.counted_jobs() {
            let row = run.queues.get(job.queue).and_then(|queue| tenants.get_mut(&queue.queue));
            if let Some(row) = row {
                row.jobs += 1;
                row.ended += job.ended_s.unwrap_or(run.end_s);
                row.submitted += job.submit_s;
            }
        }
        Ledger { refused: run.refused, tenants }
    }

    /// Draws `count` of the half of all tenants that has most jobs, by the seed.
    pub(super) fn draw(&self, count: usize, seed: u64) -> Vec<String> {
        let mut all: Vec<(Reverse<u64>, &String)> = self
            .tenants
            .iter()
            .filter(|(_, row)| row.jobs > 0)
            .map(|(name, row)| (Reverse(row.jobs), name))
            .collect();
        all.sort();
        all.truncate(all.len().div_ceil(2));
        let mut state = seed;
        let mut drawn = Vec::new();
        while drawn.len() < count && !all.is_empty() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % all.len();
            drawn.push(all.swap_remove(at).1.clone());
        }
        drawn
    }
}

/// What became of one lie under one order.
#[derive(Clone, PartialEq, Debug)]
pub struct Lied {
    /// Who lied.
    pub tenant: String,
    /// 1 - T(lie) / T(truth); nothing where the lie had jobs refused, or there were none.
    pub gain: Option<f64>,
    /// By what part all others together waited longer.
    pub others_wait: Option<f64>,
    /// How many others waited longer in the mean, by a hundredth and a minute at least.
    pub payers: usize,
    /// Who of them waited most longer in all, and how much, in task-seconds.
    pub most_hurt: Option<(String, f64)>,
}

impl Lied {
    pub(super) fn of(liar: &Liar, said: &Confession, truth: &Ledger, lie: &Ledger) -> Lied {
        let tenant = liar.tenant.clone();
        let others = |ledger: &Ledger| -> f64 {
            let others = ledger.tenants.iter().filter(|(name, _)| **name != tenant);
            others.map(|(_, row)| row.waited).sum()
        };
        let (before, after) = (others(truth), others(lie));
        let longer = truth.tenants.iter().filter(|(name, _)| **name != tenant);
        let longer = longer.filter_map(|(name, row)| {
            let now = lie.tenants.get(name)?;
            let mean = |row: &Row| row.waited / row.tasks.max(1) as f64;
            let (was, is) = (mean(row), mean(now));
            (is > was * 1.01 && is > was + 60.0).then(|| (name.clone(), now.waited - row.waited))
        });
        let longer: Vec<(String, f64)> = longer.collect();
        let most_hurt = longer.iter().max_by(|a, b| a.1.total_cmp(&b.1)).cloned();
        Lied {
            gain: gain(&tenant, *said.0.borrow(), truth, lie),
            others_wait: (before > 0.0).then(|| after / before - 1.0),
            payers: longer.len(),
            most_hurt,
            tenant,
        }
    }
}

fn gain(tenant: &str, said: Truth, truth: &Ledger, lie: &Ledger) -> Option<f64> {
    let (was, is) = (truth.tenants.get(tenant)?, lie.tenants.get(tenant)?);
    // Jobs that are refused are in no ledger: with any of them, what was said is no sum over these.
    if lie.refused != truth.refused || is.jobs != was.jobs || said.jobs != is.jobs {
        return None;
    }
    let (before, after) = (was.ended - was.submitted, is.ended - said.submitted - said.filler);
    (before > 0.0).then(|| 1.0 - after / before)
}

#[cfg(test)]
mod tests;
