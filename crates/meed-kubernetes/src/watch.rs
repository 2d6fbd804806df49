//! Watches: nodes, pods, queues, namespaces, as one stream of what is heard; volumes are in
//! [`crate::volumes`].
//!
//! Pods that have ended are not listed, but followed: one that ends is passed on as gone, in the
//! state in which it has ended ([`ends_as_gone`]), and so is whatever is heard of it later. All
//! others are, not only ours, for they use the nodes, too. PodGroups (scheduler-plugins) are, where
//! the cluster has the kind: it is looked for every 15 s.
//!
//! A watch that was cut goes on, or begins anew with a list ([`crate::follow`]); what a list does
//! not show is gone ([`Relist`]). Pods are read where they come in: what is passed on is what is
//! needed of them, not the objects.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher::Event;
use kube::{Api, Client, Resource, ResourceExt as _};
use meed::ResourceKinds;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::crd::QueueObject;
use crate::error::{KubernetesError, is_code};
use crate::follow::{Follow, Pages};
use crate::lean::{LeanPod, lean_node};
use crate::log;
use crate::pod::{PodName, PodSeen};
use crate::volumes::{self, VolumeHeard};
use crate::world::Answer;

/// Pods that have not ended.
pub(crate) const NOT_ENDED: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// How often it is looked for a kind that is not there.
const FOR_KIND: Duration = Duration::from_secs(15);

/// What is heard.
#[derive(Debug)]
pub(crate) enum Heard {
    Node(Box<Event<Node>>),
    Pod(Box<Event<PodSeen>>),
    Queue(Box<Event<QueueObject>>),
    Namespace(Box<Event<Namespace>>),
    PodGroup(Box<Event<DynamicObject>>),
    /// Claims, volumes, and classes of claims.
    Volume(VolumeHeard),
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

/// All watches; they end with it.
pub(crate) struct Watches {
    _tasks: JoinSet<()>,
    wanted: watch::Sender<u64>,
}

impl Watches {
    /// Says [`Heard::UpTo`] when pods are heard of up to this version.
    pub(crate) fn hear_up_to(&self, version: u64) {
        self.wanted.send_replace(version);
    }
}

/// Begins all watches.
pub(crate) fn all(client: &Client, heard: &mpsc::Sender<Heard>, kinds: &ResourceKinds) -> Watches {
    let mut set = JoinSet::new();
    let (wanted, asked) = watch::channel(0);
    let nodes = Follow::new(client, Node::url_path(&(), None), Node::meta, heard);
    set.spawn(nodes.run(|event| Heard::Node(Box::new(map(event, lean_node)))));
    let queues = Follow::new(client, QueueObject::url_path(&(), None), QueueObject::meta, heard);
    set.spawn(queues.run(|event| Heard::Queue(Box::new(map(event, without_managers)))));
    let namespaces = Follow::new(client, Namespace::url_path(&(), None), Namespace::meta, heard);
    set.spawn(namespaces.run(|event| Heard::Namespace(Box::new(map(event, without_managers)))));
    follow_pods((client, heard), asked, kinds, &mut set);
    volumes::watch(client, heard, &mut set);
    set.spawn(pod_groups(client.clone(), heard.clone()));
    Watches { _tasks: set, wanted }
}

/// Follows pods, those that end until they have.
fn follow_pods(
    (client, heard): (&Client, &mpsc::Sender<Heard>),
    asked: watch::Receiver<u64>,
    kinds: &ResourceKinds,
    set: &mut JoinSet<()>,
) {
    let pods = Follow::new(client, Pod::url_path(&(), None), LeanPod::meta, heard);
    let (pods, kinds) = (pods.lists(NOT_ENDED).wanted(asked), kinds.clone());
    set.spawn(pods.run(move |event| {
        let read = map(event, |LeanPod(pod)| PodSeen::of(&pod, &kinds));
        Heard::Pod(Box::new(ends_as_gone(read)))
    }));
}

/// A pod that has ended is gone, as far as anybody here goes: it holds nothing.
fn ends_as_gone(event: Event<PodSeen>) -> Event<PodSeen> {
    match event {
        Event::Apply(pod) if pod.end.is_some() => Event::Delete(pod),
        other => other,
    }
}

/// An event of what was read of an object.
pub(crate) fn map<K, T>(event: Event<K>, read: impl FnOnce(K) -> T) -> Event<T> {
    match event {
        Event::Init => Event::Init,
        Event::InitApply(object) => Event::InitApply(read(object)),
        Event::InitDone => Event::InitDone,
        Event::Apply(object) => Event::Apply(read(object)),
        Event::Delete(object) => Event::Delete(read(object)),
    }
}

pub(crate) fn without_managers<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}

