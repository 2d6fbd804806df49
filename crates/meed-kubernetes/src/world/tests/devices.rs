//! Devices of dynamic resource allocation that pods ask for as for an extended resource.

use k8s_openapi::api::resource::v1::{DeviceClass, ResourceSlice};

use super::*;

const GPU: &str = "example.com/gpu";

fn class(expression: &str) -> DeviceClass {
    let class = json!({ "metadata": { "name": "gpu.example.com" }, "spec": {
        "extendedResourceName": GPU, "selectors": [{ "cel": { "expression": expression } }] } });
    serde_json::from_value(class).unwrap()
}

fn slice(node: &str, generation: u64, devices: usize) -> ResourceSlice {
    let devices: Vec<Value> = (0..devices).map(|n| json!({ "name": format!("d{n}") })).collect();
    let slice = json!({ "metadata": { "name": format!("{node}-{generation}") }, "spec": {
        "driver": "gpu.example.com", "nodeName": node, "devices": devices,
        "pool": { "name": node, "generation": generation, "resourceSliceCount": 1 } } });
    serde_json::from_value(slice).unwrap()
}

fn with_gpu(uid: &str, queue: &str) -> Pod {
    let mut pod = pod(uid, queue, json!({ "metadata": { "name": uid } }));
    let resources = pod.spec.as_mut().unwrap().containers[0].resources.as_mut().unwrap();
    let one = k8s_openapi::apimachinery::pkg::api::resource::Quantity("1".to_owned());
    resources.requests.as_mut().unwrap().insert(GPU.to_owned(), one);
    pod
}

impl Test {
    fn with_devices() -> Test {
        let line = ["meed", "--resources", GPU];
        let kinds = Line::parse_from(line).settings.kinds().unwrap();
        let clock = LedgerClock::new(unix_micros() - HOUR, Time::ZERO);
        let world = World::begin(kinds, choices(), clock, listed()).unwrap().unwrap();
        let now = world.now();
        let mut test = Test { world, now };
        test.class("device.driver == 'gpu.example.com'");
        test
    }

    fn class(&mut self, expression: &str) {
        let now = self.later();
        self.world.device_class_seen(&class(expression), now).unwrap();
    }

    fn slice(&mut self, node: &str, generation: u64, devices: usize) {
        let now = self.later();
        self.world.slice_seen(&slice(node, generation, devices), now).unwrap();
    }

    fn starts_of(&mut self) -> Vec<String> {
        self.starts().into_iter().map(|start| start.pod.name).collect()
    }
}

#[test]
fn devices_count_as_what_a_node_has_and_each_is_held_by_one_pod() {
    let mut test = Test::with_devices();
    for uid in ["a", "b", "c"] {
        test.seen(&with_gpu(uid, "gates"));
    }
    assert_eq!(test.starts_of(), [""; 0], "no node has devices");
    test.slice("n1", 1, 1);
    assert_eq!(test.starts_of(), ["a"]);
    // A newer generation of the same pool takes the place of the older one.
    test.slice("n1", 2, 2);
    assert_eq!(test.starts_of(), ["b"]);
    test.slice("n2", 1, 1);
    let now = test.later();
    test.world.slice_gone("n2-1", now).unwrap();
    assert_eq!(test.starts_of(), [""; 0]);
    test.gone(&with_gpu("a", "gates"));
    assert_eq!(test.starts_of(), ["c"]);
}

#[test]
fn a_pod_whose_devices_cannot_be_counted_or_allocated_is_told() {
    let mut test = Test::with_devices();
    test.slice("n1", 1, 1);
    test.seen(&with_gpu("binds", "binds"));
    assert_eq!(test.said(), ["NotSupported"]);
    test.class("device.driver.startsWith('gpu')");
    test.seen(&with_gpu("gates", "gates"));
    assert_eq!(test.said(), ["DevicesUnknown"]);
    test.class("device.driver == 'gpu.example.com'");
    assert_eq!(test.starts_of(), ["gates"]);
}
