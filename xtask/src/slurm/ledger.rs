//! The ledger against `sacct`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use super::daemon::Daemon;
use super::lab::Lab;
use crate::tools::now;

/// Everything that a ledger must follow, in half a minute: an array with a limit, a heterogeneous
/// job, a requeue, two suspensions, a cancellation, a dependency, a hold, a node that goes.
const WORK: &str = r#"
sb() { u=$1; shift; sbatch --uid=$u --parsable -D /tmp -o /dev/null "$@"; }
sb games -A optics --array=1-10%3 -n1 -t 5 --wrap 'sleep 9'
sb man -A optics -n2 -t 5 : -n1 -c4 --wrap 'sleep 11'
R=$(sb lp -A chem --requeue -n2 -t 5 --wrap 'sleep 15')
S=$(sb mail -A plasma -n2 -t 5 --wrap 'sleep 14')
C=$(sb mail -A plasma -n1 -t 5 --wrap 'sleep 300')
D=$(sb news -A chem -n1 --wrap 'sleep 6')
sb news -A chem -d afterok:$D -n1 --wrap 'sleep 5'
H=$(sb news -A chem -H -n3 --wrap 'sleep 6')
for i in 1 2 3 4 5 6; do
    sb man -A optics -n3 -t 5 --wrap "sleep $((i+3))"
    sb lp -A chem -n3 -t 5 --wrap "sleep $((i+3))"
done
sleep 6; scontrol requeue $R; scontrol suspend $S
sleep 5; scontrol resume $S; scancel $C; scontrol release $H
sleep 3; scontrol suspend $S
sleep 3; scontrol resume $S; scontrol update JobId=$R StartTime=now
scontrol update NodeName=n2 State=DOWN Reason=test
sleep 4; scontrol update NodeName=n2 State=RESUME
squeue -h -t PD -o %A | sort -u | while read j; do
    scontrol update JobId=$j StartTime=now || true
done
"#;

/// Accounts and users, as a site of some depth.
pub(super) const SHARES: &str = "\
sacctmgr -i -Q add account physics fairshare=3
sacctmgr -i -Q add account optics parent=physics fairshare=2
sacctmgr -i -Q add account plasma parent=physics fairshare=parent
sacctmgr -i -Q add account chem fairshare=1
sacctmgr -i -Q add user games account=optics fairshare=1
sacctmgr -i -Q add user man account=optics fairshare=3
sacctmgr -i -Q add user mail account=plasma fairshare=1
sacctmgr -i -Q add user news account=chem fairshare=2
sacctmgr -i -Q add user lp account=chem fairshare=1";

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    lab.accounts(SHARES)?;
    let mut meed = lab.meed(&[])?;
    std::thread::sleep(Duration::from_secs(2));
    fs::write(lab.path("work.sh"), WORK).map_err(|why| why.to_string())?;
    let mut work = lab.command("bash");
    work.arg("work.sh").stdout(Stdio::null()).stderr(Stdio::null());
    let mut work = Daemon::start("the work", &mut work)?;
    let (began, mut kills, mut orders) = (now(), 0, Vec::new());
    while began.elapsed() < Duration::from_secs(40) {
        // Intervals that share no rhythm with the rounds.
        std::thread::sleep(Duration::from_millis(1300 + 370 * (kills % 7)));
        orders.extend(fs::read_to_string(lab.path("meed/standings.json")));
        meed.kill()?;
        // Columns and JSON tell the same.
        let read = if kills % 2 == 0 { "json" } else { "text" };
        meed = lab.meed(&["--read", read])?;
        kills += 1;
    }
    work.wait()?;
    lab.until_empty()?;
    // Accounting is asked for what nobody saw once a minute.
    let equal = lab.until_within(Duration::from_secs(90), "ledger and sacct are equal", || {
        used(lab).is_ok_and(|used| accounted(lab).is_ok_and(|told| used == told))
    });
    // The ledger hears of what ended in the second of a look by the next one.
    lab.until("the ledger has all ends", || held(lab) == Ok(0.0))?;
    meed.kill()?;
    // Neither by columns nor as JSON is anything missed: a round that fails is made good later.
    let said = fs::read_to_string(lab.path("log/meed")).map_err(|why| why.to_string())?;
    if let Some(line) = said.lines().find(|line| line.contains("does not answer")) {
        return Err(format!("a reading failed: {line}"));
    }
    let (used, told) = (used(lab)?, accounted(lab)?);
    equal.map_err(|why| format!("{why}: the ledger has {used:?}, sacct {told:?}"))?;
    crate::say(&format!("core-seconds of ledger and sacct, after {kills} kills: {told:?}"));
    from_history(lab, &told)?;
    replays(lab, &used)?;
    explains(lab, &orders)
}

