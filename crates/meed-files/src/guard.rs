//! Who may write where: an output never takes the place of a file that is read, nor of another
//! output.
//!
//! A command tells its guard what it reads and what it writes, in any order and as soon as it
//! knows; the first pair that is one file is refused. Two names are one file when the file system
//! says so (device and number: links of both kinds, other spellings, folders mounted twice) or,
//! where nothing is there yet, when folder and name are the same after following links. Pipes and
//! devices are not overwritten, so they may be read and written; `/dev/null` may take any number of
//! outputs.
//!
//! Only a guard opens an [`Output`]. Cost: O(files) for each file told.

use std::fs::{self, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::create::{Output, follow};
use crate::error::FileError;

/// What a command reads and writes.
///
/// ```
/// use std::io::Write;
/// use meed_files::Guard;
///
/// let folder = tempfile::tempdir()?;
/// let (log, out) = (folder.path().join("log.csv"), folder.path().join("out.csv"));
/// std::fs::write(&log, "a,b\n")?;
/// let mut guard = Guard::new();
/// guard.reads("the log", &log)?;
/// assert!(guard.writes("--out", &log).is_err()); // it would be overwritten
/// guard.writes("--out", &out)?;
/// let mut output = guard.create(&out)?;
/// output.write_all(b"1\n")?;
/// assert!(!out.exists()); // it appears whole or not at all
/// output.finish()?;
/// assert_eq!(std::fs::read(&out)?, b"1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Guard {
    inputs: Vec<Told>,
    outputs: Vec<Told>,
}

/// Why a file must not be, or cannot be, written.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// It is read as well.
    #[error("{option} would overwrite the {what} {}", path.display())]
    Input {
        /// The output: an option, as people give it.
        option: String,
        /// What the file is to the command.
        what: String,
        /// The file, as it was named where it is read.
        path: PathBuf,
    },
    /// Two outputs would be one file.
    #[error("{first} and {second} name the same file {}", path.display())]
    Twice {
        /// The output told first.
        first: String,
        /// The other.
        second: String,
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A file that the command has told of.
#[derive(Debug)]
struct Told {
    /// To the reader of a message: "scenario", "--json".
    what: String,
    path: PathBuf,
    identity: Identity,
}

/// What makes two names one file.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// A file that is there.
    File(FileNumber),
    /// Where a file would be made.
    Place(PathBuf),
    /// A folder, by its real name.
    Folder(PathBuf),
    /// A pipe or a device, by its real name.
    Stream(PathBuf),
}

#[cfg(unix)]
type FileNumber = (u64, u64);
#[cfg(not(unix))]
type FileNumber = PathBuf;

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a name may have no file")]
fn number(_: &Path, found: &Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(path: &Path, _: &Metadata) -> Option<FileNumber> {
    path.canonicalize().ok()
}

impl Identity {
    /// `None` where a name leads nowhere; opening it will say why.
    fn of(path: &Path) -> Option<Identity> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Some(Identity::File(number(path, &found)?)),
            Ok(found) if found.is_dir() => Some(Identity::Folder(path.canonicalize().ok()?)),
            Ok(_) => Some(Identity::Stream(fs::canonicalize(path).ok()?)),
            Err(_) => {
                let target = follow(path).ok()?;
                let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(Identity::Place(folder.join(target.file_name()?)))
            }
        }
    }
}

impl Told {
    fn new(what: &str, path: &Path) -> Option<Told> {
        let identity = Identity::of(path)?;
        Some(Told { what: what.to_owned(), path: path.to_owned(), identity })
    }

    /// Whether writing this would change `input`. What lies in a folder that is read is read.
    fn overwrites(&self, input: &Told) -> bool {
        match (&self.identity, &input.identity) {
            (Identity::Stream(_), _) | (_, Identity::Stream(_)) => false,
            (Identity::File(_), Identity::Folder(folder)) => {
                self.path.canonicalize().is_ok_and(|real| real.starts_with(folder))
            }
            (own, other) => own == other,
        }
    }

    fn is_also(&self, output: &Told) -> bool {
        let nothing = Identity::Stream(PathBuf::from("/dev/null"));
        self.identity == output.identity && self.identity != nothing
    }
}

impl Guard {
    /// A guard that knows of no file yet.
    pub fn new() -> Guard {
        Guard::default()
    }

    /// The command reads `path`, which is its `what`: "scenario", "trace".
    pub fn reads(&mut self, what: &str, path: &Path) -> Result<(), GuardError> {
        let Some(input) = Told::new(what, path) else { return Ok(()) };
        if let Some(output) = self.outputs.iter().find(|output| output.overwrites(&input)) {
            return Err(clash(output, &input));
        }
        self.inputs.push(input);
        Ok(())
    }

    /// The command will write `path`, which its option `option` names. Nothing is written yet, but
    /// that it could be is seen now: before a long run rather than after it.
    pub fn writes(&mut self, option: &str, path: &Path) -> Result<(), GuardError> {
        self.claim(option, path)?;
        // A pipe is opened once only: its reader would take the second opening for the end.
        let opens_twice =
            fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir());
        if opens_twice {
            drop(Output::create(path)?);
        }
        Ok(())
    }

    /// As [`Guard::writes`], for a file that the command opens by itself.
    pub fn claim(&mut self, option: &str, path: &Path) -> Result<(), GuardError> {
        let Some(output) = Told::new(option, path) else { return Ok(()) };
        if let Some(input) = self.inputs.iter().find(|input| output.overwrites(input)) {
            return Err(clash(&output, input));
        }
        if let Some(first) = self.outputs.iter().find(|earlier| output.is_also(earlier)) {
            return Err(GuardError::Twice {
                first: first.what.clone(),
                second: output.what,
                path: output.path,
            });
        }
        self.outputs.push(output);
        Ok(())
    }

    /// Begins to write `path`, compressed as its ending says.
    ///
    /// A path that no [`Guard::writes`] has told of is looked at now. One that was told of is
    /// looked at again: what was read since, or has taken the name meanwhile, counts as well.
    pub fn create(&mut self, path: &Path) -> Result<Output, GuardError> {
        if !self.outputs.iter().any(|output| output.path == path) {
            self.claim("the output", path)?;
        }
        if let Some(now) = Told::new("the output", path)
            && let Some(input) = self.inputs.iter().find(|input| now.overwrites(input))
        {
            return Err(clash(&now, input));
        }
        Ok(Output::create(path)?)
    }

    /// Writes a whole file of text at once, as [`Guard::create`] does.
    pub fn write_text(&mut self, path: &Path, text: &str) -> Result<(), GuardError> {
        let mut output = self.create(path)?;
        output.write_all(text.as_bytes()).map_err(|error| output.failure(error))?;
        Ok(output.finish()?)
    }
}

fn clash(output: &Told, input: &Told) -> GuardError {
    GuardError::Input {
        option: output.what.clone(),
        what: input.what.clone(),
        path: input.path.clone(),
    }
}
