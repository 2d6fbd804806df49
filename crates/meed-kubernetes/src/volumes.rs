//! Watches of claims, volumes, classes, and of what nodes attach, for pods that Meed places by
//! itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, StorageClass};
use kube::{Client, Resource};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::follow::Follow;
use crate::heard::{Heard, VolumeHeard};
use crate::relist::{ByName, Change, Kind, Relist, map, uid_of, without_managers};
use crate::world::{World, claim_key};

/// Begins the watches.
pub(crate) fn watch(client: &Client, heard: &mpsc::Sender<Heard>, set: &mut JoinSet<()>) {
    let claims = PersistentVolumeClaim::url_path(&(), None);
    let claims = Follow::new(client, claims, PersistentVolumeClaim::meta, heard);
    set.spawn(
        claims
            .run(|event| Heard::Volume(VolumeHeard::Claim(Box::new(map(event, without_managers))))),
    );
    let volumes = PersistentVolume::url_path(&(), None);
    let volumes = Follow::new(client, volumes, PersistentVolume::meta, heard);
    set.spawn(
        volumes.run(|event| {
            Heard::Volume(VolumeHeard::Volume(Box::new(map(event, without_managers))))
        }),
    );
    let classes = StorageClass::url_path(&(), None);
    let classes = Follow::new(client, classes, StorageClass::meta, heard);
    set.spawn(
        classes
            .run(|event| Heard::Volume(VolumeHeard::Class(Box::new(map(event, without_managers))))),
    );
    let drivers = CSIDriver::url_path(&(), None);
    let drivers = Follow::new(client, drivers, CSIDriver::meta, heard);
    set.spawn(
        drivers.run(|event| {
            Heard::Volume(VolumeHeard::Driver(Box::new(map(event, without_managers))))
        }),
    );
    let nodes = Follow::new(client, CSINode::url_path(&(), None), CSINode::meta, heard);
    set.spawn(
        nodes.run(|event| {
            Heard::Volume(VolumeHeard::Attaches(Box::new(map(event, without_managers))))
        }),
    );
}

/// A claim's namespace and name in one.
fn text(claim: &PersistentVolumeClaim) -> String {
    let (namespace, name) = claim_key(claim);
    format!("{namespace}/{name}")
}

/// Where each watch is.
#[derive(Debug, Default)]
pub(crate) struct VolumeEars {
    claims: Relist,
    volumes: Relist,
    classes: Relist,
    drivers: Relist,
    attaches: Relist,
}

impl VolumeEars {
    /// Tells the world one thing.
    pub(crate) fn hear(&mut self, world: &mut World, heard: VolumeHeard) {
        match heard {
            VolumeHeard::Claim(event) => match self.claims.step(*event, text) {
                Change::Nothing => {}
                Change::Seen(claim) => world.claim_seen(&claim),
                Change::Gone(claim) => world.claim_gone(&claim_key(&claim)),
                Change::Listed(all) => {
                    let known = world.claim_keys();
                    let is_gone = |(namespace, name): &&(String, String)| {
                        !all.contains(&format!("{namespace}/{name}"))
                    };
                    let gone: Vec<_> = known.filter(is_gone).cloned().collect();
                    gone.iter().for_each(|key| world.claim_gone(key));
                }
            },
            VolumeHeard::Volume(event) => {
                match self.volumes.by_name(*event, || world.volume_names()) {
                    ByName::Seen(volume) => world.volume_seen(&volume),
                    ByName::Gone(names) => names.iter().for_each(|name| world.volume_gone(name)),
                }
            }
            VolumeHeard::Class(event) => match self.classes.by_name(*event, || world.class_names())
            {
                ByName::Seen(class) => world.class_seen(&class),
                ByName::Gone(names) => names.iter().for_each(|name| world.class_gone(name)),
            },
            VolumeHeard::Driver(event) => {
                match self.drivers.by_name(*event, || world.demanding_drivers()) {
                    ByName::Seen(driver) => world.driver_seen(&driver),
                    ByName::Gone(names) => names.iter().for_each(|name| world.driver_gone(name)),
                }
            }
            VolumeHeard::Attaches(event) => {
                match self.attaches.by_name(*event, || world.csi_node_names()) {
                    ByName::Seen(node) => world.csi_node_seen(&node),
                    ByName::Gone(names) => names.iter().for_each(|name| world.csi_node_gone(name)),
                }
            }
        }
    }
}

/// What is known of volumes.
#[derive(Default)]
pub(crate) struct VolumeParts {
    pub(crate) claims: Vec<PersistentVolumeClaim>,
    pub(crate) volumes: Vec<PersistentVolume>,
    pub(crate) classes: Vec<StorageClass>,
    pub(crate) drivers: Vec<CSIDriver>,
    pub(crate) csi_nodes: Vec<CSINode>,
}

/// What a process that does not lead yet knows of them.
#[derive(Default)]
pub(crate) struct VolumePicture {
    claims: Kind<PersistentVolumeClaim>,
    volumes: Kind<PersistentVolume>,
    classes: Kind<StorageClass>,
    drivers: Kind<CSIDriver>,
    attaches: Kind<CSINode>,
}

impl VolumePicture {
    /// All have been listed.
    pub(crate) fn is_whole(&self) -> bool {
        self.claims.is_whole()
            && self.volumes.is_whole()
            && self.classes.is_whole()
            && self.drivers.is_whole()
            && self.attaches.is_whole()
    }

    /// One thing was heard.
    pub(crate) fn hear(&mut self, heard: VolumeHeard) {
        match heard {
            VolumeHeard::Claim(event) => _ = self.claims.hear(*event, uid_of),
            VolumeHeard::Volume(event) => _ = self.volumes.hear(*event, uid_of),
            VolumeHeard::Class(event) => _ = self.classes.hear(*event, uid_of),
            VolumeHeard::Driver(event) => _ = self.drivers.hear(*event, uid_of),
            VolumeHeard::Attaches(event) => _ = self.attaches.hear(*event, uid_of),
        }
    }

    /// All that are there.
    pub(crate) fn into_parts(self) -> VolumeParts {
        VolumeParts {
            claims: self.claims.into_objects(),
            volumes: self.volumes.into_objects(),
            classes: self.classes.into_objects(),
            drivers: self.drivers.into_objects(),
            csi_nodes: self.attaches.into_objects(),
        }
    }
}
