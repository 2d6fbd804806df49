//! Errors as problem details (RFC 9457), and answers with their version.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::protocol::{NotDone, RefusalKind, SCHEMA};

/// Why a request was not done (`application/problem+json`).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Version of the answers.
    schema: u32,
    /// `about:blank`: the title is the status in words.
    r#type: &'static str,
    title: &'static str,
    status: u16,
    /// What is wrong, and what would be right.
    detail: String,
    /// `malformed`, `wrong`, `unknown`, `forbidden`, `limit`, `failed`.
    kind: RefusalKind,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: RefusalKind, detail: impl Into<String>) -> Problem {
        let title = status.canonical_reason().unwrap_or("Error");
        let (status, detail) = (status.as_u16(), detail.into());
        Problem { schema: SCHEMA, r#type: "about:blank", title, status, detail, kind }
    }

    pub(crate) fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, RefusalKind::Malformed, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, RefusalKind::Forbidden, detail)
    }

    pub(crate) fn unknown(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, RefusalKind::Unknown, detail)
    }

    /// Nobody that the server knows.
    pub(crate) fn nobody(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, RefusalKind::Forbidden, detail)
    }

    /// The server cannot now.
    pub(crate) fn busy(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, RefusalKind::Failed, detail)
    }
}

impl From<NotDone> for Problem {
    fn from(refusal: NotDone) -> Problem {
        let status = match refusal.kind {
            RefusalKind::Malformed => StatusCode::BAD_REQUEST,
            RefusalKind::Wrong => StatusCode::UNPROCESSABLE_ENTITY,
            RefusalKind::Unknown => StatusCode::NOT_FOUND,
            RefusalKind::Forbidden => StatusCode::FORBIDDEN,
            RefusalKind::Limit => StatusCode::TOO_MANY_REQUESTS,
            RefusalKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem::new(status, refusal.kind, refusal.text)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = json(status, &self);
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"meed\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// An answer with its version.
#[derive(Serialize, ToSchema)]
pub(crate) struct Versioned<T> {
    /// Version of the answers.
    schema: u32,
    #[serde(flatten)]
    what: T,
}

/// The answer of a route: an object of the protocol.
pub(crate) fn answer(status: StatusCode, what: Value) -> Response {
    json(status, &Versioned { schema: SCHEMA, what })
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).expect("memory takes all, and keys are text");
    let kind = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, kind, body).into_response()
}
