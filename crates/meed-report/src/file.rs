//! Files that are whole or absent: written beside their place and moved there when complete.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that could not be written, with its name and the cause.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct WriteError {
    /// The file asked for.
    pub path: PathBuf,
    /// What went wrong; part of the message already.
    pub cause: io::Error,
}

/// Writes `path` with `fill`. A file at `path` is replaced only when the new one is complete; a
/// device or a pipe is written to directly, and a symbolic link keeps pointing where it did.
pub(crate) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    try_write(path, fill).map_err(|cause| WriteError { path: path.to_path_buf(), cause })
}

fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let place = match path.metadata() {
        Ok(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if !found.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(path)?);
            fill(&mut out)?;
            return out.flush();
        }
        Ok(_) => path.canonicalize()?,
        Err(_) => path.to_path_buf(),
    };
    let folder = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let why = format!("there is no directory {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meed-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the umask decides who may read it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // tempfile's own message would name the temporary file, which nobody asked for.
    let part = builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind()))?;
    let mut out = BufWriter::new(part);
    fill(&mut out)?;
    let part = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    part.as_file().sync_all()?;
    part.persist(&place).map_err(|e| e.error)?;
    Ok(())
}
