//! TSC'18 Fig. 6 (= ICS'14 Fig. 4): demand, allocation and accumulated resources over the first 260
//! s.

use meed_sim::record::Comparison;

use super::claim::{self, Claim, check_all, check_late, check_under};
use super::experiment::{
    Experiment, FACEBOOK, FULL, HADOOP, PURDUE, SCALES, SIDE_BY_SIDE, SPARK, TPC_H, TSC,
    assumptions,
};
use super::reading::{Reading, chart};
use crate::reproduce::{Context, ItemOutcome, ReproduceError};

const EXPERIMENT: Experiment = Experiment {
    cluster: TSC,
    groups: None,
    starts: SIDE_BY_SIDE,
    factors: [1.0; 4],
    policies: &["long-term"],
    until_s: Some(320),
    samples: 1300,
};

/// What the figure shows.
const SHOWN_S: f64 = 260.0;
/// The three early workloads are past their first jobs, and Facebook's burst is to come.
const BURST_FROM_S: f64 = 120.0;
/// How long the paper follows the burst: 204 to 260 s.
const BURST_S: f64 = 56.0;

const WORD_COUNT: &str = "our WordCount has more to do than the paper's: 320 maps of 20 s, where \
    about 15 s would end in time";
const TIMES: &str = "the assumed task times do not give the paper's demand";

const PERIODS: [Claim; 3] = {
    const fn period(
        what: &'static str,
        paper: &'static str,
        at: f64,
        agrees: (f64, f64),
        otherwise: &'static str,
    ) -> Claim {
        Claim {
            chart: "First overloaded periods: do the assumed task times fit?",
            what,
            paper,
            unit: "s",
            reference: Some((at, at)),
            agrees,
            otherwise,
        }
    }
    [
        period(
            "end of Purdue's first overloaded period",
            "131 s",
            131.0,
            (92.0, 170.0),
            WORD_COUNT,
        ),
        period("end of TPC-H's first overloaded period", "146 s", 146.0, (102.0, 190.0), TIMES),
        period("end of Spark's first overloaded period", "118 s", 118.0, (83.0, 153.0), TIMES),
    ]
};

const BURST: &str = "Facebook is only served first while it has used least: with half the times \
    its burst is soon over, without the \
    SWIM sample large jobs often come before the window, and it has had its part already";

const FLOW: [Claim; 3] = [
    Claim {
        chart: "Accumulated resources when the common overload ends",
        what: "how far the three early workloads' accumulated resources lie apart, of the largest",
        paper: "the curves are close to each other (80 to 118 s)",
        unit: "",
        reference: None,
        agrees: (0.0, 0.2),
        otherwise: "the workloads have not had the time to come near each other",
    },
    Claim {
        chart: "Facebook's burst: largest allocation",
        what: "most that Facebook holds in its burst, against its share",
        paper: "3.85 of 4.0 at 222 s",
        unit: "shares",
        reference: Some((3.85, 3.85)),
        agrees: (3.0, 4.0),
        otherwise: BURST,
    },
    Claim {
        chart: "Facebook's burst: growth of accumulated resources",
        what: "growth of Facebook's accumulated resources in its burst, against the others' mean",
        paper: "a significant increment, whereas the others increase slightly",
        unit: "",
        reference: None,
        agrees: (2.0, f64::INFINITY),
        otherwise: "as for what it holds",
    },
];

pub(in super::super) fn tsc_fig6(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let runs = EXPERIMENT.sweep(context, &SCALES, |run, scale| (periods(run), flow(run, scale)))?;
    // Periods are the workload's own: only the assumed times can fit.
    let assumed: Vec<_> = runs
        .iter()
        .filter(|(scale, _)| *scale == 1.0)
        .map(|(scale, read)| (*scale, read.0))
        .collect();
    let all: Vec<_> = runs.iter().map(|(scale, read)| (*scale, read.1)).collect();
    let (mut checks, mut spreads) = check_all(&PERIODS, &assumed);
    let (more_checks, more_spreads) = check_all(&FLOW, &all);
    checks.extend(more_checks);
    spreads.extend(more_spreads);
    // When a period ends is the workload's own: late grants only shift it.
    let late = EXPERIMENT.sweep_late(context, HADOOP, flow)?;
    checks.extend(check_late("tsc-fig6", &FLOW, &late));
    // Do the times that explain Fig. 7 explain this figure?
    let full = Experiment { factors: FULL, ..EXPERIMENT };
    let full = full.few(context, |run, _| periods(run))?;
    checks.extend(check_under("tsc-fig6", &claim::FULL, &PERIODS, &full));

    let typical = EXPERIMENT.typical(context)?;
    let run = Reading::of(&typical.runs[0]);
    let share = TSC.share();
    let level: [(f64, &str); 1] = [(1.0, "share")];
    let mut blocks = vec![
        chart("Demand", "shares", run.lines(share, SHOWN_S, |queue| &queue.demand), &[], &level),
        chart(
            "Allocation",
            "shares",
            run.lines(share, SHOWN_S, |queue| &queue.allocation),
            &[],
            &level,
        ),
        chart(
            "Accumulated",
            "seconds of the whole cluster",
            run.lines(TSC.bytes(), SHOWN_S, |queue| &queue.usage),
            &[],
            &[],
        ),
    ];
    blocks.extend(spreads);
    Ok(ItemOutcome { checks, assumptions: assumptions(context, TSC), blocks })
}

fn periods(run: &Comparison) -> [Option<f64>; 3] {
    let run = Reading::of(&run.runs[0]);
    [PURDUE, TPC_H, SPARK].map(|queue| run.overload_ends(queue, TSC.share()))
}

fn flow(run: &Comparison, scale: f64) -> [Option<f64>; 3] {
    let ends = periods(run).into_iter().flatten().reduce(f64::min);
    let run = Reading::of(&run.runs[0]);
    let apart = ends.map(|end| {
        let used = [PURDUE, TPC_H, SPARK].map(|queue| run.queue(queue).usage[run.index(end)]);
        let largest = used.into_iter().fold(0.0, f64::max);
        (largest - used.into_iter().fold(f64::INFINITY, f64::min)) / largest
    });
    let [held, growth] = burst(run, scale);
    [apart, held, growth]
}

/// From when Facebook asks for the whole cluster while Purdue asks for more than its share: the
/// most that it holds, and how its accumulated resources grow against the others'. Nothing where no
/// such burst comes in the time shown.
fn burst(run: Reading<'_>, scale: f64) -> [Option<f64>; 2] {
    let share = TSC.share();
    let (facebook, purdue) = (run.queue(FACEBOOK), run.queue(PURDUE));
    let from =
        run.first(BURST_FROM_S, |i| facebook.demand[i] >= 4.0 * share && purdue.demand[i] > share);
    let Some(from) = from.filter(|from| *from < SHOWN_S) else { return [None; 2] };
    // What runs has to end first: the time to follow the burst grows with task times.
    let range = run.within(from, from + BURST_S * scale.max(1.0));
    let most = facebook.allocation[range.clone()].iter().copied().fold(0.0, f64::max);
    let grown = |queue: usize| {
        let used = &run.queue(queue).usage;
        used[range.end - 1] - used[range.start]
    };
    let others = [PURDUE, TPC_H, SPARK].map(grown).iter().sum::<f64>() / 3.0;
    [Some(most / share), (others > 0.0).then(|| grown(FACEBOOK) / others)]
}
