//! How large the containers of an application are, by its settings and its resource profiles.
//!
//! On YARN and Kubernetes an executor's container has its memory, what Python and memory off the
//! heap have besides, and an overhead: what is set, else a part of the memory, at least 384 MiB
//! (Spark's page on its configuration, `spark.executor.memoryOverhead`). YARN rounds it up to a
//! multiple of a step. A standalone master counts the memory alone.

use std::collections::BTreeMap;

use meed_config::decimal::{Rounding, parse_scaled};

use super::assumptions::Holds;
use super::event::Profile;

/// Bytes of a mebibyte.
const MIB: u64 = 1 << 20;
/// More mebibytes than any machine has: what is larger is cut to it, and refused as an amount.
const MOST: u64 = 1 << 40;
/// Thousandths of a core of a task where nobody says.
const ONE: u64 = 1000;
const MILLION: u64 = 1_000_000;

/// Who gives an application its containers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Manager {
    Yarn,
    Kubernetes,
    /// A standalone master, or the driver itself.
    #[default]
    Other,
}

/// What an application's settings say of that.
#[derive(Debug, Default)]
pub(super) struct Settings {
    known: BTreeMap<String, String>,
}

/// Settings that are read.
const READ: [&str; 29] = [
    "spark.driver.cores",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.driver.minMemoryOverhead",
    "spark.executor.cores",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.executor.minMemoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.kubernetes.driver.request.cores",
    "spark.kubernetes.executor.request.cores",
    "spark.kubernetes.memoryOverheadFactor",
    "spark.kubernetes.namespace",
    "spark.kubernetes.resource.type",
    "spark.master",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.submit.deployMode",
    "spark.task.cpus",
    "spark.task.resource.gpu.amount",
    "spark.yarn.am.cores",
    "spark.yarn.am.memory",
    "spark.yarn.am.memoryOverhead",
    "spark.yarn.driver.memoryOverhead",
    "spark.yarn.executor.memoryOverhead",
    "spark.yarn.queue",
    "spark.executor.resource.gpu.amount",
];

impl Settings {
    pub(super) fn of(all: BTreeMap<String, String>) -> Settings {
        Settings { known: all.into_iter().filter(|(key, _)| READ.contains(&&**key)).collect() }
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.known.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    pub(super) fn manager(&self, id: &str) -> Manager {
        match self.get("spark.master") {
            Some(master) if master.starts_with("yarn") => Manager::Yarn,
            Some(master) if master.starts_with("k8s") => Manager::Kubernetes,
            None if id.starts_with("application_") => Manager::Yarn,
            _ => Manager::Other,
        }
    }

    /// Mebibytes.
    fn size(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| mebibytes(self.get(key)?))
    }

