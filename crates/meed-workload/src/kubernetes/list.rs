//! Lists of Kubernetes' API to rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed::{ResourceKinds, Resources};
use meed_config::queues::check_name;
use meed_config::words::quote;
use meed_pods::quantity;
use meed_pods::{ContainerHolds, PodHolds, PodTimes, is_pod_level};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::counted::{Counted, LeftOut};
use super::{KubernetesQueues, Row};
use crate::error::BadRow;
use crate::fields::{check_length, json_problem};
use crate::records::LineNumbers;
use crate::table::parse_date;
use crate::whole::Whole;
use crate::{MAX_TASKS, OnBadLine, TraceError};

/// The label that names the LocalQueue of a pod.
const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

#[derive(Deserialize)]
struct List<'a> {
    /// `null` where there are none.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Object {
    /// Lists of one kind (`PodList`) need not say it of each.
    #[serde(default)]
    kind: String,
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    uid: String,
    creation_timestamp: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// Of a pod, and of a Workload.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    containers: Vec<Container>,
    init_containers: Vec<Container>,
    /// Requests of the whole pod.
    resources: Requests,
    overhead: BTreeMap<String, Quantity>,
    resource_claims: Vec<serde::de::IgnoredAny>,
    active_deadline_seconds: Option<u64>,
    pod_sets: Vec<PodSet>,
    queue_name: String,
    maximum_execution_time_seconds: Option<u64>,
}

#[derive(Deserialize)]
struct PodSet {
    #[serde(default)]
    name: String,
    #[serde(default = "one")]
    count: u32,
    template: Template,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
struct Template {
    spec: Box<Spec>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Container {
    name: String,
    resources: Requests,
    /// `Always`, of an init container: a sidecar, which runs beside all that come after it.
    restart_policy: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Requests {
    requests: BTreeMap<String, Quantity>,
    limits: BTreeMap<String, Quantity>,
}

/// As YAML people write them: `"500m"`, `2`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Quantity {
    Text(String),
    Number(serde_json::Number),
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    phase: String,
    start_time: Option<String>,
    container_statuses: Vec<ContainerStatus>,
    init_container_statuses: Vec<ContainerStatus>,
    allocated_resources: Option<BTreeMap<String, Quantity>>,
    resources: Option<Requests>,
    conditions: Vec<Condition>,
    admission: Option<Admission>,
    scheduling_stats: SchedulingStats,
    requeue_state: RequeueState,
}

/// How often Kueue has evicted a Workload, by reasons (from version 0.12).
#[derive(Deserialize, Default)]
#[serde(default)]
struct SchedulingStats {
    evictions: Vec<Evictions>,
}

#[derive(Deserialize)]
struct Evictions {
    #[serde(default)]
    count: u64,
}

/// How often it was put back because its pods were not ready in time.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RequeueState {
    count: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    name: String,
    state: State,
    allocated_resources: Option<BTreeMap<String, Quantity>>,
    resources: Option<Requests>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Terminated {
    started_at: Option<String>,
    finished_at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    r#type: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    last_transition_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Admission {
    #[serde(default)]
    cluster_queue: String,
    #[serde(default)]
    pod_set_assignments: Vec<Assignment>,
}

/// What was admitted of a pod set.
#[derive(Deserialize)]
struct Assignment {
    #[serde(default)]
    name: String,
    #[serde(default)]
    count: Option<u32>,
}

/// All objects of a file, in its order.
pub(super) fn read(
    file: &Arc<str>,
    bytes: &[u8],
    kinds: &ResourceKinds,
    queues: &KubernetesQueues,
    on_bad_line: OnBadLine,
) -> Result<(Whole<Row>, Counted), TraceError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut read = Whole::new(file, on_bad_line);
    let (mut seen, mut counted) = (Seen::default(), Counted::default());
    let mut lines = LineNumbers::new(bytes);
    for list in serde_json::Deserializer::from_slice(bytes).into_iter::<List<'_>>() {
        let list = list.map_err(|why| TraceError::Header {
            file: Arc::clone(file),
            line: why.line() as u64,
            why: format!("{why}; wanted is a list, as `kubectl get pods -A -o json` writes it"),
        })?;
        for raw in list.items.unwrap_or_default() {
            let found = of_raw(raw).and_then(|object| {
                let uid = &object.metadata.uid;
                if seen.jobs.contains(uid) {
                    return Ok(None);
                }
                let found = object.row(kinds, queues, &mut counted)?;
                Ok(seen.job_of(uid, found, &mut counted))
            });
            let found = found
                .map(|row| row.map(|(queue, row)| Row { queue: read.number_of(&queue), ..row }));
            read.add(lines.of(raw.get()), found)?;
        }
    }
    seen.left_out.into_values().for_each(|why| counted.left_out(why));
    Ok((read, counted))
}

