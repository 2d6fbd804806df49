//! The keys of reclaim: when running tasks are stopped for others that have a reservation.

use meed::{Blocked, Policy, Reclaim, Reservations, ResourceKinds, Span};

use super::apply;
use super::spec::{PolicySpec, SpecError};
use super::value::Value;
use crate::units::format_span;

const AFTER: &str = "reclaim_after";
const MIN_RUNTIME: &str = "reclaim_min_runtime";
const GUARD: &str = "reclaim_guard";
const GRACE: &str = "reclaim_grace";

/// All of them, as one choice. After `when_blocked`.
pub(super) fn rules(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let is_off = apply::is_text(spec, AFTER, "never");
    let after = if is_off { None } else { apply::span(spec, AFTER)? };
    let Some(after) = after else {
        let given = [MIN_RUNTIME, GUARD, GRACE].into_iter().find(|key| spec.get(key).is_some());
        let nothing = |key| {
            let what = "no task is stopped for another here: say reclaim_after = \"1h\", or how \
                        long a reservation is to wait before that";
            spec.error(key, what)
        };
        if let (Some(key), false) = (given, is_off) {
            return Err(nothing(key));
        }
        policy.reclaim = None;
        return Ok(());
    };
    match policy.blocked {
        Blocked::Reserve(_) => {}
        _ if spec.get("when_blocked").is_none() => {
            policy.blocked = Blocked::Reserve(Reservations::ONE);
        }
        _ => {
            let what = "room is taken back for who has a reservation: say when_blocked = \
                        \"reserve\", or leave one of the two out";
            return Err(spec.error(AFTER, what));
        }
    }
    let usual = Reclaim::new(after);
    let or = |key, usual| Ok::<Span, SpecError>(apply::span(spec, key)?.unwrap_or(usual));
    let grace = or(GRACE, usual.grace)?;
    let rules = Reclaim {
        after,
        min_runtime: or(MIN_RUNTIME, usual.min_runtime)?,
        guard: or(GUARD, after.max(grace))?,
        grace,
    };
    if after == Span::ZERO {
        return Err(spec.error(AFTER, "reclaim_after must be above zero"));
    }
    if rules.guard < rules.grace {
        let what = format!(
            "reclaim_guard, {}, is below reclaim_grace, {}: the order could turn before the tasks \
             have stopped",
            format_span(rules.guard),
            format_span(rules.grace)
        );
        return Err(spec.error(GUARD, what));
    }
    policy.reclaim = Some(rules);
    Ok(())
}

/// A time of the rules, where there are any.
pub(super) fn told(policy: &Policy, of: fn(&Reclaim) -> Span) -> Option<Value> {
    policy.reclaim.as_ref().map(|rules| apply::time(of(rules)))
}
