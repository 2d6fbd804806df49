//! What Meed does not know of a pod that it would have to place by itself: said aloud, never placed
//! in ignorance.
//!
//! In the mode *gates* kube-scheduler places with all its predicates, and nothing here matters.

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec, Volume};

/// Why a pod is not taken: in a word, and in a sentence.
pub(crate) type Refusal = (&'static str, String);

/// Why Meed must not bind this pod, in a sentence; `None`: it may. `unread` is what could not be
/// read of what it says of other pods.
pub(crate) fn not_supported(pod: &Pod, unread: Option<String>) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    let what = unread
        .or_else(|| by_claims(spec))
        .or_else(|| by_features(spec))
        .or_else(|| spec.volumes.iter().flatten().find_map(volume))?;
    Some(format!(
        "{what}, which Meed does not place by itself; use a Queue with mode Gates, where \
         kube-scheduler places the pods that Meed lets go"
    ))
}

fn by_claims(spec: &PodSpec) -> Option<String> {
    let claim = spec.resource_claims.iter().flatten().next()?;
    Some(format!("it has the resource claim `{}` (dynamic resource allocation)", claim.name))
}

/// What a node must declare to run a pod (`status.declaredFeatures`, plugin NodeDeclaredFeatures of
/// kube-scheduler): the rows of Kubernetes 1.37 that ask something of a pod that is to be placed.
/// Mount options of bind mounts are a third row, alpha, and in no pod where that is off.
fn by_features(spec: &PodSpec) -> Option<String> {
    let restarts_all = |container: &Container| {
        let mut rules = container.restart_policy_rules.iter().flatten();
        rules.any(|rule| rule.action == "RestartAllContainers")
    };
    let mut containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let feature = if containers.any(restarts_all) {
        "RestartAllContainersOnContainerExits"
    } else if spec.host_network == Some(true) && spec.host_users == Some(false) {
        "UserNamespacesHostNetworkSupport"
    } else {
        return None;
    };
    Some(format!("it needs a node that declares the feature {feature}"))
}

/// Volumes that are nobody's on any node are harmless; claims are looked at by themselves
/// ([`super::volumes`]); all others bind a pod to where they are.
fn volume(volume: &Volume) -> Option<String> {
    let is_harmless = volume.empty_dir.is_some()
        || volume.config_map.is_some()
        || volume.secret.is_some()
        || volume.projected.is_some()
        || volume.downward_api.is_some()
        || volume.host_path.is_some()
        || volume.image.is_some()
        || volume.persistent_volume_claim.is_some();
    if is_harmless {
        return None;
    }
    Some(format!("its volume `{}` may be reachable from some nodes only", volume.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::near::Near;
    use serde_json::{Value, json};

    #[test]
    fn what_is_not_known_is_refused_and_all_else_is_not() {
        let term = json!({ "topologyKey": "kubernetes.io/hostname" });
        let expression = json!({ "key": "app", "operator": "Like", "values": ["web"] });
        let mut odd = term.clone();
        odd["labelSelector"] = json!({ "matchExpressions": [expression] });
        let key = "requiredDuringSchedulingIgnoredDuringExecution";
        let weighted = json!([{ "weight": 1, "podAffinityTerm": term }]);
        let soft = "preferredDuringSchedulingIgnoredDuringExecution";
        let spread = |when: &str| {
            let one = json!({ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when });
            json!({ "topologySpreadConstraints": [one] })
        };
        let volume = |kind: &str, what: Value| json!({ "volumes": [{ "name": "v", kind: what }] });
        let port = |port: Value| {
            let ports = json!([{ "containerPort": 1, "hostPort": port }]);
            json!({ "containers": [{ "name": "c", "ports": ports }] })
        };
        for (spec, expected) in [
            (json!({}), None),
            (
                json!({ "containers": [{ "name": "c", "restartPolicyRules": [
                    { "action": "RestartAllContainers", "exitCodes": { "operator": "In" } }] }] }),
                Some("declares the feature RestartAllContainersOnContainerExits"),
            ),
            (
                json!({ "containers": [{ "name": "c", "restartPolicyRules": [
                    { "action": "Restart", "exitCodes": { "operator": "In" } }] }] }),
                None,
            ),
            (
                json!({ "hostNetwork": true, "hostUsers": false }),
                Some("declares the feature UserNamespacesHostNetworkSupport"),
            ),
            (json!({ "hostUsers": false }), None),
            (json!({ "affinity": { "podAffinity": { key: [term] } } }), None),
            (json!({ "affinity": { "podAntiAffinity": { key: [term] } } }), None),
            (json!({ "affinity": { "podAntiAffinity": { key: [odd] } } }), Some("by `Like`")),
            (json!({ "affinity": { "podAffinity": { soft: weighted } } }), None),
            (spread("DoNotSchedule"), None),
            (spread("ScheduleAnyway"), None),
            (spread("Whenever"), Some("constraint that says `Whenever`")),
            (volume("emptyDir", json!({})), None),
            (volume("configMap", json!({ "name": "m" })), None),
            (volume("persistentVolumeClaim", json!({ "claimName": "c" })), None),
            (volume("ephemeral", json!({})), Some("some nodes")),
            (
                volume("iscsi", json!({ "targetPortal": "", "iqn": "", "lun": 0 })),
                Some("some nodes"),
            ),
            (json!({ "resourceClaims": [{ "name": "gpu" }] }), Some("resource claim `gpu`")),
            (port(json!(8080)), None),
            (port(Value::Null), None),
        ] {
            let mut spec = spec;
            if spec.get("containers").is_none() {
                spec["containers"] = json!([]);
            }
            let pod = serde_json::from_value(json!({ "spec": spec })).unwrap();
            let refused = not_supported(&pod, Near::of(&pod).1);
            match expected {
                None => assert_eq!(refused, None, "{spec}"),
                Some(part) => assert!(refused.as_deref().unwrap_or("").contains(part), "{spec}"),
            }
        }
    }
}
