//! Where the work runs: a placement picks a node for a demand from what is free on each node.
//!
//! To add a placement: a file here that implements [`Placement`], and a row in [`PLACEMENTS`].

mod allowed;
mod best_fit;
mod binary_tree;
mod cosine;
mod first_fit;
mod fit;
mod line_tree;
mod max_tree;
mod missing;
mod placement;
mod ratio_order;
#[cfg(test)]
mod tests;
mod two_choices;
mod two_kinds;
mod unasked;
mod worst_fit;

pub use allowed::{Allowed, NodeSet, TakenNodes};
pub use best_fit::BestFit;
pub use cosine::Cosine;
pub use first_fit::FirstFit;
pub(crate) use missing::parts_of_pool;
pub use missing::{PARTS, Seeker};
pub use placement::Placement;
pub use two_choices::TwoChoices;
pub use unasked::Unasked;
pub use worst_fit::WorstFit;

/// A named placement.
///
/// ```
/// use meed::place::{Allowed, PLACEMENTS};
/// use meed::{NodeRow, Resources};
///
/// let preset = PLACEMENTS.iter().find(|preset| preset.name == "worst-fit").ok_or("known")?;
/// let mut place = (preset.new)(1, 0);
/// place.set_free(NodeRow::new(0), &Resources::new(&[1000]));
/// assert_eq!(place.find(&Resources::new(&[2000]), Allowed::default()), None);
/// # Ok::<(), &str>(())
/// ```
pub struct PlacementPreset {
    /// What users write.
    pub name: &'static str,
    /// Makes it for a cluster of that many resource kinds, with a seed for those that draw.
    pub new: fn(kinds: usize, seed: u64) -> Box<dyn Placement>,
}

/// The placements that users can name.
pub static PLACEMENTS: &[PlacementPreset] = &[
    PlacementPreset { name: "first-fit", new: |kinds, _| Box::new(FirstFit::new(kinds)) },
    PlacementPreset { name: "best-fit", new: |kinds, _| Box::new(BestFit::new(kinds)) },
    PlacementPreset { name: "worst-fit", new: |kinds, _| Box::new(WorstFit::new(kinds)) },
    PlacementPreset { name: "cosine", new: |kinds, _| Box::new(Cosine::new(kinds)) },
    PlacementPreset {
        name: "power-of-two",
        new: |kinds, seed| Box::new(TwoChoices::new(kinds, seed)),
    },
];
