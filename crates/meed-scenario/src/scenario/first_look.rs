//! The trace of a scenario is looked through before anything runs: its queues, the partitions of
//! its jobs, its window, its outliers, and its last submission.

use std::sync::Arc;

use meed::{Span, Time};
use meed_config::{Place, TextError as ScenarioError};
use meed_driver::{CountedSpan, StopAt};
use meed_workload::machines::Machines;
use meed_workload::outliers::Outliers;
use meed_workload::partitions::InPartitions;
use meed_workload::size::Footprints;
use meed_workload::{JobSource, OnBadLine, TraceError};

use super::trace::TracePlan;
use super::window::{self, WindowPlan};
use super::{LoadError, Scenario, raw};

impl Scenario {
    /// Opens the trace once, to learn its queues and to see what is wrong with it before anything
    /// runs.
    pub(super) fn open_trace(&mut self, on_bad_line: OnBadLine) -> Result<(), LoadError> {
        let Some(trace) = &self.trace else { return Ok(()) };
        let source = trace.open(&self.kinds, on_bad_line, None)?;
        self.trace_queues = source.queues().to_vec();
        self.warnings.extend_from_slice(trace.remarks());
        if trace.is_table() {
            let words = source.assumptions();
            let guesses = meed_workload::table::guesses(&words);
            if !guesses.is_empty() {
                let guesses = guesses.join("; ");
                self.warnings.push(format!(
                    "columns guessed by their names: {guesses} (--map says otherwise)"
                ));
            }
        }
        self.find_window(source.clock_us())?;
        if self.trace.as_ref().is_some_and(|trace| trace.drops_outliers) {
            let outliers = self.outliers_of()?;
            self.warnings.extend(outliers.words());
            self.outliers = Some(Arc::new(outliers));
        }
        meed_config::queues::add(&mut self.queues, &self.trace_queues, &mut self.warnings);
        Ok(())
    }

    /// Keeps jobs to the nodes of their partitions, where the trace names these, and says what was
    /// made of them.
    pub(super) fn keep_to_partitions(&mut self, machines: &Machines) -> Result<(), LoadError> {
        let labels = self.nodes.iter().map(|node| &node.labels);
        let within = InPartitions::of(labels, &machines.partitions);
        let names = self.trace.as_ref().is_some_and(TracePlan::names_partitions);
        let Some(trace) = self.trace.as_mut().filter(|_| names) else {
            // What a cluster's own file tells, and nobody's own labels.
            if !machines.told.is_empty() && within.count() > 1 {
                let words = "partitions: their nodes are open to all jobs, and their limits are \
                    not followed";
                self.cluster_notes.push(words.to_owned());
            }
            return Ok(());
        };
        let mut source = trace.open_whole(&self.kinds, OnBadLine::Skip, None)?;
        self.cluster_notes.extend(within.look(source.as_mut())?.words());
        trace.partitions = Some(Arc::new(within));
        Ok(())
    }

    /// Looks for the window of the trace, where it is to be found, and says which it has.
    fn find_window(&mut self, clock_us: Option<u64>) -> Result<(), LoadError> {
        let Some(trace) = &mut self.trace else { return Ok(()) };
        let (plan, kinds) = (trace.window, self.kinds.len());
        if plan == WindowPlan::All {
            return Ok(());
        }
        trace.window = WindowPlan::All;
        let mut whole = trace.open(&self.kinds, OnBadLine::Skip, Some(&self.trace_queues))?;
        let ran = Footprints::of(whole.as_mut(), kinds)?;
        let wrong = |what: String| {
            let file = self.file.clone();
            ScenarioError { unreadable: false, file, line: None, what }
        };
        let window = match plan {
            WindowPlan::Find => meed_workload::window::find(&ran, &ran.outliers(None)),
            told => told.resolve(clock_us).map_err(wrong)?,
        };
        let Some(window) = window else {
            self.ran = Some(ran);
            return Ok(());
        };
        trace.window = WindowPlan::Known(window);
        let (counts, is_found) = (window.counts(&ran), plan == WindowPlan::Find);
        if counts.before + counts.after == ran.count() as u64 {
            return Err(wrong(window::nobody(counts)).into());
        }
        let words = window::words(window, counts, clock_us, is_found);
        self.warnings.push(words.clone());
        self.cluster_notes.push(words);
        if window.begin > Time::ZERO {
            let behind = 2 * meed_workload::window::BEHIND;
            self.counting.least = Span::from_micros(behind).unwrap_or(Span::ZERO);
        }
        Ok(())
    }

    /// What the trace's jobs held and when, within its window.
    pub(super) fn footprints(&mut self) -> Result<Option<&Footprints>, TraceError> {
        let Some(trace) = &self.trace else { return Ok(None) };
        if self.ran.is_none() {
            let mut source = trace.open(&self.kinds, OnBadLine::Skip, Some(&self.trace_queues))?;
            self.ran = Some(Footprints::of(source.as_mut(), self.kinds.len())?);
        }
        Ok(self.ran.as_ref())
    }

    /// Learns the last submission, where what is left out of figures counts back from it.
    pub(super) fn find_last(&mut self, run: &raw::Run, place: &Place<'_>) -> Result<(), LoadError> {
        let Some(given) = run.cool_down.as_ref().filter(|_| self.counting.cool_down > Span::ZERO)
        else {
            return Ok(());
        };
        if self.trace.is_none() && self.given.is_none() && self.stop == StopAt::END {
            let what = "a cool_down counts back from the last submission of a trace, or from \
                run.until; there is none of them";
            return Err(place.error(given.span(), what).into());
        }
        self.counting.last = self.last_submission()?;
        Ok(())
    }

    /// When the last job of the trace comes, or of those that are handed over, at load 1.
    fn last_submission(&mut self) -> Result<Option<Time>, TraceError> {
        if let Some(given) = &self.given {
            let (mut source, mut last) = (given.open(&self.kinds)?, None);
            while let Some(job) = source.next_job()? {
                last = last.max(Some(job.submit));
            }
            return Ok(last);
        }
        let outliers = self.outliers.clone().unwrap_or_default();
        Ok(self.footprints()?.and_then(|ran| ran.last_submission(&outliers)))
    }

    /// The part of a run that makes the figures.
    pub fn counted(&self) -> CountedSpan {
        let until = (self.stop != StopAt::END).then_some(self.stop.at);
        self.counting.span(self.load, until)
    }

    /// What figures leave out at the beginning of the workload and before its last submission, at
    /// load 1: `run.warm_up` and `run.cool_down` of a scenario that runs these jobs alike.
    pub fn left_out(&self) -> [Span; 2] {
        [self.counting.warm_up.max(self.counting.least), self.counting.cool_down]
    }

    /// Rows of the trace that are far from all others.
    pub(super) fn outliers_of(&mut self) -> Result<Outliers, TraceError> {
        let capacity = self.capacity();
        let ran = self.footprints()?;
        Ok(ran.map_or_else(Outliers::default, |ran| ran.outliers(Some(capacity.as_slice()))))
    }
}
