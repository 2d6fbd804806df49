//! `[[mapreduce.host]]`: what machines share, and which machine is on which.

use std::collections::BTreeSet;

use meed_config::nodes::MAX_NODES;
use meed_config::words::suggest;
use meed_config::{Place, TextError};

use super::keys::{MAX_CORES, bandwidth, between, bytes, given, penalty};
use super::raw::{self, OnHosts};
use crate::{Host, HostsOf};

/// Hosts that have one name in the file, as one of them; and how machines are dealt to them.
struct Group {
    name: String,
    /// Number of the first, and how many (above zero).
    first: u32,
    count: u32,
    /// Machines on them so far.
    machines: u32,
}

/// See the module.
pub(super) struct Hosts {
    all: Vec<Host>,
    groups: Vec<Group>,
}

impl Hosts {
    pub(super) fn read(
        raw: &[meed_config::Spanned<raw::Host>],
        page_cache: bool,
        place: &Place<'_>,
    ) -> Result<Hosts, TextError> {
        let mut hosts = Hosts { all: Vec::new(), groups: Vec::new() };
        let mut names = BTreeSet::new();
        for (number, entry) in raw.iter().enumerate() {
            let raw = entry.get_ref();
            let name = raw.name.clone().unwrap_or_else(|| format!("host{number}"));
            let fail = |what: String| place.error(entry.span(), format!("host `{name}`{what}"));
            let like = host(raw, &name, page_cache).map_err(&fail)?;
            let count = between(raw.count.unwrap_or(1), 1, MAX_NODES as u32)
                .map_err(|why| fail(format!(", count: {why}")))?;
            if hosts.all.len() + count as usize > MAX_NODES {
                return Err(fail(format!(": more than {MAX_NODES} hosts")));
            }
            let first = hosts.all.len() as u32;
            for i in 0..count {
                let name = if count == 1 { name.clone() } else { format!("{name}-{i}") };
                if !names.insert(name.clone()) {
                    return Err(fail(" is declared twice; names must be distinct".to_owned()));
                }
                hosts.all.push(Host { name, ..like.clone() });
            }
            hosts.groups.push(Group { name, first, count, machines: 0 });
        }
        Ok(hosts)
    }

    /// The hosts of the next machine of a node's entry: one after the other of each name.
    pub(super) fn deal(&mut self, on: Option<&OnHosts>) -> Result<HostsOf, String> {
        let mut hosts = HostsOf::default();
        let names = match on {
            None => return Ok(hosts),
            Some(OnHosts::One(name)) => std::slice::from_ref(name),
            Some(OnHosts::Several(names)) => names,
        };
        for name in names {
            let known = self.groups.iter().map(|group| group.name.as_str());
            let Some(at) = known.clone().position(|known| known == name) else {
                let hint = suggest(name, known);
                return Err(format!(", host: there is no [[mapreduce.host]] `{name}`; {hint}"));
            };
            let group = &mut self.groups[at];
            let number = group.first + group.machines % group.count;
            group.machines += 1;
            let like = &self.all[group.first as usize];
            let parts = [
                (like.cores.is_some(), &mut hosts.cores, "cores"),
                (like.disk_bytes_per_s.is_some(), &mut hosts.disk, "a disk"),
                (like.network_bytes_per_s.is_some(), &mut hosts.network, "a network"),
                (like.memory_bytes.is_some(), &mut hosts.memory, "memory"),
            ];
            for (has, of, what) in parts {
                if has && of.replace(number).is_some() {
                    return Err(format!(
                        ", host: `{name}` has {what}, and so has another of its hosts; each part \
                         of a machine is on one"
                    ));
                }
            }
        }
        Ok(hosts)
    }

    /// All of them; each has a machine.
    pub(super) fn finish(
        self,
        raw: &[meed_config::Spanned<raw::Host>],
        place: &Place<'_>,
    ) -> Result<Vec<Host>, TextError> {
        for (group, entry) in self.groups.iter().zip(raw) {
            if group.machines < group.count {
                let (name, machines) = (&group.name, group.machines);
                let what = match machines {
                    0 => {
                        format!("host `{name}` has no machine; say host = \"{name}\" of some node")
                    }
                    _ => format!("{} hosts `{name}` have {machines} machines", group.count),
                };
                return Err(place.error(entry.span(), what));
            }
        }
        Ok(self.all)
    }
}

fn host(raw: &raw::Host, name: &str, page_cache: bool) -> Result<Host, String> {
    let host = Host {
        name: name.to_owned(),
        cores: given(&raw.cores, "cores", |&cores| between(cores, 1, MAX_CORES))?,
        disk_bytes_per_s: given(&raw.disk_bytes_per_s, "disk_bytes_per_s", bandwidth)?,
        seek_penalty: given(&raw.seek_penalty, "seek_penalty", penalty)?.unwrap_or(0),
        network_bytes_per_s: given(&raw.network_bytes_per_s, "network_bytes_per_s", bandwidth)?,
        memory_bytes: given(&raw.memory, "memory", bytes)?,
    };
    if raw.seek_penalty.is_some() && raw.disk_bytes_per_s.is_none() {
        return Err(", seek_penalty: it has no disk_bytes_per_s".to_owned());
    }
    if host.memory_bytes.is_some() && !page_cache {
        return Err(", memory: it is for files; say page_cache = true in [mapreduce]".to_owned());
    }
    let rates = [host.disk_bytes_per_s, host.network_bytes_per_s, host.memory_bytes];
    if host.cores.is_none() && rates == [None; 3] {
        return Err(" shares nothing; give cores, disk_bytes_per_s, network_bytes_per_s or memory"
            .to_owned());
    }
    Ok(host)
}
