//! Lines of memory that will be needed are asked for some time before.
//!
//! A row far from what was read last takes as long to come as some hundred instructions. A prefetch
//! asks for it and waits for nothing; whoever knows what comes next asks early enough. What lies
//! behind a row is asked for when the row is there.
//!
//! Invariant: nothing is read and nothing changes. Cost: one instruction, and none where the
//! machine has no such instruction.

use prefetch_index::prefetch_index;

/// Has the line of memory brought in which `row` begins.
///
/// ```
/// let rows = vec![[0u64; 8]; 1000];
/// meed::memory::expect(&rows[700]);
/// assert_eq!(rows[700], [0; 8]);
/// ```
#[inline(always)]
pub fn expect<T>(row: &T) {
    prefetch_index(std::slice::from_ref(row), 0);
}

/// The same of the row at `index`, which need not be there.
///
/// ```
/// let rows = vec![[0u64; 8]; 1000];
/// meed::memory::expect_at(&rows, 700);
/// meed::memory::expect_at(&rows, 1000);
/// ```
#[inline(always)]
pub fn expect_at<T>(rows: &[T], index: usize) {
    prefetch_index(rows, index);
}
