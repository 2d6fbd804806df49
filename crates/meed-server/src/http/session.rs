//! How a browser signs in: a one-time code of `meed dashboard`, or a token, for a cookie that
//! scripts cannot read and other sites cannot send, and a key that no other port can read
//! ([`crate::access`]).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use meed_http::{cookie, session_cookie};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::gate::{COOKIE, Gate};
use super::problem::{Problem, Versioned, answer};
use super::read::json;
use crate::access::SESSION_SECONDS;

/// Most bytes of the body.
const MOST: usize = 4096;

/// One of both.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum SignIn {
    /// A code of `meed dashboard`, which is then used up.
    Code(String),
    /// A token.
    Token(String),
}

/// How long it lasts.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignedIn {
    /// In seconds; 0: the browser is signed out.
    seconds: u64,
    /// What the page sends as `Meed-Key` with every request.
    key: Option<String>,
}

/// Signs a browser in: the answer sets its cookie.
#[utoipa::path(post, path = "/v1/session", tag = "session", request_body = SignIn, security(()),
    responses((status = 200, body = Versioned<SignedIn>),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn sign_in(
    State(gate): State<Arc<Gate>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let asked: SignIn = json(&headers, body, MOST).await?;
    let guest = match asked {
        SignIn::Code(code) => gate.doors.use_code(&code).ok_or_else(|| {
            Problem::nobody("this link was used, or is too old; `meed dashboard` makes another")
        })?,
        SignIn::Token(token) => gate
            .doors
            .by_token(token.trim())
            .ok_or_else(|| Problem::nobody("this token is unknown, expired or revoked"))?,
    };
    let (cookie, key) = gate.doors.sign_in(guest).map_err(|why| Problem::busy(why.to_string()))?;
    Ok(with_cookie(&gate, &cookie, SESSION_SECONDS, Some(key)))
}

/// Signs a browser out.
#[utoipa::path(delete, path = "/v1/session", tag = "session", security(()),
    responses((status = 200, body = Versioned<SignedIn>)))]
pub(crate) async fn sign_out(State(gate): State<Arc<Gate>>, headers: HeaderMap) -> Response {
    if let Some(shown) = cookie(&headers, COOKIE) {
        gate.doors.sign_out(shown);
    }
    with_cookie(&gate, "", 0, None)
}

fn with_cookie(gate: &Gate, value: &str, seconds: u64, key: Option<String>) -> Response {
    let mut response = answer(StatusCode::OK, super::value(SignedIn { seconds, key }));
    if let Some(cookie) = session_cookie(COOKIE, value, seconds, gate.is_secure) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
