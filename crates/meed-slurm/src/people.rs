//! `meed slurm queues` and `meed slurm why`: from what `run` left with its last look.

use clap::Args;

use crate::clock;
use crate::error::ProgramError;
use crate::out::Out;
use crate::place::StateArgs;
use crate::reasons::reason;
use crate::world::{JobTold, QueueTold, Standings};

/// What `queues` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct QueuesArgs {
    #[command(flatten)]
    place: StateArgs,
    /// For programs.
    #[arg(long)]
    json: bool,
}

/// What `why` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhyArgs {
    /// The job as squeue shows it: 1234, 1234_5, 12+1.
    job: String,
    #[command(flatten)]
    place: StateArgs,
    /// For programs.
    #[arg(long)]
    json: bool,
}

/// Older than this, what is told may be of a program that does not run any more.
const STALE: i64 = 120;

/// Shows who is owed what, and whose turn is next.
///
/// # Errors
///
/// A state folder without what `run` leaves.
pub(crate) fn queues(args: &QueuesArgs, out: &mut Out) -> Result<(), ProgramError> {
    let standings = args.place.standings()?;
    if args.json {
        return json(&standings, out);
    }
    out.line(&age(&standings, clock::seconds()));
    lines(&queues_text(&standings), out);
    Ok(())
}

fn lines(lines: &[String], out: &mut Out) {
    for line in lines {
        out.line(line);
    }
}

/// The table of queues, and what is worth a line below it.
pub(crate) fn queues_text(standings: &Standings) -> Vec<String> {
    let mut rows = vec![
        [
            "queue",
            "next",
            "fair tree",
            "weight",
            "entitled",
            "holds",
            "waiting",
            "used core-h",
            "owed core-h",
        ]
        .map(str::to_owned),
    ];
    for queue in &standings.queues {
        let next = queue.next.filter(|_| queue.waiting > 0);
        rows.push([
            queue.queue.clone(),
            place_text(next),
            place_text(queue.fair_tree.as_ref().map(|told| told.place)),
            format!("{}", queue.weight),
            format!("{:.1}", queue.entitled),
            format!("{:.1}", queue.held),
            queue.waiting.to_string(),
            format!("{:.2}", queue.used / 3600.0),
            format!("{:+.2}", queue.balance / 3600.0),
        ]);
    }
    let mut lines = table(&rows);
    match standings.jobs.iter().find(|job| job.place == Some(0)) {
        Some(job) => {
            lines.push(format!("next: job {} of {}", job.name, job.queue));
            let alone = standings.jobs.iter().find(|job| job.alone == Some(0));
            if let Some(other) = alone.filter(|other| other.id != job.id) {
                let JobTold { name, queue, .. } = other;
                lines.push(format!("next by Slurm's own priorities: job {name} of {queue}"));
            }
        }
        None => lines.push("no job waits whose turn it could be".to_owned()),
    }
    lines.extend(standings.remarks.iter().map(|remark| format!("note: {remark}")));
    lines
}

/// A place for people, from 1.
pub(crate) fn place_text(place: Option<usize>) -> String {
    place.map_or("-".to_owned(), |place| (place + 1).to_string())
}

/// Columns as wide as they must be; the first to the left, the others to the right.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells =
            row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

/// Says why a job waits.
///
/// # Errors
///
/// A job that does not wait, as far as the last look knows.
pub(crate) fn why(args: &WhyArgs, out: &mut Out) -> Result<(), ProgramError> {
    let standings = args.place.standings()?;
    if !args.job.starts_with(|letter: char| letter.is_ascii_digit()) {
        let why = format!("`{}` is no job such as 1234, 1234_5 or 12+1", args.job);
        return Err(ProgramError::Input(why));
    }
    let job = find(&standings, &args.job).ok_or_else(|| {
        ProgramError::Input(format!(
            "job {} does not wait, as of the last look {} s ago: it runs, has ended, or is newer \
             than the look; squeue shows which",
            args.job,
            clock::seconds() - standings.at
        ))
    })?;
    if args.json {
        return json(job, out);
    }
    out.line(&age(&standings, clock::seconds()));
    lines(&why_text(&standings, job), out);
    Ok(())
}

/// A job by its name, by its number, or by the number of its array and an element that waits.
fn find<'a>(standings: &'a Standings, asked: &str) -> Option<&'a JobTold> {
    let jobs = &standings.jobs;
    let array = asked.split('_').next().unwrap_or(asked);
    jobs.iter()
        .find(|job| job.name == asked)
        .or_else(|| jobs.iter().find(|job| job.id.to_string() == asked))
        .or_else(|| jobs.iter().find(|job| job.name.starts_with(&format!("{array}_["))))
}

