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
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::board::Board;
use crate::error::KubernetesError;
use crate::log;
use crate::places::Places;

/// Most connections at once, and most of one address: further ones of it are closed.
const CONNECTIONS: usize = 256;
const OF_ADDRESS: usize = 16;
/// Headers are whole within this time, and all is over within the other.
const HEADER_TIME: Duration = Duration::from_secs(2);
const ALL_TIME: Duration = Duration::from_secs(10);
/// The pause after a connection that could not be taken: there are too many files open.
const PAUSE: Duration = Duration::from_millis(100);

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
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let callers = Places::new(CONNECTIONS, OF_ADDRESS);
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
            let Ok((stream, from)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let Some(call) = callers.enter(from.ip()) else { continue };
            let board = Arc::clone(&board);
            tokio::spawn(async move {
                let answer = service_fn(move |asked| {
                    let answer = answer(&asked, &board);
                    async move { Ok::<_, Infallible>(answer) }
                });
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).keep_alive(false);
                let served = http.serve_connection(TokioIo::new(stream), answer);
                // Who went away needs no answer.
                drop(timeout(ALL_TIME, served).await);
                // The place is free before the slot: whoever is let in next finds it.
                drop(call);
                drop(slot);
            });
        }
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
    let kind = header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn an_address_has_so_many_connections_and_no_more() {
        let callers = Places::new(CONNECTIONS, OF_ADDRESS);
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse::<IpAddr>().unwrap());
        let mut calls: Vec<_> = (0..OF_ADDRESS).map_while(|_| callers.enter(one)).collect();
        assert_eq!(calls.len(), OF_ADDRESS);
        assert!(callers.enter(one).is_none());
        let theirs = callers.enter(other);
        assert!(theirs.is_some());
        calls.pop();
        assert!(callers.enter(one).is_some());
        drop((calls, theirs));
        assert!(callers.is_empty(), "nobody is remembered for nothing");
    }
}
