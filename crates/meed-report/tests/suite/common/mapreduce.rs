//! Synthetic runs on nodes that contend: a few requests of jobs, nodes of three kinds, slots that
//! some rules change.

use meed_driver::record::Comparison;
use meed_driver::record::mapreduce::{
    MapReduceJobRecord, MapReduceRecord, MapReduceSeries, NodeRecord, NodeSeries, RequestRecord,
    SlotChange,
};

use super::{Lcg, comparison};

/// The rules of the paper's comparison, as policies are named.
pub(crate) const RULES: [&str; 6] = ["hadoop", "delay", "dmr", "jas", "jasl", "djasl"];

const KINDS: [(&str, &str); 8] = [
    ("pi", "cpu"),
    ("word-count", "cpu"),
    ("tera-sort", "io"),
    ("grep", "io"),
    ("inverted-index", "cpu"),
    ("radix-sort", "io"),
    ("self-join", "io"),
    ("k-means", "cpu"),
];

/// So many nodes and samples under each rule, as 99 nodes under all of them would be.
pub(crate) fn placed(nodes: usize, samples: usize, rules: &[&str]) -> Comparison {
    let policies: Vec<String> = rules.iter().map(|rule| format!("fifo,placement={rule}")).collect();
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    let mut c = comparison(&["analysts"], &[1.0], samples.max(1), &policies);
    c.scenario = "mapreduce.toml".into();
    for (number, (run, rule)) in c.runs.iter_mut().zip(rules).enumerate() {
        let record = record(rule, number as u64, nodes, samples, run.end_s);
        run.mean_job_s = Some(
            record.jobs.iter().filter_map(|job| Some(job.end_s? - job.submit_s)).sum::<f64>()
                / 16.0,
        );
        run.mapreduce = Some(Box::new(record));
    }
    c
}

fn record(rule: &str, seed: u64, nodes: usize, samples: usize, end_s: f64) -> MapReduceRecord {
    let mut rng = Lcg::new(seed);
    let splits = !matches!(rule, "hadoop" | "delay");
    let locality = if matches!(rule, "jas" | "hadoop") { 0.6 } else { 0.93 };
    let t_s: Vec<f64> = (0..samples).map(|s| end_s * s as f64 / (samples - 1) as f64).collect();
    let series: Vec<NodeSeries> =
        (0..nodes).map(|node| node_series(&mut rng, node, splits, locality, samples)).collect();
    let nodes: Vec<NodeRecord> = series
        .iter()
        .enumerate()
        .map(|(node, series)| NodeRecord {
            node: format!("{}-{}", ["fast", "even", "slow"][node % 3], node / 3 + 1),
            cpu_busy: series.cpu_busy.iter().sum::<f64>() / samples.max(1) as f64,
            disk_bytes_per_s: 31.5e6,
            network_bytes_per_s: 4.25e6,
            maps: series.maps_started.iter().map(|&n| u64::from(n)).sum(),
            local_maps: series.local_maps_started.iter().map(|&n| u64::from(n)).sum(),
            reduces: 40,
            slots: slots(rule, node, end_s),
        })
        .collect();
    let (maps, local_maps) = (
        nodes.iter().map(|n| n.maps).sum::<u64>(),
        nodes.iter().map(|n| n.local_maps).sum::<u64>(),
    );
    let jobs = jobs(&mut rng, splits, locality, end_s);
    MapReduceRecord {
        rule: rule.into(),
        maps,
        local_maps,
        rack_maps: 0,
        locality: (maps > 0).then(|| local_maps as f64 / maps as f64),
        reduces: 40 * nodes.len() as u64,
        heartbeats: 10_000,
        slot_settings: nodes.iter().map(|n| n.slots.len() as u64 - 1).max().unwrap_or(0),
        mean_request_s: Some(end_s / 2.0 - 60.0 - 10.0 * seed as f64),
        speculation: None,
        page_cache: None,
        requests: (0..2)
            .map(|r| RequestRecord {
                request: format!("request {}", r + 1),
                submit_s: Some(r as f64 * end_s / 2.0),
                end_s: (r == 0).then_some(end_s / 2.0 - 60.0 - 10.0 * seed as f64),
            })
            .collect(),
        jobs,
        nodes,
        series: MapReduceSeries { t_s, nodes: series },
    }
}

