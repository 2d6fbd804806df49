//! What is heard: of the API server by watches, and of other tasks of this process.

use std::time::Instant;

use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};
use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, StorageClass};
use kube::api::DynamicObject;
use kube::runtime::watcher::Event;

use crate::crd::QueueObject;
use crate::pod::{PodName, PodSeen};
use crate::world::Answer;

/// What is heard.
#[derive(Debug)]
pub(crate) enum Heard {
    Node(Box<Event<Node>>),
    Pod(Box<Event<PodSeen>>),
    Queue(Box<Event<QueueObject>>),
    Namespace(Box<Event<Namespace>>),
    /// Of scheduler-plugins.
    PodGroup(Box<Event<DynamicObject>>),
    /// Of Kubernetes itself.
    SchedulingGroup(Box<Event<DynamicObject>>),
    /// Claims, volumes, and classes of claims.
    Volume(VolumeHeard),
    /// Devices of dynamic resource allocation.
    Device(DeviceHeard),
    /// Pods are heard of up to this version.
    UpTo(u64),
    /// The answer to an order.
    Answer(Answer),
    /// What became of a pod that a list did not show; none: it is gone.
    Looked(PodName, Option<Box<Pod>>),
    /// A pod could not be evicted yet, and why.
    NotEvicted(String, String),
    /// For a standby: pods that had ended before.
    Finished(Vec<PodSeen>),
    /// For a standby: the leader has written a checkpoint.
    Checkpoint(Instant),
    /// This process leads no more, and why.
    Deposed(String),
}

/// What is heard of them.
#[derive(Debug)]
pub(crate) enum VolumeHeard {
    Claim(Box<Event<PersistentVolumeClaim>>),
    Volume(Box<Event<PersistentVolume>>),
    Class(Box<Event<StorageClass>>),
    Driver(Box<Event<CSIDriver>>),
    /// How many volumes a node attaches.
    Attaches(Box<Event<CSINode>>),
}

/// What is heard of devices.
#[derive(Debug)]
pub(crate) enum DeviceHeard {
    Class(Box<Event<DeviceClass>>),
    Slice(Box<Event<ResourceSlice>>),
}
