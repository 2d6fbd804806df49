//! Carries orders out: bindings, gates taken away, events; a bounded number at a time.
//!
//! | refused with | what is known |
//! |---|---|
//! | 404 | nothing but that it is not there: read |
//! | 409 | bound already, another uid, being deleted, gates left, or etcd was away: read |
//! | by the fence | another leads: this process ends |
//! | no answer in time, 5xx | nothing: read, until there is an answer |
//!
//! So after every refusal the pod is read, and the answer is what was read; until then the world
//! holds its room. Every write says the uid, so a pod that was made anew under its name is never
//! touched, and carries queue, start and epoch in the same write, so decision and record are one.
//!
//! A pod that is to stop is evicted. A refusal (429: a PodDisruptionBudget forbids it now) is said
//! on the pod, and it is tried again, with longer and longer pauses, until the pod goes or has
//! ended.
//!
//! A pod that is to be marked is read before: a mark must not come after a binding. What is read is
//! what is patched, or nothing is.
//!
//! Cost: a task for each order that waits, one request for each that succeeds, two for a mark; with
//! an event for each pod that is bound (`--bound-events`) one more, which costs the API server two
//! thirds of what the binding costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as ApiTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};

use crate::board::{Board, Wrote};
use crate::clock::unix_micros;
use crate::error::{is_code, is_fenced};
use crate::heard::Heard;
use crate::keys;
use crate::lease::Claim;
use crate::pod::PodName;
use crate::world::{Answer, EvictOrder, Found, Mark, Order, Saying, StartOrder};

/// A write without an answer after so long counts as lost.
const PATIENCE: Duration = Duration::from_secs(15);
/// The pause before a refused pod is read, and between reads that fail, up to [`MAX_PAUSE`].
const PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The pause after a refusal that will not change soon: rights, policies.
const LONG_PAUSE: Duration = Duration::from_secs(10);
/// The pause before a refused eviction is tried again, up to [`MAX_PAUSE`].
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The part of an affinity that must hold.
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
/// Between two events: 20 a second.
const EVENT_PAUSE: Duration = Duration::from_millis(50);
/// What is accepted as the answer to a write: not the whole pod.
const METADATA_ONLY: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// Events that wait at most; more are dropped.
const EVENTS_AHEAD: usize = 1000;

/// See the module.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    /// The same, and it does not try again by itself: a 429 of an eviction is an answer.
    evictor: Client,
    claim: Claim,
    slots: Arc<Semaphore>,
    heard: mpsc::Sender<Heard>,
    /// Whether this process leads still.
    leads: Arc<AtomicBool>,
    events: mpsc::Sender<Order>,
    board: Arc<Board>,
    /// Events on pods that are bound, so many at a time; `None`: none is written.
    tells_bound: Option<Arc<Semaphore>>,
    /// Whether `managedFields` stay where a gate goes.
    keeps_fields: bool,
}

impl Writer {
    /// Writes in the term of `claim`, `in_flight` at a time.
    pub(crate) fn new(
        (client, evictor): (Client, Client),
        claim: Claim,
        in_flight: usize,
        (heard, board): (mpsc::Sender<Heard>, Arc<Board>),
        leads: Arc<AtomicBool>,
    ) -> Writer {
        let (events, waiting) = mpsc::channel(EVENTS_AHEAD);
        tokio::spawn(say_all(client.clone(), Arc::clone(&leads), waiting));
        let slots = Arc::new(Semaphore::new(in_flight));
        Writer {
            client,
            evictor,
            claim,
            slots,
            heard,
            leads,
            events,
            board,
            tells_bound: None,
            keeps_fields: false,
        }
    }

    /// Whether an event is written on every pod that is bound.
    pub(crate) fn tells_bound(self, tells_bound: bool, in_flight: usize) -> Writer {
        let tells_bound = tells_bound.then(|| Arc::new(Semaphore::new(in_flight)));
        Writer { tells_bound, ..self }
    }

    /// Whether the record of who owns which field stays on every pod. It goes with the gate where
    /// nobody applies the pod, who alone asks for it: a list of one empty entry is how the API
    /// server is told so, and it then keeps none for later writes.
    pub(crate) fn keeps_fields(self, keeps_fields: bool) -> Writer {
        Writer { keeps_fields, ..self }
    }

    /// Lets a pod start; the answer is heard.
    pub(crate) fn start(&self, order: StartOrder) {
        let writer = self.clone();
        tokio::spawn(async move {
            let heard = writer.carry_out(&order).await;
            let is_done = matches!(&heard, Heard::Answer(Answer { found: Found::Done, .. }));
            let is_bound = order.binds && is_done;
            // Nobody listens once the process ends.
            drop(writer.heard.send(heard).await);
            if is_bound {
                writer.tell_bound(order).await;
            }
        });
    }

