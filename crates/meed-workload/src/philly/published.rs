//! The jobs of Philly as they were published: `cluster_job_log`, an array of JSON.
//!
//! Format (README and notebook of msr-fiddle/philly-traces): of each job are read `vc`, `jobid`,
//! `submitted_time` and `attempts`, each with `start_time`, `end_time` and `detail`, the servers
//! with their `gpus`. Times are local (`2017-10-09 07:00:00`), without a zone; `null`, `None` and
//! nothing are no time.
//!
//! A job holds the GPUs of its attempts while these run, one after the other: it becomes as many
//! tasks as its widest attempt has GPUs, and runs so long that its GPU-seconds are those of its
//! attempts. The notebook counts the time between attempts as run time as well.

use std::sync::Arc;

use jiff::tz::TimeZone;
use meed::{MAX_MICROS, Time};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::rows::Row;
use crate::error::{BadRow, no_jobs_in};
use crate::fields::{check_length, json_problem, span, time};
use crate::records::LineNumbers;
use crate::table::local_date;
use crate::whole::Whole;
use crate::{JobLabel, MAX_TASKS, OnBadLine, TraceError};

#[derive(Deserialize)]
struct Told {
    vc: String,
    jobid: String,
    submitted_time: Option<String>,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    start_time: Option<String>,
    end_time: Option<String>,
    #[serde(default)]
    detail: Vec<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    #[serde(default)]
    gpus: Vec<serde::de::IgnoredAny>,
}

/// Why jobs are left out, with their number.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    never_ran: u64,
    still_ran: u64,
    no_gpus: u64,
    /// Attempts of jobs that are there, of which the log has no start or no end.
    attempts: u64,
}

impl LeftOut {
    /// In words.
    pub(super) fn words(self) -> Vec<String> {
        let rows = [
            (self.never_ran, "jobs left out: no attempt of them is recorded with start and end"),
            (self.still_ran, "jobs left out: their last attempt has no end, so they still ran"),
            (self.no_gpus, "jobs left out: their attempts have no GPU"),
            (self.attempts, "attempts without a recorded start or end are not counted"),
        ];
        let there = rows.into_iter().filter(|(count, _)| *count > 0);
        there.map(|(count, words)| format!("Philly: {count} {words}")).collect()
    }
}

/// Whether a file begins as an array of JSON.
pub(super) fn is_array(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    start.trim_ascii_start().starts_with(b"[")
}

/// Whether a file begins as this one does.
pub(crate) fn is_published(start: &[u8]) -> bool {
    let has = |name: &str| start.windows(name.len()).any(|part| part == name.as_bytes());
    let names = ["\"vc\"", "\"jobid\"", "\"attempts\"", "\"submitted_time\""];
    is_array(start) && (names.into_iter().all(has) || is_empty(start))
}

