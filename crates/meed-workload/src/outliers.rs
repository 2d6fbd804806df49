//! Rows of a log that are far from all others: a clock that was wrong, or a slip of a unit.
//!
//! | kind | rule |
//! |---|---|
//! | early, late | submitted before (after) all others, apart from them by a day and by a fifth of the log |
//! | long | runs longer than 90 days, than the whole log, and than four times any other job |
//! | wide | over four times as wide as all others together ever were, and wider than the cluster |
//!
//! Of fewer than 50 jobs nobody can say which is an outlier, and many rows are none: of each kind
//! there are at most three, or a thousandth of the jobs. So a log without such rows is read as it
//! stands, and one with them as if they were not there ([`WithoutOutliers`]); each is named.
//!
//! Cost: a selection of the longest and widest jobs; where some job is wide enough, what ran at
//! once is counted ([`crate::size`]).

use meed::{MICROS_PER_S, Span, Time};
use meed_config::units::format_span;

use crate::size::Footprints;
use crate::source::Cause;
use crate::{BadLine, Job, JobSource, SourceCounts, TraceError};

/// Of fewer jobs nobody can say which is an outlier.
const FEW: usize = 50;
/// An outlier is over so many times as wide, or as long, as the others.
const TIMES: u64 = 4;
/// A submission is far from the others where it is apart by more than this part of the time between
/// these.
const FAR: u64 = 5;
/// Of each kind there are at most so many, or a thousandth of all rows.
const MOST: usize = 3;

const DAY: u64 = 86_400 * MICROS_PER_S;

/// In what a row is an outlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OutlierKind {
    /// It was submitted so long before all others.
    Early(Span),
    /// It was submitted so long after all others.
    Late(Span),
    /// It ran so long.
    Long(Span),
    /// It is wider than all others together ever were.
    Wide,
}

/// A row that is far from all others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outlier {
    number: usize,
    name: String,
    kind: OutlierKind,
}

impl Outlier {
    /// Which job of the source it is, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What its job is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In what it is an outlier.
    pub fn kind(&self) -> OutlierKind {
        self.kind
    }
}

/// All outliers of a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outliers {
    /// In order of their numbers.
    rows: Vec<Outlier>,
    /// How long after the first of all jobs the first of the others was submitted.
    shift: Span,
}

