//! Watches of claims, volumes, classes, and of what nodes attach, for pods that Meed places by
//! itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use kube::runtime::watcher::Event;
use kube::{Client, Resource};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::follow::Follow;
use crate::hear::missing;
use crate::standby::{Kind, uid_of};
use crate::watch::{Change, Heard, Relist, map, name_of, without_managers};
use crate::world::{World, claim_key};

/// What is heard of them.
#[derive(Debug)]
pub(crate) enum VolumeHeard {
    Claim(Box<Event<PersistentVolumeClaim>>),
    Volume(Box<Event<PersistentVolume>>),
    Class(Box<Event<StorageClass>>),
    /// How many volumes a node attaches.
    Attaches(Box<Event<CSINode>>),
}

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
            VolumeHeard::Volume(event) => match self.volumes.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(volume) => world.volume_seen(&volume),
                Change::Gone(volume) => world.volume_gone(&name_of(&volume)),
                Change::Listed(all) => {
                    let gone = missing(world.volume_names(), &all);
                    gone.iter().for_each(|name| world.volume_gone(name));
                }
            },
            VolumeHeard::Class(event) => match self.classes.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(class) => world.class_seen(&class),
                Change::Gone(class) => world.class_gone(&name_of(&class)),
                Change::Listed(all) => {
                    let gone = missing(world.class_names(), &all);
                    gone.iter().for_each(|name| world.class_gone(name));
                }
            },
            VolumeHeard::Attaches(event) => match self.attaches.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(node) => world.csi_node_seen(&node),
                Change::Gone(node) => world.csi_node_gone(&name_of(&node)),
                Change::Listed(all) => {
                    let gone = missing(world.csi_node_names(), &all);
                    gone.iter().for_each(|name| world.csi_node_gone(name));
                }
            },
        }
    }
}

/// Claims, volumes, classes of claims, and what nodes attach.
type Parts = (Vec<PersistentVolumeClaim>, Vec<PersistentVolume>, Vec<StorageClass>, Vec<CSINode>);

/// What a process that does not lead yet knows of them.
#[derive(Default)]
pub(crate) struct VolumePicture {
    claims: Kind<PersistentVolumeClaim>,
    volumes: Kind<PersistentVolume>,
    classes: Kind<StorageClass>,
    attaches: Kind<CSINode>,
}

impl VolumePicture {
    /// All have been listed.
    pub(crate) fn is_whole(&self) -> bool {
        self.claims.is_whole()
            && self.volumes.is_whole()
            && self.classes.is_whole()
            && self.attaches.is_whole()
    }

    /// One thing was heard.
    pub(crate) fn hear(&mut self, heard: VolumeHeard) {
        match heard {
            VolumeHeard::Claim(event) => _ = self.claims.hear(*event, uid_of),
            VolumeHeard::Volume(event) => _ = self.volumes.hear(*event, uid_of),
            VolumeHeard::Class(event) => _ = self.classes.hear(*event, uid_of),
            VolumeHeard::Attaches(event) => _ = self.attaches.hear(*event, uid_of),
        }
    }

    /// All that are there.
    pub(crate) fn into_parts(self) -> Parts {
        let (claims, volumes) = (self.claims.into_objects(), self.volumes.into_objects());
        (claims, volumes, self.classes.into_objects(), self.attaches.into_objects())
    }
}
