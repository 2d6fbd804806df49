//! What is heard, told to the world.

use kube::runtime::watcher::Event;

use crate::error::KubernetesError;
use crate::heard::{DeviceHeard, Heard};
use crate::pod::PodSeen;
use crate::pod::gang::{GangName, GroupSeen};
use crate::relist::{ByName, Change, Relist, map, missing, name_of};
use crate::volumes::VolumeEars;
use crate::world::World;

/// Where each watch is.
#[derive(Debug, Default)]
pub(crate) struct Ears {
    nodes: Relist,
    pods: Relist,
    queues: Relist,
    namespaces: Relist,
    pod_groups: Relist,
    scheduling_groups: Relist,
    volumes: VolumeEars,
    device_classes: Relist,
    slices: Relist,
}

impl Ears {
    /// Tells the world one thing.
    pub(crate) fn hear(&mut self, world: &mut World, heard: Heard) -> Result<(), KubernetesError> {
        let now = world.turn();
        match heard {
            Heard::Node(event) => match self.nodes.by_name(*event, || world.node_names()) {
                ByName::Seen(node) => world.node_seen(&node, now)?,
                ByName::Gone(names) => {
                    names.iter().try_for_each(|name| world.node_gone(name, now))?
                }
            },
            Heard::Pod(event) => match self.pods.step(*event, uid_of) {
                Change::Nothing => {}
                Change::Seen(seen) => world.pod_seen(seen, now)?,
                Change::Gone(seen) => world.pod_gone(seen, now)?,
                Change::Listed(all) => {
                    let gone = missing(world.pod_uids(), &all);
                    gone.iter().try_for_each(|uid| world.pod_not_listed(uid, now))?;
                }
            },
            Heard::Queue(event) => match self.queues.by_name(*event, || world.queue_names()) {
                ByName::Seen(queue) => world.queue_seen(&queue),
                ByName::Gone(names) => names.iter().for_each(|name| world.queue_gone(name)),
            },
            Heard::Namespace(event) => {
                match self.namespaces.by_name(*event, || world.namespace_names()) {
                    ByName::Seen(namespace) => {
                        let labels = namespace.metadata.labels.clone().unwrap_or_default();
                        world.namespace_seen(name_of(&namespace), labels);
                    }
                    ByName::Gone(names) => names.iter().for_each(|name| world.namespace_gone(name)),
                }
            }
            Heard::PodGroup(event) => {
                let group = map(*event, |one| GroupSeen::of_plugins(&one));
                hear_groups(&mut self.pod_groups, world, group);
            }
            Heard::SchedulingGroup(event) => {
                let group = map(*event, |one| GroupSeen::of_kubernetes(&one));
                hear_groups(&mut self.scheduling_groups, world, group);
            }
            Heard::Volume(heard) => self.volumes.hear(world, heard),
            Heard::Device(DeviceHeard::Class(event)) => {
                match self.device_classes.by_name(*event, || world.device_class_names()) {
                    ByName::Seen(class) => world.device_class_seen(&class, now)?,
                    ByName::Gone(names) => {
                        names.iter().try_for_each(|name| world.device_class_gone(name, now))?
                    }
                }
            }
            Heard::Device(DeviceHeard::Slice(event)) => {
                match self.slices.by_name(*event, || world.slice_names()) {
                    ByName::Seen(slice) => world.slice_seen(&slice, now)?,
                    ByName::Gone(names) => {
                        names.iter().try_for_each(|name| world.slice_gone(name, now))?
                    }
                }
            }
            Heard::Looked(pod, found) => world.looked(&pod, found.as_deref(), now)?,
            Heard::Answer(answer) => world.answered(answer, now)?,
            Heard::NotEvicted(uid, why) => world.eviction_refused(&uid, why),
            // For who does not lead yet.
            Heard::UpTo(_) | Heard::Finished(_) | Heard::Checkpoint(_) => {}
            Heard::Deposed(why) => return Err(KubernetesError::Deposed(why)),
        }
        Ok(())
    }
}

fn uid_of(pod: &PodSeen) -> String {
    pod.name.uid.clone()
}

/// PodGroups of one kind.
fn hear_groups(relist: &mut Relist, world: &mut World, event: Event<GroupSeen>) {
    let text = |(namespace, name): &(String, GangName)| format!("{namespace}/{name}");
    match relist.step(event, |group| text(&group.key())) {
        Change::Nothing => {}
        Change::Seen(group) => world.pod_group_seen(group),
        Change::Gone(group) => world.pod_group_gone(&group.key()),
        Change::Listed(all) => {
            let known = world.pod_group_names().filter(|key| !all.contains(&text(key)));
            let gone: Vec<_> = known.cloned().collect();
            gone.iter().for_each(|key| world.pod_group_gone(key));
        }
    }
}
