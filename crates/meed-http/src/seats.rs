//! Places for what comes from outside: so many in all, and so many of each, so that nobody takes
//! them all. A place is given back when it is dropped.
//!
//! Invariant: who has no place is not remembered. Cost: O(those who have one).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Places for what comes from outside: see the module.
pub struct Seats<K> {
    most: usize,
    of_each: usize,
    taken: Mutex<BTreeMap<K, usize>>,
}

/// A place that is taken.
pub struct Seat<K: Ord> {
    places: Arc<Seats<K>>,
    of: K,
}

impl<K: Ord + Clone> Seats<K> {
    /// So many in all, and so many of each.
    pub fn new(most: usize, of_each: usize) -> Arc<Seats<K>> {
        Arc::new(Seats { most, of_each, taken: Mutex::default() })
    }

    /// One more for `of`; `None`: all are taken, or all of his.
    pub fn enter(self: &Arc<Seats<K>>, of: K) -> Option<Seat<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, own) = (taken.values().sum::<usize>(), taken.get(&of).copied().unwrap_or(0));
        if all >= self.most || own >= self.of_each {
            return None;
        }
        taken.insert(of.clone(), own + 1);
        drop(taken);
        Some(Seat { places: Arc::clone(self), of })
    }

    /// Whether nobody has one, nor is remembered.
    pub fn is_empty(&self) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl<K: Ord> Drop for Seat<K> {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.of) {
            Some(count) if *count > 1 => *count -= 1,
            _ => _ = taken.remove(&self.of),
        }
    }
}
