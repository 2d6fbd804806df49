//! Snapshots made by hand, through a world with a journal.

use std::collections::BTreeMap;
use std::path::Path;

use meed::Resources;
use meed_store::{Retention, StoreError, UnixMillis};

use super::events::Seen;
use super::*;
use crate::read::jobs::{JobPriority, JobStage, SlurmJob, Suspension};
use crate::read::runs::{SlurmRun, joined, parse_runs};
use crate::read::shares::parse_shares;
use crate::spread::Scale;
use crate::suspended::SuspendedTime;
use crate::tree::ShareMeaning;
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
    let mut world = opened(&open);
    let shares = "root|||1|\nbio|||1|root\nbio|ann|||\nchem|||1|root\nchem|bob|||\n";
    let shares = shares.replace("ann||", "ann||1").replace("bob||", "bob||1");
    world.configure(Tree::of(&parse_shares(&shares).unwrap(), ShareMeaning::Slurm)).unwrap();
    world
}

/// A command that another test starts holds the lock too, until the child has become its program:
/// it is waited for.
pub(super) fn opened(open: &OpenWorld<'_>) -> SlurmWorld {
    for _ in 0..500 {
        match SlurmWorld::open(open) {
            Err(LedgerError::Store(StoreError::InUse { .. })) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            other => return other.unwrap().0,
        }
    }
    panic!("{} is in use", open.folder.display());
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

/// A run of Ann's in accounting, with two cores.
fn run(id: u32, start: i64, end: i64) -> SlurmRun {
    SlurmRun {
        id,
        name: id.to_string(),
        account: "bio".to_owned(),
        user: "ann".to_owned(),
        start,
        end: Some(end),
        elapsed: end - start,
        tres: cores(2),
        is_resized: false,
        before: Vec::new(),
    }
}

fn snapshot(at: i64, jobs: Vec<SlurmJob>) -> ClusterSnapshot {
    let jobs = jobs.into_iter().map(|job| (job.id, job)).collect();
    ClusterSnapshot { at, pool: cores(16), jobs, ..ClusterSnapshot::default() }
}

/// A job that is Bob's, in account chem: others' jobs move time on.
fn of_bob(job: SlurmJob) -> SlurmJob {
    SlurmJob { user: "bob".to_owned(), account: "chem".to_owned(), ..job }
}

/// Job 1, which came at 1001 and began at 1002, as it is at an instant after so many seconds of
/// running.
fn first(at: i64, stage: JobStage, used: i64) -> ClusterSnapshot {
    snapshot(at, vec![job(1, stage, (1001, Some(1002), None, used))])
}

/// The same with what Slurm tells of its suspension: its last change, and how long it had run.
fn told(change: i64, ran_before: i64, mut now: ClusterSnapshot) -> ClusterSnapshot {
    now.suspensions.insert(1, Suspension { at: change, ran_before });
    now
}

fn tell(world: &mut SlurmWorld, snapshot: &ClusterSnapshot) {
    world.tell(snapshot, UnixMillis::new(snapshot.at as u64 * 1000)).unwrap();
}

/// Core-seconds of Ann up to the second of the snapshot.
fn used(world: &SlurmWorld, at: i64) -> f64 {
    used_of(world, at, "bio.ann")
}

fn used_of(world: &SlurmWorld, at: i64, leaf: &str) -> f64 {
    let turn = world.turn(&snapshot(at, Vec::new())).unwrap();
    let queue = turn.standings.queues.iter().find(|queue| queue.queue == leaf);
    queue.map_or(0.0, |queue| queue.used)
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
    tell(&mut world, &first(1010, Running, 8));
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
    tell(&mut world, &first(1010, Running, 8));
    let paused = told(1012, 10, first(1020, Suspended, 10));
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
    tell(&mut world, &first(1010, Running, 8));
    drop(world);
    let mut world = open(folder.path(), 5000);
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
    now.priorities.insert(30, JobPriority { site_factor: 7, all: 7 });
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

#[test]
fn a_run_that_went_on_before_a_restart_is_charged_once() {
    for is_put_back in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut world = open(folder.path(), BEGAN);
        tell(&mut world, &first(1010, Running, 8));
        let paused = told(1012, 10, first(1020, Suspended, 10));
        tell(&mut world, &paused);
        let resumed = told(1025, 10, first(1030, Running, 15));
        tell(&mut world, &resumed);
        drop(world);
        let mut world = open(folder.path(), 5000);
        for at in [5000, 5002, 5060] {
            let back = is_put_back.then(|| job(1, Pending, (1100, None, None, 0)));
            let mut later = snapshot(at, back.into_iter().collect());
            later.runs = vec![SlurmRun { elapsed: 85, ..run(1, 1002, 1100) }];
            tell(&mut world, &later);
            assert_eq!(used(&world, at), 170.0, "{at}, put back: {is_put_back}");
        }
    }
}

#[test]
fn the_run_that_ended_is_not_taken_for_the_run_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &first(1010, Running, 8));
    drop(world);
    // Put back at 1020, and cancelled before it ran again; or it ran once more, and ended.
    let mut world = open(folder.path(), 1500);
    let ended = job(1, Ended, (1020, Some(1300), Some(1400), 100));
    tell(&mut world, &snapshot(1500, vec![ended.clone()]));
    assert_eq!(used(&world, 1500), 36.0 + 200.0);
    for jobs in [vec![ended], Vec::new()] {
        let mut audit = snapshot(1560, jobs);
        audit.runs = vec![run(1, 1002, 1020), run(1, 1300, 1400)];
        tell(&mut world, &audit);
        assert_eq!(used(&world, 1560), 236.0);
    }
    tell(&mut world, &snapshot(1610, vec![job(2, Running, (1601, Some(1602), None, 8))]));
    let cancelled = job(2, Ended, (1620, Some(1650), Some(1650), 0));
    tell(&mut world, &snapshot(1700, vec![cancelled]));
    assert_eq!(used(&world, 1700), 236.0 + 36.0);
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn a_suspension_of_which_nothing_is_told_does_not_charge_the_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &first(1010, Running, 8));
    let paused = told(1012, 10, first(1013, Suspended, 10));
    tell(&mut world, &paused);
    // It went on at 1013: it is asked about, and nothing is answered.
    let resumed = first(1016, Running, 13);
    assert_eq!(crate::slurm::to_ask_of(&resumed.jobs, 1016, |id| world.ran(id, 1016)), [1]);
    // The ledger charges from that second on, however early it is.
    let plan = world.names.plan(&resumed, world.through());
    let starts = plan.iter().flat_map(|(_, facts)| facts).filter_map(|fact| match fact {
        Seen::Start { began, .. } => Some(began.since),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<i64>>(), [1013]);
    tell(&mut world, &resumed);
    assert_eq!(used(&world, 1016), 26.0);
}

