//! Writes sample reports and tables from synthetic records: `cargo run -p meed-report --example
//! sample -- DIR`.

#[path = "../tests/suite/common/mod.rs"]
mod common;

use std::path::PathBuf;

use meed_files::Guard;
use meed_report::{TableOptions, summary_table, to_html, write_json};

#[expect(clippy::print_stdout, reason = "the example shows the tables")]
fn main() -> Result<(), meed_files::GuardError> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let samples = [
        ("four", common::four_tenants()),
        ("many", common::many_tenants(679, 480)),
        ("no-series", common::without_series(common::four_tenants())),
        ("nothing-ended", common::nothing_ended()),
        ("hostile", common::two_hostile()),
        ("month", common::month_of_six_policies()),
        ("mapreduce", common::mapreduce::placed(99, 240, &common::mapreduce::RULES)),
    ];
    for (name, comparison) in samples {
        let mut files = Guard::new();
        files.write_text(&dir.join(format!("{name}.html")), &to_html(&comparison))?;
        write_json(&comparison, files.create(&dir.join(format!("{name}.json")))?)?;
        for width in [80, 120] {
            println!("{name}, {width} columns\n");
            println!("{}", summary_table(&comparison, &TableOptions { width, color: false }));
        }
    }
    Ok(())
}
