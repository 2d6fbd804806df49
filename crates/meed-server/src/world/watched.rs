//! What others watch: who hears of events, which jobs they will be about, and how long turns and
//! waits took.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed_driver::metrics::{Buckets, TURN_BOUNDS, WAIT_BOUNDS};

use crate::clock::wall_us;
use crate::feed::Feed;

/// Most queues whose waits are counted.
const MOST_QUEUES: usize = 4096;

/// See the module.
pub(super) struct Watched {
    /// Where events go; `None`: nobody watches.
    feed: Option<Arc<Feed>>,
    /// Jobs that stand otherwise than at the end of the last turn.
    touched: BTreeSet<u64>,
    turns: Buckets,
    waits: BTreeMap<String, Buckets>,
}

impl Watched {
    pub(super) fn new() -> Watched {
        let (touched, waits) = (BTreeSet::new(), BTreeMap::new());
        Watched { feed: None, touched, turns: Buckets::new(TURN_BOUNDS), waits }
    }

    /// The job stands otherwise.
    pub(super) fn touch(&mut self, job: u64) {
        if self.feed.is_some() {
            self.touched.insert(job);
        }
    }

    /// Whether anybody may watch.
    pub(super) fn is_followed(&self) -> bool {
        self.feed.is_some()
    }

    pub(super) fn rules_changed(&self) {
        if let Some(feed) = &self.feed {
            feed.rules_changed();
        }
    }

    /// Where events go from now on.
    pub(super) fn follow(&mut self) -> Arc<Feed> {
        self.feed.get_or_insert_with(|| Arc::new(Feed::new(wall_us()))).clone()
    }

    /// Where events go, where anybody watches.
    pub(super) fn feed(&self) -> Option<Arc<Feed>> {
        self.feed.clone()
    }

    /// Jobs that stand otherwise than when this was last asked.
    pub(super) fn take_touched(&mut self) -> BTreeSet<u64> {
        std::mem::take(&mut self.touched)
    }

    /// A turn took so long.
    pub(super) fn turn_took(&mut self, seconds: f64) {
        self.turns.see(seconds);
    }

    /// A task of the queue has waited so long for its first start.
    pub(super) fn waited(&mut self, queue: &str, seconds: f64) {
        if let Some(waits) = self.waits.get_mut(queue) {
            waits.see(seconds);
        } else if self.waits.len() < MOST_QUEUES {
            let mut waits = Buckets::new(WAIT_BOUNDS);
            waits.see(seconds);
            self.waits.insert(queue.to_owned(), waits);
        }
    }

    /// How long turns took, in seconds.
    pub(super) fn turns(&self) -> &Buckets {
        &self.turns
    }

    /// How long tasks of each queue waited for their first start, in seconds.
    pub(super) fn waits(&self) -> &BTreeMap<String, Buckets> {
        &self.waits
    }
}
