//! The machine as it is: what this process may use of it.

use std::fs;
use std::path::Path;

use meed::Config;
use meed_config::cluster::ClusterForm;
use meed_config::nodes::{NodeForm, ResourceForm};
use meed_config::quantity::{AmountsByName, Quantity};
use meed_config::units::format_amount;

/// The machine as it is: what this process may use of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThisMachine {
    /// Its name.
    pub name: String,
    /// Processors that this process may use, by number.
    pub processors: Vec<u32>,
    /// Memory, in bytes.
    pub memory: u64,
    /// GPUs that the driver shows.
    pub gpus: u32,
}

impl ThisMachine {
    /// Looks.
    ///
    /// # Errors
    ///
    /// The system's, where it shows neither processors nor memory.
    pub fn look() -> std::io::Result<ThisMachine> {
        let allowed = rustix::thread::sched_getaffinity(None)?;
        let processors = (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|&number| allowed.is_set(number))
            .filter_map(|number| u32::try_from(number).ok())
            .collect();
        let info = fs::read_to_string("/proc/meminfo")?;
        let kilobytes = info.lines().find_map(|line| {
            let rest = line.strip_prefix("MemTotal:")?;
            rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        let memory =
            kilobytes.ok_or_else(|| std::io::Error::other("/proc/meminfo: no MemTotal"))?;
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(ThisMachine { name, processors, memory: memory << 10, gpus: gpus(Path::new("/")) })
    }

    /// As `[cluster]` would have it.
    pub fn cluster(&self) -> ClusterForm {
        let capacity = self.capacity();
        let order =
            ["cpu", "memory", "gpu"].into_iter().filter(|name| capacity.contains_key(*name));
        ClusterForm {
            resources: order.map(|name| ResourceForm::Name(name.to_owned())).collect(),
            node: vec![NodeForm::one(self.name.clone(), capacity)],
        }
    }

    /// What a configuration lends that this machine does not have, a sentence each.
    pub(super) fn lacks(&self, config: &Config) -> Vec<String> {
        let mut own = self.capacity();
        own.retain(|name, _| config.kinds.find(name).is_some());
        let Ok(own) = meed_config::quantity::amounts(&own, &config.kinds) else {
            return Vec::new();
        };
        let node = &config.nodes[0].capacity;
        let lack = |kind: usize| {
            let (name, unit) = (config.kinds.name(kind), config.kinds.unit(kind));
            let is_of_machine = ["cpu", "memory", "gpu"].contains(&name);
            let amount = |amount: u64| format_amount(amount, unit);
            (is_of_machine && node.get(kind) > own.get(kind)).then(|| {
                format!(
                    "[cluster]: the node has {} {name}, and there are {} on this machine: tasks \
                     would share what they have asked for; lend at most what there is",
                    amount(node.get(kind)),
                    amount(own.get(kind)),
                )
            })
        };
        (0..config.kinds.len()).filter_map(lack).collect()
    }

    /// What it has, by resource.
    pub fn capacity(&self) -> AmountsByName {
        let whole = |number: u64| Quantity::Whole(i64::try_from(number).unwrap_or(i64::MAX));
        let mut capacity = AmountsByName::new();
        capacity.insert("cpu".to_owned(), whole(self.processors.len() as u64));
        capacity.insert("memory".to_owned(), Quantity::Text(format!("{}B", self.memory)));
        if self.gpus > 0 {
            capacity.insert("gpu".to_owned(), whole(u64::from(self.gpus)));
        }
        capacity
    }
}

/// NVIDIA's driver lists its devices in /proc; AMD's lists nodes of which processors have no SIMD
/// units.
fn gpus(root: &Path) -> u32 {
    let folder = |path: &str| fs::read_dir(root.join(path)).into_iter().flatten().flatten();
    let nvidia = folder("proc/driver/nvidia/gpus").count();
    let has_simd = |node: &fs::DirEntry| {
        let text = fs::read_to_string(node.path().join("properties")).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("simd_count "));
        count.is_some_and(|count| count.trim() != "0")
    };
    let amd = folder("sys/class/kfd/kfd/topology/nodes").filter(has_simd).count();
    u32::try_from(nvidia.max(amd)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_something() {
        let machine = ThisMachine::look().unwrap();
        assert!(!machine.processors.is_empty() && machine.memory > 1 << 20, "{machine:?}");
    }

    #[test]
    fn gpus_of_both_drivers_are_seen() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(gpus(root.path()), 0);
        let nodes = root.path().join("sys/class/kfd/kfd/topology/nodes");
        for (node, simd) in [("0", 0), ("1", 256), ("2", 256)] {
            fs::create_dir_all(nodes.join(node)).unwrap();
            let text = format!("cpu_cores_count 0\nsimd_count {simd}\n");
            fs::write(nodes.join(node).join("properties"), text).unwrap();
        }
        assert_eq!(gpus(root.path()), 2);
        for card in 0..3 {
            let path = format!("proc/driver/nvidia/gpus/0000:0{card}:00.0");
            fs::create_dir_all(root.path().join(path)).unwrap();
        }
        assert_eq!(gpus(root.path()), 3);
    }
}
