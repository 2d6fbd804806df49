//! What `squeue`, `sacct` and `scontrol show node` print with `--json`.
//!
//! The forms differ by the version of Slurm's `data_parser` ([`super::form`]); all of each are
//! read, wherever they stand:
//!
//! | | v0.0.38 (22.05) | v0.0.39 (23.02) | v0.0.40 to v0.0.45 (23.11 to 26.05) |
//! |---|---|---|---|
//! | a state | a word | a word | a list: the state, and flags behind it |
//! | an instant of `squeue` | a number | a number | `{set, infinite, number}` |
//! | a number of an array, of a component | a number, or null | `{set, infinite, number}` | the same |
//! | an instant of `sacct` | a number, 0 for none | the same | the same |
//! | a run that was put back, in `sacct` | `REQUEUED` | the same | `PENDING`, `REQUEUED` |

use std::collections::BTreeMap;

use meed::Resources;
use serde::Deserialize;

use super::jobs::{JobStage, SlurmJob, Suspension, elements, stage_of};
use super::nodes::{SlurmNode, is_away};
use super::runs::SlurmRun;
use crate::tres::parse_tres;

/// A number, where it is set.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(i64),
    Told { set: bool, number: i64 },
}

impl Number {
    fn get(&self) -> Option<i64> {
        match *self {
            Number::Plain(number) => Some(number),
            Number::Told { set, number } => set.then_some(number),
        }
    }
}

/// A word, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Words {
    fn as_slice(&self) -> &[String] {
        match self {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        }
    }
}

/// An instant, a number of an array: 0 where there is none, or Slurm's own number for none, which
/// stands bare as the start of what was cancelled before (24.11.5, 26.05.5).
fn some(number: Option<&Number>) -> Option<i64> {
    number.and_then(Number::get).filter(|number| (1..0xffff_fffe).contains(number))
}

#[derive(Deserialize)]
struct Queue {
    jobs: Vec<QueueJob>,
}

#[derive(Deserialize)]
struct QueueJob {
    job_id: u32,
    array_job_id: Option<Number>,
    array_task_id: Option<Number>,
    array_task_string: Option<String>,
    het_job_id: Option<Number>,
    het_job_offset: Option<Number>,
    account: Option<String>,
    user_name: Option<String>,
    job_state: Words,
    submit_time: Option<Number>,
    start_time: Option<Number>,
    end_time: Option<Number>,
    suspend_time: Option<Number>,
    pre_sus_time: Option<Number>,
    state_reason: Option<String>,
    state_description: Option<String>,
    tres_alloc_str: Option<String>,
    tres_req_str: Option<String>,
}

/// Jobs, and the suspensions of those that were suspended.
pub(crate) type JobsRead = (Vec<SlurmJob>, BTreeMap<u32, Suspension>);

/// Reads `squeue --json`, which was asked for in the second `at`.
///
/// # Errors
///
/// The first thing that is not of the form, in a sentence.
pub(crate) fn parse_jobs_json(text: &str, at: i64) -> Result<JobsRead, String> {
    let queue: Queue = parsed(text, "squeue")?;
    let (mut jobs, mut suspensions) = (Vec::with_capacity(queue.jobs.len()), BTreeMap::new());
    for told in queue.jobs {
        let suspension = some(told.suspend_time.as_ref()).map(|at| {
            let ran_before = told.pre_sus_time.as_ref().and_then(Number::get).unwrap_or(0);
            Suspension { at, ran_before }
        });
        let job = job(&told, suspension, at)?;
        suspensions.extend(suspension.map(|suspension| (job.id, suspension)));
        jobs.push(job);
    }
    Ok((jobs, suspensions))
}

fn job(told: &QueueJob, suspension: Option<Suspension>, at: i64) -> Result<SlurmJob, String> {
    let name = match (some(told.array_job_id.as_ref()), &told.array_task_string) {
        (Some(array), Some(rest)) if !rest.is_empty() => format!("{array}_[{rest}]"),
        _ => named(
            told.job_id,
            (some(told.array_job_id.as_ref()), told.array_task_id.as_ref()),
            (some(told.het_job_id.as_ref()), told.het_job_offset.as_ref()),
        ),
    };
    let wrong = |why: String| format!("job {name} of squeue: {why}");
    let stage = stage(&told.job_state).map_err(wrong)?;
    let (start, end) = (some(told.start_time.as_ref()), some(told.end_time.as_ref()));
    // As squeue counts it: without what it was suspended.
    let before = suspension.map_or(0, |suspension| suspension.ran_before);
    let since = suspension.map_or(start.unwrap_or(at), |suspension| suspension.at);
    let used = match stage {
        JobStage::Pending => 0,
        JobStage::Suspended => before,
        JobStage::Running => before + at - since,
        JobStage::Ended => before + end.unwrap_or(since) - since,
    };
    let described = told.state_description.as_ref().filter(|words| !words.is_empty());
    let held = told.tres_alloc_str.as_ref().filter(|tres| !tres.is_empty());
    let tres = held.or(told.tres_req_str.as_ref()).map_or("", String::as_str);
    Ok(SlurmJob {
        id: told.job_id,
        account: told.account.clone().unwrap_or_default(),
        user: told.user_name.clone().unwrap_or_default(),
        stage,
        tasks: elements(&name).map_err(wrong)?,
        submit: some(told.submit_time.as_ref()).unwrap_or(0),
        start,
        end,
        used: used.max(0),
        reason: described.or(told.state_reason.as_ref()).cloned().unwrap_or_default(),
        tres: parse_tres(tres).map_err(wrong)?,
        name,
    })
}

