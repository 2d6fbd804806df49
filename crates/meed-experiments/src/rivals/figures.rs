//! What is compared: figures of a run, a row each, and how they spread over loads and seeds.

use meed_sim::record::RunRecord;

use super::liars::Ledger;
use super::windows::{WINDOWS, Windows};
use crate::sweep::results;
use crate::sweep::summary::quantile;

/// In what a figure is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FigureUnit {
    /// A part of one.
    Part,
    /// Seconds.
    Seconds,
    /// A plain number.
    Number,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug)]
enum From {
    /// Mean gap of a row of [`WINDOWS`].
    MeanGap(usize),
    /// Largest gap of the same.
    WorstGap(usize),
    /// How many windows of the same two tenants or more waited through.
    Windows(usize),
    /// Longest time without service.
    Unserved,
    /// A quantile of how long tenants claimed what they had lent.
    Claims(f64),
    /// How many such claims there were.
    CountClaims,
    /// A column of a sweep.
    Column(&'static str),
    /// The least over the most of what tenants used per weight.
    LeastOverMost,
    /// The measured resource's use.
    Used,
}

/// A figure.
#[derive(Debug)]
pub struct RivalFigure {
    /// As JSON calls it.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// In what it is told.
    pub unit: FigureUnit,
    /// Whether more is better.
    pub more: bool,
    from: From,
}

const fn row(name: &'static str, title: &'static str, unit: FigureUnit, from: From) -> RivalFigure {
    RivalFigure { name, title, unit, more: false, from }
}

const fn more(
    name: &'static str,
    title: &'static str,
    unit: FigureUnit,
    from: From,
) -> RivalFigure {
    RivalFigure { name, title, unit, more: true, from }
}

use FigureUnit::{Number, Part, Seconds};

/// All of them.
pub const FIGURES: [RivalFigure; 30] = [
    row("gap_1h", "mean service gap, 1 h", Part, From::MeanGap(0)),
    row("gap_6h", "mean service gap, 6 h", Part, From::MeanGap(1)),
    row("gap_1d", "mean service gap, 1 d", Part, From::MeanGap(2)),
    row("gap_7d", "mean service gap, 7 d", Part, From::MeanGap(3)),
    row("gap_30d", "mean service gap, 30 d", Part, From::MeanGap(4)),
    row("worst_gap_1h", "worst service gap, 1 h", Part, From::WorstGap(0)),
    row("worst_gap_6h", "worst service gap, 6 h", Part, From::WorstGap(1)),
    row("worst_gap_1d", "worst service gap, 1 d", Part, From::WorstGap(2)),
    row("worst_gap_7d", "worst service gap, 7 d", Part, From::WorstGap(3)),
    row("worst_gap_30d", "worst service gap, 30 d", Part, From::WorstGap(4)),
    row("windows_1d", "windows of 1 d", Number, From::Windows(2)),
    row("windows_7d", "windows of 7 d", Number, From::Windows(3)),
    row("windows_30d", "windows of 30 d", Number, From::Windows(4)),
    row("unserved_s", "longest wait without service", Seconds, From::Unserved),
    row("back_p50_s", "time to get back what was lent, median", Seconds, From::Claims(0.5)),
    row("back_p95_s", "time to get back, 95th percentile", Seconds, From::Claims(0.95)),
    row("back_max_s", "time to get back, longest", Seconds, From::Claims(1.0)),
    row("backs", "claims of what was lent", Number, From::CountClaims),
    more("rho_min", "least rho", Number, From::Column("rho_min")),
    row("tenants_below", "tenants below their share", Number, From::Column("tenants_below")),
    more("least_most", "least used over most used", Number, From::LeastOverMost),
    more("omega", "sharing loss", Number, From::Column("omega")),
    row("light_wait_s", "wait, light half", Seconds, From::Column("light_wait_s")),
    row("heavy_wait_s", "wait, heavy tenth", Seconds, From::Column("heavy_wait_s")),
    row("wide_wait_s", "wait, wide tenth of jobs", Seconds, From::Column("wide_wait_s")),
    row("mean_wait_s", "mean wait of a task", Seconds, From::Column("mean_wait_s")),
    row("mean_job_s", "mean job time", Seconds, From::Column("mean_job_s")),
    row("p99_job_s", "job time, 99th percentile", Seconds, From::Column("p99_job_s")),
    row("end_s", "end of the run", Seconds, From::Column("end_s")),
    more("used", "part of the cluster used", Part, From::Used),
];

impl RivalFigure {
    /// The figure of that name.
    pub fn find(name: &str) -> Option<(usize, &'static RivalFigure)> {
        FIGURES.iter().enumerate().find(|(_, figure)| figure.name == name)
    }

