//! TSC'18 Fig. 7 (= ICS'14 Fig. 5): fairness degree, sharing benefit and sharing loss over time.

use meed_sim::record::{Comparison, RunRecord};

use super::claim::{Claim, check_all, check_late, five};
use super::experiment::{
    Experiment, FACEBOOK, HADOOP, Late, PURDUE, SCALES, SIDE_BY_SIDE, SPARK, TPC_H, TSC,
    assumptions,
};
use super::reading::{Reading, chart};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const EXPERIMENT: Experiment = Experiment {
    cluster: TSC,
    groups: None,
    starts: SIDE_BY_SIDE,
    factors: [1.0; 4],
    policies: &["static", "fair", "long-term"],
    until_s: None,
    samples: 1500,
};

/// Sharing loss smaller than this is none: a hundredth of one workload's due.
const NO_LOSS: f64 = -0.01;

/// Delays beyond Hadoop's: Spark's own heartbeat of 5 s with slow masters, and what no cluster has.
const DELAYS: [Late; 3] = [
    Late { heartbeat_s: 5, master_s: 20, ..HADOOP },
    Late { heartbeat_s: 20, master_s: 60, ..HADOOP },
    Late { heartbeat_s: 60, master_s: 60, ..HADOOP },
];

const NO_LOSS_HERE: &str = "not because YARN grants late: on a real ResourceManager with this \
    workload stock fair sharing loses no more (docs/yarn-experiment.md), nor do the rows with late \
    grants. Under fair sharing a workload has its share as soon as tasks of others end, and more \
    whenever others leave some. A loss that lasts needs TPC-H or Spark and one of the others \
    asking for more than their shares at once; ours do so in a seventh of the run. What the \
    paper's workloads asked for after its first 260 s is not printed";

const AS_ABOVE: &str = "as for the mean Omega under fair";

const CLAIMS: [Claim; 8] = [
    Claim {
        chart: "Sharing loss",
        what: "Omega under fair, mean until all has ended",
        paper: "about -0.5",
        unit: "Omega",
        reference: Some((-0.5, -0.5)),
        agrees: (-0.75, -0.25),
        otherwise: NO_LOSS_HERE,
    },
    Claim {
        chart: "Sharing loss",
        what: "Omega under long-term, mean until all has ended",
        paper: "none after 650 s",
        unit: "Omega",
        reference: None,
        agrees: (-0.05, 0.0),
        otherwise: "",
    },
    Claim {
        chart: "When the loss is gone",
        what: "last instant with sharing loss under long-term",
        paper: "650 s",
        unit: "s",
        reference: Some((650.0, 650.0)),
        agrees: (0.0, 650.0),
        otherwise: "a workload that comes late waits longer for what others hold",
    },
    Claim {
        chart: "When the loss is gone, as a part of the run",
        what: "last instant with sharing loss under fair, as a part of the run",
        paper: "1: constantly available until all the workloads complete",
        unit: "",
        reference: Some((1.0, 1.0)),
        agrees: (0.9, 1.0),
        otherwise: AS_ABOVE,
    },
    Claim {
        chart: "Fairness degree at the end",
        what: "smallest rho under long-term",
        paper: "above 1: all workloads get benefits",
        unit: "rho",
        reference: None,
        agrees: (1.0, f64::INFINITY),
        otherwise: "",
    },
    Claim {
        chart: "Fairness degree at the end",
        what: "smaller rho of Facebook and Purdue under fair",
        paper: "above 1",
        unit: "rho",
        reference: None,
        agrees: (1.0, f64::INFINITY),
        otherwise: "",
    },
    Claim {
        chart: "Fairness degree at the end",
        what: "larger rho of TPC-H and Spark under fair",
        paper: "below 1",
        unit: "rho",
        reference: None,
        agrees: (0.0, 1.0),
        otherwise: AS_ABOVE,
    },
    Claim {
        chart: "Fairness degree at the end",
        what: "smallest rho under static",
        paper: "always 1",
        unit: "rho",
        reference: Some((1.0, 1.0)),
        agrees: (0.97, 1.0),
        otherwise: "a share of 29.5 containers holds 29",
    },
];