/// A list holds flags too: what has ended and is being tidied up holds nothing for accounting.
fn stage(words: &Words) -> Result<JobStage, String> {
    let stages: Result<Vec<JobStage>, String> =
        words.as_slice().iter().map(|word| stage_of(word)).collect();
    let stages = stages?;
    let ended = stages.iter().find(|stage| **stage == JobStage::Ended);
    ended.or(stages.first()).copied().ok_or_else(|| "it has no state".to_owned())
}

/// A job as people write it.
fn named(
    id: u32,
    (array, task): (Option<i64>, Option<&Number>),
    (leader, offset): (Option<i64>, Option<&Number>),
) -> String {
    match (array.zip(task.and_then(Number::get)), leader.zip(offset.and_then(Number::get))) {
        (Some((array, task)), _) => format!("{array}_{task}"),
        (None, Some((leader, offset))) => format!("{leader}+{offset}"),
        (None, None) => id.to_string(),
    }
}

#[derive(Deserialize)]
struct Accounted {
    jobs: Vec<AccountedJob>,
}

#[derive(Deserialize)]
struct AccountedJob {
    job_id: u32,
    account: Option<String>,
    user: Option<String>,
    array: Option<AccountedArray>,
    het: Option<AccountedHet>,
    state: AccountedState,
    time: AccountedTime,
    tres: AccountedTres,
}

#[derive(Deserialize)]
struct AccountedArray {
    job_id: Option<Number>,
    task_id: Option<Number>,
}

#[derive(Deserialize)]
struct AccountedHet {
    job_id: Option<Number>,
    job_offset: Option<Number>,
}

#[derive(Deserialize)]
struct AccountedState {
    current: Words,
}

#[derive(Deserialize)]
struct AccountedTime {
    start: Option<Number>,
    end: Option<Number>,
    elapsed: i64,
}

#[derive(Deserialize)]
struct AccountedTres {
    #[serde(default)]
    allocated: Vec<TresRow>,
}

#[derive(Deserialize)]
struct TresRow {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    count: Option<i64>,
}

/// Reads `sacct --json`. Rows that held nothing are left out, as of the text.
///
/// # Errors
///
/// The first thing that is not of the form, in a sentence.
pub(crate) fn parse_runs_json(text: &str) -> Result<Vec<SlurmRun>, String> {
    let accounted: Accounted = parsed(text, "sacct")?;
    accounted.jobs.iter().filter_map(|told| run(told).transpose()).collect()
}

fn run(told: &AccountedJob) -> Result<Option<SlurmRun>, String> {
    let states = told.state.current.as_slice();
    // A run that was put back has a flag, too: PENDING, REQUEUED.
    let waits = states == ["PENDING"];
    let Some(start) = some(told.time.start.as_ref()) else { return Ok(None) };
    if waits || told.tres.allocated.is_empty() {
        return Ok(None);
    }
    let array = told.array.as_ref().map(|array| (array.job_id.as_ref(), array.task_id.as_ref()));
    let (array, task) = array.unwrap_or_default();
    let het = told.het.as_ref().map(|het| (het.job_id.as_ref(), het.job_offset.as_ref()));
    let (leader, offset) = het.unwrap_or_default();
    let name = named(told.job_id, (some(array), task), (some(leader), offset));
    Ok(Some(SlurmRun {
        id: told.job_id,
        account: told.account.clone().unwrap_or_default(),
        user: told.user.clone().unwrap_or_default(),
        start,
        end: some(told.time.end.as_ref()),
        elapsed: told.time.elapsed,
        tres: allocated(&told.tres.allocated)
            .map_err(|why| format!("job {name} of sacct: {why}"))?,
        is_resized: states.iter().any(|state| state.starts_with("RESIZ")),
        before: Vec::new(),
        name,
    }))
}

/// Counts are whole; memory is in mebibytes.
fn allocated(rows: &[TresRow]) -> Result<Resources, String> {
    let words = rows.iter().filter_map(|row| {
        let count = row.count.filter(|count| *count >= 0)?;
        Some(match row.name.as_deref().unwrap_or_default() {
            "" => format!("{}={count}", row.kind),
            name => format!("{}/{name}={count}", row.kind),
        })
    });
    parse_tres(&words.collect::<Vec<_>>().join(","))
}

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<NodeTold>,
}

#[derive(Deserialize)]
struct NodeTold {
    name: String,
    state: Words,
    tres: Option<String>,
}

/// Reads `scontrol show nodes --json`.
///
/// # Errors
///
/// The first thing that is not of the form, in a sentence.
pub(crate) fn parse_nodes_json(text: &str) -> Result<Vec<SlurmNode>, String> {
    let nodes: Nodes = parsed(text, "scontrol show nodes")?;
    let node = |told: NodeTold| {
        let capacity = parse_tres(told.tres.as_deref().unwrap_or_default());
        let capacity = capacity.map_err(|why| format!("node {}: {why}", told.name))?;
        let is_up = !told.state.as_slice().iter().any(|flag| is_away(flag));
        Ok(SlurmNode { name: told.name, capacity, is_up })
    };
    nodes.nodes.into_iter().map(node).collect()
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str, command: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|why| {
        format!(
            "{command} --json printed what is not of its version's form: {why}; --read text \
                 reads its columns instead"
        )
    })
}

#[cfg(test)]
mod tests;
