//! Trees of queues as people write them, checked.
//!
//! Queues form a tree by their names: `research.vision` lies below `research`. Limits: a name has
//! at most [`MAX_NAME`] bytes and [`MAX_DEPTH`] levels, so that parents which are not declared cost
//! at most [`MAX_DEPTH`] times the text that implies them, however the text is made.

use std::collections::{BTreeMap, BTreeSet};

use meed::{Policy, QueueSpec, ResourceKinds, Resources, Scalar};
use serde::{Deserialize, Serialize};

use crate::policy::{Given, PolicySpec, SpecError};
use crate::quantity::{AmountsByName, Quantity, bound, weight};
use crate::words::{did_you_mean, quote};

/// Longest full name of a queue, in bytes.
pub const MAX_NAME: usize = 1024;

/// Most levels of a tree below its root.
pub const MAX_DEPTH: usize = 200;

/// Remarks about parents that are not declared; further ones are counted in one.
const MOST_REMARKS: usize = 20;

/// How a leaf orders its jobs that says nothing of it.
const ARRIVAL: &str = "fifo";

/// Keys of a queue, besides its name.
pub const KEYS: [&str; 5] = ["weight", "min", "max", "order", "policy"];

/// A queue as it is written. `P` and `W` are forms of its policy and of words, with or without
/// their place in a text ([`crate::policy::InToml`], [`crate::Spanned`]).
///
/// The example of [`QueuePlan`] checks one.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a [[queue]] table")]
pub struct QueueForm<P = PolicySpec, W = String> {
    /// Full name.
    pub name: String,
    /// Weight among its siblings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Quantity>,
    /// Minimum share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<AmountsByName>,
    /// Maximum share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<AmountsByName>,
    /// Short for a policy with this key alone; [`crate::policy::INHERIT`] is the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<W>,
    /// Its own keys; what is missing comes from the run's policy. A leaf without any serves its
    /// jobs in order of arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<P>,
}

/// A queue, checked; which policy it has depends on the run's.
///
/// ```
/// use meed_config::nodes::{ResourceForm, kinds};
/// use meed_config::queues::{QueueForm, plans};
///
/// let kinds = kinds(&[ResourceForm::Name("cpu".to_owned())])?;
/// let form: QueueForm = serde_json::from_str(r#"{"name":"ads","weight":2.5,"max":{"cpu":8}}"#)?;
/// let plan = plans([&form], &kinds).map_err(|(_, why)| why)?.remove(0);
/// assert_eq!((plan.weight, plan.max.map(|max| max.get(0))), (2500, Some(8000))); // thousandths
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct QueuePlan {
    /// Full name.
    pub name: String,
    /// In thousandths.
    pub weight: u64,
    /// Minimum share.
    pub min: Option<Resources>,
    /// Maximum share.
    pub max: Option<Resources>,
    /// Its own keys; what is missing comes from the run's policy.
    pub keys: PolicySpec,
}

impl QueuePlan {
    /// A queue of weight 1 without bounds and keys of its own.
    pub fn plain(name: impl Into<String>) -> QueuePlan {
        QueuePlan {
            name: name.into(),
            weight: 1000,
            min: None,
            max: None,
            keys: PolicySpec::default(),
        }
    }

    /// How the engine is told of it, where `policy` is its policy.
    pub fn spec(&self, policy: Policy) -> QueueSpec {
        let QueuePlan { name, weight, min, max, .. } = self;
        QueueSpec { name: name.clone(), weight: *weight, min: *min, max: *max, policy }
    }
}

/// The queues as declared, in order; the number of the one that is wrong, and why.
pub fn plans<'a, P, W>(
    forms: impl IntoIterator<Item = &'a QueueForm<P, W>>,
    kinds: &ResourceKinds,
) -> Result<Vec<QueuePlan>, (usize, String)>
where
    P: Into<PolicySpec> + Clone + 'a,
    W: Into<Given> + Clone + 'a,
{
    let mut plans: Vec<QueuePlan> = Vec::new();
    for (number, form) in forms.into_iter().enumerate() {
        plans.push(plan(form, kinds).map_err(|why| (number, why))?);
    }
    // Sorted rather than compared in pairs: there can be ten thousand tenants.
    let mut names: Vec<(&str, usize)> =
        plans.iter().enumerate().map(|(i, plan)| (plan.name.as_str(), i)).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err((pair[1].1, format!("queue `{}` is declared twice", pair[1].0))),
        None => Ok(plans),
    }
}

