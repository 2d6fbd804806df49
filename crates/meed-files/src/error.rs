//! What can be wrong with a file, said so that it can be put right.

use std::io;
use std::sync::Arc;

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {action} {file}: {source}")]
    Io {
        /// What was tried: "open", "read", "write".
        action: &'static str,
        /// The file.
        file: Arc<str>,
        /// What the operating system says.
        source: io::Error,
    },
    /// Compressed data ends in the middle.
    #[error(
        "{file}: its {format} data is cut short (good up to line {line}); fetch or compress the \
         file again"
    )]
    Truncated {
        /// The file.
        file: Arc<str>,
        /// Name of the compression.
        format: &'static str,
        /// Last whole line.
        line: u64,
    },
    /// Compressed data does not decompress.
    #[error(
        "{file}: its {format} data is damaged after line {line} ({source}); fetch or compress the \
         file again"
    )]
    Damaged {
        /// The file.
        file: Arc<str>,
        /// Name of the compression.
        format: &'static str,
        /// Last whole line.
        line: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// Compressed so that decompressing it takes too much memory.
    #[error(
        "{file}: decompressing it takes more than {limit_mb} MB; compress it again, with zstd \
         --long={window_log} at most"
    )]
    Window {
        /// The file.
        file: Arc<str>,
        /// The limit.
        limit_mb: u64,
        /// The same as a power of two, in bytes.
        window_log: u32,
    },
    /// A line that is too long to be one.
    #[error(
        "{file}:{line}: a line without end (no line break within {limit} bytes); is this a trace?"
    )]
    EndlessLine {
        /// The file.
        file: Arc<str>,
        /// The line.
        line: u64,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl FileError {
    /// Whether the operating system refused, whatever is in the file.
    pub fn is_refusal(&self) -> bool {
        matches!(self, FileError::Io { .. })
    }
}
