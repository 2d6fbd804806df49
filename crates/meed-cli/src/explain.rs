//! `meed explain`: why.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use meed::Time;
use meed_config::units::parse_span;
use meed_config::words::quote;
use meed_replay::Recording;
use meed_replay::explain::{Explanation, LogSubject, QueuesAt, explain, queues_at};
use meed_workload::CLOCK_END_US;
use meed_workload::table::date_of_run;

use crate::exit::Failure;
use crate::explain_all;
use crate::explain_words::words;
use crate::output::{print, print_data, remark};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed simulate examples/lending.toml --policy long-term --log run.jsonl.zst
  meed explain run.jsonl.zst --queue ads
  meed explain run.jsonl.zst --job science/700
  meed explain run.jsonl.zst --job science/700 --at 14h --json
  meed explain run.jsonl.zst --at 14h
  meed explain year.jsonl.zst --at \"Mar 3 14:30\"";

#[derive(Args)]
#[command(group(ArgGroup::new("subject").args(["job", "queue"])))]
pub(crate) struct ExplainArgs {
    /// A log of `meed simulate --log` (docs/log.md), compressed or not, or the folder of a live
    /// world's journal.
    #[arg(value_parser = crate::args::input)]
    log_file: PathBuf,
    /// The job that waits: its label, with its queue before it where several queues have such a
    /// job.
    #[arg(long, value_name = "[QUEUE/]JOB")]
    job: Option<String>,
    /// The queue that waits.
    #[arg(long, value_name = "QUEUE")]
    queue: Option<String>,
    /// When: time since the start of the run, as in 2h or 90s, or, where the log says what the
    /// clock said, a date, as in "Mar 3 14:30" or 2026-03-03T14:30+01:00. Default: in the middle of
    /// its longest wait. With neither a job nor a queue: how all queues stand then.
    #[arg(long, value_name = "TIME|DATE")]
    at: Option<String>,
    /// Which run, where the log holds several: its number from 1, or its policy.
    #[arg(long, value_name = "N|POLICY")]
    run: Option<String>,
    /// Prints JSON (docs/json.md) instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let told = Answered::of(&Asked {
        log_file: &args.log_file,
        job: args.job.as_deref(),
        queue: args.queue.as_deref(),
        at: args.at.as_deref(),
        run: args.run.as_deref(),
    })?;
    if args.json {
        return print_data(&told.json());
    }
    told.remarks().iter().for_each(|words| remark(words));
    print(&told.words())
}

/// What is asked of a log.
pub struct Asked<'a> {
    /// The log.
    pub log_file: &'a Path,
    /// The job that waits, with its queue before it where several have such a job.
    pub job: Option<&'a str>,
    /// The queue that waits.
    pub queue: Option<&'a str>,
    /// When, as `--at` has it.
    pub at: Option<&'a str>,
    /// Which run: its number from 1, or its policy.
    pub run: Option<&'a str>,
}

/// What is answered.
pub struct Answered {
    recording: Recording,
    answer: Answer,
}

enum Answer {
    /// Why one waits.
    One(Box<Explanation>),
    /// How all queues stand.
    All(QueuesAt),
}

impl Answered {
    /// Reads the log and looks.
    pub fn of(asked: &Asked<'_>) -> Result<Answered, Failure> {
        if let (None, None, None) = (asked.job, asked.queue, asked.at) {
            let what = "name a --job or a --queue that waits, or with --at an instant at which \
                        all queues are shown";
            return Err(Failure::Usage(what.to_owned()));
        }
        if let Some(text) = asked.at {
            // What can be no time of any run is said before a long log is read.
            time_of(text, None, Time::MAX)?;
        }
        let recording = Recording::open(asked.log_file, asked.run)?;
        let zero = recording.clock_us();
        let at = asked.at.map(|text| time_of(text, Some(zero), recording.end())).transpose()?;
        let subject = match (asked.job, asked.queue) {
            (Some(job), _) => Some(LogSubject::Job(job.to_owned())),
            (None, Some(queue)) => Some(LogSubject::Queue(queue.to_owned())),
            (None, None) => None,
        };
        let answer = match subject {
            Some(subject) => Answer::One(Box::new(explain(&recording, &subject, at)?)),
            None => Answer::All(queues_at(&recording, at.unwrap_or(Time::ZERO))?),
        };
        Ok(Answered { recording, answer })
    }

    /// For people.
    pub fn words(&self) -> String {
        match &self.answer {
            Answer::One(told) => words(told, self.recording.units()),
            Answer::All(told) => explain_all::words(told, self.recording.units()),
        }
    }

    /// For programs (docs/json.md).
    pub fn json(&self) -> String {
        let text = match &self.answer {
            Answer::One(told) => serde_json::to_string(told),
            Answer::All(told) => serde_json::to_string(told),
        };
        text.expect("an answer has no keys that JSON could not have") + "\n"
    }

    /// What is to be said of the log.
    pub fn remarks(&self) -> &[String] {
        match &self.answer {
            Answer::One(told) => &told.remarks,
            Answer::All(told) => &told.remarks,
        }
    }
}

/// A time of a run that ends at `end`, or a date where the clock said `zero` at its time 0. Without
/// a `zero` that was looked for, only whether it is one of either.
fn time_of(text: &str, zero: Option<Option<u64>>, end: Time) -> Result<Time, Failure> {
    let wrong = |what: String| Failure::Usage(format!("--at: {what}"));
    let span = match parse_span(text) {
        Ok(span) => return Ok(Time::ZERO.saturating_add(span)),
        Err(why) => why,
    };
    // Over so many years each day of the calendar comes.
    let (from, to) = match zero.flatten() {
        Some(zero) => (zero, zero.saturating_add(end.as_micros())),
        None => (0, CLOCK_END_US - 1),
    };
    let Some(date) = date_of_run(text, from, to) else {
        let what = format!("{span}; nor is it a date, as in 2026-03-03T14:30 or \"Mar 3 14:30\"");
        return Err(wrong(what));
    };
    match (zero, date) {
        (None, _) => Ok(Time::ZERO),
        (Some(None), _) => Err(wrong(format!(
            "{} is a date, and this log does not say what the clock said; give a time of the run, \
             as in 2h",
            quote(text.as_bytes())
        ))),
        (Some(Some(_)), Err(why)) => Err(wrong(format!("{} {why}", quote(text.as_bytes())))),
        (Some(Some(zero)), Ok(at)) => {
            Ok(Time::from_micros(at.saturating_sub(zero)).unwrap_or(Time::MAX))
        }
    }
}
