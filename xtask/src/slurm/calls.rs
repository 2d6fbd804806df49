//! How many jobs a second are brought into an order, by each way that Slurm has: `SiteFactor` and
//! `Nice` by `scontrol`, one command for each job or for a list, and slurmrestd.

use std::fs;
use std::process::Stdio;

use super::daemon::Daemon;
use super::lab::Lab;
use crate::tools::{now, runs};

/// So many jobs wait, and each gets a value of its own.
const JOBS: usize = 400;

/// So often each way is tried; ways take turns.
const REPEATS: usize = 3;

/// A way, and the line of the shell that makes commands of numbers of jobs.
const WAYS: [(&str, &str); 6] = [
    (
        "SiteFactor, a command for each job in one session",
        "sed \"s/.*/update JobId=& SiteFactor=$N&/\" jobs | scontrol",
    ),
    (
        "SiteFactor, lists of 200 jobs in one session",
        "xargs -n 200 <jobs | tr ' ' , | sed \"s/.*/update JobId=& SiteFactor=$N/\" | scontrol",
    ),
    (
        "SiteFactor, a command for each job in four sessions at once",
        "split -n r/4 jobs part.; for part in part.*; do \
         sed \"s/.*/update JobId=& SiteFactor=$N&/\" $part | scontrol & done; wait; rm part.*",
    ),
    (
        "SiteFactor, a program for each job",
        "head -100 jobs | while read job; do scontrol update JobId=$job SiteFactor=$N$job; done",
    ),
    (
        "Nice, a command for each job in one session",
        "sed \"s/.*/update JobId=& Nice=$N&/\" jobs | scontrol",
    ),
    (
        "slurmrestd (v0.0.38), nice, one connection",
        "sed \"s|.*|next\\nurl = \\\"http://x/slurm/v0.0.38/job/&\\\"\\nunix-socket = own/rest\\n\
         header = \\\"Content-Type: application/json\\\"\\ndata = {\\\"nice\\\":$N&}\\n\
         output = /dev/null|\" jobs | sed 1d >calls; curl -sS -K calls",
    ),
];

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.accounts(super::ledger::SHARES)?;
    for _ in 0..2 {
        lab.submit("mail", "-A plasma -n8 -t 60 --wrap 'sleep 600'")?;
    }
    lab.sh(&format!(
        "for i in $(seq {JOBS}); do sbatch --uid=games -Q -A optics -D /tmp -o /dev/null -n1 -t 5 \
         --wrap true; done >/dev/null; squeue -h -t PD -o %A >jobs"
    ))?;
    let rest = rest(lab)?;
    let mut took = vec![Vec::new(); WAYS.len()];
    for run in 0..REPEATS {
        for (way, took) in WAYS.iter().zip(&mut took) {
            if way.0.starts_with("slurmrestd") && rest.is_none() {
                continue;
            }
            let jobs = if way.1.starts_with("head") { 100 } else { JOBS };
            let began = now();
            lab.sh(&format!("N={} ; {{ {}; }} >said 2>&1", run + 1, way.1))?;
            took.push(began.elapsed().as_secs_f64() * 1000.0 / jobs as f64);
            if !is_in_force(lab, way.0, run + 1)? {
                let said = fs::read_to_string(lab.path("said")).unwrap_or_default();
                return Err(format!("{}: it is not in force: {said}", way.0));
            }
        }
    }
    for ((name, _), took) in WAYS.iter().zip(&took).filter(|(_, took)| !took.is_empty()) {
        let each: Vec<String> = took.iter().map(|took| format!("{took:.2}")).collect();
        let best = took.iter().copied().fold(f64::INFINITY, f64::min);
        let jobs = 1000.0 / best;
        crate::say(&format!(
            "{name}: {} ms a job, at best {jobs:.0} jobs a second",
            each.join(", ")
        ));
    }
    drop(rest);
    lab.sh("squeue -h -o %A | sort -u | xargs -n 300 scancel").map(drop)
}

/// The first job has what it was told.
fn is_in_force(lab: &Lab, way: &str, run: usize) -> Result<bool, String> {
    let first = lab.said("head -1 jobs")?.trim().to_owned();
    let column = if way.starts_with("SiteFactor") { "%S" } else { "%N" };
    let told = lab.said(&format!("sprio -h -j {first} -o {column}"))?;
    // A list has one value for all.
    let wanted = match way.contains("lists") {
        true => run.to_string(),
        false => format!("{run}{first}"),
    };
    Ok(told.trim().trim_start_matches('-') == wanted)
}

/// slurmrestd on a socket of the lab, where it is installed.
fn rest(lab: &Lab) -> Result<Option<Daemon>, String> {
    if !runs("slurmrestd", "-V") || !runs("curl", "--version") {
        crate::say("LEFT OUT: slurmrestd or curl is not here");
        return Ok(None);
    }
    lab.sh("install -d -o games own")?;
    let mut command = lab.command("slurmrestd");
    let socket = format!("unix:{}", lab.path("own/rest").display());
    // It refuses to run as root or SlurmUser; whose the jobs are may raise their nice.
    command.args(["-u", "games", "-s", "openapi/v0.0.38", "-a", "rest_auth/local", &socket]);
    let log = fs::File::create(lab.path("log/slurmrestd")).map_err(|why| why.to_string())?;
    let rest = Daemon::start("slurmrestd", command.stdin(Stdio::null()).stderr(log))?;
    let ping = "curl -sS --unix-socket own/rest http://x/slurm/v0.0.38/ping";
    lab.until("slurmrestd", || lab.sh(ping).is_ok())?;
    Ok(Some(rest))
}
