//! Tenants lend and get back: the same work under Slurm alone and under Meed, at once, each on a
//! cluster of its own.
//!
//! `games` has the cluster for a while; then `man`, `news` and `lp` come, who have used nothing,
//! each with a backlog of jobs of another length. All have one share.
//!
//! | figure | what |
//! |---|---|
//! | starts | where at least two users waited |
//! | out of turn | of a user who had used much more ([`Pace`]) than another who waited |
//! | use | core-seconds of the three who came later, at the end |
//!
//! [`idle`] asks what Meed's writes cost: all jobs are of one length, so that whose jobs start does
//! not decide how often cores change hands, and kinds of runs take turns.

use std::collections::BTreeMap;
use std::time::Duration;

use super::beside::alone_and_ours;
use super::daemon::Daemon;
use super::lab::Lab;
use crate::tools::now;

type Work = [(&'static str, u64, u32); 4];

/// User, length of a job in seconds, jobs.
const WORK: Work = [("games", 5, 120), ("man", 5, 120), ("news", 3, 180), ("lp", 8, 90)];

/// The same with jobs eight times as long.
const LONG_WORK: Work = [("games", 40, 120), ("man", 40, 120), ("news", 24, 180), ("lp", 64, 90)];

/// The same with jobs of one length, and enough for [`LONG`] and for one user alone.
const EQUAL: Work = [("games", 5, 280), ("man", 5, 280), ("news", 5, 280), ("lp", 5, 280)];

/// What is submitted, and how long it is watched.
#[derive(Clone, Copy)]
struct Pace {
    work: Work,
    alone: Duration,
    together: Duration,
    /// So much more use makes a start one out of turn.
    much: i64,
}

const SHORT: Pace = Pace {
    work: WORK,
    alone: Duration::from_secs(12),
    together: Duration::from_secs(45),
    much: 40,
};

/// All times, and so all uses, are eight times those of [`SHORT`].
const SLOW: Pace = Pace {
    work: LONG_WORK,
    alone: Duration::from_secs(96),
    together: Duration::from_secs(360),
    much: 320,
};

const LONG: Duration = Duration::from_secs(75);

/// So often each kind of run of [`idle`] is repeated.
const REPEATS: usize = 3;

/// Factors are written as often as by Meed, and as many, but they are what they were.
const WRITER: &str = "while sleep 2; do squeue -h -t PD -o %A | head -20 | \
                      sed 's/.*/update JobId=& SiteFactor=0/' | scontrol >/dev/null 2>&1; done";

/// What is done to the jobs of a run of [`idle`].
#[derive(Clone, Copy)]
enum By {
    Nobody,
    Writer,
    Meed,
    /// The same, and Slurm looks for work a second after an end, in place of three.
    MeedSoon,
}

const KINDS: [(&str, By); 4] = [
    ("Slurm alone", By::Nobody),
    ("a writer that changes nothing", By::Writer),
    ("Meed", By::Meed),
    ("Meed, batch_sched_delay=1", By::MeedSoon),
];

/// So far apart, of what makes a start one out of turn, are users who are as good as even.
const EVEN: i64 = 2;

/// A job: user, when it was submitted, when it started and ended.
struct Job {
    user: String,
    submit: i64,
    start: Option<i64>,
    end: Option<i64>,
}

struct Figures {
    starts: usize,
    out_of_turn: usize,
    used: BTreeMap<String, i64>,
    /// How far apart the three who came later are after each third of the time.
    spreads: [i64; 3],
    busy: i64,
}

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    compare(lab, &SHORT, 3)
}

/// The same with jobs eight times as long: what a core waits for its next job is less beside them.
pub(super) fn slow(lab: &Lab) -> Result<(), String> {
    compare(lab, &SLOW, 3)
}

/// The same where Slurm looks for work a second after an end, in place of three.
pub(super) fn soon(lab: &Lab) -> Result<(), String> {
    compare(lab, &SHORT, 1)
}

/// Slurm looks for work so many seconds after an end at the latest.
fn set_delay(lab: &Lab, seconds: u32) -> Result<(), String> {
    lab.sh(&format!(
        "sed -i 's/^\\(SchedulerParameters=bf_interval=5\\).*/\\1,bf_continue,\
         batch_sched_delay={seconds}/' slurm.conf && scontrol reconfigure"
    ))
    .map(drop)
}

fn compare(lab: &Lab, pace: &Pace, delay: u32) -> Result<(), String> {
    let other = lab.another("alone")?;
    [lab, &other].into_iter().try_for_each(|lab| set_delay(lab, delay))?;
    let users = |lab: &Lab| lab.equal_users("all", &names(&pace.work));
    let (alone, ours) = alone_and_ours(lab, other, users, |lab| story(lab, "all", pace))?;
    for (name, told) in [("Slurm alone", &alone), ("Meed", &ours)] {
        crate::say(&format!(
            "{name}: {} starts with a choice, {} out of turn; core-s of those who came later: \
             {:?}, spread after each third {:?}; {} core-s used in all",
            told.starts, told.out_of_turn, told.used, told.spreads, told.busy
        ));
    }
    let share = ours.out_of_turn * 4 <= ours.starts;
    match share && 3 * spread(&ours) <= spread(&alone).max(3 * pace.much / EVEN) {
        true => Ok(()),
        false => Err("Meed serves the least served less well than it should".to_owned()),
    }
}

/// The users of the work.
fn names(work: &Work) -> [&'static str; 4] {
    work.map(|(user, ..)| user)
}

/// How much is used under Slurm alone, with writes that change nothing, and under Meed.
pub(super) fn idle(lab: &Lab) -> Result<(), String> {
    let cores = 16 * LONG.as_secs() as i64;
    for run in 0..REPEATS * KINDS.len() {
        let (name, by) = KINDS[(run + run / KINDS.len()) % KINDS.len()];
        let account = format!("run{run}");
        lab.equal_users(&account, &names(&EQUAL))?;
        let delay = if matches!(by, By::MeedSoon) { 1 } else { 3 };
        set_delay(lab, delay)?;
        let by = match by {
            By::Nobody => None,
            By::Writer => Some(Daemon::start("writer", lab.command("bash").args(["-c", WRITER]))?),
            // A ledger of its own, so that all begin with nothing.
            By::Meed | By::MeedSoon => Some(lab.meed_in(&account, &[])?),
        };
        let told = story(lab, &account, &Pace { work: EQUAL, together: LONG, ..SHORT })?;
        drop(by);
        if told.starts == 0 {
            return Err(format!("{name}: nothing started"));
        }
        crate::say(&format!(
            "{name}: {:.1} % used, {} starts with a choice, {} out of turn, a core is idle for \
             {:.2} s before each start, spread {}",
            100.0 * told.busy as f64 / cores as f64,
            told.starts,
            told.out_of_turn,
            (cores - told.busy) as f64 / told.starts as f64,
            spread(&told)
        ));
    }
    Ok(())
}

fn spread(told: &Figures) -> i64 {
    told.spreads[2]
}

fn story(lab: &Lab, account: &str, pace: &Pace) -> Result<Figures, String> {
    let work = &pace.work;
    let submit = |users: &[(&str, u64, u32)]| {
        let lines = users.iter().map(|(user, seconds, jobs)| {
            format!(
                "for i in $(seq {jobs}); do sbatch --uid={user} -Q -A {account} -D /tmp -o \
                 /dev/null -n1 -t 2 --wrap 'sleep {seconds}'; done >/dev/null &"
            )
        });
        lab.sh(&format!("{} wait", lines.collect::<Vec<_>>().join(" ")))
    };
    let began = now();
    submit(&work[..1])?;
    std::thread::sleep(pace.alone.saturating_sub(began.elapsed()));
    submit(&work[1..])?;
    let from = lab.said("date +%s")?;
    std::thread::sleep(pace.together);
    let until = lab.said("date +%s")?;
    lab.sh("squeue -h -o %A | sort -u | xargs -n 300 scancel")?;
    lab.until_empty()?;
    // Accounting hears of the last ends some seconds later.
    std::thread::sleep(Duration::from_secs(6));
    let text = lab.said(&format!(
        "SLURM_TIME_FORMAT=%s sacct -n -P -X -a -A {account} -S now-1hour -E now \
         -o User,Submit,Start,End"
    ))?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let jobs: Vec<Job> = text
        .lines()
        .filter_map(|line| {
            let mut parts = line.split('|');
            let user = parts.next()?.to_owned();
            let (submit, start) = (number(parts.next()?)?, number(parts.next()?));
            let end = number(parts.next()?);
            // One that was cancelled before it began has held nothing.
            let start = start.filter(|start| end.is_none_or(|end| end > *start));
            Some(Job { user, submit, start, end })
        })
        .collect();
    let (from, until) = (number(&from).unwrap_or(0), number(&until).unwrap_or(0));
    Ok(judge(&jobs, (from, until), pace.much))
}

fn judge(jobs: &[Job], (from, until): (i64, i64), much: i64) -> Figures {
    let used = |user: &str, at: i64| -> i64 {
        let own = jobs.iter().filter(|job| job.user == user);
        own.filter_map(|job| {
            let start = job.start.filter(|start| *start < at)?;
            Some(job.end.unwrap_or(at).min(at) - start)
        })
        .sum()
    };
    let waits = |user: &str, at: i64| {
        jobs.iter().any(|job| {
            let is_later = job.start.is_some_and(|start| start > at);
            let never = job.start.is_none() && job.end.is_none_or(|end| end > at);
            job.user == user && job.submit <= at && (is_later || never)
        })
    };
    let (mut starts, mut out_of_turn) = (0, 0);
    let begun = jobs.iter().filter_map(|job| Some((job.start?, &job.user)));
    for (at, user) in begun.filter(|(at, _)| (from..until).contains(at)) {
        let others = WORK.iter().map(|(other, ..)| *other).filter(|other| other != user);
        let least = others.filter(|other| waits(other, at - 1)).map(|other| used(other, at)).min();
        if let Some(least) = least {
            starts += 1;
            out_of_turn += usize::from(used(user, at) > least + much);
        }
    }
    let late = WORK[1..].iter().map(|(user, ..)| ((*user).to_owned(), used(user, until)));
    let spreads = [1, 2, 3].map(|thirds| {
        let at = from + (until - from) * thirds / 3;
        let used = WORK[1..].iter().map(|(user, ..)| used(user, at));
        used.clone().max().unwrap_or(0) - used.min().unwrap_or(0)
    });
    let busy = WORK.iter().map(|(user, ..)| used(user, until) - used(user, from)).sum();
    Figures { starts, out_of_turn, used: late.collect(), spreads, busy }
}
