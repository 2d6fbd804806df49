//! Persistent volumes of pods that Meed places by itself: bound ones say where a pod may be, all
//! others keep it waiting or are refused.
//!
//! | a claim of the pod | then |
//! |---|---|
//! | is bound to a volume that is known | the pod's rule has the volume's place |
//! | is not there | it waits: `ClaimNotFound` |
//! | is not bound, and its class binds at once, or is not known yet | it waits: `ClaimNotBound` |
//! | is not bound, and its class waits for the first pod | refused aloud: `NotSupported`; to bind it, somebody must choose a node for it |
//! | is for one pod alone (ReadWriteOncePod) | refused aloud: who uses it is not counted |
//! | is of a driver that a node must have (`preventPodSchedulingIfMissing`) | refused aloud |
//! | is being deleted, or has lost its volume | it waits: `ClaimLost` |
//!
//! A pod that waits so is looked at again when one of its claims, its volume or its class changes.
//! How many volumes a node attaches for the pods there counts, too ([`crate::pod::disks`]).
//!
//! Invariant: a pod is in the engine with the places of all its volumes, or not at all. Cost: a map
//! for each kind; O(pods that use it) for a claim that changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, StorageClass};
use meed::Time;

use super::claims::{Claim, ClaimKey, claim_key};
use super::{Stand, World};
use crate::error::KubernetesError;
use crate::pod::PodSeen;
use crate::pod::disks::{Disk, Disks, Limits, limits_of};
use crate::pod::near::Near;
use crate::pod::volumes::Place;

/// Set by whoever binds claims, when it is done.
const BOUND: &str = "pv.kubernetes.io/bind-completed";
/// The access mode of a claim that one pod alone may use.
const ONE_POD: &str = "ReadWriteOncePod";
/// The mode of a class whose claims are bound when a pod has a node.
const FIRST_POD: &str = "WaitForFirstConsumer";

impl World {
    /// A claim is there, in this form.
    pub(crate) fn claim_seen(&mut self, claim: &PersistentVolumeClaim) {
        let (metadata, spec) = (&claim.metadata, claim.spec.as_ref());
        let is_bound = metadata.annotations.as_ref().is_some_and(|all| all.contains_key(BOUND));
        let volume = spec.and_then(|spec| spec.volume_name.clone());
        let modes = spec.and_then(|spec| spec.access_modes.as_ref());
        let phase = claim.status.as_ref().and_then(|status| status.phase.as_deref());
        let kept = Claim {
            volume: volume.filter(|name| is_bound && !name.is_empty()),
            class: spec.and_then(|spec| spec.storage_class_name.clone()),
            is_going: metadata.deletion_timestamp.is_some() || phase == Some("Lost"),
            is_for_one: modes.is_some_and(|modes| modes.iter().any(|mode| mode == ONE_POD)),
        };
        let key = claim_key(claim);
        if self.volumes.claims.get(&key) != Some(&kept) {
            self.volumes.claims.insert(key.clone(), kept);
            self.volumes.changed.insert(key);
        }
    }

    /// A claim is gone.
    pub(crate) fn claim_gone(&mut self, key: &ClaimKey) {
        if self.volumes.claims.remove(key).is_some() {
            self.volumes.changed.insert(key.clone());
        }
    }

    /// A volume is there, in this form.
    pub(crate) fn volume_seen(&mut self, volume: &PersistentVolume) {
        let name = volume.metadata.name.clone().unwrap_or_default();
        let (place, disk) = (Place::of(volume), Disk::of(volume));
        if self.volumes.places.get(&name) != Some(&place)
            || self.volumes.disks.get(&name) != disk.as_ref()
        {
            self.volumes.places.insert(name.clone(), place);
            match disk {
                Some(disk) => _ = self.volumes.disks.insert(name.clone(), disk),
                None => _ = self.volumes.disks.remove(&name),
            }
            self.volumes.look_at(|claim| claim.volume.as_ref() == Some(&name));
        }
    }

