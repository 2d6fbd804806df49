//! `/v1/events`: that queues stand otherwise, as server-sent events. What that is the page asks.
//!
//! A stream looks every [`LOOK`] whether something was decided, and says so at most so often: how
//! much happens costs nobody anything. It ends after [`LASTS`]; the browser comes back, and is
//! asked who it is again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream;
use http::StatusCode;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use meed_http::{Seat, Seats};
use serde_json::json;
use tokio::time::sleep;

use super::answer::{Reply, reply};
use super::question::Refused;
use crate::board::Board;
use crate::clock::monotonic;

const LOOK: Duration = Duration::from_secs(2);
/// A line is sent at least so often, so that both ends know of each other.
const BEAT: Duration = Duration::from_secs(15);
/// Rights are asked again then: as long as they hold.
const LASTS: Duration = Duration::from_secs(60);
/// Streams at once, and of one user.
const MOST: usize = 64;
const MOST_OF_ONE: usize = 16;

/// Streams that are open, by user.
pub(super) type Streams = Seats<String>;

pub(super) fn streams() -> Arc<Streams> {
    Seats::new(MOST, MOST_OF_ONE)
}

/// A stream for this user.
pub(super) fn follow(
    streams: &Arc<Streams>,
    user: &str,
    board: &Arc<Board>,
) -> Result<Reply, Refused> {
    let place = streams.enter(user.to_owned()).ok_or_else(|| {
        let why = "too many streams of events; close some";
        Refused::new(StatusCode::TOO_MANY_REQUESTS, why)
    })?;
    let follower = Follower {
        _place: place,
        board: Arc::clone(board),
        seen: board.turned(),
        began: monotonic(),
        spoke: None,
    };
    let parts = stream::unfold(follower, async |mut follower| {
        let text = follower.next().await?;
        Some((Ok(Frame::data(Bytes::from(text))), follower))
    });
    let body = BodyExt::boxed(StreamBody::new(Box::pin(parts)));
    Ok(reply(StatusCode::OK, "text/event-stream", "no-store", body))
}

struct Follower {
    _place: Seat<String>,
    board: Arc<Board>,
    seen: u64,
    began: Instant,
    /// When the last line was sent; none: the first is due.
    spoke: Option<Instant>,
}

impl Follower {
    async fn next(&mut self) -> Option<String> {
        let Some(mut spoke) = self.spoke else {
            self.spoke = Some(monotonic());
            let hello = json!({ "schema": 1, "server": env!("CARGO_PKG_VERSION") });
            return Some(format!("retry: 2000\nevent: hello\ndata: {hello}\n\n"));
        };
        loop {
            sleep(LOOK).await;
            if self.began.elapsed() >= LASTS {
                return None;
            }
            let turned = self.board.turned();
            let text = if turned != self.seen {
                self.seen = turned;
                "event: queues\ndata: {\"schema\":1}\n\n"
            } else if spoke.elapsed() >= BEAT {
                ": beat\n\n"
            } else {
                continue;
            };
            spoke = monotonic();
            self.spoke = Some(spoke);
            return Some(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_given_back() {
        let streams = streams();
        let enter = |user: &str| streams.enter(user.to_owned());
        let own: Vec<_> = (0..MOST_OF_ONE).map_while(|_| enter("ann")).collect();
        assert_eq!(own.len(), MOST_OF_ONE);
        assert!(enter("ann").is_none());
        let others: Vec<_> = (0..MOST).map_while(|user| enter(&user.to_string())).collect();
        assert_eq!(others.len(), MOST - MOST_OF_ONE);
        drop((own, others));
        assert!(streams.is_empty(), "nobody is remembered for nothing");
    }
}
