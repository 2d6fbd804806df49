//! A file as redb's storage that is read and never written: what redb writes stays in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// Bytes that are kept together.
const BLOCK: usize = 4096;

/// See the module.
#[derive(Debug)]
pub(super) struct Overlay {
    file: File,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    length: u64,
    /// How much of the file is still to be seen: it was never cut shorter than that.
    of_file: u64,
    /// By their numbers.
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    pub(super) fn open(path: &Path) -> io::Result<Overlay> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let written = Written { length, of_file: length, blocks: BTreeMap::new() };
        Ok(Overlay { file, written: Mutex::new(written) })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block as it stands in the file; zeros behind its end.
    fn block_of_file(&self, number: u64, of_file: u64) -> io::Result<Vec<u8>> {
        let mut block = vec![0; BLOCK];
        let offset = number * BLOCK as u64;
        let there = of_file.saturating_sub(offset).min(BLOCK as u64) as usize;
        self.file.read_exact_at(&mut block[..there], offset)?;
        Ok(block)
    }
}

/// The parts of `length` bytes from `offset` on, block by block: the block's number, where the part
/// begins in it, and where it stands in the whole.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % BLOCK as u64) as usize;
        let count = (BLOCK - within).min(length - done);
        let part = (at / BLOCK as u64, within, done..done + count);
        done += count;
        (count > 0).then_some(part)
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.written().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > written.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (number, within, part) in parts(offset, out.len()) {
            let from = within..within + part.len();
            match written.blocks.get(&number) {
                Some(block) => out[part].copy_from_slice(&block[from]),
                None => {
                    let block = self.block_of_file(number, written.of_file)?;
                    out[part].copy_from_slice(&block[from]);
                }
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut written = self.written();
        written.length = length;
        written.of_file = written.of_file.min(length);
        written.blocks.retain(|number, _| number * (BLOCK as u64) < length);
        let within = (length % BLOCK as u64) as usize;
        if let Some(last) = written.blocks.get_mut(&(length / BLOCK as u64)) {
            last[within..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.written();
        let of_file = written.of_file;
        for (number, within, part) in parts(offset, data.len()) {
            let block = match written.blocks.entry(number) {
                std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::btree_map::Entry::Vacant(none) => {
                    none.insert(self.block_of_file(number, of_file)?)
                }
            };
            block[within..within + part.len()].copy_from_slice(&data[part]);
        }
        written.length = written.length.max(offset + data.len() as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_behaves_as_a_file_and_leaves_the_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut twin: Vec<u8> = (0..10_000u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &twin).unwrap();
        let before = twin.clone();
        let overlay = Overlay::open(&path).unwrap();
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for step in 0..2000 {
            let offset = random(20_000) as usize;
            let count = random(9000) as usize;
            if random(3) == 0 {
                overlay.set_len(offset as u64).unwrap();
                twin.resize(offset, 0);
            } else if offset + count <= twin.len() {
                let data = vec![step as u8; count];
                overlay.write(offset as u64, &data).unwrap();
                twin[offset..offset + count].copy_from_slice(&data);
            } else {
                let mut out = vec![0; count];
                assert!(overlay.read(offset as u64, &mut out).is_err(), "behind the end");
            }
            assert_eq!(overlay.len().unwrap(), twin.len() as u64);
            let mut all = vec![0; twin.len()];
            overlay.read(0, &mut all).unwrap();
            assert!(all == twin, "step {step}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
