//! A page with everything that a page may hold, also what should not be there: long labels, gaps,
//! values that are not finite, tiny and huge ones, charts without points and with one, names that
//! try to break out.

use meed_report::page::{
    Badge, Block, Cell, HeatMap, Line, LineChart, Mark, Page, PairChart, PairPoint, Section,
    SpreadChart, SpreadRow, Table, Tone,
};

/// A long label with a name that tries to break out.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)> & \"quotes\"";

/// Everything.
pub(crate) fn everything() -> Page {
    let section =
        |id: &str, title: &str, badge: Option<(&str, Tone)>, blocks: Vec<Block>| Section {
            id: id.into(),
            title: title.into(),
            badge: badge.map(|(word, tone)| self::badge(word, tone)),
            blocks,
        };
    Page {
        title: "A page of results with everything".into(),
        lead: vec![
            "Meed 0.1.0, seed 42; synthetic values that show how pages look. This paragraph is \
             long enough to be \
             broken over some lines at any width."
                .into(),
            format!("A second paragraph: {HOSTILE} {{{{data}}}}"),
        ],
        answer: Some(1),
        assumed: vec![
            "Slurm: tenant is `User|Account`".into(),
            "Slurm: submit is `Submit`".into(),
            format!("backticks: `{HOSTILE}`"),
        ],
        sections: vec![
            section("tables", "Tables", Some(("reproduced", Tone::Good)), tables()),
            section("lines", "Lines over time", Some(("differs in shape", Tone::Warn)), lines()),
            section(
                "many",
                "Many lines, few points, extremes",
                Some((
                    "not \
                reproduced",
                    Tone::Bad,
                )),
                extremes(),
            ),
            section("heat", "Values over two parameters", Some(("as given", Tone::Plain)), heat()),
            section("pairs", "Times before and after", None, pairs()),
            section("spreads", "Distributions beside the paper's values", None, spreads()),
            section(
                "empty",
                "A section that holds nothing, whose title is so long that it must be \
                broken",
                None,
                vec![],
            ),
        ],
    }
}

fn badge(word: &str, tone: Tone) -> Badge {
    Badge { word: word.into(), tone }
}

fn text(text: &str) -> Cell {
    Cell::Text(text.into())
}

fn tables() -> Vec<Block> {
    let row = |what: &str, ours: f64, paper: Option<f64>, verdict: (&str, Tone), why: &str| {
        vec![
            text(what),
            Cell::Number(ours),
            paper.map_or(Cell::Empty, Cell::Number),
            Cell::Badge(badge(verdict.0, verdict.1)),
            if why.is_empty() { Cell::Empty } else { text(why) },
        ]
    };
    let good = ("as the paper", Tone::Good);
    let rows = vec![
        row("speed-up of facebook under long-term sharing", 1.356_789, Some(1.36), good, ""),
        row(
            "mean job time (s)",
            12_345.678,
            Some(12_000.0),
            ("close", Tone::Plain),
            "Our trace has other gaps.",
        ),
        row(
            "loss",
            -0.000_012_34,
            Some(0.0),
            ("far", Tone::Bad),
            "The paper's cluster preempts containers at once, ours waits for tasks to end; see the \
             note below for what follows from that.",
        ),
        row("tasks", 1_234_567.0, None, ("no figure", Tone::Warn), HOSTILE),
        row("a value that is not there", f64::NAN, Some(f64::INFINITY), good, ""),
    ];
    let columns = ["What", "Ours", "Paper", "Verdict", "Likely reason of the difference"]
        .map(String::from)
        .to_vec();
    let wide = (0..14).map(|i| format!("queue-{i} (core-hours)")).collect::<Vec<_>>();
    let wide_rows = (0..6).map(|r| {
        let numbers =
            (0..13).map(|c| Cell::Number((r * 17 + c * 31) as f64 * 1234.567 / (c + 1) as f64));
        std::iter::once(text(&format!("policy number {r}"))).chain(numbers).collect()
    });
    vec![
        Block::Text("Words stand in paragraphs.\nA second line of the same paragraph.".into()),
        Block::Table(Table { caption: "Ours beside the paper's".into(), columns, rows }),
        Block::Table(Table {
            caption: "A wide \
            table"
                .into(),
            columns: wide,
            rows: wide_rows.collect(),
        }),
        Block::Table(Table {
            caption: "No \
            rows"
                .into(),
            columns: vec!["a".into(), "b".into()],
            rows: vec![],
        }),
        Block::Note(
            "Assumption: tasks are not preempted. The value for the loss is therefore an \
            upper bound."
                .into(),
        ),
        Block::Code(
            "meed simulate examples/lending.toml \\\n    --policies static,fair,long-term \
            --report report.html"
                .into(),
        ),
    ]
}

