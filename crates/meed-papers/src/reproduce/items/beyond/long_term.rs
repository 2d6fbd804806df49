//! Memoryless DRFH (`drfh`) against long-term DRFH (`long-term-drf`): who gains, who loses.
//!
//! rho is of accumulated dominant shares (docs/simulator.md): what a user held of the pool over
//! time, over what its equal part could have served of what it wanted. Users are put into classes
//! by what they hold under `drfh`, the same classes for all policies.

use std::path::{Path, PathBuf};

use meed::fairness::indices::sharing_loss;
use meed_report::page::{Block, Cell, Line, LineChart, Mark, Table};
use meed_scenario::Scenario;
use meed_sim::record::{QueueRecord, RunRecord};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde_json::json;

use super::super::drfh::trace::{BEST_FIT, Google, LONG_TERM, NEEDED};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError};

/// Policies, memoryless first, and what they are called. The last forgets: half of what was used
/// counts no more after so long, a third of Google's 19.65 h, and a week of wagap's three months.
const GOOGLE: Policies = [
    (BEST_FIT, "drfh"),
    (LONG_TERM, "long-term-drf"),
    ("long-term-drf,half_life=6h", "with a half-life of 6 h"),
];
const WAGAP: Policies =
    [GOOGLE[0], GOOGLE[1], ("long-term-drf,half_life=168h", "with a half-life of a week")];

type Policies = [(&'static str, &'static str); 3];

/// Users by what they hold under `drfh`: up to which part of them, and what the class is called.
const CLASSES: [(f64, &str); 4] =
    [(0.5, "lightest half"), (0.75, "next quarter"), (0.9, "next 15 %"), (1.0, "heaviest tenth")];

/// Below this a user has less than its part.
const ONE: f64 = 1.0 - 1e-9;

/// Samples over time of wagap's runs.
const SAMPLES: usize = 200;
/// How much faster wagap's jobs come.
const LOADS: [(f64, &str); 2] = [(1.0, "as it is"), (LOADED, "loaded")];
const LOADED: f64 = 1.5;

/// On Google's trace.
pub(in super::super) fn google(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(ItemOutcome::skipped(
            "sharing loss over dominant shares",
            "not printed",
            NEEDED,
        ));
    };
    let runs = google.runs(GOOGLE.map(|(words, _)| words))?;
    let mut outcome = compare("", &GOOGLE, runs.each_ref().map(|run| run.as_ref()));
    let tasks: u64 = google.submitted.iter().sum();
    let done = runs.each_ref().map(|run| run.queues.iter().map(|queue| queue.tasks).sum::<u64>());
    let part = done.map(|done| format!("{:.1} %", 100.0 * done as f64 / tasks.max(1) as f64));
    outcome.checks.push(three("tasks completed, of those submitted", &GOOGLE, part, ""));
    outcome.assumptions = google.assumptions();
    Ok(outcome)
}

/// On wagap-2013, as it is and with a higher load.
pub(in super::super) fn wagap(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let Some([trace, machines]) = context.traces.as_deref().and_then(find) else {
        let needed = "MetaCentrum-wagap-2013.mwf (compressed or not) and .machines (swf/ or the \
            folder itself) in the folder \
                      of --traces or MEED_TRACES";
        return Ok(ItemOutcome::skipped(
            "sharing loss over dominant shares",
            "not printed",
            needed,
        ));
    };
    let mut outcome = ItemOutcome::default();
    for (load, name) in LOADS {
        let runs = wagap_runs(&trace, &machines, load)?;
        let [a, b, c] = runs.as_slice() else { continue };
        let one = compare(name, &WAGAP, [a, b, c]);
        outcome.checks.extend(one.checks);
        outcome.blocks.extend(one.blocks);
    }
    outcome.assumptions = vec![
        format!("\"loaded\": jobs come {LOADED} times as fast, and take as long as ever"),
        "every user has weight 1; tasks of one job start one by one; properties that the machines \
         file does not tell are \
         passed over (docs/traces.md)"
            .to_owned(),
    ];
    Ok(outcome)
}

