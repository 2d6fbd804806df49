//! Wide jobs with limits among many small ones: what backfill starts, and how much is used, under
//! Slurm alone and under Meed, at once, each on a cluster of its own.
//!
//! | user | jobs |
//! |---|---|
//! | `games` | half of the cluster for 20 s, with a limit of 2 min |
//! | `man` | the whole cluster for 8 s, with a limit of 1 min |
//! | `news`, `lp` | one core for 5 s, with a limit of 1 min |
//!
//! While a job of `games` runs, a wide job waits for its limit, and small ones fit before.

use std::time::Duration;

use super::beside::alone_and_ours;
use super::lab::Lab;

/// User, cores, seconds, limit in minutes, jobs.
const WORK: [(&str, u32, u32, u32, u32); 4] =
    [("games", 8, 20, 2, 8), ("man", 16, 8, 1, 12), ("news", 1, 5, 1, 300), ("lp", 1, 5, 1, 300)];

const DURING: Duration = Duration::from_secs(120);

struct Figures {
    backfilled: u64,
    wide: u64,
    busy: i64,
    used: Vec<(&'static str, i64)>,
}

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let other = lab.another("wide-alone")?;
    let users = |lab: &Lab| lab.equal_users("all", &WORK.map(|(user, ..)| user));
    let (alone, ours) = alone_and_ours(lab, other, users, story)?;
    let all = 16 * DURING.as_secs() as i64;
    for (name, told) in [("Slurm alone", alone), ("Meed", ours)] {
        if told.wide == 0 || told.backfilled == 0 {
            return Err(format!("{name}: no wide job started, or none by backfill"));
        }
        crate::say(&format!(
            "{name}: {} starts by backfill, {} of wide jobs, {:.1} % used; core-s {:?}",
            told.backfilled,
            told.wide,
            100.0 * told.busy as f64 / all as f64,
            told.used
        ));
    }
    Ok(())
}

fn story(lab: &Lab) -> Result<Figures, String> {
    let lines = WORK.iter().map(|(user, cores, seconds, limit, jobs)| {
        format!(
            "for i in $(seq {jobs}); do sbatch --uid={user} -Q -A all -D /tmp -o /dev/null \
             -n{cores} -t {limit} --wrap 'sleep {seconds}'; done >/dev/null &"
        )
    });
    lab.sh(&format!("{} wait", lines.collect::<Vec<_>>().join(" ")))?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let now = || lab.said("date +%s").map(|text| number(&text).unwrap_or(0));
    let from = now()?;
    let before = backfilled(lab)?;
    std::thread::sleep(DURING);
    let (until, backfilled) = (now()?, backfilled(lab)? - before);
    lab.sh("squeue -h -o %A | sort -u | xargs -n 300 scancel")?;
    lab.until_empty()?;
    // Accounting hears of the last ends some seconds later.
    std::thread::sleep(Duration::from_secs(6));
    let text = lab
        .said("SLURM_TIME_FORMAT=%s sacct -nPXa -S now-1hour -E now -o User,Start,End,AllocCPUS")?;
    let mut figures = Figures { backfilled, wide: 0, busy: 0, used: Vec::new() };
    figures.used = WORK.iter().map(|(user, ..)| (*user, 0)).collect();
    for line in text.lines() {
        let parts: Vec<&str> = line.split('|').collect();
        let [user, start, end, cores] = parts[..] else { continue };
        let (Some(start), Some(cores)) = (number(start), number(cores)) else { continue };
        let end = number(end).unwrap_or(until).min(until);
        let held = (end - start.max(from)).max(0) * cores;
        figures.busy += held;
        figures.wide += u64::from(user == "man" && held > 0);
        let of_user = figures.used.iter_mut().filter(|(name, _)| *name == user);
        of_user.for_each(|(_, used)| *used += held);
    }
    Ok(figures)
}

/// Jobs that backfill has started since slurmctld began.
fn backfilled(lab: &Lab) -> Result<u64, String> {
    let text =
        lab.said("sdiag | sed -n 's/.*Total backfilled jobs (since last slurm start): //p'")?;
    text.trim().parse().map_err(|_| format!("sdiag said {text}"))
}
