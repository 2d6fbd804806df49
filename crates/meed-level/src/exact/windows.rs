//! Who is served where, for two resources: every class of servers takes a contiguous window of the
//! demand.
//!
//! Demand is sorted by the ratio of its resources, and padded with the pool's unused amounts of the
//! first resource (ratio 0) and of the second (infinite), so that demand and capacity have equal
//! totals. In any order, each class takes the window of what is left that fills it exactly in both
//! resources.
//!
//! *Why there is one:* windows of the class's size hold ever more of the second resource the
//! further right they start. The leftmost holds at most C_k2, for shares that fit satisfy sum_i x_i
//! min(d_i2, tau d_i1) <= sum_k min(C_k2, tau C_k1) ([`super::two`]); so the rightmost holds at
//! least that. *Why the rest fits the other classes:* for tau outside of the window's ratios both
//! sides of that inequality lose the same amount, and inside no demand is left: the left side is
//! linear in tau there and the right side concave, so it holds between as well.
//!
//! Within a class (servers of one ratio r), servers are filled one after another by demand from
//! both ends, low and high, mixed so that its ratio is r; what is left has the ratio r again.
//!
//! Small classes come first: rounding ends up in the largest. Cost: O(classes x users + servers).

use crate::line::Sum;
use crate::pool::{Class, Pieces, Pool};

/// Halvings in the search for a window: the width of an `f64` mantissa, and some.
const HALVINGS: usize = 64;

/// Demand of one user, or of nobody: an unused part of the pool.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Item {
    user: Option<usize>,
    amount: [f64; 2],
    share: f64,
}

impl Item {
    fn part(&self, by: f64) -> Item {
        Item {
            user: self.user,
            amount: self.amount.map(|amount| amount * by),
            share: self.share * by,
        }
    }

    fn size(&self) -> f64 {
        self.amount[0] + self.amount[1]
    }
}

/// Splits shares that fit over the servers. `order` names the users by rising ratio; at most two
/// resources.
pub(crate) fn split(
    pool: &Pool,
    classes: &[Class],
    order: impl Iterator<Item = usize>,
    shares: &[f64],
) -> Pieces {
    let mut left = padded(pool, order, shares);
    let mut pieces: Pieces = vec![Vec::new(); pool.servers()];
    let mut by_size: Vec<&Class> = classes.iter().collect();
    let size = |class: &Class| class.capacity.iter().sum::<f64>();
    // A class that lacks a resource takes its window, which is an end of the demand, first:
    // rounding may not end up there.
    let lacking =
        |class: &Class| (0..2).find(|&r| pair(&class.capacity)[r] == 0.0 && pool.kinds() == 2);
    by_size.sort_by(|a, b| lacking(b).cmp(&lacking(a)).then(size(a).total_cmp(&size(b))));
    for (number, class) in by_size.iter().enumerate() {
        let after = &by_size[number + 1..];
        let taken = match lacking(class) {
            Some(r) => {
                // What rounding leaves over goes to any later server that has this resource.
                let more = after.iter().any(|other| lacking(other) != Some(1 - r));
                take_without(&mut left, r, if more { size(class) } else { f64::INFINITY })
            }
            None if after.is_empty() => std::mem::take(&mut left),
            None => take_window(&mut left, pair(&class.capacity)),
        };
        share_out(pool, class, taken, &mut pieces);
    }
    pieces
}

/// Takes demand of none of resource `r`, up to `room` of the other.
fn take_without(items: &mut Vec<Item>, r: usize, mut room: f64) -> Vec<Item> {
    let mut taken = Vec::new();
    for item in items.iter_mut().filter(|item| item.amount[r] == 0.0) {
        let by = (room / item.size()).min(1.0);
        taken.push(item.part(by));
        room -= item.size() * by;
        *item = item.part(1.0 - by);
        if room <= 0.0 {
            break;
        }
    }
    items.retain(|item| item.size() > 0.0);
    taken
}

fn pair(amounts: &[f64]) -> [f64; 2] {
    [amounts[0], amounts.get(1).copied().unwrap_or(0.0)]
}

/// Demand by rising ratio, with what stays unused at both ends.
fn padded(pool: &Pool, order: impl Iterator<Item = usize>, shares: &[f64]) -> Vec<Item> {
    let mut unused = [Sum::default(); 2];
    (0..pool.kinds()).for_each(|r| unused[r].add(1.0));
    let mut items = vec![Item { user: None, amount: [0.0; 2], share: 0.0 }];
    for user in order.filter(|&user| shares[user] > 0.0) {
        let amount = pair(pool.demand(user)).map(|demand| demand * shares[user]);
        unused.iter_mut().zip(amount).for_each(|(unused, amount)| unused.add(-amount));
        items.push(Item { user: Some(user), amount, share: shares[user] });
    }
    let unused = unused.map(|unused| unused.total().max(0.0));
    items[0].amount[0] = unused[0];
    items.push(Item { user: None, amount: [0.0, unused[1]], share: 0.0 });
    items.retain(|item| item.size() > 0.0);
    items
}

