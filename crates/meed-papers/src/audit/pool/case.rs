//! A pool of servers and users whose tasks never end; what some of them claim, or who leaves.
//! Drawn, changed, mended.
//!
//! Amounts are small whole numbers; `scale` multiplies what servers have, so that tasks become
//! finer against them.

use meed_workload::generate::Stream;
use serde::{Deserialize, Serialize};

use super::property::PoolProperty;

/// A pool of servers and users whose tasks never end; what some of them claim, or who leaves.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolCase {
    /// What each server has of each resource, before scaling.
    pub servers: Vec<Vec<u32>>,
    /// What one task of each user needs; all of equal weight.
    pub users: Vec<Vec<u32>>,
    /// Users that claim another demand.
    pub claims: Vec<(usize, Vec<u32>)>,
    /// The user that leaves.
    pub leaver: Option<usize>,
    /// Factor of what servers have.
    pub scale: u32,
}

/// Names of resources, as scenarios call them.
pub(super) const KINDS: [&str; 3] = ["cpu", "ram", "net"];
const MOST_SERVERS: u64 = 4;
const MOST_USERS: u64 = 4;
/// Largest amounts of a server and of a task that are drawn, before scaling.
const MOST: [u32; 2] = [24, 6];
/// Largest amount of any case.
const LARGEST: u32 = 64;

fn between(dice: &mut Stream, low: u32, high: u32) -> u32 {
    low + dice.below(u64::from(high - low) + 1) as u32
}

impl PoolCase {
    /// Number of resources.
    pub(super) fn kinds(&self) -> usize {
        self.servers.first().map_or(0, Vec::len)
    }

    /// What server `server` has of each resource, scaled.
    pub(super) fn capacity(&self, server: usize) -> Vec<f64> {
        self.servers[server]
            .iter()
            .map(|&amount| f64::from(amount) * f64::from(self.scale))
            .collect()
    }

    /// What the pool has of each resource, before scaling.
    pub(super) fn totals(&self) -> Vec<u64> {
        let total = |r: usize| self.servers.iter().map(|server| u64::from(server[r])).sum();
        (0..self.kinds()).map(total).collect()
    }

    /// Queue and job of a user.
    pub(super) fn name(user: usize) -> String {
        char::from(b'a' + user as u8).to_string()
    }

    /// What users ask for: `None` for who has left.
    pub(super) fn asked(&self, deviating: bool) -> Vec<Option<&[u32]>> {
        let of = |user: usize| {
            let claim = self.claims.iter().find(|(who, _)| *who == user).filter(|_| deviating);
            let gone = deviating && self.leaver == Some(user);
            (!gone).then(|| claim.map_or(self.users[user].as_slice(), |(_, claim)| claim))
        };
        (0..self.users.len()).map(of).collect()
    }

    /// A random case.
    pub(super) fn draw(property: PoolProperty, dice: &mut Stream) -> PoolCase {
        let kinds = if dice.below(4) == 0 { 3 } else { 2 };
        let amounts =
            |dice: &mut Stream, most: u32| (0..kinds).map(|_| between(dice, 1, most)).collect();
        let servers = 1 + dice.below(MOST_SERVERS);
        let users = 2 + dice.below(MOST_USERS - 1);
        let servers = (0..servers).map(|_| amounts(dice, MOST[0])).collect();
        let users: Vec<Vec<u32>> = (0..users).map(|_| amounts(dice, MOST[1])).collect();
        let mut case = PoolCase { servers, users, claims: Vec::new(), leaver: None, scale: 1 };
        case.deviate(property, dice);
        case.mend(property);
        case
    }

    fn deviate(&mut self, property: PoolProperty, dice: &mut Stream) {
        let (users, kinds) = (self.users.len() as u64, self.kinds());
        if property == PoolProperty::PopulationMonotonicity {
            self.leaver = Some(dice.below(users) as usize);
        }
        if property == PoolProperty::GroupStrategyProofness {
            self.claims.clear();
            for _ in 0..=dice.below(3) {
                let claim = (0..kinds).map(|_| between(dice, 1, MOST[1] + 2)).collect();
                self.claims.push((dice.below(users) as usize, claim));
            }
        }
    }

    /// A case that differs a little.
    pub(super) fn change(&self, property: PoolProperty, dice: &mut Stream) -> PoolCase {
        let mut new = self.clone();
        let kind = dice.below(self.kinds() as u64) as usize;
        let nudge = |value: u32, dice: &mut Stream| match dice.below(4) {
            0 => value + 1,
            1 => value.saturating_sub(1),
            2 => value * 2,
            _ => value / 2,
        };
        match dice.below(5) {
            0 | 1 => {
                let server = dice.below(new.servers.len() as u64) as usize;
                new.servers[server][kind] = nudge(new.servers[server][kind], dice);
            }
            2 | 3 => {
                let user = dice.below(new.users.len() as u64) as usize;
                new.users[user][kind] = nudge(new.users[user][kind], dice);
            }
            _ => new.deviate(property, dice),
        }
        new.mend(property);
        new
    }

