//! A page as one HTML file. Words and tables are written here and need no script; charts are places
//! that the script fills from the embedded data, and that say so without it.

use super::{Badge, Block, Cell, Page, Section, Table, Tone, assumed, data};
use crate::made::Made;
use crate::number;
use crate::shell::{self, escape};
use std::fmt::Write;

const TEMPLATE: &str = include_str!("../../assets/page.html");
const LOOK: &str = include_str!("../../assets/page.css");
/// In the order in which they build on one another.
const SCRIPT: [&str; 18] = [
    shell::BASE,
    shell::FORMAT,
    shell::THEME,
    shell::DOM,
    shell::SAVE,
    shell::FIGURE,
    include_str!("../../assets/js/axis.js"),
    include_str!("../../assets/js/points.js"),
    include_str!("../../assets/js/marks.js"),
    include_str!("../../assets/js/linechart.js"),
    include_str!("../../assets/js/grid.js"),
    include_str!("../../assets/js/spreads.js"),
    include_str!("../../assets/js/scatter.js"),
    include_str!("../../assets/js/pairs.js"),
    include_str!("../../assets/js/sorting.js"),
    include_str!("../../assets/js/filter.js"),
    shell::PAPER,
    include_str!("../../assets/js/page.js"),
];
/// Characters of a name that is not broken.
const SHORT: usize = 20;
/// The same of one word: a policy with its keys.
const WORD: usize = 32;
/// Characters of a text that needs room.
const LONG: usize = 40;
/// Anchors that the page needs for itself.
const TAKEN: [&str; 4] = ["top", "main", "tools", "page-data"];

/// The page as one HTML file that fetches nothing, and does not say where it comes from.
pub fn to_html(page: &Page) -> String {
    to_html_made(page, &Made::default())
}

/// The same, and says where it comes from.
pub fn to_html_made(page: &Page, made: &Made) -> String {
    shell::fill(TEMPLATE, |name| match name {
        "title" => escape(&page.title),
        "style" => [shell::PLOT_STYLE, shell::STYLE, LOOK].join("\n"),
        "body" => body(page),
        "library" => shell::library(),
        "script" => SCRIPT.join("\n"),
        "made" => origin(made),
        "data" => data::data(page),
        _ => String::new(),
    })
}

/// Where the page comes from, as a paragraph.
fn origin(made: &Made) -> String {
    if made.is_empty() {
        return String::new();
    }
    let (by, command) = made.sentence();
    let of =
        if made.data().is_empty() { String::new() } else { format!(" Data of {}.", made.data()) };
    let of = escape(&of);
    format!("<p class=\"made\">{}: <code>{}</code>.{of}</p>\n", escape(&by), escape(command))
}

fn body(page: &Page) -> String {
    let anchors = anchors(&page.sections);
    let mut out = String::from("<header id=\"top\"><div class=\"top\"><div>\n");
    out += &format!("<p class=\"brand\">Meed results</p><h1>{}</h1></div>\n", escape(&page.title));
    out += "<div id=\"tools\"></div></div>\n";
    // What is behind the answer stands in two columns where there is room.
    let begin = page.answer.map_or(page.lead.len(), |at| at + 1);
    for (at, lead) in page.lead.iter().enumerate() {
        let class = if page.answer == Some(at) { "lead answer" } else { "lead" };
        out += if at == begin { "<div class=\"leads\">\n" } else { "" };
        out += &paragraph(class, lead);
    }
    out += if begin < page.lead.len() { "</div>\n" } else { "" };
    out += &folded(&page.assumed);
    if page.sections.len() > 1 {
        out += "<nav aria-label=\"Contents\"><ul class=\"contents\">\n";
        for (section, id) in page.sections.iter().zip(&anchors) {
            let badge = section.badge.as_ref().map(badge).unwrap_or_default();
            let title = escape(&section.title);
            out += &format!("<li><a href=\"#{id}\">{title}</a> {badge}</li>\n");
        }
        out += "</ul></nav>\n";
    }
    out += "</header>\n<main id=\"main\">\n";
    let mut counts = Counts::default();
    for (section, id) in page.sections.iter().zip(&anchors) {
        let badge = section.badge.as_ref().map(badge).unwrap_or_default();
        let title = escape(&section.title);
        out += &format!(
            "<section class=\"part\" id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 \
             id=\"{id}-h\">{title} {badge}</h2>\n"
        );
        for block in &section.blocks {
            out += &self::block(block, &mut counts);
        }
        out += "</section>\n";
    }
    out + "</main>\n"
}