#[test]
fn the_piece_before_a_suspension_that_nobody_saw_is_charged() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let resumed = told(1010, 4, first(1015, Running, 9));
    tell(&mut world, &resumed);
    assert_eq!(used(&world, 1015), 18.0);
    tell(&mut world, &snapshot(1030, vec![job(1, Ended, (1001, Some(1002), Some(1020), 14))]));
    assert_eq!(used(&world, 1030), 28.0);
}

#[test]
fn suspensions_are_left_out_where_accounting_alone_tells_the_end() {
    for is_put_back in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut world = open(folder.path(), BEGAN);
        tell(&mut world, &first(1010, Running, 8));
        let back = is_put_back.then(|| job(1, Pending, (1100, None, None, 0)));
        let mut later = snapshot(1200, back.into_iter().collect());
        later.runs = vec![SlurmRun { elapsed: 68, ..run(1, 1002, 1100) }];
        tell(&mut world, &later);
        assert_eq!(used(&world, 1200), 136.0, "put back: {is_put_back}");
    }
}

#[test]
fn a_run_that_was_resized_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let resized = |stage, end, used| SlurmJob {
        tres: cores(1),
        ..job(1, stage, (1001, Some(1002), end, used))
    };
    tell(&mut world, &first(1010, Running, 8));
    tell(&mut world, &snapshot(1060, vec![resized(Running, None, 58)]));
    // Two cores up to the second before the look that sees one.
    let expected = 2.0 * 57.0 + 41.0;
    let row = "bio|ann|1001|";
    let before = format!("1|1|{row}1002|1050|48|cpu=2,billing=2|RESIZING\n");
    let after = format!("1|1|{row}1050|1100|50|cpu=1,billing=1|COMPLETED\n");
    let ended = resized(Ended, Some(1100), 98);
    for (at, rows, jobs) in [
        (1110, [before.clone(), after.clone()].concat(), vec![ended.clone()]),
        (1170, [before.clone(), after.clone()].concat(), vec![ended]),
        // The row before the resize is older than the audit.
        (1230, after, Vec::new()),
    ] {
        let runs = joined(parse_runs(&rows).unwrap());
        tell(&mut world, &ClusterSnapshot { runs, ..snapshot(at, jobs) });
        assert_eq!(used(&world, at), expected, "{at}");
    }
    // Nobody saw it: each piece counts with what it held.
    let rows = "\
9|9|bio|ann|1240|1240|1250|10|cpu=2,billing=2|RESIZING
9|9|bio|ann|1250|1250|1270|20|cpu=1,billing=1|COMPLETED
";
    let runs = joined(parse_runs(rows).unwrap());
    tell(&mut world, &ClusterSnapshot { runs, ..snapshot(1280, Vec::new()) });
    assert_eq!(used(&world, 1280), expected + 40.0);
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn a_run_that_ended_before_its_association_was_read_is_charged_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let eves = |mut job: SlurmJob| {
        job.user = "eve".to_owned();
        job
    };
    let jobs = vec![
        eves(job(1, Ended, (1001, Some(1002), Some(1050), 48))),
        job(2, Ended, (1001, Some(1002), Some(1080), 78)),
    ];
    tell(&mut world, &snapshot(1100, jobs.clone()));
    assert_eq!(world.take_oddities().refused.len(), 1);
    let shares = "root|||1|\nbio|||1|root\nbio|ann||1|\nbio|eve||1|\n";
    world.configure(Tree::of(&parse_shares(shares).unwrap(), ShareMeaning::Slurm)).unwrap();
    for at in [1160, 1220, 1280] {
        let mut audit = snapshot(at, jobs.clone());
        let row = SlurmRun { user: "eve".to_owned(), ..run(1, 1002, 1050) };
        audit.runs = vec![row, run(2, 1002, 1080)];
        tell(&mut world, &audit);
        assert_eq!(used_of(&world, at, "bio.eve"), 96.0, "{at}");
        assert_eq!(used(&world, at), 156.0, "{at}");
    }
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn a_run_that_nobody_saw_is_charged_once_over_restarts() {
    // It began and was put back between two looks, and accounting heard of it after time had passed
    // its end; its job runs again.
    let unseen = run(1, 1004, 1006);
    let again = |at: i64| job(1, Running, (1006, Some(1010), None, at - 1010));
    let others = [job(2, Running, (1001, Some(1002), None, 18))];
    let seen = |at: i64, runs: &[SlurmRun]| {
        let mut now = snapshot(at, [&others[..], &[again(at)]].concat());
        now.runs = runs.to_vec();
        now
    };
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let (waits, runs) = (job(1, Pending, (1001, None, None, 0)), others[0].clone());
    tell(&mut world, &snapshot(1003, vec![waits, SlurmJob { used: 1, ..runs }]));
    tell(&mut world, &seen(1020, &[]));
    assert_eq!(used(&world, 1020), 2.0 * (18 + 10) as f64);
    for restart in 0..3 {
        drop(world);
        let at = 1030 + 20 * restart;
        world = open(folder.path(), at);
        // While its job runs there is no place for it.
        tell(&mut world, &seen(at, std::slice::from_ref(&unseen)));
        assert_eq!(used(&world, at), 2.0 * ((at - 1002) + (at - 1010)) as f64, "{restart}");
    }
    let ended = |at: i64| {
        let jobs = [(2, 1002), (1, 1010)]
            .map(|(id, start)| job(id, Ended, (start - 1, Some(start), Some(1080), 1080 - start)));
        let mut now = snapshot(at, jobs.to_vec());
        now.runs = vec![unseen.clone(), run(1, 1010, 1080), run(2, 1002, 1080)];
        now
    };
    let all = 2.0 * (78 + 70 + 2) as f64;
    for at in [1100, 1120, 1140, 1160] {
        tell(&mut world, &ended(at));
        if at > 1100 {
            assert_eq!(used(&world, at), all, "{at}");
        }
        drop(world);
        world = open(folder.path(), at + 2);
    }
    // The records are gone, and accounting tells the rows once more.
    tell(&mut world, &ClusterSnapshot { jobs: Default::default(), ..ended(1170) });
    assert_eq!(used(&world, 1170), all);
    assert_eq!(world.take_oddities(), Oddities::default());
}