fn wagap_runs(trace: &Path, machines: &Path, load: f64) -> Result<Vec<RunRecord>, ReproduceError> {
    let data = json!({
        "cluster": {
            "resources": ["cpu", "memory"],
            "machines": { "file": machines.to_string_lossy() },
        },
        "queues": { "order": "inherit" },
        "trace": { "file": trace.to_string_lossy(), "format": "mwf" },
        "run": { "load": load },
    });
    let scenario = Scenario::of_data("wagap-2013", &data, Path::new(""), OnBadLine::Skip)?;
    let options = SimulateOptions {
        policies: WAGAP.map(|(words, _)| words.to_owned()).to_vec(),
        series_points: SAMPLES,
        ..SimulateOptions::default()
    };
    Ok(simulate(&scenario, &options, None, &mut Unwatched)?.runs)
}

/// The log and the machines, below `swf` or in the folder itself.
fn find(folder: &Path) -> Option<[PathBuf; 2]> {
    let file = |names: &[&str]| {
        let places =
            names.iter().flat_map(|name| [folder.join("swf").join(name), folder.join(name)]);
        let found = places.into_iter().find(|path| path.is_file())?;
        // Scenarios look for files beside themselves; these have no place.
        Some(std::path::absolute(&found).unwrap_or(found))
    };
    let log =
        ["", ".xz", ".gz", ".zst"].map(|ending| format!("MetaCentrum-wagap-2013.mwf{ending}"));
    Some([file(&log.each_ref().map(String::as_str))?, file(&["MetaCentrum-wagap-2013.machines"])?])
}

/// Checks, tables and charts of three runs of one workload.
fn compare(workload: &str, policies: &Policies, runs: [&RunRecord; 3]) -> ItemOutcome {
    let called = |what: &str| {
        if workload.is_empty() { what.to_owned() } else { format!("{what} ({workload})") }
    };
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let all = |of: fn(&RunRecord) -> Option<f64>| runs.map(|run| number(of(run)));
    let omega = "rho over accumulated dominant shares; the sum of what falls short of 1";
    let check = |what: &str, values: [String; 3], remark: &str| {
        three(&called(what), policies, values, remark)
    };
    let checks = vec![
        check("sharing loss Omega", all(|run| Some(run.dominant_omega)), omega),
        check("users with rho below 1", runs.map(|run| below(run).to_string()), ""),
        check(
            "rho of the median user",
            all(|run| quantile(run, |queue| queue.dominant_rho, 0.5)),
            "",
        ),
        check("Jain's index of rho", all(|run| run.dominant_jain), ""),
        check(
            "mean wait of a task (h)",
            all(|run| run.mean_wait_s.map(hours)),
            "tasks that have started",
        ),
        check(
            "longest wait of the median user (h)",
            all(|run| quantile(run, |queue| queue.longest_wait_s, 0.5).map(hours)),
            "tasks that still wait at the end count",
        ),
        check(
            "longest wait of the user at the 90th percentile (h)",
            all(|run| quantile(run, |queue| queue.longest_wait_s, 0.9).map(hours)),
            "",
        ),
    ];
    let blocks = vec![
        Block::Table(classes(
            &called("Who gains, who loses: medians over users of a class"),
            policies,
            runs,
        )),
        over_time(&called("Sharing loss over time"), policies, runs),
        sorted_rho(&called("rho of all users"), policies, runs),
    ];
    ItemOutcome { checks, blocks, ..ItemOutcome::default() }
}

fn hours(seconds: f64) -> f64 {
    seconds / 3600.0
}

/// A number of each policy.
fn three(what: &str, policies: &Policies, values: [String; 3], remark: &str) -> Check {
    let words: Vec<String> =
        values.iter().zip(policies).map(|(value, (_, name))| format!("{value} {name}")).collect();
    Check::beyond(what, Measured::Words(words.join(", ")), remark)
}

fn below(run: &RunRecord) -> usize {
    run.queues.iter().filter_map(|queue| queue.dominant_rho).filter(|rho| *rho < ONE).count()
}

/// By the nearest rank.
fn quantile(run: &RunRecord, of: fn(&QueueRecord) -> Option<f64>, part: f64) -> Option<f64> {
    nearest(run.queues.iter().filter_map(of).collect(), part)
}

fn nearest(mut values: Vec<f64>, part: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (part * values.len() as f64).ceil() as usize;
    values.get(rank.clamp(1, values.len().max(1)) - 1).copied()
}

