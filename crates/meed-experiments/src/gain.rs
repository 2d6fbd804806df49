//! What an order gains: a figure against the same one under the baseline, and against sharing
//! without a memory.

use serde_json::{Value, json};

/// Sharing without a memory: what is run beside every baseline.
pub const FAIR: &str = "fair";

/// A ratio to another figure as a change: `-64 %`.
pub(crate) fn change(ratio: f64) -> String {
    // Not -0.
    let percent = ((ratio - 1.0) * 100.0).round() + 0.0;
    format!("{percent:+.0} %")
}

/// Figures that are told against the baseline, where somebody names one: columns of sweeps, their
/// titles, and what an hour of them is.
pub(crate) const TOLD: [(&str, &str); 3] = [
    ("light_wait_s", "wait, light half"),
    ("heavy_wait_s", "wait, heavy tenth"),
    ("mean_job_s", "mean job time"),
];

/// A figure over the same one under the baseline and under `fair`; nothing where one is missing or
/// 0.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Gain {
    baseline: Option<f64>,
    fair: Option<f64>,
}

impl Gain {
    /// Of a figure, beside these.
    pub(crate) fn of(own: Option<f64>, baseline: Option<f64>, fair: Option<f64>) -> Gain {
        let over = |other: Option<f64>| {
            let ratio = own? / other.filter(|other| *other > 0.0)?;
            ratio.is_finite().then_some(ratio)
        };
        Gain { baseline: over(baseline), fair: over(fair) }
    }

    /// Both in words.
    pub(crate) fn words(self) -> [Option<String>; 2] {
        [self.baseline, self.fair].map(|ratio| ratio.map(change))
    }

    /// Both as JSON.
    pub(crate) fn to_json(self) -> Value {
        json!({ "baseline": self.baseline, "fair": self.fair })
    }
}

/// `names` behind the baseline and sharing without a memory, each once.
pub(crate) fn with_baseline(baseline: Option<&str>, names: Vec<String>) -> Vec<String> {
    let Some(baseline) = baseline else { return names };
    let mut all: Vec<String> = Vec::with_capacity(names.len() + 2);
    for name in [baseline.to_owned(), FAIR.to_owned()].into_iter().chain(names) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_told_against_the_baseline_and_beside_it_against_fair() {
        let gain = Gain::of(Some(4.0), Some(5.0), Some(8.0));
        assert_eq!(gain.words(), [Some("-20 %".to_owned()), Some("-50 %".to_owned())]);
        let none = Gain::of(Some(4.0), Some(0.0), None);
        assert_eq!(none, Gain::default());
        assert_eq!(change(0.999), "+0 %");
    }

    #[test]
    fn the_baseline_comes_first_and_each_order_once() {
        let named = || ["long-term", "fair"].map(str::to_owned).to_vec();
        assert_eq!(with_baseline(None, named()), ["long-term", "fair"]);
        assert_eq!(with_baseline(Some("pbs"), named()), ["pbs", "fair", "long-term"]);
        assert_eq!(with_baseline(Some("fair"), named()), ["fair", "long-term"]);
    }
}
