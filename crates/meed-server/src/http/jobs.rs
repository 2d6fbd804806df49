//! Jobs: list, submit, show, cancel, hold, release, why, output.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::gate::{Caller, Gate};
use super::listing::{JobLine, LINES, stream};
use super::log::{LogRange, read_log};
use super::problem::{Problem, Versioned, answer};
use super::read::{Asked, Named, json};
use crate::protocol::{
    JobQuery, JobStanding, JobView, Jobs, JobsQuery, LogPlace, LogQuery, MAX_REQUEST, Request,
    Shown, Submitted,
};
use crate::spec::Submission;
use crate::world::WhyShown;

/// Which jobs are listed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only those that stand so. Without it, those that have not ended.
    state: Option<JobStanding>,
    /// Only of this queue.
    queue: Option<String>,
    /// Only of this user.
    user: Option<String>,
    /// Only the caller's.
    #[serde(default)]
    mine: bool,
    /// Also those that have ended.
    #[serde(default)]
    ended: bool,
    /// At most so many; 1 to 1000, and 100 unless given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<u64>,
}

/// A page of jobs, the newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobPage {
    jobs: Vec<JobView>,
    /// `cursor` of the next page; `null`: this is the last. A page may be empty and not the last.
    next: Option<u64>,
}

/// Lists jobs, the newest first: a page, or with `Accept: application/x-ndjson` all of them, a line
/// each.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", params(ListQuery),
    responses((status = 200, content((Versioned<JobPage> = "application/json"),
            (JobLine = "application/x-ndjson"))),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn list(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    headers: HeaderMap,
    Asked(query): Asked<ListQuery>,
) -> Result<Response, Problem> {
    if query.limit.is_some_and(|limit| limit == 0 || limit > 1000) {
        return Err(Problem::malformed("limit is 1 to 1000"));
    }
    if query.cursor.is_some_and(|cursor| i64::try_from(cursor).is_err()) {
        return Err(Problem::malformed("cursor is `next` of the page before"));
    }
    let query = JobsQuery {
        all: !query.mine,
        ended: query.ended || query.state.is_some_and(JobStanding::is_over),
        queue: query.queue,
        user: query.user,
        state: query.state,
        below: query.cursor,
        limit: Some(query.limit.unwrap_or(100)),
    };
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains(LINES)) {
        return stream(gate, caller, query).await;
    }
    let page: Jobs = gate.ask_for(caller.user, Request::Jobs(query)).await?;
    let page = JobPage { jobs: page.jobs, next: page.more };
    Ok(answer(StatusCode::OK, super::value(page)))
}

/// Hands in a job. Environment, folder, umask and limits are what the body says: nothing of the
/// caller's is known here.
#[utoipa::path(post, path = "/v1/jobs", tag = "jobs", request_body = Submission,
    responses((status = 201, body = Versioned<Submitted>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn submit(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let spec: Submission = json(&headers, body, MAX_REQUEST).await?;
    let taken: Submitted = gate.ask_for(caller.user, Request::Submit(spec)).await?;
    let place = format!("/v1/jobs/{}", taken.job);
    let mut response = answer(StatusCode::CREATED, super::value(taken));
    if let Ok(place) = place.parse() {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

/// From which task on.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FromQuery {
    /// Tasks are shown from this number on: `more` of the page before.
    #[serde(default)]
    #[param(value_type = u64)]
    from: u32,
}

/// All about a job and its tasks.
#[utoipa::path(get, path = "/v1/jobs/{job}", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1"), FromQuery),
    responses((status = 200, body = Versioned<Shown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Named(job): Named<String>,
    Asked(query): Asked<FromQuery>,
) -> Result<Response, Problem> {
    let query = JobQuery { job, from: query.from };
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::Show(query)).await?))
}

/// Why a job waits.
#[utoipa::path(get, path = "/v1/jobs/{job}/why", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1")),
    responses((status = 200, body = Versioned<WhyShown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn why(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Named(job): Named<String>,
) -> Result<Response, Problem> {
    let query = JobQuery { job, from: 0 };
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::Why(query)).await?))
}

/// A job is wanted no more.
#[utoipa::path(post, path = "/v1/jobs/{job}/cancel", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1")),
    responses((status = 200, body = Versioned<JobView>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn cancel(
    gate: State<Arc<Gate>>,
    caller: Caller,
    job: Named<String>,
) -> Result<Response, Problem> {
    change(gate, caller, job, Request::Cancel).await
}

/// No task of a job is to start.
#[utoipa::path(post, path = "/v1/jobs/{job}/hold", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1")),
    responses((status = 200, body = Versioned<JobView>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn hold(
    gate: State<Arc<Gate>>,
    caller: Caller,
    job: Named<String>,
) -> Result<Response, Problem> {
    change(gate, caller, job, Request::Hold).await
}

/// A held job goes on.
#[utoipa::path(post, path = "/v1/jobs/{job}/release", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1")),
    responses((status = 200, body = Versioned<JobView>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn release(
    gate: State<Arc<Gate>>,
    caller: Caller,
    job: Named<String>,
) -> Result<Response, Problem> {
    change(gate, caller, job, Request::Release).await
}

async fn change(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Named(job): Named<String>,
    request: fn(JobQuery) -> Request,
) -> Result<Response, Problem> {
    let request = request(JobQuery { job, from: 0 });
    Ok(answer(StatusCode::OK, gate.ask(caller.user, request).await?))
}

/// What a task has written: at most 1 MiB of it at once. `Meed-Log-Size` is its length so far,
/// `Meed-Log-Offset` where this part begins, `Meed-Log-Running` whether more may come.
#[utoipa::path(get, path = "/v1/jobs/{job}/tasks/{index}/log", tag = "jobs",
    params(("job" = String, Path, description = "number, or name", example = "1"),
        ("index" = u64, Path, description = "index of the task", example = 0), LogRange),
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn log(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Named((job, task)): Named<(String, u64)>,
    Asked(range): Asked<LogRange>,
) -> Result<Response, Problem> {
    let query = LogQuery { job, task };
    let place: LogPlace = gate.ask_for(caller.user, Request::Log(query)).await?;
    let state = gate.state.clone();
    let read = tokio::task::spawn_blocking(move || read_log(&state, &place, range)).await;
    let part = read.map_err(|_| Problem::busy("the output cannot be read"))??;
    let number = |number: u64| number.to_string();
    let headers = [
        ("content-type", "text/plain; charset=utf-8".to_owned()),
        ("cache-control", "no-store".to_owned()),
        ("meed-log-size", number(part.size)),
        ("meed-log-offset", number(part.offset)),
        ("meed-log-running", part.running.to_string()),
    ];
    Ok((headers, part.bytes).into_response())
}
