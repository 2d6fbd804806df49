//! What a walk may find: a group that starts, one that waits, nothing; and the maximum share that
//! keeps a group out.

use super::books::Books;
use super::ready::Bucket;
use super::room::Room;
use super::tree::Tree;
use crate::decision::Reason;
use crate::ids::{NodeRow, QueueRow};

/// What a leaf would start.
pub(super) enum Candidate {
    /// A group, and the node that was found for it where one was looked for.
    Group(u32, Option<NodeRow>),
    /// The best one fits nowhere now, and the policy is to wait for it, or to hold room for it.
    Wait(u32),
    /// Nothing fits.
    Nothing,
}

/// What starts next, and where.
pub(super) struct Chosen {
    pub(super) slot: u32,
    pub(super) node: NodeRow,
    pub(super) reason: Option<Box<Reason>>,
}

/// The queue on the path of a leaf whose maximum share the next turn of a bucket would exceed.
#[inline]
pub(super) fn capped_by(
    tree: &Tree,
    books: &Books,
    room: &Room,
    leaf: QueueRow,
    bucket: &Bucket,
) -> Option<QueueRow> {
    if !tree.has_maximums() {
        return None;
    }
    match room.turn_of(bucket.shape()) {
        1 => books.capped_by(tree, leaf, bucket.demand()),
        _ => books.capped_by(tree, leaf, &room.demand_of_turn(bucket.shape())),
    }
}
