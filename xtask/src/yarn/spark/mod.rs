//! `cargo xtask yarn spark`: real PySpark on a ResourceManager and two NodeManagers, on loopback.

mod compare;
mod experiment;
mod heard;
mod story;
mod submit;
mod submitted;

pub(super) use experiment::run as experiment;
pub(super) use story::run;

/// Who orders, and whether room is taken back.
struct Variant {
    name: &'static str,
    meed: bool,
    reclaims: bool,
}

const VARIANTS: [Variant; 3] = [
    Variant { name: "stock", meed: false, reclaims: false },
    Variant { name: "order-only", meed: true, reclaims: false },
    Variant { name: "reclaim", meed: true, reclaims: true },
];

/// Rules of reclaim, by the plug-in's names of keys.
const RECLAIM: [(&str, &str); 4] = [
    ("reclaim-after", "5s"),
    ("reclaim-min-runtime", "5s"),
    ("reclaim-guard", "10s"),
    ("reclaim-grace", "2s"),
];

/// Keys of a variant on nodes of so many megabytes.
fn keys(variant: &Variant, node: &str) -> Vec<(String, String)> {
    let mut keys: Vec<(String, String)> = [
        ("yarn.nodemanager.resource.memory-mb", node),
        ("yarn.scheduler.minimum-allocation-mb", "1024"),
        ("yarn.resource-types.memory-mb.increment-allocation", "1024"),
        ("yarn.scheduler.fair.assignmultiple", "true"),
        ("yarn.scheduler.fair.dynamic.max.assign", "false"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec();
    if !variant.meed {
        let monitor = "yarn.resourcemanager.scheduler.monitor.enable";
        keys.push((monitor.to_owned(), "false".to_owned()));
    }
    if variant.reclaims {
        let ours = |key: &str| format!("meed.yarn.policy.{key}");
        keys.extend(RECLAIM.map(|(key, value)| (ours(key), value.to_owned())));
    }
    keys
}
