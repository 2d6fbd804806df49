//! `slurm.conf`: nodes, the partitions that use them, and how the scheduler remembers use.
//!
//! A line is `KEY=VALUE` by white space, keys in any case; `\` at its end joins the next one, `#`
//! begins a comment, `NodeName=DEFAULT` and `PartitionName=DEFAULT` say what holds for the lines
//! behind them. Processors are `CPUs`, or sockets x cores x threads; 1 where nothing is said, as
//! slurm.conf(5) has it. What is kept from jobs is taken off (`CoreSpecCount`, `MemSpecLimit`).
//! `Include FILE` puts the lines of a file, beside this one or absolute, in its place; a file that
//! cannot be read is said. Source: slurm.conf(5) of Slurm 22.05.8, run.

use std::collections::BTreeMap;

use meed::Unit;
use meed_config::words::did_you_mean;

use super::{
    Amounts, Beside, CPU, ClusterFile, ClusterNode, Fault, GPU, MAX_NODES, MEMORY, amounts,
    expand_hosts, slurm_order,
};

/// Keys of a line of nodes, in lower case.
const NODE_KEYS: [&str; 28] = [
    "nodename",
    "nodehostname",
    "nodeaddr",
    "bcastaddr",
    "boards",
    "corespeccount",
    "corespersocket",
    "cpubind",
    "cpus",
    "cpuspeclist",
    "features",
    "feature",
    "gres",
    "memspeclimit",
    "port",
    "procs",
    "realmemory",
    "reason",
    "restrictedcorespergpu",
    "sockets",
    "socketsperboard",
    "state",
    "threadspercore",
    "tmpdisk",
    "topology",
    "trackwckey",
    "weight",
    "parameters",
];

/// Keys and values of a line, keys in lower case.
pub(super) type Keys = BTreeMap<String, String>;

/// A file includes files that include others, at most so deep.
const DEEPEST: usize = 8;
/// And at most so many in all.
const MOST_FILES: usize = 1000;

pub(super) fn is(text: &str) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start().to_ascii_lowercase();
        // The nodes of a file with names of controllers may stand in another one.
        ["nodename=", "slurmctldhost=", "controlmachine="].iter().any(|key| line.starts_with(key))
    };
    text.lines().any(begins)
}

/// A line, joined, without comments, and where it stands.
struct Line {
    /// Its number in the file itself, or that of the `Include`.
    number: usize,
    /// The file that was included, and the line there.
    within: Option<(String, usize)>,
    text: String,
}

impl Line {
    fn fail(&self, why: impl std::fmt::Display) -> Fault {
        Fault::at(self.number, format!("{}{why}", self.inside()))
    }

    /// In front of what is said.
    fn place(&self) -> String {
        format!("line {}: {}", self.number, self.inside())
    }

    fn inside(&self) -> String {
        match &self.within {
            Some((file, line)) => format!("{file}, line {line}: "),
            None => String::new(),
        }
    }
}

/// Reads the lines of `text`, and of what they include: `beside` has the content of a file by its
/// name.
fn lines(text: &str, beside: &Beside<'_>, words: &mut Vec<String>) -> Vec<Line> {
    let own = logical(text).into_iter();
    let own = own.map(|(number, text)| (Line { number, within: None, text }, 0));
    let mut open: Vec<(Line, usize)> = own.collect();
    open.reverse();
    let (mut all, mut files) = (Vec::new(), 0);
    while let Some((line, depth)) = open.pop() {
        let first = line.text.trim_start();
        let is_include = first
            .split_whitespace()
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("include"));
        if !is_include {
            all.push(line);
            continue;
        }
        let name = first["include".len()..].trim().trim_matches('"').to_owned();
        files += 1;
        let read = match depth < DEEPEST && files <= MOST_FILES {
            true => beside(&name),
            false => Err("files that include each other".to_owned()),
        };
        match read {
            Ok(text) => {
                let inner = logical(&text).into_iter().map(|(inner, text)| {
                    let within = Some((name.clone(), inner));
                    (Line { number: line.number, within, text }, depth + 1)
                });
                let mut inner: Vec<(Line, usize)> = inner.collect();
                inner.reverse();
                open.append(&mut inner);
            }
            Err(why) => words.push(format!("{}Include {name} is left out: {why}", line.place())),
        }
    }
    all
}

