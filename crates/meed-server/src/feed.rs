//! What happened, for whoever watches: a ring of the latest events, which the world's thread fills
//! and readers follow at their own pace.
//!
//! Invariant: the ring is bounded and the writer never waits. A reader that is further behind than
//! the ring is long is told so, and begins again. Cost: one lock a turn and one a read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::protocol::JobView;

/// Most events that are kept.
pub(crate) const KEPT: usize = 4096;

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum FeedEvent {
    /// A job is new, or stands otherwise.
    Job {
        /// Whose it is.
        uid: u32,
        /// All of it; others are told less.
        view: Arc<JobView>,
    },
    /// The queues stand otherwise.
    Queues {
        /// By the wall clock.
        at_us: u64,
    },
}

struct Ring {
    /// Number of the next event.
    next: u64,
    events: VecDeque<FeedEvent>,
}

/// See the module.
pub(crate) struct Feed {
    /// Tells this server's numbers from those of one before it.
    instance: u64,
    ring: Mutex<Ring>,
    /// The number of the next event.
    told: watch::Sender<u64>,
    /// Counts what may change who sees what.
    rules: watch::Sender<u64>,
}

/// What a reader gets.
pub(crate) enum Read {
    /// The events from a number on, and the number behind them.
    Events(Vec<FeedEvent>, u64),
    /// Some are forgotten.
    Behind,
}

impl Feed {
    pub(crate) fn new(instance: u64) -> Feed {
        let ring = Mutex::new(Ring { next: 0, events: VecDeque::new() });
        Feed { instance, ring, told: watch::channel(0).0, rules: watch::channel(0).0 }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn publish(&self, events: Vec<FeedEvent>) {
        let mut ring = self.ring();
        ring.next += events.len() as u64;
        ring.events.extend(events);
        let extra = ring.events.len().saturating_sub(KEPT);
        ring.events.drain(..extra);
        let next = ring.next;
        drop(ring);
        self.told.send_replace(next);
    }

    /// Who sees what may be another now: readers ask again.
    pub(crate) fn rules_changed(&self) {
        self.rules.send_modify(|rules| *rules += 1);
    }

    pub(crate) fn instance(&self) -> u64 {
        self.instance
    }

    /// The number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.ring().next
    }

    /// Tells when there is more.
    pub(crate) fn watch(&self) -> (watch::Receiver<u64>, watch::Receiver<u64>) {
        (self.told.subscribe(), self.rules.subscribe())
    }

    /// At most `most` events from number `from` on.
    pub(crate) fn read(&self, from: u64, most: usize) -> Read {
        let ring = self.ring();
        let first = ring.next - ring.events.len() as u64;
        if from < first || from > ring.next {
            return Read::Behind;
        }
        let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
        let events: Vec<FeedEvent> = ring.events.iter().skip(skip).take(most).cloned().collect();
        let next = from + events.len() as u64;
        Read::Events(events, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_go_on_where_they_were_and_are_told_when_they_cannot() {
        let feed = Feed::new(7);
        let tick = |at_us| FeedEvent::Queues { at_us };
        feed.publish((0..10).map(tick).collect());
        let Read::Events(events, next) = feed.read(4, 3) else { panic!("they are there") };
        assert!(matches!(events[..], [FeedEvent::Queues { at_us: 4 }, _, _]) && next == 7);
        assert!(matches!(feed.read(11, 3), Read::Behind), "from a server to come");
        feed.publish((0..KEPT as u64).map(tick).collect());
        assert!(matches!(feed.read(9, 3), Read::Behind));
        let Read::Events(events, next) = feed.read(10, KEPT * 2) else { panic!("all are there") };
        assert_eq!((events.len(), next), (KEPT, feed.next()));
    }
}
