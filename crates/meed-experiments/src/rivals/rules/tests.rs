//! Each rule against vectors of its own origin, and against its formula computed from the whole
//! history at once.

use meed::Rank;
use proptest::prelude::*;

use super::super::rule::{Child, DominantPart, KeptOrder, Rule, Seen, fill, kept, strict};
use super::super::table::{Chosen, RIVALS};
use super::condor::real_priority;
use super::fair_tree::level_fairshare;
use super::kai::{Queue, divide};
use super::karma::{Tenant, grant, settle};
use super::kueue_afs::alpha;
use super::pbs::usage_by_percentage;
use super::sge::targets;

pub(super) fn near(a: f64, b: f64, part: f64) -> bool {
    (a - b).abs() <= part * a.abs().max(b.abs())
}

/// What children are at a tick: (held, waits).
pub(super) type Row = Vec<(f64, f64)>;

pub(super) fn children(row: &Row, weights: &[f64], seconds: f64) -> Vec<Child> {
    let child = |(&(held, waits), &weight): (&(f64, f64), &f64)| Child {
        weight,
        held,
        wants: held + waits,
        used: held * seconds,
        active: 0.0,
        is_leaf: true,
        part: DominantPart {
            used: held / 100.0,
            held: held / 100.0,
            wants: (held + waits) / 100.0,
        },
    };
    row.iter().zip(weights).map(child).collect()
}

pub(super) fn seen(children: &[Child], seconds: f64) -> Seen<'_> {
    Seen { seconds, capacity: 100.0, unit: 1000.0, children }
}

/// Ranks after a history of ticks.
fn ranks(rule: &mut dyn Rule, history: &[Row], weights: &[f64], seconds: f64) -> Vec<Rank> {
    let mut ranks = Vec::new();
    for row in history {
        let children = children(row, weights, seconds);
        rule.tick(&seen(&children, seconds));
        rule.ranks(&seen(&children, seconds), &mut ranks);
    }
    ranks
}

pub(super) fn rule(words: &str) -> Box<dyn Rule> {
    Chosen::find(words, None).unwrap().expect("a rival").rule()
}

// Vectors of their own origin.

/// Slurm: LF = S / U; without shares 0, without use no bound. d over a half-life is about a half.
#[test]
fn slurm_level_fairshare() {
    assert_eq!(level_fairshare(10.0, 40.0, 50.0, 100.0), 0.5);
    assert_eq!(level_fairshare(0.0, 40.0, 50.0, 100.0), 0.0);
    assert_eq!(level_fairshare(10.0, 40.0, 0.0, 100.0), f64::INFINITY);
    assert_eq!(level_fairshare(10.0, 40.0, 0.0, 0.0), f64::INFINITY);
    let half_life = 7.0 * 86_400.0;
    let half = libm::pow(1.0 - 0.693 / half_life, half_life);
    assert!((half - 0.5).abs() < 1e-4, "{half}");
}

/// Users come before accounts that stand equal, and accounts are told apart by their use.
#[test]
fn slurm_ranks_users_before_accounts() {
    let row = |held: f64, is_leaf: bool| Child {
        weight: 1.0,
        held,
        wants: held,
        used: held * 300.0,
        active: 0.0,
        is_leaf,
        part: DominantPart::default(),
    };
    let all = [row(2.0, false), row(2.0, true), row(0.0, false), row(5.0, true), row(0.0, true)];
    let (mut rule, mut ranks) = (rule("fair-tree"), Vec::new());
    rule.tick(&seen(&all, 300.0));
    rule.ranks(&seen(&all, 300.0), &mut ranks);
    let places: Vec<u64> = ranks.iter().map(|rank| rank.amount).collect();
    assert_eq!(places, [3, 2, 1, 4, 0]);
}