#[test]
fn charges_are_kept_for_as_long_as_they_can_be_told_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let both = vec![
        job(1, Running, (1001, Some(1002), None, 8)),
        job(2, Ended, (1001, Some(1002), Some(1005), 3)),
    ];
    tell(&mut world, &snapshot(1010, both));
    // The first is put back, and runs again for an hour.
    let again = |at: i64| job(1, Running, (1012, Some(1020), None, at - 1020));
    tell(&mut world, &snapshot(1030, vec![again(1030)]));
    let charged =
        |world: &SlurmWorld| world.names.charged.keys().map(|(id, _)| *id).collect::<Vec<u32>>();
    assert_eq!(charged(&world), [1, 2]);
    tell(&mut world, &snapshot(4600, vec![again(4600)]));
    assert_eq!(charged(&world), [1], "the second is gone for longer than an audit goes back");
    let mut later = snapshot(4700, Vec::new());
    later.runs = vec![run(1, 1002, 1012), run(1, 1020, 4620)];
    tell(&mut world, &later);
    tell(&mut world, &ClusterSnapshot { at: 4702, ..later });
    assert_eq!(used(&world, 4702), 2.0 * (3.0 + 10.0 + 3600.0));
    tell(&mut world, &snapshot(9000, vec![job(3, Pending, (8990, None, None, 0))]));
    assert!(charged(&world).is_empty());
}

