//! Where this process may make control groups.
//!
//! | who | where |
//! |---|---|
//! | in a group called `server` (systemd's `DelegateSubgroup=server`) | beside it, in the group that the service manager has delegated |
//! | root, elsewhere | at the top |
//! | others | nowhere: a group with processes in it can have no bounded groups below |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the service manager's unit calls the server's own group.
const SUBGROUP: &str = "server";

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) base: PathBuf,
}

pub(super) fn find() -> Result<Found, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|why| format!("{path}: {why}"));
    let (mounts, own) = (read("/proc/self/mountinfo")?, read("/proc/self/cgroup")?);
    find_in(&mounts, &own, rustix::process::geteuid().is_root())
}

fn find_in(mounts: &str, own: &str, is_root: bool) -> Result<Found, String> {
    let (root, mount) = mounts
        .lines()
        .find_map(mount_of)
        .ok_or_else(|| "no file system of control groups, version 2, is mounted".to_owned())?;
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .ok_or_else(|| "this process is in no control group of version 2".to_owned())?;
    let below = Path::new(own).strip_prefix(&root).unwrap_or(Path::new(""));
    match below.file_name().is_some_and(|name| name == SUBGROUP) {
        true => Ok(Found { base: mount.join(below.parent().unwrap_or(Path::new(""))) }),
        false if is_root => Ok(Found { base: mount }),
        false => Err(format!(
            "none is delegated to this process: it would be in one called `{SUBGROUP}`"
        )),
    }
}

/// Root and mount point of a line of `mountinfo` that is of control groups, version 2.
fn mount_of(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (fields, kind) = line.split_once(" - ")?;
    let is_it = kind.split(' ').next() == Some("cgroup2");
    let mut fields = fields.split(' ').skip(3);
    let (root, mount) = (fields.next()?, fields.next()?);
    is_it.then(|| (PathBuf::from(root), PathBuf::from(mount)))
}

/// Groups below `folder` may be bounded by this controller. `write`: it is enabled; else it is only
/// looked whether it could be.
pub(super) fn enable(folder: &Path, controller: &str, write: bool) -> Result<(), String> {
    let shown = folder.display();
    let controllers = fs::read_to_string(folder.join("cgroup.controllers"));
    let controllers = controllers.map_err(|why| format!("{shown}/cgroup.controllers: {why}"))?;
    if !controllers.split_whitespace().any(|name| name == controller) {
        return Err(format!("the controller `{controller}` is not at {shown}"));
    }
    if !write {
        return Ok(());
    }
    let enabled = fs::write(folder.join("cgroup.subtree_control"), format!("+{controller}"));
    enabled.map_err(|why: io::Error| format!("{shown}/cgroup.subtree_control: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:7 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_place_follows_from_who_and_where_this_is() {
        let base = |own: &str, is_root: bool| {
            find_in(HYBRID, own, is_root).map(|found| found.base.display().to_string())
        };
        let top = "/sys/fs/cgroup/unified";
        assert_eq!(base("4:memory:/x\n0::/\n", true).unwrap(), top);
        assert_eq!(base("0::/user.slice/a.scope\n", true).unwrap(), top);
        let unit = format!("{top}/system.slice/meed.service");
        assert_eq!(base("0::/system.slice/meed.service/server\n", false).unwrap(), unit);
        let why = base("0::/user.slice/a.scope\n", false).unwrap_err();
        assert!(why.contains("none is delegated"), "{why}");
        assert!(base("4:memory:/x\n", true).unwrap_err().contains("in no control group"));
        let why = find_in("1 2 0:1 / / rw - ext4 /dev/vda rw\n", "0::/\n", true).unwrap_err();
        assert!(why.contains("is mounted"), "{why}");
    }

    #[test]
    fn in_a_container_paths_begin_at_its_own_root() {
        let mounts = "9 8 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let found = find_in(mounts, "0::/docker/ab/server\n", true).unwrap();
        assert_eq!(found.base, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn a_controller_is_enabled_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("cgroup.controllers"), "cpuset io\n").unwrap();
        let why = enable(folder.path(), "cpu", true).unwrap_err();
        assert!(why.contains("the controller `cpu` is not at"), "{why}");
        enable(folder.path(), "cpuset", false).unwrap();
        assert!(!file("cgroup.subtree_control").exists(), "it was only looked");
        enable(folder.path(), "cpuset", true).unwrap();
        assert_eq!(fs::read_to_string(file("cgroup.subtree_control")).unwrap(), "+cpuset");
    }
}
