//! Kueue's objects, as far as they are read: `v1beta1` and `v1beta2`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::crd::{AmountText, NamespaceSelector};

/// An object of any kind.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) metadata: Metadata,
    pub(super) spec: Spec,
    /// Of a list.
    pub(super) items: Vec<Object>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) namespace: String,
}

/// What is read of the three kinds: each has some of it.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec {
    pub(super) resource_groups: Vec<ResourceGroup>,
    /// Of a ClusterQueue; `cohort` in v1beta1.
    #[serde(alias = "cohort")]
    pub(super) cohort_name: Option<String>,
    /// Of a Cohort; `parent` in older versions.
    #[serde(alias = "parent")]
    pub(super) parent_name: Option<String>,
    /// Of a LocalQueue.
    pub(super) cluster_queue: Option<String>,
    pub(super) fair_sharing: Option<FairSharing>,
    pub(super) stop_policy: Option<String>,
    pub(super) queueing_strategy: Option<String>,
    pub(super) namespace_selector: Option<NamespaceSelector>,
    pub(super) preemption: Option<Preemption>,
    pub(super) flavor_fungibility: Option<serde_json::Value>,
    pub(super) admission_checks: Vec<String>,
    pub(super) admission_checks_strategy: Option<serde_json::Value>,
    pub(super) admission_scope: Option<serde_json::Value>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
pub(super) struct FairSharing {
    pub(super) weight: Option<AmountText>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preemption {
    pub(super) reclaim_within_cohort: Option<String>,
    pub(super) within_cluster_queue: Option<String>,
}

impl Preemption {
    /// Whether it may stop anything.
    pub(super) fn is_on(&self) -> bool {
        let is_on = |policy: &Option<String>| policy.as_ref().is_some_and(|text| text != "Never");
        is_on(&self.reclaim_within_cohort) || is_on(&self.within_cluster_queue)
    }
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
pub(super) struct ResourceGroup {
    pub(super) flavors: Vec<Flavor>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
pub(super) struct Flavor {
    pub(super) name: String,
    pub(super) resources: Vec<Quota>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Quota {
    pub(super) name: String,
    pub(super) nominal_quota: AmountText,
    pub(super) borrowing_limit: Option<AmountText>,
    pub(super) lending_limit: Option<AmountText>,
}

/// Of each resource: what is nominal, what may be borrowed (`None`: anything), and whether lending
/// is bounded; sums over the flavors.
pub(super) struct Sum {
    pub(super) nominal: u64,
    pub(super) borrowed: Option<u64>,
    pub(super) lends: bool,
    pub(super) flavors: usize,
}

impl Spec {
    /// By resource, in whole bytes or in thousandths (`units`).
    pub(super) fn quotas(&self) -> Result<BTreeMap<String, Sum>, String> {
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for flavor in self.resource_groups.iter().flat_map(|group| &group.flavors) {
            for quota in &flavor.resources {
                let read = |text: &AmountText| {
                    let wrong = |why| format!("flavor `{}`: {}: {why}", flavor.name, quota.name);
                    super::units(&quota.name, text).map_err(wrong)
                };
                let nominal = read(&quota.nominal_quota)?;
                let borrowed = quota.borrowing_limit.as_ref().map(read).transpose()?;
                let sum = sums.entry(quota.name.clone()).or_insert(Sum {
                    nominal: 0,
                    borrowed: Some(0),
                    lends: false,
                    flavors: 0,
                });
                sum.nominal = sum.nominal.saturating_add(nominal);
                let both = sum.borrowed.zip(borrowed);
                sum.borrowed = both.map(|(sum, more)| sum.saturating_add(more));
                sum.lends |= quota.lending_limit.is_some();
                sum.flavors += 1;
            }
        }
        Ok(sums)
    }
}
