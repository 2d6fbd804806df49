//! A page cache: what of the files on a disk lies in memory.
//!
//! > from the disk = bytes read - what of the file is kept
//!
//! What is read or written is kept, as far as there is room, and the file that was used longest ago
//! loses bytes first. A file counts as one: a block of input, all outputs of a job's maps on one
//! node, what one reduce merges, what it writes. Writing takes as long as without a cache: when a
//! kernel would write back is not modelled. Which cache a node uses: [`super::caches`].
//!
//! Invariant: what is kept in all is at most the capacity. Cost: O(log files) for each use, and as
//! much for each file that is displaced.

use std::collections::BTreeMap;

/// A file, on a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct File {
    /// Number of its job.
    pub(super) job: u32,
    pub(super) what: What,
    pub(super) node: u32,
}

/// What a file is. Those that are deleted with their job come before the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum What {
    /// What maps of the job have written on the node.
    Spills,
    /// What the reduce of this number merges.
    Merge(u32),
    /// The block of this number.
    Block(u32),
    /// What the reduce of this number has written.
    Output(u32),
}

/// A file that was used.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Key in `order` while something is kept.
    used: u64,
    bytes: u64,
    /// Written so far.
    size: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Cache {
    capacity: u64,
    bytes: u64,
    files: BTreeMap<File, Kept>,
    /// Files of which something is kept, the one that was used longest ago first.
    order: BTreeMap<u64, File>,
    /// Uses so far.
    uses: u64,
}

impl Cache {
    pub(super) fn new(capacity: u64) -> Cache {
        Cache { capacity, bytes: 0, files: BTreeMap::new(), order: BTreeMap::new(), uses: 0 }
    }

    /// The file of `bytes` is read from end to end: what comes from the disk.
    pub(super) fn read(&mut self, file: File, bytes: u64) -> u64 {
        let kept = self.files.get(&file).map_or(0, |kept| kept.bytes.min(bytes));
        self.keep(file, bytes, bytes);
        bytes - kept
    }

    /// `bytes` are added to the file.
    pub(super) fn write(&mut self, file: File, bytes: u64) {
        let before = self.files.get(&file).map_or((0, 0), |kept| (kept.bytes, kept.size));
        self.keep(file, before.0.saturating_add(bytes), before.1.saturating_add(bytes));
    }

    /// A part of what was written is read, as everybody reads another: what comes from the disk,
    /// rounded up. It is not kept, for it is read once.
    ///
    /// > part x (1 - kept / written)
    pub(super) fn read_part(&mut self, file: File, part: u64) -> u64 {
        let Some(&Kept { bytes, size, .. }) = self.files.get(&file) else { return part };
        self.keep(file, bytes, size);
        let kept = u128::from(part) * u128::from(bytes);
        part - kept.checked_div(u128::from(size)).unwrap_or(0) as u64
    }

    /// The file is deleted.
    pub(super) fn delete(&mut self, file: File) {
        if let Some(kept) = self.files.remove(&file) {
            self.order.remove(&kept.used);
            self.bytes -= kept.bytes;
        }
    }

    /// What a job leaves to nobody is deleted.
    pub(super) fn job_ended(&mut self, job: u32) {
        let first = File { job, what: What::Spills, node: 0 };
        let last = File { job, what: What::Block(0), node: 0 };
        let files: Vec<File> = self.files.range(first..last).map(|(file, _)| *file).collect();
        files.into_iter().for_each(|file| self.delete(file));
    }

    /// Of the file `bytes` are kept, and it is the last that was used.
    fn keep(&mut self, file: File, bytes: u64, size: u64) {
        self.delete(file);
        self.uses += 1;
        let bytes = bytes.min(self.capacity);
        self.make_room(bytes);
        if bytes > 0 {
            self.order.insert(self.uses, file);
            self.bytes += bytes;
        }
        if bytes > 0 || file.what == What::Spills {
            self.files.insert(file, Kept { used: self.uses, bytes, size });
        }
    }

