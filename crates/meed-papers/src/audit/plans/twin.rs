//! The slow twin: a case of one resource and equal instances, tick by tick, by the formulas of
//! docs/prices-and-plans.md alone. No engine, no scenario, no ledger; each unit goes to whoever has
//! the smallest V / E and has work. Values of all lies and measures are compared.

use meed_workload::generate::Stream;

use super::case::{Cast, PERIOD, PlanCase, PlanLie, Wants};
use super::measure::{judge, tolerance};
use super::*;

/// How an order counts: by price or by amount, by payment or by contribution.
#[derive(Clone, Copy)]
struct Terms {
    price: bool,
    paid: bool,
}

/// A name: its account and its work.
#[derive(Clone, Default)]
struct Name {
    tenant: usize,
    /// By period: instances, and what each costs.
    gives: Vec<(f64, f64)>,
    /// By period: slot-minutes of new work.
    work: Vec<f64>,
    backlog: f64,
    received: f64,
    value: f64,
    /// At the pool's prices, whatever the order counts: the statement's.
    worth: f64,
    credit: f64,
}

fn names(case: &PlanCase, cast: Cast, lying: bool) -> Vec<Name> {
    let mut all = Vec::new();
    for (tenant, one) in case.tenants.iter().enumerate() {
        if cast != Cast::All && cast != Cast::Alone(tenant) {
            continue;
        }
        let lie = case.lie.filter(|_| lying && tenant == case.liar);
        let price = |period: u32| {
            let market = match case.lie.filter(|_| lying) {
                Some(PlanLie::Drive { period: driven, factor }) if driven == period => {
                    factor * case.market[period as usize]
                }
                _ => case.market[period as usize],
            };
            let times = if let Some(PlanLie::Times { factor }) = lie { factor } else { 1 };
            f64::from(times * one.fixed.unwrap_or(market))
        };
        let money = |from: u32, until: u32| -> f64 { (from..until).map(price).sum() };
        let (mut from, mut until, mut count) = (one.from, one.until, f64::from(one.count));
        match lie {
            Some(PlanLie::From { period }) => from = period,
            Some(PlanLie::Early { by }) => {
                count = (count * money(from, until) / money(from - by, until - by)).floor();
                (from, until) = (from - by, until - by);
            }
            _ => {}
        }
        let there = |period: u32| if period >= from && period < until { 1.0 } else { 0.0 };
        let gives = |count: f64| -> Vec<(f64, f64)> {
            (0..case.periods()).map(|at| (count * there(at), price(at))).collect()
        };
        let whole: u32 = case.tenants.iter().map(|one| one.count).sum();
        let mut first = Name { tenant, gives: gives(count), ..Name::default() };
        first.work = vec![0.0; case.market.len()];
        let mut second = first.clone();
        for (period, want) in one.wants.iter().enumerate() {
            let units = f64::from(match want {
                Wants::Nothing => 0,
                Wants::Own => one.count,
                Wants::All => whole,
            }) * f64::from(PERIOD);
            match lie {
                Some(PlanLie::Later { period: late, by }) if late as usize == period => {
                    first.work[period + by as usize] += units;
                }
                Some(PlanLie::Name { periods, .. }) if periods & (1 << period) != 0 => {
                    second.work[period] += units;
                }
                _ => first.work[period] += units,
            }
        }
        if let Some(PlanLie::Name { gives: given, .. }) = lie {
            first.gives = gives(count - f64::from(given));
            second.gives = gives(f64::from(given));
            all.push(second);
        }
        all.push(first);
    }
    all
}

