//! Pods that were let go: until when each is to be bound, and which were not in time
//! ([`super::unplaced`]).

use std::collections::{BTreeMap, BTreeSet};

use meed::Time;

/// Pods that were let go.
#[derive(Default)]
pub(super) struct LetGo {
    /// Until when each is to be bound; those that are, or that are gone, are here until then.
    pub(super) due: BTreeSet<(Time, String)>,
    /// Those that were not in time, and the names of their queues.
    pub(super) late: BTreeMap<String, String>,
}

impl LetGo {
    /// A pod stands otherwise now, or is gone; `late_of`: the queue of one that was not in time.
    pub(super) fn stands(&mut self, uid: &str, late_of: Option<&str>) {
        match late_of {
            Some(queue) => {
                self.late.insert(uid.to_owned(), queue.to_owned());
            }
            None => _ = self.late.remove(uid),
        }
    }

    /// How many pods of each queue wait to be placed, and hold no room.
    pub(super) fn late(&self) -> BTreeMap<&str, u64> {
        let mut late = BTreeMap::new();
        for queue in self.late.values() {
            *late.entry(queue.as_str()).or_default() += 1;
        }
        late
    }
}
