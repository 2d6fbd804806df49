//! Jobs that are kept, so that a file is read once, however often its jobs are asked for.
//!
//! Most jobs of logs have one group of equal tasks. Such a job takes a row of 48 bytes, and names
//! besides; all others are kept as they are.
//!
//! Invariant: a [`KeptSource`] hands out what the source handed out that was read, job for job.

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{Gang, Resources, Span, Time};

use crate::{BadLine, Durations, Job, JobGroup, JobLabel, JobSource, SourceCounts, TraceError};

/// All jobs of a source, and what it tells of itself.
///
/// ```
/// # use meed::{Resources, Span, Time};
/// # use meed_workload::inline::Inline;
/// # use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource};
/// # let tasks = Durations::Same(Span::from_secs(10).ok_or("in range")?);
/// # let job = |number: u64| Job {
/// #     label: JobLabel::Number(number),
/// #     queue: 0,
/// #     submit: Time::from_secs(number * 60).unwrap_or(Time::ZERO),
/// #     weight: 1000,
/// #     chain: None,
/// #     groups: vec![JobGroup::new(1, Resources::new(&[1000]), tasks.clone())],
/// # };
/// # let mut source = Inline::new(vec!["ads".to_owned()], vec![job(0), job(1)], 1)?;
/// use std::sync::Arc;
/// use meed_workload::kept::KeptJobs;
/// let kept = Arc::new(KeptJobs::read(&mut source, 10)?.ok_or("at most ten jobs")?);
/// for _ in 0..2 {
///     let mut again = KeptJobs::source(&kept);
///     assert_eq!(again.next_job()?.map(|job| job.tasks()), Some(1));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct KeptJobs {
    queues: Vec<String>,
    rows: Vec<Row>,
    shapes: Vec<Shape>,
    names: Vec<Box<str>>,
    others: Vec<Job>,
    counts: SourceCounts,
    bad_lines: Vec<BadLine>,
    assumptions: Vec<String>,
    used: Vec<crate::Used>,
    clock_us: Option<u64>,
}

/// A job, and how long it waited in the input, in microseconds.
#[derive(Debug)]
struct Row {
    /// Its number, or a row of [`KeptJobs::names`], or of [`KeptJobs::others`].
    label: u64,
    submit: Time,
    duration: Span,
    /// Zero: there is none.
    limit: Span,
    /// [`NEVER`]: nobody says.
    waited: u64,
    queue: u32,
    /// A row of [`KeptJobs::shapes`], or [`OTHER`].
    shape: u32,
}

const NEVER: u64 = u64::MAX;

/// A job that is kept as it is.
const OTHER: u32 = u32::MAX;

/// What many jobs have in common, which are of one group of which nothing else is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Shape {
    demand: Resources,
    count: u32,
    weight: u32,
    /// Its tasks start together.
    is_gang: bool,
    /// It has a name, not a number.
    is_named: bool,
}

/// Rows of [`KeptJobs::shapes`] by shape.
#[derive(Default)]
struct Known {
    rows: BTreeMap<Shape, u32>,
    /// The last that was asked for: the next job is often alike.
    last: Option<(Shape, u32)>,
}

impl KeptJobs {
    /// Reads `source` to its end; `None`: it has more than `most` jobs. Its queues may become known
    /// as its jobs do.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use meed::{ResourceKinds, Resources, Unit};
    /// use meed_workload::kept::KeptJobs;
    /// use meed_workload::swf::{SwfAssumptions, SwfSource};
    /// use meed_workload::{JobSource, OnBadLine, Origin};
    ///
    /// let row = "1 0 5 60 2 -1 -1 2 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    /// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
    /// let (file, assumed) = (Origin::bytes("log.swf", row.as_bytes()), SwfAssumptions::default());
    /// let mut source = SwfSource::once(&file, &kinds, &assumed, OnBadLine::Stop)?;
    /// let kept = KeptJobs::read(&mut source, 1000)?.map(Arc::new).ok_or("too many")?;
    /// let [mut one, mut other] = [KeptJobs::source(&kept), KeptJobs::source(&kept)];
    /// assert_eq!(one.next_job()?, other.next_job()?);
    /// assert_eq!(one.next_job()?, None);
    /// assert_eq!(one.queues(), ["u7"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the source.
    pub fn read(source: &mut dyn JobSource, most: usize) -> Result<Option<KeptJobs>, TraceError> {
        let (mut kept, mut known) = (KeptJobs::default(), Known::default());
        while let Some(job) = source.next_job()? {
            if kept.rows.len() == most {
                return Ok(None);
            }
            let waited = source.waited().map_or(NEVER, Span::as_micros);
            let row = kept.row(job, waited, &mut known);
            kept.rows.push(row);
        }
        kept.rows.shrink_to_fit();
        kept.queues = source.queues().to_vec();
        kept.counts = source.counts();
        kept.bad_lines = source.bad_lines().into_iter().cloned().collect();
        kept.assumptions = source.assumptions();
        kept.used = source.used().to_vec();
        kept.clock_us = source.clock_us();
        Ok(Some(kept))
    }

