//! Watches: nodes, pods, queues, namespaces, as one stream of what is heard; volumes are in
//! [`crate::volumes`].
//!
//! Pods that have ended are not listed, but followed: one that ends is passed on as gone, in the
//! state in which it has ended ([`ends_as_gone`]), and so is whatever is heard of it later. All
//! others are, not only ours, for they use the nodes, too. PodGroups (of scheduler-plugins, and of
//! Kubernetes) are, where the cluster has the kind: it is looked for every 15 s.
//!
//! A watch that was cut goes on, or begins anew with a list ([`crate::follow`]); what a list does
//! not show is gone ([`crate::relist::Relist`]). Pods are read where they come in: what is passed
//! on is what is needed of them, not the objects.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher::Event;
use kube::{Api, Client, Resource};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::crd::QueueObject;
use crate::error::{KubernetesError, is_code};
use crate::follow::{Follow, Pages};
use crate::heard::{DeviceHeard, Heard};
use crate::lean::{LeanPod, lean_node};
use crate::log;
use crate::pod::PodSeen;
use crate::pod::demand::Counts;
use crate::relist::{map, without_managers};
use crate::volumes;

/// Pods that have not ended.
pub(crate) const NOT_ENDED: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// How often it is looked for a kind that is not there.
const FOR_KIND: Duration = Duration::from_secs(15);

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
pub(crate) fn all(client: &Client, heard: &mpsc::Sender<Heard>, counts: Counts<'_>) -> Watches {
    let mut set = JoinSet::new();
    let (wanted, asked) = watch::channel(0);
    let nodes = Follow::new(client, Node::url_path(&(), None), Node::meta, heard);
    set.spawn(nodes.run(|event| Heard::Node(Box::new(map(event, lean_node)))));
    let queues = Follow::new(client, QueueObject::url_path(&(), None), QueueObject::meta, heard);
    set.spawn(queues.run(|event| Heard::Queue(Box::new(map(event, without_managers)))));
    let namespaces = Follow::new(client, Namespace::url_path(&(), None), Namespace::meta, heard);
    set.spawn(namespaces.run(|event| Heard::Namespace(Box::new(map(event, without_managers)))));
    follow_pods((client, heard), asked, counts, &mut set);
    volumes::watch(client, heard, &mut set);
    follow_devices((client, heard), &mut set);
    let plugins = vec![pod_group("scheduling.x-k8s.io", "v1alpha1")];
    set.spawn(pod_groups(client.clone(), heard.clone(), plugins, Heard::PodGroup));
    let own = ["v1", "v1beta1", "v1alpha3"].map(|version| pod_group("scheduling.k8s.io", version));
    set.spawn(pod_groups(client.clone(), heard.clone(), own.into(), Heard::SchedulingGroup));
    Watches { _tasks: set, wanted }
}

/// Follows pods, those that end until they have.
fn follow_pods(
    (client, heard): (&Client, &mpsc::Sender<Heard>),
    asked: watch::Receiver<u64>,
    Counts { kinds, resizes }: Counts<'_>,
    set: &mut JoinSet<()>,
) {
    let pods = Follow::new(client, Pod::url_path(&(), None), LeanPod::meta, heard);
    let (pods, kinds) = (pods.lists(NOT_ENDED).wanted(asked), kinds.clone());
    set.spawn(pods.run(move |event| {
        let read = map(event, |LeanPod(pod)| PodSeen::of(&pod, Counts { kinds: &kinds, resizes }));
        Heard::Pod(Box::new(ends_as_gone(read)))
    }));
}

/// Follows devices of dynamic resource allocation, for pods that ask for them as for a resource.
fn follow_devices((client, heard): (&Client, &mpsc::Sender<Heard>), set: &mut JoinSet<()>) {
    let classes = DeviceClass::url_path(&(), None);
    let classes = Follow::new(client, classes, DeviceClass::meta, heard);
    set.spawn(
        classes
            .run(|event| Heard::Device(DeviceHeard::Class(Box::new(map(event, without_managers))))),
    );
    let slices = ResourceSlice::url_path(&(), None);
    let slices = Follow::new(client, slices, ResourceSlice::meta, heard);
    set.spawn(
        slices
            .run(|event| Heard::Device(DeviceHeard::Slice(Box::new(map(event, without_managers))))),
    );
}

/// A pod that has ended is gone, as far as anybody here goes: it holds nothing.
fn ends_as_gone(event: Event<PodSeen>) -> Event<PodSeen> {
    match event {
        Event::Apply(pod) if pod.end.is_some() => Event::Delete(pod),
        other => other,
    }
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
    counts: Counts<'_>,
) -> Result<Vec<PodSeen>, KubernetesError> {
    let mut all = Vec::new();
    for phase in ["status.phase=Succeeded", "status.phase=Failed"] {
        let mut pages = Pages::of(client, &Pod::url_path(&(), None), Some(phase));
        loop {
            let page = pages.next::<LeanPod>().await;
            let page = page.map_err(|why| KubernetesError::api("list finished pods", why))?;
            let Some(page) = page else { break };
            let read = page.iter().map(|LeanPod(pod)| PodSeen::of(pod, counts));
            // Nothing was charged to those that name no queue.
            all.extend(read.filter(|pod| pod.queue.is_some()));
        }
    }
    Ok(all)
}

/// Kinds of PodGroup that a cluster may have: those of scheduler-plugins, and those of Kubernetes
/// (GenericWorkload) in the versions that were served so far, the newest first.
fn pod_group(group: &str, version: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, "PodGroup"))
}

/// Waits until the cluster has one of these kinds, then watches the first that it has.
async fn pod_groups(
    client: Client,
    heard: mpsc::Sender<Heard>,
    kinds: Vec<ApiResource>,
    say: fn(Box<Event<DynamicObject>>) -> Heard,
) {
    let one_of = ListParams::default().limit(1);
    let mut said = false;
    let kind = 'found: loop {
        for kind in &kinds {
            let api: Api<DynamicObject> = Api::all_with(client.clone(), kind);
            match api.list_metadata(&one_of).await {
                Ok(_) => break 'found kind,
                Err(error) if is_code(&error, 404) => {}
                Err(why) => {
                    if !std::mem::replace(&mut said, true) {
                        log::line(&format!("PodGroups are not read: {why}; tried again"));
                    }
                }
            }
        }
        tokio::time::sleep(FOR_KIND).await;
    };
    let url = DynamicObject::url_path(kind, None);
    let groups = Follow::new(&client, url, DynamicObject::meta, &heard);
    groups.run(move |event| say(Box::new(map(event, without_managers)))).await;
}

#[cfg(test)]
mod tests;
