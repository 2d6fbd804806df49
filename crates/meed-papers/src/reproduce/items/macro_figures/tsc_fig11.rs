//! TSC'18 Fig. 11 and Eq. 7: how many tasks of a starved workload the guard keeps running.
//!
//! > N_task = T_task / T_wait
//!
//! The tree of Fig. 9. TPC-H's tasks take the 23.6 s of Fig. 11a; those of the others three times
//! the assumed, so that starvation lasts as long as in Fig. 10 and the running tasks have the time
//! to gather.

use meed_sim::record::Comparison;

use super::claim::{self, Claim, check_all, check_late, check_under};
use super::experiment::{CONTAINER, Experiment, HADOOP, MASTERS, SCALES, TPC_H, TSC, assumptions};
use super::reading::{Masters, Reading, chart};
use super::tsc_fig10::{GROUPS, OTHERS_S, TPC_H_TASK_S, starved_until};
use crate::reproduce::{Context, ItemOutcome, ReproduceError};

const EXPERIMENT: Experiment = Experiment {
    cluster: TSC,
    groups: Some(GROUPS),
    starts: [0, OTHERS_S, OTHERS_S, OTHERS_S],
    factors: [3.0, 3.0, 1.0, 3.0],
    policies: &["long-term", "long-term,t_wait=2s", "long-term,t_wait=4s", "long-term,t_wait=10s"],
    until_s: Some(3000),
    samples: 1500,
};

/// What is drawn.
const SHOWN_S: f64 = 1800.0;
const WAITS_S: [f64; 3] = [2.0, 4.0, 10.0];

const FREE: &str = "the next task waits for t_wait and then for a container to become free, which \
    takes nearly a second while \
    118 containers hold tasks of one to three minutes: T_task / (T_wait + that). Eq. 7 leaves it \
    out; it matters when t_wait is short or \
    the other tasks are long";

const fn running(what: &'static str, paper: &'static str, at: f64, agrees: (f64, f64)) -> Claim {
    Claim {
        chart: "Running tasks of TPC-H while it is starved",
        what,
        paper,
        unit: "tasks",
        reference: Some((at, at)),
        agrees,
        otherwise: FREE,
    }
}

const RUNNING: [Claim; 3] = [
    running("mean running tasks with t_wait = 2", "about 12", 12.0, (9.0, 15.0)),
    running("mean running tasks with t_wait = 4", "about 6", 6.0, (4.5, 7.5)),
    running(
        "mean running tasks with t_wait = 10",
        "about 3 (rounded up from 2.4)",
        3.0,
        (1.8, 3.75),
    ),
];

const fn law(what: &'static str) -> Claim {
    Claim {
        chart: "Running tasks over T_task / T_wait",
        what,
        paper: "1 (Eq. 7)",
        unit: "",
        reference: Some((1.0, 1.0)),
        agrees: (0.75, 1.25),
        otherwise: "as above: the wait for a free container comes on top",
    }
}

const LAW: [Claim; 3] = [
    law("running tasks over Eq. 7 with t_wait = 2"),
    law("running tasks over Eq. 7 with t_wait = 4"),
    law("running tasks over Eq. 7 with t_wait = 10"),
];

pub(in super::super) fn tsc_fig11(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let runs = EXPERIMENT.sweep(context, &SCALES, read)?;
    // The paper's numbers are those of its own task times; the law holds for all.
    let assumed: Vec<_> = runs.iter().filter(|(scale, _)| *scale == 1.0).copied().collect();
    let over_law = |(scale, means): &(f64, [Option<f64>; 3])| {
        let over = |i: usize| means[i].map(|mean| mean * WAITS_S[i] / (TPC_H_TASK_S * scale));
        (*scale, [over(0), over(1), over(2)])
    };
    let of_law: Vec<_> = runs.iter().map(over_law).collect();
    let (mut checks, mut spreads) = check_all(&RUNNING, &assumed);
    let (more, more_spreads) = check_all(&LAW, &of_law);
    checks.extend(more);
    spreads.extend(more_spreads);
    let late = EXPERIMENT.sweep_late(context, HADOOP, read)?;
    checks.extend(check_late("tsc-fig11", &RUNNING, &late));
    let late: Vec<_> = late.iter().map(over_law).collect();
    checks.extend(check_late("tsc-fig11", &LAW, &late));
    let both = |comparison: &Comparison, scale| {
        [Masters::Aside, Masters::Counted].map(|masters| reading(comparison, scale, masters))
    };
    let masters = EXPERIMENT.sweep_late(context, MASTERS, both)?;
    for (which, group) in [claim::MASTERS, claim::MASTERS_COUNTED].iter().enumerate() {
        let runs: Vec<_> = masters.iter().map(|(scale, both)| (*scale, both[which])).collect();
        checks.extend(check_under("tsc-fig11", group, &RUNNING, &runs));
    }

    let typical = EXPERIMENT.typical(context)?;
    let line = |(i, name): (usize, &str)| {
        let run = Reading::of(&typical.runs[i]);
        run.line(name, &run.queue(TPC_H).allocation, CONTAINER, SHOWN_S)
    };
    let lines = [(1, "t_wait = 2 s"), (2, "t_wait = 4 s"), (3, "t_wait = 10 s"), (0, "naive")]
        .map(line)
        .to_vec();
    let levels = [(11.8, "Eq. 7, 2 s"), (5.9, "Eq. 7, 4 s"), (2.4, "Eq. 7, 10 s")];
    let mut blocks = vec![chart("Running tasks of TPC-H", "tasks", lines, &[], &levels)];
    blocks.extend(spreads);
    let mut assumptions = assumptions(context, TSC);
    assumptions.push(
        "The paper does not say what else ran. Here the tree and the starts of Fig. 10, with \
         TPC-H's tasks of 23.6 s and the \
         others' three times as long as assumed, so that starvation lasts."
            .to_owned(),
    );
    Ok(ItemOutcome { checks, assumptions, blocks })
}

/// Mean running tasks for each t_wait, from when they have gathered until the naive walk would
/// serve TPC-H.
fn read(comparison: &Comparison, scale: f64) -> [Option<f64>; 3] {
    reading(comparison, scale, Masters::HoldNone)
}

fn reading(comparison: &Comparison, scale: f64, masters: Masters) -> [Option<f64>; 3] {
    let starved = starved_until(masters.starved(&comparison.runs[0]));
    let steady = OTHERS_S as f64 + 3.0 * TPC_H_TASK_S * scale;
    [1, 2, 3].map(|i| {
        let run = masters.running(&comparison.runs[i]);
        run.mean_running(TPC_H, run.within(steady, starved?))
    })
}
