//! A job from its events.
//!
//! A task's attempts are told by their ids, `attempt_1700000000000_0001_m_000002_1`: kind, task,
//! attempt. An attempt ran from its start to its end; one that has not ended when its job has was
//! stopped with it. What never started did not run.

use std::collections::BTreeMap;

use meed::MAX_MICROS;

use super::assumptions::{HistoryAssumptions, HistoryEpisode, HistoryReduces};
use super::event::{Event, Kind};
use crate::MAX_TASKS;
use crate::error::BadRow;
use crate::fields::check_length;

/// Bytes of a mebibyte.
const MIB: u128 = 1 << 20;

/// Tasks of one kind.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// How long each ran, in milliseconds; in order of their numbers.
    pub(super) millis: Vec<u64>,
    /// Thousandths of a vcore and bytes of each, where the history tells them.
    pub(super) each: Option<[u64; 2]>,
}

/// What a history tells of a job that has ended.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) id: String,
    pub(super) user: String,
    pub(super) queue: String,
    /// Since 1970.
    pub(super) submit_ms: u64,
    pub(super) maps: Tasks,
    pub(super) reduces: Tasks,
    /// Time that reduces held their containers while maps ran, and that is not counted.
    pub(super) early_ms: u64,
}

/// When an attempt ran.
#[derive(Clone, Copy)]
struct Attempt {
    start: u64,
    end: Option<u64>,
    is_good: bool,
}

/// Reduce or map, task, attempt.
type Id = (bool, u32, u32);

/// See the module.
#[derive(Default)]
pub(super) struct Fold {
    id: String,
    user: String,
    queue: String,
    submit: Option<u64>,
    end: Option<u64>,
    attempts: BTreeMap<Id, Attempt>,
    sums: [[u64; 3]; 2],
}

fn time(field: &str, ms: Option<i64>) -> Result<u64, BadRow> {
    match ms.and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms <= MAX_MICROS / 1000) {
        Some(ms) => Ok(ms),
        None => {
            let what = ms.map_or("it is not there".to_owned(), |ms| ms.to_string());
            let what = format!("{what}; wanted are milliseconds since 1970");
            Err(BadRow::field(field.to_owned(), what))
        }
    }
}

/// `None`: an attempt of a task that is neither a map nor a reduce.
fn id(text: Option<&str>) -> Result<Option<Id>, BadRow> {
    let text = text.unwrap_or_default();
    let mut parts = text.rsplit('_');
    let (attempt, task, kind) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    match (kind, number(task), number(attempt)) {
        (Some("m"), Some(task), Some(attempt)) => Ok(Some((false, task, attempt))),
        (Some("r"), Some(task), Some(attempt)) => Ok(Some((true, task, attempt))),
        (Some(_), Some(_), Some(_)) => Ok(None),
        _ => {
            let what = meed_config::words::quote(text.as_bytes());
            let what = format!("{what}; wanted is one as attempt_1700000000000_0001_m_000002_0");
            Err(BadRow::field("attemptId".to_owned(), what))
        }
    }
}

impl Fold {
    /// Takes in what an event tells.
    pub(super) fn take(&mut self, event: &Event) -> Result<(), BadRow> {
        match event.kind {
            Kind::Other => {}
            Kind::Job => {
                let texts = [
                    (&mut self.id, &event.jobid),
                    (&mut self.user, &event.user_name),
                    (&mut self.queue, &event.job_queue_name),
                ];
                for (place, text) in texts {
                    if let Some(text) = text {
                        place.clone_from(text);
                    }
                }
                if self.submit.is_none() && event.submit_time.is_some() {
                    self.submit = Some(time("submitTime", event.submit_time)?);
                }
            }
            Kind::Ended => {
                self.end = Some(time("finishTime", event.finish_time)?);
                self.sums = event.sums();
            }
            Kind::Started => {
                if let Some(id) = id(event.attempt_id.as_deref())? {
                    let start = time("startTime", event.start_time)?;
                    let attempt = Attempt { start, end: None, is_good: false };
                    // One that is told again (a later master) keeps its first start.
                    self.attempts.entry(id).or_insert(attempt);
                }
            }
            Kind::Finished | Kind::Failed => {
                let Some(id) = id(event.attempt_id.as_deref())? else { return Ok(()) };
                let Some(attempt) = self.attempts.get_mut(&id) else { return Ok(()) };
                attempt.is_good = event.kind == Kind::Finished;
                // The output of a map that ended well may be lost with its node later.
                if attempt.end.is_none() {
                    attempt.end = Some(time("finishTime", event.finish_time)?);
                }
            }
        }
        Ok(())
    }

