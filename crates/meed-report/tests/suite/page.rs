//! Pages of results as a user gets them: one HTML file, and text for a terminal.

use crate::sample::{HOSTILE, everything};
use meed_report::TableOptions;
use meed_report::page::{
    Block, Cell, HeatMap, Line, LineChart, Mark, Page, PairChart, PairPoint, Section, SpreadChart,
    SpreadRow, Table, to_html, to_text,
};
use serde_json::Value;

fn text(page: &Page, width: usize) -> String {
    to_text(page, &TableOptions { width, color: false })
}

#[test]
fn assumptions_are_folded_behind_their_number() {
    let assumed = ["Slurm: tenant is `User`", "EASY", "Slurm: submit is `Submit`", "odd ` sign"];
    let page = Page { assumed: assumed.map(str::to_owned).to_vec(), ..Page::default() };
    let html = to_html(&page);
    let folded = html.split("<details class=\"assumed\">").nth(1).expect("a fold");
    let folded = folded.split("</details>").next().unwrap_or_default();
    assert_eq!(
        folded,
        "<summary>4 assumptions</summary><ul>\n<li>Slurm: tenant is <code>User</code>; submit is \
         <code>Submit</code></li>\n<li>EASY</li>\n<li>odd ` sign</li>\n</ul>"
    );
    let text = to_text(&page, &TableOptions { width: 80, color: false });
    let lines =
        "4 assumptions:\n  Slurm: tenant is `User`; submit is `Submit`\n  EASY\n  odd ` sign\n";
    assert!(text.contains(lines), "{text}");
    assert!(!to_html(&Page::default()).contains("<details class=\"assumed\">"));
}

/// A page with one section.
fn page_of(blocks: Vec<Block>) -> Page {
    let section = Section { id: "one".into(), title: "One".into(), badge: None, blocks };
    Page { title: "Page".into(), sections: vec![section], ..Page::default() }
}

/// The charts that a page carries.
fn data_of(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"page-data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn chart_of(block: Block) -> Value {
    data_of(&to_html(&page_of(vec![block])))[0].clone()
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;").replace('\n', "<br>")
}

/// All words that must stand in the page itself, outside of any script.
fn words(page: &Page) -> Vec<String> {
    let mut out = vec![page.title.clone()];
    out.extend(page.lead.clone());
    for section in &page.sections {
        out.push(section.title.clone());
        out.extend(section.badge.iter().map(|b| b.word.clone()));
        for block in &section.blocks {
            match block {
                Block::Text(text) | Block::Note(text) => out.push(text.clone()),
                Block::Code(_) => {}
                Block::Table(table) => {
                    out.push(table.caption.clone());
                    out.extend(table.columns.clone());
                    out.extend(table.rows.iter().flatten().filter_map(|cell| match cell {
                        Cell::Text(text) => Some(text.clone()),
                        Cell::Badge(badge) => Some(badge.word.clone()),
                        _ => None,
                    }));
                }
                Block::Lines(LineChart { title, caption, .. })
                | Block::Heat(HeatMap { title, caption, .. })
                | Block::Spreads(SpreadChart { title, caption, .. })
                | Block::Pairs(PairChart { title, caption, .. }) => {
                    out.extend([title.clone(), caption.clone()])
                }
            }
        }
    }
    out
}

#[test]
fn the_page_has_all_words_without_its_script() {
    let page = everything();
    let html = to_html(&page);
    let (before, _) = html.split_once("<script type=\"application/json\"").unwrap();
    for words in words(&page) {
        assert!(before.contains(&escaped(&words)), "{words:?} is missing");
    }
    assert!(before.contains(
        "<pre tabindex=\"0\"><code>meed simulate examples/lending.toml \\\n    --policies"
    ));
    assert!(before.contains("title=\"1.356789\">1.357<"), "full numbers as titles");
    assert!(before.contains(">1,234,567<") && before.contains(">\u{2212}1.234e\u{2212}5<"));
    assert!(before.contains("This chart needs JavaScript"));
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let html = to_html(&everything());
    assert!(!html.contains("<img") && !html.contains("<!--"));
    let benign = to_html(&page_of(vec![]));
    let count = |html: &str| (html.matches("<script").count(), html.matches("</script").count());
    assert_eq!(count(&html), count(&benign));
    assert_eq!(count(&html), (3, 3));
    let charts = data_of(&html);
    let found = charts.as_array().unwrap().iter().find(|c| c["title"] == HOSTILE).unwrap();
    assert_eq!(found["lines"][0]["name"], HOSTILE);
    assert!(html.contains("{{data}}"), "marks in words are no marks of the template");
}

