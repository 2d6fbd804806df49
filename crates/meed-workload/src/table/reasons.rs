//! Why rows are wrong or left out, counted, with the line of the first of each.

use crate::error::BadRow;

/// A row that is no job: wrong, or left out.
pub(super) enum NoJob {
    /// Left out, for this reason.
    LeftOut(&'static str),
    /// Wrong: the reason as it is counted, and what is said of this row.
    Wrong(&'static str, BadRow),
}

struct Reason {
    wrong: bool,
    why: &'static str,
    count: u64,
    first: u64,
}

/// See the module. Cost: a look at the reasons, which are few, for each row that is no job.
#[derive(Default)]
pub(super) struct Reasons(Vec<Reason>);

impl Reasons {
    /// Counts a row.
    pub(super) fn note(&mut self, line: u64, wrong: bool, why: &'static str) {
        match self.0.iter_mut().find(|reason| reason.wrong == wrong && reason.why == why) {
            Some(reason) => reason.count += 1,
            None => self.0.push(Reason { wrong, why, count: 1, first: line }),
        }
    }

    /// In words, one sentence for each reason; those that most rows have come first.
    pub(super) fn words(&self) -> Vec<String> {
        let mut reasons: Vec<&Reason> = self.0.iter().collect();
        reasons.sort_by_key(|reason| (!reason.wrong, std::cmp::Reverse(reason.count)));
        let words = |reason: &&Reason| {
            let kind = if reason.wrong { "wrong" } else { "left out" };
            let rows = if reason.count == 1 { "row" } else { "rows" };
            let (count, why, first) = (reason.count, reason.why, reason.first);
            format!("{count} {rows} {kind}: {why} (the first is line {first})")
        };
        reasons.iter().map(words).collect()
    }
}