/// At a reset all usage is forgotten, and counted anew from then on, however many ticks are told at
/// once.
#[test]
fn slurm_forgets_at_a_reset() {
    let first = || vec![(9.0, 1.0), (1.0, 1.0)];
    let second = || vec![(1.0, 1.0), (9.0, 1.0)];
    let after = |words: &str, history: &[Row]| {
        ranks(rule(words).as_mut(), history, &[1.0, 1.0], 300.0).iter().map(|r| r.amount).collect()
    };
    // An hour of the one, then a quarter of an hour of the other.
    let history: Vec<Row> = [vec![first(); 12], vec![second(); 3]].concat();
    let kept: Vec<u64> = after("fair-tree,half_life=0", &history);
    let reset: Vec<u64> = after("fair-tree,half_life=0,reset=1h", &history);
    assert_eq!((kept, reset), (vec![2, 0], vec![0, 2]));
    let at_once = |more: u64| {
        let mut rule = rule("fair-tree,half_life=0,reset=1h");
        for (row, times) in [(first(), more), (second(), 3)] {
            let all = children(&row, &[1.0, 1.0], 300.0);
            rule.ticks(&seen(&all, 300.0), times);
        }
        let mut ranks = Vec::new();
        let all = children(&second(), &[1.0, 1.0], 300.0);
        rule.ranks(&seen(&all, 300.0), &mut ranks);
        ranks.iter().map(|rank| rank.amount).collect::<Vec<u64>>()
    };
    assert_eq!(at_once(12), [0, 2]);
    assert_eq!(at_once(24), [0, 2]);
}

/// HTCondor's manual: 100 cores for two days at a half-life of a day make a real user priority of
/// 75, whether it is updated once or each minute.
#[test]
fn condor_hundred_cores_for_two_days_make_75() {
    let day = 86_400.0;
    assert_eq!(real_priority(0.0, 100.0, kept(day, 2.0 * day)), 75.0);
    let each_minute = (0..2880).fold(0.0, |rup, _| real_priority(rup, 100.0, kept(day, 60.0)));
    assert!(near(each_minute, 75.0, 1e-12), "{each_minute}");
    // From the floor of a half, as a real user starts.
    assert_eq!(real_priority(0.5, 100.0, kept(day, 2.0 * day)), 75.125);
}

/// The pie: real user priorities of 5 and 20 are slices of 80 and 20 %; and a weight of 2 makes
/// twice the share in the long run.
#[test]
fn condor_cuts_the_pie_by_one_over_priority() {
    let quotas = |weights: &[f64], held: &[f64]| {
        let day = 86_400.0;
        let mut rule = rule("condor");
        let mut ranks = Vec::new();
        let row: Row = held.iter().map(|&held| (held, 1000.0)).collect();
        let all = children(&row, weights, day);
        for _ in 0..60 {
            rule.tick(&seen(&all, day));
        }
        rule.ranks(&seen(&all, day), &mut ranks);
        ranks.iter().map(|rank| rank.quota as f64 / 1000.0).collect::<Vec<_>>()
    };
    for (got, wanted) in quotas(&[1.0, 1.0], &[5.0, 20.0]).into_iter().zip([80.0, 20.0]) {
        assert!(near(got, wanted, 1e-4), "{got} for {wanted}");
    }
    // At its steady state, shares of 2 : 1 stay as they are.
    let held = [200.0 / 3.0, 100.0 / 3.0];
    for (got, wanted) in quotas(&[2.0, 1.0], &held).into_iter().zip(held) {
        assert!(near(got, wanted, 1e-4), "{got} for {wanted}");
    }
}

/// man pbsfs: pbsuser3 has used 1000 and is to have 24 %: 4167. Its effective usage is 0.832973.
#[test]
fn pbs_man_page() {
    assert_eq!(usage_by_percentage(1000.0, 0.4 * 0.6).round(), 4167.0);
    assert_eq!(usage_by_percentage(1001.0, 0.6).round(), 1668.0);
    // u + (u of its group - u) * its part of the group's shares.
    let (group, own) = (1001.0 / 1201.0, 1000.0 / 1201.0);
    let effective: f64 = own + (group - own) * 0.4;
    assert_eq!((effective * 1e6).round(), 832_973.0);
    assert_eq!(usage_by_percentage(1.0, 0.0), f64::INFINITY);
}

