//! Prices: whole micro-units of money per instance and hour, fixed or as a series.
//!
//! A series is steps: a price holds from its time until the next. As text it is CSV, `time,price`,
//! with or without that heading; times as in scenarios, in rising order.

use meed::{Span, Time};
use meed_config::decimal::{NumberError, Rounding, parse_scaled};
use meed_config::units::parse_span;

/// Micro-units in a unit of money.
pub const MONEY: u64 = 1_000_000;
/// Most money that a price or a fee may say, in micro-units.
pub(super) const MOST_MONEY: u64 = 1_000_000 * MONEY;
/// Most steps of one series.
const MOST_STEPS: usize = 1 << 20;

/// An amount of money in micro-units.
pub(crate) fn money(text: &str) -> Result<u64, String> {
    let text = text.trim();
    parse_scaled(text.as_bytes(), MONEY, MOST_MONEY, Rounding::Exact).map_err(|why| {
        let why = match why {
            NumberError::NotANumber => "is not a number",
            NumberError::Negative => "is below zero",
            NumberError::TooLarge => "is above 1000000",
            NumberError::TooFine => "has more than six decimals",
        };
        format!("{} {why}", meed_config::words::quote(text.as_bytes()))
    })
}

/// What an instance costs an hour, over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Prices {
    /// At least one; times rise.
    steps: Vec<(Time, u64)>,
}

impl Prices {
    pub(crate) fn fixed(price: u64) -> Prices {
        Prices { steps: vec![(Time::ZERO, price)] }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.steps.len() == 1 && self.steps[0].0 == Time::ZERO
    }

    /// When the first price is known.
    pub(crate) fn begin(&self) -> Time {
        self.steps[0].0
    }

    /// Steps, in order of time.
    pub(crate) fn of_steps(steps: Vec<(Time, u64)>) -> Result<Prices, String> {
        if steps.is_empty() {
            return Err("has no prices".to_owned());
        }
        if steps.len() > MOST_STEPS {
            return Err(format!("has more than {MOST_STEPS} prices"));
        }
        match steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => Err(format!("has a price at {} behind one at {}", pair[1].0, pair[0].0)),
            None => Ok(Prices { steps }),
        }
    }

    /// CSV; what is wrong is said of its line.
    pub(crate) fn of_csv(text: &str) -> Result<Prices, String> {
        let mut steps: Vec<(Time, u64)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim().trim_start_matches('\u{feff}');
            let at = |why: String| format!("line {}: {why}", number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((time, price)) = line.split_once(',') else {
                return Err(at("is not `time,price`".to_owned()));
            };
            if steps.is_empty() && time.trim() == "time" && price.trim() == "price" {
                continue;
            }
            let time = parse_span(time).map_err(|why| at(format!("time: {why}")))?;
            let price = money(price).map_err(|why| at(format!("price: {why}")))?;
            let time = Time::ZERO.saturating_add(time);
            if let Some(last) = steps.last().filter(|last| last.0 >= time) {
                return Err(at(format!("{time} is not after {}", last.0)));
            }
            steps.push((time, price));
        }
        Prices::of_steps(steps)
    }

    /// Steps within `[from, until)`, the first at `from`; nothing where no price is known then.
    pub(crate) fn within(&self, from: Time, until: Time) -> Vec<(Time, u64)> {
        let first = self.steps.partition_point(|step| step.0 <= from).saturating_sub(1);
        let steps = self.steps[first..].iter().take_while(|step| step.0 < until);
        steps.map(|&(at, price)| (at.max(from), price)).collect()
    }
}

/// A whole number of this period that holds `span`, in microseconds.
pub(super) fn rounded_up(span: Span, period: Span) -> u64 {
    let period = period.as_micros();
    span.as_micros().div_ceil(period).saturating_mul(period)
}
