//! The first lists of a term: all kinds whole, before anything is decided.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::Resource;
use kube::api::DynamicObject;
use kube::runtime::watcher::Event;
use tokio::sync::mpsc;

use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::volumes::FirstVolumes;
use crate::watch::{Change, Heard, Relist, least_of, uid_of};
use crate::world::Listed;

/// The first lists of all watches.
pub(crate) async fn listed(heard: &mut mpsc::Receiver<Heard>) -> Result<Listed, KubernetesError> {
    let mut ears = FirstLists::default();
    while !ears.are_complete() {
        match heard.recv().await {
            Some(Heard::Deposed(why)) => return Err(KubernetesError::Deposed(why)),
            Some(heard) => ears.hear(heard),
            None => return Err(KubernetesError::Deposed("the watches ended".to_owned())),
        }
    }
    Ok(ears.into_listed())
}

/// One kind's.
pub(crate) struct FirstList<K> {
    relist: Relist,
    pub(crate) objects: BTreeMap<String, K>,
    pub(crate) is_complete: bool,
}

impl<K> Default for FirstList<K> {
    fn default() -> FirstList<K> {
        let (relist, objects) = (Relist::default(), BTreeMap::new());
        FirstList { relist, objects, is_complete: false }
    }
}

impl<K: Resource> FirstList<K> {
    pub(crate) fn hear(&mut self, event: Event<K>) {
        match self.relist.step(event, uid_of) {
            Change::Nothing => {}
            Change::Seen(object) => _ = self.objects.insert(uid_of(&object), object),
            Change::Gone(object) => _ = self.objects.remove(&uid_of(&object)),
            Change::Listed(names) => {
                self.objects.retain(|name, _| names.contains(name));
                self.is_complete = true;
            }
        }
    }
}

#[derive(Default)]
struct FirstLists {
    nodes: FirstList<Node>,
    pods: FirstList<Pod>,
    queues: FirstList<QueueObject>,
    namespaces: FirstList<Namespace>,
    /// As far as they are there: not every cluster has the kind.
    pod_groups: FirstList<DynamicObject>,
    volumes: FirstVolumes,
}

impl FirstLists {
    fn are_complete(&self) -> bool {
        self.nodes.is_complete
            && self.pods.is_complete
            && self.queues.is_complete
            && self.namespaces.is_complete
            && self.volumes.are_complete()
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Node(event) => self.nodes.hear(*event),
            Heard::Pod(event) => self.pods.hear(*event),
            Heard::Queue(event) => self.queues.hear(*event),
            Heard::Namespace(event) => self.namespaces.hear(*event),
            Heard::PodGroup(event) => self.pod_groups.hear(*event),
            Heard::Volume(heard) => self.volumes.hear(heard),
            Heard::Answer(_) | Heard::Looked(..) | Heard::NotEvicted(..) | Heard::Deposed(_) => {}
        }
    }

    fn into_listed(self) -> Listed {
        Listed {
            nodes: self.nodes.objects.into_values().collect(),
            pods: self.pods.objects.into_values().collect(),
            finished: Vec::new(),
            queues: self.queues.objects.into_values().collect(),
            namespaces: self.namespaces.objects.into_values().collect(),
            pod_groups: self.pod_groups.objects.values().map(least_of).collect(),
            ..self.volumes.listed()
        }
    }
}
