//! Which pods are on which nodes, as far as other pods care: counted, so that a node can be judged
//! without a look at every pod.
//!
//! | kept for | what |
//! |---|---|
//! | each term of a required anti-affinity of a pod on a node | how many pods of each node have it |
//! | each node | the volumes that are attached for pods there ([`Attached`]) |
//! | each wish of a pod that waits for Meed to place it (affinity, anti-affinity, spread, host ports) | how many pods of each node are meant by it |
//!
//! [`Neighbours::view`] turns counts into places: a place is a value of the term's topology label.
//! Rules are kube-scheduler's: a node without the label is in no place; an affinity counts pods
//! that *all* its terms select, and where there is none in any place, a pod that its own terms
//! select may be the first.
//!
//! Invariant: counts are what a scan over all placed pods would find ([`super::near`] tells every
//! pod that comes, moves or goes; the tests hold both against each other). Cost: O(wishes + terms
//! of the pod) for a pod; O(pods counted) for a view.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::pod::disks::{Attached, DisksByDriver, Limits};
use crate::pod::near::{Labels, Near, Term};
use crate::pod::rule::NodeFacts;
use spread::SpreadView;

mod spread;

/// Pods of each node.
type Count = BTreeMap<String, usize>;

/// Labels of all namespaces.
pub(super) type Namespaces = BTreeMap<String, Labels>;

/// A term that pods on nodes have against others.
struct Theirs {
    term: Term,
    at: Count,
}

/// A wish of pods that wait.
struct Wish {
    near: Arc<Near>,
    jobs: usize,
    /// Its own affinity selects its pods, too.
    is_like: bool,
    beside: Count,
    /// For each of its terms.
    away: Vec<Count>,
    /// For each of its constraints.
    spread: Vec<Count>,
    /// Where those hold, until a count or a node changes: a decision may judge many starts of one
    /// wish, and all nodes are looked at for it.
    spread_now: OnceCell<Vec<SpreadView>>,
    ports: Count,
}

/// Nodes, as pods' wishes look at them.
pub(super) trait Nodes {
    /// The node of that name.
    fn node(&self, name: &str) -> Option<&NodeFacts>;
    /// All of them.
    fn all(&self) -> Box<dyn Iterator<Item = &NodeFacts> + '_>;
}

/// See the module.
#[derive(Default)]
pub(super) struct Neighbours {
    placed: BTreeMap<String, (String, Arc<Near>)>,
    theirs: BTreeMap<String, Theirs>,
    wishes: BTreeMap<String, Wish>,
    /// Terms that jobs avoid, and how many jobs.
    avoided: BTreeMap<String, usize>,
    attached: Attached,
    /// Terms that were not there when jobs were told what to avoid.
    fresh: BTreeSet<String>,
    changed: bool,
}

/// Places of one term.
struct Places {
    topology: String,
    values: BTreeSet<String>,
}

impl Places {
    fn of(at: &Count, topology: &str, nodes: &dyn Nodes) -> Places {
        let value = |node: &String| nodes.node(node)?.labels.get(topology).cloned();
        Places { topology: topology.to_owned(), values: at.keys().filter_map(value).collect() }
    }

    fn has(&self, node: &Labels) -> bool {
        node.get(&self.topology).is_some_and(|value| self.values.contains(value))
    }
}

/// Where a wish holds.
struct WishView<'w> {
    text: String,
    beside: Vec<Places>,
    /// It may be the first of its like.
    is_first: bool,
    away: Vec<Places>,
    taken: BTreeSet<String>,
    disks: DisksByDriver<'w>,
}

