//! Nodes with their servers: cores, disk and incoming network of each, and the link into each rack.
//!
//! Every phase of a task is work at one of these servers ([`super::sharing`]), so the cluster is a
//! network of processor-sharing queues. One tree of winners over all servers names the next end: an
//! event costs O(log users of its server + log servers), and on a host that has less than its
//! machines want ([`super::hosts`]) O(machines of the host) besides.

use meed::{Span, Time};

use super::hosts::{HostsOf, Pool};
use super::setup::Cluster;
use super::sharing::{Done, Law, Server};
use super::timers::{ALONE, Timers};

/// A node as declared.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Its name, distinct.
    pub name: String,
    /// Number of cores.
    pub cores: u32,
    /// How fast its parts are.
    pub speeds: Speeds,
    /// Number of its rack.
    pub rack: u32,
    /// What it shares with others.
    pub hosts: HostsOf,
    /// How much of what each of its reduces merges stays in memory; `None`: nothing does.
    pub cache_bytes: Option<u64>,
    /// What it has for a page cache, and for its tasks.
    pub memory_bytes: Option<u64>,
    /// What its tasks hold of it.
    pub task_bytes: u64,
    /// Map tasks at once, as configured.
    pub map_slots: u32,
    /// Reduce tasks at once.
    pub reduce_slots: u32,
}

/// How fast a node is; may change while work runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Speeds {
    /// Of one core, in thousandths of the reference core.
    pub core: u32,
    /// Of the disk with a single stream.
    pub disk_bytes_per_s: u64,
    /// Of the incoming network link.
    pub network_bytes_per_s: u64,
}

/// From `at` on the node has other speeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpeedChange {
    /// When.
    pub at: Time,
    /// Which node.
    pub node: usize,
    /// What it has from then on; the rest stays.
    pub core: Option<u32>,
    /// See [`Speeds`].
    pub disk_bytes_per_s: Option<u64>,
    /// See [`Speeds`].
    pub network_bytes_per_s: Option<u64>,
}

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
    /// The pool of each server; empty where there is none.
    pool_of: Vec<u32>,
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
            timers: Timers::new(0, 0, Vec::new()),
            servers,
            seek_penalty,
            pools: Vec::new(),
            pool_of: Vec::new(),
        };
        all.share(cluster);
        all.timers = Timers::new(all.servers.len(), all.pools.len(), all.pool_of.clone());
        all
    }

    /// Says which servers share what. O(hosts + machines).
    fn share(&mut self, cluster: &Cluster) {
        if cluster.hosts.is_empty() {
            return;
        }
        self.pool_of = vec![ALONE; self.servers.len()];
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
                self.pool_of[server] = pool as u32;
            }
        }
    }

    /// A server that was of law `before.0` with `before.1` users is another now: where it shares,
    /// all who share with it get what is their part now.
    fn note(&mut self, now: Time, server: usize, before: (Law, u64)) {
        let pool = self.pool_of.get(server).filter(|pool| **pool != ALONE);
        let Some(&number) = pool else { return };
        let pool = &mut self.pools[number as usize];
        let after = (self.servers[server].law(), self.servers[server].users());
        let Some(part) = pool.update(before, after) else { return };
        let servers = &mut self.servers;
        self.timers.set_group(number, |member| {
            let server = &mut servers[member as usize];
            server.set_part(now, part);
            server.next()
        });
    }

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
        let before = (self.servers[server].law(), self.servers[server].users());
        self.servers[server].start(now, user, work);
        self.note(now, server, before);
        self.timers.set(server as u32, self.servers[server].next());
    }

    /// Task `user` does no more of its work there.
    pub(super) fn stop(&mut self, now: Time, place: Place, user: u32) {
        let server = self.server(place);
        let before = (self.servers[server].law(), self.servers[server].users());
        self.servers[server].stop(now, user);
        self.note(now, server, before);
        self.timers.set(server as u32, self.servers[server].next());
    }

    /// What is left of the work of `user` there.
    pub(super) fn rest(&mut self, now: Time, place: Place, user: u32) -> u64 {
        let server = self.server(place);
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
        let server = &mut self.servers[id as usize];
        let before = (server.law(), server.users());
        let user = server.pop(now);
        self.note(now, id as usize, before);
        self.timers.set(id, self.servers[id as usize].next());
        user
    }

    /// What the node has done up to `now`.
    pub(super) fn usage(&mut self, now: Time, node: usize) -> Usage {
        let mut done = |place| -> Done {
            let server = self.server(place);
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
            let server = &mut self.servers[id];
            let before = (server.law(), server.users());
            server.set_law(now, law(before.0));
            self.note(now, id, before);
            self.timers.set(id as u32, self.servers[id].next());
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

/// `amount` in `span`, a second; nothing in no time.
pub(super) fn per_second(amount: u64, span: Span) -> u64 {
    let micros = u128::from(span.as_micros());
    let rate =
        (u128::from(amount) * u128::from(meed::MICROS_PER_S)).checked_div(micros).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}
