//! `--listen`: probes and metrics over HTTP, and nothing else.
//!
//! | path | what |
//! |---|---|
//! | `/healthz` | 200: alive |
//! | `/readyz` | 200: it leads, or stands by in good order |
//! | `/metrics` | the text format of Prometheus |
//!
//! A refusal is a 503 that says why. It reads the [`Board`] alone, so no question holds up a
//! decision. What it takes is bounded: connections, those of one address, the time of headers and
//! of all, one request for each. So nobody keeps the kubelet's probes out alone.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use meed_http::{HttpLimits, METRICS, WhenFull};
use tokio::net::TcpListener;

use crate::board::Board;
use crate::error::KubernetesError;
use crate::log;

/// What is taken at once, and for how long: a probe is one request, and waits for a place.
const LIMITS: HttpLimits = HttpLimits {
    connections: 256,
    when_full: WhenFull::Waits,
    of_address: Some(16),
    header_time: Duration::from_secs(2),
    header_bytes: None,
    headers: None,
    all_time: Some(Duration::from_secs(10)),
    keeps_alive: false,
};

/// Answers at `address` from now on, in a task of its own.
pub(crate) async fn listen(address: SocketAddr, board: Arc<Board>) -> Result<(), KubernetesError> {
    let wrong = |why: std::io::Error| {
        let text = format!("--listen {address}: {why}; choose an address that is free here");
        KubernetesError::Settings(text)
    };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let own = listener.local_addr().map_err(wrong)?;
    log::line(&format!("listens on {own}"));
    tokio::spawn(async move {
        let meets = |stream| {
            let board = Arc::clone(&board);
            let answers = service_fn(move |asked| {
                let answer = answer(&asked, &board);
                async move { Ok::<_, Infallible>(answer) }
            });
            LIMITS.serve(stream, answers)
        };
        LIMITS.accept(&listener, meets, || ()).await;
    });
    Ok(())
}

fn answer(asked: &Request<Incoming>, board: &Board) -> Response<Full<Bytes>> {
    let probe = |stands: Result<&str, String>| match stands {
        Ok(word) => (StatusCode::OK, format!("{word}\n")),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    };
    let (status, text) = match (asked.method(), asked.uri().path()) {
        (&Method::GET | &Method::HEAD, "/healthz") => probe(board.lives()),
        (&Method::GET | &Method::HEAD, "/readyz") => probe(board.is_ready()),
        (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, board.metrics()),
        (&Method::GET | &Method::HEAD, _) => {
            let text = "there are /healthz, /readyz and /metrics\n";
            (StatusCode::NOT_FOUND, text.to_owned())
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n".to_owned()),
    };
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let kind = header::HeaderValue::from_static(METRICS);
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}
