//! When there is room for a task, by the time limits of what runs. Nothing is decided by it: others
//! may come first, and tasks may end before their limits.

use meed::Resources;
use serde::Serialize;
use utoipa::ToSchema;

/// When there is room for a task at the latest, if nobody else takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub(crate) struct RoomShown {
    /// In microseconds since 1970-01-01 UTC; `null`: not before something has ended that has no
    /// time limit.
    pub(super) at_us: Option<u64>,
}

/// When `wanted` fits, where so much is free now, and what is held comes free then; what has no
/// time never does.
pub(super) fn room_at(
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
