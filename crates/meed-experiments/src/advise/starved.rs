//! A value for the starvation guard, from the log.
//!
//! > t_wait = T_avg / N_task  (TSC'18 Eq. 7)
//!
//! T_avg is how long a task of the starved tenant runs, N_task how many of its tasks are to run
//! while it would starve. Here T_avg is the median tenant's mean task, and N_task one: two take
//! half of the value, and so on. Only in a tree can a tenant starve although it has used least
//! (Sec. 5.2): without groups there is no value. Cost: one pass over a log with groups.

use std::collections::BTreeMap;

use meed::MICROS_PER_S;
use meed_scenario::Scenario;
use meed_workload::{JobSource, OnBadLine, TraceError};

use crate::sweep::summary::quantile;

/// A value for `t_wait`: how long the task of a tenant in the middle runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GuardValue {
    /// Mean run time of a task, in seconds, of the tenant in the middle.
    pub task_s: f64,
    /// Tenants with tasks.
    pub tenants: usize,
}

impl GuardValue {
    /// Of the log; nothing where no two tenants share a group beside another tenant.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn of_log(scenario: &Scenario, seed: u64) -> Result<Option<GuardValue>, TraceError> {
        // Groups are seen by the names of queues: without any the log is not read.
        if !is_tree(scenario.queue_names()) {
            return Ok(None);
        }
        let mut source = scenario.source(seed, OnBadLine::Skip)?;
        let mut tenants = BTreeMap::<u32, (u128, u64)>::new();
        while let Some(job) = source.next_job()? {
            let (micros, tasks) = tenants.entry(job.queue).or_default();
            for group in &job.groups {
                *micros += group.duration.total_micros(group.count);
                *tasks += u64::from(group.count);
            }
        }
        let names = source.queues();
        let named = tenants.keys().filter_map(|&queue| names.get(queue as usize));
        if !is_tree(named.map(String::as_str)) {
            return Ok(None);
        }
        let mean = |(micros, tasks): &(u128, u64)| {
            (*tasks > 0).then(|| *micros as f64 / *tasks as f64 / MICROS_PER_S as f64)
        };
        let mut means: Vec<f64> = tenants.values().filter_map(mean).collect();
        means.sort_by(f64::total_cmp);
        let tenants = means.len();
        Ok(quantile(&means, 0.5).map(|task_s| GuardValue { task_s, tenants }))
    }

    /// As a policy's key has it: whole seconds below ten minutes, else whole minutes.
    pub fn value(&self) -> String {
        match self.task_s {
            seconds if seconds < 600.0 => format!("{:.0}s", seconds.max(1.0)),
            seconds => format!("{:.0}min", seconds / 60.0),
        }
    }

    /// What it says, for people.
    pub fn words(&self) -> String {
        format!(
            "Tenants share groups, so one may starve that has used least: with t_wait={} about one \
             task of it runs meanwhile, with half of that two (TSC'18 Eq. 7; the mean task of the \
             median of {} tenants).",
            self.value(),
            self.tenants
        )
    }
}

/// Whether two of these leaves have one parent below the root, and a third has not.
fn is_tree<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let mut of_parent = BTreeMap::<Option<&str>, usize>::new();
    for name in names {
        *of_parent.entry(name.rsplit_once('.').map(|(parent, _)| parent)).or_default() += 1;
    }
    let shared = |(parent, leaves): (&Option<&str>, &usize)| parent.is_some() && *leaves > 1;
    of_parent.len() > 1 && of_parent.iter().any(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_groups_beside_each_other() {
        for (names, tree) in [
            (&["a", "b"][..], false),
            (&["g.a", "g.b"], false),
            (&["g.a", "h.b"], false),
            (&["g.a", "g.b", "h.c"], true),
            (&["g.a", "g.b", "c"], true),
        ] {
            assert_eq!(is_tree(names.iter().copied()), tree, "{names:?}");
        }
    }

    /// TSC'18 Fig. 2 has two groups of two and tasks of a minute; the other file has no groups.
    #[test]
    fn logs_with_groups_have_a_value() {
        let of = |file: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
            let scenario = Scenario::load_any(&path.join(file), &[], OnBadLine::Stop);
            GuardValue::of_log(&scenario.expect("a scenario"), 0).expect("jobs")
        };
        assert_eq!(of("hierarchy.toml"), Some(GuardValue { task_s: 60.0, tenants: 4 }));
        assert_eq!(of("lending.toml"), None);
    }

    #[test]
    fn values_are_those_that_policies_take() {
        let value = |task_s: f64| GuardValue { task_s, tenants: 2 }.value();
        assert_eq!(
            [0.2, 23.6, 599.0, 600.0, 11_400.0].map(value),
            ["1s", "24s", "599s", "10min", "190min"]
        );
    }
}
