//! TPDS'15 Fig. 6: CPU and memory utilisation over time under best fit, first fit and slots, on
//! Google's trace.

use meed_report::page::{Block, Line, LineChart};
use meed_sim::record::RunRecord;

use super::claim::Claim;
use super::trace::{BEST_FIT, FIRST_FIT, Google, NEEDED, SLOTS};
use crate::reproduce::{Context, ItemOutcome, ReproduceError};

const NAMES: [&str; 3] = ["best fit", "first fit", "14 slots"];
const KINDS: [&str; 2] = ["cpu", "memory"];

const OVER_SLOTS: [Claim; 2] = [
    Claim {
        what: "CPU utilisation, best fit over 14 slots",
        paper: "significantly higher",
        unit: "",
        agrees: (1.2, f64::INFINITY),
        otherwise: "see drfh-table2",
    },
    Claim {
        what: "memory utilisation, best fit over 14 slots",
        paper: "significantly higher",
        unit: "",
        agrees: (1.2, f64::INFINITY),
        otherwise: "see drfh-table2",
    },
];

const SAME: &str = "tasks of the trace are small against its servers, and six times more is asked \
    for than there is: whatever is \
    left free somewhere, some task fits, so first fit fills the servers as well";

const OVER_FIRST_FIT: [Claim; 2] = [
    Claim {
        what: "CPU utilisation, best fit over first fit",
        paper: "uniformly higher",
        unit: "",
        agrees: (1.0, f64::INFINITY),
        otherwise: SAME,
    },
    Claim {
        what: "memory utilisation, best fit over first fit",
        paper: "uniformly higher",
        unit: "",
        agrees: (1.0, f64::INFINITY),
        otherwise: SAME,
    },
];

const AT_ALL_TIMES: Claim = Claim {
    what: "part of all samples in which best fit uses no less CPU and no less memory than first \
        fit",
    paper: "1: at all times",
    unit: "",
    agrees: (0.95, 1.0),
    otherwise: SAME,
};

pub(in super::super) fn figure_6(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(ItemOutcome::skipped(OVER_SLOTS[0].what, OVER_SLOTS[0].paper, NEEDED));
    };
    let runs = google.runs([BEST_FIT, FIRST_FIT, SLOTS])?;
    let [best, first, slots] = runs.each_ref().map(|run| run.as_ref());
    let over = |other: &RunRecord, kind: usize| {
        best.utilization[KINDS[kind]] / other.utilization[KINDS[kind]]
    };
    let mut checks = vec![OVER_SLOTS[0].of(over(slots, 0)), OVER_SLOTS[1].of(over(slots, 1))];
    checks.extend([OVER_FIRST_FIT[0].of(over(first, 0)), OVER_FIRST_FIT[1].of(over(first, 1))]);
    checks.push(AT_ALL_TIMES.of(no_less(best, first)));
    let chart = |(kind, title): (usize, &str)| {
        let line = |(run, name): (&&RunRecord, &str)| Line {
            name: name.to_owned(),
            x: run.series.t_s.iter().map(|t| t / 3600.0).collect(),
            y: run.series.utilization[KINDS[kind]].iter().map(|used| Some(used * 100.0)).collect(),
            ..Line::default()
        };
        Block::Lines(LineChart {
            title: title.to_owned(),
            x: "time (h)".to_owned(),
            y: "utilisation (%)".to_owned(),
            lines: [best, first, slots].iter().zip(NAMES).map(line).collect(),
            ..LineChart::default()
        })
    };
    let blocks = [(0, "CPU utilisation"), (1, "Memory utilisation")].map(chart).to_vec();
    Ok(ItemOutcome { checks, assumptions: google.assumptions(), blocks })
}

/// In which part of the samples `one` uses no less of either than `other`; a thousandth less is no
/// less.
fn no_less(one: &RunRecord, other: &RunRecord) -> f64 {
    let samples = one.series.t_s.len().min(other.series.t_s.len());
    // Policies end at the same instant, but sample at different ones: the one before counts.
    let at = |run: &RunRecord, kind: usize, t: f64| {
        let after = run.series.t_s.partition_point(|sampled| *sampled <= t);
        run.series.utilization[KINDS[kind]][after.saturating_sub(1)]
    };
    let times = &one.series.t_s[..samples];
    let holds = |t: &&f64| (0..2).all(|kind| at(one, kind, **t) >= at(other, kind, **t) - 1e-3);
    times.iter().filter(holds).count() as f64 / samples.max(1) as f64
}
