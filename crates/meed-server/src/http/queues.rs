//! Queues, the machine, who held what, who asks; and whether the server is well.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::gate::{Caller, Gate};
use super::problem::{Problem, Versioned, answer};
use super::read::{Asked, Named};
use crate::protocol::{HistoryQuery, HoldingHistory, Request};
use crate::user::LocalUser;
use crate::world::{ClusterShown, MeShown, QueueShown, QueuesShown};

/// How all queues stand: entitled, held, used, balance, and who is served next.
#[utoipa::path(get, path = "/v1/queues", tag = "queues",
    responses((status = 200, body = Versioned<QueuesShown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn list(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
) -> Result<Response, Problem> {
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::Queues {}).await?))
}

/// How one queue stands.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues",
    params(("queue" = String, Path, description = "full name")),
    responses((status = 200, body = Versioned<QueueShown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    let all = gate.ask(caller.user, Request::Queues {}).await?;
    let mut queues = all["queues"].as_array().into_iter().flatten();
    match queues.find(|queue| queue["queue"] == name.as_str()) {
        Some(queue) => Ok(answer(StatusCode::OK, queue.clone())),
        None => Err(Problem::unknown("there is no such leaf queue")),
    }
}

/// The machine: what it has, and what is free.
#[utoipa::path(get, path = "/v1/cluster", tag = "cluster",
    responses((status = 200, body = Versioned<ClusterShown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn cluster(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
) -> Result<Response, Problem> {
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::Cluster {}).await?))
}

/// Of which time.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpanName {
    Day,
    Month,
}

/// Of which time.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpanQuery {
    /// The last day in minutes, or the last month in half hours.
    #[param(inline)]
    span: Option<SpanName>,
}

/// Who held what over the last day or month. A tenant sees own queues, and all others as one.
#[utoipa::path(get, path = "/v1/history", tag = "cluster", params(SpanQuery),
    responses((status = 200, body = Versioned<HoldingHistory>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn history(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Asked(query): Asked<SpanQuery>,
) -> Result<Response, Problem> {
    let query = HistoryQuery { month: query.span == Some(SpanName::Month) };
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::History(query)).await?))
}

/// Who asks, and what they may.
#[utoipa::path(get, path = "/v1/me", tag = "session",
    responses((status = 200, body = Versioned<MeShown>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn me(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Response, Problem> {
    Ok(answer(StatusCode::OK, gate.ask(caller.user, Request::Me {}).await?))
}

/// Whether the server is well.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`
    status: &'static str,
}

/// Whether the process answers. Needs no token.
#[utoipa::path(get, path = "/healthz", tag = "service", security(()),
    responses((status = 200, body = Versioned<Health>)))]
pub(crate) async fn health() -> Response {
    answer(StatusCode::OK, super::value(Health { status: "ok" }))
}

/// Whether the scheduler answers. Needs no token.
#[utoipa::path(get, path = "/readyz", tag = "service", security(()),
    responses((status = 200, body = Versioned<Health>),
        (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn ready(State(gate): State<Arc<Gate>>) -> Result<Response, Problem> {
    let nobody = LocalUser::made_up("nobody", u32::MAX);
    let asked = gate.ask(nobody, Request::Ping {});
    let patience = std::time::Duration::from_secs(2);
    let answered: Result<Value, Problem> = tokio::time::timeout(patience, asked)
        .await
        .unwrap_or_else(|_| Err(Problem::busy("the scheduler does not answer")));
    answered.map(|_| answer(StatusCode::OK, json!({ "status": "ok" })))
}
