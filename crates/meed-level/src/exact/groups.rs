//! Servers of the same prices solved as one: the other half of [`super::bundles`].
//!
//! At the optimum most servers have the same prices as others: those whose capacities are alike
//! enough to pick the same corner of what prices can be. A user whom one of them can serve cheapest
//! can be served by all of them, and an interior point spreads everybody over all: many steps, and
//! no user that is clearly here or there. So servers are put into *groups*, each one server of the
//! program, with all that its servers have together. That allows more than the servers do, so its
//! prices, given to each server of a group, prove a level that is not exceeded. Whether what a
//! group serves fits its servers is a small program for each group; if it does, the level is
//! reached. If not, its prices say which servers differ, and the group is split.
//!
//! The first groups are split off all servers by a placement of everybody, whose point is theirs as
//! well once its servers are added up: their program goes on from it.
//!
//! Groups only become smaller, so there is an end: every server by itself. Cost: a program with a
//! tenth of the pairs of servers, and one for each group.

use crate::exact::bundles::Bundles;
use crate::exact::interior::{Inside, Program};

/// Gap of a placement: close enough to be made to fit exactly.
const TIGHT: f64 = 1e-13;
/// What is missing to a placement at most.
const FITS: f64 = 1e-9;

/// Servers are of one group where what a mean demand costs, resource by resource, differs by no
/// more than this part of what it costs on a mean server. Prices are rough where this is asked:
/// groups that are too small only cost time.
const ALIKE: f64 = 0.3;
/// The same of a group that prices have made: those of its servers are alike already, so what still
/// tells them apart is smaller.
const STILL_ALIKE: f64 = 0.1;

/// A partition of servers.
pub(crate) struct Groups {
    members: Vec<Vec<usize>>,
    servers: usize,
}

impl Groups {
    /// All servers together.
    pub(crate) fn one(capacity: &[f64], kinds: usize) -> Groups {
        let servers = capacity.len() / kinds;
        Groups { members: vec![(0..servers).collect()], servers }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn servers(&self) -> usize {
        self.servers
    }

    /// What each group has.
    pub(crate) fn capacity(&self, capacity: &[f64], kinds: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.len() * kinds];
        for (members, sums) in self.members.iter().zip(sums.chunks_exact_mut(kinds)) {
            for &server in members {
                let have = &capacity[server * kinds..][..kinds];
                sums.iter_mut().zip(have).for_each(|(sum, have)| *sum += have);
            }
        }
        sums
    }

    /// What groups pay, for each of their servers.
    pub(crate) fn of_servers(&self, prices: &[f64]) -> Vec<f64> {
        let kinds = prices.len() / self.len();
        let mut all = vec![0.0; self.servers * kinds];
        for (members, prices) in self.members.iter().zip(prices.chunks_exact(kinds)) {
            for &server in members {
                all[server * kinds..][..kinds].copy_from_slice(prices);
            }
        }
        all
    }

    /// What servers pay, where all of a group pay the same, for each group.
    pub(crate) fn of_first(&self, prices: &[f64]) -> Vec<f64> {
        let kinds = prices.len() / self.servers;
        let first = self.members.iter().filter_map(|members| members.first());
        first.flat_map(|server| &prices[server * kinds..][..kinds]).copied().collect()
    }

    /// Each group of several servers in two parts at least, by what its servers have.
    pub(crate) fn parted(&self, capacity: &[f64], kinds: usize) -> Groups {
        let mut parted = Groups { members: Vec::new(), servers: self.servers };
        for members in &self.members {
            let parts = members.iter().flat_map(|&server| {
                let have = &capacity[server * kinds..][..kinds];
                let all: f64 = have.iter().sum();
                have.iter().map(move |have| have / all)
            });
            let parts = alike(&parts.collect::<Vec<f64>>(), kinds, ALIKE).into_iter();
            let named = parts.map(|part| part.into_iter().map(|at| members[at]).collect());
            parted.members.extend(named);
        }
        parted
    }

    /// Puts the shares of groups on their servers, at the prices of groups. Where they do not fit,
    /// the groups that tell apart what must be; if these are the first, with the bundles and the
    /// point that have shown it, from which their program starts.
    pub(crate) fn place(
        &self,
        program: &Program<'_>,
        shares: &[f64],
        free: &[f64],
        prices: &[f64],
    ) -> Result<Inside, (Groups, Option<Bundles>)> {
        let (kinds, users) = (program.kinds, shares.len() / self.len());
        let mut whole = Inside {
            factor: 1.0,
            shares: vec![0.0; users * self.servers],
            free: vec![0.0; self.servers * kinds],
            prices: self.of_servers(prices),
            values: Vec::new(),
            reduced: Vec::new(),
            slack: 0.0,
        };
        let mut groups = Groups { members: Vec::new(), servers: self.servers };
        let mut start = None;
        for (group, members) in self.members.iter().enumerate() {
            let totals: Vec<f64> = shares.iter().skip(group).step_by(self.len()).copied().collect();
            match members[..] {
                [server] => {
                    let to = whole.shares.iter_mut().skip(server).step_by(self.servers);
                    to.zip(&totals).for_each(|(to, share)| *to = *share);
                    let free = &free[group * kinds..][..kinds];
                    whole.free[server * kinds..][..kinds].copy_from_slice(free);
                    groups.members.push(members.clone());
                }
                _ => {
                    let (parts, bundles) = spread(program, members, &totals, &mut whole);
                    groups.members.extend(parts);
                    start = start.or(bundles);
                }
            }
        }
        if groups.len() == self.len() { Ok(whole) } else { Err((groups, start)) }
    }
}

