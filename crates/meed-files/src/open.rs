//! Opening a file: a path (or bytes in memory) becomes a buffered stream of plain bytes.
//!
//! Compression is told by content, never by name: gzip (several members too), zstd (windows up to
//! 2^27, as `zstd --long=27` makes them), xz (several streams too) and LZ4 in the blocks of Java's
//! lz4-java are decompressed, everything else is passed on. What follows the end of gzip data is
//! passed over, as gzip itself does, and told ([`Input::trailing`]).
//!
//! A pipe, or a device, is read once and kept, so that it too can be opened again. Bytes that a
//! program hands over as a file ([`FileInMemory`]) are read at their path as a file is.
//!
//! Invariant: a failure of the disk, an end in the middle and damaged data stay distinguishable
//! ([`Input::failure`]). Cost: constant memory (the decompressor's window, at most 128 MiB for
//! zstd, plus buffers of 320 KiB).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;

use crate::error::FileError;
use crate::lz4::{Blocks, MAGIC};
use crate::members::Members;

/// Compressed bytes are read in pieces of this size.
const READ_BUFFER: usize = 64 << 10;
/// Plain bytes are handed out in pieces of this size: most lines lie whole within one.
const PLAIN_BUFFER: usize = 256 << 10;
/// Largest zstd window, as a power of two. More would let a small file ask for gigabytes.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Where bytes come from; it can be opened more than once.
///
/// ```
/// use meed_files::Origin;
///
/// let origin = Origin::bytes("jobs.csv", b"one\ntwo\n".as_slice());
/// assert_eq!(&**origin.name(), "jobs.csv");
/// assert_eq!(origin.beginning(3)?, b"one");
/// assert_eq!(origin.whole()?, b"one\ntwo\n"); // from its beginning each time
/// # Ok::<(), meed_files::FileError>(())
/// ```
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

    /// The file of that name in the same folder, or at that place where the name is absolute;
    /// nothing of bytes in memory.
    pub fn beside(&self, name: &str) -> Option<Origin> {
        match &self.place {
            Place::Path(path) => Some(Origin::path(path.with_file_name("").join(name))),
            Place::Bytes(_) => None,
        }
    }

    /// Where it is; nothing of bytes in memory.
    pub fn place(&self) -> Option<&Path> {
        match &self.place {
            Place::Path(path) => Some(path),
            Place::Bytes(_) => None,
        }
    }

    /// Opens it from the beginning.
    pub fn open(&self) -> Result<Input, FileError> {
        let fail = |source| FileError::Io { action: "open", file: Arc::clone(&self.name), source };
        match &self.place {
            Place::Path(path) => {
                if let Some(kept) = kept(path).map_err(fail)? {
                    return self.of_bytes(kept);
                }
                let file = File::open(path).map_err(fail)?;
                let meta = file.metadata().map_err(fail)?;
                if meta.is_dir() {
                    return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                Input::new(Arc::clone(&self.name), Box::new(file), Some(meta.len()))
            }
            Place::Bytes(bytes) => self.of_bytes(Arc::clone(bytes)),
        }
    }

    fn of_bytes(&self, bytes: Arc<[u8]>) -> Result<Input, FileError> {
        let total = bytes.len() as u64;
        Input::new(Arc::clone(&self.name), Box::new(Cursor::new(bytes)), Some(total))
    }

    /// The plain bytes at the beginning, at most `most` of them: to tell what is in the file.
    pub fn beginning(&self, most: u64) -> Result<Vec<u8>, FileError> {
        let mut input = self.open()?;
        let mut start = Vec::new();
        let read = input.reader().take(most).read_to_end(&mut start);
        match read {
            // Where only the rest is missing or damaged the reader of the file will say so.
            Err(error) if start.is_empty() => Err(input.failure(error, 0)),
            _ => Ok(start),
        }
    }

    /// All plain bytes.
    pub fn whole(&self) -> Result<Vec<u8>, FileError> {
        self.open()?.whole()
    }
}

/// Longest pipe that is kept, as it comes (compressed or not).
const PIPE_LIMIT: u64 = 1 << 30;

/// What has come through pipes so far, by name.
static PIPES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// Files in memory, by their paths.
static IN_MEMORY: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
/// How many there were so far: no two have one path.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A file in memory: whoever opens its path reads these bytes, until it is dropped.
///
/// ```
/// use meed_files::open::{FileInMemory, Origin};
///
/// let file = FileInMemory::new(".".as_ref(), "jobs.csv", b"a,b".as_slice());
/// let path = file.path().to_owned();
/// assert_eq!(Origin::path(&path).whole()?, b"a,b");
/// drop(file);
/// assert!(Origin::path(&path).whole().is_err());
/// # Ok::<(), meed_files::FileError>(())
/// ```
#[derive(Debug)]
pub struct FileInMemory {
    path: PathBuf,
}

