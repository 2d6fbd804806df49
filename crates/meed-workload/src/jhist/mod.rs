//! Hadoop's job histories: what a MapReduce job did, task by task, as its master wrote it.
//!
//! Format: `.jhist` files of Hadoop 2 and 3, as the history server keeps them, one or several one
//! after the other. The first line says how events are written, `Avro-Binary` (usual since 3.0) or
//! `Avro-Json`; the second is the schema of Avro; then the events come. Of these are read who
//! submitted the job, when and to which queue, when attempts of tasks started and ended, and six
//! counters of the whole job, from which what each task held follows: `MB_MILLIS_MAPS` over
//! `MILLIS_MAPS` is the memory of a map. All else is passed over.
//!
//! A job becomes its maps, then its reduces (a stage each), with a run time for each task. With
//! `episode` total and reduces that run with the maps, run times and demands add up to the job's
//! own counters, to the millisecond.
//!
//! Invariant: jobs come in order of submission; equal times in order of the file. Memory grows with
//! the file, which is read whole; by 8 bytes a task besides.

mod assumptions;
mod avro;
mod event;
mod files;
mod fold;

use std::collections::BTreeSet;

use meed::{MAX_AMOUNT, ResourceKinds, Resources, Span, Time};
use meed_config::queues::check_name;
use meed_files::open::Origin;

pub use assumptions::{HistoryAssumptions, HistoryEpisode, HistoryQueues, HistoryReduces};
pub(crate) use files::is_first_line;

use crate::error::BadRow;
use crate::whole::Whole;
use crate::yarn::Kinds;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use assumptions::DEFAULT;
use files::Histories;
use fold::{Fold, Tasks, Told};

/// One job with tasks that hold something.
struct Row {
    id: Box<str>,
    queue: u32,
    /// Since 1970; since the first submission once all are known.
    submit_ms: u64,
    groups: Vec<JobGroup>,
}

/// Jobs of a file of job histories.
pub struct HistorySource {
    file: Whole<Row>,
    words: Vec<String>,
}

/// What rows are made with, and what is told of it in the end.
struct Maker<'a> {
    assumptions: &'a HistoryAssumptions,
    kinds: Kinds,
    known: BTreeSet<String>,
    /// Jobs whose history does not tell what their tasks held.
    assumed: u64,
    early_ms: u64,
}

impl HistorySource {
    /// Opens `origin` for a cluster with these `kinds` and reads it whole, once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &HistoryAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<HistorySource, TraceError> {
        let mut input = origin.open()?;
        let bytes = input.whole()?;
        let mut file = Whole::new(origin.name(), on_bad_line);
        let mut maker = Maker {
            assumptions,
            kinds: assumptions.resolve(kinds)?,
            known: BTreeSet::new(),
            assumed: 0,
            early_ms: 0,
        };
        let mut histories = Histories::new(origin.name(), &bytes);
        loop {
            let mut fold = Fold::default();
            let Some(history) = histories.next(|event| fold.take(event))? else { break };
            let found = history.read.and_then(|()| maker.row(&mut file, fold));
            file.add(history.line, found)?;
        }
        crate::records::end_of_whole(&input, &bytes, &mut file.bad)?;
        file.ensure_some("wanted are .jhist files of jobs that have ended, one after the other")?;
        let rows = file.rows();
        // Stable: equal times stay in the order of the file.
        rows.sort_by_key(|row| row.submit_ms);
        let first = rows[0].submit_ms;
        rows.iter_mut().for_each(|row| row.submit_ms -= first);
        let mut words = assumptions.words(kinds, &maker.kinds);
        words.extend(maker.words());
        let first = crate::table::format_date(first * 1000);
        words.push(format!("time 0 is the first submission, {first}"));
        let words = words.into_iter().map(|words| format!("job history: {words}")).collect();
        Ok(HistorySource { file, words })
    }
}

