//! Slurm's own ranks, as `sshare` printed them at the end of a log, beside those that the baseline
//! gives: how far the rule, and the simulation, are those of the site.
//!
//! > of all pairs of users that Slurm puts one before the other: how many stand so here?
//!
//! They are asked for twice: with starts and ends of the log itself, where the
//! rule alone can differ, and with those of the simulation.

use std::collections::BTreeMap;

use meed::{Config, Time};
use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::{SimulateError, setup};
use meed_workload::table::SlurmStanding;
use meed_workload::{Durations, Job, JobSource, TraceError};

use crate::rivals::recorded::{HeldSpan, LeafStanding, places, standings};
use crate::rivals::table::Chosen;
use crate::rivals::teller::TOLD;

/// What Slurm said of users, by queue.
pub type SlurmRanks = BTreeMap<String, SlurmStanding>;

/// A log whose ranks are known at its end.
pub(crate) struct RankedLog {
    site: SlurmRanks,
    chosen: Chosen,
    config: Config,
    /// The end of the log.
    at: Time,
    log: BTreeMap<String, LeafStanding>,
}

/// Slurm's ranks beside those of the baseline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RanksCompared {
    /// Users that have a rank.
    pub users: usize,
    /// Pairs of them of which one comes before the other in Slurm.
    pub pairs: usize,
    /// How many of them stand so by the log's own starts and ends.
    pub log: usize,
    /// How many in the simulation.
    pub simulated: usize,
    /// What Slurm, the log and the simulation hold against these users at the end of the log, in
    /// seconds of `billing` or of the measured resource.
    pub used_s: [f64; 3],
}

impl RankedLog {
    /// Reads what the log tells of starts and ends; `None` where it does not tell that of most
    /// jobs.
    pub(crate) fn read(
        scenario: &Scenario,
        seed: u64,
        site: SlurmRanks,
        chosen: Chosen,
    ) -> Result<Option<RankedLog>, SimulateError> {
        let setup = setup(scenario, TOLD, seed)?;
        let (config, mut source) = (setup.config, setup.source);
        let read = spans(&config, &mut *source).map_err(|why| SimulateError::Run(why.into()))?;
        Ok(read.map(|(runs, at)| {
            let log = standings(&config, &runs, at, &chosen);
            RankedLog { site, chosen, config, at, log }
        }))
    }

    /// Where the baseline puts users at the end of the log, as it was simulated.
    pub(crate) fn simulated(&self, run: &RunRecord) -> BTreeMap<String, LeafStanding> {
        let places = places(&self.config);
        let unit = self.config.kinds.unit(self.config.measured).scale() as f64;
        let time = |seconds: f64| meed::Span::from_secs_f64(seconds).map(at);
        let span = |job: &meed_sim::record::JobRecord| {
            Some(HeldSpan {
                queue: *places.get(run.queues.get(job.queue)?.queue.as_str())?,
                from: time(job.started_s?)?,
                to: job.ended_s.map_or(Some(Time::MAX), time)?,
                amount: (job.width * unit).round() as u64,
            })
        };
        let runs: Vec<HeldSpan> = run.jobs.iter().filter_map(span).collect();
        standings(&self.config, &runs, self.at, &self.chosen)
    }

    /// Both beside Slurm's own; nothing where no two users have different ranks.
    pub(crate) fn compare(
        &self,
        simulated: &BTreeMap<String, LeafStanding>,
    ) -> Option<RanksCompared> {
        let users: Vec<(&SlurmStanding, &LeafStanding, &LeafStanding)> = self
            .site
            .iter()
            .filter_map(|(queue, slurm)| Some((slurm, self.log.get(queue)?, simulated.get(queue)?)))
            .collect();
        let mut told =
            RanksCompared { users: users.len(), pairs: 0, log: 0, simulated: 0, used_s: [0.0; 3] };
        for (at, (slurm, log, own)) in users.iter().enumerate() {
            let sums = [slurm.used_s as f64, log.used, own.used];
            told.used_s.iter_mut().zip(sums).for_each(|(sum, used)| *sum += used);
            for (other, other_log, other_own) in &users[..at] {
                let order = other.factor_millionths.cmp(&slurm.factor_millionths);
                if order.is_eq() {
                    continue;
                }
                told.pairs += 1;
                told.log += usize::from(log.place.cmp(&other_log.place) == order);
                told.simulated += usize::from(own.place.cmp(&other_own.place) == order);
            }
        }
        (told.pairs > 0).then_some(told)
    }
}

