//! What reservations cost on a real log: one run each with `when_blocked = "skip"`, with one
//! reservation (EASY) and with all (conservative backfilling), and the ratios.
//!
//! `cargo run --release -p meed-sim --example backfill_speed -- FILE.swf.gz [DAYS] [PROCESSORS]`
//!
//! The log is one node of so many processors (those of the header of CTC, if nothing is said),
//! served first come, first served, for its first DAYS, or to its end. Each run reads the log anew: what reading takes is told first,
//! by a run in which everything fits at once.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

use meed_sim::scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

/// Of the CTC SP2.
const PROCESSORS: u64 = 430;

/// More than all jobs of a log ask for together.
const PLENTY: u64 = 1_000_000_000;

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
    println!("everything fits: {:.2} s", run(&file, days, PLENTY, "when_blocked = \"skip\""));
    let skip = run(&file, days, processors, "when_blocked = \"skip\"");
    println!("skip: {skip:.2} s");
    for (words, reservations) in [("EASY", "1"), ("conservative", "\"all\"")] {
        let policy = format!("when_blocked = \"reserve\"\nreservations = {reservations}");
        let seconds = run(&file, days, processors, &policy);
        println!("{words}: {seconds:.2} s, {:.2} of the speed of skip", skip / seconds);
    }
}
