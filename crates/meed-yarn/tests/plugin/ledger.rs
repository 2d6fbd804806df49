//! The ledger of a ResourceManager, from its questions alone: exact use, restarts, what is refused.

use crate::manager::*;
use meed_yarn::message::{
    ContainerEvent, Node, Open, Pending, PluginRequest, PluginSettings, Tick,
};
use meed_yarn::{Core, CoreError, PluginAnswer};

/// Mebibyte x milliseconds that the ledger holds against a queue.
fn used(rows: &Rows, queue: usize) -> u128 {
    let row = rows.queues[queue].as_ref().expect("a row");
    row.amounts[0] / (1000 * 1000) / u128::from(MIB)
}

#[test]
fn use_is_exact_to_the_mebibyte_and_millisecond() {
    let mut world = World::new(None, 1, &[("quantum", "10s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let rows = world.tick(T0 + 2000, |tick| {
        tick.events = vec![start("c1", "app1", "root.a", 1024, T0 + 500), end("c1", T0 + 1733)];
    });
    // It ended: what it was charged ahead came back.
    assert_eq!(used(&rows, 0), 1024 * 1233);
    let rows = world.tick(T0 + 3000, |tick| {
        tick.events = vec![start("c2", "app2", "root.b", 512, T0 + 2500)];
    });
    // It runs, and is charged its quantum.
    assert_eq!(used(&rows, 1), 512 * 10_000);
    assert_eq!(rows.queues[1].as_ref().unwrap().held, [512, 1]);
    let rows = world.tick(T0 + 42_500, |_| {});
    assert_eq!(used(&rows, 1), 512 * 40_000);
    let rows = world.tick(T0 + 50_000, |tick| tick.events = vec![end("c2", T0 + 43_211)]);
    assert_eq!(used(&rows, 1), 512 * (43_211 - 2500));
    assert_eq!((rows.late, rows.missed), (0, 0));
    assert_eq!(rows.remarks, Vec::<String>::new());
}

#[test]
fn parents_are_charged_what_their_children_are() {
    let mut world = World::of(None, 1, &[("quantum", "1s")], &["root.p", "root.p.a", "root.p.b"]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let rows = world.tick(T0 + 9000, |tick| {
        tick.events = vec![
            start("c1", "app1", "root.p.a", 1024, T0 + 500),
            start("c2", "app2", "root.p.b", 256, T0 + 600),
            end("c1", T0 + 3500),
            end("c2", T0 + 8600),
        ];
    });
    assert_eq!((used(&rows, 1), used(&rows, 2)), (1024 * 3000, 256 * 8000));
    assert_eq!(used(&rows, 0), 1024 * 3000 + 256 * 8000);
}

#[test]
fn downtime_is_charged_once_and_a_crash_loses_a_tick_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = World::new(Some(folder.path()), 1, &[("quantum", "1s")]);
    first.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    first.tick(T0 + 5000, |tick| {
        tick.events = vec![
            start("c1", "app1", "root.a", 1024, T0 + 1000),
            start("c2", "app1", "root.a", 1024, T0 + 1000),
        ];
    });
    let rows = first.tick(T0 + 10_000, |_| {});
    assert_eq!(used(&rows, 0), 2 * 1024 * 9000);
    // It crashes. Eight seconds later there is another, in the next epoch.
    drop(first);
    let (mut second, opened) =
        World::open(Some(folder.path()), 2, T0 + 18_000, &[("quantum", "1s")]);
    assert_eq!((opened.through, opened.from_epoch), (T0 + 10_000, Some(1)));
    let rows = second.tick(T0 + 18_500, |_| {});
    // Instants rise: both were ended a microsecond after the last one.
    assert_eq!(used(&rows, 0), 2 * 1024 * 9000 + 2, "nothing is known to run");
    // The node tells of the one that still runs; the other has ended meanwhile.
    let rows = second.tick(T0 + 28_000, |tick| {
        tick.events = vec![start("c1", "app1", "root.a", 1024, T0 + 1000)];
    });
    assert_eq!(used(&rows, 0), 2 * 1024 * 9000 + 1024 * 18_000 + 1);
    let rows = second.tick(T0 + 40_000, |tick| tick.events = vec![end("c1", T0 + 31_000)]);
    assert_eq!(used(&rows, 0), 1024 * 9000 + 1024 * 30_000 + 1);
    assert_eq!(rows.late, 0);
}

#[test]
fn an_old_epoch_is_silenced_and_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let mut old = World::new(Some(folder.path()), 1, &[]);
    old.tick(T0 + 1000, |_| {});
    let (mut new, _) = World::open(Some(folder.path()), 2, T0 + 2000, &[]);
    let tick = PluginRequest::Tick(Tick { now: T0 + 3000, ..Tick::default() });
    let Err(CoreError::Over(why)) = old.core.answer(&tick) else { panic!("it wrote on") };
    assert!(why.contains("epoch 2 of the ResourceManager has taken over"), "{why}");
    assert!(matches!(old.core.answer(&tick), Err(CoreError::Over(_))), "for good");
    new.tick(T0 + 3000, |_| {});
}

