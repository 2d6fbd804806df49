//! Runs on nodes that contend, as a user gets them: columns of the table, and the nodes' part of
//! the report.

use meed_driver::record::mapreduce::SlotChange;
use meed_report::to_html;
use serde_json::Value;

use super::common::four_tenants;
use super::common::mapreduce::{RULES, placed};
use crate::report::{data_of, table};

/// As `nodes.js` reads packed numbers.
fn unpack(text: &str, scale: &Value, count: usize) -> Vec<f64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (width, step) =
        (scale["width"].as_u64().unwrap() as usize, scale["step"].as_f64().unwrap());
    if text.is_empty() {
        return vec![0.0; count];
    }
    assert_eq!(text.len(), width * count);
    let whole =
        |digits: &[u8]| digits.iter().fold(0, |n, &d| 64 * n + DIGITS.find(d as char).unwrap());
    text.as_bytes().chunks(width).map(|digits| whole(digits) as f64 * step).collect()
}

#[test]
fn the_table_tells_locality_requests_and_settings_of_slots() {
    let c = placed(6, 40, &["hadoop", "djasl"]);
    let expected = include_str!("snapshots/mapreduce-120.txt");
    let text = table(&c, 120);
    assert!(text == expected, "the table is now:\n{text}\nexpected:\n{expected}");
    for part in ["local", "request", "slots"] {
        assert!(
            !table(&four_tenants(), 120).contains(part),
            "{part} in the table of another world"
        );
    }
    for width in [60, 80, 120] {
        assert!(table(&c, width).lines().all(|l| l.chars().count() <= width));
    }
}

#[test]
fn a_mixed_comparison_has_gaps() {
    let mut c = placed(6, 40, &["hadoop", "djasl"]);
    c.runs[0].mapreduce = None;
    assert!(table(&c, 120).contains(" - "), "{}", table(&c, 120));
    let data = data_of(&to_html(&c));
    assert!(
        data["runs"][0].get("mapreduce").is_none() && data["runs"][1].get("mapreduce").is_some()
    );
}

#[test]
fn reports_of_other_worlds_carry_no_nodes() {
    let data = data_of(&to_html(&four_tenants()));
    assert!(data["runs"][0].get("mapreduce").is_none());
    assert_eq!(data["node_scales"], serde_json::json!({}));
}

#[test]
fn packed_samples_are_those_of_the_record() {
    let c = placed(7, 50, &RULES);
    let data = data_of(&to_html(&c));
    assert_eq!(data["node_stride"], 1);
    let near = |packed: &[f64], full: Vec<f64>, step: f64| {
        assert_eq!(packed.len(), full.len());
        for (p, f) in packed.iter().zip(&full) {
            assert!((p - f).abs() <= 0.500_1 * step, "{f} became {p}");
        }
    };
    for (r, run) in c.runs.iter().enumerate() {
        let record = run.mapreduce.as_deref().unwrap();
        let shown = &data["runs"][r]["mapreduce"];
        for (n, node) in record.series.nodes.iter().enumerate() {
            let field = |name: &str| {
                let scale = &data["node_scales"][name];
                let text = shown["series"][n][name].as_str().unwrap();
                (unpack(text, scale, record.series.t_s.len()), scale["step"].as_f64().unwrap())
            };
            let counts = |name: &str, full: &[u32]| {
                let (packed, step) = field(name);
                assert_eq!(step, 1.0, "counts are exact");
                near(&packed, full.iter().map(|&v| f64::from(v)).collect(), 0.0);
            };
            counts("cpu_maps", &node.cpu_maps);
            counts("io_maps", &node.io_maps);
            counts("other_maps", &node.other_maps);
            counts("reduces", &node.reduces);
            counts("maps_started", &node.maps_started);
            counts("local_maps_started", &node.local_maps_started);
            let (packed, step) = field("cpu_busy");
            near(&packed, node.cpu_busy.clone(), step);
            for (name, full) in [
                ("disk_bytes_per_s", &node.disk_bytes_per_s),
                ("network_bytes_per_s", &node.network_bytes_per_s),
            ] {
                let (packed, step) = field(name);
                near(&packed, full.iter().map(|&v| v as f64).collect(), step);
            }
        }
        for (n, node) in record.nodes.iter().enumerate() {
            let slots = shown["nodes"][n]["slots"].as_array().unwrap();
            assert_eq!(slots.len(), node.slots.len());
            for (shown, change) in slots.iter().zip(&node.slots) {
                assert_eq!(shown.get("cpu").and_then(Value::as_u64), change.cpu.map(u64::from));
                assert_eq!(shown.get("any").and_then(Value::as_u64), change.any.map(u64::from));
            }
        }
    }
}

