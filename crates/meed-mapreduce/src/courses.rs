//! What the shuffle and the output of a reduce are, where they are modelled as Hadoop does them.
//!
//! > shuffle (`parallel_copies`): from each node on which maps of the job ran, its part of their
//! > outputs: read from that node's disk, over the link into the rack, over the link into the
//! > reduce's node; from so many nodes at once
//!
//! > output (`output_replicas`): block by block, each on the own disk and at the same time over the
//! > links into the other replicas' nodes, and on their disks
//!
//! A reduce begins with the node after its own, so that not all ask the same first (Hadoop shuffles
//! the nodes). What lies on its own node crosses no link. A block's replicas: the first on the
//! reduce's node, the others as those of any block ([`super::blocks`]). All parts of the pipeline
//! are independent of each other and the block is written when the slowest is: packets go on at
//! once. Cost: O(nodes) for a shuffle, O(blocks x replicas) for an output.

use meed_workload::generate::Stream;

use super::blocks::Racks;
use super::flows::{Chain, Round};
use super::machines::Place;
use super::tasks::Step;
use super::world::MapReduceWorld;

impl MapReduceWorld<'_> {
    /// What task `number` does for this step.
    pub(super) fn course(&mut self, number: u32, step: Step, bytes: u64) -> Vec<Round> {
        let task = self.tasks.get(number);
        let (job, of) = (&self.jobs[task.job as usize], (task.node as usize, bytes));
        let (cluster, options) = (&self.cluster, &self.cluster.as_hadoop);
        let racks = (&self.racks, cluster.uplink_bytes_per_s.is_some());
        let (job_number, task_number) = (task.job, task.number);
        match step {
            Step::Replicate => {
                let name = &self.requests[job.request].jobs[job.number].name;
                let mut stream =
                    Stream::new(self.seed, &format!("output of {name}, task {}", task.number));
                let replicas = options.output_replicas.unwrap_or(1);
                let rounds = pipeline(of, (cluster.block_bytes, replicas), racks, &mut stream);
                if let Some(caches) = &mut self.caches {
                    caches.written(job_number, task_number, &rounds);
                }
                rounds
            }
            _ => {
                let width = options.parallel_copies.unwrap_or(1);
                let mut rounds = fetches(of, &job.made, racks, width);
                if let Some(caches) = &mut self.caches {
                    caches.fetched(job_number, &mut rounds);
                }
                rounds
            }
        }
    }
}

/// The shuffle of a reduce on `node` that gets `bytes`, in the parts in which nodes have `made`
/// them.
pub(super) fn fetches(
    (node, bytes): (usize, u64),
    made: &[u64],
    (racks, uplinks): (&Racks, bool),
    width: u32,
) -> Vec<Round> {
    let all: u128 = made.iter().map(|&made| u128::from(made)).sum();
    // What comes from the first n, so that the parts add up.
    let mut before: u128 = 0;
    let up_to = |sum: u128| (u128::from(bytes) * sum).checked_div(all).unwrap_or(0) as u64;
    let mut chain = |from: usize| -> Chain {
        let first = up_to(before);
        before += u128::from(made[from]);
        let part = up_to(before) - first;
        let over = |crosses: bool| if crosses { part } else { 0 };
        let far = uplinks && racks.rack(from) != racks.rack(node);
        [
            (Place::Disk(from), part),
            (Place::Uplink(racks.rack(node)), over(far)),
            (Place::Network(node), over(from != node)),
        ]
    };
    let order = (node + 1..made.len()).chain(0..=node);
    let chains = order.map(&mut chain).filter(|chain| chain[0].1 > 0).collect();
    vec![Round { chains, width: width as usize }]
}

