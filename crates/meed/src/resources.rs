//! Amounts of resources: a dense vector of integers over the cluster's named kinds.
//!
//! One [`Resources`] is a capacity, a demand or an allocation; [`ResourceKinds`] gives its
//! dimensions their names and units. Amounts are integers in the kind's smallest unit: bytes for
//! memory-like kinds, thousandths (millicores, milli-GPUs, milli-slots) for all others, so that
//! sums are exact and fractions of a core can be named.
//!
//! Invariant: every amount, and every total over a cluster, is at most [`MAX_AMOUNT`]; the engine
//! checks it where capacities and demands come in. Cost: fixed size, copied, no heap.

use std::fmt;

/// Most resource kinds that a cluster can have: with its length a [`Resources`] is then one cache
/// line.
pub const MAX_KINDS: usize = 7;

/// Largest amount of one resource, on a node or over the cluster: 2^53 (9 PB, or 9 x 10^12 cores).
pub const MAX_AMOUNT: u64 = 1 << 53;

/// Amounts of each resource kind, in the kinds' smallest units.
///
/// ```
/// use meed::Resources;
///
/// let node = Resources::new(&[4000, 16 << 30]); // 4 cores in thousandths, 16 GiB in bytes
/// let task = Resources::new(&[500, 4 << 30]);
/// assert!(task.fits_in(&node));
/// assert_eq!(task.copies_in(&node), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Resources {
    len: u8,
    amounts: [u64; MAX_KINDS],
}

impl Resources {
    /// Nothing of each of `kinds` kinds. Panics above [`MAX_KINDS`].
    #[inline]
    pub fn zero(kinds: usize) -> Resources {
        assert!(kinds <= MAX_KINDS, "at most {MAX_KINDS} resource kinds");
        Resources { len: kinds as u8, amounts: [0; MAX_KINDS] }
    }

    /// The given amounts, in the order of the cluster's kinds. Panics above [`MAX_KINDS`].
    #[inline]
    pub fn new(amounts: &[u64]) -> Resources {
        Resources::by_kind(amounts.len(), |kind| amounts[kind])
    }

    /// Of each of `kinds` kinds what `amount` says. Panics above [`MAX_KINDS`].
    ///
    /// Of one kind or two, as most clusters count, it is made in one piece: a copy of a value that
    /// was just written amount by amount waits for all these writes.
    #[inline(always)]
    pub(crate) fn by_kind(kinds: usize, mut amount: impl FnMut(usize) -> u64) -> Resources {
        match kinds {
            1 => Resources { len: 1, amounts: [amount(0), 0, 0, 0, 0, 0, 0] },
            2 => Resources { len: 2, amounts: [amount(0), amount(1), 0, 0, 0, 0, 0] },
            _ => {
                let mut all = Resources::zero(kinds);
                let each = all.as_mut_slice().iter_mut().enumerate();
                each.for_each(|(kind, of)| *of = amount(kind));
                all
            }
        }
    }

    /// The same with one kind more, the last; there are fewer than [`MAX_KINDS`].
    #[inline]
    pub(crate) fn with_one_more(&self, amount: u64) -> Resources {
        let kinds = self.kinds();
        let of = |kind: usize| if kind < kinds { self.amounts[kind] } else { amount };
        Resources::by_kind(kinds + 1, of)
    }

    /// The smaller of this and `other`, kind by kind.
    #[inline]
    pub(crate) fn lowered_to(&self, other: &Resources) -> Resources {
        Resources::by_kind(self.kinds(), |kind| self.amounts[kind].min(other.amounts[kind]))
    }

