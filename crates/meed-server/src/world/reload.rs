//! Settings that are taken while the server runs, or differ from those that it ran with before.

use meed::place::Unasked;
use meed::{Engine, Policy, QueueChange, QueueId, ResourceKinds};
use meed_journal::{Amounts, Fact, PoliciesChanged};

use super::World;
use crate::protocol::{NotDone, RefusalKind};
use crate::settings::{Settings, SettingsError};
use crate::user::LocalUser;

impl World {
    /// Reads the file again, and takes what it says.
    pub(super) fn reload(&mut self) -> Result<Vec<Fact>, NotDone> {
        let alone = LocalUser::current();
        let read = Settings::read(
            self.settings.file.as_deref(),
            &self.machine,
            (alone.uid != 0).then_some(alone.name.as_str()),
        );
        let settings = read.map_err(|why| {
            let kind = match why {
                SettingsError::File { .. } => RefusalKind::Failed,
                SettingsError::Wrong(_) => RefusalKind::Wrong,
            };
            NotDone::new(kind, why.to_string())
        })?;
        self.adopt(settings)
    }

    /// Takes settings: what differs from those that the journal knows is to be told.
    pub(super) fn adopt(&mut self, mut settings: Settings) -> Result<Vec<Fact>, NotDone> {
        let refuse = |why: &str| Err(NotDone::new(RefusalKind::Wrong, why));
        let engine = self.live.engine();
        if settings.config.kinds != *engine.kinds() {
            return refuse(
                "the resources are others than those that the state folder began with; begin with \
                 a new one",
            );
        }
        if settings.config.measured != engine.measured() {
            return refuse(
                "fairness is measured in another resource than the state folder began with: write \
                 the old one again, or begin with a new state folder",
            );
        }
        // All that contradicts itself is found before any of it is taken.
        if let Err(why) = Engine::new(settings.config.clone(), Box::new(Unasked)) {
            return refuse(&why.to_string());
        }
        let change = self.policy_changes(&settings);
        if let Some(change) = &change
            && let Err(why) = self.live.check_policies(change)
        {
            return refuse(&why.to_string());
        }
        let mut facts =
            Vec::from_iter(change.map(|change| Fact::PoliciesChanged(Box::new(change))));
        let kinds = engine.kinds();
        let node = engine.node_ids().rev().find(|&id| engine.is_up(id));
        if let Some((spec, _)) = node.map(|id| engine.node(id)) {
            let name = spec.name.clone();
            if spec.capacity != settings.node().capacity {
                let capacity = Amounts::of(&settings.node().capacity, kinds);
                facts.push(Fact::node_resized(name.as_str(), capacity, false));
            }
            settings.config.nodes[0].name = name;
        }
        let is_there =
            |name: &str| engine.find_queue(name).is_some_and(|id| !engine.is_removed(id));
        let known = settings.known();
        let are_others = known.is_none() || self.meta.queues != known;
        for spec in settings.config.queues.iter().filter(|_| are_others) {
            match is_there(&spec.name) {
                false => {
                    facts.push(Fact::queue_added(spec, settings.own_keys(&spec.name), kinds));
                }
                true => {
                    let (weight, min, max) = (Some(spec.weight), Some(spec.min), Some(spec.max));
                    let change = QueueChange { weight, min, max, rank: None };
                    facts.push(Fact::queue_changed(spec.name.as_str(), &change, kinds));
                }
            }
        }
        if are_others {
            // Theirs are in no configuration.
            let users = self.users_queues(&settings).into_iter();
            facts.extend(users.map(|name| {
                let change = QueueChange { max: Some(settings.user_max), ..QueueChange::default() };
                Fact::queue_changed(name, &change, kinds)
            }));
        }
        if !settings.queue_per_user() {
            let wanted = |name: &str| {
                let above = name.rsplit_once('.').map(|(above, _)| above);
                let is_members = above.is_some_and(|above| {
                    let stays = settings.is_leaf(above) && self.has_open_jobs(name);
                    settings.turns.contains(above) || stays
                });
                is_members || settings.config.queues.iter().any(|queue| queue.name == name)
            };
            let ids: Vec<QueueId> = engine.queue_ids().skip(1).collect();
            // Children were declared behind their parents, and go before them.
            for &id in ids.iter().rev().filter(|&&id| !engine.is_removed(id)) {
                let name = engine.queue(id).name;
                if !wanted(name) {
                    facts.push(Fact::queue_removed(name));
                }
            }
        }
        self.queues_read = Some(known);
        if settings.http != self.settings.http {
            self.remarks.push("[http] has changed; it is read when the server starts".to_owned());
        }
        if settings.control_groups != self.settings.control_groups {
            let remark = "control_groups has changed; it is read when the server starts";
            self.remarks.push(remark.to_owned());
        }
        if settings.placement.name != self.settings.placement.name {
            let remark = "placement has changed; it is taken when the server starts";
            self.remarks.push(remark.to_owned());
        }
        self.remarks.extend(settings.remarks.iter().cloned());
        let waits = settings.turns.iter().filter(|queue| self.has_jobs_itself(queue));
        let waits: Vec<String> = waits.cloned().collect();
        self.remarks.extend(waits.into_iter().map(|queue| {
            format!(
                "queue `{queue}`: its members have turns of their own once the jobs that are in it \
                 have ended"
            )
        }));
        self.settings = settings;
        self.watched.rules_changed();
        Ok(facts)
    }

