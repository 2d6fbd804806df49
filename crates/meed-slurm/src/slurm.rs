//! The edge to Slurm: its commands, with a time limit each.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::read::config::{SlurmConfig, parse_config};
use crate::read::fair::{FairRow, parse_fair};
use crate::read::form::{JsonForm, SlurmForm, form_of};
use crate::read::jobs::{
    JobPriority, JobStage, SlurmJob, Suspension, parse_jobs, parse_priorities, parse_suspension,
};
use crate::read::json::{parse_jobs_json, parse_nodes_json, parse_runs_json};
use crate::read::nodes::{SlurmNode, parse_nodes};
use crate::read::runs::{SlurmRun, parse_runs};
use crate::read::shares::{Association, parse_shares};
use crate::read::signs::{Signs, parse_signs};
use crate::spread::FactorChange;

/// Why Slurm did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SlurmError {
    /// A program is not there.
    #[error("{program}: {why}; meed slurm runs where Slurm's commands and slurm.conf are")]
    Missing {
        /// Which.
        program: String,
        /// What the system says.
        why: std::io::Error,
    },
    /// A program failed, or said nothing in time.
    #[error("{command}: {why}")]
    Failed {
        /// With its arguments.
        command: String,
        /// What it said.
        why: String,
    },
    /// What it printed is not of its version's form.
    #[error("{0}")]
    Form(String),
}

/// Slurm's commands.
#[derive(Clone, Debug)]
pub(crate) struct Slurm {
    form: SlurmForm,
    /// Jobs, runs and nodes are read so, where that was asked for.
    json: Option<JsonForm>,
    limit: Duration,
}

/// How jobs, runs and nodes are read.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ReadAs {
    /// By columns, which all versions print alike.
    #[default]
    Text,
    /// By `--json`.
    Json,
}

/// Records by number, and suspensions that came with them.
pub(crate) type JobsSeen = (BTreeMap<u32, SlurmJob>, BTreeMap<u32, Suspension>);

/// What commands say where no controller answers.
const NOT_REACHED: &str = "Unable to contact slurm controller";

/// So many numbers of jobs stand in one command line.
const NUMBERS: usize = 200;

impl Slurm {
    /// Asks for the version, which says how the rest is asked. `limit`: how long a command may
    /// take.
    ///
    /// # Errors
    ///
    /// Commands that are not there; a version that is too old.
    pub(crate) fn find(limit: Duration, read_as: ReadAs) -> Result<Slurm, SlurmError> {
        let version = ask("scontrol", &["--version"], limit)?;
        let form = form_of(version.trim()).map_err(SlurmError::Form)?;
        let json = (read_as == ReadAs::Json).then_some(form.json);
        Ok(Slurm { form, json, limit })
    }

    /// The site's settings.
    pub(crate) fn config(&self) -> Result<SlurmConfig, SlurmError> {
        let mut config = parse_config(&self.ask("scontrol", &["show", "config"])?);
        // Where only slurmctld's host has the file, what it alone tells is not known.
        if let Some(text) = config.file().and_then(|file| std::fs::read_to_string(file).ok()) {
            config.add_file(&text);
        }
        Ok(config)
    }

    /// Associations of a cluster.
    pub(crate) fn shares(&self, cluster: &str) -> Result<Vec<Association>, SlurmError> {
        let (format, cluster) =
            (format!("format={}", self.form.shares), format!("cluster={cluster}"));
        let args = ["--noheader", "--parsable2", "show", "assoc", &cluster, &format];
        parse_shares(&self.ask("sacctmgr", &args)?).map_err(SlurmError::Form)
    }

