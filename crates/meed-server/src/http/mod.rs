//! The HTTP interface and the dashboard: off unless asked for, on this machine unless told
//! otherwise, and then by TLS alone (docs/http.md).
//!
//! One thread serves all connections; it asks the world's thread as the socket does, and decides
//! nothing itself. What it takes is bounded: connections, the time and size of headers and bodies,
//! the time of answers, and how long who reads nothing is waited for.

mod events;
mod gate;
mod guard;
mod jobs;
mod listing;
mod log;
mod metrics;
mod openapi;
mod pages;
mod problem;
mod queues;
mod read;
mod session;
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use hyper_util::service::TowerToHyperService;
use meed_http::{HttpLimits, WhenFull};
use serde::Serialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::service::Message;
use crate::settings::HttpSettings;
use crate::world::World;
use gate::{Counts, Gate};
use problem::Problem;

/// What is taken at once, and for how long.
const LIMITS: HttpLimits = HttpLimits {
    connections: 256,
    when_full: WhenFull::Closed,
    of_address: None,
    header_time: Duration::from_secs(10),
    header_bytes: Some(32 << 10),
    headers: Some(64),
    all_time: None,
    keeps_alive: true,
};

/// An interface that listens, and is not served yet.
pub(crate) struct Listening {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    hosts: Vec<String>,
    /// What it is called in links.
    name: String,
}

/// Listens where the settings or the command line say so; `None`: nowhere.
pub(crate) fn listen(
    settings: &HttpSettings,
    asked: Option<SocketAddr>,
) -> Result<Option<Listening>, String> {
    let Some(address) = asked.or(settings.listen) else { return Ok(None) };
    let tls = match &settings.tls {
        Some((certificate, key)) => Some(tls::acceptor(certificate, key)?),
        None if address.ip().is_loopback() => None,
        None => {
            return Err(format!(
                "{address} can be reached from elsewhere, where tokens must not be read on the \
                 way: name `certificate` and `key` in [http], or listen at 127.0.0.1"
            ));
        }
    };
    let listener = TcpListener::bind(address).map_err(|why| match why.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{address}: another program listens there; stop it, or name another port")
        }
        _ => format!("{address}: {why}"),
    })?;
    let address = listener.local_addr().map_err(|why| why.to_string())?;
    listener.set_nonblocking(true).map_err(|why| why.to_string())?;
    let hosts = hosts(address, &settings.hosts);
    let name = match settings.hosts.first() {
        Some(host) => format!("{host}:{}", address.port()),
        None => address.to_string(),
    };
    Ok(Some(Listening { listener, tls, hosts, name }))
}

/// What the server may be called: its address, this machine's own names, and those of the settings.
fn hosts(address: SocketAddr, named: &[String]) -> Vec<String> {
    let port = address.port();
    let mut hosts = vec![address.to_string()];
    let names = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
    for name in names.iter().chain(named) {
        hosts.push(format!("{name}:{port}"));
        // Browsers leave out the usual port; and a proxy in front may have another.
        if port == 443 || port == 80 || named.contains(name) {
            hosts.push(name.clone());
        }
    }
    hosts
}

impl Listening {
    /// Serves, in a thread of its own. Where it is met.
    pub(crate) fn serve(
        self,
        world: &mut World,
        sender: SyncSender<Message>,
        state: PathBuf,
    ) -> io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", self.name);
        let doors = world.doors();
        doors.open_at(url.clone());
        let gate = Arc::new(Gate {
            sender,
            doors,
            feed: world.follow(),
            hosts: self.hosts,
            state,
            is_secure: self.tls.is_some(),
            counts: Counts::default(),
        });
        let (listener, tls) = (self.listener, self.tls);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(8)
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || runtime.block_on(accept(&listener, tls.as_ref(), &gate)))?;
        Ok(url)
    }
}

fn routes(gate: Arc<Gate>) -> Router {
    Router::new()
        .route("/v1/jobs", get(jobs::list).post(jobs::submit))
        .route("/v1/jobs/{job}", get(jobs::show))
        .route("/v1/jobs/{job}/why", get(jobs::why))
        .route("/v1/jobs/{job}/cancel", post(jobs::cancel))
        .route("/v1/jobs/{job}/hold", post(jobs::hold))
        .route("/v1/jobs/{job}/release", post(jobs::release))
        .route("/v1/jobs/{job}/tasks/{index}/log", get(jobs::log))
        .route("/v1/queues", get(queues::list))
        .route("/v1/queues/{queue}", get(queues::show))
        .route("/v1/cluster", get(queues::cluster))
        .route("/v1/history", get(queues::history))
        .route("/v1/me", get(queues::me))
        .route("/v1/session", post(session::sign_in).delete(session::sign_out))
        .route("/v1/events", get(events::events))
        .route("/v1/openapi.json", get(openapi::openapi))
        .route("/metrics", get(metrics::page))
        .route("/healthz", get(queues::health))
        .route("/readyz", get(queues::ready))
        .route("/", get(pages::index))
        .route("/assets/{name}", get(pages::asset))
        .fallback(|| async { Problem::unknown("there is nothing here; docs/http.md has routes") })
        .method_not_allowed_fallback(|| async {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            let kind = crate::protocol::RefusalKind::Malformed;
            Problem::new(status, kind, "this route takes another method")
        })
        .layer(from_fn_with_state(gate.clone(), guard::guard))
        .with_state(gate)
}