/// A triangle wave between 0 and 1.
fn wave(x: f64) -> f64 {
    let part = x - x.floor();
    if part < 0.5 { 2.0 * part } else { 2.0 - 2.0 * part }
}

fn line(name: &str, n: usize, step: f64, f: impl Fn(f64) -> f64) -> Line {
    let x: Vec<f64> = (0..n).map(|i| i as f64 * step).collect();
    Line { name: name.into(), y: x.iter().map(|x| Some(f(*x))).collect(), x, ..Line::default() }
}

fn mark(at: f64, label: &str) -> Mark {
    Mark { at, label: label.into() }
}

fn lines() -> Vec<Block> {
    let mut gaps = line("long-term, with gaps and one lonely point", 200, 90.0, |x| {
        0.7 + 0.5 * wave(x / 7000.0)
    });
    gaps.y[60..90].fill(None);
    gaps.y[75] = Some(1.3);
    gaps.y[120] = Some(f64::NAN);
    let mut banded = line("fair, with a band", 100, 180.0, |x| 1.0 + 0.3 * wave(x / 5000.0));
    let bound = |d: f64| banded.y.iter().map(|y| y.unwrap_or(0.0) + d).collect::<Vec<_>>();
    banded.band = Some((bound(-0.12), bound(0.15)));
    let steps = Line {
        steps: true,
        ..line("slots, in steps", 19, 1000.0, |x| (wave(x / 6000.0) * 3.0).round() / 2.0)
    };
    let paper = Line {
        dashed: true,
        ..line("the paper's curve, read off its figure 7", 12, 1600.0, |x| 1.6 - x / 20_000.0)
    };
    let first = LineChart {
        title: "Fairness degree over time".into(),
        caption: "Seconds as hours; marks with labels that would overlap.".into(),
        x: "time since the start (s)".into(),
        y: "rho".into(),
        lines: vec![gaps, banded, steps, paper],
        marks: vec![
            mark(3000.0, "facebook starts"),
            mark(3400.0, "purdue starts"),
            mark(9000.0, "node 7 fails"),
            mark(17_900.0, "end of arrivals"),
        ],
        levels: vec![
            mark(1.0, "no gain, no loss"),
            mark(1.02, "paper: 1.02"),
            mark(1.5, "threshold"),
        ],
    };
    let second = LineChart {
        title: "Twelve queues with negative values".into(),
        caption: "Marks so near to one another that they have numbers.".into(),
        x: "round".into(),
        y: "balance (core-hours)".into(),
        lines: (0..12)
            .map(|i| {
                line(&format!("research.group-{i}"), 150, 1.0, |x| {
                    (wave(x / 60.0 + i as f64 / 12.0) - 0.5) * 30_000.0 * (i + 1) as f64
                })
            })
            .collect(),
        marks: (0..9)
            .map(|i| mark(40.0 + i as f64 * 3.0, &format!("arrival of the {i}th newcomer")))
            .collect(),
        levels: vec![],
    };
    let days = LineChart {
        title: "Thirty days, ten thousand points".into(),
        caption: String::new(),
        x: "time (s)".into(),
        y: "mean job time (s)".into(),
        lines: (0..3)
            .map(|i| {
                line(["static", "fair", "long-term"][i], 10_000, 259.2, |x| {
                    400.0 + 3000.0 * wave(x / 86_400.0) + 900.0 * i as f64 * wave(x / 610_000.0)
                })
            })
            .collect(),
        ..LineChart::default()
    };
    vec![Block::Lines(first), Block::Lines(second), Block::Lines(days)]
}

fn extremes() -> Vec<Block> {
    let chart = |title: &str, x: &str, y: &str, lines: Vec<Line>| {
        Block::Lines(LineChart {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            lines,
            ..LineChart::default()
        })
    };
    let hundred = (0..100).map(|i| {
        line(&format!("user-{i:02} of department {}", i % 9), 120, 60.0, |x| {
            wave(x / 7000.0 + i as f64 / 100.0) * (1.0 + i as f64 / 40.0)
        })
    });
    let mut nothing = line("nothing but gaps", 5, 1.0, |_| f64::NAN);
    nothing.y[0] = None;
    vec![
        chart("A hundred lines", "time (s)", "dominant share", hundred.collect()),
        chart(
            "Tiny values",
            "step",
            "error",
            vec![line("error", 30, 1.0, |x| 3e-11 * (1.0 + wave(x / 20.0)))],
        ),
        chart(
            "Huge values",
            "bytes",
            "operations",
            vec![line("operations", 30, 2e14, |x| 7e18 * wave(x / 4e15))],
        ),
        chart(
            "Values that hardly differ",
            "step",
            "rho",
            vec![line("rho", 30, 1.0, |x| 1.0 + 2e-5 * wave(x / 20.0))],
        ),
        chart("One point", "n", "value", vec![line("a single value", 1, 1.0, |_| 42.0)]),
        chart("No points", "n", "value", vec![nothing]),
        chart("No lines", "n", "value", vec![]),
        chart(HOSTILE, HOSTILE, HOSTILE, vec![line(HOSTILE, 3, 1.0, |x| x - 1.0)]),
    ]
}