    /// What Slurm's own fair share says of users, the first served first.
    pub(crate) fn fair(&self) -> Result<Vec<FairRow>, SlurmError> {
        let args = ["--noheader", "--parsable2", "--all", "-o", self.form.fair];
        parse_fair(&self.ask("sshare", &args)?).map_err(SlurmError::Form)
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> Result<Vec<SlurmNode>, SlurmError> {
        let nodes = match self.json.filter(|json| json.has_nodes) {
            Some(json) => parse_nodes_json(&self.ask("scontrol", &["show", "nodes", json.option])?),
            None => parse_nodes(&self.ask("scontrol", &["show", "node", "--oneliner"])?),
        };
        nodes.map_err(SlurmError::Form)
    }

    /// All records of `slurmctld` by number, asked for in the second `at`, and the suspensions that
    /// come with them.
    pub(crate) fn jobs(&self, at: i64) -> Result<JobsSeen, SlurmError> {
        let read = match self.json {
            Some(json) => {
                let args = ["--all", "--states=all", json.option];
                parse_jobs_json(&self.ask("squeue", &args)?, at)
            }
            None => {
                let args = ["--noheader", "--all", "--states=all", "-O", self.form.jobs];
                let jobs = parse_jobs(&self.ask("squeue", &args)?);
                jobs.map(|jobs| (jobs, BTreeMap::new()))
            }
        };
        let (jobs, suspensions) = read.map_err(SlurmError::Form)?;
        Ok((jobs.into_iter().map(|job| (job.id, job)).collect(), suspensions))
    }

    /// Priorities of jobs that wait.
    pub(crate) fn priorities(&self) -> Result<BTreeMap<u32, JobPriority>, SlurmError> {
        let args = ["--noheader", "-o", self.form.priorities];
        parse_priorities(&self.ask("sprio", &args)?).map_err(SlurmError::Form)
    }

    /// What `slurmctld` has counted; `None`: it does not say.
    ///
    /// # Errors
    ///
    /// A controller that cannot be reached: nothing else needs to be asked then.
    pub(crate) fn signs(&self) -> Result<Option<Signs>, SlurmError> {
        match self.ask("sdiag", &[]) {
            Ok(text) => Ok(parse_signs(&text)),
            Err(why) if why.to_string().contains(NOT_REACHED) => Err(why),
            Err(_) => Ok(None),
        }
    }

    /// When a job was suspended or resumed last.
    pub(crate) fn suspension(&self, job: u32) -> Result<Option<Suspension>, SlurmError> {
        let text = self.ask("scontrol", &["show", "job", "--oneliner", &job.to_string()])?;
        Ok(parse_suspension(&text))
    }

    /// Runs that accounting knows since a second, of all users.
    pub(crate) fn runs_since(&self, second: i64) -> Result<Vec<SlurmRun>, SlurmError> {
        let since = format!("--starttime={}", calendar(second));
        self.runs(&["--allusers", &since, "--endtime=now"])
    }

    /// Runs of these jobs.
    pub(crate) fn runs_of(&self, jobs: &[u32]) -> Result<Vec<SlurmRun>, SlurmError> {
        let mut runs = Vec::new();
        for some in jobs.chunks(NUMBERS) {
            let numbers: Vec<String> = some.iter().map(u32::to_string).collect();
            runs.extend(self.runs(&[&format!("--jobs={}", numbers.join(","))])?);
        }
        Ok(runs)
    }

    fn runs(&self, which: &[&str]) -> Result<Vec<SlurmRun>, SlurmError> {
        let mut args = vec!["--duplicates", "--allocations"];
        args.extend(which);
        let runs = match self.json {
            Some(json) => {
                args.push(json.option);
                parse_runs_json(&self.ask("sacct", &args)?)
            }
            None => {
                args.extend(["--noheader", "--parsable2", "-o", self.form.runs]);
                parse_runs(&self.ask("sacct", &args)?)
            }
        };
        runs.map_err(SlurmError::Form)
    }

    /// Sets site factors, in order, in one session of `scontrol`; jobs next to each other that get
    /// one factor in one call. What was complained of, besides jobs that are gone meanwhile.
    pub(crate) fn set(&self, changes: &[FactorChange]) -> Result<Vec<String>, SlurmError> {
        let mut lines = String::new();
        for same in changes.chunk_by(|one, other| one.site_factor == other.site_factor) {
            for some in same.chunks(NUMBERS) {
                let jobs: Vec<String> = some.iter().map(|change| change.job.to_string()).collect();
                let factor = same[0].site_factor;
                lines.push_str(&format!("update JobId={} SiteFactor={factor}\n", jobs.join(",")));
            }
        }
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let limit =
            self.limit + Duration::from_millis(50) * u32::try_from(changes.len()).unwrap_or(0);
        let said = run("scontrol", &[], Some(&lines), limit)?;
        // The order is read again in the next round, so what went wrong shows there; what it says
        // of jobs that started or ended meanwhile is no fault.
        let faults = said.stderr.lines().filter(|line| !is_of_the_past(line));
        Ok(faults.map(str::to_owned).collect())
    }

    /// Why this user may not set site factors, in a sentence; `None`: it may.
    pub(crate) fn lacks_rights(&self, config: &SlurmConfig) -> Result<Option<String>, SlurmError> {
        let user = self.ask("id", &["-un"])?.trim().to_owned();
        let owner = config.get("SlurmUser").and_then(|owner| owner.split('(').next());
        if user == "root" || owner == Some(&user) {
            return Ok(None);
        }
        let name = format!("user={user}");
        let args = ["--noheader", "--parsable2", "show", "user", &name, "format=AdminLevel"];
        let level = self.ask("sacctmgr", &args)?;
        let may = matches!(level.trim(), "Operator" | "Administrator");
        Ok((!may).then(|| {
            format!(
                "user {user} may not set site factors: run `sacctmgr modify user {user} set \
                 AdminLevel=Operator`"
            )
        }))
    }

    fn ask(&self, program: &str, args: &[&str]) -> Result<String, SlurmError> {
        ask(program, args, self.limit)
    }
}

/// Complaints of `scontrol` about jobs that waited a moment ago.
fn is_of_the_past(line: &str) -> bool {
    let past =
        ["already finished", "Invalid job id", "No error", "no longer pending", "not pending"];
    line.trim().is_empty() || past.iter().any(|words| line.contains(words))
}

/// Records whose suspension matters for the ledger: those that are suspended and ran, and those
/// that run and have done so for less time than the ledger would charge. `ran`: for how long it
/// charges those that it knows.
pub(crate) fn to_ask_of(
    jobs: &BTreeMap<u32, SlurmJob>,
    at: i64,
    ran: impl Fn(u32) -> Option<i64>,
) -> Vec<u32> {
    let asks = jobs.values().filter(|job| match job.stage {
        JobStage::Suspended => ran(job.id).is_some(),
        JobStage::Running => {
            // squeue counts up to its own second, which is not before `at`.
            let since = at - job.start.unwrap_or(at);
            ran(job.id).unwrap_or(since) > job.used
        }
        JobStage::Pending | JobStage::Ended => false,
    });
    asks.map(|job| job.id).collect()
}

/// What a program said.
struct Said {
    stdout: String,
    stderr: String,
    is_well: bool,
}

fn ask(program: &str, args: &[&str], limit: Duration) -> Result<String, SlurmError> {
    let said = run(program, args, None, limit)?;
    if said.is_well {
        return Ok(said.stdout);
    }
    let command = format!("{program} {}", args.first().unwrap_or(&""));
    let first = said.stderr.lines().find(|line| !line.trim().is_empty());
    let why = first.unwrap_or("it failed and said nothing").to_owned();
    Err(SlurmError::Failed { command, why })
}

fn run(
    program: &str,
    args: &[&str],
    input: Option<&str>,
    limit: Duration,
) -> Result<Said, SlurmError> {
    let missing = |why| SlurmError::Missing { program: program.to_owned(), why };
    let mut child = command(program, args)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    let (tell, told) = mpsc::channel();
    let (stdin, text) = (child.stdin.take(), input.unwrap_or_default().to_owned());
    let feed = std::thread::spawn(move || {
        // Where it reads no more it says why on standard error.
        stdin.map(|mut stdin| stdin.write_all(text.as_bytes()))
    });
    let reads: [Box<dyn Read + Send>; 2] = [
        child
            .stdout
            .take()
            .map_or_else(|| Box::new(std::io::empty()) as _, |out| Box::new(out) as _),
        child
            .stderr
            .take()
            .map_or_else(|| Box::new(std::io::empty()) as _, |out| Box::new(out) as _),
    ];
    for (which, mut read) in reads.into_iter().enumerate() {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let done = read.read_to_end(&mut bytes);
            // Nobody listens once the time is over.
            let _ = tell.send((which, done.map(|_| String::from_utf8_lossy(&bytes).into_owned())));
        });
    }
    let mut texts = [String::new(), String::new()];
    for _ in 0..2 {
        match told.recv_timeout(limit) {
            Ok((which, Ok(text))) => texts[which] = text,
            Ok((_, Err(why))) => return Err(missing(why)),
            Err(_) => {
                // It is of no use any more; where it has ended meanwhile there is nothing to end.
                let _ = child.kill();
                let _ = child.wait();
                let command = format!("{program} {}", args.first().unwrap_or(&""));
                let why = format!("no answer within {} s", limit.as_secs());
                return Err(SlurmError::Failed { command, why });
            }
        }
    }
    let status = child.wait().map_err(missing)?;
    drop(feed.join());
    let [stdout, stderr] = texts;
    Ok(Said { stdout, stderr, is_well: status.success() })
}