/// The output of a reduce on `node`: `bytes` in blocks of `block`.
pub(super) fn pipeline(
    (node, bytes): (usize, u64),
    (block, replicas): (u64, u32),
    (racks, uplinks): (&Racks, bool),
    stream: &mut Stream,
) -> Vec<Round> {
    let mut holders = Vec::new();
    let blocks = (0..bytes.div_ceil(block)).map(|number| block.min(bytes - number * block));
    let round = |part: u64| {
        racks.draw(Some(node as u32), replicas as usize, stream, &mut holders);
        let mut chains: Vec<Chain> = Vec::new();
        let mut from = node;
        for to in holders.iter().map(|&holder| holder as usize) {
            let far = uplinks && racks.rack(from) != racks.rack(to);
            let over = |crosses: bool| if crosses { part } else { 0 };
            let uplink = (Place::Uplink(racks.rack(to)), over(far));
            let works = [(Place::Disk(to), part), (Place::Network(to), over(to != node)), uplink];
            let nothing = (Place::Disk(to), 0);
            let used = works.into_iter().filter(|(_, work)| *work > 0);
            chains.extend(used.map(|work| [work, nothing, nothing]));
            from = to;
        }
        Round { width: chains.len().max(1), chains }
    };
    blocks.map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(round: &Round) -> Vec<(Place, u64)> {
        round.chains.iter().flatten().copied().filter(|(_, work)| *work > 0).collect()
    }

    #[test]
    fn a_shuffle_comes_from_where_maps_ran_and_adds_up() {
        let racks = Racks::new(vec![0, 0, 1]);
        // 10 bytes of parts 1 : 0 : 2, on node 2; nothing lies on node 1.
        let rounds = fetches((2, 10), &[1, 0, 2], (&racks, true), 5);
        let expected = [
            (Place::Disk(0), 3),
            (Place::Uplink(1), 3),
            (Place::Network(2), 3),
            (Place::Disk(2), 7),
        ];
        assert_eq!((works(&rounds[0]), rounds[0].width), (expected.to_vec(), 5));
        // Where links into racks are not limited nothing crosses one.
        let rounds = fetches((2, 10), &[1, 0, 2], (&racks, false), 1);
        assert_eq!(works(&rounds[0]).len(), 3);
        // The node after the own comes first.
        let rounds = fetches((0, 9), &[1, 1, 1], (&racks, false), 1);
        let disks = rounds[0].chains.iter().map(|chain| chain[0].0);
        assert!(disks.eq([Place::Disk(1), Place::Disk(2), Place::Disk(0)]));
        assert!(fetches((0, 9), &[0, 0, 0], (&racks, false), 1)[0].chains.is_empty());
        for bytes in [0, 1, 7, 1 << 60] {
            let rounds = fetches((1, bytes), &[5, 1 << 60, 3], (&racks, true), 2);
            let sum: u64 = rounds[0].chains.iter().map(|chain| chain[0].1).sum();
            assert_eq!(sum, bytes);
        }
    }

    #[test]
    fn a_block_is_on_its_writer_and_on_others_as_hadoop_places_them() {
        let racks = Racks::new(vec![0, 0, 1, 1]);
        let mut stream = Stream::new(1, "output");
        let rounds = pipeline((1, 25), (10, 3), (&racks, true), &mut stream);
        assert_eq!(rounds.len(), 3);
        for (round, part) in rounds.iter().zip([10, 10, 5]) {
            let works = works(round);
            assert!(works.iter().all(|(_, work)| *work == part) && round.width == works.len());
            let mut disks: Vec<usize> = Vec::new();
            let mut links: Vec<usize> = Vec::new();
            for (place, _) in works {
                match place {
                    Place::Disk(node) => disks.push(node),
                    Place::Network(node) => links.push(node),
                    // The second is in the other rack, the third beside it.
                    place => assert_eq!(place, Place::Uplink(1)),
                }
            }
            disks.sort_unstable();
            links.sort_unstable();
            assert_eq!((disks, links), (vec![1, 2, 3], vec![2, 3]));
        }
        assert!(pipeline((1, 0), (10, 3), (&racks, true), &mut stream).is_empty());
        let alone = pipeline((1, 5), (10, 1), (&racks, true), &mut stream);
        assert_eq!(works(&alone[0]), [(Place::Disk(1), 5)]);
    }
}
