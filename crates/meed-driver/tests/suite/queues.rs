//! Queues of a live driver that come and go for ever, and come back.

use meed::{QueueSpec, Resources, Time};
use meed_driver::live::{Action, Live};
use meed_journal::{Amounts, Arrival, Fact, Group, JobKey, Keys, TaskKey};
use meed_store::testing::SimDisk;

use crate::world::{WALL, config, kinds, open};

fn at(live: &Live<u32>, millis: u64) -> Time {
    live.instant(Time::from_micros(millis * 1000).unwrap())
}

/// A queue comes, runs a task for a second, and goes.
fn visit(live: &mut Live<u32>, name: &str, job: u64, second: u64) {
    let spec = QueueSpec { name: name.to_owned(), ..config(0).queues[0].clone() };
    let demand = Amounts::of(&Resources::new(&[1000, 0]), &kinds());
    let group = Group { tasks: 1, demand, ..Group::default() };
    let arrival = Arrival::new(name.into(), JobKey::Number(job), vec![group]);
    live.at(at(live, second * 10_000), |batch| {
        batch.apply(&Fact::queue_added(&spec, Keys::default(), &kinds()))?;
        batch.apply(&Fact::job_arrived(arrival))
    })
    .unwrap();
    let actions = live.commit(WALL).unwrap();
    let started: Vec<TaskKey> = actions
        .into_iter()
        .map(|action| match action {
            Action::Start { task, .. } => task,
            Action::Stop { task, .. } | Action::Reclaim { task, .. } => {
                panic!("{task} is stopped")
            }
        })
        .collect();
    live.at(at(live, second * 10_000 + 1000), |batch| {
        let ends = started.into_iter().map(Fact::task_ended);
        batch.apply_all(&ends.collect::<Vec<_>>())?;
        batch.apply(&Fact::queue_removed(name))
    })
    .unwrap();
    live.commit(WALL).unwrap();
}

#[test]
fn a_ledger_is_there_again_when_its_queue_comes_back() {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, 0).unwrap();
    visit(&mut live, "guest", 0, 1);
    drop(live);
    let (mut live, _) = open(&disk, 0).unwrap();
    visit(&mut live, "guest", 1, 2);
    let engine = live.engine();
    let guest = engine.queue_ids().find(|&id| engine.queue_name(id) == "guest").unwrap();
    assert_eq!(engine.charged(guest, engine.now()), 2000.0, "a cpu, twice for a second");
}

#[test]
fn names_without_end_cost_a_bounded_number_of_rows() {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, 0).unwrap();
    let mut most = 0;
    for turn in 0..2500 {
        visit(&mut live, &format!("ci-{turn}"), turn, 1 + turn);
        most = most.max(live.queues(live.engine().now()).unwrap().len());
        if turn % 600 == 599 {
            let state = live.state();
            drop(live);
            live = open(&disk, 0).unwrap().0;
            assert!(live.state() == state, "another state after a restart");
        }
    }
    assert!(most <= 4 + 1024 + 1, "{most} rows");
    let text = String::from_utf8(live.state()).unwrap();
    assert!(text.contains("ci-2499") && !text.contains("ci-0\""), "which are remembered");
}

/// A seventh of a cluster that is no multiple of seven smallest units.
#[test]
fn a_share_is_told_exactly() {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, 0).unwrap();
    let name = "c".to_owned();
    let spec = QueueSpec { name, weight: 4000, ..config(0).queues[0].clone() };
    let added = Fact::queue_added(&spec, Keys::default(), &kinds());
    live.at(at(&live, 1), |batch| batch.apply(&added)).unwrap();
    live.commit(WALL).unwrap();
    let total = live.engine().capacity().get(0);
    assert_ne!(total % 7, 0, "another cluster");
    let rows = live.queues(live.engine().now()).unwrap();
    let a = rows.iter().find(|(id, _)| live.engine().queue_name(*id) == "a").unwrap();
    let seventh = total as f64 / 7000.0;
    assert!((a.1.share - seventh).abs() < 1e-12, "{} of {seventh}", a.1.share);
}
