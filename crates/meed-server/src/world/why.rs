//! Why a job waits, as its user may know it.
//!
//! An explanation speaks of others: in whose favour keys are, and which jobs of the same queue come
//! first. A tenant is told who comes first; not what others have used, nor what they call their
//! jobs. Operators are told all.

use meed::QueueId;
use meed_driver::explain::{Standing, Subject};
use meed_journal::JobKey;
use serde_json::{Value, json};

use super::room::{RoomShown, room_at};
use super::shown::WhyShown;
use super::{World, WorldError};
use crate::books::JobRow;
use crate::clock::wall_us;
use crate::protocol::{JobQuery, NotDone, RefusalKind};
use crate::settings::Role;
use crate::user::LocalUser;

impl World {
    /// What stands in a job's way.
    pub(super) fn why(
        &mut self,
        user: &LocalUser,
        query: &JobQuery,
    ) -> Result<Result<WhyShown, NotDone>, WorldError> {
        let row = match self.own(user, query)? {
            Ok(row) => row,
            Err(why) => return Ok(Err(why)),
        };
        let view = self.view(&row, user);
        let before = row.after.iter().map(|after| after.job);
        let waits_for: Vec<u64> = before.filter(|job| self.rows.contains_key(job)).collect();
        let mut standing = None;
        if let Some(job) = self.live.job(&row.key()) {
            let (leaf, id) = (job.queue(), job.id());
            let now = self.live.instant(self.meta.clock.now());
            match self.live.explain(now, leaf, Subject::Job(Some(id))) {
                Ok(told) => standing = Some(self.as_told(user, &row, told)),
                Err(why) => return Ok(Err(NotDone::new(RefusalKind::Failed, why.to_string()))),
            }
        }
        let tasks = self.running.get(&row.id).into_iter().flatten();
        let waits_for_devices = tasks.filter(|task| self.deferred.contains(task)).count();
        let waits = view.tasks > view.running + view.done + view.failed;
        let at_most = row.at_once.filter(|&most| waits && view.running >= most);
        let is_told = waits && standing.is_some();
        let room = if is_told { self.room_for(&row)? } else { None };
        Ok(Ok(WhyShown { job: view, waits_for, waits_for_devices, at_most, room, standing }))
    }

    /// Without what is others': keys of queues that the user may not use, and names of jobs of
    /// other users, which are told by their numbers.
    fn as_told(&self, user: &LocalUser, row: &JobRow, mut standing: Standing) -> Value {
        let members = &self.settings.members;
        let sees_all = members.role(user) >= Role::Operator;
        let nodes = standing.reservations.iter_mut().flat_map(|held| &mut held.nodes);
        let holders = nodes.flat_map(|node| &mut node.holders);
        let holders = holders.map(|holder| (&holder.key, &mut holder.job));
        let ahead = standing.leaf.iter_mut().flat_map(|leaf| &mut leaf.first);
        let ahead = ahead.map(|ahead| (&ahead.key, &mut ahead.job));
        for (key, label) in ahead.chain(holders) {
            let theirs = key.as_ref().and_then(number_of);
            let is_own = theirs.and_then(|job| self.rows.get(&job)).map(|job| job.uid == user.uid);
            if !sees_all && is_own != Some(true) {
                *label = theirs.map(|job| job.to_string()).unwrap_or_default();
            }
        }
        let is_known = |queue: &str| {
            let on_the_way = row.queue.strip_prefix(queue);
            let on_the_way =
                on_the_way.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            sees_all || on_the_way || members.may_use(user, queue)
        };
        let mut told = json!(standing);
        let levels = told["levels"].as_array_mut().into_iter().flatten();
        for level in levels {
            for child in level["children"].as_array_mut().into_iter().flatten() {
                let known = child["queue"].as_str().is_some_and(is_known);
                if let Some(child) = child.as_object_mut().filter(|_| !known) {
                    child.remove("key");
                    child.remove("behind_by");
                }
            }
        }
        told
    }
}

impl World {
    /// When a task of the job has room, which costs a look at each running task and its job's
    /// description; `None`: none of it waits, or its description is lost.
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

/// The number of a job of this server; what follows a point says how often it was held.
fn number_of(key: &JobKey) -> Option<u64> {
    key.to_string().split('.').next()?.parse().ok()
}
