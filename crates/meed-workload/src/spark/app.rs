//! An application from its events, which are not in order of time.
//!
//! Executors are told by their ids. One that was not removed lives until its application ends.
//! Tasks are told by stage and partition, and their attempts by the ids of tasks; one that began
//! and has no end ran until its application ended.

use std::collections::{BTreeMap, BTreeSet};

use meed::MAX_MICROS;

use super::event::{Event, StageInfo, TaskEvent};
use super::sizes::{Manager, Settings, Sizes};
use crate::error::BadRow;

/// The executor of a local run.
const DRIVER: &str = "driver";

/// What a log tells of an application. Times are milliseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct App {
    /// `None` where its log does not tell: it began elsewhere.
    pub(super) known: Option<Known>,
    pub(super) end: Option<u64>,
    /// The last time that anything tells.
    pub(super) last: u64,
    pub(super) settings: Settings,
    pub(super) profiles: BTreeMap<i64, Sizes>,
    pub(super) executors: BTreeMap<Box<str>, Executor>,
    /// When YARN's master registered.
    pub(super) master: Option<u64>,
    pub(super) jobs: Vec<SparkJob>,
    pub(super) stages: BTreeMap<u64, Stage>,
    pub(super) runs: Vec<Run>,
    /// Tasks that have begun and not ended, by their ids.
    pub(super) running: BTreeMap<u64, Run>,
}

/// Who it is.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) id: String,
    pub(super) attempt: Option<String>,
    pub(super) name: String,
    pub(super) user: String,
    /// When its driver began.
    pub(super) start: u64,
}

#[derive(Debug)]
pub(super) struct Executor {
    /// Thousandths.
    pub(super) cores: u64,
    pub(super) gpus: u64,
    pub(super) profile: i64,
    pub(super) asked: Option<u64>,
    pub(super) added: u64,
    pub(super) removed: Option<u64>,
    /// It is the driver of a local run.
    pub(super) is_driver: bool,
}

/// A job of Spark: what an action of the driver started.
#[derive(Debug)]
pub(super) struct SparkJob {
    pub(super) submit: u64,
    pub(super) stages: BTreeSet<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Stage {
    pub(super) parents: Vec<u64>,
    pub(super) profile: i64,
    /// When each attempt was submitted.
    pub(super) submitted: BTreeMap<u64, u64>,
    /// When each attempt ended.
    completed: BTreeMap<u64, u64>,
}

/// An attempt of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) stage: u64,
    pub(super) attempt: u64,
    /// Which task of the stage.
    pub(super) part: u64,
    pub(super) launched: u64,
    pub(super) millis: u64,
    pub(super) is_good: bool,
}

fn time(field: &str, ms: i64) -> Result<u64, BadRow> {
    match u64::try_from(ms) {
        Ok(ms) if (1..=MAX_MICROS / 1000).contains(&ms) => Ok(ms),
        _ => {
            let what = format!("{ms}; wanted are milliseconds since 1970");
            Err(BadRow::field(field.to_owned(), what))
        }
    }
}

