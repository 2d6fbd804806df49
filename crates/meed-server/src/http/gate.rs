//! The way from HTTP to the world: the same requests as over the socket, by users whom the doors
//! know.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use axum::extract::FromRequestParts;
use axum::http::{Method, header, request::Parts};
use meed_http::{bearer, cookie};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

use super::problem::Problem;
use crate::access::{Doors, Guest};
use crate::feed::Feed;
use crate::protocol::Request;
use crate::service::Message;
use crate::user::LocalUser;
use crate::world::{Ask, TurnEvent};

/// The cookie of a browser that is signed in, and the header of its key.
pub(crate) const COOKIE: &str = "meed";
pub(crate) const KEY: &str = "meed-key";

/// What all routes stand on.
pub(crate) struct Gate {
    pub(crate) sender: SyncSender<Message>,
    pub(crate) doors: Arc<Doors>,
    pub(crate) feed: Arc<Feed>,
    /// Hosts that this server is called by, with their port.
    pub(crate) hosts: Vec<String>,
    /// Where output is.
    pub(crate) state: PathBuf,
    /// Whether browsers come by TLS.
    pub(crate) is_secure: bool,
    pub(crate) counts: Counts,
}

/// What the interface counts.
#[derive(Default)]
pub(crate) struct Counts {
    /// Answers, by the first digit of their status.
    pub(crate) answers: [AtomicU64; 6],
    pub(crate) connections: AtomicU64,
    /// Open streams of events, by user.
    pub(crate) streams: Mutex<BTreeMap<u32, u64>>,
    pub(crate) refused: AtomicU64,
}

impl Counts {
    pub(crate) fn answered(&self, status: u16) {
        let class = usize::from(status / 100).min(5);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
    }
}

impl Gate {
    /// Asks the world.
    pub(crate) async fn ask(&self, user: LocalUser, request: Request) -> Result<Value, Problem> {
        self.ask_for(user, request).await
    }

    /// The same, as what it is to be.
    pub(crate) async fn ask_for<T: DeserializeOwned>(
        &self,
        user: LocalUser,
        request: Request,
    ) -> Result<T, Problem> {
        let (reply, answer) = oneshot::channel();
        // Who has gone does not hear it.
        let reply = Box::new(move |answer| drop(reply.send(answer)));
        let ask = Message::Event(TurnEvent::Ask(Box::new(Ask { user, request, reply })));
        self.sender.try_send(ask).map_err(|why| match why {
            TrySendError::Full(_) => Problem::busy("too many requests wait; try again"),
            TrySendError::Disconnected(_) => Problem::busy("the server stops"),
        })?;
        let answer = answer.await.map_err(|_| Problem::busy("the server stops"))?;
        answer.read().map_err(Problem::from)
    }
}

/// Who asks.
pub(crate) struct Caller {
    pub(crate) guest: Guest,
    pub(crate) user: LocalUser,
}

impl FromRequestParts<Arc<Gate>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gate: &Arc<Gate>) -> Result<Caller, Problem> {
        let guest = guest(parts, &gate.doors)?;
        let asked = guest.clone();
        // The system's list of users may be far away.
        let user = tokio::task::spawn_blocking(move || asked.user()).await;
        let user = user.map_err(|_| Problem::busy("the system does not say who this is"))?;
        Ok(Caller { guest, user })
    }
}

fn guest(parts: &Parts, doors: &Doors) -> Result<Guest, Problem> {
    if parts.headers.contains_key(header::AUTHORIZATION) {
        let known = bearer(&parts.headers).and_then(|token| doors.by_token(token));
        return known.ok_or_else(|| Problem::nobody("this token is unknown, expired or revoked"));
    }
    let nobody = || {
        Problem::nobody(
            "say who you are: a token of `meed token create` as `Authorization: Bearer`, or a \
             browser that `meed dashboard` has signed in",
        )
    };
    let shown = cookie(&parts.headers, COOKIE).ok_or_else(nobody)?;
    let key = parts.headers.get(KEY).and_then(|key| key.to_str().ok()).unwrap_or_default();
    let guest = doors.by_browser(shown, key).ok_or_else(nobody)?;
    let is_safe = matches!(parts.method, Method::GET | Method::HEAD);
    if !is_safe && !parts.headers.contains_key(header::ORIGIN) {
        // Browsers say where a change comes from, and `guard` has looked at it.
        return Err(Problem::forbidden("a browser's change needs its Origin"));
    }
    Ok(guest)
}