pub(super) fn read(
    text: &str,
    beside: &Beside<'_>,
    cluster: &mut ClusterFile,
) -> Result<(), Fault> {
    let mut known = BTreeMap::new();
    let (mut nodes, mut partitions) = (Keys::new(), Keys::new());
    let (mut own, mut sets, mut used_by) = (Keys::new(), Keys::new(), Vec::new());
    let mut left_out = 0;
    for line in lines(text, beside, &mut cluster.words) {
        let Some((first, keys)) = keys_of(&line.text) else { continue };
        let name = keys.get(&first).cloned().unwrap_or_default();
        match first.as_str() {
            "nodename" => {
                unknown_key(&keys, &line, cluster);
                if name.eq_ignore_ascii_case("DEFAULT") {
                    nodes.extend(keys);
                    continue;
                }
                let keys = over(&nodes, keys);
                left_out += add(&keys, &line, cluster, &mut known)?;
            }
            "partitionname" if name.eq_ignore_ascii_case("DEFAULT") => partitions.extend(keys),
            "partitionname" => used_by.push((line, over(&partitions, keys))),
            "nodeset" => drop(sets.insert(name, keys.get("nodes").cloned().unwrap_or_default())),
            _ => own.extend(keys),
        }
    }
    if left_out > 0 {
        let (one, several) = ("node of the state FUTURE", "nodes of the state FUTURE");
        cluster.words.push(super::left_out(left_out, one, several));
    }
    for (line, keys) in &used_by {
        let name = keys.get("partitionname").cloned().unwrap_or_default();
        let list = keys.get("nodes").map(String::as_str).unwrap_or_default();
        place(&name, list, line, &sets, cluster, &known)?;
    }
    cluster.partitions = used_by.iter().map(|(_, keys)| slurm_order::terms(keys)).collect();
    let partitions = used_by.iter().map(|(_, keys)| keys);
    cluster.words.extend(slurm_order::not_followed(&own, partitions));
    cluster.order = Some(slurm_order::order(&own));
    Ok(())
}

/// Lines without comments, joined where one goes on in the next; with the number of the first.
fn logical(text: &str) -> Vec<(usize, String)> {
    let (mut all, mut open): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        let line = comment_off(line);
        let (line, goes_on) = match line.trim_end().strip_suffix('\\') {
            Some(line) => (line.to_owned(), true),
            None => (line, false),
        };
        match all.last_mut().filter(|_| open) {
            Some((_, whole)) => {
                whole.push(' ');
                whole.push_str(&line);
            }
            None => all.push((number + 1, line)),
        }
        open = goes_on;
    }
    all
}

/// A `#` behind a backslash is a letter.
fn comment_off(line: &str) -> String {
    let mut escaped = false;
    let end = line.char_indices().find(|(_, letter)| {
        let ends = *letter == '#' && !escaped;
        escaped = *letter == '\\';
        ends
    });
    line[..end.map_or(line.len(), |(at, _)| at)].to_owned()
}

/// The first key of a line and all its keys; `Include FILE` has no sign between.
fn keys_of(line: &str) -> Option<(String, Keys)> {
    let mut first = None;
    let mut keys = Keys::new();
    for word in quoted_words(line) {
        let (key, value) = word.split_once('=').unwrap_or((word.as_str(), ""));
        let key = key.to_ascii_lowercase();
        first.get_or_insert_with(|| key.clone());
        keys.insert(key, value.trim_matches('"').to_owned());
    }
    Some((first?, keys))
}

