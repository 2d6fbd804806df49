//! Jobs as `slurmctld` has them now: `squeue`, with site factors from `sprio` and suspensions from
//! `scontrol show job`.

use std::collections::BTreeMap;

use meed::Resources;

use super::{columns, duration, instant};
use crate::tres::parse_tres;

/// How far a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JobStage {
    /// It waits.
    Pending,
    /// It holds what was allocated.
    Running,
    /// It holds no processors, and is to go on.
    Suspended,
    /// It has ended, in whatever way.
    Ended,
}

/// One record of `slurmctld`: a job, a component of a heterogeneous job, a started element of an
/// array, or all elements of an array that have not started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SlurmJob {
    /// Slurm's number of the record.
    pub id: u32,
    /// As people write it: `1045_5`, `3+1`, `1045_[6-10%2]`.
    pub name: String,
    /// Its account; empty where Slurm keeps none.
    pub account: String,
    /// Its user.
    pub user: String,
    /// How far it is.
    pub stage: JobStage,
    /// How many elements the record stands for: above one for the rest of an array.
    pub tasks: u32,
    /// When it was submitted, or put back into the queue; seconds since 1970.
    pub submit: i64,
    /// When it started, where it has; of a job that waits, when Slurm expects that.
    pub start: Option<i64>,
    /// When it ended, where it has; of a job that runs, when its limit is over.
    pub end: Option<i64>,
    /// How long it has run, without suspensions; seconds.
    pub used: i64,
    /// Why Slurm has not started it.
    pub reason: String,
    /// What is allocated, or asked for by each element.
    pub tres: Resources,
}

/// When a job was last suspended or resumed, and how long it had run before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Suspension {
    /// Seconds since 1970.
    pub at: i64,
    /// Seconds.
    pub ran_before: i64,
}

/// States by the word that `squeue` prints. A job that is completing has ended for accounting.
const STAGES: [(&str, JobStage); 24] = [
    ("PENDING", JobStage::Pending),
    ("RUNNING", JobStage::Running),
    ("SUSPENDED", JobStage::Suspended),
    ("COMPLETING", JobStage::Ended),
    ("COMPLETED", JobStage::Ended),
    ("CONFIGURING", JobStage::Running),
    ("CANCELLED", JobStage::Ended),
    ("FAILED", JobStage::Ended),
    ("TIMEOUT", JobStage::Ended),
    ("NODE_FAIL", JobStage::Ended),
    ("PREEMPTED", JobStage::Ended),
    ("BOOT_FAIL", JobStage::Ended),
    ("DEADLINE", JobStage::Ended),
    ("OUT_OF_MEMORY", JobStage::Ended),
    ("REVOKED", JobStage::Ended),
    ("STAGE_OUT", JobStage::Ended),
    ("REQUEUED", JobStage::Pending),
    ("REQUEUE_FED", JobStage::Pending),
    ("REQUEUE_HOLD", JobStage::Pending),
    ("RESV_DEL_HOLD", JobStage::Pending),
    ("SPECIAL_EXIT", JobStage::Pending),
    ("RESIZING", JobStage::Running),
    ("SIGNALING", JobStage::Running),
    ("STOPPED", JobStage::Running),
];

/// Reasons with which a job waits for its turn alone, by the codes of Slurm 22.05. `SchedDefer`:
/// the site has new jobs wait for the next pass of the scheduler. All other codes stay Slurm's:
/// holds, limits, licences, reservations, and conditions that no priority fulfils.
const WAITS_FOR_ITS_TURN: [&str; 4] = ["None", "Priority", "Resources", "SchedDefer"];

/// How the reasons begin that Slurm gives in place of `Resources` where nodes are down, or are kept
/// for partitions of a higher tier. Seen on 22.05.8: while nodes are drained, all jobs but one get
/// the second reason, and keep it after the nodes are back, until the scheduler comes to them.
const NODES_ARE_AWAY: [&str; 2] =
    ["Nodes required for job are DOWN, DRAINED or reserved", "ReqNodeNotAvail, UnavailableNodes:"];

impl SlurmJob {
    /// It waits, and its turn would be of use: nothing else keeps it back.
    pub(crate) fn is_eligible(&self) -> bool {
        let (reason, spaced) = (self.reason.as_str(), self.reason.replace('_', " "));
        let is_its_turn = super::missing(reason)
            || WAITS_FOR_ITS_TURN.contains(&reason)
            || NODES_ARE_AWAY.iter().any(|begins| spaced.starts_with(begins));
        self.stage == JobStage::Pending && is_its_turn
    }
}