/// PBS forgets in steps: a day's use counts in full until midnight, and half from then on.
#[test]
fn pbs_halves_once_a_day() {
    let places = |ticks: usize| {
        let mut history: Vec<Row> = vec![vec![(10.0, 0.0), (0.0, 0.0)]; 6];
        history.resize(ticks, vec![(0.0, 0.0), (6.0, 0.0)]);
        let got = ranks(rule("pbs").as_mut(), &history, &[1.0, 1.0], 3600.0);
        (got[0].amount, got[1].amount)
    };
    // 60 core-hours to 60 at hour 16, 102 at hour 23; halves at hour 24: 30 to 54.
    assert_eq!(places(15), (1, 0));
    assert_eq!(places(23), (0, 1));
    let (first, second) = (1.0 + 60.0 * 3600.0, 1.0 + 108.0 * 3600.0);
    assert!(first / 2.0 < second / 2.0 && places(24) == (0, 1));
}

/// Kueue: CalculateAlphaRate; a sample at the half-life counts a half, without one nothing counts.
#[test]
fn kueue_alpha_rate() {
    assert_eq!(alpha(300.0, 300.0), 0.5);
    assert_eq!(alpha(600.0, 300.0), 0.75);
    assert_eq!(alpha(300.0, 0.0), 0.0);
}

/// The penalty of an entry: equal in usage, two queues take turns as they start.
#[test]
fn kueue_penalties_alternate() {
    let got = ranks(
        rule("kueue-afs,half_life=5min").as_mut(),
        &[vec![(8.0, 9.0), (4.0, 9.0)]],
        &[1.0, 1.0],
        300.0,
    );
    let key = |rank: &Rank, held: f64| {
        rank.amount as f64
            + f64::from(rank.step) * held * 1000.0 / f64::from(rank.per.get()) * 1000.0
    };
    assert_eq!(got[0].step, got[1].step);
    // Usage 4 and 2 of which the penalty is a half a core: with 8 and 8 held it is 4 to 4.
    let scale = f64::from(got[0].step) * 1000.0;
    assert!(near(key(&got[0], 8.0) / scale, 8.0, 1e-6), "{got:?}");
    assert!(near(key(&got[1], 8.0) / scale, 8.0, 1e-6), "{got:?}");
}

/// KAI: the table of its unit tests (two queues, deserved 2, request 6 unless said otherwise).
#[test]
fn kai_divides_as_its_unit_tests() {
    let queue = |weight: f64, request: f64| Queue { deserved: 2.0, weight, request, usage: 0.0 };
    for (total, queues, wanted, left) in [
        (15.0, [queue(2.0, 6.0), queue(2.0, 6.0)], [6.0, 6.0], 3.0),
        (12.0, [queue(2.0, 6.0), queue(2.0, 6.0)], [6.0, 6.0], 0.0),
        (8.0, [queue(1.0, 6.0), queue(3.0, 6.0)], [3.0, 5.0], 0.0),
        (11.0, [queue(1.0, 10.0), queue(4.0, 10.0)], [3.0, 8.0], 0.0),
        (11.0, [queue(2.0, 6.0), queue(2.0, 6.0)], [6.0, 5.0], 0.0),
    ] {
        assert_eq!(divide(total, 0.0, &queues), (wanted.to_vec(), left), "{total}");
    }
    let one = |total: f64, deserved: f64, weight: f64, request: f64| {
        divide(total, 0.0, &[Queue { deserved, weight, request, usage: 0.0 }])
    };
    assert_eq!(one(3.0, 3.0, 0.0, 2.0), (vec![2.0], 1.0));
    assert_eq!(one(7.0, 3.0, 0.0, 5.0), (vec![3.0], 4.0));
    assert_eq!(one(2.0, 1.5, 0.0, 2.0), (vec![1.5], 0.5));
    assert_eq!(one(6.0, 0.0, 1.0, 5.0), (vec![5.0], 1.0));
}

/// Of two equal queues, the one that had all of the cluster for the whole window gets nothing
/// beyond what it deserves at k = 1, and three quarters of its part at k = 0.
#[test]
fn kai_takes_from_who_used_more() {
    let queue = |usage: f64| Queue { deserved: 0.0, weight: 1.0, request: 100.0, usage };
    assert_eq!(divide(100.0, 1.0, &[queue(1.0), queue(0.0)]), (vec![0.0, 100.0], 0.0));
    assert_eq!(divide(100.0, 0.0, &[queue(1.0), queue(0.0)]), (vec![50.0, 50.0], 0.0));
    assert_eq!(divide(100.0, 1.0, &[queue(0.75), queue(0.25)]), (vec![25.0, 75.0], 0.0));
}

