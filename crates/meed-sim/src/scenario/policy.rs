//! From the keys that users write to a policy, and from a name on the command line to its keys.

use std::collections::BTreeMap;

use crate::classes::{RULES, Rule};
use meed::place::PLACEMENTS;
use meed::policy::{MAX_HALF_LIFE_MICROS, PRESETS, PRICE_ONE, Preset};
use meed::{Blocked, Measure, Memory, Newcomer, Policy, Quantum, ResourceKinds, Scalar, Span};
use meed_config::units::{format_span, parse_span};
use meed_config::words::did_you_mean;
use toml::Spanned;

use super::error::{Place, ScenarioError};
use super::raw::{PolicyKeys, Quantity};

/// The name of the static partition, which is no order: each tenant runs alone.
pub const STATIC: &str = "static";

/// The name of the single-resource abstraction: fair sharing of slots (see `crate::slots`).
pub const SLOTS: &str = "slots";

/// The paper's best (DRFH Table 2).
const DEFAULT_SLOTS: u32 = 14;

const NEWCOMERS: &[(&str, Newcomer)] = &[
    ("zero", Newcomer::Zero),
    ("early-bird", Newcomer::EarlyBird),
    ("average", Newcomer::Average),
];

const WHEN_BLOCKED: &[(&str, Blocked)] = &[("skip", Blocked::Skip), ("wait", Blocked::Wait)];

/// The word of a table for a meaning.
fn word_for<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> &'static str {
    table.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word)
}

/// What a policy's name stands for.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) partitioned: bool,
    pub(super) keys: PolicyKeys,
}

impl PolicyKeys {
    /// Whether no key is given.
    pub(super) fn is_empty(&self) -> bool {
        let PolicyKeys {
            order,
            placement,
            resource,
            prices,
            memory,
            round,
            half_life,
            newcomer,
            ..
        } = self;
        let PolicyKeys {
            discount,
            quantum,
            quantum_initial,
            quantum_interval,
            t_wait,
            when_blocked,
            ..
        } = self;
        let words = [order, placement, resource, memory, newcomer, when_blocked];
        let quantities = [round, half_life, quantum, quantum_initial, quantum_interval, t_wait];
        words.iter().all(|word| word.is_none())
            && quantities.iter().all(|quantity| quantity.is_none())
            && prices.is_none()
            && discount.is_none()
            && self.slots_per_server.is_none()
    }

    /// These keys, and from `base` those that are missing.
    pub(super) fn over(self, base: &PolicyKeys) -> PolicyKeys {
        let base = base.clone();
        // How usage is remembered is one choice, written with one to two keys: it is taken whole.
        let own_memory = self.memory.is_some() || self.round.is_some() || self.half_life.is_some();
        let (memory, round, half_life) = match own_memory {
            true => (self.memory, self.round, self.half_life),
            false => (base.memory, base.round, base.half_life),
        };
        let own_scalar = self.resource.is_some() || self.prices.is_some();
        let (resource, prices) =
            if own_scalar { (self.resource, self.prices) } else { (base.resource, base.prices) };
        PolicyKeys {
            order: self.order.or(base.order),
            placement: self.placement.or(base.placement),
            resource,
            prices,
            memory,
            round,
            half_life,
            newcomer: self.newcomer.or(base.newcomer),
            discount: self.discount.or(base.discount),
            quantum: self.quantum.or(base.quantum),
            quantum_initial: self.quantum_initial.or(base.quantum_initial),
            quantum_interval: self.quantum_interval.or(base.quantum_interval),
            t_wait: self.t_wait.or(base.t_wait),
            when_blocked: self.when_blocked.or(base.when_blocked),
            slots_per_server: self.slots_per_server.or(base.slots_per_server),
        }
    }

    /// The policy that these keys describe.
    pub(super) fn resolve(
        &self,
        kinds: &ResourceKinds,
        place: &Place<'_>,
    ) -> Result<Policy, ScenarioError> {
        let mut policy = match &self.order {
            None => Policy::new(Measure::Usage),
            Some(order) if order.get_ref() == SLOTS => Policy::new(Measure::Allocation),
            Some(order) => Policy::preset(order.get_ref()).ok_or_else(|| {
                let names = PRESETS.iter().map(|preset| preset.name).chain([SLOTS]);
                unknown(place, order, "order", names)
            })?,
        };
        policy.memory = self.memory(place)?;
        policy.scalar = self.scalar(&policy.scalar, kinds, place)?;
        if self.is_slots() {
            // The kind that `Slots::cut` adds.
            policy.scalar = Scalar::Kind(kinds.len());
        }
        if let Some(newcomer) = &self.newcomer {
            policy.newcomer = one_of(place, newcomer, "newcomer", NEWCOMERS)?;
        }
        if let Some(discount) = &self.discount {
            let eta = *discount.get_ref();
            if !(0.0..=1.0).contains(&eta) {
                let what = format!(
                    "discount is {eta}; it is the part of use above the share that counts, 0 to 1"
                );
                return Err(place.error(discount.span(), what));
            }
            policy.discount = (eta * 1000.0).round() as u32;
        }
        policy.quantum = self.quantum(policy.quantum, place)?;
        if let Some(blocked) = &self.when_blocked {
            policy.blocked = one_of(place, blocked, "when_blocked", WHEN_BLOCKED)?;
        }
        policy.t_wait = match &self.t_wait {
            // Only long-term fairness starves in the hierarchy; the key stays in the file for its
            // runs.
            Some(_) if !policy.measure.info().keeps_usage => None,
            Some(t_wait) if t_wait.get_ref().text() == "never" => None,
            Some(t_wait) => Some(span(place, t_wait, "t_wait")?),
            None => None,
        };
        Ok(policy)
    }

