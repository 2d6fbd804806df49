//! What a job asks of its nodes: column 21, as given to Torque.
//!
//! Grammar: chunks joined by `+`, then perhaps `#` and flags. A chunk is parts joined by `:`, the
//! first of which is a number of nodes or a host; then `ppn=N` (processors on each, 1 when it is
//! missing), `host=NAME`, other `key=value` (not used: memory stands in column 10) and properties,
//! which `^` negates. `cl_NAME` names a cluster, a name with a dot in it a host, `nodecpusN` nodes
//! with that many processors.

use meed::Constraints;
use meed_config::decimal::parse_short;
use meed_config::words::quote;

use super::MwfProperties;
use crate::MAX_TASKS;

/// Label of the cluster that a node belongs to.
pub(super) const CLUSTER: &str = "cluster";
/// Label of a node's name.
pub(super) const HOST: &str = "host";
/// Label of the number of processors of a node.
pub(super) const CPUS: &str = "cpus";

/// Equal nodes that a job asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub(super) nodes: u32,
    pub(super) processors: u64,
    pub(super) constraints: Constraints,
}

/// Reads a specification; the error says what is wrong with it.
pub(super) fn parse(text: &[u8], properties: MwfProperties) -> Result<Vec<Chunk>, String> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Err("is not text (invalid UTF-8)".to_owned());
    };
    let nodes = text.split('#').next().unwrap_or_default();
    let chunks: Vec<Chunk> =
        nodes.split('+').map(|chunk| read_chunk(chunk, properties)).collect::<Result<_, _>>()?;
    let total: u64 = chunks.iter().map(|chunk| u64::from(chunk.nodes)).sum();
    if total > u64::from(MAX_TASKS) {
        return Err(format!("asks for {total} nodes; a job has at most {MAX_TASKS} tasks"));
    }
    Ok(chunks)
}

fn read_chunk(text: &str, properties: MwfProperties) -> Result<Chunk, String> {
    let mut chunk = Chunk { nodes: 1, processors: 1, constraints: Constraints::default() };
    for (number, part) in text.split(':').enumerate() {
        let (negated, name) = match part.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, part),
        };
        if name.is_empty() {
            return Err("has an empty part; wanted is nodes:ppn=processors:property:...".to_owned());
        }
        if number == 0 && name.bytes().all(|byte| byte.is_ascii_digit()) {
            chunk.nodes = whole(name, u64::from(MAX_TASKS))? as u32;
        } else if let Some(processors) = name.strip_prefix("ppn=") {
            // Parts of a processor, as in 1.5: the original allocated the whole ones.
            let whole_part = processors.split('.').next().unwrap_or_default();
            chunk.processors = whole(whole_part, u64::from(u32::MAX))?;
        } else if let Some((label, value)) = rule(name, number == 0, properties) {
            add(&mut chunk.constraints, negated, label, value)?;
        }
    }
    Ok(chunk)
}

/// Adds what a property asks for; the error says why nothing could satisfy it.
fn add(
    constraints: &mut Constraints,
    negated: bool,
    label: &str,
    value: Option<&str>,
) -> Result<(), String> {
    let all = if negated { &mut constraints.forbid } else { &mut constraints.require };
    let first = !all.contains_key(label);
    let values = all.entry(label.to_owned()).or_default();
    match value {
        Some("") => return Err(format!("names no {label}")),
        Some(value) if first => values.push(value.to_owned()),
        // Already there, or any value is meant.
        Some(value) if values.is_empty() || values.iter().any(|known| known == value) => {}
        Some(value) if negated => values.push(value.to_owned()),
        Some(value) => {
            return Err(format!("asks for the {label} {} and the {label} {value}", values[0]));
        }
        None => {}
    }
    Ok(())
}

/// Label and value that a property asks for; `None` when it is passed over.
fn rule(name: &str, first: bool, properties: MwfProperties) -> Option<(&str, Option<&str>)> {
    if properties == MwfProperties::Ignore {
        return None;
    }
    if let Some(cluster) = name.strip_prefix("cl_") {
        return Some((CLUSTER, Some(cluster)));
    }
    if let Some(cpus) =
        name.strip_prefix("nodecpus").filter(|cpus| parse_short(cpus.as_bytes()).is_some())
    {
        return Some((CPUS, Some(cpus)));
    }
    if let Some(host) = name.strip_prefix("host=") {
        return Some((HOST, Some(short(host))));
    }
    if name.contains('=') {
        return None;
    }
    if first || name.contains('.') {
        return Some((HOST, Some(short(name))));
    }
    (properties == MwfProperties::All).then_some((name, None))
}

