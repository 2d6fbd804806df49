//! What all HTML files of this crate have in common: assets by name, a template with marks, escaped
//! text.
//!
//! Every file opens anywhere, also offline: style, scripts, plotting library and data stand in it,
//! and a content security policy forbids it every request.

use meed_config::text::mark;

/// The plotting library, with the licence that goes with every copy.
pub(crate) fn library() -> String {
    const LICENCE: &str = include_str!("../assets/uplot/LICENSE");
    const LIBRARY: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
    format!("/*\n{LICENCE}*/\n{LIBRARY}")
}

/// The style of the plotting library.
pub(crate) const PLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
/// The look of every page.
pub(crate) const STYLE: &str = include_str!("../assets/report.css");
/// Scripts that every page begins with, in the order in which they build on one another.
pub(crate) const BASE: &str = include_str!("../assets/js/base.js");
/// Numbers and times as text.
pub(crate) const FORMAT: &str = include_str!("../assets/js/format.js");
/// Colours, light and dark.
pub(crate) const THEME: &str = include_str!("../assets/js/theme.js");
/// Elements.
pub(crate) const DOM: &str = include_str!("../assets/js/dom.js");
/// What is saved from a page.
pub(crate) const SAVE: &str = include_str!("../assets/js/save.js");
/// Links and print.
pub(crate) const PAPER: &str = include_str!("../assets/js/paper.js");
/// The frame of a chart.
pub(crate) const FIGURE: &str = include_str!("../assets/js/figure.js");

/// The template with each `{{name}}` replaced by `part(name)`. What is filled in is not looked
/// through again.
pub(crate) fn fill(template: &str, part: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        out += before;
        out += &part(name);
        rest = after;
    }
    out + rest
}

/// Text as it may stand between tags and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' => out.push(c),
            c => out.push(mark(c).unwrap_or(c)),
        }
    }
    out
}

/// JSON as it may stand in a `<script>` element: `<` occurs in strings only, and without it no
/// element or comment can begin or end. The page shows these strings to people, so what is hidden
/// in them is made visible here, escaped or not.
pub(crate) fn json_in_script(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(json.len());
    let mut rest = json.chars();
    while let Some(c) = rest.next() {
        match c {
            '<' => out += "\\u003c",
            '\\' => escaped(&mut rest, &mut out),
            c => out.push(mark(c).unwrap_or(c)),
        }
    }
    out
}

/// What follows a backslash in a string of JSON. `serde_json` writes controls below U+0020 only in
/// this form.
fn escaped(rest: &mut std::str::Chars<'_>, out: &mut String) {
    let control = match rest.next() {
        Some('u') => {
            let digits: String = rest.by_ref().take(4).collect();
            let c = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
            match c.and_then(mark) {
                Some(mark) => out.push(mark),
                None => *out += &format!("\\u{digits}"),
            }
            return;
        }
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(c) => {
            out.push('\\');
            out.push(c);
            return;
        }
        None => return,
    };
    out.push(mark(control).unwrap_or(control));
}