    /// Makes a case sound again: what the property is about, every amount within its bounds, every
    /// task on some server.
    pub(super) fn mend(&mut self, property: PoolProperty) {
        if property == PoolProperty::SingleServerDrf {
            self.servers.truncate(1);
        }
        let most = if property == PoolProperty::SingleResource { 1 } else { KINDS.len() };
        let rows = self
            .servers
            .iter_mut()
            .chain(&mut self.users)
            .chain(self.claims.iter_mut().map(|c| &mut c.1));
        for row in rows {
            row.truncate(most);
            row.iter_mut().for_each(|amount| *amount = (*amount).clamp(1, LARGEST));
        }
        self.scale = self.scale.max(1);
        let servers = self.servers.clone();
        for demand in self.users.iter_mut().chain(self.claims.iter_mut().map(|claim| &mut claim.1))
        {
            let over = |server: &&Vec<u32>| {
                demand
                    .iter()
                    .zip(*server)
                    .map(|(need, have)| u64::from(need.saturating_sub(*have)))
                    .sum::<u64>()
            };
            // Cut to the server that is nearest to holding it.
            if let Some(server) = servers.iter().min_by_key(over) {
                demand.iter_mut().zip(server).for_each(|(need, have)| *need = (*need).min(*have));
            }
        }
        if property == PoolProperty::Bottleneck {
            self.share_bottleneck();
        }
        let mut seen = Vec::new();
        let users = self.users.len();
        self.claims.retain(|(user, _)| {
            let fresh = *user < users && !seen.contains(user);
            seen.push(*user);
            fresh
        });
        self.claims.sort();
    }

    /// Cuts demands until everybody needs most of the first resource.
    fn share_bottleneck(&mut self) {
        let totals = self.totals();
        for user in &mut self.users {
            let first = u64::from(user[0]);
            for (need, total) in user.iter_mut().zip(&totals).skip(1) {
                let most = first * total / totals[0];
                *need = (*need).min(u32::try_from(most).unwrap_or(u32::MAX));
            }
        }
    }

    /// Simpler cases, the boldest first.
    pub(super) fn simpler(&self) -> Vec<PoolCase> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut PoolCase)| {
            let mut new = self.clone();
            change(&mut new);
            all.push(new);
        };
        for server in (0..self.servers.len()).filter(|_| self.servers.len() > 1) {
            add(&|new| {
                new.servers.remove(server);
            });
        }
        for user in (0..self.users.len()).filter(|_| self.users.len() > 1) {
            add(&|new| new.remove_user(user));
        }
        for claim in (0..self.claims.len()).filter(|_| self.claims.len() > 1) {
            add(&|new| {
                new.claims.remove(claim);
            });
        }
        if self.kinds() > 2 {
            add(&|new| {
                let rows = new.servers.iter_mut().chain(&mut new.users);
                rows.chain(new.claims.iter_mut().map(|claim| &mut claim.1))
                    .for_each(|row| row.truncate(2));
            });
        }
        add(&|new| new.scale = 1);
        add(&|new| new.scale /= 2);
        for less in [|value: u32| value / 2, |value: u32| value.saturating_sub(1)] {
            for kind in 0..self.kinds() {
                (0..self.servers.len())
                    .for_each(|i| add(&|new| new.servers[i][kind] = less(new.servers[i][kind])));
                (0..self.users.len())
                    .for_each(|i| add(&|new| new.users[i][kind] = less(new.users[i][kind])));
                (0..self.claims.len())
                    .for_each(|i| add(&|new| new.claims[i].1[kind] = less(new.claims[i].1[kind])));
            }
        }
        all
    }

    fn remove_user(&mut self, user: usize) {
        self.users.remove(user);
        self.claims.retain(|(who, _)| *who != user);
        self.claims.iter_mut().for_each(|(who, _)| *who -= usize::from(*who > user));
        self.leaver =
            self.leaver.filter(|gone| *gone != user).map(|gone| gone - usize::from(gone > user));
    }

    /// Whether it can be evaluated: as it comes from a file.
    pub(super) fn is_sound(&self) -> bool {
        let kinds = self.kinds();
        let rows =
            self.servers.iter().chain(&self.users).chain(self.claims.iter().map(|claim| &claim.1));
        let users = self.users.len();
        (1..=KINDS.len()).contains(&kinds)
            && (1..=26).contains(&users)
            && rows
                .into_iter()
                .all(|row| row.len() == kinds && row.iter().any(|&amount| amount > 0))
            && self.claims.iter().all(|(user, _)| *user < users)
            && self.leaver.is_none_or(|user| user < users)
            && self.scale > 0
    }

    /// Whether it is about what the property is about.
    pub(super) fn is_of(&self, property: PoolProperty) -> bool {
        match property {
            PoolProperty::GroupStrategyProofness => !self.claims.is_empty(),
            PoolProperty::PopulationMonotonicity => self.leaver.is_some() && self.users.len() > 1,
            _ => true,
        }
    }

    /// What a reader has to take in.
    pub(super) fn size(&self) -> (usize, u64) {
        let rows = || {
            self.servers.iter().chain(&self.users).chain(self.claims.iter().map(|claim| &claim.1))
        };
        let sum: u64 = rows().flatten().map(|&amount| u64::from(amount)).sum();
        (rows().map(Vec::len).sum(), sum + u64::from(self.scale))
    }
}
