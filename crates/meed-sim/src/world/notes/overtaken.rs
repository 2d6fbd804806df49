//! Who was overtaken: exactly, while a run goes on.
//!
//! A task is overtaken by each start, while it waits, of a task that began to wait later and is
//! narrower. How wide a task is: its largest part of the largest node, in sixteenths, rounded up
//! ([`Widths`]). Tasks are counted once, at their first start. Whose turn it was is not asked.
//!
//! Those that overtook a task are those that have started by its start and began later. So it is
//! enough to count starts by when they began to wait, for each width ([`Line`]), and to look once
//! for each task when it starts. Cost: O(log of the instants at which such tasks began to wait) for
//! each start; O(queues) more where a task was overtaken more often than any other of its queue
//! before it. Memory: 12 bytes, twice, for each instant at which tasks of a queue and width began
//! to wait; beyond [`MOST_INSTANTS`] of these nothing is counted any more.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use meed::{NodeSpec, Resources, Time};

/// Widths of tasks: parts of the largest node.
const WIDTHS: usize = 16;

/// So many instants take some 100 MB.
const MOST_INSTANTS: usize = 1 << 22;

/// How wide tasks are.
///
/// ```
/// use meed::{NodeSpec, Resources};
/// use meed_sim::world::Widths;
///
/// let node = NodeSpec::new("n", Resources::new(&[8000]));
/// let widths = Widths::of(std::iter::once(&node), 1);
/// assert_eq!(widths.width(&Resources::new(&[4000])), 8); // of 16: half of the largest node
/// ```
#[derive(Clone, Debug)]
pub struct Widths {
    /// The most that any node has of each resource.
    largest: Resources,
}

impl Widths {
    /// On these nodes of `kinds` resources.
    pub fn of<'n>(nodes: impl Iterator<Item = &'n NodeSpec>, kinds: usize) -> Widths {
        let mut largest = vec![0; kinds];
        for node in nodes {
            for (kind, most) in largest.iter_mut().enumerate() {
                *most = node.capacity.get(kind).max(*most);
            }
        }
        Widths { largest: Resources::new(&largest) }
    }

    /// From 1 to 16: sixteenths of the largest node.
    pub fn width(&self, demand: &Resources) -> usize {
        let part = |kind| {
            let (asked, most) = (u128::from(demand.get(kind)), u128::from(self.largest.get(kind)));
            (asked * WIDTHS as u128).div_ceil(most.max(1)).min(WIDTHS as u128) as usize
        };
        (0..demand.kinds()).map(part).max().unwrap_or(1).max(1)
    }
}

/// Starts by when the tasks began to wait: a tree of sums (Fenwick) over the instants, in order.
#[derive(Default)]
struct Line {
    began: Vec<Time>,
    sums: Vec<u32>,
    starts: u32,
}

fn lowest_bit(place: usize) -> usize {
    place & place.wrapping_neg()
}

impl Line {
    /// Tasks begin to wait. Whether none had at that instant.
    fn begin(&mut self, at: Time) -> bool {
        if self.began.last() == Some(&at) {
            return false;
        }
        self.began.push(at);
        let place = self.began.len();
        let (mut sum, mut below) = (0, place - 1);
        while below > place - lowest_bit(place) {
            sum += self.sums[below - 1];
            below -= lowest_bit(below);
        }
        self.sums.push(sum);
        true
    }

    /// One that began at `began` starts.
    fn start(&mut self, began: Time) {
        let Ok(index) = self.began.binary_search(&began) else { return };
        let mut place = index + 1;
        while let Some(sum) = self.sums.get_mut(place - 1) {
            *sum += 1;
            place += lowest_bit(place);
        }
        self.starts += 1;
    }

    /// How many have started that began after `than`.
    fn later(&self, than: Time) -> u64 {
        if self.began.last().is_none_or(|last| *last <= than) {
            return 0;
        }
        let (mut place, mut before) = (self.began.partition_point(|began| *began <= than), 0);
        while place > 0 {
            before += self.sums[place - 1];
            place -= lowest_bit(place);
        }
        u64::from(self.starts - before)
    }
}

/// Starts by width.
#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn of(&mut self, width: usize) -> &mut Line {
        if self.0.len() < width {
            self.0.resize_with(width, Line::default);
        }
        &mut self.0[width - 1]
    }

    /// Those narrower than `width` that began after `than`.
    fn later(&self, width: usize, than: Time) -> u64 {
        self.0.iter().take(width - 1).map(|line| line.later(than)).sum()
    }
}

/// What was counted of a queue.
#[derive(Default)]
pub(crate) struct Counted<T> {
    starts: Lines,
    pub(crate) tasks: u64,
    pub(crate) times: u64,
    pub(crate) most: Option<Most<T>>,
}

/// The task that was overtaken most.
pub(crate) struct Most<T> {
    /// Which, as far as the world tells.
    pub(crate) task: T,
    pub(crate) began: Time,
    pub(crate) times: u64,
    /// By tasks of which queues (numbers), most often first.
    pub(crate) by: Vec<(usize, u64)>,
}

/// See the module. Queues are numbers; `T` says which task.
pub(crate) struct Overtaken<T> {
    widths: Widths,
    starts: Lines,
    queues: BTreeMap<usize, Counted<T>>,
    instants: usize,
}

impl<T> Overtaken<T> {
    pub(crate) fn new(widths: Widths) -> Overtaken<T> {
        Overtaken { widths, starts: Lines::default(), queues: BTreeMap::new(), instants: 0 }
    }