/// What is wrong with a queue's full name, if anything.
pub fn check_name(name: &str) -> Result<(), String> {
    check_bounds(name)?;
    match name.split('.').any(|part| part.trim().is_empty()) {
        true => Err(format!("queue name `{name}` has an empty part; write `parent.child`")),
        false => Ok(()),
    }
}

/// Whether a name, wherever it comes from, is within [`MAX_NAME`] and [`MAX_DEPTH`]: every reader
/// asks this of the names in its files, whatever else it takes for a name.
pub fn check_bounds(name: &str) -> Result<(), String> {
    if name.len() > MAX_NAME {
        return Err(format!(
            "queue name {} has {} bytes; at most {MAX_NAME} are possible",
            quote(name.as_bytes()),
            name.len()
        ));
    }
    let levels = name.split('.').count();
    match levels > MAX_DEPTH {
        true => Err(format!(
            "queue name {} has {levels} levels; at most {MAX_DEPTH} are possible",
            quote(name.as_bytes())
        )),
        false => Ok(()),
    }
}

fn plan<P, W>(form: &QueueForm<P, W>, kinds: &ResourceKinds) -> Result<QueuePlan, String>
where
    P: Into<PolicySpec> + Clone,
    W: Into<Given> + Clone,
{
    check_name(&form.name)?;
    let named = |part: &str, why: String| format!("queue `{}`, {part}: {why}", form.name);
    let mut keys: PolicySpec = form.policy.clone().map(Into::into).unwrap_or_default();
    if let Some(order) = &form.order {
        if keys.get("order").is_some() {
            return Err(named("order", "given twice, in the queue and in its policy".to_owned()));
        }
        keys = keys.with_order(order.clone().into());
    }
    let bound = |part: &str, raw: &Option<AmountsByName>, missing: u64| {
        bound(raw.as_ref(), kinds, missing).map_err(|why| named(part, why))
    };
    Ok(QueuePlan {
        name: form.name.clone(),
        weight: match &form.weight {
            Some(raw) => weight(raw).map_err(|why| named("weight", why))?,
            None => 1000,
        },
        min: bound("min", &form.min, 0)?,
        max: bound("max", &form.max, meed::MAX_AMOUNT)?,
        keys,
    })
}

/// A queue's place in the order in which ties are broken.
enum Step {
    /// Declared as this number.
    Declared(usize),
    /// A parent that nobody has declared.
    Missing(String),
}

/// The queues in the order of their declaration, which is what ties are broken by; a parent stands
/// where it, or a queue below it, is first named. Parents that are not declared are added with
/// weight 1, with remarks.
pub fn with_parents(plans: Vec<QueuePlan>, remarks: &mut Vec<String>) -> Vec<QueuePlan> {
    let steps = steps(&plans);
    let missing = || {
        steps.iter().filter_map(|step| match step {
            Step::Missing(parent) => Some(parent),
            Step::Declared(_) => None,
        })
    };
    remarks.extend(missing().take(MOST_REMARKS).map(|parent| {
        format!("queue `{parent}` is not declared; it is taken as a parent of weight 1")
    }));
    let more = missing().count().saturating_sub(MOST_REMARKS);
    if more > 0 {
        remarks.push(format!(
            "{more} more parents are not declared; they are taken as parents of weight 1"
        ));
    }
    let mut declared: Vec<Option<QueuePlan>> = plans.into_iter().map(Some).collect();
    let plan = |step| match step {
        Step::Declared(number) => declared[number].take().expect("each stands once"),
        Step::Missing(parent) => QueuePlan::plain(parent),
    };
    steps.into_iter().map(plan).collect()
}

fn steps(plans: &[QueuePlan]) -> Vec<Step> {
    let names = || plans.iter().map(|plan| plan.name.as_str());
    let declared: BTreeMap<&str, usize> = names().zip(0..).collect();
    let mut placed = BTreeSet::new();
    let mut steps = Vec::with_capacity(plans.len());
    for name in names() {
        let above = name.match_indices('.').map(|(end, _)| &name[..end]);
        for part in above.chain([name]).filter(|part| placed.insert(*part)) {
            steps.push(match declared.get(part) {
                Some(number) => Step::Declared(*number),
                None => Step::Missing(part.to_owned()),
            });
        }
    }
    steps
}

