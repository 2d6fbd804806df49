//! Tasks that fail by chance: the same attempts of the same tasks under every policy.
//!
//! Whether attempt a of task t of job j fails, and when, is a hash of (seed, j, t, a) by SplitMix64
//! (Steele, Lea, Flood 2014), not a draw from a stream: it does not depend on the order in which a
//! policy starts tasks. A job is known by its queue and its label, since the order in which chained
//! jobs arrive depends on the policy.

use meed::Span;
use meed_workload::JobLabel;
use meed_workload::generate::split_mix;

/// How often attempts fail.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed_sim::world::{Failures, WorldSetup};
/// use meed_sim::{Unwatched, run_one, setup};
/// let failures = Failures { seed: 1, per_million: 1_000_000 };
/// let all_fail = WorldSetup { failures, max_attempts: 1, ..setup(&scenario, "fair", 1)? };
/// assert_eq!(run_one("fair", all_fail, &mut Unwatched)?.failed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Failures {
    /// Seed of the run.
    pub seed: u64,
    /// Chance of each attempt to fail, in millionths.
    pub per_million: u32,
}

/// How one attempt goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Attempt {
    pub(super) lasts: Span,
    pub(super) fails: bool,
}

impl Failures {
    /// What the attempts of the job called `label` in `queue` are drawn from.
    pub(super) fn luck(&self, queue: &str, label: &JobLabel) -> u64 {
        if self.per_million == 0 {
            return 0;
        }
        let in_queue = queue.bytes().fold(0, |state, byte| mixed(state ^ u64::from(byte)));
        match label {
            JobLabel::Number(number) => mixed(in_queue ^ number),
            JobLabel::Name(name) => {
                name.bytes().fold(in_queue, |state, byte| mixed(state ^ u64::from(byte)))
            }
        }
    }

    /// Attempt number `failures` of task `task` of the job of this `luck`, which would take
    /// `duration`.
    #[inline]
    pub(super) fn run(&self, luck: u64, task: u32, failures: u16, duration: Span) -> Attempt {
        if self.per_million == 0 {
            return Attempt { lasts: duration, fails: false };
        }
        let drawn = [luck, u64::from(task), u64::from(failures)]
            .iter()
            .fold(self.seed, |state, x| mixed(state ^ x));
        if drawn % 1_000_000 >= u64::from(self.per_million) {
            return Attempt { lasts: duration, fails: false };
        }
        // It fails after a part of its time that is uniform over 2^32 steps.
        let part = mixed(drawn) >> 32;
        let micros = (u128::from(duration.as_micros()) * u128::from(part)) >> 32;
        Attempt { lasts: Span::from_micros(micros as u64).unwrap_or(duration), fails: true }
    }
}

/// The hash of one number.
fn mixed(mut number: u64) -> u64 {
    split_mix(&mut number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fails_as_often_as_asked_and_never_later_than_the_end() {
        let failures = Failures { seed: 7, per_million: 100_000 };
        let second = Span::from_secs(1).expect("in range");
        let failed = (0..20_000u64)
            .map(|job| failures.run(job, 0, 0, second))
            .filter(|attempt| attempt.fails);
        let (count, lasts) =
            failed.fold((0u64, 0), |(n, sum), attempt| (n + 1, sum + attempt.lasts.as_micros()));
        assert!((1_850..2_150).contains(&count), "{count} of 20000 at one in ten");
        assert!((450_000..550_000).contains(&(lasts / count)), "half way on average");
    }
}
