//! Room is taken back: which containers are to stop for a leaf that is owed, and has waited.
//!
//! The rules are the engine's ([`meed::Engine::take_back`]). What is decided is a record of the
//! journal, durable before anybody is told. Then the application is told (*marked*), and when the
//! grace is over the container is killed, if the leaf still waits. While some stop nobody else is
//! looked at: ledgers and shares still count them.
//!
//! Who is looked at is the leaf whose turn it is, of those that wait for something which YARN would
//! start: the order gives it what comes free, for nobody holds that for it. Where it takes nothing
//! of what came free, some limit of YARN's is in the way: it is said, and the next look comes after
//! twice the time.

use std::collections::{BTreeMap, BTreeSet};

use meed::{JobId, Manner, QueueId, Reclaim, Resources, Span, TakeBack, Time};
use meed_journal::TaskKey;
use meed_store::UnixMillis;

use super::{Core, CoreError, Names, UNITS, over};
use crate::message::{TakeBackAsked, TakenBack};
use crate::settings::engine_name;

/// Why a container that was stopped is lost, as records say it.
pub(super) const WHY: &str = "its room was taken back";

/// So many tasks get room in one look at most.
const MOST: usize = 256;

/// A leaf that takes nothing of what comes free for it waits so often twice as long at most.
const DOUBLINGS: u32 = 10;

/// A container that was told to stop.
pub(super) struct Stopping {
    /// When its grace is over.
    until: Time,
    /// The leaf for which.
    winner: QueueId,
    /// Its end was asked for.
    pub(super) killed: bool,
}

/// What is known of looks before.
#[derive(Default)]
pub(super) struct TakingBack {
    pub(super) rules: Option<Reclaim>,
    leaves: BTreeMap<QueueId, Looked>,
}

#[derive(Clone, Copy, Default)]
struct Looked {
    /// Not before.
    next: Time,
    /// Since when it had waited when containers were told to stop for it.
    waited_since: Option<Time>,
    in_vain: u32,
}

/// The sets of a question, by the engine's names.
#[derive(Default)]
struct Sets {
    masters: BTreeSet<(JobId, u32)>,
    spared: BTreeSet<JobId>,
    held_up: BTreeSet<JobId>,
    floors: BTreeMap<QueueId, Resources>,
}

impl Core {
    pub(super) fn take_back(&mut self, asked: &TakeBackAsked) -> Result<TakenBack, CoreError> {
        let mut taken = TakenBack::default();
        let now = self.live.instant(self.names.time(asked.now));
        self.end_graces(now, &mut taken);
        let Some(rules) = self.taking_back.rules else { return Ok(taken) };
        if !self.names.stopping.is_empty() {
            return Ok(taken);
        }
        let sets = self.sets(asked);
        let Some(leaf) = self.whose_turn(&sets) else { return Ok(taken) };
        let waits_since = self.live.engine().waits_since(leaf);
        let waited = now.saturating_since(waits_since);
        let mut looked = self.taking_back.leaves.get(&leaf).copied().unwrap_or_default();
        if waited < rules.after || now < looked.next {
            return Ok(taken);
        }
        let name = format!("root.{}", self.live.engine().queue_name(leaf));
        looked.in_vain = match looked.waited_since == Some(waits_since) {
            true => (looked.in_vain + 1).min(DOUBLINGS),
            false => 0,
        };
        if looked.in_vain > 0 {
            taken.remarks.push(format!(
                "{name} took nothing of what was taken back for it: a limit of YARN's own may be \
                 in the way (of the queue, of masters, of labels); the next look comes later"
            ));
        }
        let wait = rules.after.as_micros().saturating_mul(1 << looked.in_vain);
        looked.next = now.saturating_add(Span::from_micros(wait).unwrap_or(rules.after));
        let stops = self.decide_stops(now, (leaf, waited, rules), &sets, asked.dry)?;
        if !stops.is_empty() && !asked.dry {
            looked.waited_since = Some(waits_since);
            self.live.commit(UnixMillis::new(asked.now)).map_err(over)?;
        }
        self.taking_back.leaves.insert(leaf, looked);
        for (id, job) in stops {
            let words = self.words(&id, &name, waited, &rules, &job);
            if asked.dry {
                taken.remarks.push(format!("dry run: {words}"));
                continue;
            }
            let until = now.saturating_add(rules.grace);
            let told = Stopping { until, winner: leaf, killed: false };
            self.names.stopping.insert(id.clone(), told);
            taken.marks.push((id, words));
        }
        Ok(taken)
    }

