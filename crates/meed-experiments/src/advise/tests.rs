//! Choices from made-up figures, settings from known memories, and one log for real.

use meed::{ResourceKinds, Span, Unit};
use meed_report::page::Block;
use meed_workload::OnBadLine;

use super::aims::{Aims, FIGURES, thousandths};
use super::choice::weigh;
use super::memory::Remembers;
use super::seen::{Seen, TenantSeen};
use super::settings::SCHEDULERS;
use super::*;

const HOUR: u64 = 3_600_000_000;

/// Twenty tenants with these waits, in rising order of their use.
fn seen_of(waits: &[f64], mean: f64, waited: f64) -> Seen {
    let tenant = |(number, wait): (usize, &f64)| TenantSeen {
        name: format!("t{number}"),
        used: number as f64,
        wait_s: Some(*wait),
        ..TenantSeen::default()
    };
    let of = |waits: &[f64]| waits.iter().sum::<f64>() / waits.len() as f64;
    let figure = |name: &str| match name {
        "light" => Some(of(&waits[..waits.len().div_ceil(2)])),
        "heavy" => Some(of(&waits[waits.len() - waits.len().div_ceil(10)..])),
        "mean" => Some(mean),
        _ => None,
    };
    Seen {
        figures: FIGURES.iter().map(|row| figure(row.name)).collect(),
        tenants: waits.iter().enumerate().map(tenant).collect(),
        waited: Some(waited),
        ..Seen::default()
    }
}

/// The light half waits `light`, the two heaviest `heavy`.
fn seen([light, heavy, mean]: [f64; 3]) -> Seen {
    let wait = |number: usize| if number < 18 { light } else { heavy };
    seen_of(&(0..20).map(wait).collect::<Vec<_>>(), mean, 1.0)
}

fn advice(aims: &Aims, rows: &[(&str, [[f64; 3]; 3])]) -> Advice {
    let names: Vec<String> = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
    let runs: Vec<Vec<Seen>> = rows.iter().map(|(_, all)| all.map(seen).to_vec()).collect();
    weigh(aims, &names, &runs, &[])
}

fn chosen(aims: &Aims, rows: &[(&str, [[f64; 3]; 3])]) -> (String, Vec<bool>, Vec<bool>) {
    let advice = advice(aims, rows);
    let name = advice.candidates[advice.chosen].policy.clone();
    let as_good = advice.candidates.iter().map(|one| one.as_good).collect();
    (name, as_good, advice.candidates.iter().map(|one| one.gains).collect())
}

const BASE: (&str, [[f64; 3]; 3]) =
    ("fair", [[10.0, 100.0, 50.0], [12.0, 110.0, 52.0], [14.0, 120.0, 54.0]]);

#[test]
fn the_smallest_within_its_bounds_is_chosen() {
    let aims = Aims::read(None, &[]).unwrap();
    let best = ("best", [[4.0, 140.0, 50.0], [5.0, 150.0, 52.0], [6.0, 160.0, 54.0]]);
    let better_but_heavy = ("heavy", [[1.0, 900.0, 50.0], [1.0, 900.0, 52.0], [1.0, 900.0, 54.0]]);
    let worse = ("worse", [[5.0, 100.0, 50.0], [6.0, 110.0, 52.0], [7.0, 120.0, 54.0]]);
    let (name, as_good, gains) = chosen(&aims, &[BASE, better_but_heavy, worse, best]);
    assert_eq!(name, "best");
    assert_eq!(as_good, [false, false, false, true]);
    assert_eq!(gains, [false, true, true, true]);
    // Without the bound the other one is.
    let free = Aims::read(None, &["heavy=none".to_owned()]).unwrap();
    assert_eq!(chosen(&free, &[BASE, better_but_heavy, worse, best]).0, "heavy");
}

/// Of the light half these gain so much each, the others nothing; base waits are 1000 s.
fn gains_of(gains: &[f64]) -> Vec<f64> {
    (0..20).map(|number| 1000.0 - gains.get(number).copied().unwrap_or(0.0)).collect()
}

