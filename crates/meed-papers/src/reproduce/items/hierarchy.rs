//! TSC'18 Sec. 5.2: the naive walk unit by unit (Fig. 2), the worked choice, and Theorem 1.

use std::path::Path;

use meed_report::page::{Block, Line, LineChart};
use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use meed_workload::generate::Stream;
use serde_json::Value;

use super::worked::{minutes, unit_scenario};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Verdict};

/// Parents before their children; the leaves are the four users of Fig. 1b.
const QUEUES: [&str; 6] = ["G1", "G2", "G1.A", "G1.B", "G2.C", "G2.D"];

/// Demands of A, B, C, D, and the minute in which they arrive.
const WAVES: [(u32, [u32; 4]); 2] = [(0, [200, 10, 50, 60]), (27, [20, 60, 40, 80])];

/// Allocation of A, B, C, D from a minute to another, as printed (Fig. 2 and its text).
const PRINTED: [(usize, usize, [i64; 4]); 8] = [
    (0, 3, [3, 3, 3, 3]),
    (3, 4, [5, 1, 3, 3]),
    (4, 16, [6, 0, 3, 3]),
    (16, 17, [6, 0, 2, 4]),
    (17, 18, [6, 0, 0, 6]),
    (18, 19, [10, 0, 0, 2]),
    (19, 26, [12, 0, 0, 0]),
    (26, 27, [8, 0, 0, 0]),
];

fn figure_2() -> String {
    let jobs = WAVES
        .into_iter()
        .flat_map(|(minute, demands)| (0..4).map(move |user| (minute, user + 2, demands[user])));
    unit_scenario(12, &QUEUES, jobs)
}

/// Allocation of each user in each of the first `count` minutes.
fn allocations(policy: &str, count: u32) -> Result<Vec<[i64; 4]>, ReproduceError> {
    let rows = minutes(&figure_2(), policy, count)?;
    Ok(rows.iter().map(|row| [0, 1, 2, 3].map(|user| row[user].held.round() as i64)).collect())
}

/// Fig. 2.
pub(super) fn naive_walk(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let rows = allocations("long-term", 45)?;
    let printed =
        PRINTED.iter().flat_map(|&(from, to, row)| (from..to).map(move |minute| (minute, row)));
    let wrong: Vec<usize> =
        printed.filter(|&(minute, row)| rows[minute] != row).map(|(minute, _)| minute).collect();
    let until_27 = |user: usize| rows[..27].iter().map(|row| row[user]).sum::<i64>().to_string();
    let starved = rows[27..].iter().take_while(|row| row[1] == 0).count();
    let checks = vec![
        Check {
            what: "totals of A, B, C, D after 27 units".to_owned(),
            paper: "200, 10, 50, 60".to_owned(),
            measured: Measured::Words([0, 1, 2, 3].map(until_27).join(", ")),
            verdict: if wrong.is_empty() { Verdict::Same } else { Verdict::Differs },
            reason: Some(match wrong.is_empty() {
                true => "the allocations of all 27 units are those of the text".to_owned(),
                false => format!("allocations differ in units {wrong:?}"),
            }),
            under: Vec::new(),
            again: None,
        },
        Check {
            what: "units for which B starves after its second wave".to_owned(),
            paper: "at least 8".to_owned(),
            measured: Measured::Number { value: starved as f64, unit: "units".to_owned() },
            verdict: if starved >= 8 { Verdict::Same } else { Verdict::Differs },
            reason: None,
            under: Vec::new(),
            again: None,
        },
    ];
    let line = |user: usize| Line {
        name: ["A", "B", "C", "D"][user].to_owned(),
        x: (0..rows.len()).map(|minute| minute as f64).collect(),
        y: rows.iter().map(|row| Some(row[user] as f64)).collect(),
        steps: true,
        ..Line::default()
    };
    let chart = LineChart {
        title: "The naive walk".to_owned(),
        caption: "Between unit 27 and 35 the group of A and B gets nothing, and so B, which has \
            used least of all, starves."
            .to_owned(),
        x: "unit of time".to_owned(),
        y: "allocation (slots)".to_owned(),
        lines: (0..4).map(line).collect(),
        ..LineChart::default()
    };
    Ok(ItemOutcome { checks, blocks: vec![Block::Lines(chart)], ..ItemOutcome::default() })
}

/// Decisions as the log tells them.
pub(super) fn starts(text: &str, policy: &str) -> Result<Vec<Value>, ReproduceError> {
    let scenario = Scenario::parse("worked example", text, Path::new("."), &[], OnBadLine::Stop)?;
    let options = SimulateOptions {
        policies: vec![policy.to_owned()],
        strict: true,
        ..SimulateOptions::default()
    };
    let mut log = Vec::new();
    simulate(&scenario, &options, Some(&mut log), &mut Unwatched)?;
    let lines = log
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Ok(lines.filter(|line| line.get("start").is_some()).collect())
}

