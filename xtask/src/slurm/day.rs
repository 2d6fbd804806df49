//! A recorded day: users in a tree of accounts with unequal shares under Slurm alone, and what
//! `meed advise` says of Slurm's own ranks in the log of it.
//!
//! Slurm ranks users once in a minute (`PriorityCalcPeriod=1`). After each such instant `sshare` is
//! kept. In the end `sacct` tells the whole day; of each instant there is then a log that ends
//! there, and the ranks that Slurm had.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use super::daemon::Daemon;
use super::lab::Lab;
use crate::tools::now;

/// Short, so that what a user did counts less soon.
const HALF_LIFE: &str = "00:05:00";

/// Slurm ranks so often.
const PERIOD: i64 = 60;

/// Random jobs, a third more than the cluster can run, some users more than others.
const WORK: &str = r#"
RANDOM=7
users=(games games games games man man mail mail mail news lp lp)
accounts=(optics optics optics optics optics optics plasma plasma plasma chem chem chem)
end=$((SECONDS + $1))
while [ $SECONDS -lt $end ]; do
    who=$((RANDOM % 12))
    sbatch --uid=${users[who]} -Q -A ${accounts[who]} -D /tmp -o /dev/null -n$((1 + RANDOM % 4)) \
        -t 2 --wrap "sleep $((4 + RANDOM % 20))"
    sleep 1.$((RANDOM % 9))
done
"#;

/// What `sacct` is asked for: docs/traces.md, with seconds.
const COLUMNS: &str = "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,\
                       Timelimit,AllocTRES,ReqMem,State";

/// What `sshare` said at one instant.
struct Ranked {
    at: i64,
    shares: String,
}

/// Two instants.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    recorded(lab, Duration::from_secs(118))
}

/// Twenty minutes.
pub(super) fn long(lab: &Lab) -> Result<(), String> {
    recorded(lab, Duration::from_secs(1200))
}

fn recorded(lab: &Lab, during: Duration) -> Result<(), String> {
    lab.sh(super::ledger::SHARES)?;
    lab.sh(&format!(
        "sed -i 's/^PriorityDecayHalfLife=.*/PriorityDecayHalfLife={HALF_LIFE}/' slurm.conf && \
         scontrol reconfigure"
    ))?;
    std::thread::sleep(Duration::from_secs(2));
    fs::write(lab.path("work.sh"), WORK).map_err(|why| why.to_string())?;
    let seconds = during.as_secs().to_string();
    let mut work = lab.command("bash");
    work.args(["work.sh", &seconds]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut work = Daemon::start("the work", &mut work)?;
    let ranked = watch(lab, during)?;
    work.wait()?;
    lab.sh("squeue -h -o %A | sort -u | xargs -r -n 300 scancel")?;
    lab.until_empty()?;
    // Accounting hears of the last ends some seconds later.
    std::thread::sleep(Duration::from_secs(6));
    let told = lab.said(&format!(
        "SLURM_TIME_FORMAT=%s sacct -X -a -S now-1hour -E now --parsable2 --duplicates -o {COLUMNS}"
    ))?;
    judge(lab, &told, &ranked)
}

/// What `sshare` says when it says something else than a second before: then Slurm has ranked.
fn watch(lab: &Lab, during: Duration) -> Result<Vec<Ranked>, String> {
    let (began, mut all, mut before) = (now(), Vec::<Ranked>::new(), None);
    while began.elapsed() < during {
        std::thread::sleep(Duration::from_millis(500));
        let said = lab.said("sshare -P -a && date +%s")?;
        let (shares, at) = said.trim_end().rsplit_once('\n').ok_or("sshare says nothing")?;
        let at: i64 = at.parse().map_err(|_| format!("date says {at}"))?;
        let ranks: Vec<String> = shares.lines().map(rank_of).collect();
        let is_new = before.replace(ranks.clone()).is_some_and(|before| before != ranks);
        let is_due = all.last().is_some_and(|last| at > last.at + PERIOD);
        if is_new || is_due {
            all.push(Ranked { at, shares: format!("{shares}\n") });
        }
    }
    Ok(all)
}

/// `FairShare` of a row, with its user.
fn rank_of(row: &str) -> String {
    let parts: Vec<&str> = row.split('|').collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    format!("{}|{}|{}", part(0), part(1), part(6))
}

/// The log as it was at `at`: what had begun then, and ends then at the latest.
fn up_to(told: &str, at: i64) -> String {
    let (mut lines, mut cut) = (told.lines(), String::new());
    cut.push_str(lines.next().unwrap_or_default());
    cut.push('\n');
    for line in lines {
        let mut parts: Vec<String> = line.split('|').map(str::to_owned).collect();
        let number = |at: usize| parts.get(at).and_then(|text| text.parse::<i64>().ok());
        let (Some(start), Some(end)) = (number(7), number(8)) else { continue };
        if start >= at || end <= start {
            continue;
        }
        let end = end.min(at);
        (parts[8], parts[9]) = (end.to_string(), (end - start).to_string());
        cut.push_str(&parts.join("|"));
        cut.push('\n');
    }
    cut
}

fn judge(lab: &Lab, told: &str, ranked: &[Ranked]) -> Result<(), String> {
    let (mut pairs, mut log, mut simulated) = (0, 0, 0);
    for (number, one) in ranked.iter().enumerate() {
        let write = |name: &str, text: &str| {
            fs::write(lab.path(&format!("{name}-{number}.txt")), text).map_err(|w| w.to_string())
        };
        write("day", &up_to(told, one.at))?;
        write("shares", &one.shares)?;
        let text = lab.said(&format!(
            "meed advise day-{number}.txt --map tenant=Account/User --weights \
             shares-{number}.txt --cluster slurm.conf -p long-term --loads 1 --quiet --json -"
        ))?;
        let told: serde_json::Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
        let ranks = &told["ranks"];
        crate::say(&format!("{}: ranks {ranks}, waits {}", told["baseline"], told["waits"]));
        let count = |key: &str| ranks[key].as_u64().unwrap_or(0);
        pairs += count("pairs");
        log += count("log");
        simulated += count("simulated");
    }
    crate::say(&format!(
        "at {} instants {log} of {pairs} pairs of users stand as in Slurm by the log's own starts, \
         {simulated} in the simulation",
        ranked.len()
    ));
    // Users who are nearly equal may stand the other way round.
    match pairs > 0 && log * 10 >= pairs * 9 && simulated * 10 >= pairs * 8 {
        true => Ok(()),
        false => Err("users do not stand as in Slurm".to_owned()),
    }
}
