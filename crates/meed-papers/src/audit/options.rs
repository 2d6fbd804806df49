//! What is audited, and how hard: the orders that there are, those that no search can be about, and
//! the size of a search.

use meed::{Measure, Policy};
use meed_config::policy::{SLOTS, orders};
use meed_experiments::rivals::TOLD;
use meed_experiments::rivals::table::{ParameterForm, RIVALS, Rival};
use meed_sim::AS_YOU_PAY;

use super::case::Tasks;
use super::property::{PROPERTIES, Property};

/// Random cases of each search, unless another number is asked for.
pub const DEFAULT_TRIALS: u32 = 120;

/// Policies that are audited when none is named. One minute is every unit task's length, so a
/// `quantum` of one minute is the ideal of a length that is known: what is found then is the rule's
/// own and not the estimate's.
pub const DEFAULT_POLICIES: [&str; 9] = [
    "static",
    "fifo",
    "fair",
    "long-term",
    "long-term,quantum=1min",
    "long-term,quantum=1min,round=10min",
    "long-term,quantum=1min,half_life=10min",
    "long-term,quantum=1min,newcomer=early-bird",
    "long-term,quantum=1min,t_wait=2min",
];

/// How long orders remember in an audit, where runs last minutes: as the long-term ones above.
const REMEMBERED: &str = "10min";
/// How often a rival ticks in an audit.
const RIVALS_CADENCE: &str = "1min";

/// All orders there are, each as it is audited: [`DEFAULT_POLICIES`], Meed's others, and the
/// rivals; every time that says how long something is remembered is ten minutes. An order that is
/// added to a table is one more.
pub fn all_orders() -> Vec<String> {
    let rival = |rival: &Rival| {
        let times = rival.parameters.iter().filter(|one| one.form == ParameterForm::Time);
        let times = times.map(|time| format!(",{}={REMEMBERED}", time.name));
        format!("{}{},cadence={RIVALS_CADENCE}", rival.name, times.collect::<String>())
    };
    let known = |name: &&str| !DEFAULT_POLICIES.contains(name);
    let mut all = DEFAULT_POLICIES.map(str::to_owned).to_vec();
    all.extend(orders().filter(known).map(|name| match Policy::preset(name) {
        Some(policy) if policy.measure == Measure::Commitment => {
            format!("{name},half_life={REMEMBERED}")
        }
        _ => name.to_owned(),
    }));
    all.push(AS_YOU_PAY.to_owned());
    all.extend(RIVALS.iter().map(rival));
    all
}

/// Why no property can be searched for under an order, where that is so.
pub(super) fn cannot_be_audited(policy: &str) -> Option<&'static str> {
    let name = policy.split(',').next().unwrap_or_default().trim();
    match name {
        SLOTS => Some("slots are a resource of their own; over one resource it is `fair`"),
        TOLD => Some("has no rule of its own: somebody tells it ranks, as the rivals do"),
        AS_YOU_PAY => Some(
            "serves tenants by what they contribute and pay; `meed audit --plans` searches under \
             it",
        ),
        _ => None,
    }
}

/// What is audited, and how hard.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// In the order of [`PROPERTIES`].
    pub properties: Vec<Property>,
    /// Kinds of tasks.
    pub tasks: Vec<Tasks>,
    /// Random cases for each property, policy and kind of tasks.
    pub trials: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl AuditOptions {
    /// Steps of each climb.
    pub fn steps(&self) -> u32 {
        self.trials
    }
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            policies: DEFAULT_POLICIES.map(str::to_owned).to_vec(),
            properties: PROPERTIES.iter().map(|row| row.property).collect(),
            tasks: vec![Tasks::Unit, Tasks::Whole],
            trials: DEFAULT_TRIALS,
            seed: 0,
        }
    }
}
