//! A case: periods of ten minutes with a market price each, and tenants that contribute instances
//! for some of them, under a fixed price or the market's, and have work in some.
//!
//! At scale s there are s times as many instances, and tasks take 1/s min, on the tick: what whole
//! tasks and ticks explain falls with s, and what is real stays. A run costs s^2 as much.
//!
//! Invariant: a case that `PlanCase::mend` has seen is a sound scenario of its problem, and one
//! that the property speaks of.

use meed_workload::generate::Stream;
use serde::{Deserialize, Serialize};

use super::problem::PlanProblem;
use super::property::PlanProperty;

/// Minutes of a period.
pub(super) const PERIOD: u32 = 10;
/// Most periods of a case.
const MOST_PERIODS: u32 = 4;
/// Most tenants of a case.
const MOST_TENANTS: u32 = 4;
/// Most instances of a tenant.
const MOST_COUNT: u32 = 40;
/// The highest price of the market.
const DEAREST: u32 = 8;
/// How much finer tasks are at most.
pub(super) const FINEST: u32 = 3;
/// What a task may hold, where there are several resources.
const SHAPES: [[u32; 2]; 3] = [[1, 1], [1, 2], [2, 1]];

/// What a tenant wants in a period.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wants {
    /// Nothing new.
    Nothing,
    /// As much as it would use alone.
    Own,
    /// As much as all there is.
    All,
}

/// A tenant: what it contributes, and when it has work.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Payer {
    /// Price of an instance and hour, if it is not the market's.
    pub fixed: Option<u32>,
    /// Instances.
    pub count: u32,
    /// Weight of each; it costs as many times the market's price.
    pub weight: u32,
    /// What one of its tasks holds, by resource.
    pub task: [u32; 2],
    /// First period in which its instances are there.
    pub from: u32,
    /// The period after the last.
    pub until: u32,
    /// By period.
    pub wants: Vec<Wants>,
}

/// What the liar does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanLie {
    /// Work of a period comes later by so many.
    Later {
        /// Which.
        period: u32,
        /// Periods.
        by: u32,
    },
    /// Contributes earlier by so many periods, before it has work, what the same money pays for
    /// then.
    Early {
        /// Periods.
        by: u32,
    },
    /// Contributes from this period on.
    From {
        /// Which.
        period: u32,
    },
    /// A second name has the work of the periods whose bit is set, and some of the instances.
    Name {
        /// The first period is the lowest bit.
        periods: u32,
        /// Instances that the second name contributes.
        gives: u32,
    },
    /// Pays so many times the price.
    Times {
        /// At least 2.
        factor: u32,
    },
    /// The market's price of a period is so many times as high.
    Drive {
        /// Which.
        period: u32,
        /// At least 2.
        factor: u32,
    },
}

/// Periods of ten minutes with a market price each, and tenants that contribute instances for some
/// of them and have work in some.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PlanCase {
    /// Of which problem.
    pub problem: PlanProblem,
    /// The market's price by period.
    pub market: Vec<u32>,
    /// In order of declaration.
    pub tenants: Vec<Payer>,
    /// Index of the tenant that lies.
    pub liar: usize,
    /// What it does, where a lie is compared.
    pub lie: Option<PlanLie>,
    /// How much finer tasks are.
    pub scale: u32,
}

/// Who is in a scenario of the case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cast {
    /// All.
    All,
    /// One tenant.
    Alone(usize),
}

/// Instances of a tenant as a scenario has them: so many, from a period to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stay {
    pub(super) count: u32,
    pub(super) from: u32,
    pub(super) until: u32,
}

pub(super) fn between(dice: &mut Stream, low: u32, high: u32) -> u32 {
    low + dice.below(u64::from(high.max(low) - low) + 1) as u32
}

/// `a`, `b`, and so on.
pub(super) fn name(tenant: usize) -> String {
    char::from(b'a' + tenant as u8).to_string()
}

/// The second name of a tenant.
pub(super) fn second(tenant: usize) -> String {
    format!("{}-again", name(tenant))
}

impl PlanCase {
    pub(super) fn periods(&self) -> u32 {
        self.market.len() as u32
    }

    /// The lie, where the tenant tells it in such a run.
    pub(super) fn lie_of(&self, tenant: usize, lying: bool) -> Option<PlanLie> {
        self.lie.filter(|_| lying && tenant == self.liar)
    }

    /// Price of an instance of `one` and an hour of the period.
    pub(super) fn price(&self, one: &Payer, period: u32) -> u32 {
        one.fixed.unwrap_or(self.market[period as usize] * one.weight)
    }

    fn cost(&self, one: &Payer, from: u32, until: u32) -> u32 {
        (from..until).map(|period| self.price(one, period)).sum()
    }