impl Maker<'_> {
    /// `None`: the job has not ended, is there already, or none of its tasks ran.
    fn row(&mut self, file: &mut Whole<Row>, fold: Fold) -> Result<Option<Row>, BadRow> {
        let Some(told) = fold.told(self.assumptions)? else { return Ok(None) };
        let of_job = |why: BadRow| BadRow::line(format!("{}: {why}", told.id));
        let queue = match &self.assumptions.queues {
            HistoryQueues::Queue => &told.queue,
            HistoryQueues::User => &told.user,
            HistoryQueues::Single(name) => name,
        };
        check_name(queue).map_err(|why| of_job(BadRow::line(why)))?;
        let (groups, assumed) = self.groups(&told).map_err(of_job)?;
        if groups.is_empty() || !self.known.insert(told.id.clone()) {
            return Ok(None);
        }
        self.assumed += u64::from(assumed);
        self.early_ms = self.early_ms.saturating_add(told.early_ms);
        let queue = file.number_of(queue);
        Ok(Some(Row { id: told.id.into(), queue, submit_ms: told.submit_ms, groups }))
    }

    /// Its tasks, and whether what they held is assumed.
    fn groups(&self, told: &Told) -> Result<(Vec<JobGroup>, bool), BadRow> {
        let assumptions = self.assumptions;
        let (mut groups, mut assumed) = (Vec::new(), false);
        let parts =
            [(&told.maps, &assumptions.map_demand), (&told.reduces, &assumptions.reduce_demand)];
        for (tasks, given) in parts {
            let demand = match (tasks.each, given) {
                (Some(each), _) => self.kinds.demand(each),
                (None, Some(given)) => *given,
                (None, None) => self.kinds.demand(DEFAULT),
            };
            if tasks.millis.is_empty() || demand.is_zero() {
                continue;
            }
            if let Some([vcores, memory]) = tasks.each.filter(|each| each.iter().any(too_much)) {
                let what = format!("{vcores} thousandths of a vcore and {memory} bytes a task");
                let what = format!("{what}; the largest amount is {MAX_AMOUNT}");
                return Err(BadRow::field("its counters".to_owned(), what));
            }
            assumed |= tasks.each.is_none();
            let after = assumptions.reduces == HistoryReduces::AfterMaps && !groups.is_empty();
            groups.push(group(tasks, demand, u16::from(after)));
        }
        Ok((groups, assumed))
    }

    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.assumed > 0 {
            words.push(format!(
                "{} jobs do not tell what their tasks held (those that failed or were killed have \
                 no counters): map_demand and reduce_demand, or one vcore and 1GiB, are assumed",
                self.assumed
            ));
        }
        if self.early_ms > 0 {
            words.push(format!(
                "reduces held their containers for {} s while maps ran, which is not counted \
                 (`reduces = \"with-maps\"` counts it)",
                self.early_ms.div_ceil(1000)
            ));
        }
        words
    }
}

fn too_much(amount: &u64) -> bool {
    *amount > MAX_AMOUNT
}

fn group(tasks: &Tasks, demand: Resources, stage: u16) -> JobGroup {
    let span = |millis: &u64| Span::from_micros(millis.saturating_mul(1000)).unwrap_or(Span::MAX);
    let first = tasks.millis[0];
    let duration = match tasks.millis.iter().all(|millis| *millis == first) {
        true => Durations::Same(span(&first)),
        false => Durations::Each(tasks.millis.iter().map(span).collect()),
    };
    JobGroup {
        stage,
        ..JobGroup::new(
            // Checked: at most half of the most tasks.
            u32::try_from(tasks.millis.len()).unwrap_or(crate::MAX_TASKS),
            demand,
            duration,
        )
    }
}

impl JobSource for HistorySource {
    fn queues(&self) -> &[String] {
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let job = |row: Row| Job {
            // Checked: at most the largest time.
            submit: Time::from_micros(row.submit_ms * 1000).unwrap_or(Time::MAX),
            label: JobLabel::Name(row.id),
            queue: row.queue,
            weight: 1,
            chain: None,
            groups: row.groups,
        };
        Ok(self.file.next().map(job))
    }

    fn counts(&self) -> SourceCounts {
        self.file.counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.file.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.words.clone()
    }

    fn progress(&self) -> Option<f64> {
        self.file.progress()
    }
}

#[cfg(test)]
mod tests;