    /// The event that kube-scheduler writes on a pod that it has bound, where it is wanted. Events
    /// have slots of their own, so that they are written beside bindings and not behind all.
    async fn tell_bound(&self, order: StartOrder) {
        let Some(slots) = &self.tells_bound else { return };
        let StartOrder { pod, queue, node, .. } = order;
        let note = format!(
            "Successfully assigned {}/{} to {node} for Queue {queue}",
            pod.namespace, pod.name
        );
        let Ok(_slot) = slots.acquire().await else { return };
        if self.leads.load(Ordering::Relaxed) {
            say(&self.client, Saying { pod, reason: "Scheduled", note }, "Normal").await;
        }
    }

    /// Evicts a pod, sooner or later.
    pub(crate) fn evict(&self, order: EvictOrder) {
        let writer = self.clone();
        tokio::spawn(async move {
            let mut pause = FIRST_RETRY;
            while writer.leads.load(Ordering::Relaxed) {
                let heard = match timeout(PATIENCE, writer.try_to_evict(&order.pod)).await {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) if writer.is_deposed(&error).await => {
                        Heard::Deposed("an eviction was refused: another leads".to_owned())
                    }
                    Ok(Err(kube::Error::Api(status))) => {
                        Heard::NotEvicted(order.pod.uid.clone(), status.message.clone())
                    }
                    Ok(Err(why)) => Heard::NotEvicted(order.pod.uid.clone(), why.to_string()),
                    Err(_) => {
                        let why = "no answer in time".to_owned();
                        Heard::NotEvicted(order.pod.uid.clone(), why)
                    }
                };
                drop(writer.heard.send(heard).await);
                sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
        });
    }