    fn memory(&self, place: &Place<'_>) -> Result<Memory, ScenarioError> {
        let kinds = ["forever", "rounds", "half-life"];
        let named = match &self.memory {
            Some(memory) => one_of(place, memory, "memory", &kinds.map(|kind| (kind, kind)))?,
            None if self.round.is_some() && self.half_life.is_some() => {
                return Err(place.whole(
                    "a policy has rounds or a half-life, not both; say which with `memory`",
                ));
            }
            None if self.round.is_some() => "rounds",
            None if self.half_life.is_some() => "half-life",
            None => "forever",
        };
        let needs = |key: &str, value: &Option<Spanned<Quantity>>, longest: u64| match value {
            Some(value) => match span(place, value, key)? {
                Span::ZERO => Err(place.error(value.span(), format!("{key} must be above zero"))),
                span if span.as_micros() > longest => {
                    Err(place.error(value.span(), format!("{key} must be at most a year")))
                }
                span => Ok(span),
            },
            None => {
                Err(place.whole(format!("memory `{named}` needs `{key}`, as in {key} = \"24h\"")))
            }
        };
        Ok(match named {
            "rounds" => Memory::Rounds(needs("round", &self.round, u64::MAX)?),
            "half-life" => {
                Memory::HalfLife(needs("half_life", &self.half_life, MAX_HALF_LIFE_MICROS)?)
            }
            _ => Memory::Forever,
        })
    }

    fn scalar(
        &self,
        preset: &Scalar,
        kinds: &ResourceKinds,
        place: &Place<'_>,
    ) -> Result<Scalar, ScenarioError> {
        match (&self.resource, &self.prices) {
            // The keys stay in the file for the policies that count one resource or a sum.
            _ if *preset == Scalar::Dominant => Ok(Scalar::Dominant),
            (Some(resource), Some(_)) => Err(place.error(
                resource.span(),
                "a policy counts one `resource` or has `prices` for all, not both",
            )),
            (Some(resource), None) => {
                let kind = kinds.find(resource.get_ref());
                kind.map(Scalar::Kind)
                    .ok_or_else(|| unknown(place, resource, "resource", kinds.names()))
            }
            (None, Some(prices)) => priced(prices, kinds, place),
            (None, None) => Ok(Scalar::Kind(0)),
        }
    }

    fn quantum(&self, default: Quantum, place: &Place<'_>) -> Result<Quantum, ScenarioError> {
        let Quantum::Adaptive { mut initial, mut interval } = default else { return Ok(default) };
        if let Some(value) = &self.quantum_initial {
            initial = span(place, value, "quantum_initial")?;
        }
        if let Some(value) = &self.quantum_interval {
            interval = span(place, value, "quantum_interval")?;
            if interval == Span::ZERO {
                return Err(place.error(value.span(), "quantum_interval must be above zero"));
            }
        }
        match &self.quantum {
            None => Ok(Quantum::Adaptive { initial, interval }),
            Some(value) if value.get_ref().text() == "adaptive" => {
                Ok(Quantum::Adaptive { initial, interval })
            }
            Some(value) => span(place, value, "quantum").map(Quantum::Fixed),
        }
    }

