//! When something happened to pods, and to how many: counted by a watch, so that it costs the API
//! server the same for every way that is measured.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, WatchEvent};
use kube::{Api, ResourceExt};
use tokio::task::JoinHandle;

use crate::plane::{Plane, instant};

/// How many pods, since when the first, and the last.
type Seen = (usize, Option<Instant>, Option<Instant>);

/// What a watch tells.
pub(crate) type Told<K> = BoxStream<'static, kube::Result<WatchEvent<K>>>;

/// Counts pods, each once.
#[derive(Clone, Default)]
pub(crate) struct Counted(Arc<Mutex<Seen>>);

impl Counted {
    pub(crate) fn get(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn one(&self) {
        let now = instant();
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = (seen.0 + 1, seen.1.or(Some(now)), Some(now));
    }

    /// Counts from now on those pods of a watch that `counts` says. `open` begins the watch at a
    /// version; a server that is busy cuts watches, and then it goes on from where it was.
    pub(crate) async fn watch<K: ResourceExt + Send + 'static>(
        plane: &Plane,
        open: impl Fn(Api<Pod>, String) -> BoxFuture<'static, Told<K>> + Send + 'static,
        counts: impl Fn(&K) -> bool + Send + 'static,
    ) -> (Counted, JoinHandle<()>) {
        let pods: Api<Pod> = Api::all(plane.admin.clone());
        let list = pods.list_metadata(&ListParams::default().limit(1)).await.expect("a list");
        let mut at = list.metadata.resource_version.expect("a list has a version");
        let counted = Counted::default();
        let seen = counted.clone();
        let task = tokio::spawn(async move {
            let mut known = BTreeSet::new();
            loop {
                let mut events = open(pods.clone(), at.clone()).await;
                while let Some(Ok(event)) = events.next().await {
                    let pod = match event {
                        WatchEvent::Added(pod) | WatchEvent::Modified(pod) => {
                            if counts(&pod) && known.insert(pod.uid()) {
                                seen.one();
                            }
                            pod
                        }
                        WatchEvent::Deleted(pod) => pod,
                        WatchEvent::Bookmark(mark) => {
                            at = mark.metadata.resource_version;
                            continue;
                        }
                        WatchEvent::Error(why) => panic!("the watch that counts: {why:?}"),
                    };
                    at = pod.resource_version().unwrap_or(at);
                }
            }
        });
        (counted, task)
    }
}
