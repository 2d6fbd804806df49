//! The cluster of a scenario: resource kinds, nodes, amounts.

use meed::{NodeSpec, ResourceKinds, Resources, Unit};
use meed_config::units::parse_amount;
use meed_config::words::did_you_mean;
use toml::Spanned;

use super::error::{Place, ScenarioError};
use super::raw::{Amounts, Cluster, Node, Quantity, Resource};

/// Most nodes that one scenario can declare.
pub(super) const MAX_NODES: usize = 1 << 20;

pub(super) fn kinds(cluster: &Cluster, place: &Place<'_>) -> Result<ResourceKinds, ScenarioError> {
    let kind = |resource: &Resource| match resource {
        Resource::Name(name) => (name.clone(), unit_of(name)),
        Resource::Detailed { name, unit: super::raw::Unit::Bytes } => (name.clone(), Unit::Bytes),
        Resource::Detailed { name, unit: super::raw::Unit::Milli } => (name.clone(), Unit::Milli),
    };
    let kinds = cluster.resources.get_ref().iter().map(kind).collect();
    ResourceKinds::new(kinds)
        .map_err(|why| place.error(cluster.resources.span(), format!("resources: {why}")))
}

/// Memory and disk are counted in bytes, everything else in thousandths, unless the scenario says
/// otherwise.
pub(crate) fn unit_of(name: &str) -> Unit {
    let name = name.to_lowercase();
    let bytes = ["mem", "ram", "disk", "storage", "bytes"].iter().any(|part| name.contains(part));
    if bytes { Unit::Bytes } else { Unit::Milli }
}

/// The nodes that the scenario declares, and after them those of `machines`.
pub(super) fn nodes(
    cluster: &Cluster,
    machines: &[NodeSpec],
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Vec<NodeSpec>, ScenarioError> {
    let mut nodes: Vec<NodeSpec> = Vec::new();
    for (group, raw) in cluster.node.iter().enumerate() {
        if nodes.len() as i64 + raw.get_ref().count.min(MAX_NODES as i64) > MAX_NODES as i64 {
            return Err(place.error(raw.span(), format!("more than {MAX_NODES} nodes")));
        }
        let made = node_group(raw.get_ref(), &format!("n{group}"), kinds)
            .map_err(|what| place.error(raw.span(), what))?;
        nodes.extend(made);
    }
    let declared = nodes.len();
    nodes.extend_from_slice(machines);
    let mut names: Vec<(&str, usize)> =
        nodes.iter().enumerate().map(|(i, node)| (node.name.as_str(), i)).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let what = format!("node `{}` is declared twice; names must be distinct", pair[1].0);
            let span = match (&cluster.machines, pair[1].1 < declared) {
                (Some(machines), false) => machines.span(),
                _ => group_of(cluster, pair[1].1).span(),
            };
            Err(place.error(span, what))
        }
        None => Ok(nodes),
    }
}

/// The `[[cluster.node]]` that node number `node` comes from.
pub(super) fn group_of(cluster: &Cluster, node: usize) -> &toml::Spanned<Node> {
    let mut end = 0;
    let holds = |raw: &&toml::Spanned<Node>| {
        end += raw.get_ref().count as usize;
        node < end
    };
    cluster.node.iter().find(holds).expect("every node comes from some group")
}

