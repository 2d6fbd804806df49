//! One HTML file that opens anywhere, also offline: page, style, scripts, plotting library and data in one.
//!
//! The page is `assets/report.html`; its script is the files of `assets/js` one after the other. The data stand in a
//! `<script type="application/json">` and reach the page only as text, never as markup. A content security policy
//! forbids the page every request.

use std::path::Path;

use meed_sim::record::Comparison;

use crate::embed;
use crate::file::{WriteError, write_whole};
use crate::table::{TableOptions, summary_table};

const PAGE: &str = include_str!("../assets/report.html");
const STYLE: [&str; 2] =
    [include_str!("../assets/uplot/uPlot.min.css"), include_str!("../assets/report.css")];
/// It goes with every copy of the library.
const LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const LIBRARY: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
/// In the order in which they build on one another.
const SCRIPT: [&str; 12] = [
    include_str!("../assets/js/data.js"),
    include_str!("../assets/js/format.js"),
    include_str!("../assets/js/theme.js"),
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/figure.js"),
    include_str!("../assets/js/timechart.js"),
    include_str!("../assets/js/heatmap.js"),
    include_str!("../assets/js/rowchart.js"),
    include_str!("../assets/js/tables.js"),
    include_str!("../assets/js/picker.js"),
    include_str!("../assets/js/sections.js"),
    include_str!("../assets/js/main.js"),
];

/// The report as HTML.
pub fn to_html(comparison: &Comparison) -> String {
    let mut out = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        out += before;
        match name {
            "title" => out += &escape(&comparison.scenario),
            "style" => out += &STYLE.join("\n"),
            "library" => {
                out += "/*\n";
                out += LICENCE;
                out += "*/\n";
                out += LIBRARY;
            }
            "script" => out += &SCRIPT.join("\n"),
            "data" => out += &embed::data(comparison),
            "text" => out += &escape(&summary_table(comparison, &TableOptions { width: 120, color: false })),
            _ => {}
        }
        rest = after;
    }
    out + rest
}

/// Writes [`to_html`] to a file, whole or not at all.
pub fn write_html(comparison: &Comparison, path: &Path) -> Result<(), WriteError> {
    write_whole(path, |out| out.write_all(to_html(comparison).as_bytes()))
}

/// Text as it may stand between tags.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}
