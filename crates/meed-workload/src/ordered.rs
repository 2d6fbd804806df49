//! Rows of a log in order of submission, of which single ones have absurd times.
//!
//! A row that comes before the one that was taken last is out of order. So one row that is far too
//! late would put all that follow it out of order. Therefore the reader looks [`AHEAD`] rows ahead:
//! where most of the rows from one on come before it, two at least, that one is wrong.
//! Only rows that count are looked at: what is left out spoils nothing.
//!
//! Memory: [`AHEAD`] rows. Cost: one comparison a row while the rows ahead are in order, [`AHEAD`]
//! where they are not.

use std::collections::VecDeque;

use meed::Time;
use meed_config::units::format_span;

use crate::TraceError;
use crate::error::BadRow;
use crate::fields::out_of_order;
use crate::records::Records;

/// Rows that are looked at before the first of them is taken.
const AHEAD: usize = 32;

/// See the module.
pub(crate) struct Ordered<R> {
    /// Line, submission, row.
    ahead: VecDeque<(u64, Time, R)>,
    /// How often a row among them comes before the one in front of it.
    descents: usize,
    last: Time,
}

impl<R> Ordered<R> {
    /// Nothing is read yet.
    pub(crate) fn new() -> Ordered<R> {
        Ordered { ahead: VecDeque::with_capacity(AHEAD), descents: 0, last: Time::ZERO }
    }

    /// The next row in order, with its line. `read` reads the next row that counts, in the order of
    /// the file, with its submission. A row that is out of order is noted as wrong.
    pub(crate) fn next(
        &mut self,
        records: &mut Records,
        mut read: impl FnMut(&mut Records) -> Result<Option<(Time, R)>, TraceError>,
    ) -> Result<Option<(u64, R)>, TraceError> {
        loop {
            while !self.is_full()
                && let Some((submit, row)) = read(records)?
            {
                self.push(records.lines.number(), submit, row);
            }
            match self.take() {
                None => return Ok(None),
                Some((line, Ok(row))) => return Ok(Some((line, row))),
                Some((line, Err(problem))) => records.note_at(line, problem)?,
            }
        }
    }

    /// Whether enough rows are known to take one.
    fn is_full(&self) -> bool {
        self.ahead.len() >= AHEAD
    }

    /// The row of this line, which counts.
    fn push(&mut self, line: u64, submit: Time, row: R) {
        let back = self.ahead.back().map_or(submit, |(_, before, _)| *before);
        self.descents += usize::from(submit < back);
        self.ahead.push_back((line, submit, row));
    }

    /// The line of the next row, and the row, or what is wrong with one that is out of order;
    /// `None` where none is left.
    fn take(&mut self) -> Option<(u64, Result<R, BadRow>)> {
        let (line, submit, row) = self.ahead.pop_front()?;
        let next = self.ahead.front().map_or(submit, |(_, next, _)| *next);
        self.descents -= usize::from(next < submit);
        if submit < self.last {
            return Some((line, Err(BadRow::line(out_of_order(submit, self.last)))));
        }
        if (self.descents > 0 || next < submit) && self.is_too_late(submit) {
            let (at, text) = (submit.as_secs_f64(), format_span(submit - Time::ZERO));
            let what = format!(
                "submitted at {at} s ({text}), after most of the {} jobs that follow; a trace is \
                 in order of submission",
                self.ahead.len()
            );
            return Some((line, Err(BadRow::line(what))));
        }
        self.last = submit;
        Some((line, Ok(row)))
    }

    /// Whether most of the rows from this one on come before it. Those that are out of order
    /// whatever it is say nothing.
    fn is_too_late(&self, submit: Time) -> bool {
        let mut follow = self.ahead.iter().map(|(_, at, _)| *at).filter(|at| *at >= self.last);
        let (before, all) = follow
            .by_ref()
            .fold((0, 0), |(before, all), at| (before + usize::from(at < submit), all + 1));
        before * 2 > all + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these times are taken, and which are out of order.
    fn of(times: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let mut ordered = Ordered::new();
        let mut coming = times.iter().zip(1..);
        let (mut taken, mut wrong) = (Vec::new(), Vec::new());
        loop {
            while !ordered.is_full()
                && let Some((&at, line)) = coming.next()
            {
                ordered.push(line, Time::from_secs(at).unwrap(), at);
            }
            match ordered.take() {
                Some((_, Ok(at))) => taken.push(at),
                Some((line, Err(_))) => wrong.push(times[line as usize - 1]),
                None => return (taken, wrong),
            }
        }
    }

    #[test]
    fn the_row_that_is_wrong_is_the_one_that_goes() {
        let all: Vec<u64> = (0..200).collect();
        assert_eq!(of(&all), (all.clone(), vec![]));
        for at in [0, 1, 50, 150, 197] {
            for absurd in [0, 30, 100_000] {
                let mut times = all.clone();
                times[at] = absurd;
                let (taken, wrong) = of(&times);
                let is_wrong = all[at] < absurd || (at > 0 && absurd < all[at - 1]);
                let expected: Vec<u64> = if is_wrong { vec![absurd] } else { vec![] };
                // Of a few rows more than fit in between nothing can be told.
                if at > 1 || absurd != 30 {
                    assert_eq!(wrong, expected, "{absurd} at {at}");
                    assert_eq!(taken.len(), 200 - wrong.len());
                }
            }
        }
        // Several at once.
        let mut times = all.clone();
        (times[60], times[61], times[70]) = (100_000, 200_000, 5);
        assert_eq!(of(&times).1, [100_000, 200_000, 5]);
    }

    #[test]
    fn of_two_rows_the_second_is_out_of_order() {
        assert_eq!(of(&[10, 5]), (vec![10], vec![5]));
        assert_eq!(of(&[10, 5, 20]), (vec![10, 20], vec![5]));
        assert_eq!(of(&[7, 10, 5, 6]), (vec![7, 10], vec![5, 6]));
    }

    /// Whatever the times are, what is taken is in order, and nothing is lost.
    #[test]
    fn what_is_taken_is_in_order() {
        let mut seed = 7u64;
        for _ in 0..200 {
            let times: Vec<u64> = (0..100)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    seed >> 56
                })
                .collect();
            let (taken, wrong) = of(&times);
            assert!(taken.is_sorted() && taken.len() + wrong.len() == 100);
        }
    }
}
