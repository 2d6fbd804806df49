//! Values by name, for names that begin alike: `container_1760000000000_0001_01_000002`.
//!
//! A tree of them compares a dozen names for each look, and each is elsewhere in memory. Here a
//! look reads one place of a table, and one name. What goes through all names goes in their order,
//! and is rare.
//!
//! Invariant: as a `BTreeMap`. Cost: O(1) for a look; O(n log n) to go through all.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// See the module.
pub(super) struct ByName<T> {
    table: HashTable<(String, T)>,
}

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName { table: HashTable::new() }
    }
}

/// The same in every run.
fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

impl<T> ByName<T> {
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        let found = self.table.find(hash_of(name), |(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// What was there of that name is there no more.
    pub(super) fn insert(&mut self, name: &str, value: T) {
        let is_it = |(known, _): &(String, T)| known == name;
        match self.table.entry(hash_of(name), is_it, |(known, _)| hash_of(known)) {
            Entry::Occupied(mut there) => there.get_mut().1 = value,
            Entry::Vacant(place) => drop(place.insert((name.to_owned(), value))),
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<T> {
        let found = self.table.find_entry(hash_of(name), |(known, _)| known == name).ok()?;
        Some(found.remove().0.1)
    }

    /// Names of those that `picks`, in order.
    pub(super) fn names(&self, picks: impl Fn(&str, &T) -> bool) -> Vec<String> {
        let picked = self.table.iter().filter(|(name, value)| picks(name, value));
        let mut names: Vec<String> = picked.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each step inserts or removes one of a few names.
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0u8..20, any::<bool>()), 0..60)) {
            let (mut table, mut map) = (ByName::default(), BTreeMap::new());
            for (step, (name, comes)) in steps.into_iter().enumerate() {
                let name = format!("container_{name:02}");
                if comes {
                    table.insert(&name, step);
                    map.insert(name.clone(), step);
                } else {
                    prop_assert_eq!(table.remove(&name), map.remove(&name));
                }
                prop_assert_eq!(table.get(&name), map.get(&name));
                prop_assert_eq!((table.len(), table.is_empty()), (map.len(), map.is_empty()));
                let odd = |value: &usize| value % 2 == 1;
                let those = map.iter().filter(|(_, value)| odd(value)).map(|(name, _)| name);
                let those: Vec<String> = those.cloned().collect();
                prop_assert_eq!(table.names(|_, value| odd(value)), those);
            }
        }
    }
}
