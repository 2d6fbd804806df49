//! `cargo xtask slurm`: Meed on a real Slurm, on this machine alone.
//!
//! Debian's packages are installed where that may be done: as root, with apt-get. Slurm runs in a
//! temporary folder without systemd: munged, mariadbd, slurmdbd, slurmctld and two slurmd, in a
//! network namespace with nothing but the loopback interface ([`inside`]). Each is ended by its
//! number. `--debian=RELEASE` runs the stories with the Slurm of another release ([`release`]).
//! Jobs are submitted for users that every Debian has (`games`, `man`, `mail`, `news`,
//! `lp`).
//!
//! | story | what |
//! |---|---|
//! | `failover` | slurmctld is killed, and its backup takes over |
//! | `plugin` | Slurm's plug-in `site_factor/meed`, built and loaded: new jobs have their place at once |
//! | `turns` | tenants lend and get back, under Slurm alone and under Meed, at once |
//! | `ledger` | arrays, requeues, suspensions, holds, dependencies, a node that goes, while Meed is killed again and again: use is that of `sacct`, to the second |
//! | `pending` | 2,000 jobs wait: how long until an order is in force; what Meed takes when idle |
//! | `day` | a recorded day in a tree of accounts: `meed advise` finds Slurm's own ranks in its log, where it is named |
//! | `long-day` | the same of 20 minutes, where it is named |
//! | `turns-slow` | `turns` with jobs eight times as long, where it is named |
//! | `turns-soon` | `turns` where Slurm looks for work a second after an end, where it is named |
//! | `idle` | how much of the cluster is used with and without Meed's writes, where it is named |
//! | `many` | the same with 20,000, where it is named |
//! | `guard` | a dry run, a second instance, slurmctld restarted, metrics, reset |
//! | `shares` | users with `parent` and 0 shares stand as in Slurm; suspended time, free and charged |
//! | `wide` | what backfill starts of wide and small jobs, with and without Meed, where it is named |
//! | `calls` | jobs a second by each way to set an order, where it is named |
//! | `page` | the tutorial of docs/slurm.md as it stands |

mod beside;
mod calls;
mod daemon;
mod day;
mod failover;
mod guard;
mod inside;
mod lab;
mod ledger;
mod page;
mod pending;
mod plugin;
mod release;
mod shares;
mod turns;
mod wide;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::tools::{cargo, now, runs, succeed, succeed_quietly, target_folder};
use lab::Lab;
use release::Release;

const USAGE: &str = "cargo xtask slurm [--debug] [--debian=RELEASE] [STORY...]: turns, pending, \
                     ledger, guard, page, plugin, failover, shares; and by name alone: many, \
                     idle, turns-soon, turns-slow, day, long-day, wide, calls";

type Story = fn(&Lab) -> Result<(), String>;

/// When a story runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// By itself: it measures time.
    Alone,
    /// Beside the others of this kind, each on a Slurm of its own: they mostly wait.
    Beside,
    /// By itself, and only where it is named: it takes several minutes.
    Named,
}

type Row = (&'static str, Story, When);

const STORIES: [Row; 16] = [
    ("turns", turns::run, When::Alone),
    ("pending", pending::run, When::Alone),
    ("ledger", ledger::run, When::Beside),
    ("guard", guard::run, When::Beside),
    ("page", page::run, When::Beside),
    ("plugin", plugin::run, When::Beside),
    ("failover", failover::run, When::Beside),
    ("shares", shares::run, When::Beside),
    ("day", day::run, When::Named),
    ("long-day", day::long, When::Named),
    ("many", pending::many, When::Named),
    ("turns-slow", turns::slow, When::Named),
    ("turns-soon", turns::soon, When::Named),
    ("idle", turns::idle, When::Named),
    ("wide", wide::run, When::Named),
    ("calls", calls::run, When::Named),
];

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let (options, names): (Vec<_>, Vec<_>) = args.partition(|arg| arg.starts_with("--"));
    let known = |name: &String| STORIES.iter().any(|(story, ..)| story == name);
    let is_debug = options.iter().any(|option| option == "--debug");
    let release = options.iter().find_map(|option| option.strip_prefix("--debian="));
    let told = usize::from(is_debug) + usize::from(release.is_some());
    if !names.iter().all(known) || options.len() != told {
        return Err(USAGE.to_owned());
    }
    if !inside::is_inside() {
        let release = match there(release)? {
            Ok(release) => release,
            Err(why) => {
                crate::say(&format!("LEFT OUT: Meed on a real Slurm: {why}"));
                return Ok(());
            }
        };
        build(is_debug)?;
        plugin::fetch(release.as_ref());
        return inside::run_again(options.into_iter().chain(names), release.as_ref());
    }
    let programs = target_folder().join(if is_debug { "debug" } else { "release" });
    let is_wanted = |name: &str, when: When| match names.is_empty() {
        true => when != When::Named,
        false => names.iter().any(|wanted| wanted == name),
    };
    let wanted = STORIES.iter().filter(|(name, _, when)| is_wanted(name, *when));
    let (beside, alone): (Vec<&Row>, Vec<&Row>) =
        wanted.partition(|(.., when)| *when == When::Beside);
    for story in alone {
        tell(story.0, story.1, &programs)?;
    }
    std::thread::scope(|scope| {
        let told = beside.iter().map(|story| {
            let (name, run, programs) = (story.0, story.1, &programs);
            scope.spawn(move || tell(name, run, programs))
        });
        let told: Vec<_> = told.collect();
        let failed = told.into_iter().filter_map(|told| match told.join() {
            Ok(told) => told.err(),
            Err(_) => Some("a story ended without a word".to_owned()),
        });
        let failed: Vec<String> = failed.collect();
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    })
}

