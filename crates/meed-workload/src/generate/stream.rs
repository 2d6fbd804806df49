//! Named streams of random numbers: equal on every machine, and independent of each other.
//!
//! A stream is ChaCha8 with the 32-byte key that SplitMix64 makes from `seed` XOR
//! FNV-1a-64(`name`): four outputs, little endian. Both are published, fixed algorithms; changing
//! either changes every generated workload. Logarithm, exponential and cosine come from `libm`, in
//! software, because the platform's differ in the last bit (`rand_distr` uses the platform's as
//! soon as any crate of the build turns on `num-traits/std`).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// The stream called `name` under `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        let mut state = seed ^ fnv1a(name.as_bytes());
        let mut key = [0; 32];
        for piece in key.chunks_exact_mut(8) {
            piece.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Stream { rng: ChaCha8Rng::from_seed(key) }
    }

    /// Uniform over [0, 1), in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform over (0, 1]: safe to take the logarithm of.
    fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Uniform over 0 to `bound` - 1, for a `bound` of at least 1. High half of a 128-bit product:
    /// the bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// An index, each as likely as its weight; at least one weight is above 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut point = self.below(sum_weights(weights).max(1));
        weights.iter().position(|weight| take(&mut point, u64::from(*weight))).unwrap_or(0)
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit_above_zero())
    }

    /// Normal with mean 0 and deviation 1, by Box and Muller's formula; its second value is not
    /// used.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Pareto with scale 1 and this shape, by inversion.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        libm::exp(self.exponential() / shape)
    }
}

/// Whether `point` falls into the next stretch of this `width`; if not, moves it past.
fn take(point: &mut u64, width: u64) -> bool {
    match point.checked_sub(width) {
        Some(rest) => {
            *point = rest;
            false
        }
        None => true,
    }
}

/// Sum of the weights, which cannot overflow.
pub(crate) fn sum_weights(weights: &[u32]) -> u64 {
    weights.iter().map(|weight| u64::from(*weight)).sum()
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// SplitMix64 (Steele, Lea, Flood 2014): the next output.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_their_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        // The reference implementation's first outputs for seed 1234567.
        let mut state = 1_234_567;
        let outputs = [(); 3].map(|()| split_mix(&mut state));
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn streams_differ_by_seed_and_name_and_repeat() {
        let first = |seed, name| Stream::new(seed, name).below(u64::MAX);
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }

    #[test]
    fn moments_are_right() {
        let mut stream = Stream::new(7, "moments");
        let mut mean = |draw: fn(&mut Stream) -> f64| {
            (0..100_000).map(|_| draw(&mut stream)).sum::<f64>() / 100_000.0
        };
        let near = |value: f64, expected: f64| {
            assert!((value - expected).abs() < 0.02, "{value} {expected}")
        };
        near(mean(Stream::unit), 0.5);
        near(mean(Stream::exponential), 1.0);
        near(mean(Stream::normal), 0.0);
        near(
            mean(|stream| {
                let x = stream.normal();
                x * x
            }),
            1.0,
        );
        near(mean(|stream| stream.pareto(4.0)), 4.0 / 3.0);
        near(mean(|stream| stream.below(3) as f64), 1.0);
        near(mean(|stream| stream.weighted(&[1, 0, 3]) as f64), 1.5);
    }
}
