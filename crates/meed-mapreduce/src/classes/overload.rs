//! Heartbeats of overloaded nodes, counted over the whole cluster (JAS, Algorithm 10): CPUcount and
//! IOcount.

use super::Class;

/// The two counts.
#[derive(Clone, Debug)]
pub struct Overload {
    threshold: u32,
    counts: [u32; 2],
}

impl Overload {
    /// Nothing counted.
    pub fn new(threshold: u32) -> Overload {
        Overload { threshold, counts: [0; 2] }
    }

    /// A heartbeat of a node, overloaded or not. Whether slots of the class are to be set anew:
    /// then the count starts again.
    pub fn count(&mut self, class: Class, overloaded: bool) -> bool {
        let count = &mut self.counts[class.index()];
        *count += u32::from(overloaded);
        let reached = *count >= self.threshold;
        if reached {
            *count = 0;
        }
        reached
    }
}
