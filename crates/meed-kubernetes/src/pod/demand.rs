//! What a pod asks for, as Kubernetes counts it: the rule is that of [`meed_pods`], and one of
//! `pods`. Limits without requests need no care: the API server has copied them.
//!
//! A resource that the cluster's kinds do not have is left out of the amounts and named, so that
//! whoever places the pod can refuse it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ContainerStatus, Pod, PodSpec, PodStatus};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use meed::{ResourceKinds, Resources};
use meed_pods::quantity::amount;
use meed_pods::{ContainerHolds, PodHolds, Resizes, is_pod_level};

/// The kind that counts pods.
const PODS: &str = "pods";

/// By what pods are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts<'k> {
    pub(crate) kinds: &'k ResourceKinds,
    pub(crate) resizes: Resizes,
}

/// As the newest kube-scheduler counts.
impl<'k> From<&'k ResourceKinds> for Counts<'k> {
    fn from(kinds: &'k ResourceKinds) -> Counts<'k> {
        Counts { kinds, resizes: Resizes::default() }
    }
}

/// What a pod asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Demand {
    /// In the cluster's kinds.
    pub(crate) amounts: Resources,
    /// Resources that the cluster's kinds do not have, of which it wants some.
    pub(crate) unknown: Vec<String>,
}

type Requests = BTreeMap<String, Quantity>;

/// The demand of a pod; in words what is wrong with it.
pub(crate) fn of_pod(pod: &Pod, Counts { kinds, resizes }: Counts<'_>) -> Result<Demand, String> {
    let mut sum = Sum { kinds, unknown: Vec::new() };
    let mut holds = PodHolds::new(kinds.len());
    holds.resizes(resizes);
    if let Some(spec) = &pod.spec {
        sum.spec(spec, pod.status.as_ref(), &mut holds)?;
    }
    let mut amounts = holds.amounts().map_err(|why| why.to_string())?;
    if let Some(kind) = kinds.find(PODS)
        && pod.spec.is_some()
    {
        amounts.as_mut_slice()[kind] = 1000;
    }
    sum.unknown.sort();
    sum.unknown.dedup();
    Ok(Demand { amounts, unknown: sum.unknown })
}

/// Whether its last resize cannot be given by its node.
fn is_infeasible(status: &PodStatus) -> bool {
    let conditions = status.conditions.iter().flatten();
    let mut pending = conditions.filter(|one| one.type_ == "PodResizePending");
    pending.any(|one| one.reason.as_deref() == Some("Infeasible"))
}

/// What a node has for pods.
pub(crate) fn of_node(allocatable: &Requests, kinds: &ResourceKinds) -> Result<Resources, String> {
    Sum { kinds, unknown: Vec::new() }.amounts(allocatable)
}

struct Sum<'k> {
    kinds: &'k ResourceKinds,
    unknown: Vec<String>,
}

