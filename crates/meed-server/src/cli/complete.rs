//! What a shell is told when somebody presses TAB: the server's own names of jobs and queues.
//!
//! The script of `meed completions` calls `meed`, which hands the question on to this program. It
//! asks the server that a command without `--socket` would. Nothing may go wrong here: without a
//! server, or when it does not answer in time, there is nothing to offer. Names that a shell would
//! take apart are left out; their jobs' numbers are there.

use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::client::{AskError, Client};
use crate::protocol::{JobStanding, JobView, Jobs, JobsQuery, Request};

/// Nobody waits longer for a list.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most jobs that are offered: the newest.
const MOST: usize = 200;

/// This user's jobs that have not ended, by number and by name.
pub(super) fn open_jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| jobs(false).unwrap_or_default())
}

/// This user's jobs, also those that have ended.
pub(super) fn all_jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| jobs(true).unwrap_or_default())
}

/// The open jobs, and the word behind which a pod's name stands.
pub(super) fn jobs_and_pods() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let mut all = jobs(false).unwrap_or_default();
        let about = "and its name, of the Kubernetes cluster".to_owned();
        all.push(offer("pod".to_owned(), about, all.len()));
        all
    })
}

/// Queues that take jobs, as far as one can see.
pub(super) fn queues() -> ArgValueCandidates {
    ArgValueCandidates::new(|| names_of_queues().unwrap_or_default())
}

fn server() -> Result<Client, AskError> {
    let mut client = Client::connect(None)?;
    client.set_patience(PATIENCE);
    Ok(client)
}

fn jobs(ended: bool) -> Result<Vec<CompletionCandidate>, AskError> {
    let query = JobsQuery { ended, limit: Some(MOST), ..JobsQuery::default() };
    let Jobs { jobs, .. } = server()?.ask_for(&Request::Jobs(query))?;
    let numbers = jobs.iter().enumerate().map(|(place, job)| {
        let name = job.name.as_deref().unwrap_or_default();
        offer(job.id.to_string(), format!("{name}, {}", job.state.word()), place)
    });
    // A name means its newest job.
    let mut seen = std::collections::BTreeSet::new();
    let mut named = Vec::new();
    for JobView { id, name, state, .. } in &jobs {
        let Some(name) = name.as_deref().filter(|name| is_word(name)) else { continue };
        if seen.insert(name) {
            named.push(offer(name.to_owned(), of_name(*id, *state), named.len()));
        }
    }
    Ok(named.into_iter().chain(numbers).collect())
}

fn of_name(id: u64, state: JobStanding) -> String {
    format!("job {id}, {}", state.word())
}

fn names_of_queues() -> Result<Vec<CompletionCandidate>, AskError> {
    let answer = server()?.ask(&Request::Queues {})?;
    let queues = answer["queues"].as_array().into_iter().flatten();
    let names = queues.filter_map(|queue| queue["queue"].as_str()).filter(|name| is_word(name));
    let offer = |(place, name): (usize, &str)| offer(name.to_owned(), String::new(), place);
    Ok(names.enumerate().map(offer).collect())
}

fn offer(value: String, about: String, place: usize) -> CompletionCandidate {
    let help = (!about.is_empty()).then(|| meed_config::text::clean(&about).into_owned().into());
    CompletionCandidate::new(value).help(help).display_order(Some(place))
}

/// It is one word for any shell.
fn is_word(name: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.+@%/:,".contains(letter);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}
