//! Finished points on disk.
//!
//! The first line is a fingerprint of everything that results depend on; each further line is one
//! finished point. A line is written whole, by one call, when its point has finished. So a sweep
//! that is stopped, in whatever way, leaves whole lines and at most one half line at the end, which
//! is cut off when the sweep goes on.
//!
//! A journal of other settings, another scenario or trace, or another version is refused: its
//! figures would be mixed with those of this sweep.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::results;
use crate::error::JournalError;

/// The form of the journal.
const FORM: u32 = 1;
/// What every journal begins with.
const BEGIN: &[u8] = b"{\"meed_sweep\":";

/// Everything that results depend on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Fingerprint {
    meed_sweep: u32,
    version: String,
    scenario: String,
    /// Hashes of the texts of all scenarios, and of the traces that they name.
    scenarios: String,
    traces: String,
    settings: Vec<(String, Vec<String>)>,
    policies: Vec<String>,
    seeds: (u64, u64),
    strict: bool,
    columns: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    point: usize,
    cells: Vec<String>,
}

/// An open journal.
#[derive(Debug)]
pub struct SweepJournal {
    path: PathBuf,
    file: File,
    finished: BTreeMap<usize, Vec<String>>,
}

impl SweepJournal {
    /// Opens the journal of `grid` at `path`, or begins it. With `fresh` what is there is
    /// forgotten.
    pub fn open(path: &Path, grid: &Grid, fresh: bool) -> Result<SweepJournal, JournalError> {
        let fail =
            |action| move |source| JournalError::Io { path: path.to_owned(), action, source };
        let own = fingerprint(grid)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail("cannot be opened"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail("cannot be read"))?;
        // Half of a first line is one that was being written, unless it begins otherwise: then it
        // is somebody's file.
        if !bytes.starts_with(BEGIN) && !BEGIN.starts_with(&bytes) {
            return Err(JournalError::NoJournal { path: path.to_owned() });
        }
        if fresh {
            bytes.clear();
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let finished = read(path, &bytes[..whole], &own, grid)?;
        file.set_len(whole as u64).map_err(fail("cannot be shortened"))?;
        file.seek(SeekFrom::End(0)).map_err(fail("cannot be written"))?;
        let mut journal = SweepJournal { path: path.to_owned(), file, finished };
        if whole == 0 {
            journal.write(&own)?;
        }
        Ok(journal)
    }

    /// The points that have finished, with what was measured.
    pub fn finished(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.finished
    }

    /// Notes that a point has finished.
    pub(super) fn append(&mut self, point: usize, cells: &[String]) -> Result<(), JournalError> {
        self.write(&Line { point, cells: cells.to_vec() })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let line = serde_json::to_string(line).map_err(io::Error::from);
        let written = line.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        written.map_err(|source| JournalError::Io {
            path: self.path.clone(),
            action: "cannot be written",
            source,
        })
    }
}

/// The points of a journal's whole lines.
fn read(
    path: &Path,
    bytes: &[u8],
    own: &Fingerprint,
    grid: &Grid,
) -> Result<BTreeMap<usize, Vec<String>>, JournalError> {
    let other = |why: String| JournalError::Other { path: path.to_owned(), why };
    let mut finished = BTreeMap::new();
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Ok(finished) };
    let found: Fingerprint =
        serde_json::from_slice(first).map_err(|_| other("line 1 is damaged".to_owned()))?;
    if let Some(difference) = difference(&found, own) {
        return Err(other(format!("is the journal of another sweep: {difference}")));
    }
    for (number, line) in lines.enumerate() {
        let damaged = || other(format!("line {} is damaged", number + 2));
        let line: Line = serde_json::from_slice(line).map_err(|_| damaged())?;
        if line.point >= grid.points.len() || line.cells.len() != own.columns.len() {
            return Err(damaged());
        }
        finished.insert(line.point, line.cells);
    }
    Ok(finished)
}

/// What differs, in words; nothing when nothing does.
fn difference(found: &Fingerprint, own: &Fingerprint) -> Option<String> {
    let settings = |print: &Fingerprint| -> Vec<String> {
        print.settings.iter().map(|(name, values)| format!("{name}={}", values.join(","))).collect()
    };
    let rows = [
        ("form", found.meed_sweep.to_string(), own.meed_sweep.to_string()),
        ("version of meed", found.version.clone(), own.version.clone()),
        ("scenario", found.scenario.clone(), own.scenario.clone()),
        ("settings", settings(found).join(" "), settings(own).join(" ")),
        ("policies", found.policies.join(" "), own.policies.join(" ")),
        ("seeds", format!("{:?}", found.seeds), format!("{:?}", own.seeds)),
        ("--strict", found.strict.to_string(), own.strict.to_string()),
    ];
    if let Some((what, theirs, ours)) = rows.into_iter().find(|(_, theirs, ours)| theirs != ours) {
        return Some(format!("its {what} was `{theirs}`, here it is `{ours}`"));
    }
    if found.scenarios != own.scenarios {
        return Some("the scenario has changed since".to_owned());
    }
    if found.traces != own.traces {
        return Some(
            "the trace, or another file that the scenario reads, has changed since".to_owned(),
        );
    }
    (found != own).then(|| "other columns were measured".to_owned())
}

fn fingerprint(grid: &Grid) -> Result<Fingerprint, JournalError> {
    let mut scenarios = Hash::new();
    let mut traces = Hash::new();
    let mut seen = std::collections::BTreeSet::new();
    for scenario in &grid.scenarios {
        scenarios.add(scenario.text().as_bytes());
        for path in scenario.input_files().iter().filter(|path| seen.insert(path.as_path())) {
            traces.add_file(path).map_err(|source| JournalError::Io {
                path: path.clone(),
                action: "cannot be read",
                source,
            })?;
        }
    }
    let first = grid.seeds.first().copied().unwrap_or(0);
    Ok(Fingerprint {
        meed_sweep: FORM,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: grid.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        scenarios: scenarios.hex(),
        traces: traces.hex(),
        settings: grid.axes.iter().map(|axis| (axis.name.clone(), axis.values.clone())).collect(),
        policies: grid.policies.clone(),
        seeds: (first, grid.seeds.len() as u64),
        strict: grid.strict,
        columns: results::names(&grid.resources),
    })
}

/// FNV-1a with 128 bits: told apart are files that differ by accident, not by malice.
struct Hash(u128);

impl Hash {
    fn new() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Takes in a piece, and that it ends here.
    fn add(&mut self, piece: &[u8]) {
        self.mix(piece);
        self.mix(&(piece.len() as u64).to_le_bytes());
    }

    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let (mut buffer, mut length) = (vec![0; 1 << 16], 0u64);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    self.mix(&buffer[..n]);
                    length += n as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.mix(&length.to_le_bytes());
        Ok(())
    }

    fn mix(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 =
                (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    fn hex(&self) -> String {
        format!("{:032x}", self.0)
    }
}
