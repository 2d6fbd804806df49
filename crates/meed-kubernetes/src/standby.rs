//! The picture of a cluster that a process has which does not lead yet.
//!
//! A standby keeps its watches open and its picture current, so that a takeover lists nothing: it
//! reads the ledger, hears what the leader before wrote last ([`crate::follow`]), and decides. The
//! same picture is what a process that leads at once has listed.
//!
//! Pods that have ended matter as long as the last checkpoint may know them as running. So they are
//! listed once, when a process begins to stand by, and kept from then on as they are heard of, with
//! their last state; one that was deleted while it ran, or after it was let go, has ended when that
//! was heard. Kept are those that were heard of less than [`BEFORE`] before the leader's last
//! checkpoint was written, as far as that is known: it was written after the last look that showed
//! another ([`Looked`]), however long ago that was. Where a watch began anew and pods were gone
//! nobody saw how, and those that have ended are listed once more at the takeover.
//!
//! Cost: memory as the objects it holds, pods as what is read of them; a look at the head of the
//! ledger every [`LOOK`].

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Namespace, Node};
use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};
use kube::Client;
use kube::api::DynamicObject;
use meed::ResourceKinds;
use meed_pods::Resizes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::clock::monotonic;
use crate::connect::SILENCE;
use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::follow::SILENT;
use crate::heard::{DeviceHeard, Heard};
use crate::lease::Held;
use crate::ledger::{self, CHECKPOINT_PATIENCE};
use crate::log;
use crate::pod::demand::Counts;
use crate::pod::gang::GroupSeen;
use crate::pod::{PodEnd, PodSeen};
use crate::relist::{Kind, uid_of};
use crate::volumes::VolumePicture;
use crate::watch::finished_pods;
use crate::world::Listed;

/// How often a standby looks whether there is another checkpoint.
const LOOK: Duration = Duration::from_secs(10);
/// A pod that ended is kept until a checkpoint was written so much later: more than the longest
/// write of a checkpoint, and what the leader may hear later, together. A leader hears late of what
/// happens while its watch is silent, and until the next one is answered.
const BEFORE: Duration = Duration::from_secs(150);
const _: () = {
    let hears_late = SILENT.as_secs() + SILENCE.as_secs();
    assert!(hears_late + CHECKPOINT_PATIENCE.as_secs() < BEFORE.as_secs());
};
/// So many that ended are kept; where there are more, they are listed at the takeover.
const MOST: usize = 50_000;