/// Reads what `squeue` prints with the columns of [`super::form`].
///
/// # Errors
///
/// The first line that is not of that form, in a sentence.
pub(crate) fn parse_jobs(text: &str) -> Result<Vec<SlurmJob>, String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(job).collect()
}

fn job(line: &str) -> Result<SlurmJob, String> {
    let [id, name, account, user, state, submit, start, end, used, reason, tres, _] =
        columns::<12>(line, "squeue")?;
    let wrong = |why: String| format!("job {name} of squeue: {why}");
    let stage = stage_of(state).map_err(wrong)?;
    let number = id.parse().map_err(|_| wrong(format!("`{id}` is not a number of a job")))?;
    let submitted = instant(submit).map_err(wrong)?;
    let used = match used {
        "" | "INVALID" => 0,
        text => duration(text).map_err(wrong)?,
    };
    Ok(SlurmJob {
        id: number,
        name: name.to_owned(),
        account: if super::missing(account) { String::new() } else { account.to_owned() },
        user: user.to_owned(),
        stage,
        tasks: elements(name).map_err(wrong)?,
        submit: submitted.unwrap_or(0),
        start: instant(start).map_err(wrong)?,
        end: instant(end).map_err(wrong)?,
        used,
        reason: reason.to_owned(),
        tres: if super::missing(tres) { parse_tres("") } else { parse_tres(tres) }
            .map_err(wrong)?,
    })
}

/// The stage of a state in Slurm's word.
pub(super) fn stage_of(state: &str) -> Result<JobStage, String> {
    let known = STAGES.iter().find(|(word, _)| *word == state);
    known.map(|(_, stage)| *stage).ok_or_else(|| format!("the state `{state}` is not known"))
}

/// How many elements `1045_[6-10%2]` or `7_[1,3,10-20:5]` stands for; 1 for a name without
/// brackets.
pub(super) fn elements(name: &str) -> Result<u32, String> {
    let Some((_, rest)) = name.split_once("_[") else { return Ok(1) };
    let inner = rest.strip_suffix(']').unwrap_or(rest);
    let inner = inner.split('%').next().unwrap_or_default();
    let wrong = || format!("`{inner}` is not a list of elements such as 1-9:2,12");
    let mut count: u32 = 0;
    for part in inner.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if last < first || step == 0 {
            return Err(wrong());
        }
        count = count.saturating_add((last - first) / step + 1);
    }
    Ok(count)
}

/// The priority of a job that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct JobPriority {
    /// What Meed's order is written as.
    pub site_factor: i64,
    /// All factors together, that one too.
    pub all: i64,
}

impl JobPriority {
    /// What it would be without Meed.
    pub(crate) fn alone(self) -> i64 {
        self.all.saturating_sub(self.site_factor)
    }
}

/// Priorities by the number of the job, as `sprio` prints them; a job in several partitions is
/// printed once for each, with one site factor: the highest priority counts.
///
/// # Errors
///
/// The first line that is not of that form, in a sentence.
pub(crate) fn parse_priorities(text: &str) -> Result<BTreeMap<u32, JobPriority>, String> {
    let mut priorities: BTreeMap<u32, JobPriority> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let [id, factor, all] = columns::<3>(line, "sprio")?;
        let wrong =
            || format!("sprio printed `{line}`, which is not a job, a site factor and a priority");
        let id = id.parse().map_err(|_| wrong())?;
        let number = |text: &str| text.parse::<i64>().map_err(|_| wrong());
        let told = JobPriority { site_factor: number(factor)?, all: number(all)? };
        let of = priorities.entry(id).or_insert(told);
        of.all = of.all.max(told.all);
    }
    Ok(priorities)
}

