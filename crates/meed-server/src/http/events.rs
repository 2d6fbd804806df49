//! `/v1/events`: what happens, as server-sent events.
//!
//! Each reader follows the feed at its own pace, through a small buffer of its own. One that takes
//! nothing for [`READER_TIME`] is cut off; one that is further behind than the feed reaches is told
//! `reset`: it reads everything again. A stream ends after [`STREAM_TIME`], and when settings or
//! its token change: the browser comes back with its last number, and is asked who it is again.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::gate::{Caller, Gate};
use super::problem::Problem;
use crate::access::Guest;
use crate::feed::{Feed, FeedEvent, Read};
use crate::protocol::{RefusalKind, Request, SCHEMA};

/// A reader takes what is there within this time.
pub(super) const READER_TIME: Duration = Duration::from_secs(10);
/// How long a stream is.
const STREAM_TIME: Duration = Duration::from_secs(15 * 60);
/// A line is sent at least so often, so that both ends know of each other.
const BEAT: Duration = Duration::from_secs(15);
/// Parts that wait for the reader, and most events of one.
pub(super) const PARTS: usize = 4;
const EVENTS: usize = 256;
/// Streams at once, of one user and of all.
const MOST_OF_ONE: u64 = 32;
const MOST: u64 = 128;

/// What happens, from now on, or from `Last-Event-ID` on: `job` (a job as lists show it), `queues`
/// (queues stand otherwise), `reset` (too much was missed: read all again).
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(("last-event-id" = Option<String>, Header, description = "`id` of the last event")),
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = "4XX", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn events(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let me = gate.ask(caller.user.clone(), Request::Me {}).await?;
    let place = Place::take(gate, caller.guest.uid)?;
    let sees_all = me["role"] != "tenant";
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok());
    let (from, first) = begin(&place.0.feed, last);
    let (sender, receiver) = mpsc::channel(PARTS);
    let guest = caller.guest;
    let reader = Reader { place, guest, sees_all, from, sender };
    tokio::spawn(async move { reader.run(first).await });
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((kind, Body::new(Parts(receiver))).into_response())
}

/// A stream's place, and whose it is; it is given back with it.
pub(super) struct Place(Arc<Gate>, u32);

impl Place {
    pub(super) fn take(gate: Arc<Gate>, uid: u32) -> Result<Place, Problem> {
        let mut streams = gate.counts.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let all: u64 = streams.values().sum();
        let own = streams.get(&uid).copied().unwrap_or(0);
        if all >= MOST || own >= MOST_OF_ONE {
            let why = "too many streams of events or lists; close some";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, RefusalKind::Limit, why));
        }
        streams.insert(uid, own + 1);
        drop(streams);
        Ok(Place(gate, uid))
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut streams = self.0.counts.streams.lock().unwrap_or_else(PoisonError::into_inner);
        match streams.get_mut(&self.1) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(streams.remove(&self.1)),
        }
    }
}

/// Where a reader begins, and what it is told first.
fn begin(feed: &Feed, last: Option<&str>) -> (u64, String) {
    let next = feed.next();
    let from = last.and_then(|last| {
        let (instance, number) = last.split_once('-')?;
        let number = number.parse().ok()?;
        let is_ours = u64::from_str_radix(instance, 16).ok() == Some(feed.instance());
        (is_ours && !matches!(feed.read(number, 0), Read::Behind)).then_some(number)
    });
    match from {
        Some(from) => (from, "retry: 2000\n\n".to_owned()),
        None => {
            let name = if last.is_some() { "reset" } else { "hello" };
            let hello = json!({ "schema": SCHEMA, "server": env!("CARGO_PKG_VERSION") });
            (next, format!("retry: 2000\n{}", event(feed, next, name, &hello)))
        }
    }
}

fn event(feed: &Feed, number: u64, name: &str, data: &Value) -> String {
    format!("id: {:x}-{number}\nevent: {name}\ndata: {data}\n\n", feed.instance())
}

struct Reader {
    place: Place,
    guest: Guest,
    sees_all: bool,
    /// The next event.
    from: u64,
    sender: mpsc::Sender<Bytes>,
}

impl Reader {
    async fn run(mut self, first: String) {
        let end = Instant::now() + STREAM_TIME;
        let (mut told, mut rules) = self.place.0.feed.watch();
        if !self.send(first).await {
            return;
        }
        loop {
            told.mark_unchanged();
            if !self.place.0.doors.still_knows(&self.guest) {
                return;
            }
            match self.place.0.feed.read(self.from, EVENTS) {
                Read::Behind => {
                    let next = self.place.0.feed.next();
                    let data = json!({ "schema": SCHEMA });
                    let reset = event(&self.place.0.feed, next, "reset", &data);
                    self.from = next;
                    if !self.send(reset).await {
                        return;
                    }
                    continue;
                }
                Read::Events(events, next) if !events.is_empty() => {
                    let text = self.text(&events);
                    self.from = next;
                    if !self.send(text).await {
                        return;
                    }
                    continue;
                }
                Read::Events(..) => {}
            }
            tokio::select! {
                changed = told.changed() => if changed.is_err() { return },
                _ = rules.changed() => return,
                () = self.sender.closed() => return,
                () = sleep_until(end) => return,
                () = tokio::time::sleep(BEAT) => if !self.send(": beat\n\n".to_owned()).await {
                    return;
                },
            }
        }
    }

    /// Whether the reader took it in time.
    async fn send(&self, text: String) -> bool {
        matches!(timeout(READER_TIME, self.sender.send(text.into())).await, Ok(Ok(())))
    }

    fn text(&self, events: &[FeedEvent]) -> String {
        let feed = &self.place.0.feed;
        let mut text = String::new();
        for (number, what) in (self.from + 1..).zip(events) {
            let (name, data) = match what {
                FeedEvent::Job { uid, view } if self.sees_all || *uid == self.guest.uid => {
                    ("job", json!({ "schema": SCHEMA, "job": **view }))
                }
                FeedEvent::Job { view, .. } => {
                    ("job", json!({ "schema": SCHEMA, "job": view.for_others() }))
                }
                FeedEvent::Queues { at_us } => {
                    ("queues", json!({ "schema": SCHEMA, "at_us": at_us }))
                }
            };
            text += &event(feed, number, name, &data);
        }
        text
    }
}

/// A body of parts that come one after the other.
pub(super) struct Parts(pub(super) mpsc::Receiver<Bytes>);

impl hyper::body::Body for Parts {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|part| part.map(|bytes| Ok(Frame::data(bytes))))
    }
}
