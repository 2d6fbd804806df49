//! Reads the format.

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{MAX_AMOUNT, MAX_MICROS, MICROS_PER_S, ResourceKinds, Resources, Time, Unit};
use meed_config::constraints::ConstraintsForm;
use meed_config::decimal::{NumberError, Rounding, parse_scaled};
use meed_config::gang::GangForm;
use meed_config::queues::check_bounds;
use meed_config::words::{quote, suggest};

use super::json::{Entries, GroupLine, Header, JobLine};
use super::{LINE_LIMIT, VERSION};
use crate::error::{BadRow, no_jobs};
use crate::fields::{out_of_order, span, time};
use crate::records::Records;
use crate::{
    BadLine, CLOCK_END_US, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts,
    TraceError,
};
use meed_files::lines::Lines;
use meed_files::open::Origin;

const WANTED: &str = "after the header, every line is a job as docs/trace-format.md describes it";

/// Jobs of a trace in Meed's own format.
pub struct CanonicalSource {
    records: Records,
    kinds: ResourceKinds,
    /// Kind of each resource of the file, in the kinds that jobs are made for.
    resources: Vec<(String, usize)>,
    queues: Vec<String>,
    clock_us: Option<u64>,
    by_name: BTreeMap<String, u32>,
    last: Time,
    /// Read ahead, so that a file without jobs is found out at once.
    next: Option<Job>,
    handed_out: u64,
}

impl CanonicalSource {
    /// Opens `origin`; the file is read once, so a pipe will do.
    ///
    /// With `cluster`, demands are made for the cluster's kinds: each resource of the file must be
    /// one of them, counted in the same unit; of the others jobs demand nothing. Without, they are
    /// made for the file's own.
    pub fn open(
        origin: &Origin,
        cluster: Option<&ResourceKinds>,
        on_bad_line: OnBadLine,
    ) -> Result<CanonicalSource, TraceError> {
        let mut records = Records::new(Lines::new(origin.open()?, LINE_LIMIT), on_bad_line);
        let (first, number) = loop {
            match records.lines.next_line()? {
                None => return Err(records.no_jobs(WANTED)),
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => break (line.to_vec(), records.lines.number()),
            }
        };
        let fail =
            |why: String| TraceError::Header { file: Arc::clone(origin.name()), line: number, why };
        let header: Header = serde_json::from_slice(&first).map_err(|error| {
            if let Some(names) = names_of_other(&first) {
                return fail(format!(
                    "this is no trace of Meed's own, whose first line has \"meed_trace\"; a table \
                     of JSON lines is read with --format jsonl --map \
                     tenant=NAME,submit=NAME,duration=NAME; its names are {names}"
                ));
            }
            fail(format!(
                "not a header: {error}; the first line must be like \
                 {{\"meed_trace\":1,\"resources\":{{\"slot\":\"milli\"}},\
                 \"queues\":[\"a\"]}}"
            ))
        })?;
        let own = check_header(&header).map_err(fail)?;
        let kinds = cluster.cloned().unwrap_or_else(|| own.clone());
        let resources = map_kinds(&own, &kinds).map_err(fail)?;
        let by_name = header.queues.iter().cloned().zip(0..).collect();
        let mut source = CanonicalSource {
            records,
            kinds,
            resources,
            queues: header.queues,
            clock_us: header.clock_us,
            by_name,
            last: Time::ZERO,
            next: None,
            handed_out: 0,
        };
        source.next = source.read_job()?;
        if source.next.is_none() {
            return Err(no_jobs(
                origin.name(),
                source.records.read + 1,
                0,
                &source.records.bad,
                WANTED,
            ));
        }
        Ok(source)
    }

    /// The kinds that demands are made for.
    pub fn kinds(&self) -> &ResourceKinds {
        &self.kinds
    }

    fn read_job(&mut self) -> Result<Option<Job>, TraceError> {
        loop {
            let Some(line) = self.records.lines.next_line()? else {
                self.records.end()?;
                return Ok(None);
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.records.read += 1;
            let context = Context {
                resources: &self.resources,
                kinds: &self.kinds,
                by_name: &self.by_name,
                number: self.records.read,
            };
            match context.job(line, self.last) {
                Ok(job) => {
                    self.last = job.submit;
                    return Ok(Some(job));
                }
                Err(problem) => self.records.note(problem)?,
            }
        }
    }
}

/// The names in an object of JSON that is no header: nothing says that it was meant as one.
fn names_of_other(line: &[u8]) -> Option<String> {
    const SHOWN: usize = 20;
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
    if object.is_empty() || object.contains_key("meed_trace") {
        return None;
    }
    let names = object.keys().take(SHOWN).map(|name| quote(name.as_bytes()));
    let more = if object.len() > SHOWN { ", ..." } else { "" };
    Some(names.collect::<Vec<_>>().join(", ") + more)
}

/// Name of a unit in the header.
pub(super) fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Milli => "milli",
    }
}

