//! An order policy, composed from a few independent choices: who among a queue's children is served
//! next.
//!
//! Every policy serves the demanding child with the smallest key; a [`Policy`] says what the key is
//! made of. The names that users write are rows of [`PRESETS`]: to add a policy that is a new
//! combination, add a row; what a new measure takes stands in CONTRIBUTING.md.

use std::num::NonZeroU32;

use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::time::Span;

/// What a child's key measures.
///
/// ```
/// use meed::{Measure, Policy};
///
/// assert_eq!(Policy::new(Measure::Usage).name(), "long-term");
/// assert!(Measure::Usage.info().keeps_usage && !Measure::Allocation.info().keeps_usage);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Measure {
    /// When its oldest waiting job arrived.
    Arrival,
    /// What it holds now (memoryless).
    Allocation,
    /// What it has used so far, as its memory keeps it.
    Usage,
    /// What part it runs of the tasks that it could run alone (memoryless; TSF, SC'16). Counts all
    /// kinds.
    TaskShare,
    /// What it holds now, and what is left of all that it held above its share (SDRF, IEEE Trans.
    /// Computers 2021). Counts all kinds.
    Commitment,
    /// What somebody outside says ([`crate::Rank`]): for rules that recompute priorities now and
    /// then, and are not this engine's own.
    Told,
}

/// In what the keys of a measure are told to people, per weight 1.
///
/// ```
/// use meed::Measure;
/// use meed::policy::KeyUnit;
///
/// assert_eq!(Measure::Allocation.info().unit, KeyUnit::Amount);
/// assert_eq!(Measure::Usage.info().unit, KeyUnit::AmountSeconds);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyUnit {
    /// A plain number.
    Number,
    /// An amount of a resource.
    Amount,
    /// An amount of a resource x seconds.
    AmountSeconds,
}

/// What is to be known of a measure besides the formula of its key: what help, explanations and
/// sweeps say of it.
///
/// ```
/// use meed::Measure;
///
/// let info = Measure::Commitment.info();
/// assert_eq!(info.reads, ["half_life"]);
/// assert!(info.keeps_usage);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasureInfo {
    /// In what its keys are told.
    pub unit: KeyUnit,
    /// Whether it keeps ledgers of use over time. All others remember nothing.
    pub keeps_usage: bool,
    /// Keys of a policy, as users write them, that it reads; what else they write changes nothing.
    pub reads: &'static [&'static str],
}

impl Measure {
    /// What is to be known of it.
    pub const fn info(self) -> &'static MeasureInfo {
        match self {
            Measure::Arrival => {
                &MeasureInfo { unit: KeyUnit::Number, keeps_usage: false, reads: &[] }
            }
            Measure::Allocation => {
                &MeasureInfo { unit: KeyUnit::Amount, keeps_usage: false, reads: &["resource"] }
            }
            Measure::Usage => &MeasureInfo {
                unit: KeyUnit::AmountSeconds,
                keeps_usage: true,
                reads: &[
                    "resource",
                    "memory",
                    "round",
                    "half_life",
                    "newcomer",
                    "discount",
                    "quantum",
                    "quantum_initial",
                    "quantum_interval",
                    "quantum_waiting",
                    "t_wait",
                ],
            },
            Measure::TaskShare => {
                &MeasureInfo { unit: KeyUnit::Number, keeps_usage: false, reads: &[] }
            }
            Measure::Commitment => {
                &MeasureInfo { unit: KeyUnit::Amount, keeps_usage: true, reads: &["half_life"] }
            }
            Measure::Told => {
                &MeasureInfo { unit: KeyUnit::Number, keeps_usage: false, reads: &["resource"] }
            }
        }
    }
}

/// How long usage is remembered.
///
/// ```
/// use meed::{Measure, Memory, Policy, Span};
///
/// let week = Span::from_secs(7 * 86_400).ok_or("in range")?;
/// let policy = Policy { memory: Memory::HalfLife(week), ..Policy::new(Measure::Usage) };
/// assert_ne!(policy.memory, Memory::Forever); // what a policy begins with
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Memory {
    /// Since the start (F-LTMM, ICS'14 Sec. 5.1.2).
    Forever,
    /// Since the start of the current round of this length (S-LTMM, ICS'14 Eq. 12 to 16).
    Rounds(Span),
    /// Usage counts half after this time, a quarter after twice this time, and so on.
    HalfLife(Span),
}

