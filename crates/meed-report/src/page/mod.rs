//! A page of results: headings, words, tables and charts, for everything that is not the comparison
//! of one scenario.
//!
//! Whoever has results describes them once as a [`Page`]; [`to_html`] makes one self-contained file
//! of it, [`to_text`] the terminal's view (words and tables; charts are only named there). A page
//! computes nothing. Values that are not finite are gaps, lines of points in any order are sorted,
//! anchors are made valid and unique: no page is refused.
//!
//! Units are words, shown with the axis or the column ("s", "slots", "rho"); numbers are shown with
//! about four digits.

mod assumed;
mod data;
mod html;
mod text;

pub use html::{to_html, to_html_made};
pub use text::to_text;

pub use crate::words::capital;

/// The whole page.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    /// Title of the file and the first heading.
    pub title: String,
    /// Paragraphs below the title: what was run, and with what.
    pub lead: Vec<String>,
    /// Which of these is the answer: it stands in large type.
    pub answer: Option<usize>,
    /// What the input does not hold and was assumed: folded behind their number, those that begin
    /// alike in one line.
    pub assumed: Vec<String>,
    /// In order.
    pub sections: Vec<Section>,
}

/// A heading and what stands below it; the contents list shows all of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// Anchor: letters, digits and hyphens, no other section's.
    pub id: String,
    /// Heading.
    pub title: String,
    /// A word behind the heading and in the list of contents, as a verdict.
    pub badge: Option<Badge>,
    /// In order.
    pub blocks: Vec<Block>,
}

/// A short word with a tone.
#[derive(Clone, PartialEq, Debug)]
pub struct Badge {
    /// What it says.
    pub word: String,
    /// How it looks.
    pub tone: Tone,
}

/// How something looks; never the only carrier of its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// As text.
    #[default]
    Plain,
    /// As hoped for.
    Good,
    /// Worth a look.
    Warn,
    /// Not as hoped for.
    Bad,
}

/// One part of a section.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A paragraph in smaller letters: an assumption, a reservation.
    Note(String),
    /// Text to be kept as it is: a command, a scenario.
    Code(String),
    /// A table.
    Table(Table),
    /// Lines over a common x axis.
    Lines(LineChart),
    /// Values over two parameters.
    Heat(HeatMap),
    /// Distributions as rows, with the value that a paper gives.
    Spreads(SpreadChart),
    /// Times of many, before and after.
    Pairs(PairChart),
}

/// A table; columns of numbers are right-aligned.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Headings, with their unit in brackets where they have one.
    pub columns: Vec<String>,
    /// Rows, each as wide as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// How many: no digits behind a point, whatever stands in the column.
    Count(u64),
    /// A word with a tone.
    Badge(Badge),
    /// Nothing: a dash.
    Empty,
}

/// Lines over a common x axis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// Words below it.
    pub caption: String,
    /// Label of the x axis, with its unit.
    pub x: String,
    /// Label of the y axis, with its unit.
    pub y: String,
    /// In order.
    pub lines: Vec<Line>,
    /// Upright marks: events, phases.
    pub marks: Vec<Mark>,
    /// Level marks: a paper's figure, a threshold.
    pub levels: Vec<Mark>,
}

/// One line; its x need not be those of the others.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Ascending.
    pub x: Vec<f64>,
    /// As many; `None` is a gap.
    pub y: Vec<Option<f64>>,
    /// Lower and upper bound of a band around it, each as long as `y`.
    pub band: Option<(Vec<f64>, Vec<f64>)>,
    /// Whether a value holds until the next (steps) instead of being joined to it.
    pub steps: bool,
    /// Whether it is shown with a dash: a paper's line, a reference.
    pub dashed: bool,
}

/// A place on an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Mark {
    /// Where.
    pub at: f64,
    /// What it is.
    pub label: String,
}

/// Values over two parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// Words below it.
    pub caption: String,
    /// Name of what varies from left to right.
    pub x: String,
    /// Name of what varies from top to bottom.
    pub y: String,
    /// Name and unit of the value.
    pub value: String,
    /// Columns.
    pub x_labels: Vec<String>,
    /// Rows.
    pub y_labels: Vec<String>,
    /// Rows of values; `None` where there is none.
    pub values: Vec<Vec<Option<f64>>>,
    /// The neutral value of a scale with two sides, as 1 for rho; `None` for a scale with one.
    pub middle: Option<f64>,
}

/// Distributions as rows on one axis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SpreadChart {
    /// What it shows.
    pub title: String,
    /// Words below it.
    pub caption: String,
    /// Label of the axis, with its unit.
    pub x: String,
    /// In order.
    pub rows: Vec<SpreadRow>,
}

/// Times of many, before and after: a point each, on logarithmic axes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PairChart {
    /// What it shows.
    pub title: String,
    /// Words below it.
    pub caption: String,
    /// What the times are, as "mean wait".
    pub what: String,
    /// Under what they were before.
    pub before: String,
    /// Under what they are now.
    pub now: String,
    /// Changes below so many seconds are none that a reader should act on.
    pub least_s: f64,
    /// In order.
    pub points: Vec<PairPoint>,
}

/// One of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PairPoint {
    /// Its name.
    pub name: String,
    /// Seconds before.
    pub before_s: f64,
    /// Seconds now.
    pub now_s: f64,
}

/// One distribution.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SpreadRow {
    /// Its name.
    pub label: String,
    /// Smallest, first quartile, median, third quartile, largest.
    pub five: [f64; 5],
    /// What the paper gives: a value, or a range.
    pub reference: Option<(f64, f64)>,
}