#[test]
fn the_page_fetches_nothing() {
    let html = to_html(&everything())
        .replace("url(#", "") // a part of the same picture
        .replace(&escaped(HOSTILE), "")
        .replace(&HOSTILE.replace('<', "\\u003c").replace('"', "\\\""), "");
    for wrong in
        ["src=", "<link", "@import", "url(", "<iframe", "fetch(", "XMLHttpRequest", "import("]
    {
        assert!(!html.contains(wrong), "{wrong} in the page");
    }
    assert!(html.contains("default-src 'none'"));
    let known = ["https://github.com/leeoniya/uPlot", "http://www.w3.org/2000/svg"];
    for (at, _) in html.match_indices("http://").chain(html.match_indices("https://")) {
        assert!(known.iter().any(|k| html[at..].starts_with(k)), "address: {}", &html[at..at + 60]);
    }
}

#[test]
fn every_chart_has_its_place() {
    let page = everything();
    let html = to_html(&page);
    let charts = data_of(&html);
    let blocks = page.sections.iter().flat_map(|s| &s.blocks);
    let kinds: Vec<&str> = blocks
        .filter_map(|b| match b {
            Block::Lines(_) => Some("lines"),
            Block::Heat(_) => Some("heat"),
            Block::Spreads(_) => Some("spreads"),
            Block::Pairs(_) => Some("pairs"),
            _ => None,
        })
        .collect();
    let found: Vec<&str> =
        charts.as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(found, kinds);
    for i in 0..kinds.len() {
        assert_eq!(html.matches(&format!("data-chart=\"{i}\"")).count(), 1);
    }
}

