//! Settings to points: the cartesian product, with every point's scenario read and every policy
//! resolved.
//!
//! Points are numbered in the order of the product: the first setting varies slowest, then the
//! others in the order given, then the policy (unless it is one of the settings), then the seed. A
//! setting is one of [`SHORT`], or any key of the scenario as `--set` takes it (`queue.0.weight`,
//! `cluster.node.0.capacity.cpu`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use meed::policy::Preset;
use meed_config::policy::{Form, KEYS};
use meed_config::words::did_you_mean;
use meed_scenario::{LoadError, STATIC, Scenario, Setting};

use super::{DEFAULT_POLICIES, SweepRequest, values};
use crate::cores;
use crate::error::SweepError;
use crate::gain::with_baseline;
use crate::order::{BASELINE, NamedOrder};

/// Most points of one sweep.
const MAX_POINTS: usize = 1_000_000;

/// What a setting changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A key of the scenario.
    Scenario(String),
    /// A key of the policy, added to the words of each policy: it wins over what the scenario says.
    Policy(String),
    /// The policy itself.
    Name,
}

/// Settings with a name of their own: what users write, where it goes, and what it is. Keys of
/// policies are others.
pub const SHORT: [(&str, &str, &str); 4] = [
    ("policy", "", "the policy itself"),
    ("load", "run.load", "how fast jobs come, against how the workload has it"),
    ("nodes", "cluster.node.0.count", "how many nodes of the first kind there are"),
    ("until", "run.until", "when the run ends"),
];

/// Keys of a policy that can be set by their own name: all whose values are not tables.
pub fn policy_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|key| key.form != Form::Prices).map(|key| key.name)
}

/// A setting and its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// As the user wrote it.
    pub name: String,
    /// What it changes.
    pub target: Target,
    /// As the user wrote them, ranges expanded.
    pub values: Vec<String>,
}

/// One combination of settings, policy and seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// Its place in the order of the product, from 0.
    pub number: usize,
    /// Which value of each axis.
    pub choice: Vec<usize>,
    /// The words of its policy, with the keys that axes add.
    pub policy: String,
    /// The policy as it was named.
    pub policy_name: String,
    /// The seed.
    pub seed: u64,
    /// Which of [`Grid::scenarios`].
    pub scenario: usize,
}

/// All points of a sweep, checked.
pub struct Grid {
    /// The scenario's file, as given.
    pub file: PathBuf,
    /// The settings.
    pub axes: Vec<Axis>,
    /// Policies as they were named; of no axis.
    pub policies: Vec<String>,
    /// What all are compared with, the first of them.
    pub baseline: Option<NamedOrder>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// In the order of the product.
    pub points: Vec<Point>,
    /// One for each combination of the settings that change it.
    pub scenarios: Vec<Scenario>,
    /// Names of the cluster's resources, the same at each point.
    pub resources: Vec<String>,
    /// Whether a wrong line or a refused job stops the sweep.
    pub strict: bool,
}

impl Grid {
    /// Reads the settings, then every scenario and policy that they make. Nothing is run.
    pub fn prepare(request: &SweepRequest) -> Result<Grid, SweepError> {
        let axes = axes(&request.over)?;
        let policies = policies(request, &axes)?;
        if request.seeds == 0 {
            return Err(SweepError::Settings("--seeds is 0; at least 1 is needed".to_owned()));
        }
        let base = first_scenario(request, &axes)?;
        check_twice(&axes, &base)?;
        let first = request.first_seed.unwrap_or(base.seed);
        let Some(last) = first.checked_add(request.seeds - 1) else {
            return Err(SweepError::Settings(format!(
                "{} seeds from {first} on: there are not so many",
                request.seeds
            )));
        };
        let count = axes.iter().map(|axis| axis.values.len()).chain([policies.len().max(1)]);
        let count = count.fold(u128::from(request.seeds), |product, values| {
            product.saturating_mul(values as u128)
        });
        if count > MAX_POINTS as u128 {
            return Err(SweepError::Settings(format!(
                "{count} points; a sweep has at most {MAX_POINTS}"
            )));
        }
        let seeds: Vec<u64> = (first..=last).collect();
        let find = |words: &String| NamedOrder::find(BASELINE, words, None, &base);
        let baseline = request.baseline.as_ref().map(find).transpose()?;
        let (points, changes) = product(&axes, &policies, request.baseline.as_deref(), &seeds);
        let resources = base.kinds().names().map(str::to_owned).collect();
        let mut grid = Grid {
            file: request.scenario.clone(),
            axes,
            policies,
            baseline,
            seeds,
            points,
            scenarios: Vec::new(),
            resources,
            strict: request.reading.is_strict(),
        };
        grid.scenarios = grid.read_scenarios(request, &changes)?;
        grid.check_policies()?;
        Ok(grid)
    }

