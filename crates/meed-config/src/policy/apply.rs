//! From the keys that users write to the choices of a policy, and back.

use meed::policy::{DEFAULT_SPARES, MAX_HALF_LIFE_MICROS, PRICE_ONE, Preset};
use meed::{
    Blocked, Estimates, Measure, Memory, Newcomer, Policy, Quantum, Reservations, ResourceKinds,
    Scalar, Span, Untried,
};

use super::spec::{PolicySpec, SpecError, orders, unknown_word};
use super::value::{Value, text};
use crate::units::format_span;
use crate::words::did_you_mean;

const NEWCOMERS: &[(&str, Newcomer)] = &[
    ("zero", Newcomer::Zero),
    ("early-bird", Newcomer::EarlyBird),
    ("average", Newcomer::Average),
];

const WHEN_BLOCKED: &[(&str, Blocked)] = &[
    ("skip", Blocked::Skip),
    ("wait", Blocked::Wait),
    ("reserve", Blocked::Reserve(Reservations::ONE)),
];

const ESTIMATES: &[(&str, Estimates)] =
    &[("limits", Estimates::Limits), ("learned", Estimates::Learned)];

const UNTRIED: &[(&str, Untried)] = &[("handed", Untried::Handed), ("ended", Untried::Ended)];

/// The word for as many reservations as there are tasks that wait.
const ALL: &str = "all";

/// Keys of memories, with the key that each needs.
const MEMORIES: &[(&str, Option<&str>)] =
    &[("forever", None), ("rounds", Some("round")), ("half-life", Some("half_life"))];

/// The word of a table for a meaning.
fn word_for<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> &'static str {
    table.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word)
}

/// The meaning of the word that is given for `key`, where one is.
fn meaning<T: Copy>(
    spec: &PolicySpec,
    key: &'static str,
    table: &[(&'static str, T)],
) -> Result<Option<T>, SpecError> {
    let Some(word) = spec.word(key) else { return Ok(None) };
    match table.iter().find(|(known, _)| *known == word) {
        Some((_, meaning)) => Ok(Some(*meaning)),
        None => {
            let known = table.iter().map(|(known, _)| *known);
            Err(spec.error(key, unknown_word(key, word, known)))
        }
    }
}

/// The time that is given for `key`, where one is.
pub(super) fn span(spec: &PolicySpec, key: &'static str) -> Result<Option<Span>, SpecError> {
    match spec.get(key) {
        Some(Value::Quantity(quantity)) => {
            quantity.span(key).map(Some).map_err(|why| spec.error(key, why))
        }
        _ => Ok(None),
    }
}

pub(super) fn is_text(spec: &PolicySpec, key: &str, word: &str) -> bool {
    matches!(spec.get(key), Some(Value::Quantity(quantity)) if quantity.text() == word)
}

pub(super) fn time(span: Span) -> Value {
    text(&format_span(span))
}

pub(super) fn order(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    *policy = match spec.word("order") {
        None => Policy::new(Measure::Usage),
        Some(_) if spec.is_slots() => Policy::new(Measure::Allocation),
        Some(name) => Policy::preset(name)
            .ok_or_else(|| spec.error("order", unknown_word("order", name, orders())))?,
    };
    Ok(())
}

pub(super) fn name_of(policy: &Policy) -> Option<&'static str> {
    Preset::like(policy).map(|preset| preset.name)
}

pub(super) fn scalar(
    spec: &PolicySpec,
    kinds: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let priced = matches!(spec.get("prices"), Some(Value::Prices(_)));
    policy.scalar = match (spec.word("resource"), priced) {
        // The keys stay in the file for the policies that count one resource or a sum.
        _ if policy.scalar == Scalar::Dominant => Scalar::Dominant,
        (Some(_), true) => {
            return Err(spec.error(
                "resource",
                "a policy counts one `resource` or has `prices` for all, not both",
            ));
        }
        (Some(name), false) => Scalar::Kind(kinds.find(name).ok_or_else(|| {
            spec.error("resource", unknown_word("resource", name, kinds.names()))
        })?),
        (None, true) => prices(spec, kinds).map_err(|why| spec.error("prices", why))?,
        (None, false) => Scalar::Kind(0),
    };
    if spec.is_slots() {
        // The kind that cutting servers adds.
        policy.scalar = Scalar::Kind(kinds.len());
    }
    Ok(())
}

/// Prices per natural unit, of which only the ratios matter: the dearest smallest unit costs one.
fn prices(spec: &PolicySpec, kinds: &ResourceKinds) -> Result<Scalar, String> {
    let Some(Value::Prices(prices)) = spec.get("prices") else { return Ok(Scalar::Kind(0)) };
    let mut per_smallest = vec![0.0; kinds.len()];
    for (name, &price) in prices {
        let Some(kind) = kinds.find(name) else {
            let known = || format!("known are {}", kinds.names().collect::<Vec<_>>().join(", "));
            let near = did_you_mean(name, kinds.names()).unwrap_or_else(known);
            return Err(format!("prices name an unknown resource `{name}`; {near}"));
        };
        if !(price.is_finite() && price >= 0.0) {
            return Err(format!("the price of `{name}` is {price}; 0 or more is needed"));
        }
        per_smallest[kind] = price / kinds.unit(kind).scale() as f64;
    }
    let dearest = per_smallest.iter().fold(0.0, |max: f64, &price| max.max(price));
    if dearest == 0.0 {
        return Err("at least one price must be above zero".to_owned());
    }
    let parts = |price: &f64| (price / dearest * PRICE_ONE as f64).round() as u64;
    Ok(Scalar::Priced(per_smallest.iter().map(parts).collect()))
}

pub(super) fn prices_of(policy: &Policy, kinds: &ResourceKinds) -> Option<Value> {
    let Scalar::Priced(prices) = &policy.scalar else { return None };
    // Exact: at most 2^42, over a power of two.
    let price = |kind: usize| (prices[kind] * kinds.unit(kind).scale()) as f64 / PRICE_ONE as f64;
    let named = (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), price(kind)));
    Some(Value::Prices(named.collect()))
}

