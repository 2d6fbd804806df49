//! All queues at an instant: what each may have, holds, has used and is owed, and who is next.

use std::collections::BTreeMap;

use meed::{QueueId, Time, View};
use meed_driver::Books;
use meed_driver::explain::{QueueStatus, queues};
use meed_driver::record::SCHEMA;
use meed_sim::world::{RunError, Script};
use serde::Serialize;

use super::worlds::Explained;
use super::{Look, clamp, in_its_world};
use crate::replay::{Recording, ReplayError};

/// The answer (docs/json.md). Times are seconds of the run, amounts natural units.
#[derive(Clone, Debug, Serialize)]
pub struct QueuesAt {
    /// Version of this form.
    pub schema: u32,
    /// The policy of the run.
    pub policy: String,
    /// What the clock said at time 0, in microseconds since 1970; `None` where nobody knows.
    pub clock_us: Option<u64>,
    /// The instant.
    pub at_s: f64,
    /// Whether this program decides as recorded up to then; if not, the state is that of the
    /// record.
    pub as_recorded: bool,
    /// The leaf queues, in order of declaration.
    pub queues: Vec<QueueAt>,
    /// Worth a line to the user each.
    pub remarks: Vec<String>,
}

/// A leaf queue at an instant.
#[derive(Clone, Debug, Serialize)]
pub struct QueueAt {
    /// Full name.
    pub queue: String,
    /// Its place in the order in which queues would be served, from 0, were there room; `null`:
    /// nothing of it waits, or it is alone on its share.
    pub next: Option<usize>,
    /// Its books.
    #[serde(flatten)]
    pub state: QueueStatus,
}

/// How all leaf queues stand at `at`, everything at that instant included.
pub fn queues_at(recording: &Recording, at: Time) -> Result<QueuesAt, ReplayError> {
    let mut remarks = recording.remarks();
    let at = clamp(recording, at, &mut remarks);
    let (queues, as_recorded) = in_its_world(recording, at, All, &mut remarks)?;
    Ok(QueuesAt {
        schema: SCHEMA,
        policy: recording.policy().to_owned(),
        clock_us: recording.clock_us(),
        at_s: at.as_secs_f64(),
        as_recorded,
        queues,
        remarks,
    })
}

struct All;

impl Look for All {
    type Seen = Vec<QueueAt>;

    fn look<'a, W: Explained<'a>>(
        self,
        mut world: W,
        script: Option<Script<'a>>,
        at: Time,
    ) -> Result<Vec<QueueAt>, RunError> {
        world.begin_to(at, script)?;
        world.rest_until(at)?;
        let books = world.books();
        let order = if books.lends() { in_turn(books.tree()) } else { Vec::new() };
        let order: BTreeMap<QueueId, usize> = order.into_iter().zip(0..).collect();
        let shown = |(id, state): (QueueId, QueueStatus)| QueueAt {
            queue: books.tree().queue(id).name.to_owned(),
            next: order.get(&id).copied(),
            state,
        };
        Ok(queues(books).into_iter().map(shown).collect())
    }
}

/// Leaves of which something waits, in the order of the tree: the first child first, with all that
/// is below it.
fn in_turn(engine: View<'_>) -> Vec<QueueId> {
    let mut order = Vec::new();
    let mut ahead = vec![QueueId::ROOT];
    while let Some(queue) = ahead.pop() {
        let children = engine.children_in_order(queue);
        if children.is_empty() {
            order.push(queue);
        }
        ahead.extend(children.iter().rev().map(|child| child.queue));
    }
    order.retain(|queue| *queue != QueueId::ROOT);
    order
}
