//! A case: a small shared cluster, its tenants' demands, and what one of them does instead of being
//! honest.
//!
//! Times are whole minutes. A case has one node. Shares are whole slots and at least as wide as any
//! task, so that the static partition wastes nothing by rounding. `Case::mend` restores all this
//! after a random change.
//!
//! **Tolerance.** Two effects of whole tasks are no violations. A claim is answered only when a
//! task ends, at most the longest task L later: that costs at most L times the slots that are
//! claimed, which are the share S_i where a run is compared with the share alone, and at most all R
//! slots where a run is compared with another. And at each decision a tenant holds up to one task
//! (width d) more or less than divisible tasks would give it: at most d * T. Of S_i * T:
//!
//! > tolerance = runs * (L * claimed / S_i / T + d / S_i),  runs: how many of the runs compared
//! > have such effects
//!
//! With unit tasks that all begin and end on the minute nobody waits for a task's end: L = 0. An
//! order that ticks hears of a claim at the next tick: L is longer by that. Slots
//! and numbers of tasks can be scaled up together ([`Case::scale`]): d / S_i vanishes, and of a
//! violation stays what is real.

use serde::Serialize;

/// What tasks are like.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tasks {
    /// One slot, one minute, on the minute: as divisible demand that is shared out anew each
    /// minute.
    Unit,
    /// One or more slots for minutes, never interrupted.
    Whole,
}

/// Tasks that become ready at once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Burst {
    /// Minute of submission.
    pub at: u32,
    /// How many, before scaling.
    pub tasks: u32,
    /// Minutes that each lasts.
    pub length: u32,
    /// Slots that each holds.
    pub width: u32,
}

/// A tenant and all its real demand.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Tenant {
    /// Its weight, and what it contributes.
    pub weight: u32,
    /// Its demand.
    pub bursts: Vec<Burst>,
}

/// What a tenant does instead of submitting its work under one name as it comes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lie {
    /// Submits useless tasks of one slot: an inflated demand, or work to hold the share with.
    Useless {
        /// Minute of submission.
        at: u32,
        /// How many, before scaling.
        tasks: u32,
        /// Minutes that each lasts.
        length: u32,
        /// Minutes after which they are withdrawn.
        keep: u32,
    },
    /// Holds a burst back.
    Later {
        /// Which of its bursts.
        burst: usize,
        /// Minutes.
        by: u32,
    },
    /// Is two queues from the start.
    Split {
        /// Each with the whole weight, instead of half of it.
        full: bool,
        /// Every other burst goes to the second, instead of half of each.
        alternate: bool,
    },
    /// Leaves and comes back as a new queue.
    Rejoin {
        /// Minute.
        at: u32,
    },
    /// Asks for wider tasks than it has use for.
    Wider {
        /// Which of its bursts.
        burst: usize,
        /// Slots of each task that are of no use.
        by: u32,
    },
    /// Says that tasks are done after a minute that take longer.
    ShortLimit {
        /// Which of its bursts.
        burst: usize,
    },
    /// Gives a burst up: it is never submitted.
    Forgo {
        /// Which of its bursts.
        burst: usize,
    },
}

/// The kinds of [`Lie`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LieKind {
    Useless,
    Later,
    SplitWeight,
    SplitFull,
    Rejoin,
    Wider,
    ShortLimit,
    Forgo,
}

/// A small shared cluster, its tenants' demands, and what one of them does instead of being
/// honest. Times are whole minutes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Case {
    /// What tasks are like.
    pub tasks: Tasks,
    /// Slots per unit of weight, before scaling.
    pub per_weight: u32,
    /// In order of declaration, which settles ties.
    pub tenants: Vec<Tenant>,
    /// Whether they form two groups of equal weight.
    pub grouped: bool,
    /// Minute at which it ends (or at which the time to settle debts begins).
    pub horizon: u32,
    /// Index of the tenant that lies.
    pub liar: usize,
    /// What it does.
    pub lies: Vec<Lie>,
    /// Factor of slots and tasks.
    pub scale: u32,
    /// Whether all demand everything after the horizon, until all debts could be settled.
    pub settle: bool,
    /// Whether tasks say how long they run at most.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// What whole tasks can do to a value; see the module.
#[derive(Clone, Copy)]
pub(super) struct Rounding {
    /// How often a claim waits for a task's end: in each of the runs that are compared.
    pub(super) waits: u32,
    /// How often a tenant holds a task more or less than divisible ones would give it.
    pub(super) widths: u32,
    /// Whether a tenant may claim the whole cluster, instead of its share.
    pub(super) claims_all: bool,
    /// Whether another may hold a task more, by its own share, which is compared.
    pub(super) others: bool,
    /// Minutes after which an order hears of a claim at the latest.
    pub(super) lag: u32,
}