/// Waits for the lease, and keeps the picture current meanwhile.
pub(crate) async fn stand_by(
    (client, namespace, counts): (&Client, &str, Counts<'_>),
    (tell, heard): (&mpsc::Sender<Heard>, &mut mpsc::Receiver<Heard>),
    picture: &mut Picture,
    lease: impl Future<Output = Result<Held, KubernetesError>>,
) -> Result<Held, KubernetesError> {
    let mut lease = pin!(lease);
    // It ends with the standing by.
    let mut aside = JoinSet::new();
    loop {
        tokio::select! {
            held = &mut lease => return held,
            Some(one) = heard.recv() => picture.hear(one)?,
        }
        if aside.is_empty() && picture.is_whole() {
            log::line("stands by: has read the cluster, and goes on hearing of it");
            let namespace = namespace.to_owned();
            let counts = (counts.kinds.clone(), counts.resizes);
            aside.spawn(look(client.clone(), namespace, counts, tell.clone()));
        }
    }
}

/// What a standby asks for beside its watches. Pods that have ended are listed after those that had
/// not, so that none is in neither list.
async fn look(
    client: Client,
    namespace: String,
    (kinds, resizes): (ResourceKinds, Resizes),
    tell: mpsc::Sender<Heard>,
) {
    let finished = loop {
        match finished_pods(&client, Counts { kinds: &kinds, resizes }).await {
            Ok(finished) => break finished,
            Err(_) => sleep(LOOK).await,
        }
    };
    let mut told = tell.send(Heard::Finished(finished)).await;
    let mut looked = Looked::default();
    while told.is_ok() {
        sleep(LOOK).await;
        let asked = monotonic();
        let name = ledger::last_checkpoint(&client, &namespace).await;
        if let Some(after) = looked.saw(name, asked) {
            told = tell.send(Heard::Checkpoint(after)).await;
        }
    }
}

/// What a standby knows of the leader's checkpoints.
#[derive(Default)]
struct Looked {
    /// The name of the last one that was seen, and when the last look that showed it was asked for.
    last: Option<(String, Instant)>,
}

impl Looked {
    /// A look that was asked for then shows this checkpoint, or failed. Where it is another than
    /// the one before: the instant after which it was written. Of the first nobody knows.
    fn saw(&mut self, name: Option<String>, asked: Instant) -> Option<Instant> {
        let name = name?;
        let is_other = self.last.as_ref().filter(|(last, _)| *last != name).map(|(_, at)| *at);
        self.last = Some((name, asked));
        is_other
    }
}

/// A pod that ended, and when that was heard: that is its end, where it was deleted while it ran.
struct Ended {
    pod: PodSeen,
    heard: Instant,
}

impl Ended {
    /// The pod with its end, by a clock that says `wall` at the instant `now`.
    fn by(self, now: Instant, wall: i64) -> PodSeen {
        let since = now.saturating_duration_since(self.heard).as_micros();
        let at = wall.saturating_sub(i64::try_from(since).unwrap_or(i64::MAX));
        let deleted = PodEnd { well: false, at: Some(at) };
        PodSeen { end: self.pod.end.or(Some(deleted)), ..self.pod }
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Picture {
    nodes: Kind<Node>,
    pods: Kind<PodSeen>,
    queues: Kind<QueueObject>,
    namespaces: Kind<Namespace>,
    /// As far as they are there: not every cluster has the kind.
    pod_groups: Kind<DynamicObject>,
    scheduling_groups: Kind<DynamicObject>,
    volumes: VolumePicture,
    /// Likewise of devices.
    device_classes: Kind<DeviceClass>,
    slices: Kind<ResourceSlice>,
    ended: BTreeMap<String, Ended>,
    /// All that ended and matter are known.
    knows_ended: bool,
    /// Up to which version pods are heard of.
    up_to: u64,
}

impl Picture {
    /// All kinds have been listed.
    pub(crate) fn is_whole(&self) -> bool {
        self.nodes.is_whole()
            && self.pods.is_whole()
            && self.queues.is_whole()
            && self.namespaces.is_whole()
            && self.volumes.is_whole()
    }

    /// Likewise, and pods are heard of up to a version.
    pub(crate) fn is_whole_to(&self, version: u64) -> bool {
        self.is_whole() && self.up_to >= version
    }

    /// Whether it is known which pods have ended since the last checkpoint.
    pub(crate) fn knows_ended(&self) -> bool {
        self.knows_ended
    }

    /// The queues that are there.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &QueueObject> {
        self.queues.objects()
    }

    /// One thing was heard.
    pub(crate) fn hear(&mut self, heard: Heard) -> Result<(), KubernetesError> {
        match heard {
            Heard::Node(event) => _ = self.nodes.hear(*event, uid_of),
            Heard::Queue(event) => _ = self.queues.hear(*event, uid_of),
            Heard::Namespace(event) => _ = self.namespaces.hear(*event, uid_of),
            Heard::Device(DeviceHeard::Class(event)) => {
                _ = self.device_classes.hear(*event, uid_of);
            }
            Heard::Device(DeviceHeard::Slice(event)) => _ = self.slices.hear(*event, uid_of),
            Heard::PodGroup(event) => _ = self.pod_groups.hear(*event, uid_of),
            Heard::SchedulingGroup(event) => _ = self.scheduling_groups.hear(*event, uid_of),
            Heard::Pod(event) => match self.pods.hear(*event, |pod| pod.name.uid.clone()) {
                (Some(pod), _) => self.ended(pod),
                (None, vanished) => self.knows_ended &= !vanished,
            },
            Heard::UpTo(version) => self.up_to = version,
            Heard::Finished(all) => {
                self.knows_ended = true;
                let heard = monotonic();
                for pod in all {
                    self.pods.forget(&pod.name.uid);
                    self.ended.insert(pod.name.uid.clone(), Ended { pod, heard });
                }
            }
            Heard::Checkpoint(after) => self.forget_before(after),
            Heard::Volume(heard) => self.volumes.hear(heard),
            Heard::Answer(_) | Heard::Looked(..) | Heard::NotEvicted(..) => {}
            Heard::Deposed(why) => return Err(KubernetesError::Deposed(why)),
        }
        Ok(())
    }

    fn ended(&mut self, pod: PodSeen) {
        let was_let_go = pod.started.is_some();
        let was_placed = pod.node.is_some() || pod.end.is_some();
        if pod.queue.is_none() || !(was_placed || was_let_go) {
            return;
        }
        // What is told of it later, its deletion for one, says nothing new.
        let uid = pod.name.uid.clone();
        self.ended.entry(uid).or_insert_with(|| Ended { pod, heard: monotonic() });
        if self.ended.len() > MOST {
            self.ended.clear();
            self.knows_ended = false;
        }
    }

    /// There is a checkpoint that was written after that instant.
    fn forget_before(&mut self, after: Instant) {
        self.ended.retain(|_, ended| after.saturating_duration_since(ended.heard) < BEFORE);
    }

    /// Pods that have ended, as they were listed now.
    pub(crate) fn has_ended(&mut self, all: Vec<PodSeen>) -> Result<(), KubernetesError> {
        self.hear(Heard::Finished(all))
    }

    /// What the world begins with; it is `wall` now, in microseconds since 1970.
    pub(crate) fn into_listed(self, wall: i64) -> Listed<PodSeen> {
        let now = monotonic();
        let parts = self.volumes.into_parts();
        let of_plugins = self.pod_groups.objects().map(GroupSeen::of_plugins);
        let of_kubernetes = self.scheduling_groups.objects().map(GroupSeen::of_kubernetes);
        let ended: BTreeSet<&String> = self.ended.keys().collect();
        let there = self.pods.into_objects().into_iter();
        let there = there.filter(|pod| !ended.contains(&pod.name.uid));
        Listed {
            nodes: self.nodes.into_objects(),
            pods: there.collect(),
            finished: self.ended.into_values().map(|ended| ended.by(now, wall)).collect(),
            queues: self.queues.into_objects(),
            namespaces: self.namespaces.into_objects(),
            pod_groups: of_plugins.chain(of_kubernetes).collect(),
            claims: parts.claims,
            volumes: parts.volumes,
            classes: parts.classes,
            drivers: parts.drivers,
            csi_nodes: parts.csi_nodes,
            device_classes: self.device_classes.into_objects(),
            slices: self.slices.into_objects(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heard::VolumeHeard;
    use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
    use kube::runtime::watcher::Event;
    use meed::Unit;
    use serde_json::{Value, json};

    fn pod(uid: &str, node: Value, phase: &str) -> Box<Event<PodSeen>> {
        Box::new(Event::Apply(seen(uid, node, phase)))
    }

    fn seen(uid: &str, node: Value, phase: &str) -> PodSeen {
        let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
        let pod = json!({
            "metadata": { "namespace": "n", "name": uid, "uid": uid,
                "labels": { "meed.dev/queue": "q" } },
            "spec": { "containers": [], "nodeName": node },
            "status": { "phase": phase },
        });
        PodSeen::of(&serde_json::from_value::<Pod>(pod).unwrap(), &kinds)
    }

    fn gone(uid: &str, node: Value, phase: &str) -> Heard {
        Heard::Pod(Box::new(Event::Delete(seen(uid, node, phase))))
    }

    fn whole() -> Picture {
        let mut picture = Picture::default();
        for event in [Event::Init, Event::InitDone] {
            picture.hear(Heard::Pod(Box::new(event))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            picture.hear(Heard::Node(Box::new(event))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            picture.hear(Heard::Queue(Box::new(event))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            picture.hear(Heard::Namespace(Box::new(event))).unwrap();
        }
        assert!(!picture.is_whole(), "where volumes are is not known");
        let volume = |heard: VolumeHeard| Heard::Volume(heard);
        for event in [Event::Init, Event::InitDone] {
            picture.hear(volume(VolumeHeard::Claim(Box::new(event)))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            picture.hear(volume(VolumeHeard::Volume(Box::new(event)))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            picture.hear(volume(VolumeHeard::Driver(Box::new(event)))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            assert!(!picture.is_whole());
            picture.hear(volume(VolumeHeard::Class(Box::new(event)))).unwrap();
        }
        for event in [Event::Init, Event::InitDone] {
            assert!(!picture.is_whole());
            picture.hear(volume(VolumeHeard::Attaches(Box::new(event)))).unwrap();
        }
        assert!(picture.is_whole());
        picture
    }

    #[test]
    fn who_ended_is_kept_with_its_end_and_who_never_ran_is_not() {
        let mut picture = whole();
        assert!(!picture.knows_ended(), "some may have ended before");
        picture.hear(Heard::Finished(vec![seen("before", json!("a"), "Failed")])).unwrap();
        for uid in ["ends", "deleted", "waits", "stays"] {
            picture.hear(Heard::Pod(pod(uid, json!("a"), "Running"))).unwrap();
        }
        picture.hear(gone("ends", json!("a"), "Succeeded")).unwrap();
        picture.hear(gone("deleted", json!("a"), "Running")).unwrap();
        picture.hear(gone("waits", Value::Null, "Pending")).unwrap();
        assert!(picture.knows_ended());
        let hour = 3_600_000_000;
        let listed = picture.into_listed(hour);
        let names = |pods: &[PodSeen]| -> Vec<String> {
            pods.iter().map(|pod| pod.name.uid.clone()).collect()
        };
        assert_eq!(names(&listed.pods), ["stays"]);
        assert_eq!(names(&listed.finished), ["before", "deleted", "ends"]);
        let ends: Vec<PodEnd> = listed.finished.iter().filter_map(|pod| pod.end).collect();
        assert_eq!(ends.len(), 3);
        assert!(!ends[1].well && ends[2].well);
        let at = ends[1].at.unwrap();
        assert!((hour / 2..=hour).contains(&at), "by the clock that counts: {at}");
    }

    #[test]
    fn where_volumes_are_is_known_at_a_takeover_and_lists_end_before() {
        let mut picture = whole();
        let claim = |name: &str| -> PersistentVolumeClaim {
            let claim = json!({ "metadata": { "namespace": "n", "name": name, "uid": name } });
            serde_json::from_value(claim).unwrap()
        };
        let mut hear = |event| {
            picture.hear(Heard::Volume(VolumeHeard::Claim(Box::new(event)))).unwrap();
            picture.is_whole()
        };
        assert!(hear(Event::Apply(claim("gone"))) && hear(Event::Apply(claim("there"))));
        assert!(hear(Event::Delete(claim("gone"))));
        assert!(!hear(Event::Init), "another list has begun");
        assert!(!hear(Event::InitApply(claim("there"))) && hear(Event::InitDone));
        let claims = picture.into_listed(0).claims;
        assert_eq!(claims, [claim("there")]);
    }

    #[test]
    fn ends_are_forgotten_when_a_checkpoint_is_younger() {
        let mut picture = whole();
        picture.hear(gone("ends", json!("a"), "Succeeded")).unwrap();
        let now = monotonic();
        picture.forget_before(now + BEFORE - Duration::from_secs(1));
        assert_eq!(picture.ended.len(), 1);
        picture.forget_before(now + BEFORE + Duration::from_secs(1));
        assert!(picture.ended.is_empty());
    }

    /// The ledger cannot be read for an hour; then it shows a checkpoint that may be an hour old.
    #[test]
    fn ends_are_kept_while_nobody_knows_when_a_checkpoint_was_written() {
        let begin = monotonic();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let name = |number: u32| Some(format!("meed-ledger-e1-{number}"));
        let mut picture = whole();
        let mut looked = Looked::default();
        let mut look = |picture: &mut Picture, name: Option<String>, seconds| {
            if let Some(after) = looked.saw(name, at(seconds)) {
                picture.hear(Heard::Checkpoint(after)).unwrap();
            }
            picture.ended.len()
        };
        picture.hear(gone("ends", json!("a"), "Succeeded")).unwrap();
        // However late the first look succeeds.
        assert_eq!(look(&mut picture, None, 10), 1);
        assert_eq!(look(&mut picture, name(1), 4000), 1);
        assert_eq!(look(&mut picture, name(1), 4010), 1);
        // From then on it is known: the next was written after 4010.
        assert_eq!(look(&mut picture, name(2), 4020), 0);
        picture.hear(gone("late", json!("a"), "Succeeded")).unwrap();
        for ended in picture.ended.values_mut() {
            ended.heard = at(4025);
        }
        for seconds in 403..760 {
            assert_eq!(look(&mut picture, None, seconds * 10), 1);
        }
        // It may have been written at 4021.
        assert_eq!(look(&mut picture, name(3), 7600), 1);
        assert_eq!(look(&mut picture, name(4), 7610), 0);
    }

    #[test]
    fn a_pod_that_was_let_go_and_is_deleted_has_ended_then() {
        let mut picture = whole();
        let mut let_go = seen("let-go", Value::Null, "Pending");
        (let_go.started, let_go.chosen) = (Some(1), Some("a".to_owned()));
        picture.hear(Heard::Pod(Box::new(Event::Delete(let_go)))).unwrap();
        let listed = picture.into_listed(3_600_000_000);
        let [let_go] = listed.finished.as_slice() else { panic!("it was charged, and is no more") };
        let end = let_go.end.unwrap();
        assert!(!end.well && end.at.unwrap() > 1_800_000_000, "{end:?}");
    }

    #[test]
    fn a_list_without_pods_that_were_there_means_that_ends_are_not_known() {
        let mut picture = whole();
        picture.hear(Heard::Finished(Vec::new())).unwrap();
        let there = |uid| Heard::Pod(Box::new(Event::InitApply(seen(uid, json!("a"), "Running"))));
        let list = |picture: &mut Picture, uids: &[&'static str]| {
            picture.hear(Heard::Pod(Box::new(Event::Init))).unwrap();
            uids.iter().for_each(|uid| picture.hear(there(uid)).unwrap());
            picture.hear(Heard::Pod(Box::new(Event::InitDone))).unwrap();
        };
        list(&mut picture, &["a", "b"]);
        assert!(picture.knows_ended(), "nothing is gone");
        list(&mut picture, &["b", "c"]);
        assert!(!picture.knows_ended(), "nobody saw how a ended");
        assert_eq!(picture.pods.objects().count(), 2);
        picture.has_ended(Vec::new()).unwrap();
        assert!(picture.knows_ended());
    }
}
