//! A dry run: what would be set, and what Slurm starts that Meed would have put behind others.
//!
//! Each round compares two orders of the jobs that wait: by Slurm's own priorities, and Meed's. A
//! job that Slurm started since the round before was before its turn where Meed had put as many
//! others before it as Slurm started at once. Whether these others fitted nobody can say.

use std::collections::{BTreeMap, BTreeSet};

use crate::read::jobs::{JobStage, SlurmJob};
use crate::snapshot::ClusterSnapshot;
use crate::spread::FactorChange;

/// So many jobs are named in a line.
const NAMED: usize = 5;

/// A job that waited in the round before, in Meed's order.
#[derive(Clone, Debug)]
struct Waited {
    /// Its name without elements of an array.
    base: String,
    words: String,
    tasks: u32,
}

/// What stays between rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct DryRun {
    /// Factors as they would be.
    pretended: BTreeMap<u32, i64>,
    waited: Vec<Waited>,
    /// Jobs that had started by the round before.
    begun: BTreeSet<u32>,
    /// The first jobs of both orders, as they were said last.
    said: [String; 2],
    started: usize,
    early: usize,
}

impl DryRun {
    /// Puts the factors into the snapshot that would have been set.
    pub(crate) fn pretend(&self, snapshot: &mut ClusterSnapshot) {
        for (job, factor) in &self.pretended {
            snapshot.set_factor(*job, *factor);
        }
    }

    /// What a round says: what Slurm did otherwise, what it would do next, what would be set.
    pub(crate) fn compare(
        &mut self,
        snapshot: &ClusterSnapshot,
        order: &[u32],
        wanted: &[FactorChange],
    ) -> Vec<String> {
        let mut lines: Vec<String> = self.judge(snapshot).into_iter().collect();
        let alone = snapshot.order_alone();
        let next = [named(&alone, snapshot), named(order, snapshot)];
        if next != self.said && !order.is_empty() {
            match next[0] == next[1] {
                true => lines.push(format!("next by Slurm and by Meed: {}", next[0])),
                false => {
                    lines.push(format!("next by Slurm's own priorities: {}", next[0]));
                    lines.push(format!("next by Meed's order: {}", next[1]));
                }
            }
        }
        self.said = next;
        for change in wanted {
            let job = snapshot.jobs.get(&change.job);
            let words = job.map_or_else(|| change.job.to_string(), words);
            let before = snapshot.site_factor(change.job);
            lines.push(format!(
                "would set SiteFactor of {words} from {before} to {}",
                change.site_factor
            ));
            self.pretended.insert(change.job, change.site_factor);
        }
        self.pretended.retain(|job, _| snapshot.priorities.contains_key(job));
        let waited = order.iter().filter_map(|id| snapshot.jobs.get(id)).map(|job| Waited {
            base: base(&job.name).to_owned(),
            words: words(job),
            tasks: job.tasks,
        });
        self.waited = waited.collect();
        lines
    }

    /// What Slurm started since the round before, beside what Meed had put first.
    fn judge(&mut self, snapshot: &ClusterSnapshot) -> Option<String> {
        let begun = snapshot.jobs.values().filter(|job| has_started(job));
        let begun: BTreeMap<u32, &str> = begun.map(|job| (job.id, base(&job.name))).collect();
        let waited: BTreeSet<&str> = self.waited.iter().map(|job| job.base.as_str()).collect();
        // An element of an array is a record of its own once it has started.
        let mut started: BTreeMap<&str, usize> = BTreeMap::new();
        for (id, base) in &begun {
            if !self.begun.contains(id) && waited.contains(base) {
                *started.entry(base).or_default() += 1;
            }
        }
        let count: usize = started.values().sum();
        let (mut left, mut passed, mut early) = (count, Vec::new(), Vec::new());
        for (place, job) in self.waited.iter().enumerate() {
            let begun = started.get(job.base.as_str()).copied().unwrap_or(0);
            let due = left.min(job.tasks as usize);
            left -= due;
            if begun > due {
                early.push(format!("{} from place {}", job.words, place + 1));
                self.early += begun - due;
            } else if due > begun {
                passed.push(job.words.clone());
            }
        }
        self.started += count;
        self.begun = begun.into_keys().collect();
        if early.is_empty() {
            return None;
        }
        Some(format!(
            "Slurm started {}; Meed would have started {}, where they fit",
            some(&early),
            some(&passed)
        ))
    }

    /// The sum of it; `None`: nothing started.
    pub(crate) fn sum(&self) -> Option<String> {
        (self.started > 0).then(|| {
            format!(
                "dry run: of {} starts Meed would have put {} behind others",
                self.started, self.early
            )
        })
    }
}

fn has_started(job: &SlurmJob) -> bool {
    job.stage != JobStage::Pending && job.start.is_some() && job.end != job.start
}