/// Most tenants of a case.
pub(super) const MOST_TENANTS: usize = 4;
/// Most bursts of one tenant.
pub(super) const MOST_BURSTS: usize = 3;
/// Most lies of the liar.
pub(super) const MOST_LIES: usize = 2;
/// Longest horizon, in minutes, of unit tasks and of whole ones.
pub(super) const LONGEST: [u32; 2] = [16, 60];
/// Longest task, in minutes.
pub(super) const LONGEST_TASK: u32 = 5;
/// Most slots per weight.
pub(super) const MOST_PER_WEIGHT: u32 = 8;

impl Case {
    /// Slots of the cluster.
    pub fn capacity(&self) -> u32 {
        (0..self.tenants.len()).map(|i| self.share(i)).sum()
    }

    /// Group of a tenant: the first half is the first group.
    pub fn group(&self, tenant: usize) -> usize {
        usize::from(tenant >= self.first_group())
    }

    fn first_group(&self) -> usize {
        self.tenants.len().div_ceil(2)
    }

    /// Slots of a tenant's share, S_i.
    pub fn share(&self, tenant: usize) -> u32 {
        let unit = self.per_weight * self.scale;
        if !self.grouped {
            return unit * self.tenants[tenant].weight;
        }
        // Two groups of one or two tenants each: 2 units for the group, so that halves are whole.
        let first = self.first_group();
        let size = if self.group(tenant) == 0 { first } else { self.tenants.len() - first };
        2 * unit / size as u32
    }

    /// Minutes after the horizon that settle the largest possible debt: one tenant had everything
    /// until then, and for three tasks' length more while nobody knew how long they last (an
    /// adaptive quantum is right from the third wave of tasks on). While it gets nothing more the
    /// others catch up within (horizon + 3 L) * (R - S) / S.
    pub fn settling(&self) -> u32 {
        if !self.settle {
            return 0;
        }
        let smallest = (0..self.tenants.len()).map(|i| self.share(i)).min().unwrap_or(1);
        ((self.horizon + 3 * self.longest()) * (self.capacity() - smallest)).div_ceil(smallest)
    }

    fn longest(&self) -> u32 {
        let useless = self.lies.iter().map(|lie| match lie {
            Lie::Useless { length, .. } => *length,
            _ => 0,
        });
        self.bursts().map(|burst| burst.length).chain(useless).max().unwrap_or(1)
    }

    /// Minute from which on the liar is honest again: when what is useless is withdrawn, and when
    /// what is given up would have come.
    pub(super) fn honest_again(&self) -> u32 {
        let over = self.lies.iter().map(|lie| match *lie {
            Lie::Useless { at, keep, .. } => at + keep,
            Lie::Forgo { burst } => {
                self.tenants[self.liar].bursts.get(burst).map_or(0, |burst| burst.at)
            }
            _ => self.end(),
        });
        over.max().unwrap_or(0)
    }

    /// Minute at which the run ends, T.
    pub fn end(&self) -> u32 {
        self.horizon + self.settling()
    }

    /// What whole tasks alone can make of a value of `tenant`; see the module.
    pub(super) fn tolerance(&self, rounding: Rounding, tenant: usize) -> f64 {
        let widest = self.bursts().map(|burst| burst.width).max().unwrap_or(1);
        let rounded =
            f64::from(rounding.widths) * f64::from(widest) / f64::from(self.share(tenant));
        let smallest = (0..self.tenants.len()).map(|i| self.share(i)).min().unwrap_or(1);
        let theirs = if rounding.others { f64::from(widest) / f64::from(smallest) } else { 0.0 };
        self.waiting(rounding, tenant) + rounded + theirs
    }

    /// The part of the tolerance for waiting until a task ends: it stays however finely shares are
    /// divided.
    pub(super) fn waiting(&self, rounding: Rounding, tenant: usize) -> f64 {
        let drain = if self.tasks == Tasks::Unit { 0 } else { self.longest() };
        let claimed = match rounding.claims_all {
            true => f64::from(self.capacity()) / f64::from(self.share(tenant)),
            false => 1.0,
        };
        let late = f64::from(drain + rounding.lag);
        f64::from(rounding.waits) * claimed * late / f64::from(self.end())
    }

    fn bursts(&self) -> impl Iterator<Item = &Burst> {
        self.tenants.iter().flat_map(|tenant| &tenant.bursts)
    }