impl<'w> WishView<'w> {
    fn of(text: &str, wish: &'w Wish, nodes: &dyn Nodes) -> WishView<'w> {
        let places = |at: &Count, term: &Term| Places::of(at, &term.topology, nodes);
        let Near { wants, keeps_away, .. } = &*wish.near;
        let beside: Vec<Places> = wants.iter().map(|term| places(&wish.beside, term)).collect();
        let is_first = wish.is_like && beside.iter().all(|one| one.values.is_empty());
        WishView {
            text: text.to_owned(),
            beside,
            is_first,
            away: wish.away.iter().zip(keeps_away).map(|(at, term)| places(at, term)).collect(),
            taken: wish.ports.keys().cloned().collect(),
            disks: wish.near.disks.by_driver(),
        }
    }

    fn holds(&self, name: &str, node: &Labels) -> bool {
        let is_place = |places: &Places| node.contains_key(&places.topology);
        let is_beside = self.beside.iter().all(|places| places.has(node))
            || (self.is_first && self.beside.iter().all(is_place));
        is_beside && !self.away.iter().any(|places| places.has(node)) && !self.taken.contains(name)
    }
}

/// Where terms and wishes hold at one instant.
pub(super) struct View<'w> {
    blocked: Vec<(String, Places)>,
    wishes: Vec<(&'w Wish, WishView<'w>)>,
    attached: &'w Attached,
    nodes: &'w dyn Nodes,
}

impl View<'_> {
    /// The labels that the engine knows of a node for it.
    pub(super) fn labels<'v>(
        &'v self,
        name: &'v str,
        node: &'v Labels,
    ) -> impl Iterator<Item = String> + 'v {
        let blocked = self.blocked.iter().filter(|(_, places)| places.has(node));
        let holds = |(wish, view): &&(&Wish, WishView<'_>)| {
            view.holds(name, node)
                && self.attached.fits(name, &view.disks)
                && wish.is_spread(node, self.nodes)
        };
        let wished = self.wishes.iter().filter(holds);
        let blocked = blocked.map(|(text, _)| avoid_label(text));
        blocked.chain(wished.map(|(_, view)| wish_label(&view.text)))
    }
}

/// The engine's label of nodes where this term keeps pods away.
pub(super) fn avoid_label(text: &str) -> String {
    format!("kept away: {text}")
}

/// The engine's label of nodes where this wish holds.
pub(super) fn wish_label(text: &str) -> String {
    format!("near: {text}")
}

/// Adds to a count, or takes from it; whether a node came or went.
fn add(at: &mut Count, node: &str, is_more: bool) -> bool {
    match (is_more, at.get_mut(node)) {
        (true, Some(count)) => *count += 1,
        (true, None) => return at.insert(node.to_owned(), 1).is_none(),
        (false, Some(count)) if *count > 1 => *count -= 1,
        (false, _) => return at.remove(node).is_some(),
    }
    false
}

impl Wish {
    /// Whether its constraints on the spread hold there.
    fn is_spread(&self, node: &Labels, nodes: &dyn Nodes) -> bool {
        let views = self.spread_now.get_or_init(|| {
            let both = self.near.spreads.iter().zip(&self.spread);
            both.map(|(one, at)| SpreadView::of(&self.near, one, at, nodes)).collect()
        });
        views.iter().all(|view| view.holds(node))
    }

    /// A pod comes to a node, or leaves it; whether a node came or went.
    fn count(&mut self, node: &str, pod: &Near, namespaces: &Namespaces, is_more: bool) -> bool {
        let mut changed = false;
        if pod.is_wanted_by(&self.near.wants, namespaces) {
            changed |= add(&mut self.beside, node, is_more);
        }
        for (at, term) in self.away.iter_mut().zip(&self.near.keeps_away) {
            if term.selects(pod, namespaces) {
                changed |= add(at, node, is_more);
            }
        }
        for (at, one) in self.spread.iter_mut().zip(self.near.spreads.iter()) {
            if one.counts(&self.near.namespace, pod) {
                add(at, node, is_more);
                // Not only whether there are any: how many there are.
                changed = true;
                self.spread_now = OnceCell::new();
            }
        }
        let conflicts = |port| pod.ports.iter().any(|other| other.conflicts(port));
        if self.near.ports.iter().any(conflicts) {
            changed |= add(&mut self.ports, node, is_more);
        }
        changed
    }
}

