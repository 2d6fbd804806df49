//! Constraints of tasks as files write them: `{ require = { zone = ["a"] }, forbid = { gpu = [] },
//! distinct_nodes = true }`.

use std::collections::BTreeMap;

use meed::Constraints;
use meed::constraints::LabelValues;
use serde::{Deserialize, Serialize};

/// The written form of [`Constraints`].
///
/// ```
/// use meed_config::constraints::ConstraintsForm;
///
/// let form: ConstraintsForm = serde_json::from_str(r#"{"require":{"disk":["ssd"]}}"#)?;
/// let constraints = form.read()?.ok_or("it says something")?;
/// assert_eq!(constraints.require["disk"], ["ssd"]);
/// assert_eq!(ConstraintsForm::of(&constraints), form);
/// assert_eq!(ConstraintsForm::default().read()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "expected constraints: require and forbid (labels with lists of values), \
        distinct_nodes"
)]
pub struct ConstraintsForm {
    /// The node has each of these labels, with one of the values (any value, where none is given).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub require: LabelValues,
    /// The node has none of these labels with one of the values (not at all, where none is given).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub forbid: LabelValues,
    /// Each task runs on a node of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_nodes: bool,
}

impl ConstraintsForm {
    /// The constraints; `None` where nothing is constrained, an error where a label has no name.
    pub fn read(&self) -> Result<Option<Box<Constraints>>, String> {
        if self.require.keys().chain(self.forbid.keys()).any(String::is_empty) {
            return Err("constraints: a label without a name".to_owned());
        }
        let ConstraintsForm { require, forbid, distinct_nodes } = self.clone();
        let constraints = Constraints { require, forbid, distinct_nodes };
        Ok((!constraints.is_open()).then(|| Box::new(constraints)))
    }

    /// The form of `constraints`.
    pub fn of(constraints: &Constraints) -> ConstraintsForm {
        let Constraints { require, forbid, distinct_nodes } = constraints.clone();
        ConstraintsForm { require, forbid, distinct_nodes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let values = |label: &str, values: &[&str]| -> LabelValues {
            [(label.to_owned(), values.iter().map(|&value| value.to_owned()).collect())].into()
        };
        for form in [
            ConstraintsForm { distinct_nodes: true, ..Default::default() },
            ConstraintsForm {
                require: values("zone", &["a", "b"]),
                forbid: values("gpu", &[]),
                distinct_nodes: false,
            },
        ] {
            let constraints = form.read().unwrap().unwrap();
            assert_eq!(ConstraintsForm::of(&constraints), form);
            let text = serde_json::to_string(&form).unwrap();
            assert_eq!(serde_json::from_str::<ConstraintsForm>(&text).unwrap(), form);
        }
        assert_eq!(ConstraintsForm::default().read(), Ok(None));
        assert!(ConstraintsForm { require: values("", &[]), ..Default::default() }.read().is_err());
    }
}
