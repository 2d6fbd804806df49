//! 2,000 jobs wait: how long until an order is in force, and what an idle Meed takes.

use std::time::Duration;

use super::lab::{Lab, now};

const JOBS: usize = 2000;

/// The first jobs of the order, which get a factor.
const FIRST: usize = 100;

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.sh(super::ledger::SHARES)?;
    std::thread::sleep(Duration::from_secs(2));
    // Nothing starts: what waits is what counts.
    lab.sh("scontrol update NodeName=n1,n2 State=DRAIN Reason=test")?;
    let each = JOBS / 4;
    let submit = format!(
        "for u in games man; do for i in $(seq {each}); do sbatch --uid=$u -Q -A optics -D /tmp \
         -o /dev/null -n1 -t 5 --wrap true; done >/dev/null & done; \
         for u in news lp; do for i in $(seq {each}); do sbatch --uid=$u -Q -A chem -D /tmp \
         -o /dev/null -n1 -t 5 --wrap true; done >/dev/null & done; wait"
    );
    lab.sh(&submit)?;
    lab.sh("scontrol update NodeName=n1,n2 State=RESUME")?;
    lab.sh("scontrol update PartitionName=main State=DOWN").map(drop)?;
    lab.sh("scontrol update PartitionName=main State=UP").map(drop)?;
    let waiting = lab.said("squeue -h -t PD | wc -l")?;
    let began = now();
    let mut meed = lab.meed(&["--first", &FIRST.to_string()])?;
    lab.until("the order of 2,000 jobs is in force", || {
        lab.said("grep -c 'site factors set' log/meed").is_ok_and(|count| count.trim() != "0")
    })?;
    let first = began.elapsed();
    std::thread::sleep(Duration::from_secs(12));
    let before = ticks(meed.id())?;
    std::thread::sleep(Duration::from_secs(10));
    let busy = ticks(meed.id())? - before;
    lab.sh("squeue -h -o %A | sort -u | xargs -n 500 scancel")?;
    lab.until_empty()?;
    std::thread::sleep(Duration::from_secs(4));
    let before = ticks(meed.id())?;
    std::thread::sleep(Duration::from_secs(10));
    let idle = ticks(meed.id())? - before;
    meed.kill().and_then(|()| meed.wait()).map_err(|why| why.to_string())?;
    let sets = lab.said("grep 'site factors set' log/meed | head -5 | tr '\\n' ';'")?;
    crate::say(&format!(
        "{} jobs wait: first factors in force {} ms after the program began; {}\nCPU of \
         meed-slurm with its commands, of one core: {:.1} % with jobs waiting, {:.1} % idle",
        waiting.trim(),
        first.as_millis(),
        sets.trim(),
        busy as f64 / 10.0,
        idle as f64 / 10.0
    ));
    match first < Duration::from_secs(20) {
        true => Ok(()),
        false => Err(format!("an order took {} s to be in force", first.as_secs())),
    }
}

/// Processor time of a process and of the children that it waited for, in hundredths of a second.
fn ticks(process: u32) -> Result<u64, String> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{path}: {why}"))?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let used = fields.skip(11).take(4).map(|field| field.parse::<u64>().unwrap_or(0));
    Ok(used.sum())
}
