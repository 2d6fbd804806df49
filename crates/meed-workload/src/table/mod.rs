//! Tables of jobs: anybody's CSV, TSV or JSON lines, one job a row, with a mapping from columns to
//! what a job is; and tables whose columns are known ([`KnownTable`]).
//!
//! Format: separated values whose first line names the columns (RFC 4180, whatever the separator),
//! or an object of JSON on each line. The mapping ([`TableAssumptions::map`]) says in which column
//! the tenant is, the submission, and so on (see `expression` for what can be said); what it
//! leaves out is guessed by well-known names (`guess`), and told. What a row holds:
//!
//! - a time of submission (`times`): numbers since 1970 or since some zero, dates with a zone or
//!   in the table's. Where times are dates, time 0 is the first submission, and its date is told;
//!   where they count from a zero of the trace, that stays.
//! - a duration, or start and end; a time limit; how many tasks, and whether they start together
//! - amounts of the cluster's resources (`amounts`), of each task or of all together
//!
//! A row that cannot be used is wrong (counted, its message kept) or left out by an assumption (no
//! end yet, nothing held); each reason is told with its count and first line. A table most of whose
//! rows are wrong is refused: its mapping is.
//!
//! Invariant: jobs come in order of submission; equal times in order of the file. Cost: the file is
//! read once; memory grows with it by 80 bytes a job, names besides, and one sort.

mod accounting;
mod accounts;
mod amounts;
mod assumptions;
mod columns;
mod condor;
mod dates;
mod day_order;
mod decimals;
mod expression;
mod grid_engine;
mod guess;
mod lsf;
mod mapping;
mod named;
mod nodes;
mod presets;
mod reasons;
mod record;
mod rows;
mod separated;
mod slurm;
mod standing;
pub(crate) mod times;
mod weights;
mod when;

use std::collections::BTreeSet;
use std::sync::Arc;

use meed::{Constraints, Gang, ResourceKinds, Resources, Unit};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::{Input, Origin};

pub use assumptions::{
    KnownTable, TableAmounts, TableAssumptions, TableDots, TableForm, TableMap, TableSizes,
};
pub use dates::{format_date, parse_date_in};
pub(crate) use dates::{local_date, parse_date, zone_named};
pub use day_order::TableDates;
pub use decimals::TableDecimal;
pub use nodes::{is_openb_nodes, read_openb_nodes};
pub use standing::SlurmStanding;
pub use weights::{ShareKind, WeightRow, WeightTable, WeightsFound, read_weights, weights_of};
pub use when::{date_of_run, people as date_for_people};

use crate::error::{BadRow, header, no_jobs_in};
use crate::fields::{span, time};
use crate::partitions::PARTITION;
use crate::whole::Whole;
use crate::{
    BadLine, Durations, Job, JobGroup, JobSource, MAX_TASKS, OnBadLine, SourceCounts, TraceError,
};
use mapping::Mapping;
use named::{LineForm, NamedLines};
use presets::Preset;
use reasons::{NoJob, Reasons};
use record::{Record, names_of};
use rows::{Row, Rows};
use separated::{SEPARATORS, Separated, separator_in, separator_of};
use slurm::Lists;
use slurm::jobs as jobs_of_parts;
use slurm::json::{self, JsonJobs};
use slurm::part::Part;
use slurm::parts::{self, Parts};
use slurm::qos::Qos;

/// The separator of this name in settings.
pub fn separator_named(name: &str) -> Option<u8> {
    let named =
        SEPARATORS.iter().find(|(known, byte)| *known == name || name.as_bytes() == [*byte]);
    named.map(|(_, byte)| *byte)
}

/// The resource that a name is one of, and its unit: `cores` is `cpu`.
pub(crate) fn resource_named(name: &str) -> Option<(&'static str, Unit)> {
    guess::resource_of(name).map(|(name, unit, _)| (name, unit))
}

/// What was guessed of a table, from its assumptions: ``tenant is `team` ``.
pub fn guesses(assumptions: &[String]) -> Vec<&str> {
    let all = assumptions.iter().filter_map(|words| words.strip_suffix(GUESSED));
    all.map(|words| words.split_once(": ").map_or(words, |(_, guess)| guess)).collect()
}

