//! What several servers share ([`super::hosts`]), and how far each of them is.
//!
//! All servers of a pool get the same part of their own rates. So where two are of one law and have
//! as many users, each user of either gets the same; one clock stands for all of them:
//!
//! > clock(law, n) = integral of part(t) x r(n)
//!
//! A server that came to its clock when that said C has given each of its users (clock - C) since,
//! and its next user is done when the clock says C + what that user was short of. So servers wait
//! at their clock in an order that no change of the part disturbs.
//!
//! Invariant: a server with users is at the clock of its law and of their number, every other at
//! none; clocks without servers stand still. Arithmetic is that of [`super::sharing`], to the last
//! bit: each rate is rounded by itself. Cost: O(laws and numbers of users that were ever seen) for
//! a phase that begins or ends, and a place in a sorted list of the servers at its clock.

use meed::Time;

use super::sharing::{Law, Part, micros_for};

/// Servers of one law with as many users.
struct Clock {
    users: u64,
    /// What a server takes by itself.
    wanted: u64,
    /// What each user gets of a server that has all of that.
    full_rate: u64,
    /// What each user gets now.
    rate: u64,
    says: u128,
    /// What the clock says when the next user is done, and whose user; in order.
    waiting: Vec<(u128, u32)>,
}

/// A server of the pool.
struct Member {
    /// Its number among all servers.
    server: u32,
    /// Number of its clock.
    clock: Option<u32>,
    /// What that said when the server was last asked how far it is.
    since: u128,
    /// Its place in `waiting`.
    due: u128,
}

/// See the module.
pub(super) struct Pool {
    law: Law,
    /// What servers take by themselves, in all.
    wanted: u128,
    /// Their users.
    users: u64,
    part: Part,
    /// Up to when clocks have gone.
    at: Time,
    members: Vec<Member>,
    clocks: Vec<Clock>,
    /// Numbers of those with servers, in no order.
    going: Vec<u32>,
    /// Laws so far, and for each the clocks by number of users.
    laws: Vec<(Law, Vec<Option<u32>>)>,
}

impl Pool {
    pub(super) fn new(law: Law) -> Pool {
        Pool {
            law,
            wanted: 0,
            users: 0,
            part: Part::ALL,
            at: Time::ZERO,
            members: Vec::new(),
            clocks: Vec::new(),
            going: Vec::new(),
            laws: Vec::new(),
        }
    }

    /// A server shares it; by which number the pool knows it.
    pub(super) fn join(&mut self, server: u32) -> u32 {
        self.members.push(Member { server, clock: None, since: 0, due: 0 });
        self.members.len() as u32 - 1
    }

    /// What each user of a member got since this was last asked, or since the member changed.
    pub(super) fn served(&mut self, now: Time, member: u32) -> u128 {
        let member = &mut self.members[member as usize];
        let Some(clock) = member.clock else { return 0 };
        let says = self.clocks[clock as usize].at(self.at, now);
        says - std::mem::replace(&mut member.since, says)
    }

    /// A member, whose part was asked for just now, is of this law with so many users; the next of
    /// them is short of `rest`.
    pub(super) fn change(
        &mut self,
        now: Time,
        member: u32,
        (law, users): (Law, u64),
        rest: Option<u128>,
    ) {
        self.pass(now);
        self.leave(member);
        if let Some(rest) = rest {
            let clock = self.clock(law, users);
            self.come(member, clock, rest);
        }
        let capacity = self.law.full(self.users);
        let part = match self.wanted <= u128::from(capacity) {
            true => Part::ALL,
            false => Part { have: capacity, of: self.wanted },
        };
        if std::mem::replace(&mut self.part, part) != part {
            for &clock in &self.going {
                self.clocks[clock as usize].follow(part);
            }
        }
    }

    /// Clocks go on.
    fn pass(&mut self, now: Time) {
        if now == self.at {
            return;
        }
        for &clock in &self.going {
            let clock = &mut self.clocks[clock as usize];
            clock.says = clock.at(self.at, now);
        }
        self.at = now;
    }

    fn leave(&mut self, member: u32) {
        let member = &mut self.members[member as usize];
        let Some(number) = member.clock.take() else { return };
        let clock = &mut self.clocks[number as usize];
        if let Ok(place) = clock.waiting.binary_search(&(member.due, member.server)) {
            clock.waiting.remove(place);
        }
        self.wanted -= u128::from(clock.wanted);
        self.users -= clock.users;
        if clock.waiting.is_empty() {
            self.going.retain(|going| *going != number);
        }
    }

    fn come(&mut self, member: u32, number: u32, rest: u128) {
        let clock = &mut self.clocks[number as usize];
        if clock.waiting.is_empty() {
            clock.follow(self.part);
            self.going.push(number);
        }
        let member = &mut self.members[member as usize];
        (member.clock, member.since, member.due) = (Some(number), clock.says, clock.says + rest);
        let entry = (member.due, member.server);
        let place = clock.waiting.partition_point(|waiting| *waiting < entry);
        clock.waiting.insert(place, entry);
        self.wanted += u128::from(clock.wanted);
        self.users += clock.users;
    }

