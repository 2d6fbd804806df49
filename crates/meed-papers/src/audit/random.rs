//! Random cases and random changes of cases.

use meed_workload::generate::Stream;

use super::case::{
    Burst, Case, LONGEST, LONGEST_TASK, Lie, LieKind, MOST_BURSTS, MOST_LIES, MOST_PER_WEIGHT,
    MOST_TENANTS, Tasks, Tenant,
};
use super::property::{Against, Property, PropertyRow};

/// What cases of a search have in common.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) property: &'static PropertyRow,
    pub(super) tasks: Tasks,
    pub(super) grouped: bool,
    /// Whether the policy remembers anything that coming back under a new name would shed.
    pub(super) remembers: bool,
}

fn between(dice: &mut Stream, low: u32, high: u32) -> u32 {
    low + dice.below(u64::from(high - low) + 1) as u32
}

fn chance(dice: &mut Stream, one_in: u64) -> bool {
    dice.below(one_in) == 0
}

impl Kind {
    fn lies(self) -> Vec<LieKind> {
        let all = self.property.lies.iter().copied();
        all.filter(|&lie| lie != LieKind::Rejoin || self.remembers).collect()
    }

    /// Whether a case of this kind is about a lie.
    pub(super) fn needs_lie(self) -> bool {
        self.property.against.is_lie()
    }

    /// A random case.
    pub(super) fn draw(self, dice: &mut Stream) -> Case {
        let whole = self.tasks == Tasks::Whole;
        let tenants = between(dice, if self.grouped { 3 } else { 2 }, MOST_TENANTS as u32);
        let equal = chance(dice, 2);
        let settle = self.property.against == Against::Contribution;
        // Settling takes many times as long as the debts took to grow: they grow for a shorter
        // time.
        let longest = LONGEST[usize::from(whole)] / if settle { 2 } else { 1 };
        let mut case = Case {
            tasks: self.tasks,
            per_weight: between(dice, 1, MOST_PER_WEIGHT),
            tenants: Vec::new(),
            grouped: self.grouped,
            horizon: between(dice, 1, longest),
            liar: dice.below(u64::from(tenants)) as usize,
            lies: Vec::new(),
            scale: 1,
            settle,
            limits: false,
        };
        for _ in 0..tenants {
            let weight = if equal { 1 } else { between(dice, 1, 3) };
            let bursts = between(dice, 0, MOST_BURSTS as u32);
            let bursts = (0..bursts).map(|_| self.burst(&case, dice)).collect();
            case.tenants.push(Tenant { weight, bursts });
        }
        case.limits = self.says_limits(dice);
        self.add_lies(&mut case, dice);
        case.mend();
        self.ensure_lie(&mut case, dice);
        case
    }

    /// Another policy's case as one of this kind, if it can be.
    pub(super) fn adapt(self, case: &Case) -> Option<Case> {
        let mut case = Case { grouped: self.grouped, ..case.clone() };
        case.lies.retain(|lie| self.remembers || !matches!(lie, Lie::Rejoin { .. }));
        case.mend();
        (!self.needs_lie() || !case.lies.is_empty()).then_some(case)
    }

    fn add_lies(self, case: &mut Case, dice: &mut Stream) {
        if self.needs_lie() {
            for _ in 0..between(dice, 1, MOST_LIES as u32) {
                let lie = self.lie(case, dice);
                case.lies.extend(lie);
            }
        }
    }

    /// Gives a case that has lost its lie another, and the liar some work that the lie can be
    /// about.
    fn ensure_lie(self, case: &mut Case, dice: &mut Stream) {
        if !self.needs_lie() || !case.lies.is_empty() {
            return;
        }
        if case.tenants[case.liar].bursts.is_empty() {
            let burst = self.burst(case, dice);
            case.tenants[case.liar].bursts.push(burst);
        }
        // Some draws are no lie of this case (a burst that it has not, a return at its beginning);
        // most are.
        while case.lies.is_empty() {
            let lie = self.lie(case, dice);
            case.lies.extend(lie);
            case.mend();
        }
    }

    /// Whether tasks have limits: where it matters, in every other case.
    fn says_limits(self, dice: &mut Stream) -> bool {
        match self.property.property {
            Property::HonestShapes => true,
            Property::BoundedWait => chance(dice, 2),
            _ => false,
        }
    }

    /// Numbers of tasks around what matters: parts and multiples of share and cluster.
    fn count(self, case: &Case, dice: &mut Stream) -> u32 {
        let share = case.per_weight;
        let many = share * MOST_TENANTS as u32;
        match dice.below(5) {
            0 => share,
            1 => between(dice, 1, share),
            2 => many,
            3 => between(dice, 1, many),
            _ => many * between(dice, 1, 3 * case.horizon.min(4)),
        }
    }

    fn length(self, dice: &mut Stream) -> u32 {
        if self.tasks == Tasks::Unit || chance(dice, 3) {
            1
        } else {
            between(dice, 1, LONGEST_TASK)
        }
    }

    fn burst(self, case: &Case, dice: &mut Stream) -> Burst {
        let wide = self.tasks == Tasks::Whole && chance(dice, 3);
        Burst {
            at: if chance(dice, 3) { 0 } else { between(dice, 0, case.horizon - 1) },
            tasks: self.count(case, dice),
            length: self.length(dice),
            width: if wide { between(dice, 1, case.per_weight) } else { 1 },
        }
    }

