//! The dashboard's files: compiled in, the same for everybody, without anything of anybody. What
//! they show they ask for.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use meed_report::dashboard::{PAGE, file};

/// The page.
pub(crate) async fn index() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (kind, [(header::CACHE_CONTROL, "no-cache")], PAGE).into_response()
}

/// What the page asks for.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match file(&name) {
        Some((kind, text)) => {
            let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
            (headers, text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
