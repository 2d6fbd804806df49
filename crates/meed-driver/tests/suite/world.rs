//! A small live world: a table of processes, which survives the scheduler's crash as a real
//! machine's processes do, and what happens to it, drawn from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use meed::place::{BestFit, FirstFit, Placement, TwoChoices};
use meed::{
    Blocked, Config, Memory, NodeSpec, Policy, QueueSpec, Reclaim, Reservations, ResourceKinds,
    Resources,
};
use meed::{Span, Time, Unit};
use meed_driver::live::{Action, Live, Opening, Recovered, SnapshotRule};
use meed_driver::{Failed, Taken, header_of};
use meed_journal::{Fact, Header, Opened, TaskKey};
use meed_store::testing::SimDisk;
use meed_store::{
    FileStore, FileStoreOptions, Retained, Retention, Seq, Snapshot, Store, StoreError, UnixMillis,
    Visit,
};

use crate::happens::{Heard, happens};

pub(crate) const WALL: UnixMillis = UnixMillis::new(1_760_000_000_000);
pub(crate) const NODES: usize = 3;

/// Draws numbers: the same for the same words.
pub(crate) fn draw(words: &[u64], below: u64) -> u64 {
    let mix = |sum: u64, &word: &u64| {
        let mixed = (sum ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    words.iter().fold(1, mix) % below
}

pub(crate) fn kinds() -> ResourceKinds {
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Milli)];
    ResourceKinds::new(kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec()).unwrap()
}

const PRESETS: [&str; 6] = ["long-term", "fair", "drf", "fifo", "long-term-drf", "drfh"];

/// Policies and placements by number.
pub(crate) fn config(seed: u64) -> Config {
    let mut root = Policy::preset(PRESETS[(seed % 6) as usize]).unwrap();
    if seed.is_multiple_of(6) && seed % 4 >= 2 {
        root.memory = Memory::HalfLife(Span::from_secs(60).unwrap());
    }
    if [6, 10].contains(&(seed % 12)) {
        let seconds = |seconds| Span::from_secs(seconds).unwrap();
        root.blocked = Blocked::Reserve(Reservations::AtMost(2.try_into().unwrap()));
        let (min_runtime, grace) = (seconds(1), seconds(1));
        root.reclaim = Some(Reclaim { min_runtime, grace, ..Reclaim::new(seconds(3)) });
    }
    let queue = |number: u64| QueueSpec {
        name: ["a", "b", "b.c", "b.d"][number as usize].to_owned(),
        weight: 1000 * (1 + number),
        min: None,
        max: None,
        policy: root.clone(),
    };
    let node = |number| NodeSpec::new(format!("n{number}"), Resources::new(&[4000, 4000]));
    Config {
        kinds: kinds(),
        measured: 0,
        queues: (0..4).map(queue).collect(),
        nodes: (0..NODES).map(node).collect(),
        root: root.clone(),
    }
}

fn place(seed: u64) -> Box<dyn Placement> {
    match seed % 3 {
        0 => Box::new(FirstFit::new(2)),
        1 => Box::new(BestFit::new(2)),
        _ => Box::new(TwoChoices::new(2, seed)),
    }
}

pub(crate) fn header(seed: u64) -> Header {
    let placement = ["first-fit", "best-fit", "power-of-two"][(seed % 3) as usize];
    let config = config(seed);
    let policy = PRESETS[(seed % 6) as usize];
    Header { seed, max_attempts: 2, ..header_of("toy", policy, &config, placement) }
}

pub(crate) fn opening(seed: u64) -> Opening<u32> {
    Opening {
        config: config(seed),
        place: Box::new(move || place(seed)),
        header: header(seed),
        take: Box::new(|arrival| Taken {
            detail: arrival.groups.iter().map(|group| group.tasks).sum(),
            max_attempts: 2,
        }),
        opened: Opened::default(),
        rule: SnapshotRule { records: 25, bytes: u64::MAX },
        reasons: seed.is_multiple_of(2),
        wall: WALL,
    }
}

pub(crate) fn store_of(disk: &SimDisk) -> Result<Box<dyn Store>, StoreError> {
    let options = FileStoreOptions::default().segment_bytes(6000).room_bytes(4096);
    Ok(Box::new(FileStore::open(Arc::new(disk.clone()), options)?))
}