/// A new ledger has as much from accounting alone, read by columns and as JSON.
fn from_history(lab: &Lab, told: &BTreeMap<String, u64>) -> Result<(), String> {
    for read in ["text", "json"] {
        let run = format!("meed-slurm run --state {read} --read {read} --history 1h --rounds 3");
        let said = lab.said(&run)?;
        let used = used_in(lab, read)?;
        if used != *told {
            return Err(format!("by {read}, accounting tells {used:?}, not {told:?}: {said}"));
        }
    }
    Ok(())
}

/// The journal says the order among tenants that was told at these instants.
fn explains(lab: &Lab, orders: &[String]) -> Result<(), String> {
    let parse = |text: &str| serde_json::from_str(text).map_err(|why| format!("{why}: {text}"));
    let began = fs::read_to_string(lab.path("meed/began")).map_err(|why| why.to_string())?;
    let began: i64 = began.trim().parse().map_err(|_| format!("it began at {began}"))?;
    let mut compared = 0;
    for text in orders {
        let told: serde_json::Value = parse(text)?;
        let (at, places) = (told["at"].as_i64().unwrap_or(0), places(&told));
        if places.len() < 2 {
            continue;
        }
        // What happened in that second was told later, or by this look.
        let second = (at - began) * 1_000_000;
        let mut again = Vec::new();
        for instant in [second - 1, second] {
            let said = lab.said(&format!("meed explain meed --at {instant}us --json"))?;
            again.push(self::places(&parse(&said)?));
        }
        if !again.contains(&places) {
            return Err(format!("at {at} the order was {places:?}; the journal says {again:?}"));
        }
        compared += 1;
    }
    crate::say(&format!("the journal says the order of {compared} rounds again"));
    if compared > 0 { Ok(()) } else { Err("nothing waited in any round".to_owned()) }
}

/// Places of leaves in which something waits.
fn places(told: &serde_json::Value) -> BTreeMap<String, u64> {
    let queues = told["queues"].as_array().into_iter().flatten();
    let place = |queue: &serde_json::Value| {
        Some((queue["queue"].as_str()?.to_owned(), queue["next"].as_u64()?))
    };
    queues.filter_map(place).collect()
}

/// The journal runs again: each leaf has used as much.
fn replays(lab: &Lab, used: &BTreeMap<String, u64>) -> Result<(), String> {
    let verified = lab.said("meed replay meed --verify")?;
    let text = lab.said("meed replay meed --quiet --json -")?;
    let told: serde_json::Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    let mut again = BTreeMap::new();
    for queue in told["runs"][0]["queues"].as_array().into_iter().flatten() {
        let seconds = queue["usage"]["cpu"].as_f64().unwrap_or(-1.0);
        if seconds > 0.0 {
            again.insert(user_of(&queue["queue"]), seconds.round() as u64);
        }
    }
    crate::say(verified.trim());
    match again == *used {
        true => Ok(()),
        false => Err(format!("the journal tells another use when it runs again: {again:?}")),
    }
}

/// The user of a leaf.
fn user_of(queue: &serde_json::Value) -> String {
    let name = queue.as_str().unwrap_or_default();
    name.rsplit(['.', ':']).next().unwrap_or_default().to_owned()
}

/// Core-seconds by user, of the ledger.
pub(super) fn used(lab: &Lab) -> Result<BTreeMap<String, u64>, String> {
    used_in(lab, "meed")
}

/// The same of another ledger.
pub(super) fn used_in(lab: &Lab, state: &str) -> Result<BTreeMap<String, u64>, String> {
    let mut used = BTreeMap::new();
    for queue in queues(lab, state)? {
        let seconds = queue["used"].as_f64().unwrap_or(-1.0);
        if seconds > 0.0 {
            used.insert(user_of(&queue["queue"]), seconds.round() as u64);
        }
    }
    Ok(used)
}

/// Cores that are held, of the ledger.
fn held(lab: &Lab) -> Result<f64, String> {
    Ok(queues(lab, "meed")?.iter().filter_map(|queue| queue["held"].as_f64()).sum())
}

fn queues(lab: &Lab, state: &str) -> Result<Vec<serde_json::Value>, String> {
    let text = lab.said(&format!("meed-slurm queues --state {state} --json"))?;
    let told: serde_json::Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    Ok(told["queues"].as_array().cloned().unwrap_or_default())
}

/// The same of accounting.
pub(super) fn accounted(lab: &Lab) -> Result<BTreeMap<String, u64>, String> {
    let text = lab.said("sacct -n -P -D -X -a -S now-1hour -E now -o User,CPUTimeRAW")?;
    let mut sums = BTreeMap::new();
    for (user, seconds) in text.lines().filter_map(|line| line.split_once('|')) {
        let seconds: u64 = seconds.parse().map_err(|_| format!("sacct said {seconds}"))?;
        *sums.entry(user.to_owned()).or_insert(0) += seconds;
    }
    sums.retain(|_, seconds| *seconds > 0);
    Ok(sums)
}
