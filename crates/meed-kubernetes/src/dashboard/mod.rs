//! `--dashboard`: the page of `meed serve`, of this cluster, and the routes that it asks.
//!
//! It listens on loopback alone: people come by `kubectl port-forward`, which asks the API server
//! whether they may, or by a proxy in the same pod. Who they are a token says, which the API
//! server knows ([`who`]); what they see follows from the pods that they may list there. Nothing
//! can be changed by this way. The leader's loop answers ([`question`]); who stands by says who
//! leads.
//!
//! | refused | for |
//! |---|---|
//! | a name that is not this machine's own, nor one of `--dashboard-host` | a foreign page whose name leads here |
//! | requests that pages of other sites send | the cookie alone is good for nothing |
//! | more than [`LIMITS`] allow, long headers and bodies, who is slow | nobody keeps others out for long |
//!
//! Cost: what is asked, and then the loop rests four times as long from questions (`crate::run`).

mod answer;
mod doors;
mod events;
pub(crate) mod question;
mod who;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use kube::Client;
use meed_http::{AskedFrom, HttpLimits, WhenFull, bearer, cookie, one};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::board::{Board, Stage};
use crate::error::KubernetesError;
use crate::log;
use answer::{Reply, refusal, text, told, with_cookie};
use doors::Doors;
use events::Streams;
use question::{Ask, Question, Refused, Sees};
use who::{Person, Porter};

/// What is taken at once, and for how long: a stream of events lasts no longer, either.
const LIMITS: HttpLimits = HttpLimits {
    connections: 128,
    when_full: WhenFull::Closed,
    of_address: None,
    header_time: Duration::from_secs(10),
    header_bytes: Some(64 << 10),
    headers: None,
    all_time: Some(Duration::from_secs(16 * 60)),
    keeps_alive: true,
};
/// Most bytes of a body: a token.
const BODY_BYTES: usize = 20 << 10;
/// The leader's loop answers within this time, or does not.
const PATIENCE: Duration = Duration::from_secs(15);
/// Questions that wait for the loop.
const AHEAD: usize = 32;
/// The cookie of a browser that is signed in, and the header of its key.
const COOKIE: &str = "meed_kubernetes";
const KEY: &str = "meed-key";

/// What all routes stand on.
struct House {
    porter: Porter,
    doors: Doors,
    board: Arc<Board>,
    streams: Arc<Streams>,
    asks: mpsc::Sender<Ask>,
    /// Names, without a port, by which browsers may call it.
    hosts: Vec<String>,
}

/// Somebody who asks, with the token that they have shown.
struct Caller {
    token: String,
    person: Arc<Person>,
}

/// Listens from now on; the questions to whoever leads.
pub(crate) async fn listen(
    (address, hosts): (SocketAddr, &[String]),
    client: Client,
    board: Arc<Board>,
) -> Result<mpsc::Receiver<Ask>, KubernetesError> {
    let wrong = |why: std::io::Error| {
        let text = format!("--dashboard {address}: {why}; choose an address that is free here");
        KubernetesError::Settings(text)
    };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let own = listener.local_addr().map_err(wrong)?;
    log::line(&format!("the dashboard is at http://{own}"));
    let (asks, asked) = mpsc::channel(AHEAD);
    let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
    let house = Arc::new(House {
        porter: Porter::new(client),
        doors: Doors::default(),
        board,
        streams: events::streams(),
        asks,
        hosts: loopback.into_iter().chain(hosts.iter().cloned()).collect(),
    });
    tokio::spawn(accept(listener, house));
    Ok(asked)
}

async fn accept(listener: TcpListener, house: Arc<House>) {
    let meets = |stream| {
        let house = Arc::clone(&house);
        let answers = service_fn(move |asked| {
            let house = Arc::clone(&house);
            async move { Ok::<_, Infallible>(house.answer(asked).await) }
        });
        LIMITS.serve(stream, answers)
    };
    LIMITS.accept(&listener, meets, || ()).await;
}

impl House {
    async fn answer(&self, asked: Request<Incoming>) -> Reply {
        let done = match self.check(asked.method(), asked.uri().path(), asked.headers()) {
            Ok(()) => self.route(asked).await,
            Err(why) => Err(why),
        };
        done.unwrap_or_else(|why| refusal(&why))
    }

