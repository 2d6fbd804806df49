//! `meed top`: the machine, its queues and its jobs, again and again.
//!
//! A view is made whole from two answers of the server ([`Seen`]), as lines that fit the terminal
//! ([`frame`]); nothing of the last one is kept but where the list of jobs begins. A server that
//! goes away is waited for. Into a pipe, and with `--once`, one view is printed. With `--json` it
//! is a document; with `--every` as well one after the other, a line each, as long as somebody
//! reads.

mod screen;

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::{print, table_options};
use meed_cli::programs::KUBERNETES;
use meed_config::text::{clean, counted};
use meed_config::units::parse_span;
use serde_json::{Value, json};

use super::queues::{HEADS, in_turn, row};
use super::table::{ago, columns_in};
use super::whom::{Whom, WhomArgs, server_words};
use super::{SocketArgs, print_json};
use crate::client::{AskError, Client};
use crate::clock::wall_us;
use crate::protocol::{JobStanding, JobView, Jobs, JobsQuery, Request};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed top
  meed top --every 5s
  meed top --once
  meed top --json --every 10s
  meed top --kubernetes
  meed top --context production
  meed top --slurm";

#[derive(Args)]
pub(crate) struct TopArgs {
    /// How often the server is asked, from 0.1s to 1h. Default: 1s, of a cluster 5s.
    #[arg(long, value_name = "TIME")]
    every: Option<String>,
    /// Prints one view and ends.
    #[arg(long)]
    once: bool,
    /// Prints one view as JSON (docs/server.md); with --every one after the other, a line each.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whom: WhomArgs,
    #[command(flatten)]
    server: SocketArgs,
}

/// Letters of a name that are shown.
const MOST_LETTERS: usize = 24;
/// Most jobs that are asked for: the newest.
const MOST_JOBS: usize = 1000;

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    let given = args.every.as_deref().map(every).transpose()?;
    let (mut source, usual) = match args.whom.find(&args.server)? {
        Whom::Server { client, .. } => (Source::Server(&args.server, Some(client)), "1s"),
        Whom::Cluster { because } => (Source::Cluster(&args.whom, because), "5s"),
    };
    let every = given.map_or_else(|| every(usual), Ok)?;
    // Where there is no server from the beginning that is said, and nothing is taken over.
    let seen = source.ask()?;
    if args.json {
        let once = args.once || args.every.is_none();
        return stream(&mut source, seen, every, once);
    }
    if args.once || !std::io::stdout().is_terminal() {
        let lines = frame(&seen, table_options().width, usize::MAX, 0);
        return print(&(lines.join("\n") + "\n"));
    }
    screen::run(source, seen, every)
        .map_err(|why| Failure::Run(format!("the terminal cannot be used: {why}")))
}

/// Views as lines of JSON. A server that goes away ends it: who reads them decides what then.
fn stream(
    source: &mut Source<'_>,
    mut seen: Seen,
    every: Duration,
    once: bool,
) -> Result<(), Failure> {
    loop {
        print_json(&seen.document())?;
        if once {
            return Ok(());
        }
        std::thread::sleep(every);
        seen = source.ask()?;
    }
}

/// Who is asked.
enum Source<'a> {
    /// A server, and the way to it where it has answered.
    Server(&'a SocketArgs, Option<Client>),
    /// A cluster, and why where nobody has said so.
    Cluster(&'a WhomArgs, Option<String>),
}

impl Source<'_> {
    /// What there is now. A server that was started again is another one behind the same socket.
    fn ask(&mut self) -> Result<Seen, Failure> {
        match self {
            Source::Server(server, client) => {
                let mut asked = match client.take() {
                    Some(client) => client,
                    None => server.connect()?,
                };
                let seen = Seen::ask(&mut asked)?;
                *client = Some(asked);
                Ok(seen)
            }
            Source::Cluster(whom, because) => {
                Seen::read(&KUBERNETES.ask(&whom.line(&["top"], None, because.as_deref()))?)
            }
        }
    }
}

fn every(text: &str) -> Result<Duration, Failure> {
    let span = parse_span(text).map_err(|why| Failure::Usage(format!("--every: {why}")))?;
    let every = Duration::from_micros(span.as_micros());
    match (Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&every) {
        true => Ok(every),
        false => Err(Failure::Usage(format!("--every {text}: wanted is 0.1s to 1h"))),
    }
}

/// What the server says at one instant.
#[derive(Clone, Debug)]
struct Seen {
    at_us: u64,
    /// Who says so, in words.
    of: String,
    /// Of [`Request::Queues`].
    queues: Value,
    jobs: Vec<JobView>,
    /// Older jobs are left out.
    more: bool,
}

