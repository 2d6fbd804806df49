//! The books of a run: of each tenant what it has paid, what it is entitled to, and what it has
//! received, as integers without rounding.
//!
//! Between two instants of the timetable prices and capacities stand still, so a stretch of time is
//! settled at its end: use comes from the engine's integrals. Where instances count differently it
//! is what every running task holds, looked up at each instant. Money is in grains, values in
//! grains / `whole`, where `whole` is a multiple of all capacities.
//!
//! Cost: O(queues x resources) for each stretch that is settled: an instant of the timetable, or a
//! tick. With unequal instances also O(running tasks) at each instant.

mod ranks;
mod statement;

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{MAX_KINDS, QueueId, Rank, Resources, Span, Time};
use meed_driver::Books;
use num_bigint::BigUint;

use meed_scenario::plans::{Entitled, Pool, Terms, Timetable, ValueBy};

/// What accounts read of a run: its books, and what its running tasks hold.
pub(crate) trait InUse: Books {
    /// Calls `see` for each running task with its queue in the tree, the weight of its node and
    /// its demand.
    fn each_running(&self, see: &mut dyn FnMut(QueueId, u32, &Resources));
}

/// The account of a tenant.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    /// Grains.
    pub(super) paid: u128,
    /// The value of what it gave, grains / whole.
    pub(super) given: BigUint,
    /// Of the measured resource: thousandths of smallest units x microseconds.
    pub(super) contributed: u128,
    /// Its part of the pool, likewise.
    pub(super) entitled: BigUint,
    /// Per resource, likewise.
    pub(super) received: [u128; MAX_KINDS],
    /// The same at the pool's prices, grains / whole.
    pub(super) value: Vec<BigUint>,
    /// The engine's integral when it was last read.
    read: [u128; MAX_KINDS],
    /// What is held, each unit by its node's weight; where nodes differ.
    held: [u128; MAX_KINDS],
}

/// What each tenant pays and receives while a run goes on, and the ranks that follow from that.
/// Scenarios make it where tenants contribute the nodes
/// ([`Timetable`](meed_scenario::plans::Timetable)).
///
/// ```
/// use std::path::Path;
/// use meed_scenario::Scenario;
/// use meed_workload::OnBadLine;
///
/// // No tenant of this scenario contributes: its runs have no accounts.
/// let text = "[cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 2 } }]\n\
///             [[queue]]\nname = \"ads\"\n\
///             [[job]]\nqueue = \"ads\"\nduration = \"10s\"\ndemand = { cpu = 1 }\n";
/// let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop)?;
/// assert!(!scenario.has_accounts());
/// assert!(meed_sim::setup(&scenario, "fair", 1)?.accounts.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Accounts {
    pub(super) table: Arc<Timetable>,
    /// How the order counts, where it is `as-you-pay`.
    tells: Option<Terms>,
    pub(super) pool: Pool,
    /// The next of the timetable's moments.
    next: usize,
    now: Time,
    /// When ranks are told next.
    due: Time,
    pub(super) measured: usize,
    pub(super) kinds: usize,
    /// By tenant.
    pub(super) accounts: Vec<Account>,
    /// By tenant: its queue.
    queues: Vec<Option<QueueId>>,
    /// Whose queue it is.
    tenants: BTreeMap<QueueId, usize>,
    /// What the pool had: thousandths of smallest units x microseconds of the measured resource.
    pub(super) capacity: u128,
    /// What was paid by all, counted from the sums.
    pub(super) paid: u128,
    /// Grains that came with no stretch of time.
    lumps: u128,
}

impl Accounts {
    pub(crate) fn new(table: Arc<Timetable>, tells: Option<Terms>) -> Accounts {
        let (pool, kinds) = (table.empty(), table.most.len());
        let empty = Account { value: vec![BigUint::ZERO; kinds], ..Account::default() };
        Accounts {
            accounts: vec![empty; table.tenants.len()],
            queues: Vec::new(),
            tenants: BTreeMap::new(),
            table,
            tells,
            pool,
            next: 0,
            now: Time::ZERO,
            due: Time::ZERO,
            measured: 0,
            kinds,
            capacity: 0,
            paid: 0,
            lumps: 0,
        }
    }

    /// Time passes to `at`, and nothing has happened since the last word. Ranks go to `say`.
    pub(crate) fn passes(
        &mut self,
        at: Time,
        world: &impl InUse,
        say: &mut dyn FnMut(QueueId, Rank),
    ) {
        if self.queues.is_empty() {
            let tree = world.tree();
            self.measured = tree.measured();
            self.queues = self.table.tenants.iter().map(|name| tree.find_queue(name)).collect();
            let known = self.queues.iter().enumerate();
            self.tenants = known.filter_map(|(at, queue)| Some(((*queue)?, at))).collect();
        }
        if self.table.weight.is_none() {
            self.weigh(world);
        }
        let (table, mut turned) = (Arc::clone(&self.table), false);
        while let Some(moment) = table.moments().get(self.next).filter(|m| m.at <= at) {
            self.settle(moment.at, world);
            self.pool.turn(moment);
            for &(tenant, lump) in &moment.lumps {
                self.accounts[tenant].paid += lump;
                self.lumps += lump;
            }
            (self.next, turned) = (self.next + 1, true);
        }
        let tells = self.tells.filter(|_| turned || at >= self.due);
        if tells.is_some() || self.table.weight.is_none() {
            self.settle(at, world);
        }
        if let Some(terms) = tells {
            self.due = at.saturating_add(terms.every);
            ranks::tell(self, terms, world.tree(), say);
        }
    }

