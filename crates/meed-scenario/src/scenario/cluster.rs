//! The cluster of a scenario: resource kinds, nodes, amounts.

use meed::{NodeSpec, ResourceKinds, Resources};
use meed_config::Spanned;
use meed_config::nodes::{self, MAX_NODES, NodeForm};
use meed_config::{Place, TextError as ScenarioError};

use super::raw::Cluster;

pub(super) fn kinds(cluster: &Cluster, place: &Place<'_>) -> Result<ResourceKinds, ScenarioError> {
    nodes::kinds(cluster.resources.get_ref())
        .map_err(|what| place.error(cluster.resources.span(), what))
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
        let made = raw
            .get_ref()
            .nodes(&format!("n{group}"), kinds)
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
pub(super) fn group_of(cluster: &Cluster, node: usize) -> &Spanned<NodeForm> {
    let mut end = 0;
    let holds = |raw: &&Spanned<NodeForm>| {
        end += raw.get_ref().count as usize;
        node < end
    };
    cluster.node.iter().find(holds).expect("every node comes from some group")
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