    /// The job; `None` where it has not ended.
    pub(super) fn told(self, assumptions: &HistoryAssumptions) -> Result<Option<Told>, BadRow> {
        let Some(end) = self.end else { return Ok(None) };
        for (field, name) in
            [("jobid", &self.id), ("userName", &self.user), ("jobQueueName", &self.queue)]
        {
            check_length(name).map_err(|why| BadRow::field(field.to_owned(), why))?;
        }
        let submit_ms = time("submitTime", self.submit.and_then(|ms| i64::try_from(ms).ok()))?;
        let runs = Runs { end, episode: assumptions.episode, attempts: &self.attempts };
        let maps = runs.tasks(false, 0)?;
        let from = match assumptions.reduces {
            HistoryReduces::AfterMaps => runs.maps_end(),
            HistoryReduces::WithMaps => 0,
        };
        // Each is a time that can be told; so many of them need not add up to one.
        let total = |millis: &[u64]| millis.iter().map(|millis| u128::from(*millis)).sum::<u128>();
        let held = total(&runs.tasks(true, 0)?);
        let mut reduces = runs.tasks(true, from)?;
        let early_ms = u64::try_from(held.saturating_sub(total(&reduces))).unwrap_or(u64::MAX);
        if from > 0 {
            // Stopped before the maps had ended: it has done nothing that counts.
            reduces.retain(|millis| *millis > 0);
        }
        for (field, tasks) in [("maps", &maps), ("reduces", &reduces)] {
            if tasks.len() > MAX_TASKS as usize / 2 {
                let what = format!("{}; a job has at most {MAX_TASKS} tasks", tasks.len());
                return Err(BadRow::field(field.to_owned(), what));
            }
        }
        let [of_maps, of_reduces] = self.sums.map(each);
        Ok(Some(Told {
            submit_ms,
            maps: Tasks { millis: maps, each: of_maps },
            reduces: Tasks { millis: reduces, each: of_reduces },
            early_ms,
            queue: self.queue.strip_prefix("root.").unwrap_or(&self.queue).to_owned(),
            user: self.user,
            id: self.id,
        }))
    }
}

/// What each task held, from a job's sums: all tasks of a kind hold the same.
fn each([millis, mib, vcores]: [u64; 3]) -> Option<[u64; 2]> {
    if millis == 0 || (mib, vcores) == (0, 0) {
        return None;
    }
    let over = |sum: u128| {
        let (sum, parts) = (sum, u128::from(millis));
        u64::try_from((sum + parts / 2) / parts).unwrap_or(u64::MAX)
    };
    Some([over(u128::from(vcores) * 1000), over(u128::from(mib) * MIB)])
}

struct Runs<'a> {
    /// When the job ended.
    end: u64,
    episode: HistoryEpisode,
    attempts: &'a BTreeMap<Id, Attempt>,
}

impl Runs<'_> {
    fn end_of(&self, attempt: &Attempt) -> u64 {
        attempt.end.unwrap_or(self.end).max(attempt.start)
    }

    /// When the last map ended.
    fn maps_end(&self) -> u64 {
        let maps = self.attempts.iter().filter(|((is_reduce, ..), _)| !is_reduce);
        maps.map(|(_, attempt)| self.end_of(attempt)).max().unwrap_or(0)
    }

    /// How long each task ran since `from`.
    fn tasks(&self, reduces: bool, from: u64) -> Result<Vec<u64>, BadRow> {
        let mut millis: Vec<u64> = Vec::new();
        let mut last = None;
        for ((is_reduce, task, _), attempt) in self.attempts {
            let counts = self.episode == HistoryEpisode::Total || attempt.is_good;
            if *is_reduce != reduces || !counts {
                continue;
            }
            if attempt.end.is_some_and(|end| end < attempt.start) {
                let what = format!(
                    "{} of an attempt that started at {}; wanted is a time after its start",
                    attempt.end.unwrap_or_default(),
                    attempt.start
                );
                return Err(BadRow::field("finishTime".to_owned(), what));
            }
            let ran = self.end_of(attempt).saturating_sub(attempt.start.max(from));
            match millis.last_mut().filter(|_| last == Some(*task)) {
                Some(sum) if self.episode == HistoryEpisode::Total => {
                    *sum = sum.saturating_add(ran)
                }
                // Of two that ended well the later one counts.
                Some(only) => *only = ran,
                None => millis.push(ran),
            }
            last = Some(*task);
        }
        match millis.iter().any(|millis| *millis > MAX_MICROS / 1000) {
            true => Err(BadRow::line("a task that ran for more than 285 years")),
            false => Ok(millis),
        }
    }
}