impl Outliers {
    /// They, in order of their numbers.
    pub fn rows(&self) -> &[Outlier] {
        &self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Each of them, in words.
    pub fn words(&self) -> Vec<String> {
        let one = |row: &Outlier| {
            let name = &row.name;
            let what = match row.kind {
                OutlierKind::Early(by) => {
                    format!("submitted {} before all others", rounded(by))
                }
                OutlierKind::Late(by) => format!("submitted {} after all others", rounded(by)),
                OutlierKind::Long(time) => {
                    format!("which runs {}, longer than the whole log", rounded(time))
                }
                OutlierKind::Wide => {
                    "wider than the cluster and than all others together".to_owned()
                }
            };
            format!("outlier: job {name} is left out, {what} (trace.outliers = \"keep\" keeps it)")
        };
        self.rows.iter().map(one).collect()
    }
}

/// Whole days, as people read them.
fn rounded(span: Span) -> String {
    let whole = Span::from_micros(span.as_micros() / DAY * DAY).unwrap_or(span);
    format_span(if whole == Span::ZERO { span } else { whole })
}

/// Looks for outliers.
pub(crate) fn find(rows: &Footprints, capacity: Option<&[u64]>) -> Outliers {
    let count = rows.count();
    if count < FEW {
        return Outliers::default();
    }
    let most = MOST.max(count / 1000);
    let (early, late) = ends(rows, most);
    let (first, last) = (early, count - 1 - late);
    let mut is_out = vec![false; count];
    let mut found = Vec::new();
    let mut add = |is_out: &mut Vec<bool>, number: usize, kind: OutlierKind| {
        if !std::mem::replace(&mut is_out[number], true) {
            found.push(Outlier { number, name: rows.name(number), kind });
        }
    };
    let apart = |a: usize, b: usize| {
        let apart = rows.submit(b).saturating_sub(rows.submit(a));
        Span::from_micros(apart).unwrap_or(Span::MAX)
    };
    (0..early).for_each(|row| add(&mut is_out, row, OutlierKind::Early(apart(row, first))));
    let behind = last + 1..count;
    behind.for_each(|row| add(&mut is_out, row, OutlierKind::Late(apart(last, row))));
    let span = rows.submit(last).saturating_sub(rows.submit(first));
    let longest = largest(&is_out, most, |row| rows.length(row));
    let long = group(&longest, most, |row| rows.length(row), |least, _| least > span.max(90 * DAY));
    for &row in &longest[..long] {
        let time = Span::from_micros(rows.length(row)).unwrap_or(Span::MAX);
        add(&mut is_out, row, OutlierKind::Long(time));
    }
    for kind in 0..rows.kinds() {
        let widest = largest(&is_out, most, |row| rows.width(row, kind));
        let room = capacity.and_then(|all| all.get(kind)).copied().unwrap_or(0);
        let wide = group(
            &widest,
            most,
            |row| rows.width(row, kind),
            |least, giants| {
                if least <= room {
                    return false;
                }
                let mut left_out = is_out.clone();
                giants.iter().for_each(|&row| left_out[row] = true);
                let others = rows.together(kind, &left_out);
                others > 0 && least > others.saturating_mul(TIMES)
            },
        );
        widest[..wide].iter().for_each(|&row| add(&mut is_out, row, OutlierKind::Wide));
    }
    found.sort_by_key(|row| row.number);
    let shift = is_out.iter().position(|out| !out).map_or(Span::ZERO, |first| apart(0, first));
    Outliers { rows: found, shift }
}

/// How many rows at the beginning and at the end are far from the others.
fn ends(rows: &Footprints, most: usize) -> (usize, usize) {
    let last = rows.count() - 1;
    let apart = |a: usize, b: usize| rows.submit(b).saturating_sub(rows.submit(a));
    // The time of all that are surely none.
    let core = apart(most, last - most);
    if core == 0 {
        return (0, 0);
    }
    let is_far = |gap: u64| gap > (core / FAR).max(DAY);
    let early = (1..=most).rev().find(|&many| is_far(apart(many - 1, many))).unwrap_or(0);
    let late = (1..=most).rev().find(|&many| is_far(apart(last - many, last + 1 - many)));
    (early, late.unwrap_or(0))
}

/// The rows with the largest values, from the largest down, one more than may be outliers; of those
/// that are none already.
fn largest(is_out: &[bool], most: usize, value: impl Fn(usize) -> u64) -> Vec<usize> {
    let order = |a: &usize, b: &usize| value(*b).cmp(&value(*a)).then(a.cmp(b));
    let (wanted, mut bound) = (most + 1, None);
    let mut rows: Vec<usize> = Vec::with_capacity(2 * wanted);
    for row in (0..is_out.len()).filter(|&row| !is_out[row]) {
        // As many are known that come before it.
        if bound.is_some_and(|bound| value(row) <= bound) {
            continue;
        }
        rows.push(row);
        if rows.len() == 2 * wanted {
            rows.select_nth_unstable_by(most, order);
            rows.truncate(wanted);
            bound = Some(value(rows[most]));
        }
    }
    rows.sort_unstable_by(order);
    rows.truncate(wanted);
    rows
}

/// How many of `rows`, from the largest down, are far above the next one, and are outliers by
/// `holds`, which gets the least of them and all of them.
fn group(
    rows: &[usize],
    most: usize,
    value: impl Fn(usize) -> u64,
    holds: impl Fn(u64, &[usize]) -> bool,
) -> usize {
    let is_group = |many: &usize| {
        let (least, next) = (value(rows[many - 1]), value(rows[*many]));
        least > next.saturating_mul(TIMES) && holds(least, &rows[..*many])
    };
    (1..rows.len().min(most + 1)).rev().find(is_group).unwrap_or(0)
}

/// A source without its outliers: its first job comes when the first job of all came.
pub struct WithoutOutliers<S> {
    source: S,
    outliers: std::sync::Arc<Outliers>,
    /// Jobs that were taken from the source, and outliers among them.
    taken: usize,
    passed: usize,
}

impl<S: JobSource> WithoutOutliers<S> {
    /// The jobs of `source`, from its beginning, but for these.
    pub fn new(source: S, outliers: std::sync::Arc<Outliers>) -> WithoutOutliers<S> {
        WithoutOutliers { source, outliers, taken: 0, passed: 0 }
    }
}

impl<S: JobSource> JobSource for WithoutOutliers<S> {
    fn queues(&self) -> &[String] {
        self.source.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        loop {
            let Some(job) = self.source.next_job()? else { return Ok(None) };
            let number = self.taken;
            self.taken += 1;
            match self.outliers.rows.get(self.passed) {
                Some(row) if row.number == number => self.passed += 1,
                _ => {
                    let submit = job.submit.as_micros();
                    let submit = submit.saturating_sub(self.outliers.shift.as_micros());
                    let submit = Time::from_micros(submit).unwrap_or(job.submit);
                    return Ok(Some(Job { submit, ..job }));
                }
            }
        }
    }

    fn waited(&self) -> Option<Span> {
        self.source.waited()
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        self.source.job_ended(chain, now)
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.source.cause(chain)
    }

    fn counts(&self) -> SourceCounts {
        let counts = self.source.counts();
        let passed = self.passed as u64;
        SourceCounts {
            jobs: counts.jobs.saturating_sub(passed),
            ignored: counts.ignored + passed,
            ..counts
        }
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.source.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        [self.outliers.words(), self.source.assumptions()].concat()
    }

    fn used(&self) -> &[crate::Used] {
        self.source.used()
    }

    fn clock_us(&self) -> Option<u64> {
        self.source.clock_us()?.checked_add(self.outliers.shift.as_micros())
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