fn heat() -> Vec<Block> {
    let map = |title: &str,
               columns: usize,
               rows: usize,
               middle: Option<f64>,
               f: &dyn Fn(usize, usize) -> Option<f64>| {
        Block::Heat(HeatMap {
            title: title.into(),
            caption: "Cells without a value are hatched.".into(),
            x: "memory half-life".into(),
            y: "discount".into(),
            value: "rho of the worst tenant".into(),
            x_labels: (0..columns)
                .map(|c| {
                    if c % 3 == 1 { format!("{c} days and a long label") } else { format!("{c} d") }
                })
                .collect(),
            y_labels: (0..rows)
                .map(|r| {
                    if r == 2 {
                        "a rather long label of a row, longer than there is room for".into()
                    } else {
                        format!("0.{r}")
                    }
                })
                .collect(),
            values: (0..rows).map(|r| (0..columns).map(|c| f(r, c)).collect()).collect(),
            middle,
        })
    };
    vec![
        map("Two sides around 1", 9, 6, Some(1.0), &|r, c| {
            ((r + c) % 7 != 3).then_some(0.2 + (r * c) as f64 / 11.0)
        }),
        map("One side, negative values", 5, 4, None, &|r, c| Some(r as f64 * -12_345.6 + c as f64)),
        map("Many cells", 60, 40, Some(0.0), &|r, c| {
            (c != 17).then_some((wave(c as f64 / 40.0) - 0.5) * r as f64)
        }),
        map("No values", 3, 2, None, &|_, _| Some(f64::NAN)),
        map("One cell", 1, 1, None, &|_, _| Some(0.000_012_3)),
    ]
}

fn pairs() -> Vec<Block> {
    let point = |name: &str, before_s, now_s| PairPoint { name: name.into(), before_s, now_s };
    let chart = |title: &str, points: Vec<PairPoint>| {
        Block::Pairs(PairChart {
            title: title.into(),
            caption: "Mean waits.".into(),
            what: "mean wait".into(),
            before: "fair".into(),
            now: "long-term".into(),
            least_s: 60.0,
            points,
        })
    };
    let points = vec![
        point("science", 40.0, 4000.0),
        point("billing", 9000.0, 0.0),
        point("<b>web</b>", 30.0, 31.0),
        point("not known", f64::NAN, 1.0),
    ];
    vec![chart("Every tenant, before and after", points), chart("Nobody", vec![])]
}

fn spreads() -> Vec<Block> {
    let row = |label: &str, five: [f64; 5], reference: Option<(f64, f64)>| SpreadRow {
        label: label.into(),
        five,
        reference,
    };
    let chart = |title: &str, x: &str, rows: Vec<SpreadRow>| {
        Block::Spreads(SpreadChart {
            title: title.into(),
            caption: "Twenty seeds.".into(),
            x: x.into(),
            rows,
        })
    };
    vec![
        chart(
            "Speed-up over a static partition",
            "speed-up",
            vec![
                row("facebook", [0.9, 1.2, 1.36, 1.5, 1.9], Some((1.3, 1.4))),
                row(
                    "purdue, with a label that is so long that it must be broken over lines",
                    [1.0, 1.05, 1.1, 1.2, 1.3],
                    Some((1.25, 1.25)),
                ),
                row("spark", [1.4; 5], None),
                row("not measured", [f64::NAN; 5], Some((1.7, 2.1))),
            ],
        ),
        chart(
            "Job times",
            "job time (s)",
            vec![
                row("static", [3.0, 60.0, 240.0, 4000.0, 90_000.0], Some((200.0, 300.0))),
                row(
                    "long-term",
                    [2.0, 40.0, 200.0, 2500.0, 70_000.0],
                    Some((100_000.0, 100_000.0)),
                ),
            ],
        ),
        chart(
            "Losses",
            "loss",
            vec![row("fair", [-4.0, -3.0, -2.5, -1.0, 0.0], Some((-2.0, -2.0)))],
        ),
        chart("Nothing", "x", vec![]),
    ]
}