/// Four map slots: of no class, halves, or set anew now and then.
fn slots(rule: &str, node: usize, end_s: f64) -> Vec<SlotChange> {
    let split = |t_s, cpu| SlotChange { t_s, any: None, cpu: Some(cpu), io: Some(4 - cpu) };
    match rule {
        "hadoop" | "delay" => vec![SlotChange { t_s: 0.0, any: Some(4), cpu: None, io: None }],
        "dmr" => vec![split(0.0, 2)],
        "djasl" => (0..4)
            .map(|k| split(end_s * f64::from(k) / 5.0, (node as u32 + k as u32) % 4 + 1))
            .collect(),
        _ => vec![split(0.0, 2), split(end_s / 10.0, 3 - node as u32 % 3)],
    }
}

fn node_series(
    rng: &mut Lcg,
    node: usize,
    splits: bool,
    locality: f64,
    samples: usize,
) -> NodeSeries {
    let mut series = NodeSeries::default();
    let speed = [1.0, 0.7, 0.4][node % 3];
    for s in 0..samples {
        let (wave, busy) = ((s as f64 / 17.0).sin().abs(), s % 60 < 52);
        let tasks = if busy { (4.0 * (0.3 + 0.7 * rng.next_f64())) as u32 } else { 0 };
        let cpu = (f64::from(tasks) * wave) as u32;
        let started = if s == 0 || !busy { 0 } else { (3.0 * rng.next_f64()) as u32 };
        let (cpu_maps, other) = if splits { (cpu, 0) } else { (0, tasks) };
        series.cpu_maps.push(cpu_maps);
        series.io_maps.push(if splits { tasks - cpu } else { 0 });
        series.other_maps.push(other);
        series.reduces.push(u32::from(s % 60 > 45));
        series
            .cpu_busy
            .push((f64::from(tasks) / 4.0 * (1.3 - speed) * 1000.0).round().min(1000.0) / 1000.0);
        series.disk_bytes_per_s.push((f64::from(tasks - cpu) * 2e7 * rng.next_f64()) as u64);
        series
            .network_bytes_per_s
            .push((f64::from(tasks) * (1.0 - locality) * 3e7 * rng.next_f64()) as u64);
        series.maps_started.push(started);
        series
            .local_maps_started
            .push((0..started).filter(|_| rng.next_f64() < locality).count() as u32);
    }
    series
}

/// Two requests of eight jobs each; the last job does not end.
fn jobs(rng: &mut Lcg, splits: bool, locality: f64, end_s: f64) -> Vec<MapReduceJobRecord> {
    let job = |i: usize| {
        let (kind, class) = KINDS[i % 8];
        let submit_s = (i / 8) as f64 * end_s / 2.0;
        let maps_end_s = submit_s + end_s * (0.05 + 0.3 * rng.next_f64());
        let maps = 80 * (i as u64 % 8 + 1);
        let ended = i < 15;
        MapReduceJobRecord {
            job: format!("{}-{kind}", i / 8 + 1),
            queue: "analysts".into(),
            kind: kind.into(),
            input_bytes: 5_000_000_000 * (i as u64 % 8 + 1),
            submit_s,
            maps_end_s: ended.then_some(maps_end_s),
            end_s: ended.then_some(maps_end_s + 90.0),
            maps,
            local_maps: (maps as f64 * locality) as u64,
            rack_maps: 0,
            class: splits.then(|| class.to_string()),
        }
    };
    (0..16).map(job).collect()
}
