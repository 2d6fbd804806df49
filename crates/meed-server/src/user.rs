//! Users of the system, by the number that the socket tells.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nix::unistd::{Gid, Group, Uid, getgrouplist};

use crate::clock::boot_us;
use crate::run::Account;
use crate::settings::Role;

/// What the way in leaves of what a user may: a token can be for less than its user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WayIn {
    /// The highest role that it allows.
    pub role: Role,
    /// Nothing may be changed.
    pub reads_only: bool,
}

impl Default for WayIn {
    fn default() -> WayIn {
        WayIn { role: Role::Admin, reads_only: false }
    }
}

/// Users that were looked up just now, and when.
static KNOWN: Mutex<BTreeMap<(u32, u32), (u64, LocalUser)>> = Mutex::new(BTreeMap::new());
const FRESH_US: u64 = 1_000_000;

/// A user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalUser {
    /// Number.
    pub uid: u32,
    /// Name; `uid-N` where the system has none.
    pub name: String,
    /// Main group.
    pub gid: u32,
    /// Home folder.
    pub home: String,
    /// Shell.
    pub shell: String,
    /// Names of all groups.
    pub groups: Vec<String>,
    /// What is left of what the user may.
    pub way: WayIn,
    gids: Vec<u32>,
}

impl LocalUser {
    /// The user of that number, as the system knew them a second ago at most: each look reads some
    /// files, or asks a name service. `gid`: the group that the peer has, for who has no account.
    pub fn of(uid: u32, gid: u32) -> LocalUser {
        let now = boot_us();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (seen, _)| now.saturating_sub(*seen) < FRESH_US);
        if let Some((_, user)) = known.get(&(uid, gid)) {
            return user.clone();
        }
        drop(known);
        // Others need not wait for a slow name service.
        let user = LocalUser::look_up(uid, gid);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((uid, gid), (now, user.clone()));
        user
    }

    fn look_up(uid: u32, gid: u32) -> LocalUser {
        let found = nix::unistd::User::from_uid(Uid::from_raw(uid)).ok().flatten();
        let Some(found) = found else {
            return LocalUser {
                gid,
                gids: vec![gid],
                ..LocalUser::made_up(&format!("uid-{uid}"), uid)
            };
        };
        let name = std::ffi::CString::new(found.name.as_str()).ok();
        let gids = name.and_then(|name| getgrouplist(&name, found.gid).ok()).unwrap_or_default();
        let named = |gid: &Gid| Group::from_gid(*gid).ok().flatten().map(|group| group.name);
        LocalUser {
            uid,
            gid: found.gid.as_raw(),
            home: found.dir.to_string_lossy().into_owned(),
            shell: found.shell.to_string_lossy().into_owned(),
            groups: gids.iter().filter_map(named).collect(),
            way: WayIn::default(),
            gids: gids.iter().map(|gid| gid.as_raw()).collect(),
            name: found.name,
        }
    }

    /// The user of that name, or of `uid-N`.
    pub fn named(name: &str) -> Option<LocalUser> {
        if let Ok(Some(found)) = nix::unistd::User::from_name(name) {
            return Some(LocalUser::of(found.uid.as_raw(), found.gid.as_raw()));
        }
        let uid = name.strip_prefix("uid-")?.parse().ok()?;
        let user = LocalUser::of(uid, uid);
        // A number that has an account is called by its name.
        (user.name == name).then_some(user)
    }

    /// A user whom the system does not know.
    pub fn made_up(name: &str, uid: u32) -> LocalUser {
        LocalUser {
            uid,
            name: name.to_owned(),
            gid: uid,
            home: "/".to_owned(),
            shell: "/bin/sh".to_owned(),
            groups: Vec::new(),
            way: WayIn::default(),
            gids: vec![uid],
        }
    }

    /// Who runs this process.
    pub fn current() -> LocalUser {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        LocalUser::of(uid.as_raw(), gid.as_raw())
    }

    /// Whether it is who runs this process.
    pub fn is_server(&self) -> bool {
        self.uid == rustix::process::geteuid().as_raw()
    }

    /// What a task's process is to become; `None`: it is that already.
    pub fn account(&self) -> Option<Account> {
        if self.is_server() {
            return None;
        }
        Some(Account { uid: self.uid, gid: self.gid, groups: self.gids.clone() })
    }
}
