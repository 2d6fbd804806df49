//! Simpler cases of a case, and how much a reader has to take in.

use super::case::{Payer, PlanCase, Wants};
use super::property::PlanProperty;

impl PlanCase {
    /// Simpler cases, the boldest first.
    pub(super) fn simpler(&self, property: PlanProperty) -> Vec<PlanCase> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut PlanCase)| {
            let mut new = self.clone();
            change(&mut new);
            new.mend(property);
            if new.size() < self.size() {
                all.push(new);
            }
        };
        for gone in (0..self.tenants.len()).filter(|_| self.tenants.len() > 2) {
            if self.lie.is_none() || gone != self.liar {
                add(&|new| {
                    new.tenants.remove(gone);
                    new.liar -= usize::from(new.liar > gone);
                });
            }
        }
        if self.market.len() > 2 {
            add(&|new| _ = new.market.pop());
        }
        for tenant in 0..self.tenants.len() {
            for period in 0..self.market.len() {
                add(&|new| new.tenants[tenant].wants[period] = Wants::Nothing);
            }
            add(&|new| new.tenants[tenant].count = self.problem.step());
            add(&|new| new.tenants[tenant].fixed = None);
            add(&|new| new.tenants[tenant].weight = 1);
            add(&|new| new.tenants[tenant].task = [1, 1]);
        }
        for period in 0..self.market.len() {
            add(&|new| new.market[period] = 1);
        }
        all
    }

    /// How much a reader has to take in.
    pub(super) fn size(&self) -> u32 {
        let one = |one: &Payer| {
            let wants = one.wants.iter().filter(|&&want| want != Wants::Nothing).count() as u32;
            let instances = one.count / self.problem.step();
            10 + wants + instances + one.fixed.unwrap_or(0) + one.weight + one.task[0] + one.task[1]
        };
        self.tenants.iter().map(one).sum::<u32>()
            + self.market.iter().map(|&price| 3 + price).sum::<u32>()
    }
}
