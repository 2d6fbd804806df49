//! A page as text for a terminal: words and tables packed to the width that there is; charts are
//! named.
//!
//! Numbers are never cut and words break only between one another, unless a single word is wider
//! than the terminal. A table whose columns do not fit side by side is continued below, with its
//! first column repeated.

use comfy_table::{
    Attribute, Cell as GridCell, CellAlignment, Color, ColumnConstraint, LineStyle, Table as Grid,
    TableStyle, Width,
};

use super::html::Column;
use super::{Badge, Block, Cell, Page, Section, Table, Tone, assumed};
use crate::number;
use crate::table::TableOptions;
use crate::words::{clean, wrap};

/// A column of words is made no narrower than its longest word, but a longer word than this is
/// broken.
const LONGEST_WORD: usize = 28;
/// Spaces between columns.
const GAP: usize = 2;
/// Nothing is packed tighter than this.
const NARROWEST: usize = 40;

/// The page as text; ends with a newline.
pub fn to_text(page: &Page, options: &TableOptions) -> String {
    let options = TableOptions { width: options.width.max(NARROWEST), ..*options };
    let mut out = heading(&page.title, None, '═', &options);
    for lead in &page.lead {
        out += &paragraph(lead, "", &options);
    }
    if !page.assumed.is_empty() {
        out += &paragraph(&format!("{}:", assumed::title(&page.assumed)), "", &options);
        for line in assumed::grouped(&page.assumed) {
            out += &wrap(&clean(&line), options.width, "  ", "    ");
        }
    }
    for section in &page.sections {
        out.push('\n');
        out += &self::section(section, &options);
    }
    out
}

fn section(section: &Section, options: &TableOptions) -> String {
    let mut out = heading(&section.title, section.badge.as_ref(), '─', options);
    let mut after_chart = false;
    for (i, block) in section.blocks.iter().enumerate() {
        let chart = match block {
            Block::Lines(chart) => Some(&chart.title),
            Block::Heat(chart) => Some(&chart.title),
            Block::Spreads(chart) => Some(&chart.title),
            Block::Pairs(chart) => Some(&chart.title),
            _ => None,
        };
        // Charts are single lines that stand together; other blocks have a free line between them.
        if i > 0 && !(after_chart && chart.is_some()) {
            out.push('\n');
        }
        after_chart = chart.is_some();
        out += &match (block, chart) {
            (_, Some(title)) => {
                let words = clean(&title.replace('\n', " "));
                wrap(&format!("(chart: {words} — in the report)"), options.width, "", "  ")
            }
            (Block::Note(text), _) => paragraph(text, "  ", options),
            (Block::Code(text), _) => code(text),
            (Block::Table(table), _) => self::table(table, options),
            (Block::Text(text), _) => paragraph(text, "", options),
            _ => String::new(),
        };
    }
    out
}

fn heading(title: &str, badge: Option<&Badge>, line: char, options: &TableOptions) -> String {
    let mut words = clean(title);
    if let Some(badge) = badge {
        words += &format!(" [{}]", clean(&badge.word));
    }
    let wrapped = wrap(&words, options.width, "", "");
    let length = wrapped.lines().map(|l| l.chars().count()).max().unwrap_or(0);
    let rule: String = std::iter::repeat_n(line, length.min(options.width)).collect();
    let shown = match badge.and_then(|b| ansi(b.tone)) {
        _ if !options.color => wrapped,
        Some(code) => match wrapped.rfind('[') {
            Some(at) => {
                let (title, word) = wrapped.split_at(at);
                format!("{}{}", paint("1", title), paint(code, word))
            }
            None => paint("1", &wrapped),
        },
        None => paint("1", &wrapped),
    };
    format!("{shown}{rule}\n")
}

/// Line by line, so that no attribute is left on at the end of one.
fn paint(code: &str, text: &str) -> String {
    let paint = |line: &str| match line.strip_suffix('\n') {
        Some(line) => format!("\u{1b}[{code}m{line}\u{1b}[0m\n"),
        None => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
    };
    text.split_inclusive('\n').map(paint).collect()
}

fn ansi(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("32"),
        Tone::Warn => Some("33"),
        Tone::Bad => Some("31"),
    }
}

fn color(tone: Tone) -> Option<Color> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some(Color::Green),
        Tone::Warn => Some(Color::Yellow),
        Tone::Bad => Some(Color::Red),
    }
}

fn paragraph(text: &str, indent: &str, options: &TableOptions) -> String {
    text.lines().map(|line| wrap(&clean(line), options.width, indent, indent)).collect()
}