    /// The clock of a law and a number of users.
    fn clock(&mut self, law: Law, users: u64) -> u32 {
        let known = self.laws.iter().position(|(known, _)| *known == law);
        let at = known.unwrap_or_else(|| {
            self.laws.push((law, Vec::new()));
            self.laws.len() - 1
        });
        let (by_users, place) = (&mut self.laws[at].1, users as usize);
        if by_users.len() <= place {
            by_users.resize(place + 1, None);
        }
        *by_users[place].get_or_insert_with(|| {
            self.clocks.push(Clock::new(law, users));
            self.clocks.len() as u32 - 1
        })
    }

    #[cfg(test)]
    pub(super) fn law(&self) -> Law {
        self.law
    }

    /// When the next user of all is done if nothing changes, and of which server; the lowest number
    /// of those at the same microsecond.
    pub(super) fn next(&self) -> Option<(Time, u32)> {
        let going = || self.going.iter().map(|&clock| &self.clocks[clock as usize]);
        let micros = going().filter_map(Clock::micros).min()?;
        let at = Time::from_micros(self.at.as_micros().checked_add(micros)?)?;
        let server = going().filter_map(|clock| clock.lowest_by(self.at, at)).min()?;
        Some((at, server))
    }
}

impl Clock {
    fn new(law: Law, users: u64) -> Clock {
        Clock {
            users,
            wanted: law.full(users),
            full_rate: law.rate(users),
            rate: 0,
            says: 0,
            waiting: Vec::new(),
        }
    }

    fn follow(&mut self, part: Part) {
        self.rate = if part == Part::ALL { self.full_rate } else { part.of_rate(self.full_rate) };
    }

    /// What it says at `now`, where it has gone to `at`.
    fn at(&self, at: Time, now: Time) -> u128 {
        self.says + u128::from(self.rate) * u128::from((now - at).as_micros())
    }

    /// Until its next user is done.
    fn micros(&self) -> Option<u64> {
        let (due, _) = self.waiting.first()?;
        micros_for(due.saturating_sub(self.says), self.rate)
    }