/// Words by white space; what stands in quotes is of one word.
fn quoted_words(line: &str) -> Vec<String> {
    let mut quoted = false;
    let parts = line.split(|letter: char| {
        quoted ^= letter == '"';
        !quoted && letter.is_whitespace()
    });
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn over(defaults: &Keys, keys: Keys) -> Keys {
    let mut all = defaults.clone();
    all.extend(keys);
    all
}

/// A key that Slurm does not know is most often a slip.
fn unknown_key(keys: &Keys, line: &Line, cluster: &mut ClusterFile) {
    const TOLD: usize = 8;
    for key in keys.keys().filter(|key| !NODE_KEYS.contains(&key.as_str())).take(TOLD) {
        let near = did_you_mean(key, NODE_KEYS).map_or(String::new(), |near| format!("; {near}"));
        cluster.words.push(format!("{}`{key}` is no known key of a node{near}", line.place()));
    }
}

/// Adds the nodes of a line; how many of them are left out.
fn add(
    keys: &Keys,
    line: &Line,
    cluster: &mut ClusterFile,
    known: &mut BTreeMap<String, usize>,
) -> Result<usize, Fault> {
    let fail = |why: String| line.fail(why);
    let list = keys.get("nodename").map(String::as_str).unwrap_or_default();
    let names = expand_hosts(list, MAX_NODES).map_err(fail)?;
    if keys.get("state").is_some_and(|state| state.eq_ignore_ascii_case("FUTURE")) {
        return Ok(names.len());
    }
    let amounts = amounts_of(keys).map_err(fail)?;
    for name in names {
        if known.contains_key(&name) {
            return Err(fail(format!("node `{name}` is there already")));
        }
        let node = ClusterNode { name, amounts: amounts.clone(), partitions: Vec::new() };
        cluster.add(node, known).map_err(fail)?;
    }
    Ok(0)
}

fn amounts_of(keys: &Keys) -> Result<Amounts, String> {
    let count = |key: &str| {
        let read = keys.get(key).map(|text| {
            let number = text.parse::<u64>().ok().filter(|number| *number <= 1 << 32);
            number.ok_or_else(|| format!("{key}={text} is no number"))
        });
        read.transpose()
    };
    let (cores, threads) = (count("corespersocket")?, count("threadspercore")?);
    let (boards, per_board) = (count("boards")?.unwrap_or(1), count("socketsperboard")?);
    let sockets = match (count("sockets")?, per_board) {
        (Some(sockets), _) => sockets,
        (None, Some(each)) => boards.saturating_mul(each),
        (None, None) => 1,
    };
    let made = [sockets, cores.unwrap_or(1), threads.unwrap_or(1)];
    let made = made.into_iter().fold(1u64, u64::saturating_mul);
    let cpus = count("cpus")?.or(count("procs")?).unwrap_or(made);
    let kept = count("corespeccount")?.unwrap_or(0).saturating_mul(threads.unwrap_or(1));
    let cpus = cpus.saturating_sub(kept).checked_mul(Unit::Milli.scale());
    let cpus = cpus.filter(|cpus| *cpus <= meed::MAX_AMOUNT);
    let mut all = Amounts::from([(CPU, cpus.ok_or("more processors than can be counted")?)]);
    if let Some(text) = keys.get("realmemory") {
        let wrong = || format!("realmemory={text} is no number of MiB");
        let memory = amounts::size(text, 1 << 20).ok_or_else(wrong)?;
        let kept = count("memspeclimit")?.unwrap_or(0).saturating_mul(1 << 20);
        all.insert(MEMORY, memory.saturating_sub(kept));
    }
    let list = keys.get("gres").map(String::as_str).unwrap_or_default();
    let gpus = amounts::gpus(list).ok_or_else(|| format!("gres={list} has no number of GPUs"))?;
    all.insert(GPU, gpus);
    Ok(all)
}

/// Notes on the nodes of `list` that the partition `name` uses them.
fn place(
    name: &str,
    list: &str,
    line: &Line,
    sets: &Keys,
    cluster: &mut ClusterFile,
    known: &BTreeMap<String, usize>,
) -> Result<(), Fault> {
    let mut note = |at: usize| {
        let there = &mut cluster.nodes[at].partitions;
        if !there.iter().any(|partition| partition == name) {
            there.push(name.to_owned());
        }
    };
    if list.eq_ignore_ascii_case("ALL") {
        known.values().for_each(|&at| note(at));
        return Ok(());
    }
    let hosts = |list: &str| expand_hosts(list, MAX_NODES).map_err(|why| line.fail(why));
    for host in hosts(list)? {
        let of_set = match sets.get(&host) {
            Some(list) => hosts(list)?,
            None => vec![host],
        };
        of_set.iter().filter_map(|host| known.get(host)).for_each(|&at| note(at));
    }
    Ok(())
}
