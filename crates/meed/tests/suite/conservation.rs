//! Readings leave no trace: balances may be read ahead of time and of some leaves only.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

/// 10 slots for a and b by halves; a uses all of it from the start.
fn lender_and_borrower() -> (Shadow, [QueueId; 2]) {
    let mut shadow = Shadow::new(&slots_config(10, &policy("fair"), &["a", "b"]));
    let ids = ["a", "b"].map(|name| shadow.engine.view().find_queue(name).expect("declared"));
    let groups = vec![TaskGroup::new(10, slots(1))];
    let event = Ev::Job { queue: ids[0], weight: 1000, groups, open: false, max_attempts: 0 };
    shadow.apply(0, &event).expect("sound");
    shadow.decide(0);
    (shadow, ids)
}

#[test]
fn balances_may_be_read_of_some_leaves() {
    let (shadow, [a, b]) = lender_and_borrower();
    let five = 5 * 1000 * u128::from(S);
    let (lender, borrower) = (Row(five, 0), Row(0, five));
    for (leaves, expected) in [
        (vec![a, b], vec![borrower, lender]),
        (vec![b, a], vec![lender, borrower]),
        (vec![b], vec![lender]),
        (vec![a], vec![borrower]),
        (vec![], vec![]),
    ] {
        let rows = shadow.engine.view().lending(&leaves, secs(1));
        let got: Vec<Row> = rows.iter().map(|row| Row(row.lent, row.borrowed)).collect();
        assert_eq!(got, expected, "{leaves:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row(u128, u128);

#[test]
fn balances_may_be_read_ahead_of_time() {
    let (mut shadow, ids) = lender_and_borrower();
    shadow.engine.view().lending(&ids, secs(100));
    let allocation = shadow.model.tasks[0].allocation;
    shadow.apply(S, &Ev::Ended(allocation)).expect("a later reading does not move the clock");
}

/// A share of a third of a slot is a third, not 333 thousandths.
#[test]
fn equal_tenants_at_equal_use_have_a_rho_of_1() {
    let names = ["a", "b", "c"];
    let config = slots_config(1, &policy("long-term"), &names);
    let ids = names.map(|name| engine(&config).view().find_queue(name).expect("declared"));
    let mut world = World::new(&config, ids.map(|id| unit_job(id, 0, 100)).to_vec());
    while world.step() != Some(30 * S) {}
    for id in ids {
        let integrals = world.shadow.engine.view().integrals(id, secs(30));
        assert_eq!(integrals.usage[0], u128::from(10 * S * 1000));
        // To a 2^64th of a unit.
        let (up, down) = integrals.entitled_rest;
        let entitled = integrals.entitled as f64 + up as f64 / down as f64;
        assert_eq!(entitled, (10 * S * 1000) as f64);
        assert_eq!((integrals.rho(0), integrals.dominant_rho()), (Some(1.0), Some(1.0)));
    }
}

/// One licence, 1,500 tenants: each is entitled to a part of it, if less than a thousandth.
#[test]
fn nobody_of_weight_has_a_share_of_nothing() {
    let names: Vec<String> = (0..1500).map(|number| format!("t{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut engine = engine(&slots_config(1, &policy("long-term"), &names));
    let ids: Vec<QueueId> = engine.view().queue_ids().skip(1).collect();
    for &queue in &ids {
        let groups = [TaskGroup::new(1, slots(1))];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        engine.apply(Time::ZERO, Event::JobArrived(job)).expect("sound");
    }
    engine.decide(false, |_| {});
    let parts: Vec<Option<f64>> =
        ids.iter().map(|&id| engine.view().integrals(id, secs(3)).rho(0)).collect();
    assert_eq!((parts[0], &parts[1..]), (Some(1500.0), &[Some(0.0); 1499][..]));
    assert!(ids.iter().all(|&id| engine.view().queue(id).part.of_amount(1000) == 1000.0 / 1500.0));
}