    /// Amounts in the order of the cluster's kinds.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        &self.amounts[..self.len as usize]
    }

    /// Amounts in the order of the cluster's kinds, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.amounts[..self.len as usize]
    }

    /// Number of kinds.
    #[inline]
    pub fn kinds(&self) -> usize {
        self.len as usize
    }

    /// Amount of kind `kind`.
    pub fn get(&self, kind: usize) -> u64 {
        self.as_slice()[kind]
    }

    /// Whether all of this fits into `room`, kind by kind.
    #[inline]
    pub fn fits_in(&self, room: &Resources) -> bool {
        debug_assert_eq!(self.len, room.len);
        fits(self.as_slice(), room.as_slice())
    }

    /// Keeps the smaller of this and `other`, kind by kind.
    pub(crate) fn lower(&mut self, other: &Resources) {
        lower(self.as_mut_slice(), other.as_slice());
    }

    /// Whether there is nothing of any kind.
    pub fn is_zero(&self) -> bool {
        self.as_slice().iter().all(|&amount| amount == 0)
    }

    /// Adds `other`, kind by kind. Bounds are the caller's: totals never exceed [`MAX_AMOUNT`].
    #[inline]
    pub fn add(&mut self, other: &Resources) {
        debug_assert_eq!(self.len, other.len);
        for (mine, theirs) in self.as_mut_slice().iter_mut().zip(other.as_slice()) {
            *mine += theirs;
        }
    }

    /// How many times this fits into `room`; 0 where it is nothing.
    pub fn copies_in(&self, room: &Resources) -> u64 {
        let both = self.as_slice().iter().zip(room.as_slice());
        let fit = both.filter(|(amount, _)| **amount > 0).map(|(&amount, &room)| room / amount);
        fit.min().unwrap_or(0)
    }

    /// So many times this; never so much that something held cannot be added to it.
    pub(crate) fn times(&self, count: u32) -> Resources {
        let mut times = *self;
        for amount in times.as_mut_slice() {
            *amount = amount.saturating_mul(u64::from(count)).min(u64::MAX / 2);
        }
        times
    }

    /// Both together, with the same bound.
    pub(crate) fn plus(mut self, other: &Resources) -> Resources {
        for (mine, theirs) in self.as_mut_slice().iter_mut().zip(other.as_slice()) {
            *mine = mine.saturating_add(*theirs).min(u64::MAX / 2);
        }
        self
    }

    /// Takes `other` away, kind by kind. Panics when there is less than that: an allocation was
    /// freed twice.
    #[inline]
    pub fn sub(&mut self, other: &Resources) {
        debug_assert_eq!(self.len, other.len);
        for (mine, theirs) in self.as_mut_slice().iter_mut().zip(other.as_slice()) {
            *mine = mine.checked_sub(*theirs).expect("more resources freed than were held");
        }
    }
}

/// Whether all amounts of `needs` are there in `room`.
#[inline]
pub(crate) fn fits(needs: &[u64], room: &[u64]) -> bool {
    needs.iter().zip(room).all(|(need, have)| need <= have)
}

/// The smaller of both, amount by amount.
#[inline]
pub(crate) fn lower(least: &mut [u64], amounts: &[u64]) {
    least.iter_mut().zip(amounts).for_each(|(least, &amount)| *least = amount.min(*least));
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// In which smallest unit a kind of resource is counted.
///
/// ```
/// use meed::Unit;
///
/// assert_eq!((Unit::Bytes.scale(), Unit::Milli.scale()), (1, 1000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unit {
    /// Bytes: memory, disk.
    Bytes,
    /// Thousandths of one: cores, GPUs, slots.
    Milli,
}

impl Unit {
    /// Smallest units in one natural unit (a byte; a core).
    pub const fn scale(self) -> u64 {
        match self {
            Unit::Bytes => 1,
            Unit::Milli => 1000,
        }
    }
}

/// Names and units of the cluster's resource kinds, in the order of every [`Resources`] vector.
///
/// ```
/// use meed::{ResourceKinds, Unit};
///
/// let named = |name: &str, unit| (name.to_owned(), unit);
/// let kinds = ResourceKinds::new(vec![named("cpu", Unit::Milli), named("memory", Unit::Bytes)])?;
/// assert_eq!((kinds.find("memory"), kinds.name(0)), (Some(1), "cpu"));
/// let twice = vec![named("cpu", Unit::Milli), named("cpu", Unit::Milli)];
/// assert!(ResourceKinds::new(twice).is_err());
/// # Ok::<(), meed::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResourceKinds {
    kinds: Vec<(String, Unit)>,
}

impl ResourceKinds {
    /// The given kinds, in order. At least one, at most [`MAX_KINDS`], no name twice or empty.
    pub fn new(kinds: Vec<(String, Unit)>) -> Result<ResourceKinds, crate::ConfigError> {
        use crate::error::ConfigError;
        if kinds.is_empty() || kinds.len() > MAX_KINDS {
            return Err(ConfigError::KindCount { given: kinds.len() });
        }
        for (i, (name, _)) in kinds.iter().enumerate() {
            if name.is_empty() || kinds[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(ConfigError::KindName { name: name.clone() });
            }
        }
        Ok(ResourceKinds { kinds })
    }

    /// Number of kinds.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none (only before [`ResourceKinds::new`]).
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Name of kind `kind`.
    pub fn name(&self, kind: usize) -> &str {
        &self.kinds[kind].0
    }

    /// Unit of kind `kind`.
    pub fn unit(&self, kind: usize) -> Unit {
        self.kinds[kind].1
    }

    /// Index of the kind called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.kinds.iter().position(|(known, _)| known == name)
    }

    /// Names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.kinds.iter().map(|(name, _)| name.as_str())
    }
}