#[test]
fn what_became_of_a_suspended_run_is_charged_once() {
    let waits = job(1, Pending, (1050, None, None, 0));
    let again = job(1, Running, (1050, Some(1060), None, 40));
    let cancelled = job(1, Ended, (1001, Some(1002), Some(1050), 10));
    // Gone, after it went on or not; cancelled; put back; running again. What it is charged for,
    // besides its first 10 s.
    for (jobs, runs, more) in [
        (vec![], vec![SlurmRun { elapsed: 25, ..run(1, 1002, 1050) }], 15),
        (vec![], vec![SlurmRun { elapsed: 10, ..run(1, 1002, 1050) }], 0),
        (vec![cancelled], vec![SlurmRun { elapsed: 10, ..run(1, 1002, 1050) }], 0),
        (vec![waits], vec![SlurmRun { elapsed: 10, ..run(1, 1002, 1050) }], 0),
        (vec![again], vec![SlurmRun { elapsed: 10, ..run(1, 1002, 1050) }], 40),
    ] {
        for is_new in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut world = open(folder.path(), BEGAN);
            tell(&mut world, &first(1010, Running, 8));
            let paused = told(1012, 10, first(1020, Suspended, 10));
            tell(&mut world, &paused);
            if is_new {
                drop(world);
                world = open(folder.path(), 1100);
            }
            let later = ClusterSnapshot { runs: runs.clone(), ..snapshot(1100, jobs.clone()) };
            assert_eq!(world.missing(&later).len(), 1 - jobs.len());
            tell(&mut world, &later);
            let expected = 2.0 * (10 + more) as f64;
            assert_eq!(used(&world, 1100), expected, "{jobs:?}");
            if world.running() == 0 {
                tell(&mut world, &ClusterSnapshot { at: 1104, ..later });
                assert_eq!(used(&world, 1104), expected, "{jobs:?}");
            }
            assert_eq!(world.take_oddities(), Oddities::default());
        }
    }
}