/// The end of what says a guess.
const GUESSED: &str = ", guessed by its name";

/// Records from which the mapping is made.
const SAMPLE: usize = 1000;

/// Jobs of a table.
pub struct TableSource {
    file: Whole<Row>,
    demands: Vec<Resources>,
    partitions: Vec<Vec<String>>,
    words: Vec<String>,
    clock_us: Option<u64>,
    /// Of the job that was taken last.
    waited: u64,
}

impl TableSource {
    /// Opens `origin` for a cluster with these `kinds` and reads it whole, once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        options: &TableAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<TableSource, TraceError> {
        let table = Table::open(origin, options)?;
        let sample = table.sample.iter().filter_map(|(_, record)| record.as_ref().ok());
        let sample = sample.filter(|record| table.fits(record)).collect();
        let mapping = mapping::make(&table.names, sample, kinds, options);
        let mapping = mapping.map_err(|why| header(origin.name(), table.line, why))?;
        if table.sample.is_empty() {
            return Err(no_rows(origin, options));
        }
        table.read(origin.name(), mapping, kinds, (options.decimal, on_bad_line))
    }

    #[inline(always)]
    fn job(&self, row: Row) -> Job {
        let group = self.group(&row);
        Job {
            label: row.label,
            queue: row.queue,
            submit: time(row.submit),
            weight: 1,
            chain: None,
            groups: vec![group],
        }
    }

    #[inline(always)]
    fn group(&self, row: &Row) -> JobGroup {
        let gang = (row.gang > 1).then(|| Box::new(Gang::of(row.gang)));
        JobGroup {
            limit: (row.limit > 0).then(|| span(row.limit)),
            gang,
            constraints: self.constraints(row),
            cut: row.cut,
            ..JobGroup::new(
                row.count,
                self.demands[row.demand as usize],
                Durations::Same(span(row.duration)),
            )
        }
    }

    #[inline(always)]
    fn constraints(&self, row: &Row) -> Option<Box<Constraints>> {
        let names = self.partitions.get((row.partition as usize).checked_sub(1)?)?;
        let require = [(PARTITION.to_owned(), names.clone())].into();
        Some(Box::new(Constraints { require, ..Constraints::default() }))
    }

    /// The job of several rows of which `first` is one.
    #[cold]
    fn job_of_parts(&mut self, first: Row) -> Job {
        let part = first.part;
        let mut job = self.job(first);
        while job.groups.len() < jobs_of_parts::MOST_ROWS {
            let room = u64::from(MAX_TASKS).saturating_sub(job.tasks());
            let next = self.file.left().next();
            if !next.is_some_and(|row| row.part == part && u64::from(row.count) <= room) {
                break;
            }
            let Some(row) = self.file.next() else { break };
            self.file.joined();
            job.groups.push(self.group(&row));
        }
        jobs_of_parts::job(job, part)
    }
}

/// Resources that a table has columns for, where no cluster names them: at least one.
pub fn table_resources(
    origin: &Origin,
    options: &TableAssumptions,
) -> Result<Vec<(String, Unit)>, TraceError> {
    let table = Table::open(origin, options)?;
    let found = mapping::resources(&table.names, options);
    Ok(if found.is_empty() { vec![("slot".to_owned(), Unit::Milli)] } else { found })
}

/// Whether the first bytes of a file are those of a table that is likely one of jobs.
pub(crate) fn is_likely(line: &[u8]) -> Option<TableForm> {
    let mut record = Record::default();
    let (form, names) = if line.starts_with(b"{") {
        let mut lines = NamedLines::new(lines_of(line)?, LineForm::Json);
        lines.next(&mut record).ok()??.ok()?;
        (TableForm::JsonLines, lines.names())
    } else {
        let mut lines = Separated::new(lines_of(line)?, separator_of(line)?);
        lines.next(&mut record).ok()??.ok()?;
        (TableForm::Separated, names_of(&record).ok()?)
    };
    mapping::is_likely(&names).then_some(form)
}

