//! Conditions of pods that wait for room: which are shown, found and asked for ([`super::marks`]).

use std::collections::{BTreeMap, BTreeSet};

use meed::{Span, Time};

use crate::pod::PodName;

/// The reason that whoever adds nodes looks for.
pub(crate) const UNSCHEDULABLE: &str = "Unschedulable";

/// What was asked for and is not seen after so many seconds is asked for again.
const AGAIN_SECONDS: u64 = 30;

/// The condition of a pod that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub(crate) pod: PodName,
    /// In a word: `Unschedulable`, or why not.
    pub(crate) reason: &'static str,
    pub(crate) note: String,
}

/// What is known of marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Pods whose condition says so.
    pub(super) shown: BTreeSet<String>,
    /// Pods that the last look found.
    pub(super) found: BTreeSet<String>,
    /// What was asked for, and when.
    pub(super) asked: BTreeMap<String, (bool, Time)>,
}

impl Marks {
    /// A pod was seen, with this condition.
    pub(super) fn seen(&mut self, uid: &str, is_shown: bool) {
        let changed = match is_shown {
            true => self.shown.insert(uid.to_owned()),
            false => self.shown.remove(uid),
        };
        if changed {
            self.asked.remove(uid);
        }
    }

    /// A pod is gone.
    pub(super) fn gone(&mut self, uid: &str) {
        self.shown.remove(uid);
        self.found.remove(uid);
        self.asked.remove(uid);
    }

    pub(super) fn is_due(&mut self, uid: &str, wanted: bool, now: Time) -> bool {
        let again = Span::from_secs(AGAIN_SECONDS).unwrap_or(Span::MAX);
        let was_asked = self
            .asked
            .get(uid)
            .is_some_and(|(what, at)| *what == wanted && now.saturating_since(*at) < again);
        if !was_asked {
            self.asked.insert(uid.to_owned(), (wanted, now));
        }
        !was_asked
    }
}