/// The authors' example: three tenants, 18 slices of which half are shared. Each gets 24 of what it
/// wants over five quanta, whereas max-min would give 24, 24 and 20.
#[test]
fn karma_example_of_three() {
    let demands =
        [[6.0, 6.0, 0.0], [12.0, 0.0, 0.0], [0.0, 12.0, 0.0], [6.0, 6.0, 18.0], [6.0, 6.0, 12.0]];
    let (mut credits, mut sums) = ([6.0; 3], [0.0; 3]);
    for demands in demands {
        let tenants = |amounts: &[f64]| {
            let tenant = |&amount: &f64| Tenant { guaranteed: 3.0, amount, price: 1.0 };
            amounts.iter().map(tenant).collect::<Vec<_>>()
        };
        // Free credits come first, for all alike: they change no order.
        let grants = grant(9.0, &credits, &tenants(&demands));
        settle(9.0, &mut credits, &tenants(&grants));
        sums.iter_mut().zip(&grants).for_each(|(sum, grant)| *sum += grant);
    }
    assert_eq!(sums, [24.0, 24.0, 24.0]);
    assert_eq!(credits, [12.0, 12.0, 12.0]);
    let max_min: Vec<f64> = demands
        .iter()
        .map(|row| fill(18.0, &row.map(|d| (1.0, d)), &mut KeptOrder::default())[2])
        .collect();
    assert_eq!(max_min.iter().sum::<f64>(), 12.0);
}

/// Grid Engine: targets fall with usage and rise with the square of shares; who has no jobs counts
/// in no sum; a target far above the long term one is compensated.
#[test]
fn sge_targets() {
    assert_eq!(targets(&[(1.0, 300.0, true), (1.0, 100.0, true)], 5.0), [0.25, 0.75]);
    assert_eq!(targets(&[(2.0, 300.0, true), (1.0, 75.0, true)], 0.0), [0.5, 0.5]);
    let idle = [(1.0, 300.0, true), (1.0, 100.0, true), (4.0, 1.0, false)];
    assert_eq!(targets(&idle, 0.0)[..2], [0.25, 0.75]);
    // One of ten has used 1 where the others have used 91 each: shr 1 and nine of 1/91, so a target
    // of 0.91 where a tenth is its due; five times that is 0.5, so shr becomes 0.5 / 0.91.
    let mut all = vec![(1.0, 91.0, true); 10];
    all[0].1 = 1.0;
    let plain = targets(&all, 0.0);
    assert!(near(plain[0], 91.0 / 100.0, 1e-12), "{plain:?}");
    let first = 0.5 / 0.91;
    let compensated = targets(&all, 5.0);
    assert!(near(compensated[0], first / (first + 9.0 / 91.0), 1e-12), "{compensated:?}");
}

/// Grid Engine 8.1.9: use of a user without jobs does not count against the group. Measured: one
/// group of two users, one of them idle, and a group of one; tickets of the level are 62,259 to
/// 37,741 where the use of all would make 68,185 to 31,815.
#[test]
fn sge_counts_users_with_jobs_in_their_groups() {
    let child = |used: f64, wants: f64| Child {
        weight: 1.0,
        held: 0.0,
        wants,
        used,
        active: 0.0,
        is_leaf: true,
        part: DominantPart::default(),
    };
    let mut group = rule("sge,halftime=0,compensation=0");
    let members = [child(300.0, 5.0), child(700.0, 0.0)];
    let told = seen(&members, 60.0);
    group.tick(&told);
    let active = group.active(&told);
    assert_eq!(active, 300.0, "the second has no jobs");
    let mut level = rule("sge,halftime=0,compensation=0");
    let groups =
        [Child { used: 1000.0, active, is_leaf: false, ..child(0.0, 5.0) }, child(100.0, 5.0)];
    level.tick(&seen(&groups, 60.0));
    let mut ranks = Vec::new();
    level.ranks(&seen(&groups, 60.0), &mut ranks);
    let part = |rank: &Rank| f64::from(rank.per.get()) / f64::from(1u32 << 31);
    assert!(near(part(&ranks[0]), 0.25, 1e-6) && near(part(&ranks[1]), 0.75, 1e-6), "{ranks:?}");
    // As a group of a level above.
    assert_eq!(level.active(&seen(&groups, 60.0)), 400.0);
}

