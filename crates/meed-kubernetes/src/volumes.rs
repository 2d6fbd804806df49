//! Watches of claims, volumes and classes, for pods that Meed places by itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::runtime::watcher::{Config, Event};
use kube::{Api, Client};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::first::FirstList;
use crate::hear::missing;
use crate::watch::{Change, Heard, Relist, name_of, one};
use crate::world::{Listed, World, claim_key};

/// What is heard of them.
#[derive(Debug)]
pub(crate) enum VolumeHeard {
    Claim(Box<Event<PersistentVolumeClaim>>),
    Volume(Box<Event<PersistentVolume>>),
    Class(Box<Event<StorageClass>>),
}

/// Begins the watches.
pub(crate) fn watch(
    client: &Client,
    recent: &Config,
    heard: &mpsc::Sender<Heard>,
    set: &mut JoinSet<()>,
) {
    let claims = Api::<PersistentVolumeClaim>::all(client.clone());
    set.spawn(one(claims, recent.clone(), heard.clone(), |event| {
        Heard::Volume(VolumeHeard::Claim(Box::new(event)))
    }));
    let volumes = Api::<PersistentVolume>::all(client.clone());
    set.spawn(one(volumes, recent.clone(), heard.clone(), |event| {
        Heard::Volume(VolumeHeard::Volume(Box::new(event)))
    }));
    let classes = Api::<StorageClass>::all(client.clone());
    set.spawn(one(classes, recent.clone(), heard.clone(), |event| {
        Heard::Volume(VolumeHeard::Class(Box::new(event)))
    }));
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
        }
    }
}

/// Their first lists.
#[derive(Default)]
pub(crate) struct FirstVolumes {
    claims: FirstList<PersistentVolumeClaim>,
    volumes: FirstList<PersistentVolume>,
    classes: FirstList<StorageClass>,
}

impl FirstVolumes {
    pub(crate) fn are_complete(&self) -> bool {
        self.claims.is_complete && self.volumes.is_complete && self.classes.is_complete
    }

    pub(crate) fn hear(&mut self, heard: VolumeHeard) {
        match heard {
            VolumeHeard::Claim(event) => self.claims.hear(*event),
            VolumeHeard::Volume(event) => self.volumes.hear(*event),
            VolumeHeard::Class(event) => self.classes.hear(*event),
        }
    }

    pub(crate) fn listed(self) -> Listed {
        Listed {
            claims: self.claims.objects.into_values().collect(),
            volumes: self.volumes.objects.into_values().collect(),
            classes: self.classes.objects.into_values().collect(),
            ..Listed::default()
        }
    }
}