impl Neighbours {
    /// A pod is on a node.
    pub(super) fn place(
        &mut self,
        uid: &str,
        node: &str,
        near: &Arc<Near>,
        namespaces: &Namespaces,
    ) {
        if self.placed.get(uid).is_some_and(|(at, known)| at == node && known == near) {
            return;
        }
        self.take(uid, namespaces);
        self.placed.insert(uid.to_owned(), (node.to_owned(), Arc::clone(near)));
        self.count(node, near, namespaces, true);
    }

    /// A pod is on no node any more.
    pub(super) fn take(&mut self, uid: &str, namespaces: &Namespaces) {
        if let Some((node, near)) = self.placed.remove(uid) {
            self.count(&node, &near, namespaces, false);
        }
    }

    fn count(&mut self, node: &str, near: &Near, namespaces: &Namespaces, is_more: bool) {
        for term in &near.keeps_away {
            let text = term.to_string();
            if !self.theirs.contains_key(&text) {
                if !is_more {
                    continue;
                }
                self.fresh.insert(text.clone());
                let new = Theirs { term: term.clone(), at: Count::new() };
                self.theirs.insert(text.clone(), new);
            }
            let Some(row) = self.theirs.get_mut(&text) else { continue };
            self.changed |= add(&mut row.at, node, is_more);
            if row.at.is_empty() {
                self.theirs.remove(&text);
                self.fresh.remove(&text);
            }
        }
        for wish in self.wishes.values_mut() {
            self.changed |= wish.count(node, near, namespaces, is_more);
        }
        if !near.disks.is_empty() {
            self.attached.count(node, &near.disks, is_more);
            self.disks_changed();
        }
    }

    /// What can be attached, somewhere, is otherwise now.
    fn disks_changed(&mut self) {
        self.changed |= self.wishes.values().any(|wish| !wish.near.disks.is_empty());
    }

    /// A node attaches so many volumes of each driver.
    /// Whether drivers are bounded now that were not, or the other way round.
    pub(super) fn limit(&mut self, node: &str, limits: Limits) -> bool {
        let news = self.attached.limit(node, limits);
        if news.is_some() {
            self.disks_changed();
        }
        news.unwrap_or(false)
    }

    /// What is attached, and can be.
    pub(super) fn attached(&self) -> &Attached {
        &self.attached
    }

    /// Labels of namespaces have changed: everything is counted anew, where that matters.
    pub(super) fn recount(&mut self, namespaces: &Namespaces) {
        let reads =
            |near: &Near| near.keeps_away.iter().chain(&near.wants).any(Term::reads_namespaces);
        let matters = self.theirs.values().any(|row| row.term.reads_namespaces())
            || self.wishes.values().any(|row| reads(&row.near));
        if !matters {
            return;
        }
        for wish in self.wishes.values_mut() {
            wish.clear();
            for (node, near) in self.placed.values() {
                wish.count(node, near, namespaces, true);
            }
        }
        self.fresh.extend(self.theirs.keys().cloned());
        self.changed = true;
    }

    /// A job has this wish.
    pub(super) fn wish(&mut self, text: &str, near: &Arc<Near>, namespaces: &Namespaces) {
        if let Some(row) = self.wishes.get_mut(text) {
            row.jobs += 1;
            return;
        }
        let mut wish = Wish {
            near: Arc::clone(near),
            jobs: 1,
            is_like: near.is_wanted_by(&near.wants, namespaces),
            beside: Count::new(),
            away: vec![Count::new(); near.keeps_away.len()],
            spread: vec![Count::new(); near.spreads.len()],
            spread_now: OnceCell::new(),
            ports: Count::new(),
        };
        for (node, near) in self.placed.values() {
            wish.count(node, near, namespaces, true);
        }
        self.wishes.insert(text.to_owned(), wish);
        self.changed = true;
    }

