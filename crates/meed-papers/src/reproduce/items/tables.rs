//! The two-user tables: ICS'14 Table 1 (TSC'18 Table 1 has its first two parts) and CloudCom'14
//! Table I.

use meed_report::page::{Block, Cell, Table};

use super::worked::{minutes, unit_scenario};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Verdict};

/// Total demand, current allocation, total allocation, preempted (allocation above the share).
type Cells = [i64; 4];

/// One part of a table, as printed: rows are minutes, for each user its cells.
struct Part {
    name: &'static str,
    policy: &'static str,
    printed: [[Cells; 2]; 4],
}

const ICS: [Part; 3] = [
    Part {
        name: "(a) memoryless (MLRF)",
        policy: "fair",
        printed: [
            [[20, 20, 20, -30], [100, 80, 80, 30]],
            [[40, 40, 60, -10], [80, 60, 140, 10]],
            [[80, 50, 110, 0], [70, 50, 190, 0]],
            [[90, 50, 160, 0], [70, 50, 240, 0]],
        ],
    },
    Part {
        name: "(b) long-term (LTRF)",
        policy: "long-term",
        printed: [
            [[20, 20, 20, -30], [100, 80, 80, 30]],
            [[40, 40, 60, -10], [80, 60, 140, 10]],
            [[80, 80, 140, 30], [70, 20, 160, -30]],
            [[60, 60, 200, 10], [100, 40, 200, -10]],
        ],
    },
    Part {
        name: "(c) long-term with discount 0.5",
        policy: "long-term,discount=0.5",
        printed: [
            [[20, 20, 20, -30], [100, 65, 65, 30]],
            [[40, 40, 60, -10], [80, 55, 120, 10]],
            [[80, 65, 125, 30], [70, 20, 140, -30]],
            [[60, 55, 180, 10], [100, 40, 180, -10]],
        ],
    },
];

const CLOUDCOM: [Part; 2] = [
    Part {
        name: "(a) long-term (LTRF)",
        policy: "long-term",
        printed: [
            [[40, 40, 40, -60], [200, 160, 160, 60]],
            [[80, 80, 120, -20], [160, 120, 280, 20]],
            [[160, 160, 280, 60], [140, 40, 320, -60]],
            [[120, 120, 400, 20], [200, 80, 400, -20]],
        ],
    },
    Part {
        name: "(b) memoryless",
        policy: "fair",
        printed: [
            [[40, 40, 40, -60], [200, 160, 160, 60]],
            [[80, 80, 120, -20], [160, 120, 280, 20]],
            [[160, 100, 220, 0], [140, 100, 380, 0]],
            [[180, 100, 320, 0], [140, 100, 480, 0]],
        ],
    },
];

/// New demands of users A and B at t1 to t4.
const DEMANDS: [[u32; 2]; 4] = [[20, 100], [40, 60], [80, 50], [60, 50]];

/// ICS'14 Table 1: 100 resources.
pub(super) fn ics(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    outcome(&ICS, 1)
}

/// CloudCom'14 Table I: the same with all numbers doubled.
pub(super) fn cloudcom(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    outcome(&CLOUDCOM, 2)
}

fn outcome(parts: &[Part], times: u32) -> Result<ItemOutcome, ReproduceError> {
    let jobs = (0..)
        .zip(DEMANDS)
        .flat_map(|(minute, row)| [0, 1].map(|user| (minute, user, row[user] * times)));
    let text = unit_scenario(100 * times, &["A", "B"], jobs);
    let mut outcome = ItemOutcome::default();
    for part in parts {
        let measured = measure(part, &text)?;
        outcome.checks.push(check(part, &measured));
        outcome.blocks.push(Block::Table(table(part, &measured)));
    }
    Ok(outcome)
}

fn measure(part: &Part, text: &str) -> Result<Vec<[Cells; 2]>, ReproduceError> {
    let counted = part.policy.contains("discount");
    let mut totals = [0.0; 2];
    let mut rows = Vec::new();
    for users in minutes(text, part.policy, 4)? {
        rows.push([0, 1].map(|user| {
            let (seen, before) = (users[user], totals[user]);
            totals[user] = if counted { seen.charged } else { before + seen.held };
            let cells = [seen.demand, totals[user] - before, totals[user], seen.held - seen.share];
            cells.map(|cell| cell.round() as i64)
        }));
    }
    Ok(rows)
}

fn check(part: &Part, measured: &[[Cells; 2]]) -> Check {
    let pairs = part
        .printed
        .as_flattened()
        .as_flattened()
        .iter()
        .zip(measured.as_flattened().as_flattened());
    let wrong = pairs.filter(|(printed, measured)| printed != measured).count();
    let totals = |rows: &[[Cells; 2]]| {
        let last = rows[rows.len() - 1];
        format!("{} and {} after t4", last[0][2], last[1][2])
    };
    Check {
        what: format!("{}: total allocation of A and B", part.name),
        paper: totals(&part.printed),
        measured: Measured::Words(totals(measured)),
        verdict: if wrong == 0 { Verdict::Same } else { Verdict::Differs },
        reason: Some(match wrong {
            0 => "all 32 cells of the table are equal".to_owned(),
            wrong => format!("{wrong} of 32 cells differ"),
        }),
        under: Vec::new(),
        again: None,
    }
}

fn table(part: &Part, measured: &[[Cells; 2]]) -> Table {
    let names = ["demand", "allocation", "total", "preempt"];
    let columns =
        ["A", "B"].iter().flat_map(|user| names.iter().map(move |name| format!("{user}: {name}")));
    let cell = |(printed, measured): (&i64, &i64)| match printed == measured {
        true => Cell::Number(*measured as f64),
        false => Cell::Text(format!("{measured} (paper: {printed})")),
    };
    let row = |(minute, (printed, measured)): (usize, (&[Cells; 2], &[Cells; 2]))| {
        let cells = printed.as_flattened().iter().zip(measured.as_flattened()).map(cell);
        std::iter::once(Cell::Text(format!("t{}", minute + 1))).chain(cells).collect()
    };
    Table {
        caption: part.name.to_owned(),
        columns: std::iter::once("time".to_owned()).chain(columns).collect(),
        rows: part.printed.iter().zip(measured).enumerate().map(row).collect(),
    }
}
