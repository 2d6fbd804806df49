//! Spares: nodes that are drained besides, for a single task of which nobody knows when it starts.
//!
//! Where nobody knows when tasks end, nobody knows which node empties first: the one that was
//! chosen may be the slowest of all. So the policy says how many more are drained (`spares`), and
//! the task starts on whichever has room first. Then, or when a start becomes known anywhere, all
//! others are let go at once: they hold nothing in the plan that starts the task.
//!
//! > spares(task) = of all nodes on which it could be, but its own, the N on which least is missing
//!
//! Of like ones those that it has stay, then the first. They are looked at where its own node is,
//! in the order in which reservations were made: what comes free moves it, or one of them, to a
//! node on which less is missing. A reservation that stays on its nodes (it was put off, by what
//! was learned of others) keeps its spares, too, and those that it lacks are the best by what is
//! expected.
//!
//! A spare on which the task can be no more is given up by itself. If its own node goes, all are
//! looked for anew. While tasks are stopped for a reservation it has none. Gangs have none: two
//! sets of nodes that overlap, of which one is enough, are another kind of thing to hold.
//!
//! Invariant: only a reservation of one task without an instant has spares, no two of its nodes are
//! the same, and on each it holds all that the task needs. So who comes after it reckons with all
//! of them, and it never waits for those: whoever is first loses nothing to others. Cost: nothing
//! where a reservation is made, for one search finds its own node and the spares
//! (`Plan::best_with_spares`); one search for each where something became worse; else a look at
//! nodes where room came free.

use super::Holds;
use super::best::{Best, Rank};
use super::hold::{Hold, Part, Spares};
use super::plan::{News, Plan};
use super::profile::Need;
use super::rows::RowSet;
use crate::engine::core::Core;
use crate::engine::room::shapes::ShapeId;
use crate::ids::NodeRow;
use crate::node_rows::Moves;

/// What spares are looked for.
struct Wanted<'a> {
    shape: ShapeId,
    need: Need,
    /// The reservation's own node.
    node: NodeRow,
    most: usize,
    /// Nodes that it had: of like ones they stay.
    had: Vec<NodeRow>,
    /// Whether they stay whatever others offer.
    stays: bool,
    /// Those that may be better than the ones that it had; `None`: any may be.
    among: Option<&'a RowSet>,
}

impl Hold {
    /// What it holds on spares.
    pub(super) fn spare_parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        self.spares.iter().map(|&node| (node, self.part(1)))
    }

    /// Whether it may have any.
    fn takes_spares(&self) -> bool {
        self.at.is_none() && !self.reclaims
    }

    /// Whether an engine can have written them.
    pub(super) fn has_sound_spares(&self, most: u32) -> bool {
        let alone = !self.is_joint() && matches!(self.nodes[0][..], [(_, 1)]);
        let own = self.nodes[0][0].0;
        self.spares.is_empty()
            || alone
                && self.takes_spares()
                && self.spares.len() <= most as usize
                && self.spares.is_sorted_by(|a, b| a < b)
                && !self.spares.contains(&own)
    }

    /// Rows have moved. Whether one of them has left.
    pub(super) fn move_spares(&mut self, moves: &Moves) -> bool {
        let before = self.spares.len();
        self.spares = self.spares.iter().filter_map(|&row| moves.to(row)).collect();
        self.spares.sort_unstable();
        self.spares.len() < before
    }
}

impl Holds {
    /// Spares on which their tasks can be no more are given up. Each happened on a node that was
    /// touched.
    pub(super) fn drop_lost_spares(&mut self, core: &Core) {
        let (touched, freed) = (&self.touched, &self.freed);
        let happened = |node: &NodeRow| touched.contains(node) || freed.contains(node);
        let mut lost: Vec<(usize, NodeRow)> = Vec::new();
        for (index, hold) in self.list.iter().enumerate() {
            let gone = |node: &&NodeRow| happened(node) && !core.is_possible(hold, **node);
            lost.extend(hold.spares.iter().filter(gone).map(|&node| (index, node)));
        }
        for (index, node) in lost {
            let hold = &mut self.list[index];
            hold.spares.retain(|spare| *spare != node);
            if let Some(kept) = self.kept.get_mut(node) {
                kept.give_back(&hold.part(1));
            }
            self.freed.insert(node);
            // It looks at all others for one.
            self.pushed.extend(hold.rows());
        }
    }
}

impl Plan<'_> {
    /// Spares of a reservation that has just been settled on its own node; before, it was as
    /// `before` says, or homeless.
    pub(super) fn settle_spares(
        &mut self,
        hold: &mut Hold,
        (before, homeless): (&Hold, bool),
        most: u32,
        news: &News,
    ) {
        let shape = self.core.work.group(hold.slot()).turn();
        if most == 0 || !hold.takes_spares() || self.core.room.turn_of(shape) > 1 {
            return;
        }
        let node = hold.nodes[0][0].0;
        let had = before.rows().filter(|row| !homeless && *row != node).collect();
        let had_all = !homeless && before.takes_spares();
        let worse = before.rows().any(|row| news.pushed.contains(&row));
        let among = (had_all && !worse).then_some(&news.freed);
        let (need, most, stays) = (*hold.need(), most as usize, hold.stays());
        let spares = self.spares(Wanted { shape, need, node, most, had, stays, among });
        for &spare in &spares {
            let (part, kept) = (hold.part(1), self.at(spare));
            match !homeless && before.at.is_none() && before.is_on(spare) {
                true => kept.put_back(&part),
                false => kept.take(&part),
            }
        }
        hold.spares = spares;
    }

    /// The best that there are, in order of rows.
    fn spares(&mut self, wanted: Wanted<'_>) -> Spares {
        let Wanted { shape, need, node, most, had, stays, among } = wanted;
        let core = self.core;
        let of = |row: &NodeRow| (core.rank(&self.at(*row).profile, &need), *row);
        let mut ranked: Vec<(Rank, NodeRow)> = had.iter().map(of).collect();
        ranked.sort_unstable();
        // Profiles of all that is passed over are kept: so a search asks for.
        self.at(node);
        let (mut without, mut spares) = (had, Spares::new());
        without.push(node);
        let mut ranked = ranked.into_iter().peekable();
        while spares.len() < most {
            let own = ranked.peek().copied();
            let best = Best::one(own.map(|(rank, _)| rank));
            match among {
                _ if stays && own.is_some() => {}
                Some(nodes) => {
                    let others = nodes.iter().filter(|node| !without.contains(node));
                    others.for_each(|&node| self.look(shape, &need, node, &best));
                }
                None => self.search(shape, &need, &without, &best),
            }
            let Some((_, other)) = best.first() else { break };
            let Some(next) = other.or(own.map(|(_, row)| row)) else { break };
            match other {
                None => drop(ranked.next()),
                Some(row) => {
                    self.at(row);
                    without.push(row);
                }
            }
            spares.push(next);
        }
        spares.sort_unstable();
        spares
    }

    /// The first spare of one that stays which has room now.
    pub(super) fn spare_with_room(&mut self, hold: &Hold) -> Option<NodeRow> {
        let now = self.core.now;
        hold.spare_parts()
            .find(|(node, part)| self.at(*node).profile.fits(&part.need, now))
            .map(|(node, _)| node)
    }
}
