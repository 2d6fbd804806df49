//! Which nodes may hold more than they have, and what is kept free on others for it; the rules are
//! in `promised.rs`.

use std::collections::{BTreeMap, BTreeSet};

use meed::{Resources, Time};

/// See the module.
#[derive(Default)]
pub(super) struct Gaps {
    /// Nodes that may hold more than they have.
    crowded: BTreeSet<String>,
    /// Pods that kube-scheduler says are Unschedulable.
    unschedulable: BTreeSet<String>,
    /// What is kept free, by node.
    kept: BTreeMap<String, Resources>,
    /// When the next pod ceases to hold others back.
    until: Option<Time>,
}

impl Gaps {
    /// A pod came to this node, or less is left of it.
    pub(super) fn crowds(&mut self, node: &str) {
        self.crowded.insert(node.to_owned());
    }

    /// What a pod tells of itself.
    pub(super) fn tells(&mut self, uid: &str, is_unschedulable: bool) {
        match is_unschedulable {
            true => _ = self.unschedulable.insert(uid.to_owned()),
            false => _ = self.unschedulable.remove(uid),
        }
    }

    /// Nothing is kept free, and nothing may have to be.
    pub(super) fn are_none(&self) -> bool {
        self.crowded.is_empty() && self.unschedulable.is_empty() && self.kept.is_empty()
    }

    /// The nodes that may hold more than they have; those that do are to be told again.
    pub(super) fn take_crowded(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.crowded)
    }

    /// The pods that kube-scheduler says are Unschedulable.
    pub(super) fn unschedulable(&self) -> impl Iterator<Item = &String> {
        self.unschedulable.iter()
    }

    /// What is kept free on a node.
    pub(super) fn kept_on(&self, node: &str) -> Option<&Resources> {
        self.kept.get(node)
    }

    /// So much is kept free from now on; the nodes where that is another amount.
    pub(super) fn keep(&mut self, kept: BTreeMap<String, Resources>) -> Vec<String> {
        let before = std::mem::replace(&mut self.kept, kept);
        let names: BTreeSet<&String> = before.keys().chain(self.kept.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != self.kept.get(*name));
        changed.cloned().collect()
    }

    /// Nobody holds others back.
    pub(super) fn let_all_on(&mut self) {
        self.until = None;
    }

    /// A pod holds others back until then.
    pub(super) fn hold_until(&mut self, until: Time) {
        let next = self.until.get_or_insert(until);
        *next = (*next).min(until);
    }

    /// When the next pod ceases to hold others back.
    pub(super) fn until(&self) -> Option<Time> {
        self.until
    }
}