#[test]
fn a_gain_of_one_tenant_is_told_and_is_chance() {
    let aims = Aims::read(None, &[]).unwrap();
    let names = ["fair", "one", "all"].map(str::to_owned);
    let runs = |waits: [&[f64]; 3]| -> Vec<Vec<Seen>> {
        waits.map(|waits| vec![seen_of(&gains_of(waits), 50.0, 1.0); 3]).to_vec()
    };
    // One gains 900 s and two lose 100: 70 s in the mean, at each load, and drawn anew often not.
    let one = weigh(&aims, &names[..2], &runs([&[], &[900.0, -100.0, -100.0], &[]])[..2], &[]);
    assert_eq!(one.chosen, 0, "{one:?}");
    assert!(one.candidates[1].figures[0].as_ref().unwrap().ratio.unwrap() < 0.94);
    // All gain, one of them most.
    let many = [400.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 59.0, 60.0, -70.0];
    let all = weigh(&aims, &names, &runs([&[], &[900.0, -100.0, -100.0], &many]), &[]);
    assert_eq!(all.chosen, 2);
    let people = all.people.unwrap();
    assert_eq!((people.gain, people.lose, people.of), (9, 1, 20));
    assert_eq!(people.median_s, Some([1000.0, 940.0]));
    let (name, part) = people.one.unwrap();
    assert!(name == "t0" && (part - 400.0 / 939.0).abs() < 1e-9, "{name} {part}");
}

#[test]
fn among_equals_the_one_is_chosen_that_the_site_can_be_told() {
    let aims = Aims::read(None, &[]).unwrap();
    let names = ["fair", "forever", "week"].map(str::to_owned);
    // Half the tenants fare a little better under the one, half under the other.
    let forever: Vec<f64> = (0..20).map(|n| if n % 2 == 0 { 105.0 } else { 100.0 }).collect();
    let week: Vec<f64> = (0..20).map(|n| if n % 2 == 0 { 100.0 } else { 104.9 }).collect();
    let of = |gains: &[f64]| vec![seen_of(&gains_of(gains), 50.0, 1.0); 3];
    let runs = [of(&[]), of(&forever), of(&week)];
    let chosen = |telling: &[(bool, usize)]| weigh(&aims, &names, &runs, telling).chosen;
    assert_eq!(chosen(&[]), 1, "the smaller figure");
    assert_eq!(chosen(&[(false, 0), (true, 4), (true, 9)]), 2, "more can be told");
    assert_eq!(chosen(&[(false, 0), (true, 4), (false, 9)]), 1, "the site's own first");
}

#[test]
fn of_a_cluster_that_is_seldom_full_nothing_is_recommended() {
    let aims = Aims::read(None, &[]).unwrap();
    let names = ["fair", "better"].map(str::to_owned);
    let of = |gains: &[f64], waited: f64| vec![seen_of(&gains_of(gains), 50.0, waited); 3];
    let advice =
        |waited: f64| weigh(&aims, &names, &[of(&[], waited), of(&[500.0; 20], waited)], &[]);
    assert_eq!((advice(0.049).chosen, advice(0.049).seldom_full), (0, Some(0.049)));
    assert_eq!((advice(0.05).chosen, advice(0.05).seldom_full), (1, None));
}

#[test]
fn of_few_tenants_and_no_time_nothing_can_be_told() {
    let aims = Aims::read(None, &[]).unwrap();
    let names = ["fair", "better"].map(str::to_owned);
    let runs = [vec![seen_of(&[10.0; 4], 50.0, 1.0)], vec![seen_of(&[1.0; 4], 50.0, 1.0)]];
    let some = weigh(&aims, &names, &runs, &[]);
    assert_eq!((some.chosen, some.drawn), (0, [false; 2]));
    assert!(some.candidates.iter().all(|one| !one.gains && one.as_good), "{some:?}");
}

#[test]
fn nobody_waits_so_nothing_is_gained() {
    let aims = Aims::read(None, &[]).unwrap();
    let idle = [[0.0, 0.0, 50.0]; 3];
    assert_eq!(chosen(&aims, &[("fair", idle), ("a", idle)]).0, "fair");
}

#[test]
fn a_site_has_the_order_of_the_scheduler_whose_log_it_is() {
    use meed_workload::format::TraceFormat;
    let words = |format| site::of_format(format).words;
    assert_eq!(words(Some(TraceFormat::Sacct)), "fair-tree,half_life=7d");
    assert_eq!(words(Some(TraceFormat::Pbs)), "pbs");
    assert_eq!(words(Some(TraceFormat::Swf)), "fair");
    assert_eq!(words(None), "fair");
    let day = Remembers::HalfLife(Span::from_micros(24 * HOUR).unwrap());
    let told = |words: &str, memory| site::with_memory(words, memory);
    assert_eq!(told("fair-tree,half_life=7d", day).as_deref(), Some("fair-tree,half_life=1d"));
    assert_eq!(told("pbs", day).as_deref(), Some("pbs,decay_time=1d"));
    assert_eq!(told("fair", day), None);
    assert_eq!(told("fair-tree", Remembers::Forever), None);
}

