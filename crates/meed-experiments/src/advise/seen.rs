//! What is kept of one run: each figure, and of each tenant as much as the figures need, so that
//! they can be computed anew over other tenants and other weeks.

use std::collections::BTreeMap;

use meed_sim::record::{JobRecord, RunRecord};

use super::aims::FIGURES;
use super::waits::Waits;
use crate::rivals::recorded::LeafStanding;
use crate::sweep::results::{figure, wide_from};
use crate::sweep::summary::quantile;

/// Seconds of a week, and of a day.
const WEEK: f64 = 604_800.0;
const DAY: f64 = 86_400.0;
/// A log has so many parts of time at least, where weeks or days give them.
const PARTS: f64 = 8.0;

/// A wait of so many seconds is one that people notice.
pub const NOTICED: f64 = 60.0;

/// What was seen of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// By [`FIGURES`]; nothing where the run has none.
    pub figures: Vec<Option<f64>>,
    /// In the order of the queues, the same in every run of a log.
    pub tenants: Vec<TenantSeen>,
    /// How long a part of time is: a week, a day, or an eighth of the log.
    pub part_s: f64,
    /// How many parts there are.
    pub parts: usize,
    /// How many jobs were taken.
    pub jobs: u64,
    /// The part of jobs that waited [`NOTICED`] or longer.
    pub waited: Option<f64>,
    /// How long jobs waited.
    pub waits: Option<Waits>,
    /// Where the order puts tenants at the end of the log, where somebody asks.
    pub standings: BTreeMap<String, LeafStanding>,
    /// Lines that were skipped, jobs that were refused, jobs that were unfinished.
    pub incidents: [u64; 3],
}

/// A tenant in one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TenantSeen {
    /// Its name.
    pub name: String,
    /// What it used of the measured resource.
    pub used: f64,
    /// Mean wait of its tasks; nothing where none has started.
    pub wait_s: Option<f64>,
    /// Its longest.
    pub longest_s: Option<f64>,
    /// Whether it got less than its share.
    pub below: bool,
    /// Its jobs by the part of time in which they were submitted.
    pub parts: Vec<(usize, Sums)>,
}

/// Of some jobs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    jobs: f64,
    /// From submission to end, or to the end of the run.
    stay: f64,
    ended: f64,
    job: f64,
    wide: f64,
    wide_wait: f64,
}

impl Sums {
    fn add(&mut self, other: &Sums, times: f64) {
        self.jobs += other.jobs * times;
        self.stay += other.stay * times;
        self.ended += other.ended * times;
        self.job += other.job * times;
        self.wide += other.wide * times;
        self.wide_wait += other.wide_wait * times;
    }
}

impl Seen {
    /// What `run` shows, whose times are those of the log divided by `load`. Parts of time are of
    /// the log's own time, so that they are the same ones at each load.
    pub fn of(run: &RunRecord, load: f64) -> Seen {
        let first = run.counted_jobs().map(|job| job.submit_s).fold(f64::INFINITY, f64::min);
        let last = run.counted_jobs().map(|job| job.submit_s).fold(0.0, f64::max);
        let span = ((last - first) * load).max(0.0);
        let part_s = [WEEK, DAY].into_iter().find(|part| span >= part * PARTS);
        let part_s = part_s.unwrap_or((span / PARTS).max(1.0));
        let parts = ((span / part_s - 1e-6).ceil() as usize).max(1);
        let part_of =
            |job: &JobRecord| (((job.submit_s - first) * load / part_s) as usize).min(parts - 1);
        let wide = wide_from(run).unwrap_or(f64::INFINITY);
        let mut sums: BTreeMap<(usize, usize), Sums> = BTreeMap::new();
        let mut noticed = 0u64;
        let mut waits = Vec::with_capacity(run.jobs.len());
        for job in run.counted_jobs() {
            let wait = job.started_s.unwrap_or(run.end_s) - job.submit_s;
            let own = sums.entry((job.queue, part_of(job))).or_default();
            own.jobs += 1.0;
            own.stay += job.ended_s.unwrap_or(run.end_s) - job.submit_s;
            if let Some(ended) = job.ended_s {
                own.ended += 1.0;
                own.job += ended - job.submit_s;
            }
            if job.width >= wide {
                own.wide += 1.0;
                own.wide_wait += wait;
            }
            noticed += u64::from(wait >= NOTICED);
            waits.push(wait);
        }
        let tenant = |(number, queue): (usize, &meed_sim::record::QueueRecord)| TenantSeen {
            name: queue.queue.clone(),
            used: queue.usage.get(&run.measured).copied().unwrap_or(0.0),
            wait_s: queue.mean_wait_s,
            longest_s: queue.longest_wait_s,
            below: queue.rho.is_some_and(|rho| rho < 1.0),
            parts: sums
                .range((number, 0)..(number + 1, 0))
                .map(|((_, part), sums)| (*part, *sums))
                .collect(),
        };
        let jobs = run.counted_jobs().count() as f64;
        Seen {
            jobs: run.jobs.len() as u64,
            figures: FIGURES.iter().map(|row| figure(run, row.column)).collect(),
            tenants: run.queues.iter().enumerate().map(tenant).collect(),
            part_s,
            parts,
            waited: (jobs > 0.0).then(|| noticed as f64 / jobs),
            waits: Waits::of(waits),
            standings: BTreeMap::new(),
            incidents: [run.skipped_lines, run.refused, run.unfinished],
        }
    }

