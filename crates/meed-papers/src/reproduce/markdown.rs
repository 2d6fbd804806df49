//! Measured items as a page of Markdown: `docs/reproduction-results.md` is one.
//!
//! All is in tables, so that no line of prose has to be broken.

use meed_report::page::{Block, Cell, Table};

use super::report::{Done, badge, counts, number};
use super::standing::Standing;
use super::{Check, Context, Item, ItemOutcome, Verdict, bounds};

/// The page: how many claims come out, which do under a fact only, and a section for each item.
pub fn to_markdown(done: &[Done], context: &Context) -> String {
    let mut page = format!(
        "# Results of `meed reproduce`\n\n\
         This page is what the program prints (`--markdown`): Meed {}, {} seeds from {} on.\n\
         [reproduction.md](reproduction.md) says what it means.\n\n{}",
        env!("CARGO_PKG_VERSION"),
        context.seeds,
        context.first_seed,
        rows(&["claims of the papers", "how many"], &counted(done)),
    );
    let under = under_facts(done);
    if !under.is_empty() {
        page.push_str("\n## What comes out under a stated fact\n\n");
        page.push_str(&rows(&["item", "claim", "comes out with"], &under));
    }
    for (item, outcome) in done {
        page.push('\n');
        page.push_str(&section(item, outcome));
    }
    page
}

fn counted(done: &[Done]) -> Vec<Vec<String>> {
    let row = |(what, count): (&str, usize)| vec![what.to_owned(), count.to_string()];
    counts(done).into_iter().map(row).collect()
}

fn under_facts(done: &[Done]) -> Vec<Vec<String>> {
    let row = |claim: super::standing::UnderFacts<'_>| {
        vec![claim.item.to_owned(), claim.claim.to_owned(), claim.facts.join("; ")]
    };
    Standing::of(done).under.into_iter().map(row).collect()
}

/// One item with its command: what is printed, what was measured, the verdict and its reason; why
/// bounds are where they are; then its tables, and what was assumed.
pub(super) fn section(item: &Item, outcome: &ItemOutcome) -> String {
    let row = |check: &Check| {
        let reason = match (check.verdict, check.reason.as_deref().unwrap_or_default()) {
            (Verdict::Same, "") => "to the digit".to_owned(),
            (_, reason) => reason.to_owned(),
        };
        let verdict = badge(check.verdict).word;
        vec![check.what.clone(), check.paper.clone(), check.measured.words(), verdict, reason]
    };
    let checks: Vec<_> = outcome.checks.iter().map(row).collect();
    let head = ["what", "paper", "measured", "verdict", "bounds, or likely reason"];
    let mut text = format!(
        "## {}: {}\n\n{}; `meed reproduce {}`.\n\n{}",
        item.id,
        item.title,
        item.source,
        item.id,
        rows(&head, &checks)
    );
    if let Some(why) = bounds::why(item.id) {
        text.push('\n');
        text.push_str(&rows(&["why these bounds"], &[vec![why.to_owned()]]));
    }
    for block in &outcome.blocks {
        if let Block::Table(table) = block {
            text.push('\n');
            text.push_str(&of_table(table));
        }
    }
    if !outcome.assumptions.is_empty() {
        let assumed: Vec<_> = outcome.assumptions.iter().map(|words| vec![words.clone()]).collect();
        text.push('\n');
        text.push_str(&rows(&["assumed"], &assumed));
    }
    text
}

/// A table with its caption as the heading of its first column where that has none.
fn of_table(table: &Table) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Text(words) => words.clone(),
        Cell::Number(value) => number(*value),
        Cell::Count(count) => count.to_string(),
        Cell::Badge(badge) => badge.word.clone(),
        Cell::Empty => String::new(),
    };
    let caption = vec![vec![table.caption.clone()]];
    let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let cells: Vec<_> = table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let body = rows(&columns, &cells);
    match table.caption.is_empty() {
        true => body,
        false => format!("{}\n{body}", rows(&["table"], &caption)),
    }
}

fn rows(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(escaped).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let body = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    [line(&mut head.iter().copied()), rule].into_iter().chain(body).collect()
}

/// In one line, and without a bar that would end the cell.
fn escaped(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::select;
    use super::*;

    /// Items that need no trace and draw nothing: what a test can measure anew in a moment.
    const EXACT: &[&str] = &[
        "ics-table1",
        "cloudcom-fig1",
        "cloudcom-table1",
        "cloudcom-fig4",
        "tsc-fig2",
        "tsc-choice",
        "drfh-fig1",
        "drfh-fig4",
        "drfh-prop4",
        "drfh-eq9",
        "jas-fig3",
        "jas-fig4",
        "jas-fig5",
    ];

    #[test]
    fn the_page_is_what_the_program_prints() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction-results.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let context = Context::new(None, 1, 0);
        for id in EXACT {
            let item = select(&[(*id).to_owned()]).expect("a known item")[0];
            let section = section(item, &(item.run)(&context).expect("it runs"));
            assert!(
                page.contains(&section),
                "docs/reproduction-results.md does not have this section; make the page anew with \
                 `meed reproduce --markdown docs/reproduction-results.md`:\n{section}"
            );
        }
    }

    #[test]
    fn cells_stay_in_their_row() {
        let table = rows(&["a", "b"], &[vec!["x | y".to_owned(), "two\n  lines".to_owned()]]);
        assert_eq!(table, "| a | b |\n|---|---|\n| x \\| y | two lines |\n");
    }
}
