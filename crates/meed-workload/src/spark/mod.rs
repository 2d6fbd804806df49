//! Spark's event logs: what an application held, executor by executor, and what its tasks needed.
//!
//! Format: JSON lines, an event each, as Spark writes them with `spark.eventLog.enabled`: a file
//! for each application, or a folder with the parts of one (`eventlog_v2_ID`, usual since Spark 4);
//! plain or compressed by zstd or LZ4. A folder may hold many logs, and YARN's list of applications
//! ([`crate::yarn`]) beside them; several plain logs may follow each other in one file. Read are
//! who the application is, its settings and resource profiles, executors, jobs, stages and tasks;
//! all other events are passed over, and counted.
//!
//! An application is either of two workloads ([`SparkShape`]): its executors and its master as
//! tasks that hold (`held`), or its jobs, stages and tasks (`needed`). How much of what
//! executors held was used is told with both: `1 - cores x time of tasks / cores x time of
//! executors`.
//!
//! Invariants: jobs come in order of submission, equal times in order of the logs. With YARN's list
//! the memory x time of what an application held adds up to `memorySeconds`, to the millisecond of
//! each executor, where the log does not tell more. Memory grows with executors and tasks: 48 bytes
//! an attempt of a task while its log is read.

mod app;
mod assumptions;
mod event;
mod files;
mod held;
mod list;
mod needed;
mod sizes;
mod tally;

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{MAX_AMOUNT, MAX_MICROS, ResourceKinds, Time};
use meed_config::queues::check_name;
use meed_files::FileError;
use meed_files::lines::Lines;
use meed_files::open::Origin;

pub use assumptions::{
    CONTAINER_STEP, SparkAssumptions, SparkEpisode, SparkQueues, SparkShape, SparkUnfinished,
};
pub(crate) use event::is_event;
pub use files::compression_not_read;
pub(crate) use files::is_folder_of_logs;

use crate::error::{BadRow, no_jobs_in};
use crate::fields::{check_length, span};
use crate::whole::Whole;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, MAX_TASKS, OnBadLine, SourceCounts,
    TraceError, Used,
};
use app::App;
use assumptions::{Holds, SparkKinds};
use event::{Event, Line};
use files::Log;
use list::{List, Listed};
use sizes::Manager;
use tally::Tally;

/// Longest line: an event tells the plan of a query, or all stages of a job.
const LINE_LIMIT: usize = 64 << 20;

/// One job. Times are milliseconds since 1970, and since the first submission once all are known.
struct Row {
    id: Arc<str>,
    queue: u32,
    submit: u64,
    begin: u64,
    groups: Vec<JobGroup>,
}

/// Jobs of event logs.
pub struct SparkSource {
    file: Whole<Row>,
    words: Vec<String>,
    used: Vec<Used>,
    clock_us: Option<u64>,
    waited: Option<meed::Span>,
}

/// Applications by id, with their attempts; and the number of the first of each.
type Apps = BTreeMap<String, (usize, Vec<App>)>;

/// What reads logs.
struct Reading<'a> {
    assumptions: &'a SparkAssumptions,
    file: Whole<Row>,
    list: List,
    apps: Apps,
    tally: Tally,
}

/// Whether some log tells at its beginning that its executors have GPUs.
pub fn tells_gpus(origin: &Origin) -> bool {
    /// Logs that are looked at, and plain bytes of each.
    const LOGS: usize = 256;
    const BYTES: u64 = 64 << 10;
    let Ok(found) = files::find(origin) else { return false };
    let first = found.logs.iter().take(LOGS).filter_map(|log| log.parts.first());
    let starts = first.filter_map(|part| part.beginning(BYTES).ok());
    starts.into_iter().any(|start| {
        start.split(|byte| *byte == b'\n').any(|line| match event::read(line.trim_ascii()) {
            Ok(Line::Event(Event::Profile(told))) => told.executor.contains_key("gpu"),
            Ok(Line::Event(Event::Executor(told))) => told.info.resources.contains_key("gpu"),
            _ => false,
        })
    })
}

