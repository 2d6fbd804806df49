//! One HTML file that opens anywhere, also offline: page, style, scripts, plotting library and data
//! in one.
//!
//! The page is `assets/report.html`; its script is the files of `assets/js` one after the other.
//! The data stand in a `<script type="application/json">` and reach the page only as text, never as
//! markup. A content security policy forbids the page every request.

use meed_driver::record::Comparison;

use crate::embed;
use crate::made::Made;
use crate::shell::{self, escape};
use crate::table::{TableOptions, summary_table};

const PAGE: &str = include_str!("../assets/report.html");
/// In the order in which they build on one another.
const SCRIPT: [&str; 26] = [
    shell::BASE,
    include_str!("../assets/js/data.js"),
    shell::FORMAT,
    include_str!("../assets/js/calendar.js"),
    shell::THEME,
    shell::DOM,
    shell::SAVE,
    shell::FIGURE,
    include_str!("../assets/js/timechart.js"),
    include_str!("../assets/js/heatmap.js"),
    include_str!("../assets/js/rhomap.js"),
    include_str!("../assets/js/rowchart.js"),
    include_str!("../assets/js/tables.js"),
    include_str!("../assets/js/picker.js"),
    include_str!("../assets/js/nodes.js"),
    include_str!("../assets/js/nodeviews.js"),
    include_str!("../assets/js/jobviews.js"),
    include_str!("../assets/js/gantt.js"),
    include_str!("../assets/js/overtaken.js"),
    include_str!("../assets/js/scatter.js"),
    include_str!("../assets/js/gains.js"),
    include_str!("../assets/js/holders.js"),
    include_str!("../assets/js/accounts.js"),
    include_str!("../assets/js/sections.js"),
    shell::PAPER,
    include_str!("../assets/js/main.js"),
];

/// The report as HTML, which does not say where it comes from.
pub fn to_html(comparison: &Comparison) -> String {
    to_html_made(comparison, &Made::default())
}

/// The report as HTML, which says where it comes from.
pub fn to_html_made(comparison: &Comparison, made: &Made) -> String {
    shell::fill(PAGE, |name| match name {
        "title" => escape(embed::title(&comparison.scenario)),
        "style" => [shell::PLOT_STYLE, shell::STYLE].join("\n"),
        "library" => shell::library(),
        "script" => SCRIPT.join("\n"),
        "data" => embed::data(comparison, made),
        "text" => escape(&summary_table(comparison, &TableOptions { width: 120, color: false })),
        _ => String::new(),
    })
}
