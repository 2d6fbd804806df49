//! Processor sharing: one server that all its users share equally.
//!
//! With n users each is served at the same rate r(n), which depends on n alone ([`Law`]). So one
//! number serves all: the service that a user who was always there has attained, V(t) = integral of
//! r(n). A user who begins at V with work w is done when V reaches V + w: users wait in a heap by
//! that number, and a start or an end costs O(log n), nothing for the others.
//!
//! A server may be one of several that share a larger one, as the cores of virtual machines share
//! the processors of their host ([`super::hosts`]): then it gets a part of r(n), which changes with
//! what the others do, and its pool says how much that was ([`super::pools`]).
//!
//! Arithmetic is exact: rates are whole multiples of 2^-32 units of work per microsecond (rounded
//! down, at least one), times whole microseconds, attained service a 128-bit integer. **Rounding of
//! ends**: a user is done at the first whole microsecond at which its work is done. Users that are
//! done at the same microsecond leave in order of attained service asked for, then of their start.
//! The slow twin in the tests keeps every user's rest instead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meed::{MICROS_PER_S, Time};

/// Bits after the point of rates and services.
const FRACTION_BITS: u32 = 32;

/// Thousandths.
const MILLI: u128 = 1000;

/// How fast a server is with n users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Law {
    /// Cores: speed x min(n, cores). Work is microseconds of a reference core.
    Cores {
        /// Number of cores.
        cores: u32,
        /// Of each, in thousandths of the reference core.
        speed: u32,
    },
    /// A disk: bandwidth / (1 + penalty x (n - 1)): the more streams, the more seeks. Work is
    /// bytes.
    Disk {
        /// Of a single stream.
        bytes_per_s: u64,
        /// Lost for each further stream, in thousandths.
        seek_penalty: u32,
    },
    /// A network link: the bandwidth. Work is bytes.
    Link {
        /// Of the link.
        bytes_per_s: u64,
    },
}

impl Law {
    /// What each of `n` users gets in a microsecond, in 2^-32 of a unit of work. At most 2^62 for
    /// the bounds of scenarios.
    pub(super) fn rate(self, n: u64) -> u64 {
        let users = u128::from(n);
        let (parts, of) = match self {
            Law::Cores { cores, speed } => {
                (u128::from(speed) * u128::from(n.min(u64::from(cores))), MILLI * users)
            }
            Law::Disk { bytes_per_s, seek_penalty } => {
                let slowed = MILLI + u128::from(seek_penalty) * (users - 1);
                (u128::from(bytes_per_s) * MILLI, u128::from(MICROS_PER_S) * users * slowed)
            }
            Law::Link { bytes_per_s } => {
                (u128::from(bytes_per_s), u128::from(MICROS_PER_S) * users)
            }
        };
        u64::try_from((parts << FRACTION_BITS) / of).expect("bandwidths are bounded").max(1)
    }

    /// What `n` users take of it at most, at least 1 where there are some: cores, or whole bytes a
    /// second.
    pub(super) fn full(self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        match self {
            Law::Cores { cores, .. } => n.min(u64::from(cores)),
            Law::Disk { bytes_per_s, seek_penalty: 0 } => bytes_per_s.max(1),
            Law::Disk { bytes_per_s, seek_penalty } => {
                let slowed = MILLI + u128::from(seek_penalty) * u128::from(n - 1);
                let left = u128::from(bytes_per_s) * MILLI / slowed;
                (left as u64).max(1)
            }
            Law::Link { bytes_per_s } => bytes_per_s,
        }
    }

    /// How many can be served at full speed at once.
    pub(super) fn width(self) -> u64 {
        match self {
            Law::Cores { cores, .. } => u64::from(cores),
            Law::Disk { .. } | Law::Link { .. } => 1,
        }
    }
}

/// In how many microseconds `rest` is done at `rate`: whole ones, so a part of one more.
#[inline]
pub(super) fn micros_for(rest: u128, rate: u64) -> Option<u64> {
    match u64::try_from(rest) {
        Ok(rest) => Some(rest.div_ceil(rate)),
        Err(_) => u64::try_from(rest.div_ceil(u128::from(rate))).ok(),
    }
}

/// What a server has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Done {
    /// Integral of min(n, width): microseconds of cores in use, or of the disk or link being in
    /// use.
    pub(super) busy_micros: u64,
    /// Whole units of work served, of all users.
    pub(super) work: u64,
}

/// A part of what a server could do: these of those; at most all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// Not above `of`.
    pub(super) have: u64,
    /// Above zero.
    pub(super) of: u128,
}

impl Part {
    pub(super) const ALL: Part = Part { have: 1, of: 1 };

    /// This part of a rate, at least one.
    pub(super) fn of_rate(self, rate: u64) -> u64 {
        let part = u128::from(rate) * u128::from(self.have) / self.of;
        (part as u64).max(1)
    }
}