/// A host without its domain: `zewura12.cerit-sc.cz` is zewura12.
fn short(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

fn whole(text: &str, limit: u64) -> Result<u64, String> {
    parse_short(text.as_bytes()).filter(|number| (1..=limit).contains(number)).ok_or_else(|| {
        format!("has {}; wanted is a whole number from 1 to {limit}", quote(text.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes, processors, constraints in words.
    fn words(text: &str, properties: MwfProperties) -> Result<Vec<String>, String> {
        let chunks = parse(text.as_bytes(), properties)?;
        Ok(chunks
            .iter()
            .map(|chunk| format!("{}x{} {}", chunk.nodes, chunk.processors, chunk.constraints))
            .map(|words| words.trim_end().to_owned())
            .collect())
    }

    #[test]
    fn specifications_of_the_log() {
        let rows: &[(&str, &[&str])] = &[
            ("1", &["1x1"]),
            ("2", &["2x1"]),
            ("1:ppn=12", &["1x12"]),
            ("8:ppn=8:x86_64:cl_zegox", &["8x8 label cluster = zegox"]),
            ("1:ppn=64:x86_64:cl_zewura#excl", &["1x64 label cluster = zewura"]),
            ("1:ppn=1:cl_zewura:cl_zewura:cl_zewura", &["1x1 label cluster = zewura"]),
            ("1:ppn=1:^cl_zewura", &["1x1 label cluster other than zewura"]),
            ("1:ppn=1.5:brno", &["1x1"]),
            ("1:ppn=1+2:ppn=2", &["1x1", "2x2"]),
            ("1:ppn=40:nodecpus80", &["1x40 label cpus = 80"]),
            ("1:ppn=1:mem=3gb", &["1x1"]),
            ("1:ppn=5:host=zewura10.cerit-sc.cz", &["1x5 label host = zewura10"]),
            ("1:ppn=5:host=zewura10", &["1x5 label host = zewura10"]),
            ("zewura19.cerit-sc.cz:ppn=1:brno", &["1x1 label host = zewura19"]),
            ("1:zewura15.cerit-sc.cz:ppn=8", &["1x8 label host = zewura15"]),
            (
                "1:^zewura17.cerit-sc.cz:^zewura12.cerit-sc.cz:ppn=24",
                &["1x24 label host other than zewura17, zewura12"],
            ),
            ("1:infiniband", &["1x1"]),
        ];
        for (text, expected) in rows {
            assert_eq!(words(text, MwfProperties::Known).unwrap(), *expected, "{text}");
        }
        let all = |text| words(text, MwfProperties::All).unwrap();
        assert_eq!(all("1:ppn=2:nfs4"), ["1x2 label nfs4"]);
        assert_eq!(all("1:^nfs4:cl_a"), ["1x1 label cluster = a, no label nfs4"]);
        assert_eq!(words("1:ppn=2:cl_zewura:nfs4", MwfProperties::Ignore).unwrap(), ["1x2"]);
    }

    #[test]
    fn wrong_ones_say_why() {
        for (text, expected) in [
            ("", "has an empty part"),
            ("1:", "has an empty part"),
            ("1:ppn=2++1", "has an empty part"),
            ("0:ppn=1", "has \"0\"; wanted is a whole number from 1 to 16777216"),
            ("1:ppn=", "has \"\"; wanted is a whole number from 1 to 4294967295"),
            ("1:ppn=many", "has \"many\""),
            ("1:ppn=0.5", "has \"0\""),
            ("16777216+1", "asks for 16777217 nodes"),
            ("1:cl_a:cl_b", "asks for the cluster a and the cluster b"),
            ("1:cl_", "names no cluster"),
            ("1:host=.x", "names no host"),
        ] {
            let error = words(text, MwfProperties::Known).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
