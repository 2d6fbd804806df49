//! What is refused before anybody asks what it is: names of hosts that this server does not have
//! (a foreign page whose name was bound to this machine), requests that pages of others send, and
//! requests that take too long. And what every answer tells a browser.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use meed_http::{AskedFrom, one, tell_browser};

use super::gate::Gate;
use super::problem::Problem;
use crate::protocol::RefusalKind;

/// An answer begins within this time.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// See the module.
pub(crate) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let checked = check_host(&gate, &request).and_then(|()| check_origin(&request));
    let mut response = match checked {
        Err(problem) => problem.into_response(),
        Ok(()) => match tokio::time::timeout(ANSWER_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::busy("the answer takes too long").into_response(),
        },
    };
    gate.counts.answered(response.status().as_u16());
    if gate.is_secure {
        let year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    tell_browser(response.headers_mut());
    response
}

fn check_host(gate: &Gate, request: &Request) -> Result<(), Problem> {
    let host = one(request.headers(), header::HOST);
    let known = |host: &str| gate.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    let named = request.uri().authority().map(|authority| authority.as_str());
    match host.is_some_and(known) && named.is_none_or(known) {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            RefusalKind::Forbidden,
            "this server is not called so; call it by its address, or name the host in \
             [http] hosts",
        )),
    }
}

fn check_origin(request: &Request) -> Result<(), Problem> {
    let from = AskedFrom::of(request.method(), request.uri().path(), request.headers());
    match from.is_own() {
        true => Ok(()),
        false => Err(Problem::forbidden("requests from pages of others are refused")),
    }
}