/// `1045` of `1045_5` and of `1045_[6-10]`.
fn base(name: &str) -> &str {
    name.split('_').next().unwrap_or(name)
}

fn words(job: &SlurmJob) -> String {
    format!("{} ({})", job.name, job.user)
}

fn named(order: &[u32], snapshot: &ClusterSnapshot) -> String {
    let jobs = order.iter().take(NAMED).filter_map(|id| snapshot.jobs.get(id));
    let mut named = jobs.map(words).collect::<Vec<_>>().join(", ");
    if order.len() > NAMED {
        named.push_str(", ...");
    }
    named
}

fn some(words: &[String]) -> String {
    let mut text = words.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if words.len() > NAMED {
        text.push_str(&format!(" and {} more", words.len() - NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::jobs::{JobPriority, parse_jobs};

    /// Jobs as `squeue` prints them: name, user, state; their priorities fall with their numbers.
    fn seen(jobs: &[(u32, &str, &str, &str)]) -> ClusterSnapshot {
        let mut snapshot = ClusterSnapshot::default();
        for (id, name, user, state) in jobs {
            let start = if *state == "PENDING" { "N/A" } else { "9" };
            let line =
                format!("{id}|{name}|a|{user}|{state}|1|{start}|N/A|0:00|Priority|cpu=1|main");
            snapshot.jobs.extend(parse_jobs(&line).unwrap().into_iter().map(|job| (job.id, job)));
            let of = JobPriority { site_factor: 0, all: 1000 - i64::from(*id) };
            snapshot.priorities.insert(*id, of);
        }
        snapshot
    }

    #[test]
    fn both_orders_are_said_once_and_what_would_be_set() {
        let mut dry = DryRun::default();
        let snapshot = seen(&[
            (1, "1", "ann", "PENDING"),
            (2, "2", "ann", "PENDING"),
            (3, "3", "bob", "PENDING"),
        ]);
        let set = [FactorChange { job: 3, site_factor: 70 }];
        let lines = dry.compare(&snapshot, &[3, 1, 2], &set);
        let expected = [
            "next by Slurm's own priorities: 1 (ann), 2 (ann), 3 (bob)",
            "next by Meed's order: 3 (bob), 1 (ann), 2 (ann)",
            "would set SiteFactor of 3 (bob) from 0 to 70",
        ];
        assert_eq!(lines, expected);
        // What would be set is pretended, and is no part of Slurm's own priority.
        let mut later = snapshot.clone();
        dry.pretend(&mut later);
        assert_eq!(later.priorities[&3], JobPriority { site_factor: 70, all: 1067 });
        assert_eq!(dry.compare(&later, &[3, 1, 2], &[]), Vec::<String>::new());
        let one = seen(&[(2, "2", "ann", "PENDING")]);
        assert_eq!(dry.compare(&one, &[2], &[]), ["next by Slurm and by Meed: 2 (ann)"]);
    }

    #[test]
    fn what_slurm_starts_before_its_turn_is_said_and_counted() {
        let mut dry = DryRun::default();
        let before = [
            (1, "1", "ann", "PENDING"),
            (2, "2", "ann", "PENDING"),
            (3, "3", "bob", "PENDING"),
            (4, "4_[1-9]", "bob", "PENDING"),
            (5, "4_0", "bob", "RUNNING"),
        ];
        dry.compare(&seen(&before), &[3, 4, 1, 2], &[]);
        assert_eq!(dry.sum(), None, "nothing started since");
        // Two start: one was in place 3; the other is the array's first element that waited.
        let after = [
            (1, "1", "ann", "RUNNING"),
            (2, "2", "ann", "PENDING"),
            (3, "3", "bob", "PENDING"),
            (4, "4_[2-9]", "bob", "PENDING"),
            (5, "4_0", "bob", "RUNNING"),
            (6, "4_1", "bob", "RUNNING"),
        ];
        let lines = dry.compare(&seen(&after), &[3, 4, 2], &[]);
        let said = "Slurm started 1 (ann) from place 3; Meed would have started 3 (bob), where \
                    they fit";
        assert_eq!(lines[0], said);
        let sum = "dry run: of 2 starts Meed would have put 1 behind others";
        assert_eq!(dry.sum().unwrap(), sum);
        // In turn.
        let last = [
            (1, "1", "ann", "RUNNING"),
            (2, "2", "ann", "PENDING"),
            (3, "3", "bob", "RUNNING"),
            (4, "4_[2-9]", "bob", "PENDING"),
        ];
        let lines = dry.compare(&seen(&last), &[4, 2], &[]);
        assert!(lines.iter().all(|line| !line.contains("started")), "{lines:?}");
        assert!(dry.sum().unwrap().contains("of 3 starts"));
    }
}
