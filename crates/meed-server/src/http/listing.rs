//! All jobs at once, as lines of JSON: `GET /v1/jobs` with `Accept: application/x-ndjson`.
//!
//! However many there are, no more than a page of them is in memory: the next is asked for when the
//! reader has taken the one before, so the list is that of no single instant. The last line says
//! `"end": true`; where it is missing the list is not whole. A list counts among the caller's
//! streams ([`super::events`]), and who takes nothing of it is cut off as there.

use std::fmt::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::events::{PARTS, Parts, Place, READER_TIME};
use super::gate::{Caller, Gate};
use super::problem::Problem;
use crate::access::Guest;
use crate::protocol::{JobView, Jobs, JobsQuery, MAX_ROWS, Request, SCHEMA};

/// What a reader who wants lines accepts.
pub(super) const LINES: &str = "application/x-ndjson";

/// A line of the list: a job, or the end.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobLine {
    /// Version of the answers.
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
    /// The list is whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    end: bool,
}

/// All jobs that the query means, from its `below` on.
pub(super) async fn stream(
    gate: Arc<Gate>,
    caller: Caller,
    query: JobsQuery,
) -> Result<Response, Problem> {
    let mut query = JobsQuery { limit: Some(MAX_ROWS), ..query };
    // What is wrong with it is said before the list begins.
    let first: Jobs = gate.ask_for(caller.user, Request::Jobs(query.clone())).await?;
    let place = Place::take(gate, caller.guest.uid)?;
    let (sender, receiver) = mpsc::channel(PARTS);
    let guest = caller.guest;
    tokio::spawn(async move {
        let mut page = Some(first);
        while let Some(Jobs { jobs, more }) = page.take() {
            query.below = more;
            let text = lines(jobs, more.is_none());
            let taken = timeout(READER_TIME, sender.send(text.into())).await;
            if !matches!(taken, Ok(Ok(()))) || more.is_none() {
                return;
            }
            page = next(&place, &guest, &query).await;
        }
    });
    let kind = [(header::CONTENT_TYPE, LINES), (header::CACHE_CONTROL, "no-store")];
    Ok((kind, Body::new(Parts(receiver))).into_response())
}

/// The next page, for who may still have it.
async fn next(place: &Place, guest: &Guest, query: &JobsQuery) -> Option<Jobs> {
    let gate = place.gate();
    if !gate.doors.still_knows(guest) {
        return None;
    }
    // What a user may is looked up anew.
    let asked = guest.clone();
    let user = tokio::task::spawn_blocking(move || asked.user()).await.ok()?;
    gate.ask_for(user, Request::Jobs(query.clone())).await.ok()
}

fn lines(jobs: Vec<JobView>, is_last: bool) -> String {
    let mut text = String::new();
    let jobs = jobs.into_iter().map(|job| JobLine { schema: SCHEMA, job: Some(job), end: false });
    let last = is_last.then_some(JobLine { schema: SCHEMA, job: None, end: true });
    for line in jobs.chain(last) {
        let line = serde_json::to_string(&line).expect("memory takes all, and keys are text");
        let _ = writeln!(text, "{line}");
    }
    text
}