#[test]
fn a_suspended_run_that_went_on_and_was_put_back_between_two_looks_is_charged_whole() {
    // It ran for 10 s, was suspended, went on unseen for 15 s, and its node failed.
    let row = SlurmRun { elapsed: 25, ..run(1, 1002, 1050) };
    let waits = |at| snapshot(at, vec![job(1, Pending, (1050, None, None, 0))]);
    for (restarts, is_told_soon) in [(false, false), (false, true), (true, false), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut world = open(folder.path(), BEGAN);
        tell(&mut world, &first(1010, Running, 8));
        let paused = told(1012, 10, first(1020, Suspended, 10));
        tell(&mut world, &paused);
        let told = |at: i64| ClusterSnapshot { runs: vec![row.clone()], ..waits(at) };
        tell(&mut world, &if is_told_soon { told(1052) } else { waits(1052) });
        assert_eq!(used(&world, 1052), 20.0);
        for at in [1100, 1160, 1220] {
            if restarts {
                drop(world);
                world = open(folder.path(), at);
            }
            tell(&mut world, &told(at));
            assert_eq!(used(&world, at), 50.0, "restarts {restarts}, at {at}");
        }
        assert_eq!(world.take_oddities(), Oddities::default());
    }
}

#[test]
fn a_new_job_stands_behind_those_of_its_user_and_by_what_its_user_has_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let running = |used| job(1, Running, (BEGAN, Some(BEGAN + 1), None, used));
    tell(&mut world, &snapshot(BEGAN + 3, vec![running(2)]));
    let waits = |id| job(id, Pending, (BEGAN + 40, None, None, 0));
    let now = snapshot(BEGAN + 50, vec![running(49), waits(2), waits(3)]);
    tell(&mut world, &now);
    let order = world.turn(&now).unwrap().order;
    assert_eq!(order, [2, 3]);
    let places = world.places(&now, &order).unwrap();
    let lines: Vec<_> =
        places.iter().filter_map(|place| Some((place.before, place.line(7)?))).collect();
    // Bob has used nothing.
    assert_eq!(lines, [(0, "7 chem bob\n".to_owned()), (2, "7 bio ann\n".to_owned())]);
}

#[test]
fn a_run_that_ended_or_paused_in_the_second_of_the_look_is_charged_from_its_start() {
    let others = |at: i64| of_bob(job(9, Ended, (1001, Some(1002), Some(at - 1), at - 1003)));
    let ended = job(1, Ended, (1001, Some(1014), Some(1018), 4));
    let paused = job(1, Suspended, (1001, Some(1014), None, 4));
    for (last, runs) in
        [(ended, false), (paused, false), (job(1, Pending, (1018, None, None, 0)), true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut world = open(folder.path(), BEGAN);
        let waits = job(1, Pending, (1001, None, None, 0));
        tell(&mut world, &snapshot(1014, vec![waits, others(1014)]));
        // Time passes the start of the job by those of others.
        for at in [1018, 1020, 1022, 1024] {
            let mut now =
                snapshot(at, vec![last.clone(), SlurmJob { id: at as u32, ..others(at) }]);
            let of_it = Suspension { at: 1018, ran_before: 4 };
            now.suspensions.extend((last.stage == Suspended).then_some((1, of_it)));
            // Accounting alone tells of a run that was put back.
            now.runs.extend(runs.then(|| run(1, 1014, 1018)));
            tell(&mut world, &now);
        }
        assert_eq!(used(&world, 1024), 8.0, "{last:?}");
    }
}

#[test]
fn a_suspended_run_that_was_seen_to_go_on_is_charged_once_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &first(1010, Running, 8));
    let paused = told(1012, 10, first(1020, Suspended, 10));
    tell(&mut world, &paused);
    let on = told(1020, 10, first(1024, Running, 14));
    tell(&mut world, &on);
    // It is put back, waits for somebody else, and accounting tells its run.
    let held =
        SlurmJob { reason: "JobHeldUser".to_owned(), ..job(1, Pending, (1030, None, None, 0)) };
    let row = SlurmRun { elapsed: 20, ..run(1, 1002, 1030) };
    for at in [1040, 1100, 1160] {
        tell(
            &mut world,
            &ClusterSnapshot { runs: vec![row.clone()], ..snapshot(at, vec![held.clone()]) },
        );
        assert_eq!(used(&world, at), 40.0, "at {at}");
        drop(world);
        world = open(folder.path(), at + 2);
    }
}

