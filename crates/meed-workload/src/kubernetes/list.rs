//! Lists of Kubernetes' API to rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed::{MAX_AMOUNT, ResourceKinds, Resources};
use meed_config::queues::check_name;
use meed_config::words::quote;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{KubernetesQueues, Row};
use crate::error::BadRow;
use crate::records::LineNumbers;
use crate::table::{parse_date, parse_quantity};
use crate::whole::Whole;
use crate::{MAX_TASKS, OnBadLine, TraceError};

/// Longest name, in bytes.
const MAX_NAME: usize = 200;
/// The label that names the LocalQueue of a pod.
const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
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
    overhead: BTreeMap<String, Quantity>,
    active_deadline_seconds: Option<u64>,
    pod_sets: Vec<PodSet>,
    queue_name: String,
    maximum_execution_time_seconds: Option<u64>,
}

#[derive(Deserialize)]
struct PodSet {
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
    conditions: Vec<Condition>,
    admission: Option<Admission>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    state: State,
    restart_count: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
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
    last_transition_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Admission {
    #[serde(default)]
    cluster_queue: String,
}

/// All objects of a file, in its order.
pub(super) fn read(
    file: &Arc<str>,
    bytes: &[u8],
    kinds: &ResourceKinds,
    queues: &KubernetesQueues,
    on_bad_line: OnBadLine,
) -> Result<Whole<Row>, TraceError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut read = Whole::new(file, on_bad_line);
    let mut known = BTreeSet::new();
    let mut lines = LineNumbers::new(bytes);
    for list in serde_json::Deserializer::from_slice(bytes).into_iter::<List<'_>>() {
        let list = list.map_err(|why| TraceError::Header {
            file: Arc::clone(file),
            line: why.line() as u64,
            why: format!("{why}; wanted is a list, as `kubectl get pods -A -o json` writes it"),
        })?;
        for raw in list.items {
            let object = of_raw(raw);
            // An earlier list may have seen it before it ended.
            let found = object.and_then(|object| {
                let uid = &object.metadata.uid;
                if known.contains(uid) {
                    return Ok(None);
                }
                let row = object.row(kinds, queues)?;
                if row.is_some() && !uid.is_empty() {
                    known.insert(uid.clone());
                }
                Ok(row)
            });
            let found = found
                .map(|row| row.map(|(queue, row)| Row { queue: read.number_of(&queue), ..row }));
            read.add(lines.of(raw.get()), found)?;
        }
    }
    Ok(read)
}

fn of_raw(raw: &RawValue) -> Result<Object, BadRow> {
    serde_json::from_str(raw.get()).map_err(|why| {
        // Where it is within the object helps nobody: its line is told.
        let why = why.to_string();
        let what = why.split(" at line ").next().unwrap_or_default();
        BadRow::line(format!("no pod and no Workload: {what}"))
    })
}

impl Object {
    /// `None`: it has not ended, or requests nothing that counts.
    fn row(
        &self,
        kinds: &ResourceKinds,
        queues: &KubernetesQueues,
    ) -> Result<Option<(String, Row)>, BadRow> {
        let name = &self.metadata.name;
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(self.wrong("metadata.name", "is no name of 1 to 200 bytes".to_owned()));
        }
        let is_workload = self.kind == "Workload" || !self.spec.pod_sets.is_empty();
        if !is_workload && !matches!(self.kind.as_str(), "" | "Pod") {
            return Err(BadRow::line(format!(
                "a {}; wanted are pods and Workloads",
                quote(self.kind.as_bytes())
            )));
        }
        let submit = self.time("creationTimestamp", Some(&self.metadata.creation_timestamp))?;
        let (begin, end) = if is_workload { self.of_conditions()? } else { self.of_containers()? };
        let (Some(submit), Some(begin), Some(end)) = (submit, begin, end) else { return Ok(None) };
        let Some(duration) = end.checked_sub(begin) else {
            return Err(BadRow::line(format!("{} ends before it starts", quote(name.as_bytes()))));
        };
        let groups = self.groups(kinds, is_workload)?;
        if groups.is_empty() {
            return Ok(None);
        }
        let seconds = match is_workload {
            true => self.spec.maximum_execution_time_seconds,
            false => self.spec.active_deadline_seconds,
        };
        let limit = seconds.and_then(|seconds| seconds.checked_mul(1_000_000));
        let limit = limit.filter(|limit| *limit <= meed::MAX_MICROS).unwrap_or(0);
        let queue = self.queue(queues)?;
        let (name, gang) = (name.as_str().into(), is_workload);
        Ok(Some((queue, Row { submit, duration, limit, queue: 0, name, groups, gang })))
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

