//! Jobs that are kept to the nodes of their partition, and have its limits.
//!
//! A log names the partition of a job, the cluster's own file says which nodes a partition uses,
//! and what limits it has:
//!
//! | of the partition | what is made of it |
//! |---|---|
//! | its nodes | a job runs on those of its partition only; of several partitions (`a,b`), on those of any of them |
//! | `DefaultTime`, else `MaxTime` | the time limit of a job that has none |
//! | `PriorityTier` | nothing: how many jobs Slurm would look at before others of their nodes is said |
//!
//! A node that several partitions use has all their names in one label, `main,big`. A partition
//! that no node has binds nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed::{Labels, Span};

use crate::changed::JobChange;
use crate::{Job, JobSource, TraceError};

/// The label of nodes, and of what jobs require, with names of partitions.
pub const PARTITION: &str = "partition";

/// What a cluster's file says of a partition besides its nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartitionTerms {
    /// Its name.
    pub name: String,
    /// The time limit of jobs that ask for none.
    pub limit: Option<Span>,
    /// Jobs of a higher tier are looked at first.
    pub tier: u32,
}

/// Keeps jobs to the nodes of their partition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InPartitions {
    /// The values of the label that nodes of a partition have.
    values: BTreeMap<String, BTreeSet<String>>,
    limits: BTreeMap<String, Span>,
    tiers: BTreeMap<String, u32>,
}

impl InPartitions {
    /// On nodes with these labels.
    pub fn of<'l>(
        labels: impl Iterator<Item = &'l Labels>,
        terms: &[PartitionTerms],
    ) -> InPartitions {
        let mut within = InPartitions::default();
        let used: BTreeSet<&String> = labels.filter_map(|labels| labels.get(PARTITION)).collect();
        for value in used {
            for name in value.split(',') {
                within.values.entry(name.to_owned()).or_default().insert(value.clone());
            }
        }
        for PartitionTerms { name, limit, tier } in terms {
            within.limits.extend(limit.map(|limit| (name.clone(), limit)));
            within.tiers.insert(name.clone(), *tier);
        }
        within
    }

    /// How many partitions the nodes have.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Values of the label of all nodes of these partitions; none where no node has one of them.
    fn values_of(&self, names: &[String]) -> Vec<String> {
        let values = names.iter().filter_map(|name| self.values.get(name)).flatten();
        values.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// What is made of the jobs that `source` hands out. All are taken.
    pub fn look(&self, source: &mut dyn JobSource) -> Result<PartitionUse, TraceError> {
        let mut found = PartitionUse::default();
        let mut known = BTreeMap::<Vec<String>, u64>::new();
        while let Some(job) = source.next_job()? {
            found.jobs += 1;
            let Some(names) = names_of(&job) else { continue };
            let is_known = names.iter().any(|name| self.values.contains_key(name));
            match is_known {
                true => {
                    found.kept += 1;
                    *known.entry(names.to_vec()).or_default() += 1;
                }
                false => *found.unknown.entry(names.join(",")).or_default() += 1,
            }
            let has_none = job.groups.iter().any(|group| group.limit.is_none());
            found.limited += u64::from(has_none && self.limit_of(names).is_some());
        }
        found.tiered = self.tiered(&known);
        Ok(found)
    }

    /// Jobs of partitions whose tier is above that of others that have jobs on nodes of theirs,
    /// from the jobs of each list of partitions.
    fn tiered(&self, jobs: &BTreeMap<Vec<String>, u64>) -> BTreeMap<String, u64> {
        let lowest = self.tiers.values().copied().min().unwrap_or(0);
        let rows = jobs.iter().map(|(names, count)| {
            let tier = names.iter().filter_map(|name| self.tiers.get(name)).max();
            (names, tier.copied().unwrap_or(lowest), self.values_of(names), count)
        });
        let rows: Vec<_> = rows.collect();
        let is_first = |tier: u32, nodes: &[String]| {
            let mut below = rows.iter().filter(|(_, other, ..)| *other < tier);
            below.any(|(_, _, others, _)| others.iter().any(|other| nodes.contains(other)))
        };
        let first = rows.iter().filter(|(_, tier, nodes, _)| is_first(*tier, nodes));
        first.map(|(names, _, _, count)| (names.join(","), **count)).collect()
    }

    /// The longest of the limits of these partitions, where each has one.
    fn limit_of(&self, names: &[String]) -> Option<Span> {
        let limits: Option<Vec<Span>> =
            names.iter().map(|name| self.limits.get(name).copied()).collect();
        limits?.into_iter().max()
    }
}

