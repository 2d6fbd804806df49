//! The decision log: random terms of leaders, whose logs replay to the same decisions.

use std::path::Path;

use meed_replay::explain::{LogSubject, explain};
use meed_replay::{Recording, ReplayOptions, replay, verify};
use meed_scenario::{Scenario, Setting};
use meed_sim::Unwatched;
use meed_sim::{SimulateOptions, simulate};
use meed_workload::{JobSource as _, OnBadLine};

use super::*;
use crate::record::DecisionLog;

/// Numbers that look drawn, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// What the API server would list: pods by uid, each on its node or on none.
struct Cluster {
    pods: Vec<Pod>,
    dice: Dice,
    made: u64,
}

impl Cluster {
    fn make(&mut self) -> Pod {
        self.made += 1;
        let uid = format!("u{}", self.made);
        let app = ["web", "db"][self.dice.roll(2) as usize];
        let apart = json!({ "podAntiAffinity": required("web", "host") });
        let affinity = if self.dice.roll(3) == 0 { apart } else { json!({}) };
        match self.dice.roll(5) {
            0 => pod(&uid, "gates", json!({ "metadata": { "name": uid } })),
            // Of a gang: some gather, some wait, some follow; some are larger than others.
            1 | 2 => {
                let (gang, queue) =
                    [("g", "binds"), ("h", "binds"), ("i", "gates")][self.dice.roll(3) as usize];
                let labels = json!({ "app": app, "meed.dev/gang": gang,
                    "meed.dev/gang-size": "3" });
                let cores = 1 + self.dice.roll(3) / 2;
                of_cores(&uid, queue, cores, labels)
            }
            _ => choosy(&uid, app, affinity),
        }
    }

    /// Something happens to some pod, and the world hears of it.
    fn step(&mut self, world: &mut World) {
        let now = world.turn();
        let kinds = world.kinds().clone();
        let see = |pod: &Pod| PodSeen::of(pod, &kinds);
        match self.dice.roll(8) {
            0..=3 => {
                let new = self.make();
                world.pod_seen(see(&new), now).unwrap();
                self.pods.push(new);
            }
            4 | 5 if !self.pods.is_empty() => {
                let place = self.dice.roll(self.pods.len() as u64) as usize;
                let mut gone = self.pods.swap_remove(place);
                if self.dice.roll(2) == 0 {
                    lay_phase(&mut gone, ["Succeeded", "Failed"][self.dice.roll(2) as usize]);
                }
                world.pod_gone(see(&gone), now).unwrap();
            }
            6 => {
                let uid = format!("s{}", self.made);
                self.made += 1;
                let node = ["n1", "n2"][self.dice.roll(2) as usize];
                let stranger = stranger(&uid, node, "web");
                world.pod_seen(see(&stranger), now).unwrap();
                self.pods.push(stranger);
            }
            _ => {
                let name = ["n1", "n2"][self.dice.roll(2) as usize];
                let mut one = node(name, 4 + self.dice.roll(5) as u32);
                let class = ["a", "b", "c"][self.dice.roll(3) as usize];
                let labels = [("host", name), ("class", class)];
                let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
                one.metadata.labels = Some(labels.into());
                world.node_seen(&one, now).unwrap();
            }
        }
    }

    /// The world decides; what starts is bound, refused, or not answered yet.
    fn decide(&mut self, world: &mut World) -> usize {
        let mut count = 0;
        loop {
            let now = world.turn();
            let orders = world.decide(now).unwrap();
            // The first start of a decision is never taken back, so this comes to an end.
            let has_start = orders.iter().any(|order| matches!(order, Order::Start(_)));
            assert!(has_start || !world.is_unsettled());
            for order in orders {
                let Order::Start(start) = order else { continue };
                count += 1;
                let uid = Some(start.pod.uid.as_str());
                let pod = self.pods.iter_mut().find(|pod| pod.metadata.uid.as_deref() == uid);
                let Some(pod) = pod else { continue };
                let now = world.turn();
                let answer = |found| Answer { uid: start.pod.uid.clone(), found };
                match self.dice.roll(6) {
                    0 => {
                        let refused = Found::Pod(Box::new(pod.clone()), "refused".to_owned());
                        world.answered(answer(refused), now).unwrap();
                    }
                    1 => {}
                    _ => {
                        let spec = pod.spec.as_mut().unwrap();
                        spec.node_name = Some(start.node);
                        spec.scheduling_gates = None;
                        let notes = pod.metadata.annotations.get_or_insert_default();
                        notes.insert("meed.dev/started".into(), start.started.to_string());
                        notes.insert("meed.dev/charged".into(), start.queue);
                        let seen = PodSeen::of(pod, world.kinds());
                        world.pod_seen(seen, now).unwrap();
                    }
                }
            }
            if !world.is_unsettled() {
                return count;
            }
        }
    }
}

fn lay_phase(pod: &mut Pod, phase: &str) {
    let status = json!({ "phase": phase });
    pod.status = serde_json::from_value(status).unwrap();
}

fn is_as_recorded(path: &Path, run: &str) {
    let recording = Recording::open(path, Some(run)).unwrap();
    let difference = verify(&recording, &mut Unwatched).unwrap();
    assert!(difference.is_none(), "{}, run {run}: {difference:?}", path.display());
}

