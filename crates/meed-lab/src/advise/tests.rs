//! Choices from made-up figures, settings from known memories, and one log for real.

use meed::{ResourceKinds, Span, Unit};

use super::aims::{Aims, thousandths};
use super::choice::weigh;
use super::memory::Remembers;
use super::settings::SCHEDULERS;
use super::*;
use crate::sweep::{Results, Row};

const HOUR: u64 = 3_600_000_000;

/// Rows of `light`, `heavy` and `mean` at each load, for each policy.
fn results(rows: &[(&str, [[f64; 3]; 3])]) -> (Vec<String>, Results) {
    let names = ["light_wait_s", "heavy_wait_s", "mean_job_s"].map(str::to_owned);
    let row = |load: usize, policy: &str, cells: [f64; 3]| Row {
        parameters: vec![load.to_string(), policy.to_owned(), "0".to_owned()],
        cells: cells.map(|cell| cell.to_string()).to_vec(),
    };
    let rows_of = |load: usize| rows.iter().map(move |(policy, all)| row(load, policy, all[load]));
    let results = Results {
        parameters: ["load", "policy", "seed"].map(str::to_owned).to_vec(),
        measured: names.to_vec(),
        rows: (0..3).flat_map(rows_of).collect(),
    };
    (rows.iter().map(|(policy, _)| (*policy).to_owned()).collect(), results)
}

fn chosen(aims: &Aims, rows: &[(&str, [[f64; 3]; 3])]) -> (String, Vec<bool>, Vec<bool>) {
    let (candidates, results) = results(rows);
    let advice = weigh(aims, &candidates, &results);
    let name = advice.candidates[advice.chosen].policy.clone();
    let as_good = advice.candidates.iter().map(|one| one.as_good).collect();
    (name, as_good, advice.candidates.iter().map(|one| one.gains).collect())
}

const FAIR: (&str, [[f64; 3]; 3]) =
    ("fair", [[10.0, 100.0, 50.0], [12.0, 110.0, 52.0], [14.0, 120.0, 54.0]]);

#[test]
fn the_smallest_within_its_bounds_is_chosen() {
    let aims = Aims::read(None, &[]).unwrap();
    let best = ("best", [[4.0, 140.0, 50.0], [5.0, 150.0, 52.0], [6.0, 160.0, 54.0]]);
    let better_but_heavy = ("heavy", [[1.0, 900.0, 50.0], [1.0, 900.0, 52.0], [1.0, 900.0, 54.0]]);
    let worse = ("worse", [[5.0, 100.0, 50.0], [6.0, 110.0, 52.0], [7.0, 120.0, 54.0]]);
    let (name, as_good, gains) = chosen(&aims, &[FAIR, better_but_heavy, worse, best]);
    assert_eq!(name, "best");
    assert_eq!(as_good, [false, false, false, true]);
    assert_eq!(gains, [false, true, true, true]);
    // Without the bound the other one is.
    let free = Aims::read(None, &["heavy=none".to_owned()]).unwrap();
    assert_eq!(chosen(&free, &[FAIR, better_but_heavy, worse, best]).0, "heavy");
}

#[test]
fn what_is_not_smaller_at_every_load_is_chance() {
    let aims = Aims::read(None, &[]).unwrap();
    let best = ("best", [[4.0, 100.0, 50.0], [5.0, 110.0, 52.0], [6.0, 120.0, 54.0]]);
    // Its mean is larger, yet not at the first load.
    let near = ("near", [[3.9, 100.0, 50.0], [5.2, 110.0, 52.0], [7.0, 120.0, 54.0]]);
    assert_eq!(
        chosen(&aims, &[FAIR, best, near]),
        ("best".to_owned(), vec![false, true, true], vec![false, true, true])
    );
    // A smaller mean that is larger at one load is no gain: the baseline stays.
    let lucky = ("lucky", [[1.0, 100.0, 50.0], [1.0, 110.0, 52.0], [14.5, 120.0, 54.0]]);
    assert_eq!(chosen(&aims, &[FAIR, lucky]).0, "fair");
}