/// The known table whose first line this is.
pub(crate) fn known_of(line: &[u8]) -> Option<KnownTable> {
    if accounting::is_line(line) {
        return Some(KnownTable::Pbs);
    }
    if lsf::is_line(line) {
        return Some(KnownTable::Lsf);
    }
    if grid_engine::is_line(line) {
        return Some(KnownTable::GridEngine);
    }
    if line.starts_with(b"{") {
        let has = |name: &[u8]| line.windows(name.len()).any(|here| here == name);
        let is_condor = has(b"\"ClusterId\"") && has(b"\"QDate\"");
        return is_condor.then_some(KnownTable::Condor);
    }
    if slurm::unnamed::what(line).is_some() {
        return Some(KnownTable::Slurm);
    }
    let separator = separator_of(line)?;
    let fields: Vec<&[u8]> =
        line.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect();
    let has = |name: &str| fields.contains(&name.as_bytes());
    // With State alone it is what sacct prints where nobody names columns; the reader says what
    // it lacks.
    const OF_SACCT: [&str; 4] = ["Submit", "Start", "Elapsed", "State"];
    if (has("JobID") || has("JobIDRaw")) && OF_SACCT.into_iter().any(has) {
        return (separator == b'|').then_some(KnownTable::Slurm);
    }
    if ["cpu_milli", "memory_mib", "gpu_milli", "qos", "creation_time"].into_iter().all(has) {
        return Some(KnownTable::Openb);
    }
    let columns = presets::AZURE_VMS.columns?;
    if Preset::is_azure_vm(&fields) || columns.iter().all(|name| has(name)) {
        return Some(KnownTable::AzureVms);
    }
    let columns = presets::ALIBABA_2018.columns?;
    let status =
        ["Terminated", "Failed", "Running", "Ready", "Waiting", "Interrupted", "Cancelled"];
    let is_2018 = fields.len() == columns.len()
        && status.iter().any(|status| fields[4] == status.as_bytes())
        && fields[1].iter().all(u8::is_ascii_digit);
    is_2018.then_some(KnownTable::Alibaba2018)
}

/// Whether a file begins like an accounting file of Grid Engine.
pub(crate) fn is_grid_engine(start: &[u8]) -> bool {
    grid_engine::is_beginning(start)
}

/// Whether a file begins like `sacct --json`.
pub(crate) fn is_slurm_json(start: &[u8]) -> bool {
    json::is_beginning(start)
}

fn lines_of(line: &[u8]) -> Option<Lines> {
    Some(Lines::new(Origin::bytes("", line).open().ok()?, LINE_LIMIT))
}

/// Where records come from.
enum Reader {
    Separated(Box<Separated>),
    Named(NamedLines),
    Slurm(Box<JsonJobs>),
}

impl Reader {
    fn next(&mut self, record: &mut Record) -> Result<Option<Result<(), BadRow>>, TraceError> {
        match self {
            Reader::Separated(lines) => lines.next(record),
            Reader::Named(lines) => lines.next(record),
            Reader::Slurm(jobs) => jobs.next(record),
        }
    }

    /// What is read, and how many lines of it were.
    fn input(&self) -> (&Input, u64) {
        let lines = match self {
            Reader::Separated(reader) => &reader.lines,
            Reader::Named(reader) => &reader.lines,
            Reader::Slurm(jobs) => return (&jobs.input, jobs.line()),
        };
        (lines.input(), lines.number())
    }
}

/// A table of which the columns and the first rows are known.
struct Table {
    reader: Reader,
    names: Vec<String>,
    /// The line that names the columns.
    line: u64,
    /// The first records, or what is wrong with them, with their lines.
    sample: Vec<(u64, Result<Record, BadRow>)>,
    /// Of a table of Slurm.
    lists: Option<Lists>,
}

