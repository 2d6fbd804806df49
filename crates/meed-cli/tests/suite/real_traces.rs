//! Real traces through the program, from the folder that `MEED_TRACES` names. Without it there is
//! nothing to test; with it a missing file is a failure.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{folder, succeed};
use serde_json::Value;

pub(crate) fn traces() -> Option<PathBuf> {
    // A relative path counts from the repository, where the command is given; tests run in their
    // package.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("MEED_TRACES").map(|folder| repository.join(folder))
}

/// All of a trace counts.
const ALL: [&str; 6] = ["--window", "all", "--warm-up", "0", "--cool-down", "0"];

fn simulate(scenario: &str, more: &[&str]) -> Value {
    let folder = folder();
    let mut args = vec!["simulate", scenario, "--json", "-", "--quiet", "--series", "20"];
    args.extend(more);
    serde_json::from_str(&succeed(folder.path(), &args)).expect("JSON")
}

/// Nothing was skipped, refused or left, and every figure that must exist is a number (JSON has no
/// others).
fn check_whole(json: &Value, jobs: u64) {
    for run in json["runs"].as_array().expect("runs") {
        let measured = run["measured"].as_str().expect("a resource");
        for count in ["skipped_lines", "refused", "failed", "unfinished"] {
            assert_eq!(run[count], 0, "{count} under {}", run["policy"]);
        }
        let queues = run["queues"].as_array().expect("queues");
        assert_eq!(queues.iter().filter_map(|queue| queue["jobs"].as_u64()).sum::<u64>(), jobs);
        for figure in ["psi", "omega", "jain", "mean_job_s", "end_s"] {
            assert!(run[figure].is_number(), "{figure} under {}", run["policy"]);
        }
        // Whose jobs all took no time and never waited has had no demand.
        let known = |queue: &&Value| {
            queue["rho"].is_number() || queue["usage"][measured].as_f64() == Some(0.0)
        };
        assert!(queues.iter().all(|queue| known(&queue) && queue["longest_wait_s"].is_number()));
    }
}

#[test]
fn a_log_of_679_users_also_in_our_own_format() {
    let Some(traces) = traces() else { return };
    let trace = traces.join("swf/CTC-SP2-1996-3.1-cln.swf.gz").display().to_string();
    // As our own format is run, which does not say that a batch system made the log.
    let original =
        simulate(&trace, &[&["--strict", "--set", "policy.when_blocked=skip"], &ALL[..]].concat());
    check_whole(&original, 77_222);
    let folder = folder();
    let copy = folder.path().join("ctc.jsonl.zst").display().to_string();
    succeed(folder.path(), &["trace", "convert", &trace, &copy, "--window", "all"]);
    let mut converted =
        simulate(&copy, &["--strict", "--set", "cluster.node.0.capacity={cpu=338}"]);
    for key in ["scenario", "assumptions"] {
        converted[key] = original[key].clone();
    }
    assert!(converted == original, "the same jobs, the same results");
}

#[test]
fn a_national_grid_with_its_own_number_of_processors() {
    let Some(traces) = traces() else { return };
    let trace = traces.join("swf/METACENTRUM-2009-2.swf.gz").display().to_string();
    let json = simulate(
        &trace,
        &[&["--strict", "--set", "cluster.node.0.capacity.cpu=806"], &ALL[..]].concat(),
    );
    check_whole(&json, 103_656);
}

#[test]
fn virtual_clusters_of_gpus_on_the_cluster_that_is_assumed() {
    let Some(traces) = traces() else { return };
    let trace = traces.join("philly/philly_via_gavel_vc_jobs.csv.xz").display().to_string();
    let json = simulate(&trace, &[&["--strict"], &ALL[..]].concat());
    check_whole(&json, 15_264);
    let shares = json["runs"][1]["queues"]
        .as_array()
        .expect("queues")
        .iter()
        .map(|queue| queue["share"].as_f64());
    let total: f64 = shares.map(|share| share.expect("a number")).sum();
    assert!((total - 576.0).abs() < 0.1, "15 equal shares of 576 GPUs, which add up to {total}");
}

#[test]
fn a_mapreduce_trace_over_four_tenants() {
    let Some(traces) = traces() else { return };
    let folder = folder();
    let trace = traces.join("swim/FB-2009_samples_24_times_1hr_1.tsv.xz");
    let scenario = format!(
        "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncount = 10\ncapacity = {{ slot = 20 \
         }}\n\
         [trace]\nfile = {:?}\ntenants = 4\n",
        trace.display().to_string()
    );
    let path = folder.path().join("fb.toml").display().to_string();
    fs::write(&path, scenario).expect("a writable folder");
    let json = simulate(&path, &["--strict"]);
    check_whole(&json, 6_638);
    let omega = |run: usize| json["runs"][run]["omega"].as_f64().expect("a number");
    assert!(omega(2) >= omega(1), "long-term {} loses less than fair {}", omega(2), omega(1));
}
