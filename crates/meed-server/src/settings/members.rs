//! Who may do what: the user is who the socket says, never who the request says.

use std::collections::{BTreeMap, BTreeSet};

use meed_config::queues::QueueForm;
use meed_config::words::did_you_mean;
use serde::{Deserialize, Serialize};

use super::queue_name;
use crate::user::LocalUser;

/// What a user may do.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Own jobs, in own queues.
    Tenant,
    /// Sees and cancels jobs of others, too.
    Operator,
    /// Everything.
    Admin,
}

impl Role {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Role::Tenant => "tenant",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }
}

/// Users, queues and roles.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Members {
    admins: BTreeSet<String>,
    operators: BTreeSet<String>,
    queues: BTreeMap<String, Vec<String>>,
}

impl Members {
    /// Checked against the queues that there are.
    pub(super) fn new(
        admins: Vec<String>,
        operators: Vec<String>,
        queues: BTreeMap<String, Vec<String>>,
        known: &[&str],
    ) -> Result<Members, String> {
        for queue in queues.keys() {
            if !known.contains(&queue.as_str()) {
                let near = did_you_mean(queue, known.iter().copied());
                let near = near.map(|near| format!("; {near}")).unwrap_or_default();
                return Err(format!("[server.members]: unknown queue `{queue}`{near}"));
            }
        }
        let (admins, operators) = (admins.into_iter().collect(), operators.into_iter().collect());
        Ok(Members { admins, operators, queues })
    }

    /// What `user` may do. Root may do everything, and so may who runs the server; less where the
    /// way in allows less.
    pub fn role(&self, user: &LocalUser) -> Role {
        self.own_role(user).min(user.way.role)
    }

    fn own_role(&self, user: &LocalUser) -> Role {
        if user.uid == 0 || user.is_server() || listed(&self.admins, user) {
            Role::Admin
        } else if listed(&self.operators, user) {
            Role::Operator
        } else {
            Role::Tenant
        }
    }

    /// Whether `user` may submit to `queue`: its members may; where none are named, the user whom
    /// it is called after.
    pub fn may_use(&self, user: &LocalUser, queue: &str) -> bool {
        if self.role(user) == Role::Admin {
            return true;
        }
        match self.queues.get(queue) {
            Some(members) => members.iter().any(|member| is_member(member, user)),
            None => queue.rsplit('.').next() == Some(queue_name(&user.name).as_str()),
        }
    }

    /// The queue of a user who names none, among `leaves` in their order.
    pub fn queue_of<'q>(
        &self,
        user: &LocalUser,
        leaves: impl Iterator<Item = &'q str> + Clone,
    ) -> Option<&'q str> {
        let own = queue_name(&user.name);
        let is_own = |queue: &&str| queue.rsplit('.').next() == Some(own.as_str());
        let is_member = |queue: &&str| {
            let members = self.queues.get(*queue);
            members.is_some_and(|members| members.iter().any(|member| is_member(member, user)))
        };
        leaves.clone().find(is_member).or_else(|| leaves.clone().find(is_own))
    }
}

/// Queues whose members have turns of their own: those of several users that take jobs and do not
/// say how they order them.
pub(super) fn with_turns(
    members: &BTreeMap<String, Vec<String>>,
    queues: &[QueueForm],
    leaves: &BTreeSet<String>,
) -> BTreeSet<String> {
    let are_several = |queue: &str| {
        let members = members.get(queue);
        members.is_some_and(|names| names.len() > 1 || names.iter().any(|it| it.starts_with('@')))
    };
    let takes_turns = |queue: &&QueueForm| {
        let is_silent = queue.order.is_none() && queue.policy.is_none();
        is_silent && leaves.contains(&queue.name) && are_several(&queue.name)
    };
    queues.iter().filter(takes_turns).map(|queue| queue.name.clone()).collect()
}

fn listed(names: &BTreeSet<String>, user: &LocalUser) -> bool {
    names.iter().any(|name| is_member(name, user))
}

fn is_member(member: &str, user: &LocalUser) -> bool {
    match member.strip_prefix('@') {
        Some(group) => user.groups.iter().any(|name| name == group),
        None => member == user.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, groups: &[&str]) -> LocalUser {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let mut user = LocalUser::made_up(name, 4711);
        user.groups = groups;
        user
    }

    #[test]
    fn nobody_uses_the_queue_of_another() {
        let mut queues = BTreeMap::new();
        queues.insert("lab.vision".to_owned(), vec!["ann".to_owned(), "@staff".to_owned()]);
        let known = ["lab", "lab.vision", "bob", "cy"];
        let members = Members::new(vec!["zoe".into()], vec![], queues.clone(), &known).unwrap();
        let leaves = || ["lab.vision", "bob", "cy"].into_iter();
        let (ann, bob) = (user("ann", &[]), user("bob", &["staff"]));
        assert!(members.may_use(&ann, "lab.vision") && !members.may_use(&ann, "bob"));
        assert!(members.may_use(&bob, "bob") && !members.may_use(&bob, "cy"));
        assert_eq!(members.queue_of(&ann, leaves()), Some("lab.vision"));
        assert_eq!(members.queue_of(&user("cy", &[]), leaves()), Some("cy"));
        assert_eq!(members.queue_of(&user("eve", &["lab"]), leaves()), None);
        assert!(members.may_use(&user("zoe", &[]), "cy"));
        assert_eq!(members.role(&ann), Role::Tenant);
        assert_eq!(members.role(&LocalUser::made_up("root", 0)), Role::Admin);
        let mut bounded = LocalUser::made_up("root", 0);
        bounded.way.role = Role::Tenant;
        assert_eq!(members.role(&bounded), Role::Tenant);
        assert!(!members.may_use(&bounded, "cy"), "a token for a tenant makes no admin");
        let mut raised = user("ann", &[]);
        raised.way.role = Role::Admin;
        assert_eq!(members.role(&raised), Role::Tenant, "nor more of a user than it is");
        assert!(Members::new(vec![], vec![], queues, &["lab", "lab.visoin"]).is_err());
    }
}
