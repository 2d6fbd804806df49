//! slurmctld is killed, and its backup takes over: the order is in force again, and the ledger is
//! that of `sacct`, while Meed runs on.
//!
//! Both are on this machine: each has a host name and a file of hosts of its own (namespaces), and
//! an address of the loopback interface.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use super::daemon::Daemon;
use super::lab::Lab;
use super::ledger::{SHARES, accounted, used};

/// The name of the backup's host.
const BACKUP: &str = "meed-backup";

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    if lab.sh("unshare --uts --mount true").is_err() {
        crate::say("LEFT OUT: slurmctld's backup: there are no namespaces for a second host");
        return Ok(());
    }
    let mut first = two_controllers(lab)?;
    lab.accounts(SHARES)?;
    let mut meed = lab.meed(&[])?;
    for user in ["games", "man"].repeat(3) {
        lab.submit(user, "-A optics -n8 -t 5 --wrap 'sleep 15'")?;
    }
    let is_in_force = || {
        let waits = lab.said("squeue -h -t PD -o %A").map(|jobs| jobs.lines().count());
        let placed = lab.said("sprio -h -o '%S'").map(|factors| nonzero(&factors));
        waits.is_ok_and(|waits| waits > 0 && placed == Ok(waits))
    };
    lab.until("the order is in force", is_in_force)?;
    // slurmctld saves its state every five seconds: a job that is newer is lost with it.
    std::thread::sleep(Duration::from_secs(7));
    first.kill()?;
    lab.until("the backup answers", || lab.sh("timeout 5 squeue").is_ok())?;
    lab.sh("squeue -h -t PD -o %A | head -1 | xargs -I{} scontrol update JobId={} SiteFactor=0")?;
    lab.until("the order is in force after a failover", is_in_force)?;
    lab.until_empty()?;
    lab.until("ledger and sacct are equal after a failover", || {
        used(lab).is_ok_and(|used| accounted(lab).is_ok_and(|told| used == told))
    })?;
    meed.kill()?;
    crate::say("slurmctld's backup took over: the order is in force, the ledger is sacct's");
    Ok(())
}

fn nonzero(factors: &str) -> usize {
    factors.lines().filter(|line| !matches!(line.trim(), "" | "0")).count()
}

/// Starts two controllers in place of one; the first of them. The other one ends with the lab.
fn two_controllers(lab: &Lab) -> Result<Daemon, String> {
    lab.end("slurmd");
    lab.end("slurmctld");
    lab.sh(&format!(
        "host=$(cat /proc/sys/kernel/hostname)\n\
         printf '127.0.0.1 localhost %s\\n127.0.0.2 {BACKUP}\\n' $host >hosts\n\
         sed -i '/^SlurmctldHost=/a SlurmctldHost={BACKUP}(127.0.0.2)\\nSlurmctldTimeout=5\\n\
         CommunicationParameters=NoCtldInAddrAny\\nDebugFlags=NO_CONF_HASH' slurm.conf\n\
         # Each would end the other by the number in a common file.\n\
         sed 's/slurmctld.pid/backup.pid/' slurm.conf >backup.conf"
    ))?;
    let first = controller(lab, "$(cat /proc/sys/kernel/hostname)", "slurm.conf")?;
    lab.until("slurmctld", || lab.sh("timeout 5 scontrol ping | grep -q 'primary.* UP'").is_ok())?;
    lab.keep(controller(lab, BACKUP, "backup.conf")?);
    lab.until("its backup", || lab.sh("timeout 5 scontrol ping | grep -q 'backup.* UP'").is_ok())?;
    lab.nodes()?;
    Ok(first)
}

fn controller(lab: &Lab, host: &str, conf: &str) -> Result<Daemon, String> {
    let line = format!(
        "host={host}; mount --bind hosts /etc/hosts && hostname $host && exec slurmctld -D"
    );
    let log = fs::File::options().create(true).append(true).open(lab.path("log/controllers"));
    let log = log.map_err(|why| why.to_string())?;
    let errors = log.try_clone().map_err(|why| why.to_string())?;
    let mut command = lab.command("unshare");
    command.args(["--uts", "--mount", "bash", "-c", &line]).env("SLURM_CONF", lab.path(conf));
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    Daemon::start("slurmctld", &mut command)
}