    fn is_slots(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.get_ref() == SLOTS)
    }

    /// Into how many slots the largest server is cut, where these keys say that slots are shared.
    pub(super) fn slots(&self, place: &Place<'_>) -> Result<Option<u32>, ScenarioError> {
        let Some(number) = &self.slots_per_server else {
            return Ok(self.is_slots().then_some(DEFAULT_SLOTS));
        };
        match number.get_ref() {
            1..=1_000_000 => Ok(self.is_slots().then_some(*number.get_ref())),
            _ => Err(place.error(number.span(), "slots_per_server must be 1 to 1000000")),
        }
    }

    /// The keys that describe `policy` in full: [`PolicyKeys::resolve`] makes the very same policy
    /// of them.
    pub(super) fn of(policy: &Policy, kinds: &ResourceKinds) -> PolicyKeys {
        let word = |word: &str| Some(Spanned::new(0..0, word.to_owned()));
        let time = |span: Span| Some(Spanned::new(0..0, Quantity::Text(format_span(span))));
        let mut keys = PolicyKeys {
            order: Preset::like(policy).and_then(|preset| word(preset.name)),
            newcomer: word(word_for(NEWCOMERS, policy.newcomer)),
            discount: Some(Spanned::new(0..0, f64::from(policy.discount) / 1000.0)),
            when_blocked: word(word_for(WHEN_BLOCKED, policy.blocked)),
            t_wait: policy
                .t_wait
                .map_or(Some(Spanned::new(0..0, Quantity::Text("never".to_owned()))), time),
            ..PolicyKeys::default()
        };
        match policy.memory {
            Memory::Forever => keys.memory = word("forever"),
            Memory::Rounds(round) => (keys.memory, keys.round) = (word("rounds"), time(round)),
            Memory::HalfLife(half) => {
                (keys.memory, keys.half_life) = (word("half-life"), time(half))
            }
        }
        match policy.quantum {
            Quantum::Fixed(quantum) => keys.quantum = time(quantum),
            Quantum::Adaptive { initial, interval } => {
                keys.quantum = Some(Spanned::new(0..0, Quantity::Text("adaptive".to_owned())));
                (keys.quantum_initial, keys.quantum_interval) = (time(initial), time(interval));
            }
        }
        match &policy.scalar {
            Scalar::Kind(kind) => keys.resource = word(kinds.name(*kind)),
            Scalar::Priced(prices) => {
                // Exact: at most 2^42, over a power of two.
                let price = |kind: usize| {
                    (prices[kind] * kinds.unit(kind).scale()) as f64 / PRICE_ONE as f64
                };
                let named = (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), price(kind)));
                keys.prices = Some(Spanned::new(0..0, named.collect()));
            }
            // The order says it.
            Scalar::Dominant => {}
        }
        keys
    }

    fn preset(&self) -> Option<&'static Preset> {
        self.order.as_ref().and_then(|order| Preset::find(order.get_ref()))
    }

    /// What of one table of keys contradicts itself: servers that decide by themselves are not
    /// chosen by a placement.
    pub(super) fn contradiction(&self) -> Option<(&Spanned<String>, String)> {
        let alone = self.preset().filter(|preset| preset.per_server)?;
        let placement = self.placement.as_ref()?;
        let (order, name) = (alone.name, placement.get_ref());
        let what = format!(
            "`{order}` takes no placement: each server chooses what runs on it, in order of \
             joining; leave `{name}` out, \
             or take drfh, which shares the pool and places"
        );
        Some((placement, what))
    }

    /// The placement's name.
    pub(super) fn placement_name(&self) -> &str {
        let preset = self.preset();
        let usual = preset.map_or(PLACEMENTS[0].name, |preset| preset.placement);
        // The key stays in the file for its other runs.
        let read =
            self.placement.as_ref().filter(|_| preset.is_none_or(|preset| !preset.per_server));
        read.map_or(usual, |name| name.get_ref())
    }

    /// The rule that says which maps a slot may run, in the MapReduce world.
    pub(super) fn rule(&self, place: &Place<'_>) -> Result<&'static Rule, ScenarioError> {
        let Some(name) = &self.placement else { return Ok(&RULES[0]) };
        if PLACEMENTS.iter().any(|row| row.name == name.get_ref()) {
            let what = format!(
                "placement `{}` names a node for a task; beside [mapreduce] nodes ask for tasks: \
                 {}",
                name.get_ref(),
                names_of_rules()
            );
            return Err(place.error(name.span(), what));
        }
        let rows: Vec<_> = RULES.iter().map(|rule| (rule.name, rule)).collect();
        one_of(place, name, "placement", &rows)
    }

    /// The placement, by its place in the table.
    pub(super) fn placement(
        &self,
        place: &Place<'_>,
    ) -> Result<crate::world::NewPlacement, ScenarioError> {
        let rows: Vec<_> = PLACEMENTS.iter().map(|row| (row.name, row.new)).collect();
        if let Some(name) = &self.placement {
            if Rule::find(name.get_ref()).is_some() {
                let what = format!(
                    "placement `{}` gives map tasks to nodes that ask; it needs the [mapreduce] \
                     world. Known here are {}",
                    name.get_ref(),
                    rows.iter().map(|row| row.0).collect::<Vec<_>>().join(", ")
                );
                return Err(place.error(name.span(), what));
            }
            let named = one_of(place, name, "placement", &rows)?;
            if self.preset().is_none_or(|preset| !preset.per_server) {
                return Ok(named);
            }
        }
        let usual = self.placement_name();
        Ok(rows.iter().find(|row| row.0 == usual).map_or(PLACEMENTS[0].new, |row| row.1))
    }
}

