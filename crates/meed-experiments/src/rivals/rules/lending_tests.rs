//! Rules with a horizon or several resources: what must be conserved, and their formulas written
//! out.

use proptest::prelude::*;

use super::super::rule::{Child, DominantPart, KeptOrder, Rule, Seen, between, fill};
use super::flexible_lending::{FlexibleLending, payments};
use super::karma::{Tenant, grant, settle};
use super::t_period::{TPeriod, lent};
use super::tests::{children, history, near, rule, seen};
use super::{Karma, MrKarma};

/// The level by halving an interval, from the formula alone.
fn clip_by_halving(total: f64, rows: &[(f64, f64, f64)]) -> Vec<f64> {
    let at = |level: f64| -> Vec<f64> {
        rows.iter().map(|&(w, least, most)| (w * level).max(least).min(most)).collect()
    };
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if at(middle).iter().sum::<f64>() < total { low = middle } else { high = middle }
    }
    at(high)
}

/// A round of the mechanism as it is printed: (what each gets, what each pays).
fn flexible_round(capacity: f64, rows: &[(f64, f64, f64)]) -> Vec<f64> {
    let demands: f64 = rows.iter().map(|&(_, d, t)| d.min(t)).sum();
    let bounds = |&(w, d, t): &(f64, f64, f64)| match demands >= capacity {
        true => (w, 0.0, d.min(t)),
        false => (w, d.min(t), t),
    };
    clip_by_halving(capacity, &rows.iter().map(bounds).collect::<Vec<_>>())
}

/// Two agents of one unit each, two rounds: the first lends the second nothing back in the first,
/// and everything in the last.
#[test]
fn flexible_lending_by_hand() {
    assert_eq!(payments(2.0, &[(1.0, 2.0, 2.0), (1.0, 0.0, 2.0)]), [2.0, 0.0]);
    assert_eq!(payments(2.0, &[(1.0, 0.0, 0.0), (1.0, 2.0, 2.0)]), [0.0, 2.0]);
    // What nobody wants is pushed, and paid for: one each.
    assert_eq!(payments(2.0, &[(1.0, 0.5, 2.0), (1.0, 0.0, 2.0)]), [1.0, 1.0]);
    // As a rule: capacity 100, ticks of a minute, a horizon of two of them.
    let mut rule = FlexibleLending::new(120.0);
    let row = vec![(100.0, 50.0), (0.0, 0.0)];
    let all = children(&row, &[1.0, 1.0], 60.0);
    rule.tick(&seen(&all, 60.0));
    assert_eq!(rule.tokens(), (&[0.0, 6000.0][..], 1));
    let all = children(&vec![(100.0, 50.0), (0.0, 500.0)], &[1.0, 1.0], 60.0);
    let mut ranks = Vec::new();
    rule.ranks(&seen(&all, 60.0), &mut ranks);
    assert_eq!((ranks[0].quota, ranks[1].quota), (0, 100_000));
}

/// Who lends all in the first half has all of twice its share in the second.
#[test]
fn t_period_by_hand() {
    assert_eq!(lent(&[(50.0, 100.0), (50.0, 0.0)]), [-50.0, 50.0]);
    // Nobody borrows more than his own again: of three the second half could not pay it back.
    assert_eq!(lent(&[(10.0, 30.0), (10.0, 0.0), (10.0, 0.0)]), [-10.0, 5.0, 5.0]);
    let mut rule = TPeriod::new(240.0);
    let row = vec![(100.0, 50.0), (0.0, 0.0)];
    let all = children(&row, &[1.0, 1.0], 60.0);
    let quotas = |rule: &mut TPeriod| {
        let mut ranks = Vec::new();
        rule.ranks(&seen(&all, 60.0), &mut ranks);
        [ranks[0].quota, ranks[1].quota]
    };
    rule.tick(&seen(&all, 60.0));
    assert_eq!(quotas(&mut rule), [100_000, 0]);
    rule.tick(&seen(&all, 60.0));
    assert_eq!(rule.balances(), [-6000.0, 6000.0]);
    assert_eq!(quotas(&mut rule), [0, 100_000]);
    // The next period begins with nothing owed.
    (0..2).for_each(|_| rule.tick(&seen(&all, 60.0)));
    assert_eq!(rule.balances(), [0.0, 0.0]);
}

