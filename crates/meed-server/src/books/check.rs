//! Whether the database is sound, asked before anything rests on it.
//!
//! redb looks at its checksums only when it was not closed properly, and ends the program in an
//! assertion where what it finds contradicts itself (redb 4.1). So a process of its own opens the
//! file and has all checksums compared; that process may end in any way. What redb writes meanwhile
//! stays in memory (`Overlay`): the file is left as it is. All of the file is read, so a look
//! takes as long as opening the database after a crash does.

use std::cell::Cell;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use redb::{ReadableDatabase, TableHandle};

use super::overlay::Overlay;
use super::{CACHE_BYTES, JobBooks, Meta, TABLES};

/// The hidden command that looks at a database; its argument is the file.
pub const COMMAND: &str = "__check-jobs";

/// What is longer is no sentence for people.
const MOST_WORDS: usize = 500;

/// What a look at a database has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Soundness {
    /// All is well.
    Sound,
    /// It is of this version, which is another one.
    OtherVersion(u32),
    /// What is wrong with it.
    Damaged(String),
}

/// How the process says that the version is another one; the number is what it prints.
const OTHER_VERSION: i32 = 3;

/// Opens the database and compares its checksums; the exit status, for [`ask`]. The file is not
/// changed.
pub fn run(file: &Path) -> u8 {
    // Whoever asked tells of it in one sentence.
    std::panic::set_hook(Box::new(|_| {}));
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    let (status, words) = match look(file) {
        Ok(Meta::VERSION) => return 0,
        Ok(other) => (OTHER_VERSION, other.to_string()),
        Err(why) => (1, why),
    };
    let _ = writeln!(std::io::stdout(), "{words}");
    u8::try_from(status).unwrap_or(1)
}

/// The version of a database that is sound.
fn look(file: &Path) -> Result<u32, String> {
    let storage = Overlay::open(file).map_err(|why| why.to_string())?;
    // A repair compares all checksums before it changes anything.
    let is_repaired = Rc::new(Cell::new(false));
    let told = Rc::clone(&is_repaired);
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE_BYTES).set_repair_callback(move |_| told.set(true));
    let mut database = builder.create_with_backend(storage).map_err(|why| why.to_string())?;
    if !is_repaired.get() {
        database.check_integrity().map_err(|why| why.to_string())?;
    }
    let books = JobBooks { database };
    let meta = books.meta().map_err(|why| why.to_string())?;
    let version = meta.ok_or("it has no row `meta`")?.version;
    if version == Meta::VERSION {
        check_tables(&books.database).map_err(|why| why.to_string())?;
    }
    Ok(version)
}

fn check_tables(database: &redb::Database) -> Result<(), redb::Error> {
    let read = database.begin_read()?;
    let there: Vec<String> = read.list_tables()?.map(|table| table.name().to_owned()).collect();
    match TABLES.iter().find(|name| !there.iter().any(|table| table == *name)) {
        Some(name) => Err(redb::Error::Corrupted(format!("there is no table `{name}`"))),
        None => Ok(()),
    }
}

/// Has another process look at the database.
///
/// # Errors
///
/// The process cannot be started.
pub fn ask(file: &Path) -> std::io::Result<Soundness> {
    let mut command = Command::new("/proc/self/exe");
    command.env_clear().arg(COMMAND).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let looked = command.output()?;
    if looked.status.success() {
        return Ok(Soundness::Sound);
    }
    let words = String::from_utf8_lossy(&looked.stdout);
    let words: String = words.trim().chars().take(MOST_WORDS).collect();
    if let (Some(OTHER_VERSION), Ok(version)) = (looked.status.code(), words.parse()) {
        return Ok(Soundness::OtherVersion(version));
    }
    Ok(Soundness::Damaged(match words.is_empty() {
        false => words,
        true => format!("the database program fails while it reads the file ({})", looked.status),
    }))
}