impl FileInMemory {
    /// As if it stood in this folder: files that it names are looked for there. The ending of its
    /// name says what is in it; before the name stands a number of its own.
    pub fn new(folder: &Path, name: &str, bytes: impl Into<Arc<[u8]>>) -> FileInMemory {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let path = folder.join(format!("memory:{}:{name}", MADE.fetch_add(1, Relaxed)));
        let mut files = IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.clone(), bytes.into());
        FileInMemory { path }
    }

    /// Where it is read.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FileInMemory {
    fn drop(&mut self) {
        IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// The bytes of a file in memory, of a pipe or a device; `None` for a file. Pipes come once, but a
/// trace is read several times (for its header, its queues, each policy), so they are kept while
/// the program runs.
fn kept(path: &Path) -> io::Result<Option<Arc<[u8]>>> {
    let in_memory = IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    if in_memory.is_some() {
        return Ok(in_memory);
    }
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {}
        _ => return Ok(None),
    }
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = pipes.get(path) {
        return Ok(Some(Arc::clone(bytes)));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(PIPE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PIPE_LIMIT {
        let why = format!(
            "it is no ordinary file, so it is kept in memory, and {} MiB do not suffice; write it \
             to a file first",
            PIPE_LIMIT >> 20
        );
        return Err(io::Error::other(why));
    }
    let bytes: Arc<[u8]> = bytes.into();
    pipes.insert(path.to_owned(), Arc::clone(&bytes));
    Ok(Some(bytes))
}

/// What the reader below the decompressor has seen.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    read: AtomicU64,
    failed: AtomicBool,
    /// Whether bytes that are no compressed data follow those that are.
    pub(crate) trailing: AtomicBool,
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
///
/// ```
/// use meed_files::open::Compression;
///
/// assert_eq!(Compression::of_content(&[0x1f, 0x8b, 8]), Compression::Gzip);
/// assert_eq!(Compression::of_name("jobs.csv.zst".as_ref()), Compression::Zstd);
/// assert_eq!(Compression::of_name("jobs.csv".as_ref()), Compression::Plain);
/// ```
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
    /// LZ4 in the blocks of lz4-java; read only.
    Lz4Blocks,
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
            [b'L', b'Z', b'4', b'B', b'l', b'o', b'c', b'k', ..] => Compression::Lz4Blocks,
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
            Compression::Lz4Blocks => "LZ4",
        }
    }
}

/// An opened file: plain bytes to read, and what is needed to speak of it.
///
/// ```
/// use meed_files::Origin;
/// use meed_files::open::Compression;
///
/// let mut input = Origin::bytes("jobs.csv", b"one\n".as_slice()).open()?;
/// assert_eq!(input.compression(), Compression::Plain);
/// assert_eq!(input.whole()?, b"one\n");
/// # Ok::<(), meed_files::FileError>(())
/// ```
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
    ) -> Result<Input, FileError> {
        let watch = Arc::new(Watch::default());
        let counted = Counted { inner, watch: Arc::clone(&watch) };
        let (start, raw) = peek(counted).map_err(|source| FileError::Io {
            action: "read",
            file: Arc::clone(&name),
            source,
        })?;
        let compression = Compression::of_content(&start);
        let plain: Box<dyn BufRead + Send> = match compression {
            Compression::Plain => Box::new(BufReader::with_capacity(PLAIN_BUFFER, raw)),
            Compression::Gzip => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                buffered(Members::<_, GzDecoder<_>>::new(raw, Arc::clone(&watch)))
            }
            Compression::Xz => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                buffered(Members::<_, XzDecoder<_>>::new(raw, Arc::clone(&watch)))
            }
            Compression::Lz4Blocks => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                buffered(Blocks::new(raw))
            }
            Compression::Zstd => {
                let raw = BufReader::with_capacity(READ_BUFFER, raw);
                let decoder = zstd::Decoder::with_buffer(raw).and_then(|mut decoder| {
                    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                    Ok(decoder)
                });
                buffered(decoder.map_err(|source| FileError::Io {
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

    /// Fraction of the (compressed) file that has been read, 0 to 1, where its length is known.
    pub fn progress(&self) -> Option<f64> {
        let total = self.total?;
        let read = self.watch.read.load(Relaxed);
        // A file may grow while it is read.
        Some(if total == 0 { 1.0 } else { (read as f64 / total as f64).min(1.0) })
    }

    /// All plain bytes that are left.
    pub fn whole(&mut self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        match self.reader().read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.failure(error, 0)),
        }
    }

    /// Whether bytes that are no compressed data followed the compressed data; known at the end.
    pub fn trailing(&self) -> bool {
        self.watch.trailing.load(Relaxed)
    }

    /// The plain bytes.
    pub fn reader(&mut self) -> &mut (dyn BufRead + Send) {
        &mut *self.plain
    }

    /// The error for a failed read, after `line` whole lines.
    pub fn failure(&self, source: io::Error, line: u64) -> FileError {
        let file = Arc::clone(&self.name);
        let format = self.compression.name();
        if self.compression == Compression::Plain || self.watch.failed.load(Relaxed) {
            FileError::Io { action: "read", file, source }
        } else if source.kind() == io::ErrorKind::UnexpectedEof {
            FileError::Truncated { file, format, line }
        } else if self.compression == Compression::Zstd
            && source.to_string().contains("too much memory")
        {
            // zstd has a code for this, which its binding turns into words.
            FileError::Window {
                file,
                limit_mb: 1 << (ZSTD_WINDOW_LOG - 20),
                window_log: ZSTD_WINDOW_LOG,
            }
        } else {
            FileError::Damaged { file, format, line, source }
        }
    }
}

/// The first bytes of a stream, and the whole stream.
fn peek(mut counted: Counted) -> io::Result<(Vec<u8>, impl Read + Send)> {
    let mut start = Vec::with_capacity(MAGIC.len());
    counted.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(counted);
    Ok((start, whole))
}

fn buffered(decoder: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(PLAIN_BUFFER, decoder))
}