#[test]
fn a_bound_is_kept_at_equality_and_broken_above() {
    let aims = Aims::read(Some("light"), &["mean=1.1".to_owned()]).unwrap();
    let at = ("at", [[4.0, 100.0, 55.0], [5.0, 110.0, 57.2], [6.0, 120.0, 59.4]]);
    let above = ("above", [[3.0, 100.0, 55.1], [4.0, 110.0, 57.2], [5.0, 120.0, 59.4]]);
    assert_eq!(chosen(&aims, &[BASE, above, at]).0, "at");
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
    // Slurm takes whole minutes: it reads 90 s as two.
    let half = Remembers::HalfLife(Span::from_secs(90).unwrap());
    assert_eq!(told(half)[1].as_deref(), Some("PriorityDecayHalfLife=0-00:02:00"));
    let remark = |at: usize| SCHEDULERS[at].setting(half).remark;
    assert!(remark(1).contains("whole minutes") && remark(1).contains("PriorityWeightFairshare"));
    assert!(remark(7).contains("weight_tickets_share"));
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
const LENDER: &str = include_str!("lender.toml");

/// What is asked of [`LENDER`].
fn asked_of_lender(baseline: Option<Baseline>, policies: &[&str]) -> Question {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("lender.toml");
    std::fs::write(&log, LENDER).unwrap();
    let request = AdviceRequest {
        log,
        settings: Vec::new(),
        baseline,
        policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
        loads: Vec::new(),
        seeds: 1,
        aims: Aims::read(None, &["heavy=none".to_owned(), "mean=none".to_owned()]).unwrap(),
        reading: OnBadLine::Stop.into(),
    };
    Question::prepare(&request).unwrap()
}

#[test]
fn a_log_is_answered_and_threads_do_not_matter() {
    let question = asked_of_lender(None, &["long-term,half_life=1h", "long-term"]);
    let answer = question.answer(1, &|_| ()).unwrap();
    let advice = &answer.advice;
    assert_eq!(advice.replicates, 3);
    let chosen = &advice.candidates[advice.chosen];
    assert!(chosen.policy.starts_with("long-term") && chosen.gains, "{advice:?}");
    let again = question.answer(3, &|_| ()).unwrap();
    assert_eq!(*advice, again.advice);
    let notes = ["assumed cluster: of a test".to_owned(), "other".to_owned()];
    let json = page::to_json(&question, &answer, &notes);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["chosen"], chosen.policy.as_str());
    assert_eq!(json["assumptions"][0], notes[0].as_str());
    let words = page::page(&question, &answer, true, &notes);
    assert_eq!(words.lead[0], "Assumed cluster: of a test.");
    assert!(words.lead[1].starts_with(&format!("Choose {}.", chosen.policy)), "{}", words.lead[1]);
    // What to do comes before what else was tried; the terminal has no pictures.
    let ids = |page: &meed_report::page::Page| -> Vec<String> {
        page.sections.iter().map(|section| section.id.clone()).collect()
    };
    assert_eq!(ids(&words), ["before-after", "settings", "candidates", "spread"]);
    let Block::Pairs(pairs) = &words.sections[0].blocks[0] else { panic!("{words:?}") };
    let names: Vec<&str> = pairs.points.iter().map(|point| point.name.as_str()).collect();
    assert_eq!(names, ["always", "evening"]);
    assert!(pairs.points[1].now_s < pairs.points[1].before_s, "{pairs:?}");
    let plain = page::page(&question, &answer, false, &notes);
    assert_eq!(ids(&plain), ["candidates", "settings"]);
}

#[test]
fn the_setting_stands_in_the_words_of_the_site_s_scheduler() {
    let fair_tree = Baseline::asked("fair-tree,half_life=1min");
    let question = asked_of_lender(Some(fair_tree), &["long-term,half_life=14d"]);
    let answer = question.answer(1, &|_| ()).unwrap();
    let told = page::page(&question, &answer, true, &[]);
    let expected =
        "Choose long-term,half_life=14d: in slurm.conf PriorityDecayHalfLife=14-00:00:00.";
    assert!(told.lead[0].starts_with(expected), "{}", told.lead[0]);
}

#[test]
fn loads_are_relative_to_the_log_s_own() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("lender.toml");
    std::fs::write(&log, format!("{LENDER}\n[run]\nload = 2\n")).unwrap();
    let request = AdviceRequest {
        log,
        settings: Vec::new(),
        baseline: None,
        policies: vec!["long-term".to_owned()],
        loads: vec![500, 1500],
        seeds: 1,
        aims: Aims::read(None, &[]).unwrap(),
        reading: OnBadLine::Stop.into(),
    };
    let question = Question::prepare(&request).unwrap();
    let loads = question.scenarios.iter().map(|one| one.load_factor().thousandths());
    assert_eq!(loads.collect::<Vec<_>>(), [1000, 3000]);
    let only_fair = AdviceRequest { policies: vec![FAIR.to_owned()], ..request };
    assert!(Question::prepare(&only_fair).is_err());
}
