//! Columns for people, as wide as the terminal.

use comfy_table::{ContentArrangement, Table, TableStyle};
use meed_config::text::clean;

use crate::output::table_options;

/// A table that fits the terminal. Names in it are cleaned.
pub fn columns(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    columns_in(table_options().width, heads, rows)
}

/// The same, in so many columns.
pub fn columns_in(width: usize, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> =
        rows.map(|row| row.iter().map(|cell| clean(cell).into_owned()).collect()).collect();
    if let Some(text) = plain(width, heads, &rows) {
        return text;
    }
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    table.force_no_tty();
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    table.set_width(width).set_header(heads.iter());
    for row in rows {
        table.add_row(row);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// The same, where each row takes one line and each letter one column: `None` elsewhere. A hundred
/// thousand rows take a tenth of the time so.
fn plain(width: usize, heads: &[&str], rows: &[Vec<String>]) -> Option<String> {
    let mut widths: Vec<usize> = heads.iter().map(|head| head.len()).collect();
    for row in rows {
        for (cell, widest) in row.iter().zip(&mut widths) {
            if !cell.is_ascii() {
                return None;
            }
            *widest = cell.len().max(*widest);
        }
    }
    if widths.iter().map(|widest| widest + 2).sum::<usize>() > width {
        return None;
    }
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        for (cell, widest) in cells.zip(&widths) {
            text.push(' ');
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', widest + 1 - cell.len()));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    };
    line(&mut heads.iter().copied());
    rows.iter().for_each(|row| line(&mut row.iter().map(String::as_str)));
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_writes_what_the_long_way_would() {
        let heads = ["JOB", "NAME", "", "SINCE"];
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = [row(["1", "a b", "", "1s ago"]), row(["22222", "", "x", ""]), row([""; 4])];
        let long = |width: usize, odd: bool| {
            // One letter that is none of ASCII makes it take the long way.
            let more = odd.then(|| row(["3", "\u{e4}", "", ""]));
            columns_in(width, &heads, rows.iter().cloned().chain(more))
        };
        for width in [30, 80, 120] {
            let (short, with_more) = (long(width, false), long(width, true));
            assert!(plain(width, &heads, &rows).is_some(), "{width}");
            assert!(with_more.starts_with(&short), "{width}:\n{short}{with_more}");
        }
        assert_eq!(plain(20, &heads, &rows), None, "it does not fit");
    }
}
