//! What a generator makes.

use meed::{Constraints, Gang, MAX_MICROS, Resources, Span, Time};

use super::Dist;
use crate::{MAX_TASKS, TraceError};

/// Most chains of one closed generator.
const MAX_CHAINS: u32 = 1 << 20;
/// Most stages of a generated job.
const MAX_STAGES: usize = 100;

/// One kind of jobs of one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct GeneratorSpec {
    /// The queue that the jobs go to.
    pub queue: String,
    /// Name of its random numbers: generators of one workload need different names, or they make
    /// equal jobs.
    pub stream: String,
    /// When jobs are submitted.
    pub arrivals: Arrivals,
    /// When to stop.
    pub limit: Limit,
    /// The jobs' weight within their queue, at least 1.
    pub weight: u32,
    /// The jobs' stages, at least one.
    pub stages: Vec<StageSpec>,
}

/// When jobs are submitted.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// At equal distances, the first at `start`.
    Every {
        /// The first.
        start: Time,
        /// The distance.
        gap: Span,
    },
    /// At random distances, the first one distance after `start`; see [`Arrivals::poisson`].
    Gaps {
        /// From when on.
        start: Time,
        /// The distances, in seconds.
        gap_s: Dist,
    },
    /// At these times, in order.
    At(Vec<Time>),
    /// Closed: this many chains; each submits its next job a pause after its last one has ended.
    Closed {
        /// When all chains submit their first job.
        start: Time,
        /// How many chains.
        concurrent: u32,
        /// The pauses, in seconds.
        pause_s: Dist,
    },
}

impl Arrivals {
    /// A Poisson process: exponential distances with this mean.
    pub fn poisson(start: Time, mean_gap: Span) -> Arrivals {
        Arrivals::Gaps { start, gap_s: Dist::Exponential { mean: mean_gap.as_secs_f64() } }
    }
}

/// When a generator stops; without any limit it never does, and the run's end has to stop it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limit {
    /// After this many jobs. Closed chains share them out equally in advance, so that the jobs do
    /// not depend on which chain is served first.
    pub jobs: Option<u64>,
    /// Before this time: no job is submitted at or after it.
    pub until: Option<Time>,
}

/// One stage of the jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct StageSpec {
    /// Number of tasks; rounded, at least 1.
    pub tasks: Dist,
    /// Run time of a task, in seconds.
    pub duration_s: Dist,
    /// Whether each task draws its own run time.
    pub per: Per,
    /// What each task holds.
    pub demand: Resources,
    /// Where they may run; `None`: anywhere.
    pub constraints: Option<Box<Constraints>>,
    /// The longest that each may run, above zero; drawn run times may be longer.
    pub limit: Option<Span>,
    /// How often each saves what it has done, above zero; `None`: as the run says.
    pub checkpoint: Option<Span>,
    /// Whether they start together or not at all.
    pub gang: Option<GangSpec>,
}

/// How tasks whose number is drawn start together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GangSpec {
    /// How many.
    pub least: GangLeast,
    /// On nodes with one value of this label.
    pub same: Option<String>,
}

/// How many tasks start together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GangLeast {
    /// As many as are drawn.
    All,
    /// So many, or as many as are drawn where that is less.
    AtMost(u32),
    /// As many as are drawn, with those of all other stages: these are no stages then, but groups
    /// that start together.
    Together,
}

impl GangSpec {
    /// The gang of `count` tasks.
    pub fn of(&self, count: u32) -> Gang {
        let least = match self.least {
            GangLeast::All | GangLeast::Together => count,
            GangLeast::AtMost(least) => least.min(count),
        };
        Gang { least, same: self.same.clone(), joint: self.least == GangLeast::Together }
    }
}

/// How often a run time is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Per {
    /// For each task.
    #[default]
    Task,
    /// Once for all tasks of the job's stage.
    Job,
}

/// Longest time that there is, in seconds: 285 years.
const MOST_S: f64 = MAX_MICROS as f64 / 1e6;

impl GeneratorSpec {
    /// Most tasks of a stage: all stages together have at most [`MAX_TASKS`].
    pub(super) fn most_tasks(&self) -> f64 {
        f64::from(MAX_TASKS / self.stages.len().max(1) as u32)
    }

