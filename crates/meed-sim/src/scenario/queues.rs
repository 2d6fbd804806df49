//! The queue tree of a scenario.

use meed::ResourceKinds;
use meed_config::queues::{self, QueuePlan};
use toml::Spanned;

use super::raw::Queue;
use super::{Place, ScenarioError};

/// The declared queues in the order of their declaration, which is what ties are broken by; a
/// parent stands where it, or a queue below it, is first named. Parents that are not declared are
/// added with weight 1, with warnings.
pub(super) fn queues(
    raw: &[Spanned<Queue>],
    kinds: &ResourceKinds,
    place: &Place<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<QueuePlan>, ScenarioError> {
    let plans = queues::plans(raw.iter().map(Spanned::get_ref), kinds)
        .map_err(|(number, what)| place.error(raw[number].span(), what))?;
    Ok(queues::with_parents(plans, warnings))
}
