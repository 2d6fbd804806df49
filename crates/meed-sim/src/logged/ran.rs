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
//! it was lost went on: its node was made anew, as with another price. Of a task that ran when the
//! record began counts what it ran from then on.

use meed::{Span, Time};

/// What is known of a task.
#[derive(Clone, Copy, Default)]
pub(super) struct Ran {
    /// It runs since then.
    since: Option<Time>,
    /// How long it had run when the record began.
    before: Span,
    /// How long attempts ran that failed, in all.
    failed: Option<Span>,
    ended: Option<Span>,
    stopped: Option<Span>,
    /// The longest attempt that was lost.
    lost: Option<Span>,
    /// When the last one was lost, since when it ran, and how long before the record began.
    lost_at: Option<(Time, Time, Span)>,
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
        Ran { since: Some(since), before: begin.saturating_since(since), ..Ran::default() }
    }

    /// It starts at `since`; `adopted`: it ran already.
    pub(super) fn starts(&mut self, since: Time, adopted: bool) {
        let goes_on = self.lost_at.take().filter(|lost| adopted && lost.0 == since);
        if let Some((_, since, before)) = goes_on {
            (self.since, self.before) = (Some(since), before);
            return;
        }
        self.since = Some(since);
        if !adopted {
            self.before = Span::ZERO;
        }
    }

    /// How long the attempt ran that is over at `t`.
    fn over(&mut self, t: Time) -> Option<Span> {
        let lasted = t.saturating_since(self.since.take()?);
        let before = std::mem::take(&mut self.before).as_micros();
        let from_then_on = Span::from_micros(lasted.as_micros().saturating_sub(before));
        Some(from_then_on.unwrap_or(lasted))
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
        self.lost_at = self.since.map(|since| (t, since, self.before));
        self.lost = self.over(t).max(self.lost);
    }

    pub(super) fn is_undone(&mut self) {
        // What it had run when the record began is kept: the world may say its start anew.
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