pub(crate) fn open(
    disk: &SimDisk,
    seed: u64,
) -> Result<(Live<u32>, Recovered), meed_driver::live::OpenError> {
    Live::open(store_of(disk)?, opening(seed))
}

/// What runs, and what has ended without being heard of: until it is durable, it is told again.
#[derive(Clone, Default, Debug)]
pub(crate) struct Machine {
    pub(crate) running: BTreeMap<TaskKey, String>,
    /// And whether it ended well.
    pub(crate) exits: BTreeMap<TaskKey, bool>,
    /// They run no more, by no word of theirs.
    gone: Vec<TaskKey>,
    /// They run, and nobody here has started them.
    adopted: Vec<(TaskKey, String)>,
    started: BTreeSet<TaskKey>,
    /// They were told to stop for others.
    pub(crate) stopping: BTreeSet<TaskKey>,
    /// Nodes that are there.
    pub(crate) down: BTreeSet<usize>,
    /// Number of the next step, and of the next job.
    pub(crate) step: u64,
}

impl Machine {
    pub(crate) fn carry_out(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Start { task, node } => {
                    assert!(self.started.insert(task.clone()), "{task} starts twice");
                    self.running.insert(task, node.to_string());
                }
                Action::Stop { task, .. } => {
                    self.exits.remove(&task);
                    self.running.remove(&task);
                }
                Action::Reclaim { task, .. } => drop(self.stopping.insert(task)),
            }
        }
    }

    /// What was told is durable.
    fn settle(&mut self) {
        self.exits.clear();
        self.gone.clear();
        self.settle_adopted();
    }

    fn settle_adopted(&mut self) {
        for (task, node) in std::mem::take(&mut self.adopted) {
            assert!(self.started.insert(task.clone()), "{task} was started here");
            self.running.insert(task, node);
        }
    }

    /// Whether it runs, or ran until a moment ago.
    pub(crate) fn knows(&self, task: &TaskKey) -> bool {
        self.running.contains_key(task) || self.exits.contains_key(task) || self.gone.contains(task)
    }

    pub(crate) fn starts(&self) -> usize {
        self.started.len()
    }
}

/// The next step of a world: what happens, one decision, one commit, and what it hands out.
pub(crate) fn step(live: &mut Live<u32>, machine: &mut Machine, seed: u64) -> Result<(), Failed> {
    let micros = machine.step * 1_700_001 + draw(&[seed, machine.step, 50], 1_000_000);
    let now = live.instant(Time::from_micros(micros).unwrap());
    let before = machine.clone();
    let looks = live.next_look().is_some_and(|at| at <= now);
    let heard = live.at(now, |batch| {
        if looks {
            batch.apply(&Fact::time_passed())?;
        }
        happens(&before, seed, batch)
    })?;
    let Heard { ended, gone, adopted, moved } = heard;
    machine.running.extend(moved);
    machine.running.retain(|task, _| !gone.contains(task));
    (machine.gone, machine.adopted) = (gone, adopted);
    // They have ended, whether the scheduler lives to hear of it or not.
    let well = |task: &TaskKey| {
        let number = before.running.keys().position(|other| other == task).unwrap();
        draw(&[seed, before.step, 98, number as u64], 5) > 0
    };
    for task in &ended {
        machine.running.remove(task);
        machine.exits.insert(task.clone(), well(task));
    }
    let actions = live.commit(WALL)?;
    machine.settle();
    machine.carry_out(actions);
    machine.stopping.retain(|task| machine.running.contains_key(task));
    machine.down = (0..NODES)
        .filter(|node| {
            let engine = live.engine();
            let named = |id: &meed::NodeId| engine.node(*id).0.name == format!("n{node}");
            !engine.node_ids().any(|id| named(&id) && engine.is_up(id))
        })
        .collect();
    machine.step += 1;
    live.tidy(&Retention::default(), WALL)?;
    Ok(())
}