/// What one unit of usage is.
///
/// ```
/// use meed::{Measure, Policy, Resources, Scalar};
///
/// let mut policy = Policy::new(Measure::Allocation);
/// policy.scalar = Scalar::Kind(0);
/// assert_eq!(policy.uncounted(&Resources::new(&[0, 5])), Some(1));
/// policy.scalar = Scalar::Dominant;
/// assert_eq!(policy.uncounted(&Resources::new(&[0, 5])), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scalar {
    /// The amount of one resource kind.
    Kind(usize),
    /// The priced sum over all kinds: prices per smallest unit in parts of [`PRICE_ONE`], in the
    /// order of the kinds.
    Priced(Vec<u64>),
    /// The dominant share: the largest part of the pool over all kinds (DRF, DRFH).
    Dominant,
}

/// What a queue that comes later starts with.
///
/// ```
/// use meed::{Measure, Newcomer, Policy};
///
/// let policy = Policy { newcomer: Newcomer::EarlyBird, ..Policy::new(Measure::Usage) };
/// assert_eq!(policy.name(), "long-term"); // a choice within the same policy
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Newcomer {
    /// Nothing: it may catch up with all that the others have used (TSC'18).
    Zero,
    /// Early bird privilege: it is topped up to the largest weighted usage among the active earlier
    /// queues (pseudo-accumulated resources, ICS'14 Eq. 10 and 16).
    EarlyBird,
    /// It is topped up to the average weighted usage of the active earlier queues.
    Average,
}

/// The assumed execution time of a task whose real one is unknown (ICS'14 Sec. 5.1.1).
///
/// ```
/// use meed::{Measure, Policy, Quantum, Untried, policy::DEFAULT_QUANTUM};
///
/// let policy = Policy::new(Measure::Usage);
/// let Quantum::Adaptive { initial, untried, .. } = policy.quantum else { return Err("learned") };
/// assert_eq!((initial, untried), (DEFAULT_QUANTUM, Untried::Handed));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Quantum {
    /// The same for all tasks.
    Fixed(Span),
    /// Tuned by the multi-level Quantum Updater (ICS'14 Sec. 5.2.1).
    Adaptive {
        /// The root's quantum at the start, Q_0.
        initial: Span,
        /// How often the averages are taken anew.
        interval: Span,
        /// What is assumed of jobs of which no task has ended.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Untried::is_handed"))]
        untried: Untried,
    },
}

/// What an adaptive quantum assumes of jobs of which no task has ended.
///
/// The example of [`Quantum`] reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Untried {
    /// What their leaf handed them when they came (ICS'14 Sec. 5.2.1); that counts in the leaf's
    /// mean. A leaf of many jobs that wait learns little from one that ends.
    #[default]
    Handed,
    /// The leaf's quantum of now, the mean of its ended tasks. Not in the papers: for worlds whose
    /// jobs have one task each.
    Ended,
}

#[cfg(feature = "serde")]
impl Untried {
    pub(crate) fn is_handed(&self) -> bool {
        *self == Untried::Handed
    }
}

/// What happens when the task whose turn it is fits on no node now.
///
/// ```
/// use meed::{Blocked, Measure, Policy, Reservations};
///
/// let policy = Policy::new(Measure::Usage);
/// assert_eq!(policy.blocked, Blocked::Skip); // work conserving
/// let backfill = Policy { blocked: Blocked::Reserve(Reservations::All), ..policy };
/// assert_eq!(backfill.name(), "long-term");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Blocked {
    /// The next child that has a task which fits is served (work conserving; a large task may wait
    /// long).
    Skip,
    /// Nobody is served until it fits (Algorithm 1, line 13; a large task is never overtaken).
    Wait,
    /// Room is held for it where it can start first, and others are served meanwhile only where
    /// that does not delay it (backfilling, `engine::holds`).
    Reserve(Reservations),
}

/// How many tasks may have a reservation at once.
///
/// It is part of a [`Blocked::Reserve`](Blocked), whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reservations {
    /// So many, those that are first in turn: one is EASY backfilling.
    AtMost(NonZeroU32),
    /// Every task that cannot start: conservative backfilling.
    All,
}

/// How long a task is expected to run, where reservations look ahead.
///
/// ```
/// use meed::{Estimates, Measure, Policy};
///
/// let mut policy = Policy::new(Measure::Usage);
/// assert_eq!(policy.estimates, Estimates::Limits);
/// policy.estimates = Estimates::Learned;
/// assert_eq!(policy.name(), "long-term");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Estimates {
    /// Up to its limit; without one nobody knows.
    #[default]
    Limits,
    /// Up to its limit; without one as long as the last tasks of its queue (`engine::estimates`).
    Learned,
}

