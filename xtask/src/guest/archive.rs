//! What the machine has in memory: an archive (cpio, of the form `newc`) that the kernel unpacks.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An archive of the form `newc`.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    there: BTreeSet<PathBuf>,
}

impl Archive {
    pub(super) fn folder(&mut self, path: &Path) -> Result<(), String> {
        if path.parent().is_none() || !self.there.insert(path.to_owned()) {
            return Ok(());
        }
        path.parent().map_or(Ok(()), |above| self.folder(above))?;
        self.entry(path, 0o040_755, &[])
    }

    pub(super) fn file(&mut self, path: &Path, content: &[u8], runs: bool) -> Result<(), String> {
        if !self.there.insert(path.to_owned()) {
            return Ok(());
        }
        path.parent().map_or(Ok(()), |above| self.folder(above))?;
        self.entry(path, if runs { 0o100_755 } else { 0o100_644 }, content)
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) -> Result<(), String> {
        let name = path.to_str().ok_or("a path that is no text")?.trim_start_matches('/');
        let (number, size, length) = (self.there.len(), content.len(), name.len() + 1);
        let fields = [number, mode as usize, 0, 0, 1, 0, size, 0, 0, 0, 0, length, 0];
        let mut head = "070701".to_owned();
        fields.iter().for_each(|field| head += &format!("{field:08x}"));
        let failed = |why: std::io::Error| why.to_string();
        write!(self.bytes, "{head}{name}\0").map_err(failed)?;
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
        Ok(())
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        // It ends with an entry of this name.
        let _ = self.entry(Path::new("TRAILER!!!"), 0, &[]);
        self.bytes
    }
}
