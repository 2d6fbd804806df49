//! What a pod asks for, as Kubernetes counts it.
//!
//! For each resource: max(sum of containers and sidecars, max over init containers of (its own
//! request + the sidecars declared before it)); then `spec.resources` replaces it where given (pod
//! level), then `spec.overhead` is added; and one of `pods`. A container that is resized in place
//! counts with the largest of what is wanted, allocated and actual. Limits without requests need no
//! care: the API server has copied them.
//!
//! A resource that the cluster's kinds do not have is left out of the amounts and named, so that
//! whoever places the pod can refuse it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use meed::{ResourceKinds, Resources};

use crate::quantity::amount;

/// The kind that counts pods.
const PODS: &str = "pods";

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
pub(crate) fn of_pod(pod: &Pod, kinds: &ResourceKinds) -> Result<Demand, String> {
    let mut sum = Sum { kinds, unknown: Vec::new() };
    let zero = Resources::zero(kinds.len());
    let Some(spec) = &pod.spec else { return Ok(Demand { amounts: zero, unknown: Vec::new() }) };
    let statuses = pod.status.as_ref();
    let status = |list: Option<&Vec<ContainerStatus>>, name: &str| {
        list?.iter().find(|status| status.name == name).cloned()
    };
    let mut running = zero;
    for container in &spec.containers {
        let list = statuses.and_then(|status| status.container_statuses.as_ref());
        let own = sum.container(container, status(list, &container.name).as_ref())?;
        add(&mut running, &own)?;
    }
    let (mut sidecars, mut starting) = (zero, zero);
    for container in spec.init_containers.iter().flatten() {
        let list = statuses.and_then(|status| status.init_container_statuses.as_ref());
        let own = sum.container(container, status(list, &container.name).as_ref())?;
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut sidecars, &own)?;
            raise(&mut starting, &sidecars);
        } else {
            let mut with_sidecars = own;
            add(&mut with_sidecars, &sidecars)?;
            raise(&mut starting, &with_sidecars);
        }
    }
    add(&mut running, &sidecars)?;
    raise(&mut running, &starting);
    if let Some(level) = spec.resources.as_ref().and_then(|all| all.requests.as_ref()) {
        sum.replace(&mut running, level)?;
    }
    if let Some(overhead) = &spec.overhead {
        add(&mut running, &sum.amounts(overhead)?)?;
    }
    if let Some(kind) = kinds.find(PODS) {
        running.as_mut_slice()[kind] = 1000;
    }
    sum.unknown.sort();
    sum.unknown.dedup();
    Ok(Demand { amounts: running, unknown: sum.unknown })
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
    fn amounts(&mut self, requests: &Requests) -> Result<Resources, String> {
        let mut all = Resources::zero(self.kinds.len());
        self.replace(&mut all, requests)?;
        Ok(all)
    }

    /// Each named amount takes the place of the one before.
    fn replace(&mut self, all: &mut Resources, requests: &Requests) -> Result<(), String> {
        for (name, quantity) in requests {
            match self.kinds.find(name) {
                Some(kind) => {
                    let read = amount(&quantity.0, self.kinds.unit(kind));
                    all.as_mut_slice()[kind] = read.map_err(|why| format!("{name}: {why}"))?;
                }
                None if is_scheduled(name) && !is_zero(quantity) => self.unknown.push(name.clone()),
                None => {}
            }
        }
        Ok(())
    }

    fn container(
        &mut self,
        container: &Container,
        status: Option<&ContainerStatus>,
    ) -> Result<Resources, String> {
        let wanted = container.resources.as_ref().and_then(|all| all.requests.as_ref());
        let allocated = status.and_then(|status| status.allocated_resources.as_ref());
        let actual = status.and_then(|status| status.resources.as_ref());
        let actual = actual.and_then(|all| all.requests.as_ref());
        let mut most = Resources::zero(self.kinds.len());
        for requests in [wanted, allocated, actual].into_iter().flatten() {
            raise(&mut most, &self.amounts(requests)?);
        }
        Ok(most)
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

fn add(sum: &mut Resources, more: &Resources) -> Result<(), String> {
    for (sum, more) in sum.as_mut_slice().iter_mut().zip(more.as_slice()) {
        let both = sum.checked_add(*more).filter(|both| *both <= meed::resources::MAX_AMOUNT);
        *sum = both.ok_or("the sum of its requests is larger than can be counted")?;
    }
    Ok(())
}

fn raise(most: &mut Resources, other: &Resources) {
    for (most, other) in most.as_mut_slice().iter_mut().zip(other.as_slice()) {
        *most = (*most).max(*other);
    }
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
        of_pod(&serde_json::from_value(pod).unwrap(), &kinds())
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
