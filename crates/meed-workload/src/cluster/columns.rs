//! Tables whose first line names the columns: `sinfo`, `lshosts`, `bhosts`, `qhost`.
//!
//! | table | a node's name | processors | memory | GPUs | partition |
//! |---|---|---|---|---|---|
//! | `sinfo -N -o ...`, `--Node --long` | NODELIST | CPUS | MEMORY, MiB | GRES | PARTITION |
//! | `lshosts -w` | HOST_NAME | ncpus | maxmem | | |
//! | `bhosts -w` | HOST_NAME | MAX, slots | | | |
//! | `qhost` | HOSTNAME | NCPU | MEMTOT | | |
//!
//! Values stand apart by white space, or by `|` where the first line has one. `-` is nothing. A
//! line that is shorter than the table's needed columns is left out, and counted. Sources: sinfo(1)
//! of Slurm 22.05.8, run; lshosts(1), bhosts(1) of LSF 10; qhost(1) of Grid Engine 8.1.9.

use std::collections::BTreeMap;

use super::{
    CPU, ClusterFile, ClusterNode, Fault, GPU, MAX_NODES, MEMORY, amounts, expand_hosts, left_out,
};

/// The columns of a table, by their names in lower case.
struct Columns {
    name: &'static str,
    cpu: &'static [&'static str],
    memory: &'static [&'static str],
    gpu: &'static [&'static str],
    partition: &'static [&'static str],
    /// Whether it runs jobs: `No` for a client.
    server: &'static [&'static str],
    /// What a size without a letter counts, in bytes.
    bare: u64,
    /// Names that are no nodes.
    others: &'static [&'static str],
}

const SINFO: Columns = Columns {
    name: "nodelist",
    cpu: &["cpus"],
    memory: &["memory"],
    gpu: &["gres"],
    partition: &["partition"],
    server: &[],
    bare: 1 << 20,
    others: &[],
};

const LSHOSTS: Columns = Columns {
    name: "host_name",
    cpu: &["ncpus"],
    memory: &["maxmem"],
    gpu: &[],
    partition: &[],
    server: &["server"],
    bare: 1 << 20,
    others: &[],
};

const BHOSTS: Columns = Columns { cpu: &["max"], memory: &[], ..LSHOSTS };

const QHOST: Columns = Columns {
    name: "hostname",
    cpu: &["ncpu"],
    memory: &["memtot"],
    gpu: &[],
    partition: &[],
    server: &[],
    bare: 1,
    others: &["global"],
};

/// The line that names the columns, among the first ones, with its place.
fn header<'a>(text: &'a str, columns: &Columns) -> Option<(usize, Vec<&'a str>, bool)> {
    let lines = text.lines().enumerate().take(3);
    lines.into_iter().find_map(|(number, line)| {
        let (names, bars) = split(line, line.contains('|'));
        let has = |name: &str| names.iter().any(|found| found.eq_ignore_ascii_case(name));
        let has_cpu = columns.cpu.iter().any(|name| has(name));
        (has(columns.name) && has_cpu).then_some((number, names, bars))
    })
}

fn split(line: &str, bars: bool) -> (Vec<&str>, bool) {
    let values = match bars {
        true => line.split('|').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    };
    (values, bars)
}

pub(super) fn is_sinfo(text: &str) -> bool {
    header(text, &SINFO).is_some()
}

pub(super) fn is_lshosts(text: &str) -> bool {
    header(text, &LSHOSTS).is_some()
}

pub(super) fn is_bhosts(text: &str) -> bool {
    header(text, &BHOSTS).is_some()
}

pub(super) fn is_qhost(text: &str) -> bool {
    header(text, &QHOST).is_some()
}

pub(super) fn read_sinfo(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    read(text, &SINFO, cluster)
}

pub(super) fn read_lshosts(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    read(text, &LSHOSTS, cluster)
}

pub(super) fn read_bhosts(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    read(text, &BHOSTS, cluster)?;
    cluster.words.push("a job slot (MAX) is one processor; bhosts tells of no memory".to_owned());
    Ok(())
}

pub(super) fn read_qhost(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    read(text, &QHOST, cluster)
}

fn read(text: &str, columns: &Columns, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let Some((first, names, bars)) = header(text, columns) else {
        return Err(Fault::whole("no line names the columns"));
    };
    let place = |known: &[&str]| {
        names.iter().position(|name| known.iter().any(|known| name.eq_ignore_ascii_case(known)))
    };
    let own = place(&[columns.name]).unwrap_or(0);
    let (cpu, memory) = (place(columns.cpu), place(columns.memory));
    let (gpu, partition) = (place(columns.gpu), place(columns.partition));
    let server = place(columns.server);
    let (mut known, mut short, mut clients, mut open) = (BTreeMap::new(), 0, 0, false);
    for (number, line) in text.lines().enumerate().skip(first + 1) {
        let (values, _) = split(line, bars);
        let value = |column: Option<usize>| {
            let value = column.and_then(|column| values.get(column)).copied();
            value.filter(|value| !value.is_empty() && *value != "-")
        };
        let is_rule = line.bytes().all(|byte| byte == b'-' || byte.is_ascii_whitespace());
        let Some(name) = value(Some(own)).filter(|_| !is_rule) else { continue };
        if columns.others.contains(&name) {
            continue;
        }
        let wrong = |what: &str| Fault::at(number + 1, format!("{} is no amount", what));
        if value(server).is_some_and(|server| server.eq_ignore_ascii_case("no")) {
            clients += 1;
            continue;
        }
        let Some(cpus) = value(cpu) else {
            short += 1;
            continue;
        };
        let mut node = ClusterNode::default();
        open |= cpus.ends_with('+');
        let count = amounts::pieces(cpus.trim_end_matches('+'));
        node.amounts.insert(CPU, count.ok_or_else(|| wrong(cpus))?);
        if let Some(text) = value(memory) {
            open |= text.ends_with('+');
            let size = amounts::size(text.trim_end_matches('+'), columns.bare);
            node.amounts.insert(MEMORY, size.ok_or_else(|| wrong(text))?);
        }
        if gpu.is_some() {
            let list = value(gpu).unwrap_or_default();
            node.amounts.insert(GPU, amounts::gpus(list).ok_or_else(|| wrong(list))?);
        }
        let used_by = value(partition).map(|name| name.trim_end_matches('*').to_owned());
        node.partitions.extend(used_by);
        let hosts = expand_hosts(name, MAX_NODES).map_err(|why| Fault::at(number + 1, why))?;
        for name in hosts {
            let node = ClusterNode { name, ..node.clone() };
            cluster.add(node, &mut known).map_err(|why| Fault::at(number + 1, why))?;
        }
    }
    if clients > 0 {
        let (one, several) = ("client, which runs no jobs,", "clients, which run no jobs,");
        cluster.words.push(left_out(clients, one, several));
    }
    if short > 0 {
        let (one, several) =
            ("line without a number of processors", "lines without a number of processors");
        cluster.words.push(left_out(short, one, several));
    }
    if open {
        let what = "an amount with + is the least of several nodes; sinfo -N tells each";
        cluster.words.push(what.to_owned());
    }
    Ok(())
}
