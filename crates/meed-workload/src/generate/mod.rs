//! Synthetic workloads: jobs drawn from distributions, in open or closed arrivals.
//!
//! Open arrivals come at times of their own. Closed ones are chains: a chain's next job is
//! submitted a pause after the last one has ended, so a slow cluster is asked for less
//! ([`JobSource::job_ended`]).
//!
//! Invariants: equal specification and seed give equal jobs on every machine. Arrivals, task counts
//! and durations draw from [`Stream`]s of their own, and every closed chain has its own, so that
//! changing one distribution, or the policy that decides when jobs end, leaves all other draws as
//! they were (common random numbers). Cost: constant memory per chain; times and durations are
//! rounded to whole microseconds.

mod dist;
mod spec;
mod stream;

use meed::{MAX_MICROS, Span, Time};

pub use dist::{Dist, Weighted};
pub use spec::{Arrivals, GangLeast, GangSpec, GeneratorSpec, Limit, Per, StageSpec};
pub(crate) use stream::sum_weights;
pub use stream::{Stream, split_mix};

use crate::{Durations, Job, JobGroup, JobLabel, JobSource, SourceCounts, TraceError};

/// A chain whose jobs end at the instant they are submitted, this many times in a row, makes no
/// progress (its jobs are refused, say) and is stopped.
const MAX_INSTANT_ENDS: u32 = 1000;

/// Jobs made by a [`GeneratorSpec`].
pub struct Generator {
    spec: GeneratorSpec,
    queues: [String; 1],
    /// The jobs of open arrivals, or those of each chain.
    lanes: Vec<Lane>,
    /// Lanes whose first job was handed out (closed arrivals).
    started: usize,
    /// Open arrivals have passed a limit: asking again must not draw again.
    done: bool,
    handed_out: u64,
}

/// A sequence of jobs with its own random numbers.
struct Lane {
    arrivals: Stream,
    sizes: Stream,
    durations: Stream,
    /// Jobs made so far, and how many there may be.
    made: u64,
    limit: Option<u64>,
    /// When its last job was submitted.
    last: Time,
    instant_ends: u32,
}

impl Lane {
    fn new(seed: u64, name: &str, limit: Option<u64>) -> Lane {
        let stream = |part| Stream::new(seed, &format!("{name}/{part}"));
        Lane {
            arrivals: stream("arrivals"),
            sizes: stream("tasks"),
            durations: stream("durations"),
            made: 0,
            limit,
            last: Time::ZERO,
            instant_ends: 0,
        }
    }
}

impl Generator {
    /// Jobs of `spec` for a cluster with `kinds` resource kinds, under `seed`.
    pub fn new(spec: GeneratorSpec, kinds: usize, seed: u64) -> Result<Generator, TraceError> {
        spec.check(kinds)?;
        let lanes = match &spec.arrivals {
            Arrivals::Closed { concurrent, .. } => {
                let share = |chain: u32| {
                    let (jobs, chains) = (spec.limit.jobs?, u64::from(*concurrent));
                    Some(jobs / chains + u64::from(u64::from(chain) < jobs % chains))
                };
                let lane = |chain| {
                    Lane::new(seed, &format!("{}/chain {chain}", spec.stream), share(chain))
                };
                (0..*concurrent).map(lane).collect()
            }
            _ => vec![Lane::new(seed, &spec.stream, spec.limit.jobs)],
        };
        Ok(Generator {
            queues: [spec.queue.clone()],
            lanes,
            spec,
            started: 0,
            done: false,
            handed_out: 0,
        })
    }

    /// The next job of lane number `lane`, submitted at `submit`; `None` beyond the limits.
    fn make(
        &mut self,
        lane_number: usize,
        submit: Option<Time>,
        chain: Option<u32>,
    ) -> Option<Job> {
        let lanes = self.lanes.len() as u64;
        let lane = &mut self.lanes[lane_number];
        let submit =
            submit.filter(|submit| self.spec.limit.until.is_none_or(|until| *submit < until))?;
        if lane.limit.is_some_and(|limit| lane.made >= limit) {
            return None;
        }
        // Unique over all chains, whatever the order in which their jobs end.
        let number = lane.made * lanes + lane_number as u64;
        lane.made += 1;
        lane.last = submit;
        let joint = self.spec.is_joint();
        let groups = (0u16..)
            .zip(&self.spec.stages)
            .map(|(stage, spec)| {
                let stage = if joint { 0 } else { stage };
                let drawn = spec.tasks.draw(&mut lane.sizes).round();
                let count = drawn.clamp(1.0, self.spec.most_tasks()) as u32;
                let mut draw = || span(spec.duration_s.draw(&mut lane.durations));
                let duration = match spec.per {
                    Per::Job => Durations::Same(draw()),
                    Per::Task if spec.duration_s.constant().is_some() => Durations::Same(draw()),
                    Per::Task => Durations::Each((0..count).map(|_| draw()).collect()),
                };
                JobGroup {
                    stage,
                    count,
                    demand: spec.demand,
                    duration,
                    constraints: spec.constraints.clone(),
                    limit: spec.limit,
                    checkpoint: spec.checkpoint,
                    gang: spec.gang.as_ref().map(|gang| Box::new(gang.of(count))),
                    cut: false,
                }
            })
            .collect();
        self.handed_out += 1;
        let label = JobLabel::Number(number);
        Some(Job { label, queue: 0, submit, weight: self.spec.weight, chain, groups })
    }
}

impl JobSource for Generator {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        if self.done {
            return Ok(None);
        }
        let Generator { spec, lanes, started, .. } = self;
        let (lane, submit, chain) = match &spec.arrivals {
            Arrivals::Every { start, gap } => match lanes[0].made {
                0 => (0, Some(*start), None),
                _ => (0, lanes[0].last.checked_add(*gap), None),
            },
            Arrivals::Gaps { start, gap_s } => {
                let gap = span(gap_s.draw(&mut lanes[0].arrivals));
                let last = lanes[0].last.max(*start);
                (0, last.checked_add(gap), None)
            }
            Arrivals::At(times) => {
                let next = usize::try_from(lanes[0].made).ok().and_then(|made| times.get(made));
                (0, next.copied(), None)
            }
            Arrivals::Closed { start, concurrent, .. } => {
                if *started == *concurrent as usize {
                    return Ok(None);
                }
                let lane = *started;
                *started += 1;
                (lane, Some(*start), Some(lane as u32))
            }
        };
        let job = self.make(lane, submit, chain);
        // Chains have limits of their own: the next one may still have a job.
        self.done = job.is_none() && chain.is_none();
        Ok(job)
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        let Arrivals::Closed { pause_s, .. } = &self.spec.arrivals else { return None };
        let lane = self.lanes.get_mut(chain as usize)?;
        let pause = span(pause_s.draw(&mut lane.arrivals));
        let submit = now.checked_add(pause);
        lane.instant_ends = if submit == Some(lane.last) { lane.instant_ends + 1 } else { 0 };
        if lane.instant_ends >= MAX_INSTANT_ENDS {
            return None;
        }
        self.make(chain as usize, submit, Some(chain))
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: self.handed_out, ..SourceCounts::default() }
    }

    fn progress(&self) -> Option<f64> {
        let limit = self.spec.limit.jobs?;
        Some(if limit == 0 { 1.0 } else { (self.handed_out as f64 / limit as f64).min(1.0) })
    }
}

/// Seconds to the nearest microsecond, at most [`Span::MAX`].
fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds.min(MAX_MICROS as f64 / 1e6)).unwrap_or(Span::MAX)
}

#[cfg(test)]
mod tests;