/// What an object of a list is.
enum Found {
    Job {
        queue: String,
        row: Row,
    },
    LeftOut(LeftOut),
    /// It has not ended, or requests nothing that counts.
    Nothing,
}

/// Objects by their uid. A later list may have them again; an earlier one may have seen them
/// before they ended.
#[derive(Default)]
struct Seen {
    jobs: BTreeSet<String>,
    left_out: BTreeMap<String, LeftOut>,
}

impl Seen {
    /// The job that an object is, with its queue. Objects without a uid are objects by themselves.
    fn job_of(&mut self, uid: &str, found: Found, counted: &mut Counted) -> Option<(String, Row)> {
        match found {
            Found::Job { queue, row } => {
                if !uid.is_empty() {
                    self.left_out.remove(uid);
                    self.jobs.insert(uid.to_owned());
                }
                return Some((queue, row));
            }
            Found::LeftOut(why) if uid.is_empty() => counted.left_out(why),
            Found::LeftOut(why) => {
                self.left_out.insert(uid.to_owned(), why);
            }
            Found::Nothing => {}
        }
        None
    }
}

/// When an object held resources.
enum Held {
    Known {
        from: u64,
        until: u64,
        /// The condition `DisruptionTarget` alone tells the end.
        is_cut: bool,
    },
    LeftOut(LeftOut),
    /// It has not ended.
    Open,
}

fn of_raw(raw: &RawValue) -> Result<Object, BadRow> {
    serde_json::from_str(raw.get())
        .map_err(|why| BadRow::line(format!("no pod and no Workload: {}", json_problem(&why))))
}

fn status_of<'s>(
    list: Option<&'s Vec<ContainerStatus>>,
    name: &str,
) -> Option<&'s ContainerStatus> {
    list?.iter().find(|status| status.name == name)
}

impl Object {
    /// What it is. Of a job is counted what is said beside its row.
    fn row(
        &self,
        kinds: &ResourceKinds,
        queues: &KubernetesQueues,
        counted: &mut Counted,
    ) -> Result<Found, BadRow> {
        let name = &self.metadata.name;
        check_length(name).map_err(|why| self.wrong("metadata.name", why))?;
        let is_workload = self.kind == "Workload" || !self.spec.pod_sets.is_empty();
        if !is_workload && !matches!(self.kind.as_str(), "" | "Pod") {
            return Err(BadRow::line(format!(
                "a {}; wanted are pods and Workloads",
                quote(self.kind.as_bytes())
            )));
        }
        let submit = self.time("creationTimestamp", Some(&self.metadata.creation_timestamp))?;
        let held = if is_workload { self.of_conditions()? } else { self.of_containers()? };
        let (from, until, is_cut) = match held {
            Held::Known { from, until, is_cut } => (from, until, is_cut),
            Held::LeftOut(why) => return Ok(Found::LeftOut(why)),
            Held::Open => return Ok(Found::Nothing),
        };
        let Some(submit) = submit else { return Ok(Found::Nothing) };
        let duration = until.checked_sub(from).ok_or_else(|| self.ends_before())?;
        let groups = self.groups(kinds, is_workload)?;
        if groups.is_empty() {
            return Ok(match self.has_claims() {
                true => Found::LeftOut(LeftOut::OnlyClaims { is_workload }),
                false => Found::Nothing,
            });
        }
        let seconds = match is_workload {
            true => self.spec.maximum_execution_time_seconds,
            false => self.spec.active_deadline_seconds,
        };
        let limit = seconds.and_then(|seconds| seconds.checked_mul(1_000_000));
        let limit = limit.filter(|limit| *limit <= meed::MAX_MICROS).unwrap_or(0);
        let queue = self.queue(queues)?;
        self.note(is_workload, counted);
        counted.cut += u64::from(is_cut);
        let (name, gang) = (name.as_str().into(), is_workload);
        let row = Row { submit, duration, limit, queue: 0, name, groups, gang };
        Ok(Found::Job { queue, row })
    }

