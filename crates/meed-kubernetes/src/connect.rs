//! The way to the API server: every request of this program has a time limit.
//!
//! A connection can go silent and stay open: the machine of an API server or a load balancer dies
//! without a word, a firewall forgets the connection. Nothing in HTTP ends a request then, and the
//! client of the crate `kube` sets no limit by itself. So all clients are made here:
//!
//! | what is silent | for how long | then |
//! |---|---|---|
//! | the answer to a request | [`Limits::answer`] | the request fails |
//! | the rest of an answer, where it is no watch | [`Limits::answer`], between two pieces | it fails |
//! | a watch | `SILENT` of [`crate::follow`] | the watch begins again where it stood |
//!
//! Connections are kept for later requests, and where one is silent the others often are, too. So
//! after a request that had no answer all clients of one [`Connector`] open new connections; also
//! after one that its caller gave up on ([`Limits::patience`]). Requests that go on are not cut.
//!
//! Invariant: a client waits for silent connections once, not once for each of them. Cost: a box
//! and a timer for each request.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use kube::client::Body;
use kube::{Client, Config};
use tokio::time::{Sleep, sleep, timeout};
use tower_service::Service;

use crate::clock::monotonic;
use crate::error::KubernetesError;

/// How long a client waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// A request without an answer has failed after so long; so has one whose answer stops.
    pub(crate) answer: Duration,
    /// A request that its caller gives up on after so long, without an answer, tells of a silent
    /// connection.
    pub(crate) patience: Duration,
}

/// Of most requests: longer than what their callers wait, who then know what they gave up on.
const USUAL: Limits = Limits { answer: Duration::from_secs(20), patience: Duration::from_secs(5) };
/// Of the leader election.
const LEASE: Limits = Limits { answer: crate::lease::ATTEMPT, patience: Duration::from_secs(2) };

/// The longest time from a silent connection to an answer on a new one.
pub(crate) const SILENCE: Duration = Duration::from_secs(2 * USUAL.answer.as_secs());

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    config: Config,
    /// How often all clients have opened new connections.
    age: Arc<AtomicU64>,
}

impl Connector {
    /// The cluster that KUBECONFIG names, or that this process runs in.
    pub(crate) async fn infer() -> Result<Connector, KubernetesError> {
        let config = Config::infer().await;
        Ok(Connector::of(config.map_err(|why| KubernetesError::NoCluster(why.to_string()))?))
    }

    /// This cluster.
    pub(crate) fn of(config: Config) -> Connector {
        Connector { config, age: Arc::default() }
    }

    /// The client of most requests.
    pub(crate) fn client(&self) -> Result<Client, KubernetesError> {
        self.client_like(true, USUAL)
    }

    /// A client for which a refusal is an answer: it does not try again by itself.
    pub(crate) fn without_retries(&self) -> Result<Client, KubernetesError> {
        self.client_like(false, USUAL)
    }

    /// The client of the leader election: short limits, connections of its own, and no write that
    /// is sent twice.
    pub(crate) fn for_lease(&self) -> Result<Client, KubernetesError> {
        self.client_like(false, LEASE)
    }

    fn client_like(&self, retries: bool, limits: Limits) -> Result<Client, KubernetesError> {
        let mut config = self.config.clone();
        config.default_retry = retries;
        let namespace = config.default_namespace.clone();
        let inner = make(&config)?;
        let built = (self.age.load(Ordering::Relaxed), inner);
        let line = Line { config, age: Arc::clone(&self.age), limits, built: Mutex::new(built) };
        Ok(Client::new(Limited(Arc::new(line)), namespace))
    }
}

fn make(config: &Config) -> Result<Client, KubernetesError> {
    let made = Client::try_from(config.clone());
    made.map_err(|why| KubernetesError::NoCluster(why.to_string()))
}

/// What the requests of one client share.
struct Line {
    config: Config,
    age: Arc<AtomicU64>,
    limits: Limits,
    /// The age that the connections are of, and the client that holds them.
    built: Mutex<(u64, Client)>,
}

impl Line {
    /// The client, with new connections where older ones have gone silent.
    fn current(&self) -> (u64, Client) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let age = self.age.load(Ordering::Relaxed);
        // What cannot be made anew (a file of the configuration is gone) is used as it is.
        if built.0 != age
            && let Ok(client) = make(&self.config)
        {
            *built = (age, client);
        }
        (built.0, built.1.clone())
    }
}

/// Connections of one age; they are not used again once one of them was silent.
struct Connections {
    age: Arc<AtomicU64>,
    of: u64,
}

impl Connections {
    fn are_silent(&self) {
        // Another request may have said so before.
        let next = self.of.saturating_add(1);
        _ = self.age.compare_exchange(self.of, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A request that waits for its answer.
struct Waiting {
    connections: Connections,
    since: Instant,
    patience: Duration,
    is_answered: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_answered && self.since.elapsed() >= self.patience {
            self.connections.are_silent();
        }
    }
}

fn silent(limit: Duration) -> kube::Error {
    let why = format!("the API server was silent for {:.1} s", limit.as_secs_f64());
    kube::Error::Service(why.into())
}

/// Puts limits to every request of a client.
struct Limited(Arc<Line>);

impl Service<Request<Body>> for Limited {
    type Response = Response<LimitedBody>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Response<LimitedBody>, kube::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let line = Arc::clone(&self.0);
        Box::pin(async move {
            let Limits { answer, patience } = line.limits;
            let watches = request.uri().query().is_some_and(is_watch);
            let (of, client) = line.current();
            let connections = || Connections { age: Arc::clone(&line.age), of };
            let (since, is_answered) = (monotonic(), false);
            let mut waiting = Waiting { connections: connections(), since, patience, is_answered };
            let Ok(answered) = timeout(answer, client.send(request)).await else {
                return Err(silent(answer));
            };
            waiting.is_answered = true;
            let limit = (!watches).then(|| Rest {
                connections: connections(),
                limit: answer,
                ends: Box::pin(sleep(answer)),
            });
            Ok(answered?.map(|inner| LimitedBody { inner, limit }))
        })
    }
}

fn is_watch(query: &str) -> bool {
    query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"))
}

/// How long the rest of an answer may be silent.
struct Rest {
    connections: Connections,
    limit: Duration,
    ends: Pin<Box<Sleep>>,
}

/// An answer whose pieces come within the limit.
struct LimitedBody {
    inner: Body,
    limit: Option<Rest>,
}

impl fmt::Debug for LimitedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedBody").finish_non_exhaustive()
    }
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = kube::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, kube::Error>>> {
        let LimitedBody { inner, limit } = &mut *self;
        let polled = Pin::new(inner).poll_frame(context);
        let Some(rest) = limit else { return polled };
        if polled.is_ready() {
            let next = tokio::time::Instant::now() + rest.limit;
            rest.ends.as_mut().reset(next);
            return polled;
        }
        if rest.ends.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        rest.connections.are_silent();
        Poll::Ready(Some(Err(silent(rest.limit))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests;
