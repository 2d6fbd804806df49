//! Whether suspended time is charged: a choice of the site.
//!
//! `sacct`, `sreport` and the ledger leave it out; Slurm's fair tree charges it (measured on
//! 22.05.8). Where it is charged, a run that is suspended is to the ledger one that runs: from the
//! second in which Slurm started it to the second in which Slurm ended it.

use crate::read::jobs::{JobStage, SlurmJob};
use crate::read::runs::SlurmRun;
use crate::slurm::JobsSeen;

/// What suspended time costs.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum SuspendedTime {
    /// Nothing, as in `sacct`.
    #[default]
    Free,
    /// As if the run went on, as in Slurm's fair tree.
    Charged,
}

impl SuspendedTime {
    /// Jobs as the ledger takes them, asked for in the second `at`.
    pub(crate) fn jobs(self, seen: JobsSeen, at: i64) -> JobsSeen {
        match self {
            SuspendedTime::Free => seen,
            SuspendedTime::Charged => {
                let (mut jobs, mut suspensions) = seen;
                jobs.values_mut().for_each(|job| charge(job, at));
                suspensions.clear();
                (jobs, suspensions)
            }
        }
    }

    /// Runs of accounting as the ledger takes them; before rows of resized runs are joined.
    pub(crate) fn runs(self, mut rows: Vec<SlurmRun>) -> Vec<SlurmRun> {
        if self == SuspendedTime::Charged {
            for row in &mut rows {
                row.elapsed = row.end.map_or(row.elapsed, |end| (end - row.start).max(0));
            }
        }
        rows
    }
}

fn charge(job: &mut SlurmJob, at: i64) {
    let Some(start) = job.start else { return };
    let until = match job.stage {
        JobStage::Pending => return,
        JobStage::Running | JobStage::Suspended => at,
        JobStage::Ended => job.end.unwrap_or(at),
    };
    if job.stage == JobStage::Suspended {
        job.stage = JobStage::Running;
    }
    job.used = (until - start).max(0);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::read::jobs::{Suspension, parse_jobs};
    use crate::read::runs::parse_runs;

    const JOBS: &str = "\
6|6|chem|lp|SUSPENDED|100|110|NONE|0:02|None|cpu=2|main
7|7|chem|lp|COMPLETED|100|110|160|0:20|None|cpu=2|main
8|8|chem|lp|PENDING|100|N/A|N/A|0:00|Priority|cpu=2|main
";

    fn seen() -> JobsSeen {
        let jobs = parse_jobs(JOBS).unwrap().into_iter().map(|job| (job.id, job)).collect();
        (jobs, BTreeMap::from([(6, Suspension { at: 112, ran_before: 2 })]))
    }

    #[test]
    fn suspended_time_is_charged_where_the_site_wishes_it() {
        assert_eq!(SuspendedTime::Free.jobs(seen(), 200), seen());
        let (jobs, suspensions) = SuspendedTime::Charged.jobs(seen(), 200);
        let found: Vec<_> = jobs.values().map(|job| (job.stage, job.used)).collect();
        let expected = [(JobStage::Running, 90), (JobStage::Ended, 50), (JobStage::Pending, 0)];
        assert_eq!(found, expected);
        assert!(suspensions.is_empty());
        let rows = parse_runs("7|7|chem|lp|100|110|160|20|cpu=2|COMPLETED\n").unwrap();
        assert_eq!(SuspendedTime::Free.runs(rows.clone())[0].elapsed, 20);
        assert_eq!(SuspendedTime::Charged.runs(rows)[0].elapsed, 50);
    }
}
