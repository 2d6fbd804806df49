//! Compressed data of several members (gzip) or streams (xz), one after the other, and what follows
//! them.
//!
//! gzip passes over what follows its last member, and warns; so does this, by
//! [`crate::Input::trailing`]. xz calls it an error, and so does this, in a sentence of its own:
//! nothing is cut short. Zeros after the end are padding in both. Cost: none but the decoder's.

use std::io::{self, BufRead, Chain, Cursor, ErrorKind, Read};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;

use crate::open::Watch;

/// Compressed bytes; those of a member's beginning that were looked at already come first.
type Raw<R> = Chain<Cursor<Vec<u8>>, R>;

/// A decoder of one member.
pub(crate) trait Member<R>: Read {
    /// What every member begins with.
    const MAGIC: &'static [u8];
    /// Whether other bytes may follow the last member.
    const PASSES_OVER: bool;

    fn new(raw: Raw<R>) -> Self;
    fn into_raw(self) -> Raw<R>;
}

impl<R: BufRead> Member<R> for GzDecoder<Raw<R>> {
    const MAGIC: &'static [u8] = &[0x1f, 0x8b];
    const PASSES_OVER: bool = true;

    fn new(raw: Raw<R>) -> Self {
        GzDecoder::new(raw)
    }

    fn into_raw(self) -> Raw<R> {
        self.into_inner()
    }
}

impl<R: BufRead> Member<R> for XzDecoder<Raw<R>> {
    const MAGIC: &'static [u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
    const PASSES_OVER: bool = false;

    fn new(raw: Raw<R>) -> Self {
        XzDecoder::new(raw)
    }

    fn into_raw(self) -> Raw<R> {
        self.into_inner()
    }
}

/// All members, one after the other.
pub(crate) struct Members<R, M> {
    /// `None` at the end.
    member: Option<M>,
    watch: Arc<Watch>,
    raw: PhantomData<R>,
}

impl<R: BufRead, M: Member<R>> Members<R, M> {
    pub(crate) fn new(raw: R, watch: Arc<Watch>) -> Members<R, M> {
        let first = M::new(Cursor::new(Vec::new()).chain(raw));
        Members { member: Some(first), watch, raw: PhantomData }
    }

    /// The member that begins where the one before ended, if one does.
    fn next(&self, raw: Raw<R>) -> io::Result<Option<M>> {
        let (_, mut rest) = raw.into_inner();
        let mut start = Vec::new();
        while start.len() < M::MAGIC.len() {
            match first_byte(&mut rest)? {
                None if start.is_empty() => return Ok(None),
                Some(0) if start.is_empty() => {}
                Some(byte) if byte == M::MAGIC[start.len()] => start.push(byte),
                _ => {
                    self.watch.trailing.store(true, Relaxed);
                    let why = "the bytes after the end of the data are none of it";
                    return match M::PASSES_OVER {
                        true => Ok(None),
                        false => Err(io::Error::new(ErrorKind::InvalidData, why)),
                    };
                }
            }
            rest.consume(1);
        }
        Ok(Some(M::new(Cursor::new(start).chain(rest))))
    }
}

/// The next byte, which stays.
fn first_byte(from: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match from.fill_buf() {
            Ok(buffer) => return Ok(buffer.first().copied()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl<R: BufRead, M: Member<R>> Read for Members<R, M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            let raw = self.member.take().expect("it was there").into_raw();
            self.member = self.next(raw)?;
        }
        Ok(0)
    }
}
