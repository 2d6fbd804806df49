//! Which row of the tables is whose, where who is gone is forgotten some day.
//!
//! Numbers are given in order of coming and never used again, so an old handle is nobody's. Rows
//! are in the same order and dense; when some are forgotten, those of all others move up. Who goes
//! is remembered for a while: as many as are there, and [`REMEMBERED`] at least. When there are
//! more, at most half of that number should stay ([`Rows::too_many_gone`]).
//!
//! Invariant: numbers ascend. Cost: a number is turned into its row in O(1) as long as nothing was
//! forgotten, in O(log rows) after.

use std::collections::VecDeque;
use std::marker::PhantomData;

use crate::ids::{NodeId, NodeRow, QueueId, QueueRow};
use crate::state::{StateError, ensure};

/// So many that are gone are remembered at least.
pub(crate) const REMEMBERED: u32 = 1024;

/// A number, or a row, of one kind of thing.
pub(crate) trait Tag: Copy {
    fn of(plain: u32) -> Self;
    fn plain(self) -> u32;
}

macro_rules! tag {
    ($($of:ident)+) => {
        $(impl Tag for $of {
            #[inline]
            fn of(plain: u32) -> $of {
                $of(plain)
            }

            #[inline]
            fn plain(self) -> u32 {
                self.0
            }
        })+
    };
}
tag!(NodeId NodeRow QueueId QueueRow);

/// See the module. `I` is the handle that worlds hold, `R` the row.
#[derive(Clone)]
pub(crate) struct Rows<I, R> {
    /// By row: the number in order of coming.
    numbers: Vec<u32>,
    /// The number of who comes next.
    next: u32,
    /// Rows of those that are gone, in order of going.
    gone: VecDeque<u32>,
    /// Fewest that are remembered of those.
    remembered: u32,
    of: PhantomData<fn(I) -> R>,
}

impl<I, R> Default for Rows<I, R> {
    fn default() -> Rows<I, R> {
        let (numbers, gone) = (Vec::new(), VecDeque::new());
        Rows { numbers, next: 0, gone, remembered: REMEMBERED, of: PhantomData }
    }
}

impl<I: Tag, R: Tag> Rows<I, R> {
    /// The row of a number; `None` where it was never given, or its row is forgotten.
    #[inline]
    pub(crate) fn row(&self, id: I) -> Option<R> {
        let number = id.plain();
        // Numbers ascend: where one stands at its own place, all before it do.
        if self.numbers.get(number as usize) == Some(&number) {
            return Some(R::of(number));
        }
        self.numbers.binary_search(&number).ok().map(|row| R::of(row as u32))
    }

    /// Whose row it is.
    #[inline]
    pub(crate) fn id(&self, row: R) -> I {
        let row = row.plain();
        // As long as nothing was forgotten each number stands at its own place: no look is needed.
        let number = if self.forgot() { self.numbers[row as usize] } else { row };
        I::of(number)
    }

