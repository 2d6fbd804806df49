//! Which of many servers has the next end: a tree of winners.
//!
//! Each leaf holds one server's next time; each inner node the earlier of its two children, the
//! lower number where they are equal. Changing one costs log2(servers) comparisons, whatever the
//! others do.
//!
//! Servers that share a pool ([`super::hosts`]) have one leaf, the earliest of them: when the
//! pool's part changes all their times do, and one path is gone up instead of one for each. A
//! change of one of them alone looks at the others only where it was the earliest.

use meed::Time;

/// When a server is due, in microseconds, and its number.
type Due = (u64, u32);

const NEVER: Due = (u64::MAX, u32::MAX);

/// A leaf of several servers.
struct Group {
    /// Their numbers.
    members: Vec<u32>,
    first: Due,
}

/// See the module.
pub(super) struct Timers {
    /// Leaves stand at `half` and after: those of servers, then those of groups. Node i has the
    /// children 2i and 2i + 1.
    tree: Vec<Due>,
    half: usize,
    /// Of each server.
    due: Vec<Due>,
    groups: Vec<Group>,
    /// The group of each server; empty where there is none.
    group_of: Vec<u32>,
}

/// No group.
pub(super) const ALONE: u32 = u32::MAX;

impl Timers {
    /// For `count` servers, of which those of the same number in `group_of` (below `groups`) have
    /// one leaf.
    pub(super) fn new(count: usize, groups: usize, group_of: Vec<u32>) -> Timers {
        let half = (count + groups).max(1).next_power_of_two();
        let mut all: Vec<Group> =
            (0..groups).map(|_| Group { members: Vec::new(), first: NEVER }).collect();
        for (id, &group) in (0..).zip(&group_of).filter(|(_, group)| **group != ALONE) {
            all[group as usize].members.push(id);
        }
        let (tree, due) = (vec![NEVER; 2 * half], vec![NEVER; count]);
        Timers { tree, half, due, groups: all, group_of }
    }

    /// Number `id` is due at `at`.
    #[inline]
    pub(super) fn set(&mut self, id: u32, at: Option<Time>) {
        let due = at.map_or(NEVER, |at| (at.as_micros(), id));
        let before = std::mem::replace(&mut self.due[id as usize], due);
        let Some(&number) = self.group_of.get(id as usize).filter(|group| **group != ALONE) else {
            return self.set_leaf(id as usize, due);
        };
        let group = &mut self.groups[number as usize];
        if due <= group.first {
            group.first = due;
        } else if before == group.first {
            group.first = earliest(&group.members, &self.due);
        } else {
            return;
        }
        let first = group.first;
        self.set_leaf(self.due.len() + number as usize, first);
    }

    /// Members of a group are due as `next` says.
    pub(super) fn set_group(&mut self, number: u32, mut next: impl FnMut(u32) -> Option<Time>) {
        let group = &mut self.groups[number as usize];
        let mut first = NEVER;
        for &id in &group.members {
            let due = next(id).map_or(NEVER, |at| (at.as_micros(), id));
            self.due[id as usize] = due;
            first = first.min(due);
        }
        group.first = first;
        self.set_leaf(self.due.len() + number as usize, first);
    }

    #[inline]
    fn set_leaf(&mut self, leaf: usize, due: Due) {
        let mut place = self.half + leaf;
        self.tree[place] = due;
        while place > 1 {
            place /= 2;
            let winner = self.tree[2 * place].min(self.tree[2 * place + 1]);
            if self.tree[place] == winner {
                return;
            }
            self.tree[place] = winner;
        }
    }

    /// The earliest, and whose it is.
    #[inline]
    pub(super) fn first(&self) -> Option<(Time, u32)> {
        let (micros, id) = self.tree[1];
        Time::from_micros(micros).map(|at| (at, id))
    }
}

fn earliest(members: &[u32], due: &[Due]) -> Due {
    members.iter().map(|&id| due[id as usize]).min().unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;

    #[test]
    fn first_is_what_a_scan_finds() {
        for (count, groups) in [(1, 0), (2, 1), (5, 0), (64, 3), (99, 7)] {
            let mut stream = Stream::new(3, "timers");
            let mut draw = |_| match stream.below(groups + 1) as u32 {
                group if u64::from(group) < groups => group,
                _ => ALONE,
            };
            let group_of: Vec<u32> = (0..count).map(&mut draw).collect();
            let mut timers = Timers::new(count, groups as usize, group_of.clone());
            let mut plain = vec![None; count];
            for _ in 0..2000 {
                let id = stream.below(count as u64) as usize;
                let mut draw = || Time::from_micros(stream.below(40));
                match (group_of[id], draw()) {
                    // All of a group at once.
                    (group, at) if group != ALONE && at < Time::from_micros(4) => {
                        timers.set_group(group, |id| {
                            plain[id as usize] = draw();
                            plain[id as usize]
                        });
                    }
                    (_, at) => {
                        let at = at.filter(|at| at.as_micros() % 4 > 0);
                        plain[id] = at;
                        timers.set(id as u32, at);
                    }
                }
                let scan = (0..).zip(&plain).filter_map(|(id, at)| at.map(|at| (at, id))).min();
                assert_eq!(timers.first(), scan);
            }
        }
    }
}
