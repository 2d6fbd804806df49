//! Where a task may run: labels that its node must or must not have, and nodes that its job does
//! not use yet.
//!
//! A node has labels (`zone = "a"`, `gpu = "v100"`); a task names labels with values, all of which
//! must hold. That covers Kubernetes' In, NotIn, Exists and DoesNotExist, and the machine
//! constraints of SWF's and Google's traces.

use std::collections::BTreeMap;

/// Labels of a node, by name.
pub type Labels = BTreeMap<String, String>;

/// Values in question, by label; no values means any value.
pub type LabelValues = BTreeMap<String, Vec<String>>;

/// Where a task may run. The default allows every node.
///
/// ```
/// use meed::{Constraints, Labels};
///
/// let require = [("disk".to_owned(), vec!["ssd".to_owned()])].into();
/// let fast = Constraints { require, ..Constraints::default() };
/// let labels: Labels = [("disk".to_owned(), "ssd".to_owned())].into();
/// assert!(fast.allow(&labels) && !fast.allow(&Labels::new()));
/// assert!(Constraints::default().is_open());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Constraints {
    /// The node has each of these labels, with one of the values.
    pub require: LabelValues,
    /// The node has none of these labels with one of the values.
    pub forbid: LabelValues,
    /// Whether it runs only where no other task of its job runs that asks for the same (Google's
    /// "different machines", Kubernetes' required anti-affinity to itself).
    pub distinct_nodes: bool,
}

impl Constraints {
    /// Whether every node is allowed.
    pub fn is_open(&self) -> bool {
        !self.names_labels() && !self.distinct_nodes
    }

    /// Whether labels matter.
    pub fn names_labels(&self) -> bool {
        !self.require.is_empty() || !self.forbid.is_empty()
    }

    /// Whether `labels` has this one, with one of the values; with any where none are named.
    pub fn has(labels: &Labels, label: &str, values: &[String]) -> bool {
        labels.get(label).is_some_and(|value| values.is_empty() || values.contains(value))
    }

    /// Whether a node with these labels is allowed.
    pub fn allow(&self, labels: &Labels) -> bool {
        let named =
            |(label, values): (&String, &Vec<String>)| Constraints::has(labels, label, values);
        self.require.iter().all(named) && !self.forbid.iter().any(named)
    }
}

/// What is asked of labels, in words.
impl std::fmt::Display for Constraints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let required = self.require.iter().map(|(label, values)| match values.is_empty() {
            true => format!("label {label}"),
            false => format!("label {label} = {}", values.join(" or ")),
        });
        let forbidden = self.forbid.iter().map(|(label, values)| match values.is_empty() {
            true => format!("no label {label}"),
            false => format!("label {label} other than {}", values.join(", ")),
        });
        f.write_str(&required.chain(forbidden).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_checked() {
        let labels: Labels = [("zone", "a"), ("gpu", "v100")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let rule = |(label, values): (&str, &[&str])| -> LabelValues {
            [(label.to_owned(), values.iter().map(|&value| value.to_owned()).collect())].into()
        };
        for (label, values, required, forbidden) in [
            ("zone", &["a", "b"][..], true, false),
            ("zone", &["b"], false, true),
            ("zone", &[], true, false),
            ("disk", &[], false, true),
            ("disk", &["ssd"], false, true),
        ] {
            let require = Constraints { require: rule((label, values)), ..Constraints::default() };
            let forbid = Constraints { forbid: rule((label, values)), ..Constraints::default() };
            assert_eq!(require.allow(&labels), required, "{require}");
            assert_eq!(forbid.allow(&labels), forbidden, "{forbid}");
        }
        assert!(Constraints::default().is_open() && Constraints::default().allow(&labels));
    }
}