/// Spreads the shares of a group over its servers; its parts, where they do not fit, and the
/// bundles that have shown it, where they are of all users and servers.
fn spread(
    program: &Program<'_>,
    members: &[usize],
    totals: &[f64],
    whole: &mut Inside,
) -> (Vec<Vec<usize>>, Option<Bundles>) {
    let (kinds, servers) = (program.kinds, program.servers());
    let here: Vec<usize> = (0..totals.len()).filter(|&user| totals[user] > 0.0).collect();
    let demand: Vec<f64> = here.iter().flat_map(|&user| program.demand(user)).copied().collect();
    let wanted: Vec<f64> = here.iter().map(|&user| totals[user]).collect();
    let have = |server: &usize| &program.capacity[server * kinds..][..kinds];
    let capacity: Vec<f64> = members.iter().flat_map(have).copied().collect();
    let own = Program::new(&demand, &capacity, kinds, &wanted);
    // Together they have all that somebody demands, and none of them has it.
    let served = |user: usize| (0..members.len()).any(|server| own.allowed(user, server));
    if !(0..here.len()).all(served) {
        return (members.iter().map(|&server| vec![server]).collect(), None);
    }
    let mut bundles = Bundles::new(&demand, kinds);
    let inside = bundles.fits(&own, TIGHT);
    if inside.factor < 1.0 - FITS {
        let most = if members.len() == program.servers() { ALIKE } else { STILL_ALIKE };
        let parts = alike(&weighted(&own, &inside.prices), kinds, most).into_iter();
        let parts: Vec<Vec<usize>> =
            parts.map(|part| part.into_iter().map(|at| members[at]).collect()).collect();
        // Where a server lacks something, its group may serve whom none of it does.
        let all = program.complete && members.len() == program.servers();
        let all = all && here.len() == totals.len();
        let start = all.then(|| bundles.grouped(&parts, &capacity, kinds));
        return (parts, start);
    }
    for (&user, parts) in here.iter().zip(inside.shares.chunks_exact(members.len())) {
        for (&server, part) in members.iter().zip(parts) {
            whole.shares[user * servers + server] = *part;
        }
    }
    for (&server, free) in members.iter().zip(inside.free.chunks_exact(kinds)) {
        whole.free[server * kinds..][..kinds].copy_from_slice(free);
    }
    (vec![members.to_vec()], None)
}

/// What a mean demand of each resource costs on each server, over what it costs in all.
fn weighted(program: &Program<'_>, prices: &[f64]) -> Vec<f64> {
    let kinds = program.kinds;
    let mut mean = vec![0.0; kinds];
    for (user, total) in program.totals.iter().enumerate() {
        let demand = program.demand(user);
        mean.iter_mut().zip(demand).for_each(|(mean, demand)| *mean += total * demand);
    }
    let costs: Vec<f64> =
        prices.iter().enumerate().map(|(row, price)| price * mean[row % kinds]).collect();
    let all: f64 = costs.iter().sum::<f64>() / program.servers() as f64;
    costs.iter().map(|cost| cost / all).collect()
}

/// Servers by likeness of prices (or what else there is of them by resource), `most` apart, in two
/// parts at least: joined closest first.
fn alike(prices: &[f64], kinds: usize, most: f64) -> Vec<Vec<usize>> {
    let servers = prices.len() / kinds;
    let price = |server: usize| &prices[server * kinds..][..kinds];
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for a in 0..servers {
        for b in 0..a {
            let apart = price(a).iter().zip(price(b)).map(|(a, b)| (a - b).abs()).sum();
            pairs.push((apart, a, b));
        }
    }
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut part: Vec<usize> = (0..servers).collect();
    let mut parts = servers;
    for (apart, a, b) in pairs {
        if part[a] == part[b] {
            continue;
        }
        if parts == 2 || apart > most {
            break;
        }
        let (from, to) = (part[a].max(part[b]), part[a].min(part[b]));
        part.iter_mut().filter(|part| **part == from).for_each(|part| *part = to);
        parts -= 1;
    }
    let of = |number: usize| (0..servers).filter(|&server| part[server] == number).collect();
    (0..servers).map(of).filter(|part: &Vec<usize>| !part.is_empty()).collect()
}