    /// In thousandths.
    fn milli(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let value = self.get(key)?;
            match value.strip_suffix('m') {
                Some(milli) => milli.parse().ok(),
                None => parse_scaled(value.as_bytes(), 1000, MOST, Rounding::Nearest).ok(),
            }
        })
    }

    /// The overhead of so much memory, in mebibytes.
    fn overhead(&self, memory: u64, manager: Manager, of: &str, legacy: &str) -> u64 {
        let given = [&*format!("spark.{of}.memoryOverhead"), legacy];
        self.size(&given).unwrap_or_else(|| self.overhead_by_factor(memory, manager, of))
    }

    fn overhead_by_factor(&self, memory: u64, manager: Manager, of: &str) -> u64 {
        let keys =
            [&*format!("spark.{of}.memoryOverheadFactor"), "spark.kubernetes.memoryOverheadFactor"];
        let keys = if manager == Manager::Kubernetes { &keys[..] } else { &keys[..1] };
        let factor = keys.iter().find_map(|key| {
            parse_scaled(self.get(key)?.as_bytes(), MILLION, MOST, Rounding::Nearest).ok()
        });
        let kind = self.get("spark.kubernetes.resource.type");
        let is_other = manager == Manager::Kubernetes && matches!(kind, Some("python" | "r"));
        let usual = if is_other { 400_000 } else { 100_000 };
        let least = self.size(&[&format!("spark.{of}.minMemoryOverhead")]).unwrap_or(384);
        let part = u128::from(memory) * u128::from(factor.unwrap_or(usual)) / u128::from(MILLION);
        u64::try_from(part).unwrap_or(MOST).max(least)
    }

    /// What the container of the driver or of YARN's master holds, where it has one.
    pub(super) fn master(&self, manager: Manager, step: u64) -> Option<Holds> {
        let is_cluster = self.get("spark.submit.deployMode") == Some("cluster");
        let (cores, memory, overhead) = match (manager, is_cluster) {
            (Manager::Other, _) | (Manager::Kubernetes, false) => return None,
            (Manager::Yarn, false) => {
                let memory = self.size(&["spark.yarn.am.memory"]).unwrap_or(512);
                let overhead = self.size(&["spark.yarn.am.memoryOverhead"]);
                let overhead = overhead.unwrap_or((memory / 10).max(384));
                (self.milli(&["spark.yarn.am.cores"]), memory, overhead)
            }
            (_, true) => {
                let memory = self.size(&["spark.driver.memory"]).unwrap_or(1024);
                let legacy = "spark.yarn.driver.memoryOverhead";
                let cores = ["spark.kubernetes.driver.request.cores", "spark.driver.cores"];
                let from = usize::from(manager == Manager::Yarn);
                let overhead = self.overhead(memory, manager, "driver", legacy);
                (self.milli(&cores[from..]), memory, overhead)
            }
        };
        let memory = rounded(bytes(memory.saturating_add(overhead)), manager, step);
        Some(Holds { cores: cores.unwrap_or(ONE).max(1), memory, gpus: 0 })
    }

    /// What the container of an executor with so many cores and GPUs holds.
    pub(super) fn executor(
        &self,
        manager: Manager,
        profile: Option<&Sizes>,
        is_default: bool,
        [cores, gpus]: [u64; 2],
        step: u64,
    ) -> Holds {
        let of = |get: fn(&Sizes) -> Option<u64>| profile.and_then(get);
        let set = || self.size(&["spark.executor.memory"]).unwrap_or(1024);
        let memory = of(|sizes| sizes.memory).unwrap_or_else(set);
        let gpus = match gpus {
            0 => {
                let set = || self.milli(&["spark.executor.resource.gpu.amount"]);
                of(|sizes| sizes.gpus).or_else(set).unwrap_or(0)
            }
            gpus => gpus,
        };
        if manager == Manager::Other {
            return Holds { cores, memory: bytes(memory), gpus };
        }
        let overhead = of(|sizes| sizes.overhead).unwrap_or_else(|| match is_default {
            true => {
                self.overhead(memory, manager, "executor", "spark.yarn.executor.memoryOverhead")
            }
            false => self.overhead_by_factor(memory, manager, "executor"),
        });
        let off_heap = of(|sizes| sizes.off_heap).unwrap_or_else(|| {
            let is_on = self.get("spark.memory.offHeap.enabled") == Some("true");
            // Plain numbers of this setting are bytes.
            let size = self.get("spark.memory.offHeap.size").filter(|_| is_on);
            size.and_then(|size| Some(sized(size, 1)? / MIB)).unwrap_or(0)
        });
        let python = of(|sizes| sizes.python).unwrap_or_else(|| match is_default {
            true => self.size(&["spark.executor.pyspark.memory"]).unwrap_or(0),
            false => 0,
        });
        let all = memory.saturating_add(overhead).saturating_add(off_heap).saturating_add(python);
        let cores = match manager {
            Manager::Kubernetes => {
                self.milli(&["spark.kubernetes.executor.request.cores"]).unwrap_or(cores)
            }
            _ => cores,
        };
        Holds { cores, memory: rounded(bytes(all), manager, step), gpus }
    }

    /// What an executor of a local run holds: it is the driver.
    pub(super) fn driver(&self, cores: u64) -> Holds {
        let memory = self.size(&["spark.driver.memory"]).unwrap_or(1024);
        Holds { cores, memory: bytes(memory), gpus: 0 }
    }

    /// Thousandths of a core, and of a GPU, of each task.
    pub(super) fn task(&self, profile: Option<&Sizes>) -> [u64; 2] {
        let cpus = profile.and_then(|sizes| sizes.task_cores);
        let cpus = cpus.or_else(|| self.milli(&["spark.task.cpus"])).unwrap_or(ONE).max(1);
        let gpus = profile.and_then(|sizes| sizes.task_gpus);
        let gpus = gpus.or_else(|| self.milli(&["spark.task.resource.gpu.amount"])).unwrap_or(0);
        [cpus, gpus]
    }

    /// Thousandths of a core of each executor, where settings say it.
    pub(super) fn executor_cores(&self) -> Option<u64> {
        self.milli(&["spark.executor.cores"])
    }
}