    /// Each scenario that the settings make. A setting may change how a trace is read.
    fn read_scenarios(
        &self,
        request: &SweepRequest,
        changes: &[Vec<Change>],
    ) -> Result<Vec<Scenario>, SweepError> {
        let read = |(number, own): (usize, &Vec<Change>)| {
            let at = || {
                self.words(
                    self.points
                        .iter()
                        .find(|point| point.scenario == number)
                        .unwrap_or(&self.points[0]),
                )
            };
            let settings = with(&request.settings, own);
            let scenario = Scenario::load_any(&request.scenario, &settings, &request.reading)
                .map_err(|source| SweepError::Load { at: at(), source: Box::new(source) })?;
            if !scenario.kinds().names().eq(self.resources.iter().map(String::as_str)) {
                let what =
                    format!("{}: the cluster's resources are others than at the first point", at());
                return Err(SweepError::Settings(what));
            }
            Ok(scenario)
        };
        // All at once, for a large trace takes seconds to look at; the first error in order is
        // told.
        let changes: Vec<(usize, &Vec<Change>)> = changes.iter().enumerate().collect();
        let read = cores::map(&changes, |&own| Ok::<_, SweepError>(read(own)))?;
        read.into_iter().collect()
    }

    fn check_policies(&self) -> Result<(), SweepError> {
        let mut seen = std::collections::BTreeSet::new();
        for point in &self.points {
            let is_rival =
                |order: &NamedOrder| order.rival.is_some() && order.words == point.policy;
            if self.baseline.as_ref().is_some_and(is_rival) {
                continue;
            }
            if seen.insert((point.scenario, &point.policy)) {
                self.scenarios[point.scenario].check_policy(&point.policy).map_err(|why| {
                    SweepError::Load {
                        at: self.words(point),
                        source: Box::new(LoadError::Scenario(why)),
                    }
                })?;
            }
        }
        Ok(())
    }

    /// The point's settings, as people read them: `point 3 (load=1.2, policy=fair, seed=0)`.
    pub fn words(&self, point: &Point) -> String {
        let settings = self.parameters().into_iter().zip(self.values(point));
        let settings: Vec<String> =
            settings.map(|(name, value)| format!("{name}={value}")).collect();
        format!("point {} ({})", point.number + 1, settings.join(", "))
    }

    /// Names of what makes a point: the settings, the policy and the seed.
    pub fn parameters(&self) -> Vec<String> {
        let axes = self.axes.iter().map(|axis| axis.name.clone());
        let policy = (!self.policies.is_empty()).then(|| "policy".to_owned());
        axes.chain(policy).chain(["seed".to_owned()]).collect()
    }

    /// A point's values of [`Grid::parameters`].
    pub fn values(&self, point: &Point) -> Vec<String> {
        let axes =
            self.axes.iter().zip(&point.choice).map(|(axis, &choice)| axis.values[choice].clone());
        let policy = (!self.policies.is_empty()).then(|| point.policy_name.clone());
        axes.chain(policy).chain([point.seed.to_string()]).collect()
    }
}

/// A key of the scenario and its value, as the user wrote them.
type Change = (String, String);

/// `settings`, and then the changes of a point.
fn with(settings: &[Setting], own: &[Change]) -> Vec<Setting> {
    let own = own.iter().map(|(key, value)| Setting::of_text(key, value));
    settings.iter().cloned().chain(own).collect()
}

/// The scenario at the first point: its own seed and resources are those of the sweep.
fn first_scenario(request: &SweepRequest, axes: &[Axis]) -> Result<Scenario, SweepError> {
    let own = axes.iter().filter_map(|axis| match &axis.target {
        Target::Scenario(key) => Some((key.clone(), axis.values[0].clone())),
        Target::Policy(_) | Target::Name => None,
    });
    let own: Vec<Change> = own.collect();
    let all = with(&request.settings, &own);
    Scenario::load_any(&request.scenario, &all, &request.reading).map_err(|source| {
        let words = own.iter().map(|(key, value)| format!("{key}={value}"));
        let words: Vec<String> = words.collect();
        let at = if words.is_empty() {
            "every point".to_owned()
        } else {
            format!("point 1 ({})", words.join(", "))
        };
        SweepError::Load { at, source: Box::new(source) }
    })
}

fn axes(over: &[String]) -> Result<Vec<Axis>, SweepError> {
    let mut axes: Vec<Axis> = Vec::new();
    for text in over {
        let fail = |what: String| SweepError::Settings(format!("--over {text}: {what}"));
        let (name, list) = Setting::split(text)
            .ok_or_else(|| fail("is not of the form KEY=V1,V2,...".to_owned()))?;
        let name = name.trim();
        let target = target(name).map_err(fail)?;
        let values = values::parse(list).map_err(|why| fail(format!("`{name}` {why}")))?;
        if axes.iter().any(|axis| axis.target == target) {
            return Err(fail(format!("`{name}` varies already; name all its values once")));
        }
        axes.push(Axis { name: name.to_owned(), target, values });
    }
    Ok(axes)
}

/// No two axes are one key, written in two ways: a queue by its number and by its name.
fn check_twice(axes: &[Axis], base: &Scenario) -> Result<(), SweepError> {
    let mut seen: BTreeMap<Vec<String>, &str> = BTreeMap::new();
    for axis in axes {
        let Target::Scenario(key) = &axis.target else { continue };
        if let Some(before) = seen.insert(base.path_of(key), &axis.name) {
            let name = &axis.name;
            return Err(SweepError::Settings(format!(
                "--over {name}: it varies already, as `{before}`; name all its values once"
            )));
        }
    }
    Ok(())
}

