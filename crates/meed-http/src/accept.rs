//! Connections within bounds: so many at once and of one address, each with its time, the time and
//! size of its headers, and an end that reads.

use std::error::Error;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::seats::Seats;
use crate::stall::Stall;

/// The pause after a connection that could not be taken: there are too many files open.
const PAUSE: Duration = Duration::from_millis(50);

/// What becomes of a connection for which there is no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// It is closed.
    Closed,
    /// It waits until another has ended.
    Waits,
}

/// What a server takes at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Most connections at once.
    pub connections: usize,
    /// What becomes of further ones.
    pub when_full: WhenFull,
    /// Most connections of one address; further ones are closed.
    pub of_address: Option<usize>,
    /// Headers are whole within this time, also those of the next request on a connection.
    pub header_time: Duration,
    /// Most bytes of headers, as they are looked at after each read: what comes by one more read of
    /// the same size may be taken, so they are below twice this.
    pub header_bytes: Option<usize>,
    /// Most headers.
    pub headers: Option<usize>,
    /// A connection lasts no longer.
    pub all_time: Option<Duration>,
    /// Whether a connection may have a second request.
    pub keeps_alive: bool,
}

impl HttpLimits {
    /// Takes connections from now on. `meets` makes of each what serves it, and `closes` hears of
    /// each that found no place.
    pub async fn accept<Served>(
        self,
        listener: &TcpListener,
        meets: impl Fn(TcpStream) -> Served,
        closes: impl Fn(),
    ) where
        Served: Future<Output = ()> + Send + 'static,
    {
        let slots = Arc::new(Semaphore::new(self.connections));
        let most = self.of_address.unwrap_or(self.connections);
        let callers: Arc<Seats<IpAddr>> = Seats::new(self.connections, most);
        loop {
            // Who waits for a place waits with the system, and is not taken yet.
            let early = match self.when_full {
                WhenFull::Waits => slot(&slots).await,
                WhenFull::Closed => None,
            };
            let Ok((stream, from)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let taken = early.or_else(|| Arc::clone(&slots).try_acquire_owned().ok());
            let Some((slot, call)) = taken.zip(callers.enter(from.ip())) else {
                closes();
                continue;
            };
            // A short answer does not wait for more of it; where that cannot be said, it does.
            let _ = stream.set_nodelay(true);
            let served = meets(stream);
            let all_time = self.all_time;
            tokio::spawn(async move {
                match all_time {
                    None => served.await,
                    // Who went away, or is too slow, needs no answer.
                    Some(most) => drop(timeout(most, served).await),
                }
                // The place is free before the slot: whoever is let in next finds it.
                drop(call);
                drop(slot);
            });
        }
    }

    /// Serves one connection to its end.
    pub async fn serve<Stream, Answers, Content>(self, stream: Stream, answers: Answers)
    where
        Stream: AsyncRead + AsyncWrite + Unpin,
        Answers: Service<Request<Incoming>, Response = Response<Content>>,
        Answers::Error: Into<Box<dyn Error + Send + Sync>>,
        Content: Body + 'static,
        Content::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.header_time);
        http.keep_alive(self.keeps_alive);
        if let Some(most) = self.header_bytes {
            http.max_buf_size(most);
        }
        if let Some(most) = self.headers {
            http.max_headers(most);
        }
        let served = http.serve_connection(TokioIo::new(Stall::new(stream)), answers);
        // Who goes away in the middle is not told.
        drop(served.await);
    }
}

async fn slot(slots: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(slots).acquire_owned().await.ok()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::Full;
    use hyper::body::Bytes;
    use hyper::service::service_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LIMITS: HttpLimits = HttpLimits {
        connections: 2,
        when_full: WhenFull::Closed,
        of_address: None,
        header_time: Duration::from_millis(300),
        header_bytes: Some(8 << 10),
        headers: Some(8),
        all_time: None,
        keeps_alive: false,
    };

    /// A server with these limits, where it listens, and how many it has closed.
    async fn server(limits: HttpLimits) -> (std::net::SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let closed = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&closed);
        tokio::spawn(async move {
            let answer = async |_: Request<Incoming>| {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"here"))))
            };
            let meets = |stream| limits.serve(stream, service_fn(answer));
            let closes = || {
                count.fetch_add(1, Ordering::Relaxed);
            };
            limits.accept(&listener, meets, closes).await;
        });
        (address, closed)
    }

    async fn ask(address: std::net::SocketAddr, head: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it is taken");
        let mut answer = Vec::new();
        // A connection that is closed early may be an error of either end.
        drop(stream.read_to_end(&mut answer).await);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test]
    async fn who_finds_no_place_is_closed_and_who_is_slow_gives_it_back() {
        let (address, closed) = server(LIMITS).await;
        let whole = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        assert!(ask(address, whole).await.ends_with("here"));
        let slow = [TcpStream::connect(address).await, TcpStream::connect(address).await];
        sleep(Duration::from_millis(100)).await;
        assert_eq!(ask(address, whole).await, "", "both places are taken");
        assert_eq!(closed.load(Ordering::Relaxed), 1);
        sleep(Duration::from_millis(500)).await;
        assert!(ask(address, whole).await.ends_with("here"), "headers have a time");
        drop(slow);
    }

    #[tokio::test]
    async fn who_waits_is_answered_when_another_has_ended() {
        let limits = HttpLimits { connections: 1, when_full: WhenFull::Waits, ..LIMITS };
        let (address, closed) = server(limits).await;
        let slow = TcpStream::connect(address).await;
        let whole = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        assert!(ask(address, whole).await.ends_with("here"));
        assert_eq!(closed.load(Ordering::Relaxed), 0);
        drop(slow);
    }

    #[tokio::test]
    async fn an_address_has_so_many_and_headers_have_a_number() {
        let (address, closed) = server(HttpLimits { of_address: Some(1), ..LIMITS }).await;
        let slow = TcpStream::connect(address).await;
        sleep(Duration::from_millis(100)).await;
        assert_eq!(ask(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await, "");
        assert_eq!(closed.load(Ordering::Relaxed), 1);
        drop(slow);
        sleep(Duration::from_millis(100)).await;
        let many: String = (0..9).map(|at| format!("x-{at}: a\r\n")).collect();
        let answer = ask(address, &format!("GET / HTTP/1.1\r\n{many}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
}