/// Users with demand by what they held under the first run: the dominant share of their usage,
/// lightest first.
fn by_use(run: &RunRecord) -> Vec<usize> {
    let used = |kind: &str| run.queues.iter().map(|queue| queue.usage[kind]).sum::<f64>();
    // The pool's capacity x time, up to a factor that is the same for all: used over utilisation.
    let scale = |kind: &str| match run.utilization[kind] {
        part if part > 0.0 => used(kind) / part,
        _ => f64::INFINITY,
    };
    let scales: Vec<(&String, f64)> =
        run.utilization.keys().map(|kind| (kind, scale(kind))).collect();
    let share = |user: usize| {
        scales.iter().map(|(kind, scale)| run.queues[user].usage[*kind] / scale).fold(0.0, f64::max)
    };
    let mut users: Vec<usize> =
        (0..run.queues.len()).filter(|user| run.queues[*user].dominant_rho.is_some()).collect();
    users.sort_by(|a, b| share(*a).total_cmp(&share(*b)).then(a.cmp(b)));
    users
}

fn classes(caption: &str, policies: &Policies, runs: [&RunRecord; 3]) -> Table {
    let users = by_use(runs[0]);
    let mut from = 0;
    let mut rows = Vec::new();
    for (part, class) in CLASSES {
        let to = (part * users.len() as f64).round() as usize;
        let members = &users[from.min(to)..to];
        from = to;
        for (run, (_, policy)) in runs.iter().zip(policies) {
            let median = |of: fn(&QueueRecord) -> Option<f64>| {
                let value = nearest(
                    members.iter().filter_map(|user| of(&run.queues[*user])).collect(),
                    0.5,
                );
                value.map_or(Cell::Empty, Cell::Number)
            };
            let rhos = || members.iter().filter_map(|user| run.queues[*user].dominant_rho);
            let losing = rhos().filter(|rho| *rho < ONE).count();
            rows.push(vec![
                Cell::Text(format!("{class} ({})", members.len())),
                Cell::Text((*policy).to_owned()),
                median(|queue| queue.dominant_rho),
                Cell::Number(losing as f64),
                Cell::Number(sharing_loss(rhos())),
                median(|queue| queue.mean_wait_s.map(hours)),
                median(|queue| queue.longest_wait_s.map(hours)),
                median(|queue| queue.mean_job_s.map(hours)),
            ]);
        }
    }
    let columns = [
        "users, by what they hold",
        "policy",
        "rho",
        "rho below 1 (users)",
        "their loss, sum",
        "mean wait (h)",
        "longest wait (h)",
        "mean job (h)",
    ];
    Table { caption: caption.to_owned(), columns: columns.map(str::to_owned).to_vec(), rows }
}

fn over_time(title: &str, policies: &Policies, runs: [&RunRecord; 3]) -> Block {
    let line = |(run, (_, name)): (&&RunRecord, &(&str, &str))| Line {
        name: (*name).to_owned(),
        x: run.series.t_s.iter().copied().map(hours).collect(),
        y: run.series.dominant_omega.iter().copied().map(Some).collect(),
        ..Line::default()
    };
    Block::Lines(LineChart {
        title: title.to_owned(),
        caption: "Omega over accumulated dominant shares so far; 0 is no loss.".to_owned(),
        x: "time (h)".to_owned(),
        y: "Omega".to_owned(),
        lines: runs.iter().zip(policies).map(line).collect(),
        ..LineChart::default()
    })
}

fn sorted_rho(title: &str, policies: &Policies, runs: [&RunRecord; 3]) -> Block {
    let line = |(run, (_, name)): (&&RunRecord, &(&str, &str))| {
        let mut rhos: Vec<f64> = run.queues.iter().filter_map(|queue| queue.dominant_rho).collect();
        rhos.sort_by(f64::total_cmp);
        let last = rhos.len().saturating_sub(1).max(1) as f64;
        Line {
            name: (*name).to_owned(),
            x: (0..rhos.len()).map(|place| 100.0 * place as f64 / last).collect(),
            // From a hundredth of its part to whatever there is.
            y: rhos.into_iter().map(|rho| Some(libm::log10(rho.max(0.01)))).collect(),
            ..Line::default()
        }
    };
    Block::Lines(LineChart {
        title: title.to_owned(),
        caption: "Users in order of rho, for each line on its own. Below 0 a user got less than \
            its part."
            .to_owned(),
        x: "users (%)".to_owned(),
        y: "log10 of rho".to_owned(),
        lines: runs.iter().zip(policies).map(line).collect(),
        levels: vec![Mark { at: 0.0, label: "rho = 1".to_owned() }],
        ..LineChart::default()
    })
}