impl Reservations {
    /// One at a time.
    pub const ONE: Reservations = Reservations::AtMost(NonZeroU32::MIN);

    /// Whether one more may be made where there are `made`.
    pub(crate) fn allow(self, made: usize) -> bool {
        match self {
            Reservations::AtMost(most) => made < most.get() as usize,
            Reservations::All => true,
        }
    }
}

/// Thousandths, for ratios in decisions: 1000 is one.
pub type Permille = u32;

/// How a queue orders its children. Start from a preset and change what differs.
///
/// ```
/// use meed::{Memory, Policy, Span};
///
/// let mut policy = Policy::preset("long-term").ok_or("no such preset")?;
/// policy.memory = Memory::HalfLife(Span::from_secs(86_400).ok_or("in range")?);
/// assert_eq!(policy.name(), "long-term");
/// assert_eq!(Policy::preset("none of ours"), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy {
    /// What the key measures.
    pub measure: Measure,
    /// How long usage is remembered; read by [`Measure::Usage`] only, as are the four below. Of
    /// [`Measure::Commitment`] the half-life is read; without one it is [`COMMITMENT_HALF_LIFE`].
    pub memory: Memory,
    /// What a unit of usage is; read by [`Measure::Allocation`] too.
    pub scalar: Scalar,
    /// What latecomers start with.
    pub newcomer: Newcomer,
    /// Discount eta on use above the share (ICS'14 Eq. 7), in thousandths; 1000 is none.
    pub discount: Permille,
    /// Assumed execution time.
    pub quantum: Quantum,
    /// What happens when the chosen task fits nowhere. Only the root's is read.
    pub blocked: Blocked,
    /// With [`Blocked::Reserve`]: whether room that is held idle is charged to the ledgers of the
    /// queue for which it is held. Orders without memory have none. Only the root's is read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub charge_reservations: bool,
    /// With [`Blocked::Reserve`]: room is held for a task that fits nowhere when its turn came so
    /// long ago; until then others are served as under [`Blocked::Skip`]. At once for a queue that
    /// has lent more than it has borrowed, if this measure keeps usage. Only the root's is read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reserve_after: Span,
    /// With [`Blocked::Reserve`]: so many more nodes are drained for a task of which nobody knows
    /// when it starts; it takes whichever has room first. Only the root's is read.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub spares: u32,
    /// With [`Blocked::Reserve`]: how long tasks are expected to run. Only the root's is read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub estimates: Estimates,
    /// Whether, and when, running tasks are stopped for reservations. Only the root's is read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reclaim: Option<Reclaim>,
    /// Starvation guard of H-LTRF (TSC'18 Algorithm 2): the demanding leaf that has used least of
    /// its part of the root is served out of turn once it has waited this long; `None`: never (the
    /// naive walk). Only the root's is read.
    pub t_wait: Option<Span>,
    /// Each server decides on its own, by what children hold on it (`engine::per_server`). For
    /// dominant allocation, and below a root that has it too.
    pub per_server: bool,
    /// With `per_server`: all that a child holds is compared with what is free on the server
    /// (`engine::residual`), instead of what it holds there with what the server has.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub residual: bool,
    /// With `per_server`: the task starts that is best aligned with the server, of the part 1 - f
    /// of all children that hold least (`engine::tetris`); this is f, at most 1000.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fairness: Option<Permille>,
}

/// After which a commitment is half as large, where nobody says: five days, tau = 7.2 days.
pub const COMMITMENT_HALF_LIFE: Span = match Span::from_secs(5 * 86_400) {
    Some(span) => span,
    None => Span::ZERO,
};

/// Tetris's knob where nobody turns it.
pub const DEFAULT_FAIRNESS: Permille = 250;

#[cfg(feature = "serde")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Nodes that are drained besides where nobody says how many.
pub const DEFAULT_SPARES: u32 = 1;

/// Quantum that adaptive policies start from.
pub const DEFAULT_QUANTUM: Span = match Span::from_secs(10) {
    Some(span) => span,
    None => Span::ZERO,
};

const REFRESH_INTERVAL: Span = match Span::from_secs(1) {
    Some(span) => span,
    None => Span::ZERO,
};