    /// From the start of the first container to the end of the last one. What is told of a
    /// container that was restarted is its last attempt: such a pod is taken from its own start on.
    fn of_containers(&self) -> Result<(Option<u64>, Option<u64>), BadRow> {
        if !matches!(self.status.phase.as_str(), "Succeeded" | "Failed") {
            return Ok((None, None));
        }
        let (mut begin, mut end) = (None, None);
        let statuses = self.status.container_statuses.iter();
        for done in statuses.filter_map(|status| status.state.terminated.as_ref()) {
            let started = self.time("startedAt", done.started_at.as_deref())?;
            let finished = self.time("finishedAt", done.finished_at.as_deref())?;
            begin = begin.into_iter().chain(started).min();
            end = end.into_iter().chain(finished).max();
        }
        let started = self.time("startTime", self.status.start_time.as_deref())?;
        let restarted = self.status.container_statuses.iter().any(|one| one.restart_count > 0);
        Ok((if restarted { started.or(begin) } else { begin.or(started) }, end))
    }

    /// From admission to the end.
    fn of_conditions(&self) -> Result<(Option<u64>, Option<u64>), BadRow> {
        let since = |name: &str| {
            let condition = self.status.conditions.iter().find(|one| one.r#type == name);
            let text = condition.filter(|one| one.status == "True");
            self.time(name, text.and_then(|one| one.last_transition_time.as_deref()))
        };
        Ok((since("Admitted")?, since("Finished")?))
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
                tasks = tasks.saturating_add(set.count);
                groups.push((set.count, self.demand(&set.template.spec, kinds)?));
            }
        } else {
            groups.push((1, self.demand(&self.spec, kinds)?));
        }
        if tasks > MAX_TASKS {
            return Err(self.wrong("podSets", format!("more than {MAX_TASKS} pods")));
        }
        groups.retain(|(count, demand)| *count > 0 && !demand.is_zero());
        Ok(groups)
    }

    /// The requests of all containers together, or of the largest init container; with those of the
    /// sidecars that run beside them.
    fn demand(&self, spec: &Spec, kinds: &ResourceKinds) -> Result<Resources, BadRow> {
        let mut demand = Resources::zero(kinds.len());
        for (kind, name) in kinds.names().enumerate() {
            let mut sum = 0u64;
            for container in &spec.containers {
                let amount = self.request(&container.resources, name, kind, kinds)?;
                sum = sum.saturating_add(amount);
            }
            let (mut beside, mut before) = (0u64, 0u64);
            for container in &spec.init_containers {
                let amount = self.request(&container.resources, name, kind, kinds)?;
                let all = beside.saturating_add(amount);
                before = before.max(all);
                if container.restart_policy.as_deref() == Some("Always") {
                    beside = all;
                }
            }
            let sum = sum.saturating_add(beside).max(before);
            let overhead = self.amount(&spec.overhead, name, kind, kinds)?.unwrap_or(0);
            demand.as_mut_slice()[kind] = sum.saturating_add(overhead).min(MAX_AMOUNT);
        }
        Ok(demand)
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
            let wrong = || self.wrong(key, format!("{} is no quantity", quote(text.as_bytes())));
            let amount = parse_quantity(text.as_bytes(), kinds.unit(kind)).ok_or_else(wrong)?;
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
