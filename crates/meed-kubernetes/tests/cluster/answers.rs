//! An API server that answers wrongly: between Meed and the real one stands a way in which requests
//! are refused, answered late, carried out without an answer, or answered with an error though they
//! were carried out; and watches end, or are told that what they ask for has expired.
//!
//! What happens to a request depends on its kind and on how many of its kind came before, so each
//! fault happens in every run, [`SPELLS`] times; which request it meets depends on the run. Then
//! all is well again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::net::TcpListener;

use crate::check::ran;
use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{until, with_plane};

/// How often each list of faults is gone through.
const SPELLS: usize = 4;

type Failure = Box<dyn Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, Failure>>;

/// What a request is, as far as faults go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// It lets a pod start: a binding, or a gate taken away.
    Start,
    Watch,
    Other,
}

impl Kind {
    fn of<T>(request: &Request<T>) -> Kind {
        let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
        let is_start = path.ends_with("/binding")
            || (request.method() == "PATCH"
                && path.contains("/pods/")
                && !path.ends_with("/status"));
        match (is_start, query.contains("watch=")) {
            (true, _) => Kind::Start,
            (_, true) => Kind::Watch,
            _ => Kind::Other,
        }
    }

    /// In turn.
    fn faults(self) -> &'static [Fault] {
        use Fault::{CutAfter, CutBefore, Ends, Expires, Late, None, Refuse, Unsaid};
        match self {
            Kind::Start => &[
                Refuse(429),
                CutAfter,
                None,
                Refuse(500),
                Unsaid(500),
                Late,
                CutBefore,
                Refuse(409),
                Unsaid(504),
                None,
                Refuse(410),
            ],
            Kind::Watch => &[Ends, Expires, Refuse(410), Ends, Refuse(429), Refuse(500), Ends],
            Kind::Other => &[
                None,
                None,
                Refuse(500),
                None,
                Late,
                Refuse(429),
                None,
                CutAfter,
                Unsaid(500),
                None,
            ],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    None,
    /// It is refused with this status, and not carried out.
    Refuse(u16),
    /// It is carried out, and answered with this status.
    Unsaid(u16),
    /// The connection is cut before it is carried out, or after.
    CutBefore,
    CutAfter,
    /// It is carried out half a second later.
    Late,
    /// The watch ends after a second.
    Ends,
    /// The watch is told that its place is too old.
    Expires,
}

/// A way to the API server on which faults happen.
struct Way {
    port: u16,
    is_bad: Arc<AtomicBool>,
    counts: Arc<Mutex<BTreeMap<(Kind, Fault), u64>>>,
}

impl Way {
    async fn through(client: Client) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let way = Way { port, is_bad: Arc::default(), counts: Arc::default() };
        let (is_bad, counts) = (Arc::clone(&way.is_bad), Arc::clone(&way.counts));
        tokio::spawn(async move {
            let mut came = BTreeMap::<Kind, usize>::new();
            let turn = Arc::new(Mutex::new(move |kind: Kind| {
                let number = came.entry(kind).or_default();
                let faults = kind.faults();
                *number += 1;
                let is_over = *number > SPELLS * faults.len();
                if is_over { Fault::None } else { faults[(*number - 1) % faults.len()] }
            }));
            while let Ok((stream, _)) = listener.accept().await {
                let (client, is_bad) = (client.clone(), Arc::clone(&is_bad));
                let (counts, turn) = (Arc::clone(&counts), Arc::clone(&turn));
                let answer = service_fn(move |request: Request<Incoming>| {
                    let kind = Kind::of(&request);
                    let is_bad = is_bad.load(Ordering::SeqCst);
                    let fault = match (is_bad, kind) {
                        (true, _) => turn.lock().expect("nobody panics")(kind),
                        // None of those that began before outlasts the good time.
                        (false, Kind::Watch) => Fault::Ends,
                        (false, _) => Fault::None,
                    };
                    let mut counts = counts.lock().expect("nobody panics");
                    *counts.entry((kind, fault)).or_default() += u64::from(is_bad);
                    answered(client.clone(), request, fault)
                });
                // It ends when either side does, or with a fault.
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        way
    }
}

async fn answered(
    client: Client,
    request: Request<Incoming>,
    fault: Fault,
) -> Result<Answer, Failure> {
    match fault {
        Fault::Refuse(status) => return Ok(said(status)),
        Fault::CutBefore => return Err("cut before".into()),
        Fault::Late => tokio::time::sleep(Duration::from_millis(500)).await,
        Fault::Expires => {
            let event = json!({ "type": "ERROR", "object": status_object(410) });
            return Ok(whole(StatusCode::OK, format!("{event}\n")));
        }
        _ => {}
    }
    let answer = passed_on(&client, request).await?;
    match fault {
        Fault::CutAfter => Err("cut after".into()),
        Fault::Unsaid(status) => Ok(said(status)),
        Fault::Ends => {
            let (parts, body) = answer.into_parts();
            let end = Box::pin(tokio::time::sleep(Duration::from_secs(1)));
            let some = body.into_data_stream().take_until(end).map_ok(Frame::data);
            Ok(Response::from_parts(parts, StreamBody::new(some).boxed_unsync()))
        }
        _ => Ok(answer),
    }
}

/// As the user of the client, whose rights Meed has.
async fn passed_on(client: &Client, request: Request<Incoming>) -> Result<Answer, Failure> {
    let (mut parts, body) = request.into_parts();
    for name in [header::AUTHORIZATION, header::HOST, header::CONNECTION, header::ACCEPT_ENCODING] {
        parts.headers.remove(name);
    }
    let body = body.collect().await?.to_bytes().to_vec();
    let answer = client.send(Request::from_parts(parts, Body::from(body))).await?;
    let (mut parts, body) = answer.into_parts();
    parts.headers.remove(header::TRANSFER_ENCODING);
    Ok(Response::from_parts(parts, body.map_err(Failure::from).boxed_unsync()))
}

fn status_object(code: u16) -> serde_json::Value {
    let reason = match code {
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        504 => "Timeout",
        _ => "InternalError",
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "a fault of the test", "reason": reason, "code": code,
    })
}

fn said(code: u16) -> Answer {
    let status = StatusCode::from_u16(code).expect("a status");
    let mut answer = whole(status, status_object(code).to_string());
    if code == 429 {
        answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    answer
}

fn whole(status: StatusCode, text: String) -> Answer {
    let never = |never: Infallible| match never {};
    let body = Full::new(Bytes::from(text)).map_err(never).boxed_unsync();
    let answer = Response::builder().status(status);
    answer.header(header::CONTENT_TYPE, "application/json").body(body).expect("an answer")
}

/// All pods are started once and charged by their own times.
fn none_is_lost_or_charged_twice(parts: &[&str], mode: &'static str) {
    const PODS: usize = 48;
    with_plane(parts, async |plane| {
        plane.nodes(4).await;
        plane.queue("alpha", mode).await;
        let way = Way::through(plane.client_of("meed").await).await;
        plane.kubeconfig_like("meed", "bad", |cluster| {
            cluster["server"] = format!("http://127.0.0.1:{}", way.port).into();
        });
        let start = || Meed::of(&plane, "bad", (LONG_TERM, &["--checkpoint-seconds=1"]), &[]);
        let mut meed = start();
        meed.decides().await;
        way.is_bad.store(true, Ordering::SeqCst);
        plane.submit("alpha", "a", PODS, "2", "1s").await;
        until("all pods have ended", 150, async || {
            // Where its lease could not be renewed in time it ends, as it must.
            if meed.has_ended() {
                meed = start();
            }
            plane.no_node_is_overfull(8.0).await;
            let pods = plane.all_pods("alpha").await;
            pods.iter().filter_map(ran).filter(|ran| ran.ended.is_some()).count() == PODS
        })
        .await;
        for kind in [Kind::Start, Kind::Watch, Kind::Other] {
            for fault in kind.faults() {
                let counts = way.counts.lock().expect("nobody panics");
                let times = counts.get(&(kind, *fault)).copied().unwrap_or(0);
                assert!(times > 0, "no {kind:?} met {fault:?}: {counts:?}");
            }
        }
        way.is_bad.store(false, Ordering::SeqCst);
        if meed.has_ended() {
            meed = start();
            meed.decides().await;
        }
        plane.until_ends_are_heard("alpha").await;
        meed.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

#[test]
fn an_api_server_that_answers_wrongly_makes_meed_bind_nothing_twice() {
    none_is_lost_or_charged_twice(&["kwok"], "Binds");
}

#[test]
fn an_api_server_that_answers_wrongly_makes_meed_let_nothing_go_twice() {
    none_is_lost_or_charged_twice(&["kwok", "scheduler"], "Gates");
}