    fn of(&self, run: &RunRecord, windows: &Windows) -> Option<f64> {
        match self.from {
            From::MeanGap(row) => windows.gap(WINDOWS[row].1).map(|gap| gap.mean),
            From::WorstGap(row) => windows.gap(WINDOWS[row].1).map(|gap| gap.worst),
            From::Windows(row) => {
                Some(windows.gap(WINDOWS[row].1).map_or(0.0, |gap| gap.windows as f64))
            }
            From::Unserved => Some(windows.unserved()),
            From::Claims(q) => quantile(&windows.claims(), q),
            From::CountClaims => Some(windows.claims().len() as f64),
            From::Column(name) => results::figure(run, name),
            From::LeastOverMost => least_over_most(run),
            From::Used => run.utilization.get(&run.measured).copied(),
        }
    }
}

/// The least over the most of what tenants that had work used per weight (Karma's paper).
fn least_over_most(run: &RunRecord) -> Option<f64> {
    let of = run.queues.iter().filter(|queue| queue.tasks > 0 && queue.weight > 0.0);
    let used =
        of.map(|queue| queue.usage.get(&run.measured).copied().unwrap_or(0.0) / queue.weight);
    let (least, most) = used.fold((f64::INFINITY, 0.0f64), |(a, b), u| (a.min(u), b.max(u)));
    (most > 0.0).then(|| least / most)
}

/// What was seen of one run.
pub(super) struct Observation {
    figures: Vec<Option<f64>>,
    pub(super) waits: Option<[f64; 5]>,
    pub(super) ledger: Ledger,
}

impl Observation {
    pub(super) fn of(run: &RunRecord, windows: &Windows) -> Observation {
        let figures = FIGURES.iter().map(|figure| figure.of(run, windows)).collect();
        let mut waits: Vec<f64> = run.queues.iter().filter_map(|queue| queue.mean_wait_s).collect();
        waits.sort_by(f64::total_cmp);
        let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&waits, q));
        let waits = match five {
            [Some(a), Some(b), Some(c), Some(d), Some(e)] => Some([a, b, c, d, e]),
            _ => None,
        };
        Observation { figures, waits, ledger: Ledger::of(run) }
    }
}

/// A figure over loads and seeds.
#[derive(Clone, PartialEq, Debug)]
pub struct Replicates {
    /// Each, in order of loads, then seeds.
    pub each: Vec<f64>,
}

impl Replicates {
    /// Of the figure in that row; nothing where a run has none.
    pub(super) fn of(seen: &[Observation], row: usize) -> Option<Replicates> {
        let each: Option<Vec<f64>> = seen.iter().map(|one| one.figures[row]).collect();
        each.filter(|each| !each.is_empty()).map(|each| Replicates { each })
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.each.iter().sum::<f64>() / self.each.len() as f64
    }

    /// The smallest and the largest.
    pub fn range(&self) -> (f64, f64) {
        let least = self.each.iter().copied().fold(f64::INFINITY, f64::min);
        (least, self.each.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Whether each is better than the other's at the same load and seed, by more than a hundredth.
    pub fn beats(&self, other: &Replicates, figure: &RivalFigure) -> bool {
        let better = |(a, b): (&f64, &f64)| {
            let better = if figure.more { a > b } else { a < b };
            better && (a - b).abs() > 0.01 * a.abs().max(b.abs())
        };
        self.each.iter().zip(&other.each).all(better)
    }
}