impl Table {
    fn open(origin: &Origin, options: &TableAssumptions) -> Result<Table, TraceError> {
        let mut table = match options.form {
            TableForm::JsonLines if options.known == Some(KnownTable::Condor) => {
                Table::named(origin, LineForm::Condor)?
            }
            TableForm::JsonLines => Table::named(origin, LineForm::Json)?,
            TableForm::Accounting => Table::named(origin, LineForm::Accounting)?,
            TableForm::Lsf => Table::named(origin, LineForm::Lsf)?,
            TableForm::GridEngine => Table::named(origin, LineForm::GridEngine)?,
            TableForm::SlurmJson => Table::slurm_json(origin, options)?,
            TableForm::Separated => Table::separated(origin, options)?,
        };
        let mut record = Record::default();
        while table.sample.len() < SAMPLE {
            let Some(found) = table.next(&mut record)? else { break };
            table.sample.push((record.line, found.map(|()| record.copy())));
        }
        if let Reader::Named(lines) = table.reader {
            let mut lines = lines.learned(Lines::new(origin.open()?, LINE_LIMIT));
            for _ in 0..table.sample.len() {
                lines.next(&mut record)?;
            }
            table.names = lines.names();
            table.reader = Reader::Named(lines);
        }
        match table.sample.first() {
            None if options.form != TableForm::Separated || table.names.is_empty() => {
                Err(no_rows(origin, options))
            }
            Some((line, Err(why))) if table.names.is_empty() => {
                Err(header(origin.name(), *line, why.to_string()))
            }
            Some((line, _)) if table.is_log() && !table.tells_ends() => {
                let why = "no record says how a job has ended (type E of PBS, JOB_FINISH of LSF)";
                Err(header(origin.name(), *line, why.to_owned()))
            }
            _ => Ok(table),
        }
    }

    /// Whether a record has as many values as there are columns: what others say of a column would
    /// be of another.
    fn fits(&self, record: &Record) -> bool {
        self.columns().is_none_or(|columns| has_columns(record, columns))
    }

    /// How many values each row has, where each has as many as there are columns.
    fn columns(&self) -> Option<usize> {
        matches!(self.reader, Reader::Separated(_)).then_some(self.names.len())
    }

    /// Whether it is an accounting log of a batch system.
    fn is_log(&self) -> bool {
        self.names.iter().any(|name| name == "record.type")
    }

    /// Whether an accounting log has a record that says more than what kind it is of.
    fn tells_ends(&self) -> bool {
        self.names.iter().any(|name| !accounting::OF_ALL.contains(&name.as_str()))
    }

    fn named(origin: &Origin, form: LineForm) -> Result<Table, TraceError> {
        let lines = NamedLines::new(Lines::new(origin.open()?, LINE_LIMIT), form);
        let reader = Reader::Named(lines);
        let (names, sample) = (Vec::new(), Vec::new());
        Ok(Table { reader, names, line: 1, sample, lists: None })
    }

    fn slurm_json(origin: &Origin, options: &TableAssumptions) -> Result<Table, TraceError> {
        let start = origin.beginning(64 << 10).unwrap_or_default();
        if json::is_without_jobs(&start) {
            return Err(no_rows(origin, options));
        }
        let reader = Reader::Slurm(Box::new(JsonJobs::open(origin)?));
        let (names, sample) = (json::names(), Vec::new());
        let lists = Some(Lists::of(&names));
        Ok(Table { reader, names, line: 1, sample, lists })
    }

    /// The next record, completed where its program leaves something to its reader.
    fn next(&mut self, record: &mut Record) -> Result<Option<Result<(), BadRow>>, TraceError> {
        let found = self.reader.next(record);
        if let (Some(lists), Ok(Some(Ok(())))) = (&self.lists, &found) {
            lists.complete(record);
        }
        found
    }

