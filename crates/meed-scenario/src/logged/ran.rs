//! How long a task of a live world ran, as its records tell.
//!
//! | what is told of the task last | it runs |
//! |---|---|
//! | it ended well | as long as that attempt and those that failed before it together |
//! | it, or its job, failed | as long as its attempts that failed together |
//! | it was stopped with its job, or withdrawn | as long as it had by then |
//! | it ran still at the end of the record | as long as it had by then: no end is known |
//! | it was lost, and did not start again | as long as it had at most: no end is known |
//! | it never ran | not known: it is left out |
//!
//! What a task lost by no fault of its own (with its node, for another) is no part of its work. A
//! start that was undone did not happen; where a world says anew since when a task runs (it is
//! undone and adopted) the later word counts. One that is adopted from the very instant on at which
//! it was lost went on: its node was made anew, as with another price, and what it ran before is
//! carried over (also where that start is undone and said anew). Of a task that ran when the
//! record began counts what it ran from then on.

use meed::{Span, Time};

/// What is known of a task.
#[derive(Clone, Copy, Default)]
pub(super) struct Ran {
    /// It runs since then.
    since: Option<Time>,
    /// How long it had run when the record began.
    before: Span,
    /// What it ran before its node was made anew, in this attempt.
    carried: Span,
    /// It ran when the record began.
    is_of_head: bool,
    /// How long attempts ran that failed, in all.
    failed: Option<Span>,
    ended: Option<Span>,
    stopped: Option<Span>,
    /// The longest attempt that was lost.
    lost: Option<Span>,
    /// When the last one was lost, and how long it had run.
    lost_at: Option<(Time, Span)>,
}

/// How sure its length is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Known {
    Ended,
    Failed,
    Stopped,
    /// So long at least.
    AtLeast,
}

impl Ran {
    /// It runs since `since` when the record begins, at `begin`.
    pub(super) fn at_head(since: Time, begin: Time) -> Ran {
        let before = begin.saturating_since(since);
        Ran { since: Some(since), before, is_of_head: true, ..Ran::default() }
    }

    /// Whether it ran when the record began.
    pub(super) fn is_of_head(&self) -> bool {
        self.is_of_head
    }

    /// It starts at `since`; `adopted`: it ran already.
    pub(super) fn starts(&mut self, since: Time, adopted: bool) {
        let lost = self.lost_at.take();
        if let Some((_, ran)) = lost.filter(|lost| adopted && lost.0 == since) {
            self.carried = ran;
        }
        self.since = Some(since);
        if !adopted {
            (self.before, self.carried) = (Span::ZERO, Span::ZERO);
        }
    }

    /// How long the attempt ran that is over at `t`.
    fn over(&mut self, t: Time) -> Option<Span> {
        let lasted = t.saturating_since(self.since.take()?);
        let before = std::mem::take(&mut self.before).as_micros();
        let from_then_on = Span::from_micros(lasted.as_micros().saturating_sub(before));
        let carried = Some(std::mem::take(&mut self.carried));
        Some(sum(carried, from_then_on.unwrap_or(lasted)))
    }

    pub(super) fn ends(&mut self, t: Time) {
        self.ended = self.over(t).or(self.ended);
    }

    pub(super) fn fails(&mut self, t: Time) {
        if let Some(lasted) = self.over(t) {
            self.failed = Some(sum(self.failed, lasted));
        }
    }

    pub(super) fn is_lost(&mut self, t: Time) {
        let ran = self.over(t);
        self.lost_at = ran.map(|ran| (t, ran));
        self.lost = ran.max(self.lost);
    }

    pub(super) fn is_undone(&mut self) {
        // What it had run when the record began, or when its node was made anew, is kept: the world
        // may say its start anew.
        self.since = None;
    }

    pub(super) fn stops(&mut self, t: Time) {
        self.stopped = self.over(t).or(self.stopped);
    }

    /// How long it runs, in a record that ends at `end`; `None`: nobody knows, it never ran.
    pub(super) fn lasts(mut self, end: Time) -> Option<(Span, Known)> {
        let (last, known) = match (self.ended, self.stopped) {
            (Some(ended), _) => (ended, Known::Ended),
            (None, Some(stopped)) => (stopped, Known::Stopped),
            (None, None) => match self.over(end).max(self.lost) {
                Some(open) => (open, Known::AtLeast),
                None => return self.failed.map(|failed| (failed, Known::Failed)),
            },
        };
        Some((sum(self.failed, last), known))
    }
}

fn sum(one: Option<Span>, other: Span) -> Span {
    let micros = one.map_or(0, Span::as_micros).saturating_add(other.as_micros());
    Span::from_micros(micros).unwrap_or(Span::MAX)
}
