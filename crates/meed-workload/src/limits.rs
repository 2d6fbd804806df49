//! Time limits of tasks: which of them the logs of parallel machines hand on, and
//! tasks that are stopped at theirs.

use meed::Span;

use crate::changed::JobChange;
use crate::error::BadRow;
use crate::fields::Column;
use crate::job::{Durations, Job, JobGroup};

/// Which limits the tasks of a log have, whose users asked for a time.
///
/// [`AtLimit`] has an example of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeLimits {
    /// What was asked for, also where the job then ran longer.
    #[default]
    Requested,
    /// The same, but never below the run time, and the run time where nothing was asked for: no
    /// estimate is too short, as textbooks of backfilling assume.
    AtLeastRun,
    /// None.
    Ignore,
}

impl TimeLimits {
    /// The limit of a task that ran for `duration`, where `asked` stands in the log.
    pub(crate) fn of(
        self,
        column: Column,
        asked: &[u8],
        duration: Span,
    ) -> Result<Option<Span>, BadRow> {
        Ok(match self {
            TimeLimits::Requested => column.some_seconds(asked)?,
            TimeLimits::AtLeastRun => {
                let limit = column.some_seconds(asked)?.unwrap_or_default().max(duration);
                Some(limit).filter(|limit| *limit > Span::ZERO)
            }
            TimeLimits::Ignore => None,
        })
    }

    /// The choice in words, where it is not the usual one.
    pub(crate) fn words(self, format: &str) -> Option<String> {
        let words = match self {
            TimeLimits::Requested => return None,
            TimeLimits::AtLeastRun => {
                "time limits are as requested (column 9), or the run time if longer or unknown"
            }
            TimeLimits::Ignore => "time limits (column 9) are passed over",
        };
        Some(format!("{format}: {words}"))
    }
}

/// Tasks end at their limits: what would run longer is as long as its limit.
///
/// ```
/// # use meed::{Resources, Span, Time};
/// # use meed_workload::inline::Inline;
/// # use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource};
/// # let tasks = Durations::Same(Span::from_secs(10).ok_or("in range")?);
/// # let job = |number: u64| Job {
/// #     label: JobLabel::Number(number),
/// #     queue: 0,
/// #     submit: Time::from_secs(number * 60).unwrap_or(Time::ZERO),
/// #     weight: 1000,
/// #     chain: None,
/// #     groups: vec![JobGroup::new(1, Resources::new(&[1000]), tasks.clone())],
/// # };
/// # let mut source = Inline::new(vec!["ads".to_owned()], vec![job(0), job(1)], 1)?;
/// use meed_workload::changed::Changed;
/// use meed_workload::limits::AtLimit;
/// let job = source.next_job()?.ok_or("two jobs")?;
/// let mut limited = job.clone();
/// limited.groups[0].limit = Span::from_secs(4);
/// let source = Inline::new(vec!["ads".to_owned()], vec![limited], 1)?;
/// let cut = Changed::new(source, AtLimit).next_job()?.ok_or("one job")?;
/// assert_eq!(Some(cut.groups[0].duration.get(0)), Span::from_secs(4)); // not 10 s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AtLimit;

impl JobChange for AtLimit {
    fn submitted(&self, mut job: Job) -> Job {
        job.groups.iter_mut().for_each(cut_group);
        job
    }

    fn words(&self) -> Option<String> {
        Some("enforce_limit: a task that reaches its time limit ends there, as if done".into())
    }
}

fn cut_group(group: &mut JobGroup) {
    let Some(limit) = group.limit else { return };
    match &mut group.duration {
        Durations::Same(span) => *span = limit.min(*span),
        Durations::Each(spans) => spans.iter_mut().for_each(|span| *span = limit.min(*span)),
    }
}

#[cfg(test)]
mod tests {
    use meed::{Resources, Time};

    use super::*;
    use crate::changed::Changed;
    use crate::inline::Inline;
    use crate::{JobLabel, JobSource};

    fn seconds(s: u64) -> Span {
        Span::from_secs(s).unwrap()
    }

    fn job(submit: u64, duration: Durations, limit: Option<Span>) -> Job {
        let count = match &duration {
            Durations::Same(_) => 1,
            Durations::Each(spans) => spans.len() as u32,
        };
        let demand = Resources::new(&[1000]);
        Job {
            label: JobLabel::Number(submit),
            queue: 0,
            submit: Time::from_secs(submit).unwrap(),
            weight: 1,
            chain: None,
            groups: vec![JobGroup { limit, ..JobGroup::new(count, demand, duration) }],
        }
    }

    #[test]
    fn tasks_end_at_their_limits() {
        let each = |list: &[u64]| Durations::Each(list.iter().map(|&s| seconds(s)).collect());
        let jobs = vec![
            job(0, each(&[5, 10, 20]), Some(seconds(10))),
            job(1, Durations::Same(seconds(11)), Some(seconds(10))),
            job(2, Durations::Same(seconds(11)), None),
        ];
        let inline = Inline::new(vec!["a".to_owned()], jobs, 1).unwrap();
        let mut source = Changed::new(inline, AtLimit);
        let mut next = || source.next_job().unwrap().unwrap().groups.remove(0).duration;
        assert_eq!(next(), each(&[5, 10, 10]));
        assert_eq!(next(), Durations::Same(seconds(10)));
        assert_eq!(next(), Durations::Same(seconds(11)));
    }

    #[test]
    fn what_was_asked_for_is_a_limit_where_it_is_a_time() {
        let of = |limits: TimeLimits, asked: &str| {
            limits.of(Column(9, "requested time"), asked.as_bytes(), seconds(100))
        };
        for (asked, expected) in [
            ("60", Some(60)),
            ("3600", Some(3600)),
            ("-1", None),
            ("-7", None),
            ("0", None),
            ("99999999999", None),
        ] {
            let limit = of(TimeLimits::Requested, asked).ok().unwrap();
            assert_eq!(limit, expected.map(seconds), "{asked}");
            let limit = of(TimeLimits::AtLeastRun, asked).ok().unwrap();
            assert_eq!(limit, Some(seconds(expected.unwrap_or(0).max(100))), "{asked}");
            assert_eq!(of(TimeLimits::Ignore, asked).ok().unwrap(), None);
        }
        assert!(
            of(TimeLimits::Requested, "soon").is_err() && of(TimeLimits::Ignore, "soon").is_ok()
        );
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        let job = job(0, Durations::Same(seconds(1)), Some(Span::ZERO));
        assert_eq!(job.check(1, 1).unwrap_err(), "a time limit of 0; a limit is above zero");
    }
}
