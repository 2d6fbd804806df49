//! Compressed segments: zstd, with its own checksum of the text.

#[cfg(feature = "zstd")]
use std::io::{Read, Write};

use crate::error::StoreError;

/// Whether closed segments are compressed by this build.
pub(super) const COMPRESSES: bool = cfg!(feature = "zstd");

#[cfg(feature = "zstd")]
pub(super) fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3)?;
    encoder.include_checksum(true)?;
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(feature = "zstd")]
pub(super) fn unpack(place: &str, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::new();
    let done = zstd::Decoder::with_buffer(stored).and_then(|mut d| d.read_to_end(&mut text));
    match done {
        Ok(_) => Ok(text),
        Err(error) => Err(StoreError::Damaged {
            place: place.to_owned(),
            line: text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1,
            offset: text.len() as u64,
            found: error.to_string(),
            expected: "zstd-compressed text whose checksum is right".to_owned(),
        }),
    }
}

/// The first bytes of the text, at most `length`.
#[cfg(feature = "zstd")]
pub(super) fn unpack_front(stored: &[u8], length: usize) -> Vec<u8> {
    let mut text = Vec::new();
    // What cannot be read is found damaged by whoever reads it whole.
    if let Ok(decoder) = zstd::Decoder::with_buffer(stored) {
        drop(decoder.take(length as u64).read_to_end(&mut text));
    }
    text
}

#[cfg(not(feature = "zstd"))]
pub(super) fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    Ok(text.to_vec())
}

#[cfg(not(feature = "zstd"))]
pub(super) fn unpack(place: &str, _stored: &[u8]) -> Result<Vec<u8>, StoreError> {
    let why = "compressed, and this program is built without zstd (feature \"zstd\")".to_owned();
    Err(StoreError::Foreign { place: place.to_owned(), why })
}

#[cfg(not(feature = "zstd"))]
pub(super) fn unpack_front(_stored: &[u8], _length: usize) -> Vec<u8> {
    Vec::new()
}
