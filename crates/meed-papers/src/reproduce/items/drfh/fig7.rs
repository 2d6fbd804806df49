//! TPDS'15 Fig. 7: completion times of jobs that are complete under both best-fit DRFH and slots.
//!
//! The trace may hand out a job in parts (tasks that were submitted later come as another of the
//! same name): a job counts from its first submission to its last end, and is complete when all of
//! its parts are.

use std::collections::BTreeMap;

use meed_report::page::{Block, Cell, Line, LineChart, Table};
use meed_sim::record::RunRecord;

use super::claim::Claim;
use super::trace::{BEST_FIT, Google, NEEDED, SLOTS};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError};

/// Five classes by number of tasks: the paper's are in its picture only, so these are ours. Up to
/// how many, inclusive.
const CLASSES: [(u64, &str); 5] = [
    (50, "1 to 50"),
    (100, "51 to 100"),
    (500, "101 to 500"),
    (1000, "501 to 1000"),
    (u64::MAX, "more"),
];

/// Points of a drawn distribution.
const POINTS: usize = 200;

const WHY: &str = "which jobs are complete by the end depends on the day; jobs of tasks that are \
    cut by the trace's end are not";

const SMALL: Claim = Claim {
    what: "reduction of the mean completion time, jobs of 1 to 50 tasks",
    paper: "no improvement for small jobs",
    unit: "%",
    agrees: (-15.0, 15.0),
    otherwise: "most small jobs are of users who have little: under slots each of their tasks \
        takes whole slots of the few \
        there are, so they wait as well",
};
const LARGE: Claim = Claim {
    what: "the same, jobs of more than 100 tasks",
    paper: "significant for jobs of more tasks",
    unit: "%",
    agrees: (20.0, 100.0),
    otherwise: WHY,
};
const GROWS: Claim = Claim {
    what: "the same for more than 100 tasks, less that for 1 to 50",
    paper: "the larger the job, the more improvement",
    unit: "percentage points",
    agrees: (5.0, 200.0),
    otherwise: WHY,
};

#[derive(Default)]
struct Job {
    tasks: u64,
    submit_s: f64,
    ended_s: Option<f64>,
}

impl Job {
    fn took(&self) -> Option<f64> {
        Some(self.ended_s? - self.submit_s)
    }
}

/// Jobs by user and name.
fn jobs(run: &RunRecord) -> BTreeMap<(usize, String), Job> {
    let mut jobs: BTreeMap<(usize, String), Job> = BTreeMap::new();
    for part in &run.jobs {
        let new = || Job { tasks: 0, submit_s: f64::INFINITY, ended_s: Some(0.0) };
        let job = jobs.entry((part.queue, part.label.to_string())).or_insert_with(new);
        job.tasks += part.tasks;
        job.submit_s = job.submit_s.min(part.submit_s);
        job.ended_s = job.ended_s.zip(part.ended_s).map(|(a, b)| a.max(b));
    }
    jobs
}

pub(in super::super) fn figure_7(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(ItemOutcome::skipped(LARGE.what, LARGE.paper, NEEDED));
    };
    let [best, slots] = google.runs([BEST_FIT, SLOTS])?.map(|run| jobs(&run));
    let both: Vec<(u64, [f64; 2])> = best
        .iter()
        .filter_map(|(name, job)| Some((job.tasks, [job.took()?, slots.get(name)?.took()?])))
        .collect();
    let reduction = |from: u64, to: u64| {
        let within = || both.iter().filter(|(tasks, _)| (from..=to).contains(tasks));
        let mean =
            |run: usize| within().map(|(_, took)| took[run]).sum::<f64>() / within().count() as f64;
        (within().count(), mean(0), mean(1), 100.0 * (1.0 - mean(0) / mean(1)))
    };
    let (small, large) = (reduction(1, 50).3, reduction(101, u64::MAX).3);
    let mut from = 1;
    let row = |(to, name): (u64, &str)| {
        let (count, best, slots, less) =
            reduction(std::mem::replace(&mut from, to.saturating_add(1)), to);
        let number = |value: f64| if value.is_finite() { Cell::Number(value) } else { Cell::Empty };
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(count as f64),
            number(best),
            number(slots),
            number(less),
        ]
    };
    let table = Table {
        caption: "Mean completion time of jobs that are complete under both".to_owned(),
        columns: ["tasks of the job", "jobs", "best fit (s)", "14 slots (s)", "reduction (%)"]
            .map(str::to_owned)
            .to_vec(),
        rows: CLASSES.into_iter().map(row).collect(),
    };
    let complete = |jobs: &BTreeMap<(usize, String), Job>| {
        jobs.values().filter(|job| job.ended_s.is_some()).count()
    };
    let words = format!(
        "{} and {} of {}; {} under both",
        complete(&best),
        complete(&slots),
        best.len(),
        both.len()
    );
    let lines = [(0, "best fit"), (1, "14 slots")]
        .map(|(run, name)| distribution(&both, run, name))
        .to_vec();
    Ok(ItemOutcome {
        checks: vec![
            SMALL.of(small),
            LARGE.of(large),
            GROWS.of(large - small),
            Check::beyond(
                "jobs that are complete, best fit and 14 slots",
                Measured::Words(words),
                "",
            ),
        ],
        assumptions: google.assumptions(),
        blocks: vec![
            Block::Lines(LineChart {
                title: "Completion times of jobs".to_owned(),
                caption: "Jobs that are complete under both policies.".to_owned(),
                x: "completion time (log10 of seconds)".to_owned(),
                y: "jobs that take no longer (%)".to_owned(),
                lines,
                ..LineChart::default()
            }),
            Block::Table(table),
        ],
    })
}

/// The part of jobs that take no longer than so long.
fn distribution(jobs: &[(u64, [f64; 2])], run: usize, name: &str) -> Line {
    let mut took: Vec<f64> = jobs.iter().map(|(_, took)| took[run].max(1.0)).collect();
    took.sort_by(f64::total_cmp);
    let points = POINTS.min(took.len());
    let place = |point: usize| (point + 1) * took.len() / points - 1;
    let x = (0..points).map(|point| libm::log10(took[place(point)])).collect();
    let y = (0..points)
        .map(|point| Some(100.0 * (place(point) + 1) as f64 / took.len() as f64))
        .collect();
    Line { name: name.to_owned(), x, y, ..Line::default() }
}
