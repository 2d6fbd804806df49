//! Where the work runs: a placement picks a node for a demand from what is free on each node.
//!
//! To add a placement: a file here that implements [`Placement`], and a row in [`PLACEMENTS`].

mod first_fit;

pub use first_fit::FirstFit;

use crate::resources::Resources;
use crate::spec::NodeId;

/// A placement policy. It keeps what it needs to know about free resources itself.
pub trait Placement: Send {
    /// A node with room for `demand`, or `None` when there is none at all: a placement never refuses a demand
    /// that fits somewhere (work conservation rests on it).
    fn find(&mut self, demand: &Resources) -> Option<NodeId>;

    /// Whether [`Placement::find`] may find something: a quick look that may err towards yes, never towards no.
    fn may_fit(&self, demand: &Resources) -> bool;

    /// What is free on `node` from now on; all zero when it has left.
    fn set_free(&mut self, node: NodeId, free: &Resources);

    /// Why it picks as it does, for the reason in a decision.
    fn why(&self) -> &'static str;
}

/// A named placement.
pub struct PlacementPreset {
    /// What users write.
    pub name: &'static str,
    /// Makes it for a cluster of that many resource kinds.
    pub new: fn(kinds: usize) -> Box<dyn Placement>,
}

/// The placements that users can name.
pub const PLACEMENTS: &[PlacementPreset] =
    &[PlacementPreset { name: "first-fit", new: |kinds| Box::new(FirstFit::new(kinds)) }];