    /// Queues of users that are there: by themselves, or below that of a team.
    fn users_queues(&self, settings: &Settings) -> Vec<String> {
        let engine = self.live.engine();
        let live = engine.queue_ids().skip(1).filter(|&id| !engine.is_removed(id));
        let leaves = live.map(|id| engine.queue(id)).filter(|view| view.is_leaf);
        let is_users = |name: &str| {
            let above = name.rsplit_once('.').map(|(above, _)| above);
            settings.queue_per_user() || above.is_some_and(|above| settings.is_leaf(above))
        };
        let users = leaves.filter(|view| is_users(view.name));
        users.map(|view| view.name.to_owned()).collect()
    }

    /// The queues that settings say something of, with their policies: those that are declared, or
    /// each user's.
    fn wanted_policies(&self, settings: &Settings) -> Vec<(String, Policy)> {
        let users = self.users_queues(settings).into_iter();
        let mut all: Vec<(String, Policy)> =
            users.map(|name| (name, settings.leaf().clone())).collect();
        if !settings.queue_per_user() {
            let declared = settings.config.queues.iter();
            all.extend(declared.map(|spec| (spec.name.clone(), spec.policy.clone())));
        }
        all
    }

    /// Policies that are others than those that the journal knows.
    fn policy_changes(&self, settings: &Settings) -> Option<PoliciesChanged> {
        let (engine, config) = (self.live.engine(), &settings.config);
        let before = engine.policy(QueueId::ROOT);
        let root = (config.root != *before).then_some(&config.root);
        let mut others = Vec::new();
        for (name, wanted) in self.wanted_policies(settings) {
            let known = engine.find_queue(&name).filter(|&id| !engine.is_removed(id));
            let Some(own) = known.map(|id| engine.policy(id)) else { continue };
            // Who ordered as the root did follows it.
            let follows = root.is_some() && own == before;
            if wanted != *if follows { &config.root } else { own } {
                others.push((name, wanted));
            }
        }
        if settings.queue_per_user() {
            return change_to(root, &others, &config.kinds);
        }
        // Queues that are about to go cannot be left deciding per server below a root that does
        // not, or otherwise.
        for id in engine.queue_ids().skip(1).filter(|&id| !engine.is_removed(id)) {
            let (name, own) = (engine.queue(id).name, engine.policy(id));
            let goes = config.queues.iter().all(|queue| queue.name != name);
            if goes && !own.goes_below(&config.root) && own != before {
                others.push((name.to_owned(), config.root.clone()));
            }
        }
        change_to(root, &others, &config.kinds)
    }
}

/// `None`: nothing changes.
fn change_to(
    root: Option<&Policy>,
    others: &[(String, Policy)],
    kinds: &ResourceKinds,
) -> Option<PoliciesChanged> {
    let named = others.iter().map(|(name, policy)| (name.as_str(), policy));
    let is_change = root.is_some() || !others.is_empty();
    is_change.then(|| PoliciesChanged::of(root, named, kinds))
}
