//! Where a property holds by proof, and the proof in a few words. Only for unit tasks, where demand
//! is as good as divisible; a counterexample found in such a place would be a fault of Meed or of
//! the proof, and is shown as one.

use super::case::Tasks;
use super::ground::Ground;
use super::property::Property;

const OWN_SHARE: &str = "What a tenant gets depends on its own demand and share only, and on that \
    share work that is \
                         there is done at once: useless or late work can only displace useful \
                         work.";
const GPS: &str = "A tenant with waiting work holds at least its share at every moment, so by any \
    time it has done at \
                   least what the share alone would have done (Parekh and Gallager 1993, for \
                   general processor sharing).";
const CONSERVING: &str =
    "A task that fits is never left waiting: the next is served until nothing fits.";
const LEVEL: &str = "Whoever has used least per weight is served first, and nothing is forgotten: \
    while all want more, \
                     those behind get everything until they are even.";
const SAME_SHARE: &str = "Two halves of a share are the share.";

/// Why `property` holds under the policy of `ground`, where it is known to.
pub(super) fn proof(property: Property, tasks: Tasks, ground: &Ground) -> Option<&'static str> {
    let policy = ground.words.as_str();
    let skips = ground.root.blocked == meed::Blocked::Skip;
    match (property, tasks) {
        (Property::Pareto, _) if !ground.partitioned && skips => Some(CONSERVING),
        (_, Tasks::Whole) => None,
        (Property::SharingIncentive, _) if policy == "static" => {
            Some("It is the yardstick itself.")
        }
        (Property::WorkloadIncentive | Property::StrategyProofness, _) if policy == "static" => {
            Some(OWN_SHARE)
        }
        (Property::Overclaiming, _) if policy == "static" => {
            Some("Others' shares are not touched.")
        }
        (Property::FalseNames, _) if policy == "static" => Some(SAME_SHARE),
        (Property::SharingIncentive, _) if policy == "fair" => Some(GPS),
        (Property::Contribution, _) if policy == "long-term,quantum=1min" => Some(LEVEL),
        _ => None,
    }
}
