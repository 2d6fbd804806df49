//! `/metrics`: what the world counts, and what the interface does.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use meed_driver::metrics::MetricsPage;
use meed_http::METRICS;

use super::gate::{Caller, Counts, Gate};
use super::problem::Problem;
use crate::protocol::Request;

/// All that is counted, in the text format of Prometheus. For operators and admins.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4"),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn page(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
) -> Result<Response, Problem> {
    let told = gate.ask(caller.user, Request::Metrics {}).await?;
    let mut page = MetricsPage::default();
    page.part(told["text"].as_str().unwrap_or_default());
    of_interface(&gate.counts, &mut page);
    let kind = [(header::CONTENT_TYPE, METRICS)];
    Ok((kind, page.text()).into_response())
}

fn of_interface(counts: &Counts, page: &mut MetricsPage) {
    let name = "meed_http_requests_total";
    page.family(name, "counter", "Requests that were answered, by the class of their status.");
    for (class, count) in (0..).zip(&counts.answers).skip(2) {
        let code = format!("{class}xx");
        page.sample(name, &[("code", &code)], count.load(Ordering::Relaxed) as f64);
    }
    let mut one = |name: &str, kind: &str, help: &str, count: u64| {
        page.family(name, kind, help);
        page.sample(name, &[], count as f64);
    };
    let streams = counts.streams.lock().unwrap_or_else(PoisonError::into_inner).values().sum();
    let read = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    one("meed_http_connections", "gauge", "Open connections.", read(&counts.connections));
    one("meed_http_event_streams", "gauge", "Open streams of events.", streams);
    let help = "Connections that were refused because there were too many.";
    one("meed_http_refused_total", "counter", help, read(&counts.refused));
}
