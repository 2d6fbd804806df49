//! SWIM: MapReduce traces sampled at Facebook, as published by the SWIM project.
//!
//! Format: six columns separated by tabs, no header: job id, submit time (s), gap since the
//! preceding job (s), map input bytes, shuffle bytes, reduce output bytes. Tenants, tasks and
//! durations are not in it: they are invented by [`SwimAssumptions`]. Maps are stage 0, reduces
//! stage 1. The gap and the output are checked, not used.
//!
//! Invariant: all arithmetic is on integers, so equal assumptions give equal jobs on every machine.
//! Cost: memory for one line; two small allocations per job (its name, its groups).

mod assumptions;

use meed::{MAX_MICROS, MICROS_PER_S, ResourceKinds, Resources, Span, Time};

pub use assumptions::{SwimAssumptions, TenantSplit};

use crate::error::BadRow;
use crate::fields::{Column, time};
use crate::ordered::Ordered;
use crate::records::Records;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use assumptions::Dealer;
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

const COLUMNS: usize = 6;
const JOB: Column = Column(1, "job id");
const SUBMIT: Column = Column(2, "submit time");
const GAP: Column = Column(3, "gap");
const INPUT: Column = Column(4, "map input bytes");
const SHUFFLE: Column = Column(5, "shuffle bytes");
const OUTPUT: Column = Column(6, "reduce output bytes");

/// Most bytes of one field: 2^62.
const MAX_BYTES: u64 = 1 << 62;
/// Longest job id, in bytes.
const MAX_ID: usize = 200;

/// Jobs of a SWIM file.
pub struct SwimSource {
    records: Records,
    assumptions: SwimAssumptions,
    demands: (Resources, Resources),
    dealer: Dealer,
    ordered: Ordered<Job>,
    /// Read ahead, so that a file without jobs is found out at once.
    next: Option<Job>,
    handed_out: u64,
}

impl SwimSource {
    /// Opens `origin` for a cluster with these `kinds`. The file is read once, so a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwimAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<SwimSource, TraceError> {
        let mut source = SwimSource {
            demands: assumptions.check(kinds)?,
            dealer: assumptions.dealer(),
            records: Records::new(Lines::new(origin.open()?, LINE_LIMIT), on_bad_line),
            assumptions: assumptions.clone(),
            ordered: Ordered::new(),
            next: None,
            handed_out: 0,
        };
        source.next = source.read_job()?;
        if source.next.is_none() {
            return Err(source.records.no_jobs("a SWIM file has six columns separated by tabs"));
        }
        Ok(source)
    }

    fn read_job(&mut self) -> Result<Option<Job>, TraceError> {
        let SwimSource { records, assumptions, demands, ordered, .. } = self;
        let read = |records: &mut Records| read_row(records, assumptions, demands);
        let next = ordered.next(records, read)?;
        // Bad lines draw no tenant: mending one leaves the tenants of the jobs before it alone.
        Ok(next.map(|(_, job)| Job { queue: self.dealer.deal(), ..job }))
    }
}

/// The next job in the order of the file, with its submission, of no tenant yet.
fn read_row(
    records: &mut Records,
    assumptions: &SwimAssumptions,
    demands: &(Resources, Resources),
) -> Result<Option<(Time, Job)>, TraceError> {
    loop {
        let Some(line) = records.lines.next_line()? else {
            records.end()?;
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        records.read += 1;
        match parse(line).and_then(|row| shape(row, assumptions, demands)) {
            Ok(job) => return Ok(Some((job.submit, job))),
            Err(problem) => records.note(problem)?,
        }
    }
}

struct Row<'a> {
    id: &'a str,
    submit: Time,
    input: u64,
    shuffle: u64,
}

fn parse(line: &[u8]) -> Result<Row<'_>, BadRow> {
    let Ok(line) = std::str::from_utf8(line) else {
        return Err(BadRow::line(
            "not text (invalid UTF-8); SWIM is six columns separated by tabs",
        ));
    };
    let mut columns = [""; COLUMNS];
    let mut count = 0;
    for column in line.split('\t') {
        if let Some(place) = columns.get_mut(count) {
            *place = column.trim();
        }
        count += 1;
    }
    if count != COLUMNS {
        return Err(BadRow::line(format!(
            "{count} columns; a SWIM line has {COLUMNS}, separated by tabs"
        )));
    }
    let value = |column: Column| columns[column.0 - 1].as_bytes();
    let id = columns[JOB.0 - 1];
    if id.is_empty() || id.len() > MAX_ID {
        return Err(JOB.wrong(value(JOB), &format!("is no job id; wanted are 1 to {MAX_ID} bytes")));
    }
    let submit = time(SUBMIT.seconds(value(SUBMIT))?);
    GAP.seconds(value(GAP))?;
    OUTPUT.whole(value(OUTPUT), MAX_BYTES)?;
    let input = INPUT.whole(value(INPUT), MAX_BYTES)?;
    let shuffle = SHUFFLE.whole(value(SHUFFLE), MAX_BYTES)?;
    Ok(Row { id, submit, input, shuffle })
}

/// Makes a job of a row: maps, then reduces if anything is shuffled.
fn shape(
    row: Row<'_>,
    a: &SwimAssumptions,
    demands: &(Resources, Resources),
) -> Result<Job, BadRow> {
    let mut groups = Vec::with_capacity(2);
    let stages = [
        (row.input, a.map_bytes, a.map_bytes_per_s, demands.0, INPUT),
        (row.shuffle, a.reduce_bytes, a.reduce_bytes_per_s, demands.1, SHUFFLE),
    ];
    for (stage, (bytes, per_task, per_s, demand, column)) in (0u16..).zip(stages) {
        if stage > 0 && bytes == 0 {
            break;
        }
        let count = bytes.div_ceil(per_task).clamp(1, u64::from(a.max_tasks));
        let micros = u128::from(bytes.div_ceil(count)) * u128::from(MICROS_PER_S);
        let micros = micros.div_ceil(u128::from(per_s)) + u128::from(a.task_base.as_micros());
        let duration = u64::try_from(micros).ok().and_then(Span::from_micros).ok_or_else(|| {
            let longest = MAX_MICROS / MICROS_PER_S;
            column.wrong(
                bytes.to_string().as_bytes(),
                &format!("makes a task longer than {longest} s"),
            )
        })?;
        let duration = Durations::Same(duration);
        groups.push(JobGroup { stage, ..JobGroup::new(count as u32, demand, duration) });
    }
    let label = JobLabel::Name(row.id.into());
    Ok(Job { label, queue: 0, submit: row.submit, weight: 1, chain: None, groups })
}

impl JobSource for SwimSource {
    fn queues(&self) -> &[String] {
        &self.assumptions.tenants
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(job) = self.next.take() else { return Ok(None) };
        self.next = self.read_job()?;
        self.handed_out += 1;
        Ok(Some(job))
    }

    fn counts(&self) -> SourceCounts {
        self.records.counts(self.handed_out)
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.records.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.assumptions.words()
    }

    fn progress(&self) -> Option<f64> {
        self.records.progress()
    }
}

#[cfg(test)]
mod tests;