    /// A job with it is gone.
    pub(super) fn unwish(&mut self, text: &str) {
        if let Some(row) = self.wishes.get_mut(text) {
            row.jobs -= 1;
            if row.jobs == 0 {
                self.wishes.remove(text);
                self.changed = true;
            }
        }
    }

    /// A job avoids these terms.
    pub(super) fn avoid(&mut self, terms: &[String]) {
        for text in terms {
            let count = self.avoided.entry(text.clone()).or_default();
            *count += 1;
            self.changed |= *count == 1;
        }
    }

    /// A job that avoids them is gone.
    pub(super) fn unavoid(&mut self, terms: &[String]) {
        for text in terms {
            self.changed |= add(&mut self.avoided, text, false);
        }
    }

    /// The terms of pods on nodes that keep this pod away, wherever they are.
    pub(super) fn against(&self, pod: &Near, namespaces: &Namespaces) -> Vec<String> {
        let selects = |row: &Theirs| row.term.selects(pod, namespaces);
        let against = self.theirs.iter().filter(|(_, row)| selects(row));
        against.map(|(text, _)| text.clone()).collect()
    }

    /// Terms that are new since the last time.
    pub(super) fn take_fresh(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.fresh)
    }

    /// Whether a term selects a pod.
    pub(super) fn selects(&self, text: &str, pod: &Near, namespaces: &Namespaces) -> bool {
        self.theirs.get(text).is_some_and(|row| row.term.selects(pod, namespaces))
    }

    /// Whether a job asks for a place by other pods, or avoids some.
    pub(super) fn matter(&self) -> bool {
        !self.avoided.is_empty() || !self.wishes.is_empty()
    }

    /// Whether labels of nodes may differ since the last time.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Nodes have other labels, came or went.
    pub(super) fn nodes_changed(&mut self) {
        self.wishes.values_mut().for_each(|wish| wish.spread_now = OnceCell::new());
        self.changed |= !self.avoided.is_empty() || !self.wishes.is_empty();
    }

    /// Where terms that jobs avoid, and wishes, hold now.
    pub(super) fn view<'w>(&'w self, nodes: &'w dyn Nodes) -> View<'w> {
        let avoided = |(text, _): &(&String, &Theirs)| self.avoided.contains_key(*text);
        let places = |row: &Theirs| Places::of(&row.at, &row.term.topology, nodes);
        let blocked = self.theirs.iter().filter(avoided);
        let wishes = self.wishes.iter();
        View {
            blocked: blocked.map(|(text, row)| (text.clone(), places(row))).collect(),
            wishes: wishes.map(|(text, wish)| (wish, WishView::of(text, wish, nodes))).collect(),
            attached: &self.attached,
            nodes,
        }
    }

    /// Why a pod with this wish must not be on that node now.
    pub(super) fn why_not(
        &self,
        (pod, wish): (&Near, Option<&str>),
        node: &str,
        nodes: &dyn Nodes,
        namespaces: &Namespaces,
    ) -> Option<String> {
        let here = &nodes.node(node)?.labels;
        let blocks = |row: &&Theirs| {
            row.term.selects(pod, namespaces)
                && Places::of(&row.at, &row.term.topology, nodes).has(here)
        };
        if let Some(row) = self.theirs.values().find(blocks) {
            return Some(format!("a pod there keeps away {}", row.term));
        }
        let text = wish?;
        let holds = self.wishes.get(text).is_none_or(|wish| {
            WishView::of(text, wish, nodes).holds(node, here)
                && self.attached.fits(node, &pod.disks.by_driver())
                && wish.is_spread(here, nodes)
        });
        (!holds).then(|| format!("pods that are there do not let it be {text}"))
    }
}

impl Wish {
    fn clear(&mut self) {
        self.beside.clear();
        self.away.iter_mut().chain(&mut self.spread).for_each(Count::clear);
        self.spread_now = OnceCell::new();
        self.ports.clear();
    }
}

#[cfg(test)]
mod tests;
