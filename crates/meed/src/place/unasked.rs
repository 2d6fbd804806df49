//! For worlds that never ask where a task may run: nodes ask for work there ([`Engine::offer`]), or
//! another scheduler places.
//!
//! It finds nothing and remembers nothing, so a task that starts or ends costs nothing here (first
//! fit took 18 % of the MapReduce world's instructions). An engine with it starts nothing of its
//! own accord.
//!
//! [`Engine::offer`]: crate::Engine::offer

use super::allowed::Allowed;
use super::placement::Placement;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// For worlds that never ask where a task may run: nodes ask for work there
/// ([`Engine::offer`](crate::Engine::offer)), or another scheduler places. It finds nothing.
///
/// ```
/// use meed::place::{Allowed, Placement, Unasked};
/// use meed::{NodeRow, Resources};
///
/// let mut place = Unasked;
/// place.set_free(NodeRow::new(0), &Resources::new(&[4000]));
/// assert_eq!(place.find(&Resources::new(&[1000]), Allowed::default()), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Unasked;

impl Placement for Unasked {
    fn find(&mut self, _demand: &Resources, _allowed: Allowed<'_>) -> Option<NodeRow> {
        None
    }

    fn may_fit(&self, _demand: &Resources) -> bool {
        false
    }

    fn set_free(&mut self, _node: NodeRow, _free: &Resources) {}

    fn clear(&mut self) {}

    fn why(&self) -> &'static str {
        "the node that asked"
    }
}
