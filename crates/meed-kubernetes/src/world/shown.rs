//! What the dashboard is told (`crate::dashboard`): queues, pods, why a pod waits, who held what.
//!
//! Who may list all pods sees all. Who may list those of some namespaces sees these pods, and the
//! queues that these namespaces may use, with their books. Of all else he is told sums: what is
//! held in all, and how many stand before; never names, nor what others have used.
//!
//! Names of queues are the engine's: those of their parents stand before them. A pod is a job of
//! one task, called `NAMESPACE/NAME`.
//!
//! Cost: O(queues) for books, O(pods) for a list or a pod.

use std::collections::{BTreeMap, BTreeSet};

use meed::{QueueId, Time};
use meed_driver::explain::{QueueStatus, Standing, Subject};
use serde_json::{Map, Value, json};

use super::queue_row::object_in;
use super::{PodRow, Stand, World};
use crate::dashboard::question::{JobsQuery, Question, Refused, Sees};
use crate::error::KubernetesError;
use crate::keys;

/// In place of names that are not theirs to know.
const ANOTHER_QUEUE: &str = "another queue";
const ANOTHER_POD: &str = "a pod of another namespace";

/// A pod as lists show it.
struct PodShown<'w> {
    row: &'w PodRow,
    state: &'static str,
    queue: &'w str,
    /// Microseconds since 1970.
    since: i64,
}

impl World {
    /// The answer to a question of somebody who sees so much; an error of the engine ends all.
    pub(crate) fn answer(
        &mut self,
        sees: &Sees,
        question: Question,
        now: Time,
    ) -> Result<Result<Value, Refused>, KubernetesError> {
        Ok(match question {
            Question::Namespaces => Ok(json!(self.served_namespaces())),
            Question::Cluster => Ok(self.cluster_shown(sees)),
            Question::Queues => {
                let queues = self.queues_shown(sees, now)?;
                Ok(json!({ "queues": queues, "resources": self.resources_shown() }))
            }
            Question::Queue(name) => {
                let mut queues = self.queues_shown(sees, now)?.into_iter();
                let found = queues.find(|queue| queue["queue"] == name.as_str());
                found.ok_or_else(|| Refused::unknown("there is no such queue, or it is not yours"))
            }
            Question::Jobs(query) => Ok(self.jobs_shown(sees, &query)),
            Question::Job(namespace, name) => self.job_shown(sees, (&namespace, &name)),
            Question::Why(namespace, name) => self.why_shown(sees, (&namespace, &name), now)?,
            Question::History { month } => {
                let used = self.used(now)?;
                let is_known = |queue: &str| self.is_theirs(sees, queue);
                Ok(self.samples.shown(month, &used, (self.driver.engine(), &self.clock), &is_known))
            }
        })
    }

    /// Namespaces with pods of ours, those that a queue chooses by their labels, and those that
    /// have a default.
    fn served_namespaces(&self) -> BTreeSet<&String> {
        let with_pods = self.pods_shown(|_| true).map(|pod| &pod.row.name.namespace);
        let selectors = self.queues.values().filter_map(|row| row.spec.namespace_selector.as_ref());
        let narrow: Vec<_> = selectors.filter(|selector| !selector.is_all()).collect();
        let chosen = self.namespaces.iter().filter(|(_, labels)| {
            let has_default = labels.contains_key(keys::QUEUE);
            has_default || narrow.iter().any(|selector| selector.allows(labels))
        });
        with_pods.chain(chosen.map(|(name, _)| name)).collect()
    }

    /// Whether somebody may know a queue, by its full name.
    fn is_theirs(&self, sees: &Sees, full: &str) -> bool {
        let Sees::Namespaces(own) = sees else { return true };
        let selector =
            self.queues.get(object_in(full)).and_then(|row| row.spec.namespace_selector.as_ref());
        let nothing = BTreeMap::new();
        selector.is_some_and(|selector| {
            let labels = |name| self.namespaces.get(name).unwrap_or(&nothing);
            own.iter().any(|name| selector.allows(labels(name)))
        })
    }

