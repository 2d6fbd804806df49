//! The charts of a page as JSON for its script.
//!
//! Values that are not finite become `null`; arrays of x that lines share stand there once. A chart
//! with very many points is thinned to the lowest and the highest value of each of [`INTERVALS`]
//! intervals, and says so: what can be seen stays. Cost: linear in the points, and n log n for a
//! line that is not in order.

use serde::Serialize;

use super::{Block, HeatMap, Line, LineChart, Mark, Page, PairChart, SpreadChart};
use crate::json::ExpectRecord;
use crate::rounded::{Rounded, round};
use crate::shell::json_in_script;

/// Significant digits of a place on the x axis: a month in milliseconds.
const X_DIGITS: usize = 10;
/// Significant digits of a value.
const Y_DIGITS: usize = 8;
/// A chart with more points is thinned.
const MOST_POINTS: usize = 250_000;
/// As is one whose lines, brought to one common x axis, would have more cells.
const MOST_CELLS: usize = 3_000_000;
/// A thinned line has two points in each of so many intervals.
const INTERVALS: usize = 2_000;

/// All charts of the page in order, as JSON that can stand inside a `<script>` element.
pub(super) fn data(page: &Page) -> String {
    let charts: Vec<ChartView> =
        page.sections.iter().flat_map(|s| &s.blocks).filter_map(ChartView::new).collect();
    let mut bytes = Vec::new();
    charts
        .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Rounded(X_DIGITS)))
        .expect_record();
    json_in_script(&bytes)
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ChartView<'a> {
    Lines(LinesView<'a>),
    Heat(HeatView<'a>),
    Spreads(SpreadsView<'a>),
    Pairs(PairsView<'a>),
}

impl<'a> ChartView<'a> {
    fn new(block: &'a Block) -> Option<Self> {
        match block {
            Block::Lines(chart) => Some(Self::Lines(LinesView::new(chart))),
            Block::Heat(chart) => Some(Self::Heat(HeatView::new(chart))),
            Block::Spreads(chart) => Some(Self::Spreads(SpreadsView::new(chart))),
            Block::Pairs(chart) => Some(Self::Pairs(PairsView::new(chart))),
            _ => None,
        }
    }
}

#[derive(Serialize)]
struct LinesView<'a> {
    title: &'a str,
    caption: &'a str,
    x: &'a str,
    y: &'a str,
    /// Each line names its own by index.
    xs: Vec<Vec<f64>>,
    lines: Vec<LineView<'a>>,
    marks: Vec<MarkView<'a>>,
    levels: Vec<MarkView<'a>>,
    /// How many points there were, when not all of them are here.
    thinned_from: Option<usize>,
}

#[derive(Serialize)]
struct LineView<'a> {
    name: &'a str,
    x: usize,
    y: Vec<Option<f64>>,
    low: Option<Vec<Option<f64>>>,
    high: Option<Vec<Option<f64>>>,
    steps: bool,
    dashed: bool,
}

#[derive(Serialize)]
struct MarkView<'a> {
    at: f64,
    label: &'a str,
}

impl<'a> LinesView<'a> {
    fn new(chart: &'a LineChart) -> Self {
        let mut lines: Vec<Points> = chart.lines.iter().map(Points::new).collect();
        let points: usize = lines.iter().map(|l| l.x.len()).sum();
        let mut xs = shared(&lines).0;
        let cells = xs.iter().map(Vec::len).sum::<usize>().saturating_mul(lines.len());
        let thin = points > MOST_POINTS || cells > MOST_CELLS;
        if thin {
            lines = thinned(&lines);
            xs = shared(&lines).0;
        }
        let indices = shared(&lines).1;
        let lines = chart.lines.iter().zip(lines).zip(indices).map(|((line, points), x)| {
            let (low, high) = points.band.unzip();
            LineView {
                name: &line.name,
                x,
                y: points.y,
                low,
                high,
                steps: line.steps,
                dashed: line.dashed,
            }
        });
        Self {
            title: &chart.title,
            caption: &chart.caption,
            x: &chart.x,
            y: &chart.y,
            lines: lines.collect(),
            xs,
            marks: marks(&chart.marks),
            levels: marks(&chart.levels),
            thinned_from: thin.then_some(points),
        }
    }
}

fn marks(marks: &[Mark]) -> Vec<MarkView<'_>> {
    let known = marks.iter().filter(|m| m.at.is_finite());
    known.map(|m| MarkView { at: m.at, label: &m.label }).collect()
}