#[test]
fn the_script_reads_every_field_that_is_packed() {
    let html = to_html(&placed(2, 10, &["djasl"]));
    let data = data_of(&html);
    let script = html.rsplit_once("<script>").unwrap().1;
    for field in data["node_scales"].as_object().unwrap().keys() {
        assert!(script.contains(&format!("\"{field}\"")), "no chart shows {field}");
    }
}

#[test]
fn a_hundred_nodes_under_six_policies_stay_small() {
    let html = to_html(&placed(99, 240, &RULES));
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert_eq!(data_of(&html)["node_stride"], 1);
}

#[test]
fn very_many_nodes_are_folded_and_nothing_that_was_done_is_lost() {
    let c = placed(2000, 60, &["djasl"; 3]);
    let html = to_html(&c);
    assert!(html.len() < 8_000_000, "{} bytes", html.len());
    let data = data_of(&html);
    assert_eq!(data["node_stride"], 2);
    let record = c.runs[1].mapreduce.as_deref().unwrap();
    let shown = &data["runs"][1]["mapreduce"];
    let samples = shown["t_ms"].as_array().unwrap().len();
    assert_eq!(samples, 31);
    for n in [0, 777, 1999] {
        let text = shown["series"][n]["maps_started"].as_str().unwrap();
        let packed: f64 = unpack(text, &data["node_scales"]["maps_started"], samples).iter().sum();
        assert_eq!(packed, record.nodes[n].maps as f64);
    }
}

#[test]
fn very_many_changes_of_slots_are_thinned_and_the_report_says_so() {
    let mut c = placed(20, 24, &["djasl"]);
    assert_eq!(data_of(&to_html(&c))["slot_changes_thinned"], false);
    let record = c.runs[0].mapreduce.as_deref_mut().unwrap();
    let (first, end) = (record.nodes[3].slots[0].clone(), *record.series.t_s.last().unwrap());
    let change = |k: u32| SlotChange {
        t_s: end * f64::from(k) / 50_000.0,
        cpu: Some(k % 4),
        ..first.clone()
    };
    record.nodes[3].slots = (0..50_000).map(change).collect();
    let data = data_of(&to_html(&c));
    assert_eq!(data["slot_changes_thinned"], true);
    let node = &data["runs"][0]["mapreduce"]["nodes"][3];
    assert_eq!(node["slot_changes"], 49_999);
    let kept = node["slots"].as_array().unwrap();
    assert!((24..=25).contains(&kept.len()), "{} changes", kept.len());
    assert_eq!(kept.last().unwrap()["cpu"], 49_999 % 4);
}

#[test]
fn a_run_without_samples_or_jobs_has_its_totals() {
    let mut c = placed(3, 20, &["jas"]);
    let record = c.runs[0].mapreduce.as_deref_mut().unwrap();
    record.series = Default::default();
    record.jobs.clear();
    record.requests.clear();
    record.mean_request_s = None;
    record.locality = None;
    let data = data_of(&to_html(&c));
    let shown = &data["runs"][0]["mapreduce"];
    assert_eq!(shown["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(
        (shown["t_ms"].as_array().unwrap().len(), shown["jobs_left_out"].as_u64()),
        (0, Some(0))
    );
    assert!(table(&c, 80).contains('-'));
}

#[test]
fn only_so_many_jobs_are_listed_and_the_rest_is_counted() {
    let mut c = placed(2, 4, &["jas"]);
    let record = c.runs[0].mapreduce.as_deref_mut().unwrap();
    record.jobs = std::iter::repeat_n(record.jobs[0].clone(), 2003).collect();
    let shown = data_of(&to_html(&c))["runs"][0]["mapreduce"].clone();
    assert_eq!(
        (shown["jobs"].as_array().unwrap().len(), shown["jobs_left_out"].as_u64()),
        (2000, Some(3))
    );
}
