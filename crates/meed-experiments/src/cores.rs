//! Work spread over all cores.
//!
//! Rayon's chains of iterators are compiled anew for each use of them, and what is spread here are
//! whole simulations: so one plain loop over numbers is compiled, and uses hand it what to do.
//!
//! Invariant: results come in the order of the items, whoever was done first; of errors, one that
//! happened. Cost: one lock for each item, which nobody else waits for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// What `work` makes of each item, on all cores of the present pool; an error ends it early.
pub fn map<I: Sync, T: Send, E: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let places: Vec<Mutex<Option<Result<T, E>>>> = items.iter().map(|_| Mutex::default()).collect();
    let failed = AtomicBool::new(false);
    each(items.len(), &|at| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        let done = work(&items[at]);
        if done.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        *places[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
    });
    let done = |place: Mutex<_>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
    places.into_iter().filter_map(done).collect()
}

/// One by one: an item may take a millisecond or an hour.
fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_one_core_would_do_it() {
        let items: Vec<u64> = (0..1000).collect();
        let square = |item: &u64| Ok::<u64, u64>(item * item);
        assert_eq!(map(&items, square), items.iter().map(square).collect());
        assert_eq!(map(&items[..0], square), Ok(vec![]));
        let some = |item: &u64| if item % 7 == 3 { Err(*item) } else { Ok(*item) };
        assert!(map(&items, some).is_err_and(|why| why % 7 == 3));
        assert_eq!(map(&items[..4], some), Err(3));
    }
}
