//! TPDS'15 Fig. 8: tasks completed over tasks submitted, for each user, under best-fit DRFH and
//! under slots.

use meed_report::page::{Block, Line, LineChart};
use meed_sim::record::RunRecord;

use super::claim::{Claim, uncut};
use super::trace::{BEST_FIT, Google, NEEDED, SLOTS};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError};

const CUT: &str = "a task that still ran when the trace ended is as long as was known, so whoever \
    waits even a second does not \
    complete it by then, under either policy: one task in seven is such. Without them see below";

const NO_WORSE: Claim = Claim {
    what: "users whose ratio under best fit is no lower than under slots",
    paper: "almost all",
    unit: "%",
    agrees: (90.0, 100.0),
    otherwise: CUT,
};

const ALL_DONE: Claim = Claim {
    what: "users all of whose tasks are completed under best fit, but not under slots",
    paper: "around 20 %",
    unit: "%",
    agrees: (15.0, 25.0),
    otherwise: CUT,
};

/// The same two without the tasks that are cut by the trace's end.
const KNOWN_NO_WORSE: Claim = Claim {
    what: "the first without tasks that still ran at the trace's end",
    otherwise: "slots share tasks, not dominant shares: who asks for much of one resource holds \
        more under slots",
    ..NO_WORSE
};
const KNOWN_ALL_DONE: Claim = Claim {
    what: "the second without them",
    otherwise: "most users of the slice ask for little, and nearly nine in ten have all tasks \
        completed under slots as well; the \
        paper has over 900 users, and a whole day",
    ..ALL_DONE
};

/// Tasks completed over tasks submitted; `None` for users that submit nothing.
pub(super) fn ratios(run: &RunRecord, submitted: &[u64]) -> Vec<Option<f64>> {
    let ratio = |(queue, submitted): (&meed_sim::record::QueueRecord, &u64)| {
        (*submitted > 0).then(|| queue.tasks as f64 / *submitted as f64)
    };
    run.queues.iter().zip(submitted).map(ratio).collect()
}

pub(in super::super) fn figure_8(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let (Some(google), Some(known)) = (Google::of(context)?, Google::known(context)?) else {
        return Ok(ItemOutcome::skipped(ALL_DONE.what, ALL_DONE.paper, NEEDED));
    };
    let mut outcome = ItemOutcome { assumptions: google.assumptions(), ..ItemOutcome::default() };
    for (google, [first, second], title) in [
        (&google, [(NO_WORSE, None), (ALL_DONE, None)], "Task completion ratio of users"),
        (
            &known,
            [(KNOWN_NO_WORSE, Some(&NO_WORSE)), (KNOWN_ALL_DONE, Some(&ALL_DONE))],
            "The same without tasks that still ran at the trace's end",
        ),
    ] {
        let runs = google.runs([BEST_FIT, SLOTS])?;
        let [best, slots] = runs.each_ref().map(|run| ratios(run, &google.submitted));
        let users: Vec<(f64, f64)> =
            best.iter().zip(&slots).filter_map(|(a, b)| (*a).zip(*b)).collect();
        let part = |holds: fn(&&(f64, f64)) -> bool| {
            100.0 * users.iter().filter(holds).count() as f64 / users.len().max(1) as f64
        };
        let done =
            |ratios: &[Option<f64>]| ratios.iter().flatten().filter(|ratio| **ratio >= 1.0).count();
        let words = format!("{} and {} of {}", done(&best), done(&slots), users.len());
        outcome.checks.extend([
            uncut(first.0.of(part(|(best, slots)| best >= slots)), "drfh-fig8", first.1),
            uncut(
                second.0.of(part(|(best, slots)| *best >= 1.0 && *slots < 1.0)),
                "drfh-fig8",
                second.1,
            ),
            Check::beyond(
                "users all of whose tasks are completed, best fit and 14 slots",
                Measured::Words(words),
                "",
            ),
        ]);
        let column = |of: fn(&(f64, f64)) -> f64| users.iter().map(of).collect::<Vec<f64>>();
        let (best, slots) = (column(|pair| pair.0), column(|pair| pair.1));
        outcome.blocks.push(sorted(title, &[("best fit", &best), ("14 slots", &slots)]));
    }
    Ok(outcome)
}

/// Users from the lowest ratio to the highest, for each policy on its own.
pub(super) fn sorted(title: &str, policies: &[(&str, &[f64])]) -> Block {
    let line = |(name, ratios): &(&str, &[f64])| {
        let mut ratios = ratios.to_vec();
        ratios.sort_by(f64::total_cmp);
        let last = ratios.len().saturating_sub(1).max(1) as f64;
        Line {
            name: (*name).to_owned(),
            x: (0..ratios.len()).map(|place| 100.0 * place as f64 / last).collect(),
            y: ratios.into_iter().map(|ratio| Some(100.0 * ratio)).collect(),
            ..Line::default()
        }
    };
    Block::Lines(LineChart {
        title: title.to_owned(),
        caption: "Users in order of the ratio, for each line on its own.".to_owned(),
        x: "users (%)".to_owned(),
        y: "tasks completed (% of those submitted)".to_owned(),
        lines: policies.iter().map(line).collect(),
        ..LineChart::default()
    })
}
