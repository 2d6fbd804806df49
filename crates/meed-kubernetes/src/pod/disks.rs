//! Volumes that a node must attach for a pod, by the driver that does it: a node attaches so many
//! of each driver, and no more (NodeVolumeLimits of kube-scheduler).
//!
//! A volume that pods of several nodes may use at once is counted once on each node. One that a
//! node alone may use counts anew for each pod that waits: so pods whose volumes are their own ask
//! for the same, and a node is judged once for all of them. That is on the safe side: at its limit
//! a node may be closed to a second pod that would use a volume which is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::api::core::v1::PersistentVolume;
use k8s_openapi::api::storage::v1::CSINode;

/// How many volumes of each driver a node attaches.
pub(crate) type Limits = BTreeMap<String, usize>;

/// What limits a node has; a driver without one attaches as many as are wanted.
pub(crate) fn limits_of(node: &CSINode) -> Limits {
    let limit = |count: i32| usize::try_from(count).ok();
    let drivers = node.spec.drivers.iter();
    let counted = drivers.filter_map(|driver| {
        let count = driver.allocatable.as_ref().and_then(|all| all.count)?;
        Some((driver.name.clone(), limit(count)?))
    });
    counted.collect()
}

/// A volume as its driver knows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Disk {
    pub(crate) driver: String,
    pub(crate) handle: String,
    /// Pods of several nodes may use it at once.
    pub(crate) is_shared: bool,
}

impl Disk {
    /// Of a volume; `None`: no driver attaches it.
    pub(crate) fn of(volume: &PersistentVolume) -> Option<Disk> {
        let spec = volume.spec.as_ref()?;
        let csi = spec.csi.as_ref()?;
        let (driver, handle) = (csi.driver.clone(), csi.volume_handle.clone());
        let modes = spec.access_modes.iter().flatten();
        let is_shared = modes.into_iter().any(|mode| mode.ends_with("Many"));
        Some(Disk { driver, handle, is_shared })
    }
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Disks {
    all: BTreeSet<Disk>,
}

impl FromIterator<Disk> for Disks {
    fn from_iter<I: IntoIterator<Item = Disk>>(all: I) -> Disks {
        Disks { all: all.into_iter().collect() }
    }
}

impl Disks {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// See there.
    pub(crate) fn by_driver(&self) -> DisksByDriver<'_> {
        let mut all = DisksByDriver::new();
        for disk in &self.all {
            let (own, shared) = all.entry(&disk.driver).or_default();
            match disk.is_shared {
                true => shared.push(&disk.handle),
                false => *own += 1,
            }
        }
        all
    }
}

/// Equal for pods that may be on the same nodes, and readable: `1 of disk.example, and data-7`.
impl fmt::Display for Disks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(driver, (own, shared)): (&str, (usize, Vec<&str>))| match shared.is_empty() {
            true => format!("{own} of {driver}"),
            false => format!("{own} of {driver}, and {}", shared.join(" ")),
        };
        let all: Vec<String> = self.by_driver().into_iter().map(one).collect();
        f.write_str(&all.join("; "))
    }
}

