//! Writes the format.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use meed::{MICROS_PER_S, ResourceKinds, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::decimal::write_scaled;

use super::read::unit_name;
use super::{LINE_LIMIT, VERSION};
use crate::{Durations, Job, JobGroup, JobLabel, TraceError};
use meed_files::FileError;

/// Writes jobs, in order of submission, to anything that takes bytes.
///
/// To a file: [`meed_files::create::Output`], whose `finish` is the caller's to call.
pub struct CanonicalWriter<W> {
    out: W,
    name: Arc<str>,
    kinds: ResourceKinds,
    /// The queues' names as JSON, quoted once.
    queues: Vec<String>,
    last: Time,
    line: String,
}

impl<W: Write> CanonicalWriter<W> {
    /// Writes the header to `out`, which messages call `name`.
    pub fn new(
        out: W,
        name: &str,
        kinds: &ResourceKinds,
        queues: &[String],
    ) -> Result<CanonicalWriter<W>, TraceError> {
        CanonicalWriter::since(out, name, kinds, queues, None)
    }

    /// The same, of jobs of which it is known what the clock said at time 0
    /// ([`crate::JobSource::clock_us`]).
    pub fn since(
        out: W,
        name: &str,
        kinds: &ResourceKinds,
        queues: &[String],
        clock_us: Option<u64>,
    ) -> Result<CanonicalWriter<W>, TraceError> {
        let queues = queues.iter().map(|queue| json(queue)).collect();
        let name = name.into();
        let mut writer = CanonicalWriter {
            out,
            name,
            kinds: kinds.clone(),
            queues,
            last: Time::ZERO,
            line: String::new(),
        };
        writer.line = format!("{{\"meed_trace\":{VERSION},\"resources\":{{");
        for (kind, resource) in kinds.names().enumerate() {
            let comma = if kind > 0 { "," } else { "" };
            let unit = unit_name(kinds.unit(kind));
            writer.line += &format!("{comma}{}:\"{unit}\"", json(resource));
        }
        let clock = clock_us.map_or_else(String::new, |at| format!(",\"clock_us\":{at}"));
        writer.line += &format!("}},\"queues\":[{}]{clock}}}\n", writer.queues.join(","));
        writer.put()?;
        Ok(writer)
    }

    /// Writes one job. Jobs of a closed chain depend on the run that submitted them: a trace cannot
    /// hold them.
    pub fn write(&mut self, job: &Job) -> Result<(), TraceError> {
        let fail = |why: String| {
            let (file, job) = (Arc::clone(&self.name), job.label.to_string());
            Err(TraceError::Job { file, job, why })
        };
        if job.chain.is_some() {
            return fail(
                "it belongs to a closed chain, whose next jobs depend on the run; a trace \
                holds only open arrivals"
                    .into(),
            );
        }
        if let Err(why) = job.check(self.queues.len(), self.kinds.len()) {
            return fail(why);
        }
        if job.submit < self.last {
            return fail(format!(
                "it is submitted at {}, before the preceding job's {}",
                job.submit, self.last
            ));
        }
        self.last = job.submit;
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = self.compose(job);
        if self.line.len() > LINE_LIMIT {
            let (file, job) = (Arc::clone(&self.name), job.label.to_string());
            let why = format!(
                "it takes a line of {} bytes; the longest is {LINE_LIMIT}",
                self.line.len()
            );
            return Err(TraceError::Job { file, job, why });
        }
        self.put()
    }

    /// Flushes, and gives back what was written to.
    pub fn into_inner(mut self) -> Result<W, TraceError> {
        self.out.flush().map_err(|source| self.failure(source))?;
        Ok(self.out)
    }

    fn put(&mut self) -> Result<(), TraceError> {
        self.out.write_all(self.line.as_bytes()).map_err(|source| self.failure(source))
    }

    fn failure(&self, source: io::Error) -> TraceError {
        FileError::Io { action: "write", file: Arc::clone(&self.name), source }.into()
    }

    fn compose(&mut self, job: &Job) -> std::fmt::Result {
        let CanonicalWriter { line, queues, kinds, .. } = self;
        line.push_str("{\"submit_s\":");
        write_scaled(line, job.submit.as_micros(), MICROS_PER_S)?;
        write!(line, ",\"queue\":{},\"job\":", queues[job.queue as usize])?;
        match &job.label {
            JobLabel::Number(number) => write!(line, "{number}")?,
            JobLabel::Name(name) => line.push_str(&json(name)),
        }
        if job.weight != 1 {
            write!(line, ",\"weight\":{}", job.weight)?;
        }
        line.push_str(",\"tasks\":[");
        for (number, group) in job.groups.iter().enumerate() {
            line.push_str(if number > 0 { ",{" } else { "{" });
            compose_group(line, group, kinds)?;
            line.push('}');
        }
        line.push_str("]}\n");
        Ok(())
    }
}

fn compose_group(line: &mut String, group: &JobGroup, kinds: &ResourceKinds) -> std::fmt::Result {
    if group.stage != 0 {
        write!(line, "\"stage\":{},", group.stage)?;
    }
    write!(line, "\"count\":{},\"demand\":{{", group.count)?;
    let mut comma = "";
    for (kind, amount) in
        group.demand.as_slice().iter().enumerate().filter(|(_, amount)| **amount > 0)
    {
        write!(line, "{comma}{}:", json(kinds.name(kind)))?;
        write_scaled(line, *amount, kinds.unit(kind).scale())?;
        comma = ",";
    }
    line.push_str("},\"duration_s\":");
    match &group.duration {
        Durations::Same(span) => write_scaled(line, span.as_micros(), MICROS_PER_S)?,
        Durations::Each(spans) => {
            for (number, span) in spans.iter().enumerate() {
                line.push_str(if number > 0 { "," } else { "[" });
                write_scaled(line, span.as_micros(), MICROS_PER_S)?;
            }
            line.push(']');
        }
    }
    if let Some(limit) = group.limit {
        line.push_str(",\"limit_s\":");
        write_scaled(line, limit.as_micros(), MICROS_PER_S)?;
    }
    if let Some(checkpoint) = group.checkpoint {
        line.push_str(",\"checkpoint_s\":");
        write_scaled(line, checkpoint.as_micros(), MICROS_PER_S)?;
    }
    if let Some(gang) = &group.gang {
        match gang.joint {
            true => line.push_str(",\"gang\":\"joint\""),
            false => write!(line, ",\"gang\":{}", gang.least)?,
        }
        if let Some(same) = &gang.same {
            write!(line, ",\"same\":{}", json(same))?;
        }
    }
    if group.cut {
        line.push_str(",\"cut\":true");
    }
    match &group.constraints {
        None => Ok(()),
        Some(constraints) => {
            let form = serde_json::to_value(ConstraintsForm::of(constraints)).unwrap_or_default();
            write!(line, ",\"constraints\":{form}")
        }
    }
}

/// A string as JSON.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