/// A named combination.
///
/// ```
/// use meed::policy::{PRESETS, Preset};
///
/// let drfh = Preset::find("drfh").ok_or("a known name")?;
/// assert_eq!((drfh.dominant, drfh.placement), (true, "best-fit"));
/// assert!(PRESETS.iter().any(|preset| preset.name == drfh.policy().name()));
/// # Ok::<(), &str>(())
/// ```
pub struct Preset {
    /// What users write.
    pub name: &'static str,
    /// The measure; all other choices start from [`Policy::new`].
    pub measure: Measure,
    /// Whether shares are dominant shares over all kinds, instead of amounts of one.
    pub dominant: bool,
    /// Whether each server decides on its own.
    pub per_server: bool,
    /// Whether it compares with what is free on it.
    pub residual: bool,
    /// Of those that start what is best aligned with the server: the knob where nobody turns it.
    pub fairness: Option<Permille>,
    /// The placement that goes with it, where the user names none.
    pub placement: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
    /// What a key is, in words, where one is explained; `{}` stands for the resource it is told in.
    pub key: &'static str,
}

/// The policies that users can name.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "fifo",
        about: "first come, first served",
        key: "arrival number of its oldest waiting job",
        ..Preset::of(Measure::Arrival)
    },
    Preset {
        name: "fair",
        about: "memoryless weighted max-min (MLRF)",
        key: "{} held per weight 1",
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "long-term",
        about: "long-term resource fairness (LTRF)",
        key: "{} charged per weight 1",
        ..Preset::of(Measure::Usage)
    },
    Preset {
        name: "drf",
        about: "dominant resource fairness: dominant shares over the pool",
        key: "dominant share per weight 1, told as {} held",
        dominant: true,
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "drfh",
        about: "DRF on unequal servers: dominant shares over the pool, placed by best fit",
        key: "dominant share per weight 1, told as {} held",
        dominant: true,
        placement: "best-fit",
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "per-server-drf",
        about: "DRF on each server by itself: the naive extension to unequal servers",
        key: "what is held on each server by itself; here the share of the pool per weight 1, \
              told as {} held",
        dominant: true,
        per_server: true,
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "rps-dsf",
        about: "residual per-server dominant shares: what is held over what is free on a server",
        key: "what is held over what is free on a server; here the share of the pool per weight 1, \
              told as {} held",
        dominant: true,
        per_server: true,
        residual: true,
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "tetris",
        about: "Tetris: of the queues that hold least, the task best aligned with the server",
        key: "dominant share per weight 1, told as {} held; of those who hold least the best \
              aligned task starts",
        dominant: true,
        per_server: true,
        fairness: Some(DEFAULT_FAIRNESS),
        ..Preset::of(Measure::Allocation)
    },
    Preset {
        name: "long-term-drf",
        about: "long-term fairness of dominant shares, placed by best fit",
        key: "dominant share used per weight 1, told as {} charged",
        dominant: true,
        placement: "best-fit",
        ..Preset::of(Measure::Usage)
    },
    Preset {
        name: "tsf",
        about: "task share fairness: the part of the tasks that a tenant could run alone",
        key: "part of the tasks that it could run alone, per weight 1",
        dominant: true,
        ..Preset::of(Measure::TaskShare)
    },
    Preset {
        name: "sdrf",
        about: "stateful DRF: dominant shares, and commitments for use above one's share",
        key: "dominant share held and committed per weight 1, told as {}",
        dominant: true,
        ..Preset::of(Measure::Commitment)
    },
    Preset {
        name: "told",
        about: "by ranks that are told from outside; by declaration until then",
        key: "the rank that it was told",
        ..Preset::of(Measure::Told)
    },
];

impl Preset {
    const fn of(measure: Measure) -> Preset {
        Preset {
            name: "",
            measure,
            dominant: false,
            per_server: false,
            residual: false,
            fairness: None,
            placement: "first-fit",
            about: "",
            key: "",
        }
    }

    /// The preset of that name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Its policy.
    pub fn policy(&self) -> Policy {
        let mut policy = Policy::new(self.measure);
        if self.dominant {
            policy.scalar = Scalar::Dominant;
        }
        (policy.per_server, policy.residual) = (self.per_server, self.residual);
        policy.fairness = self.fairness;
        policy
    }

    /// The first preset whose measure these choices are; what else they say may differ from it.
    pub fn like(policy: &Policy) -> Option<&'static Preset> {
        let dominant = policy.scalar == Scalar::Dominant;
        PRESETS.iter().find(|preset| {
            (preset.measure, preset.dominant, preset.per_server, preset.residual)
                == (policy.measure, dominant, policy.per_server, policy.residual)
                && preset.fairness.is_some() == policy.fairness.is_some()
        })
    }
}

