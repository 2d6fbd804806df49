//! Tenants lend and get back: the same work under Slurm alone and under Meed.
//!
//! `games` has the cluster for a while; then `man`, `news` and `lp` come, who have used nothing,
//! each with a backlog of jobs of another length. All have one share.
//!
//! | figure | what |
//! |---|---|
//! | starts | where at least two users waited |
//! | out of turn | of a user who had used at least 40 core-seconds more than another who waited |
//! | use | core-seconds of the three who came later, at the end |

use std::collections::BTreeMap;
use std::time::Duration;

use super::lab::Lab;
use crate::tools::now;

/// User, length of a job in seconds, jobs.
const WORK: [(&str, u64, u32); 4] =
    [("games", 5, 120), ("man", 5, 120), ("news", 3, 180), ("lp", 8, 90)];

const ALONE: Duration = Duration::from_secs(12);
const TOGETHER: Duration = Duration::from_secs(45);

/// So much more use makes a start one out of turn.
const MUCH: i64 = 40;

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
    busy: i64,
}

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.sh("sacctmgr -i -Q add account alone fairshare=1")?;
    lab.sh("sacctmgr -i -Q add account meed fairshare=1")?;
    for (user, ..) in WORK {
        lab.sh(&format!("sacctmgr -i -Q add user {user} account=alone,meed fairshare=1"))?;
    }
    std::thread::sleep(Duration::from_secs(2));
    let alone = story(lab, "alone")?;
    let mut meed = lab.meed(&[])?;
    let ours = story(lab, "meed");
    meed.kill()?;
    let ours = ours?;
    for (name, told) in [("Slurm alone", &alone), ("Meed", &ours)] {
        crate::say(&format!(
            "{name}: {} starts with a choice, {} out of turn; core-s of those who came later: \
             {:?}, spread {}; {} core-s used in all",
            told.starts,
            told.out_of_turn,
            told.used,
            spread(told),
            told.busy
        ));
    }
    let share = ours.out_of_turn * 4 <= ours.starts;
    match share && spread(&ours) <= spread(&alone).max(MUCH) {
        true => Ok(()),
        false => Err("Meed serves the least served less well than it should".to_owned()),
    }
}

fn spread(told: &Figures) -> i64 {
    let most = told.used.values().max().copied().unwrap_or(0);
    most - told.used.values().min().copied().unwrap_or(0)
}

fn story(lab: &Lab, account: &str) -> Result<Figures, String> {
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
    submit(&WORK[..1])?;
    std::thread::sleep(ALONE.saturating_sub(began.elapsed()));
    submit(&WORK[1..])?;
    let from = lab.said("date +%s")?;
    std::thread::sleep(TOGETHER);
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
    Ok(judge(&jobs, from, until))
}

fn judge(jobs: &[Job], from: i64, until: i64) -> Figures {
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
            out_of_turn += usize::from(used(user, at) > least + MUCH);
        }
    }
    let late = WORK[1..].iter().map(|(user, ..)| ((*user).to_owned(), used(user, until)));
    let busy = WORK.iter().map(|(user, ..)| used(user, until) - used(user, from)).sum();
    Figures { starts, out_of_turn, used: late.collect(), busy }
}
