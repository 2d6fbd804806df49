//! Which queue a job goes to.
//!
//! | the configuration has | a job of a user goes to |
//! |---|---|
//! | no queues | the user's, which is made when it is first needed |
//! | a queue whose members have turns of their own | the user's below that one, made likewise |
//! | any other queue | that one |
//!
//! A queue that has jobs can have none below it. So where a configuration gives members turns of
//! their own while jobs are there, jobs go on into the queue itself until those have ended.

use meed_config::words::did_you_mean;
use meed_journal::Fact;

use super::World;
use crate::books::JobRow;
use crate::protocol::{NotDone, RefusalKind};
use crate::settings::{Role, queue_name};
use crate::user::LocalUser;

impl World {
    /// The user's queue, or the one that was named, if the user may use it. One that has to be made
    /// is added to `facts`.
    pub(super) fn queue_for(
        &self,
        user: &LocalUser,
        named: Option<&str>,
        facts: &mut Vec<Fact>,
    ) -> Result<String, NotDone> {
        let own = queue_name(&user.name);
        if self.settings.queue_per_user() {
            if named.is_some_and(|named| named != own) {
                let why = format!("each user has one queue here; yours is `{own}`");
                return Err(NotDone::new(RefusalKind::Forbidden, why));
            }
            return Ok(self.made(own, facts));
        }
        let (members, entrances) = (&self.settings.members, self.entrances());
        let Some(named) = named else {
            let queue = members.queue_of(user, entrances.iter().copied());
            let why = || format!("{} is a member of no queue; name one with --queue", user.name);
            let queue = queue.ok_or_else(|| NotDone::new(RefusalKind::Wrong, why()))?;
            return Ok(self.own_turn(queue, &own, facts));
        };
        // A member's queue may be named by its full name.
        let above = named.rsplit_once('.').filter(|(above, _)| self.has_turns(above));
        let (queue, whose) = above.unwrap_or((named, &own));
        if !entrances.contains(&queue) {
            let near = did_you_mean(queue, entrances.iter().copied());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            let why = format!("there is no queue `{queue}` that takes jobs{near}");
            return Err(NotDone::new(RefusalKind::Wrong, why));
        }
        let may = members.may_use(user, queue) && (whose == own || self.is_live(named));
        match may && (whose == own || members.role(user) == Role::Admin) {
            true => Ok(self.own_turn(queue, whose, facts)),
            false => {
                let why = format!("{} may not use queue `{named}`", user.name);
                Err(NotDone::new(RefusalKind::Forbidden, why))
            }
        }
    }

    /// Queues that users name: those that take jobs, and those whose members have turns.
    fn entrances(&self) -> Vec<&str> {
        let engine = self.live.engine();
        let live = engine.queue_ids().skip(1).filter(|&id| !engine.is_removed(id));
        let views = live.map(|id| engine.queue(id));
        let is_one = |name: &str, is_leaf: bool| {
            let above = name.rsplit_once('.').map(|(above, _)| above);
            let is_members = above.is_some_and(|above| self.has_turns(above));
            self.has_turns(name) || (is_leaf && !is_members)
        };
        views.filter(|view| is_one(view.name, view.is_leaf)).map(|view| view.name).collect()
    }

    /// Whether members of the queue have turns of their own: by the configuration, or as long as
    /// queues of theirs are there.
    pub(super) fn has_turns(&self, queue: &str) -> bool {
        let settings = &self.settings;
        let engine = self.live.engine();
        let is_above = || {
            let live = engine.find_queue(queue).filter(|&id| !engine.is_removed(id));
            live.is_some_and(|id| !engine.queue(id).is_leaf)
        };
        settings.turns.contains(queue) || (settings.is_leaf(queue) && is_above())
    }

    /// Where a job goes that was submitted to `queue`.
    fn own_turn(&self, queue: &str, whose: &str, facts: &mut Vec<Fact>) -> String {
        if !self.has_turns(queue) || self.has_jobs_itself(queue) {
            return queue.to_owned();
        }
        self.made(format!("{queue}.{whose}"), facts)
    }

    /// Whether jobs went to the queue before its members had turns, and have not ended.
    pub(super) fn has_jobs_itself(&self, queue: &str) -> bool {
        let engine = self.live.engine();
        let is_leaf = engine.find_queue(queue).is_some_and(|id| engine.queue(id).is_leaf);
        is_leaf && self.has_open_jobs(queue)
    }

    /// Whether a job of that very queue has not ended; the scheduler may not know it yet.
    pub(super) fn has_open_jobs(&self, queue: &str) -> bool {
        self.rows.values().any(|row: &JobRow| row.queue == queue && !row.is_over())
    }

    fn is_live(&self, queue: &str) -> bool {
        let engine = self.live.engine();
        engine.find_queue(queue).is_some_and(|id| !engine.is_removed(id))
    }

    /// A user's queue is there, or will be before the job comes.
    fn made(&self, queue: String, facts: &mut Vec<Fact>) -> String {
        let is_told =
            |fact: &Fact| matches!(fact, Fact::QueueAdded(entry) if *entry.queue == *queue);
        if !self.is_live(&queue) && !facts.iter().any(is_told) {
            let spec = self.settings.user_queue(&queue);
            let keys = self.settings.own_keys(&queue);
            facts.push(Fact::queue_added(&spec, keys, self.live.engine().kinds()));
        }
        queue
    }
}
