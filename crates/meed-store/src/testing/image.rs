//! What is on a simulated disk, what readers see, and what a loss of power may leave.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::disk::SECTOR;

/// A change of a file that is not synced yet.
#[derive(Clone)]
pub(super) enum Piece {
    Bytes { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

/// A change of the folder that is not synced yet.
#[derive(Clone)]
pub(super) enum Entry {
    Added { name: String, id: usize },
    Renamed { from: String, to: String, id: usize },
    Removed { name: String },
}

#[derive(Clone, Default)]
struct Content {
    /// On the disk for good.
    durable: Arc<Vec<u8>>,
    /// What readers see.
    seen: Arc<Vec<u8>>,
    /// Written since the last sync, in order.
    unsynced: Vec<Piece>,
}

/// Files by number, and names for them.
#[derive(Clone, Default)]
pub(super) struct Image {
    files: Vec<Content>,
    durable_names: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
    unsynced_names: Vec<Entry>,
}

impl Image {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    pub(super) fn seen(&self, id: usize) -> &[u8] {
        &self.files[id].seen
    }

    pub(super) fn new_file(&mut self) -> usize {
        self.files.push(Content::default());
        self.files.len() - 1
    }

    pub(super) fn change(&mut self, entry: Entry) {
        entry.apply(&mut self.names);
        self.unsynced_names.push(entry);
    }

    pub(super) fn sync_folder(&mut self) {
        self.durable_names = self.names.clone();
        self.unsynced_names.clear();
    }

    pub(super) fn write(&mut self, id: usize, piece: Piece) {
        let file = &mut self.files[id];
        piece.apply(Arc::make_mut(&mut file.seen));
        file.unsynced.push(piece);
    }

    pub(super) fn sync(&mut self, id: usize) {
        let file = &mut self.files[id];
        let durable = Arc::make_mut(&mut file.durable);
        for piece in file.unsynced.drain(..) {
            piece.apply(durable);
        }
    }

    /// A sync has failed: what was to be written is forgotten, though it is still seen.
    pub(super) fn drop_unsynced(&mut self, id: usize) {
        self.files[id].unsynced.clear();
    }

    pub(super) fn flip(&mut self, id: usize, bit: usize) {
        let file = &mut self.files[id];
        for content in [&mut file.durable, &mut file.seen] {
            if let Some(byte) = Arc::make_mut(content).get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    pub(super) fn put(&mut self, name: &str, content: &[u8]) {
        let id = self.new_file();
        let content = Arc::new(content.to_vec());
        self.files[id] = Content { durable: content.clone(), seen: content, unsynced: Vec::new() };
        self.names.insert(name.to_owned(), id);
        self.sync_folder();
    }

    /// All that is seen, as if it were synced.
    pub(super) fn settled(&self) -> Self {
        let settled = |file: &Content| Content {
            durable: file.seen.clone(),
            seen: file.seen.clone(),
            unsynced: Vec::new(),
        };
        Self {
            files: self.files.iter().map(settled).collect(),
            durable_names: self.names.clone(),
            names: self.names.clone(),
            unsynced_names: Vec::new(),
        }
    }

    pub(super) fn after_power_loss(&self, limit: usize, seed: u64) -> Vec<Self> {
        let fragments = self.fragments();
        let choices = choices(&fragments, limit, seed);
        choices.into_iter().map(|choice| self.left(&fragments, &choice)).collect()
    }

    /// All that is not synced, in order, writes by sectors.
    fn fragments(&self) -> Vec<Fragment> {
        let names = self.unsynced_names.iter().map(|entry| Fragment::Name(entry.clone()));
        let mut fragments: Vec<Fragment> = names.collect();
        for (id, file) in self.files.iter().enumerate() {
            for piece in &file.unsynced {
                match piece {
                    Piece::Length(_) => fragments.push(Fragment::File(id, piece.clone())),
                    Piece::Bytes { offset, bytes } => {
                        let sectors = sectors(*offset, bytes);
                        fragments.extend(sectors.map(|piece| Fragment::File(id, piece)));
                    }
                }
            }
        }
        fragments
    }

    /// The image with these fragments applied: all of a fragment, none, or its first bytes.
    fn left(&self, fragments: &[Fragment], choice: &[usize]) -> Self {
        let mut names = self.durable_names.clone();
        let mut contents: Vec<_> = self.files.iter().map(|file| file.durable.clone()).collect();
        for (fragment, &bytes) in fragments.iter().zip(choice) {
            match fragment {
                _ if bytes == 0 => {}
                Fragment::Name(entry) => entry.apply(&mut names),
                Fragment::File(id, piece) => {
                    piece.first_bytes(bytes).apply(Arc::make_mut(&mut contents[*id]));
                }
            }
        }
        let file = |content: Arc<Vec<u8>>| Content {
            durable: content.clone(),
            seen: content,
            unsynced: Vec::new(),
        };
        Self {
            files: contents.into_iter().map(file).collect(),
            durable_names: names.clone(),
            names,
            unsynced_names: Vec::new(),
        }
    }
}

/// A part of what is not synced that is there or not.
enum Fragment {
    Name(Entry),
    File(usize, Piece),
}

impl Fragment {
    /// In how many steps it can be there: a sector byte by byte, all else at once.
    fn steps(&self) -> usize {
        match self {
            Self::File(_, Piece::Bytes { bytes, .. }) => bytes.len(),
            _ => 1,
        }
    }
}

impl Entry {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Added { name, id } => drop(names.insert(name.clone(), *id)),
            Self::Removed { name } => drop(names.remove(name)),
            Self::Renamed { from, to, id } => {
                names.remove(from);
                names.insert(to.clone(), *id);
            }
        }
    }
}

impl Piece {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Length(length) => content.resize(*length, 0),
            Self::Bytes { bytes, .. } if bytes.is_empty() => {}
            Self::Bytes { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*offset..end].copy_from_slice(bytes);
            }
        }
    }

    fn first_bytes(&self, count: usize) -> Self {
        match self {
            Self::Bytes { offset, bytes } => {
                Self::Bytes { offset: *offset, bytes: bytes[..count.min(bytes.len())].to_vec() }
            }
            Self::Length(length) => Self::Length(*length),
        }
    }
}

fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = Piece> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let room = SECTOR - (offset + start) % SECTOR;
        let piece = &rest[..rest.len().min(room)];
        let piece = Piece::Bytes { offset: offset + start, bytes: piece.to_vec() };
        start += room;
        Some(piece)
    })
}

/// Which part of each fragment is there, in up to `limit` ways.
fn choices(fragments: &[Fragment], limit: usize, seed: u64) -> Vec<Vec<usize>> {
    let all: Vec<usize> = fragments.iter().map(Fragment::steps).collect();
    let count = all.len();
    let pick = |chosen: &dyn Fn(usize) -> bool| -> Vec<usize> {
        all.iter().enumerate().map(|(i, steps)| if chosen(i) { *steps } else { 0 }).collect()
    };
    let mut found = Vec::new();
    if count < 16 && 1 << count <= limit {
        found.extend((0..1_u32 << count).map(|mask| pick(&|i| mask >> i & 1 == 1)));
    } else {
        found.push(pick(&|_| false));
        found.push(pick(&|_| true));
        for one in 0..count {
            found.push(pick(&|i| i != one));
            found.push(pick(&|i| i == one));
            found.push(pick(&|i| i < one));
            found.push(pick(&|i| i > one));
        }
    }
    // Cut within a sector, with what is before it there, and with or without what is behind.
    for (cut, &steps) in all.iter().enumerate() {
        for bytes in 1..steps {
            for behind in [false, true] {
                let mut choice = pick(&|i| i < cut || behind && i > cut);
                choice[cut] = bytes;
                found.push(choice);
            }
        }
    }
    let mut random = Random(seed);
    random.thin(&mut found, limit);
    while found.len() < limit && count > 0 && 1_usize << count.min(20) > limit {
        found.push(all.iter().map(|steps| if random.below(2) == 0 { 0 } else { *steps }).collect());
    }
    found
}

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % bound
    }

    /// Keeps the first two (nothing, all) and a random part of the others.
    fn thin(&mut self, found: &mut Vec<Vec<usize>>, limit: usize) {
        while found.len() > limit.max(2) {
            let drawn = 2 + self.below(found.len() as u64 - 2);
            let drawn = usize::try_from(drawn).expect("an index");
            found.swap_remove(drawn);
        }
    }
}
