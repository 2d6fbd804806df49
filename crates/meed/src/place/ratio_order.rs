//! Members with two amounts (a, b) in order of their ratio b / a, to be searched outwards from any
//! ratio for those with enough of both: what best fit by direction needs.
//!
//! > order: b / a ascending (infinite where a = 0), then the member's number
//!
//! Why it is fast: among members with b / a at least db / da, whoever has a >= da has b >= db as
//! well; below that ratio it is b that decides. So outwards from the demand's own ratio the nearest
//! member that fits is found by looking at one maximum for each block, on either side.
//!
//! Blocks are in order, and their members are not: a block holds what lies between its own lower
//! bound and the next one's, as it came. So whoever comes is put at a block's end, and who leaves
//! is found by number and replaced by the last; who is nearest in a block is seen by a look at all
//! of them. The blocks' bounds stand in an array of their own, and so do the maxima of blocks and
//! of groups of [`GROUP`] blocks. Cost for k members: a change is a binary search over k / BLOCK
//! bounds and a look at a block's numbers; a search reads k / (BLOCK x GROUP) maxima at most, and
//! looks into blocks that hold both amounts, if not always in one member. Bound by memory: two or
//! three cache misses each. The order is compared exactly, by cross-multiplying in 128 bits.

use std::cmp::Ordering;

/// Most members of a block: splitting halves it. Few in tests, so that they have many blocks and
/// groups.
const BLOCK: usize = if cfg!(test) { 8 } else { 64 };

/// A block this small joins its neighbour.
const SMALL: usize = BLOCK / 4;

/// Blocks whose maxima are kept together.
const GROUP: usize = if cfg!(test) { 4 } else { 32 };

/// Two amounts.
pub(super) type Pair = (u64, u64);

/// A member; never (0, 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) id: u32,
}

/// Compares b / a of two pairs that are not (0, 0).
#[inline]
pub(super) fn cmp_ratio((a, b): Pair, (c, d): Pair) -> Ordering {
    (u128::from(b) * u128::from(c)).cmp(&(u128::from(d) * u128::from(a)))
}

impl Member {
    #[inline]
    fn cmp(&self, other: &Member) -> Ordering {
        cmp_ratio((self.a, self.b), (other.a, other.b)).then(self.id.cmp(&other.id))
    }
}

/// Whether the first pair is enough for the second.
#[inline]
pub(super) fn holds(most: Pair, needs: Pair) -> bool {
    most.0 >= needs.0 && most.1 >= needs.1
}

fn most_of(parts: &[Pair]) -> Pair {
    parts.iter().fold((0, 0), |most, part| (most.0.max(part.0), most.1.max(part.1)))
}

/// Members between two bounds, in no order. In one piece of memory: who knows the block has its
/// numbers and its amounts at hand at once.
struct Block {
    len: usize,
    /// The least of its numbers; beyond all where there is none.
    least: u32,
    ids: [u32; BLOCK],
    amounts: [Pair; BLOCK],
}

impl Block {
    fn of(members: &[Member]) -> Box<Block> {
        let (ids, amounts) = ([0; BLOCK], [(0, 0); BLOCK]);
        let mut block = Box::new(Block { len: 0, least: u32::MAX, ids, amounts });
        members.iter().for_each(|&member| block.push(member));
        block
    }

    fn ids(&self) -> &[u32] {
        &self.ids[..self.len]
    }

    fn amounts(&self) -> &[Pair] {
        &self.amounts[..self.len]
    }

    fn member(&self, at: usize) -> Member {
        let (a, b) = self.amounts[at];
        Member { a, b, id: self.ids[at] }
    }

    fn members(&self) -> impl Iterator<Item = Member> {
        (0..self.len).map(|at| self.member(at))
    }

    fn push(&mut self, member: Member) {
        (self.ids[self.len], self.amounts[self.len]) = (member.id, (member.a, member.b));
        self.len += 1;
        self.least = self.least.min(member.id);
    }