#[test]
fn values_that_are_not_finite_are_gaps() {
    let line = Line {
        x: vec![0.0, 1.0, f64::NAN, 3.0],
        y: vec![Some(f64::NAN), Some(2.0), Some(3.0), Some(f64::INFINITY)],
        band: Some((vec![f64::NAN; 4], vec![5.0; 2])),
        ..Line::default()
    };
    let mark = |at: f64| Mark { at, label: "m".into() };
    let lines = vec![line];
    let (marks, levels) = (vec![mark(f64::NAN), mark(1.0)], vec![mark(f64::INFINITY)]);
    let v = chart_of(Block::Lines(LineChart { lines, marks, levels, ..LineChart::default() }));
    assert_eq!(v["xs"][0].to_string(), "[0,1,3]");
    assert_eq!(v["lines"][0]["y"].to_string(), "[null,2,null]");
    assert_eq!(v["lines"][0]["low"].to_string(), "[null,null,null]");
    assert_eq!(v["lines"][0]["high"].to_string(), "[5,5,null]");
    assert_eq!(
        (v["marks"].as_array().unwrap().len(), v["levels"].as_array().unwrap().len()),
        (1, 0)
    );

    let labels = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let values = vec![vec![Some(1.0), Some(f64::NAN), None, Some(9.0)], vec![]];
    let heat = HeatMap {
        x_labels: labels(3),
        y_labels: labels(2),
        values,
        middle: Some(f64::NAN),
        ..HeatMap::default()
    };
    let v = chart_of(Block::Heat(heat));
    assert_eq!(v["values"].to_string(), "[[1,null,null],[null,null,null]]");
    assert!(v["middle"].is_null());

    let row = |five, reference| SpreadRow { label: String::new(), five, reference };
    let rows = vec![
        row([5.0, 1.0, 2.0, 3.0, 4.0], Some((2.0, 1.0))),
        row([f64::NAN; 5], Some((f64::NAN, 1.0))),
    ];
    let v = chart_of(Block::Spreads(SpreadChart { rows, ..SpreadChart::default() }));
    assert_eq!(v["rows"][0]["five"].to_string(), "[1,2,3,4,5]");
    assert_eq!(v["rows"][0]["reference"].to_string(), "[1,2]");
    assert!(v["rows"][1]["five"].is_null() && v["rows"][1]["reference"].is_null());

    let point = |before_s, now_s| PairPoint { name: "a".into(), before_s, now_s };
    let points = vec![point(1.0, 2.0), point(f64::NAN, 2.0), point(3.0, f64::INFINITY)];
    let v = chart_of(Block::Pairs(PairChart { points, ..PairChart::default() }));
    assert_eq!(v["points"].to_string(), r#"[{"before_s":1,"name":"a","now_s":2}]"#);
}

#[test]
fn ten_thousand_points_stay_and_a_million_are_thinned() {
    let chart = |points: usize| {
        let line = Line {
            x: (0..points).map(|i| i as f64 * 0.5).collect(),
            y: (0..points).map(|i| Some((i % 13) as f64)).collect(),
            ..Line::default()
        };
        page_of(vec![Block::Lines(LineChart { lines: vec![line; 12], ..LineChart::default() })])
    };
    let html = to_html(&chart(10_000));
    let v = &data_of(&html)[0];
    assert!(v["thinned_from"].is_null());
    assert_eq!(v["lines"][11]["y"].as_array().unwrap().len(), 10_000);
    assert_eq!(v["xs"].as_array().unwrap().len(), 1);
    assert!(html.len() < 700_000, "{} bytes", html.len());
    let html = to_html(&chart(100_000));
    let v = &data_of(&html)[0];
    assert_eq!(v["thinned_from"], 1_200_000);
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn the_same_page_gives_the_same_bytes() {
    assert_eq!(to_html(&everything()), to_html(&everything()));
    assert_eq!(text(&everything(), 90), text(&everything(), 90));
}

#[test]
fn a_page_of_nothing_is_a_page() {
    assert!(to_html(&Page::default()).contains("<main id=\"main\">"));
    assert_eq!(text(&Page::default(), 80), "\n\n");
    let table = Table { caption: "Bare".into(), ..Table::default() };
    let page = page_of(vec![Block::Table(table)]);
    assert!(text(&page, 80).contains("Bare"));
    to_html(&page);
}

#[test]
fn the_page_as_text() {
    for (width, expected) in
        [(72, include_str!("snapshots/page-72.txt")), (110, include_str!("snapshots/page-110.txt"))]
    {
        let now = text(&everything(), width);
        assert!(
            now == expected,
            "with {width} columns the page is now:\n{now}\nexpected:\n{expected}"
        );
    }
}

#[test]
fn text_keeps_to_the_width_and_cuts_no_number() {
    let page = everything();
    for width in [40, 60, 80, 120, 200] {
        let text = text(&page, width);
        // Code is not broken; only its lines may be longer.
        let prose = || text.lines().filter(|l| !l.starts_with("    "));
        for line in prose() {
            assert!(line.chars().count() <= width, "{width} columns: {line:?}");
            assert_eq!(line, line.trim_end());
        }
        let tokens: Vec<&str> = text.split_whitespace().collect();
        for number in ["1.357", "12,346", "12,000", "-1.234e-5", "1,234,567", "104,938", "43,400"] {
            assert!(tokens.contains(&number), "{width} columns: {number} is missing in\n{text}");
        }
    }
}

#[test]
fn colour_only_when_asked_for() {
    assert!(!text(&everything(), 80).contains('\u{1b}'));
    let coloured = to_text(&everything(), &TableOptions { width: 80, color: true });
    assert!(coloured.contains("\u{1b}[32m[reproduced]\u{1b}[0m"), "{coloured}");
    let mut plain = String::new();
    for (i, part) in coloured.split('\u{1b}').enumerate() {
        plain += if i == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    let plain: String = plain.lines().map(|l| l.trim_end().to_string() + "\n").collect();
    assert_eq!(plain, text(&everything(), 80), "colour changes no word");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let evil = "a\u{1b}[31m\u{7}\r";
    let table = Table {
        caption: evil.into(),
        columns: vec![evil.into()],
        rows: vec![vec![Cell::Text(evil.into())]],
    };
    let chart = LineChart { title: evil.into(), ..LineChart::default() };
    let mut page = page_of(vec![
        Block::Text(evil.into()),
        Block::Code(evil.into()),
        Block::Table(table),
        Block::Lines(chart),
    ]);
    (page.title, page.sections[0].title) = (evil.into(), evil.into());
    let text = text(&page, 80);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}