    /// The figure of row `row` over other tenants: each counts as often as it is named.
    pub fn over_tenants(&self, row: usize, tenants: &[usize]) -> Option<f64> {
        let all = tenants.iter().filter_map(|&number| self.tenants.get(number));
        match FIGURES[row].name {
            "light" | "heavy" => {
                half_or_tenth(row, all.filter_map(|one| Some((one.used, one.wait_s?))).collect())
            }
            "longest" => {
                let mut longest: Vec<f64> = all.filter_map(|one| one.longest_s).collect();
                longest.sort_by(f64::total_cmp);
                quantile(&longest, 0.9)
            }
            "below" => Some(all.filter(|one| one.below).count() as f64),
            name => {
                let mut sums = Sums::default();
                all.flat_map(|one| &one.parts).for_each(|(_, part)| sums.add(part, 1.0));
                of_sums(name, &sums)
            }
        }
    }

    /// The same over other parts of time; nothing for figures that jobs alone do not make. A wait
    /// here is the time from submission to end: between two orders it differs by the wait, also
    /// where a job has many tasks.
    pub fn over_parts(&self, row: usize, times: &[u32]) -> Option<f64> {
        let weight = |part: usize| f64::from(times.get(part).copied().unwrap_or(0));
        let sums = |tenant: &TenantSeen| {
            let mut sums = Sums::default();
            tenant.parts.iter().for_each(|(part, own)| sums.add(own, weight(*part)));
            sums
        };
        match FIGURES[row].name {
            "light" | "heavy" => {
                // Who is light or heavy is so over the whole log.
                let wait = |number: usize| {
                    let sums = sums(&self.tenants[number]);
                    (sums.jobs > 0.0).then(|| sums.stay / sums.jobs)
                };
                let waits: Vec<f64> = self.whose(row).into_iter().filter_map(wait).collect();
                let sum: f64 = waits.iter().sum();
                (!waits.is_empty()).then(|| sum / waits.len() as f64)
            }
            "longest" | "below" => None,
            name => {
                let mut all = Sums::default();
                self.tenants.iter().for_each(|tenant| all.add(&sums(tenant), 1.0));
                of_sums(name, &all)
            }
        }
    }

    /// Numbers of the tenants whose waits make the figure of row `row`; all where it is of jobs.
    pub fn whose(&self, row: usize) -> Vec<usize> {
        let mut all: Vec<usize> =
            (0..self.tenants.len()).filter(|&at| self.tenants[at].wait_s.is_some()).collect();
        all.sort_by(|a, b| self.tenants[*a].used.total_cmp(&self.tenants[*b].used));
        let count = all.len();
        match FIGURES[row].name {
            "light" => all.truncate(count.div_ceil(2)),
            "heavy" => drop(all.drain(..count - count.div_ceil(10))),
            _ => {}
        }
        all
    }
}

/// The mean wait of the lighter half, or of the heaviest tenth, of (used, wait).
fn half_or_tenth(row: usize, mut waits: Vec<(f64, f64)>) -> Option<f64> {
    waits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = waits.len();
    let some = match FIGURES[row].name {
        "light" => &waits[..count.div_ceil(2)],
        _ => &waits[count - count.div_ceil(10)..],
    };
    let sum: f64 = some.iter().map(|(_, wait)| wait).sum();
    (!some.is_empty()).then(|| sum / some.len() as f64)
}

fn of_sums(name: &str, sums: &Sums) -> Option<f64> {
    let (sum, count) = match name {
        "mean" => (sums.job, sums.ended),
        _ => (sums.wide_wait, sums.wide),
    };
    (count > 0.0).then(|| sum / count)
}
