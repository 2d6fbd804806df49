//! Devices of dynamic resource allocation, as far as they stand for an extended resource: which a
//! class means, and how many a node has.
//!
//! A DeviceClass may have a name by which pods ask for its devices as for any extended resource
//! (`spec.extendedResourceName`); without one the name is `deviceclass.resource.kubernetes.io/` and
//! that of the class. Which devices it means is an expression in CEL. Read are conjunctions of
//! comparisons of the driver and of attributes with a constant, which is what drivers ship; of a
//! class with another expression it is not known what nodes have, and that is said of its pods.
//!
//! Not counted are devices that a taint keeps free, and those that are of no one node.

use std::collections::BTreeMap;

use k8s_openapi::api::resource::v1::{Device, DeviceClass, ResourceSlice};

/// The name of a class for who asks for it as for a resource, where it names none itself.
const IMPLICIT: &str = "deviceclass.resource.kubernetes.io/";
/// Taints that let nobody in, or nobody new.
const KEEPS_OUT: [&str; 2] = ["NoSchedule", "NoExecute"];

/// A comparison of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Driver(String),
    /// By domain and name.
    Attribute(String, String, Value),
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Bool(bool),
    Int(i64),
    Text(String),
}

/// A class of devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassSeen {
    /// The resources that pods may ask for.
    resources: Vec<String>,
    /// `None`: what it means is not known.
    terms: Option<Vec<Term>>,
}

impl ClassSeen {
    pub(crate) fn of(class: &DeviceClass) -> ClassSeen {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let own = class.spec.extended_resource_name.clone();
        let selectors = class.spec.selectors.iter().flatten();
        let terms = selectors.map(|one| terms_of(&one.cel.as_ref()?.expression));
        let terms: Option<Vec<Vec<Term>>> = terms.collect();
        ClassSeen {
            resources: own.into_iter().chain([format!("{IMPLICIT}{name}")]).collect(),
            terms: terms.map(|terms| terms.concat()),
        }
    }

    /// Whether its devices are asked for by the name of this resource.
    pub(crate) fn is_for(&self, resource: &str) -> bool {
        self.resources.iter().any(|one| one == resource)
    }

    /// Whether it is known which devices it means.
    pub(crate) fn is_read(&self) -> bool {
        self.terms.is_some()
    }
}

/// A device of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
struct DeviceSeen {
    attributes: BTreeMap<String, Value>,
}

/// Devices that a driver tells of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SliceSeen {
    /// The node; those of several nodes, or of all, have none.
    pub(crate) node: Option<String>,
    pub(crate) driver: String,
    pub(crate) pool: String,
    /// What is of an older one is replaced.
    pub(crate) generation: i64,
    devices: Vec<DeviceSeen>,
}

impl SliceSeen {
    pub(crate) fn of(slice: &ResourceSlice) -> SliceSeen {
        let spec = &slice.spec;
        let is_open = |device: &&Device| {
            let mut taints = device.taints.iter().flatten();
            !taints.any(|taint| KEEPS_OUT.contains(&taint.effect.as_str()))
        };
        let devices = spec.devices.iter().flatten().filter(is_open);
        SliceSeen {
            node: spec.node_name.clone().filter(|node| !node.is_empty()),
            driver: spec.driver.clone(),
            pool: spec.pool.name.clone(),
            generation: spec.pool.generation,
            devices: devices.map(|device| DeviceSeen { attributes: attributes(device) }).collect(),
        }
    }

    /// How many of its devices a class means.
    pub(crate) fn count(&self, class: &ClassSeen) -> u64 {
        let Some(terms) = &class.terms else { return 0 };
        let is_meant = |device: &&DeviceSeen| terms.iter().all(|term| self.holds(device, term));
        self.devices.iter().filter(is_meant).count() as u64
    }

    fn holds(&self, device: &DeviceSeen, term: &Term) -> bool {
        match term {
            Term::Driver(driver) => *driver == self.driver,
            Term::Attribute(domain, name, value) => {
                let full = device.attributes.get(&format!("{domain}/{name}"));
                // Without a domain it is the driver's.
                let own = device.attributes.get(name).filter(|_| *domain == self.driver);
                full.or(own) == Some(value)
            }
        }
    }
}