    /// Instances of a tenant, and when they are there.
    pub(super) fn stay(&self, tenant: usize, lying: bool) -> Stay {
        let one = &self.tenants[tenant];
        let count = one.count * self.scale;
        match self.lie_of(tenant, lying) {
            Some(PlanLie::From { period }) => Stay { count, from: period, until: one.until },
            Some(PlanLie::Early { by }) => {
                let (from, until) = (one.from - by, one.until - by);
                let money = count * self.cost(one, one.from, one.until);
                Stay { count: money / self.cost(one, from, until), from, until }
            }
            _ => Stay { count, from: one.from, until: one.until },
        }
    }

    /// Tasks of a tenant that an instance runs at once.
    pub(super) fn tasks(&self, tenant: usize) -> u32 {
        let widest = self.tenants[tenant].task.into_iter().max().unwrap_or(1);
        self.problem.instance() / widest
    }

    /// Task-minutes that a tenant's contributions could do when it is honest, A_i.
    pub(super) fn contributes(&self, tenant: usize) -> f64 {
        let stay = self.stay(tenant, false);
        f64::from(stay.count * (stay.until - stay.from) * PERIOD * self.tasks(tenant))
    }

    /// Instances of all.
    pub(super) fn instances(&self) -> u32 {
        self.scale * self.tenants.iter().map(|one| one.count).sum::<u32>()
    }

    /// What whole tasks and ticks explain of a value of `tenant` where so many runs are compared: a
    /// task more or less at each tick, and a tick until an order hears of a claim.
    ///
    /// > runs (minutes + tasks that all instances run at once / scale) / A_i
    pub(super) fn tolerance(&self, runs: u32, tenant: usize) -> f64 {
        let minutes = f64::from(self.periods() * PERIOD);
        let pool = f64::from(self.instances() * self.tasks(tenant));
        f64::from(runs) * (minutes + pool / f64::from(self.scale)) / self.contributes(tenant)
    }

    /// The largest price over the mean of what `tenant` pays: a minute may be so much dearer.
    pub(super) fn dearest(&self, tenant: usize) -> f64 {
        let all = self.tenants.iter().flat_map(|one| {
            (one.from..one.until).map(move |period| f64::from(self.price(one, period)))
        });
        let one = &self.tenants[tenant];
        let own = f64::from(self.cost(one, one.from, one.until));
        all.fold(0.0, f64::max) * f64::from(one.until - one.from) / own
    }

    /// A random case of the property.
    pub(super) fn draw(problem: PlanProblem, property: PlanProperty, dice: &mut Stream) -> Self {
        let periods = between(dice, 2, MOST_PERIODS);
        let tenants = between(dice, 2, MOST_TENANTS);
        let mut case = PlanCase {
            problem,
            market: (0..periods).map(|_| between(dice, 1, DEAREST)).collect(),
            tenants: Vec::new(),
            liar: dice.below(u64::from(tenants)) as usize,
            lie: None,
            scale: 1,
        };
        case.tenants = (0..tenants).map(|_| Payer::draw(problem, periods, dice)).collect();
        case.lie = property.lies().then(|| PlanLie::draw(property, periods, dice));
        case.mend(property);
        case
    }

    /// A case that differs a little.
    pub(super) fn change(&self, property: PlanProperty, dice: &mut Stream) -> PlanCase {
        let mut new = self.clone();
        let tenant = dice.below(new.tenants.len() as u64) as usize;
        let period = dice.below(u64::from(new.periods())) as usize;
        let drawn = Payer::draw(self.problem, self.periods(), dice);
        match dice.below(8) {
            0 => new.market[period] = between(dice, 1, DEAREST),
            1 => new.tenants[tenant] = drawn,
            2 => new.tenants[tenant].wants[period] = drawn.wants[period],
            3 => new.tenants[tenant].count = drawn.count,
            4 => new.tenants[tenant].fixed = drawn.fixed,
            5 => {
                (new.tenants[tenant].task, new.tenants[tenant].weight) = (drawn.task, drawn.weight)
            }
            6 => new.liar = tenant,
            _ => new.lie = property.lies().then(|| PlanLie::draw(property, self.periods(), dice)),
        }
        new.mend(property);
        new
    }

    /// Whether it is as [`PlanCase::mend`] leaves it, and no larger than what is drawn: what is
    /// read from a file may be anything.
    pub(super) fn is_sound(&self, property: PlanProperty) -> bool {
        let few = (2..=MOST_PERIODS as usize).contains(&self.market.len())
            && (2..=MOST_TENANTS as usize).contains(&self.tenants.len())
            && self.market.iter().all(|price| (1..=DEAREST).contains(price))
            && (1..=FINEST).contains(&self.scale)
            && self.lie.is_some_and(|lie| lie.is_of(property)) == property.lies()
            && property.applies(self.problem);
        let small = |one: &Payer| {
            (1..=MOST_COUNT).contains(&one.count)
                && one.task.iter().all(|&amount| amount <= self.problem.instance())
                && one.task[0] > 0
                && one.fixed.is_none_or(|price| (1..=DEAREST).contains(&price))
        };
        if !few || !self.tenants.iter().all(small) {
            return false;
        }
        let mut mended = self.clone();
        mended.mend(property);
        mended == *self
    }

