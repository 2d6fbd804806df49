//! Nodes with their servers: cores, disk and incoming network of each, and the link into each rack.
//!
//! Every phase of a task is work at one of these servers ([`super::sharing`]), so the cluster is a
//! network of processor-sharing queues. One tree of winners over all servers names the next end: an
//! event costs O(log users of its server + log servers), and on a host that its machines share
//! ([`super::hosts`]) what its pool costs besides ([`super::pools`]).

use meed::{Span, Time};

use super::cluster::{Cluster, SpeedChange};
use super::pools::Pool;
use super::sharing::{Done, Law, Server};
use super::timers::Timers;

/// Where a phase of a task is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The cores of a node.
    Cores(usize),
    /// The disk of a node.
    Disk(usize),
    /// The network link into a node.
    Network(usize),
    /// The link into a rack.
    Uplink(u32),
}

/// What a node has done up to some instant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Usage {
    /// Core-microseconds.
    pub(super) core_micros: u64,
    /// Bytes read and written.
    pub(super) disk_bytes: u64,
    /// Bytes received.
    pub(super) network_bytes: u64,
}

const SERVERS_PER_NODE: usize = 3;

/// See the module.
pub(super) struct Machines {
    nodes: usize,
    servers: Vec<Server>,
    timers: Timers,
    seek_penalty: u32,
    /// What servers share.
    pools: Vec<Pool>,
    /// Where each server shares; empty where none does.
    seats: Vec<Option<Seat>>,
    /// The leaf of each server in `timers`: its pool's, or its own.
    leaves: Vec<u32>,
}

/// A server's place in a pool.
#[derive(Clone, Copy)]
struct Seat {
    pool: u32,
    /// How the pool knows it.
    member: u32,
}

impl Machines {
    pub(super) fn new(cluster: &Cluster) -> Machines {
        let (machines, seek_penalty) = (&cluster.machines, cluster.seek_penalty);
        let mut servers = Vec::with_capacity(SERVERS_PER_NODE * machines.len());
        for machine in machines {
            let speeds = machine.speeds;
            servers.push(Server::new(Law::Cores { cores: machine.cores, speed: speeds.core }));
            servers.push(Server::new(Law::Disk {
                bytes_per_s: speeds.disk_bytes_per_s,
                seek_penalty,
            }));
            servers.push(Server::new(Law::Link { bytes_per_s: speeds.network_bytes_per_s }));
        }
        let racks = machines.iter().map(|machine| machine.rack + 1).max().unwrap_or(0);
        let uplink = cluster.uplink_bytes_per_s;
        let uplinks =
            uplink.into_iter().flat_map(|bytes_per_s| (0..racks).map(move |_| bytes_per_s));
        servers.extend(uplinks.map(|bytes_per_s| Server::new(Law::Link { bytes_per_s })));
        let mut all = Machines {
            nodes: machines.len(),
            timers: Timers::new(0),
            servers,
            seek_penalty,
            pools: Vec::new(),
            seats: Vec::new(),
            leaves: Vec::new(),
        };
        all.share(cluster);
        all.plant();
        all
    }

    /// Gives each pool a leaf, and each server that is in none.
    fn plant(&mut self) {
        let mut next = self.pools.len() as u32;
        for server in 0..self.servers.len() {
            let leaf = match self.seats.get(server) {
                Some(Some(seat)) => seat.pool,
                _ => {
                    next += 1;
                    next - 1
                }
            };
            self.leaves.push(leaf);
        }
        self.timers = Timers::new(next as usize);
    }

    /// Says which servers share what. O(hosts + machines).
    fn share(&mut self, cluster: &Cluster) {
        if cluster.hosts.is_empty() {
            return;
        }
        self.seats = vec![None; self.servers.len()];
        // Of each host: the pool of its cores, of its disk and of its network.
        let mut numbers = Vec::with_capacity(cluster.hosts.len());
        for host in &cluster.hosts {
            let laws = [
                host.cores.map(|cores| Law::Cores { cores, speed: 1000 }),
                host.disk_bytes_per_s
                    .map(|bytes_per_s| Law::Disk { bytes_per_s, seek_penalty: host.seek_penalty }),
                host.network_bytes_per_s.map(|bytes_per_s| Law::Link { bytes_per_s }),
            ];
            numbers.push(laws.map(|law| {
                let number = self.pools.len();
                self.pools.push(Pool::new(law?));
                Some(number)
            }));
        }
        for (node, machine) in cluster.machines.iter().enumerate() {
            let on = machine.hosts;
            let parts = [
                (on.cores, Place::Cores(node)),
                (on.disk, Place::Disk(node)),
                (on.network, Place::Network(node)),
            ];
            for (part, (host, place)) in parts.into_iter().enumerate() {
                let of_host = host.and_then(|host| numbers.get(host as usize));
                let Some(pool) = of_host.and_then(|of_host| of_host[part]) else { continue };
                let server = self.server(place);
                let member = self.pools[pool].join(server as u32);
                self.seats[server] = Some(Seat { pool: pool as u32, member });
            }
        }
    }