/// The worked choice of Sec. 5.2.1: totals 200, 10, 50, 60; the walk takes G2 (110 < 210), then C
/// (50 < 60).
pub(super) fn worked_choice(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let starts = starts(&figure_2(), "long-term")?;
    let first = starts.iter().find(|line| line["t"].as_f64() == Some(27.0 * 60.0));
    let level = |number: usize| {
        let level = &first?["start"]["reason"]["levels"][number];
        // A slot-minute is 1000 thousandths x 60 million microseconds.
        let units = |key: &str| Some((level[key]["value"].as_f64()? / 60e9).round() as i64);
        Some(format!(
            "{} ({} < {})",
            level["chosen"].as_str()?,
            units("key")?,
            units("runner_up_key")?
        ))
    };
    let words = [level(0), level(1)].map(|level| level.unwrap_or_default()).join(", then ");
    let printed = "G2 (110 < 210), then G2.C (50 < 60)";
    let check = Check {
        what: "who is served first at unit 27".to_owned(),
        paper: printed.to_owned(),
        verdict: if words == printed { Verdict::Same } else { Verdict::Differs },
        measured: Measured::Words(words),
        reason: None,
        under: Vec::new(),
        again: None,
    };
    Ok(ItemOutcome { checks: vec![check], ..ItemOutcome::default() })
}

/// A tree whose groups differ in weight (G1 has 2, G2 has 1) and in members, and the same users on
/// a single level by their parts of the root: 6, 1, 1 and 1 of nine.
const UNEQUAL: [&str; 6] = ["G1", "G2", "G1.A", "G2.B", "G2.C", "G2.D"];

fn with_weight(text: &str, queue: &str, weight: u32) -> String {
    let name = format!("name = \"{queue}\"\n");
    text.replace(&name, &format!("{name}weight = {weight}\n"))
}

/// Theorem 1: with `t_wait` = 0 H-LTRF serves as the single level does, with infinity as the naive
/// walk. Every second workload is for unequal groups.
pub(super) fn theorem_1(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut equal = [0u64; 2];
    for seed in 0..context.seeds {
        let waves = random_waves(context.first_seed + seed);
        let single = unit_scenario(12, &["A", "B", "C", "D"], jobs(&waves, 0));
        let (tree, flat) = match seed % 2 {
            0 => (unit_scenario(12, &QUEUES, jobs(&waves, 2)), single),
            _ => {
                let tree = unit_scenario(12, &UNEQUAL, jobs(&waves, 2));
                (with_weight(&tree, "G1", 2), with_weight(&single, "A", 6))
            }
        };
        let sequence = |text: &str, policy: &str| {
            Ok::<_, ReproduceError>(starts(text, policy)?.iter().map(served).collect::<Vec<_>>())
        };
        equal[0] +=
            u64::from(sequence(&tree, "long-term,t_wait=0")? == sequence(&flat, "long-term")?);
        equal[1] += u64::from(
            sequence(&tree, "long-term,t_wait=100000h")? == sequence(&tree, "long-term")?,
        );
    }
    let check = |what: &str, equal: u64| Check {
        what: what.to_owned(),
        paper: "the same decisions".to_owned(),
        measured: Measured::Words(format!(
            "the same decisions in {equal} of {} random workloads",
            context.seeds
        )),
        verdict: if equal == context.seeds { Verdict::Same } else { Verdict::Differs },
        reason: None,
        under: Vec::new(),
        again: None,
    };
    Ok(ItemOutcome {
        checks: vec![
            check("t_wait = 0 against a single level", equal[0]),
            check("t_wait beyond the run against the naive walk", equal[1]),
        ],
        assumptions: vec![
            "Algorithm 2 writes wait > t_wait; the theorem needs wait >= t_wait, which is what \
             runs here."
                .to_owned(),
        ],
        ..ItemOutcome::default()
    })
}

/// When, whose (without its group), and which task.
fn served(line: &Value) -> (String, String, u64) {
    let queue = line["start"]["queue"].as_str().unwrap_or_default();
    let user = queue.rsplit('.').next().unwrap_or_default();
    (line["t"].to_string(), user.to_owned(), line["start"]["task"].as_u64().unwrap_or_default())
}

type Waves = Vec<(u32, [u32; 4])>;

fn random_waves(seed: u64) -> Waves {
    let mut stream = Stream::new(seed, "theorem 1");
    let wave = |_| (stream.below(40) as u32, [0; 4].map(|_: u32| stream.below(60) as u32));
    let mut waves: Waves = (0..6).map(wave).collect();
    waves.sort_by_key(|&(minute, _)| minute);
    waves
}

fn jobs(waves: &Waves, first_leaf: usize) -> impl Iterator<Item = (u32, usize, u32)> {
    waves.iter().flat_map(move |&(minute, demands)| {
        (0..4).map(move |user| (minute, user + first_leaf, demands[user]))
    })
}
