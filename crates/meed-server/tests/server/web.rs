//! A client of the HTTP interface, by hand: what it sends is what the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Server, until};

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Where a server listens.
pub(crate) struct Web {
    pub(crate) address: String,
}

/// A server that offers HTTP.
pub(crate) fn served(config: Option<&str>) -> (Server, Web) {
    let text = format!("{}\n[http]\nlisten = \"127.0.0.1:0\"\n", config.unwrap_or_default());
    let server = Server::start(Some(&text));
    let web = Web::of(&server);
    (server, web)
}

impl Web {
    pub(crate) fn of(server: &Server) -> Web {
        let address = until("the interface listens", || {
            let log = server.log_since_start();
            log.lines()
                .rev()
                .find_map(|line| Some(line.split_once("HTTP at http://")?.1.to_owned()))
        });
        Web { address }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// What comes back for these bytes, until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Got {
        let mut stream = self.connect();
        // Who refuses may not read all of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        parse(&String::from_utf8_lossy(&answer))
    }

    /// A request with these header lines.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Got {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            text += &format!("Host: {}\r\n", self.address);
        }
        for line in headers {
            text += &format!("{line}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.raw(format!("{text}\r\n{body}").as_bytes())
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> Got {
        self.send("GET", path, &[&bearer(token)], "")
    }

    pub(crate) fn post(&self, token: &str, path: &str, body: &str) -> Got {
        self.send("POST", path, &[&bearer(token), "Content-Type: application/json"], body)
    }

    /// A stream of events, behind its head.
    pub(crate) fn events(&self, token: &str, last: Option<&str>) -> Events {
        let mut stream = self.connect();
        let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        // Of HTTP/1.0, so that what comes is what was sent, without marks of parts.
        let head = format!(
            "GET /v1/events HTTP/1.0\r\nHost: {}\r\n{}\r\n{last}\r\n",
            self.address,
            bearer(token)
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        Events { lines }
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn parse(text: &str) -> Got {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Got { status, head: head.to_owned(), body: body.to_owned() }
}

/// See [`Web::events`].
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

/// An event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Events {
    /// The next event; `None`: the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => event.id = id.to_owned(),
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line == "\n" && !event.name.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// The next event of a job.
    pub(crate) fn job(&mut self) -> Event {
        loop {
            let event = self.next().expect("the stream goes on");
            if event.name == "job" {
                return event;
            }
        }
    }
}
