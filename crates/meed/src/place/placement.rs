//! What a placement is: the trait that each of them implements.

use super::allowed::Allowed;
use super::missing::Seeker;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// A placement policy. It keeps what it needs to know about free resources itself. Only
/// [`Unasked`](super::Unasked), for worlds that place by themselves, finds nothing.
///
/// [`FirstFit`](super::FirstFit) has an example of the calls; [`Engine::new`](crate::Engine::new)
/// takes any placement.
pub trait Placement: Send {
    /// A node with room for `demand` that is allowed, or `None` when there is none at all: a
    /// placement never refuses a demand that fits somewhere (work conservation rests on it).
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow>;

    /// What [`Placement::find`] finds, where it is known that no other nodes than some of these
    /// have room.
    fn find_among(
        &mut self,
        demand: &Resources,
        allowed: Allowed<'_>,
        _nodes: &[NodeRow],
    ) -> Option<NodeRow> {
        self.find(demand, allowed)
    }

    /// Whether [`Placement::find`] may find something: a quick look that may err towards yes, never
    /// towards no.
    fn may_fit(&self, demand: &Resources) -> bool;

    /// Asks `seeker` to look at the nodes on which least of `demand` is missing, by what is free
    /// there; whether no other node can be one of them. In parts of the pool, kind by kind and
    /// rounded down. Most placements have no order for that: they ask for none.
    fn least_missing(&self, _demand: &Resources, _seeker: &mut dyn Seeker) -> bool {
        false
    }

    /// What is free on `node` from now on; all zero when it has left.
    fn set_free(&mut self, node: NodeRow, free: &Resources);

    /// What is free on `node` will change soon: has its row brought ([`crate::memory`]).
    fn expect(&self, _node: NodeRow) {}

    /// From now on less is told of `node` than is free there, for room is held on it for somebody,
    /// or, where it is not `aside`, what is free. It says only that this will change again.
    fn set_aside(&mut self, _node: NodeRow, _aside: bool) {}

    /// `node` has left for good, for placements that draw: the same node joins with another number.
    fn leave(&mut self, _node: NodeRow) {}

    /// Rows have moved: all nodes are told anew by [`Placement::set_free`], in order of their rows,
    /// and those that have left by [`Placement::leave`]. What it draws goes on.
    fn clear(&mut self);

    /// The capacity of all nodes together from now on, for placements that weigh one kind against
    /// another.
    fn set_pool(&mut self, _pool: &Resources) {}

    /// Whether it draws: then how often it is asked, and in what order, decides too.
    fn draws(&self) -> bool {
        false
    }

    /// What its next draws depend on, for placements that draw.
    fn random_state(&self) -> u64 {
        0
    }

    /// Draws from now on as the placement drew whose [`Placement::random_state`] it was.
    fn set_random_state(&mut self, _state: u64) {}

    /// Why it picks as it does, for the reason in a decision.
    fn why(&self) -> &'static str;
}
