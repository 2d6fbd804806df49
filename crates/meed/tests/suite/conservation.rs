//! Readings leave no trace: balances may be read ahead of time and of some leaves only.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

/// 10 slots for a and b by halves; a uses all of it from the start.
fn lender_and_borrower() -> (Shadow, [QueueId; 2]) {
    let mut shadow = Shadow::new(&slots_config(10, &policy("fair"), &["a", "b"]));
    let ids = ["a", "b"].map(|name| shadow.engine.find_queue(name).expect("declared"));
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
        let rows = shadow.engine.lending(&leaves, secs(1));
        let got: Vec<Row> = rows.iter().map(|row| Row(row.lent, row.borrowed)).collect();
        assert_eq!(got, expected, "{leaves:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row(u128, u128);

#[test]
fn balances_may_be_read_ahead_of_time() {
    let (mut shadow, ids) = lender_and_borrower();
    shadow.engine.lending(&ids, secs(100));
    let allocation = shadow.model.tasks[0].allocation;
    shadow.apply(S, &Ev::Ended(allocation)).expect("a later reading does not move the clock");
}
