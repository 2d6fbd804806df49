//! What is to be shared among whom, and what can be wrong with it.
//!
//! Amounts are plain numbers in units of the writer's choice, fractions included: only ratios
//! matter. A [`Problem`] that [`Problem::check`] accepts can be solved by every policy without a
//! further error.

use crate::error::InputError;
use crate::limits::{LARGEST, MAX_RESOURCES, MOST_CREDITS, SMALLEST};
use crate::policy::AllocationPolicy;

/// Servers of equal capacity.
///
/// It is part of a [`Problem`], whose page has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct Server {
    /// How many of them.
    pub count: f64,
    /// What each has, in the order of [`Problem::resources`].
    pub capacity: Vec<f64>,
}

/// What other ledgers than past usage say of a user; each is looked at by one policy alone.
///
/// ```
/// use meed_level::{AllocationPolicy, UserLedgers, allocate, examples};
///
/// // Who has a commitment for past use above its share gets less now (SDRF).
/// let mut problem = examples::section_2();
/// problem.users[0].ledgers = UserLedgers { commitment: 0.25, ..UserLedgers::default() };
/// let solved = allocate(&problem, AllocationPolicy::Sdrf)?;
/// assert!(solved.users[0].dominant_share < solved.users[1].dominant_share);
/// # Ok::<(), meed_level::InputError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct UserLedgers {
    /// Credits, each the dominant share of the whole pool for the time of one allocation, at the
    /// mean weight: [`AllocationPolicy::MrKarma`].
    pub credits: f64,
    /// Commitment for past over-use, in dominant shares: [`AllocationPolicy::Sdrf`].
    pub commitment: f64,
    /// What was paid, in any currency: [`AllocationPolicy::AsYouPay`].
    pub paid: f64,
    /// What was received so far, in the same currency: [`AllocationPolicy::AsYouPay`].
    pub received: f64,
}

/// Someone who has tasks.
///
/// It is part of a [`Problem`], whose page has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct User {
    /// No other user has this name.
    pub name: String,
    /// What one task needs, in the order of [`Problem::resources`].
    pub demand: Vec<f64>,
    /// Shares are proportional to weights.
    pub weight: f64,
    /// How many tasks there are; `None` when they never end.
    pub tasks: Option<f64>,
    /// Past usage in dominant shares (share of the pool x time in the unit of one allocation); only
    /// long-term policies look at it.
    pub used: f64,
    /// What other ledgers say.
    pub ledgers: UserLedgers,
}

/// A pool of servers and the users that share it.
///
/// ```
/// use meed_level::examples::cpu_and_memory;
/// use meed_level::{AllocationPolicy, allocate};
///
/// // TPDS'15 Sec. 2: one server of 9 CPUs and 18 GB; tasks of (1, 4) and of (3, 1).
/// let problem = cpu_and_memory(&[(1.0, 9.0, 18.0)], &[(1.0, 4.0), (3.0, 1.0)]);
/// problem.check()?;
/// assert_eq!(problem.totals(), [9.0, 18.0]);
/// let solved = allocate(&problem, AllocationPolicy::Drf)?;
/// let is = |user: usize, tasks: f64| (solved.users[user].tasks - tasks).abs() < 1e-9;
/// assert!(is(0, 3.0) && is(1, 2.0));
/// # Ok::<(), meed_level::InputError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Classes of servers.
    pub servers: Vec<Server>,
    /// Users.
    pub users: Vec<User>,
    /// Slots that the largest server is divided into, for [`crate::AllocationPolicy::Slots`].
    pub slots_per_server: f64,
    /// What the whole pool is worth for the time of the allocation, in the currency of
    /// [`UserLedgers::paid`].
    pub worth: f64,
}

impl Problem {
    /// What the pool has of each resource.
    pub fn totals(&self) -> Vec<f64> {
        let total = |r| self.servers.iter().map(|server| server.count * server.capacity[r]).sum();
        (0..self.resources.len()).map(total).collect()
    }