/// Assumptions behind their number; paper shows them all.
fn folded(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let lines = assumed::grouped(notes).into_iter();
    let items: String = lines.map(|line| format!("<li>{}</li>\n", with_code(&line))).collect();
    let title = assumed::title(notes);
    format!("<details class=\"assumed\"><summary>{title}</summary><ul>\n{items}</ul></details>\n")
}

/// Text in which what stands between backticks is code.
fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A single backtick is one.
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// What a page has so far: anchors and labels are each other's only once.
#[derive(Default)]
struct Counts {
    charts: usize,
    tables: usize,
}

fn block(block: &Block, counts: &mut Counts) -> String {
    match block {
        Block::Text(text) => paragraph("text", text),
        Block::Note(text) => paragraph("note", text),
        Block::Code(text) => format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(text)),
        Block::Table(table) => {
            counts.tables += 1;
            self::table(table, counts.tables)
        }
        Block::Lines(chart) => place(&chart.title, &chart.caption, counts),
        Block::Heat(chart) => place(&chart.title, &chart.caption, counts),
        Block::Spreads(chart) => place(&chart.title, &chart.caption, counts),
        Block::Pairs(chart) => place(&chart.title, &chart.caption, counts),
    }
}

/// Lines within a paragraph stay lines.
fn paragraph(class: &str, text: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", escape(text).replace('\n', "<br>"))
}

/// Where the script puts the next chart.
fn place(title: &str, caption: &str, counts: &mut Counts) -> String {
    let index = counts.charts;
    counts.charts += 1;
    let (title, caption) = (escape(title), escape(caption));
    format!(
        "<div class=\"chart-place\" data-chart=\"{index}\"><h3>{title}</h3><p \
         class=\"explain\">{caption}</p>\
         <noscript><p class=\"note\">This chart needs JavaScript.</p></noscript></div>\n"
    )
}

fn badge(badge: &Badge) -> String {
    let (class, sign) = match badge.tone {
        Tone::Plain => ("plain", ""),
        Tone::Good => ("good", "✓"),
        Tone::Warn => ("warn", "!"),
        Tone::Bad => ("bad", "✗"),
    };
    let sign = if sign.is_empty() {
        String::new()
    } else {
        format!("<span aria-hidden=\"true\">{sign}</span> ")
    };
    format!("<span class=\"badge {class}\">{sign}{}</span>", escape(&badge.word))
}

/// The table in a frame that scrolls when it is too wide; `number`: which of the page it is.
fn table(table: &Table, number: usize) -> String {
    let width = table.rows.iter().map(Vec::len).fold(table.columns.len(), usize::max);
    let columns: Vec<Column> = (0..width).map(|c| Column::new(table, c)).collect();
    let caption = escape(&table.caption);
    let name = format!("Table {number}{}{caption}", if caption.is_empty() { "" } else { ": " });
    let mut out = format!(
        "<div class=\"table-scroll results\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{name}\"><table>\n"
    );
    if !caption.is_empty() {
        out += &format!("<caption>{caption}</caption>\n");
    }
    out += "<thead><tr>";
    for (c, column) in columns.iter().enumerate() {
        let title = escape(table.columns.get(c).map_or("", String::as_str));
        out += &format!("<th scope=\"col\"{}>{title}</th>", column.class());
    }
    out += "</tr></thead>\n<tbody>\n";
    for (r, row) in table.rows.iter().enumerate() {
        out += "<tr>";
        for (c, column) in columns.iter().enumerate() {
            out += &cell(row.get(c).unwrap_or(&Cell::Empty), column, r, c == 0);
        }
        out += "</tr>\n";
    }
    if table.rows.is_empty() {
        out += &format!("<tr><td class=\"note\" colspan=\"{}\">no rows</td></tr>\n", width.max(1));
    }
    out + "</tbody></table></div>\n"
}

