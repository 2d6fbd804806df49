//! What the heaps cannot be made from again: since when leaves wait, which are parked, and in what
//! order the shapes of a leaf are looked at.

use super::{Bucket, Ready};
use crate::engine::room::ShapeId;
use crate::ids::QueueRow;
use crate::order::heap::Heap;
use crate::resources::Resources;
use crate::state::{Place, StateError, ensure};
use crate::time::Time;

impl Ready {
    /// The shapes of a leaf's buckets in order, also of those that are empty.
    pub(in crate::engine) fn bucket_shapes(&self, leaf: QueueRow) -> Vec<u32> {
        self.buckets(leaf).iter().map(|bucket| bucket.shape.number()).collect()
    }

    /// While a leaf is parked: what it waits for at least.
    pub(in crate::engine) fn least_of(&self, leaf: QueueRow) -> Option<Vec<u64>> {
        self.parked.least_of(leaf).map(<[u64]>::to_vec)
    }

    /// Leaves that wait for `queue` to fall below its maximum share.
    pub(in crate::engine) fn capped(&self, queue: QueueRow) -> Vec<u32> {
        self.capped.get(&queue).into_iter().flatten().map(|leaf| leaf.0).collect()
    }

    /// The next queue, with the buckets that it has; groups are listed next.
    pub(in crate::engine) fn restore_queue(
        &mut self,
        waits_since: Time,
        shapes: &[(ShapeId, Resources)],
        place: Place<'_>,
    ) -> Result<(), StateError> {
        self.add_queue();
        let row = self.rows.last_mut().expect("it has just been added");
        row.waits_since = waits_since;
        for &(shape, demand) in shapes {
            let new = row.buckets.iter().all(|bucket| bucket.shape != shape);
            ensure!(new, format!("{place}.buckets"), "shape {} stands there twice", shape.number());
            row.buckets.push(Bucket { groups: Heap::default(), shape, demand });
        }
        Ok(())
    }

    /// `tasks` of the leaf wait; since when is known.
    pub(in crate::engine) fn restore_waiting(&mut self, leaf: QueueRow, tasks: u64) {
        self.rows[leaf.index()].waiting += tasks;
    }
}
