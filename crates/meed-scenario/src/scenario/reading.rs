//! How the files of scenarios are read, and which of their jobs are read already.
//!
//! A log is decompressed and parsed once, however many scenarios and runs have their jobs from it:
//! to assume a cluster, to learn its queues, to find outliers, for each policy and each load.
//!
//! Invariant: jobs are kept under all that decides how they are read (file, reader with what it
//! assumes, resources), so two scenarios that read a file in two ways get two readings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use meed::ResourceKinds;
use meed_workload::google::{GoogleSource, GoogleTrace};
use meed_workload::kept::KeptJobs;
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};

use super::reader::Reader;

/// So many jobs of a trace are kept, which takes some 400 MB. Larger ones are read anew each time.
const MOST: usize = 1 << 23;

/// What becomes of wrong lines, and what was read already: all scenarios that are read with one
/// value read each trace once.
///
/// ```
/// use meed_scenario::{TraceReading, Scenario};
/// use meed_workload::OnBadLine;
///
/// let log = std::env::temp_dir().join(format!("meed-reading-{}.csv", std::process::id()));
/// std::fs::write(&log, "user,submit,duration,cpu\nann,0,60,1\n")?;
/// let reading = TraceReading::from(OnBadLine::Stop);
/// let one = Scenario::load_any(&log, &[], &reading)?;
/// std::fs::remove_file(&log)?;
/// let mut jobs = one.source(1, OnBadLine::Stop)?;
/// assert!(jobs.next_job()?.is_some(), "the file is not read again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct TraceReading {
    on_bad_line: OnBadLine,
    traces: Arc<Mutex<Vec<Arc<ReadTrace>>>>,
}

struct ReadTrace {
    path: PathBuf,
    reader: Reader,
    kinds: ResourceKinds,
    /// `None`: nobody has read it yet.
    jobs: Mutex<Option<ReadJobs>>,
}

/// What is kept of a trace.
#[derive(Clone)]
enum ReadJobs {
    Kept(Arc<KeptJobs>),
    /// Google's are kept by task.
    Google(Arc<GoogleTrace>),
    TooMany,
}

impl ReadJobs {
    /// Whether it serves who asks for this.
    fn serves(&self, on_bad_line: OnBadLine) -> bool {
        // Wrong lines that were skipped then must stop the reading now.
        let is_right = match self {
            ReadJobs::Kept(kept) => kept.is_right(),
            ReadJobs::Google(trace) => trace.bad_lines() == 0,
            ReadJobs::TooMany => true,
        };
        on_bad_line == OnBadLine::Skip || is_right
    }
}

impl TraceReading {
    /// What becomes of wrong lines.
    pub fn on_bad_line(&self) -> OnBadLine {
        self.on_bad_line
    }

    /// Whether what is wrong stops all.
    pub fn is_strict(&self) -> bool {
        self.on_bad_line == OnBadLine::Stop
    }

    /// The jobs of a file from their beginning: read now, or before.
    pub(super) fn open(
        &self,
        (path, reader): (&Path, &Reader),
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
        queues: Option<&[String]>,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let origin = Origin::path(path);
        Ok(match self.jobs(path, reader, kinds, on_bad_line)? {
            ReadJobs::Kept(kept) => Box::new(KeptJobs::source(&kept)),
            ReadJobs::Google(trace) => Box::new(GoogleSource::new(trace)),
            ReadJobs::TooMany => reader.stream(&origin, kinds, on_bad_line, queues)?,
        })
    }

    fn jobs(
        &self,
        path: &Path,
        reader: &Reader,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
    ) -> Result<ReadJobs, TraceError> {
        let trace = self.trace(path, reader, kinds);
        // Whoever asks for the same meanwhile waits for it.
        let mut jobs = locked(&trace.jobs);
        if let Some(jobs) = jobs.as_ref().filter(|jobs| jobs.serves(on_bad_line)) {
            return Ok(jobs.clone());
        }
        let read = read(&Origin::path(path), reader, kinds, on_bad_line)?;
        Ok(jobs.insert(read).clone())
    }