    /// Takes out a member that is there; the last one takes its place.
    fn remove(&mut self, member: Member) {
        let at = self.ids().iter().position(|&id| id == member.id).expect("only a member leaves");
        assert!(self.amounts[at] == (member.a, member.b), "a member leaves with what it came with");
        self.len -= 1;
        (self.ids[at], self.amounts[at]) = (self.ids[self.len], self.amounts[self.len]);
        if member.id == self.least {
            self.least = self.ids().iter().copied().min().unwrap_or(u32::MAX);
        }
    }

    /// Takes out the upper half; its least member.
    fn split(&mut self) -> (Box<Block>, Member) {
        let mut members: Vec<Member> = self.members().collect();
        let middle = members.len() / 2;
        let (_, &mut bound, _) = members.select_nth_unstable_by(middle, Member::cmp);
        let (lower, upper) = members.split_at(middle);
        (self.len, self.least) = (0, u32::MAX);
        lower.iter().for_each(|&member| self.push(member));
        (Block::of(upper), bound)
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct RatioOrder {
    #[expect(clippy::vec_box, reason = "blocks move up when one is put between them")]
    blocks: Vec<Box<Block>>,
    /// What a block's members are not before, and those of the block before it are. That of the
    /// first block is no bound.
    bounds: Vec<Member>,
    most: Vec<Pair>,
    group_most: Vec<Pair>,
}

impl RatioOrder {
    pub(super) fn insert(&mut self, member: Member) {
        debug_assert!((member.a, member.b) != (0, 0));
        if self.blocks.is_empty() {
            return self.put_block(0, Block::of(&[member]), member);
        }
        let mut at = self.block_of(&member);
        if self.blocks[at].len == BLOCK {
            let (upper, bound) = self.blocks[at].split();
            self.most[at] = most_of(self.blocks[at].amounts());
            self.put_block(at + 1, upper, bound);
            at += usize::from(bound.cmp(&member).is_le());
        }
        self.blocks[at].push(member);
        let raise = |most: &mut Pair| *most = (most.0.max(member.a), most.1.max(member.b));
        raise(&mut self.most[at]);
        raise(&mut self.group_most[at / GROUP]);
    }

    /// Takes out a member that is there.
    pub(super) fn remove(&mut self, member: Member) {
        let at = self.block_of(&member);
        self.blocks[at].remove(member);
        if self.blocks[at].len < SMALL && self.join_neighbour(at) {
            return;
        }
        if member.a == self.most[at].0 || member.b == self.most[at].1 {
            let most = most_of(self.blocks[at].amounts());
            self.lower_most(at, most);
        }
    }

    /// The block that `member` belongs to; there is at least one. The bound of the first is none.
    #[inline]
    fn block_of(&self, member: &Member) -> usize {
        self.bounds[1..].partition_point(|bound| bound.cmp(member).is_le())
    }

    /// Puts a small block and a neighbour together; whether it has. An empty one goes into any.
    fn join_neighbour(&mut self, at: usize) -> bool {
        let fits = |left: &usize| {
            let both = self.blocks.get(*left).zip(self.blocks.get(left + 1));
            both.is_some_and(|(a, b)| a.len == 0 || b.len == 0 || a.len + b.len <= BLOCK - SMALL)
        };
        let Some(left) = [Some(at), at.checked_sub(1)].into_iter().flatten().find(fits) else {
            return false;
        };
        let right = self.blocks.remove(left + 1);
        self.bounds.remove(left + 1);
        self.most.remove(left + 1);
        right.members().for_each(|member| self.blocks[left].push(member));
        self.most[left] = most_of(self.blocks[left].amounts());
        self.regroup(left);
        true
    }

    fn lower_most(&mut self, at: usize, most: Pair) {
        if self.most[at] != most {
            self.most[at] = most;
            let group = at / GROUP;
            let end = self.most.len().min((group + 1) * GROUP);
            self.group_most[group] = most_of(&self.most[group * GROUP..end]);
        }
    }

    /// A block with its bound and its maxima in its place. O(blocks), once in BLOCK / 4 changes at
    /// the most: what lies behind moves up.
    fn put_block(&mut self, at: usize, block: Box<Block>, bound: Member) {
        self.bounds.insert(at, bound);
        self.most.insert(at, most_of(block.amounts()));
        self.blocks.insert(at, block);
        self.regroup(at.saturating_sub(1));
    }

    /// The groups' maxima from that of block `from` on.
    fn regroup(&mut self, from: usize) {
        let first = from / GROUP;
        self.group_most.truncate(first);
        self.group_most.extend(self.most[first * GROUP..].chunks(GROUP).map(most_of));
    }

    /// Whether some member may hold both `needs`; errs towards yes.
    pub(super) fn may_hold(&self, needs: Pair) -> bool {
        self.group_most.iter().any(|&most| holds(most, needs))
    }

    /// The block in which members with the ratio of `pair` begin: those of the blocks before it
    /// have smaller ratios, those of the blocks after it have no smaller ones. (0, 0) has no ratio,
    /// and gets the first block. `None`: there are no members.
    pub(super) fn seek(&self, pair: Pair) -> Option<usize> {
        match pair {
            _ if self.blocks.is_empty() => None,
            (0, 0) => Some(0),
            (a, b) => Some(self.block_of(&Member { a, b, id: 0 })),
        }
    }

    /// What the members of a block are not before; of the first block nothing is said.
    pub(super) fn bound(&self, block: usize) -> Option<Pair> {
        (block > 0).then(|| (self.bounds[block].a, self.bounds[block].b))
    }

    /// The members of a block that have both `needs`, in no order.
    pub(super) fn having(&self, block: usize, needs: Pair) -> impl Iterator<Item = Member> {
        let block = &self.blocks[block];
        let has = move |(_, amounts): &(usize, &Pair)| holds(**amounts, needs);
        block.amounts().iter().enumerate().filter(has).map(|(at, _)| block.member(at))
    }

    /// The maxima of each group of blocks.
    pub(super) fn groups(&self) -> &[Pair] {
        &self.group_most
    }

    /// The first block of a group, and the maxima of its blocks.
    pub(super) fn blocks_of(&self, group: usize) -> (usize, &[Pair]) {
        let first = group * GROUP;
        (first, &self.most[first..self.most.len().min(first + GROUP)])
    }

    /// The maxima of a block, and the least number of its members.
    pub(super) fn best_of_block(&self, block: usize) -> (Pair, u32) {
        (self.most[block], self.blocks[block].least)
    }

    /// The numbers and the amounts of the members of a block, in no order.
    pub(super) fn block(&self, block: usize) -> (&[u32], &[Pair]) {
        let block = &self.blocks[block];
        (block.ids(), block.amounts())
    }

    /// The first block at or after `from` that may hold a member with both `needs`.
    pub(super) fn right(&self, from: usize, needs: Pair) -> Option<usize> {
        let mut block = from;
        while block < self.blocks.len() {
            if block.is_multiple_of(GROUP) && !holds(self.group_most[block / GROUP], needs) {
                block += GROUP;
            } else if holds(self.most[block], needs) {
                return Some(block);
            } else {
                block += 1;
            }
        }
        None
    }

    /// The last block before `from` that may hold a member with both `needs`.
    pub(super) fn left(&self, from: usize, needs: Pair) -> Option<usize> {
        let mut block = from;
        while block > 0 {
            if block.is_multiple_of(GROUP) && !holds(self.group_most[block / GROUP - 1], needs) {
                block -= GROUP;
            } else if holds(self.most[block - 1], needs) {
                return Some(block - 1);
            } else {
                block -= 1;
            }
        }
        None
    }
}