fn names_of_rules() -> String {
    RULES.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", ")
}

/// Prices per natural unit, of which only the ratios matter: the dearest smallest unit costs one.
fn priced(
    prices: &Spanned<BTreeMap<String, f64>>,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Scalar, ScenarioError> {
    let mut per_smallest = vec![0.0; kinds.len()];
    for (name, &price) in prices.get_ref() {
        let Some(kind) = kinds.find(name) else {
            let near = did_you_mean(name, kinds.names()).unwrap_or_default();
            return Err(place.error(
                prices.span(),
                format!("prices name an unknown resource `{name}`; {near}"),
            ));
        };
        if !(price.is_finite() && price >= 0.0) {
            return Err(place.error(
                prices.span(),
                format!("the price of `{name}` is {price}; 0 or more is needed"),
            ));
        }
        per_smallest[kind] = price / kinds.unit(kind).scale() as f64;
    }
    let dearest = per_smallest.iter().fold(0.0, |max: f64, &price| max.max(price));
    if dearest == 0.0 {
        return Err(place.error(prices.span(), "at least one price must be above zero"));
    }
    Ok(Scalar::Priced(
        per_smallest
            .iter()
            .map(|price| (price / dearest * PRICE_ONE as f64).round() as u64)
            .collect(),
    ))
}

fn span(place: &Place<'_>, value: &Spanned<Quantity>, key: &str) -> Result<Span, ScenarioError> {
    parse_span(&value.get_ref().text())
        .map_err(|why| place.error(value.span(), format!("{key}: {why}")))
}

fn one_of<T: Copy>(
    place: &Place<'_>,
    value: &Spanned<String>,
    key: &str,
    known: &[(&str, T)],
) -> Result<T, ScenarioError> {
    let found = known.iter().find(|(name, _)| name == value.get_ref());
    found
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| unknown(place, value, key, known.iter().map(|(name, _)| *name)))
}

fn unknown<'a>(
    place: &Place<'_>,
    value: &Spanned<String>,
    key: &str,
    known: impl Iterator<Item = &'a str>,
) -> ScenarioError {
    place.error(value.span(), unknown_word(key, value.get_ref(), known))
}

fn unknown_word<'a>(key: &str, value: &str, known: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = known.collect();
    let near = did_you_mean(value, names.iter().copied()).unwrap_or_default();
    format!("unknown {key} `{value}`; known are {}. {near}", names.join(", ")).trim_end().to_owned()
}

/// What `--policy WORDS` asks for: `static`, an order, or a `[policies]` name; then `,key=value` to
/// change keys.
pub(super) fn choose(
    words: &str,
    base: &PolicyKeys,
    named: &BTreeMap<String, PolicyKeys>,
) -> Result<Choice, ScenarioError> {
    let mut parts = words.split(',');
    let name = parts.next().unwrap_or_default().trim();
    let fail = |what: String| {
        let file = format!("--policy {words}");
        ScenarioError { file, line: None, what, unreadable: false }
    };
    let keys = match named.get(name) {
        Some(keys) => keys.clone().over(base),
        None if name == STATIC => base.clone(),
        None if Policy::preset(name).is_some() || name == SLOTS => {
            PolicyKeys { order: Some(Spanned::new(0..0, name.to_owned())), ..base.clone() }
        }
        None => {
            let known = [STATIC, SLOTS].into_iter().chain(PRESETS.iter().map(|preset| preset.name));
            return Err(fail(unknown_word(
                "policy",
                name,
                known.chain(named.keys().map(String::as_str)),
            )));
        }
    };
    let mut table = String::new();
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(fail(format!("`{part}` is not of the form key=value")));
        };
        let (key, value) = (key.trim(), value.trim());
        let as_it_is = format!("{key} = {value}\n");
        table += &match toml::from_str::<toml::Table>(&as_it_is) {
            Ok(_) => as_it_is,
            Err(_) => format!("{key} = {}\n", toml::Value::String(value.to_owned())),
        };
    }
    let file = format!("--policy {words}");
    let own: PolicyKeys = toml::from_str(&table).map_err(|error| {
        let place = Place { file: &file, text: &table };
        ScenarioError { line: None, ..place.toml(&error) }
    })?;
    let order = own.order.clone().or_else(|| keys.order.clone());
    let together = PolicyKeys { order, ..own.clone() };
    if let Some((_, what)) = together.contradiction() {
        return Err(fail(what));
    }
    Ok(Choice { partitioned: name == STATIC, keys: own.over(&keys) })
}
