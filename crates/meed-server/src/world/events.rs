//! Events, which those who watch hear of at the end of a turn.

use std::sync::Arc;

use super::{World, WorldError};
use crate::clock::{boot_us, wall_us};
use crate::feed::{Feed, FeedEvent};

impl World {
    /// Events from now on.
    pub(crate) fn follow(&mut self) -> Arc<Feed> {
        let feed = self.watched.follow();
        // The first step begins now.
        self.sample();
        feed
    }

    /// A turn is over that began then.
    pub(super) fn turn_over(&mut self, began_us: u64) -> Result<(), WorldError> {
        let touched = self.watched.take_touched();
        if let Some(feed) = self.watched.feed().filter(|_| !touched.is_empty()) {
            let mut events = Vec::new();
            for id in touched {
                let Some(row) = self.row_of(id)? else { continue };
                let view = Arc::new(self.whole_view(&row));
                events.push(FeedEvent::Job { uid: row.uid, view });
            }
            events.push(FeedEvent::Queues { at_us: wall_us() });
            feed.publish(events);
        }
        let took = boot_us().saturating_sub(began_us);
        self.watched.turn_took(took as f64 / 1e6);
        Ok(())
    }
}