    /// A volume is gone.
    pub(crate) fn volume_gone(&mut self, name: &str) {
        if self.volumes.places.remove(name).is_some() {
            self.volumes.disks.remove(name);
            self.volumes.look_at(|claim| claim.volume.as_deref() == Some(name));
        }
    }

    /// A class of claims is there, in this form.
    pub(crate) fn class_seen(&mut self, class: &StorageClass) {
        let name = class.metadata.name.clone().unwrap_or_default();
        let waits = class.volume_binding_mode.as_deref() == Some(FIRST_POD);
        if self.volumes.classes.insert(name.clone(), waits) != Some(waits) {
            self.volumes.look_at(|claim| claim.class.as_ref() == Some(&name));
        }
    }

    /// A class of claims is gone.
    pub(crate) fn class_gone(&mut self, name: &str) {
        if self.volumes.classes.remove(name).is_some() {
            self.volumes.look_at(|claim| claim.class.as_deref() == Some(name));
        }
    }

    /// A driver of volumes is there, in this form.
    pub(crate) fn driver_seen(&mut self, driver: &CSIDriver) {
        let name = driver.metadata.name.clone().unwrap_or_default();
        match driver.spec.prevent_pod_scheduling_if_missing == Some(true) {
            true => self.driver_is(&name, true),
            false => self.driver_is(&name, false),
        }
    }

    /// A driver of volumes is gone.
    pub(crate) fn driver_gone(&mut self, name: &str) {
        self.driver_is(name, false);
    }

    /// Drivers that a node must have.
    pub(crate) fn demanding_drivers(&self) -> impl Iterator<Item = &String> {
        self.volumes.demanding.iter()
    }

    fn driver_is(&mut self, name: &str, is_demanding: bool) {
        let changed = match is_demanding {
            true => self.volumes.demanding.insert(name.to_owned()),
            false => self.volumes.demanding.remove(name),
        };
        if changed {
            let disks = self.volumes.disks.iter().filter(|(_, disk)| disk.driver == name);
            let volumes: BTreeSet<String> = disks.map(|(volume, _)| volume.clone()).collect();
            let is_meant = |volume: &String| volumes.contains(volume);
            self.volumes.look_at(|claim| claim.volume.as_ref().is_some_and(is_meant));
        }
    }

    /// Claims, volumes and classes that are known.
    pub(crate) fn claim_keys(&self) -> impl Iterator<Item = &ClaimKey> {
        self.volumes.claims.keys()
    }

    pub(crate) fn volume_names(&self) -> impl Iterator<Item = &String> {
        self.volumes.places.keys()
    }

    pub(crate) fn class_names(&self) -> impl Iterator<Item = &String> {
        self.volumes.classes.keys()
    }

    /// What a node attaches is told.
    pub(crate) fn csi_node_seen(&mut self, node: &CSINode) {
        let name = node.metadata.name.clone().unwrap_or_default();
        self.limits_are(&name, limits_of(node));
    }

    /// Nobody says any more what a node attaches.
    pub(crate) fn csi_node_gone(&mut self, name: &str) {
        self.limits_are(name, Limits::new());
    }

    /// Nodes whose limits are known.
    pub(crate) fn csi_node_names(&self) -> impl Iterator<Item = &String> {
        self.neighbours.attached().limited()
    }

    fn limits_are(&mut self, node: &str, limits: Limits) {
        if self.neighbours.limit(node, limits) {
            // Volumes of a driver count from now on, or no more.
            self.volumes.changed.extend(self.volumes.users.keys().cloned());
        }
    }

