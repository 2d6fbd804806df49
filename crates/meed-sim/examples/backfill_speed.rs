//! What reservations cost on a real log: runs with `when_blocked = "skip"`, with one
//! reservation (EASY) and with all (conservative backfilling), and the ratios.
//!
//! `cargo run --release -p meed-sim --example backfill_speed -- FILE.swf.gz [DAYS] [PROCESSORS]
//! [ROUNDS]`
//!
//! The log is one node of so many processors (those of CTC, if nothing is said), served first come,
//! first served, for its first DAYS, or to its end. Each run reads the log anew: what reading takes
//! is seen by a run in which everything fits at once. Runs are taken in turn, in so many rounds (9,
//! if nothing is said). Told are the fastest of each, for others on the machine only slow a run
//! down, and the median of the ratios within a round, so that changes of its speed matter little.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

/// Of the CTC SP2.
const PROCESSORS: u64 = 430;

/// More than all jobs of a log ask for together.
const PLENTY: u64 = 1_000_000_000;

/// Runs of each way.
const ROUNDS: usize = 9;

/// The run by which the others are told.
const SKIP: usize = 1;

/// The argument at `place`, counted from 1, or else `other`.
fn argument<T: FromStr>(place: usize, other: T) -> T {
    let read = |text: String| text.parse().unwrap_or_else(|_| panic!("`{text}` is no such value"));
    std::env::args().nth(place).map_or(other, read)
}

/// Seconds for a run of the log's first days with these keys of `[policy]`.
fn run(file: &Path, days: u64, processors: u64, policy: &str) -> f64 {
    let text = format!(
        "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = {{ cpu = {processors} }}\n\
         [policy]\norder = \"fifo\"\n{policy}\n[trace]\nfile = {file:?}\nqueues = \"single\"\n\
         limits = \"at-least-run\"\nmin_duration = \"1s\"\n[run]\nuntil = \"{days}d\"\n"
    );
    let scenario =
        Scenario::parse("s.toml", &text, Path::new("."), &[], OnBadLine::Stop).expect("a scenario");
    let options =
        SimulateOptions { policies: vec!["fifo".to_owned()], ..SimulateOptions::default() };
    let clock = Instant::now();
    simulate(&scenario, &options, None, &mut Unwatched).expect("it runs");
    clock.elapsed().as_secs_f64()
}

fn main() {
    let file = std::env::args().nth(1).expect("a log in SWF");
    let file = std::fs::canonicalize(file).expect("the log is there");
    let (days, processors) = (argument(2, 10_000), argument(3, PROCESSORS));
    let reserve = |most: &str| format!("when_blocked = \"reserve\"\nreservations = {most}");
    let skip = "when_blocked = \"skip\"".to_owned();
    let ways = [
        ("everything fits", PLENTY, skip.clone()),
        ("skip", processors, skip),
        ("EASY", processors, reserve("1")),
        ("conservative", processors, reserve("\"all\"")),
    ];
    let one_round = |_| ways.each_ref().map(|(_, of, policy)| run(&file, days, *of, policy));
    let rounds: Vec<[f64; 4]> = (0..argument(4, ROUNDS).max(1)).map(one_round).collect();
    for (way, (words, ..)) in ways.iter().enumerate() {
        let fastest = rounds.iter().map(|round| round[way]).fold(f64::INFINITY, f64::min);
        let mut ratios: Vec<f64> = rounds.iter().map(|round| round[SKIP] / round[way]).collect();
        ratios.sort_by(f64::total_cmp);
        let last = ratios.len() - 1;
        let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[last]);
        println!(
            "{words}: {fastest:.2} s, {median:.2} of the speed of skip ({least:.2} to {most:.2})"
        );
    }
}
