//! The first record of a run, from what its driver begins with.

use meed::Config;
use meed_journal::{Header, NodeEntry, QueueEntry, SCHEMA, keys_of};

/// The header of a run of `config` in a world that is called `world`, under a policy that people
/// call `policy`, placing by the row of [`meed::place::PLACEMENTS`] called `placement`. All that a
/// replay needs is in it but the seed and the attempts, which are the world's: [`Header::seed`],
/// [`Header::max_attempts`].
pub fn header_of(world: &str, policy: &str, config: &Config, placement: &str) -> Header {
    let kinds = &config.kinds;
    let queue = |queue| QueueEntry::of(queue, Default::default(), Some(&config.root), kinds);
    Header {
        schema: SCHEMA,
        rules: Some(meed::RULES),
        world: world.to_owned(),
        policy: policy.to_owned(),
        resources: kinds.names().map(str::to_owned).collect(),
        units: (0..kinds.len()).map(|kind| kinds.unit(kind).into()).collect(),
        measured: kinds.name(config.measured).to_owned(),
        placement: placement.to_owned(),
        root: keys_of(&config.root, kinds),
        nodes: config.nodes.iter().map(|node| NodeEntry::of(node, kinds)).collect(),
        queues: config.queues.iter().map(queue).collect(),
        ..Header::default()
    }
}
