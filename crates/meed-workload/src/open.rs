//! Opening a trace: a path (or bytes in memory) becomes a buffered stream of plain bytes.
//!
//! Compression is told by content, never by name: gzip (several members too), zstd (windows up to
//! 2^27, as `zstd --long=27` makes them) and xz (several streams too) are decompressed, everything
//! else is passed on.
//!
//! Invariant: a failure of the disk, an end in the middle and damaged data stay distinguishable
//! ([`Input::failure`]). Cost: constant memory (the decompressor's window, at most 128 MiB for
//! zstd, plus buffers of 320 KiB).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::TraceError;

/// Compressed bytes are read in pieces of this size.
const READ_BUFFER: usize = 64 << 10;
/// Plain bytes are handed out in pieces of this size: most lines lie whole within one.
const PLAIN_BUFFER: usize = 256 << 10;
/// Largest zstd window, as a power of two. More would let a small file ask for gigabytes.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Where a trace comes from; it can be opened more than once.
#[derive(Clone, Debug)]
pub struct Origin {
    name: Arc<str>,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Origin {
    /// The file at `path`.
    pub fn path(path: impl AsRef<Path>) -> Origin {
        let path = path.as_ref();
        Origin { name: path.display().to_string().into(), place: Place::Path(path.to_owned()) }
    }

    /// Bytes in memory, called `name` in messages.
    pub fn bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Origin {
        Origin { name: name.into(), place: Place::Bytes(bytes.into()) }
    }

    /// What messages call it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Opens it from the beginning.
    pub fn open(&self) -> Result<Input, TraceError> {
        let fail = |source| TraceError::Io { action: "open", file: Arc::clone(&self.name), source };
        match &self.place {
            Place::Path(path) => {
                let file = File::open(path).map_err(fail)?;
                let meta = file.metadata().map_err(fail)?;
                if meta.is_dir() {
                    return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                // Pipes and devices have no length: no progress for them.
                let total = meta.is_file().then_some(meta.len());
                Input::new(Arc::clone(&self.name), Box::new(file), total)
            }
            Place::Bytes(bytes) => {
                let total = bytes.len() as u64;
                Input::new(
                    Arc::clone(&self.name),
                    Box::new(Cursor::new(Arc::clone(bytes))),
                    Some(total),
                )
            }
        }
    }
}

/// What the reader below the decompressor has seen.
#[derive(Debug, Default)]
struct Watch {
    read: AtomicU64,
    failed: AtomicBool,
}

/// Counts what is read from the file, and remembers when the file itself failed.
struct Counted {
    inner: Box<dyn Read + Send>,
    watch: Arc<Watch>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(n) => {
                self.watch.read.fetch_add(n as u64, Relaxed);
                Ok(n)
            }
            Err(error) => {
                // A signal is no failure: the caller tries again.
                self.watch.failed.fetch_or(error.kind() != io::ErrorKind::Interrupted, Relaxed);
                Err(error)
            }
        }
    }
}

/// How a stream was compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
}

impl Compression {
    /// Told by the first bytes.
    pub fn of_content(start: &[u8]) -> Compression {
        const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            // A zstd stream may begin with a skippable frame: parallel compressors write one.
            [0x50..=0x5f, rest @ ..] if rest.starts_with(&SKIPPABLE) => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            _ => Compression::Plain,
        }
    }

    /// Told by the ending of a file name; for writing only.
    pub fn of_name(path: &Path) -> Compression {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            Some("xz") => Compression::Xz,
            _ => Compression::Plain,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
        }
    }
}

/// An opened trace: plain bytes to read, and what is needed to speak of it.
pub struct Input {
    pub(crate) name: Arc<str>,
    compression: Compression,
    total: Option<u64>,
    watch: Arc<Watch>,
    pub(crate) plain: Box<dyn BufRead + Send>,
}

impl Input {
    /// `inner`, decompressed if its content says so; `total` is its length, if known.
    pub fn new(
        name: Arc<str>,
        inner: Box<dyn Read + Send>,
        total: Option<u64>,
    ) -> Result<Input, TraceError> {
        let watch = Arc::new(Watch::default());
        let counted = Counted { inner, watch: Arc::clone(&watch) };
        let (start, raw) = peek(counted).map_err(|source| TraceError::Io {
            action: "read",
            file: Arc::clone(&name),
            source,
        })?;
        let compression = Compression::of_content(&start);
        let plain: Box<dyn BufRead + Send> = match compression {
            Compression::Plain => Box::new(BufReader::with_capacity(PLAIN_BUFFER, raw)),
            Compression::Gzip => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                buffered(flate2::bufread::MultiGzDecoder::new(raw))
            }
            Compression::Xz => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                buffered(liblzma::bufread::XzDecoder::new_multi_decoder(raw))
            }
            Compression::Zstd => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                let decoder = zstd::Decoder::with_buffer(raw).and_then(|mut decoder| {
                    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                    Ok(decoder)
                });
                buffered(decoder.map_err(|source| TraceError::Io {
                    action: "read",
                    file: Arc::clone(&name),
                    source,
                })?)
            }
        };
        Ok(Input { name, compression, total, watch, plain })
    }

    /// What messages call it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How it is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Fraction of the (compressed) file that has been read, 0 to 1; unknown for pipes.
    pub fn progress(&self) -> Option<f64> {
        let total = self.total?;
        let read = self.watch.read.load(Relaxed);
        // A file may grow while it is read.
        Some(if total == 0 { 1.0 } else { (read as f64 / total as f64).min(1.0) })
    }

    /// The plain bytes.
    pub fn reader(&mut self) -> &mut (dyn BufRead + Send) {
        &mut *self.plain
    }

    /// The error for a failed read, after `line` whole lines.
    pub fn failure(&self, source: io::Error, line: u64) -> TraceError {
        let file = Arc::clone(&self.name);
        let format = self.compression.name();
        if self.compression == Compression::Plain || self.watch.failed.load(Relaxed) {
            TraceError::Io { action: "read", file, source }
        } else if source.kind() == io::ErrorKind::UnexpectedEof {
            TraceError::Truncated { file, format, line }
        } else if self.compression == Compression::Zstd
            && source.to_string().contains("too much memory")
        {
            // zstd has a code for this, which its binding turns into words.
            TraceError::Window {
                file,
                limit_mb: 1 << (ZSTD_WINDOW_LOG - 20),
                window_log: ZSTD_WINDOW_LOG,
            }
        } else {
            TraceError::Damaged { file, format, line, source }
        }
    }
}

/// The first bytes of a stream, and the whole stream.
fn peek(mut counted: Counted) -> io::Result<(Vec<u8>, impl Read + Send)> {
    let mut start = Vec::with_capacity(6);
    counted.by_ref().take(6).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(counted);
    Ok((start, whole))
}

fn buffered(decoder: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(PLAIN_BUFFER, decoder))
}
