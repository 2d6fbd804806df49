//! Submission times from a SWIM file.

use super::Arc;
use crate::swim::{SwimAssumptions, SwimSource};
use crate::{JobSource, OnBadLine, Origin, TraceError};

use meed::{ResourceKinds, Time, Unit};

/// Submission times, in order; shared by all runs of a scenario.
pub type Submissions = Arc<[Time]>;

/// The first `jobs` submissions of a SWIM file, as seconds from the file's beginning.
///
/// The *first* of FB-2009_samples_24_times_1hr_1.tsv, because they are the papers' own: they come
/// in a burst at 183 to 222 s and another at 1,411 to 1,436 s, which is where TSC'18 Fig. 6 and
/// ICS'14 Fig. 7 have Facebook overloaded.
pub fn read_submissions(origin: &Origin, jobs: u32) -> Result<Submissions, TraceError> {
    // Any resource will do: only times are taken.
    let kinds = ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])
        .map_err(|why| TraceError::settings("submissions", why.to_string()))?;
    let mut source =
        SwimSource::open(origin, &kinds, &SwimAssumptions::default(), OnBadLine::Stop)?;
    let mut times = Vec::with_capacity(jobs as usize);
    while times.len() < jobs as usize {
        let Some(job) = source.next_job()? else {
            let what = format!("submissions, {}", origin.name());
            let why = format!("the file has {} jobs; {jobs} are needed", times.len());
            return Err(TraceError::settings(what, why));
        };
        times.push(job.submit);
    }
    Ok(times.into())
}