pub(in super::super) fn tsc_fig7(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let runs = EXPERIMENT.sweep(context, &SCALES, |run, _| read(run))?;
    let (mut checks, spreads) = check_all(&CLAIMS, &runs);
    let late = EXPERIMENT.sweep_late(context, HADOOP, |run, _| read(run))?;
    checks.extend(check_late("tsc-fig7", &CLAIMS, &late));
    checks.extend(which_delay(context)?);
    let typical = EXPERIMENT.typical(context)?;
    let end = |i: usize| typical.runs[i].end_s;
    let mut blocks = Vec::new();
    for (i, name) in [(1, "fair"), (2, "long-term")] {
        let run = Reading::of(&typical.runs[i]);
        let series = &run.run.series;
        let degrees = vec![
            run.line("Psi, sharing benefit", &series.psi, 1.0, end(i)),
            run.line("Omega, sharing loss", &series.omega, 1.0, end(i)),
        ];
        let marks: &[(f64, &str)] =
            if i == 2 { &[(650.0, "no loss after this in the paper")] } else { &[] };
        blocks.push(chart(
            &format!("Benefit and loss under {name}"),
            "degree",
            degrees,
            marks,
            &[(0.0, "static")],
        ));
        blocks.push(chart(
            &format!("Fairness degree under {name}"),
            "rho",
            run.rhos(end(i)),
            &[],
            &[(1.0, "static")],
        ));
    }
    blocks.extend(spreads);
    Ok(ItemOutcome { checks, assumptions: assumptions(context, TSC), blocks })
}

/// Sharing loss under fair with ever longer delays.
fn which_delay(context: &Context) -> Result<Vec<Check>, ReproduceError> {
    let experiment = Experiment { policies: &["fair"], ..EXPERIMENT };
    let of_delay = |late: Late| -> Result<Check, ReproduceError> {
        let omega = |run: &Comparison, _: f64| mean(&run.runs[0].series.omega);
        let runs = experiment.sweep_late(context, late, omega)?;
        let values: Vec<f64> = runs.into_iter().filter_map(|(_, omega)| omega).collect();
        let Late { heartbeat_s, master_s, .. } = late;
        let measured = match five(&values) {
            Some(five) => {
                let runs = values.len();
                Measured::Spread(Spread { five, runs, agreeing: runs, unit: "Omega".to_owned() })
            }
            None => Measured::Words("seen in no run".to_owned()),
        };
        let what = format!(
            "Omega under fair, mean until all has ended, heartbeats of {heartbeat_s} s and masters \
             that take {master_s} s"
        );
        Ok(Check::beyond(what, measured, "how long a delay would have to be"))
    };
    DELAYS.into_iter().map(of_delay).collect()
}

fn mean(omega: &[f64]) -> Option<f64> {
    (!omega.is_empty()).then(|| omega.iter().sum::<f64>() / omega.len() as f64)
}

fn read(comparison: &Comparison) -> [Option<f64>; 8] {
    let [alone, fair, long_term] = [0, 1, 2].map(|i| &comparison.runs[i]);
    let gone =
        |run: &RunRecord| Reading::of(run).last(|i| run.series.omega[i] < NO_LOSS).unwrap_or(0.0);
    let rho = |run: &RunRecord, queues: &[usize], pick: fn(f64, f64) -> f64| {
        queues.iter().filter_map(|&queue| run.queues[queue].rho).reduce(pick)
    };
    let all = [FACEBOOK, PURDUE, TPC_H, SPARK];
    [
        mean(&fair.series.omega),
        mean(&long_term.series.omega),
        Some(gone(long_term)),
        (fair.end_s > 0.0).then(|| gone(fair) / fair.end_s),
        rho(long_term, &all, f64::min),
        rho(fair, &[FACEBOOK, PURDUE], f64::min),
        rho(fair, &[TPC_H, SPARK], f64::max),
        rho(alone, &all, f64::min),
    ]
}