/// Any term can be run under any policy, from its middle on. Whether pods ran when it began, how
/// many jobs there are, and how many of them were refused.
fn is_a_workload(path: &Path, run: &str) -> (bool, u64, u64) {
    let settings = [Setting::trace_run(run)];
    let scenario = Scenario::load_any(path, &settings, OnBadLine::Stop).unwrap();
    let policies = ["fair", "long-term"].map(str::to_owned).to_vec();
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let result = simulate(&scenario, &options, None, &mut Unwatched).unwrap();
    let jobs = {
        let mut source = scenario.source(0, OnBadLine::Stop).unwrap();
        std::iter::from_fn(move || source.next_job().unwrap()).count() as u64
    };
    let mut refused = 0;
    for ran in &result.runs {
        let ended: u64 = ran.queues.iter().map(|queue| queue.jobs).sum();
        assert_eq!(ended + ran.unfinished + ran.refused, jobs, "run {run} under {}", ran.policy);
        refused = refused.max(ran.refused);
    }
    let at_head = result.assumptions.iter().any(|words| words.contains("tasks ran when it began"));
    (at_head, jobs, refused)
}

#[test]
fn every_term_replays_from_its_own_beginning() {
    let (mut starts, mut undone, mut together, mut priced) = (0, 0, 0, 0);
    let (mut at_head, mut jobs, mut refused) = (0u64, 0u64, 0u64);
    for seed in 0..25 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let log = || DecisionLog::open(path.to_str().unwrap()).unwrap();
        let mut test = Test::with_hosts();
        let mut cluster = Cluster { pods: Vec::new(), dice: Dice(seed), made: 0 };
        for term in 1..=3 {
            let world = std::mem::replace(&mut test.world, Test::new().world);
            let mut world = world.record_to(log(), "long-term", term).unwrap();
            starts += cluster.decide(&mut world);
            for _ in 0..30 {
                for _ in 0..=cluster.dice.roll(3) {
                    cluster.step(&mut world);
                }
                starts += cluster.decide(&mut world);
                if cluster.dice.roll(4) == 0 {
                    let now = world.now();
                    world.statuses(now).unwrap();
                }
            }
            // Every other term ends as a crash does.
            if term != 2 {
                world.end_record().unwrap();
            }
            test.world = world;
            let hosts = ["n1", "n2"].map(|name| {
                let mut one = node(name, 8);
                one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
                one
            });
            test.restart(Listed { nodes: hosts.into(), pods: cluster.pods.clone(), ..listed() });
        }
        for run in ["1", "2", "3"] {
            is_as_recorded(&path, run);
            let (begins_in_the_middle, came, lacks_a_node) = is_a_workload(&path, run);
            at_head += u64::from(begins_in_the_middle);
            jobs += came;
            refused += lacks_a_node;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        undone += text.matches("\"undone\":").count();
        priced += text.matches("\"weight\":0.5").count();
        together += text.matches("\"gang\":3").count();
        // A log whose decisions were changed is found out.
        let (one, other) = ("\"node\":\"n1\",\"reason\"", "\"node\":\"n2\",\"reason\"");
        if text.contains(one) {
            std::fs::write(&path, text.replace(one, other)).unwrap();
            let differs = |run: &&str| {
                let recording = Recording::open(&path, Some(run)).unwrap();
                !matches!(verify(&recording, &mut Unwatched), Ok(None))
            };
            assert!(["1", "2", "3"].iter().any(differs), "seed {seed}");
        }
    }
    assert!(starts > 500 && undone > 50, "{starts} starts, {undone} undone");
    assert!(priced > 30, "{priced} nodes that count a half");
    assert!(together > 30, "{together} starts of gangs");
    assert!(at_head > 30, "{at_head} terms began with pods that ran");
    // What no node can hold waits, as it did.
    assert!(refused == 0 && jobs > 0, "{refused} of {jobs} jobs are refused");
}

#[test]
fn a_term_is_explained_and_not_run_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = DecisionLog::open(path.to_str().unwrap()).unwrap();
    let mut test = Test::new();
    for uid in ["a", "b", "c", "d", "before"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 4);
    let mut world = test.world.record_to(log, "long-term", 7).unwrap();
    let now = world.turn();
    let kinds = world.kinds().clone();
    let later = pod("later", "gates", json!({ "metadata": { "name": "later" } }));
    world.pod_seen(PodSeen::of(&later, &kinds), now).unwrap();
    let now = world.turn();
    world.decide(now).unwrap();
    world.end_record().unwrap();

    let recording = Recording::open(&path, None).unwrap();
    for (subject, queue, ahead) in [
        (LogSubject::Job("n/before".to_owned()), "binds", "n/before"),
        (LogSubject::Job("n/later".to_owned()), "gates", "n/later"),
        (LogSubject::Queue("binds".to_owned()), "binds", ""),
    ] {
        let told = explain(&recording, &subject, Some(now)).unwrap();
        assert_eq!(told.queue, queue);
        assert!(told.waits && told.as_recorded, "{ahead}");
        assert_eq!(told.job.map_or(String::new(), |job| job.job), ahead);
        assert!(!told.obstacles.is_empty());
    }
    // What was before the run began no record tells; the middle of a wait may have been then.
    let before = LogSubject::Job("n/before".to_owned());
    let first = explain(&recording, &before, Some(Time::ZERO)).unwrap();
    assert!(first.waits && first.as_recorded && first.at_s > 0.0, "{first:?}");
    let is_told = |remark: &String| remark.contains("this is its beginning");
    assert!(first.remarks.iter().any(is_told), "{:?}", first.remarks);
    let middle = explain(&recording, &before, None).unwrap();
    assert!(middle.waits && middle.at_s >= first.at_s, "{middle:?}");
    let options = ReplayOptions { policies: vec!["fair".to_owned()], ..Default::default() };
    let refused = replay(&recording, &options, None, &mut Unwatched).err().unwrap();
    assert!(refused.to_string().contains("begins in the middle"), "{refused}");
}