#[test]
fn too_few_runs_tell_nothing_apart() {
    let aims = Aims::read(None, &[]).unwrap();
    let best = ("best", [[4.0, 100.0, 50.0], [5.0, 110.0, 52.0], [6.0, 120.0, 54.0]]);
    let (candidates, mut results) = results(&[FAIR, best]);
    results.rows.truncate(results.rows.len() / 3 * 2);
    let some = weigh(&aims, &candidates, &results);
    assert!(some.replicates < 3 && some.chosen == 0, "{some:?}");
    assert!(some.candidates.iter().all(|one| !one.gains && one.as_good), "{some:?}");
}

#[test]
fn nobody_waits_so_nothing_is_gained() {
    let aims = Aims::read(None, &[]).unwrap();
    let idle = [[0.0, 0.0, 50.0]; 3];
    assert_eq!(chosen(&aims, &[("fair", idle), ("a", idle)]).0, "fair");
}

#[test]
fn a_bound_is_kept_at_equality_and_broken_above() {
    let aims = Aims::read(Some("light"), &["mean=1.1".to_owned()]).unwrap();
    let at = ("at", [[4.0, 100.0, 55.0], [5.0, 110.0, 57.2], [6.0, 120.0, 59.4]]);
    let above = ("above", [[3.0, 100.0, 55.1], [4.0, 110.0, 57.2], [5.0, 120.0, 59.4]]);
    assert_eq!(chosen(&aims, &[FAIR, above, at]).0, "at");
}

#[test]
fn words_that_mean_nothing_are_refused_with_what_would_be_right() {
    let refused = |aim: Option<&str>, at_most: &[&str]| {
        let at_most: Vec<String> = at_most.iter().map(|text| (*text).to_owned()).collect();
        Aims::read(aim, &at_most).unwrap_err()
    };
    assert!(refused(Some("ligth"), &[]).contains("did you mean `light`"));
    assert!(refused(None, &["mean"]).contains("FIGURE=RATIO"));
    assert!(refused(None, &["mean=0"]).contains("positive"));
    assert!(refused(None, &["mean=-1"]).contains("positive"));
    assert!(refused(None, &["mean=1.2345"]).contains("three decimals"));
    assert_eq!(thousandths("0.97"), Ok(970));
    assert_eq!(thousandths("2"), Ok(2000));
    assert_eq!(thousandths(".5"), Ok(500));
}

/// The lines for each scheduler in the order of [`SCHEDULERS`].
fn told(memory: Remembers) -> Vec<Option<String>> {
    SCHEDULERS.iter().map(|row| row.setting(memory).lines).collect()
}

#[test]
fn a_half_life_of_a_week_in_the_words_of_each() {
    let week = Remembers::HalfLife(Span::from_micros(7 * 24 * HOUR).unwrap());
    let lines: Vec<String> = told(week).into_iter().flatten().collect();
    assert_eq!(
        lines,
        [
            "order = \"long-term\"\nhalf_life = \"7d\"",
            "PriorityDecayHalfLife=7-00:00:00",
            "usageHalfLifeTime: \"168h\"",
            "halfLifePeriod: 168h\nwindowSize: 1344h",
            "shareDecaySeconds: 604800",
            // 168 x log2(10) = 558.08
            "HIST_HOURS=558",
            "PRIORITY_HALFLIFE = 604800",
            "halftime 168",
            "fairshare_decay_time: 168:00:00\nfairshare_decay_factor: 0.5",
        ]
    );
}

#[test]
fn a_half_life_that_a_scheduler_cannot_have_is_bounded_or_refused() {
    let month = Remembers::HalfLife(Span::from_micros(30 * 24 * HOUR).unwrap());
    assert_eq!(told(month)[4].as_deref(), Some("shareDecaySeconds: 604800"));
    let minutes = Remembers::HalfLife(Span::from_micros(HOUR / 4).unwrap());
    assert_eq!(told(minutes)[1].as_deref(), Some("PriorityDecayHalfLife=0-00:15:00"));
    assert_eq!(told(minutes)[2].as_deref(), Some("usageHalfLifeTime: \"15m\""));
    // Whole hours, and no less than one, where 0 would turn forgetting off.
    assert_eq!(told(minutes)[7].as_deref(), Some("halftime 1"));
    assert_eq!(told(minutes)[5].as_deref(), Some("HIST_HOURS=1"));
}