fn why_text(standings: &Standings, job: &JobTold) -> Vec<String> {
    let mut lines = vec![format!("job {} of {}", job.name, job.queue)];
    lines.push(format!("Slurm says: {}, {}", job.reason, reason(&job.reason)));
    match job.place {
        None => lines.push(
            "Meed gives it no place: its turn would be of no use while that keeps it back"
                .to_owned(),
        ),
        Some(0) => lines.push("Meed puts it first: it starts as soon as it fits".to_owned()),
        Some(place) => {
            let own = standings.jobs.iter().take_while(|other| other.id != job.id);
            let own = own.filter(|other| other.queue == job.queue).count();
            lines.push(format!(
                "Meed puts it in place {} of {}: {own} jobs of the same queue and {} of others \
                 come before it",
                place + 1,
                standings.jobs.iter().filter(|job| job.place.is_some()).count(),
                place - own
            ));
        }
    }
    if let Some(alone) = job.alone {
        let all = standings.jobs.iter().filter(|job| job.alone.is_some()).count();
        lines.push(format!("by Slurm's own priorities: place {} of {all}", alone + 1));
    }
    let queue = standings.queues.iter().find(|queue| queue.queue == job.queue);
    if let Some(told) = queue.and_then(|queue| queue.fair_tree.as_ref()) {
        lines.push(format!(
            "Slurm's fair share alone: its user in place {} of {} (FairShare {:.3})",
            told.place + 1,
            told.of,
            told.factor
        ));
    }
    if let Some(first) = standings.jobs.iter().find(|first| first.place == Some(0))
        && first.id != job.id
    {
        lines.push(format!("next: job {} of {}", first.name, first.queue));
    }
    lines.extend(queue.map(levels).into_iter().flatten());
    lines
}

/// Who is served before a leaf, at each level.
fn levels(queue: &QueueTold) -> Vec<String> {
    let line = |level: &crate::world::LevelTold| {
        let among = if level.among.is_empty() { "the accounts" } else { level.among.as_str() };
        let served = level.first.iter().map(|(name, key)| format!("{name} ({key:.1})"));
        let first = served.collect::<Vec<_>>().join(", ");
        match level.place {
            Some(0) => format!("  among {among}: first, by {}: {first}", level.order),
            Some(place) => {
                format!("  among {among}: {place} before it, by {}: {first}", level.order)
            }
            None => format!("  among {among}: nothing of it waits that could start"),
        }
    };
    queue.levels.iter().map(line).collect()
}

/// How old it is.
pub(crate) fn age(standings: &Standings, now: i64) -> String {
    let age = (now - standings.at).max(0);
    let stale = if age > STALE { "; does `meed slurm run` still run?" } else { "" };
    format!("as of {age} s ago, by {}{stale}", standings.order)
}

fn json<T: serde::Serialize>(value: &T, out: &mut Out) -> Result<(), ProgramError> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|why| ProgramError::Run(why.to_string()))?;
    for line in text.lines() {
        out.line(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::fair::parse_fair;

    fn standings() -> Standings {
        let job = |id, name: &str, queue: &str, place, reason: &str| JobTold {
            id,
            name: name.to_owned(),
            queue: queue.to_owned(),
            place,
            alone: place.map(|place: usize| 1 - place),
            factor: 0,
            reason: reason.to_owned(),
        };
        let level = crate::world::LevelTold {
            among: String::new(),
            order: "long-term".to_owned(),
            place: Some(1),
            first: vec![("bio".to_owned(), 3.0), ("chem".to_owned(), 9.0)],
        };
        let chem = QueueTold {
            queue: "chem.a".to_owned(),
            next: Some(1),
            weight: 1.0,
            waiting: 3,
            used: 7200.0,
            balance: -1800.0,
            levels: vec![level],
            ..QueueTold::default()
        };
        let mut standings = Standings {
            at: 1,
            order: "long-term".to_owned(),
            queues: vec![chem],
            jobs: vec![
                job(4, "4", "bio.b", Some(0), "Resources"),
                job(5, "5_[1-9]", "chem.a", Some(1), "Priority"),
                job(6, "6", "chem.a", None, "AssocGrpCpuLimit"),
            ],
            remarks: vec!["something".to_owned()],
        };
        let rows = parse_fair("chem|a|0.5\nbio|b|0.25\n").unwrap();
        standings.add_fair(&rows, |account, user| Some(format!("{account}.{user}")));
        standings
    }

    #[test]
    fn queues_are_a_table_with_whose_turn_is_next() {
        let lines = queues_text(&standings());
        assert!(lines[1].starts_with("chem.a") && lines[1].ends_with("2.00        -0.50"));
        let cells: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(cells[1..4], ["2", "1", "1"], "next, fair tree, weight");
        assert_eq!(lines[2], "next: job 4 of bio.b");
        assert_eq!(lines[3], "next by Slurm's own priorities: job 5_[1-9] of chem.a");
        assert_eq!(lines[4], "note: something");
    }

    #[test]
    fn a_job_is_told_who_comes_before_it() {
        let standings = standings();
        let told = |name| why_text(&standings, find(&standings, name).unwrap()).join("\n");
        assert!(told("4").contains("puts it first"));
        let array = told("5_3");
        assert!(array.contains("place 2 of 2: 0 jobs of the same queue and 1 of others"));
        assert!(array.contains("1 before it, by long-term: bio (3.0), chem (9.0)"), "{array}");
        assert!(array.contains("by Slurm's own priorities: place 1 of 2"), "{array}");
        assert!(array.contains("its user in place 1 of 2 (FairShare 0.500)"), "{array}");
        assert!(array.contains("\nnext: job 4 of bio.b\n"), "{array}");
        let limited = told("6");
        let says = "Slurm says: AssocGrpCpuLimit, its account or user is at a limit of cores";
        assert!(limited.contains(says) && limited.contains("no place"), "{limited}");
        assert!(find(&standings, "7").is_none());
    }
}
