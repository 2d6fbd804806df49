//! Objects as they come, without what nobody here reads.
//!
//! `managedFields` say who owns which field of an object, as a tree of maps; they are a third of a
//! pod's bytes, and most of its memory. Of them only is kept that somebody applies the pod
//! ([`is_applied`]). The images of a node are tens of names.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod, PodSpec, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta, Time};
use serde::{Deserialize, Deserializer};

/// Under this name kubectl writes what it applies by itself. When it applies the same object
/// server-side for the first time, it takes over what stands under it.
const KUBECTL_APPLIES: &str = "kubectl-client-side-apply";

/// Whether this is the entry of somebody who applies the object, now or by kubectl: he is asked by
/// it which fields were his, and may be gone.
pub(crate) fn is_applied(entry: &ManagedFieldsEntry) -> bool {
    entry.operation.as_deref() == Some("Apply") || entry.manager.as_deref() == Some(KUBECTL_APPLIES)
}

/// A pod without owners, and without `managedFields` but the names of those who apply it.
#[derive(Clone, Debug)]
pub(crate) struct LeanPod(pub(crate) Pod);

impl LeanPod {
    /// Its metadata.
    pub(crate) fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }
}

#[derive(Deserialize)]
struct Whole {
    metadata: Meta,
    spec: Option<PodSpec>,
    status: Option<PodStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    managed_fields: Option<Vec<Manager>>,
}

#[derive(Deserialize)]
struct Manager {
    manager: Option<String>,
    operation: Option<String>,
}

/// Those who apply it; none, where there is none.
fn who_applies(all: Vec<Manager>) -> Option<Vec<ManagedFieldsEntry>> {
    let entry = |Manager { manager, operation }| ManagedFieldsEntry {
        manager,
        operation,
        ..ManagedFieldsEntry::default()
    };
    let kept: Vec<ManagedFieldsEntry> = all.into_iter().map(entry).filter(is_applied).collect();
    (!kept.is_empty()).then_some(kept)
}

impl<'de> Deserialize<'de> for LeanPod {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LeanPod, D::Error> {
        let Whole { metadata: read, spec, status } = Whole::deserialize(from)?;
        let metadata = ObjectMeta {
            namespace: read.namespace,
            name: read.name,
            uid: read.uid,
            resource_version: read.resource_version,
            labels: read.labels,
            annotations: read.annotations,
            creation_timestamp: read.creation_timestamp,
            deletion_timestamp: read.deletion_timestamp,
            managed_fields: read.managed_fields.and_then(who_applies),
            ..ObjectMeta::default()
        };
        Ok(LeanPod(Pod { metadata, spec, status }))
    }
}

/// A node without what is not read of it.
pub(crate) fn lean_node(mut node: Node) -> Node {
    node.metadata.managed_fields = None;
    if let Some(status) = &mut node.status {
        status.images = None;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::PodSeen;
    use meed::{ResourceKinds, Unit};
    use serde_json::json;

    #[test]
    fn a_lean_pod_is_read_as_the_whole_one() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "namespace": "a", "name": "p", "uid": "u", "resourceVersion": "7",
                "labels": { "meed.dev/queue": "research", "app": "web" },
                "annotations": { "meed.dev/started": "5000000", "meed.dev/node": "n1" },
                "creationTimestamp": "1970-01-01T00:00:02Z",
                "deletionTimestamp": "1970-01-01T00:00:08Z",
                "managedFields": [{ "manager": "m", "fieldsV1": { "f:metadata": { ".": {} } } }],
                "ownerReferences": [{ "apiVersion": "v1", "kind": "Job", "name": "j", "uid": "w" }],
            },
            "spec": {
                "containers": [{ "name": "c", "resources": { "requests": { "cpu": "2" } } }],
                "nodeSelector": { "zone": "a" },
                "schedulingGates": [{ "name": "meed.dev/hold" }],
            },
            "status": { "phase": "Pending" },
        });
        let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
        let mut applied = pod.clone();
        for (manager, operation, is_kept) in [
            ("kubectl-create", "Update", false),
            ("kubectl-client-side-apply", "Update", true),
            ("argocd-controller", "Apply", true),
        ] {
            let entry = json!({ "manager": manager, "operation": operation, "fieldsV1": {} });
            let first = pod["metadata"]["managedFields"][0].clone();
            applied["metadata"]["managedFields"] = json!([first, entry]);
            let whole: Pod = serde_json::from_value(applied.clone()).unwrap();
            let LeanPod(lean) = serde_json::from_value(applied.clone()).unwrap();
            let seen = PodSeen::of(&lean, &kinds);
            assert_eq!((seen.applied, &seen), (is_kept, &PodSeen::of(&whole, &kinds)));
        }
        let whole: Pod = serde_json::from_value(pod.clone()).unwrap();
        let LeanPod(lean) = serde_json::from_value(pod).unwrap();
        assert_eq!(PodSeen::of(&lean, &kinds), PodSeen::of(&whole, &kinds));
        assert_eq!(lean.metadata.resource_version.as_deref(), Some("7"));
        assert!(lean.metadata.managed_fields.is_none() && whole.metadata.managed_fields.is_some());
    }
}