/// The suspension of one job, from `scontrol show job -o` with times in seconds.
pub(crate) fn parse_suspension(text: &str) -> Option<Suspension> {
    let field = |name: &str| {
        text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let at = instant(field("SuspendTime")?).ok()??;
    let ran_before = field("SecsPreSuspend")?.parse().ok()?;
    Some(Suspension { at, ran_before })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Slurm 22.05.8, with narrower columns.
    const JOBS: &str = "\
1|1_[4-10%3]| optics| games|  PENDING|1795970750|       N/A|       N/A| 0:00|JobArrayTaskLimit\
|cpu=1,mem=100M,node=1,billing=1|main
5|5|   chem|  news|  RUNNING|1795970750|1795970751|       N/A| 0:02|None\
|cpu=2,mem=200M,node=1,billing=2|main
3|2+1| optics|   man|COMPLETED|1795970750|1795970750|1795970780| 0:30|None\
|cpu=4,mem=1500M,node=1,billing=4|main
6|6|   chem|    lp|SUSPENDED|1795970750|1795970751|      NONE| 0:02|None\
|cpu=2,mem=200M,node=1,billing=2|main
";

    #[test]
    fn jobs_are_read_as_squeue_prints_them() {
        let jobs = parse_jobs(JOBS).unwrap();
        let stages: Vec<_> = jobs.iter().map(|job| (job.id, job.tasks, job.stage)).collect();
        let expected = [
            (1, 7, JobStage::Pending),
            (5, 1, JobStage::Running),
            (3, 1, JobStage::Ended),
            (6, 1, JobStage::Suspended),
        ];
        assert_eq!(stages, expected);
        assert!(!jobs[0].is_eligible());
        assert_eq!((jobs[2].end, jobs[2].used), (Some(1_795_970_780), 30));
        assert_eq!(jobs[3].tres, Resources::new(&[2000, 200 << 20, 0, 2000]));
    }

    #[test]
    fn what_is_held_or_cannot_start_has_no_turn() {
        let job = parse_jobs("1|1|a|u|PENDING|1|N/A|N/A|0:00|Priority|cpu=1|main").unwrap();
        let with = |reason: &str| SlurmJob { reason: reason.to_owned(), ..job[0].clone() };
        for reason in [
            "None",
            "",
            "Priority",
            "Resources",
            "Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in",
            "ReqNodeNotAvail, UnavailableNodes:n[1-2]",
        ] {
            assert!(with(reason).is_eligible(), "{reason}");
        }
        for reason in [
            "job requeued in held state",
            "launch failed requeued held",
            "job_requeued_in_held_state",
            "PartitionTimeLimit",
            "PartitionNodeLimit",
            "BadConstraints",
            "JobHoldMaxRequeue",
            "InvalidAccount",
            "Licenses",
            "ReqNodeNotAvail, Reserved for maintenance",
            "Reservation",
            "ReservationDeleted",
            "DeadLine",
            "Dependency",
            "JobHeldUser",
            "QOSMaxJobsPerUserLimit",
            "AssocGrpCpuLimit",
        ] {
            assert!(!with(reason).is_eligible(), "{reason}");
        }
    }

    #[test]
    fn elements_are_counted() {
        for (name, count) in
            [("9", 1), ("9_3", 1), ("9_[6-10%2]", 5), ("9_[1,3,10-20:5]", 5), ("9_[0]", 1)]
        {
            assert_eq!(elements(name).unwrap(), count, "{name}");
        }
        assert!(elements("9_[1,3,...]").is_err());
    }

    #[test]
    fn what_is_not_of_the_form_is_named() {
        for (line, word) in [
            ("1|1|a|u|DANCING|1|1|1|0:00|None|cpu=1|main", "DANCING"),
            ("1|1|a|u", "fewer than 12"),
            ("x|x|a|u|PENDING|1|1|1|0:00|None|cpu=1|main", "not a number of a job"),
        ] {
            assert!(parse_jobs(line).unwrap_err().contains(word), "{line}");
        }
    }

    #[test]
    fn suspensions_and_factors_are_read() {
        let told = parse_suspension("JobId=6 SuspendTime=1795970791 SecsPreSuspend=2 X=1");
        assert_eq!(told, Some(Suspension { at: 1_795_970_791, ran_before: 2 }));
        assert_eq!(parse_suspension("JobId=5 SuspendTime=None SecsPreSuspend=0"), None);
        let told = parse_priorities("  7|  34| 40\n 7| 34| 44\n 9|-5|100000\n").unwrap();
        assert_eq!((told[&7].site_factor, told[&7].all, told[&7].alone()), (34, 44, 10));
        assert_eq!((told[&9].site_factor, told[&9].alone()), (-5, 100_005));
        assert!(parse_priorities("7|34").unwrap_err().contains("fewer than 3"));
    }
}
