//! What is known and what is assumed of a scenario's cluster, for answers that rest on it.

use meed_workload::format::TraceFormat;

use super::trace::TracePlan;
use super::{Scenario, Setting};

impl Scenario {
    /// Whether nobody said how large the cluster is, so that its size is assumed.
    pub fn assumes_size(&self) -> bool {
        self.assumes_size
    }

    /// The format of the trace that it was made of; nothing for a scenario's own file.
    pub fn format(&self) -> Option<TraceFormat> {
        self.format
    }

    /// Changes that spare another reading of the same trace the search for outliers and for a
    /// window, where there are none.
    pub fn without_search(&self) -> Vec<Setting> {
        let spares = self.outliers.as_ref().is_some_and(|outliers| outliers.is_empty());
        let all = spares && self.trace.as_ref().is_some_and(TracePlan::is_whole);
        let outliers = spares.then(|| Setting::trace_outliers(false));
        outliers.into_iter().chain(all.then(|| Setting::trace_window("all"))).collect()
    }

    /// What is known of the cluster, and assumed of it: the first of the assumptions.
    pub fn cluster_notes(&self) -> &[String] {
        &self.cluster_notes
    }

    /// The cluster in words: `one pool of 324 cpu, 35 gpu`, or its number of nodes.
    pub fn cluster_in_words(&self) -> String {
        let total = self.capacity();
        let amount = |kind: usize| {
            let amount = meed_config::units::format_amount(total.get(kind), self.kinds.unit(kind));
            format!("{amount} {}", self.kinds.name(kind))
        };
        // More of a resource than can be meant is no limit.
        let is_limit = |kind: &usize| (1..meed::MAX_AMOUNT / 2).contains(&total.get(*kind));
        let amounts: Vec<String> = (0..self.kinds.len()).filter(is_limit).map(amount).collect();
        match self.nodes.len() {
            1 => amounts.join(", "),
            nodes => format!("{nodes} nodes, together {}", amounts.join(", ")),
        }
    }

    /// Changes that make the one pool of this scenario so many times as large, in percent; whole
    /// pieces, and at least one.
    pub fn pool_sets(&self, percent: u64) -> Vec<Setting> {
        let total = self.capacity();
        let set = |kind: usize| {
            let (name, unit) = (self.kinds.name(kind), self.kinds.unit(kind));
            let amount = u128::from(total.get(kind)) * u128::from(percent) / 100;
            let amount = u64::try_from(amount).unwrap_or(u64::MAX).min(meed::MAX_AMOUNT);
            let value = match unit {
                meed::Unit::Milli => amount.div_ceil(unit.scale()).max(1),
                meed::Unit::Bytes => amount.max(1),
            };
            Setting::capacity(name, i64::try_from(value).unwrap_or(i64::MAX))
        };
        (0..self.kinds.len()).map(set).collect()
    }
}
