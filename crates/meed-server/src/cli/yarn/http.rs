//! As much of HTTP as a question to a ResourceManager needs: one GET, one answer, one connection.
//!
//! No TLS and no Kerberos: both would be libraries larger than the rest of the program. What asks
//! for them is told so in a sentence. HTTP/1.0, so that an answer ends with its connection; one in
//! chunks, as a proxy may send it, is read as well.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use meed_cli::exit::Failure;
use serde_json::Value;

/// It answers within this time.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of an answer.
const MOST: u64 = 256 << 20;

/// Where a ResourceManager's web server listens.
#[derive(Debug)]
pub(super) struct Master {
    /// As people write it, without a path at its end.
    pub(super) shown: String,
    host: String,
    port: u16,
    /// Of a proxy before it; empty, or with a slash in front.
    prefix: String,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Where else to ask.
    pub(super) location: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl Master {
    /// By its address: `http://rm:8088`, `rm:8088`, `rm`.
    pub(super) fn at(url: &str) -> Result<Master, Failure> {
        let wrong = |why: &str| {
            Failure::Usage(format!("--yarn: `{url}` {why}; it is written as in http://rm:8088"))
        };
        let rest = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => {
                return Err(Failure::Usage(format!(
                    "--yarn: `{url}`: https is not supported; ask on a machine that reaches the \
                     plain address (yarn.resourcemanager.webapp.address), or through a proxy that \
                     speaks TLS for you"
                )));
            }
            Some((scheme, _)) => return Err(wrong(&format!("begins with {scheme}://"))),
            None => url,
        };
        let (place, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if path.contains(['?', '#']) || !path.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("holds more than an address and a path"));
        }
        if place.contains('@') {
            return Err(wrong("names a user, whom nobody asks for there"));
        }
        let (host, port) = match place.rsplit_once(':') {
            // A colon in brackets belongs to an address of version 6.
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| wrong("has no port after the colon"))?)
            }
            _ => (place, 8088),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() || !host.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("names no host"));
        }
        let prefix = path.trim_end_matches('/').to_owned();
        let shown = match host.contains(':') {
            true => format!("http://[{host}]:{port}{prefix}"),
            false => format!("http://{host}:{port}{prefix}"),
        };
        Ok(Master { shown, host: host.to_owned(), port, prefix })
    }

    /// Asks for a path, with its query.
    pub(super) fn get(&self, path: &str) -> Result<Answer, Failure> {
        let answer = self.ask(path).map_err(|why| {
            let why = match why.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("nothing came within {} s", PATIENCE.as_secs())
                }
                _ => why.to_string(),
            };
            Failure::NoServer(format!("no ResourceManager answers at {}: {why}", self.shown))
        })?;
        match answer.status {
            401 => Err(Failure::Forbidden(format!(
                "the web server at {} asks who you are (Kerberos, say), which this program cannot \
                 answer; ask it with `curl --negotiate -u :` instead (docs/yarn.md)",
                self.shown
            ))),
            403 => Err(Failure::Forbidden(format!(
                "the web server at {} does not let you read {path}; its administrators may \
                 (hadoop.security.instrumentation.requires.admin)",
                self.shown
            ))),
            _ => Ok(answer),
        }
    }

    fn ask(&self, path: &str) -> std::io::Result<Answer> {
        let mut failed = std::io::Error::other("the name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return self.ask_on(stream, path),
                Err(why) => failed = why,
            }
        }
        Err(failed)
    }

    fn ask_on(&self, mut stream: TcpStream, path: &str) -> std::io::Result<Answer> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let place = self.shown.trim_start_matches("http://");
        let place = place.split('/').next().unwrap_or_default();
        let request = format!(
            "GET {}{path} HTTP/1.0\r\nHost: {place}\r\nAccept: application/json\r\n\
             Connection: close\r\n\r\n",
            self.prefix
        );
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        let read = stream.take(MOST + 1).read_to_end(&mut bytes);
        // Who ends a connection roughly may have said all before.
        if bytes.is_empty() {
            read?;
        }
        parse(&bytes)
    }
}

pub(super) fn parse(bytes: &[u8]) -> std::io::Result<Answer> {
    let no = |why: &str| std::io::Error::new(ErrorKind::InvalidData, why.to_owned());
    if bytes.len() as u64 > MOST {
        return Err(no("the answer has more than 256 MiB"));
    }
    // The first bytes of an alert, or of a greeting, of TLS.
    if bytes.starts_with(&[0x15, 0x03]) || bytes.starts_with(&[0x16, 0x03]) {
        return Err(no("it speaks TLS there, which is not supported"));
    }
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| no("the answer is none of HTTP"))?;
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).filter(|_| first.starts_with("HTTP/"));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| no("the answer is none of HTTP"))?;
    let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let field = |name: &str| {
        let mut of_name = fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.next().map(|(_, value)| value.trim())
    };
    let body = &bytes[end + 4..];
    let chunked = field("Transfer-Encoding").is_some_and(|how| how.contains("chunked"));
    let length = field("Content-Length").and_then(|length| length.parse::<usize>().ok());
    let body = match (chunked, length) {
        (true, _) => whole(body).ok_or_else(|| no("the answer ends in the middle"))?,
        (false, Some(length)) if length > body.len() => {
            return Err(no("the answer ends in the middle"));
        }
        (false, _) => body.to_vec(),
    };
    Ok(Answer { status, location: field("Location").map(str::to_owned), body })
}

/// Chunks, put together.
fn whole(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = chunks.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&chunks[..line]).ok()?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let from = line + 2;
        body.extend_from_slice(chunks.get(from..from.checked_add(size)?)?);
        chunks = chunks.get(from + size + 2..)?;
    }
}