    /// The run is over: time has passed to its end ([`Accounts::passes`]).
    pub(crate) fn ends(&mut self, end: Time, world: &impl InUse) {
        self.settle(end, world);
    }

    /// What every running task holds.
    fn weigh(&mut self, world: &impl InUse) {
        self.accounts.iter_mut().for_each(|account| account.held = [0; MAX_KINDS]);
        world.each_running(&mut |queue, weight, demand| {
            let Some(tenant) = self.tenant(queue) else { return };
            let held = &mut self.accounts[tenant].held;
            for (sum, &amount) in held.iter_mut().zip(demand.as_slice()) {
                *sum += u128::from(amount) * u128::from(weight);
            }
        });
    }

    /// Books what has happened since the last stretch, up to `to`.
    fn settle(&mut self, to: Time, world: &impl InUse) {
        let past = u128::from(to.saturating_since(self.now).as_micros());
        self.now = self.now.max(to);
        if past == 0 {
            return;
        }
        self.use_up(to, past, world);
        let sum = &self.pool.sum;
        self.paid += sum.rate * past;
        let stretch = sum.has[self.measured] * past;
        self.capacity += stretch;
        let shares = self.pool.shares(self.table.terms.entitled);
        let all: u128 = shares.iter().sum();
        let mut before = 0;
        for (tenant, (account, share)) in self.accounts.iter_mut().zip(shares).enumerate() {
            let part = &self.pool.parts[tenant];
            account.paid += part.rate * past;
            account.contributed += part.has[self.measured] * past;
            account.given += self.pool.gives(tenant, &self.table.whole) * past;
            // Differences of what all up to here have: their sum is the stretch, whatever is cut.
            if all > 0 {
                let upto = |sum: u128| BigUint::from(stretch) * sum / all;
                account.entitled += upto(before + share) - upto(before);
                before += share;
            }
        }
    }

    /// What was received since the last stretch.
    fn use_up(&mut self, to: Time, past: u128, world: &impl InUse) {
        // Nothing is used of what is not there: it has no price.
        let prices: Vec<BigUint> =
            (0..self.kinds).map(|kind| self.price(kind, ValueBy::Price)).collect();
        for (account, queue) in self.accounts.iter_mut().zip(&self.queues) {
            let mut used = [0; MAX_KINDS];
            match self.table.weight {
                None => {
                    used.iter_mut().zip(account.held).for_each(|(used, held)| *used = held * past);
                }
                Some(weight) => {
                    let books = queue.and_then(|queue| world.leaf(queue));
                    let Some((engine, own)) = books else { continue };
                    let read = engine.integrals(own, to).usage;
                    for kind in 0..self.kinds {
                        used[kind] = (read[kind] - account.read[kind]) * u128::from(weight);
                    }
                    account.read = read;
                }
            }
            for (kind, &used) in used.iter().enumerate().filter(|(_, used)| **used > 0) {
                account.received[kind] += used;
                account.value[kind] += &prices[kind] * used;
            }
        }
    }

    /// What a tenant is credited, grains / whole.
    pub(super) fn credit(&self, tenant: usize, entitled: Entitled) -> BigUint {
        match entitled {
            Entitled::Paid => &self.table.whole * self.accounts[tenant].paid,
            Entitled::Contributed => self.accounts[tenant].given.clone(),
        }
    }

    /// What it will be credited in the time to come, likewise.
    pub(super) fn credit_ahead(&self, tenant: usize, entitled: Entitled, time: Span) -> BigUint {
        let time = u128::from(time.as_micros());
        match entitled {
            Entitled::Paid => &self.table.whole * self.pool.parts[tenant].rate * time,
            Entitled::Contributed => self.pool.gives(tenant, &self.table.whole) * time,
        }
    }

    /// What it has received of each resource by its value, in one unit for all.
    pub(super) fn values(&self, tenant: usize, value: ValueBy) -> Vec<BigUint> {
        let account = &self.accounts[tenant];
        match value {
            ValueBy::Price => account.value.clone(),
            ValueBy::Resource => {
                let each = account.received.iter().zip(&self.table.most);
                each.map(|(used, most)| &self.table.whole / (*most).max(1) * *used).collect()
            }
        }
    }

    /// What a smallest unit of a resource, thousandfold, is worth in a microsecond, likewise.
    pub(super) fn price(&self, kind: usize, value: ValueBy) -> BigUint {
        let (sum, whole) = (&self.pool.sum, &self.table.whole);
        match value {
            ValueBy::Price if sum.has[kind] == 0 => BigUint::ZERO,
            ValueBy::Price => whole / sum.has[kind] * sum.rate,
            ValueBy::Resource => whole / self.table.most[kind].max(1),
        }
    }

    /// The tenant of a queue.
    pub(super) fn tenant(&self, queue: QueueId) -> Option<usize> {
        self.tenants.get(&queue).copied()
    }

    /// Grains that all have paid.
    pub(super) fn all_paid(&self) -> u128 {
        self.paid + self.lumps
    }
}