    /// Tenants that want nothing make the shares of others small, and values large that are parts
    /// of these. Only where all want something in the end, and for the liar, is it of interest that
    /// somebody does.
    fn drop_idle(&mut self, fewest: usize) {
        let mut i = self.tenants.len();
        while i > 0 && !self.settle && self.tenants.len() > fewest {
            i -= 1;
            if i != self.liar && self.tenants[i].bursts.is_empty() {
                self.tenants.remove(i);
                self.liar -= usize::from(self.liar > i);
            }
        }
    }

    /// Makes a changed case sound again: every value within its bounds, the cheapest change that
    /// does it.
    pub(super) fn mend(&mut self) {
        // There has to be room for what is of no use.
        let wider = self.lies.iter().any(|lie| matches!(lie, Lie::Wider { .. }));
        self.per_weight = self.per_weight.clamp(if wider { 2 } else { 1 }, MOST_PER_WEIGHT);
        self.horizon = self.horizon.clamp(1, LONGEST[usize::from(self.tasks == Tasks::Whole)]);
        let fewest = if self.grouped { 3 } else { 2 };
        while self.tenants.len() < fewest {
            self.tenants.push(Tenant { weight: 1, bursts: Vec::new() });
        }
        self.tenants.truncate(MOST_TENANTS);
        self.liar = self.liar.min(self.tenants.len() - 1);
        let (grouped, horizon, tasks) = (self.grouped, self.horizon, self.tasks);
        let widest = self.per_weight;
        let most = 4 * self.per_weight * 3 * MOST_TENANTS as u32;
        for tenant in &mut self.tenants {
            tenant.weight = if grouped { 1 } else { tenant.weight.clamp(1, 3) };
            tenant.bursts.truncate(MOST_BURSTS);
            tenant.bursts.retain(|burst| burst.at < horizon);
            for burst in &mut tenant.bursts {
                burst.tasks = burst.tasks.clamp(1, most);
                (burst.length, burst.width) = match tasks {
                    Tasks::Unit => (1, 1),
                    Tasks::Whole => {
                        (burst.length.clamp(1, LONGEST_TASK), burst.width.clamp(1, widest))
                    }
                };
            }
            tenant.bursts.sort_by_key(|burst| burst.at);
        }
        if self.bursts().next().is_none() {
            self.tenants[self.liar].bursts.push(Burst { at: 0, tasks: 1, length: 1, width: 1 });
        }
        self.drop_idle(fewest);
        self.lies.truncate(MOST_LIES);
        let own = &mut self.tenants[self.liar].bursts;
        let bursts = own.len();
        let long = |burst: usize| own.get(burst).is_some_and(|burst| burst.length > 1);
        self.lies.retain(|lie| match *lie {
            Lie::Useless { at, .. } => at < horizon,
            Lie::Rejoin { at } => at > 0 && at < horizon,
            Lie::Later { burst, .. } | Lie::Wider { burst, .. } | Lie::Forgo { burst } => {
                burst < bursts
            }
            Lie::ShortLimit { burst } => self.limits && long(burst),
            Lie::Split { .. } => bursts > 0,
        });
        for lie in &mut self.lies {
            match lie {
                Lie::Useless { tasks: count, length, keep, .. } => {
                    *count = (*count).clamp(1, most);
                    *length =
                        if tasks == Tasks::Unit { 1 } else { (*length).clamp(1, LONGEST_TASK) };
                    *keep = (*keep).clamp(1, horizon);
                }
                Lie::Later { by, .. } => *by = (*by).clamp(1, horizon),
                Lie::Wider { burst, by } => {
                    let burst = &mut own[*burst];
                    burst.width = burst.width.min(widest - 1);
                    *by = (*by).clamp(1, widest - burst.width);
                }
                Lie::Rejoin { .. }
                | Lie::Split { .. }
                | Lie::ShortLimit { .. }
                | Lie::Forgo { .. } => {}
            }
        }
        self.lies.sort();
        self.lies.dedup();
        // A burst's tasks are wider once: there is room for no more.
        self.lies.dedup_by(|a, b| match (a, b) {
            (Lie::Wider { burst: a, .. }, Lie::Wider { burst: b, .. }) => a == b,
            _ => false,
        });
        // One second name is enough.
        let is_name = |lie: &Lie| matches!(lie, Lie::Split { .. } | Lie::Rejoin { .. });
        if let Some(first) = self.lies.iter().position(is_name) {
            let mut place = 0..;
            self.lies.retain(|lie| place.next() == Some(first) || !is_name(lie));
        }
    }
}