    /// Whether its stages are groups that start together.
    pub(super) fn is_joint(&self) -> bool {
        let is = |stage: &StageSpec| {
            stage.gang.as_ref().is_some_and(|gang| gang.least == GangLeast::Together)
        };
        self.stages.iter().any(is)
    }

    /// What to tell about draws that have no greatest number: what is impossible is cut to the
    /// largest that is possible. Only where it might happen, about once in 10^12 draws or more.
    pub fn cuts(&self) -> Vec<String> {
        let cut = |part: &str, dist: &Dist, most: f64| {
            (dist.far() > most).then(|| {
                format!("{part} above {most} may be drawn and are cut to that; `max` says where")
            })
        };
        let of_stages = self.stages.iter().flat_map(|stage| {
            [
                cut("tasks", &stage.tasks, self.most_tasks()),
                cut("durations", &stage.duration_s, MOST_S),
            ]
        });
        let of_arrivals = match &self.arrivals {
            Arrivals::Gaps { gap_s, .. } => cut("gaps", gap_s, MOST_S),
            Arrivals::Closed { pause_s, .. } => cut("pauses", pause_s, MOST_S),
            Arrivals::Every { .. } | Arrivals::At(_) => None,
        };
        of_stages.chain([of_arrivals]).flatten().collect()
    }

    /// Whether it makes sense for a cluster with `kinds` resource kinds.
    pub fn check(&self, kinds: usize) -> Result<(), TraceError> {
        let name = |part: &str| format!("generator \"{}\", {part}", self.stream);
        let fail = |part: &str, why: &str| Err(TraceError::settings(name(part), why));
        if self.queue.is_empty() {
            return fail("queue", "it has no name");
        }
        if self.weight == 0 {
            return fail("weight", "is 0; at least 1 is needed");
        }
        if self.stages.is_empty() || self.stages.len() > MAX_STAGES {
            return fail(
                "stages",
                &format!("there are {}; 1 to {MAX_STAGES} are needed", self.stages.len()),
            );
        }
        let alike = |stage: &StageSpec| stage.gang == self.stages[0].gang;
        if self.is_joint() && !self.stages.iter().all(alike) {
            return fail("gang", "some groups start together, and some do not");
        }
        for stage in &self.stages {
            stage.tasks.check(&name("tasks"))?;
            stage.tasks.check_range(&name("tasks"), 1.0, self.most_tasks())?;
            stage.duration_s.check(&name("duration"))?;
            stage.duration_s.check_range(&name("duration"), 0.0, MOST_S)?;
            if stage.demand.kinds() != kinds || stage.demand.is_zero() {
                return fail("demand", "does not fit the cluster's resources, or is nothing");
            }
            if stage.limit == Some(Span::ZERO) {
                return fail("limit", "is 0; a limit is above zero");
            }
        }
        // Without a limit in jobs, arrivals at a distance of nothing would never get past one
        // instant.
        let stuck =
            |gap_s: Option<f64>| gap_s.is_some_and(|gap| gap < 1e-6) && self.limit.jobs.is_none();
        match &self.arrivals {
            Arrivals::Every { gap, .. } if stuck(Some(gap.as_secs_f64())) => {
                fail("gap", "is 0; give a gap or a number of jobs")
            }
            Arrivals::Gaps { gap_s, .. } => {
                gap_s.check(&name("gap"))?;
                gap_s.check_range(&name("gap"), 0.0, MOST_S)?;
                if stuck(gap_s.constant()) {
                    return fail("gap", "is 0; give a gap or a number of jobs");
                }
                Ok(())
            }
            Arrivals::At(times) if !times.is_sorted() => fail("times", "are not in order"),
            Arrivals::Closed { concurrent, pause_s, .. } => {
                if *concurrent == 0 || *concurrent > MAX_CHAINS {
                    return fail(
                        "concurrent",
                        &format!("is {concurrent}; 1 to {MAX_CHAINS} are possible"),
                    );
                }
                pause_s.check(&name("pause"))?;
                pause_s.check_range(&name("pause"), 0.0, MOST_S)?;
                let instant =
                    self.stages.iter().all(|stage| stage.duration_s.constant() == Some(0.0));
                if instant && stuck(pause_s.constant()) {
                    return fail(
                        "pause",
                        "pause and durations are 0; give one of them, or a number of jobs",
                    );
                }
                Ok(())
            }
            Arrivals::Every { .. } | Arrivals::At(_) => Ok(()),
        }
    }
}