/// The version of now, of all pods: no write that was answered before is younger.
pub(crate) async fn version_of_now(client: &Client) -> Result<u64, KubernetesError> {
    let one = ListParams::default().limit(1);
    let list = Api::<Pod>::all(client.clone()).list_metadata(&one).await;
    let list = list.map_err(|why| KubernetesError::api("ask for the version of pods", why))?;
    let version = list.metadata.resource_version.and_then(|version| version.parse().ok());
    // A server whose versions are no numbers: no watch reaches this, and all is listed anew.
    Ok(version.unwrap_or(u64::MAX))
}

/// Pods that have ended and are still there.
pub(crate) async fn finished_pods(
    client: &Client,
    kinds: &ResourceKinds,
) -> Result<Vec<PodSeen>, KubernetesError> {
    let mut all = Vec::new();
    for phase in ["status.phase=Succeeded", "status.phase=Failed"] {
        let mut pages = Pages::of(client, &Pod::url_path(&(), None), Some(phase));
        loop {
            let page = pages.next::<LeanPod>().await;
            let page = page.map_err(|why| KubernetesError::api("list finished pods", why))?;
            let Some(page) = page else { break };
            let read = page.iter().map(|LeanPod(pod)| PodSeen::of(pod, kinds));
            // Nothing was charged to those that name no queue.
            all.extend(read.filter(|pod| pod.queue.is_some()));
        }
    }
    Ok(all)
}

/// The kind PodGroup of scheduler-plugins, which a cluster may have.
fn pod_group() -> ApiResource {
    let kind = GroupVersionKind::gvk("scheduling.x-k8s.io", "v1alpha1", "PodGroup");
    ApiResource::from_gvk(&kind)
}

/// Waits for the kind, then watches it.
async fn pod_groups(client: Client, heard: mpsc::Sender<Heard>) {
    let kind = pod_group();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let one_of = ListParams::default().limit(1);
    let mut said = false;
    loop {
        match api.list_metadata(&one_of).await {
            Ok(_) => break,
            Err(error) if is_code(&error, 404) => {}
            Err(why) => {
                if !std::mem::replace(&mut said, true) {
                    log::line(&format!("PodGroups are not read: {why}; tried again"));
                }
            }
        }
        tokio::time::sleep(FOR_KIND).await;
    }
    let url = DynamicObject::url_path(&kind, None);
    let groups = Follow::new(&client, url, DynamicObject::meta, &heard);
    groups.run(|event| Heard::PodGroup(Box::new(map(event, without_managers)))).await;
}

/// How many pods of a PodGroup start together, by its namespace and name.
pub(crate) fn least_of(group: &DynamicObject) -> ((String, String), u32) {
    let key = (group.namespace().unwrap_or_default(), group.name_any());
    let least = group.data.pointer("/spec/minMember").and_then(serde_json::Value::as_u64);
    (key, least.and_then(|least| u32::try_from(least).ok()).unwrap_or(1).max(1))
}

/// What a new list shows.
#[derive(Debug, Default)]
pub(crate) struct Relist {
    seen: Option<BTreeSet<String>>,
}

/// One step of a watch.
pub(crate) enum Change<K> {
    /// Nothing yet.
    Nothing,
    /// An object is there.
    Seen(K),
    /// It is gone; this was its last state.
    Gone(K),
    /// The list is complete: these are all.
    Listed(BTreeSet<String>),
}

impl Relist {
    /// A list has begun, and is not complete.
    pub(crate) fn is_on(&self) -> bool {
        self.seen.is_some()
    }

    /// What an event of a watch means; `key` names the object for good.
    pub(crate) fn step<K>(&mut self, event: Event<K>, key: impl Fn(&K) -> String) -> Change<K> {
        match event {
            Event::Init => {
                self.seen = Some(BTreeSet::new());
                Change::Nothing
            }
            Event::InitApply(object) => {
                if let Some(seen) = &mut self.seen {
                    seen.insert(key(&object));
                }
                Change::Seen(object)
            }
            Event::InitDone => match self.seen.take() {
                Some(seen) => Change::Listed(seen),
                None => Change::Nothing,
            },
            Event::Apply(object) => Change::Seen(object),
            Event::Delete(object) => Change::Gone(object),
        }
    }
}

/// The name of an object of the cluster.
pub(crate) fn name_of<K: Resource>(object: &K) -> String {
    object.name_any()
}

#[cfg(test)]
mod tests;
