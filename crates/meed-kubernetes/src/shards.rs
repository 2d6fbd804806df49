//! A checkpoint cut into shards, and put together again.
//!
//! The bytes are compressed and cut into pieces that the API server takes (a request is at most
//! 1.5 MiB). A [`Manifest`] says how many there are and what they add up to; what does not add up
//! is not read. Cost: one pass of zlib.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

/// Bytes of a shard at most: encoded as base64 a third more.
pub(crate) const SHARD_BYTES: usize = 600 << 10;

/// What a checkpoint may grow to when it is unpacked.
const MAX_BYTES: u64 = 1 << 30;

/// What a set of shards adds up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// How many shards.
    pub(crate) shards: usize,
    /// Bytes of the checkpoint.
    pub(crate) bytes: usize,
    /// Their check sum (CRC-32).
    pub(crate) crc: u32,
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Cuts a checkpoint.
pub(crate) fn cut(bytes: &[u8]) -> std::io::Result<(Manifest, Vec<Vec<u8>>)> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes)?;
    let packed = packer.finish()?;
    let shards: Vec<Vec<u8>> = packed.chunks(SHARD_BYTES).map(<[u8]>::to_vec).collect();
    Ok((Manifest { shards: shards.len(), bytes: bytes.len(), crc: crc(bytes) }, shards))
}

/// Puts a checkpoint together; in words why it cannot.
pub(crate) fn join(manifest: &Manifest, shards: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    if shards.len() != manifest.shards {
        return Err(format!("{} shards are there, not {}", shards.len(), manifest.shards));
    }
    let packed = shards.concat();
    let mut bytes = Vec::new();
    let mut reader = ZlibDecoder::new(packed.as_slice()).take(MAX_BYTES);
    reader.read_to_end(&mut bytes).map_err(|why| format!("the shards are damaged: {why}"))?;
    if bytes.len() != manifest.bytes || crc(&bytes) != manifest.crc {
        let (found, wanted) = (bytes.len(), manifest.bytes);
        return Err(format!("the shards are damaged: {found} bytes, not the {wanted} written"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that do not compress: the upper bytes of a linear congruence.
    fn noise(count: usize) -> Vec<u8> {
        let step = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        std::iter::successors(Some(1u64), step).map(|x| (x >> 56) as u8).take(count).collect()
    }

    #[test]
    fn what_is_cut_is_put_together_again() {
        for (count, shards) in [(0, 1), (1, 1), (SHARD_BYTES * 2, 3)] {
            let bytes = noise(count);
            let (manifest, cut) = cut(&bytes).unwrap();
            assert_eq!(manifest.shards, shards);
            assert!(cut.iter().all(|shard| shard.len() <= SHARD_BYTES));
            assert_eq!(join(&manifest, &cut).unwrap(), bytes);
        }
    }

    #[test]
    fn what_is_missing_or_damaged_is_noticed() {
        let (manifest, cut) = cut(&noise(SHARD_BYTES * 2)).unwrap();
        assert!(join(&manifest, &cut[1..]).unwrap_err().contains("2 shards are there, not 3"));
        for place in [0, SHARD_BYTES, SHARD_BYTES * 2] {
            let mut damaged = cut.clone();
            damaged[place / SHARD_BYTES][place % SHARD_BYTES] ^= 16;
            assert!(join(&manifest, &damaged).is_err(), "a bit at {place}");
        }
        let mut swapped = cut;
        swapped.swap(0, 1);
        assert!(join(&manifest, &swapped).is_err());
    }
}
