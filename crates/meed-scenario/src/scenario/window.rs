//! `trace.window`: the time for which a log has all jobs.
//!
//! | value | |
//! |---|---|
//! | `all` | all of the log; what a scenario file has where it says nothing |
//! | `find` | what [`meed_workload::window`] finds; what a bare trace has |
//! | `FROM..TO` | from then on and before then; dates, or times of the log (`7d..35d`). One of both may be missing |

use meed::{Span, Time};
use meed_config::units::{format_span, parse_span};
use meed_workload::table::{date_for_people, parse_date_in};
use meed_workload::window::{LogWindow, Windowed};

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum WindowPlan {
    #[default]
    All,
    Find,
    Told(Option<Edge>, Option<Edge>),
    Known(LogWindow),
}

/// One end of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// Microseconds since 1970.
    Date(u64),
    /// Since the first submission.
    After(Span),
}

impl WindowPlan {
    /// What `text` says; dates without a zone are in `zone`.
    pub(super) fn read(text: Option<&str>, zone: Option<&str>) -> Result<WindowPlan, String> {
        let Some(text) = text else { return Ok(WindowPlan::All) };
        let known = match text.trim() {
            "all" => WindowPlan::All,
            "find" => WindowPlan::Find,
            text => {
                let (from, to) = text.split_once("..").ok_or_else(|| wrong(text))?;
                let edge = |side: &str| match side.trim() {
                    "" => Ok(None),
                    side => edge(side, zone).map(Some).ok_or_else(|| wrong(text)),
                };
                match (edge(from)?, edge(to)?) {
                    (None, None) => return Err(wrong(text)),
                    (from, to) => WindowPlan::Told(from, to),
                }
            }
        };
        Ok(known)
    }

    /// The window of a log whose clock said so at its first submission.
    pub(super) fn resolve(self, clock_us: Option<u64>) -> Result<Option<LogWindow>, String> {
        let time = |edge: Option<Edge>| match (edge, clock_us) {
            (None, _) => Ok(None),
            (Some(Edge::After(span)), _) => Ok(Some(Time::ZERO.saturating_add(span))),
            (Some(Edge::Date(date)), Some(clock)) => {
                Ok(Some(Time::from_micros(date.saturating_sub(clock)).unwrap_or(Time::MAX)))
            }
            (Some(Edge::Date(_)), None) => Err("trace, window: the log has no dates; say times \
                since its first submission, as in 7d..35d"
                .to_owned()),
        };
        match self {
            WindowPlan::All | WindowPlan::Find => Ok(None),
            WindowPlan::Known(window) => Ok(Some(window)),
            WindowPlan::Told(from, to) => {
                let window = LogWindow { begin: time(from)?.unwrap_or(Time::ZERO), end: time(to)? };
                match window.end.is_some_and(|end| end <= window.begin) {
                    true => Err("trace, window: it ends before it begins, or before the log \
                        does"
                        .to_owned()),
                    false => Ok(Some(window)),
                }
            }
        }
    }
}

fn wrong(text: &str) -> String {
    format!(
        "trace, window: `{text}` is not `all`, `find`, or FROM..TO, as in 2026-01-01..2026-02-01 \
         or 7d..35d"
    )
}

fn edge(text: &str, zone: Option<&str>) -> Option<Edge> {
    match parse_date_in(text, zone) {
        Some(date) => Some(Edge::Date(date)),
        None => parse_span(text).ok().map(Edge::After),
    }
}

/// What is said of a window in which there is no job.
pub(super) fn nobody(counts: Windowed) -> String {
    let Windowed { before, after, .. } = counts;
    format!(
        "trace, window: no job of the log is in it; {before} had ended before it, {after} came \
         later"
    )
}

/// What is said of a window and of the jobs that it changes; `is_found`: nobody has said it.
pub(super) fn words(
    window: LogWindow,
    counts: Windowed,
    clock_us: Option<u64>,
    is_found: bool,
) -> String {
    let at = |time: Time| match clock_us {
        Some(clock) => date_for_people(clock.saturating_add(time.as_micros())),
        None => {
            format!("{} after its first submission", format_span(time.saturating_since(Time::ZERO)))
        }
    };
    let told = [
        ("running then", counts.running, "start there before all others with what was left"),
        ("waiting then", counts.waiting, "come right behind these"),
        ("ended by then", counts.before, "left out"),
        ("later", counts.after, "left out"),
    ];
    let parts = told.iter().filter(|(_, jobs, _)| *jobs > 0);
    let parts = parts.map(|(which, jobs, what)| format!("{which}: {jobs}, {what}"));
    let parts = parts.collect::<Vec<_>>().join("; ");
    let end = window.end.map_or(String::new(), |end| format!(" and ends {}", at(end)));
    let begin = match window.begin {
        Time::ZERO => "begins with its first job".to_owned(),
        begin => format!("begins {}", at(begin)),
    };
    let why = match is_found {
        true => {
            " (before that the log has only what was alive then; --window FROM..TO says \
            another, --window all takes all)"
        }
        false => "",
    };
    let what = if parts.is_empty() { parts } else { format!("; jobs {parts}") };
    format!("window: the log {begin}{end}{what}{why}")
}
