//! `run.load`: jobs come faster or slower, and nothing else changes.

use meed_workload::OnBadLine;

use crate::runs::{self, scenario};

const TEXT: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 100 }
[[queue]]
name = "a"
[[queue]]
name = "b"
[[job]]
queue = "a"
submit = "12s"
duration = 1
demand = { cpu = 1 }
[[job]]
queue = "a"
chain = "c"
submit = "6s"
duration = 10
demand = { cpu = 1 }
[[job]]
queue = "a"
chain = "c"
pause = "5s"
duration = 1
demand = { cpu = 1 }
[[generator]]
queue = "b"
arrivals = { poisson = "3s" }
until = "1min"
duration = 2
demand = { cpu = 1 }
[[generator]]
name = "users"
queue = "b"
arrivals = { closed = 1, pause = 4 }
start = "2s"
jobs = 3
duration = 5
demand = { cpu = 1 }
"#;

/// Arrivals in microseconds, each with its queue, in order, of a run of the whole scenario.
fn arrivals(sets: &[&str]) -> Vec<(u64, String)> {
    let lines = runs::log(&scenario(TEXT, sets).unwrap(), "fair");
    lines
        .iter()
        .filter_map(|line| {
            let queue = line["arrive"]["queue"].as_str()?.to_owned();
            Some(((line["t"].as_f64()? * 1e6).round() as u64, queue))
        })
        .collect()
}

#[test]
fn open_submissions_are_divided_and_what_follows_the_cluster_is_not() {
    let (plain, double) = (arrivals(&[]), arrivals(&["run.load=2"]));
    assert_eq!(plain.len(), double.len());
    // The chain: 6 s, then 10 s of work and 5 s of pause; at load 2 it begins at 3 s. The job of 12
    // s comes at 6 s.
    let of_a = |all: &[(u64, String)]| -> Vec<u64> {
        all.iter().filter(|(_, queue)| queue == "a").map(|(at, _)| *at / 1_000_000).collect()
    };
    assert_eq!((of_a(&plain), of_a(&double)), (vec![6, 12, 21], vec![3, 6, 18]));
    // The closed user comes at 2 s, 11 s, 20 s whatever the load; the Poisson process is the same
    // one, twice as fast.
    let closed = [2_000_000, 11_000_000, 20_000_000];
    let of_b = |all: &[(u64, String)]| -> Vec<u64> {
        let mut times: Vec<u64> =
            all.iter().filter(|(_, queue)| queue == "b").map(|(at, _)| *at).collect();
        for at in closed {
            let found = times.iter().position(|time| *time == at).expect("the closed user's job");
            times.remove(found);
        }
        times
    };
    let halves: Vec<u64> = of_b(&plain).iter().map(|at| at / 2).collect();
    assert!(halves.len() > 10);
    assert_eq!(of_b(&double), halves);
}

#[test]
fn a_generator_without_an_end_fills_the_run_at_every_load() {
    for (load, expected) in [("0.5", 51), ("1", 101), ("4", 401)] {
        let text = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 100 \
            }\n[[queue]]\nname = \"a\"\n\
                    [[generator]]\nqueue = \"a\"\narrivals = { every = 1 }\nduration = 1\ndemand = \
                    { cpu = 1 }\n[run]\nuntil = 100\n";
        let sets = format!("run.load={load}");
        let scenario = scenario(text, &[&sets]).unwrap();
        let mut source = scenario.source(0, OnBadLine::Stop).unwrap();
        let jobs = std::iter::from_fn(|| source.next_job().unwrap()).count();
        assert_eq!(jobs, expected, "load {load}");
    }
}
