//! `[[contribution]]`, `[[instance]]` and `[accounts]`: who contributes which instances when, and
//! what they cost (docs/prices-and-plans.md).
//!
//! Nodes come from contributions alone then, and weights of queues follow from them: what a
//! scenario says of either besides is a contradiction.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use meed::{NodeSpec, ResourceKinds, Time};
use meed_config::Place;
use meed_config::Spanned;
use meed_config::nodes::{MAX_NODES, NodeForm};
use meed_config::policy::STATIC;
use meed_config::queues::Names;
use meed_config::words::{did_you_mean, quote};
use meed_files::open::Origin;

use super::jobs::span;
use super::policy::{self, Choice};
use super::raw::{self, Price, Quantity, RawScenario};
use super::{Scenario, ScenarioError, cluster::at};
use crate::plans::{AS_YOU_PAY, Contribution, Prices, PricingPlan, TERMS, Terms, Timetable, money};

/// What all contributions come to; nothing where there are none.
pub(super) fn read(
    raw: &RawScenario,
    folder: &Path,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Option<Arc<Timetable>>, ScenarioError> {
    let Some(first) = raw.contribution.first() else {
        return match (&raw.accounts, raw.instance.first()) {
            (Some(accounts), _) => Err(place.error(accounts.span(), ALONE)),
            (_, Some(instance)) => Err(place.error(instance.span(), ALONE)),
            _ => Ok(None),
        };
    };
    if !raw.cluster.node.is_empty() || raw.cluster.machines.is_some() {
        let what = "nodes come from [[contribution]]; take those of [cluster] away, or contribute \
                    them";
        return Err(place.error(first.span(), what));
    }
    let instances = instances(&raw.instance, place)?;
    let terms = match &raw.accounts {
        Some(accounts) => at(place, accounts, terms(accounts.get_ref()))?,
        None => Terms::default(),
    };
    let (mut all, mut files) = (Vec::new(), BTreeMap::new());
    for (number, entry) in raw.contribution.iter().enumerate() {
        let reading = Reading { instances: &instances, folder, kinds, number };
        let one = at(place, entry, reading.contribution(entry.get_ref(), &mut files))?;
        all.push(one);
        if all.iter().map(|one| one.nodes.len()).sum::<usize>() > MAX_NODES {
            return Err(place.error(entry.span(), format!("more than {MAX_NODES} instances")));
        }
    }
    Ok(Some(Arc::new(Timetable::of(&all, kinds.len(), terms))))
}

const ALONE: &str = "means nothing without [[contribution]]";

fn instances<'r>(
    raw: &'r [Spanned<raw::Instance>],
    place: &Place<'_>,
) -> Result<BTreeMap<&'r str, &'r raw::Instance>, ScenarioError> {
    let mut known = BTreeMap::new();
    for entry in raw {
        let instance = entry.get_ref();
        if known.insert(instance.name.as_str(), instance).is_some() {
            let what = format!("instance `{}` is declared twice", instance.name);
            return Err(place.error(entry.span(), what));
        }
    }
    Ok(known)
}

fn terms(raw: &raw::Accounts) -> Result<Terms, String> {
    let every = raw.every.as_ref().map(Quantity::text);
    let mut terms = Terms::default();
    for (key, value) in TERMS.into_iter().zip([&raw.entitled, &raw.value, &every]) {
        if let Some(value) = value {
            terms.set(key, value)?;
        }
    }
    Ok(terms)
}

/// What a contribution is read with.
struct Reading<'r> {
    instances: &'r BTreeMap<&'r str, &'r raw::Instance>,
    folder: &'r Path,
    kinds: &'r ResourceKinds,
    number: usize,
}