type Values = Vec<Option<f64>>;

/// A line's points, cleaned: x finite and ascending, values finite or none, all arrays of the same
/// length.
struct Points {
    x: Vec<f64>,
    y: Values,
    band: Option<(Values, Values)>,
}

impl Points {
    fn new(line: &Line) -> Self {
        let mut order: Vec<usize> =
            (0..line.x.len().min(line.y.len())).filter(|&i| line.x[i].is_finite()).collect();
        if !order.is_sorted_by(|a, b| line.x[*a] <= line.x[*b]) {
            order.sort_by(|a, b| line.x[*a].total_cmp(&line.x[*b]));
        }
        let value = |v: Option<f64>| v.filter(|v| v.is_finite()).map(|v| round(v, Y_DIGITS));
        let pick = |values: &[f64]| order.iter().map(|&i| value(values.get(i).copied())).collect();
        Self {
            x: order.iter().map(|&i| round(line.x[i], X_DIGITS)).collect(),
            y: order.iter().map(|&i| value(line.y[i])).collect(),
            band: line.band.as_ref().map(|(low, high)| (pick(low), pick(high))),
        }
    }
}

/// The different arrays of x, and which of them each line has.
fn shared(lines: &[Points]) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut xs: Vec<&Vec<f64>> = Vec::new();
    let indices = lines.iter().map(|line| {
        xs.iter().position(|x| **x == line.x).unwrap_or_else(|| {
            xs.push(&line.x);
            xs.len() - 1
        })
    });
    let indices = indices.collect();
    (xs.into_iter().cloned().collect(), indices)
}

/// Each line with at most two points in each interval of the chart: its lowest and its highest
/// there, in their order.
fn thinned(lines: &[Points]) -> Vec<Points> {
    let all = || lines.iter().flat_map(|l| &l.x).copied();
    let (low, high) =
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let width = (high - low) / INTERVALS as f64;
    lines.iter().map(|line| thin(line, low, width)).collect()
}

fn thin(line: &Points, low: f64, width: f64) -> Points {
    let interval = |x: f64| (((x - low) / width) as usize).min(INTERVALS - 1);
    let mut out = Points {
        x: Vec::new(),
        y: Vec::new(),
        band: line.band.as_ref().map(|_| Default::default()),
    };
    let mut start = 0;
    while let Some(&x) = line.x.get(start) {
        let here = interval(x);
        let count = line.x[start..].iter().take_while(|x| interval(**x) == here).count();
        let part = start..start + count;
        start = part.end;
        let known = || part.clone().filter_map(|i| line.y[i].map(|y| (i, y)));
        let lowest = known().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = known().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut two = [lowest, highest];
        two.sort_by_key(|p| p.map(|(i, _)| i));
        for (half, point) in two.into_iter().enumerate() {
            out.x.push(round(low + (here as f64 + 0.25 + 0.5 * half as f64) * width, X_DIGITS));
            out.y.push(point.map(|p| p.1));
            if let (Some(to), Some(from)) = (&mut out.band, &line.band) {
                to.0.push(from.0[part.clone()].iter().flatten().copied().reduce(f64::min));
                to.1.push(from.1[part.clone()].iter().flatten().copied().reduce(f64::max));
            }
        }
    }
    out
}

#[derive(Serialize)]
struct HeatView<'a> {
    title: &'a str,
    caption: &'a str,
    x: &'a str,
    y: &'a str,
    value: &'a str,
    x_labels: &'a [String],
    y_labels: &'a [String],
    /// As many rows as labels, each as long as there are columns.
    values: Vec<Values>,
    middle: Option<f64>,
}

impl<'a> HeatView<'a> {
    fn new(chart: &'a HeatMap) -> Self {
        let cell = |row: usize, column: usize| {
            let value = chart.values.get(row).and_then(|r| r.get(column)).copied().flatten();
            value.filter(|v| v.is_finite()).map(|v| round(v, Y_DIGITS))
        };
        let row = |r| (0..chart.x_labels.len()).map(|c| cell(r, c)).collect();
        Self {
            title: &chart.title,
            caption: &chart.caption,
            x: &chart.x,
            y: &chart.y,
            value: &chart.value,
            x_labels: &chart.x_labels,
            y_labels: &chart.y_labels,
            values: (0..chart.y_labels.len()).map(row).collect(),
            middle: chart.middle.filter(|m| m.is_finite()),
        }
    }
}