impl Policy {
    /// The plain policy of this measure: the first resource kind, remembered forever, newcomers
    /// from zero, no discount, adaptive quantum, work conserving, no starvation guard.
    pub fn new(measure: Measure) -> Policy {
        Policy {
            measure,
            memory: Memory::Forever,
            scalar: Scalar::Kind(0),
            newcomer: Newcomer::Zero,
            discount: 1000,
            quantum: Quantum::Adaptive {
                initial: DEFAULT_QUANTUM,
                interval: REFRESH_INTERVAL,
                untried: Untried::Handed,
            },
            blocked: Blocked::Skip,
            charge_reservations: false,
            reserve_after: Span::ZERO,
            spares: DEFAULT_SPARES,
            estimates: Estimates::Limits,
            reclaim: None,
            t_wait: None,
            per_server: false,
            residual: false,
            fairness: None,
        }
    }

    /// The preset that users call `name`.
    pub fn preset(name: &str) -> Option<Policy> {
        Preset::find(name).map(Preset::policy)
    }

    /// What users call it; empty where no preset is like it.
    pub fn name(&self) -> &'static str {
        Preset::like(self).map_or("", |preset| preset.name)
    }

    /// Whether a queue may order its children so where the run is ordered by `root`: how servers
    /// decide is one matter for all.
    pub fn goes_below(&self, root: &Policy) -> bool {
        let packs = |policy: &Policy| policy.fairness.is_some();
        !self.per_server
            || root.per_server && self.residual == root.residual && packs(self) == packs(root)
    }

    /// The first resource of which `amounts` has some and which children's keys do not count: a
    /// minimum share of it would not be kept.
    pub fn uncounted(&self, amounts: &Resources) -> Option<usize> {
        (0..amounts.kinds()).find(|&kind| amounts.get(kind) > 0 && !self.counts(kind))
    }

    /// Whether the policy counts some of these amounts.
    pub(crate) fn counts_some(&self, amounts: &Resources) -> bool {
        (0..amounts.kinds()).any(|kind| amounts.get(kind) > 0 && self.counts(kind))
    }

    /// Whether the policy counts a resource.
    pub(crate) fn counts(&self, kind: usize) -> bool {
        match &self.scalar {
            Scalar::Kind(counted) => kind == *counted,
            Scalar::Priced(prices) => prices.get(kind).is_some_and(|&price| price > 0),
            Scalar::Dominant => true,
        }
    }

    /// What is wrong with the choices, if anything.
    pub(crate) fn problem(&self, kinds: usize) -> Option<String> {
        let positive = |span: Span, what: &str| {
            (span == Span::ZERO).then(|| format!("{what} must be above zero"))
        };
        let memory = match self.memory {
            Memory::Forever => None,
            Memory::Rounds(length) => positive(length, "round length"),
            Memory::HalfLife(span) if span.as_micros() > MAX_HALF_LIFE_MICROS => {
                Some("half-life must be at most a year".to_owned())
            }
            Memory::HalfLife(span) => positive(span, "half-life"),
        };
        let scalar = match &self.scalar {
            Scalar::Kind(kind) if *kind >= kinds => {
                Some(format!("there is no resource number {kind}"))
            }
            Scalar::Priced(prices) if prices.len() != kinds => {
                Some(format!("{} prices for {kinds} resources", prices.len()))
            }
            Scalar::Priced(prices) if prices.iter().all(|&price| price == 0) => {
                Some("at least one price must be above zero".to_owned())
            }
            Scalar::Priced(prices) if prices.iter().any(|&price| price > PRICE_ONE) => Some(
                "prices must be at most 1 per smallest unit; only their ratios matter".to_owned(),
            ),
            _ => None,
        };
        let discount =
            (self.discount > 1000).then(|| "discount must lie between 0 and 1".to_owned());
        let interval = match self.quantum {
            Quantum::Adaptive { interval, .. } => positive(interval, "quantum interval"),
            Quantum::Fixed(_) => None,
        };
        let guard = (self.t_wait.is_some() && self.measure != Measure::Usage)
            .then(|| "t_wait guards against starvation under long-term only".to_owned());
        let told = (self.measure == Measure::Told && self.scalar == Scalar::Dominant)
            .then(|| "a rank that is told counts one resource or prices".to_owned());
        let counts_all = matches!(self.measure, Measure::TaskShare | Measure::Commitment);
        let tasks = (counts_all && self.scalar != Scalar::Dominant).then(|| {
            "task shares and commitments count all resources, not one or prices".to_owned()
        });
        let told = told.or(tasks);
        let problem = memory.or(scalar).or(discount).or(interval).or(guard).or(told);
        let problem = problem.or_else(|| self.problem_per_server());
        problem.or_else(|| self.problem_without_holds()).or_else(|| self.problem_with_reclaim())
    }
}