impl Seen {
    fn ask(client: &mut Client) -> Result<Seen, AskError> {
        let queues = client.ask(&Request::Queues {})?;
        let query = JobsQuery { all: true, limit: Some(MOST_JOBS), ..JobsQuery::default() };
        let Jobs { mut jobs, more } = client.ask_for(&Request::Jobs(query))?;
        jobs.sort_by_key(|job| (standing(job.state), job.id));
        let of = server_words(client);
        Ok(Seen { at_us: wall_us(), of, queues, jobs, more: more.is_some() })
    }

    /// What [`Seen::document`] has written, here or in the program of the cluster.
    fn read(document: &str) -> Result<Seen, Failure> {
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::Run(format!("the answer of the cluster cannot be read: {why}"))
        };
        let told: Value = serde_json::from_str(document).map_err(|why| wrong(&why))?;
        let mut jobs: Vec<JobView> =
            serde_json::from_value(told["jobs"].clone()).map_err(|why| wrong(&why))?;
        jobs.sort_by_key(|job| (standing(job.state), job.id));
        let queues = json!({ "queues": told["queues"], "resources": told["resources"] });
        let at_us = told["at_us"].as_u64().ok_or_else(|| wrong(&"no `at_us`"))?;
        let of = told["of"].as_str().unwrap_or_default().to_owned();
        Ok(Seen { at_us, of, queues, jobs, more: told["more"] == true })
    }

    /// The answers of `meed queues` and `meed jobs --all`, of one instant.
    fn document(&self) -> Value {
        let Seen { at_us, of, queues, jobs, more } = self;
        let (queues, resources) = (&queues["queues"], &queues["resources"]);
        json!({ "at_us": at_us, "of": of, "resources": resources, "queues": queues, "jobs": jobs,
            "more": more })
    }
}

/// Jobs that run come first, then those that wait, then those that may not start.
fn standing(state: JobStanding) -> u8 {
    match state {
        JobStanding::Running => 0,
        JobStanding::Waiting => 1,
        _ => 2,
    }
}

/// At most `height` lines of at most `width` columns: who says so, the machine, the queues (at most
/// a third of the lines), and the jobs from `first` on.
fn frame(seen: &Seen, width: usize, height: usize, first: usize) -> Vec<String> {
    let seconds = seen.at_us / 1_000_000 % 86_400;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let count = |state| seen.jobs.iter().filter(|job| job.state == state).count();
    let mut lines = vec![format!("meed top of {}", clean(&seen.of))];
    lines.push(format!(
        "{hours:02}:{minutes:02}:{seconds:02} UTC  {}: {} running, {} waiting{}",
        counted(seen.jobs.len() as u64, "job"),
        count(JobStanding::Running),
        count(JobStanding::Waiting),
        if seen.more { " (of the newest; there are more)" } else { "" }
    ));
    let resources = seen.queues["resources"].as_array().into_iter().flatten();
    lines.extend(resources.map(|resource| bar(resource, width)));
    lines.push(String::new());
    let queues = in_turn(&seen.queues);
    let room = (height / 3).max(3);
    let shown = queues.iter().take(room).map(|queue| {
        let mut cells = row(queue);
        cells[0] = short(&cells[0]);
        cells
    });
    lines.extend(table(&HEADS, shown));
    lines.extend(hidden(queues.len(), room, "queues"));
    lines.push(String::new());
    let heads = ["JOB", "NAME", "USER", "QUEUE", "STATE", "RUN", "OVER", "TASKS", "SINCE"];
    let room = height.saturating_sub(lines.len() + 2);
    let jobs = seen.jobs.iter().skip(first).take(room).map(|job| of_job(job, seen.at_us));
    lines.extend(table(&heads, jobs));
    lines.extend(hidden(seen.jobs.len(), first.saturating_add(room), "jobs"));
    lines.truncate(height);
    lines.iter().map(|line| line.chars().take(width).collect()).collect()
}

/// The last line of a list that does not fit.
fn hidden(all: usize, shown: usize, what: &str) -> Option<String> {
    (all > shown).then(|| format!("... and {} more {what}", all - shown))
}

/// One line for each row: what is too wide is cut with the frame.
fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    columns_in(usize::MAX, heads, rows).lines().map(str::to_owned).collect()
}

/// A name that leaves room for others.
fn short(name: &str) -> String {
    match name.chars().count() <= MOST_LETTERS {
        true => name.to_owned(),
        false => name.chars().take(MOST_LETTERS - 3).chain("...".chars()).collect(),
    }
}