impl Sum<'_> {
    fn spec(
        &mut self,
        spec: &PodSpec,
        status: Option<&PodStatus>,
        holds: &mut PodHolds,
    ) -> Result<(), String> {
        let find = |list: Option<&Vec<ContainerStatus>>, name: &str| {
            list?.iter().find(|status| status.name == name).cloned()
        };
        for container in &spec.containers {
            let list = status.and_then(|status| status.container_statuses.as_ref());
            holds.container(self.container(container, find(list, &container.name).as_ref())?);
        }
        for container in spec.init_containers.iter().flatten() {
            let list = status.and_then(|status| status.init_container_statuses.as_ref());
            let own = self.container(container, find(list, &container.name).as_ref())?;
            let is_sidecar = container.restart_policy.as_deref() == Some("Always");
            holds.init_container(own.sidecar(is_sidecar));
        }
        if let Some(level) = spec.resources.as_ref().and_then(|all| all.requests.as_ref()) {
            holds.level(self.part(level)?);
        }
        if let Some(overhead) = &spec.overhead {
            holds.overhead(self.amounts(overhead)?);
        }
        let Some(status) = status else { return Ok(()) };
        let allocated = status.allocated_resources.as_ref();
        let actual = status.resources.as_ref().and_then(|all| all.requests.as_ref());
        let allocated = allocated.map(|all| self.part(all)).transpose()?;
        holds.status(allocated, actual.map(|all| self.part(all)).transpose()?);
        holds.infeasible(is_infeasible(status));
        Ok(())
    }

    /// Requests of a whole pod, where they count.
    fn part(&mut self, requests: &Requests) -> Result<Vec<(usize, u64)>, String> {
        let mut part = Vec::new();
        for (name, quantity) in requests.iter().filter(|(name, _)| is_pod_level(name)) {
            match self.kinds.find(name) {
                Some(kind) => part.push((kind, self.read(name, kind, quantity)?)),
                None => self.is_unknown(name, quantity),
            }
        }
        Ok(part)
    }

    fn read(&self, name: &str, kind: usize, quantity: &Quantity) -> Result<u64, String> {
        amount(&quantity.0, self.kinds.unit(kind)).map_err(|why| format!("{name}: {why}"))
    }

    fn is_unknown(&mut self, name: &str, quantity: &Quantity) {
        if is_scheduled(name) && !is_zero(quantity) {
            self.unknown.push(name.to_owned());
        }
    }

    fn amounts(&mut self, requests: &Requests) -> Result<Resources, String> {
        let mut all = Resources::zero(self.kinds.len());
        for (name, quantity) in requests {
            match self.kinds.find(name) {
                Some(kind) => all.as_mut_slice()[kind] = self.read(name, kind, quantity)?,
                None => self.is_unknown(name, quantity),
            }
        }
        Ok(all)
    }

    fn container(
        &mut self,
        container: &Container,
        status: Option<&ContainerStatus>,
    ) -> Result<ContainerHolds, String> {
        let spec = container.resources.as_ref().and_then(|all| all.requests.as_ref());
        let allocated = status.and_then(|status| status.allocated_resources.as_ref());
        let actual = status.and_then(|status| status.resources.as_ref());
        let actual = actual.and_then(|all| all.requests.as_ref());
        let zero = Resources::zero(self.kinds.len());
        let mut read = |requests: Option<&Requests>| {
            requests.map(|requests| self.amounts(requests)).transpose()
        };
        let spec = read(spec)?.unwrap_or(zero);
        Ok(ContainerHolds::new(spec).allocated(read(allocated)?).actual(read(actual)?))
    }
}

/// Whether a scheduler must find room for it where the cluster's kinds do not name it: extended
/// resources, huge pages. Of the basic ones who installs Meed says which count.
fn is_scheduled(name: &str) -> bool {
    !matches!(name, "cpu" | "memory" | "ephemeral-storage" | "storage")
}