// Slow twins.

/// Shares by rounds: each round gives what is left in proportion, until nobody is satisfied.
fn fill_by_rounds(capacity: f64, all: &[(f64, f64)]) -> Vec<f64> {
    let mut shares = vec![0.0; all.len()];
    let mut left = capacity;
    for _ in 0..10 * all.len() + 10 {
        let open: Vec<usize> =
            (0..all.len()).filter(|&i| all[i].0 > 0.0 && shares[i] < all[i].1).collect();
        let weights: f64 = open.iter().map(|&i| all[i].0).sum();
        let round = left;
        for i in open {
            let part = (round * all[i].0 / weights).min(all[i].1 - shares[i]);
            (shares[i], left) = (shares[i] + part, left - part);
        }
    }
    shares
}

/// Slice by slice: the richest borrower takes one and pays one; the poorest donor earns one.
fn karma_by_slices(shared: u32, guaranteed: u32, credits: &mut [i64], demands: &[u32]) -> Vec<u32> {
    let mut grants: Vec<u32> = demands.iter().map(|&demand| demand.min(guaranteed)).collect();
    let mut donated: Vec<u32> = grants.iter().map(|&grant| guaranteed - grant).collect();
    let supply = shared + donated.iter().sum::<u32>();
    for _ in 0..supply {
        let open = (0..demands.len()).filter(|&i| grants[i] < demands[i]);
        let Some(richest) = open.max_by_key(|&i| (credits[i], std::cmp::Reverse(i))) else { break };
        (grants[richest], credits[richest]) = (grants[richest] + 1, credits[richest] - 1);
        let donors = (0..demands.len()).filter(|&i| donated[i] > 0);
        if let Some(poorest) = donors.min_by_key(|&i| (credits[i], i)) {
            (donated[poorest], credits[poorest]) = (donated[poorest] - 1, credits[poorest] + 1);
        }
    }
    grants
}

pub(super) fn history() -> impl Strategy<Value = (Vec<Row>, Vec<f64>)> {
    (2usize..6, 1usize..40).prop_flat_map(|(tenants, ticks)| {
        let cell = (0u32..40, prop_oneof![Just(0u32), 1u32..60])
            .prop_map(|(held, waits)| (f64::from(held) / 2.0, f64::from(waits)));
        let row = prop::collection::vec(cell, tenants);
        let weights = prop::collection::vec((1u32..5).prop_map(f64::from), tenants);
        (prop::collection::vec(row, ticks), weights)
    })
}