    fn separated(origin: &Origin, options: &TableAssumptions) -> Result<Table, TraceError> {
        let separator = match options.separator {
            Some(separator) => separator,
            None => separator_in(origin)?,
        };
        let mut reader = Separated::new(Lines::new(origin.open()?, LINE_LIMIT), separator);
        // Slurm prints names of jobs as they are; between other separators it was exported.
        if options.known == Some(KnownTable::Slurm) && separator == b'|' {
            reader = reader.without_quotes();
        }
        let mut record = Record::default();
        let mut sample = Vec::new();
        let mut names = Vec::new();
        if let Some(found) = reader.next(&mut record)? {
            let fail = |why: String| header(origin.name(), record.line, why);
            found.map_err(|why| fail(why.to_string()))?;
            let first = names_of(&record).map_err(fail)?;
            let fixed = options.preset().and_then(|preset| preset.columns);
            if options.known == Some(KnownTable::Slurm)
                && options.header.is_none()
                && let Some(wrong) = slurm::unnamed::what(&record.text)
            {
                return Err(fail(wrong.words()));
            }
            let is_header = match fixed {
                Some(columns) => first == columns,
                None => options.header.unwrap_or(true),
            };
            names = match (is_header, fixed) {
                (true, _) => first,
                (false, Some(columns)) => columns.iter().map(|name| (*name).to_owned()).collect(),
                (false, None) => (1..=record.len()).map(|number| format!("#{number}")).collect(),
            };
            if !is_header {
                sample.push((record.line, Ok(record.copy())));
            }
        }
        let line = record.line.max(1);
        let lists = (options.known == Some(KnownTable::Slurm)).then(|| Lists::of(&names));
        let reader = Reader::Separated(Box::new(reader));
        Ok(Table { reader, names, line, sample, lists })
    }

    /// Reads all rows.
    fn read(
        mut self,
        file: &Arc<str>,
        mapping: Mapping,
        kinds: &ResourceKinds,
        (decimal, on_bad_line): (TableDecimal, OnBadLine),
    ) -> Result<TableSource, TraceError> {
        let units = (0..kinds.len()).map(|kind| kinds.unit(kind)).collect();
        let mut taker = Taker {
            rows: Rows::new(&mapping, units),
            decimal: (decimal, &mapping.numbers),
            whole: Whole::new(file, on_bad_line),
            reasons: Reasons::default(),
            columns: self.columns(),
            parts: mapping.is_slurm.then(|| Parts::of(&self.names)),
            qos: mapping.is_slurm.then(|| Qos::of(&self.names, mapping.tenant.columns())),
        };
        for (line, record) in std::mem::take(&mut self.sample) {
            match record {
                Ok(mut record) => taker.take(line, Ok(&mut record))?,
                Err(why) => taker.take(line, Err(why))?,
            }
        }
        let mut record = Record::default();
        while let Some(found) = self.next(&mut record)? {
            taker.take(record.line, found.map(|()| &mut record))?;
        }
        let (input, lines) = self.reader.input();
        crate::records::end(input, lines + 1, &mut taker.whole.bad)?;
        taker.done(file, &mapping)
    }
}

/// Whether a record has so many values; one more that is empty is what `sacct --parsable` writes.
fn has_columns(record: &Record, columns: usize) -> bool {
    let more = record.len() == columns + 1 && record.get(columns).is_empty();
    record.len() == columns || more
}

/// Takes records and keeps what they are.
struct Taker<'a> {
    rows: Rows<'a>,
    /// How numbers are written, and the columns that have some.
    decimal: (TableDecimal, &'a BTreeSet<usize>),
    whole: Whole<Row>,
    reasons: Reasons,
    columns: Option<usize>,
    /// Of a table of Slurm.
    parts: Option<Parts>,
    qos: Option<Qos>,
}

