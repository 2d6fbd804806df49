//! The tasks that run on each node, listed once somebody asks: a node is lost, or a policy plans
//! reservations.
//!
//! A task that starts or ends turns links of its node and of its neighbours there: five lines of
//! memory that nothing else has touched, of some eighty that a task's life reads on a large
//! cluster. Where no node is ever lost, nobody needs them. So the first who asks pays a look at all
//! running tasks, and from then on lists are kept.
//!
//! Invariant: where lists are kept, each running task stands in that of its node, once. Cost: O(1)
//! for a start and an end; O(running tasks) for the first question.

use std::cell::OnceCell;

use crate::ids::NodeRow;
use crate::memory::expect_at;
use crate::node_rows::Moves;

/// Says "no task" among links.
pub(super) const NOBODY: u32 = u32::MAX;

/// Lists of running tasks, in which each stands once: by slot the next and the one before. Apart
/// from the tasks, for a task that comes or goes turns the links of its neighbours, whose rows
/// nobody has at hand.
#[derive(Default)]
pub(super) struct Links(Vec<(u32, u32)>);

impl Links {
    /// Puts a task before the others of the list that begins at `first`.
    #[inline]
    pub(super) fn link(&mut self, first: &mut u32, slot: u32) {
        if slot as usize >= self.0.len() {
            self.0.resize(slot as usize + 1, (NOBODY, NOBODY));
        }
        let next = std::mem::replace(first, slot);
        self.0[slot as usize] = (next, NOBODY);
        if next != NOBODY {
            self.0[next as usize].1 = slot;
        }
    }

    #[inline]
    pub(super) fn unlink(&mut self, first: &mut u32, slot: u32) {
        let (next, before) = self.0[slot as usize];
        match before {
            NOBODY => *first = next,
            _ => self.0[before as usize].0 = next,
        }
        if next != NOBODY {
            self.0[next as usize].1 = before;
        }
    }

    /// The list that begins at `first`.
    pub(super) fn iter(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |&slot: &u32| Some(self.0.get(slot as usize)?.0);
        std::iter::successors(Some(first), next).take_while(|&slot| slot != NOBODY)
    }

    /// See `ahead`: where a task stands.
    #[inline]
    pub(super) fn expect(&self, slot: usize) {
        expect_at(&self.0, slot);
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct ByNode(OnceCell<Lists>);

#[derive(Default)]
struct Lists {
    links: Links,
    /// The first of each node.
    first: Vec<u32>,
}

impl Lists {
    fn link(&mut self, slot: u32, node: NodeRow) {
        if node.index() >= self.first.len() {
            self.first.resize(node.index() + 1, NOBODY);
        }
        self.links.link(&mut self.first[node.index()], slot);
    }
}

impl ByNode {
    /// A task starts on a node.
    #[inline]
    pub(super) fn link(&mut self, slot: u32, node: NodeRow) {
        if let Some(lists) = self.0.get_mut() {
            lists.link(slot, node);
        }
    }

    /// It runs there no more.
    #[inline]
    pub(super) fn unlink(&mut self, slot: u32, node: NodeRow) {
        if let Some(lists) = self.0.get_mut() {
            lists.links.unlink(&mut lists.first[node.index()], slot);
        }
    }

    /// The slots of those on a node; `running` are all that run, by slot, each with its node.
    pub(super) fn on<R: Iterator<Item = (u32, NodeRow)>>(
        &self,
        node: NodeRow,
        running: impl FnOnce() -> R,
    ) -> impl Iterator<Item = u32> + '_ {
        let lists = self.0.get_or_init(|| {
            let mut lists = Lists::default();
            running().for_each(|(slot, node)| lists.link(slot, node));
            lists
        });
        lists.links.iter(lists.first.get(node.index()).copied().unwrap_or(NOBODY))
    }

    /// Rows of nodes have moved; none on which a task runs is forgotten.
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        if let Some(lists) = self.0.get_mut() {
            moves.retain(&mut lists.first, 1);
        }
    }

    /// See `ahead`.
    #[inline]
    pub(super) fn expect(&self, slot: usize, node: NodeRow) {
        if let Some(lists) = self.0.get() {
            expect_at(&lists.first, node.index());
            lists.links.expect(slot);
        }
    }
}
