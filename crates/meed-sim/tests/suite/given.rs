//! Jobs that a program hands over are run as the same jobs in a list are.

use std::sync::Arc;

use meed::{ResourceKinds, Resources, Span, Time};
use meed_scenario::{GivenJobs, Scenario};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::inline::Inline;
use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, TraceError};
use serde_json::{Value, json};

/// So many jobs of two tenants, each ten seconds after the other.
struct InTurn(u64);

impl GivenJobs for InTurn {
    fn open(&self, kinds: &ResourceKinds) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let minute = Span::from_secs(60).unwrap();
        let job = |number: u64| Job {
            label: JobLabel::Number(number),
            queue: (number % 2) as u32,
            submit: Time::from_secs(10 * number).unwrap(),
            weight: 1,
            chain: None,
            groups: vec![JobGroup::new(2, Resources::new(&[1000]), Durations::Same(minute))],
        };
        let queues = vec!["ann".to_owned(), "bob".to_owned()];
        Ok(Box::new(Inline::new(queues, (0..self.0).map(job).collect(), kinds.len())?))
    }
}

fn cluster() -> Value {
    json!({ "cluster": { "resources": ["slot"], "node": [{ "capacity": { "slot": 3 } }] } })
}

fn with(data: &Value, jobs: u64) -> Result<Scenario, String> {
    let jobs = Arc::new(InTurn(jobs));
    Scenario::of_data_with("it", data, jobs, ".".as_ref(), OnBadLine::Stop)
        .map_err(|why| why.to_string())
}

fn result(scenario: &Scenario) -> Value {
    let options = SimulateOptions::default();
    let ran = simulate(scenario, &options, None, &mut Unwatched).unwrap();
    serde_json::to_value(ran.runs).unwrap()
}

#[test]
fn given_jobs_are_those_of_a_list() {
    for (load, more) in [(1.0, json!([])), (2.0, json!([{ "name": "bob", "weight": 3 }]))] {
        let mut data = cluster();
        data["run"] = json!({ "load": load });
        data["queue"] = more.clone();
        let given = with(&data, 50).unwrap();
        let weight = |name: &str| if more[0]["name"] == name { 3 } else { 1 };
        let names: Vec<String> = given.queue_names().map(str::to_owned).collect();
        assert_eq!(names.len(), 2);
        let queues = names.iter().map(|name| json!({ "name": name, "weight": weight(name) }));
        data["queue"] = queues.collect();
        let job = |number: u64| {
            let queue = if number.is_multiple_of(2) { "ann" } else { "bob" };
            json!({
                "queue": queue,
                "submit": 10 * number,
                "tasks": 2,
                "duration": 60,
                "demand": { "slot": 1 },
            })
        };
        data["job"] = (0..50).map(job).collect();
        let listed = Scenario::of_data("it", &data, ".".as_ref(), OnBadLine::Stop).unwrap();
        let ran = result(&given);
        assert_eq!(ran, result(&listed));
        // Each run reads them anew.
        assert_eq!(ran, result(&given));
        assert_eq!(ran[0]["queues"][0]["jobs"], 25);
    }
}

#[test]
fn a_cool_down_counts_back_from_the_last_given_job() {
    let mut data = cluster();
    data["run"] = json!({ "warm_up": "100s", "cool_down": "50s" });
    // 50 jobs, the last at 490 s: what came from 100 to 440 s counts.
    let counted = with(&data, 50).unwrap().counted();
    let seconds = [counted.from, counted.to].map(|time| time.as_secs_f64());
    assert_eq!(seconds, [100.0, 440.0]);
    let twice = with(
        &json!({ "cluster": data["cluster"], "run": {
            "warm_up": "100s", "cool_down": "50s", "load": 2,
        }}),
        50,
    );
    let counted = twice.unwrap().counted();
    assert_eq!([counted.from, counted.to].map(|time| time.as_secs_f64()), [50.0, 220.0]);
}

#[test]
fn what_takes_no_jobs_says_so() {
    let mut traced = cluster();
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("one.swf");
    std::fs::write(&file, "1 0 -1 60 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n").unwrap();
    traced["trace"] = json!({ "file": file, "processor_resource": "slot" });
    let why = with(&traced, 1).err().unwrap();
    assert!(why.contains("takes one of them"), "{why}");
    let why = with(&json!({ "mapreduce": {} }), 1).err().unwrap();
    assert!(why.contains("is handed no jobs"), "{why}");
}