fn attributes(device: &Device) -> BTreeMap<String, Value> {
    let read = device.attributes.iter().flatten().filter_map(|(name, value)| {
        let text = || value.string.clone().or_else(|| value.version.clone()).map(Value::Text);
        let value = value.bool.map(Value::Bool).or(value.int.map(Value::Int)).or_else(text)?;
        Some((name.clone(), value))
    });
    read.collect()
}

/// The comparisons of an expression; `None`: it is more than that.
fn terms_of(expression: &str) -> Option<Vec<Term>> {
    expression.split("&&").map(term_of).collect()
}

fn term_of(text: &str) -> Option<Term> {
    let (left, right) = text.split_once("==")?;
    let (left, right) = (left.trim(), value_of(right.trim())?);
    if left == "device.driver" {
        let Value::Text(driver) = right else { return None };
        return Some(Term::Driver(driver));
    }
    let (domain, name) = left.strip_prefix("device.attributes[")?.split_once("].")?;
    let Value::Text(domain) = value_of(domain.trim())? else { return None };
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| Term::Attribute(domain, name.to_owned(), right))
}

fn value_of(text: &str) -> Option<Value> {
    if let "true" | "false" = text {
        return Some(Value::Bool(text == "true"));
    }
    if let Ok(number) = text.parse() {
        return Some(Value::Int(number));
    }
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_plain = !inner.contains(['"', '\'', '\\']);
    is_plain.then(|| Value::Text(inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn class(expressions: &[&str]) -> ClassSeen {
        let selectors: Vec<Json> =
            expressions.iter().map(|one| json!({ "cel": { "expression": one } })).collect();
        let class = json!({ "metadata": { "name": "gpu.example.com" },
            "spec": { "extendedResourceName": "example.com/gpu", "selectors": selectors } });
        ClassSeen::of(&serde_json::from_value(class).unwrap())
    }

    fn slice(devices: Json) -> SliceSeen {
        let slice = json!({ "metadata": {}, "spec": { "driver": "gpu.example.com",
            "nodeName": "n1", "devices": devices,
            "pool": { "name": "n1", "generation": 1, "resourceSliceCount": 1 } } });
        SliceSeen::of(&serde_json::from_value(slice).unwrap())
    }

    #[test]
    fn a_class_is_asked_for_by_both_of_its_names() {
        let class = class(&[]);
        assert!(class.is_for("example.com/gpu") && !class.is_for("gpu.example.com"));
        assert!(class.is_for("deviceclass.resource.kubernetes.io/gpu.example.com"));
    }

    #[test]
    fn devices_are_counted_that_a_class_means_and_no_taint_keeps_out() {
        let kind = |kind: &str| json!({ "string": kind });
        let slice = slice(json!([
            { "name": "a", "attributes": { "type": kind("gpu"), "index": { "int": 0 } } },
            { "name": "b", "attributes": { "gpu.example.com/type": kind("gpu") } },
            { "name": "c", "attributes": { "type": kind("mig") } },
            { "name": "d", "attributes": { "type": kind("gpu") },
                "taints": [{ "key": "broken", "effect": "NoSchedule" }] },
        ]));
        let gpu = "device.attributes['gpu.example.com'].type == \"gpu\"";
        for (expressions, expected) in [
            (&[][..], Some(3)),
            (&["device.driver == 'gpu.example.com'"], Some(3)),
            (&["device.driver == 'other.example.com'"], Some(0)),
            (&[&*format!("device.driver == 'gpu.example.com' && {gpu}")], Some(2)),
            (&["device.driver == 'gpu.example.com'", gpu], Some(2)),
            (&["device.attributes['gpu.example.com'].index == 0"], Some(1)),
            // More than is read here.
            (&["device.driver.startsWith('gpu')"], None),
            (&["device.driver == 'a' || device.driver == 'b'"], None),
            (&["!(device.driver == 'a')"], None),
            (&["device.driver == \"a\\\"b\""], None),
        ] {
            let class = class(expressions);
            let counted = class.is_read().then(|| slice.count(&class));
            assert_eq!(counted, expected, "{expressions:?}");
        }
    }
}
