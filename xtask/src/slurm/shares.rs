//! Users with `fairshare=parent` and with 0 shares stand as in Slurm, whatever was used; and
//! suspended time is charged as the site wishes, in two ledgers of one cluster.

use std::process::Stdio;
use std::time::Duration;

use super::daemon::Daemon;
use super::lab::Lab;
use super::ledger::used_in;

const USERS: &str = "\
sacctmgr -i -Q add account chem fairshare=1
sacctmgr -i -Q add user backup account=chem fairshare=parent
sacctmgr -i -Q add user list account=chem fairshare=0
sacctmgr -i -Q add user uucp account=chem fairshare=1";

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.accounts(USERS)?;
    let mut meed = lab.meed(&[])?;
    // A dry run keeps a ledger, too.
    let mut charged = lab.command("meed-slurm");
    charged.args(["run", "--state", "charged", "--suspended", "charged"]);
    let mut charged = Daemon::start("meed-slurm", charged.stdout(Stdio::null()))?;
    suspended(lab)?;
    charged.kill()?;
    bands(lab)?;
    meed.kill()
}

/// One ledger has what `sacct` calls CPUTimeRAW, the other one what passed from start to end.
fn suspended(lab: &Lab) -> Result<(), String> {
    let job = lab.submit("uucp", "-A chem -n2 -t 5 --wrap 'sleep 8'")?;
    let is_running = format!("squeue -h -j {job} -t R | grep -q .");
    lab.until("the job runs", || lab.sh(&is_running).is_ok())?;
    std::thread::sleep(Duration::from_secs(3));
    lab.sh(&format!("scontrol suspend {job}"))?;
    std::thread::sleep(Duration::from_secs(5));
    lab.sh(&format!("scontrol resume {job}"))?;
    lab.until_empty()?;
    let told = || -> Result<(u64, u64), String> {
        let columns = "Start,End,CPUTimeRAW,AllocCPUS";
        let row = lab.said(&format!("SLURM_TIME_FORMAT=%s sacct -nPX -j {job} -o {columns}"))?;
        let numbers: Vec<u64> =
            row.trim().split('|').filter_map(|text| text.parse().ok()).collect();
        match numbers[..] {
            [start, end, used, cpus] => Ok((used, (end - start) * cpus)),
            _ => Err(format!("sacct said {row}")),
        }
    };
    let of = |state| used_in(lab, state).ok()?.get("uucp").copied();
    lab.until("both ledgers have the job as they should", || {
        told().is_ok_and(|(free, all)| {
            free < all && of("meed") == Some(free) && of("charged") == Some(all)
        })
    })?;
    let (free, all) = told()?;
    crate::say(&format!("a suspended job: {free} core-s as in sacct, {all} where all is charged"));
    Ok(())
}

/// `backup`, who has `parent`, has used most, and `list`, who has 0 shares, nothing.
fn bands(lab: &Lab) -> Result<(), String> {
    for _ in 0..2 {
        lab.submit("backup", "-A chem -n8 -t 5 --wrap 'sleep 6'")?;
    }
    lab.until_empty()?;
    for user in ["backup", "backup", "list", "uucp", "backup"] {
        lab.submit(user, "-A chem -n8 -t 5 --wrap 'sleep 60'")?;
    }
    let factor = |user: &str| {
        let text = lab.said(&format!("sprio -h -u {user} -o %S")).unwrap_or_default();
        text.lines().filter_map(|line| line.trim().parse::<i64>().ok()).max().unwrap_or(0)
    };
    lab.until("`parent` comes first, and 0 shares last", || {
        let [parent, shares, none] = ["backup", "uucp", "list"].map(factor);
        parent > shares && shares > none && none > 0
    })?;
    lab.sh("meed-slurm queues --state meed | grep -q 'fairshare=parent: first in the account'")?;
    lab.sh("squeue -h -o %A | xargs -r scancel").map(drop)
}