impl App {
    /// Whether anything is told of it.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_none() && self.last == 0 && self.end.is_none()
    }

    pub(super) fn manager(&self) -> Manager {
        self.settings.manager(self.known.as_ref().map_or("", |known| &known.id))
    }

    /// Until when what has no end of its own lasts.
    pub(super) fn ends(&self) -> u64 {
        self.end.unwrap_or(self.last)
    }

    fn sees(&mut self, ms: u64) -> u64 {
        self.last = self.last.max(ms);
        ms
    }

    /// Takes in an event.
    pub(super) fn take(&mut self, event: Event) -> Result<(), BadRow> {
        match event {
            Event::Begin => {}
            Event::Application(told) => {
                let start = time("Timestamp", told.time)?;
                self.sees(start);
                self.known.get_or_insert(Known {
                    // Local runs of old versions have none.
                    id: told.id.unwrap_or_else(|| told.name.clone()),
                    attempt: told.attempt,
                    name: told.name,
                    user: told.user,
                    start,
                });
            }
            Event::End(told) => {
                let end = time("Timestamp", told.time)?;
                self.end = Some(self.sees(end));
            }
            Event::Settings(told) => self.settings = Settings::of(told.spark),
            Event::Profile(told) => {
                self.profiles.insert(told.id, Sizes::of(&told));
            }
            Event::Executor(told) => {
                let added = time("Timestamp", told.time)?;
                self.sees(added);
                let asked = told.info.asked.map(|ms| time("Request Time", ms)).transpose()?;
                let cores = u64::try_from(told.info.cores).unwrap_or(0).min(1 << 32) * 1000;
                let gpus = told.info.resources.get("gpu");
                let gpus = gpus.map_or(0, |gpus| gpus.addresses.len() as u64 * 1000);
                let is_driver = told.id == DRIVER;
                // What is told again is there already.
                self.executors.entry(told.id.into()).or_insert(Executor {
                    cores,
                    gpus,
                    profile: told.info.profile,
                    asked: asked.map(|asked| asked.min(added)),
                    added,
                    removed: None,
                    is_driver,
                });
            }
            Event::Removed(told) => {
                let removed = time("Timestamp", told.time)?;
                self.sees(removed);
                if let Some(executor) = self.executors.get_mut(&*told.id) {
                    executor.removed.get_or_insert(removed.max(executor.added));
                }
            }
            Event::Process(told) => {
                let at = time("time", told.time)?;
                self.sees(at);
                if told.id.ends_with("-am") {
                    self.master.get_or_insert(at);
                }
            }
            Event::Job(told) => {
                let submit = time("Submission Time", told.time)?;
                self.sees(submit);
                self.jobs.push(SparkJob { submit, stages: told.stages.into_iter().collect() });
            }
            Event::Stage(told) => self.stage(told)?,
            Event::TaskStart(told) => {
                let run = self.run(&told, None)?;
                self.running.insert(told.info.id, run);
            }
            Event::TaskEnd(told) => {
                let finished = time("Finish Time", told.info.finished)?;
                let run = self.run(&told, Some(finished))?;
                self.running.remove(&told.info.id);
                self.runs.push(run);
            }
        }
        Ok(())
    }

    fn stage(&mut self, told: StageInfo) -> Result<(), BadRow> {
        let [submitted, completed] =
            [("Submission Time", told.submitted), ("Completion Time", told.completed)]
                .map(|(field, ms)| ms.map(|ms| time(field, ms)).transpose());
        let (submitted, completed) = (submitted?, completed?);
        submitted.into_iter().chain(completed).for_each(|ms| {
            self.sees(ms);
        });
        let stage = self.stages.entry(told.id).or_default();
        // A parent comes before, and has a smaller number.
        stage.parents = told.parents.into_iter().filter(|parent| *parent < told.id).collect();
        stage.profile = told.profile;
        if let Some(submitted) = submitted {
            stage.submitted.entry(told.attempt).or_insert(submitted);
        }
        if let Some(completed) = completed {
            stage.completed.insert(told.attempt, completed);
        }
        Ok(())
    }

    fn run(&mut self, told: &TaskEvent, finished: Option<u64>) -> Result<Run, BadRow> {
        let launched = time("Launch Time", told.info.launched)?;
        self.sees(launched);
        let millis = match finished {
            Some(finished) if finished < launched => {
                let what = format!("{finished}, before its launch at {launched}");
                return Err(BadRow::field("Finish Time".to_owned(), what));
            }
            Some(finished) => self.sees(finished) - launched,
            None => 0,
        };
        let part = told.info.partition.and_then(|part| u64::try_from(part).ok());
        Ok(Run {
            stage: told.stage,
            attempt: told.attempt,
            part: part.unwrap_or(told.info.index),
            launched,
            millis,
            is_good: finished.is_some() && !told.info.failed && !told.info.killed,
        })
    }

    /// All attempts of tasks, and whether they ran on when the log ended. Spark may drop events: of
    /// an application that has ended what has no end lasts as long as its stage.
    pub(super) fn all_runs(&self) -> impl Iterator<Item = (Run, bool)> {
        let cut = self.end.is_none();
        let running = self.running.values().map(move |run| {
            let stage = self.stages.get(&run.stage);
            let completed = stage.and_then(|stage| stage.completed.get(&run.attempt));
            let end = completed.copied().unwrap_or_else(|| self.ends());
            (Run { millis: end.saturating_sub(run.launched), ..*run }, cut)
        });
        self.runs.iter().map(|run| (*run, false)).chain(running)
    }

    /// When each executor was asked for, by its id: as the log tells, else when one that had been
    /// removed was to be replaced. What is not here was asked for with the application.
    pub(super) fn asked(&self) -> BTreeMap<&str, u64> {
        let mut by_time: Vec<_> = self.executors.iter().collect();
        by_time.sort_by_key(|(_, executor)| executor.added);
        let untold = || by_time.iter().filter(|(_, executor)| executor.asked.is_none());
        let mut removed: Vec<u64> = untold().filter_map(|(_, one)| one.removed).collect();
        removed.sort_unstable();
        let mut removed = removed.into_iter().peekable();
        let mut asked = BTreeMap::new();
        for (id, executor) in &by_time {
            let replaces = || removed.next_if(|removed| *removed <= executor.added);
            if let Some(at) = executor.asked.or_else(replaces) {
                asked.insert(&***id, at);
            }
        }
        asked
    }
}