/// By driver: how many are a pod's own, and which it shares.
pub(crate) type DisksByDriver<'d> = BTreeMap<&'d str, (usize, Vec<&'d str>)>;

/// What is attached to each node for pods that are there, and how much can be.
#[derive(Default)]
pub(crate) struct Attached {
    limits: BTreeMap<String, Limits>,
    /// By driver: how many nodes bound what it attaches.
    bounding: BTreeMap<String, usize>,
    /// By node and driver: how many pods use each volume.
    at: BTreeMap<String, BTreeMap<String, BTreeMap<String, usize>>>,
}

impl Attached {
    /// A pod comes to a node, or leaves it.
    pub(crate) fn count(&mut self, node: &str, disks: &Disks, is_more: bool) {
        for Disk { driver, handle, .. } in &disks.all {
            let here = self.at.entry(node.to_owned()).or_default();
            let handles = here.entry(driver.clone()).or_default();
            match (is_more, handles.get_mut(handle)) {
                (true, Some(pods)) => *pods += 1,
                (true, None) => _ = handles.insert(handle.clone(), 1),
                (false, Some(pods)) if *pods > 1 => *pods -= 1,
                (false, _) => _ = handles.remove(handle),
            }
            if handles.is_empty() {
                here.remove(driver);
            }
            if here.is_empty() {
                self.at.remove(node);
            }
        }
    }

    /// A node's limits are these; `None`: they were. Else whether drivers are bounded that nobody
    /// bounded before, or are no more.
    pub(crate) fn limit(&mut self, node: &str, limits: Limits) -> Option<bool> {
        let before = self.limits.remove(node).unwrap_or_default();
        let (is_new, mut is_bound_anew) = (before != limits, false);
        for driver in limits.keys().filter(|driver| !before.contains_key(*driver)) {
            let nodes = self.bounding.entry(driver.clone()).or_default();
            *nodes += 1;
            is_bound_anew |= *nodes == 1;
        }
        for driver in before.keys().filter(|driver| !limits.contains_key(*driver)) {
            match self.bounding.get_mut(driver) {
                Some(nodes) if *nodes > 1 => *nodes -= 1,
                _ => is_bound_anew |= self.bounding.remove(driver).is_some(),
            }
        }
        if !limits.is_empty() {
            self.limits.insert(node.to_owned(), limits);
        }
        is_new.then_some(is_bound_anew)
    }

    /// Nodes that have limits.
    pub(crate) fn limited(&self) -> impl Iterator<Item = &String> {
        self.limits.keys()
    }

    /// Whether any node bounds what this driver attaches.
    pub(crate) fn bounds(&self, driver: &str) -> bool {
        self.bounding.contains_key(driver)
    }

    /// Whether a node can attach these, too.
    pub(crate) fn fits(&self, node: &str, disks: &DisksByDriver<'_>) -> bool {
        let Some(limits) = self.limits.get(node) else { return true };
        disks.iter().all(|(&driver, (own, shared))| {
            let Some(limit) = limits.get(driver) else { return true };
            let there = self.at.get(node).and_then(|here| here.get(driver));
            let is_new =
                |handle: &&&str| there.is_none_or(|handles| !handles.contains_key(**handle));
            let more = own + shared.iter().filter(is_new).count();
            more == 0 || there.map_or(0, BTreeMap::len) + more <= *limit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn disk(driver: &str, handle: &str, is_shared: bool) -> Disk {
        Disk { driver: driver.to_owned(), handle: handle.to_owned(), is_shared }
    }

    #[test]
    fn limits_and_volumes_are_read() {
        let node: CSINode = serde_json::from_value(json!({ "metadata": { "name": "n" }, "spec": {
            "drivers": [
                { "name": "a", "nodeID": "n", "allocatable": { "count": 2 } },
                { "name": "b", "nodeID": "n", "allocatable": { "count": 0 } },
                { "name": "c", "nodeID": "n", "allocatable": {} },
                { "name": "d", "nodeID": "n" },
                { "name": "e", "nodeID": "n", "allocatable": { "count": -1 } },
            ] } }))
        .unwrap();
        assert_eq!(limits_of(&node), [("a".to_owned(), 2), ("b".to_owned(), 0)].into());
        let of = |spec: Value| {
            let volume = json!({ "metadata": { "name": "v" }, "spec": spec });
            Disk::of(&serde_json::from_value(volume).unwrap())
        };
        let csi = json!({ "driver": "a", "volumeHandle": "h" });
        let once = of(json!({ "csi": csi, "accessModes": ["ReadWriteOnce"] }));
        assert_eq!(once, Some(disk("a", "h", false)));
        let many = of(json!({ "csi": csi, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"] }));
        assert_eq!(many, Some(disk("a", "h", true)));
        assert_eq!(of(json!({ "local": { "path": "/disk" } })), None, "nobody attaches it");
    }

    #[test]
    fn a_node_attaches_so_many_and_no_more() {
        let mut attached = Attached::default();
        let of = |all: &[&Disk]| all.iter().map(|&disk| disk.clone()).collect::<Disks>();
        let (x, y, s) = (disk("a", "x", false), disk("a", "y", false), disk("a", "s", true));
        assert!(attached.fits("n", &of(&[&x, &y]).by_driver()), "no limit is known");
        let limit = || [("a".to_owned(), 2)].into();
        assert_eq!(attached.limit("n", limit()), Some(true), "nobody bounded it");
        assert_eq!(attached.limit("n", limit()), None, "nothing is new");
        assert!(attached.fits("n", &of(&[&x, &y]).by_driver()));
        assert!(!attached.fits("n", &of(&[&x, &y, &s]).by_driver()));
        attached.count("n", &of(&[&x, &s]), true);
        attached.count("n", &of(&[&s]), true);
        assert!(attached.fits("n", &of(&[&s]).by_driver()), "it is there already");
        assert!(!attached.fits("n", &of(&[&s, &y]).by_driver()));
        assert!(!attached.fits("n", &of(&[&disk("a", "t", true)]).by_driver()));
        assert!(attached.fits("n", &of(&[&disk("b", "y", false)]).by_driver()), "another driver");
        assert!(attached.fits("m", &of(&[&y]).by_driver()), "another node");
        attached.count("n", &of(&[&x]), false);
        assert!(attached.fits("n", &of(&[&y]).by_driver()));
        attached.count("n", &of(&[&s]), false);
        let two = of(&[&y, &disk("a", "z", false)]);
        assert!(!attached.fits("n", &two.by_driver()), "one uses it still");
        attached.count("n", &of(&[&s]), false);
        assert!(attached.at.is_empty(), "nothing is remembered for nothing");
        assert_eq!(of(&[&y, &disk("a", "t", true)]).to_string(), "1 of a, and t");
    }
}