/// How a column of a table is shown.
pub(super) struct Column {
    /// It holds numbers and no words.
    pub(super) numbers: bool,
    /// Per row, the number as text; empty where there is none.
    pub(super) shown: Vec<String>,
}

impl Column {
    pub(super) fn new(table: &Table, c: usize) -> Self {
        let cells = || table.rows.iter().map(|row| row.get(c).unwrap_or(&Cell::Empty));
        let number = |cell: &Cell| if let Cell::Number(v) = cell { Some(*v) } else { None };
        let values: Vec<f64> = cells().filter_map(number).collect();
        let mut texts = number::column(&values).into_iter();
        let shown = cells()
            .map(|cell| number(cell).and_then(|_| texts.next()).unwrap_or_default())
            .collect();
        let words = cells().any(|cell| matches!(cell, Cell::Text(_)));
        let counts = cells().any(|cell| matches!(cell, Cell::Count(_)));
        Self { numbers: (counts || !values.is_empty()) && !words, shown }
    }

    fn class(&self) -> &'static str {
        if self.numbers { " class=\"num\"" } else { "" }
    }
}

fn cell(cell: &Cell, column: &Column, row: usize, first: bool) -> String {
    let (mut attributes, content) = match cell {
        Cell::Text(text) => (room(text, first).into(), escape(text).replace('\n', "<br>")),
        Cell::Badge(b) => (String::new(), badge(b)),
        Cell::Empty => (column.class().into(), "–".into()),
        Cell::Count(count) => {
            (format!(" class=\"num\" data-value=\"{count}\""), number::count(*count))
        }
        Cell::Number(value) => {
            let shown = column.shown.get(row).map_or("", String::as_str).replace('-', "\u{2212}");
            let mut attributes = format!(" class=\"num\" data-value=\"{value}\"");
            if value.is_finite()
                && shown.replace(['\u{2212}', ','], "") != format!("{}", value.abs())
            {
                let _ = write!(attributes, " title=\"{value}\"");
            }
            (attributes, if value.is_nan() { "–".into() } else { shown })
        }
    };
    let tag = if first {
        attributes += " scope=\"row\"";
        "th"
    } else {
        "td"
    };
    format!("<{tag}{attributes}>{content}</{tag}>")
}

/// Names of rows that are short, or one word as policies are, stay on one line, and long texts have
/// room, however wide the table is.
fn room(text: &str, first: bool) -> &'static str {
    let most = if text.contains(char::is_whitespace) { SHORT } else { WORD };
    match text.chars().count() {
        n if first && n <= most => " class=\"short\"",
        n if !first && n >= LONG => " class=\"long\"",
        _ => "",
    }
}

/// Anchors of letters, digits and hyphens, each once.
fn anchors(sections: &[Section]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (i, section) in sections.iter().enumerate() {
        let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let base: String = section.id.chars().map(clean).collect();
        let base = if base.is_empty() { format!("section-{}", i + 1) } else { base };
        let free = |id: &String| !TAKEN.contains(&id.as_str()) && !out.contains(id);
        let id =
            std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}"))).find(free);
        out.push(id.unwrap_or(base));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_valid_and_unique() {
        let ids = ["a", "a", "a b\"", "", "main", "a-2"];
        let sections = ids.map(|id| Section { id: id.into(), ..Section::default() });
        assert_eq!(anchors(&sections), ["a", "a-2", "a-b-", "section-4", "main-2", "a-2-2"]);
    }
}