/// The order of `ranks` is that of `values`, the least first, wherever these differ.
fn is_order_of(ranks: &[Rank], values: &[f64]) -> Result<(), TestCaseError> {
    for i in 0..values.len() {
        for j in 0..values.len() {
            if values[i] < values[j] && !near(values[i], values[j], 1e-9) {
                let places = (ranks[i].amount, ranks[j].amount);
                prop_assert!(places.0 < places.1, "{values:?} {ranks:?}");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_pie_is_what_rounds_come_to(
        capacity in 0.0f64..300.0,
        all in prop::collection::vec((0u32..5, 0.0f64..100.0), 0..9),
    ) {
        let all: Vec<(f64, f64)> = all.into_iter().map(|(w, d)| (f64::from(w), d)).collect();
        let rounds = fill_by_rounds(capacity, &all);
        let filled = fill(capacity, &all, &mut KeptOrder::default());
        for (got, wanted) in filled.into_iter().zip(rounds) {
            prop_assert!((got - wanted).abs() < 1e-6, "{got} for {wanted}");
        }
    }

    /// Fair Tree and Volcano: each piece of use, by how long ago it was.
    #[test]
    fn decayed_use_is_the_sum_over_all_ticks((history, weights) in history()) {
        let (seconds, half_life) = (300.0, 3600.0);
        let d: f64 = 1.0 - 0.693 / half_life;
        let sum = |i: usize, old: &dyn Fn(f64) -> f64| -> f64 {
            let ago = |k: usize| (history.len() - k) as f64 * seconds;
            (0..history.len()).map(|k| history[k][i].0 * seconds * old(ago(k))).sum()
        };
        let tenants = 0..weights.len();
        let slurm = |i: usize| sum(i, &|ago| libm::pow(d, ago)) / weights[i];
        let got = ranks(rule("fair-tree,half_life=1h").as_mut(), &history, &weights, seconds);
        is_order_of(&got, &tenants.clone().map(slurm).collect::<Vec<_>>())?;
        let each: f64 = 1.0 - std::f64::consts::LN_2 / half_life * 60.0;
        let last = history.last().expect("a tick");
        let sge = |i: usize| {
            let usage = sum(i, &|ago| libm::pow(each, (ago - seconds) / 60.0));
            (weights[i], usage, last[i].0 + last[i].1 > 0.0)
        };
        let children: Vec<(f64, f64, bool)> = tenants.clone().map(sge).collect();
        let got = ranks(rule("sge,halftime=1h").as_mut(), &history, &weights, seconds);
        for (rank, target) in got.iter().zip(targets(&children, 5.0)) {
            let told = f64::from(rank.per.get()) / f64::from(1u32 << 31);
            prop_assert!((told - target.min(1.0)).abs() < 1e-6, "{told} for {target}");
        }
        let volcano = |i: usize| {
            libm::floor(sum(i, &|ago| libm::exp2(-(ago - seconds) / half_life)))
        };
        let got = ranks(rule("volcano,half_life=1h").as_mut(), &history, &weights, seconds);
        let values: Vec<f64> = tenants.map(volcano).collect();
        for i in 0..values.len() {
            for j in 0..values.len() {
                // A second more or less by rounding is no other order.
                if values[i] + 1.5 < values[j] {
                    prop_assert!(got[i].amount < got[j].amount, "{values:?} {got:?}");
                }
            }
        }
    }

    /// HTCondor and Kueue: the moving average, written out.
    #[test]
    fn moving_averages_are_the_sums_over_all_ticks((history, weights) in history()) {
        let (seconds, half_life) = (300.0, 3600.0);
        let b = libm::exp2(-seconds / half_life);
        let average = |i: usize, start: f64| -> f64 {
            let n = history.len();
            let old = |k: usize| libm::pow(b, (n - 1 - k) as f64);
            let parts = (0..n).map(|k| history[k][i].0 * (1.0 - b) * old(k));
            start * libm::pow(b, n as f64) + parts.sum::<f64>()
        };
        // The floor is left out where it would have mattered: nobody falls below a half.
        let low = (0..weights.len()).any(|i| history.iter().any(|row| row[i].0 < 0.5));
        if !low {
            let eup = |i: usize| average(i, 0.5) / (weights[i] * weights[i]);
            let got = ranks(rule("condor,half_life=1h").as_mut(), &history, &weights, seconds);
            is_order_of(&got, &(0..weights.len()).map(eup).collect::<Vec<_>>())?;
        }
        let got = ranks(rule("kueue-afs,half_life=1h").as_mut(), &history, &weights, seconds);
        let last = history.last().expect("a tick");
        for i in 0..weights.len() {
            let of = |i: usize| {
                let Rank { amount, step, per, .. } = got[i];
                let held = last[i].0 * 1000.0 * f64::from(step);
                (amount as f64 + held) / f64::from(per.get())
            };
            let usage = |i: usize| average(i, 0.0) / weights[i];
            prop_assert!((of(i) * usage(0) - of(0) * usage(i)).abs()
                <= 1e-5 * (of(i) * usage(0)).abs().max(of(0) * usage(i)) + 1e3, "{got:?}");
        }
    }

    /// OpenPBS: day by day. KAI: the last 168 steps, counted up.
    #[test]
    fn pbs_and_kai_from_the_whole_history((history, weights) in history()) {
        let (seconds, sum) = (3600.0, weights.iter().sum::<f64>());
        let pbs = |i: usize| {
            let mut usage: f64 = 1.0;
            for (hour, row) in history.iter().enumerate() {
                usage += row[i].0 * seconds;
                if (hour + 1) % 24 == 0 {
                    usage = (usage / 2.0).max(1.0);
                }
            }
            usage / (weights[i] / sum)
        };
        let got = ranks(rule("pbs").as_mut(), &history, &weights, seconds);
        is_order_of(&got, &(0..weights.len()).map(pbs).collect::<Vec<_>>())?;

        // A window of 5.6 h: a step of two minutes; of ticks of 4 min each the last 84 or so count.
        let got = ranks(rule("kai,window=5h36min").as_mut(), &history, &weights, 240.0);
        let last = &history[history.len().saturating_sub(84)..];
        let queue = |i: usize| Queue {
            deserved: 0.0,
            weight: weights[i],
            request: history.last().map_or(0.0, |row| row[i].0 + row[i].1),
            usage: last.iter().map(|row| row[i].0).sum::<f64>() / (100.0 * last.len() as f64),
        };
        let queues: Vec<Queue> = (0..weights.len()).map(queue).collect();
        for (got, share) in got.iter().zip(divide(100.0, 1.0, &queues).0) {
            prop_assert!((got.quota as f64 - 1000.0 * share).abs() <= 1000.5, "{got:?} {share}");
        }
    }

    /// Real numbers instead of slices differ by less than a slice; what is granted is all that is
    /// wanted, or all that there is; credits change by what is free, earned and paid.
    #[test]
    fn karma_is_what_slices_come_to(
        quanta in prop::collection::vec(prop::collection::vec(0u32..25, 4), 1..12),
        guaranteed in 0u32..6, shared in 0u32..16,
    ) {
        let tenants = |amounts: &[f64]| -> Vec<Tenant> {
            let g = f64::from(guaranteed);
            amounts.iter().map(|&amount| Tenant { guaranteed: g, amount, price: 1.0 }).collect()
        };
        let mut credits = [0.0; 4];
        for demands in quanta {
            let demands: Vec<f64> = demands.into_iter().map(f64::from).collect();
            let grants = grant(f64::from(shared), &credits, &tenants(&demands));
            let pool = f64::from(shared + 4 * guaranteed);
            let all = demands.iter().sum::<f64>().min(pool);
            prop_assert!((grants.iter().sum::<f64>() - all).abs() < 1e-9);
            // Both from the same credits, whole numbers of them.
            let mut whole: Vec<i64> = credits.iter().map(|&c: &f64| c.round() as i64).collect();
            let from: Vec<f64> = whole.iter().map(|&c| c as f64).collect();
            let exact = grant(f64::from(shared), &from, &tenants(&demands));
            let counts: Vec<u32> = demands.iter().map(|&d| d as u32).collect();
            let slices = karma_by_slices(shared, guaranteed, &mut whole, &counts);
            for (exact, slices) in exact.iter().zip(&slices) {
                prop_assert!((exact - f64::from(*slices)).abs() < 1.0 + 1e-9, "{exact} {slices}");
            }
            let before: f64 = credits.iter().sum();
            settle(f64::from(shared), &mut credits, &tenants(&grants));
            let g = f64::from(guaranteed);
            let borrowed: f64 = grants.iter().map(|grant| (grant - g).max(0.0)).sum();
            let left: f64 = grants.iter().map(|grant| (g - grant).max(0.0)).sum();
            let change = f64::from(shared) + left.min(borrowed) - borrowed;
            prop_assert!((credits.iter().sum::<f64>() - before - change).abs() < 1e-6);
        }
    }

    /// Many ticks at once come to the same as one after the other.
    #[test]
    fn ticks_in_a_row_can_be_taken_at_once((history, weights) in history(), more in 1u64..400) {
        for rival in RIVALS {
            let chosen = Chosen::find(rival.name, None).unwrap().expect("a rival");
            let seconds = chosen.cadence.as_secs_f64();
            let mut both = [chosen.rule(), chosen.rule()];
            let mut got = [Vec::new(), Vec::new()];
            for row in &history {
                let children = children(row, &weights, seconds);
                let seen = seen(&children, seconds);
                both.iter_mut().for_each(|rule| rule.tick(&seen));
                (0..more).for_each(|_| both[0].tick(&seen));
                both[1].ticks(&seen, more);
                both.iter_mut().zip(&mut got).for_each(|(rule, ranks)| rule.ranks(&seen, ranks));
                for (one, other) in got[0].iter().zip(&got[1]) {
                    let amounts = [one.amount, other.amount].map(|amount| amount as f64);
                    let few = amounts[0].max(amounts[1]) < 9.0;
                    prop_assert!(few || near(amounts[0], amounts[1], 1e-6),
                        "{}: {one:?} {other:?}", rival.name);
                    prop_assert!(one.quota.abs_diff(other.quota) <= 1001, "{}", rival.name);
                    let per = [one.per, other.per].map(|per| f64::from(per.get()));
                    prop_assert!(near(per[0], per[1], 1e-6) || per[0].max(per[1]) < 1e4);
                }
            }
        }
    }

    /// With bursts of unlike size Karma levels what tenants get over time; max-min does not.
    #[test]
    fn karma_levels_what_bursty_tenants_get(seed in 0u64..1000) {
        let mut state = seed.wrapping_mul(6_364_136_223_846_793_005) | 1;
        let mut draw = || {
            let next: u64 = state.wrapping_mul(6_364_136_223_846_793_005);
            state = next.wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        // Equal demand on average: one tenant's in bursts ten times as large and a tenth as often.
        let rare: Vec<f64> = (0..20).map(|tenant| 1.0 + f64::from(tenant % 10)).collect();
        let (mut credits, mut karma, mut plain) = (vec![0.0; 20], vec![0.0; 20], vec![0.0; 20]);
        for _ in 0..1500 {
            let demands: Vec<f64> =
                rare.iter().map(|&n| if draw() * n < 1.0 { 12.0 * n } else { 0.0 }).collect();
            let tenant = |&amount: &f64| Tenant { guaranteed: 5.0, amount, price: 1.0 };
            let tenants = |all: &[f64]| -> Vec<Tenant> { all.iter().map(tenant).collect() };
            let grants = grant(100.0, &credits, &tenants(&demands));
            settle(100.0, &mut credits, &tenants(&grants));
            let all: Vec<(f64, f64)> = demands.iter().map(|&demand| (1.0, demand)).collect();
            let fair = fill(200.0, &all, &mut KeptOrder::default());
            karma.iter_mut().zip(&grants).for_each(|(sum, grant)| *sum += grant);
            plain.iter_mut().zip(&fair).for_each(|(sum, grant)| *sum += grant);
        }
        let spread = |sums: &[f64]| {
            let most = sums.iter().copied().fold(0.0, f64::max);
            sums.iter().copied().fold(f64::INFINITY, f64::min) / most
        };
        let (karma, plain) = (spread(&karma), spread(&plain));
        prop_assert!(karma > 1.5 * plain, "{karma} {plain}");
    }
}

#[test]
fn equal_values_stand_together() {
    let mut got = Vec::new();
    strict(&[3.0, 1.0, f64::NEG_INFINITY, 1.0, 7.0], &mut KeptOrder::default(), &mut got);
    assert_eq!(got.iter().map(|rank| rank.amount).collect::<Vec<_>>(), [2, 1, 0, 1, 3]);
}

proptest! {
    /// An order that is kept is what a sort from the beginning makes, however much changes.
    #[test]
    fn an_order_that_is_kept_is_that_of_a_sort(
        rows in prop::collection::vec(prop::collection::vec(0u8..20, 60), 1..8),
        few in prop::collection::vec((0usize..60, 0u8..20), 0..4),
    ) {
        let mut kept = KeptOrder::default();
        let mut after = rows.last().cloned().unwrap_or_default();
        few.iter().for_each(|&(place, value)| after[place] = value);
        for row in rows.iter().chain([&after]) {
            let compare = |a: usize, b: usize| row[a].cmp(&row[b]).then(a.cmp(&b));
            let mut sorted: Vec<usize> = (0..row.len()).collect();
            sorted.sort_by(|&a, &b| compare(a, b));
            prop_assert_eq!(kept.sort(row.len(), compare), &sorted[..]);
        }
    }
}
