//! A dry run, who may order the cluster, and what is left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::lab::Lab;
use super::ledger::SHARES;

/// A second instance is refused, a controller that was away is put right within a round, and reset
/// leaves Slurm as it was.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.accounts(SHARES)?;
    dry(lab)?;
    for user in ["games", "man"].repeat(4) {
        lab.submit(user, "-A optics -n8 -t 5 --wrap 'sleep 60'")?;
    }
    let mut meed = lab.meed(&["--metrics", "meed.prom"])?;
    let placed = || lab.said("sprio -h -o '%S'").map(|text| nonzero(&text)).unwrap_or(0);
    lab.until("factors are set", || placed() > 0)?;
    why(lab)?;
    let second = lab.said("meed-slurm run --apply --state meed --rounds 1");
    let said = second.err().unwrap_or_default();
    if !said.contains(&format!("process {}", meed.id())) {
        return Err(format!("a second instance was not refused with the first's name: {said}"));
    }
    lab.end("slurmctld");
    lab.until("metrics say that Slurm is away", || counted(lab, "meed_slurm_answers") == Some(0))?;
    lab.controller()?;
    lab.sh("squeue -h -t PD -o %A | head -1 | xargs -I{} scontrol update JobId={} SiteFactor=0")?;
    lab.until("the order is in force again", || {
        lab.said("squeue -h -t PD -o %A").is_ok_and(|jobs| jobs.lines().count() == placed())
    })?;
    lab.until("metrics say that Slurm answers", || counted(lab, "meed_slurm_answers") == Some(1))?;
    let set = counted(lab, "meed_slurm_factors_set_total").unwrap_or(0);
    if set < placed() as u64 {
        return Err(format!("metrics count {set} factors, and {} are set", placed()));
    }
    meed.kill()?;
    lab.sh("meed-slurm reset --state meed")?;
    match placed() {
        0 => Ok(()),
        left => Err(format!("{left} jobs have a site factor after reset")),
    }
}

/// What people are told: by `meed why --slurm`, of jobs that wait for their turn and of others,
/// from files that every user may read.
fn why(lab: &Lab) -> Result<(), String> {
    lab.sh("sacctmgr -i -Q modify account chem set GrpTRES=cpu=1")?;
    let waits = lab.said("squeue -h -t PD -u man -o %A | tail -1")?.trim().to_owned();
    let held = lab.submit("man", &format!("-A optics -d afterok:{waits} --wrap true"))?;
    let limited = lab.submit("news", "-A chem -n8 -t 5 --wrap true")?;
    let limit = "AssocGrpCpuLimit, its account or user is at a limit of cores";
    for (job, words) in [
        (&waits, "Slurm says: "),
        (&waits, "Meed puts it in place "),
        (&waits, "by Slurm's own priorities: place "),
        (&waits, "Slurm's fair share alone: its user in place "),
        (&waits, "next: job "),
        (&held, "Slurm says: Dependency, it waits for another job"),
        (&held, "Meed gives it no place"),
        (&limited, limit),
    ] {
        let asked = format!("meed why {job} --slurm --state meed");
        lab.until(&format!("`{asked}` says `{words}`"), || {
            lab.said(&asked).is_ok_and(|told| told.contains(words))
        })?;
    }
    lab.sh("meed queues --slurm --state meed | grep -q 'fair tree'")?;
    lab.sh("meed top --slurm --state meed --once | grep -q 'Slurm alone'")?;
    for name in ["meed", "meed/standings.json"] {
        let told = fs::metadata(lab.path(name)).map_err(|why| format!("{name}: {why}"))?;
        if told.permissions().mode() & 0o4 == 0 {
            return Err(format!("{name} cannot be read by a job's user"));
        }
    }
    lab.sh(&format!("scancel {held} {limited}"))?;
    lab.sh("sacctmgr -i -Q modify account chem set GrpTRES=cpu=-1").map(drop)
}

fn nonzero(text: &str) -> usize {
    text.lines().filter(|line| !matches!(line.trim(), "" | "0")).count()
}

/// A dry run says what Slurm starts that Meed would have put behind others. Slurm hears of use once
/// in a minute, so it goes on with `games`.
fn dry(lab: &Lab) -> Result<(), String> {
    let submit = |user: &str, jobs: u32| {
        let submit = |_| lab.submit(user, "-A optics -n8 -t 5 --wrap 'sleep 3'").map(drop);
        (0..jobs).try_for_each(submit)
    };
    submit("games", 5)?;
    std::thread::sleep(Duration::from_secs(3));
    submit("man", 2)?;
    let said = lab.said("meed-slurm run --state dry --every 1s --rounds 6")?;
    for words in ["next by Slurm's own priorities: ", "next by Meed's order: ", "dry run: of "] {
        if !said.contains(words) {
            return Err(format!("a dry run does not say `{words}`:\n{said}"));
        }
    }
    let other = said.lines().find(|line| line.starts_with("Slurm started "));
    let other = other.filter(|line| line.contains("Meed would have started"));
    let other = other.ok_or_else(|| format!("nothing was started otherwise:\n{said}"))?;
    let sum = said.lines().last().unwrap_or_default();
    crate::say(&format!("{other}\n{sum}"));
    match lab.said("sprio -h -o '%S'").map(|text| nonzero(&text))? {
        0 => lab.until_empty(),
        set => Err(format!("a dry run has set {set} site factors")),
    }
}

/// A sample of the file of metrics.
fn counted(lab: &Lab, name: &str) -> Option<u64> {
    let page = fs::read_to_string(lab.path("meed.prom")).ok()?;
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.parse().ok()
}