/// `memory` with what it needs: all three keys are one choice.
pub(super) fn memory(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let needs = match (meaning(spec, "memory", MEMORIES)?, spec.get("round"), spec.get("half_life"))
    {
        (Some(needs), ..) => needs,
        (None, Some(_), Some(_)) => {
            let what = "a policy has rounds or a half-life, not both; say which with `memory`";
            return Err(spec.error("half_life", what));
        }
        (None, Some(_), None) => Some("round"),
        (None, None, Some(_)) => Some("half_life"),
        (None, None, None) => None,
    };
    let Some(key) = needs else {
        policy.memory = Memory::Forever;
        return Ok(());
    };
    let Some(length) = span(spec, key)? else {
        let named = word_for(MEMORIES, Some(key));
        let what = format!("memory `{named}` needs `{key}`, as in {key} = \"24h\"");
        return Err(spec.error("memory", what));
    };
    if length == Span::ZERO {
        return Err(spec.error(key, format!("{key} must be above zero")));
    }
    policy.memory = match key {
        "round" => Memory::Rounds(length),
        _ if length.as_micros() > MAX_HALF_LIFE_MICROS => {
            return Err(spec.error(key, format!("{key} must be at most a year")));
        }
        _ => Memory::HalfLife(length),
    };
    Ok(())
}

pub(super) fn memory_of(policy: &Policy) -> &'static str {
    word_for(
        MEMORIES,
        match policy.memory {
            Memory::Forever => None,
            Memory::Rounds(_) => Some("round"),
            Memory::HalfLife(_) => Some("half_life"),
        },
    )
}

pub(super) fn round_of(policy: &Policy) -> Option<Value> {
    match policy.memory {
        Memory::Rounds(round) => Some(time(round)),
        _ => None,
    }
}

pub(super) fn half_life_of(policy: &Policy) -> Option<Value> {
    match policy.memory {
        Memory::HalfLife(half) => Some(time(half)),
        _ => None,
    }
}

pub(super) fn newcomer(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    policy.newcomer = meaning(spec, "newcomer", NEWCOMERS)?.unwrap_or(policy.newcomer);
    Ok(())
}

pub(super) fn newcomer_of(policy: &Policy) -> &'static str {
    word_for(NEWCOMERS, policy.newcomer)
}

pub(super) fn discount(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let Some(&Value::Number(eta)) = spec.get("discount") else { return Ok(()) };
    if !(0.0..=1.0).contains(&eta) {
        let what =
            format!("discount is {eta}; it is the part of use above the share that counts, 0 to 1");
        return Err(spec.error("discount", what));
    }
    policy.discount = (eta * 1000.0).round() as u32;
    Ok(())
}

/// Other orders pass over it.
pub(super) fn fairness(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let Some(&Value::Number(knob)) = spec.get("fairness") else { return Ok(()) };
    if !(0.0..=1.0).contains(&knob) {
        let what = format!(
            "fairness is {knob}; it is Tetris's knob: 0 (packing alone) to 1 (the fair order alone)"
        );
        return Err(spec.error("fairness", what));
    }
    policy.fairness = policy.fairness.map(|_| (knob * 1000.0).round() as u32);
    Ok(())
}

/// `quantum` with the three keys of an adaptive one.
pub(super) fn quantum(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let Some((mut initial, mut interval)) = quantum_times(policy) else { return Ok(()) };
    initial = span(spec, "quantum_initial")?.unwrap_or(initial);
    interval = span(spec, "quantum_interval")?.unwrap_or(interval);
    if interval == Span::ZERO {
        return Err(spec.error("quantum_interval", "quantum_interval must be above zero"));
    }
    let untried = meaning(spec, "quantum_waiting", UNTRIED)?.unwrap_or_default();
    policy.quantum = match spec.get("quantum") {
        Some(_) if !is_text(spec, "quantum", "adaptive") => {
            Quantum::Fixed(span(spec, "quantum")?.unwrap_or(initial))
        }
        _ => Quantum::Adaptive { initial, interval, untried },
    };
    Ok(())
}

pub(super) fn quantum_of(policy: &Policy) -> Value {
    match policy.quantum {
        Quantum::Fixed(quantum) => time(quantum),
        Quantum::Adaptive { .. } => text("adaptive"),
    }
}