/// A command of Slurm's, that prints instants as seconds and no list cut short.
fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).env("SLURM_BITSTR_LEN", "0").env_remove("SQUEUE_FORMAT");
    // In JSON they are numbers, and `sacct --json` of 22.05 reads the times of its own question in
    // this format, and fails (findings/slurm-json-time-format.sh).
    match args.iter().any(|arg| arg.starts_with("--json")) {
        true => command.env_remove("SLURM_TIME_FORMAT"),
        false => command.env("SLURM_TIME_FORMAT", "%s"),
    };
    command
}

/// A second as `sacct` takes it: `uts` and the seconds since 1970.
fn calendar(second: i64) -> String {
    format!("uts{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_says_nothing_is_given_up() {
        let why = ask("sleep", &["5"], Duration::from_millis(50)).unwrap_err();
        assert!(why.to_string().contains("no answer"), "{why}");
        let why = ask("no-such-program", &[], Duration::from_secs(1)).unwrap_err();
        assert!(why.to_string().contains("where Slurm's commands"), "{why}");
    }

    #[test]
    fn a_pause_of_one_second_is_asked_about() {
        let line = |id: u32, used: u32| {
            format!("{id}|{id}|bio|ann|RUNNING|100|110|410|0:{used:02}|None|cpu=1|main\n")
        };
        let jobs = parse_jobs(&[line(1, 10), line(2, 9), line(3, 11)].concat()).unwrap();
        let jobs = jobs.into_iter().map(|job| (job.id, job)).collect();
        assert_eq!(to_ask_of(&jobs, 120, |_| None), [2]);
        assert_eq!(to_ask_of(&jobs, 120, |job| (job == 3).then_some(12)), [2, 3]);
    }

    #[test]
    fn json_is_asked_for_without_a_format_of_times() {
        let format = |args: &[&str]| {
            let command = command("sacct", args);
            let found = command.get_envs().find(|(name, _)| *name == "SLURM_TIME_FORMAT");
            found.and_then(|(_, value)| value?.to_str().map(str::to_owned))
        };
        assert_eq!(format(&["--parsable2"]).as_deref(), Some("%s"));
        assert_eq!(format(&["--json"]), None);
        assert_eq!(format(&["--jobs=1", "--json=v0.0.40"]), None);
    }

    #[test]
    fn input_goes_in_and_failures_have_their_words() {
        let said = run("cat", &[], Some("update\n"), Duration::from_secs(5)).unwrap();
        assert_eq!(said.stdout, "update\n");
        let why = ask("cat", &["/no/such"], Duration::from_secs(5)).unwrap_err();
        assert!(why.to_string().contains("/no/such"), "{why}");
    }
}
