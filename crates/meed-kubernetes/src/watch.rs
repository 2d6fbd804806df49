//! Watches: nodes, pods, queues, namespaces, as one stream of what is heard; volumes are in
//! [`crate::volumes`].
//!
//! Pods that have ended are not watched: one that ends is heard of as deleted, with its last state.
//! All others are, not only ours, for they use the nodes, too. PodGroups (scheduler-plugins) are,
//! where the cluster has the kind: it is looked for every 15 s. Lists are the most recent ones: a
//! list from the server's cache may be older than what the leader before wrote.
//!
//! A watch that was cut begins anew with a list; what it does not show is gone ([`Relist`]).

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher::{self, Event, ListSemantic};
use kube::runtime::{WatchStreamExt as _, watcher as watch_of};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::crd::QueueObject;
use crate::error::is_code;
use crate::log;
use crate::pod::PodName;
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
    Pod(Box<Event<Pod>>),
    Queue(Box<Event<QueueObject>>),
    Namespace(Box<Event<Namespace>>),
    PodGroup(Box<Event<DynamicObject>>),
    /// Claims, volumes, and classes of claims.
    Volume(VolumeHeard),
    /// The answer to an order.
    Answer(Answer),
    /// What became of a pod that a list did not show; none: it is gone.
    Looked(PodName, Option<Box<Pod>>),
    /// A pod could not be evicted yet, and why.
    NotEvicted(String, String),
    /// This process leads no more, and why.
    Deposed(String),
}

/// Begins all watches; they end with the set.
pub(crate) fn all(client: &Client, heard: &mpsc::Sender<Heard>) -> JoinSet<()> {
    let recent = watcher::Config::default().list_semantic(ListSemantic::MostRecent);
    let mut set = JoinSet::new();
    let of = |client: &Client| client.clone();
    let nodes = Api::<Node>::all(of(client));
    set.spawn(one(nodes, recent.clone(), heard.clone(), |event| Heard::Node(Box::new(event))));
    let queues = Api::<QueueObject>::all(of(client));
    set.spawn(one(queues, recent.clone(), heard.clone(), |event| Heard::Queue(Box::new(event))));
    let namespaces = Api::<Namespace>::all(of(client));
    set.spawn(one(namespaces, recent.clone(), heard.clone(), |event| {
        Heard::Namespace(Box::new(event))
    }));
    let pods = Api::<Pod>::all(of(client));
    let alive = recent.clone().fields(NOT_ENDED);
    set.spawn(one(pods, alive, heard.clone(), |event| Heard::Pod(Box::new(event))));
    volumes::watch(client, &recent, heard, &mut set);
    set.spawn(pod_groups(client.clone(), heard.clone()));
    set
}

/// The kind PodGroup of scheduler-plugins, which a cluster may have.
fn pod_group() -> ApiResource {
    let kind = GroupVersionKind::gvk("scheduling.x-k8s.io", "v1alpha1", "PodGroup");
    ApiResource::from_gvk(&kind)
}

/// Waits for the kind, then watches it.
async fn pod_groups(client: Client, heard: mpsc::Sender<Heard>) {
    let api: Api<DynamicObject> = Api::all_with(client, &pod_group());
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
    let recent = watcher::Config::default().list_semantic(ListSemantic::MostRecent);
    one(api, recent, heard, |event| Heard::PodGroup(Box::new(event))).await;
}

/// How many pods of a PodGroup start together, by its namespace and name.
pub(crate) fn least_of(group: &DynamicObject) -> ((String, String), u32) {
    let key = (group.namespace().unwrap_or_default(), group.name_any());
    let least = group.data.pointer("/spec/minMember").and_then(serde_json::Value::as_u64);
    (key, least.and_then(|least| u32::try_from(least).ok()).unwrap_or(1).max(1))
}

pub(crate) async fn one<K>(
    api: Api<K>,
    config: watcher::Config,
    heard: mpsc::Sender<Heard>,
    wrap: fn(Event<K>) -> Heard,
) where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut events = std::pin::pin!(watch_of(api, config).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if heard.send(wrap(event)).await.is_err() {
                    return;
                }
            }
            Err(why) => log::line(&format!("a watch begins anew: {why}")),
        }
    }
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

/// What no other object ever has.
pub(crate) fn uid_of<K: Resource>(object: &K) -> String {
    object.uid().unwrap_or_default()
}
