//! Where the blocks of a job's input lie, and which of them wait for a map.
//!
//! Placement, drawn from the stream `blocks of JOB` under the run's seed, so that all policies see
//! the same blocks:
//! - one rack: replicas on nodes drawn uniformly, all different (the paper's "average setup on each
//!   disk partition");
//! - several racks: Hadoop's rule. The first anywhere; the second in another rack; the third in the
//!   rack of the second, on another node (anywhere where that rack has no other); further ones
//!   anywhere.
//!
//! Waiting blocks: each node, and each rack, has the list of the blocks that it holds; whoever
//! takes a block marks it, and every list drops taken ones from its front when it is asked. A block
//! leaves each list once: O(replicas) per block in all, whatever the number of nodes.

use std::ops::Range;

use meed_workload::generate::Stream;

/// Racks of the nodes, prepared for draws.
#[derive(Clone, Debug)]
pub(super) struct Racks {
    /// Rack of each node.
    of: Vec<u32>,
    /// Nodes in order of rack, and where each rack begins there.
    by_rack: Vec<u32>,
    starts: Vec<u32>,
}

impl Racks {
    pub(super) fn new(of: Vec<u32>) -> Racks {
        let (by_rack, starts) = grouped(of.iter().copied().zip(0..), None);
        Racks { of, by_rack, starts }
    }

    pub(super) fn rack(&self, node: usize) -> u32 {
        self.of[node]
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of nodes of a rack.
    pub(super) fn size(&self, rack: u32) -> usize {
        self.range(rack).len()
    }

    /// Of `bytes` that come from all nodes alike, what comes to `node` from other racks; rounded
    /// up.
    pub(super) fn share_of_other_racks(&self, node: usize, bytes: u64) -> u64 {
        let (all, here) = (self.of.len() as u128, self.size(self.rack(node)) as u128);
        let part = (u128::from(bytes) * (all - here)).div_ceil(all);
        u64::try_from(part).expect("a part of it")
    }

    fn range(&self, rack: u32) -> Range<usize> {
        self.starts[rack as usize] as usize..self.starts[rack as usize + 1] as usize
    }

    /// The nodes that hold one block's replicas, into `out`; the first of them, where it is given.
    pub(super) fn draw(
        &self,
        first: Option<u32>,
        replicas: usize,
        stream: &mut Stream,
        out: &mut Vec<u32>,
    ) {
        out.clear();
        out.extend(first);
        let nodes = self.of.len();
        for replica in out.len()..replicas {
            let among = match (replica, self.count()) {
                (_, 0 | 1) | (0, _) => None,
                (1, _) => Some((self.rack(out[0] as usize), false)),
                (2, _) => Some((self.rack(out[1] as usize), true)),
                _ => None,
            };
            // Drawn by number among the nodes allowed, the chosen ones left out.
            let allowed = |node: u32| {
                !out.contains(&node)
                    && among
                        .is_none_or(|(rack, inside)| (self.rack(node as usize) == rack) == inside)
            };
            let chosen_inside = out.iter().filter(|&&node| match among {
                Some((rack, inside)) => (self.rack(node as usize) == rack) == inside,
                None => true,
            });
            let candidates = match among {
                None => nodes,
                Some((rack, true)) => self.size(rack),
                Some((rack, false)) => nodes - self.size(rack),
            } - chosen_inside.count();
            if candidates == 0 {
                // The rack of the second has no other node: anywhere.
                let rest = out.clone();
                out.push(self.pick(|node| !rest.contains(&node), nodes - rest.len(), None, stream));
                continue;
            }
            let node = self.pick(allowed, candidates, among, stream);
            out.push(node);
        }
    }

    /// One of the `candidates` nodes for which `allowed`, each as likely. Few draws fail: most
    /// nodes are allowed, and a rack is drawn from its own range.
    fn pick(
        &self,
        allowed: impl Fn(u32) -> bool,
        candidates: usize,
        among: Option<(u32, bool)>,
        stream: &mut Stream,
    ) -> u32 {
        let range = match among {
            Some((rack, true)) => self.range(rack),
            _ => 0..self.by_rack.len(),
        };
        if 2 * candidates >= range.len() {
            loop {
                let node = self.by_rack[range.start + stream.below(range.len() as u64) as usize];
                if allowed(node) {
                    return node;
                }
            }
        }
        let number = stream.below(candidates as u64) as usize;
        let mut left = self.by_rack[range].iter().copied().filter(|&node| allowed(node));
        left.nth(number).expect("as many are allowed as were counted")
    }
}

/// How near a map is to its block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Distance {
    /// On the same node.
    Local,
    /// On another node of the rack.
    Rack,
    /// In another rack; with one rack, on another node.
    Remote,
}

/// A block that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    pub(super) block: u32,
    pub(super) distance: Distance,
    /// The node that it is read from.
    pub(super) holder: u32,
}