fn check_header(header: &Header) -> Result<ResourceKinds, String> {
    if header.meed_trace != u64::from(VERSION) {
        return Err(format!(
            "version {} of the format; this program reads {VERSION}",
            header.meed_trace
        ));
    }
    if let Some(at) = header.clock_us.filter(|&at| at >= CLOCK_END_US) {
        return Err(format!(
            "\"clock_us\" is {at}; clocks are before the year 10000 ({CLOCK_END_US})"
        ));
    }
    if header.queues.is_empty() {
        return Err("\"queues\" is empty; name every queue that the jobs go to".to_owned());
    }
    let mut names: Vec<&str> = header.queues.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("\"queues\" names {} twice", quote(pair[0].as_bytes())));
    }
    if names[0].is_empty() {
        return Err("\"queues\" has an empty name".to_owned());
    }
    names.into_iter().try_for_each(check_bounds).map_err(|why| format!("\"queues\": {why}"))?;
    let mut kinds = Vec::new();
    for (name, unit) in &header.resources.0 {
        let unit = [Unit::Milli, Unit::Bytes].into_iter().find(|known| unit_name(*known) == unit);
        let Some(unit) = unit else {
            return Err(format!(
                "resource {} has an unknown unit; \"milli\" (cores, slots: exact to a thousandth) \
                 or \"bytes\" is needed",
                quote(name.as_bytes())
            ));
        };
        kinds.push((name.clone(), unit));
    }
    ResourceKinds::new(kinds).map_err(|error| format!("\"resources\": {error}"))
}

/// Where each resource of the file is in the cluster's kinds.
fn map_kinds(own: &ResourceKinds, cluster: &ResourceKinds) -> Result<Vec<(String, usize)>, String> {
    let map = |(number, name): (usize, &str)| {
        let Some(kind) = cluster.find(name) else {
            let hint = suggest(name, cluster.names());
            return Err(format!(
                "the trace has the resource \"{name}\", the cluster has not; {hint}"
            ));
        };
        if cluster.unit(kind) != own.unit(number) {
            return Err(format!(
                "the trace counts \"{name}\" in {}, the cluster in {}",
                unit_name(own.unit(number)),
                unit_name(cluster.unit(kind))
            ));
        }
        Ok((name.to_owned(), kind))
    };
    own.names().enumerate().map(map).collect()
}

/// What a line is read against.
struct Context<'a> {
    resources: &'a [(String, usize)],
    kinds: &'a ResourceKinds,
    by_name: &'a BTreeMap<String, u32>,
    /// Number of the job in the file, from 1: its label when it has none.
    number: u64,
}

