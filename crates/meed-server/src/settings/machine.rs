//! The machine as it is: what this process may use of it.

use std::fs;
use std::path::Path;

use meed::Config;
use meed_config::cluster::ClusterForm;
use meed_config::nodes::{NodeForm, ResourceForm};
use meed_config::quantity::{AmountsByName, Quantity};
use meed_config::units::format_amount;

use crate::group::Device;

/// The machine as it is: what this process may use of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThisMachine {
    /// Its name.
    pub name: String,
    /// Processors that this process may use, by number.
    pub processors: Vec<u32>,
    /// Memory, in bytes.
    pub memory: u64,
    /// GPUs that the driver shows, in its order, by their devices, where these are known.
    pub gpus: Vec<Option<Device>>,
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
        if !self.gpus.is_empty() {
            capacity.insert("gpu".to_owned(), whole(self.gpus.len() as u64));
        }
        capacity
    }
}

/// Numbers of the drivers' devices (`Documentation/admin-guide/devices.txt` of Linux).
const NVIDIA: u32 = 195;
const DRM: u32 = 226;

/// NVIDIA's driver lists its devices in /proc, by their places on the bus, as `nvidia-smi` does;
/// AMD's lists nodes, of which processors have no SIMD units.
fn gpus(root: &Path) -> Vec<Option<Device>> {
    let files = |path: &str, name: &str| {
        let entries = fs::read_dir(root.join(path)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        // Nodes are numbers, and places on the bus have one length each.
        paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        let text = move |path: std::path::PathBuf| fs::read_to_string(path.join(name));
        paths.into_iter().map(move |path| text(path).unwrap_or_default()).collect::<Vec<_>>()
    };
    let device = |major: u32, minor: Option<&str>| {
        Some(Device { major, minor: minor?.trim().parse().ok()? })
    };
    let of = |text: &str, word: &str| {
        text.lines().find_map(|line| line.strip_prefix(word)).map(str::to_owned)
    };
    let nvidia = files("proc/driver/nvidia/gpus", "information");
    if !nvidia.is_empty() {
        let minor = |text: &String| device(NVIDIA, of(text, "Device Minor:").as_deref());
        return nvidia.iter().map(minor).collect();
    }
    let nodes = files("sys/class/kfd/kfd/topology/nodes", "properties");
    let has_simd =
        |text: &&String| of(text, "simd_count ").is_some_and(|count| count.trim() != "0");
    let minor = |text: &String| device(DRM, of(text, "drm_render_minor ").as_deref());
    nodes.iter().filter(has_simd).map(minor).collect()
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
        assert_eq!(gpus(root.path()), []);
        let file = |folder: &str, name: &str, text: &str| {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), text).unwrap();
        };
        for (node, simd) in [("0", 0), ("2", 256), ("10", 256)] {
            let render = 118 + node.parse::<u32>().unwrap();
            let text = format!("simd_count {simd}\ndrm_render_minor {render}\n");
            file(&format!("sys/class/kfd/kfd/topology/nodes/{node}"), "properties", &text);
        }
        let amd = |minor: u32| Some(Device { major: 226, minor });
        assert_eq!(gpus(root.path()), [amd(120), amd(128)]);
        for (card, minor) in [("41", "Device Minor: \t 1\n"), ("01", "Device Minor: \t 0\n")] {
            let text = format!("Model: \t\t NVIDIA H200\n{minor}");
            file(&format!("proc/driver/nvidia/gpus/0000:{card}:00.0"), "information", &text);
        }
        file("proc/driver/nvidia/gpus/0000:c1:00.0", "information", "");
        let nvidia = |minor: u32| Some(Device { major: 195, minor });
        assert_eq!(gpus(root.path()), [nvidia(0), nvidia(1), None]);
    }
}
