//! What jobs of a type do per byte of their input.
//!
//! The paper (JAS, TCC'18, Sec. 4.1) names eight types and no work per byte: **the numbers of
//! [`KINDS`] are our assumptions**. They are chosen from what each program does and how such
//! programs are commonly ranked (CPU-bound or I/O-bound, heavy or light shuffle), in round numbers,
//! for Hadoop 0.20 on one core of about 2010; they are not tuned towards the paper's results.
//! Scenarios can change each of them (`[[mapreduce.kind]]`).

use std::borrow::Cow;

/// Bytes in a megabyte.
const MB: u128 = 1_000_000;

/// One: ratios of bytes are counted in thousandths.
pub const RATIO_ONE: u32 = 1000;

/// How many reduces a job has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduces {
    /// So many; 0 is a job without a reduce phase.
    Count(u32),
    /// As many as the cluster has reduce slots.
    Slots,
}

/// A type of job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapReduceKind {
    /// What scenarios call it.
    pub name: Cow<'static, str>,
    /// Bytes that a map reads, per byte of its block, in thousandths.
    pub map_read: u32,
    /// Microseconds of the reference core per MB of the block.
    pub map_cpu_micros_per_mb: u64,
    /// Bytes that a map writes to its own disk, per byte of its block, in thousandths.
    pub map_output: u32,
    /// Bytes that reach the reduces, per byte of input, in thousandths.
    pub shuffle: u32,
    /// Microseconds of the reference core per MB shuffled.
    pub reduce_cpu_micros_per_mb: u64,
    /// Bytes that the reduces write, per byte of input, in thousandths.
    pub output: u32,
    /// How many reduces.
    pub reduces: Reduces,
}

const fn kind(
    name: &'static str,
    map: [u32; 3],
    shuffle: u32,
    reduce: [u32; 2],
    reduces: Reduces,
) -> MapReduceKind {
    let [map_read, map_cpu_ms, map_output] = map;
    let [reduce_cpu_ms, output] = reduce;
    MapReduceKind {
        name: Cow::Borrowed(name),
        map_read: map_read * (RATIO_ONE / 100),
        map_cpu_micros_per_mb: map_cpu_ms as u64 * 1000,
        map_output: map_output * (RATIO_ONE / 100),
        shuffle: shuffle * (RATIO_ONE / 100),
        reduce_cpu_micros_per_mb: reduce_cpu_ms as u64 * 1000,
        output: output * (RATIO_ONE / 100),
        reduces,
    }
}

/// The eight types of the paper. Columns: what a map reads (%), its CPU (ms per MB), what it writes
/// (%); what is shuffled (%); the reduces' CPU (ms per MB shuffled), what they write (% of the
/// input); how many.
pub const KINDS: &[MapReduceKind] = &[
    // Draws points and counts those within a circle: no input to speak of, its "data size" only
    // says how many maps there are. 400 ms per nominal MB makes a 64 MiB map 27 s of one core. One
    // reduce adds up a few numbers.
    kind("pi", [0, 400, 0], 0, [0, 0], Reduces::Count(1)),
    // Splits text into words and makes an object of each: some 7 MB/s and core in Java. The
    // combiner leaves few distinct words of each block.
    kind("wordcount", [100, 150, 10], 10, [50, 5], Reduces::Slots),
    // Sorts: maps pass records on (copying and the sort of the buffer cost some 30 ms/MB), and
    // every byte is shuffled, merged and written.
    kind("terasort", [100, 30, 100], 100, [20, 100], Reduces::Slots),
    // Matches an expression: scans at some 50 MB/s and core, and few lines match. One reduce.
    kind("grep", [100, 20, 0], 0, [0, 0], Reduces::Count(1)),
    // Splits text as word count does, but each word keeps its documents: what maps write shrinks
    // much less.
    kind("inverted-index", [100, 130, 40], 40, [40, 30], Reduces::Slots),
    // Sorts by digits: as terasort, with somewhat more to do per record.
    kind("radix-sort", [100, 40, 100], 100, [30, 100], Reduces::Slots),
    // Joins a table of associations with itself: parses short records, and passes about half of the
    // bytes on.
    kind("self-join", [100, 40, 50], 50, [40, 30], Reduces::Slots),
    // Distances of every point to every centre, one iteration: mostly arithmetic. The combiner
    // leaves sums per centre.
    kind("k-means", [100, 250, 1], 1, [50, 1], Reduces::Slots),
];