/// Kept as it is, also when it is wide: it may be copied.
fn code(text: &str) -> String {
    let line =
        |l: &str| format!("    {}", clean(&l.replace('\t', "    "))).trim_end().to_string() + "\n";
    text.lines().map(line).collect()
}

/// A column as the terminal shows it.
struct Shown {
    title: String,
    cells: Vec<(String, Option<Color>)>,
    numbers: bool,
    /// Below this, a number or a word would be cut.
    least: usize,
    /// All on one line.
    most: usize,
}

impl Shown {
    fn new(table: &Table, c: usize) -> Self {
        let column = Column::new(table, c);
        let cell = |(r, row): (usize, &Vec<Cell>)| match row.get(c).unwrap_or(&Cell::Empty) {
            Cell::Text(text) => (one_line(text), None),
            Cell::Badge(badge) => (one_line(&badge.word), color(badge.tone)),
            Cell::Count(count) => (number::count(*count), None),
            Cell::Number(_) => (column.shown.get(r).cloned().unwrap_or_default(), None),
            Cell::Empty => ("-".into(), None),
        };
        let cells: Vec<_> = table.rows.iter().enumerate().map(cell).collect();
        let title = one_line(table.columns.get(c).map_or("", String::as_str));
        let texts = || cells.iter().map(|(t, _)| t.as_str());
        let word = |text: &str| text.split(' ').map(|w| w.chars().count()).max().unwrap_or(0);
        let numbers = column.shown.iter().map(|t| t.chars().count()).max().unwrap_or(0);
        let words = texts().chain([title.as_str()]).map(word).max().unwrap_or(0).min(LONGEST_WORD);
        let body = texts().map(|t| t.chars().count()).max().unwrap_or(0);
        // The heading of a column of numbers is broken rather than widening it.
        let most = if column.numbers { body.max(words) } else { body.max(title.chars().count()) };
        Self {
            least: numbers.max(words).max(1),
            most: most.max(1),
            title,
            cells,
            numbers: column.numbers,
        }
    }
}

fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn table(table: &Table, options: &TableOptions) -> String {
    let width = table.rows.iter().map(Vec::len).fold(table.columns.len(), usize::max);
    let columns: Vec<Shown> = (0..width).map(|c| Shown::new(table, c)).collect();
    let mut out = String::new();
    if !table.caption.is_empty() {
        out += &paragraph(&table.caption, "", options);
    }
    let Some((key, rest)) = columns.split_first() else { return out + "(no columns)\n" };
    for (i, part) in deal(key, rest, options.width).into_iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let part: Vec<&Shown> = std::iter::once(key).chain(part).collect();
        out += &grid(&part, options);
    }
    if table.rows.is_empty() {
        out += "(no rows)\n";
    }
    out
}

/// Columns that fit beside the first one, part by part.
fn deal<'a>(key: &Shown, rest: &'a [Shown], width: usize) -> Vec<&'a [Shown]> {
    let room = width.saturating_sub(key.least);
    let mut parts = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (i, column) in rest.iter().enumerate() {
        let more = GAP + column.least;
        if used > 0 && used + more > room {
            parts.push(&rest[start..i]);
            (start, used) = (i, 0);
        }
        used += more;
    }
    parts.push(&rest[start..]);
    parts
}

/// Widths between the least and the most of each column: the room that is left goes to the
/// narrowest first.
fn widths(columns: &[&Shown], width: usize) -> Vec<usize> {
    let mut out: Vec<usize> = columns.iter().map(|c| c.least.min(c.most.max(c.least))).collect();
    let mut room = width.saturating_sub(out.iter().sum::<usize>() + GAP * (out.len() - 1));
    while room > 0 {
        let next = (0..out.len()).filter(|&i| out[i] < columns[i].most).min_by_key(|&i| out[i]);
        let Some(i) = next else { break };
        out[i] += 1;
        room -= 1;
    }
    out
}

fn grid(columns: &[&Shown], options: &TableOptions) -> String {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    if options.color {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    grid.set_header(columns.iter().map(|c| GridCell::new(&c.title).add_attribute(Attribute::Bold)));
    for r in 0..columns.iter().map(|c| c.cells.len()).max().unwrap_or(0) {
        grid.add_row(columns.iter().map(|c| {
            let (text, color) =
                c.cells.get(r).map_or(("", None), |(t, color)| (t.as_str(), *color));
            let cell = GridCell::new(text);
            color.map_or_else(|| GridCell::new(text), |color| cell.fg(color))
        }));
    }
    let widths = widths(columns, options.width);
    for (i, column) in grid.column_iter_mut().enumerate() {
        let left = if i == 0 { 0 } else { GAP };
        column.set_padding((left as u16, 0));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed((widths[i] + left) as u16)));
        if columns[i].numbers {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.trim_fmt() + "\n"
}