    fn lie(self, case: &Case, dice: &mut Stream) -> Option<Lie> {
        let lies = self.lies();
        let at = |dice: &mut Stream| between(dice, 0, case.horizon - 1);
        Some(match lies.get(dice.below(lies.len().max(1) as u64) as usize)? {
            LieKind::Useless => Lie::Useless {
                at: at(dice),
                tasks: self.count(case, dice),
                length: self.length(dice),
                keep: between(dice, 1, case.horizon),
            },
            LieKind::Later => Lie::Later {
                burst: dice.below(MOST_BURSTS as u64) as usize,
                by: between(dice, 1, case.horizon),
            },
            LieKind::SplitWeight => Lie::Split { full: false, alternate: chance(dice, 2) },
            LieKind::SplitFull => Lie::Split { full: true, alternate: chance(dice, 2) },
            LieKind::Rejoin => Lie::Rejoin { at: at(dice) },
            LieKind::Wider => Lie::Wider {
                burst: dice.below(MOST_BURSTS as u64) as usize,
                by: between(dice, 1, case.per_weight),
            },
            LieKind::ShortLimit => {
                Lie::ShortLimit { burst: dice.below(MOST_BURSTS as u64) as usize }
            }
            LieKind::Forgo => Lie::Forgo { burst: dice.below(MOST_BURSTS as u64) as usize },
        })
    }

    /// A case that differs a little.
    pub(super) fn change(self, case: &Case, dice: &mut Stream) -> Case {
        let mut new = case.clone();
        for _ in 0..between(dice, 1, 2) {
            self.change_one(&mut new, dice);
            new.mend();
        }
        self.ensure_lie(&mut new, dice);
        new
    }

    fn change_one(self, case: &mut Case, dice: &mut Stream) {
        match dice.below(if self.needs_lie() { 9 } else { 6 }) {
            0 => case.horizon = nudge(case.horizon, dice),
            1 => case.per_weight = nudge(case.per_weight, dice),
            2 => {
                let tenant = dice.below(case.tenants.len() as u64) as usize;
                case.tenants[tenant].weight = between(dice, 1, 3);
            }
            3 => self.change_tenants(case, dice),
            4 | 5 => self.change_burst(case, dice),
            6 => case.liar = dice.below(case.tenants.len() as u64) as usize,
            7 => {
                let lie = self.lie(case, dice);
                if case.lies.len() == MOST_LIES {
                    case.lies.remove(dice.below(MOST_LIES as u64) as usize);
                }
                case.lies.extend(lie);
            }
            _ => self.change_lie(case, dice),
        }
    }

    fn change_tenants(self, case: &mut Case, dice: &mut Stream) {
        if chance(dice, 2) && case.tenants.len() < MOST_TENANTS {
            let bursts = vec![self.burst(case, dice)];
            case.tenants.push(Tenant { weight: 1, bursts });
        } else if case.tenants.len() > 2 {
            let gone = dice.below(case.tenants.len() as u64) as usize;
            case.tenants.remove(gone);
            case.liar -= usize::from(case.liar > gone || case.liar == case.tenants.len());
        }
    }

    fn change_burst(self, case: &mut Case, dice: &mut Stream) {
        let new = self.burst(case, dice);
        let tenant = dice.below(case.tenants.len() as u64) as usize;
        let bursts = &mut case.tenants[tenant].bursts;
        if bursts.is_empty() || (bursts.len() < MOST_BURSTS && chance(dice, 4)) {
            bursts.push(new);
            return;
        }
        let which = dice.below(bursts.len() as u64) as usize;
        let burst = &mut bursts[which];
        match dice.below(6) {
            0 => burst.at = nudge(burst.at, dice),
            1 => burst.tasks = nudge(burst.tasks, dice),
            2 => burst.tasks = new.tasks,
            3 => burst.length = nudge(burst.length, dice),
            4 => burst.width = nudge(burst.width, dice),
            _ => {
                bursts.remove(which);
            }
        }
    }

    fn change_lie(self, case: &mut Case, dice: &mut Stream) {
        let count = case.lies.len().max(1) as u64;
        let Some(lie) = case.lies.get_mut(dice.below(count) as usize) else { return };
        match lie {
            Lie::Useless { at, tasks, length, keep } => {
                let value = [at, tasks, length, keep];
                let which = dice.below(4) as usize;
                for value in value.into_iter().skip(which).take(1) {
                    *value = nudge(*value, dice);
                }
            }
            Lie::Later { by, .. } | Lie::Wider { by, .. } => *by = nudge(*by, dice),
            Lie::Split { alternate, .. } => *alternate = !*alternate,
            Lie::Rejoin { at } => *at = nudge(*at, dice),
            Lie::ShortLimit { .. } | Lie::Forgo { .. } => {}
        }
    }
}

/// A little, or by half or double, more or less.
fn nudge(value: u32, dice: &mut Stream) -> u32 {
    match dice.below(4) {
        0 => value + 1,
        1 => value.saturating_sub(1),
        2 => value * 2,
        _ => value / 2,
    }
}