/// Lists of blocks, one per holder, with a place up to which all are taken.
struct Lists {
    blocks: Vec<u32>,
    starts: Vec<u32>,
    heads: Vec<u32>,
}

impl Lists {
    fn new(blocks_by_holder: (Vec<u32>, Vec<u32>)) -> Lists {
        let (blocks, starts) = blocks_by_holder;
        let heads = starts[..starts.len() - 1].to_vec();
        Lists { blocks, starts, heads }
    }

    /// The first block of `holder` that is not taken.
    fn first(&mut self, holder: usize, taken: &[bool]) -> Option<u32> {
        let (head, end) = (&mut self.heads[holder], self.starts[holder + 1]);
        while *head < end {
            let block = self.blocks[*head as usize];
            if !taken[block as usize] {
                return Some(block);
            }
            *head += 1;
        }
        None
    }
}

/// The blocks of one job's input.
pub(super) struct Blocks {
    replicas: usize,
    /// Nodes of each block, `replicas` each.
    holders: Vec<u32>,
    taken: Vec<bool>,
    by_node: Lists,
    /// Empty with one rack, where it would be the order itself.
    by_rack: Option<Lists>,
    /// Blocks before this one are taken.
    head: u32,
    left: u32,
}

impl Blocks {
    pub(super) fn place(count: u32, replicas: u32, racks: &Racks, stream: &mut Stream) -> Blocks {
        let replicas = replicas as usize;
        let (nodes, mut drawn) = (racks.of.len(), Vec::new());
        let mut holders = Vec::with_capacity(count as usize * replicas);
        for _ in 0..count {
            racks.draw(None, replicas, stream, &mut drawn);
            holders.extend_from_slice(&drawn);
        }
        Blocks::with_holders(holders, replicas, nodes, racks)
    }

