//! The trace of a scenario: its file, its format, and what its reader assumes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use meed::ResourceKinds;
use meed_workload::changed::Changed;
use meed_workload::format::TraceFormat;
use meed_workload::partitions::InPartitions;
use meed_workload::window::InWindow;
use meed_workload::{JobSource, OnBadLine, TraceError};

use super::Scenario;
use super::raw;
use super::reader::Reader;
use super::reading::TraceReading;
use super::trace_keys::{keys, logged, one_of};
use super::window::WindowPlan;
use crate::logged::LogTrace;

/// A trace that can be opened again and again.
#[derive(Clone, Debug)]
pub(super) struct TracePlan {
    pub(super) path: PathBuf,
    jobs: JobsOf,
    /// Rows that are far from all others are left out.
    pub(super) drops_outliers: bool,
    /// The part of the log that is read.
    pub(super) window: WindowPlan,
    /// Jobs are kept to the nodes of their partition.
    pub(super) partitions: Option<Arc<InPartitions>>,
}

/// Where the jobs of a trace come from.
#[derive(Clone, Debug)]
enum JobsOf {
    /// A file of one of the formats, which is read once.
    Reader(Reader, TraceReading),
    /// A log of Meed's.
    Log(LogTrace),
}

impl TracePlan {
    /// Reads the keys of `[trace]`; the file is looked for beside the scenario.
    pub(super) fn read(
        raw: &raw::Trace,
        folder: &Path,
        kinds: &ResourceKinds,
        reading: &TraceReading,
    ) -> Result<TracePlan, String> {
        let path = folder.join(&raw.file);
        let beside = raw.applications.as_ref().map(|file| folder.join(file).display().to_string());
        let raw = &raw::Trace { applications: beside, ..raw.clone() };
        let format = match raw.format.as_deref() {
            None if raw.map.is_some() => TraceFormat::of_table(&path),
            None => TraceFormat::of_file(&path).map_err(|why| why.to_string())?,
            Some(name) => TraceFormat::named(name).ok_or_else(|| {
                let known = TraceFormat::names().collect::<Vec<_>>().join(", ");
                format!("trace format `{name}` is not one of {known}")
            })?,
        };
        let jobs = match Reader::of(format, raw, kinds)? {
            Some(reader) => JobsOf::Reader(reader, reading.clone()),
            None => JobsOf::Log(LogTrace::new(logged(raw)?)),
        };
        let foreign =
            keys(raw).into_iter().find(|(_, given, formats)| *given && !formats.contains(&format));
        match foreign {
            Some((key, _, _)) => {
                Err(format!("`{key}` means nothing for a trace of this format; leave it out"))
            }
            None => {
                let kinds = [("keep", false), ("drop", true)];
                let drops_outliers = one_of("outliers", &raw.outliers, &kinds, false)?;
                let (said, zone) = (raw.window.as_deref(), raw.time_zone.as_deref());
                let window = WindowPlan::read(said, zone)?;
                Ok(TracePlan { path, jobs, drops_outliers, window, partitions: None })
            }
        }
    }

    /// Whether jobs name the partitions on whose nodes they may run.
    pub(super) fn names_partitions(&self) -> bool {
        matches!(&self.jobs, JobsOf::Reader(Reader::Table(table), _) if table.names_partitions())
    }

    /// Whether all of the log is read, and nobody looks for a part of it.
    pub(super) fn is_whole(&self) -> bool {
        self.window == WindowPlan::All
    }

    /// Whether it is a table, of which much may be guessed.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.jobs, JobsOf::Reader(Reader::Table(_), _))
    }

    /// What is to be said of it before anything runs, once it was opened.
    pub(super) fn remarks(&self) -> &[String] {
        match &self.jobs {
            JobsOf::Log(log) => log.remarks(),
            JobsOf::Reader(..) => &[],
        }
    }

    /// Its jobs from their beginning, within its window; `queues`, when known from an earlier
    /// opening.
    pub(super) fn open(
        &self,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
        queues: Option<&[String]>,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let source = self.open_whole(kinds, on_bad_line, queues)?;
        let source: Box<dyn JobSource + Send> = match &self.partitions {
            Some(within) => Box::new(Changed::new(source, Arc::clone(within))),
            None => source,
        };
        Ok(match self.window {
            WindowPlan::Known(window) => Box::new(InWindow::new(source, window)?),
            _ => source,
        })
    }

    pub(super) fn open_whole(
        &self,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
        queues: Option<&[String]>,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        match &self.jobs {
            JobsOf::Reader(reader, reading) => {
                reading.open((&self.path, reader), kinds, on_bad_line, queues)
            }
            JobsOf::Log(log) => log.open(&self.path, kinds, Scenario::recorded_placing),
        }
    }
}