/// The partitions that a job names.
fn names_of(job: &Job) -> Option<&[String]> {
    let constraints = job.groups.first()?.constraints.as_ref()?;
    constraints.require.get(PARTITION).map(Vec::as_slice)
}

impl JobChange for InPartitions {
    fn submitted(&self, mut job: Job) -> Job {
        for group in &mut job.groups {
            let Some(constraints) = &mut group.constraints else { continue };
            let Some(names) = constraints.require.remove(PARTITION) else { continue };
            let values = self.values_of(&names);
            if !values.is_empty() {
                constraints.require.insert(PARTITION.to_owned(), values);
            }
            let is_open = constraints.is_open();
            group.limit = group.limit.or_else(|| self.limit_of(&names));
            group.constraints.take_if(|_| is_open);
        }
        job
    }

    fn words(&self) -> Option<String> {
        None
    }
}

impl JobChange for Arc<InPartitions> {
    fn submitted(&self, job: Job) -> Job {
        (**self).submitted(job)
    }

    fn words(&self) -> Option<String> {
        None
    }
}

/// What was made of the partitions of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartitionUse {
    /// All jobs.
    pub jobs: u64,
    /// Jobs that are kept to nodes.
    pub kept: u64,
    /// Jobs of partitions that no node has, by these.
    pub unknown: BTreeMap<String, u64>,
    /// Jobs that have the limit of their partition.
    pub limited: u64,
    /// Jobs of partitions with a tier above that of others with jobs on the same nodes, by these.
    pub tiered: BTreeMap<String, u64>,
}

impl PartitionUse {
    /// One line for each thing that was honoured, and for each that was not.
    pub fn words(&self) -> Vec<String> {
        let PartitionUse { jobs, kept, limited, .. } = self;
        let mut words = Vec::new();
        if *kept > 0 {
            words.push(format!(
                "partitions: {kept} of {jobs} jobs run on nodes of their partition only \
                 (trace.partitions = \"ignore\": on any)"
            ));
        }
        if !self.unknown.is_empty() {
            let (count, names) = counted(&self.unknown);
            words.push(format!(
                "partitions: {} on any node, for no node is of their partition ({names})",
                jobs_that(count, "runs", "run")
            ));
        }
        if *limited > 0 {
            words.push(format!(
                "partitions: {} the time limit of the partition, for no user gave one \
                 (DefaultTime, or MaxTime)",
                jobs_that(*limited, "has", "have")
            ));
        }
        if !self.tiered.is_empty() {
            let (count, names) = counted(&self.tiered);
            words.push(format!(
                "partitions: PriorityTier is not followed; {} of a higher tier than others on the \
                 same nodes ({names}), and Slurm looks at them first",
                jobs_that(count, "is", "are")
            ));
        }
        words
    }
}

/// `1 job runs`, `2 jobs run`
fn jobs_that(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 job {one}") } else { format!("{count} jobs {several}") }
}

/// How many in all, and the largest of them by name: `main: 7, big: 2`.
pub(crate) fn counted<N: Ord + std::fmt::Display>(by_name: &BTreeMap<N, u64>) -> (u64, String) {
    const SHOWN: usize = 3;
    let mut all: Vec<(&N, &u64)> = by_name.iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let mut names: Vec<String> =
        all.iter().take(SHOWN).map(|(name, count)| format!("{name}: {count}")).collect();
    if all.len() > SHOWN {
        names.push(format!("{} more", all.len() - SHOWN));
    }
    (by_name.values().sum(), names.join(", "))
}

