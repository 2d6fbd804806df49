//! Commits beside the world ([`Live::begin_commit`]): the journal is the one of a world that waits
//! for each, and nothing is handed out before it is durable.

use std::collections::BTreeSet;

use meed::{Resources, Time};
use meed_driver::Failed;
use meed_driver::live::{Action, Live};
use meed_journal::{Amounts, Arrival, Fact, Group, JobKey, Record, TaskKey};
use meed_store::testing::SimDisk;
use meed_store::{Seq, Store};

use crate::world::{WALL, draw, kinds, lines, open, store_of};

const STEPS: u64 = 24;

#[derive(Clone, Copy, PartialEq)]
enum Commits {
    Waited,
    Begun,
}

/// Some tasks end, jobs come, one is cancelled; it is decided, and committed.
fn step(
    live: &mut Live<u32>,
    seed: u64,
    step: u64,
    commits: Commits,
) -> Result<Vec<Action>, Failed> {
    let now = live.instant(Time::from_secs(1 + step).unwrap());
    let running: Vec<TaskKey> = live.running().map(|running| running.task).collect();
    let mut jobs: Vec<JobKey> = live.jobs().map(|job| job.key().clone()).collect();
    jobs.sort_unstable();
    let drawn = |what: u64, below: u64| draw(&[seed, step, what], below);
    live.at(now, |told| {
        for (number, task) in running.iter().enumerate() {
            if drawn(100 + number as u64, 3) == 0 {
                told.apply(&Fact::task_ended(task.clone()))?;
            }
        }
        for number in 0..2 {
            let demand = Resources::new(&[500 + 250 * drawn(number, 4), 1000]);
            let demand = Amounts::of(&demand, &kinds());
            let tasks = 1 + drawn(10 + number, 4) as u32;
            let queue = ["a", "b.c", "b.d"][drawn(20 + number, 3) as usize].into();
            let group = Group { tasks, demand, ..Group::default() };
            let arrival = Arrival::new(queue, (step * 2 + number).into(), vec![group]);
            told.apply(&Fact::job_arrived(arrival))?;
        }
        Ok(())
    })?;
    if drawn(30, 4) == 0
        && let Some(job) = jobs.last()
        && live.job(job).is_some()
    {
        let now = live.instant(now);
        live.at(now, |told| told.apply(&Fact::job_cancelled(job.clone())))?;
    }
    match commits {
        Commits::Waited => live.commit(WALL),
        Commits::Begun => live.begin_commit(WALL),
    }
}

/// What was handed out until something failed, or all was done.
fn run(disk: &SimDisk, seed: u64, commits: Commits) -> Vec<Action> {
    let mut handed = Vec::new();
    let Ok((mut live, _)) = open(disk, seed) else { return handed };
    for number in 0..STEPS {
        match step(&mut live, seed, number, commits) {
            Ok(actions) => handed.extend(actions),
            Err(_) => return handed,
        }
        if number % 9 == 8 && live.snapshot(WALL).is_err() {
            return handed;
        }
    }
    if let Ok(rest) = live.commit(WALL) {
        handed.extend(rest);
        let starts = starts(&handed);
        assert!(live.running().all(|running| starts.contains(&running.task)));
    }
    handed
}

fn starts(actions: &[Action]) -> BTreeSet<TaskKey> {
    let start = |action: &Action| match action {
        Action::Start { task, .. } => Some(task.clone()),
        _ => None,
    };
    actions.iter().filter_map(start).collect()
}

#[test]
fn the_journal_is_the_same() {
    for seed in 0..12 {
        let disks = [SimDisk::new(), SimDisk::new()];
        let waited = run(&disks[0], seed, Commits::Waited);
        let begun = run(&disks[1], seed, Commits::Begun);
        let journal = |disk: &SimDisk| lines(&*store_of(disk).unwrap(), Seq::new(1));
        assert_eq!(journal(&disks[0]), journal(&disks[1]), "{seed}");
        // What was cancelled before it was handed out never starts.
        let (waited, begun) = (starts(&waited), starts(&begun));
        assert!(begun.is_subset(&waited) && begun.len() > 20, "{seed}: {}", begun.len());
    }
}

fn recorded(store: &dyn Store) -> BTreeSet<TaskKey> {
    let start = |line: String| match Record::decode(line.as_bytes()).unwrap().fact {
        Fact::TaskStarted(start) => Some(start.key()),
        _ => None,
    };
    lines(store, Seq::new(1)).into_iter().filter_map(start).collect()
}

#[test]
fn what_was_handed_out_is_durable_at_each_operation() {
    for seed in [0, 1] {
        let disk = SimDisk::new();
        run(&disk, seed, Commits::Begun);
        let mut late = 0;
        for operation in 1..=disk.operations() {
            let disk = SimDisk::new();
            disk.power_off_at(operation);
            let handed = starts(&run(&disk, seed, Commits::Begun));
            for left in disk.after_power_loss(4, operation) {
                let there = recorded(&*store_of(&left.copy()).unwrap());
                assert!(handed.is_subset(&there), "handed out, and not in the journal");
                late += there.len() - handed.len();
                let (_, recovered) = open(&left, seed).unwrap();
                assert_eq!(recovered.remarks.iter().find(|it| it.contains("as recorded")), None);
            }
        }
        assert!(late > 0, "some starts were durable and not handed out yet");
    }
}
