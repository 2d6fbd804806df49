//! 2,000 jobs wait: how long until an order is in force, and what Meed takes.

use std::time::Duration;

use super::daemon::Daemon;
use super::lab::Lab;
use crate::tools::now;

/// The first jobs of the order, which get a factor.
const FIRST: usize = 100;

/// What is too much.
struct Most {
    /// Until the first order, and a new job's place, are in force.
    order: Duration,
    /// Of one core, in percent, when nothing happens: with the commands that are asked.
    idle: f64,
    /// For so long that is counted: where jobs are read rarely, as long as two readings are apart.
    during: Duration,
}

/// 2,000 jobs.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let (order, during) = (Duration::from_secs(10), Duration::from_secs(8));
    wait(lab, 2_000, &Most { order, idle: 2.0, during })
}

/// 20,000 jobs, which are read once a minute while nothing happens.
pub(super) fn many(lab: &Lab) -> Result<(), String> {
    let (order, during) = (Duration::from_secs(15), Duration::from_secs(120));
    wait(lab, 20_000, &Most { order, idle: 2.0, during })
}

fn wait(lab: &Lab, jobs: usize, most: &Most) -> Result<(), String> {
    lab.sh(super::ledger::SHARES)?;
    lab.accounts("sacctmgr -i -Q add user backup account=chem fairshare=1")?;
    // The cluster is full, so what waits is what counts.
    for _ in 0..2 {
        lab.submit("mail", "-A plasma -n8 -t 60 --wrap 'sleep 600'")?;
    }
    let is_full = || lab.said("squeue -h -t R").is_ok_and(|jobs| jobs.lines().count() == 2);
    lab.until("the cluster is full", is_full)?;
    let each = jobs / 4;
    let submit = format!(
        "for u in games man; do for i in $(seq {each}); do sbatch --uid=$u -Q -A optics -D /tmp \
         -o /dev/null -n1 -t 5 --wrap true; done >/dev/null & done; \
         for u in news lp; do for i in $(seq {each}); do sbatch --uid=$u -Q -A chem -D /tmp \
         -o /dev/null -n1 -t 5 --wrap true; done >/dev/null & done; wait"
    );
    lab.sh(&submit)?;
    let waiting = lab.said("squeue -h -t PD | wc -l")?;
    let began = now();
    let mut meed = lab.meed(&["--first", &FIRST.to_string()])?;
    lab.until("the order is in force", || {
        lab.said("grep -c 'site factors set' log/meed").is_ok_and(|count| count.trim() != "0")
    })?;
    let first = began.elapsed();
    let sets = lab.said("grep 'site factors set' log/meed | head -5 | tr '\\n' ';'")?;
    crate::say(&format!(
        "{} jobs wait: first factors in force {} ms after the program began; {}",
        waiting.trim(),
        first.as_millis(),
        sets.trim()
    ));
    // Accounting is asked again and again until then.
    std::thread::sleep(Duration::from_secs(22).saturating_sub(first));
    let full = taken(&meed, most.during)?;
    // Of a user who has used nothing.
    let came = now();
    let job = lab.submit("backup", "-A chem -n1 -t 5 --wrap true")?;
    let placed = format!("sprio -h -j {job} -o %S");
    lab.until("a new job has its place", || {
        lab.said(&placed).is_ok_and(|factor| factor.trim().parse().is_ok_and(|by: i64| by > 0))
    })?;
    let soon = came.elapsed();
    lab.sh("squeue -h -t R -o %A | xargs scancel")?;
    std::thread::sleep(Duration::from_secs(2));
    let busy = taken(&meed, Duration::from_secs(5))?;
    lab.sh("squeue -h -o %A | sort -u | xargs -n 500 scancel")?;
    lab.until_empty()?;
    std::thread::sleep(Duration::from_secs(5));
    let ended = taken(&meed, Duration::from_secs(8))?;
    meed.kill()?;
    crate::say(&format!(
        "a new job had its place {} ms after it came\nof one core, meed-slurm with its commands \
         takes {full:.1} % while jobs wait and nothing happens, {ended:.1} % with as many ended \
         jobs listed, {busy:.1} % while jobs of a second start and end",
        soon.as_millis()
    ));
    match first < most.order && soon < most.order && full.max(ended) <= most.idle {
        true => Ok(()),
        false => Err(format!(
            "more than {} % when idle, or an order that took more than {} s",
            most.idle,
            most.order.as_secs()
        )),
    }
}

/// How much of one core the program and the commands that it waited for take, in percent.
fn taken(meed: &Daemon, during: Duration) -> Result<f64, String> {
    let before = ticks(meed.id())?;
    std::thread::sleep(during);
    let ticks = ticks(meed.id())? - before;
    Ok(ticks as f64 / during.as_secs_f64())
}

/// Processor time of a process and of the children that it waited for, in hundredths of a second.
fn ticks(process: u32) -> Result<u64, String> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{path}: {why}"))?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let used = fields.skip(11).take(4).map(|field| field.parse::<u64>().unwrap_or(0));
    Ok(used.sum())
}
