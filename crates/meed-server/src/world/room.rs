//! When there is room for a task, by the time limits of what runs. Nothing is decided by it: others
//! may come first, and tasks may end before their limits.
//!
//! Cost: a look at each running task, and at its job's description.

use meed::{QueueId, Resources};
use serde::Serialize;
use utoipa::ToSchema;

use super::{World, WorldError};
use crate::books::JobRow;
use crate::clock::wall_us;

/// When there is room for a task at the latest, if nobody else takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub(crate) struct RoomShown {
    /// In microseconds since 1970-01-01 UTC; `null`: not before something has ended that has no
    /// time limit.
    at_us: Option<u64>,
}

impl World {
    /// When a task of the job has room; `None`: none of it waits, or its description is lost.
    pub(super) fn room_for(&self, row: &JobRow) -> Result<Option<RoomShown>, WorldError> {
        let Some(wanted) = self.books.spec(row.id)?.and_then(|spec| self.demand(&spec).ok()) else {
            return Ok(None);
        };
        let engine = self.live.engine();
        let mut free = *engine.capacity();
        let held = engine.queue(QueueId::ROOT).held;
        (0..engine.kinds().len()).for_each(|kind| {
            free.as_mut_slice()[kind] = free.get(kind).saturating_sub(held.get(kind));
        });
        let mut ends = Vec::new();
        for (&id, tasks) in &self.running {
            let Some(spec) = self.books.spec(id)? else { continue };
            let Ok(holds) = self.demand(&spec) else { continue };
            for task in tasks {
                let began = self.runs.get(task).and_then(|run| run.folder.began().ok().flatten());
                let began_us = began.map_or_else(wall_us, |began| began.at.wall_us);
                let limit_us = spec.time_ms.map(|millis| millis.saturating_mul(1000));
                ends.push((limit_us.map(|limit| began_us.saturating_add(limit)), holds));
            }
        }
        Ok(Some(RoomShown { at_us: room_at(wall_us(), free, ends, &wanted) }))
    }
}

/// When `wanted` fits, where so much is free now, and what is held comes free then; what has no
/// time never does.
fn room_at(
    now_us: u64,
    mut free: Resources,
    mut ends: Vec<(Option<u64>, Resources)>,
    wanted: &Resources,
) -> Option<u64> {
    let fits = |free: &Resources| {
        let (free, wanted) = (free.as_slice(), wanted.as_slice());
        free.iter().zip(wanted).all(|(free, wanted)| free >= wanted)
    };
    if fits(&free) {
        return Some(now_us);
    }
    ends.retain(|(end, _)| end.is_some());
    ends.sort_by_key(|(end, _)| *end);
    for (end, held) in ends {
        let kinds = free.as_mut_slice().iter_mut().zip(held.as_slice());
        kinds.for_each(|(free, held)| *free = free.saturating_add(*held));
        if fits(&free) {
            return end;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(amounts: &[u64]) -> Resources {
        let mut resources = Resources::zero(amounts.len());
        resources.as_mut_slice().copy_from_slice(amounts);
        resources
    }

    #[test]
    fn room_comes_with_the_ends_of_what_runs() {
        let ends = vec![(Some(90), of(&[1, 1])), (None, of(&[4, 4])), (Some(20), of(&[2, 0]))];
        let at = |wanted: &[u64]| room_at(7, of(&[1, 2]), ends.clone(), &of(wanted));
        assert_eq!(at(&[1, 2]), Some(7));
        assert_eq!(at(&[3, 2]), Some(20));
        assert_eq!(at(&[4, 3]), Some(90));
        assert_eq!(at(&[5, 0]), None);
    }
}
