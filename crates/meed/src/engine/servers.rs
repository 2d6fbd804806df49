//! What is kept where each server decides on its own (`per_server`, `residual`, `tetris`).

use std::collections::BTreeMap;

use super::packing::Packing;
use super::room::ShapeId;
use super::tree::Tree;
use crate::ids::{NodeRow, QueueRow};
use crate::node_rows::Moves;
use crate::policy::Policy;
use crate::resources::Resources;

/// What queues hold, server by server.
#[derive(Default)]
pub(super) struct Servers {
    /// Empty where nothing is compared with it.
    held: Vec<BTreeMap<QueueRow, Resources>>,
    counts: bool,
    /// The server that started the last task: it goes on, unless an event came in between.
    turn: Option<NodeRow>,
    /// Servers that may start something, unless an event came in between (`residual`).
    open: Option<Vec<NodeRow>>,
    /// Where tasks are started by how they are aligned with a server (`tetris`).
    packing: Option<Box<Packing>>,
}

impl Servers {
    /// For a root of this policy, before anything runs; `None` where servers do not decide by
    /// themselves.
    pub(super) fn of(root: &Policy) -> Option<Servers> {
        let counts = !root.residual && root.fairness.is_none();
        let packing = root.fairness.map(|_| Box::default());
        root.per_server.then(|| Servers { counts, packing, ..Servers::default() })
    }

    fn on(&mut self, node: NodeRow) -> &mut BTreeMap<QueueRow, Resources> {
        if node.index() >= self.held.len() {
            self.held.resize_with(node.index() + 1, BTreeMap::new);
        }
        &mut self.held[node.index()]
    }

    /// Rows of nodes have moved.
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        moves.retain(&mut self.held, 1);
        self.turn = self.turn.and_then(|row| moves.to(row));
        self.open = None;
    }

    /// A task of `leaf` holds `demand` on `node` from now on.
    pub(super) fn hold(&mut self, tree: &Tree, leaf: QueueRow, node: NodeRow, demand: &Resources) {
        if !self.counts {
            return;
        }
        let on = self.on(node);
        for (queue, _) in tree.up(leaf) {
            on.entry(queue).or_insert_with(|| Resources::zero(demand.kinds())).add(demand);
        }
    }

    /// It holds it no more.
    pub(super) fn let_go(
        &mut self,
        tree: &Tree,
        leaf: QueueRow,
        node: NodeRow,
        demand: &Resources,
    ) {
        if !self.counts {
            return;
        }
        let on = self.on(node);
        for (queue, _) in tree.up(leaf) {
            let held = on.get_mut(&queue).expect("what is let go was held");
            held.sub(demand);
            if held.is_zero() {
                on.remove(&queue);
            }
        }
    }

    /// An event has come: whose turn it is is asked anew.
    pub(super) fn end_turn(&mut self) {
        (self.turn, self.open) = (None, None);
    }

    pub(super) fn turn(&self) -> Option<NodeRow> {
        self.turn
    }

    pub(super) fn set_turn(&mut self, node: Option<NodeRow>) {
        self.turn = node;
    }

    pub(super) fn take_packing(&mut self) -> Option<Box<Packing>> {
        self.packing.take()
    }

    pub(super) fn set_packing(&mut self, packing: Box<Packing>) {
        self.packing = Some(packing);
    }

    /// The key of `queue`, or whether it wants something, may have changed.
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueRow) {
        if let Some(packing) = &mut self.packing {
            packing.touch(queue);
        }
    }

    pub(super) fn take_open(&mut self) -> Option<Vec<NodeRow>> {
        self.open.take()
    }

    pub(super) fn set_open(&mut self, nodes: Vec<NodeRow>) {
        self.open = Some(nodes);
    }

    /// `leaf`, a child of the other one, has begun, or ceased, to wait with tasks of a shape.
    pub(super) fn note_waiting(&mut self, leaf: (QueueRow, QueueRow), shape: ShapeId, waits: bool) {
        if let Some(packing) = &mut self.packing {
            packing.note_waiting(leaf, shape, waits);
        }
    }

    pub(super) fn held(&self, node: NodeRow, queue: QueueRow) -> Option<&Resources> {
        self.held.get(node.index()).and_then(|on| on.get(&queue))
    }
}