    /// Whether a number that was given has no row any more.
    #[inline]
    fn forgot(&self) -> bool {
        self.numbers.len() < self.next as usize
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// All that are remembered, in order of coming.
    pub(crate) fn ids(&self) -> Vec<I> {
        self.numbers.iter().map(|&number| I::of(number)).collect()
    }

    /// Whether all numbers have been given.
    pub(crate) fn is_full(&self) -> bool {
        self.next == u32::MAX
    }

    /// The row of who comes.
    pub(crate) fn come(&mut self) -> R {
        self.numbers.push(self.next);
        self.next += 1;
        R::of(self.numbers.len() as u32 - 1)
    }

    /// Whoever has the row goes.
    pub(crate) fn go(&mut self, row: R) {
        self.gone.push_back(row.plain());
    }

    /// Whoever has the row was gone, and is there again.
    pub(crate) fn come_back(&mut self, row: R) {
        if let Some(at) = self.gone.iter().position(|&gone| gone == row.plain()) {
            self.gone.remove(at);
        }
    }

    pub(crate) fn set_remembered(&mut self, least: u32) {
        self.remembered = least;
    }

    /// Where more are gone than are remembered: the rows of those, in order of going, and how many
    /// stay.
    pub(crate) fn too_many_gone(&self) -> Option<(impl ExactSizeIterator<Item = R>, usize)> {
        let there = self.numbers.len() - self.gone.len();
        let most = there.max(self.remembered as usize);
        let gone = self.gone.iter().map(|&row| R::of(row));
        (self.gone.len() > most).then_some((gone, most / 2))
    }

    /// Forgets rows that do not stay, by row; where each goes is [`moved`].
    pub(crate) fn forget(&mut self, stays: &[bool]) {
        let moved = moved(stays);
        keep(&mut self.numbers, stays, 1);
        self.gone = self.gone.iter().filter_map(|&row| moved[row as usize]).collect();
    }
}

/// By old row: the new one, when those that do not stay are taken out; `None` of those.
pub(crate) fn moved(stays: &[bool]) -> Vec<Option<u32>> {
    let mut next = 0;
    let to = |&stays: &bool| {
        next += u32::from(stays);
        stays.then(|| next - 1)
    };
    stays.iter().map(to).collect()
}

/// Keeps of a table by row, with `width` values in each, the rows that stay. The table may be
/// shorter.
pub(crate) fn keep<T>(table: &mut Vec<T>, stays: &[bool], width: usize) {
    let mut at = 0;
    table.retain(|_| {
        at += 1;
        stays.get((at - 1) / width).copied().unwrap_or(false)
    });
}

/// What of a state is told of rows, where it does not follow from their order.
pub(crate) struct RowsState {
    /// The number of who comes next.
    pub(crate) next: Option<u32>,
    /// Rows of those that are gone, in order of going.
    pub(crate) gone: Vec<u32>,
    pub(crate) remembered: Option<u32>,
}

/// What rows are called in errors.
pub(crate) struct Words {
    /// The list of the state that has them.
    pub(crate) list: &'static str,
    /// In order of what they are.
    pub(crate) order: &'static str,
    /// What is wrong with a list of those that are gone.
    pub(crate) gone: &'static str,
}

/// As plain data, and back.
impl<I: Tag, R: Tag> Rows<I, R> {
    /// The number of a row, where that is not the row's.
    pub(crate) fn number_state(&self, row: R) -> Option<u32> {
        Some(self.id(row).plain()).filter(|&number| number != row.plain())
    }

    pub(crate) fn state(&self) -> RowsState {
        let in_order = self.gone.iter().is_sorted();
        RowsState {
            next: Some(self.next).filter(|&next| next as usize != self.numbers.len()),
            gone: self.gone.iter().copied().filter(|_| !in_order).collect(),
            remembered: Some(self.remembered).filter(|&least| least != REMEMBERED),
        }
    }

    /// Rows of these, each with its number where that is not its row's, and whether it is gone.
    pub(crate) fn from_state(
        given: impl ExactSizeIterator<Item = (Option<u32>, bool)>,
        state: &RowsState,
        words: &Words,
    ) -> Result<Rows<I, R>, StateError> {
        let next = state.next.unwrap_or(given.len() as u32);
        let (mut numbers, mut gone) = (Vec::with_capacity(given.len()), Vec::new());
        for (row, (number, is_gone)) in (0..).zip(given) {
            let number = number.unwrap_or(row);
            let fine = numbers.last().is_none_or(|&before| before < number) && number < next;
            let place = || format!("{}[{row}].number", words.list);
            ensure!(fine, place(), "not in order of {}", words.order);
            numbers.push(number);
            if is_gone {
                gone.push(row);
            }
        }
        if !state.gone.is_empty() {
            let mut sorted = state.gone.clone();
            sorted.sort_unstable();
            ensure!(sorted == gone, format!("{}_gone", words.list), "{}", words.gone);
            gone.clone_from(&state.gone);
        }
        let remembered = state.remembered.unwrap_or(REMEMBERED);
        Ok(Rows { numbers, next, gone: gone.into(), remembered, of: PhantomData })
    }
}
