//! How long jobs waited in the log itself, beside the simulated ones: how far the model is to be
//! trusted.
//!
//! The log has the site's own scheduler, its limits and its failures, and the simulation has none
//! of these. Where both waited alike the figures are near what the site would see; where they did
//! not, the cluster or the rules are others, and a gain may have another size.

use meed_scenario::Scenario;
use meed_workload::{JobSource, OnBadLine, TraceError};

use crate::sweep::summary::quantile;
use crate::sweep::values::largest_unit;

/// Waits of many jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waits {
    /// How many jobs there are.
    pub jobs: usize,
    /// The mean, seconds.
    pub mean_s: f64,
    /// The median.
    pub median_s: f64,
    /// The 90th percentile.
    pub p90_s: f64,
}

impl Waits {
    /// Of these waits, in seconds; nothing where there are none.
    pub fn of(mut waits: Vec<f64>) -> Option<Waits> {
        waits.sort_by(f64::total_cmp);
        let (median_s, p90_s) = (quantile(&waits, 0.5)?, quantile(&waits, 0.9)?);
        let mean_s = waits.iter().sum::<f64>() / waits.len() as f64;
        Some(Waits { jobs: waits.len(), mean_s, median_s, p90_s })
    }

    /// Those that the log tells, where it tells when jobs started.
    pub fn of_log(scenario: &Scenario, seed: u64) -> Result<Option<Waits>, TraceError> {
        let mut source = scenario.source(seed, OnBadLine::Skip)?;
        let (mut waits, mut all) = (Vec::new(), 0usize);
        let counted = scenario.counted();
        while let Some(job) = source.next_job()? {
            if !counted.holds(job.submit) {
                continue;
            }
            all += 1;
            waits.extend(source.waited().map(|wait| wait.as_secs_f64()));
        }
        // Of a few nothing can be said about all.
        Ok(Waits::of(waits).filter(|waits| waits.jobs * 2 >= all))
    }
}

/// Waits in the log, and of its jobs in the simulation under the baseline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WaitsCompared {
    /// What the log tells.
    pub log: Waits,
    /// What was simulated.
    pub simulated: Waits,
}

/// Waits differ where one is over so many times the other.
const TIMES: f64 = 2.0;
/// Waits below a minute are none.
const NONE_S: f64 = 60.0;

impl WaitsCompared {
    /// Whether the simulated waits are shorter, or longer, than those of the log at the median or
    /// at the 90th percentile.
    pub fn differ(&self) -> [bool; 2] {
        let pairs =
            [(self.log.median_s, self.simulated.median_s), (self.log.p90_s, self.simulated.p90_s)];
        let ratios = pairs.map(|(log, own)| own.max(NONE_S) / log.max(NONE_S));
        [ratios.iter().any(|ratio| *ratio < 1.0 / TIMES), ratios.iter().any(|ratio| *ratio > TIMES)]
    }

    /// What that says, in words; `is_assumed`: nobody gave the cluster.
    pub fn words(&self, baseline: &str, is_assumed: bool) -> String {
        let of = |waits: &Waits| [waits.median_s, waits.p90_s].map(time);
        let ([log, log90], [own, own90]) = (of(&self.log), of(&self.simulated));
        let size = "a gain has this sign, and perhaps another size";
        let told = match self.differ() {
            [false, false] => "the simulation is near what happened".to_owned(),
            [true, false] if is_assumed => format!(
                "the real cluster has less room than the assumed one, or limits that this one has \
                 not, so {size}"
            ),
            [true, false] => format!(
                "on the real cluster jobs waited longer than its nodes alone explain (limits, \
                 failures, reservations), so {size}"
            ),
            [false, true] => format!(
                "on the real cluster jobs waited less, so it had more room or runs other rules; \
                 {size}"
            ),
            [true, true] => format!("the real cluster runs other rules, so {size}"),
        };
        format!(
            "The log's jobs waited {log} in the median and {log90} at the 90th percentile, the \
             simulated ones {own} and {own90} under {baseline}: {told}."
        )
    }
}

/// A time in the largest unit that it holds one of.
fn time(seconds: f64) -> String {
    let (unit, size) = largest_unit(seconds);
    match seconds / size {
        value if value >= 10.0 || value == 0.0 => format!("{value:.0} {unit}"),
        value => format!("{value:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(median_s: f64, p90_s: f64) -> Waits {
        Waits { jobs: 100, mean_s: median_s, median_s, p90_s }
    }

    #[test]
    fn waits_that_differ_twofold_are_told() {
        let compared = |log, simulated| WaitsCompared { log, simulated };
        let log = waits(3600.0, 7200.0);
        assert_eq!(compared(log, waits(1900.0, 14_000.0)).differ(), [false, false]);
        assert_eq!(compared(log, waits(1700.0, 7200.0)).differ(), [true, false]);
        assert_eq!(compared(log, waits(3600.0, 15_000.0)).differ(), [false, true]);
        // Seconds are no waits.
        assert_eq!(compared(waits(0.0, 50.0), waits(100.0, 10.0)).differ(), [false, false]);
        let words = compared(log, waits(60.0, 60.0)).words("fair", false);
        assert!(words.starts_with(
            "The log's jobs waited 1.0 h in the median and 2.0 h at the 90th percentile, the \
             simulated ones 1.0 min and 1.0 min under fair: on the real cluster jobs waited longer"
        ));
        let words = compared(log, waits(0.0, 60.0)).words("fair", true);
        assert!(
            words.contains("0 s") && words.contains("less room than the assumed one"),
            "{words}"
        );
    }

    #[test]
    fn the_median_is_of_all_jobs() {
        let waits = Waits::of(vec![5.0, 0.0, 1.0]).unwrap();
        assert_eq!((waits.jobs, waits.mean_s, waits.median_s), (3, 2.0, 1.0));
        assert_eq!(Waits::of(Vec::new()), None);
    }
}
