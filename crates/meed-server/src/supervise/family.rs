//! The descendants of this process. It is their reaper: whoever leaves its parents comes to it, so
//! nobody gets away while it lives.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Kills all that are there now; who forks meanwhile is killed the next time.
pub(super) fn kill_all() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for process in below(own, &parents()) {
        if let Some(pid) = Pid::from_raw(process) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Each process with its parent.
fn parents() -> BTreeMap<i32, i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((number, parent(&stat)?))
    })
    .collect()
}

/// The fourth field. The second, in brackets, is a name that may hold anything.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn below(root: i32, parents: &BTreeMap<i32, i32>) -> Vec<i32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents.iter().filter(|&(_, &of)| of == parent).map(|(&child, _)| child);
        let new: Vec<i32> = children.filter(|child| !found.contains(child)).collect();
        found.extend(new);
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_cannot_mislead() {
        assert_eq!(parent("7 (a) S 1 (x) S 42 7 7 0"), Some(42));
        assert_eq!(parent("7 (sh) S 3 7 7 0"), Some(3));
        assert_eq!(parent("7 (sh"), None);
    }

    #[test]
    fn descendants_of_all_generations_are_found() {
        let parents = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 9)].into_iter().collect();
        let mut found = below(2, &parents);
        found.sort_unstable();
        assert_eq!(found, [3, 4]);
    }
}
