//! Distributions of task counts, durations and gaps.

use super::Stream;
use crate::TraceError;

/// A distribution of numbers, in the unit of the field that holds it (seconds, or a number of
/// tasks).
#[derive(Clone, PartialEq, Debug)]
pub enum Dist {
    /// Always this.
    Constant(f64),
    /// Uniform between two numbers.
    Uniform {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Log-normal: the logarithm is normal.
    LogNormal {
        /// Median, e^mu.
        median: f64,
        /// Deviation of the natural logarithm.
        sigma: f64,
    },
    /// Pareto: P(X > x) = (scale / x)^shape.
    Pareto {
        /// The smallest value.
        scale: f64,
        /// The larger, the lighter the tail; at 1 or below the mean is infinite.
        shape: f64,
    },
    /// One of several values.
    Choice(Vec<Weighted>),
    /// Another distribution, cut off: larger values become `max`. Heavy tails need it.
    AtMost {
        /// The other.
        dist: Box<Dist>,
        /// The largest value.
        max: f64,
    },
}

/// A value of [`Dist::Choice`] and how likely it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// Its weight; 0 is never.
    pub weight: u32,
}

impl Dist {
    /// Draws a number: never negative, never NaN.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        // A median of 0 times an infinite factor is NaN, of which `max` makes 0.
        self.sample(stream).max(0.0)
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        match self {
            Dist::Constant(value) => *value,
            Dist::Uniform { low, high } => low + (high - low) * stream.unit(),
            Dist::Exponential { mean } => mean * stream.exponential(),
            Dist::LogNormal { median, sigma } => median * libm::exp(sigma * stream.normal()),
            Dist::Pareto { scale, shape } => scale * stream.pareto(*shape),
            Dist::Choice(values) => {
                let total = values.iter().map(|choice| u64::from(choice.weight)).sum::<u64>();
                let mut point = stream.below(total.max(1));
                for choice in values {
                    match point.checked_sub(u64::from(choice.weight)) {
                        Some(rest) => point = rest,
                        None => return choice.value,
                    }
                }
                0.0
            }
            Dist::AtMost { dist, max } => dist.sample(stream).min(*max),
        }
    }

    /// The only value it can have, if there is only one.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Dist::Constant(value) => Some(*value),
            Dist::Uniform { low, high } => (low == high).then_some(*low),
            Dist::Exponential { mean } => (*mean == 0.0).then_some(0.0),
            Dist::LogNormal { median, sigma } => (*sigma == 0.0).then_some(*median),
            Dist::Pareto { .. } => None,
            Dist::Choice(values) => {
                let mut likely =
                    values.iter().filter(|choice| choice.weight > 0).map(|choice| choice.value);
                let first = likely.next()?;
                likely.all(|value| value == first).then_some(first)
            }
            Dist::AtMost { dist, max } => {
                if *max == 0.0 {
                    Some(0.0)
                } else {
                    dist.constant().map(|value| value.min(*max))
                }
            }
        }
    }

    /// The least and the greatest number that can be drawn; infinite where there is no greatest.
    pub fn range(&self) -> (f64, f64) {
        let from = |least: f64, bounded: bool| match bounded {
            true => (least, least),
            false => (least, f64::INFINITY),
        };
        match self {
            Dist::Constant(value) => (*value, *value),
            Dist::Uniform { low, high } => (*low, *high),
            Dist::Exponential { mean } => from(0.0, *mean == 0.0),
            Dist::LogNormal { median, sigma } => match *sigma == 0.0 {
                true => (*median, *median),
                false => from(0.0, *median == 0.0),
            },
            Dist::Pareto { scale, .. } => from(*scale, *scale == 0.0),
            Dist::Choice(values) => {
                let likely = values.iter().filter(|choice| choice.weight > 0);
                likely.fold((f64::INFINITY, 0.0), |(least, most), choice| {
                    (least.min(choice.value), f64::max(most, choice.value))
                })
            }
            Dist::AtMost { dist, max } => {
                let (least, most) = dist.range();
                (least.min(*max), most.min(*max))
            }
        }
    }

    /// A number that about one draw in 10^12 is above: as good as the greatest where there is none.
    pub fn far(&self) -> f64 {
        match self {
            Dist::Exponential { mean } => mean * libm::log(1e12),
            Dist::LogNormal { median, sigma } => median * libm::exp(7.03 * sigma),
            Dist::Pareto { scale, shape } => scale * libm::pow(1e12, 1.0 / shape),
            bounded => bounded.range().1,
        }
    }

    /// What is usual where there is no greatest number; else the greatest.
    fn usual(&self) -> f64 {
        match self {
            Dist::Exponential { mean } => *mean,
            Dist::LogNormal { median, .. } => *median,
            Dist::Pareto { scale, .. } => *scale,
            bounded => bounded.range().1,
        }
    }

    /// The mean, where it is simple.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Dist::Exponential { mean } => Some(*mean),
            Dist::Uniform { low, high } => Some((low + high) / 2.0),
            other => other.constant(),
        }
    }

    /// Whether all that it can give lies between `least` and `most`. Of a distribution without a
    /// greatest number at least what is usual must be possible.
    pub fn check_range(&self, what: &str, least: f64, most: f64) -> Result<(), TraceError> {
        let (low, high) = (self.range().0, self.usual());
        let fail = |value: f64| {
            let why = format!("{value} can be drawn; {least} to {most} are possible");
            Err(TraceError::settings(what, why))
        };
        match self.constant() {
            Some(count) if !(least..=most).contains(&count) => {
                let why = format!("is {count}; {least} to {most} are possible");
                Err(TraceError::settings(what, why))
            }
            Some(_) => Ok(()),
            None if high > most => fail(high),
            // Without a greatest number there is mostly a tail at 0 as well, which is rounded up.
            None if self.range().1.is_finite() && low.round() < least => fail(low),
            None => Ok(()),
        }
    }

    /// Whether the parameters make sense; `what` names the distribution in the message.
    pub fn check(&self, what: &str) -> Result<(), TraceError> {
        let fail = |why: String| Err(TraceError::settings(what, why));
        let amount = |name: &str, value: f64| {
            if value.is_finite() && value >= 0.0 {
                Ok(())
            } else {
                fail(format!("{name} is {value}; a number of 0 or more is needed"))
            }
        };
        match self {
            Dist::Constant(value) => amount("the value", *value),
            Dist::Uniform { low, high } => {
                amount("low", *low)?;
                amount("high", *high)?;
                if low > high {
                    return fail(format!("low ({low}) is above high ({high})"));
                }
                Ok(())
            }
            Dist::Exponential { mean } => amount("the mean", *mean),
            Dist::LogNormal { median, sigma } => {
                amount("the median", *median)?;
                amount("sigma", *sigma)
            }
            Dist::Pareto { scale, shape } => {
                amount("the scale", *scale)?;
                if !(shape.is_finite() && *shape > 0.0) {
                    return fail(format!("the shape is {shape}; a number above 0 is needed"));
                }
                Ok(())
            }
            Dist::Choice(values) => {
                values.iter().try_for_each(|choice| amount("a value", choice.value))?;
                if values.iter().all(|choice| choice.weight == 0) {
                    return fail(
                        "a choice needs at least one value with a weight above 0".to_owned(),
                    );
                }
                Ok(())
            }
            Dist::AtMost { dist, max } => {
                amount("the largest value", *max)?;
                dist.check(what)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(values: &[(f64, u32)]) -> Dist {
        Dist::Choice(values.iter().map(|&(value, weight)| Weighted { value, weight }).collect())
    }

    #[test]
    fn means_are_right() {
        let rows = [
            (Dist::Constant(3.0), 3.0),
            (Dist::Uniform { low: 2.0, high: 4.0 }, 3.0),
            (Dist::Exponential { mean: 5.0 }, 5.0),
            (Dist::LogNormal { median: 2.0, sigma: 0.5 }, 2.0 * libm::exp(0.125)),
            (Dist::Pareto { scale: 3.0, shape: 4.0 }, 4.0),
            (choice(&[(1.0, 1), (9.0, 0), (5.0, 3)]), 4.0),
            (Dist::AtMost { dist: Box::new(Dist::Uniform { low: 0.0, high: 4.0 }), max: 2.0 }, 1.5),
        ];
        for (dist, expected) in rows {
            dist.check("d").unwrap();
            let mut stream = Stream::new(1, "means");
            let draws: Vec<f64> = (0..50_000).map(|_| dist.draw(&mut stream)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            assert!((mean - expected).abs() < 0.02 * expected, "{dist:?}: {mean}, not {expected}");
            let same = draws.iter().all(|draw| *draw == draws[0]);
            assert_eq!(dist.constant().is_some(), same, "{dist:?}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let rows = [
            (Dist::Constant(-1.0), "d: the value is -1; a number of 0 or more is needed"),
            (Dist::Constant(f64::NAN), "d: the value is NaN; a number of 0 or more is needed"),
            (Dist::Uniform { low: 3.0, high: 1.0 }, "d: low (3) is above high (1)"),
            (
                Dist::Exponential { mean: f64::INFINITY },
                "d: the mean is inf; a number of 0 or more is needed",
            ),
            (
                Dist::LogNormal { median: 1.0, sigma: -1.0 },
                "d: sigma is -1; a number of 0 or more is needed",
            ),
            (
                Dist::Pareto { scale: 1.0, shape: 0.0 },
                "d: the shape is 0; a number above 0 is needed",
            ),
            (choice(&[]), "d: a choice needs at least one value with a weight above 0"),
            (choice(&[(1.0, 0)]), "d: a choice needs at least one value with a weight above 0"),
            (
                Dist::AtMost { dist: Box::new(Dist::Constant(-2.0)), max: 1.0 },
                "d: the value is -2; a number of 0 or more is needed",
            ),
        ];
        for (dist, expected) in rows {
            assert_eq!(dist.check("d").unwrap_err().to_string(), expected);
        }
    }
}
