//! Room is taken back: who is told to stop, when, and what the journal says of it.

use std::path::{Path, PathBuf};

use crate::manager::*;
use meed_yarn::PluginAnswer;
use meed_yarn::message::{Pending, PluginRequest, TakeBackAsked};

const KEYS: [(&str, &str); 5] = [
    ("quantum", "1s"),
    ("reclaim-after", "10s"),
    ("reclaim-min-runtime", "5s"),
    ("reclaim-guard", "10s"),
    ("reclaim-grace", "2s"),
];

fn pending(app: &str, queue: &str, count: u32) -> Vec<Pending> {
    let asks = vec![(1024, 1, count)];
    vec![Pending { app: app.to_owned(), queue: queue.to_owned(), asks }]
}

/// Eight containers of `root.a` fill the node: a master and seven others, the last the youngest.
fn full(folder: Option<&Path>, keys: &[(&str, &str)]) -> World {
    let mut world = World::new(folder, 1, keys);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 16)]));
    world.tick(T0 + 9000, |tick| {
        let one = |i: u64| start(&format!("c{i}"), "app1", "root.a", 1024, T0 + 1000 + i);
        tick.events = (1..=8).map(one).collect();
    });
    world
}

fn asked(world: &mut World, now: u64, fill: impl FnOnce(&mut TakeBackAsked)) -> Vec<String> {
    let mut asked = TakeBackAsked { now, masters: vec!["c1".to_owned()], ..Default::default() };
    fill(&mut asked);
    match world.core.answer(&PluginRequest::TakeBack(asked)).expect("it answers") {
        PluginAnswer::Text(text) => text.lines().map(str::to_owned).collect(),
        PluginAnswer::Rows(_) => panic!("words, not rows"),
    }
}

/// What lines of a kind tell first.
fn of(kind: &str, lines: &[String]) -> Vec<String> {
    let words = lines.iter().map(|line| line.split('\t').collect::<Vec<_>>());
    words.filter(|words| words[0] == kind).map(|words| words[1].to_owned()).collect()
}

fn marks(world: &mut World, now: u64) -> Vec<String> {
    of("mark", &asked(world, now, |_| {}))
}

#[test]
fn who_is_owed_gets_its_share_back_and_no_more() {
    let mut world = full(None, &KEYS);
    world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 1));
    assert_eq!(marks(&mut world, T0 + 39_000), [""; 0], "it has waited 9 s");
    // The youngest, and one is enough: its master asks for one.
    assert_eq!(marks(&mut world, T0 + 41_000), ["c8"]);
    // Until it has stopped nobody else is looked at; it has its grace.
    let later = asked(&mut world, T0 + 42_000, |_| {});
    assert_eq!((of("mark", &later), of("kill", &later)), (vec![], vec![]));
    assert_eq!(of("kill", &asked(&mut world, T0 + 43_100, |_| {})), ["c8"]);
    world.tick(T0 + 44_000, |tick| tick.events = vec![end("c8", T0 + 43_200)]);
    world.tick(T0 + 45_000, |tick| {
        tick.events = vec![start("d1", "app2", "root.b", 1024, T0 + 44_500)];
        // The one that lost an executor asks for another.
        tick.pending = pending("app2", "root.b", 7);
        tick.pending.extend(pending("app1", "root.a", 1));
    });
    assert_eq!(marks(&mut world, T0 + 50_000), [""; 0]);
    // Four are its share, and it has one.
    assert_eq!(marks(&mut world, T0 + 56_000), ["c5", "c6", "c7"]);
    let over = asked(&mut world, T0 + 58_100, |_| {});
    assert_eq!(of("kill", &over), ["c5", "c6", "c7"]);
    world.tick(T0 + 59_000, |tick| {
        tick.events = ["c5", "c6", "c7"].map(|id| end(id, T0 + 58_200)).to_vec();
        let one = |i: u64| start(&format!("d{i}"), "app2", "root.b", 1024, T0 + 58_500 + i);
        tick.events.extend((2..=4).map(one));
    });
    let rows = world.tick(T0 + 60_000, |_| {});
    assert_eq!(rows.queues[0].as_ref().map(|row| row.held[0]), Some(4096));
    assert_eq!(marks(&mut world, T0 + 90_000), [""; 0], "both have their shares");
}

#[test]
fn what_is_told_in_a_dry_run_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = full(Some(folder.path()), &KEYS);
    world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 2));
    let lines = asked(&mut world, T0 + 41_000, |asked| asked.dry = true);
    let said = of("say", &lines);
    assert_eq!((said.len(), lines.len()), (2, 2), "{lines:?}");
    assert!(said[0].starts_with("dry run: c7 of app1 in root.a on n1:1 is to stop"), "{said:?}");
    // It says so once in each `reclaim_after`.
    assert_eq!(asked(&mut world, T0 + 42_000, |asked| asked.dry = true), [""; 0]);
    drop(world);
    assert!(!journal(folder.path()).contains("reclaim\":{\"queue\""));
}