impl Context<'_> {
    fn job(&self, line: &[u8], last: Time) -> Result<Job, BadRow> {
        let Ok(line) = std::str::from_utf8(line) else {
            return Err(BadRow::line("not text (invalid UTF-8); every line is a JSON object"));
        };
        let parsed: JobLine<'_> = serde_json::from_str(line).map_err(|error| {
            // The parser counts lines too, but it only sees this one.
            let message = error.to_string();
            let message =
                message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            BadRow::field(format!("character {}", error.column()), message.to_owned())
        })?;
        let submit = time(seconds("submit_s", parsed.submit_s.get())?);
        if submit < last {
            return Err(BadRow::line(out_of_order(submit, last)));
        }
        let Some(queue) = self.by_name.get(parsed.queue.as_ref()).copied() else {
            let hint = suggest(&parsed.queue, self.by_name.keys().map(String::as_str));
            return Err(BadRow::field(
                "queue",
                format!("{} is not in the header; {hint}", quote(parsed.queue.as_bytes())),
            ));
        };
        let label = match parsed.job {
            None => JobLabel::Number(self.number),
            Some(raw) => label(raw.get())?,
        };
        let groups =
            parsed.tasks.iter().map(|group| self.group(group)).collect::<Result<Vec<_>, _>>()?;
        let job = Job { label, queue, submit, weight: parsed.weight, chain: None, groups };
        job.check(self.by_name.len(), self.kinds.len()).map_err(BadRow::line)?;
        Ok(job)
    }

    fn group(&self, group: &GroupLine<'_>) -> Result<JobGroup, BadRow> {
        let demand = self.demand(&group.demand)?;
        let text = group.duration_s.get();
        let duration = if text.starts_with('[') {
            let each: Vec<&serde_json::value::RawValue> =
                serde_json::from_str(text).map_err(|_| {
                    BadRow::field("duration_s", "is not a number or an array of numbers")
                })?;
            let each = each.iter().map(|raw| seconds("duration_s", raw.get()).map(span));
            Durations::Each(each.collect::<Result<_, _>>()?)
        } else {
            Durations::Same(span(seconds("duration_s", text)?))
        };
        let constraints = group.constraints.as_ref().map(ConstraintsForm::read);
        let constraints =
            constraints.transpose().map_err(|why| BadRow::field("constraints", why))?.flatten();
        let limit = group.limit_s.map(|raw| seconds("limit_s", raw.get())).transpose()?.map(span);
        let checkpoint = group.checkpoint_s.map(|raw| seconds("checkpoint_s", raw.get()));
        let checkpoint = checkpoint.transpose()?.map(span);
        let (stage, count, cut) = (group.stage, group.count, group.cut);
        let gang = GangForm::read(group.gang, group.same.as_deref(), count)
            .map_err(|why| BadRow::field("gang", why))?;
        Ok(JobGroup { stage, count, demand, duration, constraints, limit, checkpoint, gang, cut })
    }

    fn demand(
        &self,
        entries: &Entries<std::borrow::Cow<'_, str>, &serde_json::value::RawValue>,
    ) -> Result<Resources, BadRow> {
        let mut demand = Resources::zero(self.kinds.len());
        for (number, (name, amount)) in entries.0.iter().enumerate() {
            let Some((_, kind)) = self.resources.iter().find(|(known, _)| known == name) else {
                let hint = suggest(name, self.resources.iter().map(|(known, _)| known.as_str()));
                return Err(BadRow::field(
                    "demand",
                    format!("resource {} is not in the header; {hint}", quote(name.as_bytes())),
                ));
            };
            if entries.0[..number].iter().any(|(earlier, _)| earlier == name) {
                return Err(BadRow::field(
                    "demand",
                    format!("{} comes twice", quote(name.as_bytes())),
                ));
            }
            let unit = self.kinds.unit(*kind);
            let text = amount.get();
            let parsed = parse_scaled(text.as_bytes(), unit.scale(), MAX_AMOUNT, Rounding::Exact);
            demand.as_mut_slice()[*kind] = parsed.map_err(|error| {
                let wrong = match (error, unit) {
                    (NumberError::NotANumber, _) => "is not a number",
                    (NumberError::Negative, _) => "is negative",
                    (NumberError::TooLarge, _) => "is too large",
                    (NumberError::TooFine, Unit::Milli) => "is finer than a thousandth",
                    (NumberError::TooFine, Unit::Bytes) => "is finer than a byte",
                };
                BadRow::field(
                    format!("demand of {name}"),
                    format!("{} {wrong}", quote(text.as_bytes())),
                )
            })?;
        }
        Ok(demand)
    }
}

/// A JSON number of seconds, to the nearest microsecond.
fn seconds(field: &str, text: &str) -> Result<u64, BadRow> {
    parse_scaled(text.as_bytes(), MICROS_PER_S, MAX_MICROS, Rounding::Nearest).map_err(|error| {
        let wrong = match error {
            NumberError::NotANumber | NumberError::TooFine => "is not a number",
            NumberError::Negative => "is negative",
            NumberError::TooLarge => "is too large",
        };
        let text = quote(text.as_bytes());
        BadRow::field(
            field,
            format!("{text} {wrong}; wanted is seconds, 0 or more, up to 285 years"),
        )
    })
}

/// A job's label: a string is a name, a whole number a number.
fn label(text: &str) -> Result<JobLabel, BadRow> {
    if text.starts_with('"') {
        let name: Result<Box<str>, _> = serde_json::from_str(text);
        return name.map(JobLabel::Name).map_err(|error| BadRow::field("job", error.to_string()));
    }
    match text.parse() {
        Ok(number) => Ok(JobLabel::Number(number)),
        Err(_) => Err(BadRow::field(
            "job",
            format!("{} is no label; a string or a whole number is needed", quote(text.as_bytes())),
        )),
    }
}

impl JobSource for CanonicalSource {
    fn queues(&self) -> &[String] {
        &self.queues
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

    fn clock_us(&self) -> Option<u64> {
        self.clock_us
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.records.bad_lines()
    }

    fn progress(&self) -> Option<f64> {
        self.records.progress()
    }
}
