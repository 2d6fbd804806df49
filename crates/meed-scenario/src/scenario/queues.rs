//! The queue tree of a scenario.

use std::collections::BTreeMap;

use meed::ResourceKinds;
use meed_config::Spanned;
use meed_config::queues::{self, QueuePlan};
use meed_config::{Place, TextError as ScenarioError};

use super::raw::{Queue, QueueDefaults};

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

/// Puts `plans` in the order that these names, with their parents, have where they are declared
/// one after another; others last. So a queue that is there only because a change names it has the
/// place that it has without the change, and ties are broken as they are without it.
pub(super) fn in_order<'a>(plans: &mut [QueuePlan], names: impl Iterator<Item = &'a str>) {
    let there = queues::with_parents(names.map(QueuePlan::plain).collect(), &mut Vec::new());
    let places: BTreeMap<&str, usize> =
        there.iter().map(|plan| plan.name.as_str()).zip(0..).collect();
    plans.sort_by_key(|plan| places.get(plan.name.as_str()).copied().unwrap_or(usize::MAX));
}

/// Gives the leaves among `plans` what `[queues]` says and their own table among `declared` does
/// not.
pub(super) fn with_defaults(
    plans: &mut [QueuePlan],
    defaults: Option<&Spanned<QueueDefaults>>,
    declared: &[Spanned<Queue>],
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<(), ScenarioError> {
    let Some(entry) = defaults else { return Ok(()) };
    let QueueDefaults { weight, max, order, policy } = entry.get_ref().clone();
    // Checked as the table of a queue is.
    let form = Queue { name: "[queues]".to_owned(), weight, min: None, max, order, policy };
    let read =
        queues::plans([&form], kinds).map_err(|(_, what)| place.error(entry.span(), what))?;
    let Some(default) = read.first() else { return Ok(()) };
    let forms: BTreeMap<&str, &Queue> =
        declared.iter().map(|form| (form.get_ref().name.as_str(), form.get_ref())).collect();
    let parents = queues::parents(plans);
    for plan in plans.iter_mut().filter(|plan| !parents.contains(&plan.name)) {
        let own = forms.get(plan.name.as_str());
        if own.is_none_or(|form| form.weight.is_none()) {
            plan.weight = default.weight;
        }
        if own.is_none_or(|form| form.max.is_none()) {
            plan.max = default.max;
        }
        plan.keys = plan.keys.over(&default.keys);
    }
    Ok(())
}