/// Slot-minutes of each tenant, and what they are worth over what it paid.
fn run(case: &PlanCase, cast: Cast, lying: bool, terms: Terms) -> (Vec<f64>, Vec<f64>) {
    let mut names = names(case, cast, lying);
    let mut paid = vec![0.0; case.tenants.len()];
    for tick in 0..case.periods() * PERIOD {
        let period = (tick / PERIOD) as usize;
        let capacity: f64 = names.iter().map(|name| name.gives[period].0).sum();
        let rate: f64 = names.iter().map(|name| name.gives[period].0 * name.gives[period].1).sum();
        let price = rate / capacity.max(1.0);
        let unit = if terms.price { price } else { 1.0 };
        for name in &mut names {
            if tick % PERIOD == 0 {
                name.backlog += name.work[period];
            }
            let (count, price) = name.gives[period];
            paid[name.tenant] += count * price;
            name.credit += match terms.paid || capacity == 0.0 {
                true => count * price,
                false => rate * count / capacity,
            };
        }
        for _ in 0..capacity as u32 {
            let key = |name: &Name| match name.credit > 0.0 {
                true => (name.value + unit) / name.credit,
                false => f64::INFINITY,
            };
            let waiting = names.iter_mut().filter(|name| name.backlog > 0.0);
            let least = waiting
                .min_by(|a, b| key(a).total_cmp(&key(b)).then(a.received.total_cmp(&b.received)));
            let Some(name) = least else { break };
            name.backlog -= 1.0;
            name.received += 1.0;
            name.value += unit;
            name.worth += price;
        }
    }
    let mut received = vec![0.0; case.tenants.len()];
    let mut value = received.clone();
    for name in &names {
        received[name.tenant] += name.received;
        value[name.tenant] += name.worth;
    }
    let (money, all): (f64, f64) = (paid.iter().sum(), value.iter().sum());
    let worth = value.iter().zip(&paid);
    let worth = worth.map(|(value, paid)| value * money / all / paid).collect();
    (received, worth)
}

/// The value of a tenant by the formulas of [`property`].
fn value(property: PlanProperty, case: &PlanCase, tenant: usize, terms: Terms) -> f64 {
    let one = &case.tenants[tenant];
    let contributes = f64::from(one.count * (one.until - one.from) * PERIOD);
    let of = |cast, lying| run(case, cast, lying, terms).0[tenant] / contributes;
    let alone = Cast::Alone(tenant);
    match property {
        PlanProperty::AsYouPay => 1.0 - run(case, Cast::All, false, terms).1[tenant],
        PlanProperty::SharingIncentive => of(alone, false) - of(Cast::All, false),
        PlanProperty::Lending => {
            let bought = of(alone, true) - of(alone, false);
            of(Cast::All, true) - of(Cast::All, false) - if bought > 0.0 { bought } else { 0.0 }
        }
        PlanProperty::BuyingLate => {
            of(Cast::All, true) - of(Cast::All, false) - (of(alone, true) - of(alone, false))
        }
        _ => of(Cast::All, true) - of(Cast::All, false),
    }
}

#[test]
fn values_are_those_of_the_formulas_tick_by_tick() {
    let orders = [
        ("as-you-pay", Terms { price: true, paid: true }),
        ("as-you-pay,value=resource", Terms { price: false, paid: true }),
        ("as-you-pay,entitled=contributed", Terms { price: true, paid: false }),
    ];
    let (mut far, mut tried, mut beyond) = (0.0_f64, 0, 0);
    for problem in [PlanProblem::FixedPrice, PlanProblem::MovingPrice, PlanProblem::MixedPlans] {
        for row in PLAN_PROPERTIES.iter().filter(|row| row.property.applies(problem)) {
            for trial in 0..6 {
                let mut dice = Stream::new(trial, &format!("twin {problem:?} {}", row.name));
                let case = PlanCase::draw(problem, row.property, &mut dice);
                for (policy, terms) in orders {
                    let judged = judge(row.property, &case, policy).unwrap();
                    let twin = value(row.property, &case, judged.tenant, terms);
                    let explained = tolerance(row.property, &case, judged.tenant);
                    let off = (judged.value - twin).abs();
                    far = far.max(off);
                    assert!(
                        off <= 0.5 * explained + 1e-6,
                        "{}, not {twin} (within {explained}) under {policy}: {case:?}",
                        judged.value
                    );
                    tried += 1;
                    beyond += u32::from(twin.abs() > explained);
                }
            }
        }
    }
    assert!(beyond * 10 > tried, "{beyond} of {tried} values are worth comparing; off by {far}");
}