/// Where a setting goes, by its name.
fn target(name: &str) -> Result<Target, String> {
    if name == "seed" {
        return Err("seeds are given by --seeds N and --seed FIRST".to_owned());
    }
    if let Some((_, key, _)) = SHORT.iter().find(|(short, ..)| *short == name) {
        return Ok(if key.is_empty() { Target::Name } else { Target::Scenario((*key).to_owned()) });
    }
    if policy_keys().any(|key| key == name) {
        return Ok(Target::Policy(name.to_owned()));
    }
    if name.contains('.') {
        return Ok(Target::Scenario(name.to_owned()));
    }
    let known = || SHORT.iter().map(|(short, ..)| *short).chain(policy_keys());
    let near = did_you_mean(name, known()).map_or(String::new(), |near| format!("{near} "));
    let all: Vec<&str> = known().collect();
    Err(format!(
        "unknown setting `{name}`; {near}Known are {}, and any key of the scenario with its table, \
         as in queue.0.weight",
        all.join(", ")
    ))
}

/// The policies that are not an axis.
fn policies(request: &SweepRequest, axes: &[Axis]) -> Result<Vec<String>, SweepError> {
    let axis = axes.iter().any(|axis| axis.target == Target::Name);
    if axis && let Some(baseline) = &request.baseline {
        return Err(SweepError::Settings(format!(
            "{BASELINE} {baseline}: the policy is a setting here; name policies by --policy"
        )));
    }
    let named = match (axis, request.policies.is_empty()) {
        (true, true) => Ok(Vec::new()),
        (true, false) => {
            let what = "policies are given by --policy or by --over policy=..., not both";
            Err(SweepError::Settings(what.to_owned()))
        }
        (false, true) => Ok(DEFAULT_POLICIES.map(str::to_owned).to_vec()),
        (false, false) => {
            let all = &request.policies;
            match (1..all.len()).find(|&at| all[..at].contains(&all[at])) {
                Some(at) => {
                    Err(SweepError::Settings(format!("--policy {} is given twice", all[at])))
                }
                None => Ok(all.clone()),
            }
        }
    };
    named.map(|names| with_baseline(request.baseline.as_deref(), names))
}

/// All points, and the changes that make each of their scenarios.
fn product(
    axes: &[Axis],
    policies: &[String],
    baseline: Option<&str>,
    seeds: &[u64],
) -> (Vec<Point>, Vec<Vec<Change>>) {
    let one = [String::new()];
    let policies = if policies.is_empty() { &one[..] } else { policies };
    let combinations: usize = axes.iter().map(|axis| axis.values.len()).product();
    let mut points = Vec::with_capacity(combinations * policies.len() * seeds.len());
    let mut changes: Vec<Vec<Change>> = Vec::new();
    let mut numbers = BTreeMap::new();
    for combination in 0..combinations {
        let choice = digits(combination, axes);
        let chosen =
            || axes.iter().zip(&choice).map(|(axis, &at)| (&axis.target, &axis.values[at]));
        let own: Vec<Change> = chosen()
            .filter_map(|(target, value)| match target {
                Target::Scenario(key) => Some((key.clone(), value.clone())),
                Target::Policy(_) | Target::Name => None,
            })
            .collect();
        let scenario = *numbers.entry(own.clone()).or_insert_with(|| {
            changes.push(own);
            changes.len() - 1
        });
        let named = chosen().find_map(|(target, value)| (*target == Target::Name).then_some(value));
        let keys: String = chosen()
            .filter_map(|(target, value)| match target {
                Target::Policy(key) => Some(format!(",{key}={value}")),
                Target::Scenario(_) | Target::Name => None,
            })
            .collect();
        for name in policies {
            let policy_name = named.unwrap_or(name).clone();
            for &seed in seeds {
                let (number, choice) = (points.len(), choice.clone());
                // What the site has does not vary with the setting.
                let policy = match baseline == Some(policy_name.as_str()) {
                    true => policy_name.clone(),
                    false => format!("{policy_name}{keys}"),
                };
                points.push(Point {
                    number,
                    choice,
                    policy,
                    policy_name: policy_name.clone(),
                    seed,
                    scenario,
                });
            }
        }
    }
    (points, changes)
}

/// Which value of each axis the combination has; the first axis varies slowest.
fn digits(mut combination: usize, axes: &[Axis]) -> Vec<usize> {
    let mut choice = vec![0; axes.len()];
    for (place, axis) in choice.iter_mut().zip(axes).rev() {
        *place = combination % axis.values.len();
        combination /= axis.values.len();
    }
    choice
}

/// Whether the policy remembers nothing that keys of `long-term` could change: its points are equal
/// along such an axis.
pub(super) fn is_memoryless(policy: &str) -> bool {
    let name = policy.split(',').next().unwrap_or_default();
    name == STATIC || Preset::find(name).is_some_and(|preset| !preset.measure.info().keeps_usage)
}
