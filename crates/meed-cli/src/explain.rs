//! `meed explain`: why.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use meed::Time;
use meed_config::units::parse_span;
use meed_sim::explain::{LogSubject, explain};
use meed_sim::replay::Recording;

use crate::exit::Failure;
use crate::explain_words::words;
use crate::output::{print, print_data, remark};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed simulate examples/lending.toml --policy long-term --log run.jsonl.zst
  meed explain run.jsonl.zst --queue ads
  meed explain run.jsonl.zst --job science/700
  meed explain run.jsonl.zst --job science/700 --at 14h --json";

#[derive(Args)]
#[command(group(ArgGroup::new("subject").required(true).args(["job", "queue"])))]
pub(crate) struct ExplainArgs {
    /// A log of `meed simulate --log` (docs/log.md), compressed or not, or the folder of a live
    /// world's journal.
    log_file: PathBuf,
    /// The job that waits: its label, with its queue before it where several queues have such a
    /// job.
    #[arg(long, value_name = "[QUEUE/]JOB")]
    job: Option<String>,
    /// The queue that waits.
    #[arg(long, value_name = "QUEUE")]
    queue: Option<String>,
    /// When: time since the start of the run, as in 2h or 90s. Default: in the middle of its
    /// longest wait.
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
    let subject = match (&args.job, &args.queue) {
        (Some(job), _) => LogSubject::Job(job.clone()),
        (None, queue) => LogSubject::Queue(queue.clone().unwrap_or_default()),
    };
    let recording = Recording::open(&args.log_file, args.run.as_deref())?;
    let explanation = explain(&recording, &subject, at.map(|at| Time::ZERO.saturating_add(at)))?;
    if args.json {
        let text = serde_json::to_string(&explanation)
            .expect("an explanation has no keys that JSON could not have");
        return print_data(&(text + "\n"));
    }
    explanation.remarks.iter().for_each(|words| remark(words));
    print(&words(&explanation, recording.units()))
}