    fn resources_shown(&self) -> Vec<Value> {
        let engine = self.driver.engine();
        let (kinds, held) = (engine.kinds(), engine.queue(QueueId::ROOT).held);
        let one = |kind: usize| {
            let natural = |amount: u64| amount as f64 / kinds.unit(kind).scale() as f64;
            let (has, held) = (engine.capacity().get(kind), held.get(kind));
            let unit = meed_journal::UnitName::from(kinds.unit(kind));
            json!({ "resource": kinds.name(kind), "unit": unit, "has": natural(has),
                "held": natural(held), "free": natural(has.saturating_sub(held)) })
        };
        (0..kinds.len()).map(one).collect()
    }

    fn cluster_shown(&self, sees: &Sees) -> Value {
        let open = self.pods_shown(|row| sees.has(&row.name.namespace)).count();
        let queues = self.queues.values().filter_map(|row| row.full.as_deref());
        let node = json!({ "node": "all", "resources": self.resources_shown() });
        json!({ "server": env!("CARGO_PKG_VERSION"), "nodes": [node],
            "node_count": self.nodes.len(), "policy": self.root.to_string(),
            "queues": queues.filter(|full| self.is_theirs(sees, full)).count(),
            "open_jobs": open })
    }

    fn queues_shown(&mut self, sees: &Sees, now: Time) -> Result<Vec<Value>, KubernetesError> {
        let books = self.books(now)?;
        let gangs = self.more_tasks();
        let engine = self.driver.engine();
        let first = engine.children_in_order(QueueId::ROOT);
        let names = first.iter().map(|child| engine.queue(child.queue).name);
        let order: BTreeMap<&str, usize> = names.zip(0..).collect();
        let one = |(id, state): (QueueId, QueueStatus)| {
            let queue = engine.queue_name(id);
            if !self.is_theirs(sees, queue) {
                return None;
            }
            let top = queue.split('.').next().unwrap_or_default();
            let next = order.get(top).copied().filter(|_| state.waiting_tasks > 0);
            let jobs = state.jobs + gangs.get(&id).copied().unwrap_or(0);
            Some(json!({ "queue": queue, "next": next, "weight": state.weight,
                "measured": state.measured, "share": state.share, "held": state.held,
                "demand": state.demand, "waiting_tasks": state.waiting_tasks, "jobs": jobs,
                "books": state }))
        };
        Ok(books.into_iter().filter_map(one).collect())
    }

