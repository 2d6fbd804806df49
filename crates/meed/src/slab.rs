//! Dense storage with handles that notice reuse: a handle to something that has ended is refused,
//! never confused with what came after it. All handles are given out in a fixed order, so the same
//! events give the same handles.
//!
//! Cost: insert, get and remove are O(1) without hashing; memory is the largest number ever alive
//! at once.

use std::marker::PhantomData;

/// A handle of kind `K`: slot and the generation that lives in it.
///
/// Slots are used again, generations are not: a handle to what is gone is never taken for another.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(2, Resources::new(&[2000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// let first = engine.next_start(false).ok_or("there is room")?.allocation;
/// engine.apply(Time::ZERO, Event::TaskEnded(first))?;
/// let second = engine.next_start(false).ok_or("there is room")?.allocation;
/// assert!(first.slot() == second.slot() && first != second);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Handle<K> {
    slot: u32,
    generation: u32,
    kind: PhantomData<fn() -> K>,
}

impl<K> Handle<K> {
    /// Number of the slot: dense, reused after the holder is gone. Worlds index their own tables by
    /// it.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

impl<K> Clone for Handle<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Handle<K> {}
impl<K> PartialEq for Handle<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.slot, self.generation) == (other.slot, other.generation)
    }
}
impl<K> Eq for Handle<K> {}
impl<K> PartialOrd for Handle<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Handle<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.slot, self.generation).cmp(&(other.slot, other.generation))
    }
}
impl<K> std::hash::Hash for Handle<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.slot, self.generation).hash(state);
    }
}
impl<K> std::fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}.{}", self.slot, self.generation)
    }
}

/// What lives in it is read at each event, far from what was read before: it begins with a line of
/// memory, and jobs and running tasks take one each.
#[repr(align(64))]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// The storage of values of type `T`; `K` marks its handles, so that those of two slabs cannot be
/// mixed up.
pub(crate) struct Slab<K, T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    kind: PhantomData<fn() -> K>,
}

impl<K, T> Slab<K, T> {
    pub(crate) fn new() -> Slab<K, T> {
        Slab { slots: Vec::new(), free: Vec::new(), kind: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> Handle<K> {
        match self.free.pop() {
            Some(slot) => {
                let entry = &mut self.slots[slot as usize];
                entry.value = Some(value);
                Handle { slot, generation: entry.generation, kind: PhantomData }
            }
            None => {
                let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 alive at once");
                self.slots.push(Slot { generation: 0, value: Some(value) });
                Handle { slot, generation: 0, kind: PhantomData }
            }
        }
    }

    pub(crate) fn remove(&mut self, handle: Handle<K>) -> Option<T> {
        let entry = self.slots.get_mut(handle.slot())?;
        if entry.generation != handle.generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(handle.slot);
        Some(value)
    }

    /// Has the line of memory brought in which the row of a slot begins.
    #[inline]
    pub(crate) fn expect(&self, slot: usize) {
        crate::memory::expect_at(&self.slots, slot);
    }

    pub(crate) fn get(&self, handle: Handle<K>) -> Option<&T> {
        let entry = self.slots.get(handle.slot())?;
        if entry.generation == handle.generation { entry.value.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, handle: Handle<K>) -> Option<&mut T> {
        let entry = self.slots.get_mut(handle.slot())?;
        if entry.generation == handle.generation { entry.value.as_mut() } else { None }
    }

    /// The values of all that are alive.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|entry| entry.value.as_mut())
    }

    /// All that are alive, in order of slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle<K>, &T)> {
        self.slots.iter().enumerate().filter_map(|(slot, entry)| {
            let handle =
                Handle { slot: slot as u32, generation: entry.generation, kind: PhantomData };
            entry.value.as_ref().map(|value| (handle, value))
        })
    }
}

impl<K, T> Slab<K, T> {
    /// Generations by slot, and the free slots, the next one last.
    pub(crate) fn slots(&self) -> (Vec<u32>, Vec<u32>) {
        (self.slots.iter().map(|slot| slot.generation).collect(), self.free.clone())
    }

    /// A slab of these slots; what lives in them is filled in by [`Slab::fill`].
    pub(crate) fn of_slots(generations: &[u32], free: &[u32]) -> Slab<K, T> {
        let slot = |&generation: &u32| Slot { generation, value: None };
        let (slots, free) = (generations.iter().map(slot).collect(), free.to_vec());
        Slab { slots, free, kind: PhantomData }
    }

    /// The handle of what lives in a slot, or will live in it next.
    pub(crate) fn handle(&self, slot: u32) -> Option<Handle<K>> {
        let generation = self.slots.get(slot as usize)?.generation;
        Some(Handle { slot, generation, kind: PhantomData })
    }

    /// Puts `value` into a slot that is not free; `None` where there is none or something is in it.
    pub(crate) fn fill(&mut self, slot: u32, value: T) -> Option<Handle<K>> {
        let entry = self.slots.get_mut(slot as usize).filter(|entry| entry.value.is_none())?;
        entry.value = Some(value);
        self.handle(slot)
    }
}

/// Indexing is for handles that the engine holds itself; those from outside go through `get`.
impl<K, T> std::ops::Index<Handle<K>> for Slab<K, T> {
    type Output = T;
    fn index(&self, handle: Handle<K>) -> &T {
        self.get(handle).expect("a handle held by the engine is alive")
    }
}
impl<K, T> std::ops::IndexMut<Handle<K>> for Slab<K, T> {
    fn index_mut(&mut self, handle: Handle<K>) -> &mut T {
        self.get_mut(handle).expect("a handle held by the engine is alive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_is_refused_after_reuse() {
        enum Letter {}
        let mut slab: Slab<Letter, char> = Slab::new();
        let first = slab.insert('a');
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b');
        assert_eq!(second.slot(), first.slot());
        assert_eq!(
            (slab.remove(first), slab.get(first), slab.get(second)),
            (None, None, Some(&'b'))
        );
        assert_eq!((slab.len(), slab.iter().count()), (1, 1));
    }
}
