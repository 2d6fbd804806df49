//! Devices of dynamic resource allocation that pods ask for as for an extended resource: what nodes
//! have of them counts as what nodes tell of device plugins does.
//!
//! kube-scheduler allocates the devices, so this is for the modes Gates and Pins; with Binds such
//! pods are refused aloud. Devices that a pod asks for by claims are in no request.
//!
//! Cost: O(nodes x slices) when a class changes, O(slices) when a slice does or a node comes.

use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};
use meed::{Resources, Time};

use super::World;
use crate::device::{ClassSeen, SliceSeen};
use crate::error::KubernetesError;

impl World {
    /// A class of devices is there, in this form.
    pub(crate) fn device_class_seen(
        &mut self,
        class: &DeviceClass,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let name = class.metadata.name.clone().unwrap_or_default();
        let class = ClassSeen::of(class);
        if self.devices.classes.get(&name) == Some(&class) {
            return Ok(());
        }
        self.devices.classes.insert(name, class);
        self.devices_changed(None, now)
    }

    /// A class of devices is gone.
    pub(crate) fn device_class_gone(
        &mut self,
        name: &str,
        now: Time,
    ) -> Result<(), KubernetesError> {
        match self.devices.classes.remove(name) {
            Some(_) => self.devices_changed(None, now),
            None => Ok(()),
        }
    }

    /// A driver tells of devices.
    pub(crate) fn slice_seen(
        &mut self,
        slice: &ResourceSlice,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let name = slice.metadata.name.clone().unwrap_or_default();
        let slice = SliceSeen::of(slice);
        let before = self.devices.slices.insert(name, slice.clone());
        if before.as_ref() == Some(&slice) {
            return Ok(());
        }
        let nodes = [before.and_then(|before| before.node), slice.node];
        nodes.into_iter().flatten().try_for_each(|node| self.devices_changed(Some(&node), now))
    }

    /// It tells no more of them.
    pub(crate) fn slice_gone(&mut self, name: &str, now: Time) -> Result<(), KubernetesError> {
        match self.devices.slices.remove(name).and_then(|slice| slice.node) {
            Some(node) => self.devices_changed(Some(&node), now),
            None => Ok(()),
        }
    }

    /// Classes of devices that are known.
    pub(crate) fn device_class_names(&self) -> impl Iterator<Item = &String> {
        self.devices.classes.keys()
    }

    /// Slices that are known.
    pub(crate) fn slice_names(&self) -> impl Iterator<Item = &String> {
        self.devices.slices.keys()
    }

    /// What a node has, its devices included.
    pub(super) fn with_devices(&self, node: &str, told: Resources) -> Resources {
        self.devices.with(node, told, &self.kinds)
    }

    /// The engine hears what a node, or each of them, has now; who was refused may come.
    fn devices_changed(&mut self, node: Option<&str>, now: Time) -> Result<(), KubernetesError> {
        self.changed = true;
        let is_meant = |name: &&String| node.is_none_or(|node| node == *name);
        let names: Vec<String> = self.nodes.keys().filter(is_meant).cloned().collect();
        for name in names {
            let Some(row) = self.nodes.get(&name) else { continue };
            let (id, has) = (row.id, self.with_devices(&name, row.told));
            self.node_has(&name, id, has, now);
        }
        Ok(())
    }
}