async fn accept(listener: &tokio::net::TcpListener, tls: Option<&TlsAcceptor>, gate: &Arc<Gate>) {
    let routes = routes(gate.clone());
    let meets = |stream| {
        let guest = Visit::of(gate);
        let (routes, tls) = (TowerToHyperService::new(routes.clone()), tls.cloned());
        async move {
            let _guest = guest;
            connection(stream, tls, routes).await;
        }
    };
    let closes = || {
        gate.counts.refused.fetch_add(1, Ordering::Relaxed);
    };
    LIMITS.accept(listener, meets, closes).await;
}

/// A connection is counted while it lasts.
struct Visit {
    gate: Arc<Gate>,
}

impl Visit {
    fn of(gate: &Arc<Gate>) -> Visit {
        gate.counts.connections.fetch_add(1, Ordering::Relaxed);
        Visit { gate: gate.clone() }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.gate.counts.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    routes: TowerToHyperService<Router>,
) {
    let Some(tls) = tls else { return LIMITS.serve(stream, routes).await };
    let met = tokio::time::timeout(LIMITS.header_time, tls.accept(stream)).await;
    if let Ok(Ok(stream)) = met {
        LIMITS.serve(stream, routes).await;
    }
}

/// An answer's object.
fn value(what: impl Serialize) -> serde_json::Value {
    serde_json::to_value(what).expect("memory takes all, and keys are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_this_machine_only_by_tls() {
        let settings = HttpSettings::default();
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
            let why = listen(&settings, Some(address.parse().unwrap())).map(|_| ()).unwrap_err();
            assert!(why.contains("certificate"), "{why}");
        }
        assert!(listen(&settings, None).unwrap().is_none(), "off unless asked for");
        let there = listen(&settings, Some("127.0.0.1:0".parse().unwrap())).unwrap().unwrap();
        let address = there.listener.local_addr().unwrap();
        let taken = listen(&settings, Some(address)).map(|_| ()).unwrap_err();
        assert!(taken.contains("another program listens there"), "{taken}");
        assert!(there.hosts.contains(&format!("localhost:{}", address.port())));
        assert!(!there.hosts.contains(&"localhost".to_owned()));
        let tls = Some(("/none/cert.pem".into(), "/none/key.pem".into()));
        let settings = HttpSettings { tls, ..settings };
        let why = listen(&settings, Some("127.0.0.1:0".parse().unwrap())).map(|_| ()).unwrap_err();
        assert!(why.contains("/none/cert.pem"), "{why}");
    }

    #[test]
    fn tls_is_spoken_where_it_is_asked_for() {
        use tokio_rustls::rustls::pki_types::pem::PemObject;
        use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
        use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

        // Made for this test alone, and for nobody's machine.
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/");
        let (certificate, key) =
            (format!("{data}localhost.pem"), format!("{data}localhost-key.pem"));
        let tls = Some((certificate.clone().into(), key.into()));
        let settings = HttpSettings { tls, ..HttpSettings::default() };
        let there = listen(&settings, Some("127.0.0.1:0".parse().unwrap())).unwrap().unwrap();
        let address = there.listener.local_addr().unwrap();
        let (sender, _receiver) = std::sync::mpsc::sync_channel(1);
        let gate = Arc::new(Gate {
            sender,
            doors: Default::default(),
            feed: Arc::new(crate::feed::Feed::new(1)),
            hosts: there.hosts,
            state: PathBuf::new(),
            is_secure: true,
            counts: Counts::default(),
        });
        let (listener, tls) = (there.listener, there.tls);
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                accept(&listener, tls.as_ref(), &gate).await;
            });
        });
        let ask = |stream: &mut dyn ReadWrite| {
            let host = format!("localhost:{}", address.port());
            let head = format!("GET /healthz HTTP/1.0\r\nHost: {host}\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            let mut answer = Vec::new();
            // The end of the stream need not be the protocol's.
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        };
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        let plain = std::net::TcpStream::connect(address).unwrap();
        let answer = ask(&mut StreamOwned::new(client, plain));
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
        assert!(answer.contains("strict-transport-security"), "{answer}");
        let answer = ask(&mut std::net::TcpStream::connect(address).unwrap());
        assert!(!answer.contains("200 OK"), "without TLS nothing is said: {answer}");
    }

    trait ReadWrite: io::Read + io::Write {}
    impl<S: io::Read + io::Write> ReadWrite for S {}
}