    /// Pods of ours that have not ended, of these rows.
    fn pods_shown<'w>(
        &'w self,
        is_asked: impl Fn(&PodRow) -> bool + 'w,
    ) -> impl Iterator<Item = PodShown<'w>> {
        let rows = self.pods.values().filter(move |row| is_asked(row));
        rows.filter_map(|row| self.pod_shown(row))
    }

    fn pod_shown<'w>(&'w self, row: &'w PodRow) -> Option<PodShown<'w>> {
        let in_queue = |job, state| {
            let job = self.driver.job(job)?;
            let since = self.clock.unix(job.submit());
            let queue = self.driver.engine().queue_name(job.queue());
            Some(PodShown { row, state, queue, since })
        };
        // The full name of a queue that it names itself.
        let named = |queue: &'w str| {
            self.queues.get(queue).and_then(|row| row.full.as_deref()).unwrap_or(queue)
        };
        match &row.stand {
            Stand::Waits(job) => in_queue(*job, "waiting"),
            Stand::Sent(placed) | Stand::Lifted(placed) | Stand::Bound(placed) => {
                in_queue(placed.job, "running")
            }
            Stand::Unplaced { queue } => {
                Some(PodShown { row, state: "waiting", queue: named(queue), since: 0 })
            }
            Stand::Refused(seen) => {
                let queue = named(seen.queue.as_deref().unwrap_or_default());
                Some(PodShown { row, state: "waiting", queue, since: seen.created })
            }
            Stand::Outside | Stand::Stranger { .. } | Stand::Homeless(_) | Stand::Over => None,
        }
    }

    /// Why a pod stands as it does, beside what its queue is asked.
    fn why_of(&self, row: &PodRow) -> Option<String> {
        match &row.stand {
            Stand::Lifted(_) => {
                Some("It was let go, and kube-scheduler has not placed it yet.".to_owned())
            }
            Stand::Unplaced { .. } => {
                let why = "It was let go, and nobody has placed it in time: it holds no room. \
                           kube-scheduler goes on looking for a node.";
                Some(why.to_owned())
            }
            Stand::Refused(seen) => Some(match self.wants(seen) {
                Err((reason, note)) => format!("{reason}: {note}."),
                Ok(_) => format!("It is not taken: {}.", row.said.unwrap_or("NotSupported")),
            }),
            _ => None,
        }
    }

    fn as_job(&self, pod: &PodShown<'_>) -> Value {
        let (namespace, name) = (&pod.row.name.namespace, &pod.row.name.name);
        json!({ "id": format!("{namespace}/{name}"), "name": name, "user": namespace,
            "queue": pod.queue, "state": pod.state, "tasks": 1,
            "running": u32::from(pod.state == "running"), "done": 0, "failed": 0,
            "submitted_us": pod.since, "why": self.why_of(pod.row) })
    }

    fn jobs_shown(&self, sees: &Sees, query: &JobsQuery) -> Value {
        let is_asked = |row: &PodRow| {
            let namespace = &row.name.namespace;
            // What has ended is not kept, and who asks for it has asked for what is there before.
            !query.ended
                && sees.has(namespace)
                && query.user.as_ref().is_none_or(|wanted| wanted == namespace)
        };
        let is_wanted = |pod: &PodShown<'_>| {
            query.state.as_ref().is_none_or(|wanted| wanted == pod.state)
                && query.queue.as_ref().is_none_or(|wanted| *wanted == pod.queue)
        };
        let mut found: Vec<PodShown<'_>> = self.pods_shown(is_asked).filter(is_wanted).collect();
        found.sort_by(|a, b| b.since.cmp(&a.since).then_with(|| a.row.name.cmp(&b.row.name)));
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        let jobs: Vec<Value> = found.iter().map(|pod| self.as_job(pod)).collect();
        json!({ "jobs": jobs, "next": more.then_some("narrow it down by queue or namespace") })
    }

    /// A pod of theirs by its name: of two with one name the one that is not gone.
    fn theirs(&self, sees: &Sees, (namespace, name): (&str, &str)) -> Option<PodShown<'_>> {
        let is_it = |row: &&PodRow| row.name.namespace == namespace && row.name.name == name;
        let found = self.pods.values().filter(is_it).filter_map(|row| self.pod_shown(row));
        found.filter(|_| sees.has(namespace)).last()
    }

    fn job_shown(&self, sees: &Sees, pod: (&str, &str)) -> Result<Value, Refused> {
        let shown = self.theirs(sees, pod).ok_or_else(no_pod)?;
        let mut job = self.as_job(&shown);
        let placed = match &shown.row.stand {
            Stand::Sent(placed) | Stand::Lifted(placed) | Stand::Bound(placed) => Some(*placed),
            _ => None,
        };
        let id = placed.map(|placed| placed.job).or(match &shown.row.stand {
            Stand::Waits(job) => Some(*job),
            _ => None,
        });
        let asks = id.and_then(|id| self.driver.job(id));
        let asks = asks.map(|live| live.detail.asks_of_pod(&shown.row.name.uid));
        let amounts = asks.map(|asks| asks.amounts.clone());
        let demand = |(kind, amount): (usize, u64)| {
            let natural = amount as f64 / self.kinds.unit(kind).scale() as f64;
            (self.kinds.name(kind).to_owned(), Value::from(natural.to_string()))
        };
        let amounts = amounts.unwrap_or_default().into_iter();
        let demand: Map<String, Value> = amounts.enumerate().map(demand).collect();
        job["spec"] = json!({ "demand": demand, "command": [] });
        let engine = self.driver.engine();
        let task = placed.and_then(|placed| {
            let node = self.driver.running(placed.task)?.node;
            let began = self.clock.unix(engine.started(placed.task)?);
            // With `Gates` the node is a guess until the pod is bound.
            let is_bound = matches!(shown.row.stand, Stand::Bound(_));
            let node = is_bound.then(|| engine.node(node).0.name.clone());
            Some(json!({ "index": 0, "attempt": 0, "running": true, "began_us": began,
                "node": node, "gpus": [] }))
        });
        job["task"] = task.map_or_else(|| json!({}), |task| json!({ "0": task }));
        Ok(job)
    }

    fn why_shown(
        &mut self,
        sees: &Sees,
        pod: (&str, &str),
        now: Time,
    ) -> Result<Result<Value, Refused>, KubernetesError> {
        let Some(shown) = self.theirs(sees, pod) else { return Ok(Err(no_pod())) };
        let (job, queue) = (self.as_job(&shown), shown.queue.to_owned());
        let id = match &shown.row.stand {
            Stand::Waits(id) => self.driver.job(*id).map(|job| (*id, job.queue())),
            _ => None,
        };
        let mut standing = Value::Null;
        if let Some((id, leaf)) = id {
            self.overdue |= self.is_due(now);
            standing = match self.driver.explain(now, leaf, Subject::Job(Some(id))) {
                Ok(told) => self.as_told(sees, &queue, told),
                // No question ends a leader.
                Err(why) => {
                    let status = http::StatusCode::INTERNAL_SERVER_ERROR;
                    return Ok(Err(Refused::new(status, why.to_string())));
                }
            };
        }
        Ok(Ok(json!({ "job": job, "waits_for": [], "waits_for_devices": 0,
            "standing": standing })))
    }

    /// Without what is others'.
    fn as_told(&self, sees: &Sees, queue: &str, mut standing: Standing) -> Value {
        let is_known = |other: &str| {
            let on_the_way = queue.strip_prefix(other);
            on_the_way.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || self.is_theirs(sees, other)
        };
        let hide_pod = |label: &mut String| {
            let namespace = label.split_once('/').map_or("", |(namespace, _)| namespace);
            if !sees.has(namespace) {
                *label = ANOTHER_POD.to_owned();
            }
        };
        let hide_queue = |name: &mut String| {
            if !is_known(name) {
                *name = ANOTHER_QUEUE.to_owned();
            }
        };
        for held in &mut standing.reservations {
            hide_pod(&mut held.job);
            for holder in held.nodes.iter_mut().flat_map(|node| &mut node.holders) {
                hide_pod(&mut holder.job);
                hide_queue(&mut holder.queue);
            }
        }
        if let Some(leaf) = &mut standing.leaf {
            leaf.first.iter_mut().for_each(|ahead| hide_pod(&mut ahead.job));
        }
        if let Some(guard) = &mut standing.guard {
            guard.before.iter_mut().for_each(hide_queue);
        }
        let mut told = json!(standing);
        for level in told["levels"].as_array_mut().into_iter().flatten() {
            for child in level["children"].as_array_mut().into_iter().flatten() {
                let known = child["queue"].as_str().is_some_and(is_known);
                if let Some(child) = child.as_object_mut().filter(|_| !known) {
                    child.insert("queue".to_owned(), ANOTHER_QUEUE.into());
                    child.remove("key");
                    child.remove("behind_by");
                }
            }
        }
        told
    }
}

fn no_pod() -> Refused {
    Refused::unknown("there is no such pod of Meed's, or it is not yours to see")
}
