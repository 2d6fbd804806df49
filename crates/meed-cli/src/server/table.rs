//! Columns and times for people.

use comfy_table::{ContentArrangement, Table, TableStyle};
use meed::Span;
use meed_config::text::clean;
use meed_config::units::format_span;

use crate::output::table_options;

/// A table that fits the terminal. Names in it are cleaned.
pub(super) fn columns(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    columns_in(table_options().width, heads, rows)
}

/// The same, in so many columns.
pub(super) fn columns_in(
    width: usize,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    table.force_no_tty();
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    table.set_width(width).set_header(heads.iter());
    for row in rows {
        table.add_row(row.iter().map(|cell| clean(cell)));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// A length in words.
pub(super) fn length(micros: u64) -> String {
    // Whole seconds, but for short ones.
    let rounded = if micros < 10_000_000 {
        micros / 100_000 * 100_000
    } else {
        micros / 1_000_000 * 1_000_000
    };
    Span::from_micros(rounded).map(format_span).unwrap_or_default()
}

/// How long ago it was.
pub(super) fn ago(then_us: u64, now_us: u64) -> String {
    format!("{} ago", length(now_us.saturating_sub(then_us)))
}