    /// What is refused before it is looked at who asks.
    fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refused> {
        let host = one(headers, header::HOST.as_str()).unwrap_or_default();
        if !is_called(host, &self.hosts) {
            let why = "it is not called so: call it localhost, or name it by --dashboard-host";
            return Err(Refused::new(StatusCode::MISDIRECTED_REQUEST, why));
        }
        let from = AskedFrom::of(method, path, headers);
        match from.is_own() {
            true => Ok(()),
            false => {
                let why = "requests from pages of others are refused";
                Err(Refused::new(StatusCode::FORBIDDEN, why))
            }
        }
    }

    async fn route(&self, asked: Request<Incoming>) -> Result<Reply, Refused> {
        let path = asked.uri().path().to_owned();
        let is_read = matches!(*asked.method(), Method::GET | Method::HEAD);
        if path == "/v1/session" {
            return match *asked.method() {
                Method::POST => self.sign_in(asked).await,
                Method::DELETE => Ok(self.sign_out(asked.headers())),
                _ => Err(no_such_method("POST and DELETE")),
            };
        }
        if !is_read {
            return Err(no_such_method("GET: nothing is changed by this way"));
        }
        if path == "/" {
            return Ok(text("text/html; charset=utf-8", meed_report::dashboard::PAGE.to_owned()));
        }
        if let Some(name) = path.strip_prefix("/assets/") {
            let file = meed_report::dashboard::file(name);
            let (kind, file) = file.ok_or_else(nothing_here)?;
            return Ok(text(kind, file));
        }
        match path.as_str() {
            "/v1/me" => {
                let (caller, sees) = self.viewer(asked.headers()).await?;
                Ok(told(me(&caller.person, &sees)))
            }
            "/v1/events" => {
                let (caller, _) = self.viewer(asked.headers()).await?;
                events::follow(&self.streams, caller.person.name(), &self.board)
            }
            "/metrics" => {
                let (_, sees) = self.viewer(asked.headers()).await?;
                match *sees {
                    Sees::All => Ok(answer::figures(self.board.metrics())),
                    Sees::Namespaces(_) => {
                        let why = "the metrics tell the books of all queues, and are for those who \
                                   may list all pods";
                        Err(Refused::new(StatusCode::FORBIDDEN, why))
                    }
                }
            }
            _ => {
                let route = path.strip_prefix("/v1/").ok_or_else(nothing_here)?;
                let query = asked.uri().query().unwrap_or_default();
                let question = question::read(route, query).ok_or_else(nothing_here)?;
                let (_, sees) = self.viewer(asked.headers()).await?;
                self.ask(sees, question?).await.map(told)
            }
        }
    }

    /// A browser signs in by a token.
    async fn sign_in(&self, asked: Request<Incoming>) -> Result<Reply, Refused> {
        let kind = one(asked.headers(), header::CONTENT_TYPE.as_str()).unwrap_or_default();
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            let why = "say content-type: application/json";
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let body = Limited::new(asked.into_body(), BODY_BYTES).collect();
        let late = || Refused::new(StatusCode::REQUEST_TIMEOUT, "the body does not come");
        let body = timeout(LIMITS.header_time, body).await.map_err(|_| late())?;
        let long = || Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long");
        let body = body.map_err(|_| long())?.to_bytes();
        let read: Option<Value> = serde_json::from_slice(&body).ok();
        let token = read.as_ref().and_then(|read| read.as_object()).and_then(|object| {
            let is_alone = object.len() == 1;
            object.get("token").filter(|_| is_alone)?.as_str()
        });
        let wrong = || Refused::malformed("the body is {\"token\": \"...\"}");
        let token = token.ok_or_else(wrong)?.trim().to_owned();
        let person = self.porter.person(&token).await?;
        let busy = || Refused::busy("too many browsers are signed in");
        let (cookie, key) = self.doors.sign_in(person.name(), &token).ok_or_else(busy)?;
        Ok(with_cookie(&cookie, doors::LASTS.as_secs(), Some(key)))
    }

