//! Whether the database is sound, asked before anything rests on it.
//!
//! redb looks at its checksums only when it was not closed properly, and ends the program in an
//! assertion where what it finds contradicts itself (redb 4.1). So a process of its own opens the
//! file, has all checksums compared, and closes the file again; that process may end in any way. It
//! takes as long as opening the database after a crash does: it reads the whole file.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{CACHE_BYTES, TABLES};

/// The hidden command that looks at a database; its argument is the file.
pub const COMMAND: &str = "__check-jobs";

/// What is longer is no sentence for people.
const MOST_WORDS: usize = 500;

/// Opens the database, compares its checksums and closes it again.
///
/// # Errors
///
/// What is wrong with it.
pub fn run(file: &Path) -> Result<(), String> {
    // Whoever asked tells of it in one sentence.
    std::panic::set_hook(Box::new(|_| {}));
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    let open = redb::Builder::new().set_cache_size(CACHE_BYTES).open(file);
    let mut database = open.map_err(|why| why.to_string())?;
    // `false`: it was not closed properly, and has been put in order.
    database.check_integrity().map_err(|why| why.to_string())?;
    tables(&database).map_err(|why| why.to_string())
}

fn tables(database: &redb::Database) -> Result<(), redb::Error> {
    use redb::{ReadableDatabase, TableHandle};
    let read = database.begin_read()?;
    let there: Vec<String> = read.list_tables()?.map(|table| table.name().to_owned()).collect();
    match TABLES.iter().find(|name| !there.iter().any(|table| table == *name)) {
        Some(name) => Err(redb::Error::Corrupted(format!("there is no table `{name}`"))),
        None => Ok(()),
    }
}

/// Has another process look at the database: what is wrong with it, if anything is.
///
/// # Errors
///
/// The process cannot be started.
pub fn ask(file: &Path) -> std::io::Result<Option<String>> {
    let mut command = Command::new("/proc/self/exe");
    command.env_clear().arg(COMMAND).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let looked = command.output()?;
    if looked.status.success() {
        return Ok(None);
    }
    let words = String::from_utf8_lossy(&looked.stdout);
    let words: String = words.trim().chars().take(MOST_WORDS).collect();
    Ok(Some(match words.is_empty() {
        false => words,
        true => format!("the database program fails while it reads the file ({})", looked.status),
    }))
}