/// The nodes of one `[[cluster.node]]`, called `unnamed` when it has no name: `name` alone, or
/// `name-0` and so on for several.
pub(super) fn node_group(
    raw: &Node,
    unnamed: &str,
    kinds: &ResourceKinds,
) -> Result<Vec<NodeSpec>, String> {
    let base = raw.name.clone().unwrap_or_else(|| unnamed.to_owned());
    if raw.count < 1 {
        return Err(format!("node `{base}`: count is {}; at least 1 is needed", raw.count));
    }
    if raw.count as u64 > MAX_NODES as u64 {
        return Err(format!(
            "node `{base}`: count is {}; at most {MAX_NODES} are possible",
            raw.count
        ));
    }
    let capacity =
        amounts(&raw.capacity, kinds).map_err(|why| format!("node `{base}`, capacity: {why}"))?;
    if let Some((name, _)) = raw
        .capacity
        .iter()
        .find(|(name, _)| kinds.find(name).is_some_and(|kind| capacity.get(kind) == 0))
    {
        return Err(format!(
            "node `{base}`: capacity of `{name}` is zero; leave it out or make it positive"
        ));
    }
    if capacity.is_zero() {
        return Err(format!("node `{base}`: capacity must be above zero in at least one resource"));
    }
    let weight = match &raw.weight {
        Some(weight) => {
            self::weight(weight).map_err(|why| format!("node `{base}`, weight: {why}"))?
        }
        None => 1000,
    };
    let weight = u32::try_from(weight).ok().filter(|weight| (1..=10_000).contains(weight));
    let weight =
        weight.ok_or_else(|| format!("node `{base}`: weight must be above 0 and at most 10"))?;
    if raw.labels.keys().any(String::is_empty) {
        return Err(format!("node `{base}`: a label without a name"));
    }
    let name = |i: i64| if raw.count == 1 { base.clone() } else { format!("{base}-{i}") };
    Ok((0..raw.count)
        .map(|i| NodeSpec {
            weight,
            labels: raw.labels.clone(),
            ..NodeSpec::new(name(i), capacity)
        })
        .collect())
}

/// Amounts by name, in the cluster's kinds; what is not named is nothing.
pub(super) fn amounts(raw: &Amounts, kinds: &ResourceKinds) -> Result<Resources, String> {
    let mut resources = Resources::zero(kinds.len());
    for (name, quantity) in raw {
        let Some(kind) = kinds.find(name) else {
            let near = did_you_mean(name, kinds.names()).unwrap_or_default();
            let known: Vec<&str> = kinds.names().collect();
            return Err(format!(
                "unknown resource `{name}`; the cluster has {}. {near}",
                known.join(", ")
            )
            .trim_end()
            .to_owned());
        };
        let amount = parse_amount(&quantity.text(), kinds.unit(kind))
            .map_err(|why| format!("`{name}`: {why}"))?;
        resources.as_mut_slice()[kind] = amount;
    }
    Ok(resources)
}

/// A demand: some amount of something.
pub(super) fn demand(raw: &Amounts, kinds: &ResourceKinds) -> Result<Resources, String> {
    let demand = amounts(raw, kinds).map_err(|why| format!("demand: {why}"))?;
    if demand.is_zero() {
        return Err("demand: a task must ask for some amount of at least one resource".to_owned());
    }
    Ok(demand)
}

/// A weight in thousandths, above zero.
pub(super) fn weight(raw: &Quantity) -> Result<u64, String> {
    let weight = parse_amount(&raw.text(), Unit::Milli).map_err(|why| why.to_string())?;
    if weight == 0 || weight > meed::MAX_WEIGHT {
        return Err(format!(
            "{} is not a weight; it must be above 0 and at most 1000000",
            raw.text()
        ));
    }
    Ok(weight)
}

/// Whether some node could hold `demand`; in words, why not.
pub(super) fn fits_some(
    demand: &Resources,
    nodes: &mut dyn Iterator<Item = &Resources>,
    kinds: &ResourceKinds,
) -> Result<(), String> {
    let mut largest = Resources::zero(kinds.len());
    for capacity in nodes {
        if demand.fits_in(capacity) {
            return Ok(());
        }
        largest = largest.max(*capacity);
    }
    let words = |amounts: &Resources| {
        let word = |kind: usize| {
            let amount = meed_config::units::format_amount(amounts.get(kind), kinds.unit(kind));
            format!("{} {amount}", kinds.name(kind))
        };
        (0..kinds.len())
            .filter(|&kind| amounts.get(kind) > 0)
            .map(word)
            .collect::<Vec<_>>()
            .join(", ")
    };
    Err(format!(
        "a task asks for {}, which fits no node; the largest has {}",
        words(demand),
        words(&largest)
    ))
}

/// The message of an error about a spanned table.
pub(super) fn at<T, V>(
    place: &Place<'_>,
    raw: &Spanned<V>,
    result: Result<T, String>,
) -> Result<T, ScenarioError> {
    result.map_err(|what| place.error(raw.span(), what))
}