    /// Volumes of a pod of which nodes attach a bounded number.
    fn disks_of(&self, namespace: &str, claims: &[String]) -> Disks {
        let disk = |claim: &String| {
            let claim = self.volumes.claims.get(&(namespace.to_owned(), claim.clone()))?;
            self.volumes.disks.get(claim.volume.as_ref()?)
        };
        let bounded = |disk: &&Disk| self.neighbours.attached().bounds(&disk.driver);
        claims.iter().filter_map(disk).filter(bounded).cloned().collect()
    }

    /// A pod with the places of its volumes in its rule, or with why that cannot be; and with what
    /// is attached for it.
    pub(super) fn with_volumes(&self, seen: PodSeen) -> PodSeen {
        if seen.claims.is_empty() {
            return seen;
        }
        let disks = self.disks_of(&seen.name.namespace, &seen.claims);
        let seen = match seen.near.disks == disks {
            true => seen,
            false => PodSeen { near: Arc::new(Near { disks, ..(*seen.near).clone() }), ..seen },
        };
        if seen.node.is_some() {
            return seen;
        }
        let (mut places, mut unbound) = (Vec::new(), None);
        for claim in &seen.claims {
            let key = (seen.name.namespace.clone(), claim.clone());
            match self.volumes.of(&key) {
                Ok(place) => places.extend(place),
                Err(why) => unbound = unbound.or(Some(why)),
            }
        }
        let rule = seen.rule.clone().at(places);
        PodSeen { rule, unbound, ..seen }
    }

    /// It is kept which claims a pod uses.
    pub(super) fn keep_claims(&mut self, seen: &PodSeen) {
        let uid = &seen.name.uid;
        let namespace = &seen.name.namespace;
        let Some(row) = self.pods.get_mut(uid) else { return };
        if row.claims != seen.claims {
            let before = std::mem::replace(&mut row.claims, seen.claims.clone());
            self.volumes.drop_user(uid, namespace, &before);
            self.volumes.uses(uid, namespace, &seen.claims);
        }
    }

    /// A pod is known no more.
    pub(super) fn drop_claims(&mut self, uid: &str) {
        if let Some(row) = self.pods.get_mut(uid) {
            let claims = std::mem::take(&mut row.claims);
            let namespace = row.name.namespace.clone();
            self.volumes.drop_user(uid, &namespace, &claims);
        }
    }

    /// Pods whose claims have changed are looked at again.
    pub(super) fn settle_volumes(&mut self, now: Time) -> Result<(), KubernetesError> {
        let changed = std::mem::take(&mut self.volumes.changed);
        let users = changed.iter().filter_map(|key| self.volumes.users.get(key)).flatten();
        let users: BTreeSet<String> = users.cloned().collect();
        for uid in users {
            match self.pods.get(&uid).map(|row| &row.stand) {
                Some(Stand::Refused(seen)) => {
                    let seen = self.with_volumes((**seen).clone());
                    self.says(&seen);
                    self.admit(seen, now)?;
                }
                Some(Stand::Waits(_)) => {
                    if let Some((job, seen)) = self.as_it_waits(&uid) {
                        let (near, seen) = (Arc::clone(&seen.near), self.with_volumes(seen));
                        self.says(&seen);
                        self.still_waits(job, seen, &near, now)?;
                    }
                }
                _ => self.attaches(&uid),
            }
        }
        Ok(())
    }
}

impl World {
    /// What a pod says of its place, with its volumes, is kept.
    fn says(&mut self, seen: &PodSeen) {
        if let Some(row) = self.pods.get_mut(&seen.name.uid) {
            row.near = Arc::clone(&seen.near);
        }
    }

    /// What is attached for a pod that is placed is known now.
    fn attaches(&mut self, uid: &str) {
        let Some(row) = self.pods.get(uid) else { return };
        let disks = self.disks_of(&row.name.namespace, &row.claims);
        if row.near.disks == disks {
            return;
        }
        let near = Arc::new(Near { disks, ..(*row.near).clone() });
        if let Some(row) = self.pods.get_mut(uid) {
            row.near = near;
        }
        self.keep_place(uid);
    }
}
