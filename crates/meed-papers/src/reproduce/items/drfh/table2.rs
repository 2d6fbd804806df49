//! TPDS'15 Table 2: utilisation under slots of five sizes, on Google's trace.

use meed_report::page::{Block, Cell, Table};

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

const OTHERWISE: &str = "here a server has as many slots as its scarcer resource allows, and a \
    task takes as many as its \
    larger demand needs, on one server; the paper does not say how it cuts servers that are not \
    the largest, nor what \
    becomes of tasks that are larger than a slot. Most of the trace's tasks ask for less than a \
    slot of either size, and \
    how much is lost depends on which tasks run, so on the day and on the users";

const BEST: Claim = Claim {
    what: "slots of the largest server that give the highest utilisation, CPU and memory together",
    paper: "14",
    unit: "",
    agrees: (12.0, 16.0),
    otherwise: OTHERWISE,
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

pub(in super::super) fn table_2(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(ItemOutcome::skipped(BEST.what, BEST.paper, NEEDED));
    };
    let runs = google.runs(POLICIES)?;
    let used =
        runs.each_ref().map(|run| ["cpu", "memory"].map(|kind| 100.0 * run.utilization[kind]));
    let drfh = &google.runs([BEST_FIT])?[0];
    let best = (0..PRINTED.len())
        .max_by(|&a, &b| (used[a][0] + used[a][1]).total_cmp(&(used[b][0] + used[b][1])));
    let best = best.map_or(f64::NAN, |row| f64::from(PRINTED[row].0));
    let row = |(printed, used): (&(u32, f64, f64), &[f64; 2])| {
        vec![
            Cell::Number(f64::from(printed.0)),
            Cell::Number(printed.1),
            Cell::Number(used[0]),
            Cell::Number(printed.2),
            Cell::Number(used[1]),
        ]
    };
    let table = Table {
        caption:
            "Utilisation under slots, in percent of the servers' CPUs and memory over the whole run"
                .to_owned(),
        columns: ["slots of the largest server", "CPU, paper", "CPU", "memory, paper", "memory"]
            .map(str::to_owned)
            .to_vec(),
        rows: PRINTED.iter().zip(&used).map(row).collect(),
    };
    let under_drfh = ["cpu", "memory"]
        .map(|kind| format!("{:.1} %", 100.0 * drfh.utilization[kind]))
        .join(" and ");
    Ok(ItemOutcome {
        checks: vec![
            BEST.of(best),
            CPU.of(used[2][0]),
            MEMORY.of(used[2][1]),
            Check::beyond(
                "CPU and memory utilisation under best-fit DRFH",
                Measured::Words(under_drfh),
                "see drfh-fig6",
            ),
        ],
        assumptions: google.assumptions(),
        blocks: vec![Block::Table(table)],
    })
}
