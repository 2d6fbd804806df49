//! What the order of serving does to who pays when prices are high, over many drawn days
//! (docs/prices-and-plans.md): the tenants of `examples/spot.toml`, with prices drawn in the shape
//! of its series.
//!
//! > calm price: 0.03 (1 + 0.04 x), x from -1 to 1, anew each 15 min<br>
//! > three spikes: 30, 45 or 60 min, six to fifteen times the calm price; `web` has work from each
//!
//! Each seed is a day; spikes begin in 6 to 10, 12 to 16 and 18 to 21 h, on the quarter.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use meed_workload::generate::Stream;

/// Days that are drawn.
const DAYS: u64 = 20;
/// Windows in which spikes begin, in quarters of an hour.
const WINDOWS: [(u64, u64); 3] = [(24, 40), (48, 64), (72, 84)];

/// A drawn day: prices of its quarters, and the quarters in which spikes begin.
fn day(seed: u64) -> (Vec<f64>, Vec<u64>) {
    let mut dice = Stream::new(seed, "a day of prices");
    let mut prices: Vec<f64> =
        (0..96).map(|_| 0.03 * (1.0 + 0.04 * (2.0 * dice.unit() - 1.0))).collect();
    let mut begins = Vec::new();
    for (first, last) in WINDOWS {
        let at = first + dice.below(last - first);
        let (long, factor) = (2 + dice.below(3), 6.0 + 9.0 * dice.unit());
        for price in &mut prices[at as usize..(at + long) as usize] {
            *price *= factor;
        }
        begins.push(at);
    }
    (prices, begins)
}

/// The example with that day's prices, and `web`'s bursts at its spikes.
fn scenario(seed: u64) -> String {
    let example = include_str!("../../../../examples/spot.toml");
    let (prices, begins) = day(seed);
    let step = |(quarter, price): (usize, &f64)| format!("[{}, {price:.6}]", quarter * 900);
    let series: Vec<String> = prices.iter().enumerate().map(step).collect();
    let mut text =
        example.replace("{ file = \"spot-prices.csv\" }", &format!("[{}]", series.join(", ")));
    for (hour, begin) in ["\"7h\"", "\"14h\"", "\"20h\""].into_iter().zip(begins) {
        let from = format!("submit = {hour}");
        assert!(text.contains(&from), "the example has a burst at {hour}");
        text = text.replace(&from, &format!("submit = {}", begin * 900));
    }
    text
}

/// What a tenant received over what it paid, by policy, tenant and day.
fn worth(policies: &[&str]) -> Vec<[Vec<f64>; 3]> {
    let options = SimulateOptions {
        policies: policies.iter().map(|&policy| policy.to_owned()).collect(),
        ..SimulateOptions::default()
    };
    let mut all = vec![[Vec::new(), Vec::new(), Vec::new()]; policies.len()];
    for seed in 0..DAYS {
        let text = scenario(seed);
        let read = Scenario::parse("day.toml", &text, Path::new("."), &[], OnBadLine::Stop);
        let scenario = read.unwrap_or_else(|why| panic!("{why}\n{text}"));
        let runs = simulate(&scenario, &options, None, &mut Unwatched).unwrap().runs;
        for (run, all) in runs.iter().zip(&mut all) {
            let accounts = &run.accounts.as_ref().unwrap().accounts;
            for (account, days) in accounts.iter().zip(all) {
                days.push(account.worth / account.paid * 100.0);
            }
        }
    }
    all
}

/// Median, smallest and largest, in whole percent.
fn spread(days: &[f64]) -> String {
    let mut days = days.to_vec();
    days.sort_by(f64::total_cmp);
    let middle = (days[days.len() / 2] + days[(days.len() - 1) / 2]) / 2.0;
    format!("{middle:.0} ({:.0} to {:.0})", days[0], days[days.len() - 1])
}

#[test]
fn who_pays_in_spikes_gets_less_than_it_paid_for_without_memory_on_every_day() {
    let policies = [
        "fair",
        "long-term",
        "as-you-pay",
        "as-you-pay,value=resource",
        "as-you-pay,entitled=contributed",
    ];
    let page = include_str!("../../../../docs/prices-and-plans.md");
    let all = worth(&policies);
    let row = |(policy, tenants): (&&str, &[Vec<f64>; 3])| {
        let row: Vec<String> = tenants.iter().map(|days| spread(days)).collect();
        format!("| `{policy}` | {} |", row.join(" | "))
    };
    let rows: Vec<String> = policies.iter().zip(&all).map(row).collect();
    assert!(rows.iter().all(|row| page.contains(row)), "the page has not\n{}", rows.join("\n"));
    // What the page says in words: `batch`, `science` and `web`.
    let [fair, _, paid, ..] = &all[..] else { panic!("five policies") };
    assert!(fair[2].iter().all(|web| *web < 82.5), "{:?}", fair[2]);
    assert!(fair[0].iter().all(|batch| *batch > 148.5), "{:?}", fair[0]);
    let near = |day: &f64| (day - 100.0).abs() < 11.5;
    assert!(paid.iter().flatten().all(near), "{paid:?}");
}