    /// Tasks of a queue begin to wait at `now`, which never falls.
    pub(crate) fn begin(&mut self, now: Time, queue: usize, demand: &Resources) {
        let width = self.widths.width(demand);
        let own = self.queues.entry(queue).or_insert_with(|| Counted {
            starts: Lines::default(),
            tasks: 0,
            times: 0,
            most: None,
        });
        self.instants += usize::from(own.starts.of(width).begin(now));
        self.starts.of(width).begin(now);
    }

    /// A task starts for the first time.
    pub(crate) fn start(
        &mut self,
        queue: usize,
        began: Time,
        demand: &Resources,
        task: impl FnOnce() -> T,
    ) {
        let width = self.widths.width(demand);
        self.look(queue, began, width, 1, task);
        self.starts.of(width).start(began);
        if let Some(own) = self.queues.get_mut(&queue) {
            own.starts.of(width).start(began);
        }
    }

    /// Equal tasks wait at the end of the run.
    pub(crate) fn still_wait(
        &mut self,
        queue: usize,
        began: Time,
        demand: &Resources,
        tasks: u64,
        task: impl FnOnce() -> T,
    ) {
        self.look(queue, began, self.widths.width(demand), tasks, task);
    }

    fn look(
        &mut self,
        queue: usize,
        began: Time,
        width: usize,
        tasks: u64,
        task: impl FnOnce() -> T,
    ) {
        let times = self.starts.later(width, began);
        let Some(own) = self.queues.get_mut(&queue).filter(|_| times > 0 && tasks > 0) else {
            return;
        };
        own.tasks += tasks;
        own.times += times * tasks;
        if own.most.as_ref().is_none_or(|most| most.times < times) {
            let by = self.by(width, began);
            let most = Some(Most { task: task(), began, times, by });
            self.queues.get_mut(&queue).expect("it is there").most = most;
        }
    }

    fn by(&self, width: usize, began: Time) -> Vec<(usize, u64)> {
        let each = self.queues.iter().map(|(queue, own)| (*queue, own.starts.later(width, began)));
        let mut by: Vec<(usize, u64)> = each.filter(|(_, times)| *times > 0).collect();
        by.sort_by_key(|(_, times)| Reverse(*times));
        by
    }

    /// Whether there was more to count than is counted.
    pub(crate) fn is_too_much(&self) -> bool {
        self.instants > MOST_INSTANTS
    }

    /// What was counted of each queue, by its number.
    pub(crate) fn counted(self) -> BTreeMap<usize, Counted<T>> {
        self.queues
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: u64) -> Time {
        Time::from_secs(second).expect("in range")
    }

    fn widths() -> Widths {
        let node = NodeSpec::new("n", Resources::new(&[8]));
        Widths::of(std::iter::once(&node), 1)
    }

    #[test]
    fn widths_are_sixteenths_of_the_largest_node() {
        let width = |amount| widths().width(&Resources::new(&[amount]));
        assert_eq!([0, 1, 4, 8, 9].map(width), [1, 2, 8, 16, 16]);
        assert_eq!(Widths::of(std::iter::empty(), 1).width(&Resources::new(&[5])), 16);
    }

    proptest! {
        /// Beside a count that compares each pair.
        #[test]
        fn counts_as_pairs_are_compared(
            tasks in prop::collection::vec((0u64..20, 0u64..30, 0usize..3, 0u64..9), 1..60),
            end in 1u64..60,
        ) {
            // Of each when it begins, when it starts, whose it is, what it asks for.
            let mut tasks: Vec<(u64, u64, usize, u64)> = tasks;
            tasks.sort_unstable();
            let mut events: Vec<(u64, bool, usize)> = Vec::new();
            for (index, (began, waits, ..)) in tasks.iter().enumerate() {
                events.push((*began, false, index));
                events.push((began + waits, true, index));
            }
            events.sort_unstable();
            let mut counts: Overtaken<usize> = Overtaken::new(widths());
            let mut started: Vec<usize> = Vec::new();
            let mut expected = [(); 3].map(|()| (0, 0, 0));
            let wide = |index: usize| widths().width(&Resources::new(&[tasks[index].3]));
            let passed = |started: &[usize], index: usize| {
                let by = started.iter().filter(|&&other| {
                    tasks[other].0 > tasks[index].0 && wide(other) < wide(index)
                });
                by.count() as u64
            };
            let mut note = |started: &[usize], index: usize| {
                let times = passed(started, index);
                let (tasks, all, most) = &mut expected[tasks[index].2];
                *tasks += u64::from(times > 0);
                *all += times;
                *most = times.max(*most);
            };
            for (t, starts, index) in events.iter().copied().filter(|(t, ..)| *t <= end) {
                let (began, _, queue, amount) = tasks[index];
                let demand = Resources::new(&[amount]);
                if starts {
                    note(&started, index);
                    counts.start(queue, at(began), &demand, || index);
                    started.push(index);
                } else {
                    counts.begin(at(t), queue, &demand);
                }
            }
            for (index, &(began, _, queue, amount)) in tasks.iter().enumerate() {
                if began <= end && !started.contains(&index) {
                    note(&started, index);
                    let demand = Resources::new(&[amount]);
                    counts.still_wait(queue, at(began), &demand, 1, || index);
                }
            }
            for (queue, counted) in counts.counted() {
                let most = counted.most.as_ref().map_or(0, |most| most.times);
                prop_assert_eq!((counted.tasks, counted.times, most), expected[queue]);
                if let Some(most) = counted.most {
                    let sum: u64 = most.by.iter().map(|(_, times)| times).sum();
                    prop_assert_eq!(sum, most.times);
                }
            }
        }
    }
}