    /// Files lose bytes until so many fit.
    fn make_room(&mut self, bytes: u64) {
        while self.bytes > self.capacity - bytes {
            let over = self.bytes - (self.capacity - bytes);
            let Some((&used, &file)) = self.order.first_key_value() else { return };
            let Some(kept) = self.files.get_mut(&file) else { return };
            let lost = over.min(kept.bytes);
            kept.bytes -= lost;
            self.bytes -= lost;
            if kept.bytes == 0 {
                self.order.remove(&used);
                // How much there is of it is asked again.
                if file.what != What::Spills {
                    self.files.remove(&file);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;
    use proptest::prelude::*;

    fn block(number: u32) -> File {
        File { job: 0, what: What::Block(number), node: 0 }
    }

    fn spills(job: u32) -> File {
        File { job, what: What::Spills, node: 0 }
    }

    #[test]
    fn what_was_used_longest_ago_is_lost_first() {
        let mut cache = Cache::new(100);
        assert_eq!((cache.read(block(0), 60), cache.read(block(1), 40)), (60, 40));
        assert_eq!((cache.read(block(0), 60), cache.read(block(1), 40)), (0, 0));
        // 30 more: block 0 loses them, and 70 more of what is left.
        cache.write(spills(1), 30);
        assert_eq!(cache.read(block(0), 60), 30);
        // That took them from block 1.
        assert_eq!(cache.read(block(1), 40), 30);
        // Too large for all of it to be kept.
        assert_eq!((cache.read(block(2), 250), cache.read(block(2), 250)), (250, 150));
        assert_eq!(cache.read(block(0), 60), 60);
    }

    #[test]
    fn of_a_part_as_much_is_kept_as_of_the_whole() {
        let mut cache = Cache::new(100);
        cache.write(spills(1), 50);
        assert_eq!((cache.read_part(spills(1), 7), cache.read_part(spills(2), 7)), (0, 7));
        // 150 were written, of which 100 are kept: two thirds of 7, rounded down, are there.
        cache.write(spills(1), 100);
        assert_eq!(cache.read_part(spills(1), 7), 3);
        // It is remembered how much was written where nothing is kept.
        cache.read(block(0), 100);
        assert_eq!(cache.read_part(spills(1), 7), 7);
        cache.write(spills(1), 50);
        assert_eq!(cache.read_part(spills(1), 8), 6);
        cache.job_ended(1);
        assert_eq!((cache.read_part(spills(1), 8), cache.read(block(0), 100)), (8, 50));
        let mut none = Cache::new(0);
        none.write(spills(1), 5);
        assert_eq!((none.read_part(spills(1), 5), none.read(block(0), 5)), (5, 5));
        assert_eq!(none.read(block(0), 5), 5);
    }

    /// Files in order of use, each with what is kept and what was written; bytes are lost one by
    /// one.
    struct Twin {
        capacity: u64,
        files: Vec<(File, u64, u64)>,
    }

    impl Twin {
        fn take(&mut self, file: File) -> (u64, u64) {
            let at = self.files.iter().position(|(other, ..)| *other == file);
            at.map_or((0, 0), |at| {
                let (_, bytes, size) = self.files.remove(at);
                (bytes, size)
            })
        }

        fn put(&mut self, file: File, bytes: u64, size: u64) {
            self.files.push((file, 0, size));
            let last = self.files.len() - 1;
            for _ in 0..bytes.min(self.capacity) {
                if self.files.iter().map(|(_, bytes, _)| bytes).sum::<u64>() == self.capacity {
                    let oldest = self.files[..last].iter_mut().find(|(_, bytes, _)| *bytes > 0);
                    oldest.expect("others fill it").1 -= 1;
                }
                self.files[last].1 += 1;
            }
        }

        fn read(&mut self, file: File, bytes: u64) -> u64 {
            let (kept, _) = self.take(file);
            self.put(file, bytes, bytes);
            bytes.saturating_sub(kept)
        }

        fn write(&mut self, file: File, more: u64) {
            let (bytes, size) = self.take(file);
            self.put(file, bytes + more, size + more);
        }

        fn read_part(&mut self, file: File, part: u64) -> u64 {
            let (bytes, size) = self.take(file);
            self.put(file, bytes, size);
            if size == 0 {
                return part;
            }
            // Bytes of the part, one by one.
            part - (0..part).filter(|at| (at + 1) * size <= part * bytes).count() as u64
        }

        fn job_ended(&mut self, job: u32) {
            let own = |what| matches!(what, What::Spills | What::Merge(_));
            self.files.retain(|(file, ..)| file.job != job || !own(file.what));
        }
    }

    proptest! {
        #[test]
        fn a_cache_keeps_what_the_twin_keeps(seed in any::<u64>()) {
            let mut stream = Stream::new(seed, "pages");
            let capacity = stream.below(60);
            let (mut cache, mut twin) = (Cache::new(capacity), Twin { capacity, files: vec![] });
            for _ in 0..80 {
                let what = match stream.below(4) {
                    0 => What::Spills,
                    1 => What::Merge(stream.below(2) as u32),
                    2 => What::Block(stream.below(3) as u32),
                    _ => What::Output(stream.below(2) as u32),
                };
                let (job, node) = (stream.below(3) as u32, stream.below(2) as u32);
                let (file, bytes) = (File { job, what, node }, stream.below(30));
                match stream.below(6) {
                    0 => { cache.job_ended(job); twin.job_ended(job); }
                    1 => { cache.delete(file); twin.take(file); }
                    2 | 3 => { cache.write(file, bytes); twin.write(file, bytes); }
                    _ if what == What::Spills => {
                        prop_assert_eq!(cache.read_part(file, bytes), twin.read_part(file, bytes));
                    }
                    _ => prop_assert_eq!(cache.read(file, bytes), twin.read(file, bytes)),
                }
                prop_assert!(cache.bytes <= capacity);
                let kept: u64 = twin.files.iter().map(|(_, bytes, _)| bytes).sum();
                prop_assert_eq!(cache.bytes, kept);
            }
        }
    }
}
