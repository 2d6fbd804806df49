//! Room that is held idle, measured and charged (`engine::holds::idle`).
//!
//! It is charged as a task without a quantum is: with time, from when it is held until it is held
//! no more. It is no use, so it is in no usage, share or balance; and no start, so nobody arrives
//! by it (Eq. 14). Charges only rise by it, so stored keys stay lower bounds.

use super::{Books, Used};
use crate::engine::tree::Tree;
use crate::order::{Domain, Standing};
use crate::time::Time;

impl Books {
    /// So much is held idle for a job from now on, or, where it does not begin, no more.
    pub(in crate::engine) fn turn_idle(
        &mut self,
        now: Time,
        tree: &Tree,
        used: &Used<'_>,
        charges: bool,
        begins: bool,
    ) {
        self.meter.turn_idle(now, used.queue.index(), used.demand, begins);
        if charges {
            self.for_each_charged(tree, used, |standing, (_, domain), share| {
                let rate = domain.rate(used.demand, used.node_weight);
                match begins {
                    true => standing.charge_from(now, &rate, now, &domain.rule, share),
                    false => standing.stop_charging(now, &rate, domain, share),
                }
            });
        }
    }

    /// What is held idle goes on into a new round of these domains.
    pub(in crate::engine) fn straddle_idle(
        &mut self,
        tree: &Tree,
        begun: &[usize],
        used: &Used<'_>,
    ) {
        self.for_each_charged(tree, used, |standing, (index, domain), share| {
            if begun.contains(&index) {
                let (rate, start) =
                    (domain.rate(used.demand, used.node_weight), domain.rule.round_start);
                standing.charge_from(start, &rate, start, &domain.rule, share);
            }
        });
    }

    /// The standings to which something of the job is charged, where they remember.
    pub(super) fn for_each_charged(
        &mut self,
        tree: &Tree,
        used: &Used<'_>,
        mut change: impl FnMut(&mut Standing, (usize, &Domain), u64),
    ) {
        let index = self.accounts[used.queue.index()].domain;
        let domain = &self.domains[index];
        if domain.rule.keeps_usage() {
            let job = self.jobs[used.job.slot()].as_mut().expect("the job is alive");
            change(&mut job.standing, (index, domain), u64::MAX);
        }
        for (at, _) in tree.up(used.queue) {
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            if domain.rule.keeps_usage() {
                change(&mut account.standing, (account.ordered_by, domain), account.terms.share);
            }
        }
    }
}