/// Runs a story on a cluster of its own, for its history is its own.
fn tell(name: &str, story: Story, programs: &Path) -> Result<(), String> {
    let began = now();
    let lab = Lab::start(name, programs).map_err(|why| format!("{name}: Slurm: {why}"))?;
    crate::say(&format!("== {name} begins"));
    story(&lab).map_err(|why| format!("{name}: {why}"))?;
    drop(lab);
    crate::say(&format!("== {name} took {} s", began.elapsed().as_secs()));
    Ok(())
}

/// The release in which the stories run, `None`: the Slurm that is here; or why they do not run.
fn there(release: Option<&str>) -> Result<Result<Option<Release>, String>, String> {
    let Some(name) = release else {
        return Ok(missing()?.map_or(Ok(None), Err));
    };
    if !is_root() {
        return Ok(Err(NEEDS_ROOT.to_owned()));
    }
    if let Some(why) = inside::missing() {
        return Ok(Err(why));
    }
    Ok(match Release::find(name) {
        Ok(release) => {
            crate::say(&format!("Debian {name}: {}", release.version()?));
            Ok(Some(release))
        }
        Err(why) => Err(why),
    })
}

const NEEDS_ROOT: &str = "it needs root, to run jobs of several users";

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

/// Installs what is missing; why it is missing still.
fn missing() -> Result<Option<String>, String> {
    // slurmdbd -V prints its version and fails.
    let find = "command -v slurmctld && command -v slurmdbd && command -v mariadbd && \
                command -v munged";
    let is_there = || {
        let mut find_all = Command::new("bash");
        find_all.args(["-c", find]).stdout(Stdio::null());
        find_all.status().is_ok_and(|status| status.success())
    };
    if !is_root() {
        return Ok(Some(NEEDS_ROOT.to_owned()));
    }
    if is_there() {
        return Ok(inside::missing());
    }
    if !runs("apt-get", "--version") {
        return Ok(Some("Slurm is not here, and there is no apt-get to install it".to_owned()));
    }
    let mut apt = Command::new("apt-get");
    apt.args(["-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--no-install-recommends"]);
    apt.args(["slurm-wlm", "slurmdbd", "mariadb-server", "munge", "iproute2"]);
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    let log = std::env::temp_dir().join("meed-slurm-apt.log");
    let done = succeed_quietly(&mut apt, "apt-get install slurm-wlm", &log, |_| true);
    Ok(match (done, is_there()) {
        (Ok(()), true) => inside::missing(),
        (Ok(()), false) => {
            Some("slurm-wlm is installed, but its daemons are not on PATH".to_owned())
        }
        (Err(why), _) => Some(format!("{why}; `apt-get update` may help")),
    })
}

/// `meed` and `meed-slurm`.
fn build(is_debug: bool) -> Result<(), String> {
    let mut build = cargo();
    build.args(["build", "--locked", "-p", "meed-cli", "-p", "meed-slurm"]);
    if !is_debug {
        build.arg("--release");
    }
    succeed(&mut build, "cargo build -p meed-cli -p meed-slurm")
}