    /// Makes it sound, and one that the property speaks of.
    pub(super) fn mend(&mut self, property: PlanProperty) {
        let (periods, problem) = (self.periods(), self.problem);
        self.liar = self.liar.min(self.tenants.len() - 1);
        if !problem.moves() {
            self.market.fill(1);
        }
        for one in &mut self.tenants {
            one.mend(problem, periods);
            if property == PlanProperty::AsYouPay {
                one.wants.fill(Wants::All);
            }
        }
        if let Some(lie) = &mut self.lie {
            lie.mend(&mut self.tenants[self.liar], periods);
        }
    }
}

impl Payer {
    fn draw(problem: PlanProblem, periods: u32, dice: &mut Stream) -> Payer {
        let until = between(dice, 1, periods);
        let whole = dice.below(2) == 0;
        let wants = [Wants::Nothing, Wants::Own, Wants::All];
        Payer {
            fixed: (dice.below(2) == 0).then(|| between(dice, 1, 4)),
            count: problem.step() * between(dice, 1, 4),
            weight: between(dice, 1, problem.heaviest()),
            task: SHAPES[dice.below(SHAPES.len() as u64) as usize],
            from: if whole { 0 } else { between(dice, 0, until - 1) },
            until: if whole { periods } else { until },
            wants: (0..periods).map(|_| wants[dice.below(3) as usize]).collect(),
        }
    }

    fn mend(&mut self, problem: PlanProblem, periods: u32) {
        self.wants.resize(periods as usize, Wants::Nothing);
        self.until = self.until.clamp(1, periods);
        self.from = self.from.min(self.until - 1);
        self.weight = self.weight.clamp(1, problem.heaviest());
        if problem.resources().len() == 1 {
            self.task = [1, 0];
        }
        if !problem.is_mixed() {
            self.fixed = None;
        }
    }
}

impl PlanLie {
    fn draw(property: PlanProperty, periods: u32, dice: &mut Stream) -> PlanLie {
        let period = between(dice, 0, periods - 1);
        let (by, factor) = (between(dice, 1, periods), between(dice, 2, 8));
        match property {
            PlanProperty::HoldingBack => PlanLie::Later { period, by },
            PlanProperty::Lending => PlanLie::Early { by },
            PlanProperty::BuyingLate => PlanLie::From { period },
            PlanProperty::Splitting => {
                let gives = if dice.below(2) == 0 { 0 } else { between(dice, 1, 20) };
                PlanLie::Name { periods: between(dice, 1, (1 << periods) - 1), gives }
            }
            PlanProperty::DrivingPrices => PlanLie::Drive { period, factor },
            _ => PlanLie::Times { factor },
        }
    }

    /// Whether it is the lie of the property.
    fn is_of(self, property: PlanProperty) -> bool {
        property
            == match self {
                PlanLie::Later { .. } => PlanProperty::HoldingBack,
                PlanLie::Early { .. } => PlanProperty::Lending,
                PlanLie::From { .. } => PlanProperty::BuyingLate,
                PlanLie::Name { .. } => PlanProperty::Splitting,
                PlanLie::Times { .. } => PlanProperty::DearPrices,
                PlanLie::Drive { .. } => PlanProperty::DrivingPrices,
            }
    }

    /// Makes it one that `liar` can tell.
    fn mend(&mut self, liar: &mut Payer, periods: u32) {
        match self {
            PlanLie::Later { period, by } => {
                *period = (*period).min(periods - 2);
                *by = (*by).clamp(1, periods - 1 - *period);
                if liar.wants[*period as usize] == Wants::Nothing {
                    liar.wants[*period as usize] = Wants::Own;
                }
            }
            PlanLie::Early { by } => {
                (liar.from, liar.until) = (liar.from.max(1), liar.until.max(2));
                *by = (*by).clamp(1, liar.from);
                // It lends: what it has work for comes with the instances that it would buy.
                liar.wants[..liar.from as usize].fill(Wants::Nothing);
                // The same money pays for one at least, at the highest price.
                liar.count = liar.count.max(DEAREST);
            }
            PlanLie::From { period } => {
                (liar.from, liar.until) = (liar.from.min(liar.until.max(2) - 2), liar.until.max(2));
                *period = (*period).clamp(liar.from + 1, liar.until - 1);
            }
            PlanLie::Name { periods: which, gives } => {
                let all = (1 << periods) - 1;
                *which &= all;
                if *which == 0 || *which == all {
                    *which = 1;
                }
                *gives = (*gives).min(liar.count - 1);
            }
            PlanLie::Times { factor } => *factor = (*factor).clamp(2, 8),
            PlanLie::Drive { period, factor } => {
                *period = (*period).min(periods - 1);
                *factor = (*factor).clamp(2, 8);
            }
        }
    }
}
