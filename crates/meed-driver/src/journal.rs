//! Where a driver's records go: the narrow seam between deciding and storing.
//!
//! A driver appends the record of what happened or was decided before it gives the world anything
//! to carry out, and commits before it hands out starts: with a store that makes commits durable,
//! no start is carried out that the journal does not hold.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use meed::{Rejected, Time};
use meed_journal::Fact;

/// Takes records in order.
///
/// Facts in memory are one already: `Vec<(Time, Fact)>`.
///
/// ```
/// use std::io;
/// use meed::Time;
/// use meed_driver::Journal;
/// use meed_journal::{Decide, Fact, Writer};
///
/// /// Lines of text that are durable when they have been flushed.
/// struct Lines(Writer<Vec<u8>>);
/// impl Journal for Lines {
///     fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
///         self.0.append(at, fact).map(drop)
///     }
///     fn commit(&mut self) -> io::Result<()> {
///         self.0.flush()
///     }
/// }
/// let mut journal = Lines(Writer::new(Vec::new()));
/// journal.append(Time::ZERO, &Fact::TimePassed(Decide {}))?;
/// journal.commit()?;
/// assert!(journal.is_on() && journal.0.next_seq() == 1);
/// # Ok::<(), io::Error>(())
/// ```
pub trait Journal {
    /// Whether records are wanted at all: for a journal that is off none is made. Asked once.
    fn is_on(&self) -> bool {
        true
    }

    /// Appends the record of `fact`, which happened at `at`.
    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()>;

    /// Makes what was appended as durable as this journal does: all of it at once.
    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// No journal: costs nothing.
///
/// ```
/// use meed_driver::{Journal, Off};
///
/// assert!(!Off.is_on()); // a driver makes no records for it
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Journal for Off {
    fn is_on(&self) -> bool {
        false
    }

    fn append(&mut self, _: Time, _: &Fact) -> io::Result<()> {
        Ok(())
    }
}

/// Facts in memory: for tests and small worlds.
impl Journal for Vec<(Time, Fact)> {
    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        self.push((at, fact.clone()));
        Ok(())
    }
}

/// A journal of a kind that the driver need not know.
impl<K: Journal + ?Sized> Journal for Box<K> {
    fn is_on(&self) -> bool {
        (**self).is_on()
    }

    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        (**self).append(at, fact)
    }

    fn commit(&mut self) -> io::Result<()> {
        (**self).commit()
    }
}

/// One journal of several drivers.
impl<K: Journal> Journal for Rc<RefCell<K>> {
    fn is_on(&self) -> bool {
        self.borrow().is_on()
    }

    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        self.borrow_mut().append(at, fact)
    }

    fn commit(&mut self) -> io::Result<()> {
        self.borrow_mut().commit()
    }
}

/// Why a driver could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The engine refuses what was told; nothing has changed.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The journal could not be written. The books are ahead of it: the world must carry out
    /// nothing more, and start again from what the journal holds.
    #[error("cannot write the journal: {0}")]
    Journal(#[from] io::Error),
    /// A record that is played contradicts those before it.
    #[error("{0}")]
    Record(String),
}