fn parts(all: &mut [Child], rows: &[(f64, f64)]) {
    for (child, &(used, wants)) in all.iter_mut().zip(rows) {
        child.part = DominantPart { used, held: used, wants };
    }
}

proptest! {
    #[test]
    fn between_bounds_is_what_halving_comes_to(
        rows in prop::collection::vec((1u32..5, 0u32..20, 0u32..20), 1..8), part in 0.0f64..1.0,
    ) {
        let row = |&(w, least, more): &(u32, u32, u32)| {
            (f64::from(w), f64::from(least), f64::from(least + more))
        };
        let rows: Vec<(f64, f64, f64)> = rows.iter().map(row).collect();
        let (least, most): (f64, f64) =
            (rows.iter().map(|row| row.1).sum(), rows.iter().map(|row| row.2).sum());
        let total = least + part * (most - least);
        let got = between(total, &rows);
        prop_assert!((got.iter().sum::<f64>() - total).abs() < 1e-6);
        for (got, wanted) in got.iter().zip(clip_by_halving(total, &rows)) {
            prop_assert!((got - wanted).abs() < 1e-6, "{got} for {wanted}");
        }
    }

    /// Where everybody gets what he is granted, a round is the paper's; and tokens always sum to
    /// what is left of the horizon.
    #[test]
    fn flexible_lending_pays_for_all_of_the_capacity(
        demands in prop::collection::vec(prop::collection::vec(0u32..90, 4), 8),
        weights in prop::collection::vec((1u32..4).prop_map(f64::from), 4),
    ) {
        let (sum, mut rule) = (weights.iter().sum::<f64>(), FlexibleLending::new(480.0));
        let mut tokens: Vec<f64> = weights.iter().map(|w| 100.0 * 8.0 * 60.0 * w / sum).collect();
        for demands in demands {
            let row = |i: usize| (weights[i], f64::from(demands[i]), tokens[i] / 60.0);
            let rows: Vec<_> = (0..4).map(row).collect();
            let most = |&(w, d, t): &(f64, f64, f64)| (w, d.min(t));
            let wanted: Vec<(f64, f64)> = rows.iter().map(most).collect();
            let granted = fill(100.0, &wanted, &mut KeptOrder::default());
            let held: Vec<(f64, f64)> = granted.iter().map(|&held| (held, 0.0)).collect();
            let all = children(&held, &weights, 60.0);
            rule.tick(&seen(&all, 60.0));
            for (tokens, paid) in tokens.iter_mut().zip(flexible_round(100.0, &rows)) {
                *tokens = (*tokens - 60.0 * paid).max(0.0);
            }
            let (got, left) = rule.tokens();
            prop_assert!((got.iter().sum::<f64>() - 6000.0 * left as f64).abs() < 1e-3);
            for (got, wanted) in got.iter().zip(&tokens) {
                prop_assert!((got - wanted).abs() < 1e-3, "{got} for {wanted}");
            }
        }
        prop_assert!(rule.tokens().0.iter().all(|&tokens| tokens < 1e-3));
    }

    /// Whatever is used, and whoever comes: tokens sum to what is left, balances to nothing, and
    /// nobody owes more than his own part can pay back.
    #[test]
    fn tokens_and_balances_are_conserved((history, weights) in history(), come in 0usize..30) {
        let (mut flexible, mut period) = (FlexibleLending::new(3000.0), TPeriod::new(3000.0));
        let sum: f64 = weights.iter().sum();
        for (tick, row) in history.iter().enumerate() {
            // No more than there is; the last tenant comes later.
            let held: f64 = row.iter().map(|cell| cell.0).sum();
            let fits = (100.0 / held.max(1.0)).min(1.0);
            let row = row.iter().map(|&(held, waits)| (held * fits, waits)).collect();
            let all = children(&row, &weights, 300.0);
            let all = if tick < come { &all[..all.len() - 1] } else { &all[..] };
            flexible.tick(&seen(all, 300.0));
            let (tokens, left) = flexible.tokens();
            let whole = 100.0 * 300.0 * left as f64;
            prop_assert!((tokens.iter().sum::<f64>() - whole).abs() < 1e-3, "{tokens:?} {left}");
            prop_assert!(tokens.iter().all(|&tokens| tokens >= 0.0));
            period.tick(&seen(all, 300.0));
            let balances = period.balances();
            prop_assert!(balances.iter().sum::<f64>().abs() < 1e-3, "{balances:?}");
            if tick >= come && come == 0 {
                for (balance, weight) in balances.iter().zip(&weights) {
                    prop_assert!(*balance >= -100.0 * 1500.0 * weight / sum - 1e-3);
                }
            }
        }
    }

    /// Over a whole period nobody who always wants more has less than his own part.
    #[test]
    fn t_period_guarantees_the_own_part(
        demands in prop::collection::vec(prop::collection::vec(0u32..90, 3), 10),
        weights in prop::collection::vec((1u32..4).prop_map(f64::from), 4),
    ) {
        let (sum, mut rule, mut got) = (weights.iter().sum::<f64>(), TPeriod::new(600.0), 0.0);
        for demands in demands {
            let row: Vec<(f64, f64)> = demands.iter().map(|&d| (0.0, f64::from(d))).collect();
            let all = children(&[row, vec![(0.0, 1000.0)]].concat(), &weights, 60.0);
            let mut ranks = Vec::new();
            rule.ranks(&seen(&all, 60.0), &mut ranks);
            let granted: Vec<(f64, f64)> = ranks
                .iter()
                .zip(&all)
                .map(|(rank, child)| ((rank.quota as f64 / 1000.0).min(child.wants), 0.0))
                .collect();
            got += granted[3].0;
            rule.tick(&seen(&children(&granted, &weights, 60.0), 60.0));
        }
        let own = 100.0 * 10.0 * weights[3] / sum;
        prop_assert!(got >= own - 0.1, "{got} of {own}");
    }

    /// With one resource credits in dominant shares are Karma's.
    #[test]
    fn mr_karma_of_one_resource_is_karma((history, weights) in history()) {
        let (mut one, mut many) = (Karma::new(0.5), MrKarma::new(0.5));
        let mut got = [Vec::new(), Vec::new()];
        for row in &history {
            let mut all = children(row, &weights, 300.0);
            let rows = |&(held, waits): &(f64, f64)| (held / 100.0, (held + waits) / 100.0);
            parts(&mut all, &row.iter().map(rows).collect::<Vec<_>>());
            let seen = seen(&all, 300.0);
            one.tick(&seen);
            many.tick(&seen);
            one.ranks(&seen, &mut got[0]);
            many.ranks(&seen, &mut got[1]);
            for (child, (one, many)) in all.iter().zip(got[0].iter().zip(&got[1])) {
                // Who wants nothing has no grant; then it does not matter where it stands.
                let idle = child.wants == 0.0;
                prop_assert!(idle || one.quota.abs_diff(many.quota) <= 1, "{one:?} {many:?}");
                let per = [one.per, many.per].map(|per| f64::from(per.get()));
                prop_assert!(near(per[0], per[1], 1e-6) || per[0].max(per[1]) < 1e4);
            }
        }
    }

    /// Credits change by what is free, less what was borrowed, plus what of it donors had left.
    #[test]
    fn credits_in_dominant_shares_are_conserved(
        ticks in prop::collection::vec(prop::collection::vec(0u32..70, 4), 1..20),
    ) {
        let (weights, mut rule) = ([1.0; 4], MrKarma::new(0.5));
        let mut before = 0.0;
        for used in ticks {
            let mut all = children(&vec![(1.0, 1.0); 4], &weights, 300.0);
            let used: Vec<(f64, f64)> =
                used.iter().map(|&used| (f64::from(used) / 100.0, 1.0)).collect();
            parts(&mut all, &used);
            let seen = Seen { ..seen(&all, 300.0) };
            rule.tick(&seen);
            let g = 0.5 / 4.0;
            let borrowed: f64 = used.iter().map(|(used, _)| (used - g).max(0.0)).sum();
            let left: f64 = used.iter().map(|(used, _)| (g - used).max(0.0)).sum();
            let after: f64 = rule.credits().iter().sum();
            let change = 0.5 + left.min(borrowed) - borrowed;
            prop_assert!((after - before - change).abs() < 1e-9, "{before} {after} {change}");
            before = after;
        }
    }
}