/// Adds the queues of that name that are not declared, with weight 1.
pub fn add(plans: &mut Vec<QueuePlan>, names: &[String], remarks: &mut Vec<String>) {
    let known: BTreeSet<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    let new = names.iter().filter(|name| !known.contains(name.as_str()));
    let new: Vec<QueuePlan> = new.map(QueuePlan::plain).collect();
    plans.extend(new);
    *plans = with_parents(std::mem::take(plans), remarks);
}

/// Names of queues that have others below them.
pub fn parents(plans: &[QueuePlan]) -> BTreeSet<String> {
    let above = |plan: &QueuePlan| Some(plan.name.rsplit_once('.')?.0.to_owned());
    plans.iter().filter_map(above).collect()
}

/// Says how each queue orders its children, where its own keys leave it open, once all queues are
/// known: a leaf without keys serves its jobs in order of arrival, if `by_arrival` says so of its
/// name, so that policies differ between queues only; every other queue orders as the run does.
pub fn settle_orders(plans: &mut [QueuePlan], by_arrival: impl Fn(&str) -> bool) {
    let parents = parents(plans);
    for plan in plans {
        let is_open = plan.keys.is_empty() && !parents.contains(&plan.name);
        plan.keys = match is_open && by_arrival(&plan.name) {
            true => leaf_keys(),
            false => std::mem::take(&mut plan.keys).without_inherit(),
        };
    }
}

/// The keys of a leaf that says nothing of its own.
pub fn leaf_keys() -> PolicySpec {
    PolicySpec::order(ARRIVAL)
}

/// Its policy, in a run under `run`.
pub fn leaf_policy(run: &PolicySpec, kinds: &ResourceKinds) -> Result<Policy, SpecError> {
    leaf_keys().over(run).policy(kinds)
}

/// The policy of the run, and all queues with theirs.
pub fn resolve(
    plans: &[QueuePlan],
    run: &PolicySpec,
    kinds: &ResourceKinds,
) -> Result<(Policy, Vec<QueueSpec>), SpecError> {
    // Most queues have no keys of their own, or those of a leaf: one policy is resolved for all of
    // them.
    let (shared, arrival) = (run.policy(kinds)?, leaf_keys());
    let mut leaf: Option<Policy> = None;
    let mut spec = |plan: &QueuePlan| {
        let policy = match &leaf {
            _ if plan.keys.is_empty() => shared.clone(),
            Some(leaf) if plan.keys == arrival => leaf.clone(),
            _ => plan.keys.over(run).policy(kinds)?,
        };
        if leaf.is_none() && plan.keys == arrival {
            leaf = Some(policy.clone());
        }
        Ok(plan.spec(policy))
    };
    let queues = plans.iter().map(&mut spec).collect::<Result<_, SpecError>>()?;
    Ok((shared, queues))
}

/// What is wrong with the minimum share of the queue `name`, whose parent orders by `above`: it
/// promises something of a resource that this order does not count, and would not be kept.
///
/// A policy that counts one resource compares minimums of that resource, one with prices those of
/// what has a price, and one by dominant shares all of them.
pub fn check_minimum(
    name: &str,
    min: Option<&Resources>,
    above: &Policy,
    kinds: &ResourceKinds,
) -> Result<(), String> {
    let Some(kind) = min.and_then(|min| above.uncounted(min)) else { return Ok(()) };
    let is_counted = |kind: &usize| {
        let mut one = Resources::zero(kinds.len());
        one.as_mut_slice()[*kind] = 1;
        above.uncounted(&one).is_none()
    };
    let counted: Vec<&str> =
        (0..kinds.len()).filter(is_counted).map(|kind| kinds.name(kind)).collect();
    let (resource, counted) = (kinds.name(kind), counted.join(", "));
    let order = match above.name() {
        "" => String::new(),
        order => format!(" (`{order}`)"),
    };
    Err(format!(
        "queue `{name}`: a minimum share of {resource} would not be kept: the order above \
         it{order} counts {counted} only. Write the minimum in {counted}, let the policy count \
         {resource} (`resource` or `prices`), or order by dominant shares (`drf`, `long-term-drf`)"
    ))
}

