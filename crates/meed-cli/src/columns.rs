//! Columns for people, as wide as the terminal.

use comfy_table::{ContentArrangement, Table, TableStyle};
use meed_config::text::clean;

use crate::output::table_options;

/// A table that fits the terminal. Names in it are cleaned.
pub(crate) fn columns(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    columns_in(table_options().width, heads, rows)
}

/// The same, in so many columns.
pub(crate) fn columns_in(
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
