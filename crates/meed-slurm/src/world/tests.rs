//! Snapshots made by hand, through a world with a journal.

use std::path::Path;

use meed::Resources;
use meed_store::{Retention, UnixMillis};

use super::*;
use crate::read::jobs::{JobStage, SlurmJob, Suspension};
use crate::read::runs::SlurmRun;
use crate::read::shares::parse_shares;
use crate::spread::Scale;
use crate::tres::parse_tres;

const BEGAN: i64 = 1000;

fn open(folder: &Path, now: i64) -> SlurmWorld {
    let policy = "long-term".parse::<meed_config::policy::PolicySpec>().unwrap();
    let open = OpenWorld {
        folder,
        policy: policy.policy(&crate::tres::kinds()).unwrap(),
        by: "a test".to_owned(),
        now,
        history: 0,
        keep: Retention::default(),
    };
    let mut world = SlurmWorld::open(&open).unwrap().0;
    let shares = "root|||1|\nbio|||1|root\nbio|ann|||\nchem|||1|root\nchem|bob|||\n";
    let shares = shares.replace("ann||", "ann||1").replace("bob||", "bob||1");
    world.configure(Tree::of(&parse_shares(&shares).unwrap())).unwrap();
    world
}

fn cores(count: u64) -> Resources {
    parse_tres(&format!("cpu={count},billing={count}")).unwrap()
}

/// A job of Ann's, in account bio.
fn job(id: u32, stage: JobStage, times: (i64, Option<i64>, Option<i64>, i64)) -> SlurmJob {
    let (submit, start, end, used) = times;
    SlurmJob {
        id,
        name: id.to_string(),
        account: "bio".to_owned(),
        user: "ann".to_owned(),
        stage,
        tasks: 1,
        submit,
        start,
        end,
        used,
        reason: "Resources".to_owned(),
        tres: cores(2),
    }
}

fn snapshot(at: i64, jobs: Vec<SlurmJob>) -> ClusterSnapshot {
    ClusterSnapshot { at, pool: cores(16), jobs, ..ClusterSnapshot::default() }
}

fn tell(world: &mut SlurmWorld, snapshot: &ClusterSnapshot) {
    world.tell(snapshot, UnixMillis::new(snapshot.at as u64 * 1000)).unwrap();
}

/// Core-seconds of Ann up to the second of the snapshot.
fn used(world: &SlurmWorld, at: i64) -> f64 {
    let turn = world.turn(&snapshot(at, Vec::new())).unwrap();
    let ann = turn.standings.queues.iter().find(|queue| queue.queue == "bio.ann");
    ann.map_or(0.0, |queue| queue.used)
}

use JobStage::{Ended, Pending, Running, Suspended};

#[test]
fn a_run_is_charged_by_slurms_own_seconds_however_late_the_look() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &snapshot(1002, vec![job(1, Pending, (1001, None, None, 0))]));
    // It started in the second of the look, which is not over: the next look tells it.
    tell(&mut world, &snapshot(1004, vec![job(1, Running, (1001, Some(1004), None, 0))]));
    assert_eq!(world.running(), 0);
    tell(&mut world, &snapshot(1009, vec![job(1, Running, (1001, Some(1004), None, 5))]));
    assert_eq!(used(&world, 1009), 10.0);
    let ended = job(1, Ended, (1001, Some(1004), Some(1010), 6));
    tell(&mut world, &snapshot(1030, vec![ended.clone()]));
    assert_eq!(used(&world, 1030), 12.0);
    // slurmctld keeps it for a while: it is charged once.
    tell(&mut world, &snapshot(1032, vec![ended]));
    // One that began and ended between two looks.
    tell(&mut world, &snapshot(1050, vec![job(2, Ended, (1033, Some(1034), Some(1041), 7))]));
    assert_eq!(used(&world, 1050), 26.0);
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn a_job_that_is_put_back_is_charged_for_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &snapshot(1010, vec![job(1, Running, (1001, Some(1002), None, 8))]));
    let mut back = job(1, Pending, (1012, None, None, 0));
    back.reason = "BeginTime".to_owned();
    tell(&mut world, &snapshot(1020, vec![back]));
    assert_eq!(used(&world, 1020), 20.0);
    tell(&mut world, &snapshot(1040, vec![job(1, Running, (1012, Some(1030), None, 10))]));
    tell(&mut world, &snapshot(1050, vec![job(1, Ended, (1012, Some(1030), Some(1045), 15))]));
    assert_eq!(used(&world, 1050), 50.0);
}