#[test]
fn a_piece_between_two_pauses_that_nobody_saw_is_charged() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    tell(&mut world, &first(1010, Running, 8));
    tell(&mut world, &told(1012, 10, first(1020, Suspended, 10)));
    // It went on for 3 s, was suspended for 4 s, and goes on since 1028.
    tell(&mut world, &told(1024, 13, first(1024, Suspended, 13)));
    tell(&mut world, &told(1028, 13, first(1032, Running, 17)));
    assert_eq!(used(&world, 1032), 2.0 * 17.0);
}

#[test]
fn a_pause_that_is_over_in_the_second_of_the_look_is_left_out() {
    // Known since 1002: it paused at 1014, and went on at 1020. Or it ended at 1020, after it went
    // on at 1018. Or nobody saw it before it ended.
    let resumed = |at: i64| job(1, Running, (1001, Some(1002), None, 12 + at - 1020));
    let ended = |start: i64, used: i64| job(1, Ended, (1001, Some(start), Some(1020), used));
    for (first, last, expected) in [
        (Some(1002), None, 12 + 10),
        (Some(1002), Some(ended(1002, 14)), 14),
        (None, Some(ended(1014, 2)), 2),
        (None, Some(ended(1014, 0)), 0),
        (None, Some(ended(1005, 0)), 0),
        (None, Some(ended(1005, 1)), 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut world = open(folder.path(), BEGAN);
        for at in [1010, 1014, 1020, 1022, 1024, 1030] {
            let mut now = match (at < 1020, first, &last) {
                (true, None, _) => snapshot(at, vec![]),
                (true, Some(start), _) => {
                    snapshot(at, vec![job(1, Running, (1001, Some(start), None, at - start))])
                }
                (false, _, Some(last)) => snapshot(at, vec![last.clone()]),
                (false, _, None) => {
                    let mut now = snapshot(at, vec![resumed(at)]);
                    now.suspensions.insert(1, Suspension { at: 1020, ran_before: 12 });
                    now
                }
            };
            // Accounting tells of it late; time goes on by the jobs of others.
            now.runs.extend(
                last.iter()
                    .filter(|_| at > 1022)
                    .map(|job| SlurmRun { elapsed: job.used, ..run(1, job.start.unwrap(), 1020) }),
            );
            let other = job(at as u32, Ended, (at - 3, Some(at - 2), Some(at - 1), 1));
            now.jobs.insert(other.id, of_bob(other));
            tell(&mut world, &now);
            if at == 1024 {
                drop(world);
                world = open(folder.path(), 1024);
            }
        }
        assert_eq!(used(&world, 1030), 2.0 * expected as f64, "{first:?}, {last:?}");
        assert_eq!(world.take_oddities(), Oddities::default());
    }
}

#[test]
fn a_run_that_is_told_late_in_a_short_round_is_charged_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let other = |id: u32, at: i64| of_bob(job(id, Ended, (at - 3, Some(at - 2), Some(at - 1), 1)));
    for at in [1010, 1012] {
        tell(&mut world, &snapshot(at, vec![other(at as u32, at)]));
    }
    for at in [1014, 1016, 1018, 1020, 1022, 1024, 1030] {
        let mut later = snapshot(at, vec![other(at as u32, at)]);
        later.runs = vec![run(1, 1003, 1008)];
        tell(&mut world, &later);
    }
    assert_eq!(used(&world, 1030), 10.0);
}