impl Reading<'_> {
    fn contribution(
        &self,
        raw: &raw::Contribution,
        files: &mut BTreeMap<String, Prices>,
    ) -> Result<Contribution, String> {
        let time = |key: &str, raw: &Option<Quantity>, missing: Time| match raw {
            Some(raw) => Ok::<_, String>(Time::ZERO.saturating_add(span(key, raw)?)),
            None => Ok(missing),
        };
        let amount = |key: &str, raw: &Option<Quantity>| {
            let read = |raw: &Quantity| money(&raw.text()).map_err(|why| format!("{key}: {why}"));
            raw.as_ref().map(read).transpose()
        };
        let Some(plan) = PricingPlan::find(&raw.plan) else {
            let names = || PricingPlan::ALL.iter().map(|row| row.0);
            let near = did_you_mean(&raw.plan, names()).unwrap_or_default();
            let known = names().collect::<Vec<_>>().join(", ");
            let name = quote(raw.plan.as_bytes());
            return Err(format!("plan {name} is not one of {known}. {near}").trim_end().to_owned());
        };
        let fee = amount("fee", &raw.fee)?.unwrap_or(0);
        let prices = match &raw.price {
            Some(price) => self.prices(price, files)?,
            None if fee > 0 => Prices::fixed(0),
            None => return Err("has no price; give price, or a fee if it is reserved".to_owned()),
        };
        let one = Contribution {
            tenant: raw.tenant.clone(),
            plan,
            nodes: self.nodes(raw)?,
            from: time("from", &raw.from, Time::ZERO)?,
            until: time("until", &raw.until, Time::MAX)?,
            prices,
            fee,
            bid: amount("bid", &raw.bid)?,
            billing: raw.billing.as_ref().map(|raw| span("billing", raw)).transpose()?,
        };
        one.check()?;
        let pieces = one.pieces();
        if pieces.is_empty() {
            return Err("is never there: no price is below the bid".to_owned());
        }
        if pieces.iter().any(|piece| piece.rate == 0) {
            return Err(
                "has a price of nothing; what costs nothing has no value that use could be \
                        held against"
                    .to_owned(),
            );
        }
        Ok(one)
    }

    fn nodes(&self, raw: &raw::Contribution) -> Result<Vec<NodeSpec>, String> {
        let (capacity, weight, labels) = match (&raw.instance, &raw.capacity) {
            (None, Some(capacity)) => (capacity, None, BTreeMap::new()),
            (Some(name), None) => {
                let Some(instance) = self.instances.get(name.as_str()) else {
                    let near = did_you_mean(name, self.instances.keys().copied());
                    let near = near.unwrap_or_else(|| "declare it as [[instance]]".to_owned());
                    return Err(format!("there is no instance `{name}`; {near}"));
                };
                (&instance.capacity, instance.weight.clone(), instance.labels.clone())
            }
            _ => return Err("give either instance, the name of a type, or capacity".to_owned()),
        };
        let name = Some(format!("{}-{}", raw.tenant, self.number));
        let capacity = capacity.clone();
        NodeForm { name, count: raw.count, capacity, weight, labels }.nodes("", self.kinds)
    }

    fn prices(&self, raw: &Price, files: &mut BTreeMap<String, Prices>) -> Result<Prices, String> {
        let named = |why: String| format!("price: {why}");
        match raw {
            Price::Fixed(price) => Ok(Prices::fixed(money(&price.text()).map_err(named)?)),
            Price::Steps(steps) => {
                let step = |(time, price): &(Quantity, Quantity)| {
                    let time = Time::ZERO.saturating_add(span("price", time)?);
                    Ok::<_, String>((time, money(&price.text()).map_err(named)?))
                };
                let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
                Prices::of_steps(steps).map_err(|why| format!("price {why}"))
            }
            Price::File(raw::PriceFile { file }) => {
                if let Some(known) = files.get(file) {
                    return Ok(known.clone());
                }
                let path = self.folder.join(file);
                let wrong = |why: String| format!("price: {}: {why}", path.display());
                let bytes = Origin::path(&path).whole().map_err(|why| wrong(why.to_string()))?;
                let text = String::from_utf8(bytes);
                let text = text.map_err(|_| wrong("is not text in UTF-8".to_owned()))?;
                let prices = Prices::of_csv(&text).map_err(wrong)?;
                files.insert(file.clone(), prices.clone());
                Ok(prices)
            }
        }
    }
}

