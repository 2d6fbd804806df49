//! Processors and GPUs by number: each is held by one task at most, until its last process is gone.
//!
//! The engine counts amounts; numbers are handed out here. A task that is being stopped still holds
//! its own, though the engine has given its room away: who comes next waits for it.

use std::collections::BTreeSet;

/// What is free.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Devices {
    processors: BTreeSet<u32>,
    gpus: BTreeSet<u32>,
}

/// What a task holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Held {
    pub(crate) processors: Vec<u32>,
    pub(crate) gpus: Vec<u32>,
}

impl Devices {
    pub(crate) fn new(processors: &[u32], gpus: u32) -> Devices {
        Devices { processors: processors.iter().copied().collect(), gpus: (0..gpus).collect() }
    }

    /// GPUs, or `None`: not now. Processors of its own where as many are free; else it runs on any.
    pub(crate) fn take(&mut self, processors: usize, gpus: usize) -> Option<Held> {
        if gpus > self.gpus.len() {
            return None;
        }
        let processors = if processors <= self.processors.len() { processors } else { 0 };
        Some(Held {
            processors: first(&mut self.processors, processors),
            gpus: first(&mut self.gpus, gpus),
        })
    }

    /// So many processors are free.
    pub(crate) fn has_processors(&self, count: usize) -> bool {
        count <= self.processors.len()
    }

    /// These are held already.
    pub(crate) fn mark(&mut self, held: &Held) {
        self.processors.retain(|number| !held.processors.contains(number));
        self.gpus.retain(|number| !held.gpus.contains(number));
    }

    pub(crate) fn give(&mut self, held: Held) {
        self.processors.extend(held.processors);
        self.gpus.extend(held.gpus);
    }
}

fn first(free: &mut BTreeSet<u32>, count: usize) -> Vec<u32> {
    (0..count).filter_map(|_| free.pop_first()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_held_twice() {
        let mut devices = Devices::new(&[2, 3], 3);
        let first = devices.take(1, 2).unwrap();
        assert_eq!(first, Held { processors: vec![2], gpus: vec![0, 1] });
        assert_eq!(devices.take(1, 2), None);
        let second = devices.take(2, 1).unwrap();
        assert_eq!(second, Held { processors: vec![], gpus: vec![2] });
        devices.give(first.clone());
        assert!(devices.has_processors(2));
        devices.mark(&first);
        assert!(!devices.has_processors(2) && devices.take(0, 1).is_none());
    }
}
