//! Names of the nodes of clusters: a cluster's name and a number from 1.
//!
//! Two clusters can name one node: `a11` is the 11th of `a` and the first of `a1`. A cluster with
//! another's name and more digits `d` has the nodes `d1`, `d2` ... of it, of which `d1`, that is
//! `10 d + 1`, is the smallest; so they share a node if and only if the other has that many.
//! Cost: a logarithm of the clusters for each digit at the end of a name, whatever their nodes.

use std::collections::BTreeMap;

/// The clusters of a file, no two of which share the name of a node.
#[derive(Default)]
pub(super) struct Hosts {
    /// Nodes of each cluster.
    nodes: BTreeMap<String, u64>,
    /// By name of a cluster, there or not: the smallest number of a node that another one has.
    taken: BTreeMap<String, u64>,
}

impl Hosts {
    /// Adds a cluster of `count` nodes, at least one; or says which node is there already.
    pub(super) fn add(&mut self, name: &str, count: u64) -> Result<(), String> {
        if let Some(number) = self.taken.get(name).filter(|number| **number <= count) {
            return Err(format!("{name}{number}"));
        }
        let has = |(other, number)| self.nodes.get(other).is_some_and(|nodes| number <= *nodes);
        if splits(name).any(has) {
            return Err(format!("{name}1"));
        }
        self.nodes.insert(name.to_owned(), count);
        for (other, number) in splits(name) {
            let smallest = self.taken.entry(other.to_owned()).or_insert(number);
            *smallest = number.min(*smallest);
        }
        Ok(())
    }
}

/// The names that `name` is with digits behind, itself first, each with the number that the first
/// node of `name` has under it.
fn splits(name: &str) -> impl Iterator<Item = (&str, u64)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (0..=digits).filter_map(move |count| {
        let (other, digits) = name.split_at(name.len() - count);
        // Numbers begin with no zero; one beyond 64 bits is no node's.
        let number = !digits.starts_with('0');
        Some((other, number.then(|| format!("{digits}1").parse().ok())??))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_name_with_a_number_is_one_node() {
        type Row = (&'static [(&'static str, u64)], Option<&'static str>);
        let rows: &[Row] = &[
            (&[("a", 10), ("a1", 9)], None),
            (&[("a", 11), ("a1", 1)], Some("a11")),
            (&[("a1", 1), ("a", 11)], Some("a11")),
            (&[("a", 11), ("a01", 1)], None),
            (&[("1", 1), ("", 11)], Some("11")),
            (&[("a", 3), ("a", 1)], Some("a1")),
            (&[("a99999999999999999999", 1), ("a", u64::MAX)], None),
        ];
        for (clusters, expected) in rows {
            let mut hosts = Hosts::default();
            let found = clusters.iter().find_map(|(name, nodes)| hosts.add(name, *nodes).err());
            assert_eq!(found.as_deref(), *expected, "{clusters:?}");
        }
    }

    /// The slow twin writes all names down.
    #[test]
    fn the_same_as_all_names_written_down() {
        let names = ["a", "a1", "a2", "a10", "a11", "a0", "a12", "", "1"];
        let counts = [1, 2, 9, 10, 11, 20, 101, 110, 111, 121, 1011];
        let mut state = 1_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let (mut refused, mut added) = (0, 0);
        for _ in 0..300 {
            let (mut hosts, mut all) = (Hosts::default(), BTreeSet::new());
            for _ in 0..6 {
                let (name, count) = (names[draw(names.len())], counts[draw(counts.len())]);
                let nodes: Vec<String> = (1..=count).map(|node| format!("{name}{node}")).collect();
                match hosts.add(name, count) {
                    Err(host) => {
                        assert!(nodes.contains(&host) && all.contains(&host), "{name} {count}");
                        refused += 1;
                    }
                    Ok(()) => {
                        let new = nodes.into_iter().all(|host| all.insert(host));
                        assert!(new, "{name} {count}");
                        added += 1;
                    }
                }
            }
        }
        assert!(refused > 200 && added > 200, "{refused} refused, {added} added");
    }
}