impl Scenario {
    /// Weights follow what is contributed. Once all queues are known.
    pub(super) fn follow_contributions(
        &mut self,
        raw: &RawScenario,
        place: &Place<'_>,
    ) -> Result<(), ScenarioError> {
        let Some(timetable) = &self.timetable else { return Ok(()) };
        let names = Names::of(&self.queues);
        for entry in &raw.contribution {
            at(place, entry, names.check_leaf(&entry.get_ref().tenant))?;
        }
        let weighted = raw.queue.iter().find(|entry| entry.get_ref().weight.is_some());
        let defaults = raw.queues.as_ref().filter(|queues| queues.get_ref().weight.is_some());
        let weighted = weighted.map(Spanned::span).or(defaults.map(Spanned::span));
        let changed = raw.change.iter().find(|entry| {
            let change = entry.get_ref();
            let weight = change.queue.as_ref().is_some_and(|queue| queue.weight.is_some());
            let nodes = change.node_joins.is_some() || change.node_resized.is_some();
            weight || nodes || change.node_leaves.is_some() || change.queue_removed.is_some()
        });
        if let Some(span) = weighted.or(changed.map(Spanned::span)) {
            let what = "weights and nodes follow from [[contribution]]; take this away";
            return Err(place.error(span, what));
        }
        let queues: Vec<&str> = self.queues.iter().map(|queue| queue.name.as_str()).collect();
        let (weights, changes) = timetable.weights(&queues);
        self.queues.iter_mut().zip(weights).for_each(|(queue, weight)| queue.weight = weight);
        self.changes.extend(changes);
        self.changes.sort_by_key(|timed| timed.at);
        Ok(())
    }

    /// What `--policy WORDS` asks for.
    pub(super) fn choose(&self, words: &str) -> Result<Choice, ScenarioError> {
        let name = words.split(',').next().unwrap_or_default().trim();
        let known = self.named.contains_key(name);
        if name != AS_YOU_PAY || known {
            let choice = policy::choose(words, &self.base, &self.named);
            return choice.map_err(|why| with_order(why, name, self.timetable.is_some()));
        }
        let fail = |what: String| policy::outside(words, what);
        let Some(table) = &self.timetable else {
            let what = "nobody pays here: the order as-you-pay needs [[contribution]]";
            return Err(fail(what.to_owned()));
        };
        let mut terms = table.terms;
        // What is told is held in the measured resource.
        let measured = quoted(self.kinds.name(self.measured));
        let mut rest = format!("told,resource={measured}");
        for part in words.split(',').skip(1) {
            match part.split_once('=').filter(|(key, _)| TERMS.contains(&key.trim())) {
                Some((key, value)) => {
                    let value = value.trim().trim_matches('"');
                    terms.set(key.trim(), value).map_err(fail)?;
                }
                None if part.trim_start().starts_with("resource") => {
                    let what = "as-you-pay counts all resources; it has no `resource`";
                    return Err(fail(what.to_owned()));
                }
                None => rest += &format!(",{part}"),
            }
        }
        let choice = policy::choose(&rest, &self.base, &self.named);
        let choice = choice.map_err(|why| policy::outside(words, why.what))?;
        Ok(Choice { pays: Some(terms), ..choice })
    }

    /// Whether tenants contribute the nodes.
    pub fn has_accounts(&self) -> bool {
        self.timetable.is_some()
    }

    /// Who contributes what when, where tenants contribute the nodes.
    pub fn timetable(&self) -> Option<&Arc<Timetable>> {
        self.timetable.as_ref()
    }
}

/// The list of orders names `as-you-pay` where it could be asked for.
fn with_order(mut why: ScenarioError, name: &str, pays: bool) -> ScenarioError {
    if pays
        && why.what.contains(STATIC)
        && let Some(near) = did_you_mean(name, [AS_YOU_PAY])
    {
        why.what = format!("{}; {near}", why.what.trim_end_matches('.'));
    }
    why
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
