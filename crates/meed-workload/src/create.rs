//! Writing a file that is either whole or not there.
//!
//! The bytes go to a temporary sibling, which takes the file's name only in [`Output::finish`]:
//! dropping an [`Output`] before that leaves what was there before. The name's ending (`.gz`,
//! `.zst`, `.xz`) chooses the compression. A target that is not a regular file (a pipe,
//! `/dev/stdout`) is written to directly.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::{NamedTempFile, TempPath};

use crate::TraceError;
use crate::open::Compression;

const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const XZ_LEVEL: u32 = 6;

/// A file being written. Call [`Output::finish`], or nothing is kept.
pub struct Output {
    name: Arc<str>,
    encoder: Encoder,
    /// The temporary sibling and the name it will take; `None` when written directly.
    rename: Option<(TempPath, PathBuf)>,
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(BufWriter<flate2::write::GzEncoder<File>>),
    Zstd(BufWriter<zstd::Encoder<'static, File>>),
    Xz(BufWriter<liblzma::write::XzEncoder<File>>),
}

impl Output {
    /// Begins to write `path`, compressed as its ending says.
    pub fn create(path: impl AsRef<Path>) -> Result<Output, TraceError> {
        let path = path.as_ref();
        let name: Arc<str> = path.display().to_string().into();
        let begin = || {
            // A link stays a link: the file that it points to is replaced.
            let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let (file, rename) = match fs::metadata(&target) {
                Ok(meta) if !meta.is_file() => (File::options().write(true).open(&target)?, None),
                _ => {
                    let (file, temporary) = sibling(&target)?.into_parts();
                    (file, Some((temporary, target)))
                }
            };
            let encoder = Encoder::new(file, Compression::of_name(path))?;
            Ok(Output { name: Arc::clone(&name), encoder, rename })
        };
        begin().map_err(|source| TraceError::Io {
            action: "write",
            file: Arc::clone(&name),
            source,
        })
    }

    /// What messages call it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The error for a failed write.
    pub fn failure(&self, source: io::Error) -> TraceError {
        TraceError::Io { action: "write", file: Arc::clone(&self.name), source }
    }

    /// Writes what is left, waits until the disk has it, and gives the file its name.
    pub fn finish(self) -> Result<(), TraceError> {
        let Output { name, encoder, rename } = self;
        let end = || {
            let file = encoder.finish()?;
            if let Some((temporary, target)) = rename {
                if let Ok(old) = fs::metadata(&target) {
                    file.set_permissions(old.permissions())?;
                }
                file.sync_all()?;
                temporary.persist(target).map_err(|failed| failed.error)?;
            }
            Ok(())
        };
        end().map_err(|source| TraceError::Io { action: "write", file: name, source })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gzip(writer) => writer.write(bytes),
            Encoder::Zstd(writer) => writer.write(bytes),
            Encoder::Xz(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gzip(writer) => writer.flush(),
            Encoder::Zstd(writer) => writer.flush(),
            Encoder::Xz(writer) => writer.flush(),
        }
    }
}

impl Encoder {
    fn new(file: File, compression: Compression) -> io::Result<Encoder> {
        Ok(match compression {
            Compression::Plain => Encoder::Plain(BufWriter::new(file)),
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Encoder::Gzip(BufWriter::new(flate2::write::GzEncoder::new(file, level)))
            }
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(file, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(BufWriter::new(encoder))
            }
            Compression::Xz => {
                Encoder::Xz(BufWriter::new(liblzma::write::XzEncoder::new(file, XZ_LEVEL)))
            }
        })
    }

    fn finish(self) -> io::Result<File> {
        match self {
            Encoder::Plain(writer) => Ok(writer.into_inner()?),
            Encoder::Gzip(writer) => writer.into_inner()?.finish(),
            Encoder::Zstd(writer) => writer.into_inner()?.finish(),
            Encoder::Xz(writer) => writer.into_inner()?.finish(),
        }
    }
}

/// A temporary file beside `target`, on the same file system so that it can be renamed.
fn sibling(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meed-").suffix(".partial");
    #[cfg(unix)]
    {
        // Temporary files are private by default; this one becomes an ordinary file (less the
        // umask).
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