#[test]
fn limits_and_rules_hold() {
    let look = |keys: &[(&str, &str)], fill: &dyn Fn(&mut TakeBackAsked)| {
        let mut world = full(None, keys);
        world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 7));
        of("mark", &asked(&mut world, T0 + 41_000, fill))
    };
    let with = |key: &str, value: &'static str| {
        let mut keys = KEYS;
        keys.iter_mut().filter(|(name, _)| *name == key).for_each(|it| it.1 = value);
        keys
    };
    assert_eq!(look(&KEYS, &|_| {}), ["c5", "c6", "c7", "c8"]);
    assert_eq!(look(&KEYS, &|asked| asked.held_up = vec!["app2".into()]), [""; 0]);
    assert_eq!(look(&KEYS, &|asked| asked.spared = vec!["root.a".into()]), [""; 0]);
    let floors = vec![("root.a".to_owned(), 6144, 0)];
    assert_eq!(look(&KEYS, &|asked| asked.floors = floors.clone()), ["c7", "c8"]);
    assert_eq!(look(&with("reclaim-min-runtime", "1h"), &|_| {}), [""; 0]);
    assert_eq!(look(&with("reclaim-after", "1min"), &|_| {}), [""; 0]);
    // Nobody falls below its share, so the order of two does not turn, however long the guard is.
    assert_eq!(look(&with("reclaim-guard", "1h"), &|_| {}).len(), 4);
    // Masters come last, and only where nothing else of theirs goes on.
    let masters = (3..=8).map(|i| format!("c{i}")).collect::<Vec<_>>();
    assert_eq!(look(&KEYS, &|asked| asked.masters = masters.clone()), ["c1", "c2"]);
    assert_eq!(look(&KEYS[..1], &|_| {}), [""; 0], "it is off unless it is asked for");
}

#[test]
fn one_whose_winner_waits_no_more_goes_on() {
    let mut world = full(None, &KEYS);
    world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 1));
    assert_eq!(marks(&mut world, T0 + 41_000), ["c8"]);
    world.tick(T0 + 42_000, |tick| tick.gone = vec!["app2".to_owned()]);
    let lines = asked(&mut world, T0 + 44_000, |_| {});
    assert_eq!(of("kill", &lines), [""; 0]);
    assert!(of("say", &lines)[0].contains("c8 goes on"), "{lines:?}");
}

#[test]
fn room_that_nobody_takes_is_said_and_the_next_look_comes_later() {
    let mut world = full(None, &KEYS);
    world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 1));
    assert_eq!(marks(&mut world, T0 + 41_000), ["c8"]);
    asked(&mut world, T0 + 43_100, |_| {});
    world.tick(T0 + 44_000, |tick| tick.events = vec![end("c8", T0 + 43_200)]);
    // Another one of the borrower's took it.
    world.tick(T0 + 45_000, |tick| {
        tick.events = vec![start("c9", "app1", "root.a", 1024, T0 + 44_500)];
    });
    let lines = asked(&mut world, T0 + 52_000, |_| {});
    assert!(of("say", &lines)[0].contains("took nothing of what was taken back"), "{lines:?}");
    assert_eq!(of("mark", &lines).len(), 1);
}

/// All records of the newest epoch.
fn journal(folder: &Path) -> String {
    let listed = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("it is there");
        entries.map(|entry| entry.expect("it is listed").path()).collect()
    };
    let epochs = listed(folder).into_iter().filter(|path| path.is_dir());
    let files = listed(&epochs.max().expect("there is one"));
    let lines = files.iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    lines.map(|path| std::fs::read_to_string(path).expect("it is text")).collect()
}

#[test]
fn a_stop_is_recorded_before_it_is_done_and_the_ledger_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = full(Some(folder.path()), &KEYS);
    world.tick(T0 + 30_000, |tick| tick.pending = pending("app2", "root.b", 1));
    assert_eq!(marks(&mut world, T0 + 41_000), ["c8"]);
    let told = journal(folder.path());
    assert!(told.contains("\"reclaim\":{\"queue\":\"a\",\"job\":\"app1\""), "{told}");
    assert!(told.contains("\"by\":\"yarn\""), "{told}");
    asked(&mut world, T0 + 43_100, |_| {});
    world.tick(T0 + 44_000, |tick| tick.events = vec![end("c8", T0 + 43_200)]);
    assert!(journal(folder.path()).contains("\"lost\":{\"job\":\"app1\""));
    drop(world);
    let (mut second, opened) = World::open(Some(folder.path()), 2, T0 + 60_000, &KEYS);
    assert_eq!(opened.from_epoch, Some(1));
    second.tick(T0 + 61_000, |_| {});
}