    /// The server is about to change, or to be asked: it has done what it has by `now`.
    #[inline]
    fn settle(&mut self, now: Time, server: usize) {
        let Some(&Some(seat)) = self.seats.get(server) else { return };
        let each = self.pools[seat.pool as usize].served(now, seat.member);
        self.servers[server].serve(now, each);
    }

    /// The server has changed: when it is due, and those that it shares with.
    #[inline]
    fn changed(&mut self, now: Time, number: usize) {
        let (server, leaf) = (&mut self.servers[number], self.leaves[number] as usize);
        let Some(&Some(seat)) = self.seats.get(number) else {
            let due = server.next().map(|at| (at, number as u32));
            return self.timers.set(leaf, due);
        };
        let pool = &mut self.pools[seat.pool as usize];
        let state = (server.law(), server.users());
        pool.change(now, seat.member, state, server.rest_of_first());
        self.timers.set(leaf, pool.next());
    }

    #[inline]
    fn server(&self, place: Place) -> usize {
        match place {
            Place::Cores(node) => SERVERS_PER_NODE * node,
            Place::Disk(node) => SERVERS_PER_NODE * node + 1,
            Place::Network(node) => SERVERS_PER_NODE * node + 2,
            Place::Uplink(rack) => SERVERS_PER_NODE * self.nodes + rack as usize,
        }
    }

    /// Task `user` begins `work` units (core-microseconds or bytes, above zero) there.
    pub(super) fn start(&mut self, now: Time, place: Place, user: u32, work: u64) {
        let server = self.server(place);
        self.settle(now, server);
        self.servers[server].start(now, user, work);
        self.changed(now, server);
    }

    /// Task `user` does no more of its work there.
    pub(super) fn stop(&mut self, now: Time, place: Place, user: u32) {
        let server = self.server(place);
        self.settle(now, server);
        self.servers[server].stop(now, user);
        self.changed(now, server);
    }

    /// What is left of the work of `user` there.
    pub(super) fn rest(&mut self, now: Time, place: Place, user: u32) -> u64 {
        let server = self.server(place);
        self.settle(now, server);
        self.servers[server].rest(now, user)
    }

    /// When the next phase ends.
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| at)
    }

    /// A task whose phase has ended by `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<u32> {
        let (_, id) = self.timers.first().filter(|(at, _)| *at <= now)?;
        let server = id as usize;
        self.settle(now, server);
        let user = self.servers[server].pop(now);
        self.changed(now, server);
        user
    }

    /// What the node has done up to `now`.
    pub(super) fn usage(&mut self, now: Time, node: usize) -> Usage {
        let mut done = |place| -> Done {
            let server = self.server(place);
            self.settle(now, server);
            self.servers[server].done(now)
        };
        Usage {
            core_micros: done(Place::Cores(node)).busy_micros,
            disk_bytes: done(Place::Disk(node)).work,
            network_bytes: done(Place::Network(node)).work,
        }
    }

    /// The node is faster or slower from `now` on.
    pub(super) fn change(&mut self, now: Time, change: &SpeedChange) {
        let seek_penalty = self.seek_penalty;
        let mut set = |place, law: &dyn Fn(Law) -> Law| {
            let id = self.server(place);
            self.settle(now, id);
            let server = &mut self.servers[id];
            let law = law(server.law());
            server.set_law(now, law);
            self.changed(now, id);
        };
        if let Some(speed) = change.core {
            set(Place::Cores(change.node), &|law| Law::Cores { cores: law.width() as u32, speed });
        }
        if let Some(bytes_per_s) = change.disk_bytes_per_s {
            set(Place::Disk(change.node), &|_| Law::Disk { bytes_per_s, seek_penalty });
        }
        if let Some(bytes_per_s) = change.network_bytes_per_s {
            set(Place::Network(change.node), &|_| Law::Link { bytes_per_s });
        }
    }
}

/// The law of a pool, or none, with its servers and theirs.
#[cfg(test)]
type Sharers = (Option<Law>, Vec<(u32, Law)>);

#[cfg(test)]
impl Machines {
    /// Of each pool its servers; each other server alone.
    pub(super) fn shared(&self) -> Vec<Sharers> {
        let mut all: Vec<_> =
            self.pools.iter().map(|pool| (Some(pool.law()), Vec::new())).collect();
        for (number, server) in (0..).zip(&self.servers) {
            let own = (number, server.law());
            match self.seats.get(number as usize).copied().flatten() {
                Some(seat) => all[seat.pool as usize].1.push(own),
                None => all.push((None, vec![own])),
            }
        }
        all
    }

    /// Number of a server.
    pub(super) fn number(&self, place: Place) -> u32 {
        self.server(place) as u32
    }
}

/// `amount` in `span`, a second; nothing in no time.
pub(super) fn per_second(amount: u64, span: Span) -> u64 {
    let rate = quotient(amount, meed::MICROS_PER_S, span.as_micros().into());
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// floor(a * b / c); 0 where c is 0. Mostly it fits 64 bits, which divide faster.
pub(super) fn quotient(a: u64, b: u64, c: u128) -> u128 {
    match (a.checked_mul(b), u64::try_from(c)) {
        (Some(product), Ok(c)) => product.checked_div(c).unwrap_or(0).into(),
        _ => (u128::from(a) * u128::from(b)).checked_div(c).unwrap_or(0),
    }
}