/// Whether this is an array of JSON without an element.
fn is_empty(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii();
    let inside = start.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// All jobs of a file, in its order, with the time since 1970 as their submission.
pub(super) fn read(
    file: &Arc<str>,
    bytes: &[u8],
    zone: &TimeZone,
    on_bad_line: OnBadLine,
) -> Result<(Whole<Row>, LeftOut), TraceError> {
    let header = |why: &serde_json::Error| TraceError::Header {
        file: Arc::clone(file),
        line: why.line() as u64,
        why: format!("{why}; wanted is an array of jobs, as cluster_job_log of Philly is"),
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let jobs: Vec<&RawValue> = serde_json::from_slice(bytes).map_err(|why| header(&why))?;
    if jobs.is_empty() {
        let why = "the array of JSON is empty; wanted is cluster_job_log of Philly, whose array \
                   has an object for each job";
        return Err(no_jobs_in(file, why));
    }
    let (mut read, mut left_out) = (Whole::new(file, on_bad_line), LeftOut::default());
    let mut lines = LineNumbers::new(bytes);
    for raw in jobs {
        let told: Result<Told, BadRow> = serde_json::from_str(raw.get())
            .map_err(|why| BadRow::line(format!("a job: {}", json_problem(&why))));
        let found = told.and_then(|told| {
            let row = told.row(zone, &mut left_out)?;
            Ok(row.map(|row| Row { queue: read.number_of(&told.vc), ..row }))
        });
        read.add(lines.of(raw.get()), found)?;
    }
    Ok((read, left_out))
}

impl Told {
    /// `None` for a job that is left out.
    fn row(&self, zone: &TimeZone, left_out: &mut LeftOut) -> Result<Option<Row>, BadRow> {
        for (field, name) in [("vc", &self.vc), ("jobid", &self.jobid)] {
            check_length(name).map_err(|why| BadRow::field(field, why))?;
        }
        meed_config::queues::check_bounds(&self.vc).map_err(|why| BadRow::field("vc", why))?;
        let submit = self.at("submitted_time", self.submitted_time.as_deref(), zone, 0)?;
        let submit = submit.ok_or_else(|| {
            BadRow::field(format!("submitted_time of {}", self.jobid), "is no time")
        })?;
        let (mut work, mut widest, mut missing, mut at) = (0u128, 0u64, 0, submit);
        let mut is_ended = true;
        for attempt in &self.attempts {
            let start = self.at("start_time", attempt.start_time.as_deref(), zone, at)?;
            at = start.unwrap_or(at).max(at);
            let end = self.at("end_time", attempt.end_time.as_deref(), zone, at)?;
            is_ended = end.is_some();
            let (Some(start), Some(end)) = (start, end) else {
                missing += 1;
                continue;
            };
            let micros = end.checked_sub(start).ok_or_else(|| {
                BadRow::field(format!("end_time of {}", self.jobid), "is before its start_time")
            })?;
            at = at.max(end);
            let gpus = attempt.detail.iter().map(|detail| detail.gpus.len() as u64).sum::<u64>();
            widest = widest.max(gpus);
            work = work.saturating_add(u128::from(gpus) * u128::from(micros));
        }
        let reason = match (self.attempts.len(), widest) {
            (0, _) => Some(&mut left_out.never_ran),
            _ if !is_ended => Some(&mut left_out.still_ran),
            (all, 0) if missing == all => Some(&mut left_out.never_ran),
            (_, 0) => Some(&mut left_out.no_gpus),
            _ => None,
        };
        if let Some(count) = reason {
            *count += 1;
            return Ok(None);
        }
        left_out.attempts += missing as u64;
        let gpus = u32::try_from(widest).ok().filter(|gpus| *gpus <= MAX_TASKS);
        let gpus = gpus.ok_or_else(|| {
            BadRow::field(format!("attempts of {}", self.jobid), "have too many GPUs")
        })?;
        let micros = work.div_ceil(u128::from(widest));
        let duration = span(u64::try_from(micros).unwrap_or(MAX_MICROS).min(MAX_MICROS));
        let label = JobLabel::Name(self.jobid.as_str().into());
        Ok(Some(Row { submit: time(submit), duration, label, queue: 0, gpus }))
    }

    /// A time, in microseconds since 1970, which is not before `least` where it may be one of two.
    fn at(
        &self,
        field: &str,
        text: Option<&str>,
        zone: &TimeZone,
        least: u64,
    ) -> Result<Option<u64>, BadRow> {
        match text.map(str::trim) {
            None | Some("" | "None") => Ok(None),
            Some(text) => local_date(text.as_bytes(), zone, least).map(Some).ok_or_else(|| {
                let shown = meed_config::words::quote(text.as_bytes());
                let what = format!("{shown} is no time; wanted is one as 2017-10-09 07:00:00");
                BadRow::field(format!("{field} of {}", self.jobid), what)
            }),
        }
    }
}

/// The first submission: time 0 from then on.
pub(super) fn since_first(rows: &mut [Row]) -> u64 {
    let first = rows.iter().map(|row| row.submit).min().unwrap_or(Time::ZERO);
    for row in rows {
        row.submit = Time::ZERO.saturating_add(row.submit.saturating_since(first));
    }
    first.as_micros()
}