    /// Containers whose grace is over end, where somebody still waits for them.
    fn end_graces(&mut self, now: Time, taken: &mut TakenBack) {
        let Core { live, names, .. } = self;
        let Names { stopping, containers, .. } = names;
        stopping.retain(|id, _| containers.get(id).is_some());
        let engine = live.engine();
        stopping.retain(|id, told| {
            if told.until > now {
                return true;
            }
            if !told.killed && engine.groups_in_order(told.winner).is_empty() {
                let leaf = engine.queue_name(told.winner);
                let words = format!("{id} goes on: root.{leaf} waits for nothing any more");
                taken.remarks.push(words);
                return false;
            }
            told.killed = true;
            taken.kills.push(id.clone());
            true
        });
    }

    fn sets(&self, asked: &TakeBackAsked) -> Sets {
        let Core { live, names, .. } = self;
        let engine = live.engine();
        let job_of = |key: &meed_journal::JobKey| live.job(key).map(|job| job.id());
        let of_app = |app: &super::App| app.job.as_ref().and_then(job_of);
        let queue = |name: &str| engine.find_queue(engine_name(name));
        let masters = asked.masters.iter().filter_map(|id| names.containers.get(id));
        let masters = masters.filter_map(|runs| Some((job_of(&runs.task.job)?, runs.task.task)));
        let held_up = asked.held_up.iter().filter_map(|app| of_app(names.apps.named(app)?));
        let leaves: BTreeSet<QueueId> =
            asked.spared.iter().filter_map(|name| queue(name)).collect();
        let spared = names.apps.each().filter_map(|(_, app)| {
            let is_spared = app.leaf.is_some_and(|leaf| leaves.contains(&leaf));
            if is_spared { of_app(app) } else { None }
        });
        let floor = |(name, memory, cores): &(String, u64, u64)| {
            let amounts = Resources::new(&[memory * UNITS[0], cores * UNITS[1]]);
            Some((queue(name)?, amounts))
        };
        Sets {
            masters: masters.collect(),
            spared: spared.collect(),
            held_up: held_up.collect(),
            floors: asked.floors.iter().filter_map(floor).collect(),
        }
    }

    /// The first leaf in turn in which something waits that YARN would start.
    fn whose_turn(&self, sets: &Sets) -> Option<QueueId> {
        let engine = self.live.engine();
        let mut parents = vec![QueueId::ROOT];
        while let Some(at) = parents.pop() {
            if engine.queue(at).is_leaf && at != QueueId::ROOT {
                let groups = engine.groups_in_order(at);
                if groups.iter().any(|group| !sets.held_up.contains(&group.job)) {
                    return Some(at);
                }
                continue;
            }
            let order = engine.children_in_order(at);
            parents.extend(order.iter().rev().map(|child| child.queue));
        }
        None
    }

    /// Containers that are to stop, each with the application for which.
    fn decide_stops(
        &mut self,
        now: Time,
        (leaf, waited, rules): (QueueId, Span, Reclaim),
        sets: &Sets,
        dry: bool,
    ) -> Result<Vec<(String, String)>, CoreError> {
        let wanted = TakeBack {
            rules,
            leaf,
            waited,
            most: MOST,
            may_start: &|job| !sets.held_up.contains(&job),
            manner: &|job, task| match (sets.spared.contains(&job), (job, task)) {
                (true, _) => Manner::Never,
                (false, task) if sets.masters.contains(&task) => Manner::Last,
                (false, _) => Manner::InTurn,
            },
            floor: &|queue| sets.floors.get(&queue).copied(),
        };
        let Core { live, names, .. } = self;
        let by = Some(&names.by).filter(|_| !dry);
        let stops = live.at(now, |batch| batch.take_back(&wanted, by)).map_err(over)?;
        let mut of: BTreeMap<(String, u32), String> = BTreeMap::new();
        let key = |task: &TaskKey| (task.job.to_string(), task.task);
        for (stop, winner) in &stops {
            of.insert(key(&stop.task), winner.to_string());
        }
        let picked = names.containers.names(|_, runs| of.contains_key(&key(&runs.task)));
        let with = |id: String| {
            let winner = of.get(&key(&names.containers.get(&id)?.task))?.clone();
            Some((id, winner))
        };
        Ok(picked.into_iter().filter_map(with).collect())
    }

    fn words(&self, id: &str, leaf: &str, waited: Span, rules: &Reclaim, winner: &str) -> String {
        let runs = self.names.containers.get(id);
        let app = runs.and_then(|runs| self.names.apps.at(runs.app));
        let (app, queue) = app.map_or(("", ""), |app| (app.name.as_str(), app.queue.as_str()));
        let node = runs.map_or("", |runs| runs.node.as_str());
        let secs = |span: Span| span.as_micros() / 1_000_000;
        format!(
            "{id} of {app} in root.{queue} on {node} is to stop within {} s: {winner} in {leaf}, \
             which is owed, has waited for {} s",
            secs(rules.grace),
            secs(waited)
        )
    }
}
