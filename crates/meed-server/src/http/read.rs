//! What requests bring: paths, queries and bodies, bounded, with errors as problem details.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::{HeaderMap, StatusCode, header, request::Parts};
use serde::de::DeserializeOwned;

use super::gate::Gate;
use super::problem::Problem;
use crate::protocol::RefusalKind;

/// A body is whole within this time.
const BODY_TIME: Duration = Duration::from_secs(10);

/// What stands behind the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Gate>> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gate: &Arc<Gate>) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, gate).await;
        query.map(|Query(query)| Asked(query)).map_err(|why| Problem::malformed(why.body_text()))
    }
}

/// Parts of the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Gate>> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gate: &Arc<Gate>) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, gate).await;
        path.map(|Path(path)| Named(path)).map_err(|why| Problem::malformed(why.body_text()))
    }
}

/// The body as JSON, of at most `most` bytes. What is no JSON by its own words is refused: forms
/// that foreign pages can send are none.
pub(crate) async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<T, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
    });
    if !is_json {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            RefusalKind::Malformed,
            "the body must be JSON: Content-Type: application/json",
        ));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > most) {
        return Err(too_large(most));
    }
    let bytes = tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, most)).await;
    let bytes = bytes.map_err(|_| {
        let why = format!("a request must be whole within {} s", BODY_TIME.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, RefusalKind::Limit, why)
    })?;
    let bytes = bytes.map_err(|_| too_large(most))?;
    serde_json::from_slice(&bytes).map_err(|why| Problem::malformed(format!("no request: {why}")))
}

fn too_large(most: usize) -> Problem {
    let why = format!("the body is cut short, or has more than {most} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, RefusalKind::Limit, why)
}