impl Policy {
    fn problem_without_holds(&self) -> Option<String> {
        let holds = matches!(self.blocked, Blocked::Reserve(_));
        let what = match (self.reserve_after > Span::ZERO, self.estimates) {
            _ if holds => return None,
            (true, _) => "reserve_after says when room is held for a task",
            (false, Estimates::Limits) => return None,
            (false, _) => "estimates say how far reservations look ahead",
        };
        Some(format!("{what}; say when_blocked = \"reserve\""))
    }

    fn problem_with_reclaim(&self) -> Option<String> {
        let rules = self.reclaim?;
        let holds = matches!(self.blocked, Blocked::Reserve(_));
        let nobody = || {
            "reclaim_after takes room back for who has a reservation; say when_blocked = \
             \"reserve\""
                .to_owned()
        };
        rules.problem().or_else(|| (!holds).then(nobody))
    }

    fn problem_per_server(&self) -> Option<String> {
        let dominant = self.measure == Measure::Allocation && self.scalar == Scalar::Dominant;
        match (self.per_server, dominant, self.blocked) {
            _ if self.fairness.is_some_and(|fairness| fairness > 1000) => {
                Some("fairness must lie between 0 and 1".to_owned())
            }
            _ if self.fairness.is_some() && (self.residual || !self.per_server) => Some(
                "what is aligned with a server is compared where each decides on its own, by what \
                 is held over the pool: say `per_server`, without `residual`"
                    .to_owned(),
            ),
            _ if self.residual && !self.per_server => Some(
                "what is free on a server is compared where each decides on its own: say \
                 `per_server` too"
                    .to_owned(),
            ),
            (true, false, _) => Some(
                "a server by itself compares dominant shares that are held \
                now"
                .to_owned(),
            ),
            (true, true, Blocked::Wait) => Some(
                "each server decides on its own: none can wait for a task that may never fit on \
                 it; say when_blocked = \
                 \"skip\""
                    .to_owned(),
            ),
            (true, true, Blocked::Reserve(_)) => Some(
                "each server decides on its own: none can hold room for a task that another may \
                 start; say when_blocked = \"skip\""
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Longest half-life, a year: memory time runs up to 2^16 times as fast as the clock (see
/// `ledger::clock`) and has to leave room for amounts in 128 bits.
pub const MAX_HALF_LIFE_MICROS: u64 = 366 * 86_400 * 1_000_000;

/// A price of one per smallest unit, the highest: 2^32 parts. Memory priced against cores needs the
/// fine grain.
pub const PRICE_ONE: u64 = 1 << 32;

impl Scalar {
    /// The scalar amount of `resources` on a node of weight `node_weight` (thousandths): theta *
    /// delta of ICS'14 Eq. 9. Rounded down to a whole unit where prices or weights make fractions.
    #[inline]
    pub(crate) fn amount(&self, resources: &Resources, node_weight: u32) -> u64 {
        let plain = match self {
            Scalar::Kind(kind) => resources.get(*kind),
            Scalar::Priced(prices) => {
                let parts = resources.as_slice().iter().zip(prices);
                let sum: u128 =
                    parts.map(|(&amount, &price)| u128::from(amount) * u128::from(price)).sum();
                (sum / u128::from(PRICE_ONE)) as u64
            }
            Scalar::Dominant => {
                unreachable!("dominant shares are no scalar of one task: `order::Rate` is a vector")
            }
        };
        if node_weight == 1000 {
            plain
        } else {
            (u128::from(plain) * u128::from(node_weight) / 1000) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_says_what_it_is() {
        for preset in PRESETS {
            assert!(!preset.name.is_empty() && !preset.about.is_empty(), "{}", preset.name);
            let told_in = preset.measure.info().unit != KeyUnit::Number;
            assert!(!preset.key.is_empty(), "`{}`: what is its key, in words?", preset.name);
            assert_eq!(preset.key.contains("{}"), told_in, "`{}`: {}", preset.name, preset.key);
        }
    }
}