impl SparkSource {
    /// Opens `origin`, a file or a folder, for a cluster with these `kinds` and reads it whole,
    /// once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SparkAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<SparkSource, TraceError> {
        let resolved = assumptions.resolve(kinds)?;
        let mut reading = Reading {
            assumptions,
            file: Whole::new(origin.name(), on_bad_line),
            list: List::default(),
            apps: Apps::new(),
            tally: Tally::default(),
        };
        let found = files::find(origin)?;
        let given = assumptions.applications.as_ref().map(Origin::path);
        for list in found.lists.iter().chain(&given) {
            reading.list.take(list.name(), &list.whole()?, &mut reading.file.bad)?;
        }
        reading.tally.others(&found.others);
        for log in &found.logs {
            reading.log(log)?;
        }
        reading.done(origin, kinds, &resolved)
    }
}

impl Reading<'_> {
    fn log(&mut self, log: &Log) -> Result<(), TraceError> {
        let mut app = App::default();
        for part in &log.parts {
            self.part(part, log.is_rolled, &mut app)?;
        }
        let Some(first) = log.parts.first() else { return Ok(()) };
        if !log.missing.is_empty() {
            self.tally.missing(first.name(), &log.missing);
        }
        self.ended(app, first.name())
    }

    /// Reads a file: the events of one application, or of several one after the other.
    fn part(&mut self, part: &Origin, is_rolled: bool, app: &mut App) -> Result<(), TraceError> {
        let mut lines = Lines::new(part.open()?, LINE_LIMIT);
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line.trim_ascii(),
                Ok(None) => return Ok(()),
                Err(FileError::Truncated { .. }) => {
                    self.tally.cut += 1;
                    return Ok(());
                }
                Err(FileError::Io { action, file, source }) => {
                    return Err(FileError::Io { action, file, source }.into());
                }
                Err(why) => {
                    let what = format!("{why}; what came before counts");
                    let line = lines.number() + 1;
                    return self.file.bad.note(part.name(), line, BadRow::line(what));
                }
            };
            if line.is_empty() {
                continue;
            }
            if crate::format::is_yarn(line) {
                self.list.take(part.name(), line, &mut self.file.bad)?;
                continue;
            }
            let other = match event::read(line) {
                Ok(Line::Event(event)) => {
                    let begins = match &event {
                        Event::Begin => !is_rolled && !app.is_empty(),
                        Event::Application(told) => app.known.as_ref().is_some_and(|known| {
                            told.id.as_ref().is_some_and(|id| *id != known.id)
                                || told.attempt != known.attempt
                        }),
                        _ => false,
                    };
                    if begins {
                        let before = std::mem::take(app);
                        self.ended(before, part.name())?;
                    }
                    app.take(event).err()
                }
                Ok(Line::Other(name)) => {
                    self.tally.other(&name);
                    None
                }
                Err(why) => match lines.is_at_end() {
                    // A program that is killed leaves half a line.
                    Ok(true) | Err(FileError::Truncated { .. }) if app.end.is_none() => {
                        self.tally.cut += 1;
                        return Ok(());
                    }
                    _ => Some(why),
                },
            };
            if let Some(why) = other {
                self.file.bad.note(part.name(), lines.number(), why)?;
            }
        }
    }

    /// All events of an application are read.
    fn ended(&mut self, app: App, name: &Arc<str>) -> Result<(), TraceError> {
        let Some(known) = &app.known else {
            let what = "no event tells which application it is of (SparkListenerApplicationStart): \
                it was cut early, or is a part of a log that is rolled, of which the folder \
                (eventlog_v2_...) is wanted";
            return self.file.add_wrong(name, BadRow::line(what));
        };
        if let Err(why) = check_length(&known.id) {
            return self.file.add_wrong(name, BadRow::field("App ID", why));
        }
        let number = self.apps.len();
        let (_, attempts) =
            self.apps.entry(known.id.clone()).or_insert_with(|| (number, Vec::new()));
        let is_same = |other: &&mut App| {
            other.known.as_ref().is_some_and(|other| other.attempt == known.attempt)
        };
        match attempts.iter_mut().find(is_same) {
            // Of two logs of one the one that tells more counts.
            Some(other) => {
                if (app.end.is_some(), app.last) > (other.end.is_some(), other.last) {
                    *other = app;
                }
                self.file.add(1, Ok(None))
            }
            None => {
                attempts.push(app);
                Ok(())
            }
        }
    }

    fn done(
        mut self,
        origin: &Origin,
        kinds: &ResourceKinds,
        resolved: &SparkKinds,
    ) -> Result<SparkSource, TraceError> {
        let mut apps: Vec<_> = std::mem::take(&mut self.apps).into_iter().collect();
        apps.sort_by_key(|(_, (number, _))| *number);
        if apps.is_empty() && self.file.counts() == SourceCounts::default() {
            let why = "there is no event log of Spark; wanted are files or folders as Spark writes \
                them with spark.eventLog.enabled";
            return Err(no_jobs_in(origin.name(), why));
        }
        for (id, (_, mut attempts)) in apps {
            attempts.sort_by_key(|app| app.known.as_ref().map(|known| known.start));
            let found = self.rows(&id, &attempts, resolved);
            let found = found.map_err(|why| BadRow::line(format!("application {id}: {why}")));
            let mut rows = match found {
                Ok(rows) => rows.into_iter(),
                Err(why) => {
                    self.file.add(1, Err(why))?;
                    continue;
                }
            };
            self.file.add(1, Ok(rows.next()))?;
            rows.for_each(|row| self.file.push(row));
        }
        self.file.ensure_some(
            "wanted are event logs of Spark of applications with executors (with shape = \
             \"tasks\": of which some task ran)",
        )?;
        let rows = self.file.rows();
        // Stable: equal times stay in the order of the logs.
        rows.sort_by_key(|row| row.submit);
        let first = rows[0].submit;
        for row in rows {
            row.submit -= first;
            row.begin = row.begin.saturating_sub(first);
        }
        let mut words = self.assumptions.words(kinds, resolved);
        let has_list = !self.list.is_empty();
        words.extend(self.tally.words(
            self.assumptions,
            resolved.counts_gpus(),
            has_list,
            self.file.queues(),
        ));
        let date = crate::table::format_date(first * 1000);
        words.push(format!("time 0 is the first submission, {date}"));
        let words = words.into_iter().map(|words| format!("Spark: {words}")).collect();
        let used = self.tally.used(self.file.queues());
        let clock_us = first.checked_mul(1000);
        Ok(SparkSource { file: self.file, words, used, clock_us, waited: None })
    }

    /// The jobs of an application with these attempts.
    fn rows(&mut self, id: &str, attempts: &[App], kinds: &SparkKinds) -> Result<Vec<Row>, BadRow> {
        let Some(last) = attempts.last() else { return Ok(Vec::new()) };
        let listed = self.list.get(id).filter(|_| last.manager() == Manager::Yarn).cloned();
        let is_open = last.end.is_none() && listed.as_ref().is_none_or(|listed| listed.end == 0);
        if is_open && self.assumptions.unfinished == SparkUnfinished::Drop {
            self.tally.dropped += 1;
            return Ok(Vec::new());
        }
        let queue = self.queue_of(last, listed.as_ref());
        check_name(&queue).map_err(BadRow::line)?;
        let held = held::held(attempts, listed.as_ref(), self.assumptions);
        let id: Arc<str> = id.into();
        let tally = tally::Of { last, listed: listed.as_ref(), held: &held, is_open };
        let number = self.file.number_of(&queue);
        self.tally.take(number, attempts, tally);
        let row =
            |submit, begin, groups| Row { id: id.clone(), queue: number, submit, begin, groups };
        match self.assumptions.shape {
            SparkShape::Executors => held
                .batches()
                .into_iter()
                .map(|batch| {
                    let groups = batch.tasks.into_iter();
                    let groups = groups
                        .map(|((holds, cut), millis)| group(kinds, (0, holds, cut), &millis))
                        .collect::<Result<Vec<_>, _>>()?;
                    let groups = checked(groups.into_iter().flatten().collect())?;
                    Ok(row(batch.submit, batch.begin, groups))
                })
                .filter(|row| !row.as_ref().is_ok_and(|row| row.groups.is_empty()))
                .collect(),
            SparkShape::Tasks => {
                let mut rows = Vec::new();
                for app in attempts {
                    for needed in needed::needed(app, self.assumptions) {
                        let mut groups = Vec::new();
                        for ((place, _), tasks) in &needed.stages {
                            for (cut, millis) in [(false, &tasks.ended), (true, &tasks.cut)] {
                                groups.extend(group(kinds, (*place, tasks.holds, cut), millis)?);
                            }
                        }
                        if !groups.is_empty() {
                            let groups = without_gaps(groups);
                            rows.push(row(needed.submit, needed.begin, checked(groups)?));
                        }
                    }
                }
                Ok(rows)
            }
        }
    }

    /// The queue of an application.
    fn queue_of(&mut self, app: &App, listed: Option<&Listed>) -> String {
        let Some(known) = &app.known else { return String::new() };
        let flat = |tally: &mut Tally, name: &str| {
            tally.dots += u64::from(name.contains('.'));
            name.trim().replace('.', "_")
        };
        match &self.assumptions.queues {
            SparkQueues::Single(name) => name.clone(),
            SparkQueues::User => flat(&mut self.tally, &known.user),
            SparkQueues::Name => flat(&mut self.tally, &known.name),
            SparkQueues::Queue => match app.manager() {
                Manager::Yarn => {
                    let set = || app.settings.get("spark.yarn.queue").unwrap_or("default");
                    let queue = listed.map_or_else(set, |listed| &listed.queue);
                    queue.strip_prefix("root.").unwrap_or(queue).to_owned()
                }
                Manager::Kubernetes => {
                    app.settings.get("spark.kubernetes.namespace").unwrap_or("default").to_owned()
                }
                Manager::Other => flat(&mut self.tally, &known.user),
            },
        }
    }
}

