//! Who is of which gang, and which gangs are to be looked at again.

use std::collections::{BTreeMap, BTreeSet};

use crate::pod::gang::GangName;

/// What is known of gangs.
#[derive(Default)]
pub(super) struct Gangs {
    /// The pods of each that are known, by namespace and name.
    pub(super) members: BTreeMap<(String, GangName), BTreeSet<String>>,
    /// How many of each PodGroup start together, by namespace and name.
    pub(super) groups: BTreeMap<(String, GangName), u32>,
    /// Pods that are to be looked at again.
    pub(super) again: BTreeSet<String>,
    /// Gangs that have lost a pod: one of those that gather is looked at again, and that is enough.
    pub(super) lost: BTreeSet<(String, GangName)>,
}

impl Gangs {
    pub(super) fn leave(&mut self, namespace: &str, name: GangName, uid: &str) {
        let key = (namespace.to_owned(), name);
        let Some(members) = self.members.get_mut(&key) else { return };
        members.remove(uid);
        match members.is_empty() {
            true => _ = self.members.remove(&key),
            false => _ = self.lost.insert(key),
        }
    }

    /// The pods of a gang are looked at again.
    pub(super) fn look_at(&mut self, key: (String, GangName)) {
        let members = self.members.get(&key);
        self.again.extend(members.into_iter().flatten().cloned());
    }
}
