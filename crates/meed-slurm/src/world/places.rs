//! The place that a new job of each user would have, for Slurm's plug-in `site_factor/meed`.
//!
//! > in a copy of this instant each user submits one job of one core; where does it start?
//!
//! The job is the last of its user, so nothing of the user is behind it and the others' order stays
//! as it is, but for what the job is charged to the accounts above it.
//!
//! Cost: as of [`super::turn`], and a job for each user.

use meed::{JobSpec, TaskGroup};
use meed_driver::{Failed, NewJob};

use super::SlurmWorld;
use super::turn::{number_of, one_core};
use crate::snapshot::ClusterSnapshot;

/// Where a new job of a user would stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NewPlace {
    /// So many jobs of the order come before it.
    pub before: usize,
    account: String,
    user: String,
}

impl NewPlace {
    /// Its row in the plug-in's file; `None`: its name has a space, which no row can hold.
    pub(crate) fn line(&self, factor: i64) -> Option<String> {
        let is_one = |name: &str| !name.contains(char::is_whitespace);
        let (account, user) = (&self.account, &self.user);
        (is_one(account) && is_one(user)).then(|| format!("{factor} {account} {user}\n"))
    }
}

impl SlurmWorld {
    /// Places of new jobs behind those of `order`, the first first.
    ///
    /// # Errors
    ///
    /// A state that cannot be copied: a fault of the program, in words.
    pub(crate) fn places(
        &self,
        snapshot: &ClusterSnapshot,
        order: &[u32],
    ) -> Result<Vec<NewPlace>, Failed> {
        let (mut copy, now) = self.copy(snapshot.at)?;
        let users: Vec<(&str, &str, &str)> = self.names.tree.leaves().collect();
        let groups = [TaskGroup::new(1, one_core())];
        for (at, (_, _, leaf)) in users.iter().enumerate() {
            let Some(queue) = copy.engine().find_queue(leaf) else { continue };
            let new =
                || NewJob { key: format!("new@{at}").as_str().into(), name: None, detail: () };
            copy.job_arrived(now, JobSpec::new(queue, &groups), new, |(), _, _| ())?;
        }
        let waiting: std::collections::BTreeSet<u32> = order.iter().copied().collect();
        let (mut places, mut before) = (Vec::new(), 0);
        let new_of =
            |key: &str| users.get(key.strip_prefix("new@")?.parse::<usize>().ok()?).copied();
        let mut keys = self.begun(&mut copy, now, users.len())?;
        self.names.tree.bands().apply(&mut keys, |key| match new_of(key) {
            Some((_, _, leaf)) => Some(leaf),
            None => Some(self.queue_of(number_of(key)?)?.as_str()),
        });
        for key in keys {
            match new_of(&key) {
                Some((account, user, _)) => places.push(NewPlace {
                    before,
                    account: (*account).to_owned(),
                    user: (*user).to_owned(),
                }),
                None => {
                    let is_placed = number_of(&key).is_some_and(|id| waiting.contains(&id));
                    before += usize::from(is_placed);
                }
            }
        }
        Ok(places)
    }
}