fn at(since: meed::Span) -> Time {
    Time::ZERO.saturating_add(since)
}

/// What was held in the log, and its end; nothing where starts of most jobs are not told.
fn spans(
    config: &Config,
    source: &mut dyn JobSource,
) -> Result<Option<(Vec<HeldSpan>, Time)>, TraceError> {
    let places = places(config);
    let names = source.queues().to_vec();
    let queue_of = |job: &Job| places.get(names.get(job.queue as usize)?.as_str()).copied();
    let (mut runs, mut told, mut all) = (Vec::new(), 0usize, 0usize);
    while let Some(job) = source.next_job()? {
        all += 1;
        let (Some(waited), Some(queue)) = (source.waited(), queue_of(&job)) else { continue };
        told += 1;
        add(&mut runs, &job, queue, job.submit.saturating_add(waited), config.measured);
    }
    let end = runs.iter().map(|run| run.to).max();
    Ok(end.filter(|_| told * 2 >= all).map(|end| (runs, end)))
}

/// What a job held that started at `start`: the tasks of a stage together, each stage at the end of
/// the one before.
fn add(runs: &mut Vec<HeldSpan>, job: &Job, queue: usize, start: Time, measured: usize) {
    let (mut from, mut end, mut stage) = (start, start, 0);
    for group in &job.groups {
        if group.stage != stage {
            (from, stage) = (end, group.stage);
        }
        let amount = group.demand.get(measured);
        let mut held = |span: meed::Span, tasks: u64| {
            let to = from.saturating_add(span);
            end = end.max(to);
            runs.push(HeldSpan { queue, from, to, amount: amount * tasks });
        };
        match &group.duration {
            Durations::Same(span) => held(*span, u64::from(group.count)),
            Durations::Each(spans) => spans.iter().for_each(|span| held(*span, 1)),
        }
    }
}

/// Between these parts of Slurm's count the log has the use that counts.
const IS_ALL: std::ops::RangeInclusive<f64> = 0.9..=1.1;

impl RanksCompared {
    /// What that says, in words.
    pub fn words(&self, baseline: &str) -> String {
        let RanksCompared { users, pairs, log, simulated, used_s: [slurm, own, _] } = *self;
        let part = own / slurm.max(1.0);
        let why = match part {
            part if IS_ALL.contains(&part) => "",
            part if part < 1.0 => {
                ": the rest is older, of jobs that the log lacks, or is billed otherwise \
                 (TRESBillingWeights)"
            }
            _ => ": Slurm was asked before the end of the log, forgets faster, or bills otherwise",
        };
        format!(
            "Slurm's own ranks of {users} users at the end of the log: of {pairs} pairs {log} \
             stand so under {baseline} by the log's own starts, and {simulated} in the simulation. \
             The log has {:.0} % of the use that Slurm counts{why}.",
            100.0 * part
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_that_the_log_lacks_is_told() {
        let words = |used_s| {
            let told = RanksCompared { users: 3, pairs: 3, log: 2, simulated: 1, used_s };
            told.words("fair-tree")
        };
        for (used_s, expected) in [
            ([100.0, 95.0, 0.0], "The log has 95 % of the use that Slurm counts."),
            (
                [100.0, 40.0, 0.0],
                "The log has 40 % of the use that Slurm counts: the rest is older",
            ),
            ([100.0, 150.0, 0.0], "150 % of the use that Slurm counts: Slurm was asked before the"),
        ] {
            let words = words(used_s);
            assert!(words.contains(expected), "{words}");
        }
        let words = words([1.0, 1.0, 1.0]);
        assert!(words.starts_with(
            "Slurm's own ranks of 3 users at the end of the log: of 3 pairs 2 stand so under \
             fair-tree by the log's own starts, and 1 in the simulation. "
        ));
    }
}
