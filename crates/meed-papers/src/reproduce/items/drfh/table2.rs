//! TPDS'15 Table 2: utilisation under slots of five sizes, on Google's trace.
//!
//! What becomes of a task that is larger than a slot is not printed: it takes several on one
//! server, or it is left out (Hadoop's one task, one slot). Both are run.

use std::sync::Arc;

use meed_report::page::{Block, Cell, Table};
use meed_sim::record::RunRecord;

use super::claim::Claim;
use super::trace::{BEST_FIT, Google, NEEDED};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError};

/// Slots of the largest server, and CPU and memory utilisation as printed, in percent.
const PRINTED: [(u32, f64, f64); 5] =
    [(10, 35.1, 23.4), (12, 42.2, 27.4), (14, 43.9, 28.0), (16, 45.4, 24.2), (20, 40.6, 20.0)];

/// Words of `--policy` for each row.
const POLICIES: [&str; 5] = [
    "slots,slots_per_server=10",
    "slots,slots_per_server=12",
    "slots,slots_per_server=14",
    "slots,slots_per_server=16",
    "slots,slots_per_server=20",
];

const OTHERWISE: &str = "here a server has as many slots as its scarcer resource allows; the \
    paper does not say how it cuts servers that are not the largest. Most of the trace's tasks ask \
    for less than a slot of either size, and how much is lost depends on which tasks run, so on \
    the day and on the users";

const WHY_RISING: &str = "smaller slots lose less of a server to small tasks. With larger tasks \
    left out too few are left at 20; memory's fall from 14 on comes with neither reading";

const NEAR: Claim = Claim {
    what: "the more of 12 and 16 slots over 14 slots, CPU and memory utilisation together",
    paper: "0.97: it falls on both sides",
    unit: "",
    agrees: (f64::NEG_INFINITY, 1.0),
    otherwise: WHY_RISING,
};

const FAR: Claim = Claim {
    what: "the more of 10 and 20 slots over 14 slots, CPU and memory utilisation together",
    paper: "0.84: it falls on both sides",
    unit: "",
    agrees: (f64::NEG_INFINITY, 1.0),
    otherwise: WHY_RISING,
};

const CPU: Claim = Claim {
    what: "CPU utilisation under 14 slots",
    paper: "43.9 %",
    unit: "%",
    agrees: (38.9, 48.9),
    otherwise: OTHERWISE,
};

const MEMORY: Claim = Claim {
    what: "memory utilisation under 14 slots",
    paper: "28.0 %",
    unit: "%",
    agrees: (23.0, 33.0),
    otherwise: OTHERWISE,
};

const CLAIMS: [Claim; 4] = [NEAR, FAR, CPU, MEMORY];

/// The other reading.
const LEFT_OUT: &str = "tasks larger than a slot left out";

/// CPU and memory utilisation for each row, in percent.
type Used = [[f64; 2]; PRINTED.len()];

fn used(runs: [&Arc<RunRecord>; PRINTED.len()]) -> Used {
    runs.map(|run| ["cpu", "memory"].map(|kind| 100.0 * run.utilization[kind]))
}

/// What the claims are about.
fn values(used: &Used) -> [f64; CLAIMS.len()] {
    let both = used.map(|[cpu, memory]| cpu + memory);
    let over = |one: usize, other: usize| both[one].max(both[other]) / both[2];
    [over(1, 3), over(0, 4), used[2][0], used[2][1]]
}

pub(in super::super) fn table_2(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(ItemOutcome::skipped(NEAR.what, NEAR.paper, NEEDED));
    };
    let several = used(google.runs(POLICIES)?.each_ref());
    let one = google.one_slot_each(PRINTED.map(|(slots, ..)| slots))?;
    let left_out = used(one.each_ref().map(|(run, _)| run));
    let drfh = &google.runs([BEST_FIT])?[0];
    let under_drfh = ["cpu", "memory"]
        .map(|kind| format!("{:.1} %", 100.0 * drfh.utilization[kind]))
        .join(" and ");
    let mut checks: Vec<Check> =
        CLAIMS.iter().zip(values(&several)).map(|(claim, value)| claim.of(value)).collect();
    let again = CLAIMS.iter().zip(values(&left_out));
    checks.extend(again.map(|(claim, value)| claim.of(value).again("drfh-table2", LEFT_OUT)));
    checks.push(Check::beyond(
        "CPU and memory utilisation under best-fit DRFH",
        Measured::Words(under_drfh),
        "see drfh-fig6",
    ));
    let mut assumptions = google.assumptions();
    assumptions.push(
        "a task that is larger than a slot takes several on one server; under \"left out\" it is \
         not submitted at all, and a task holds one slot"
            .to_owned(),
    );
    let left = one.each_ref().map(|(_, left)| 100.0 * left);
    Ok(ItemOutcome { checks, assumptions, blocks: vec![table(&several, &left_out, &left)] })
}

fn table(several: &Used, left_out: &Used, left: &[f64; PRINTED.len()]) -> Block {
    let row = |i: usize| {
        let (slots, cpu, memory) = PRINTED[i];
        let numbers = [cpu, several[i][0], left_out[i][0], memory, several[i][1], left_out[i][1]];
        let numbers = numbers.into_iter().chain([left[i]]).map(Cell::Number);
        std::iter::once(Cell::Count(u64::from(slots))).chain(numbers).collect()
    };
    Block::Table(Table {
        caption: "Utilisation under slots, in percent of the servers' CPUs and memory over the \
                  whole run. A task that is larger than a slot takes several, or is left out"
            .to_owned(),
        columns: [
            "slots of the largest server",
            "CPU, paper",
            "CPU, several slots",
            "CPU, left out",
            "memory, paper",
            "memory, several slots",
            "memory, left out",
            "tasks left out, %",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: (0..PRINTED.len()).map(row).collect(),
    })
}
