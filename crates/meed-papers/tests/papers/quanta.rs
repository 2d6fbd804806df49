//! Q of each queue (ICS'14 Sec. 5.2.3): what its policy says is what its children are charged.

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched};
use meed_workload::OnBadLine;

const SCENARIO: &str = r#"
cluster.resources = ["slot"]
cluster.node = [{ capacity = { slot = 8 } }]
policy = { order = "long-term", quantum = "10s" }
queue = [
    { name = "g", policy = { order = "long-term", quantum = "600s" } },
    { name = "h", policy = { order = "long-term", quantum = "60s" } },
    # A leaf's is for its jobs.
    { name = "g.a", policy = { order = "long-term", quantum = "30s" } },
    { name = "h.b" },
]
job = [
    { queue = "g.a", tasks = 1, duration = "100s", demand = { slot = 1 } },
    { queue = "h.b", tasks = 1, duration = "100s", demand = { slot = 1 } },
]
run.until = "5s"
"#;

#[test]
fn each_queue_charges_its_children_by_its_own_quantum() {
    let folder = crate::common::folder();
    let file = folder.path().join("quanta.toml");
    std::fs::write(&file, SCENARIO).expect("written");
    let scenario = Scenario::load_any(&file, &[], OnBadLine::Stop).expect("a scenario");
    let policies = vec!["long-term".to_owned()];
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let compared = meed_sim::simulate(&scenario, &options, None, &mut Unwatched);
    let run = &compared.expect("it runs").runs[0];
    let leaves: Vec<f64> = run.queues.iter().map(|queue| queue.charged).collect();
    let groups: Vec<f64> = run.groups.iter().map(|group| group.charged).collect();
    assert_eq!((leaves, groups), (vec![600.0, 60.0], vec![10.0, 10.0]));
}
