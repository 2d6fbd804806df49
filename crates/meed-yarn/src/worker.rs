//! Each core on a thread of its own, known by a number.
//!
//! A ResourceManager that is active and one that is standby may live in one process; their ledgers
//! share nothing. A panic ends the thread of one ledger: whoever asked gets a sentence, and from
//! then on every question to it gets the same.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::core::{Core, CoreError, PluginAnswer};
use crate::message::PluginRequest;

/// First byte of an answer: JSON, rows, refused, over.
pub const TEXT: u8 = 0;
/// Rows.
pub const ROWS: u8 = 1;
/// A sentence: nothing has changed.
pub const REFUSED: u8 = 2;
/// A sentence: the ledger is over.
pub const OVER: u8 = 3;

struct Asked {
    request: PluginRequest,
    answer: Sender<Vec<u8>>,
}

struct Workers {
    last: i64,
    live: BTreeMap<i64, (Sender<Asked>, JoinHandle<()>)>,
}

static WORKERS: Mutex<Workers> = Mutex::new(Workers { last: 0, live: BTreeMap::new() });

/// Answers a question to ledger `handle`; one to ledger 0 opens another, whose number stands, in 8
/// bytes, before the text of the answer.
pub fn ask(handle: i64, question: &[u8]) -> Vec<u8> {
    if cfg!(panic = "abort") {
        return told(
            OVER,
            "this library was built so that a panic ends the process: build it with \
                           `cargo build --profile yarn -p meed-yarn`",
        );
    }
    let request = match serde_json::from_slice(question) {
        Ok(request) => request,
        Err(why) => return told(REFUSED, &format!("the question cannot be read: {why}")),
    };
    let (answer, answered) = channel();
    let over = || told(OVER, "this ledger is over");
    let asked = Asked { request, answer };
    if handle == 0 {
        let (questions, asks) = channel();
        let name = "meed-ledger".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || work(&asks));
        let thread = match thread {
            Ok(thread) => thread,
            Err(why) => return told(OVER, &format!("no thread: {why}")),
        };
        if questions.send(asked).is_err() {
            return over();
        }
        let bytes = answered.recv().unwrap_or_else(|_| over());
        return match bytes.first() {
            Some(&TEXT) => opened(questions, thread, &bytes),
            _ => bytes,
        };
    }
    let questions = workers().live.get(&handle).map(|(questions, _)| questions.clone());
    match questions.is_some_and(|questions| questions.send(asked).is_ok()) {
        true => answered.recv().unwrap_or_else(|_| over()),
        false => over(),
    }
}

/// Closes a ledger: its journal is free for another one when this returns.
pub fn close(handle: i64) {
    let Some((questions, thread)) = workers().live.remove(&handle) else { return };
    // The thread ends when nobody can ask any more. It catches its panics, so it ends well.
    drop(questions);
    let _ = thread.join();
}

fn opened(questions: Sender<Asked>, thread: JoinHandle<()>, text: &[u8]) -> Vec<u8> {
    let mut all = workers();
    all.last += 1;
    let handle = all.last;
    all.live.insert(handle, (questions, thread));
    let mut bytes = vec![TEXT];
    bytes.extend_from_slice(&handle.to_be_bytes());
    bytes.extend_from_slice(&text[1..]);
    bytes
}

fn workers() -> std::sync::MutexGuard<'static, Workers> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn told(kind: u8, text: &str) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// The thread of a ledger.
fn work(asks: &Receiver<Asked>) {
    let mut core: Option<Core> = None;
    while let Ok(Asked { request, answer }) = asks.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| respond(&mut core, &request)));
        let (bytes, over) = match done {
            Ok(bytes) => (bytes, core.is_none()),
            Err(panic) => {
                let what = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let what = what.or_else(|| panic.downcast_ref::<String>().cloned());
                let what = what.unwrap_or_else(|| "without a word".to_owned());
                (told(OVER, &format!("the ledger panicked, which is a defect: {what}")), true)
            }
        };
        let over = over || bytes.first() == Some(&OVER);
        if over {
            // The journal is free before anybody hears of it.
            core = None;
        }
        let _ = answer.send(bytes);
        // Nobody waits for that any more.
        drop(request);
        if over {
            return;
        }
    }
}

fn respond(core: &mut Option<Core>, request: &PluginRequest) -> Vec<u8> {
    let answer = match core {
        Some(core) => core.answer(request),
        None => Core::open(request.clone()).map(|(opened, told)| {
            *core = Some(opened);
            PluginAnswer::Text(serde_json::to_string(&told).unwrap_or_default())
        }),
    };
    match answer {
        Ok(PluginAnswer::Text(text)) => told(TEXT, &text),
        Ok(PluginAnswer::Rows(mut rows)) => {
            // In its place: a copy would be another stretch of memory that is far away.
            rows.insert(0, ROWS);
            rows
        }
        Err(CoreError::Refused(why)) => told(REFUSED, &why),
        Err(CoreError::Over(why)) => told(OVER, &why),
    }
}
