//! Browsers that are signed in: a cookie that scripts cannot read, and a key that only the page of
//! this port can, for the token that somebody pasted.
//!
//! Both are 256 random bits, of which the SHA-256 is kept: there is nothing to guess. The token
//! stays in memory, to be looked at again ([`super::who`]): one that is revoked or too old is good
//! for nothing more. All are forgotten when the process ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::clock::monotonic;

/// How long a browser stays signed in, where its token lasts as long.
pub(super) const LASTS: Duration = Duration::from_secs(12 * 3600);
/// Browsers at once, and of one user: the oldest of them goes.
const MOST: usize = 1024;
const MOST_OF_ONE: usize = 32;

pub(super) type Hash = [u8; 32];

struct Seat {
    key: Hash,
    token: String,
    user: String,
    until: Instant,
}

/// See the module.
#[derive(Default)]
pub(super) struct Doors {
    seats: Mutex<BTreeMap<Hash, Seat>>,
}

pub(super) fn hash(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

fn secret() -> std::io::Result<String> {
    let mut bytes = [0u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    let mut text = String::with_capacity(64);
    for byte in bytes {
        // A text takes all.
        _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

impl Doors {
    fn with<T>(&self, read: impl FnOnce(&mut BTreeMap<Hash, Seat>) -> T) -> T {
        read(&mut self.seats.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Cookie and key of a browser that shows this token; `None`: there are too many, or there is
    /// no randomness.
    pub(super) fn sign_in(&self, user: &str, token: &str) -> Option<(String, String)> {
        let (cookie, key) = (secret().ok()?, secret().ok()?);
        let now = monotonic();
        let seat = Seat {
            key: hash(&key),
            token: token.to_owned(),
            user: user.to_owned(),
            until: now + LASTS,
        };
        self.with(|seats| {
            seats.retain(|_, seat| seat.until > now);
            let own = seats.iter().filter(|(_, seat)| seat.user == user);
            if own.clone().count() >= MOST_OF_ONE
                && let Some(oldest) = own.min_by_key(|(_, seat)| seat.until).map(|(hash, _)| *hash)
            {
                seats.remove(&oldest);
            }
            if seats.len() >= MOST {
                return None;
            }
            seats.insert(hash(&cookie), seat);
            Some((cookie, key))
        })
    }

    /// The token of a browser that shows this cookie and its key.
    pub(super) fn token(&self, cookie: &str, key: &str) -> Option<String> {
        let (cookie, key, now) = (hash(cookie), hash(key), monotonic());
        self.with(|seats| {
            let seat = seats.get(&cookie).filter(|seat| seat.until > now)?;
            bool::from(seat.key.ct_eq(&key)).then(|| seat.token.clone())
        })
    }

    pub(super) fn sign_out(&self, cookie: &str) {
        let cookie = hash(cookie);
        self.with(|seats| _ = seats.remove(&cookie));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_cookie_nor_key_is_good_without_the_other() {
        let doors = Doors::default();
        let (cookie, key) = doors.sign_in("ann", "token").unwrap();
        assert_eq!(doors.token(&cookie, &key).as_deref(), Some("token"));
        assert_eq!(doors.token(&cookie, ""), None);
        assert_eq!(doors.token(&cookie, &cookie), None);
        assert_eq!(doors.token(&key, &key), None);
        doors.sign_out(&cookie);
        assert_eq!(doors.token(&cookie, &key), None);
    }

    #[test]
    fn the_oldest_browser_of_a_user_goes_and_nobody_fills_the_house_alone() {
        let doors = Doors::default();
        let all: Vec<(String, String)> =
            (0..=MOST_OF_ONE).map(|_| doors.sign_in("ann", "t").unwrap()).collect();
        let lives = all.iter().filter(|(cookie, key)| doors.token(cookie, key).is_some());
        assert_eq!(lives.count(), MOST_OF_ONE);
        let (cookie, key) = &all[MOST_OF_ONE];
        assert!(doors.token(cookie, key).is_some(), "the newest is in");
        for user in 0..MOST {
            doors.sign_in(&user.to_string(), "t");
        }
        assert!(doors.sign_in("one more", "t").is_none());
        assert_eq!(doors.with(|seats| seats.len()), MOST);
    }
}
