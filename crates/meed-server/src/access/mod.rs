//! Who comes in by HTTP: tokens, one-time codes, and browsers that are signed in.
//!
//! The world's thread makes and revokes tokens, which are durable in its books before they are good
//! for anything; HTTP only asks who somebody is. What they then may do the world decides, as for
//! everybody: a way in is a user and a bound on what that user may.
//!
//! A browser that is signed in shows two secrets: a cookie, which scripts cannot read, and a key,
//! which the page keeps for its own origin. Browsers send cookies to every port of a host, so on a
//! machine that many share the cookie alone would be anybody's who lures a browser to a port of
//! theirs; and the key alone is nothing either.
//!
//! Codes and signed-in browsers live in memory: they end with the server.

mod secret;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::{boot_us, wall_us};
use crate::protocol::TokenView;
use crate::settings::Role;
use crate::user::{LocalUser, WayIn};
pub(crate) use secret::Secret;

/// How long a one-time code is good.
pub(crate) const CODE_SECONDS: u64 = 120;
/// How long a browser stays signed in.
pub(crate) const SESSION_SECONDS: u64 = 12 * 3600;
/// Codes and browsers of one user at once: the oldest goes.
const MOST_OF_ONE: usize = 32;

/// A token as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TokenRow {
    /// Its number.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// Whose it is.
    pub uid: u32,
    /// Their main group when it was made.
    pub gid: u32,
    /// Their name then.
    pub user: String,
    /// The highest role that it allows.
    pub role: Role,
    /// It changes nothing.
    pub reads_only: bool,
    /// When it was made.
    pub created_us: u64,
    /// When it ends.
    pub expires_us: Option<u64>,
    /// SHA-256 of its secret.
    pub hash: [u8; 32],
}

impl TokenRow {
    pub(crate) fn view(&self) -> TokenView {
        TokenView {
            id: self.id.clone(),
            name: self.name.clone(),
            user: self.user.clone(),
            role: self.role,
            reads_only: self.reads_only,
            created_us: self.created_us,
            expires_us: self.expires_us,
        }
    }

    fn is_good(&self) -> bool {
        self.expires_us.is_none_or(|end| wall_us() < end)
    }

    fn guest(&self) -> Guest {
        let way = WayIn { role: self.role, reads_only: self.reads_only };
        Guest { uid: self.uid, gid: self.gid, way, token: Some(self.id.clone()), session: None }
    }
}

/// Who somebody is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Guest {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) way: WayIn,
    /// By which token, where it was one.
    pub(crate) token: Option<String>,
    /// By which signed-in browser.
    session: Option<String>,
}

impl Guest {
    /// The user, as the system knows them now.
    pub(crate) fn user(&self) -> LocalUser {
        let mut user = LocalUser::of(self.uid, self.gid);
        user.way = self.way;
        user
    }
}

/// A code, or a browser that is signed in.
struct Pass {
    hash: [u8; 32],
    /// Of a browser, the hash of its key.
    key: Option<[u8; 32]>,
    guest: Guest,
    /// Boot instants.
    made_us: u64,
    until_us: u64,
}

#[derive(Default)]
struct Inside {
    /// Where the interface is met; `None`: nowhere.
    address: Option<String>,
    tokens: BTreeMap<String, TokenRow>,
    codes: BTreeMap<String, Pass>,
    sessions: BTreeMap<String, Pass>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Doors {
    inside: Mutex<Inside>,
}

impl Doors {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The interface is met there.
    pub(crate) fn open_at(&self, address: String) {
        self.inside().address = Some(address);
    }

    pub(crate) fn address(&self) -> Option<String> {
        self.inside().address.clone()
    }

    /// The token is durable: it is good from now on.
    pub(crate) fn admit(&self, row: TokenRow) {
        self.inside().tokens.insert(row.id.clone(), row);
    }

    /// The token is good for nothing any more, nor are browsers that came in by it.
    pub(crate) fn revoke(&self, id: &str) {
        let mut inside = self.inside();
        inside.tokens.remove(id);
        inside.sessions.retain(|_, pass| pass.guest.token.as_deref() != Some(id));
    }

    pub(crate) fn tokens(&self) -> Vec<TokenRow> {
        self.inside().tokens.values().cloned().collect()
    }

    pub(crate) fn token(&self, id: &str) -> Option<TokenRow> {
        self.inside().tokens.get(id).cloned()
    }

    /// Who shows this token.
    pub(crate) fn by_token(&self, shown: &str) -> Option<Guest> {
        let (id, hash) = secret::read(shown)?;
        let inside = self.inside();
        let row = inside.tokens.get(id)?;
        (secret::is_same(&row.hash, &hash) && row.is_good()).then(|| row.guest())
    }

    /// Whose browser this is, by its cookie and its key.
    pub(crate) fn by_browser(&self, cookie: &str, key: &str) -> Option<Guest> {
        let (id, hash) = secret::read(cookie)?;
        let (_, key) = secret::read(key)?;
        let inside = self.inside();
        let pass = inside.sessions.get(id)?;
        let has_key = pass.key.is_some_and(|known| secret::is_same(&known, &key));
        let is_it = secret::is_same(&pass.hash, &hash) && has_key && boot_us() < pass.until_us;
        let holds = |token: &String| inside.tokens.get(token).is_some_and(TokenRow::is_good);
        let guest = &pass.guest;
        let known = is_it && guest.token.as_ref().is_none_or(holds);
        known.then(|| Guest { session: Some(id.to_owned()), ..guest.clone() })
    }

