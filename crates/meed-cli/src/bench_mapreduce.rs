//! Rows of `meed bench` in the MapReduce world: the paper's largest request, and the same work per
//! node on many more.

use std::path::Path;

use meed_mapreduce::MapReduceSetup;
use meed_scenario::Scenario;
use meed_sim::log::Log;
use meed_sim::{Unwatched, run_mapreduce};
use meed_workload::OnBadLine;
use serde_json::json;

use crate::exit::Failure;

/// A request of the eight types of jobs, all of one size, on Environment 2 of JAS (TCC'18, Table
/// 5): 2, 4 and 8 cores.
pub(crate) struct BenchRequest {
    pub(crate) name: &'static str,
    /// Nodes of each size.
    nodes: u32,
    input_gb: u32,
}

pub(crate) const REQUESTS: &[BenchRequest] = &[
    BenchRequest { name: "mapreduce: 8 jobs of 100 GB, 99 nodes", nodes: 33, input_gb: 100 },
    BenchRequest { name: "mapreduce: 8 jobs of 1 TB, 990 nodes", nodes: 330, input_gb: 1000 },
    BenchRequest { name: "mapreduce: 8 jobs of 10 TB, 9,900 nodes", nodes: 3300, input_gb: 10_000 },
];

pub(crate) const POLICIES: [&str; 3] =
    ["fifo,placement=hadoop", "fifo,placement=jas", "fifo,placement=djasl"];

impl BenchRequest {
    /// A run, ready to go; its record has the number of tasks.
    pub(crate) fn setup(&self, policy: &str, shrink: u32) -> Result<MapReduceSetup, Failure> {
        let node = |cores: u32| {
            json!({
                "name": format!("c{cores}"),
                "count": self.nodes,
                "cores": cores,
                "disk_bytes_per_s": "60MB",
                "network_bytes_per_s": "100MB",
            })
        };
        let nodes = [2, 4, 8].map(node);
        let input = format!("{}GB", self.input_gb / shrink);
        let data = json!({
            "mapreduce": {
                "node": nodes,
                "request": [{ "queue": "a", "input": input }],
            },
            "queue": [{ "name": "a" }],
            "queues": { "order": "inherit" },
        });
        let scenario = Scenario::of_data("bench", &data, Path::new(""), OnBadLine::Stop)?;
        Ok(scenario.mapreduce_setup(policy, 1)?.expect("the text is of that world"))
    }

    /// Runs it; the number of tasks.
    pub(crate) fn run(policy: &str, setup: MapReduceSetup) -> Result<u64, Failure> {
        Ok(run_mapreduce(policy, setup, Log::off(), &mut Unwatched)?.decisions)
    }
}
