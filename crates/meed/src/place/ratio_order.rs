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
//! The order is compared exactly, by cross-multiplying in 128 bits.

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
    /// None is empty.
    blocks: Vec<Vec<Member>>,
    firsts: Vec<Member>,
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
            return self.put_block(0, vec![member]);
        }
        let block = self.block_of(&member);
        let at = self.blocks[block].partition_point(|other| other.cmp(&member).is_lt());
        self.blocks[block].insert(at, member);
        if self.blocks[block].len() > BLOCK {
            let tail = self.blocks[block].split_off(BLOCK / 2);
            let head = self.take_block(block);
            self.put_block(block, head);
            return self.put_block(block + 1, tail);
        }
        self.firsts[block] = self.blocks[block][0];
        let most = most_of([self.most[block], (member.a, member.b)].into_iter());
        self.set_most(block, most);
    }

    /// Takes out a member that is there.
    pub(super) fn remove(&mut self, member: Member) {
        let block = self.block_of(&member);
        let members = &mut self.blocks[block];
        let at = members.partition_point(|other| other.cmp(&member).is_lt());
        assert!(members.get(at) == Some(&member), "only a member leaves");
        members.remove(at);
        if members.len() < SMALL && self.join_neighbour(block) {
            return;
        }
        self.firsts[block] = self.blocks[block][0];
        let was_most = member.a == self.most[block].0 || member.b == self.most[block].1;
        if was_most {
            let most = most_of(self.blocks[block].iter().map(|member| (member.a, member.b)));
            self.set_most(block, most);
        }
    }

    /// The block that `member` belongs to; there is at least one.
    fn block_of(&self, member: &Member) -> usize {
        self.firsts.partition_point(|first| first.cmp(member).is_le()).saturating_sub(1)
    }

    /// Puts a small block and a neighbour together, or drops it when it is empty; whether it has.
    fn join_neighbour(&mut self, block: usize) -> bool {
        if self.blocks[block].is_empty() {
            self.take_block(block);
            return true;
        }
        let left = if block + 1 < self.blocks.len() { block } else { block.saturating_sub(1) };
        let fits = left + 1 < self.blocks.len()
            && self.blocks[left].len() + self.blocks[left + 1].len() <= BLOCK - SMALL;
        if fits {
            let tail = self.take_block(left + 1);
            let mut both = self.take_block(left);
            both.extend(tail);
            self.put_block(left, both);
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
    fn put_block(&mut self, at: usize, members: Vec<Member>) {
        self.firsts.insert(at, members[0]);
        self.most.insert(at, most_of(members.iter().map(|member| (member.a, member.b))));
        self.blocks.insert(at, members);
        self.regroup(at);
    }

    fn take_block(&mut self, at: usize) -> Vec<Member> {
        self.firsts.remove(at);
        self.most.remove(at);
        let members = self.blocks.remove(at);
        self.regroup(at);
        members
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
        let next = self.firsts.partition_point(less);
        let Some(block) = next.checked_sub(1) else { return Cursor { block: 0, at: 0 } };
        let at = self.blocks[block].partition_point(less);
        if at < self.blocks[block].len() { Cursor { block, at } } else { Cursor { block: next, at: 0 } }
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
                && let Some(found) = self.blocks[block][at..].iter().position(|member| member.has(needs))
            {
                let at = at + found;
                return Some((self.blocks[block][at], Cursor { block, at: at + 1 }));
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
                && let Some(found) = self.blocks[block][..at].iter().rposition(|member| member.has(needs))
            {
                return Some((self.blocks[block][found], Cursor { block, at: found }));
            }
            // Whole groups first.
            while block > 0
                && block.is_multiple_of(GROUP)
                && !holds(self.group_most[block / GROUP - 1], needs)
            {
                block -= GROUP;
            }
            block = block.checked_sub(1)?;
            at = self.blocks[block].len();
        }
    }
}