#[test]
fn rounds_have_a_word_in_slurm_only() {
    let round = |days: u64| Remembers::Round(Span::from_micros(days * 24 * HOUR).unwrap());
    let slurm = |days: u64| told(round(days))[1].clone();
    let weekly = "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=WEEKLY";
    assert_eq!(slurm(7).as_deref(), Some(weekly));
    assert_eq!(slurm(5), None);
    let others: usize = told(round(7)).iter().skip(2).flatten().count();
    assert_eq!(others, 0);
}

#[test]
fn memories_are_read_from_words() {
    let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
    let of = |words: &str| Remembers::of(words, &kinds);
    let day = Span::from_micros(24 * HOUR).unwrap();
    assert_eq!(of("fair"), Some(Remembers::Nothing));
    assert_eq!(of("long-term"), Some(Remembers::Forever));
    assert_eq!(of("long-term,half_life=1d"), Some(Remembers::HalfLife(day)));
    assert_eq!(of("long-term-drf,round=24h"), Some(Remembers::Round(day)));
    assert_eq!(of("mine"), None);
}

/// One tenant works all day, another comes each evening: a memory serves the second at once.
const LENDER: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 8 }
[[queue]]
name = "always"
order = "fifo"
[[queue]]
name = "evening"
order = "fifo"
[[generator]]
queue = "always"
arrivals = { every = "30s" }
until = "8h"
tasks = 4
duration = "1min"
demand = { cpu = 1 }
[[generator]]
queue = "evening"
arrivals = { every = "2h" }
start = "2h"
until = "8h"
tasks = 200
duration = "1min"
demand = { cpu = 1 }
"#;

#[test]
fn a_log_is_answered_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("lender.toml");
    std::fs::write(&log, LENDER).unwrap();
    let request = AdviceRequest {
        log,
        sets: Vec::new(),
        policies: ["long-term,half_life=1h", "long-term"].map(str::to_owned).to_vec(),
        loads: Vec::new(),
        seeds: 1,
        aims: Aims::read(None, &["heavy=none".to_owned(), "mean=none".to_owned()]).unwrap(),
        strict: true,
    };
    let question = Question::prepare(&request).unwrap();
    let (advice, results) = question.answer(1, &|_| ()).unwrap();
    assert_eq!(advice.replicates, 3);
    let chosen = &advice.candidates[advice.chosen];
    assert!(chosen.policy.starts_with("long-term") && chosen.gains, "{advice:?}");
    let (again, _) = question.answer(3, &|_| ()).unwrap();
    assert_eq!(advice, again);
    let json: serde_json::Value = serde_json::from_str(&page::to_json(&question, &advice)).unwrap();
    assert_eq!(json["chosen"], chosen.policy.as_str());
    let words = page::page(&question, &advice, Some(&results), &[]);
    assert!(words.lead[0].starts_with(&format!("Choose {}.", chosen.policy)), "{}", words.lead[0]);
    assert_eq!(words.sections.len(), 3);
}

#[test]
fn loads_are_relative_to_the_log_s_own() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("lender.toml");
    std::fs::write(&log, format!("{LENDER}\n[run]\nload = 2\n")).unwrap();
    let request = AdviceRequest {
        log,
        sets: Vec::new(),
        policies: vec!["long-term".to_owned()],
        loads: vec![500, 1500],
        seeds: 1,
        aims: Aims::read(None, &[]).unwrap(),
        strict: true,
    };
    let question = Question::prepare(&request).unwrap();
    assert_eq!(question.grid().axes[0].values, ["1", "3"]);
    let only_fair = AdviceRequest { policies: vec![BASELINE.to_owned()], ..request };
    assert!(Question::prepare(&only_fair).is_err());
}