/// `bytes` x `thousandths`, rounded up.
fn part(bytes: u64, thousandths: u32) -> u64 {
    let product = u128::from(bytes) * u128::from(thousandths);
    u64::try_from(product.div_ceil(u128::from(RATIO_ONE))).expect("sizes and ratios are bounded")
}

fn cpu(bytes: u64, micros_per_mb: u64) -> u64 {
    let product = u128::from(bytes) * u128::from(micros_per_mb);
    u64::try_from(product.div_ceil(MB)).unwrap_or(u64::MAX)
}

/// What one map does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct MapWork {
    pub(super) read_bytes: u64,
    pub(super) cpu_micros: u64,
    pub(super) write_bytes: u64,
    pub(super) shuffle_bytes: u64,
}

/// What one reduce does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct ReduceWork {
    pub(super) shuffle_bytes: u64,
    /// Written to the disk and read again, to merge what was shuffled.
    pub(super) merge_bytes: u64,
    pub(super) cpu_micros: u64,
    pub(super) write_bytes: u64,
}

impl ReduceWork {
    /// The same where so much of what is merged stays in memory until it is read.
    pub(super) fn with_cache(self, cache: Option<u64>) -> ReduceWork {
        let Some(cache) = cache else { return self };
        let read = self.shuffle_bytes.saturating_sub(cache);
        ReduceWork { merge_bytes: self.shuffle_bytes.saturating_add(read), ..self }
    }
}

impl MapReduceKind {
    /// A map over a block of `bytes`.
    pub(super) fn map(&self, bytes: u64) -> MapWork {
        MapWork {
            read_bytes: part(bytes, self.map_read),
            cpu_micros: cpu(bytes, self.map_cpu_micros_per_mb),
            write_bytes: part(bytes, self.map_output),
            shuffle_bytes: part(bytes, self.shuffle),
        }
    }

    /// Each of `reduces` equal reduces over an input of `bytes`.
    pub(super) fn reduce(&self, bytes: u64, reduces: u32, copies: u32) -> ReduceWork {
        let each = |bytes: u64| bytes.div_ceil(u64::from(reduces.max(1)));
        let shuffle_bytes = each(part(bytes, self.shuffle));
        ReduceWork {
            shuffle_bytes,
            merge_bytes: shuffle_bytes.saturating_mul(2),
            cpu_micros: cpu(shuffle_bytes, self.reduce_cpu_micros_per_mb),
            write_bytes: each(part(bytes, self.output)).saturating_mul(u64::from(copies)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_follows_the_table() {
        let find = |name: &str| KINDS.iter().find(|kind| kind.name == name).expect("a row");
        let block = 64 << 20;
        let map = find("terasort").map(block);
        assert_eq!((map.read_bytes, map.write_bytes, map.cpu_micros), (block, block, 2_013_266));
        let reduce = find("terasort").reduce(100_000_000_000, 99, 1);
        assert_eq!(reduce.shuffle_bytes, 1_010_101_011);
        // Written and read; with memory only what it cannot hold is read.
        assert_eq!(reduce.merge_bytes, 2_020_202_022);
        assert_eq!(reduce.with_cache(None), reduce);
        assert_eq!(reduce.with_cache(Some(1_010_101_000)).merge_bytes, 1_010_101_022);
        assert_eq!(reduce.with_cache(Some(u64::MAX)).merge_bytes, 1_010_101_011);
        assert_eq!(find("pi").map(block).read_bytes, 0);
        assert_eq!(find("wordcount").map(7).write_bytes, 1);
        assert_eq!(KINDS.len(), 8);
    }
}
