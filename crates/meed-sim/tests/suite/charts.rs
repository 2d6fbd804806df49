//! Nodes over time, as the report draws them: what the chart says is what the log says.

use std::collections::BTreeMap;
use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::record::{ChartStart, NodeChart, RunRecord};
use meed_sim::{Overtaking, SimulateOptions, Unwatched, simulate_telling};
use meed_workload::OnBadLine;
use serde_json::Value;

/// A wide job among narrow ones; a node goes while they run.
const TEXT: &str = r#"
[cluster]
resources = ["gpu"]
[[cluster.node]]
name = "n"
count = 3
capacity = { gpu = 8 }
[policy]
order = "long-term"
[[queue]]
name = "small"
[[queue]]
name = "big"
[[generator]]
queue = "small"
until = "30h"
duration = { uniform = [1800.0, 5400.0] }
limit = "90min"
demand = { gpu = 1 }
arrivals = { every = "140s" }
[[job]]
queue = "big"
name = "wide"
submit = "3h"
duration = 1800
limit = "1h"
demand = { gpu = 8 }
[[change]]
at = "4h"
node_leaves = "n-2"
"#;

fn runs(text: &str, policies: &[&str]) -> (Vec<RunRecord>, Vec<Value>) {
    let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).unwrap();
    let policies = policies.iter().map(|&words| words.to_owned()).collect();
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let mut log = Vec::new();
    let drawn = Overtaking::Drawn;
    let told = simulate_telling(&scenario, &options, drawn, Some(&mut log), &mut Unwatched);
    let log = String::from_utf8(log).unwrap();
    (told.unwrap().runs, log.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Start and end of each task of a log, by job: each has one task here, or comes back once.
fn spans(log: &[Value]) -> BTreeMap<String, Vec<(f64, f64, String)>> {
    let mut spans: BTreeMap<String, Vec<(f64, f64, String)>> = BTreeMap::new();
    for line in log {
        let t = line["t"].as_f64().unwrap();
        if let Some(start) = line.get("start") {
            let node = start["node"].as_str().unwrap().to_owned();
            let job = spans.entry(start["job"].to_string()).or_default();
            job.push((t, f64::INFINITY, node));
        }
        for ends in ["end", "lost"] {
            if let Some(end) = line.get(ends) {
                let job = spans.get_mut(&end["job"].to_string()).unwrap();
                job.last_mut().unwrap().1 = t;
            }
        }
    }
    spans
}

/// The bars of a chart: node, from, to.
fn bars(chart: &NodeChart) -> Vec<(String, f64, f64)> {
    let node = |place: usize| chart.nodes[place].name.clone();
    let mut bars: Vec<_> =
        chart.tasks.iter().map(|task| (node(task.node), task.from_s, task.to_s)).collect();
    bars.sort_by(|a, b| a.partial_cmp(b).unwrap());
    bars
}

#[test]
fn a_chart_shows_what_the_log_holds_in_its_window() {
    for policy in ["long-term", "long-term,when_blocked=reserve"] {
        let (runs, log) = runs(TEXT, &[policy]);
        let chart = runs[0].chart.as_ref().expect("a wide task was overtaken, or room held");
        let cut = |(from, to, node): &(f64, f64, String)| {
            let (from, to) = (from.max(chart.from_s), to.min(chart.to_s));
            (from < to).then(|| (node.clone(), from, to))
        };
        let mut expected: Vec<_> = spans(&log).values().flatten().filter_map(cut).collect();
        expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(expected.len() > 50, "{policy}: {}", expected.len());
        assert_eq!(bars(chart), expected, "{policy}");
        let gone = chart.tasks.iter().filter(|task| chart.nodes[task.node].name == "n-2");
        assert!(gone.clone().count() > 0 && gone.clone().all(|task| task.to_s <= 14_400.0));
    }
}

#[test]
fn room_is_held_from_the_reservation_to_the_start() {
    let (runs, _) = runs(TEXT, &["long-term", "long-term,when_blocked=reserve"]);
    let charts: Vec<&NodeChart> = runs.iter().map(|run| run.chart.as_deref().unwrap()).collect();
    assert_eq!((charts[0].from_s, charts[0].to_s), (charts[1].from_s, charts[1].to_s));
    assert!(charts[0].holds.is_empty());
    assert!(charts[0].tasks.iter().all(|task| task.how == ChartStart::Plain));
    let wide = charts[1].tasks.iter().find(|task| task.job.to_string() == "wide").unwrap();
    assert_eq!((wide.how, wide.amount), (ChartStart::Reserved, 8.0));
    let held: Vec<_> = charts[1].holds.iter().filter(|hold| hold.queue == wide.queue).collect();
    let (first, last) = (held[0], held[held.len() - 1]);
    // At most after the one reservation of another.
    assert!((10_800.0..11_400.0).contains(&first.from_s), "{}", first.from_s);
    assert_eq!((last.node, last.to_s), (wide.node, wide.from_s));
    for (one, next) in held.iter().zip(&held[1..]) {
        assert_eq!(one.to_s, next.from_s, "it moves without a gap");
    }
    for task in &charts[1].tasks {
        let during = task.from_s > first.from_s && task.from_s < last.to_s;
        if during {
            assert_eq!(task.how, ChartStart::Backfilled, "at {}", task.from_s);
        }
    }
}

#[test]
fn many_nodes_are_a_sample_and_nothing_to_see_is_no_chart() {
    let many = TEXT.replace("count = 3", "count = 130").replace("140s", "2s");
    let many = many.replace("\nuntil = \"30h\"", "\njobs = 7000");
    let (runs_of_many, _) = runs(&many, &["long-term,when_blocked=reserve"]);
    if let Some(chart) = &runs_of_many[0].chart {
        assert_eq!((chart.nodes.len(), chart.nodes_in_all), (120, 130));
        assert!(chart.tasks.len() <= 6000);
        assert!(chart.holds.iter().all(|hold| hold.node < chart.nodes.len()));
        assert!(!chart.holds.is_empty());
    } else {
        panic!("room was held");
    }
    let even = TEXT.replace("demand = { gpu = 8 }", "demand = { gpu = 1 }");
    let (runs, _) = runs(&even, &["long-term", "static"]);
    assert!(runs.iter().all(|run| run.chart.is_none()));
}

/// The narrow tasks are long, and of one who owes: some are stopped.
#[test]
fn a_chart_marks_the_tasks_that_were_stopped() {
    let text = TEXT.replace("[1800.0, 5400.0]", "[28800.0, 57600.0]").replace("90min", "1d");
    let (runs, log) = runs(&text, &["long-term,when_blocked=reserve,reclaim_after=10min"]);
    let chart = runs[0].chart.as_ref().expect("room was held");
    let inside = |t: f64| chart.from_s < t && t <= chart.to_s;
    let why = |line: &Value| line["lost"]["why"].as_str() == Some("its room was taken back");
    let mut expected: Vec<(String, f64)> = log
        .iter()
        .filter(|line| why(line))
        .map(|line| (line["lost"]["job"].to_string(), line["t"].as_f64().unwrap()))
        .filter(|(_, t)| inside(*t))
        .collect();
    let stopped = chart.tasks.iter().filter(|task| task.stopped);
    let mut told: Vec<(String, f64)> =
        stopped.map(|task| (task.job.to_string(), task.to_s)).collect();
    let order = |a: &(String, f64), b: &(String, f64)| a.partial_cmp(b).unwrap();
    expected.sort_by(order);
    told.sort_by(order);
    assert!(!expected.is_empty());
    assert_eq!(told, expected);
}