#[test]
fn a_queue_that_comes_back_has_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(Some(folder.path()), 1, &[("quantum", "1s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    world.tick(T0 + 5000, |tick| {
        tick.events = vec![start("c", "app", "root.b", 100, T0 + 1000), end("c", T0 + 4000)];
        tick.gone = vec!["app".to_owned()];
    });
    let rows = world.tick(T0 + 6000, |tick| {
        tick.settings = Some(settings(&[("quantum", "1s")], &["root.a"]));
    });
    assert_eq!(rows.queues.len(), 1);
    drop(world);
    let (mut world, _) = World::open(Some(folder.path()), 2, T0 + 7000, &[("quantum", "1s")]);
    let rows = world.tick(T0 + 8000, |_| {});
    assert_eq!(used(&rows, 1), 100 * 3000);
}

#[test]
fn what_no_event_told_is_found_by_looking() {
    let mut world = World::new(None, 1, &[("quantum", "1s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let ContainerEvent::Start(running) = start("c", "app", "root.a", 1024, T0 + 1000) else {
        panic!()
    };
    let rows = world.tick(T0 + 5000, |tick| tick.running = Some(vec![running]));
    assert_eq!((used(&rows, 0), rows.missed), (1024 * 4000, 1));
    let rows = world.tick(T0 + 7000, |tick| tick.running = Some(Vec::new()));
    assert_eq!((used(&rows, 0), rows.missed), (1024 * 6000, 1));
}

/// What it held before is charged, and from now on what it holds now: nothing twice.
#[test]
fn a_container_that_changed_its_size_is_charged_on() {
    let mut world = World::new(None, 1, &[("quantum", "1s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let begun = T0 + 1000;
    world.tick(T0 + 2000, |tick| {
        tick.events = vec![start("c", "app", "root.a", 2048, begun)];
    });
    let ContainerEvent::Start(smaller) = start("c", "app", "root.a", 512, begun) else { panic!() };
    let rows = world.tick(T0 + 61_000, |tick| tick.running = Some(vec![smaller]));
    // A quantum is charged ahead, as at any start.
    assert_eq!(used(&rows, 0), 2048 * 60_000 + 512 * 1000);
    let rows = world.tick(T0 + 71_000, |tick| tick.events = vec![end("c", T0 + 70_000)]);
    assert_eq!(used(&rows, 0), 2048 * 60_000 + 512 * 9000);
}

#[test]
fn demand_follows_and_an_application_ends() {
    let mut world = World::new(None, 1, &[]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let ask = |count| Pending {
        app: "app".to_owned(),
        queue: "root.a".to_owned(),
        asks: vec![(1024, 1, count)],
    };
    let waiting = |world: &mut World| -> u64 {
        let Ok(PluginAnswer::Text(text)) = world.core.answer(&explain(None)) else {
            panic!("text")
        };
        let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
        rows["queues"][0]["waiting_tasks"].as_u64().unwrap()
    };
    world.tick(T0 + 1000, |tick| tick.pending = vec![ask(5)]);
    assert_eq!(waiting(&mut world), 5);
    world.tick(T0 + 2000, |tick| {
        tick.events = vec![start("c", "app", "root.a", 1024, T0 + 1500)];
        tick.pending = vec![ask(2)];
    });
    assert_eq!(waiting(&mut world), 2);
    let Ok(PluginAnswer::Text(text)) = world.core.answer(&explain(Some("app"))) else {
        panic!("text")
    };
    assert!(text.contains("\"queue\":\"root.a\""), "{text}");
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((told["waiting"].as_u64(), told["running"].as_u64()), (Some(2), Some(1)), "{text}");
    let rows = world.tick(T0 + 3000, |tick| {
        tick.events = vec![end("c", T0 + 2500)];
        tick.gone = vec!["app".to_owned()];
    });
    assert_eq!((waiting(&mut world), rows.apps.len()), (0, 0));
    assert_eq!(rows.remarks, Vec::<String>::new());
}

#[test]
fn an_application_that_moves_leaves_its_use_behind() {
    let mut world = World::new(None, 1, &[("quantum", "1s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    world.tick(T0 + 5000, |tick| {
        tick.events = vec![start("c1", "app", "root.a", 1024, T0 + 1000)];
    });
    let ContainerEvent::Start(mut moved) = start("c1", "app", "root.b", 1024, T0 + 1000) else {
        panic!()
    };
    let rows = world.tick(T0 + 8000, |tick| {
        tick.events = vec![start("c2", "app", "root.b", 1024, T0 + 7000)];
    });
    assert_eq!(used(&rows, 0), 1024 * 6000);
    // The one that ran goes on, in the other queue.
    moved.since = T0 + 7000;
    let rows = world.tick(T0 + 9000, |tick| tick.events = vec![ContainerEvent::Start(moved)]);
    assert_eq!(used(&rows, 1), 1024 * 2000 * 2);
}

#[test]
fn settings_that_are_wrong_change_nothing() {
    let mut world = World::new(None, 1, &[]);
    let wrong = |world: &mut World, given: PluginSettings| match world
        .core
        .answer(&PluginRequest::Check(given))
    {
        Err(CoreError::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = wrong(&mut world, settings(&[("half-life", "-1")], &["root.a"]));
    assert!(why.contains("half_life"), "{why}");
    let why = wrong(&mut world, settings(&[("half-life", "7d")], &["root.a"]));
    assert!(why.contains("cannot change"), "{why}");
    assert!(world.core.answer(&PluginRequest::Check(settings(&[], &["root.a", "root.c"]))).is_ok());
    let rows = world.tick(T0 + 1000, |tick| {
        tick.settings = Some(settings(&[], &["root.a", "root.b", "root.c", "root.c.d"]));
        tick.nodes = Some(vec![Node { name: "n:1".to_owned(), memory: 1, cores: 1 }]);
    });
    assert_eq!(rows.queues.len(), 4);
}

#[test]
fn a_node_that_shrinks_or_goes_loses_nothing_that_it_need_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(Some(folder.path()), 1, &[("quantum", "1s")]);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    world.tick(T0 + 2000, |tick| {
        tick.events = vec![start("c", "app", "root.a", 4096, T0 + 1000)];
    });
    let rows = world.tick(T0 + 3000, |tick| tick.nodes = Some(vec![node("n1:1", 1024, 8)]));
    assert_eq!(rows.queues[0].as_ref().unwrap().held, [4096, 1]);
    let rows = world.tick(T0 + 6000, |tick| tick.nodes = Some(Vec::new()));
    assert_eq!(rows.queues[0].as_ref().unwrap().held, [0, 0]);
    assert_eq!(used(&rows, 0), 4096 * 5000);
    drop(world);
    World::open(Some(folder.path()), 2, T0 + 7000, &[("quantum", "1s")]);
}

#[test]
fn a_jar_of_another_version_is_refused() {
    let settings = settings(&[], &["root.a"]);
    let open = Open {
        protocol: meed_yarn::PROTOCOL + 1,
        folder: None,
        epoch: 1,
        now: T0,
        settings,
        by: String::new(),
    };
    match Core::open(PluginRequest::Open(open)) {
        Err(CoreError::Refused(why)) => assert!(why.contains("use both from one build"), "{why}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn the_first_question_opens() {
    let tick = PluginRequest::Tick(Tick::default());
    assert!(matches!(Core::open(tick), Err(CoreError::Refused(_))));
}

#[test]
fn people_are_told_the_order_of_all_leaves_and_of_an_application() {
    let queues = ["root.p", "root.p.a", "root.p.b", "root.c"];
    let mut world = World::of(None, 1, &[("quantum", "1s")], &queues);
    world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 8192, 8)]));
    let ask = |app: &str, queue: &str| Pending {
        app: app.to_owned(),
        queue: queue.to_owned(),
        asks: vec![(1024, 1, 3)],
    };
    world.tick(T0 + 60_000, |tick| {
        tick.events = vec![
            start("c1", "app1", "root.p.a", 1024, T0 + 1000),
            start("c2", "app2", "root.p.b", 512, T0 + 1000),
            start("c3", "app3", "root.c", 256, T0 + 1000),
            start("c4", "app4", "root.p.a", 128, T0 + 1000),
        ];
        tick.pending = vec![
            ask("app1", "root.p.a"),
            ask("app2", "root.p.b"),
            ask("app3", "root.c"),
            ask("app4", "root.p.a"),
        ];
    });
    let told = |world: &mut World, app: Option<&str>| -> serde_json::Value {
        let Ok(PluginAnswer::Text(text)) = world.core.answer(&explain(app)) else { panic!("text") };
        serde_json::from_str(&text).unwrap()
    };
    let all = told(&mut world, None);
    assert_eq!(all["at_ms"], T0 + 60_000);
    let place = |queue: &str| {
        let rows = all["queues"].as_array().unwrap();
        rows.iter().find(|row| row["queue"] == queue).map(|row| row["next"].clone())
    };
    assert_eq!(place("root.c"), Some(0.into()), "{all}");
    assert_eq!(place("root.p.b"), Some(1.into()), "{all}");
    assert_eq!(place("root.p.a"), Some(2.into()), "{all}");
    assert_eq!(place("root.p"), None, "{all}");
    // What waits is told a microsecond after what ended before.
    let mib_s = 59.0 * f64::from(1 << 20);
    let used: f64 = all["queues"][0]["usage"].as_f64().unwrap() / mib_s;
    assert!((used - 1152.0).abs() < 1e-3, "{all}");

    let why = told(&mut world, Some("app1"));
    assert_eq!(why["before"], serde_json::json!(["root.c", "root.p.b"]), "{why}");
    assert_eq!(why["levels"][0]["among"], "root");
    assert_eq!(why["levels"][1]["among"], "root.p");
    assert_eq!(why["levels"][1]["children"][1]["queue"], "root.p.a");
    assert_eq!(why["leaf"]["first"][0]["job"], "app4", "{why}");
    assert!(why.get("obstacles").is_none(), "YARN places: {why}");
    assert!(matches!(world.core.answer(&explain(Some("app9"))), Err(CoreError::Refused(_))));
}
