//! What the events of a watch say of one kind's objects: which are there, and which are gone.

use std::collections::{BTreeMap, BTreeSet};

use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt as _};

/// What a new list shows.
#[derive(Debug, Default)]
pub(crate) struct Relist {
    seen: Option<BTreeSet<String>>,
}

/// One step of a watch.
pub(crate) enum Change<K> {
    /// Nothing yet.
    Nothing,
    /// An object is there.
    Seen(K),
    /// It is gone; this was its last state.
    Gone(K),
    /// The list is complete: these are all.
    Listed(BTreeSet<String>),
}

/// One step of a watch of objects that are known by their names.
pub(crate) enum ByName<K> {
    /// An object is there.
    Seen(K),
    /// These are gone; none, where there is nothing to tell yet.
    Gone(Vec<String>),
}

impl Relist {
    /// A list has begun, and is not complete.
    pub(crate) fn is_on(&self) -> bool {
        self.seen.is_some()
    }

    /// What an event of a watch means; `key` names the object for good.
    pub(crate) fn step<K>(&mut self, event: Event<K>, key: impl Fn(&K) -> String) -> Change<K> {
        match event {
            Event::Init => {
                self.seen = Some(BTreeSet::new());
                Change::Nothing
            }
            Event::InitApply(object) => {
                if let Some(seen) = &mut self.seen {
                    seen.insert(key(&object));
                }
                Change::Seen(object)
            }
            Event::InitDone => match self.seen.take() {
                Some(seen) => Change::Listed(seen),
                None => Change::Nothing,
            },
            Event::Apply(object) => Change::Seen(object),
            Event::Delete(object) => Change::Gone(object),
        }
    }
}

impl Relist {
    /// What an event tells of objects, of which those `known` by name are there so far.
    pub(crate) fn by_name<'w, K: Resource, I: Iterator<Item = &'w String>>(
        &mut self,
        event: Event<K>,
        known: impl FnOnce() -> I,
    ) -> ByName<K> {
        match self.step(event, name_of) {
            Change::Nothing => ByName::Gone(Vec::new()),
            Change::Seen(object) => ByName::Seen(object),
            Change::Gone(object) => ByName::Gone(vec![name_of(&object)]),
            Change::Listed(all) => ByName::Gone(missing(known(), &all)),
        }
    }
}

/// One kind's objects.
pub(crate) struct Kind<T> {
    relist: Relist,
    objects: BTreeMap<String, T>,
    /// A list was complete.
    is_listed: bool,
}

impl<T> Default for Kind<T> {
    fn default() -> Kind<T> {
        let (relist, objects) = (Relist::default(), BTreeMap::new());
        Kind { relist, objects, is_listed: false }
    }
}

impl<T> Kind<T> {
    /// All have been listed, and no other list has begun.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_listed && !self.relist.is_on()
    }

    /// What is there.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &T> {
        self.objects.values()
    }

    /// An object is known otherwise from now on.
    pub(crate) fn forget(&mut self, uid: &str) {
        self.objects.remove(uid);
    }

    /// What is there.
    pub(crate) fn into_objects(self) -> Vec<T> {
        self.objects.into_values().collect()
    }

    /// The object that is gone; and whether others are, nobody saw how.
    pub(crate) fn hear(
        &mut self,
        event: Event<T>,
        uid: impl Fn(&T) -> String,
    ) -> (Option<T>, bool) {
        match self.relist.step(event, &uid) {
            Change::Nothing => {}
            Change::Seen(object) => _ = self.objects.insert(uid(&object), object),
            Change::Gone(object) => {
                self.objects.remove(&uid(&object));
                return (Some(object), false);
            }
            Change::Listed(all) => {
                let before = self.objects.len();
                self.objects.retain(|uid, _| all.contains(uid));
                return (
                    None,
                    std::mem::replace(&mut self.is_listed, true) && self.objects.len() < before,
                );
            }
        }
        (None, false)
    }
}

/// An event of what was read of an object.
pub(crate) fn map<K, T>(event: Event<K>, read: impl FnOnce(K) -> T) -> Event<T> {
    match event {
        Event::Init => Event::Init,
        Event::InitApply(object) => Event::InitApply(read(object)),
        Event::InitDone => Event::InitDone,
        Event::Apply(object) => Event::Apply(read(object)),
        Event::Delete(object) => Event::Delete(read(object)),
    }
}

pub(crate) fn without_managers<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}

/// The name of an object of the cluster.
pub(crate) fn name_of<K: Resource>(object: &K) -> String {
    object.name_any()
}

pub(crate) fn uid_of<K: Resource>(object: &K) -> String {
    object.uid().unwrap_or_default()
}

/// What is known and was not listed.
pub(crate) fn missing<'w>(
    known: impl Iterator<Item = &'w String>,
    all: &BTreeSet<String>,
) -> Vec<String> {
    known.filter(|name| !all.contains(*name)).cloned().collect()
}
