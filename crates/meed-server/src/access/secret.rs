//! Secrets: what a token, a one-time code and a signed-in browser hold.
//!
//! A secret is 256 bits from the system's generator, so there is nothing to guess and nothing that
//! a slow hash would protect: one SHA-256 of it is kept, from which nobody finds it back, and which
//! costs no time to check. The number before it is not secret: it finds the row, and the hashes are
//! compared in constant time.

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::text::hex;

/// What every secret begins with, so that it is found where it should not be.
const PREFIX: &str = "meed_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

/// What is kept of a secret.
pub(crate) type Hash = [u8; 32];

/// A new secret.
pub(crate) struct Secret {
    /// Finds its row; not secret.
    pub(crate) id: String,
    /// As its owner gets it, once.
    pub(crate) text: String,
    /// As it is kept.
    pub(crate) hash: Hash,
}

impl Secret {
    pub(crate) fn fresh() -> std::io::Result<Secret> {
        let mut bytes = [0; ID_BYTES + SECRET_BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
        }
        let (id, secret) = bytes.split_at(ID_BYTES);
        let (id, secret) = (hex(id), hex(secret));
        let text = format!("{PREFIX}{id}_{secret}");
        Ok(Secret { hash: hash(&secret), id, text })
    }
}

/// The number and the hash of what somebody shows; `None`: it has not the form of a secret.
pub(crate) fn read(shown: &str) -> Option<(&str, Hash)> {
    let (id, secret) = shown.strip_prefix(PREFIX)?.split_once('_')?;
    let is_hex = |text: &str, bytes: usize| {
        text.len() == 2 * bytes && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    (is_hex(id, ID_BYTES) && is_hex(secret, SECRET_BYTES)).then(|| (id, hash(secret)))
}

/// In constant time.
pub(crate) fn is_same(a: &Hash, b: &Hash) -> bool {
    a.ct_eq(b).into()
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_known_and_nothing_else() {
        let (a, b) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        assert_ne!(a.text, b.text);
        assert_eq!(a.text.len(), 5 + 16 + 1 + 64);
        let (id, hash) = read(&a.text).unwrap();
        assert!(id == a.id && is_same(&hash, &a.hash) && !is_same(&hash, &b.hash));
        assert!(!a.text.contains(&hex(&a.hash)), "what is kept is not what is shown");
        let upper = a.text.to_uppercase();
        let long = format!("{}0", a.text);
        for wrong in ["", "meed_", "meed__", &a.text[1..], &a.text[..80], &upper, &long, "meed_é_x"]
        {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_hash_is_sha_256() {
        // The empty text's, as FIPS 180-4 has it.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex(&hash("")), empty);
    }
}