    /// Once. No error: the pod goes, or there is nothing to stop any more.
    async fn try_to_evict(&self, pod: &PodName) -> Result<(), kube::Error> {
        let Ok(_slot) = self.slots.acquire().await else { return Ok(()) };
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace);
        let Some(there) = pods.get_opt(&pod.name).await? else { return Ok(()) };
        let phase = there.status.as_ref().and_then(|status| status.phase.as_deref());
        let has_ended = matches!(phase, Some("Succeeded" | "Failed"));
        if there.metadata.uid.as_deref() != Some(&pod.uid)
            || there.metadata.deletion_timestamp.is_some()
            || has_ended
        {
            return Ok(());
        }
        let body = json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {
                "name": pod.name, "namespace": pod.namespace,
                "annotations": { (keys::EPOCH): self.claim.epoch().to_string() },
            },
            "deleteOptions": { "preconditions": { "uid": pod.uid } },
        });
        let path = format!("/api/v1/namespaces/{}/pods/{}/eviction", pod.namespace, pod.name);
        let request = http::Request::post(path);
        match post(&self.evictor, request, "application/json", &body).await {
            Ok(()) => Ok(()),
            // Gone, or another pod of its name.
            Err(error) if is_code(&error, 404) || is_code(&error, 409) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Says something of a pod, or marks it, sooner or later.
    pub(crate) fn say(&self, order: Order) {
        // Where too many wait it is not said: the log has it, and a mark is asked for again.
        drop(self.events.try_send(order));
    }

    async fn carry_out(&self, order: &StartOrder) -> Heard {
        let uid = order.pod.uid.clone();
        let error = {
            let Ok(_slot) = self.slots.acquire().await else {
                return Heard::Deposed("it ends".to_owned());
            };
            if !self.leads.load(Ordering::Relaxed) {
                return Heard::Deposed("the lease is lost".to_owned());
            }
            let written = timeout(PATIENCE, self.write(order)).await;
            self.board.wrote(match &written {
                Ok(Ok(())) => Wrote::Done,
                Ok(Err(error)) if is_code(error, 409) => Wrote::Conflict,
                Ok(Err(_)) => Wrote::Refused,
                Err(_) => Wrote::Unanswered,
            });
            match written {
                Ok(Ok(())) => return Heard::Answer(Answer { uid, found: Found::Done }),
                Ok(Err(error)) if self.is_deposed(&error).await => {
                    return Heard::Deposed("a write was refused: another leads".to_owned());
                }
                Ok(Err(error)) => Some(error),
                Err(_) => None,
            }
        };
        let will_stay = error.as_ref().is_some_and(|error| {
            !is_fenced(error) && [400, 403, 422].iter().any(|&code| is_code(error, code))
        });
        sleep(if will_stay { LONG_PAUSE } else { PAUSE }).await;
        let why = error.map_or_else(|| "no answer in time".to_owned(), |why| why.to_string());
        let found = self.read(order, why).await;
        Heard::Answer(Answer { uid, found })
    }

    /// Whether another leads, and a write was refused for it. The fence alone does not say so: the
    /// first writes of a term may come to an API server whose copy of the Lease is that of the term
    /// before. Such a write is tried again, as any that was refused.
    async fn is_deposed(&self, error: &kube::Error) -> bool {
        is_fenced(error) && self.claim.is_over().await
    }

    /// The pod as it is, however long that takes.
    async fn read(&self, order: &StartOrder, why: String) -> Found {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &order.pod.namespace);
        let mut pause = PAUSE;
        loop {
            match timeout(PATIENCE, pods.get(&order.pod.name)).await {
                Ok(Ok(pod)) if pod.metadata.uid.as_deref() == Some(&order.pod.uid) => {
                    return Found::Pod(Box::new(pod), why);
                }
                Ok(Ok(_)) => return Found::Gone,
                Ok(Err(error)) if is_code(&error, 404) => return Found::Gone,
                Ok(Err(_)) | Err(_) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    async fn write(&self, order: &StartOrder) -> Result<(), kube::Error> {
        let StartOrder { pod, queue, node, binds, pin, applied, started } = order;
        let annotations = json!({
            (keys::EPOCH): self.claim.epoch().to_string(),
            (keys::CHARGED): queue,
            (keys::STARTED): started.to_string(),
            (keys::NODE): node,
        });
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name);
        let (request, kind, body) = match binds {
            true => {
                let body = json!({
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {
                        "name": pod.name, "namespace": pod.namespace, "uid": pod.uid,
                        "annotations": annotations,
                    },
                    "target": { "apiVersion": "v1", "kind": "Node", "name": node },
                });
                (http::Request::post(format!("{path}/binding")), "application/json", body)
            }
            false => {
                let mut body = json!({
                    "metadata": { "uid": pod.uid, "annotations": annotations },
                    "spec": { "schedulingGates": [{ "$patch": "delete", "name": keys::GATE }] },
                });
                if !self.keeps_fields && !applied {
                    body["metadata"]["managedFields"] = json!([{}]);
                }
                if let Some(terms) = pin {
                    // As long as it is held a pod's affinity may be narrowed, in the same write.
                    let terms = json!({ "nodeSelectorTerms": terms });
                    let required = json!({ (REQUIRED): terms });
                    body["spec"]["affinity"] = json!({ "nodeAffinity": required });
                }
                let kind = "application/strategic-merge-patch+json";
                (http::Request::patch(path), kind, body)
            }
        };
        post(&self.client, request, kind, &body).await
    }
}

/// Writes events and conditions one by one, not more than 20 a second.
async fn say_all(client: Client, leads: Arc<AtomicBool>, mut waiting: mpsc::Receiver<Order>) {
    while let Some(order) = waiting.recv().await {
        match order {
            Order::Say(saying) => say(&client, saying, "Warning").await,
            // What was not written is seen not to be, and asked for again.
            Order::Mark(mark) => drop(timeout(PATIENCE, write_mark(&client, &leads, mark)).await),
            Order::Start(_) | Order::Evict(_) | Order::Look(_) => continue,
        }
        sleep(EVENT_PAUSE).await;
    }
}

/// The condition of a pod that waits; the API server sets it right when the pod is bound.
async fn write_mark(client: &Client, leads: &AtomicBool, mark: Mark) -> Result<(), kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &mark.pod.namespace);
    let there = pods.get(&mark.pod.name).await?;
    let Some(patch) = patch_of(&mark, &there) else { return Ok(()) };
    if !leads.load(Ordering::Relaxed) {
        return Ok(());
    }
    let parameters =
        PatchParams { field_manager: Some(keys::COMPONENT.into()), ..Default::default() };
    pods.patch_status(&mark.pod.name, &parameters, &Patch::Strategic(patch)).await.map(|_| ())
}

/// What marks a pod as it was read, and nothing that came after; nothing, where it is bound or is
/// another one.
fn patch_of(mark: &Mark, there: &Pod) -> Option<serde_json::Value> {
    let Mark { pod, reason, note } = mark;
    let is_bound = there.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    if is_bound || there.metadata.uid.as_deref() != Some(&pod.uid) {
        return None;
    }
    let version = there.metadata.resource_version.as_deref()?;
    let now = Timestamp::from_microsecond(unix_micros() / 1_000_000 * 1_000_000).map(ApiTime).ok();
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": reason, "message": note,
        "lastTransitionTime": now,
    });
    Some(json!({
        "metadata": { "uid": pod.uid, "resourceVersion": version },
        "status": { "conditions": [condition] },
    }))
}

