//! Jobs of a log, handed out; in the resources of the cluster that they are to run on.

use std::sync::Arc;

use meed::{ResourceKinds, Resources};
use meed_workload::changed::JobChange;
use meed_workload::{Job, JobSource, SourceCounts, TraceError};

use super::jobs::LiveJobs;

/// The jobs of a live world's run, from the first on.
pub(super) struct LiveSource {
    jobs: Arc<LiveJobs>,
    next: usize,
}

impl LiveSource {
    pub(super) fn new(jobs: Arc<LiveJobs>) -> LiveSource {
        LiveSource { jobs, next: 0 }
    }
}

impl JobSource for LiveSource {
    fn queues(&self) -> &[String] {
        &self.jobs.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let job = self.jobs.jobs.get(self.next).cloned();
        self.next += usize::from(job.is_some());
        Ok(job)
    }

    fn counts(&self) -> SourceCounts {
        let LiveJobs { lines, left_out, .. } = *self.jobs;
        SourceCounts { lines, jobs: self.next as u64, ignored: left_out, bad: 0 }
    }

    fn assumptions(&self) -> Vec<String> {
        self.jobs.words()
    }

    fn clock_us(&self) -> Option<u64> {
        self.jobs.clock_us
    }

    fn progress(&self) -> Option<f64> {
        Some(self.next as f64 / self.jobs.jobs.len().max(1) as f64)
    }
}

/// Where the resources of a log stand among those of a cluster. What the cluster does not have is
/// not counted there.
pub(crate) struct KindMap {
    /// For each of the cluster's, that of the log.
    from: Vec<Option<usize>>,
    left_out: Vec<String>,
}

impl KindMap {
    /// From those of a log to those of a cluster; in words what does not go together.
    pub(crate) fn of(log: &ResourceKinds, cluster: &ResourceKinds) -> Result<KindMap, String> {
        let names = |kinds: &ResourceKinds| kinds.names().collect::<Vec<_>>().join(", ");
        let from: Vec<Option<usize>> = cluster.names().map(|name| log.find(name)).collect();
        if from.iter().all(Option::is_none) {
            let (log, cluster) = (names(log), names(cluster));
            return Err(format!("its tasks ask for {log}, and the cluster has {cluster}"));
        }
        let unlike = |&(to, from): &(usize, &Option<usize>)| {
            from.is_some_and(|from| log.unit(from) != cluster.unit(to))
        };
        if let Some((to, _)) = from.iter().enumerate().find(unlike) {
            return Err(format!(
                "`{}` is counted otherwise there: give it the unit that it has in the log",
                cluster.name(to)
            ));
        }
        let left_out = log.names().filter(|name| cluster.find(name).is_none());
        Ok(KindMap { left_out: left_out.map(str::to_owned).collect(), from })
    }

    /// Whether nothing changes.
    pub(crate) fn is_same(&self) -> bool {
        let stays = |(to, from): (usize, &Option<usize>)| *from == Some(to);
        self.left_out.is_empty() && self.from.iter().enumerate().all(stays)
    }
}

impl JobChange for KindMap {
    fn submitted(&self, mut job: Job) -> Job {
        for group in &mut job.groups {
            let mut demand = Resources::zero(self.from.len());
            for (to, from) in demand.as_mut_slice().iter_mut().zip(&self.from) {
                *to = from.map_or(0, |from| group.demand.get(from));
            }
            group.demand = demand;
        }
        job
    }

    fn words(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!names.is_empty()).then(|| format!("log: the cluster has no {names}: not counted"))
    }
}
