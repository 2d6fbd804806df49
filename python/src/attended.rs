//! Long work without Python's lock: signals are looked for, and progress is told, while it goes on.
//!
//! The work is done in a thread of its own, for only the main thread of Python hears of signals.
//! Work that tells how far it is ends where it tells that next, once somebody wants it to.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::run;

/// How often signals are looked for, and progress is told.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What unwinds work that is to end.
struct Ends;

/// What `work` comes to. It is given whom to tell how much of how much is done, and `progress` is
/// called with both.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> T + Send,
) -> PyResult<T> {
    let (done, of, ends) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let told = |now: usize, all: usize| {
        done.store(now, Ordering::Relaxed);
        of.store(all, Ordering::Relaxed);
        if ends.load(Ordering::Relaxed) {
            // No panic: nothing is printed.
            resume_unwind(Box::new(Ends));
        }
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (says, hears) = channel();
            let told = &told;
            let whole = move || {
                let result = catch_unwind(AssertUnwindSafe(|| work(told)));
                // Who waits is there until this is said.
                let _ = says.send(result);
            };
            let named = std::thread::Builder::new().name("meed-work".to_owned());
            named.spawn_scoped(scope, whole).map_err(|why| run(format!("no thread: {why}")))?;
            let (mut raised, mut before) = (None, 0);
            loop {
                match hears.recv_timeout(LOOK) {
                    Ok(Ok(result)) => return raised.map_or(Ok(result), Err),
                    Ok(Err(unwound)) => return Err(raised.unwrap_or_else(|| panicked(unwound))),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {}
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return Err(run("the work is lost")),
                }
                let now = done.load(Ordering::Relaxed);
                let call = progress.as_ref().filter(|_| now != before);
                before = now;
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    let told = (now, of.load(Ordering::Relaxed));
                    call.map_or(Ok(()), |call| call.call1(py, told).map(|_| ()))
                });
                if let Err(error) = looked {
                    raised = Some(error);
                    ends.store(true, Ordering::Relaxed);
                }
            }
        })
    })
}

/// What a panic of the work comes out as.
fn panicked(unwound: Box<dyn Any + Send>) -> PyErr {
    let words = unwound.downcast_ref::<String>().cloned();
    let words = words.or_else(|| unwound.downcast_ref::<&str>().map(|words| (*words).to_owned()));
    run(format!("a fault of Meed: {}", words.unwrap_or_else(|| "no more is known".to_owned())))
}