/// Takes the window that fills `capacity` out of `items`.
fn take_window(items: &mut Vec<Item>, capacity: [f64; 2]) -> Vec<Item> {
    let Some((first, last)) = find_window(items, capacity) else { return Vec::new() };
    let inner = first + 1..last.max(first + 1);
    let mut room = capacity.map(|amount| {
        let mut sum = Sum::default();
        sum.add(amount);
        sum
    });
    for item in &items[inner.clone()] {
        room.iter_mut().zip(item.amount).for_each(|(room, amount)| room.add(-amount));
    }
    let room = room.map(|room| room.total());
    let (from_first, from_last) = match first == last {
        true => (fraction(items[first].amount, room), 0.0),
        false => ends(items[first].amount, items[last].amount, room),
    };
    let mut taken = vec![items[first].part(from_first)];
    taken.extend(&items[inner.clone()]);
    items[first] = items[first].part(1.0 - from_first);
    if first != last {
        taken.push(items[last].part(from_last));
        items[last] = items[last].part(1.0 - from_last);
    }
    // Nothing of an end has no ratio: servers cannot be filled from it.
    taken.retain(|item| item.size() > 0.0);
    items.drain(inner);
    items.retain(|item| item.size() > 0.0);
    taken
}

/// First and last item of the window.
fn find_window(items: &[Item], capacity: [f64; 2]) -> Option<(usize, usize)> {
    // Size, and amount of the second resource, of all items before each.
    let mut sums = [Sum::default(); 2];
    let mut before = Vec::with_capacity(items.len() + 1);
    for item in items {
        before.push(sums.map(|sum| sum.total()));
        sums[0].add(item.size());
        sums[1].add(item.amount[1]);
    }
    before.push(sums.map(|sum| sum.total()));
    let last = items.len().checked_sub(1)?;
    let item_at = |position: f64| {
        before.partition_point(|sum| sum[0] <= position).saturating_sub(1).min(last)
    };
    let second_before = |position: f64| {
        let item = item_at(position);
        let [start, second] = before[item];
        second + ((position - start) / items[item].size()).min(1.0) * items[item].amount[1]
    };
    let width = capacity[0] + capacity[1];
    let (mut low, mut high) = (0.0, (sums[0].total() - width).max(0.0));
    for _ in 0..HALVINGS {
        let start = 0.5 * (low + high);
        match second_before(start + width) - second_before(start) <= capacity[1] {
            true => low = start,
            false => high = start,
        }
    }
    Some((item_at(low), item_at(low + width)))
}

/// How much of an item fits into `room`.
fn fraction(amount: [f64; 2], room: [f64; 2]) -> f64 {
    let fits = |r: usize| if amount[r] > 0.0 { room[r] / amount[r] } else { f64::INFINITY };
    fits(0).min(fits(1)).clamp(0.0, 1.0)
}

/// How much of two items, of lower and higher ratio, fills `room` exactly; less where rounding
/// would overfill it.
fn ends(low: [f64; 2], high: [f64; 2], room: [f64; 2]) -> (f64, f64) {
    let det = low[0] * high[1] - low[1] * high[0];
    let size = (low[0] + low[1]) * (high[0] + high[1]);
    let from_low = match det > 1e-14 * size {
        true => (room[0] * high[1] - room[1] * high[0]) / det,
        false => 1.0,
    };
    let from_low = from_low.min(fraction(low, room)).max(0.0);
    let rest = [room[0] - from_low * low[0], room[1] - from_low * low[1]];
    (from_low, fraction(high, rest))
}

/// Fills the servers of a class, all of one ratio, with what the class has taken.
fn share_out(pool: &Pool, class: &Class, taken: Vec<Item>, pieces: &mut Pieces) {
    let mut left = std::collections::VecDeque::from(taken);
    let mut servers = class.servers.clone();
    let size = |server: usize| pool.capacity(server).iter().sum::<f64>();
    servers.sort_by(|&a, &b| size(a).total_cmp(&size(b)).then(a.cmp(&b)));
    let Some(largest) = servers.pop() else { return };
    for server in servers {
        fill_server(&mut left, pair(pool.capacity(server)), &mut pieces[server]);
    }
    left.iter().for_each(|item| serve(&mut pieces[largest], *item));
}

/// Fills one server with demand from both ends, in the server's own ratio.
fn fill_server(
    left: &mut std::collections::VecDeque<Item>,
    capacity: [f64; 2],
    served: &mut Vec<(usize, f64)>,
) {
    let mut part = 1.0;
    while part > 1e-15 {
        let (Some(&low), Some(&high)) = (left.front(), left.back()) else { return };
        let room = capacity.map(|amount| amount * part);
        if left.len() == 1 {
            let by = ((room[0] + room[1]) / low.size()).min(1.0);
            serve(served, low.part(by));
            left[0] = low.part(1.0 - by);
            return;
        }
        // How much of each end makes up one whole server; they may have to be taken several times
        // over.
        let det = low.amount[0] * high.amount[1] - low.amount[1] * high.amount[0];
        let per_server = match det > 1e-14 * low.size() * high.size() {
            true => [
                ((capacity[0] * high.amount[1] - capacity[1] * high.amount[0]) / det).max(0.0),
                ((low.amount[0] * capacity[1] - low.amount[1] * capacity[0]) / det).max(0.0),
            ],
            false => [(capacity[0] + capacity[1]) / low.size(), 0.0],
        };
        let most = per_server.map(|by| if by > 0.0 { 1.0 / by } else { f64::INFINITY });
        let step = part.min(most[0]).min(most[1]);
        let by = per_server.map(|by| (by * step).min(1.0));
        serve(served, low.part(by[0]));
        serve(served, high.part(by[1]));
        let last = left.len() - 1;
        left[0] = low.part(1.0 - by[0]);
        left[last] = high.part(1.0 - by[1]);
        part -= step;
        if step == most[1] {
            left.pop_back();
        }
        if step == most[0] {
            left.pop_front();
        }
    }
}

fn serve(served: &mut Vec<(usize, f64)>, item: Item) {
    if let Some(user) = item.user.filter(|_| item.share > 0.0) {
        match served.last_mut() {
            Some((last, share)) if *last == user => *share += item.share,
            _ => served.push((user, item.share)),
        }
    }
}
