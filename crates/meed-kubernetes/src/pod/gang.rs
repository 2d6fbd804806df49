//! Which gang a pod is of: by its labels, or by its field `schedulingGroup`.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;

use crate::keys;

/// Most pods of a gang.
const MOST: u32 = 1000;

/// The gang that a pod names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct GangLabel {
    /// In its namespace; apart for each kind of label.
    pub(crate) name: GangName,
    /// How many start together; `None`: its PodGroup says so.
    pub(crate) size: Option<u32>,
}

/// A gang within a namespace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum GangName {
    /// By our label.
    Label(String),
    /// By that of scheduler-plugins.
    PodGroup(String),
    /// By the pod's `schedulingGroup`: a PodGroup of Kubernetes itself.
    SchedulingGroup(String),
}

/// A PodGroup of either kind, as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GroupSeen {
    pub(crate) namespace: String,
    pub(crate) name: GangName,
    /// How many of its pods start together.
    pub(crate) least: u32,
}

impl GroupSeen {
    /// A PodGroup of scheduler-plugins.
    pub(crate) fn of_plugins(group: &DynamicObject) -> GroupSeen {
        let least = group.data.pointer("/spec/minMember");
        GroupSeen::of(group, least, GangName::PodGroup(group.name_any()))
    }

    /// A PodGroup of Kubernetes; one with the policy `basic` starts pod by pod.
    pub(crate) fn of_kubernetes(group: &DynamicObject) -> GroupSeen {
        let least = group.data.pointer("/spec/schedulingPolicy/gang/minCount");
        GroupSeen::of(group, least, GangName::SchedulingGroup(group.name_any()))
    }

    fn of(group: &DynamicObject, least: Option<&Value>, name: GangName) -> GroupSeen {
        let least = least.and_then(Value::as_u64).and_then(|least| u32::try_from(least).ok());
        let namespace = group.namespace().unwrap_or_default();
        GroupSeen { namespace, name, least: least.unwrap_or(1).max(1) }
    }

    /// Which it is.
    pub(crate) fn key(&self) -> (String, GangName) {
        (self.namespace.clone(), self.name.clone())
    }
}

impl std::fmt::Display for GangName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GangName::Label(name) => write!(f, "gang `{name}`"),
            GangName::PodGroup(name) => write!(f, "PodGroup `{name}`"),
            GangName::SchedulingGroup(name) => write!(f, "PodGroup `{name}` (schedulingGroup)"),
        }
    }
}

/// The gang of a pod, where it is of one; what is wrong with its labels, in a sentence.
pub(crate) fn of_pod(pod: &Pod) -> Option<Result<GangLabel, String>> {
    by_labels(pod).or_else(|| by_field(pod).map(Ok))
}

fn by_field(pod: &Pod) -> Option<GangLabel> {
    let name = pod.spec.as_ref()?.scheduling_group.as_ref()?.pod_group_name.clone()?;
    Some(GangLabel { name: GangName::SchedulingGroup(name), size: None })
}

fn by_labels(pod: &Pod) -> Option<Result<GangLabel, String>> {
    let labels = pod.metadata.labels.as_ref()?;
    let (gang, size) = (labels.get(keys::GANG), labels.get(keys::GANG_SIZE));
    match (gang, size, labels.get(keys::POD_GROUP)) {
        (None, None, None) => None,
        (None, None, Some(name)) => {
            Some(Ok(GangLabel { name: GangName::PodGroup(name.clone()), size: None }))
        }
        (Some(name), Some(text), _) => Some(match text.parse() {
            Ok(size @ 1..=MOST) => {
                Ok(GangLabel { name: GangName::Label(name.clone()), size: Some(size) })
            }
            _ => Err(format!(
                "its label {} is `{text}`: a whole number from 1 to {MOST}, how many pods of the \
                 gang start together",
                keys::GANG_SIZE
            )),
        }),
        (Some(name), None, _) => Some(Err(format!(
            "it is of gang `{name}` and does not say how many pods start together: give it the \
             label {}",
            keys::GANG_SIZE
        ))),
        (None, Some(_), _) => Some(Err(format!(
            "it has the label {} and names no gang: give it the label {}",
            keys::GANG_SIZE,
            keys::GANG
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_name_a_gang_or_say_what_is_missing() {
        let read = |labels: Value| {
            let pod = json!({ "metadata": { "labels": labels } });
            of_pod(&serde_json::from_value(pod).unwrap())
        };
        let (gang, size, group) = (keys::GANG, keys::GANG_SIZE, keys::POD_GROUP);
        assert_eq!(read(json!({ "app": "web" })), None);
        let of = |name, size| Some(Ok(GangLabel { name, size }));
        let label = GangName::Label("g".to_owned());
        assert_eq!(read(json!({ gang: "g", size: "8" })), of(label.clone(), Some(8)));
        // Ours comes before that of others.
        assert_eq!(read(json!({ gang: "g", size: "8", group: "x" })), of(label, Some(8)));
        assert_eq!(read(json!({ group: "x" })), of(GangName::PodGroup("x".to_owned()), None));
        for (labels, part) in [
            (json!({ gang: "g" }), "does not say how many"),
            (json!({ size: "8" }), "names no gang"),
            (json!({ gang: "g", size: "0" }), "is `0`"),
            (json!({ gang: "g", size: "all" }), "is `all`"),
            (json!({ gang: "g", size: "1001" }), "from 1 to 1000"),
        ] {
            let why = read(labels).unwrap().unwrap_err();
            assert!(why.contains(part), "{why}");
        }
    }
}
