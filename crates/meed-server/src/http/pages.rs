//! The dashboard's files: compiled in, the same for everybody, without anything of anybody. What
//! they show they ask for.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

const PAGE: &str = include_str!("../../assets/index.html");

/// Styles and scripts by their name: those of the report, then the dashboard's own.
fn file(name: &str) -> Option<(&'static str, String)> {
    let script = "text/javascript; charset=utf-8";
    let style = "text/css; charset=utf-8";
    Some(match name {
        "look.css" => {
            (style, meed_report::parts::look() + include_str!("../../assets/dashboard.css"))
        }
        "plot.js" => (script, meed_report::parts::library()),
        "dashboard.js" => (script, meed_report::parts::scripts() + &dashboard()),
        _ => return None,
    })
}

/// The dashboard's scripts, in the order in which they build on one another.
fn dashboard() -> String {
    [
        include_str!("../../assets/js/ask.js"),
        include_str!("../../assets/js/words.js"),
        include_str!("../../assets/js/held.js"),
        include_str!("../../assets/js/jobs.js"),
        include_str!("../../assets/js/views.js"),
        include_str!("../../assets/js/sign.js"),
        include_str!("../../assets/js/main.js"),
    ]
    .join("\n")
}

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