    /// The place of a trace that is read so.
    fn trace(&self, path: &Path, reader: &Reader, kinds: &ResourceKinds) -> Arc<ReadTrace> {
        let mut traces = locked(&self.traces);
        let is_it = |trace: &&Arc<ReadTrace>| {
            trace.path == path && trace.reader == *reader && trace.kinds == *kinds
        };
        if let Some(known) = traces.iter().find(is_it) {
            return Arc::clone(known);
        }
        let (path, reader, kinds) = (path.to_owned(), reader.clone(), kinds.clone());
        let new = Arc::new(ReadTrace { path, reader, kinds, jobs: Mutex::default() });
        traces.push(Arc::clone(&new));
        new
    }
}

/// A thread that panicked leaves whole values behind.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(
    origin: &Origin,
    reader: &Reader,
    kinds: &ResourceKinds,
    on_bad_line: OnBadLine,
) -> Result<ReadJobs, TraceError> {
    if let Reader::Google(assumptions) = reader {
        let trace = GoogleTrace::read(origin, kinds, assumptions, on_bad_line)?;
        return Ok(ReadJobs::Google(Arc::new(trace)));
    }
    let mut source = reader.once(origin, kinds, on_bad_line)?;
    let kept = KeptJobs::read(source.as_mut(), MOST)?;
    Ok(kept.map_or(ReadJobs::TooMany, |kept| ReadJobs::Kept(Arc::new(kept))))
}

impl From<OnBadLine> for TraceReading {
    fn from(on_bad_line: OnBadLine) -> TraceReading {
        TraceReading { on_bad_line, traces: Arc::default() }
    }
}

impl From<&TraceReading> for TraceReading {
    /// Both keep what either reads.
    fn from(reading: &TraceReading) -> TraceReading {
        reading.clone()
    }
}

impl fmt::Debug for TraceReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReading")
            .field("on_bad_line", &self.on_bad_line)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scenario, Setting};
    use super::*;

    /// Rows of an SWF log: job, submission, wait, run time, processors, user.
    fn log(rows: u32) -> String {
        let row =
            |job| format!("{job} {job} 0 60 2 -1 -1 2 90 -1 1 {} -1 -1 -1 -1 -1 -1\n", job % 3);
        (1..=rows).map(row).collect()
    }

    fn jobs_of(scenario: &Scenario) -> usize {
        let mut source = scenario.source(1, OnBadLine::Skip).unwrap();
        std::iter::from_fn(|| source.next_job().unwrap()).count()
    }

    #[test]
    fn scenarios_of_one_reading_read_a_log_once_and_others_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.swf");
        std::fs::write(&path, log(40)).unwrap();
        let reading = TraceReading::from(OnBadLine::Skip);
        let one = Scenario::load_any(&path, &[], &reading).unwrap();
        // Whoever read it again would see it.
        std::fs::write(&path, log(7)).unwrap();
        let load = Setting::load(1.5);
        let two = Scenario::load_any(&path, &[load], &reading).unwrap();
        assert_eq!([&one, &two].map(jobs_of), [40, 40]);
        let anew = Scenario::load_any(&path, &[], OnBadLine::Skip).unwrap();
        assert_eq!(jobs_of(&anew), 7);
        // Another reader of the same file is another reading.
        let by_group = Setting::of_text("trace.queues", "single");
        let three = Scenario::load_any(&path, &[by_group], &reading).unwrap();
        assert_eq!((jobs_of(&three), three.queue_count()), (7, 1));
    }

    #[test]
    fn a_wrong_line_that_was_left_out_stops_who_is_strict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.swf");
        std::fs::write(&path, format!("{}nine columns are too few\n", log(40))).unwrap();
        let reading = TraceReading::from(OnBadLine::Skip);
        let scenario = Scenario::load_any(&path, &[], &reading).unwrap();
        assert_eq!(jobs_of(&scenario), 40);
        let why = scenario.source(1, OnBadLine::Stop).err().unwrap();
        assert!(why.to_string().contains(":41"), "{why}");
    }
}