/// See the module.
pub(super) struct Server {
    law: Law,
    /// Rate by number of users, as far as there ever were so many.
    rates: Vec<u64>,
    /// What each user gets now; 0: to be found again.
    rate: u64,
    at: Time,
    attained: u128,
    /// Attained service at which a user is done; order of start and user.
    users: BinaryHeap<Reverse<(u128, u64)>>,
    order: u32,
    busy_micros: u64,
    served: u128,
}

impl Server {
    pub(super) fn new(law: Law) -> Server {
        Server {
            law,
            rates: Vec::new(),
            rate: 0,
            at: Time::ZERO,
            attained: 0,
            users: BinaryHeap::new(),
            order: 0,
            busy_micros: 0,
            served: 0,
        }
    }

    /// What each user gets now; call with at least one. Found once for each change.
    #[inline]
    fn rate(&mut self) -> u64 {
        if self.rate == 0 {
            self.rate = self.rates[self.users.len() - 1];
        }
        self.rate
    }

    /// How many it serves.
    pub(super) fn users(&self) -> u64 {
        self.users.len() as u64
    }

    /// Lets time pass.
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        let micros = (now - self.at).as_micros();
        if micros > 0 {
            let each = match self.users.is_empty() {
                true => 0,
                false => u128::from(self.rate()) * u128::from(micros),
            };
            self.serve(now, each);
        }
    }

    /// Lets time pass in which each user got so much.
    #[inline]
    pub(super) fn serve(&mut self, now: Time, each: u128) {
        let micros = (now - self.at).as_micros();
        self.at = now;
        let n = self.users.len() as u64;
        self.attained += each;
        self.served += each * u128::from(n);
        self.busy_micros += micros * n.min(self.law.width());
    }

    /// What the next user is short of, where there is one.
    #[inline]
    pub(super) fn rest_of_first(&self) -> Option<u128> {
        let Reverse((done, _)) = self.users.peek()?;
        Some(done.saturating_sub(self.attained))
    }

    /// `user` begins with `work` units.
    pub(super) fn start(&mut self, now: Time, user: u32, work: u64) {
        self.advance(now);
        if self.users.is_empty() {
            // Nobody compares with what was before: numbers stay small.
            (self.attained, self.order) = (0, 0);
        }
        let done = self.attained + (u128::from(work) << FRACTION_BITS);
        self.users.push(Reverse((done, u64::from(self.order) << 32 | u64::from(user))));
        self.order += 1;
        self.rate = 0;
        while self.rates.len() < self.users.len() {
            self.rates.push(self.law.rate(self.rates.len() as u64 + 1));
        }
    }

    /// When the next user is done if nobody comes; nothing after the last instant is ever done.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Time> {
        let micros = micros_for(self.rest_of_first()?, self.rate())?;
        Time::from_micros(self.at.as_micros().checked_add(micros)?)
    }

    /// The next user who is done by `now`; leaves.
    pub(super) fn pop(&mut self, now: Time) -> Option<u32> {
        self.advance(now);
        let Reverse((done, user)) = self.users.peek()?;
        if *done > self.attained {
            return None;
        }
        let user = *user as u32;
        self.users.pop();
        self.rate = 0;
        Some(user)
    }

    /// `user` leaves before it is done. O(users).
    pub(super) fn stop(&mut self, now: Time, user: u32) {
        self.advance(now);
        self.users.retain(|Reverse((_, other))| *other as u32 != user);
        self.rate = 0;
    }

    /// What is left of the work of `user`, in whole units, rounded up. O(users).
    pub(super) fn rest(&mut self, now: Time, user: u32) -> u64 {
        self.advance(now);
        let mut users = self.users.iter();
        let done =
            users.find_map(|Reverse((done, other))| (*other as u32 == user).then_some(*done));
        let rest = done.unwrap_or(0).saturating_sub(self.attained);
        u64::try_from(rest.div_ceil(1 << FRACTION_BITS)).unwrap_or(u64::MAX)
    }

    /// From now on the server is another.
    pub(super) fn set_law(&mut self, now: Time, law: Law) {
        self.advance(now);
        (self.law, self.rate) = (law, 0);
        self.rates = (1..=self.rates.len() as u64).map(|n| law.rate(n)).collect();
    }

    pub(super) fn law(&self) -> Law {
        self.law
    }

    /// What was done up to `now`.
    pub(super) fn done(&mut self, now: Time) -> Done {
        self.advance(now);
        Done {
            busy_micros: self.busy_micros,
            work: u64::try_from(self.served >> FRACTION_BITS).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;
    use proptest::prelude::*;

    /// The same by keeping every user's rest, and stepping from event to event.
    struct Twin {
        law: Law,
        at: u64,
        /// User, rest; in order of start.
        users: Vec<(u32, u128)>,
        work: u128,
    }

    impl Twin {
        fn pass(&mut self, to: u64) {
            let each = match self.users.len() as u64 {
                0 => 0,
                n => u128::from(self.law.rate(n)) * u128::from(to - self.at),
            };
            for (_, rest) in &mut self.users {
                *rest = rest.saturating_sub(each);
            }
            self.work += each * self.users.len() as u128;
            self.at = to;
        }

        /// Lets time pass to `to` and notes who is done, and when.
        fn run(&mut self, to: u64, ends: &mut Vec<(u64, u32)>) {
            loop {
                let n = self.users.len() as u64;
                let Some(least) = self.users.iter().map(|&(_, rest)| rest).min() else { break };
                let at = u128::from(self.at) + least.div_ceil(u128::from(self.law.rate(n)));
                if at > u128::from(to) {
                    break;
                }
                // The one with the smallest rest goes; others that are done leave at the same
                // microsecond.
                let before = self.users.clone();
                self.pass(at as u64);
                let mut gone: Vec<(u128, u32)> = before
                    .iter()
                    .zip(&self.users)
                    .filter(|(_, (_, rest))| *rest == 0)
                    .map(|(&(user, rest), _)| (rest, user))
                    .collect();
                gone.sort_by_key(|&(rest, _)| rest);
                ends.extend(gone.iter().map(|&(_, user)| (at as u64, user)));
                self.users.retain(|&(_, rest)| rest > 0);
            }
            self.pass(to);
        }
    }

    fn law(stream: &mut Stream) -> Law {
        match stream.below(3) {
            0 => Law::Cores {
                cores: 1 + stream.below(8) as u32,
                speed: 1 + stream.below(3000) as u32,
            },
            1 => Law::Disk {
                bytes_per_s: 1 + stream.below(100_000_000),
                seek_penalty: stream.below(500) as u32,
            },
            _ => Law::Link { bytes_per_s: 1 + stream.below(1_000_000_000) },
        }
    }

    fn at(micros: u64) -> Time {
        Time::from_micros(micros).expect("in range")
    }

    proptest! {
        /// Random users, works, laws and changes of law: every end at the same microsecond, in the
        /// same order.
        #[test]
        fn ends_are_those_of_the_twin(seed in any::<u64>()) {
            let mut stream = Stream::new(seed, "sharing");
            let first = law(&mut stream);
            let (mut server, mut ends) = (Server::new(first), Vec::new());
            let (mut twin, mut expected) =
                (Twin { law: first, at: 0, users: Vec::new(), work: 0 }, Vec::new());
            let mut now = 0;
            for user in 0..40u32 {
                let next = now + [0, stream.below(2_000_000),
                    stream.below(50)][stream.below(3) as usize];
                while let Some(end) = server.next().filter(|end| end.as_micros() <= next) {
                    while let Some(user) = server.pop(end) {
                        ends.push((end.as_micros(), user));
                    }
                }
                twin.run(next, &mut expected);
                now = next;
                if stream.below(6) == 0 {
                    let changed = law(&mut stream);
                    server.set_law(at(now), changed);
                    twin.law = changed;
                }
                let work = 1 + [stream.below(100_000_000), 1000][stream.below(2) as usize];
                server.start(at(now), user, work);
                twin.users.push((user, u128::from(work) << FRACTION_BITS));
            }
            // Some laws are slow: what is done within a day.
            let last = now + 86_400_000_000;
            while let Some(end) = server.next().filter(|end| end.as_micros() <= last) {
                while let Some(user) = server.pop(end) {
                    ends.push((end.as_micros(), user));
                }
            }
            twin.run(last, &mut expected);
            prop_assert_eq!(ends, expected);
            prop_assert_eq!(server.done(at(last)).work, (twin.work >> FRACTION_BITS) as u64);
        }
    }

    #[test]
    fn two_users_share_and_cores_do_not_contend_below_their_number() {
        let mut cores = Server::new(Law::Cores { cores: 2, speed: 1000 });
        (0..2).for_each(|user| cores.start(at(0), user, 1000));
        assert_eq!(cores.next(), Some(at(1000)));
        cores.start(at(500), 2, 250);
        // Three on two cores: 2/3 each, so 250 take 375 us, and the others have 250 left then.
        assert_eq!((cores.next(), cores.pop(at(876))), (Some(at(876)), Some(2)));
        assert_eq!(cores.next(), Some(at(1126)));
        assert_eq!(cores.done(at(1126)).busy_micros, 2 * 1126);
        let mut disk = Server::new(Law::Disk { bytes_per_s: 1_000_000, seek_penalty: 500 });
        disk.start(at(0), 0, 100);
        disk.start(at(0), 1, 100);
        // Two streams: 1 / 1.5 of the bandwidth, half of it each.
        assert_eq!(disk.next(), Some(at(301)));
        let mut link = Server::new(Law::Link { bytes_per_s: 2_000_000 });
        link.start(at(7), 0, 100);
        link.set_law(at(17), Law::Link { bytes_per_s: 1_000_000 });
        assert_eq!(link.next(), Some(at(97)));
    }

    #[test]
    fn the_slowest_server_never_finishes_rather_than_failing() {
        let mut link = Server::new(Law::Link { bytes_per_s: 1 });
        link.start(at(0), 0, 1 << 53);
        assert_eq!(link.next(), None);
        link.advance(Time::MAX);
        assert_eq!(link.pop(Time::MAX), None);
    }
}
