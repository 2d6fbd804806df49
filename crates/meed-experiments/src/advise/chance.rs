//! What chance could have made: figures over tenants and over weeks that are drawn anew.
//!
//! A log is one draw of tenants and of weeks. A sample has as many tenants (or weeks), drawn with
//! return, and all candidates meet the same sample, so that they are compared pair by pair. A
//! candidate is better than another beyond chance where its figure is smaller in at least [`SURE`]
//! percent of the samples of each kind. A sample of weeks in which nobody of the aim has a job says
//! nothing; half of the samples must say something. Of fewer than [`FEW`] tenants, or parts of
//! time, none are drawn.
//!
//! The source is the bootstrap (Efron, Ann. Statist. 7(1), 1979), in blocks of time. Draws are of
//! ChaCha8 with a fixed seed: the same log has the same answer.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::seen::Seen;

/// Samples of each kind.
pub const SAMPLES: usize = 200;
/// So many percent of them must agree.
pub const SURE: usize = 95;
/// Of fewer nobody can draw.
pub const FEW: usize = 5;

const SEED: u64 = 46;

/// The aimed figure of each candidate in each sample.
pub struct Chance {
    /// Sample by sample, candidate by candidate; by kind: tenants, then parts of time.
    samples: Vec<Vec<Vec<Option<f64>>>>,
    /// Whether tenants and parts of time were drawn.
    pub drawn: [bool; 2],
}

impl Chance {
    /// Of `runs`, by candidate and replicate; the figure is that of row `row`.
    pub fn of(runs: &[Vec<Seen>], row: usize) -> Chance {
        let mut draws = ChaCha8Rng::seed_from_u64(SEED);
        let first = runs.first().and_then(|runs| runs.first());
        // One without a job is nobody, and changes no draw.
        let is_there = |seen: &Seen, at: usize| {
            let one = &seen.tenants[at];
            one.wait_s.is_some() || !one.parts.is_empty()
        };
        let all_there = |seen: &Seen| -> Vec<usize> {
            (0..seen.tenants.len()).filter(|&at| is_there(seen, at)).collect()
        };
        let there = first.map_or(Vec::new(), all_there);
        let tenants = there.len();
        let parts = first.map_or(0, |seen| seen.parts);
        let mut all = Vec::new();
        let mut drawn = [false; 2];
        if tenants >= FEW {
            drawn[0] = true;
            let sample = |_| {
                let picked: Vec<usize> =
                    (0..tenants).map(|_| there[below(&mut draws, tenants)]).collect();
                means(runs, |seen| seen.over_tenants(row, &picked))
            };
            all.push((0..SAMPLES).map(sample).collect());
        }
        let has_parts =
            first.is_some_and(|seen| seen.over_parts(row, &vec![1; seen.parts]).is_some());
        if parts >= FEW && has_parts {
            drawn[1] = true;
            let sample = |_| {
                let mut times = vec![0u32; parts];
                (0..parts).for_each(|_| times[below(&mut draws, parts)] += 1);
                means(runs, |seen| seen.over_parts(row, &times))
            };
            all.push((0..SAMPLES).map(sample).collect());
        }
        Chance { samples: all, drawn }
    }

    /// Whether anything was drawn.
    pub fn tells(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Whether candidate `a` has the smaller figure than `b` beyond chance.
    pub fn is_less(&self, a: usize, b: usize) -> bool {
        let agree = |kind: &Vec<Vec<Option<f64>>>| {
            let pairs = kind.iter().filter_map(|sample| Some((sample[a]?, sample[b]?)));
            let (less, all) =
                pairs.fold((0, 0), |(less, all), (a, b)| (less + usize::from(a < b), all + 1));
            all * 2 >= SAMPLES && less * 100 >= all * SURE
        };
        self.tells() && self.samples.iter().all(agree)
    }
}

/// A number below `most`; the bias of a remainder of 64 bits is below 2^-40 here.
fn below(draws: &mut ChaCha8Rng, most: usize) -> usize {
    (draws.next_u64() % most.max(1) as u64) as usize
}

/// Of each candidate the mean over its replicates.
fn means(runs: &[Vec<Seen>], of: impl Fn(&Seen) -> Option<f64>) -> Vec<Option<f64>> {
    let mean = |seen: &Vec<Seen>| {
        let all: Option<Vec<f64>> = seen.iter().map(&of).collect();
        let all = all.filter(|all| !all.is_empty())?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    };
    runs.iter().map(mean).collect()
}
