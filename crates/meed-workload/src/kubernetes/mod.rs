//! Kubernetes: pods that have ended, and Workloads of Kueue, as `kubectl get -o json` lists them.
//!
//! Format: `{"apiVersion": ..., "items": [...]}`; several such lists one after the other are one
//! file, and an object that is in more than one (by its uid) counts once. Pods and Workloads are
//! told apart by their kind. A pod is a job of one task that holds what the rule of [`meed_pods`]
//! says, from its binding to the end of its last container. A Workload is a job with a group of
//! tasks for each pod set, as many as were admitted, each a gang, from its last admission to its
//! end. What has not ended is left out.
//!
//! Invariant: jobs come in order of submission; equal times in order of the file. Memory grows with
//! the file, which is read whole.

mod counted;
mod list;

use meed::{Gang, ResourceKinds, Resources, Unit};
use meed_files::open::Origin;

use crate::error::no_jobs_in;
use crate::fields::{span, time};
use crate::whole::Whole;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};

/// Which objects share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum KubernetesQueues {
    /// Those of one namespace.
    #[default]
    Namespace,
    /// Those of one queue: Kueue's LocalQueue below its namespace, of pods by their label
    /// `kueue.x-k8s.io/queue-name`; else the namespace.
    Queue,
    /// Those of one ClusterQueue; else the namespace.
    ClusterQueue,
    /// All, in a queue of this name.
    Single(String),
}

/// One job.
struct Row {
    /// Microseconds since 1970; since the first submission once all are known.
    submit: u64,
    duration: u64,
    /// 0: none.
    limit: u64,
    queue: u32,
    name: Box<str>,
    /// How many tasks, and what each holds.
    groups: Vec<(u32, Resources)>,
    gang: bool,
}

/// Jobs of a list of pods or Workloads.
pub struct KubernetesSource {
    file: Whole<Row>,
    words: Vec<String>,
    kinds: usize,
    clock_us: Option<u64>,
}

impl KubernetesSource {
    /// Opens `origin` for a cluster with these `kinds` and reads it whole, once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        queues: &KubernetesQueues,
        on_bad_line: OnBadLine,
    ) -> Result<KubernetesSource, TraceError> {
        let mut input = origin.open()?;
        let bytes = input.whole()?;
        let (mut file, counted) = list::read(origin.name(), &bytes, kinds, queues, on_bad_line)?;
        crate::records::end_of_whole(&input, &bytes, &mut file.bad)?;
        if file.counts().lines == 0 && !bytes.trim_ascii().is_empty() {
            let why = "the list of kubectl has no objects; wanted are pods that have ended, or \
                       Workloads of Kueue, of all namespaces (-A)";
            return Err(no_jobs_in(origin.name(), why));
        }
        let told = counted.words();
        let wanted = "wanted is what `kubectl get pods -A -o json` lists, with pods that have \
                      ended, or Workloads of Kueue";
        file.ensure_some(&[&told[..], &[wanted.to_owned()]].concat().join("; "))?;
        let rows = file.rows();
        // Stable: equal times stay in the order of the file.
        rows.sort_by_key(|row| row.submit);
        let first = rows.first().map_or(0, |row| row.submit);
        rows.iter_mut().for_each(|row| row.submit -= first);
        Ok(KubernetesSource {
            words: [words(kinds, queues, first), told].concat(),
            file,
            kinds: kinds.len(),
            clock_us: Some(first),
        })
    }

    /// How much of each resource its jobs keep busy in the mean from the first submission to the
    /// last; at least what the widest task, or gang, holds, at most what all tasks hold at once.
    /// The jobs must not have been taken yet.
    pub fn size(&self) -> Vec<u64> {
        let last = self.file.left().next_back().map_or(0, |row| row.submit);
        let size = |kind: usize| {
            let (mut work, mut widest, mut at_once) = (0u128, 0u64, 0u64);
            for row in self.file.left() {
                for (count, demand) in &row.groups {
                    let all = demand.get(kind).saturating_mul(u64::from(*count));
                    widest = widest.max(if row.gang { all } else { demand.get(kind) });
                    at_once = at_once.saturating_add(all);
                    let more = u128::from(all).saturating_mul(u128::from(row.duration));
                    work = work.saturating_add(more);
                }
            }
            let mean = u64::try_from(work / u128::from(last.max(1))).unwrap_or(u64::MAX);
            mean.max(widest).min(at_once)
        };
        (0..self.kinds).map(size).collect()
    }
}

/// The resources that a cluster has where none is given.
pub fn kubernetes_kinds() -> Vec<(String, Unit)> {
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Bytes), ("gpu", Unit::Milli)];
    kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec()
}

fn job(row: Row) -> Job {
    let (limit, duration) = ((row.limit > 0).then(|| span(row.limit)), span(row.duration));
    let group = |(count, demand): (u32, Resources)| JobGroup {
        limit,
        gang: Gang::all(count).filter(|_| row.gang),
        ..JobGroup::new(count, demand, Durations::Same(duration))
    };
    Job {
        label: JobLabel::Name(row.name),
        queue: row.queue,
        submit: time(row.submit),
        weight: 1,
        chain: None,
        groups: row.groups.into_iter().map(group).collect(),
    }
}

fn words(kinds: &ResourceKinds, queues: &KubernetesQueues, first: u64) -> Vec<String> {
    let queue = match queues {
        KubernetesQueues::Namespace => "one queue per namespace".to_owned(),
        KubernetesQueues::Queue => "one queue per LocalQueue of a namespace".to_owned(),
        KubernetesQueues::ClusterQueue => "one queue per ClusterQueue".to_owned(),
        KubernetesQueues::Single(name) => format!("all in the queue {name}"),
    };
    let counted: Vec<&str> = kinds.names().collect();
    vec![
        format!("Kubernetes: {queue}"),
        "Kubernetes: a pod is one task; a Workload of Kueue is one gang for each pod set"
            .to_owned(),
        format!("Kubernetes: requests of {} count, others are passed over", counted.join(", ")),
        "Kubernetes: what has not ended, or requests nothing that counts, is left out; node \
         selectors, affinity and taints are passed over"
            .to_owned(),
        format!("Kubernetes: time 0 is the first submission, {}", crate::table::format_date(first)),
    ]
}

impl JobSource for KubernetesSource {
    fn queues(&self) -> &[String] {
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        Ok(self.file.next().map(job))
    }

    fn counts(&self) -> SourceCounts {
        self.file.counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.file.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.words.clone()
    }

    fn clock_us(&self) -> Option<u64> {
        self.clock_us
    }

    fn progress(&self) -> Option<f64> {
        self.file.progress()
    }
}

#[cfg(test)]
mod tests;
