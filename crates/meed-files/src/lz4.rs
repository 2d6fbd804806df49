//! LZ4 as Java's lz4-java writes a stream of it, and so Spark its event logs: blocks, each behind a
//! header of 21 bytes. This is not the frame format of the program `lz4`.
//!
//! Header: `LZ4Block`; a byte for the method (16 is stored, 32 is LZ4) and the largest block (2 to
//! the power of 10 plus its lower half); the length in the file, the length of the plain bytes, and
//! 28 bits of the XXH32 of these, each four bytes, the lowest first. A block of no bytes ends the
//! stream; another stream may follow, as `cat` puts it there.
//!
//! Invariant: an end within a block, or without the block that ends the stream, is an end in the
//! middle ([`ErrorKind::UnexpectedEof`]), and all blocks before it are handed out. Cost: two blocks
//! in memory, of 32 MiB at most.

use std::io::{self, BufRead, ErrorKind, Read};

use lz4_flex::block::decompress_into;
use twox_hash::XxHash32;

/// What each block begins with.
pub(crate) const MAGIC: &[u8; 8] = b"LZ4Block";
/// Bytes before those of a block: the magic, the method and three numbers.
const HEADER: usize = 21;
const STORED: u8 = 0x10;
const COMPRESSED: u8 = 0x20;
/// The largest block has 2 to the power of this and of a half byte.
const BASE: u32 = 10;
const SEED: u32 = 0x9747_b28c;
/// What is kept of a checksum.
const MASK: u32 = 0x0fff_ffff;

/// Plain bytes of blocks.
pub(crate) struct Blocks<R> {
    raw: R,
    stored: Vec<u8>,
    plain: Vec<u8>,
    /// Plain bytes that are handed out already.
    taken: usize,
    /// Whether the stream has ended; another one may begin.
    ended: bool,
}

/// What the header of a block says.
struct Header {
    method: u8,
    stored: usize,
    plain: usize,
    checksum: u32,
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> io::Result<Header> {
        let (magic, rest) = bytes.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(damaged("a block does not begin with LZ4Block"));
        }
        let number = |at: usize| {
            let bytes = rest[at..at + 4].try_into().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        let header = Header {
            method: rest[0] & 0xf0,
            stored: number(1) as usize,
            plain: number(5) as usize,
            checksum: number(9),
        };
        let most = 1usize << (BASE + u32::from(rest[0] & 0x0f));
        let fits = match header.method {
            STORED => header.stored == header.plain,
            COMPRESSED => header.stored <= most && (header.stored == 0) == (header.plain == 0),
            _ => return Err(damaged("a block is neither stored nor LZ4")),
        };
        match fits && header.plain <= most {
            true => Ok(header),
            false => Err(damaged("the lengths of a block are wrong")),
        }
    }
}

impl<R: BufRead> Blocks<R> {
    pub(crate) fn new(raw: R) -> Blocks<R> {
        Blocks { raw, stored: Vec::new(), plain: Vec::new(), taken: 0, ended: false }
    }

    /// Reads the next block; `false` at the end.
    fn next(&mut self) -> io::Result<bool> {
        let mut bytes = [0; HEADER];
        let mut read = 0;
        while read < HEADER {
            match self.raw.read(&mut bytes[read..]) {
                Ok(0) if read == 0 && self.ended => return Ok(false),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(some) => read += some,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let header = Header::read(&bytes)?;
        self.ended = header.plain == 0;
        self.stored.clear();
        self.raw.by_ref().take(header.stored as u64).read_to_end(&mut self.stored)?;
        if self.stored.len() < header.stored {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.taken = 0;
        self.plain.clear();
        match header.method {
            STORED => self.plain.extend_from_slice(&self.stored),
            _ => {
                self.plain.resize(header.plain, 0);
                let found = match header.plain {
                    0 => Ok(0),
                    _ => decompress_into(&self.stored, &mut self.plain),
                };
                if found.ok() != Some(header.plain) {
                    self.plain.clear();
                    return Err(damaged("the bytes of a block are no LZ4 of its length"));
                }
            }
        }
        let checksum = XxHash32::oneshot(SEED, &self.plain) & MASK;
        if !self.ended && checksum != header.checksum {
            self.plain.clear();
            return Err(damaged("the checksum of a block is wrong"));
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.plain.len() {
            if buffer.is_empty() || !self.next()? {
                return Ok(0);
            }
        }
        let read = (&self.plain[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block; `method` with the largest block in its lower half.
    fn block(method: u8, stored: &[u8], plain: &[u8]) -> Vec<u8> {
        let checksum = if plain.is_empty() { 0 } else { XxHash32::oneshot(SEED, plain) & MASK };
        let numbers = [stored.len() as u32, plain.len() as u32, checksum];
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        let header = MAGIC.iter().copied().chain([method]).chain(numbers);
        header.chain(stored.iter().copied()).collect()
    }

    fn stream(texts: &[&[u8]]) -> Vec<u8> {
        let blocks = texts.iter().map(|text| {
            let packed = lz4_flex::block::compress(text);
            match packed.len() < text.len() {
                true => block(COMPRESSED | 5, &packed, text),
                false => block(STORED | 5, text, text),
            }
        });
        blocks.chain([block(STORED | 5, b"", b"")]).flatten().collect()
    }

    fn read(bytes: &[u8]) -> (Vec<u8>, Option<io::Error>) {
        let mut plain = Vec::new();
        let error = Blocks::new(bytes).read_to_end(&mut plain).err();
        (plain, error)
    }

    #[test]
    fn blocks_come_out_one_after_the_other() {
        let long = b"again and again ".repeat(1000);
        let bytes = stream(&[b"short", &long]);
        let expected = [b"short".as_slice(), &long].concat();
        let (plain, error) = read(&bytes);
        assert!(error.is_none() && plain == expected, "{error:?}");
        // Two streams, as `cat` makes them.
        let (plain, error) = read(&[stream(&[b"one"]), stream(&[b"two"])].concat());
        assert!(error.is_none() && plain == b"onetwo", "{error:?}");
    }

    #[test]
    fn an_end_in_the_middle_is_told_behind_all_whole_blocks() {
        let bytes = stream(&[b"first", b"second"]);
        for (length, whole) in [
            (bytes.len() - HEADER, b"firstsecond".as_slice()),
            (bytes.len() - 1, b"firstsecond"),
            (bytes.len() - HEADER - 1, b"first"),
            (HEADER + 3, b""),
            (0, b""),
        ] {
            let (plain, error) = read(&bytes[..length]);
            assert_eq!(plain, whole, "{length}");
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::UnexpectedEof), "{length}");
        }
    }

    #[test]
    fn damage_is_told_and_asks_for_no_memory() {
        let mut wrong = stream(&[b"first"]);
        wrong[HEADER] ^= 1;
        let mut huge = block(COMPRESSED | 15, b"x", b"");
        huge[13..17].fill(0xff);
        let rows: [(Vec<u8>, &str); 6] = [
            (wrong, "the checksum of a block is wrong"),
            (huge, "the lengths of a block are wrong"),
            (block(STORED, b"ab", b"abc"), "the lengths of a block are wrong"),
            (block(0x30, b"abc", b"abc"), "a block is neither stored nor LZ4"),
            (block(COMPRESSED | 5, b"\xff\xff", b"abc"), "the bytes of a block are no LZ4"),
            ([stream(&[b"a"]), vec![b'x'; HEADER]].concat(), "does not begin with LZ4Block"),
        ];
        for (bytes, expected) in rows {
            let error = read(&bytes).1.unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().contains(expected), "{error}: {expected}");
        }
    }
}
