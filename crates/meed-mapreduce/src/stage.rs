//! A stage of a job as speculative execution sees it ([`super::copies`]).

use meed::Time;

/// A job's maps, or its reduces.
#[derive(Clone, Default, Debug)]
pub(super) struct Stage {
    /// Tasks of it.
    pub(super) tasks: u32,
    /// Of them: those that have ended.
    pub(super) ended: u32,
    /// Attempts that run, or have ended unheard; in order of start.
    pub(super) running: Vec<u32>,
    /// Those found slow when last looked at.
    pub(super) slow: Vec<u32>,
    pub(super) looked: Option<Time>,
    /// The group of a second attempt that is offered, and of which task.
    pub(super) offered: Option<(u32, u32)>,
}

impl Stage {
    pub(super) fn of(tasks: u32) -> Stage {
        Stage { tasks, ..Stage::default() }
    }

    /// The task that the group is a second attempt of, if it is offered now.
    pub(super) fn copied_by(&self, group: u32) -> Option<u32> {
        self.offered.filter(|(of, _)| *of == group).map(|(_, task)| task)
    }
}