    /// The lowest server with a user that is done by `then`.
    fn lowest_by(&self, at: Time, then: Time) -> Option<u32> {
        let says = self.at(at, then);
        let done = self.waiting.iter().take_while(|(due, _)| *due <= says);
        done.map(|(_, server)| *server).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::SpeedChange;
    use super::super::hosts::tests::{at, draw, setting};
    use super::super::machines::{Machines, Place};
    use super::*;
    use meed_workload::generate::Stream;
    use proptest::prelude::*;

    /// Servers of one pool, each with its own sum of what its users got: all of them are looked at
    /// whenever anything changes.
    struct Plain {
        pool: Option<Law>,
        at: u64,
        servers: Vec<PlainServer>,
    }

    struct PlainServer {
        number: u32,
        law: Law,
        attained: u128,
        /// At what each user is done, in order of that and of coming.
        users: Vec<(u128, u64, u32)>,
        come: u64,
    }

    impl Plain {
        fn rate(&self, server: &PlainServer) -> u64 {
            let full = |server: &PlainServer| server.law.full(server.users.len() as u64);
            let wanted: u128 = self.servers.iter().map(|server| u128::from(full(server))).sum();
            let users = self.servers.iter().map(|server| server.users.len() as u64).sum();
            let rate = server.law.rate(server.users.len() as u64);
            match self.pool.map(|pool| pool.full(users)) {
                Some(capacity) if u128::from(capacity) < wanted => {
                    Part { have: capacity, of: wanted }.of_rate(rate)
                }
                _ => rate,
            }
        }

        fn pass(&mut self, to: u64) {
            let rates: Vec<u64> = self
                .servers
                .iter()
                .map(|server| if server.users.is_empty() { 0 } else { self.rate(server) })
                .collect();
            for (server, rate) in self.servers.iter_mut().zip(rates) {
                server.attained += u128::from(rate) * u128::from(to - self.at);
            }
            self.at = to;
        }

        fn next(&self) -> Option<(u64, u32)> {
            let due = |server: &PlainServer| {
                let rest = server.users.first()?.0.saturating_sub(server.attained);
                let micros = rest.div_ceil(u128::from(self.rate(server)));
                Some((self.at + u64::try_from(micros).ok()?, server.number))
            };
            self.servers.iter().filter_map(due).min()
        }

        fn find(&mut self, number: u32) -> Option<&mut PlainServer> {
            self.servers.iter_mut().find(|server| server.number == number)
        }
    }

    /// Each server of the cluster in one of them, alone or with those that it shares with.
    fn plains(all: &Machines) -> Vec<Plain> {
        let mut plains: Vec<Plain> = Vec::new();
        for (pool, servers) in all.shared() {
            let servers = servers
                .into_iter()
                .map(|(number, law)| PlainServer {
                    number,
                    law,
                    attained: 0,
                    users: Vec::new(),
                    come: 0,
                })
                .collect();
            plains.push(Plain { pool, at: 0, servers });
        }
        plains
    }

    struct All(Vec<Plain>);

    impl All {
        fn run(&mut self, to: u64, ends: &mut Vec<(u64, u32)>) {
            loop {
                let next = self.0.iter().filter_map(Plain::next).min();
                let Some((due, number)) = next.filter(|(due, _)| *due <= to) else { break };
                for plain in &mut self.0 {
                    plain.pass(due);
                    if let Some(server) = plain.find(number) {
                        ends.push((due, server.users.remove(0).2));
                    }
                }
            }
            self.0.iter_mut().for_each(|plain| plain.pass(to));
        }

        fn server(&mut self, number: u32) -> &mut PlainServer {
            self.0.iter_mut().find_map(|plain| plain.find(number)).expect("all are there")
        }
    }

    impl PlainServer {
        fn start(&mut self, user: u32, work: u64) {
            if self.users.is_empty() {
                (self.attained, self.come) = (0, 0);
            }
            let done = self.attained + (u128::from(work) << 32);
            self.users.push((done, self.come, user));
            self.users.sort_unstable();
            self.come += 1;
        }
    }

    fn place(stream: &mut Stream, nodes: u64) -> (Place, u64) {
        let node = stream.below(nodes) as usize;
        match stream.below(3) {
            0 => (Place::Cores(node), 1 + stream.below(3_000_000)),
            1 => (Place::Disk(node), 1 + stream.below(60_000_000)),
            _ => (Place::Network(node), 1 + stream.below(60_000_000)),
        }
    }

    fn law(old: Law, core: u32, bytes_per_s: u64) -> Law {
        match old {
            Law::Cores { cores, .. } => Law::Cores { cores, speed: core },
            Law::Disk { seek_penalty, .. } => Law::Disk { bytes_per_s, seek_penalty },
            Law::Link { .. } => Law::Link { bytes_per_s },
        }
    }

    proptest! {
        /// Random machines on random hosts, work at random instants, some of it stopped, speeds
        /// that change, machines that are asked what they did: every end at the same microsecond
        /// and in the same order as where all servers are looked at each time.
        #[test]
        fn ends_are_those_of_the_plain_rule(seed in any::<u64>()) {
            let mut stream = Stream::new(seed, "pools");
            let (machines, hosts, penalty) = draw(&mut stream);
            let count = machines.len() as u64;
            let mut all = Machines::new(&setting(machines, hosts, penalty));
            let mut plain = All(plains(&all));
            let (mut ends, mut expected) = (Vec::new(), Vec::new());
            let mut places = Vec::new();
            let mut now = 0;
            for user in 0..80u32 {
                now += [0, stream.below(1_000_000), stream.below(9)][stream.below(3) as usize];
                while let Some(end) = all.next().filter(|end| end.as_micros() <= now) {
                    while let Some(user) = all.pop(end) {
                        ends.push((end.as_micros(), user));
                    }
                }
                plain.run(now, &mut expected);
                prop_assert_eq!(&ends, &expected);
                let (where_to, work) = place(&mut stream, count);
                all.start(at(now), where_to, user, work);
                plain.server(all.number(where_to)).start(user, work);
                places.push(where_to);
                match stream.below(8) {
                    0 => {
                        let stopped = stream.below(u64::from(user) + 1) as u32;
                        let of = places[stopped as usize];
                        all.stop(at(now), of, stopped);
                        let server = plain.server(all.number(of));
                        server.users.retain(|(_, _, other)| *other != stopped);
                    }
                    1 => {
                        let node = stream.below(count) as usize;
                        let core = 300 + stream.below(1500) as u32;
                        let bytes_per_s = 1_000_000 + stream.below(100_000_000);
                        all.change(at(now), &SpeedChange {
                            at: at(now),
                            node,
                            core: Some(core),
                            disk_bytes_per_s: Some(bytes_per_s),
                            network_bytes_per_s: Some(bytes_per_s),
                        });
                        for of in [Place::Cores(node), Place::Disk(node), Place::Network(node)] {
                            let server = plain.server(all.number(of));
                            server.law = law(server.law, core, bytes_per_s);
                        }
                    }
                    2 => {
                        all.usage(at(now), stream.below(count) as usize);
                    }
                    _ => {}
                }
            }
            while let Some(end) = all.next().filter(|end| end.as_micros() < 1 << 50) {
                while let Some(user) = all.pop(end) {
                    ends.push((end.as_micros(), user));
                }
            }
            plain.run(1 << 50, &mut expected);
            prop_assert_eq!(ends, expected);
        }
    }
}
