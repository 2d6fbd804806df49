//! Answers: JSON with its version, errors as problem details (RFC 9457), and what every answer
//! tells a browser.

use std::convert::Infallible;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use meed_http::{METRICS, session_cookie, tell_browser};
use serde_json::{Value, json};

use super::COOKIE;
use super::question::Refused;

/// The version of the form of answers (docs/http.md).
const SCHEMA: u32 = 1;

pub(super) type Body = BoxBody<Bytes, Infallible>;
pub(super) type Reply = Response<Body>;

/// An answer with this body.
pub(super) fn reply(
    status: StatusCode,
    kind: &'static str,
    cache: &'static str,
    body: Body,
) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    tell_browser(headers);
    reply
}

/// A file, which is the same for everybody.
pub(super) fn text(kind: &'static str, text: String) -> Reply {
    reply(StatusCode::OK, kind, "no-cache", Full::new(Bytes::from(text)).boxed())
}

/// Figures as Prometheus reads them; they are not everybody's.
pub(super) fn figures(text: String) -> Reply {
    reply(StatusCode::OK, METRICS, "no-store", Full::new(Bytes::from(text)).boxed())
}

fn data(status: StatusCode, kind: &'static str, value: &Value) -> Reply {
    let body = Full::new(Bytes::from(value.to_string())).boxed();
    reply(status, kind, "no-store", body)
}

/// The answer of a route, with its version.
pub(super) fn told(what: Value) -> Reply {
    let mut what = what;
    what["schema"] = SCHEMA.into();
    data(StatusCode::OK, "application/json", &what)
}

/// Why there is none.
pub(super) fn refusal(why: &Refused) -> Reply {
    let title = why.status.canonical_reason().unwrap_or("Error");
    let problem = json!({ "schema": SCHEMA, "type": "about:blank", "title": title,
        "status": why.status.as_u16(), "detail": why.detail, "kind": why.kind() });
    let mut reply = data(why.status, "application/problem+json", &problem);
    if why.status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer realm=\"meed\"");
        reply.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    }
    reply
}

/// A browser is signed in for so long, or out. Loopback needs no `Secure`, and a proxy that speaks
/// TLS adds it.
pub(super) fn with_cookie(value: &str, seconds: u64, key: Option<String>) -> Reply {
    let mut reply = told(json!({ "seconds": seconds, "key": key }));
    if let Some(cookie) = session_cookie(COOKIE, value, seconds, false) {
        reply.headers_mut().insert(SET_COOKIE, cookie);
    }
    reply
}
