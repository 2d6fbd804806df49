//! `meed explain`: why.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use meed::Time;
use meed_config::units::parse_span;
use meed_sim::explain::{LogSubject, explain, queues_at};
use meed_sim::replay::Recording;
use serde::Serialize;

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
  meed explain run.jsonl.zst --at 14h";

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
    /// When: time since the start of the run, as in 2h or 90s. Default: in the middle of its
    /// longest wait. With neither a job nor a queue: how all queues stand then.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Which run, where the log holds several: its number from 1, or its policy.
    #[arg(long, value_name = "N|POLICY")]
    run: Option<String>,
    /// Prints JSON (docs/json.md) instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let at = args.at.as_deref().map(parse_span).transpose();
    let at = at.map_err(|why| Failure::Usage(format!("--at: {why}")))?;
    let at = at.map(|at| Time::ZERO.saturating_add(at));
    let subject = match (&args.job, &args.queue, at) {
        (Some(job), _, _) => LogSubject::Job(job.clone()),
        (None, Some(queue), _) => LogSubject::Queue(queue.clone()),
        (None, None, Some(at)) => return all(args, at),
        (None, None, None) => {
            let what = "name a --job or a --queue that waits, or with --at an instant at which all \
                        queues are shown";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    let recording = Recording::open(&args.log_file, args.run.as_deref())?;
    let explanation = explain(&recording, &subject, at)?;
    if args.json {
        return print_json(&explanation);
    }
    explanation.remarks.iter().for_each(|words| remark(words));
    print(&words(&explanation, recording.units()))
}

/// How all queues stand.
fn all(args: &ExplainArgs, at: Time) -> Result<(), Failure> {
    let recording = Recording::open(&args.log_file, args.run.as_deref())?;
    let told = queues_at(&recording, at)?;
    if args.json {
        return print_json(&told);
    }
    told.remarks.iter().for_each(|words| remark(words));
    print(&explain_all::words(&told, recording.units()))
}

fn print_json(told: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(told).expect("an answer has no keys that JSON could not have");
    print_data(&(text + "\n"))
}
