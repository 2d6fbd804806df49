//! Members with two amounts (a, b) in order of their ratio b / a, to be searched outwards from any ratio for those with
//! enough of both: what best fit by direction needs.
//!
//! > order: b / a ascending (infinite where a = 0), then the member's number
//!
//! Why it is fast: among members with b / a at least db / da, whoever has a >= da has b >= db as well; below that ratio
//! it is b that decides. So outwards from the demand's own ratio the nearest member that fits is found by looking at
//! one maximum for each block, on either side.
//!
//! Members stand in sorted blocks of at most [`BLOCK`]; the blocks' first members stand in an array of their own, and so
//! do the maxima of blocks and of groups of [`GROUP`] blocks. Cost for k members: a change is a binary search over
//! k / BLOCK firsts and a move within one block; a search reads k / (BLOCK x GROUP) maxima at most, and looks into
//! blocks that hold both amounts, if not always in one member. Bound by memory: two or three cache misses each.
//! Ratios stand as floats in arrays of their own, so that a binary search reads eight bytes at a step. Amounts are at most
//! 2^53 and so exact as floats, and a division rounds to the nearest: it never turns the order of two ratios round. Where
//! two floats are equal the order is compared exactly, by cross-multiplying in 128 bits.

use std::cmp::Ordering;

/// Most members of a block: splitting halves it.
const BLOCK: usize = 128;

/// A block this small joins its neighbour.
const SMALL: usize = BLOCK / 4;

/// Blocks whose maxima are kept together.
const GROUP: usize = 32;

/// A member; never (0, 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) id: u32,
}

/// Compares b / a of two pairs that are not (0, 0).
#[inline]
pub(super) fn cmp_ratio((a, b): (u64, u64), (c, d): (u64, u64)) -> Ordering {
    (u128::from(b) * u128::from(c)).cmp(&(u128::from(d) * u128::from(a)))
}

impl Member {
    #[inline]
    fn cmp(&self, other: &Member) -> Ordering {
        cmp_ratio((self.a, self.b), (other.a, other.b)).then(self.id.cmp(&other.id))
    }

    #[inline]
    fn has(&self, needs: (u64, u64)) -> bool {
        self.a >= needs.0 && self.b >= needs.1
    }
}

/// b / a as a float: of two pairs the one with the larger ratio never has the smaller float.
#[inline]
fn ratio_of((a, b): (u64, u64)) -> f64 {
    b as f64 / a as f64
}