/// First quantum and interval of an adaptive one.
pub(super) fn quantum_times(policy: &Policy) -> Option<(Span, Span)> {
    match policy.quantum {
        Quantum::Fixed(_) => None,
        Quantum::Adaptive { initial, interval, .. } => Some((initial, interval)),
    }
}

pub(super) fn quantum_waiting_of(policy: &Policy) -> Option<&'static str> {
    match policy.quantum {
        Quantum::Adaptive { untried, .. } if untried != Untried::default() => {
            Some(word_for(UNTRIED, untried))
        }
        _ => None,
    }
}

pub(super) fn t_wait(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    // Only long-term fairness starves in the hierarchy; the key stays in the file for its runs.
    if policy.measure == Measure::Usage && !is_text(spec, "t_wait", "never") {
        policy.t_wait = span(spec, "t_wait")?;
    }
    Ok(())
}

/// `when_blocked` with the number of reservations and who pays for them: the keys are one choice.
pub(super) fn when_blocked(
    spec: &PolicySpec,
    _: &ResourceKinds,
    policy: &mut Policy,
) -> Result<(), SpecError> {
    let said = meaning(spec, "when_blocked", WHEN_BLOCKED)?;
    let no = Value::Flag(false);
    let is_given = |key: &&str| spec.get(key).is_some_and(|value| *value != no);
    let of_reserve =
        ["reservations", "spares", "charge_reservations", "reserve_after", "estimates"];
    let given = of_reserve.into_iter().find(is_given);
    if let (Some(blocked @ (Blocked::Skip | Blocked::Wait)), Some(key)) = (said, given) {
        let what = format!(
            "reservations are made with when_blocked = \"reserve\" only, here it is \"{}\"; leave \
             one of the two out",
            word_for(WHEN_BLOCKED, blocked)
        );
        return Err(spec.error(key, what));
    }
    policy.charge_reservations = spec.get("charge_reservations") == Some(&Value::Flag(true));
    let after = span(spec, "reserve_after")?;
    policy.reserve_after = after.unwrap_or(Span::ZERO);
    let estimates = meaning(spec, "estimates", ESTIMATES)?;
    let spares = match spec.get("spares") {
        Some(&Value::Count(spares)) => Some(spares),
        _ => None,
    };
    policy.spares = spares.unwrap_or(DEFAULT_SPARES);
    let implied =
        policy.charge_reservations || after.is_some() || estimates.is_some() || spares.is_some();
    policy.blocked = match (said, reservations(spec)?) {
        (_, Some(reservations)) => Blocked::Reserve(reservations),
        (Some(blocked), None) => blocked,
        (None, None) if implied => Blocked::Reserve(Reservations::ONE),
        (None, None) => policy.blocked,
    };
    policy.estimates = estimates.unwrap_or_default();
    Ok(())
}

/// How many tasks may have a reservation at once, where that is given.
fn reservations(spec: &PolicySpec) -> Result<Option<Reservations>, SpecError> {
    let Some(Value::Quantity(given)) = spec.get("reservations") else { return Ok(None) };
    let text = given.text();
    if text == ALL {
        return Ok(Some(Reservations::All));
    }
    text.parse().map(|most| Some(Reservations::AtMost(most))).map_err(|_| {
        let near = did_you_mean(&text, [ALL]).map_or(String::new(), |near| format!("; {near}"));
        let what =
            format!("reservations is `{text}`; 1 or more whole ones are needed, or `all`{near}");
        spec.error("reservations", what)
    })
}

pub(super) fn when_blocked_of(policy: &Policy) -> &'static str {
    let blocked = match policy.blocked {
        Blocked::Reserve(_) => Blocked::Reserve(Reservations::ONE),
        other => other,
    };
    word_for(WHEN_BLOCKED, blocked)
}

/// Where it is not what it is without being said.
pub(super) fn estimates_of(policy: &Policy) -> Option<&'static str> {
    let told = policy.estimates != Estimates::default();
    told.then(|| word_for(ESTIMATES, policy.estimates))
}

pub(super) fn reservations_of(policy: &Policy) -> Option<Value> {
    match policy.blocked {
        Blocked::Reserve(Reservations::AtMost(most)) => Some(text(&most.to_string())),
        Blocked::Reserve(Reservations::All) => Some(text(ALL)),
        Blocked::Skip | Blocked::Wait => None,
    }
}

/// Told wherever it is read: what is meant where nobody says it may change.
pub(super) fn spares_of(policy: &Policy) -> Option<Value> {
    matches!(policy.blocked, Blocked::Reserve(_)).then_some(Value::Count(policy.spares))
}

/// The number of slots is no part of the policy: only checked here.
pub(super) fn slots(spec: &PolicySpec, _: &ResourceKinds, _: &mut Policy) -> Result<(), SpecError> {
    match spec.get("slots_per_server") {
        None | Some(Value::Count(1..=1_000_000)) => Ok(()),
        Some(_) => Err(spec.error("slots_per_server", "slots_per_server must be 1 to 1000000")),
    }
}
