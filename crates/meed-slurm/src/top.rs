//! `meed slurm top`: queues and the first jobs of the order, again and again.
//!
//! A view is what `run` left with its last look. Into a pipe, and with `--once`, one view is
//! printed. With `--json` it is a document; with `--every` as well one after the other, a line
//! each, as long as somebody reads.

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;

use crate::clock;
use crate::error::ProgramError;
use crate::out::Out;
use crate::people::{age, place_text, queues_text, table};
use crate::place::StateArgs;
use crate::run::time;
use crate::world::{JobTold, Standings};

/// What `top` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    place: StateArgs,
    /// How often the view is made anew, at least 1s. Default: 2s.
    #[arg(long, value_name = "TIME")]
    every: Option<String>,
    /// So many of the first jobs are shown.
    #[arg(long, value_name = "JOBS", default_value_t = 20)]
    jobs: usize,
    /// Prints one view and ends.
    #[arg(long)]
    once: bool,
    /// For programs; with --every one document after the other, a line each.
    #[arg(long)]
    json: bool,
}

/// From the top left, all that was there gone.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Shows views until a signal, or until nobody reads.
///
/// # Errors
///
/// A state folder without what `run` leaves; a time that is none.
pub(crate) fn top(args: &TopArgs, out: &mut Out) -> Result<(), ProgramError> {
    let every = time("--every", args.every.as_deref().unwrap_or("2s"))?;
    let every = every.max(Duration::from_secs(1));
    let is_view = std::io::stdout().is_terminal() && !args.json;
    let is_stream = args.json && args.every.is_some();
    let once = args.once || !(is_view || is_stream);
    loop {
        let standings = args.place.standings()?;
        let is_read = match args.json {
            true => {
                let text = serde_json::to_string(&standings);
                out.line(&text.map_err(|why| ProgramError::Run(why.to_string()))?)
            }
            false => {
                let clears = is_view && !once;
                let shown = !clears || out.raw(CLEAR);
                let lines = view(&standings, args.jobs, clock::seconds());
                shown && lines.iter().all(|line| out.line(line))
            }
        };
        if once || !is_read {
            return Ok(());
        }
        std::thread::sleep(every);
    }
}

/// A view as lines.
fn view(standings: &Standings, most: usize, now: i64) -> Vec<String> {
    let mut lines = vec![age(standings, now)];
    lines.extend(queues_text(standings));
    lines.push(String::new());
    let heads = ["job", "queue", "place", "Slurm alone", "site factor", "reason"];
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(standings.jobs.iter().take(most).map(row));
    lines.extend(table(&rows));
    let more = standings.jobs.len().saturating_sub(most);
    if more > 0 {
        lines.push(format!("and {more} more that wait"));
    }
    lines
}

fn row(job: &JobTold) -> [String; 6] {
    [
        job.name.clone(),
        job.queue.clone(),
        place_text(job.place),
        place_text(job.alone),
        job.factor.to_string(),
        job.reason.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_queues_and_the_first_jobs_in_both_orders() {
        let job = |name: &str, place, alone| JobTold {
            name: name.to_owned(),
            queue: "bio.ann".to_owned(),
            place,
            alone,
            factor: 7,
            reason: "Priority".to_owned(),
            ..JobTold::default()
        };
        let jobs =
            vec![job("4", Some(0), Some(2)), job("5", Some(1), Some(0)), job("6", None, None)];
        let standings =
            Standings { at: 10, order: "long-term".to_owned(), jobs, ..Standings::default() };
        let lines = view(&standings, 2, 12);
        assert_eq!(lines[0], "as of 2 s ago, by long-term");
        let find = |name: &str| {
            let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(find("4 "), ["4", "bio.ann", "1", "3", "7", "Priority"]);
        assert_eq!(find("5 "), ["5", "bio.ann", "2", "1", "7", "Priority"]);
        assert_eq!(lines.last().unwrap(), "and 1 more that wait");
    }
}