    fn with_holders(holders: Vec<u32>, replicas: usize, nodes: usize, racks: &Racks) -> Blocks {
        let count = (holders.len() / replicas) as u32;
        let pairs = || holders.iter().zip(0u32..).map(|(&node, i)| (node, i / replicas as u32));
        let by_node = Lists::new(grouped(pairs(), Some(nodes)));
        let by_rack = (racks.count() > 1).then(|| {
            let mut pairs: Vec<(u32, u32)> =
                pairs().map(|(node, block)| (block, racks.rack(node as usize))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let by_rack = pairs.into_iter().map(|(block, rack)| (rack, block));
            Lists::new(grouped(by_rack, Some(racks.count())))
        });
        Blocks {
            replicas,
            holders,
            taken: vec![false; count as usize],
            by_node,
            by_rack,
            head: 0,
            left: count,
        }
    }

    /// Blocks that wait.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// Whether a waiting block lies on `node`.
    #[inline]
    pub(super) fn has_local(&mut self, node: usize) -> bool {
        self.by_node.first(node, &self.taken).is_some()
    }

    /// The block that a map on `node` would take: the nearest, in order of number among equals.
    pub(super) fn nearest(&mut self, node: usize, racks: &Racks) -> Option<Taken> {
        if let Some(block) = self.by_node.first(node, &self.taken) {
            return Some(Taken { block, distance: Distance::Local, holder: node as u32 });
        }
        let in_rack = self
            .by_rack
            .as_mut()
            .and_then(|lists| lists.first(racks.rack(node) as usize, &self.taken));
        let block = in_rack.or_else(|| self.first())?;
        Some(self.read_from(block, node, racks))
    }

    /// The next block in order of number, wherever it lies.
    pub(super) fn next(&mut self, node: usize, racks: &Racks) -> Option<Taken> {
        let block = self.first()?;
        Some(self.read_from(block, node, racks))
    }

    fn first(&mut self) -> Option<u32> {
        while *self.taken.get(self.head as usize)? {
            self.head += 1;
        }
        Some(self.head)
    }

    /// How a map on `node` would read `block`: from itself, else from its rack, else from anywhere.
    /// Several equally near holders take turns by the number of the block.
    pub(super) fn read_from(&self, block: u32, node: usize, racks: &Racks) -> Taken {
        let holders = &self.holders[block as usize * self.replicas..][..self.replicas];
        if holders.contains(&(node as u32)) {
            return Taken { block, distance: Distance::Local, holder: node as u32 };
        }
        let near =
            |holder: &&u32| racks.count() > 1 && racks.rack(**holder as usize) == racks.rack(node);
        let in_rack = holders.iter().filter(near).count();
        let (distance, holder) = match in_rack {
            0 => (Distance::Remote, holders[block as usize % self.replicas]),
            n => {
                let turn = block as usize % n;
                (
                    Distance::Rack,
                    *holders.iter().filter(near).nth(turn).expect("below their number"),
                )
            }
        };
        Taken { block, distance, holder }
    }

    /// The block waits no more.
    pub(super) fn take(&mut self, block: u32) {
        assert!(!std::mem::replace(&mut self.taken[block as usize], true), "a block is taken once");
        self.left -= 1;
    }
}

/// Values in order of key (stable), and where each key begins; keys are 0 to `keys` - 1, or to the
/// largest one.
fn grouped(
    pairs: impl Iterator<Item = (u32, u32)> + Clone,
    keys: Option<usize>,
) -> (Vec<u32>, Vec<u32>) {
    let keys =
        keys.unwrap_or_else(|| pairs.clone().map(|(key, _)| key as usize + 1).max().unwrap_or(0));
    let mut starts = vec![0u32; keys + 1];
    pairs.clone().for_each(|(key, _)| starts[key as usize + 1] += 1);
    for key in 0..keys {
        starts[key + 1] += starts[key];
    }
    let mut next = starts.clone();
    let mut values = vec![0; starts[keys] as usize];
    for (key, value) in pairs {
        let place = &mut next[key as usize];
        values[*place as usize] = value;
        *place += 1;
    }
    (values, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn racks(of: &[u32]) -> Racks {
        Racks::new(of.to_vec())
    }

    #[test]
    fn racks_follow_hadoops_rule() {
        let racks = racks(&[0, 1, 0, 2, 1, 2, 0, 3]);
        let mut stream = Stream::new(1, "rule");
        let mut drawn = Vec::new();
        let mut firsts = [0; 8];
        for _ in 0..4000 {
            racks.draw(None, 4, &mut stream, &mut drawn);
            let rack = |i: usize| racks.rack(drawn[i] as usize);
            assert_ne!(rack(0), rack(1));
            // Rack 3 has a single node.
            assert!(rack(2) == rack(1) || rack(1) == 3, "{drawn:?}");
            let mut distinct = drawn.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 4);
            firsts[drawn[0] as usize] += 1;
        }
        assert!(firsts.iter().all(|&n| (400..600).contains(&n)), "{firsts:?}");
    }

    #[test]
    fn one_rack_is_uniform_and_as_many_replicas_as_nodes_are_possible() {
        let racks = racks(&[0; 5]);
        let mut stream = Stream::new(2, "uniform");
        let (mut drawn, mut counts) = (Vec::new(), [0; 5]);
        for _ in 0..5000 {
            racks.draw(None, 2, &mut stream, &mut drawn);
            drawn.iter().for_each(|&node| counts[node as usize] += 1);
        }
        assert!(counts.iter().all(|&n| (1850..2150).contains(&n)), "{counts:?}");
        racks.draw(None, 5, &mut stream, &mut drawn);
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 1, 2, 3, 4]);
    }

    proptest! {
        /// Lazy lists give what a scan over all blocks gives.
        #[test]
        fn lists_give_what_a_scan_gives(seed in any::<u64>(), rack_count in 1u32..4) {
            let mut stream = Stream::new(seed, "lists");
            let nodes = 6 + stream.below(5) as usize;
            let racks = racks(&(0..nodes as u32).map(|node| node % rack_count).collect::<Vec<_>>());
            let replicas = 1 + stream.below(3) as u32;
            let mut blocks = Blocks::place(30, replicas, &racks, &mut stream);
            let holders: Vec<Vec<u32>> =
                blocks.holders.chunks(replicas as usize).map(<[u32]>::to_vec).collect();
            let mut left: Vec<u32> = (0..30).collect();
            while !left.is_empty() {
                let node = stream.below(nodes as u64) as usize;
                let distance = |block: u32| {
                    let holders = &holders[block as usize];
                    if holders.contains(&(node as u32)) {
                        Distance::Local
                    } else if rack_count > 1 && holders.iter()
                        .any(|&h| racks.rack(h as usize) == racks.rack(node)) {
                        Distance::Rack
                    } else {
                        Distance::Remote
                    }
                };
                let nearest = left.iter().copied().min_by_key(|&block| (distance(block), block));
                let found = blocks.nearest(node, &racks);
                prop_assert_eq!(found.map(|taken| taken.block), nearest);
                prop_assert_eq!(blocks.has_local(node), left.iter()
                    .any(|&b| distance(b) == Distance::Local));
                let next = blocks.next(node, &racks);
                prop_assert_eq!(next.map(|taken| taken.block), left.first().copied());
                let taken = if stream.below(2) == 0 { found } else { next };
                let taken = taken.expect("some are left");
                prop_assert_eq!(taken.distance, distance(taken.block));
                prop_assert!(holders[taken.block as usize].contains(&taken.holder));
                blocks.take(taken.block);
                left.retain(|&block| block != taken.block);
                prop_assert_eq!(blocks.left() as usize, left.len());
            }
            prop_assert_eq!(blocks.nearest(0, &racks), None);
        }
    }
}