/// How many of a sorted list stand before a pair: their ratios are given, and of those whose float is that of the pair
/// `is_before` tells.
#[inline]
fn count_before(ratios: &[f64], pair: (u64, u64), is_before: impl Fn(usize) -> bool) -> usize {
    let ratio = ratio_of(pair);
    let mut low = ratios.partition_point(|&other| other < ratio);
    let mut high = match ratios.get(low) {
        Some(&other) if other == ratio => low + ratios[low..].partition_point(|&other| other <= ratio),
        _ => low,
    };
    while low < high {
        let middle = (low + high) / 2;
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Members in order; never empty.
struct Block {
    ratios: Vec<f64>,
    members: Vec<Member>,
}

impl Block {
    fn of(members: Vec<Member>) -> Block {
        Block { ratios: members.iter().map(|member| ratio_of((member.a, member.b))).collect(), members }
    }

    #[inline]
    fn place_of(&self, member: &Member) -> usize {
        count_before(&self.ratios, (member.a, member.b), |at| self.members[at].cmp(member).is_lt())
    }
}

/// A place between members: before member `at` of block `block`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cursor {
    block: usize,
    at: usize,
}

/// Largest amounts, of a block or of a group of blocks.
type Most = (u64, u64);

/// See the module.
#[derive(Default)]
pub(super) struct RatioOrder {
    blocks: Vec<Block>,
    /// The ratios of the blocks' first members.
    firsts: Vec<f64>,
    most: Vec<Most>,
    group_most: Vec<Most>,
}

fn most_of(parts: impl Iterator<Item = Most>) -> Most {
    parts.fold((0, 0), |most, part| (most.0.max(part.0), most.1.max(part.1)))
}

fn holds(most: Most, needs: (u64, u64)) -> bool {
    most.0 >= needs.0 && most.1 >= needs.1
}

impl RatioOrder {
    pub(super) fn insert(&mut self, member: Member) {
        debug_assert!((member.a, member.b) != (0, 0));
        if self.blocks.is_empty() {
            return self.put_block(0, Block::of(vec![member]));
        }
        let number = self.block_of(&member);
        let block = &mut self.blocks[number];
        let at = block.place_of(&member);
        block.members.insert(at, member);
        block.ratios.insert(at, ratio_of((member.a, member.b)));
        if block.members.len() > BLOCK {
            let tail = block.members.split_off(BLOCK / 2);
            let head = self.take_block(number).members;
            self.put_block(number, Block::of(head));
            return self.put_block(number + 1, Block::of(tail));
        }
        self.firsts[number] = block.ratios[0];
        let most = most_of([self.most[number], (member.a, member.b)].into_iter());
        self.set_most(number, most);
    }

    /// Takes out a member that is there.
    pub(super) fn remove(&mut self, member: Member) {
        let number = self.block_of(&member);
        let block = &mut self.blocks[number];
        let at = block.place_of(&member);
        assert!(block.members.get(at) == Some(&member), "only a member leaves");
        block.members.remove(at);
        block.ratios.remove(at);
        if block.members.len() < SMALL && self.join_neighbour(number) {
            return;
        }
        self.firsts[number] = self.blocks[number].ratios[0];
        let was_most = member.a == self.most[number].0 || member.b == self.most[number].1;
        if was_most {
            let most = most_of(self.blocks[number].members.iter().map(|member| (member.a, member.b)));
            self.set_most(number, most);
        }
    }

    /// The block that `member` belongs to; there is at least one.
    fn block_of(&self, member: &Member) -> usize {
        let is_before = |block: usize| self.blocks[block].members[0].cmp(member).is_le();
        count_before(&self.firsts, (member.a, member.b), is_before).saturating_sub(1)
    }

    /// Puts a small block and a neighbour together, or drops it when it is empty; whether it has.
    fn join_neighbour(&mut self, block: usize) -> bool {
        if self.blocks[block].members.is_empty() {
            self.take_block(block);
            return true;
        }
        let left = if block + 1 < self.blocks.len() { block } else { block.saturating_sub(1) };
        let fits = left + 1 < self.blocks.len()
            && self.blocks[left].members.len() + self.blocks[left + 1].members.len() <= BLOCK - SMALL;
        if fits {
            let tail = self.take_block(left + 1);
            let mut both = self.take_block(left).members;
            both.extend(tail.members);
            self.put_block(left, Block::of(both));
        }
        fits
    }

    fn set_most(&mut self, block: usize, most: Most) {
        if self.most[block] == most {
            return;
        }
        self.most[block] = most;
        let group = block / GROUP;
        let end = self.most.len().min((group + 1) * GROUP);
        self.group_most[group] = most_of(self.most[group * GROUP..end].iter().copied());
    }

    /// A block that is not empty, with its first and its maxima, in its place. O(blocks), once in BLOCK / 4 changes at
    /// the most: what lies behind moves up.
    fn put_block(&mut self, at: usize, block: Block) {
        self.firsts.insert(at, block.ratios[0]);
        self.most.insert(at, most_of(block.members.iter().map(|member| (member.a, member.b))));
        self.blocks.insert(at, block);
        self.regroup(at);
    }

    fn take_block(&mut self, at: usize) -> Block {
        self.firsts.remove(at);
        self.most.remove(at);
        let block = self.blocks.remove(at);
        self.regroup(at);
        block
    }

    /// The groups' maxima from that of block `from` on.
    fn regroup(&mut self, from: usize) {
        let first = from / GROUP;
        self.group_most.truncate(first);
        let groups = self.most[first * GROUP..].chunks(GROUP);
        self.group_most.extend(groups.map(|group| most_of(group.iter().copied())));
    }

    /// Before the first member whose ratio is at least that of `pair`.
    pub(super) fn seek(&self, pair: (u64, u64)) -> Cursor {
        let less = |member: &Member| cmp_ratio((member.a, member.b), pair).is_lt();
        let next = count_before(&self.firsts, pair, |block| less(&self.blocks[block].members[0]));
        let Some(block) = next.checked_sub(1) else { return Cursor { block: 0, at: 0 } };
        let members = &self.blocks[block].members;
        let at = count_before(&self.blocks[block].ratios, pair, |at| less(&members[at]));
        if at < members.len() { Cursor { block, at } } else { Cursor { block: next, at: 0 } }
    }

    /// Whether some member may hold both `needs`; errs towards yes.
    pub(super) fn may_hold(&self, needs: (u64, u64)) -> bool {
        self.group_most.iter().any(|&most| holds(most, needs))
    }

    /// Before the first member.
    pub(super) fn start(&self) -> Cursor {
        Cursor { block: 0, at: 0 }
    }

    /// The first member at or after `from` that has both `needs`, and the place after it.
    pub(super) fn right(&self, from: Cursor, needs: (u64, u64)) -> Option<(Member, Cursor)> {
        let mut at = from.at;
        let mut block = from.block;
        while block < self.blocks.len() {
            if at == 0 && block.is_multiple_of(GROUP) && !holds(self.group_most[block / GROUP], needs) {
                block += GROUP;
                continue;
            }
            if holds(self.most[block], needs)
                && let Some(found) =
                    self.blocks[block].members[at..].iter().position(|member| member.has(needs))
            {
                let at = at + found;
                return Some((self.blocks[block].members[at], Cursor { block, at: at + 1 }));
            }
            (block, at) = (block + 1, 0);
        }
        None
    }

    /// The last member before `from` that has both `needs`, and the place before it.
    pub(super) fn left(&self, from: Cursor, needs: (u64, u64)) -> Option<(Member, Cursor)> {
        let mut block = from.block;
        let mut at = from.at;
        loop {
            if at > 0
                && holds(self.most[block], needs)
                && let Some(found) =
                    self.blocks[block].members[..at].iter().rposition(|member| member.has(needs))
            {
                return Some((self.blocks[block].members[found], Cursor { block, at: found }));
            }
            // Whole groups first.
            while block > 0
                && block.is_multiple_of(GROUP)
                && !holds(self.group_most[block / GROUP - 1], needs)
            {
                block -= GROUP;
            }
            block = block.checked_sub(1)?;
            at = self.blocks[block].members.len();
        }
    }
}
