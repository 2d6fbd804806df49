//! What is known of devices: classes, and what drivers tell of nodes ([`super::devices`]).

use std::collections::BTreeMap;

use meed::{ResourceKinds, Resources};

use crate::device::{ClassSeen, SliceSeen};
use crate::pod::PodSeen;
use crate::pod::refuse::Refusal;

/// See the module.
#[derive(Default)]
pub(super) struct Devices {
    pub(super) classes: BTreeMap<String, ClassSeen>,
    pub(super) slices: BTreeMap<String, SliceSeen>,
}

impl Devices {
    /// What a node has, where `told` is what it tells by itself: of a resource of which it tells
    /// nothing its devices count.
    pub(super) fn with(&self, node: &str, told: Resources, kinds: &ResourceKinds) -> Resources {
        let mut has = told;
        for (kind, name) in kinds.names().enumerate() {
            if has.get(kind) == 0 {
                let units = kinds.unit(kind).scale();
                has.as_mut_slice()[kind] = self.count(node, name).saturating_mul(units);
            }
        }
        has
    }

    /// How many devices of a node a resource stands for.
    fn count(&self, node: &str, resource: &str) -> u64 {
        let Some(class) = self.classes.values().find(|class| class.is_for(resource)) else {
            return 0;
        };
        let here = || self.slices.values().filter(|slice| slice.node.as_deref() == Some(node));
        let newest = |one: &SliceSeen| {
            let same =
                |other: &&SliceSeen| (&other.driver, &other.pool) == (&one.driver, &one.pool);
            here().filter(same).map(|other| other.generation).max()
        };
        let counted = here().filter(|slice| newest(slice) == Some(slice.generation));
        counted.map(|slice| slice.count(class)).sum()
    }

    /// Why a pod must not wait: it asks for devices that Meed cannot count, or would have to
    /// allocate itself.
    pub(super) fn refuses(&self, seen: &PodSeen, kinds: &ResourceKinds) -> Option<Refusal> {
        let demand = seen.demand.as_ref().ok()?;
        let asked = kinds.names().enumerate().filter(|(kind, _)| demand.amounts.get(*kind) > 0);
        for (_, name) in asked {
            let Some(class) = self.classes.values().find(|class| class.is_for(name)) else {
                continue;
            };
            if seen.ours {
                let why = format!(
                    "it asks for {name}, devices of dynamic resource allocation, which Meed does \
                     not allocate by itself; use a Queue with mode Gates"
                );
                return Some(("NotSupported", why));
            }
            if !class.is_read() {
                let why = format!(
                    "it asks for {name}, and the selectors of its DeviceClass are more than \
                     comparisons of driver and attributes joined by &&: Meed cannot count its \
                     devices; leave {name} out of --resources, and it runs uncounted"
                );
                return Some(("DevicesUnknown", why));
            }
        }
        None
    }
}
