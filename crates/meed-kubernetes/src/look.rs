//! Reads pods that a list did not show, so that one which has ended meanwhile is charged until it
//! ended, not until that was heard.
//!
//! Lists and watches leave out pods that have ended. Where a watch had to begin anew (it was cut
//! for so long that the API server has forgotten what happened since: 410), a pod that is not in
//! the list has ended, or is gone. What it was is asked, and until there is an answer its room is
//! held.
//!
//! Cost: one request for each such pod, [`AT_ONCE`] at a time.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::error::is_code;
use crate::heard::Heard;
use crate::pod::PodName;

/// Requests at a time.
const AT_ONCE: usize = 8;
/// A read without an answer after so long is tried again.
const PATIENCE: Duration = Duration::from_secs(15);
/// The pause before it is tried again, up to [`MAX_PAUSE`].
const PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// See the module.
pub(crate) struct Looker {
    ask: mpsc::UnboundedSender<PodName>,
}

impl Looker {
    /// Looks as long as somebody asks, and tells `heard`.
    pub(crate) fn new(client: Client, heard: mpsc::Sender<Heard>) -> Looker {
        let (ask, asked) = mpsc::unbounded_channel();
        let asked = stream::unfold(asked, async |mut asked| {
            let pod: PodName = asked.recv().await?;
            Some((pod, asked))
        });
        tokio::spawn(asked.for_each_concurrent(AT_ONCE, move |pod| {
            let (client, heard) = (client.clone(), heard.clone());
            async move {
                let found = look(&client, &pod).await;
                // Nobody listens once the process ends.
                drop(heard.send(Heard::Looked(pod, found)).await);
            }
        }));
        Looker { ask }
    }

    /// Looks what became of a pod; the answer is heard.
    pub(crate) fn look(&self, pod: PodName) {
        drop(self.ask.send(pod));
    }
}

/// The pod, however long that takes; `None`: it is gone.
async fn look(client: &Client, pod: &PodName) -> Option<Box<Pod>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace);
    let mut pause = PAUSE;
    loop {
        match timeout(PATIENCE, pods.get(&pod.name)).await {
            Ok(Ok(found)) => {
                let is_same = found.metadata.uid.as_deref() == Some(&pod.uid);
                return is_same.then(|| Box::new(found));
            }
            Ok(Err(error)) if is_code(&error, 404) => return None,
            Ok(Err(_)) | Err(_) => {}
        }
        sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}