#[cfg(test)]
mod tests {
    use meed::{Constraints, Resources, Time};

    use super::*;
    use crate::inline::Inline;
    use crate::{Durations, JobGroup, JobLabel};

    fn job(number: u64, names: &[&str], limit: Option<u64>) -> Job {
        let span = |seconds| Span::from_secs(seconds).unwrap();
        let mut constraints = Constraints::default();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        if !names.is_empty() {
            constraints.require.insert(PARTITION.to_owned(), names);
        }
        let group = JobGroup {
            constraints: (!constraints.is_open()).then(|| Box::new(constraints)),
            limit: limit.map(span),
            ..JobGroup::new(1, Resources::new(&[1000]), Durations::Same(span(10)))
        };
        Job {
            label: JobLabel::Number(number),
            queue: 0,
            submit: Time::ZERO,
            weight: 1,
            chain: None,
            groups: vec![group],
        }
    }

    fn within() -> InPartitions {
        let labels: Vec<Labels> = ["main,big", "main", "gpu"]
            .map(|value| [(PARTITION.to_owned(), value.to_owned())].into())
            .to_vec();
        let terms = |name: &str, limit: Option<u64>, tier| PartitionTerms {
            name: name.to_owned(),
            limit: limit.and_then(Span::from_secs),
            tier,
        };
        let terms = [terms("main", Some(60), 1), terms("big", Some(90), 1), terms("gpu", None, 9)];
        InPartitions::of(labels.iter(), &terms)
    }

    #[test]
    fn jobs_run_where_one_of_their_partitions_is() {
        let within = within();
        assert_eq!(within.count(), 3);
        for (names, values, limit) in [
            (&["main"][..], &["main", "main,big"][..], Some(60.0)),
            (&["big"], &["main,big"], Some(90.0)),
            (&["big", "main"], &["main", "main,big"], Some(90.0)),
            (&["gpu", "big"], &["gpu", "main,big"], None),
            (&["old", "gpu"], &["gpu"], None),
            (&["old"], &[], None),
            (&[], &[], None),
        ] {
            let job = within.submitted(job(1, names, None));
            let group = &job.groups[0];
            let found = names_of(&job).unwrap_or_default();
            assert_eq!(found, values, "{names:?}");
            assert_eq!(group.constraints.is_none(), values.is_empty(), "{names:?}");
            assert_eq!(group.limit.map(Span::as_secs_f64), limit, "{names:?}");
        }
        assert_eq!(
            within.submitted(job(1, &["main"], Some(5))).groups[0].limit,
            Span::from_secs(5),
            "its own"
        );
    }

    #[test]
    fn what_is_honoured_and_what_is_not_is_counted() {
        let jobs = [
            job(1, &["main"], Some(5)),
            job(2, &["main"], None),
            job(3, &["gpu"], None),
            job(4, &["old"], None),
            job(5, &[], None),
            job(6, &["big", "gpu"], None),
        ];
        let mut source = Inline::new(vec!["a".to_owned()], jobs.to_vec(), 1).unwrap();
        let found = within().look(&mut source).unwrap();
        assert_eq!((found.jobs, found.kept, found.limited), (6, 4, 1));
        let words = found.words();
        for told in [
            "4 of 6 jobs run on nodes of their partition only",
            "1 job runs on any node, for no node is of their partition (old: 1)",
            "1 job has the time limit of the partition",
            "PriorityTier is not followed; 1 job is of a higher tier than others on the same \
             nodes (big,gpu: 1)",
        ] {
            assert!(words.iter().any(|words| words.contains(told)), "{told} in {words:?}");
        }
        // Between jobs that share no node, and of one tier, it decides nothing.
        for alone in [&jobs[..3], &jobs[2..3]] {
            let mut source = Inline::new(vec!["a".to_owned()], alone.to_vec(), 1).unwrap();
            let tiered = within().look(&mut source).unwrap().tiered;
            assert!(tiered.is_empty(), "{tiered:?}");
        }
    }
}