/// The same of all queues below a root that orders by `root`; which of them is wrong, and why.
pub fn check_minimums(
    root: &Policy,
    queues: &[QueueSpec],
    kinds: &ResourceKinds,
) -> Result<(), (usize, String)> {
    if queues.iter().all(|queue| queue.min.is_none()) {
        return Ok(());
    }
    let orders = Orders::of(root, queues);
    for (number, queue) in queues.iter().enumerate() {
        check_minimum(&queue.name, queue.min.as_ref(), orders.above(&queue.name), kinds)
            .map_err(|why| (number, why))?;
    }
    Ok(())
}

/// What those who wrote minimum shares have to know where these name some of the resources and the
/// order above is by dominant shares: a sentence for each such queue.
pub fn dominant_minimums(
    root: &Policy,
    queues: &[QueueSpec],
    kinds: &ResourceKinds,
) -> Vec<String> {
    let orders = Orders::of(root, queues);
    let told = |queue: &QueueSpec| {
        let min = queue.min.as_ref().filter(|min| !min.is_zero())?;
        let (named, others): (Vec<usize>, Vec<usize>) =
            (0..kinds.len()).partition(|&kind| min.get(kind) > 0);
        let names = |of: &[usize]| of.iter().map(|&k| kinds.name(k)).collect::<Vec<_>>().join(", ");
        let is_dominant = orders.above(&queue.name).scalar == Scalar::Dominant;
        (is_dominant && !others.is_empty()).then(|| {
            format!(
                "the minimum share of `{}` is a dominant share: a queue that holds as large a part \
                 of {} has it, whatever it holds of {}",
                queue.name,
                names(&others),
                names(&named)
            )
        })
    };
    queues.iter().filter_map(told).collect()
}

/// By whose policy each queue is ordered among its siblings.
///
/// ```
/// use meed::{Measure, Policy, QueueSpec};
/// use meed_config::queues::Orders;
///
/// let (root, fifo) = (Policy::new(Measure::Usage), Policy::new(Measure::Arrival));
/// let queues = ["a", "a.b"].map(|name| QueueSpec::new(name, fifo.clone()));
/// let orders = Orders::of(&root, &queues);
/// assert_eq!((orders.above("a"), orders.above("a.b")), (&root, &fifo));
/// ```
pub struct Orders<'a> {
    root: &'a Policy,
    policies: BTreeMap<&'a str, &'a Policy>,
}

impl<'a> Orders<'a> {
    /// Of all queues below a root that orders by `root`.
    pub fn of(root: &'a Policy, queues: &'a [QueueSpec]) -> Orders<'a> {
        let policies = queues.iter().map(|queue| (queue.name.as_str(), &queue.policy));
        Orders { root, policies: policies.collect() }
    }

    /// The policy of the parent of the queue `name`.
    pub fn above(&self, name: &str) -> &'a Policy {
        let parent = name.rsplit_once('.').map(|(parent, _)| parent);
        parent.and_then(|parent| self.policies.get(parent).copied()).unwrap_or(self.root)
    }
}