/// What a resource profile says. Memory in mebibytes, the rest in thousandths.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    pub(super) cores: Option<u64>,
    memory: Option<u64>,
    overhead: Option<u64>,
    off_heap: Option<u64>,
    python: Option<u64>,
    gpus: Option<u64>,
    task_cores: Option<u64>,
    task_gpus: Option<u64>,
}

impl Sizes {
    pub(super) fn of(profile: &Profile) -> Sizes {
        let scaled = |amount: f64, scale: f64| (amount * scale).round().clamp(0.0, MOST as f64);
        let of_executor = |name: &str, scale: f64| {
            profile.executor.get(name).map(|given| scaled(given.amount, scale) as u64)
        };
        let of_task =
            |name: &str| profile.task.get(name).map(|given| scaled(given.amount, 1e3) as u64);
        Sizes {
            cores: of_executor("cores", 1e3),
            memory: of_executor("memory", 1.0),
            overhead: of_executor("memoryOverhead", 1.0),
            off_heap: of_executor("offHeap", 1.0),
            python: of_executor("pyspark.memory", 1.0),
            gpus: of_executor("gpu", 1e3),
            task_cores: of_task("cpus"),
            task_gpus: of_task("gpu"),
        }
    }
}

fn bytes(mebibytes: u64) -> u64 {
    mebibytes.saturating_mul(MIB)
}

fn rounded(bytes: u64, manager: Manager, step: u64) -> u64 {
    match manager {
        Manager::Yarn => bytes.checked_next_multiple_of(step.max(1)).unwrap_or(u64::MAX),
        _ => bytes,
    }
}

/// A size as Spark's settings of memory write it, in mebibytes: plain numbers are mebibytes.
fn mebibytes(text: &str) -> Option<u64> {
    Some(sized(text, MIB)? / MIB)
}