    /// Whether all lines were right.
    pub fn is_right(&self) -> bool {
        self.counts.bad == 0
    }

    /// Its jobs, from the first.
    pub fn source(kept: &Arc<KeptJobs>) -> KeptSource {
        KeptSource { kept: Arc::clone(kept), next: 0 }
    }

    fn row(&mut self, job: Job, waited: u64, known: &mut Known) -> Row {
        let Some((group, duration)) = plain_group(&job) else {
            let (submit, queue) = (job.submit, job.queue);
            self.others.push(job);
            let label = u64::from(last_of(&self.others));
            let (duration, limit) = (Span::ZERO, Span::ZERO);
            return Row { label, submit, duration, limit, waited, queue, shape: OTHER };
        };
        let limit = group.limit.unwrap_or(Span::ZERO);
        let shape = Shape {
            demand: group.demand,
            count: group.count,
            weight: job.weight,
            is_gang: group.gang.is_some(),
            is_named: matches!(job.label, JobLabel::Name(_)),
        };
        let shape = self.shape(shape, known);
        let label = match job.label {
            JobLabel::Number(number) => number,
            JobLabel::Name(name) => {
                self.names.push(name);
                u64::from(last_of(&self.names))
            }
        };
        Row { label, submit: job.submit, duration, limit, waited, queue: job.queue, shape }
    }

    fn shape(&mut self, shape: Shape, known: &mut Known) -> u32 {
        if let Some((last, row)) = &known.last
            && *last == shape
        {
            return *row;
        }
        let row = *known.rows.entry(shape).or_insert_with(|| {
            self.shapes.push(shape);
            last_of(&self.shapes)
        });
        known.last = Some((shape, row));
        row
    }

    fn job(&self, row: &Row) -> Job {
        if row.shape == OTHER {
            return self.others[row.label as usize].clone();
        }
        let shape = &self.shapes[row.shape as usize];
        let group = JobGroup {
            limit: Some(row.limit).filter(|limit| *limit > Span::ZERO),
            gang: shape.is_gang.then(|| Box::new(Gang::of(shape.count))),
            ..JobGroup::new(shape.count, shape.demand, Durations::Same(row.duration))
        };
        Job {
            label: match shape.is_named {
                false => JobLabel::Number(row.label),
                true => JobLabel::Name(self.names[row.label as usize].clone()),
            },
            queue: row.queue,
            submit: row.submit,
            weight: shape.weight,
            chain: None,
            groups: vec![group],
        }
    }
}

/// The only group of a job that a row can hold, and how long its tasks run.
fn plain_group(job: &Job) -> Option<(&JobGroup, Span)> {
    let [group] = &job.groups[..] else { return None };
    let Durations::Same(duration) = group.duration else { return None };
    let is_whole_gang = group.gang.as_ref().is_none_or(|gang| **gang == Gang::of(group.count));
    let is_plain = job.chain.is_none()
        && group.stage == 0
        && group.constraints.is_none()
        && group.checkpoint.is_none()
        && !group.cut
        && is_whole_gang;
    is_plain.then_some((group, duration))
}

/// The number of the last row.
fn last_of<T>(rows: &[T]) -> u32 {
    u32::try_from(rows.len().saturating_sub(1)).unwrap_or(u32::MAX)
}

/// The jobs of a [`KeptJobs`].
///
/// The example of [`KeptJobs`] reads two.
#[derive(Clone, Debug)]
pub struct KeptSource {
    kept: Arc<KeptJobs>,
    next: usize,
}

impl JobSource for KeptSource {
    fn queues(&self) -> &[String] {
        &self.kept.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(row) = self.kept.rows.get(self.next) else { return Ok(None) };
        self.next += 1;
        Ok(Some(self.kept.job(row)))
    }

    fn waited(&self) -> Option<Span> {
        let waited = self.kept.rows.get(self.next.checked_sub(1)?)?.waited;
        Some(waited).filter(|waited| *waited != NEVER).and_then(Span::from_micros)
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: self.next as u64, ..self.kept.counts }
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.kept.bad_lines.iter().collect()
    }

    fn assumptions(&self) -> Vec<String> {
        self.kept.assumptions.clone()
    }

    fn used(&self) -> &[crate::Used] {
        &self.kept.used
    }

    fn clock_us(&self) -> Option<u64> {
        self.kept.clock_us
    }

    fn progress(&self) -> Option<f64> {
        Some(self.next as f64 / self.kept.rows.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_large_as_is_said() {
        assert_eq!(size_of::<Row>(), 48);
    }
}