#[test]
fn users_with_parent_and_with_no_shares_stand_as_in_slurm() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let shares = "root|||1|\nbio|||1|root\nbio|ann||1|\nbio|top||parent|\nbio|low||0|\n\
                  chem|||1|root\nchem|bob||1|\n";
    let rows = parse_shares(shares).unwrap();
    world.configure(Tree::of(&rows, ShareMeaning::Slurm)).unwrap();
    let of = |id, user: &str, account: &str, stage, times| SlurmJob {
        user: user.to_owned(),
        account: account.to_owned(),
        ..job(id, stage, times)
    };
    // Top has used most of all in bio, and Low nothing.
    tell(
        &mut world,
        &snapshot(1050, vec![of(1, "top", "bio", Ended, (1001, Some(1002), Some(1040), 38))]),
    );
    let waits = |id, user, account| of(id, user, account, Pending, (1045, None, None, 0));
    let jobs = vec![
        waits(2, "low", "bio"),
        waits(3, "ann", "bio"),
        waits(4, "top", "bio"),
        waits(5, "bob", "chem"),
    ];
    let seen = snapshot(1060, jobs);
    tell(&mut world, &seen);
    let turn = world.turn(&seen).unwrap();
    let order = turn.order;
    let of_bio: Vec<u32> = order.iter().copied().filter(|id| *id != 5).collect();
    assert_eq!(of_bio, [4, 3, 2], "the use of bio counts against bio alone");
    assert_eq!(order[0], 5, "chem has used nothing");
    let next = |leaf: &str| {
        turn.standings.queues.iter().find(|queue| queue.queue == leaf).and_then(|of| of.next)
    };
    assert!(next("bio.top") < next("bio.ann") && next("bio.ann") < next("bio.low"));
    let low = turn.standings.queues.iter().find(|queue| queue.queue == "bio.low").unwrap();
    assert_eq!(low.levels.last().unwrap().place, Some(2));
    // A new job of each: that of Top before all of bio.
    let places = world.places(&seen, &order).unwrap();
    let of_bio: Vec<_> = places.iter().filter_map(|place| place.line(1)).collect();
    let at = |user: &str| of_bio.iter().position(|line| line.contains(user));
    assert!(at("top") < at("ann") && at("ann") < at("low"), "{of_bio:?}");
    world.configure(Tree::of(&rows, ShareMeaning::Meed)).unwrap();
    assert_eq!(world.turn(&seen).unwrap().order.last(), Some(&4), "by use alone");
}

#[test]
fn suspended_time_that_is_charged_counts_from_start_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = open(folder.path(), BEGAN);
    let tell_charged = |world: &mut SlurmWorld, at, jobs| {
        let seen = snapshot(at, jobs);
        let (jobs, suspensions) = SuspendedTime::Charged.jobs((seen.jobs, BTreeMap::new()), at);
        tell(
            world,
            &ClusterSnapshot {
                at,
                pool: seen.pool,
                jobs,
                suspensions,
                ..ClusterSnapshot::default()
            },
        );
    };
    tell_charged(&mut world, 1010, vec![job(1, Running, (1001, Some(1002), None, 8))]);
    // Its cores are another's meanwhile: together they hold more than there is.
    let other = |stage, times| SlurmJob { tres: cores(16), ..job(2, stage, times) };
    let suspended = job(1, Suspended, (1001, Some(1002), None, 8));
    let runs = other(Running, (1011, Some(1012), None, 8));
    tell_charged(&mut world, 1020, vec![suspended, runs]);
    assert_eq!(used(&world, 1020), 36.0 + 128.0);
    let ended = job(1, Ended, (1001, Some(1002), Some(1032), 12));
    let other = other(Ended, (1011, Some(1012), Some(1022), 10));
    tell_charged(&mut world, 1040, vec![ended, other]);
    assert_eq!(used(&world, 1040), 60.0 + 160.0);
    assert_eq!(world.take_oddities(), Oddities::default());
}
