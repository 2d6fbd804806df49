//! A web server that answers as it was told, on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Ends with its value.
pub(crate) struct Master {
    pub(crate) url: String,
    at: SocketAddr,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Answers by path and query: a body; `STATUS LOCATION` for another status; `raw TEXT` for what is
/// no answer at all.
type Answers = BTreeMap<String, String>;

impl Master {
    pub(crate) fn of(answers: Answers) -> Master {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        let done = Arc::new(AtomicBool::new(false));
        let ends = done.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                stream.and_then(|stream| answer(stream, &answers)).expect("it is answered");
            }
        });
        Master { url: format!("http://{at}"), at, done, thread: Some(thread) }
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        self.done.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.at);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, answers: &Answers) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let told = answers.get(path).map_or("404 -", String::as_str);
    if let Some(raw) = told.strip_prefix("raw ") {
        return stream.write_all(raw.as_bytes());
    }
    let status = told.get(..4).and_then(|status| status.trim_end().parse::<u16>().ok());
    let (head, body) = match status {
        Some(status) => (format!("{status} -\r\nLocation: {}", &told[4..]), ""),
        None => ("200 OK".to_owned(), told),
    };
    let text = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes())
}

pub(crate) fn bean(what: &str) -> String {
    format!("/jmx?get=Hadoop:service=ResourceManager,name=MeedStanding::{what}")
}

pub(crate) fn why(application: &str) -> String {
    bean(&format!("Why.{application}"))
}

/// What a ResourceManager answered, with applications and user renamed.
pub(crate) fn recorded() -> Answers {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/yarn/recorded");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was kept");
    let mut answers: Answers = [
        ("/ws/v1/cluster/info", "info.json"),
        ("/ws/v1/cluster/metrics", "metrics.json"),
        ("/ws/v1/cluster/scheduler", "scheduler.json"),
    ]
    .map(|(path, name)| (path.to_owned(), read(name)))
    .into();
    answers.insert(bean("Queues"), read("queues.json"));
    for (file, app) in [("0", super::RUNS), ("1", super::WAITS)] {
        answers.insert(format!("/ws/v1/cluster/apps/{app}"), read(&format!("app-{file}.json")));
        answers.insert(why(app), read(&format!("why-{file}.json")));
    }
    answers
}
