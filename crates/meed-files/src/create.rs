//! Writing a file that is either whole or not there.
//!
//! The bytes go to a file without a name in the target's folder, which takes its name only in
//! [`Output::finish`]: dropping an [`Output`] before that leaves what was there before, and
//! whatever ends the program (Ctrl-C, `kill -9`, an abort for want of memory, power) leaves nothing
//! of it, since the operating system frees a file without a name. Where the file system can give
//! such a file no name later (no `O_TMPFILE`: some network file systems, other systems than Linux)
//! the finished bytes are copied to a sibling that is then renamed; only what ends the program
//! during that copy leaves one.
//!
//! As with a shell's `>`: a symbolic link is written through, also one that leads to nothing yet; a
//! file that is there keeps its mode and, where the system allows it, its owner; a write-protected
//! one is refused; a target that is not a regular file (a pipe, `/dev/stdout`) is written to
//! directly. Unlike it, a file with several hard links leaves the others as they were.
//!
//! The name's ending (`.gz`, `.zst`, `.xz`) chooses the compression.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::FileError;
use crate::open::Compression;

const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const XZ_LEVEL: u32 = 6;
/// Symbolic links followed, one after the other, before they are taken for a loop: as Linux does.
const MAX_LINKS: usize = 40;

/// A file being written. Call [`Output::finish`], or nothing is kept. A [`crate::Guard`] makes it.
///
/// The example of [`crate::Guard`] makes one and finishes it.
pub struct Output {
    name: Arc<str>,
    encoder: Encoder,
    draft: Draft,
}

/// What becomes of the bytes when they are complete.
enum Draft {
    /// They are where they belong: a pipe, a device.
    Direct,
    /// A file without a name, which can be given this one.
    Nameless(PathBuf),
    /// A file without a name, to be copied to this one.
    Copied(PathBuf),
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(BufWriter<flate2::write::GzEncoder<File>>),
    Zstd(BufWriter<zstd::Encoder<'static, File>>),
    Xz(BufWriter<liblzma::write::XzEncoder<File>>),
}

impl Output {
    /// Begins to write `path`, compressed as its ending says.
    pub(crate) fn create(path: &Path) -> Result<Output, FileError> {
        let name: Arc<str> = path.display().to_string().into();
        let begin = || {
            let (file, draft) = draft(&follow(path)?)?;
            let encoder = Encoder::new(file, Compression::of_name(path))?;
            Ok(Output { name: Arc::clone(&name), encoder, draft })
        };
        begin().map_err(|source| FileError::Io { action: "write", file: Arc::clone(&name), source })
    }

    /// What messages call it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The error for a failed write.
    pub fn failure(&self, source: io::Error) -> FileError {
        FileError::Io { action: "write", file: Arc::clone(&self.name), source }
    }

    /// Writes what is left, waits until the disk has it, and gives the file its name.
    pub fn finish(self) -> Result<(), FileError> {
        let Output { name, encoder, draft } = self;
        let end = || {
            let file = encoder.finish()?;
            match draft {
                Draft::Direct => Ok(()),
                Draft::Nameless(target) => {
                    keep_mode(&file, &target)?;
                    file.sync_all()?;
                    give_name(&file, &target)
                }
                Draft::Copied(target) => copy_to(file, &target),
            }
        };
        end().map_err(|source| FileError::Io { action: "write", file: name, source })
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
            // No name asks for LZ4.
            Compression::Plain | Compression::Lz4Blocks => Encoder::Plain(BufWriter::new(file)),
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

/// The file that `path` leads to when its last part is a symbolic link, there or not yet.
pub(crate) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..=MAX_LINKS {
        match fs::read_link(&target) {
            // What a link says counts from the folder that it lies in.
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links lead to one another"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The file to write to for `target`, and what becomes of it.
fn draft(target: &Path) -> io::Result<(File, Draft)> {
    match fs::metadata(target) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            return Ok((File::options().write(true).open(target)?, Draft::Direct));
        }
        Ok(found) if found.permissions().readonly() => {
            let why = "it is write-protected; remove it, or let its owner write to it (chmod u+w)";
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        // Who may not write to a file may not replace it either.
        Ok(_) => drop(File::options().write(true).open(target)?),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let folder = folder_of(target);
    if !folder.is_dir() {
        let why = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(ErrorKind::NotFound, why));
    }
    match nameless(folder)? {
        Some(file) => Ok((file, Draft::Nameless(target.to_owned()))),
        None => {
            let file = tempfile::tempfile_in(folder).map_err(|error| without_name(&error))?;
            Ok((file, Draft::Copied(target.to_owned())))
        }
    }
}

/// A file without a name in `folder` that can be given one, of which the umask decides who may read
/// it; `None` where the file system or the kernel knows none.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::Errno;
    if !Path::new(OWN_FILES).is_dir() {
        return Ok(None);
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => Ok(Some(File::from(file))),
        // Not this file system, or an older kernel that takes the folder for the file.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Where a process finds the files that it has open, under their numbers.
#[cfg(target_os = "linux")]
const OWN_FILES: &str = "/proc/self/fd";

/// Gives a nameless file the name `target`. A link cannot take the place of a file: where one is,
/// the file is linked beside it and renamed at once.
#[cfg(target_os = "linux")]
fn give_name(file: &File, target: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use rustix::io::Errno;
    use std::os::fd::AsRawFd;
    let own = format!("{OWN_FILES}/{}", file.as_raw_fd());
    let link = |name: &Path| linkat(CWD, &*own, CWD, name, AtFlags::SYMLINK_FOLLOW);
    match link(target) {
        Err(Errno::EXIST) => {}
        done => return Ok(done?),
    }
    let free = (0_u32..)
        .map(|n| folder_of(target).join(format!(".meed-{}-{n}.partial", std::process::id())));
    for sibling in free {
        match link(&sibling) {
            Err(Errno::EXIST) => {}
            Err(why) => return Err(why.into()),
            Ok(()) => {
                return fs::rename(&sibling, target).inspect_err(|_| {
                    // The sentence is about the renaming; the sibling goes if it can.
                    let _ = fs::remove_file(&sibling);
                });
            }
        }
    }
    unreachable!("one of four billion names is free")
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("nothing is nameless here")
}

/// Copies a finished file to a sibling of `target`, which then takes its name.
fn copy_to(mut file: File, target: &Path) -> io::Result<()> {
    file.rewind()?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meed-").suffix(".partial");
    #[cfg(unix)]
    {
        // Temporary files are private; this one becomes an ordinary file (less the umask).
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut sibling = builder.tempfile_in(folder_of(target)).map_err(|e| without_name(&e))?;
    io::copy(&mut file, sibling.as_file_mut())?;
    keep_mode(sibling.as_file(), target)?;
    sibling.as_file().sync_all()?;
    sibling.persist(target).map_err(|failed| failed.error)?;
    Ok(())
}

/// Gives `file` mode and owner of the file that it replaces, if there is one.
fn keep_mode(file: &File, target: &Path) -> io::Result<()> {
    let Ok(old) = fs::metadata(target) else { return Ok(()) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Only who may give files away can; others own both.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

/// What the system says, without the temporary name that `tempfile` adds and nobody asked for.
fn without_name(error: &io::Error) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(why) = cause {
        if let Some(number) = why.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(number);
        }
        cause = why.source();
    }
    error.kind().into()
}