/// A job has so many tasks at most.
fn checked(groups: Vec<JobGroup>) -> Result<Vec<JobGroup>, BadRow> {
    let tasks: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
    match tasks <= u64::from(MAX_TASKS) {
        true => Ok(groups),
        false => Err(BadRow::line(format!("{tasks} tasks; a job has at most {MAX_TASKS}"))),
    }
}

/// Groups, in order of their stages, without the stages that hold nothing here.
fn without_gaps(mut groups: Vec<JobGroup>) -> Vec<JobGroup> {
    let (mut last, mut place) = (None, 0);
    for group in &mut groups {
        if last.is_some_and(|last| last != group.stage) {
            place += 1;
        }
        last = Some(group.stage);
        group.stage = place;
    }
    groups
}

/// Tasks of one stage that hold the same, with their run times; `None` where nothing is counted.
fn group(
    kinds: &SparkKinds,
    (stage, holds, cut): (u16, Holds, bool),
    millis: &[u64],
) -> Result<Option<JobGroup>, BadRow> {
    if [holds.cores, holds.memory, holds.gpus].iter().any(|amount| *amount > MAX_AMOUNT) {
        let Holds { cores, memory, gpus } = holds;
        let what = format!(
            "{memory} bytes, {cores} thousandths of a core and {gpus} of a GPU of one container; \
             the largest amount is {MAX_AMOUNT}"
        );
        return Err(BadRow::line(what));
    }
    let count = u32::try_from(millis.len()).ok().filter(|count| *count <= MAX_TASKS);
    let Some(count) = count else {
        let what = format!("{} tasks of one stage; a job has at most {MAX_TASKS}", millis.len());
        return Err(BadRow::line(what));
    };
    let demand = kinds.demand(holds);
    let Some(first) = millis.first().filter(|_| !demand.is_zero()) else { return Ok(None) };
    if millis.iter().any(|millis| *millis > MAX_MICROS / 1000) {
        return Err(BadRow::line("a task that ran for more than 285 years"));
    }
    let duration = match millis.iter().all(|millis| millis == first) {
        true => Durations::Same(span(first * 1000)),
        false => Durations::Each(millis.iter().map(|millis| span(millis * 1000)).collect()),
    };
    Ok(Some(JobGroup { stage, cut, ..JobGroup::new(count, demand, duration) }))
}

impl JobSource for SparkSource {
    fn queues(&self) -> &[String] {
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(row) = self.file.next() else { return Ok(None) };
        let waited = row.begin.saturating_sub(row.submit).min(MAX_MICROS / 1000);
        self.waited = Some(span(waited * 1000));
        Ok(Some(Job {
            // Checked: at most the largest time.
            submit: Time::from_micros(row.submit * 1000).unwrap_or(Time::MAX),
            label: JobLabel::Name((&*row.id).into()),
            queue: row.queue,
            weight: 1,
            chain: None,
            groups: row.groups,
        }))
    }

    fn waited(&self) -> Option<meed::Span> {
        self.waited
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

    fn used(&self) -> &[Used] {
        &self.used
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