    /// Whether who came in so still would.
    pub(crate) fn still_knows(&self, guest: &Guest) -> bool {
        let inside = self.inside();
        let holds = |token: &String| inside.tokens.get(token).is_some_and(TokenRow::is_good);
        let is_signed_in =
            |id: &String| inside.sessions.get(id).is_some_and(|pass| boot_us() < pass.until_us);
        guest.token.as_ref().is_none_or(holds) && guest.session.as_ref().is_none_or(is_signed_in)
    }

    /// A code that signs a browser of this user in, once.
    pub(crate) fn code(&self, user: &LocalUser) -> std::io::Result<String> {
        let guest =
            Guest { uid: user.uid, gid: user.gid, way: user.way, token: None, session: None };
        let (code, pass) = pass(guest, CODE_SECONDS)?;
        keep(&mut self.inside().codes, code.id, pass);
        Ok(code.text)
    }

    /// Who shows a code, which is then used up.
    pub(crate) fn use_code(&self, shown: &str) -> Option<Guest> {
        let (id, hash) = secret::read(shown)?;
        let mut inside = self.inside();
        let pass = inside.codes.get(id)?;
        if !secret::is_same(&pass.hash, &hash) {
            return None;
        }
        let pass = inside.codes.remove(id)?;
        (boot_us() < pass.until_us).then_some(pass.guest)
    }

    /// A browser of `guest` is signed in: what its cookie holds, and its key.
    pub(crate) fn sign_in(&self, guest: Guest) -> std::io::Result<(String, String)> {
        let (cookie, mut pass) = pass(guest, SESSION_SECONDS)?;
        let key = Secret::fresh()?;
        pass.key = Some(key.hash);
        keep(&mut self.inside().sessions, cookie.id, pass);
        Ok((cookie.text, key.text))
    }

    /// A browser is not signed in any more.
    pub(crate) fn sign_out(&self, shown: &str) {
        if let Some((id, hash)) = secret::read(shown) {
            let mut inside = self.inside();
            if inside.sessions.get(id).is_some_and(|pass| secret::is_same(&pass.hash, &hash)) {
                inside.sessions.remove(id);
            }
        }
    }
}

fn pass(guest: Guest, seconds: u64) -> std::io::Result<(Secret, Pass)> {
    let secret = Secret::fresh()?;
    let now = boot_us();
    let until_us = now + seconds * 1_000_000;
    let pass = Pass { hash: secret.hash, key: None, guest, made_us: now, until_us };
    Ok((secret, pass))
}

/// Keeps it; what is over goes, and of too many of one user the oldest.
fn keep(passes: &mut BTreeMap<String, Pass>, id: String, new: Pass) {
    let now = boot_us();
    passes.retain(|_, pass| now < pass.until_us);
    let own = passes.iter().filter(|(_, pass)| pass.guest.uid == new.guest.uid);
    let mut own: Vec<(u64, String)> = own.map(|(id, pass)| (pass.made_us, id.clone())).collect();
    own.sort();
    let extra = (own.len() + 1).saturating_sub(MOST_OF_ONE);
    own.iter().take(extra).for_each(|(_, id)| drop(passes.remove(id)));
    passes.insert(id, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(secret: &Secret, expires_us: Option<u64>) -> TokenRow {
        TokenRow {
            id: secret.id.clone(),
            name: "x".into(),
            uid: 4711,
            gid: 4711,
            user: "uid-4711".into(),
            role: Role::Tenant,
            reads_only: false,
            created_us: 0,
            expires_us,
            hash: secret.hash,
        }
    }

    #[test]
    fn a_token_is_good_until_it_ends_or_is_revoked() {
        let doors = Doors::default();
        let (good, old) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        doors.admit(row(&good, Some(wall_us() + 60_000_000)));
        doors.admit(row(&old, Some(wall_us() - 1)));
        assert_eq!(doors.by_token(&good.text).unwrap().uid, 4711);
        assert!(doors.by_token(&old.text).is_none());
        // The number of one with the secret of the other.
        let mixed = format!("meed_{}_{}", good.id, &old.text[old.text.len() - 64..]);
        assert!(doors.by_token(&mixed).is_none());
        let (cookie, key) = doors.sign_in(doors.by_token(&good.text).unwrap()).unwrap();
        assert!(doors.by_token(&cookie).is_none() && doors.by_token(&key).is_none());
        let (_, other) = doors.sign_in(doors.by_token(&good.text).unwrap()).unwrap();
        for wrong in ["", &other, &cookie] {
            assert!(doors.by_browser(&cookie, wrong).is_none(), "the cookie alone is nothing");
        }
        assert!(doors.by_browser(&key, &key).is_none(), "nor is the key");
        let guest = doors.by_browser(&cookie, &key).unwrap();
        doors.revoke(&good.id);
        assert!(doors.by_token(&good.text).is_none());
        assert!(doors.by_browser(&cookie, &key).is_none());
        assert!(!doors.still_knows(&guest));
    }

    #[test]
    fn a_code_is_good_once_and_the_oldest_browser_goes() {
        let doors = Doors::default();
        let user = LocalUser::made_up("ann", 4711);
        let code = doors.code(&user).unwrap();
        let guest = doors.use_code(&code).unwrap();
        assert!(doors.use_code(&code).is_none() && doors.by_browser(&code, &code).is_none());
        let (first, key) = doors.sign_in(guest.clone()).unwrap();
        doors.sign_out(&doors.sign_in(guest.clone()).unwrap().0);
        assert!(doors.by_browser(&first, &key).is_some());
        for _ in 0..MOST_OF_ONE {
            doors.sign_in(guest.clone()).unwrap();
        }
        assert!(doors.by_browser(&first, &key).is_none());
        assert_eq!(doors.inside().sessions.len(), MOST_OF_ONE);
    }
}
