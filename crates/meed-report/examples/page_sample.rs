//! Writes a page of results with everything in it: `cargo run -p meed-report --example page_sample
//! -- DIR`.

#[path = "../tests/suite/sample.rs"]
mod sample;

use std::path::PathBuf;

use meed_files::Guard;
use meed_report::TableOptions;
use meed_report::page::{to_html, to_text};

#[expect(clippy::print_stdout, reason = "the example shows the page as text")]
fn main() -> Result<(), meed_files::GuardError> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let page = sample::everything();
    Guard::new().write_text(&dir.join("page.html"), &to_html(&page))?;
    for width in [72, 110] {
        println!("{width} columns\n\n{}", to_text(&page, &TableOptions { width, color: false }));
    }
    Ok(())
}
