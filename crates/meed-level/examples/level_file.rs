//! Shares out the pool of a file so many times, and prints the level, the certificate's gap and
//! what the check finds: `cargo run --release -p meed-level --example level_file -- FILE RUNS`.
//! `benches/highs.py` runs it beside a general solver and takes the time.
#![expect(clippy::print_stdout, reason = "prints what it is asked for")]

use std::error::Error;
use std::hint::black_box;

use meed_level::document::{Format, read};
use meed_level::{AllocationPolicy, allocate, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: level_file FILE RUNS";
    let file = words.next().ok_or(usage)?;
    let runs: usize = words.next().ok_or(usage)?.parse()?;
    let text = std::fs::read_to_string(&file)?;
    let problem = read(&text, Format::of(&file, &text))?;
    for run in 1..=runs {
        let allocation = black_box(allocate(black_box(&problem), AllocationPolicy::Drfh)?);
        if run == 1 {
            let verified = verify(&problem, AllocationPolicy::Drfh, &allocation)?;
            let gap = allocation.certificate.as_ref().map_or(0.0, |proof| proof.gap);
            let level = allocation.level.unwrap_or(f64::INFINITY);
            println!("{level:e} {gap:e} {:e}", verified.rise);
        }
    }
    Ok(())
}