#[test]
fn suspensions_are_left_out_also_over_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &snapshot(1010, vec![job(1, Running, (1001, Some(1002), None, 8))]));
    let mut paused = snapshot(1020, vec![job(1, Suspended, (1001, Some(1002), None, 10))]);
    paused.suspensions.insert(1, Suspension { at: 1012, ran_before: 10 });
    tell(&mut world, &paused);
    assert_eq!(used(&world, 1020), 20.0);
    drop(world);
    // It goes on and ends while nobody looks.
    let mut world = open(folder.path(), 1060);
    tell(&mut world, &snapshot(1060, vec![job(1, Ended, (1001, Some(1002), Some(1045), 25))]));
    assert_eq!(used(&world, 1060), 50.0);
    // Suspended and resumed between two looks.
    tell(&mut world, &snapshot(1070, vec![job(2, Running, (1061, Some(1062), None, 8))]));
    let mut resumed = snapshot(1080, vec![job(2, Running, (1061, Some(1062), None, 12))]);
    resumed.suspensions.insert(2, Suspension { at: 1078, ran_before: 10 });
    tell(&mut world, &resumed);
    assert_eq!(used(&world, 1080), 50.0 + 24.0);
}

#[test]
fn what_slurmctld_forgot_is_told_by_accounting() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &snapshot(1010, vec![job(1, Running, (1001, Some(1002), None, 8))]));
    drop(world);
    let mut world = open(folder.path(), 5000);
    let run = |id, start, end: i64| SlurmRun {
        id,
        name: id.to_string(),
        account: "bio".to_owned(),
        user: "ann".to_owned(),
        start,
        end: Some(end),
        elapsed: end - start,
        tres: cores(2),
    };
    let mut later = snapshot(5000, Vec::new());
    assert_eq!(world.missing(&later), [1]);
    later.runs = vec![run(1, 1002, 1100), run(7, 2000, 2010)];
    tell(&mut world, &later);
    assert_eq!(used(&world, 5000), 196.0 + 20.0);
    // A run that nobody saw, which accounting tells a minute late; and once.
    for at in [5060, 5120] {
        let mut audit = snapshot(at, Vec::new());
        audit.runs = vec![run(1, 1002, 1100), run(7, 2000, 2010), run(8, 5001, 5003)];
        tell(&mut world, &audit);
    }
    assert_eq!(used(&world, 5120), 216.0 + 4.0);
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn the_least_served_comes_first_and_takes_turns() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let waits = |id, user: &str, account: &str| {
        let mut job = job(id, Pending, (1001, None, None, 0));
        (job.user, job.account) = (user.to_owned(), account.to_owned());
        job
    };
    let mut jobs: Vec<SlurmJob> = (10..14).map(|id| waits(id, "ann", "bio")).collect();
    jobs.extend((20..23).map(|id| waits(id, "bob", "chem")));
    jobs.push(job(1, Running, (1001, Some(1002), None, 28)));
    // Held: it has no place. In no account of the tree: it is said, and not counted.
    let mut held = waits(30, "bob", "chem");
    held.reason = "JobHeldUser".to_owned();
    jobs.extend([held, waits(40, "eve", "zoo")]);
    let mut now = snapshot(1030, jobs);
    now.factors.insert(30, 7);
    tell(&mut world, &now);
    let order = world.turn(&now).unwrap().order;
    assert_eq!(order.len(), 7);
    assert_eq!(order[0], 20, "Bob has used nothing: {order:?}");
    let scale = Scale::new(0, 3).unwrap();
    let set = changes(&order, &now, scale, 3);
    let jobs: Vec<u32> = set.iter().map(|change| change.job).collect();
    assert_eq!(jobs, [order[0], order[1], order[2], 30]);
    assert_eq!(set[3].site_factor, 0);
    let said = world.take_oddities().refused;
    assert!(said[0].contains("no association"), "{said:?}");
}