fn is_zero(quantity: &Quantity) -> bool {
    amount(&quantity.0, meed::Unit::Milli) == Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::Unit;
    use serde_json::{Value, json};

    fn kinds() -> ResourceKinds {
        let kinds = [("cpu", Unit::Milli), ("memory", Unit::Bytes), ("pods", Unit::Milli)];
        ResourceKinds::new(kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec()).unwrap()
    }

    fn demand(spec: Value, status: Value) -> Result<Demand, String> {
        let pod = json!({ "spec": spec, "status": status });
        of_pod(&serde_json::from_value(pod).unwrap(), (&kinds()).into())
    }

    fn container(name: &str, cpu: &str) -> Value {
        json!({ "name": name, "resources": { "requests": { "cpu": cpu } } })
    }

    fn sidecar(name: &str, cpu: &str) -> Value {
        let mut container = container(name, cpu);
        container["restartPolicy"] = "Always".into();
        container
    }

    /// Rows: containers, init containers, the cpu in all. The rules are those of
    /// `component-helpers/resource.PodRequests`.
    #[test]
    fn requests_are_counted_as_kubernetes_does() {
        let (a, b) = (container("a", "1"), container("b", "2"));
        for (row, (containers, init, expected)) in [
            (json!([a]), json!([]), 1000),
            (json!([a, b]), json!([]), 3000),
            (json!([a, b]), json!([container("i", "2")]), 3000),
            (json!([a, b]), json!([container("i", "4"), container("j", "1")]), 4000),
            (json!([a]), json!([sidecar("s", "1")]), 2000),
            (json!([a]), json!([container("i", "3"), sidecar("s", "1")]), 3000),
            (json!([a]), json!([sidecar("s", "1"), container("i", "3")]), 4000),
            (json!([a]), json!([sidecar("s", "1"), sidecar("t", "1")]), 3000),
            (json!([{ "name": "none" }]), json!([]), 0),
        ]
        .into_iter()
        .enumerate()
        {
            let spec = json!({ "containers": containers, "initContainers": init });
            let amounts = demand(spec, json!({})).unwrap().amounts;
            assert_eq!(amounts.as_slice(), [expected, 0, 1000], "row {row}");
        }
    }

    #[test]
    fn the_pod_level_replaces_and_overhead_adds() {
        let spec = json!({
            "containers": [container("a", "1")],
            "resources": { "requests": { "cpu": "3" } },
            "overhead": { "cpu": "250m", "memory": "1Mi" },
        });
        let amounts = demand(spec, json!({})).unwrap().amounts;
        assert_eq!(amounts.as_slice(), [3250, 1 << 20, 1000]);
    }

    #[test]
    fn a_resize_counts_with_the_largest() {
        let spec = json!({ "containers": [container("a", "1")] });
        for (status, expected) in [
            (json!({ "name": "a", "allocatedResources": { "cpu": "2" } }), 2000),
            (json!({ "name": "a", "resources": { "requests": { "cpu": "4" } } }), 4000),
            (json!({ "name": "other", "allocatedResources": { "cpu": "9" } }), 1000),
            (json!({ "name": "a", "allocatedResources": { "cpu": "500m" } }), 1000),
        ] {
            let mut status = status;
            for (key, value) in [("image", json!("")), ("imageID", json!(""))] {
                status[key] = value;
            }
            (status["ready"], status["restartCount"]) = (json!(true), json!(0));
            let all = json!({ "containerStatuses": [status] });
            assert_eq!(demand(spec.clone(), all).unwrap().amounts.get(0), expected);
        }
    }

    /// The rows of a resize of the whole pod, and of one that cannot be given, as Kubernetes 1.37.2
    /// counted them.
    #[test]
    fn a_resize_of_the_pod_and_one_that_is_infeasible_count_as_the_scheduler_counts_them() {
        let infeasible = json!([{
            "type": "PodResizePending", "status": "True", "reason": "Infeasible"
        }]);
        let mut own = json!({
            "name": "a", "image": "", "imageID": "", "ready": true, "restartCount": 0,
            "allocatedResources": { "cpu": "100m" }
        });
        let spec = json!({ "containers": [container("a", "16")] });
        let status = json!({ "conditions": infeasible, "containerStatuses": [own.clone()] });
        assert_eq!(demand(spec.clone(), status).unwrap().amounts.get(0), 100);
        own["allocatedResources"]["cpu"] = "20".into();
        let status = json!({ "containerStatuses": [own] });
        assert_eq!(demand(spec, status).unwrap().amounts.get(0), 20_000, "it shrinks");

        let level = |cpu: &str| {
            json!({ "containers": [container("a", "1")],
                "resources": { "requests": { "cpu": cpu } } })
        };
        let has = |cpu: &str| {
            json!({ "allocatedResources": { "cpu": cpu },
                "resources": { "requests": { "cpu": cpu } } })
        };
        assert_eq!(demand(level("2"), has("14")).unwrap().amounts.get(0), 14_000);
        let mut status = has("2");
        assert_eq!(demand(level("6"), status.clone()).unwrap().amounts.get(0), 6000);
        status["conditions"] = infeasible;
        assert_eq!(demand(level("6"), status).unwrap().amounts.get(0), 2000);
    }

    #[test]
    fn what_the_kinds_do_not_have_is_named() {
        let requests = json!({
            "nvidia.com/gpu": "1", "hugepages-2Mi": "0", "ephemeral-storage": "1Gi", "cpu": "1"
        });
        let spec =
            json!({ "containers": [{ "name": "a", "resources": { "requests": requests } }] });
        let demand = demand(spec, json!({})).unwrap();
        assert_eq!(demand.unknown, ["nvidia.com/gpu"]);
        assert_eq!(demand.amounts.get(0), 1000);
    }

    #[test]
    fn what_cannot_be_counted_is_refused_in_words() {
        let huge = json!({ "containers": [container("a", "9e15")] });
        assert!(demand(huge, json!({})).unwrap_err().contains("larger than can be counted"));
        let odd = json!({ "containers": [container("a", "many")] });
        assert!(demand(odd, json!({})).unwrap_err().contains("cpu: quantity `many`"));
    }
}