    /// Whether it can be solved; if not, what is wrong and where.
    pub fn check(&self) -> Result<(), InputError> {
        let kinds = self.resources.len();
        if kinds == 0 || kinds > MAX_RESOURCES {
            return Err(InputError::Resources { given: kinds });
        }
        if self.servers.is_empty() {
            return Err(InputError::NoServers);
        }
        if self.users.is_empty() {
            return Err(InputError::NoUsers);
        }
        self.servers
            .iter()
            .enumerate()
            .try_for_each(|(number, server)| self.check_server(number, server))?;
        let slots = self.slots_per_server;
        if !(1.0..=1e6).contains(&slots) || slots.fract() != 0.0 {
            return Err(InputError::Slots { given: slots });
        }
        if !is_amount(self.worth) || self.worth == 0.0 {
            return Err(InputError::Worth { given: self.worth });
        }
        self.users.iter().try_for_each(|user| self.check_user(user))?;
        let mut names: Vec<&str> = self.users.iter().map(|user| user.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(InputError::SameName { name: pair[0].to_owned() }),
            None => Ok(()),
        }
    }

    /// Whether it can be solved under `policy`.
    pub fn check_for(&self, policy: AllocationPolicy) -> Result<(), InputError> {
        self.check()?;
        if policy != AllocationPolicy::AsYouPay {
            return Ok(());
        }
        self.users.iter().try_for_each(|user| {
            let UserLedgers { paid, received, .. } = user.ledgers;
            let name = || user.name.clone();
            match [paid, received].map(|money| is_amount(money / self.worth)) {
                _ if paid == 0.0 => Err(InputError::NothingPaid { user: name() }),
                [true, true] => Ok(()),
                [false, _] => {
                    Err(InputError::FarFromWorth { user: name(), key: "paid", given: paid })
                }
                [true, false] => {
                    Err(InputError::FarFromWorth { user: name(), key: "received", given: received })
                }
            }
        })
    }

    fn check_server(&self, number: usize, server: &Server) -> Result<(), InputError> {
        if !(1.0..=1e15).contains(&server.count) || server.count.fract() != 0.0 {
            return Err(InputError::Count { server: number, given: server.count });
        }
        for (name, &amount) in self.resources.iter().zip(&server.capacity) {
            if !is_amount(amount) {
                let resource = name.clone();
                return Err(InputError::Capacity { server: number, resource, given: amount });
            }
        }
        match server.capacity.iter().all(|&amount| amount == 0.0) {
            true => Err(InputError::EmptyServer { server: number }),
            false => Ok(()),
        }
    }

    fn check_user(&self, user: &User) -> Result<(), InputError> {
        let name = || user.name.clone();
        if user.name.is_empty() {
            return Err(InputError::NoName);
        }
        for (resource, &amount) in self.resources.iter().zip(&user.demand) {
            if !is_amount(amount) {
                return Err(InputError::Demand {
                    user: name(),
                    resource: resource.clone(),
                    given: amount,
                });
            }
        }
        if user.demand.iter().all(|&amount| amount == 0.0) {
            return Err(InputError::NoDemand { user: name() });
        }
        let ledgers = &user.ledgers;
        let figures = [
            ("weight", user.weight, user.weight != 0.0),
            ("tasks", user.tasks.unwrap_or(0.0), true),
            ("used", user.used, true),
            ("credits", ledgers.credits, true),
            ("commitment", ledgers.commitment, true),
            ("paid", ledgers.paid, true),
            ("received", ledgers.received, true),
        ];
        for (key, given, allowed) in figures {
            if !is_amount(given) || !allowed {
                return Err(InputError::Figure { user: name(), key, given });
            }
        }
        if ledgers.credits > MOST_CREDITS {
            return Err(InputError::Credits { user: name(), given: ledgers.credits });
        }
        self.check_room(user)
    }

    /// A task that no server could ever hold is refused, as by the engine.
    fn check_room(&self, user: &User) -> Result<(), InputError> {
        let fits = |server: &Server| {
            user.demand.iter().zip(&server.capacity).all(|(need, have)| need <= have)
        };
        if self.servers.iter().any(fits) {
            return Ok(());
        }
        let most =
            |r: usize| self.servers.iter().map(|server| server.capacity[r]).fold(0.0, f64::max);
        let too_much = (0..self.resources.len()).find(|&r| user.demand[r] > most(r));
        Err(match too_much {
            Some(r) => InputError::TooLarge {
                user: user.name.clone(),
                resource: self.resources[r].clone(),
                need: user.demand[r],
                most: most(r),
            },
            None => InputError::FitsNowhere { user: user.name.clone() },
        })
    }
}

/// Zero, or in the range in which ratios are safe. False for NaN.
fn is_amount(value: f64) -> bool {
    value == 0.0 || (SMALLEST..=LARGEST).contains(&value)
}