    /// What is said of a job beside its row.
    fn note(&self, is_workload: bool, counted: &mut Counted) {
        if self.has_claims() {
            counted.claims(is_workload);
        }
        if is_workload {
            let stats = self.status.scheduling_stats.evictions.iter();
            let evictions = stats.fold(0u64, |all, one| all.saturating_add(one.count));
            // A Workload that is evicted has a condition that says so, if nothing counts.
            let is_told = self.status.conditions.iter().any(|one| one.r#type == "Evicted");
            let least = self.status.requeue_state.count.max(u64::from(is_told));
            counted.evicted(evictions.max(least));
            let asked = self.spec.pod_sets.iter();
            counted.partial |= asked.clone().any(|set| self.admitted(set) < set.count);
        } else {
            counted.infeasible += u64::from(self.is_infeasible());
        }
    }

    /// Whether a pod of it claims devices.
    fn has_claims(&self) -> bool {
        let templates = self.spec.pod_sets.iter().map(|set| &*set.template.spec);
        templates.chain([&self.spec]).any(|spec| !spec.resource_claims.is_empty())
    }

    fn is_infeasible(&self) -> bool {
        let mut pending = self.status.conditions.iter();
        pending.any(|one| one.r#type == "PodResizePending" && one.reason == "Infeasible")
    }

    fn ends_before(&self) -> BadRow {
        BadRow::line(format!("{} ends before it starts", quote(self.metadata.name.as_bytes())))
    }

    fn wrong(&self, field: &str, what: String) -> BadRow {
        let name = quote(self.metadata.name.as_bytes());
        BadRow::field(format!("{field} of {name}"), what)
    }

    fn time(&self, field: &str, text: Option<&str>) -> Result<Option<u64>, BadRow> {
        let Some(text) = text else { return Ok(None) };
        let wrong = || self.wrong(field, format!("{} is no date", quote(text.as_bytes())));
        parse_date(text.as_bytes()).map(Some).ok_or_else(wrong)
    }

    /// Since when a condition is true.
    fn since(&self, name: &str) -> Result<Option<u64>, BadRow> {
        let condition = self.status.conditions.iter().find(|one| one.r#type == name);
        let text = condition.filter(|one| one.status == "True");
        self.time(name, text.and_then(|one| one.last_transition_time.as_deref()))
    }

    /// From the binding of a pod to the end of its last container ([`PodTimes`]).
    fn of_containers(&self) -> Result<Held, BadRow> {
        if !matches!(self.status.phase.as_str(), "Succeeded" | "Failed") {
            return Ok(Held::Open);
        }
        let mut times = PodTimes::default();
        times.bound(self.since("PodScheduled")?);
        times.started(self.time("startTime", self.status.start_time.as_deref())?);
        times.disrupted(self.since("DisruptionTarget")?);
        let main = self.status.container_statuses.iter();
        for status in main.chain(&self.status.init_container_statuses) {
            match &status.state.terminated {
                Some(done) => {
                    let from = self.time("startedAt", done.started_at.as_deref())?;
                    let until = self.time("finishedAt", done.finished_at.as_deref())?;
                    if from.zip(until).is_some_and(|(from, until)| until < from) {
                        return Err(self.ends_before());
                    }
                    times.ended(from, until);
                }
                None if status.state.running.is_some() => times.runs(),
                None => {}
            }
        }
        let (Some(from), Some(until)) = (times.from(), times.until()) else {
            return Ok(Held::LeftOut(LeftOut::Untold));
        };
        Ok(Held::Known { from, until, is_cut: times.is_cut() })
    }

    /// From the last admission of a Workload to its end.
    fn of_conditions(&self) -> Result<Held, BadRow> {
        let (from, until) = (self.since("Admitted")?, self.since("Finished")?);
        if let (Some(from), Some(until)) = (from, until) {
            return Ok(Held::Known { from, until, is_cut: false });
        }
        let mut conditions = self.status.conditions.iter();
        let is_deactivated = conditions.any(|one| {
            one.r#type == "Evicted" && one.status == "True" && one.reason.starts_with("Deactivated")
        });
        Ok(match (is_deactivated, until) {
            (true, _) => Held::LeftOut(LeftOut::Deactivated),
            (false, Some(_)) => Held::LeftOut(LeftOut::NeverAdmitted),
            (false, None) => Held::Open,
        })
    }

    /// How many pods of a set were admitted: fewer than were asked for, where the Workload allows
    /// it.
    fn admitted(&self, set: &PodSet) -> u32 {
        let admission = self.status.admission.as_ref();
        let mut all = admission.iter().flat_map(|admission| &admission.pod_set_assignments);
        let assigned = all.find(|one| one.name == set.name);
        assigned.and_then(|one| one.count).unwrap_or(set.count)
    }

    fn groups(
        &self,
        kinds: &ResourceKinds,
        is_workload: bool,
    ) -> Result<Vec<(u32, Resources)>, BadRow> {
        let mut groups = Vec::new();
        let mut tasks = 0u32;
        if is_workload {
            for set in &self.spec.pod_sets {
                let count = self.admitted(set);
                tasks = tasks.saturating_add(count);
                groups.push((count, self.demand(&set.template.spec, None, kinds)?));
            }
        } else {
            groups.push((1, self.demand(&self.spec, Some(&self.status), kinds)?));
        }
        if tasks > MAX_TASKS {
            return Err(self.wrong("podSets", format!("more than {MAX_TASKS} pods")));
        }
        groups.retain(|(count, demand)| *count > 0 && !demand.is_zero());
        Ok(groups)
    }

    /// What a pod holds, by the rule of [`meed_pods`].
    fn demand(
        &self,
        spec: &Spec,
        status: Option<&Status>,
        kinds: &ResourceKinds,
    ) -> Result<Resources, BadRow> {
        let mut holds = PodHolds::new(kinds.len());
        let main = status.map(|status| &status.container_statuses);
        for container in &spec.containers {
            let told = status_of(main, &container.name);
            holds.container(self.container(container, told, kinds)?);
        }
        let init = status.map(|status| &status.init_container_statuses);
        for container in &spec.init_containers {
            let told = status_of(init, &container.name);
            let is_sidecar = container.restart_policy.as_deref() == Some("Always");
            holds.init_container(self.container(container, told, kinds)?.sidecar(is_sidecar));
        }
        holds.level(self.part(&spec.resources, kinds)?);
        holds.overhead(self.dense(&spec.overhead, kinds)?);
        if let Some(status) = status {
            let part = |all: &BTreeMap<String, Quantity>| self.part_of(all, kinds);
            let allocated = status.allocated_resources.as_ref().map(part).transpose()?;
            let actual = status.resources.as_ref().map(|all| part(&all.requests)).transpose()?;
            holds.status(allocated, actual);
            holds.infeasible(self.is_infeasible());
        }
        holds.amounts().map_err(|why| self.wrong("resources", format!("{why}")))
    }

    fn container(
        &self,
        container: &Container,
        status: Option<&ContainerStatus>,
        kinds: &ResourceKinds,
    ) -> Result<ContainerHolds, BadRow> {
        let mut spec = Resources::zero(kinds.len());
        for (kind, name) in kinds.names().enumerate() {
            let amount = self.request(&container.resources, name, kind, kinds)?;
            spec.as_mut_slice()[kind] = amount;
        }
        let dense = |all: &BTreeMap<String, Quantity>| self.dense(all, kinds);
        let allocated = status.and_then(|status| status.allocated_resources.as_ref());
        let actual = status.and_then(|status| status.resources.as_ref());
        let allocated = allocated.map(dense).transpose()?;
        let actual = actual.filter(|all| !all.requests.is_empty());
        let actual = actual.map(|all| dense(&all.requests)).transpose()?;
        Ok(ContainerHolds::new(spec).allocated(allocated).actual(actual))
    }

    fn dense(
        &self,
        amounts: &BTreeMap<String, Quantity>,
        kinds: &ResourceKinds,
    ) -> Result<Resources, BadRow> {
        let mut all = Resources::zero(kinds.len());
        for (kind, name) in kinds.names().enumerate() {
            all.as_mut_slice()[kind] = self.amount(amounts, name, kind, kinds)?.unwrap_or(0);
        }
        Ok(all)
    }

    /// Requests of the whole pod; a limit without a request is the request.
    fn part(
        &self,
        resources: &Requests,
        kinds: &ResourceKinds,
    ) -> Result<Vec<(usize, u64)>, BadRow> {
        let mut all = self.part_of(&resources.requests, kinds)?;
        for (kind, amount) in self.part_of(&resources.limits, kinds)? {
            if all.iter().all(|(one, _)| *one != kind) {
                all.push((kind, amount));
            }
        }
        Ok(all)
    }

    fn part_of(
        &self,
        amounts: &BTreeMap<String, Quantity>,
        kinds: &ResourceKinds,
    ) -> Result<Vec<(usize, u64)>, BadRow> {
        let mut all = Vec::new();
        for (kind, name) in kinds.names().enumerate().filter(|(_, name)| is_pod_level(name)) {
            if let Some(amount) = self.amount(amounts, name, kind, kinds)? {
                all.push((kind, amount));
            }
        }
        Ok(all)
    }

    /// A limit without a request is the request.
    fn request(
        &self,
        resources: &Requests,
        name: &str,
        kind: usize,
        kinds: &ResourceKinds,
    ) -> Result<u64, BadRow> {
        match self.amount(&resources.requests, name, kind, kinds)? {
            Some(amount) => Ok(amount),
            None => Ok(self.amount(&resources.limits, name, kind, kinds)?.unwrap_or(0)),
        }
    }

    fn amount(
        &self,
        amounts: &BTreeMap<String, Quantity>,
        name: &str,
        kind: usize,
        kinds: &ResourceKinds,
    ) -> Result<Option<u64>, BadRow> {
        // GPUs are `nvidia.com/gpu`, `amd.com/gpu` and so on.
        let is =
            |key: &str| key == name || key.rsplit_once('/').is_some_and(|(_, key)| key == name);
        let mut sum = None;
        for (key, quantity) in amounts.iter().filter(|(key, _)| is(key)) {
            let text = match quantity {
                Quantity::Text(text) => text.clone(),
                Quantity::Number(number) => number.to_string(),
            };
            let wrong = |_| self.wrong(key, format!("{} is no quantity", quote(text.as_bytes())));
            let amount = quantity::amount(&text, kinds.unit(kind)).map_err(wrong)?;
            sum = Some(amount.saturating_add(sum.unwrap_or(0)));
        }
        Ok(sum)
    }

    /// The queue that it belongs to. A dot in a name would be a level of the tree.
    fn queue(&self, queues: &KubernetesQueues) -> Result<String, BadRow> {
        let flat = |name: &str| name.replace('.', "_");
        let namespace = match self.metadata.namespace.as_str() {
            "" => "default".to_owned(),
            namespace => flat(namespace),
        };
        let label = self.metadata.labels.get(QUEUE_LABEL).map(String::as_str);
        let local = Some(self.spec.queue_name.as_str()).filter(|name| !name.is_empty()).or(label);
        let cluster = self.status.admission.as_ref().map(|admission| &admission.cluster_queue);
        let queue = match queues {
            KubernetesQueues::Namespace => namespace,
            KubernetesQueues::Queue => match local {
                Some(local) => format!("{namespace}.{}", flat(local)),
                None => format!("{namespace}.none"),
            },
            KubernetesQueues::ClusterQueue => {
                cluster.filter(|name| !name.is_empty()).map_or(namespace, |name| flat(name))
            }
            KubernetesQueues::Single(name) => name.clone(),
        };
        check_name(&queue).map_err(BadRow::line)?;
        Ok(queue)
    }
}