/// A credit of dominant share is a quota of the measured resource at the tenant's own mix.
#[test]
fn grants_become_quotas_at_the_mix_that_is_wanted() {
    let mut rule = rule("mr-karma");
    // Of 100 cores and 100 GB the first wants twice as much memory as cores, the second no cores.
    let mut all = children(&vec![(0.0, 40.0), (0.0, 0.0)], &[1.0, 1.0], 300.0);
    parts(&mut all, &[(0.0, 0.8), (0.0, 0.8)]);
    let mut ranks = Vec::new();
    rule.tick(&seen(&all, 300.0));
    rule.ranks(&seen(&all, 300.0), &mut ranks);
    assert_eq!((ranks[0].quota, ranks[1].quota), (25_000, u64::MAX));
    all[1].part.held = 0.5;
    rule.ranks(&seen(&all, 300.0), &mut ranks);
    assert_eq!(ranks[1].quota, 0);
}

/// What each of 100 users gets over 900 quanta under a strict partition, max-min and Karma; of a
/// fair share of 10, each asks for 13 on average, in bursts of five quanta on average: user k is on
/// for a 1 / n of the time and asks for n times as much then, n from 1 to 8.
fn on_and_off(seed: u64) -> [Vec<f64>; 3] {
    let mut state = seed;
    let mut draw = || {
        let next: u64 = state.wrapping_mul(6_364_136_223_846_793_005);
        state = next.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let rare: Vec<f64> = (0..100).map(|user| 1.0 + 7.0 * f64::from(user % 10) / 9.0).collect();
    let mut on: Vec<bool> = rare.iter().map(|n| draw() * n < 1.0).collect();
    let (mut credits, mut sums) = (vec![0.0; 100], [const { Vec::new() }; 3]);
    sums.iter_mut().for_each(|sums| sums.resize(100, 0.0));
    for _ in 0..900 {
        for (on, n) in on.iter_mut().zip(&rare) {
            *on = if *on { *n <= 1.0 || draw() > 0.2 } else { draw() * 5.0 * (n - 1.0) < 1.0 };
        }
        let demand = |(&on, n): (&bool, &f64)| if on { 13.0 * n } else { 0.0 };
        let demands: Vec<f64> = on.iter().zip(&rare).map(demand).collect();
        let tenants = |all: &[f64]| -> Vec<Tenant> {
            all.iter().map(|&amount| Tenant { guaranteed: 5.0, amount, price: 1.0 }).collect()
        };
        let karma = grant(500.0, &credits, &tenants(&demands));
        settle(500.0, &mut credits, &tenants(&karma));
        let all: Vec<(f64, f64)> = demands.iter().map(|&demand| (1.0, demand)).collect();
        let strict = demands.iter().map(|&demand| demand.min(10.0)).collect();
        for (sums, got) in
            sums.iter_mut().zip([strict, fill(1000.0, &all, &mut KeptOrder::default()), karma])
        {
            sums.iter_mut().zip(got).for_each(|(sum, got)| *sum += got);
        }
    }
    sums
}

/// Karma's paper has 100 users of whom the least over the most is 0.087 under a strict partition,
/// 0.269 under max-min and 0.708 under Karma with half the share guaranteed. Its demands are not
/// ours to have: on/off users of which the first two figures are about these come near the third.
#[test]
fn karma_levels_a_hundred_users_as_published() {
    for seed in 1..6 {
        let spread = on_and_off(seed).map(|sums| {
            let most = sums.iter().copied().fold(0.0, f64::max);
            sums.iter().copied().fold(f64::INFINITY, f64::min) / most
        });
        let [strict, max_min, karma] = spread;
        assert!((0.06..0.11).contains(&strict), "{spread:?}");
        assert!((0.2..0.31).contains(&max_min), "{spread:?}");
        assert!((0.55..0.75).contains(&karma), "{spread:?}");
    }
}
