//! Ties of those that were never served go to the queue that a scenario declares first, at every
//! level and for the guard.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

/// The queue whose job has not waited, on one slot that all want at once.
fn first_served(policy: &str, queues: &[&str]) -> String {
    let mut text = "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncapacity = { slot = 1 }\n\
         [policies.guarded]\norder = \"long-term\"\nquantum = 1\nt_wait = 0\n"
        .to_owned();
    for name in queues {
        text += &format!("[[queue]]\nname = \"{name}\"\n");
    }
    let is_leaf = |name: &str| !queues.iter().any(|other| other.starts_with(&format!("{name}.")));
    for name in queues.iter().filter(|name| is_leaf(name)) {
        text += &format!("[[job]]\nqueue = \"{name}\"\ndemand = {{ slot = 1 }}\nduration = 1\n");
    }
    let scenario =
        Scenario::parse("ties", &text, Path::new("."), &[], OnBadLine::Stop).expect("a scenario");
    let options =
        SimulateOptions { policies: vec![policy.to_owned()], ..SimulateOptions::default() };
    let runs = simulate(&scenario, &options, None, &mut Unwatched).expect("it runs").runs;
    let at_once = |queue: &&meed_sim::record::QueueRecord| queue.mean_wait_s == Some(0.0);
    runs[0].queues.iter().find(at_once).expect("one is served at once").queue.clone()
}

#[test]
fn the_guard_serves_the_leaf_declared_first() {
    for (queues, first) in [
        // A leaf below a parent that is declared, or is not.
        (&["p", "p.a", "x"][..], "p.a"),
        (&["p.a", "x"], "p.a"),
        (&["x", "p.a"], "x"),
        // The parent is declared last: it stands where its child is.
        (&["p.a", "x", "p"], "p.a"),
        (&["x", "p.q.b", "p.a"], "x"),
        (&["p.q.b", "x", "p.a"], "p.q.b"),
    ] {
        assert_eq!(first_served("guarded", queues), first, "the guard among {queues:?}");
        assert_eq!(first_served("long-term", queues), first, "the walk among {queues:?}");
    }
}
