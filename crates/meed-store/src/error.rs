//! What can be wrong with a store.

use std::io;

use crate::store::Seq;

/// Why a store cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk refused.
    #[error("cannot {doing} {place}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// File or folder.
        place: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another process, or another store of this one, has the folder.
    #[error("{place} is in use by another process; stop it first, or choose another folder")]
    InUse {
        /// The folder's lock.
        place: String,
    },
    /// Written by a newer version.
    #[error(
        "{place} has version {found}, this program knows versions up to {known}: open it with a \
         newer program"
    )]
    Newer {
        /// The file.
        place: String,
        /// Its version.
        found: u64,
        /// The newest version that is known.
        known: u64,
    },
    /// The folder is something else.
    #[error("{place}: {why}")]
    Foreign {
        /// File or folder.
        place: String,
        /// What it is, and what would be right.
        why: String,
    },
    /// Bytes that were acknowledged are not what was written.
    #[error("{place}, line {line}, byte {offset}: damaged: {found}; expected {expected}")]
    Damaged {
        /// The file.
        place: String,
        /// Line, counted from 1, of the uncompressed text.
        line: u64,
        /// Byte, counted from 0, of the uncompressed text.
        offset: u64,
        /// What is there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// Bytes that cannot be a record.
    #[error("record {index} of the batch {why}; a record is one line of text")]
    BadRecord {
        /// Which of the batch, counted from 1.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A record that is no longer kept.
    #[error("record {asked} is no longer kept; the oldest is {first}")]
    Forgotten {
        /// Which was asked for.
        asked: Seq,
        /// The oldest that is kept.
        first: Seq,
    },
    /// A record that does not exist, or is not durable yet.
    #[error("record {asked} is not durable yet; the last that is has number {durable}")]
    Ahead {
        /// Which was asked for.
        asked: Seq,
        /// The last durable one.
        durable: Seq,
    },
    /// A write has failed before, and it is not known what is on the disk.
    #[error("the store refuses to write since this failed: {cause}; open it again")]
    Poisoned {
        /// The failure.
        cause: String,
    },
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, place: String) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, place, source }
    }
}
