//! Each server decides on its own, by what is free on it: residual per-server dominant shares
//! (`rps-dsf`; Kesidis, Shan, Wang, Urgaonkar, Khamse-Ashari, Lambadaris, 2017), with whole tasks.
//!
//! > key of child i on server l = (max over r of g_ir / free_lr) / w_i,  g_i what i holds on all
//! > servers, free_l what is free on l
//!
//! With tasks of one demand D that is n max_r (D_r / free_lr) / w, n how many run. The pair of a
//! server and a child with the smallest key among those of which something fits is served, one task
//! at a time; ties go to the child served longest ago, then to the server that joined first. Of
//! which nothing is free on a server, while the child holds some: it comes last there.
//!
//! A child below its minimum share of the pool comes first everywhere. Below the root the server is
//! settled: at each level its smallest key decides. All else is as under `per_server`.
//!
//! Invariant: between two events servers only lose room, so those that may start something are
//! listed once, and leave the list when nothing fits any more. Cost: O(nodes x shapes that wait)
//! for the list, O(n log n) for each listed server at each start among n demanding children.

use std::collections::BTreeSet;

use super::chosen::Chosen;
use super::core::Core;
use super::per_server::{Compared, Turn};
use super::room::ShapeId;
use crate::decision::{Choices, Reason};
use crate::ids::{NodeRow, QueueRow};
use crate::order::key::{Key, cmp_ratios};
use crate::order::{Terms, Tier};
use crate::resources::Resources;

/// More than any share: amounts are at most 2^53.
const ENDLESS: u128 = 1 << 120;

const WHY: &str = "each server by itself: of servers with room and who may use them the pair where \
    what is held is least beside what is free";

/// The key of one that holds `held` in all, on a server with so much free.
pub(super) fn residual_key(held: &Resources, free: &Resources, terms: &Terms) -> Key {
    let rows = held.as_slice().iter().zip(free.as_slice()).filter(|(held, _)| **held > 0);
    let mut most = (0u64, 1u64);
    for (&held, &free) in rows {
        if free == 0 {
            return Key::new(Tier::Ordinary, ENDLESS, 1, terms.tie);
        }
        if cmp_ratios(held.into(), free, most.0.into(), most.1).is_gt() {
            most = (held, free);
        }
    }
    let weight = u128::from(most.1) * u128::from(terms.weight);
    Key::of_ratio(Tier::Ordinary, most.0.into(), weight, terms.tie)
}

impl Core {
    /// The next task: that of the smallest key on any server.
    pub(super) fn next_by_rest(&mut self, explain: bool) -> Option<Chosen> {
        loop {
            let listed = self.servers.as_mut()?.take_open();
            let is_new = listed.is_none();
            let nodes = match listed {
                Some(nodes) => nodes,
                None if !self.room.any_open() => return None,
                None => {
                    self.settle();
                    self.open_servers()
                }
            };
            let (least, left) = self.least_of(nodes);
            if let Some((slot, node, mut levels)) = least {
                self.servers.as_mut()?.set_open(left);
                let reason = explain.then(|| {
                    levels.reverse();
                    Box::new(Reason { levels, ..Reason::of(WHY) })
                });
                return Some(Chosen { slot, node, reason });
            }
            if is_new {
                return None;
            }
        }
    }

    /// The group of the smallest key on any of the servers, the server, and the choices that led
    /// to it, the lowest first; with the servers that may start something.
    fn least_of(&mut self, nodes: Vec<NodeRow>) -> (Option<Found>, Vec<NodeRow>) {
        let (mut best, mut left): (Option<(Key, Found)>, _) = (None, Vec::new());
        for node in nodes {
            let turn = Turn { node, of: Compared::Free(self.room.free(node)) };
            let mut levels = Choices::new();
            let Some((key, slot)) = self.least_on(&turn, QueueRow::ROOT, &mut levels) else {
                continue;
            };
            left.push(node);
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, (slot, node, levels)));
            }
        }
        (best.map(|(_, found)| found), left)
    }

    /// Servers with room for something that waits and may start, in order of joining. Parks the
    /// leaves of which nothing may.
    fn open_servers(&mut self) -> Vec<NodeRow> {
        let Some(first) = self.next_server(true) else { return Vec::new() };
        let mut shapes: BTreeSet<ShapeId> = BTreeSet::new();
        for leaf in (1..self.tree.len() as u32).map(QueueRow) {
            if self.ready.waiting(leaf) > 0 && !self.ready.is_parked(leaf) {
                let buckets = 0..self.ready.buckets(leaf).len();
                shapes.extend(buckets.filter_map(|i| self.startable_shape(leaf, i)));
            }
        }
        let any_fits = |node: &NodeRow| {
            shapes.iter().any(|&shape| self.room.fits(shape, self.room.demand(shape), *node))
        };
        (first.0..self.room.nodes() as u32).map(NodeRow).filter(any_fits).collect()
    }
}

/// A group, its server, and the choices that led to it.
type Found = (u32, NodeRow, Choices);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Minimum;

    #[test]
    fn keys_are_what_is_held_beside_what_is_free() {
        let key = |held: &[u64], free: &[u64], weight: u64| {
            let terms = Terms { weight, min: Minimum::NONE, share: 0, tie: (0, 0) };
            residual_key(&Resources::new(held), &Resources::new(free), &terms)
        };
        assert_eq!(key(&[5, 1], &[100, 30], 1), key(&[1, 0], &[20, 0], 1));
        assert_eq!(key(&[1, 5], &[100, 30], 2), key(&[1, 0], &[12, 0], 1));
        assert!(key(&[1, 1], &[9, 0], 1) > key(&[1 << 53, 1], &[1, 1], 1));
        assert_eq!(
            key(&[0, 0], &[0, 0], 7),
            key(&[0, 3], &[0, 9], 1).min(key(&[0; 2], &[1; 2], 1))
        );
    }
}