/// Bytes of a size as Spark's settings write it: powers of 1024 in one or two letters; a plain
/// number is so many times `plain`.
fn sized(text: &str, plain: u64) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => plain,
        "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => MIB,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        "p" | "pb" => 1 << 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        Settings::of(
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        )
    }

    fn profile(text: &str) -> Sizes {
        Sizes::of(&serde_json::from_str(text).unwrap())
    }

    fn mib(holds: Holds) -> u64 {
        holds.memory / MIB
    }

    #[test]
    fn sizes_of_settings() {
        for (text, expected) in [
            ("512m", Some(512)),
            ("2g", Some(2048)),
            ("1024", Some(1024)),
            ("1T", Some(1 << 20)),
            ("1536kb", Some(1)),
            ("1.5g", None),
            ("much", None),
            ("", None),
        ] {
            assert_eq!(mebibytes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_container_has_the_overhead_of_its_manager() {
        let plain = settings(&[("spark.executor.memory", "512m")]);
        let large = settings(&[("spark.executor.memory", "8g")]);
        let set = settings(&[
            ("spark.executor.memory", "8g"),
            ("spark.executor.memoryOverhead", "1g"),
            ("spark.executor.pyspark.memory", "200m"),
        ]);
        let python = settings(&[
            ("spark.executor.memory", "8g"),
            ("spark.kubernetes.resource.type", "python"),
        ]);
        let least = settings(&[("spark.executor.minMemoryOverhead", "1g")]);
        let rows = [
            (&plain, Manager::Yarn, 1, 896),
            (&plain, Manager::Yarn, 1 << 30, 1024),
            (&plain, Manager::Kubernetes, 1 << 30, 896),
            (&plain, Manager::Other, 1 << 30, 512),
            (&large, Manager::Yarn, 1, 8192 + 819),
            (&set, Manager::Yarn, 1, 8192 + 1024 + 200),
            (&python, Manager::Kubernetes, 1, 8192 + 3276),
            (&python, Manager::Yarn, 1, 8192 + 819),
            (&least, Manager::Yarn, 1, 2048),
        ];
        for (settings, manager, step, expected) in rows {
            let holds = settings.executor(manager, None, true, [2000, 0], step);
            assert_eq!((mib(holds), holds.cores), (expected, 2000), "{settings:?} {manager:?}");
        }
    }

    #[test]
    fn a_profile_says_more_than_settings() {
        let set =
            settings(&[("spark.executor.memory", "8g"), ("spark.executor.memoryOverhead", "2g")]);
        let own = profile(
            r#"{"Resource Profile Id":1,
                "Executor Resource Requests":{"memory":{"Amount":1024},"gpu":{"Amount":2},
                    "memoryOverhead":{"Amount":300},"offHeap":{"Amount":100}},
                "Task Resource Requests":{"cpus":{"Amount":2.0},"gpu":{"Amount":0.25}}}"#,
        );
        let holds = set.executor(Manager::Yarn, Some(&own), false, [1000, 0], 1);
        assert_eq!((mib(holds), holds.gpus), (1424, 2000));
        assert_eq!(set.task(Some(&own)), [2000, 250]);
        // The overhead that is set is that of the usual profile.
        let bare = profile(r#"{"Executor Resource Requests":{"memory":{"Amount":1024}}}"#);
        assert_eq!(mib(set.executor(Manager::Yarn, Some(&bare), false, [1000, 0], 1)), 1408);
        assert_eq!(mib(set.executor(Manager::Yarn, Some(&bare), true, [1000, 0], 1)), 3072);
        assert_eq!(set.task(None), [1000, 0]);
    }

    #[test]
    fn masters_have_containers_on_yarn_and_in_clusters() {
        let mode = ("spark.submit.deployMode", "cluster");
        let client = settings(&[("spark.yarn.am.memory", "700m"), ("spark.yarn.am.cores", "2")]);
        let cluster = settings(&[mode, ("spark.driver.memory", "4g"), ("spark.driver.cores", "3")]);
        let master = |settings: &Settings, manager| {
            settings.master(manager, 1).map(|holds| (mib(holds), holds.cores))
        };
        assert_eq!(master(&client, Manager::Yarn), Some((700 + 384, 2000)));
        assert_eq!(master(&client, Manager::Kubernetes), None);
        assert_eq!(master(&cluster, Manager::Yarn), Some((4096 + 409, 3000)));
        assert_eq!(master(&cluster, Manager::Kubernetes), Some((4096 + 409, 3000)));
        assert_eq!(master(&cluster, Manager::Other), None);
        let id = "application_1_0001";
        assert_eq!(settings(&[]).manager(id), Manager::Yarn);
        assert_eq!(settings(&[("spark.master", "local[2]")]).manager(id), Manager::Other);
        assert_eq!(
            settings(&[("spark.master", "k8s://x")]).manager("spark-1"),
            Manager::Kubernetes
        );
    }
}
