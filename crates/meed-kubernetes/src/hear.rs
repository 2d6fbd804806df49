//! What is heard, told to the world.

use std::collections::BTreeSet;

use crate::error::KubernetesError;
use crate::pod::PodSeen;
use crate::volumes::VolumeEars;
use crate::watch::{Change, Heard, Relist, least_of, name_of};
use crate::world::World;

/// Where each watch is.
#[derive(Debug, Default)]
pub(crate) struct Ears {
    nodes: Relist,
    pods: Relist,
    queues: Relist,
    namespaces: Relist,
    pod_groups: Relist,
    volumes: VolumeEars,
}

impl Ears {
    /// Tells the world one thing.
    pub(crate) fn hear(&mut self, world: &mut World, heard: Heard) -> Result<(), KubernetesError> {
        let now = world.turn();
        match heard {
            Heard::Node(event) => match self.nodes.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(node) => world.node_seen(&node, now)?,
                Change::Gone(node) => world.node_gone(&name_of(&node), now)?,
                Change::Listed(all) => {
                    let gone = missing(world.node_names(), &all);
                    gone.iter().try_for_each(|name| world.node_gone(name, now))?;
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
            Heard::Queue(event) => match self.queues.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(queue) => world.queue_seen(&queue),
                Change::Gone(queue) => world.queue_gone(&name_of(&queue)),
                Change::Listed(all) => {
                    let gone = missing(world.queue_names(), &all);
                    gone.iter().for_each(|name| world.queue_gone(name));
                }
            },
            Heard::Namespace(event) => match self.namespaces.step(*event, name_of) {
                Change::Nothing => {}
                Change::Seen(namespace) => {
                    let labels = namespace.metadata.labels.clone().unwrap_or_default();
                    world.namespace_seen(name_of(&namespace), labels);
                }
                Change::Gone(namespace) => world.namespace_gone(&name_of(&namespace)),
                Change::Listed(all) => {
                    let gone = missing(world.namespace_names(), &all);
                    gone.iter().for_each(|name| world.namespace_gone(name));
                }
            },
            Heard::PodGroup(event) => {
                match self.pod_groups.step(*event, |one| text(&least_of(one).0)) {
                    Change::Nothing => {}
                    Change::Seen(group) => {
                        let ((namespace, name), least) = least_of(&group);
                        world.pod_group_seen(namespace, name, least);
                    }
                    Change::Gone(group) => world.pod_group_gone(&least_of(&group).0),
                    Change::Listed(all) => {
                        let known = world.pod_group_names();
                        let gone: Vec<_> =
                            known.filter(|key| !all.contains(&text(key))).cloned().collect();
                        gone.iter().for_each(|key| world.pod_group_gone(key));
                    }
                }
            }
            Heard::Volume(heard) => self.volumes.hear(world, heard),
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

/// A namespace and a name in one.
fn text((namespace, name): &(String, String)) -> String {
    format!("{namespace}/{name}")
}

/// What is known and was not listed.
pub(crate) fn missing<'w>(
    known: impl Iterator<Item = &'w String>,
    all: &BTreeSet<String>,
) -> Vec<String> {
    known.filter(|name| !all.contains(*name)).cloned().collect()
}