#[derive(Serialize)]
struct SpreadsView<'a> {
    title: &'a str,
    caption: &'a str,
    x: &'a str,
    rows: Vec<SpreadView<'a>>,
}

#[derive(Serialize)]
struct SpreadView<'a> {
    label: &'a str,
    /// Ascending; none when one of them is not finite.
    five: Option<[f64; 5]>,
    reference: Option<(f64, f64)>,
}

impl<'a> SpreadsView<'a> {
    fn new(chart: &'a SpreadChart) -> Self {
        let rows = chart.rows.iter().map(|row| {
            let mut five = row.five.map(|v| if v.is_finite() { round(v, Y_DIGITS) } else { v });
            five.sort_by(f64::total_cmp);
            let reference = row.reference.filter(|(a, b)| a.is_finite() && b.is_finite());
            SpreadView {
                label: &row.label,
                five: five.iter().all(|v| v.is_finite()).then_some(five),
                reference: reference.map(|(a, b)| (a.min(b), a.max(b))),
            }
        });
        Self { title: &chart.title, caption: &chart.caption, x: &chart.x, rows: rows.collect() }
    }
}

#[derive(Serialize)]
struct PairsView<'a> {
    title: &'a str,
    caption: &'a str,
    what: &'a str,
    before: &'a str,
    now: &'a str,
    least_s: f64,
    /// Both times are finite.
    points: Vec<PairView<'a>>,
}

#[derive(Serialize)]
struct PairView<'a> {
    name: &'a str,
    before_s: f64,
    now_s: f64,
}

impl<'a> PairsView<'a> {
    fn new(chart: &'a PairChart) -> Self {
        let known = chart.points.iter().filter(|p| p.before_s.is_finite() && p.now_s.is_finite());
        let points = known.map(|p| PairView {
            name: &p.name,
            before_s: round(p.before_s, Y_DIGITS),
            now_s: round(p.now_s, Y_DIGITS),
        });
        Self {
            title: &chart.title,
            caption: &chart.caption,
            what: &chart.what,
            before: &chart.before,
            now: &chart.now,
            least_s: chart.least_s,
            points: points.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: &[f64], y: &[f64]) -> Line {
        Line { x: x.to_vec(), y: y.iter().map(|v| Some(*v)).collect(), ..Line::default() }
    }

    #[test]
    fn points_are_put_in_order_and_those_nowhere_left_out() {
        let p = Points::new(&line(
            &[2.0, f64::NAN, 1.0, 3.0],
            &[20.0, 5.0, f64::INFINITY, 1.234_567_8],
        ));
        assert_eq!(p.x, [1.0, 2.0, 3.0]);
        assert_eq!(p.y, [None, Some(20.0), Some(1.234_567_8)]);
        let short = Points::new(&line(&[1.0, 2.0], &[1.0]));
        assert_eq!((short.x.len(), short.y.len()), (1, 1));
    }

    #[test]
    fn equal_axes_stand_there_once() {
        let lines =
            [line(&[1.0, 2.0], &[0.0, 0.0]), line(&[1.0], &[0.0]), line(&[1.0, 2.0], &[3.0, 4.0])];
        let chart = LineChart { lines: lines.to_vec(), ..LineChart::default() };
        let view = LinesView::new(&chart);
        assert_eq!(view.xs, [vec![1.0, 2.0], vec![1.0]]);
        assert_eq!(view.lines.iter().map(|l| l.x).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(view.thinned_from, None);
    }

    #[test]
    fn very_many_points_are_thinned_to_their_extremes() {
        let n = MOST_POINTS + 1;
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut y: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
        (y[77_777], y[200_000]) = (1000.0, -1000.0);
        let band = Some((y.iter().map(|v| v - 1.0).collect(), y.iter().map(|v| v + 1.0).collect()));
        let chart =
            LineChart { lines: vec![Line { band, ..line(&x, &y) }], ..LineChart::default() };
        let view = LinesView::new(&chart);
        let kept = &view.lines[0];
        assert_eq!(view.thinned_from, Some(n));
        assert_eq!((view.xs[0].len(), kept.y.len()), (2 * INTERVALS, 2 * INTERVALS));
        assert!(view.xs[0].is_sorted());
        for wanted in [1000.0, -1000.0] {
            assert_eq!(kept.y.iter().filter(|v| **v == Some(wanted)).count(), 1, "{wanted}");
        }
        let highest =
            |v: &Option<Values>| v.iter().flatten().flatten().copied().fold(0.0, f64::max);
        assert_eq!(highest(&kept.high), 1001.0);
    }
}
