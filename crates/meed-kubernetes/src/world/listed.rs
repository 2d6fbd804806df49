//! What a process has listed when it begins to lead.

use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};
use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, StorageClass};

use crate::crd::QueueObject;
use crate::pod::gang::GroupSeen;

/// What is there at the beginning of a term; pods as objects, or as they were read.
#[derive(Default)]
pub(crate) struct Listed<P = Pod> {
    pub(crate) nodes: Vec<Node>,
    /// Pods that have not ended.
    pub(crate) pods: Vec<P>,
    /// Pods that have.
    pub(crate) finished: Vec<P>,
    pub(crate) queues: Vec<QueueObject>,
    pub(crate) namespaces: Vec<Namespace>,
    /// How many pods of each PodGroup start together, by its namespace and name.
    pub(crate) pod_groups: Vec<GroupSeen>,
    pub(crate) claims: Vec<PersistentVolumeClaim>,
    pub(crate) volumes: Vec<PersistentVolume>,
    pub(crate) classes: Vec<StorageClass>,
    pub(crate) drivers: Vec<CSIDriver>,
    pub(crate) csi_nodes: Vec<CSINode>,
    pub(crate) device_classes: Vec<DeviceClass>,
    pub(crate) slices: Vec<ResourceSlice>,
}