/// After a crash: the machine's processes and the journal's tasks become one.
pub(crate) fn reconcile(live: &mut Live<u32>, machine: &mut Machine) {
    // What was drawn in the step that was broken off may be durable.
    machine.step += 1;
    let known: BTreeSet<TaskKey> = live.running().map(|running| running.task).collect();
    machine.running.retain(|task, _| known.contains(task));
    machine.exits.retain(|task, _| known.contains(task));
    machine.gone.retain(|task| known.contains(task));
    machine.adopted.retain(|(task, _)| known.contains(task));
    let gone = std::mem::take(&mut machine.gone);
    machine.settle_adopted();
    let elsewhere = live.running().filter_map(|told| {
        let node = machine.running.get(&told.task)?;
        (**node != *told.node).then(|| (told.task, node.clone()))
    });
    let elsewhere: Vec<(TaskKey, String)> = elsewhere.collect();
    let now = live.instant(live.engine().now());
    live.at(now, |batch| {
        for task in &gone {
            batch.apply(&Fact::task_lost(task.clone(), None))?;
        }
        for (task, node) in &elsewhere {
            // The node may have left, and the task with it.
            let _ = batch.apply(&Fact::task_moved(task.clone(), node));
        }
        for (task, well) in &machine.exits {
            // Its job may have failed a moment ago, and taken it along.
            let _ = batch.apply(&match well {
                true => Fact::task_ended(task.clone()),
                false => Fact::task_failed(task.clone()),
            });
        }
        Ok(())
    })
    .unwrap();
    let missing: Vec<TaskKey> = live
        .running()
        .map(|running| running.task)
        .filter(|task| known.contains(task) && !machine.running.contains_key(task))
        .collect();
    missing.iter().for_each(|task| live.start_again(task).unwrap());
    let actions = live.commit(WALL).unwrap();
    machine.settle();
    machine.carry_out(actions);
    machine.stopping.extend(live.stopping().map(|stopping| stopping.task));
    machine.stopping.retain(|task| machine.running.contains_key(task));
    agree(live, machine);
}

/// What runs is what the journal says.
pub(crate) fn agree(live: &Live<u32>, machine: &Machine) {
    let known: BTreeMap<TaskKey, String> =
        live.running().map(|running| (running.task, running.node.to_string())).collect();
    assert_eq!(known, machine.running);
}

/// Everything that a driver knows, but for the engine's memory of what it has looked at in vain
/// since the last change: a restored engine looks once more, and finds the same.
pub(crate) fn known(live: &Live<u32>) -> serde_json::Value {
    let state = live.state();
    let json = state.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut all: serde_json::Value = serde_json::from_slice(&state[json..]).unwrap();
    let engine = &mut all["engine"];
    engine.as_object_mut().unwrap().remove("fresh");
    for queue in engine["queues"].as_array_mut().unwrap() {
        for memory in ["parked", "least", "capped"] {
            queue.as_object_mut().unwrap().remove(memory);
        }
    }
    for shape in engine["shapes"].as_array_mut().unwrap() {
        shape.as_object_mut().map(|shape| shape.remove("blocked"));
    }
    all
}

/// A store that has forgotten its snapshots.
#[derive(Debug)]
pub(crate) struct NoSnapshot(pub(crate) Box<dyn Store>);

impl Store for NoSnapshot {
    fn append(&mut self, records: &[&[u8]]) -> Result<Seq, StoreError> {
        self.0.append(records)
    }

    fn commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError> {
        self.0.commit(now)
    }

    fn first(&self) -> Seq {
        self.0.first()
    }

    fn durable(&self) -> Seq {
        self.0.durable()
    }

    fn read(&self, from: Seq, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.0.read(from, visit)
    }

    fn snapshot(&mut self, _: Seq, _: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn last_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        Ok(None)
    }

    fn retain(&mut self, rule: &Retention, now: UnixMillis) -> Result<Retained, StoreError> {
        self.0.retain(rule, now)
    }

    fn remarks(&self) -> &[String] {
        self.0.remarks()
    }
}

/// The lines of a store, from number `from` on.
pub(crate) fn lines(store: &dyn Store, from: Seq) -> Vec<String> {
    let mut lines = Vec::new();
    if store.durable() >= from {
        let read = store.read(from, &mut |_, line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            ControlFlow::Continue(())
        });
        read.unwrap();
    }
    lines
}