    fn sign_out(&self, headers: &HeaderMap) -> Reply {
        if let Some(shown) = cookie(headers, COOKIE) {
            self.doors.sign_out(shown);
        }
        with_cookie("", 0, None)
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refused> {
        let nobody = || {
            let why = "say who you are: a token of the API server (`kubectl create token`) as \
                       `Authorization: Bearer`, or pasted into the page";
            Refused::new(StatusCode::UNAUTHORIZED, why)
        };
        let token = match headers.contains_key(header::AUTHORIZATION) {
            true => bearer(headers).ok_or_else(nobody)?.to_owned(),
            false => {
                let shown = cookie(headers, COOKIE).ok_or_else(nobody)?;
                let key = one(headers, KEY).unwrap_or_default();
                self.doors.token(shown, key).ok_or_else(nobody)?
            }
        };
        let person = self.porter.person(&token).await?;
        Ok(Caller { token, person })
    }

    /// Who asks, and what they see; who sees nothing is refused.
    async fn viewer(&self, headers: &HeaderMap) -> Result<(Caller, Arc<Sees>), Refused> {
        let caller = self.caller(headers).await?;
        let sees = match self.porter.seen(&caller.token) {
            Some(sees) => sees,
            None => {
                let all = self.ask(Arc::new(Sees::All), Question::Namespaces).await?;
                let all = serde_json::from_value(all).unwrap_or_default();
                self.porter.sees(&caller.token, &caller.person, all).await?
            }
        };
        match &*sees {
            Sees::Namespaces(none) if none.is_empty() => {
                let name = caller.person.name();
                let why = format!(
                    "`{name}` may list pods in no namespace whose pods Meed serves: ask for a Role \
                     that allows it"
                );
                Err(Refused::new(StatusCode::FORBIDDEN, why))
            }
            _ => Ok((caller, sees)),
        }
    }

    /// Asks the leader's loop, where that is here.
    async fn ask(&self, sees: Arc<Sees>, question: Question) -> Result<Value, Refused> {
        match self.board.leads() {
            (Stage::Decides, _) => {}
            (Stage::StandsBy, leader) => {
                let why = match leader {
                    Some(name) => {
                        let pod = pod_of(&name);
                        format!("this process stands by; {pod} leads: ask that one")
                    }
                    None => "this process stands by, and nobody leads now".to_owned(),
                };
                return Err(Refused::busy(why));
            }
            (Stage::Reads, _) => return Err(Refused::busy("it leads, and reads the cluster")),
            (Stage::WaitsForQueue, _) => {
                return Err(Refused::busy("there is no Queue in this cluster yet"));
            }
        }
        let busy = || Refused::busy("too many requests wait; try again");
        let (reply, answer) = oneshot::channel();
        self.asks.try_send(Ask { sees, question, reply }).map_err(|_| busy())?;
        match timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(Refused::busy("the leader does not answer now")),
        }
    }
}

/// The pod of a process, by the name that it has in the lease: its host's, its number, its start.
fn pod_of(holder: &str) -> &str {
    holder.rsplitn(3, '-').last().unwrap_or(holder)
}

fn nothing_here() -> Refused {
    Refused::unknown("there is nothing here; docs/http.md has routes")
}

fn no_such_method(which: &str) -> Refused {
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, format!("this route takes {which}"))
}

fn me(person: &Person, sees: &Sees) -> Value {
    let (role, namespaces) = match sees {
        Sees::All => ("operator", None),
        Sees::Namespaces(own) => ("tenant", Some(own)),
    };
    json!({ "user": person.name(), "role": role, "reads_only": true, "world": "kubernetes",
        "namespaces": namespaces })
}

/// Whether a host, with whatever port, is one of these names: a forwarded port may be any.
fn is_called(host: &str, names: &[String]) -> bool {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_answered_at_whatever_port() {
        let names = ["localhost", "127.0.0.1", "[::1]", "meed.example.org"].map(str::to_owned);
        for host in ["localhost", "LOCALHOST:8081", "127.0.0.1:1", "[::1]:80", "[::1]"] {
            assert!(is_called(host, &names), "{host}");
        }
        for host in ["", ":80", "localhost.evil.org:80", "evil.org", "localhost:80:80", "::1"] {
            assert!(!is_called(host, &names), "{host}");
        }
        assert!(is_called("meed.example.org", &names));
        assert_eq!(pod_of("meed-7d9f-x2x4z-1-1764073468000000"), "meed-7d9f-x2x4z");
        assert_eq!(pod_of("odd"), "odd");
    }
}
