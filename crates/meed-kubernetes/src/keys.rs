//! Names that Meed reads and writes in the API: labels, annotations, the gate.
//!
//! All stand below one domain, so that one admission policy can keep others from writing them.

/// The queue of a pod (label), or the default of a namespace's pods (label of the Namespace).
pub(crate) const QUEUE: &str = "meed.dev/queue";

/// The gang of a pod (label), in its namespace.
pub(crate) const GANG: &str = "meed.dev/gang";

/// How many pods of the gang start together (label).
pub(crate) const GANG_SIZE: &str = "meed.dev/gang-size";

/// The gang of a pod by scheduler-plugins (label): a PodGroup in its namespace.
pub(crate) const POD_GROUP: &str = "scheduling.x-k8s.io/pod-group";

/// The scheduling gate that holds a pod until it is its turn.
pub(crate) const GATE: &str = "meed.dev/hold";

/// The scheduler that pods name which Meed places by itself.
pub(crate) const SCHEDULER: &str = "meed";

/// Annotation: the term of the leader that let the pod start; checked by the fence.
pub(crate) const EPOCH: &str = "meed.dev/epoch";

/// Annotation: since when the pod is charged, in microseconds since 1970.
pub(crate) const STARTED: &str = "meed.dev/started";

/// Annotation: the node that the engine chose.
pub(crate) const NODE: &str = "meed.dev/node";

/// Annotation: the queue that is charged, by the name of its object.
pub(crate) const CHARGED: &str = "meed.dev/charged";

/// The component in events, and the manager of fields.
pub(crate) const COMPONENT: &str = "meed";

#[cfg(test)]
mod tests {
    use super::*;

    /// What refuses and what says why name the same annotations: all that Meed alone writes.
    #[test]
    fn the_guard_names_each_annotation_that_only_meed_writes_wherever_it_lists_them() {
        let fence = include_str!("../../../deploy/kubernetes/chart/objects/fence.yaml");
        let list = [EPOCH, STARTED, CHARGED, NODE].map(|key| format!("\"{key}\"")).join(", ");
        assert_eq!(fence.matches(&format!("[{list}]")).count(), 2);
    }
}