async fn say(client: &Client, saying: Saying, kind: &str) {
    // An event is a courtesy: what it says is in the log, too.
    drop(timeout(PATIENCE, try_to_say(client, &saying, kind)).await);
}

/// Not by the types of the API: the answer, which nobody reads, would be read as an Event.
async fn try_to_say(client: &Client, saying: &Saying, kind: &str) -> Result<(), kube::Error> {
    let Saying { pod, reason, note } = saying;
    let now = Timestamp::from_microsecond(unix_micros() / 1_000_000 * 1_000_000).map(ApiTime).ok();
    let body = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "generateName": format!("{}.", pod.name), "namespace": pod.namespace },
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod",
            "name": pod.name, "namespace": pod.namespace, "uid": pod.uid,
        },
        "reason": reason, "message": note, "type": kind,
        "source": { "component": keys::COMPONENT },
        "firstTimestamp": now, "lastTimestamp": now, "count": 1,
    });
    let request = http::Request::post(format!("/api/v1/namespaces/{}/events", pod.namespace));
    post(client, request, "application/json", &body).await
}

/// Sends what is written; of the answer the server writes as little as it can, for it is not read.
async fn post(
    client: &Client,
    request: http::request::Builder,
    kind: &str,
    body: &serde_json::Value,
) -> Result<(), kube::Error> {
    let bytes = serde_json::to_vec(body).map_err(kube::Error::SerdeError)?;
    let request = request.header(http::header::ACCEPT, METADATA_ONLY);
    let request = request.header(http::header::CONTENT_TYPE, kind).body(bytes);
    client.request_text(request.map_err(kube::Error::HttpError)?).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Then};
    use crate::lease::{self, LeaseName};

    const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/n/leases/meed";
    const POD: &str = "/api/v1/namespaces/n/pods/p";

    /// The first write of a term comes to an API server that has the lease of the term before; then
    /// another leads.
    #[tokio::test]
    async fn an_old_copy_of_the_lease_at_an_api_server_does_not_end_a_term() {
        let fake = Fake::start().await;
        let board = Arc::new(Board::default());
        let elector = fake.connector().for_lease().unwrap();
        let name = LeaseName { namespace: "n", name: "meed" };
        let held = lease::take(&elector, name, "me", &board).await.unwrap();
        fake.objects(|objects| objects.put(POD, json!({ "metadata": { "uid": "u" } })));
        fake.on(|_, path, _| match path.ends_with("/binding") {
            true => Then::Refused("ValidatingAdmissionPolicy: another leader has taken over"),
            false => Then::Goes,
        });
        let clients = (fake.connector().client().unwrap(), fake.connector().client().unwrap());
        let (tell, mut heard) = mpsc::channel(10);
        let leads = Arc::new(AtomicBool::new(true));
        let writer = Writer::new(clients, held.claim().clone(), 1, (tell, board), leads);
        let [namespace, name, uid] = ["n", "p", "u"].map(str::to_owned);
        let order = StartOrder {
            pod: PodName { namespace, name, uid },
            queue: "q".to_owned(),
            node: "node".to_owned(),
            binds: true,
            pin: None,
            applied: false,
            started: 0,
        };
        writer.start(order.clone());
        match heard.recv().await {
            Some(Heard::Answer(Answer { found: Found::Pod(pod, why), .. })) => {
                assert_eq!(pod.metadata.uid.as_deref(), Some("u"));
                assert!(why.contains("another leader has taken over"), "{why}");
            }
            other => panic!("{other:?}"),
        }
        let other = json!({ "spec": { "holderIdentity": "other", "leaseTransitions": 2 } });
        fake.objects(|objects| objects.put(LEASE, other));
        writer.start(order);
        match heard.recv().await {
            Some(Heard::Deposed(why)) => assert!(why.contains("another leads"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_mark_is_for_the_pod_that_was_read_and_never_for_one_that_is_bound() {
        let name = |uid: &str| PodName {
            namespace: "n".to_owned(),
            name: "p".to_owned(),
            uid: uid.to_owned(),
        };
        let mark = |uid| Mark { pod: name(uid), reason: "Unschedulable", note: "full".to_owned() };
        let mut pod = Pod::default();
        pod.metadata.uid = Some("u".to_owned());
        pod.metadata.resource_version = Some("7".to_owned());
        let patch = patch_of(&mark("u"), &pod).unwrap();
        assert_eq!(patch["metadata"], json!({ "uid": "u", "resourceVersion": "7" }));
        assert_eq!(patch["status"]["conditions"][0]["reason"], "Unschedulable");
        assert_eq!(patch_of(&mark("another"), &pod), None);
        pod.spec.get_or_insert_default().node_name = Some("n1".to_owned());
        assert_eq!(patch_of(&mark("u"), &pod), None);
    }
}