/// The tree's names, to be looked up.
///
/// ```
/// use meed_config::queues::{Names, QueuePlan};
///
/// let plans = ["a", "a.b"].map(QueuePlan::plain);
/// let names = Names::of(&plans);
/// assert!(names.check_leaf("a.b").is_ok());
/// assert!(names.check_leaf("a").is_err()); // it has a child
/// ```
pub struct Names<'a> {
    all: BTreeSet<&'a str>,
    /// Each parent, with one of its children.
    parents: BTreeMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    /// The names of these queues.
    pub fn of(plans: &'a [QueuePlan]) -> Names<'a> {
        let names = || plans.iter().map(|plan| plan.name.as_str());
        let above = |name: &'a str| name.rsplit_once('.').map(|(parent, _)| (parent, name));
        Names { all: names().collect(), parents: names().filter_map(above).collect() }
    }

    /// Whether jobs can go to `name`: it is declared, and nothing lies below it.
    pub fn check_leaf(&self, name: &str) -> Result<(), String> {
        if !self.all.contains(name) {
            let near = did_you_mean(name, self.all.iter().copied());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            return Err(format!("unknown queue `{name}`{near}"));
        }
        match self.parents.get(name) {
            Some(child) => {
                Err(format!("queue `{name}` is a parent (of `{child}`); jobs go to leaves"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minimum is refused in a resource that the order above the queue does not count, be that
    /// of the run or of the queue's own parent.
    #[test]
    fn minimums_are_of_resources_that_count() {
        let kinds = ["cpu", "memory", "gpu"].map(|name| (name.to_owned(), meed::Unit::Milli));
        let kinds = ResourceKinds::new(kinds.to_vec()).unwrap();
        let problem = |run: &str, own: &str, min: [u64; 3]| {
            let run: PolicySpec = run.parse().unwrap();
            let mut plans = vec![QueuePlan::plain("a"), QueuePlan::plain("a.x")];
            plans[0].keys = own.parse().unwrap();
            plans[1].min = Some(Resources::new(&min));
            let (root, queues) = resolve(&plans, &run, &kinds).unwrap();
            check_minimums(&root, &queues, &kinds).map_err(|(number, why)| {
                assert_eq!(number, 1);
                why
            })
        };
        let why = problem("long-term", "fair", [4, 0, 8]).unwrap_err();
        assert!(why.starts_with("queue `a.x`: a minimum share of gpu would not be kept"), "{why}");
        assert!(why.contains("the order above it (`fair`) counts cpu only"), "{why}");
        for order in ["fair", "long-term", "fifo", "fair,t_wait=10min"] {
            assert!(problem("drf", order, [0, 0, 8]).is_err(), "{order}");
            assert_eq!(problem("drf", order, [4, 0, 0]), Ok(()), "{order}");
        }
        for order in ["drf", "long-term-drf", "fair,resource=gpu"] {
            assert_eq!(problem("fair", order, [0, 0, 8]), Ok(()), "{order}");
        }
        let priced = "fair,prices={cpu=1,gpu=30}";
        assert_eq!(problem("fair", priced, [4, 0, 8]), Ok(()));
        assert!(problem("fair", priced, [4, 1, 8]).unwrap_err().contains("counts cpu, gpu only"));
    }

    #[test]
    fn keys_are_those_of_a_queue() {
        let wrong = crate::tree::read::<QueueForm>("name = \"a\"\nwrong = 1").unwrap_err();
        let known: Vec<String> =
            ["name"].iter().chain(&KEYS).map(|key| format!("`{key}`")).collect();
        assert!(wrong.message().ends_with(&format!("one of {}", known.join(", "))), "{wrong}");
    }

    fn names(plans: &[QueuePlan]) -> Vec<&str> {
        plans.iter().map(|plan| plan.name.as_str()).collect()
    }

    #[test]
    fn parents_come_first_and_are_added_where_they_are_missing() {
        let plans = ["b.x.y", "a", "b.z", "c.d", "c"].map(QueuePlan::plain).to_vec();
        let mut remarks = Vec::new();
        let all = with_parents(plans, &mut remarks);
        assert_eq!(names(&all), ["b", "b.x", "b.x.y", "a", "b.z", "c", "c.d"]);
        assert_eq!(remarks.len(), 2);
        assert!(remarks[1].starts_with("queue `b.x` is not declared"), "{remarks:?}");
    }

    /// What is added is at most [`MAX_DEPTH`] times the text, and so are the remarks.
    #[test]
    fn deep_trees_cost_in_proportion_to_their_text() {
        let deepest = vec!["x"; MAX_DEPTH].join(".");
        assert_eq!(check_name(&deepest), Ok(()));
        let deeper = check_name(&format!("{deepest}.x")).unwrap_err();
        assert!(deeper.ends_with("has 201 levels; at most 200 are possible"), "{deeper}");
        let long = check_name(&"x".repeat(MAX_NAME + 1)).unwrap_err();
        assert!(long.len() < 200 && long.contains("1025 bytes; at most 1024"), "{long}");
        let plans: Vec<QueuePlan> =
            (0..100).map(|i| QueuePlan::plain(format!("q{i}.{}", &deepest[4..]))).collect();
        let text: usize = names(&plans).iter().map(|name| name.len()).sum();
        let mut remarks = Vec::new();
        let all = with_parents(plans, &mut remarks);
        let kept: usize = names(&all).iter().map(|name| name.len()).sum();
        assert!(kept <= MAX_DEPTH * text, "{kept} bytes of {text}");
        assert_eq!(remarks.len(), MOST_REMARKS + 1);
        assert!(remarks.last().is_some_and(|last| last.starts_with("19780 more parents")));
    }
}