fn of_job(job: &JobView, now_us: u64) -> Vec<String> {
    vec![
        job.id.to_string(),
        short(job.name.as_deref().unwrap_or_default()),
        short(&job.user),
        short(&job.queue),
        job.state.word().to_owned(),
        job.running.to_string(),
        (job.done + job.failed).to_string(),
        job.tasks.to_string(),
        ago(job.submitted_us, now_us),
    ]
}

/// How much of a resource is held: `cpu  [#####---------------]  4 of 16`.
fn bar(resource: &Value, width: usize) -> String {
    let (has, held) = (&resource["has"], &resource["held"]);
    let (has, held) = (has.as_f64().unwrap_or(0.0), held.as_f64().unwrap_or(0.0));
    let amount = |amount: f64| match resource["unit"].as_str() {
        Some("bytes") => format!("{:.1} GiB", amount / (1u64 << 30) as f64),
        _ => format!("{amount:.1}"),
    };
    let cells = (width / 3).clamp(10, 40);
    let full = if has > 0.0 { (held / has * cells as f64).round() as usize } else { 0 };
    let full = full.min(cells);
    format!(
        "{:<8} [{}{}] {} of {}",
        clean(resource["resource"].as_str().unwrap_or_default()),
        "#".repeat(full),
        "-".repeat(cells - full),
        amount(held),
        amount(has)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(jobs: u64) -> Seen {
        let queue = |name: &str, next: Option<u32>| {
            json!({ "queue": name, "next": next, "weight": 1.0, "share": 2.0, "held": 1.0,
                "waiting_tasks": 3, "measured": "cpu", "books": { "usage": 7200.0,
                "balance": -3600.0 } })
        };
        let queues = json!({
            "queues": [queue("idle", None), queue("b\u{1b}[2J", Some(1)), queue("a", Some(0))],
            "resources": [
                { "resource": "cpu", "unit": "milli", "has": 16.0, "held": 4.0 },
                { "resource": "memory", "unit": "bytes", "has": 8589934592.0, "held": 0.0 },
            ],
        });
        let job = |id| JobView {
            id,
            name: (id % 2 == 0).then(|| "x".repeat(300)),
            user: "ann".to_owned(),
            queue: "a".to_owned(),
            state: if id < 3 { JobStanding::Running } else { JobStanding::Waiting },
            tasks: 4,
            running: 1,
            done: 2,
            failed: 1,
            stopped: 0,
            lost_us: 0,
            submitted_us: 0,
            ended_us: None,
            why: None,
        };
        let of = "the server at /run/meed.sock".to_owned();
        Seen { at_us: 3_723_000_000, of, queues, jobs: (1..=jobs).map(job).collect(), more: false }
    }

    #[test]
    fn what_a_cluster_tells_is_a_view() {
        let mut cluster = seen(3);
        cluster.more = true;
        let read = Seen::read(&cluster.document().to_string()).unwrap();
        let frame = |seen: &Seen| frame(seen, 200, 40, 0);
        assert_eq!(frame(&read), frame(&cluster));
        for (wrong, why) in [("{", "EOF"), ("{}", "cannot be read"), ("{\"jobs\":[]}", "`at_us`")] {
            let Err(Failure::Run(error)) = Seen::read(wrong) else { panic!("{wrong} is read") };
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_view_fits_the_terminal_whatever_its_size() {
        for width in [1, 20, 40, 80, 300] {
            for height in [0, 1, 5, 24, 100] {
                for first in [0, 7, 5000] {
                    let lines = frame(&seen(50), width, height, first);
                    assert!(lines.len() <= height);
                    for line in &lines {
                        assert!(line.chars().count() <= width, "{width}: {line:?}");
                        assert!(!line.contains('\u{1b}'), "{line:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_view_says_who_holds_what_who_is_next_and_what_is_left_out() {
        let text = frame(&seen(50), 100, 24, 0).join("\n");
        assert!(
            text.starts_with(
                "meed top of the server at /run/meed.sock\n01:02:03 UTC  50 jobs: 2 running, 48"
            ),
            "{text}"
        );
        assert!(
            text.contains("cpu      [########-------------------------] 4.0 of 16.0"),
            "{text}"
        );
        assert!(text.contains("0.0 GiB of 8.0 GiB"), "{text}");
        let (a, b, idle) = (text.find("\n a "), text.find("\n b"), text.find("\n idle"));
        assert!(a < b && b < idle && a.is_some(), "served next comes first:\n{text}");
        assert!(text.contains("2.00") && text.contains("-1.00"), "{text}");
        assert!(text.contains("more jobs"), "{text}");
        assert!(frame(&seen(3), 100, 60, 0).iter().all(|line| !line.contains("more")));
        // From further down.
        let down = frame(&seen(50), 100, 24, 45).join("\n");
        assert!(down.contains("\n 50 ") && !down.contains("more jobs"), "{down}");
    }
}
