//! How large a cluster is that a workload keeps busy: for traces that come without one.

use crate::{Job, JobSource, TraceError};

/// How much of each of `kinds` resources the jobs left in `source` keep busy in the mean from the
/// first submission to the last: the cluster for which the offered load is 1. At least what the
/// widest task, or gang, holds, at most what all tasks hold at once. Rounded down, and 0 for what
/// no job holds.
///
/// Cost: one pass over the jobs, which are taken.
pub fn busy_size(source: &mut dyn JobSource, kinds: usize) -> Result<Vec<u64>, TraceError> {
    let mut sizes = vec![Size::default(); kinds];
    let mut first = None;
    let mut last = 0;
    while let Some(job) = source.next_job()? {
        let submit = job.submit.as_micros();
        first.get_or_insert(submit);
        last = last.max(submit);
        sizes.iter_mut().enumerate().for_each(|(kind, size)| size.add(&job, kind));
    }
    let span = last - first.unwrap_or(last);
    Ok(sizes.iter().map(|size| size.of(span)).collect())
}

/// Of one resource.
#[derive(Clone, Default)]
struct Size {
    /// Amount x microseconds.
    work: u128,
    widest: u64,
    at_once: u64,
}

impl Size {
    fn add(&mut self, job: &Job, kind: usize) {
        // Of the groups of a stage that are one gang.
        let (mut stage, mut joint) = (0, 0u64);
        for group in &job.groups {
            let each = group.demand.get(kind);
            let together = group.gang.as_ref().map_or(1, |gang| gang.least);
            let width = each.saturating_mul(u64::from(together));
            self.widest = self.widest.max(width);
            if group.gang.as_ref().is_some_and(|gang| gang.joint) {
                joint = if group.stage == stage { joint.saturating_add(width) } else { width };
                stage = group.stage;
                self.widest = self.widest.max(joint);
            }
            let all = each.saturating_mul(u64::from(group.count));
            self.at_once = self.at_once.saturating_add(all);
            let micros = group.duration.total_micros(group.count);
            self.work = self.work.saturating_add(u128::from(each).saturating_mul(micros));
        }
    }

    fn of(&self, span: u64) -> u64 {
        let mean = u64::try_from(self.work / u128::from(span.max(1))).unwrap_or(u64::MAX);
        mean.max(self.widest).min(self.at_once)
    }
}

#[cfg(test)]
mod tests {
    use meed_files::open::Origin;

    use super::*;
    use crate::OnBadLine;
    use crate::canonical::CanonicalSource;

    fn size(jobs: &[&str]) -> Vec<u64> {
        let header =
            r#"{"meed_trace":1,"resources":{"slot":"milli","gpu":"milli"},"queues":["a"]}"#;
        let text = format!("{header}\n{}\n", jobs.join("\n"));
        let origin = Origin::bytes("t", text.as_bytes());
        let mut source = CanonicalSource::open(&origin, None, OnBadLine::Stop).expect("a trace");
        busy_size(&mut source, 2).expect("a size")
    }

    const LONG: &str = r#"{"submit_s":0,"queue":"a","tasks":[
        {"count":4,"demand":{"slot":1},"duration_s":[5,5,10,20]}]}"#;
    const LAST: &str = r#"{"submit_s":10,"queue":"a","tasks":[
        {"count":2,"demand":{"slot":0.5},"duration_s":10}]}"#;

    #[test]
    fn a_cluster_has_room_for_the_work_between_first_and_last() {
        let line = |text: &str| text.replace('\n', "");
        let (long, last) = (line(LONG), line(LAST));
        // 40 + 10 slot-seconds in 10 s, but never more than 5 slots at once.
        assert_eq!(size(&[&long, &last]), [5000, 0]);
        // In 20 s half of it.
        let late = last.replace(":10,\"q", ":20,\"q");
        assert_eq!(size(&[&long, &late]), [2500, 0]);
        // The widest gang fits, and what is submitted at one moment needs room for all.
        let gang = late.replace("\"duration_s\":10", "\"duration_s\":10,\"gang\":true");
        let wide = gang.replace("0.5", "1.9");
        assert_eq!(size(&[&long, &wide]), [3900, 0]);
        assert_eq!(size(&[&long]), [4000, 0]);
    }
}
