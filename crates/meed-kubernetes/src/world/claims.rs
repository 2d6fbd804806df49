//! What is kept of claims, volumes and classes, and who uses them ([`super::volumes`]).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::PersistentVolumeClaim;

use crate::pod::disks::Disk;
use crate::pod::refuse::Refusal;
use crate::pod::volumes::Place;

/// A claim, by its namespace and name.
pub(crate) type ClaimKey = (String, String);

/// What is kept of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Claim {
    /// The volume that it is bound to.
    pub(super) volume: Option<String>,
    pub(super) class: Option<String>,
    pub(super) is_going: bool,
    pub(super) is_for_one: bool,
}

/// See the module.
#[derive(Default)]
pub(super) struct Volumes {
    pub(super) claims: BTreeMap<ClaimKey, Claim>,
    /// Where each volume is; `None`: everywhere.
    pub(super) places: BTreeMap<String, Option<Place>>,
    /// Volumes that a driver attaches.
    pub(super) disks: BTreeMap<String, Disk>,
    /// Drivers that a node must have for a pod to be placed there, by CSIDriver.
    pub(super) demanding: BTreeSet<String>,
    /// Whether each class waits for the first pod.
    pub(super) classes: BTreeMap<String, bool>,
    /// Pods by the claims that they use.
    pub(super) users: BTreeMap<ClaimKey, BTreeSet<String>>,
    /// Claims that have changed since their pods were looked at.
    pub(super) changed: BTreeSet<ClaimKey>,
}

impl Volumes {
    pub(super) fn of(&self, key: &ClaimKey) -> Result<Option<Place>, Refusal> {
        let name = &key.1;
        let wait = |reason, what: String| Err((reason, what));
        let refuse = |what: &str| {
            let note = format!(
                "its claim `{name}` {what}, which Meed does not place by itself; use a Queue with \
                 mode Gates, where kube-scheduler places the pods that Meed lets go"
            );
            Err(("NotSupported", note))
        };
        let Some(claim) = self.claims.get(key) else {
            return wait("ClaimNotFound", format!("there is no claim `{name}` in its namespace"));
        };
        if claim.is_going {
            return wait(
                "ClaimLost",
                format!("its claim `{name}` is going, or has no volume left"),
            );
        }
        if claim.is_for_one {
            return refuse("is for one pod alone (ReadWriteOncePod)");
        }
        if let Some(volume) = &claim.volume {
            let driver = self.disks.get(volume).map(|disk| &disk.driver);
            if let Some(driver) = driver.filter(|driver| self.demanding.contains(*driver)) {
                return refuse(&format!(
                    "is for nodes that have the driver `{driver}` (preventPodSchedulingIfMissing)"
                ));
            }
            return match self.places.get(volume) {
                Some(place) => Ok(place.clone()),
                None => {
                    let what = format!("its claim `{name}` is bound to `{volume}`, which is gone");
                    wait("ClaimLost", what)
                }
            };
        }
        let class = claim.class.as_deref().unwrap_or_default();
        match self.classes.get(class) {
            Some(true) => refuse("is bound when its pod has a node (WaitForFirstConsumer)"),
            None if !class.is_empty() => {
                wait("ClaimNotBound", format!("its claim `{name}` is of class `{class}`, unknown"))
            }
            _ => wait("ClaimNotBound", format!("its claim `{name}` is not bound yet")),
        }
    }

    /// The claims that a pod uses, from now on.
    pub(super) fn uses(&mut self, uid: &str, namespace: &str, claims: &[String]) {
        for claim in claims {
            let key = (namespace.to_owned(), claim.clone());
            self.users.entry(key).or_default().insert(uid.to_owned());
        }
    }

    /// A pod uses no claim any more, as far as that matters here.
    pub(super) fn drop_user(&mut self, uid: &str, namespace: &str, claims: &[String]) {
        for claim in claims {
            let key = (namespace.to_owned(), claim.clone());
            if let Some(users) = self.users.get_mut(&key) {
                users.remove(uid);
                if users.is_empty() {
                    self.users.remove(&key);
                }
            }
        }
    }

    /// Claims of which somebody waits, and for which this holds, are looked at again.
    pub(super) fn look_at(&mut self, is_meant: impl Fn(&Claim) -> bool) {
        let meant = |key: &&ClaimKey| self.claims.get(*key).is_some_and(&is_meant);
        let meant: Vec<ClaimKey> = self.users.keys().filter(meant).cloned().collect();
        self.changed.extend(meant);
    }
}

/// How a claim is named.
pub(crate) fn claim_key(claim: &PersistentVolumeClaim) -> ClaimKey {
    let metadata = &claim.metadata;
    (metadata.namespace.clone().unwrap_or_default(), metadata.name.clone().unwrap_or_default())
}
