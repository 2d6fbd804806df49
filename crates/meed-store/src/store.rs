//! What a store of records does, whichever way it keeps them.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::StoreError;

/// The number of a record. The first record has number 1; 0 stands before it. There are no gaps.
///
/// ```
/// use meed_store::Seq;
///
/// assert_eq!(Seq::ZERO.next(), Seq::new(1)); // the first record
/// assert!(Seq::new(2) > Seq::new(1));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(u64);

impl Seq {
    /// Before the first record.
    pub const ZERO: Self = Self(0);

    /// Number `number`.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a plain number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next one.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// `count` further.
    #[must_use]
    pub(crate) const fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// The one before; before the first comes [`Seq::ZERO`].
    #[must_use]
    pub(crate) const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Wall-clock time in milliseconds since 1970, given by the caller: a store reads no clock.
///
/// ```
/// use std::time::Duration;
/// use meed_store::UnixMillis;
///
/// let then = UnixMillis::new(1_760_000_000_000);
/// assert_eq!(then.age(UnixMillis::new(1_760_000_005_000)), Duration::from_secs(5));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// `millis` milliseconds since 1970.
    #[must_use]
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// As a plain number of milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// How long before `now` this was; nothing when the clock was put back.
    #[must_use]
    pub fn age(self, now: Self) -> Duration {
        Duration::from_millis(now.0.saturating_sub(self.0))
    }
}

/// The state of the caller after all records up to `seq`.
///
/// The example of [`Store`] takes one, and reads it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last record whose effect is contained.
    pub seq: Seq,
    /// What the caller gave.
    pub bytes: Vec<u8>,
}

/// What may be forgotten. Records after the last snapshot are never forgotten; of the others the
/// oldest go while one of the limits is exceeded. Without any limit all are kept.
///
/// ```
/// use meed_store::{FileStore, FileStoreOptions, Retention, Seq, Store, UnixMillis};
///
/// let folder = tempfile::tempdir()?;
/// let now = UnixMillis::new(1_760_000_000_000);
/// let mut store = FileStore::open_folder(folder.path(), FileStoreOptions::default())?;
/// store.append(&[b"{}"])?;
/// store.commit(now)?;
/// let all = store.retain(&Retention::default(), now)?; // no limit: all is kept
/// assert_eq!((all.forgotten, store.first()), (0, Seq::new(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Records older than this may go.
    pub max_age: Option<Duration>,
    /// The oldest may go while all kept need more bytes than this.
    pub max_bytes: Option<u64>,
    /// The oldest may go while more than this number are kept.
    pub max_records: Option<u64>,
}

/// What [`Store::retain`] has done.
///
/// The example of [`Retention`] reads it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Segments that were compressed.
    pub compressed: u64,
    /// Records that were forgotten.
    pub forgotten: u64,
    /// Older snapshots that were removed.
    pub snapshots: u64,
}

/// What [`Store::read`] calls for each record.
pub type Visit<'a> = dyn FnMut(Seq, &[u8]) -> ControlFlow<()> + 'a;

/// A sequence of records and snapshots that outlive the process.
///
/// - **Nothing acknowledged is lost.** Once [`commit`](Self::commit) has returned, all records
///   appended before are there after a crash of the process, of the system, or a loss of power.
/// - **A group is there whole or not at all.** What was appended between two commits and not
///   acknowledged is found whole after a crash, or none of it.
/// - **Never a wrong record.** What is read passes a checksum, or is an error that names the place.
/// - **A failed write ends the writing.** After an error in `commit` or `snapshot` it is not known
///   what is on the disk, and a second sync would only pretend (the system may have dropped what
///   it could not write). All later writes are refused until the store is opened again.
///
/// ```
/// use std::ops::ControlFlow;
/// use meed_store::{FileStore, FileStoreOptions, Seq, Store, UnixMillis};
///
/// let folder = tempfile::tempdir()?;
/// let now = UnixMillis::new(1_760_000_000_000);
/// {
///     let mut store = FileStore::open_folder(folder.path(), FileStoreOptions::default())?;
///     store.append(&[br#"{"t":0,"arrive":{}}"#, br#"{"t":0,"start":{}}"#])?;
///     store.commit(now)?; // one write, one sync: now both may be acted on
///     store.snapshot(Seq::new(1), b"the state after the first record")?;
/// }
/// let store = FileStore::open_folder(folder.path(), FileStoreOptions::default())?;
/// let snapshot = store.last_snapshot()?.expect("taken above");
/// let mut rest = Vec::new();
/// store.read(snapshot.seq.next(), &mut |seq, record| {
///     rest.push((seq.get(), String::from_utf8_lossy(record).into_owned()));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(rest, [(2, r#"{"t":0,"start":{}}"#.to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Store: fmt::Debug {
    /// Adds records to the open group and gives the number of the last. Nothing is durable before
    /// [`commit`](Self::commit). A record is a line of text: bytes without line feed and NUL, not
    /// empty, not like a line of the store itself (`{"block":`). When one is refused, none of
    /// `records` is added.
    ///
    /// # Errors
    /// A record that is none; a store that has failed before.
    fn append(&mut self, records: &[&[u8]]) -> Result<Seq, StoreError>;

    /// Makes the open group durable, in one write and one sync, and gives the number of the last
    /// durable record. Without an open group it costs nothing.
    ///
    /// # Errors
    /// A write that failed: the group is not acknowledged, and the store refuses further writes
    /// until it is opened again.
    fn commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError>;

    /// Begins to make the open group durable, and gives the number of the last durable record: of
    /// the group that was begun before, for which it waits. While the disk works the caller goes
    /// on; what it appends is of the next group. [`commit`](Self::commit) waits for both. A store
    /// that cannot work beside its caller does it at once.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), for the group before as well.
    fn begin_commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError> {
        self.commit(now)
    }

    /// The oldest record that is kept; the one after [`durable`](Self::durable) when there is
    /// none.
    fn first(&self) -> Seq;

    /// The last durable record; [`Seq::ZERO`] when there is none.
    fn durable(&self) -> Seq;

    /// Visits the durable records from number `from` on, in order, until `visit` breaks.
    ///
    /// # Errors
    /// Records that are forgotten or do not exist yet; damage, with its place. Records visited
    /// before an error are right.
    fn read(&self, from: Seq, visit: &mut Visit<'_>) -> Result<(), StoreError>;

    /// Keeps `bytes` as the caller's state after record `seq`, durably: after a crash there is
    /// this snapshot or the one before, never half of one.
    ///
    /// # Errors
    /// A record that is not durable yet; a write that failed, as in [`commit`](Self::commit).
    fn snapshot(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), StoreError>;

    /// The last snapshot.
    ///
    /// # Errors
    /// Damage, with its place.
    fn last_snapshot(&self) -> Result<Option<Snapshot>, StoreError>;

    /// Tidies up: compresses what is closed, forgets what `rule` allows, removes all snapshots
    /// but the last two. Takes long (it may compress a whole segment); for a quiet moment.
    ///
    /// # Errors
    /// Damage; a write that failed, as in [`commit`](Self::commit).
    fn retain(&mut self, rule: &Retention, now: UnixMillis) -> Result<Retained, StoreError>;

    /// What was remarkable when the store was opened, in words: a torn tail that was cut.
    fn remarks(&self) -> &[String];
}