impl Taker<'_> {
    fn take(&mut self, line: u64, record: Result<&mut Record, BadRow>) -> Result<(), TraceError> {
        let found = record.map_err(|why| NoJob::Wrong("the line is none of the table", why));
        let found = found.and_then(|record| {
            self.check_columns(record)?;
            let (decimal, columns) = self.decimal;
            decimal.change(record, columns);
            let mut row = self.rows.row(record)?;
            if let Some(parts) = &mut self.parts {
                row.part = parts.part(record, row.submit, row.queue);
            }
            if let Some(qos) = &mut self.qos {
                qos.note(record);
            }
            Ok(row)
        });
        let found = match found {
            Ok(row) => Ok(Some(row)),
            Err(NoJob::LeftOut(why)) => {
                self.reasons.note(line, false, why);
                Ok(None)
            }
            Err(NoJob::Wrong(why, row)) => {
                self.reasons.note(line, true, why);
                Err(row)
            }
        };
        self.whole.add(line, found)
    }

    fn check_columns(&self, record: &Record) -> Result<(), NoJob> {
        let Some(columns) = self.columns.filter(|columns| !has_columns(record, *columns)) else {
            return Ok(());
        };
        let what = format!("{} values; the table has {columns} columns", record.len());
        Err(NoJob::Wrong("another number of values than there are columns", BadRow::line(what)))
    }

    fn done(self, file: &Arc<str>, mapping: &Mapping) -> Result<TableSource, TraceError> {
        let Taker { rows, mut whole, reasons, parts, qos, .. } = self;
        let counts = whole.counts();
        let reasons = reasons.words();
        if counts.lines > 0 && counts.bad > counts.lines / 2 {
            let first = whole.bad_lines();
            let first = first.first().map_or(String::new(), |first| first.problem.to_string());
            let line = whole.bad_lines().first().map_or(1, |first| first.line);
            let why = format!(
                "{} of {} rows are wrong, so the table is read wrongly; {}; {}. Is the mapping \
                 right? {}",
                counts.bad,
                counts.lines,
                first,
                reasons.join("; "),
                mapping.words.join("; ")
            );
            return Err(header(file, line, why));
        }
        whole.ensure_some("a table has a line that names its columns, and a job on each other")?;
        let mut words = mapping.words.clone();
        if let Some(mut parts) = parts {
            parts.arrange(&mut whole);
            words.extend(parts.words(whole.left(), mapping));
            words.extend(rows.held_by_nobody());
        }
        words.extend(rows.cut());
        words.extend(qos.and_then(|qos| qos.words()));
        // Stable: equal times stay in the order of the file.
        whole.rows().sort_by_key(|row| row.submit);
        parts::group(&mut whole);
        let all = whole.rows();
        let mut clock_us = None;
        if mapping.submit.times.since_1970 {
            let zero = all.first().map_or(0, |row| row.submit);
            all.iter_mut().for_each(|row| row.submit -= zero);
            words.push(format!("time 0 is the first submission, {}", times::format_date(zero)));
            clock_us = Some(zero);
        }
        if rows.tenants.dotted > 0 {
            words.push(format!(
                "{} tenants have a dot in their name, shown as _ (dots = \"path\": it separates \
                 parent and child)",
                rows.tenants.dotted
            ));
        }
        words.extend(reasons);
        rows.tenants.all.iter().for_each(|name| {
            whole.number_of(name);
        });
        let words = words.into_iter().map(|words| format!("{}: {words}", mapping.title)).collect();
        Ok(TableSource {
            file: whole,
            demands: rows.demands.all,
            partitions: rows.partitions.all,
            words,
            clock_us,
            waited: rows::NO_WAIT,
        })
    }
}

/// The error of a table without a row.
fn no_rows(origin: &Origin, options: &TableAssumptions) -> TraceError {
    let is_empty = origin.beginning(1 << 10).is_ok_and(|start| start.trim_ascii().is_empty());
    let why = match options.preset() {
        Some(preset) if is_empty => {
            format!("the file is empty; wanted are jobs of {}", preset.title)
        }
        Some(preset) => preset.nothing.to_owned(),
        None if is_empty => "the file is empty; a table has a line that names its columns, and a \
                             job on each other"
            .to_owned(),
        None => "a line names the columns of the table, and no row follows; wanted is a job on \
                 each line"
            .to_owned(),
    };
    no_jobs_in(origin.name(), &why)
}

impl JobSource for TableSource {
    fn queues(&self) -> &[String] {
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(row) = self.file.next() else { return Ok(None) };
        self.waited = row.wait;
        let job = match row.part {
            Part::Whole => self.job(row),
            _ => self.job_of_parts(row),
        };
        Ok(Some(job))
    }

    fn waited(&self) -> Option<meed::Span> {
        (self.waited != rows::NO_WAIT).then(|| span(self.waited))
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

    fn clock_us(&self) -> Option<u64> {
        self.clock_us
    }

    fn progress(&self) -> Option<f64> {
        self.file.progress()
    }
}

#[cfg(test)]
mod tests;
