//! The one table of keys: what each is called, what it means, who reads it, how it is written, what
//! it does to a policy, and how it is told from one.

use meed::{Measure, Policy, ResourceKinds, Scalar};

use super::spec::{Given, PolicySpec, SpecError};
use super::value::{Value, text};
use super::{apply, reclaim};

/// How a key's value is written.
///
/// ```
/// use meed_config::policy::{Form, KEYS};
///
/// let key = KEYS.iter().find(|key| key.name == "half_life").ok_or("a known key")?;
/// assert!(matches!(key.form, Form::Quantity));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A word out of a few, or a name.
    Word,
    /// A number or text with a unit.
    Quantity,
    /// A plain number.
    Number,
    /// A whole number of things.
    Count,
    /// A table with a number for each resource.
    Prices,
    /// `true` or `false`.
    Flag,
}

/// A key of policies.
///
/// ```
/// use meed::Measure;
/// use meed_config::policy::KEYS;
///
/// let key = KEYS.iter().find(|key| key.name == "half_life").ok_or("a known key")?;
/// assert!(key.is_read_by(Measure::Usage) && !key.is_read_by(Measure::Allocation));
/// # Ok::<(), &str>(())
/// ```
pub struct Key {
    /// What users write.
    pub name: &'static str,
    /// What it means, in one line.
    pub about: &'static str,
    /// How its value is written.
    pub form: Form,
    /// The key among [`meed::policy::MeasureInfo::reads`] with which it is read; none for a key
    /// that means something under every order.
    read_with: Option<&'static str>,
    /// Keys of one group are one choice: they are inherited together or not at all.
    pub(super) group: &'static str,
    /// What it makes of the policy: the rows are applied in order. Checks what is given.
    pub(super) apply: Apply,
    /// Its value in a full description of a policy.
    pub(super) of: Of,
}

pub(super) type Apply = fn(&PolicySpec, &ResourceKinds, &mut Policy) -> Result<(), SpecError>;
type Of = fn(&Policy, &ResourceKinds) -> Option<Value>;

impl Key {
    /// Whether orders of this measure read it; the others pass over it.
    pub fn is_read_by(&self, measure: Measure) -> bool {
        self.read_with.is_none_or(|key| measure.info().reads.contains(&key))
    }
}

/// A key that reads and says nothing: rows are written as what differs from it.
const PLAIN: Key = Key {
    name: "",
    about: "",
    form: Form::Word,
    read_with: None,
    group: "",
    apply: |_, _, _| Ok(()),
    of: |_, _| None,
};

/// All keys, in the order in which they are printed and applied.
pub const KEYS: &[Key] = &[
    Key {
        name: "order",
        about: "whose turn it is: the measure",
        group: "order",
        apply: apply::order,
        of: |policy, _| apply::name_of(policy).map(word),
        ..PLAIN
    },
    Key {
        name: "placement",
        about: "on which node a task is placed; of the run, not of a queue",
        group: "placement",
        ..PLAIN
    },
    Key {
        name: "resource",
        about: "the resource that is counted",
        read_with: Some("resource"),
        group: "counted",
        apply: apply::scalar,
        of: |policy, kinds| match policy.scalar {
            Scalar::Kind(kind) => Some(word(kinds.name(kind))),
            _ => None,
        },
        ..PLAIN
    },
    Key {
        name: "prices",
        about: "what each resource counts, instead of one resource alone",
        form: Form::Prices,
        read_with: Some("resource"),
        group: "counted",
        of: apply::prices_of,
        ..PLAIN
    },
    Key {
        name: "memory",
        about: "how long usage is remembered: forever, rounds, half-life",
        group: "memory",
        read_with: Some("memory"),
        apply: apply::memory,
        of: |policy, _| Some(word(apply::memory_of(policy))),
        ..PLAIN
    },
    Key {
        name: "round",
        about: "length of a round",
        form: Form::Quantity,
        group: "memory",
        read_with: Some("round"),
        of: |policy, _| apply::round_of(policy),
        ..PLAIN
    },
    Key {
        name: "half_life",
        about: "usage counts half after this time",
        form: Form::Quantity,
        group: "memory",
        read_with: Some("half_life"),
        of: |policy, _| apply::half_life_of(policy),
        ..PLAIN
    },
    Key {
        name: "newcomer",
        about: "what a queue that comes later starts with: zero, early-bird, average",
        group: "newcomer",
        read_with: Some("newcomer"),
        apply: apply::newcomer,
        of: |policy, _| Some(word(apply::newcomer_of(policy))),
        ..PLAIN
    },
    Key {
        name: "discount",
        about: "the part of use above the share that counts, 0 to 1",
        form: Form::Number,
        group: "discount",
        read_with: Some("discount"),
        apply: apply::discount,
        of: |policy, _| Some(Value::Number(f64::from(policy.discount) / 1000.0)),
    },
    Key {
        name: "quantum",
        about: "how long a running task is assumed to take, or adaptive",
        form: Form::Quantity,
        group: "quantum",
        read_with: Some("quantum"),
        apply: apply::quantum,
        of: |policy, _| Some(apply::quantum_of(policy)),
    },
    Key {
        name: "quantum_initial",
        about: "the adaptive quantum at the start",
        form: Form::Quantity,
        group: "quantum_initial",
        read_with: Some("quantum_initial"),
        of: |policy, _| apply::quantum_times(policy).map(|(initial, _)| apply::time(initial)),
        ..PLAIN
    },
    Key {
        name: "quantum_interval",
        about: "how often the adaptive quantum is refreshed",
        form: Form::Quantity,
        group: "quantum_interval",
        read_with: Some("quantum_interval"),
        of: |policy, _| apply::quantum_times(policy).map(|(_, interval)| apply::time(interval)),
        ..PLAIN
    },
    Key {
        name: "quantum_waiting",
        about: "the adaptive quantum of jobs of which no task has ended: handed, ended",
        group: "quantum_waiting",
        read_with: Some("quantum_waiting"),
        of: |policy, _| apply::quantum_waiting_of(policy).map(word),
        ..PLAIN
    },
    Key {
        name: "t_wait",
        about: "starvation guard: how long a leaf waits at most, or never; of the root",
        form: Form::Quantity,
        group: "t_wait",
        read_with: Some("t_wait"),
        apply: apply::t_wait,
        of: |policy, _| Some(policy.t_wait.map_or_else(|| text("never"), apply::time)),
    },
    Key {
        name: "when_blocked",
        about: "when the task whose turn it is fits nowhere: skip, wait, reserve; of the root",
        group: "when_blocked",
        apply: apply::when_blocked,
        of: |policy, _| Some(word(apply::when_blocked_of(policy))),
        ..PLAIN
    },
    Key {
        name: "reservations",
        about: "of `reserve`: how many tasks have room held for them at once, or all",
        form: Form::Quantity,
        group: "when_blocked",
        of: |policy, _| apply::reservations_of(policy),
        ..PLAIN
    },
    Key {
        name: "spares",
        about: "of `reserve`: so many more nodes are drained where no start is known (1)",
        form: Form::Count,
        group: "when_blocked",
        of: |policy, _| apply::spares_of(policy),
        ..PLAIN
    },
    Key {
        name: "charge_reservations",
        about: "of `reserve`: charge room that is held idle to the queue for which it is held",
        form: Form::Flag,
        group: "when_blocked",
        of: |policy, _| policy.charge_reservations.then_some(Value::Flag(true)),
        ..PLAIN
    },
    Key {
        name: "reserve_after",
        about: "of `reserve`: how long a turn is passed over before room is held for it (0s)",
        form: Form::Quantity,
        group: "when_blocked",
        of: |policy, _| {
            let after = policy.reserve_after;
            (after > meed::Span::ZERO).then(|| apply::time(after))
        },
        ..PLAIN
    },
    Key {
        name: "estimates",
        about: "of `reserve`: how long tasks without a limit run: limits (nobody knows), learned",
        group: "when_blocked",
        of: |policy, _| apply::estimates_of(policy).map(word),
        ..PLAIN
    },
    Key {
        name: "reclaim_after",
        about: "stop tasks of queues that owe, for a reservation that has waited so long; or never",
        form: Form::Quantity,
        group: "reclaim",
        apply: reclaim::rules,
        of: |policy, _| reclaim::told(policy, |rules| rules.after),
        ..PLAIN
    },
    Key {
        name: "reclaim_min_runtime",
        about: "of reclaim: tasks that have run less are not stopped (5min)",
        form: Form::Quantity,
        group: "reclaim",
        of: |policy, _| reclaim::told(policy, |rules| rules.min_runtime),
        ..PLAIN
    },
    Key {
        name: "reclaim_guard",
        about: "of reclaim: nobody is stopped if the order turns again so soon (reclaim_after)",
        form: Form::Quantity,
        group: "reclaim",
        of: |policy, _| reclaim::told(policy, |rules| rules.guard),
        ..PLAIN
    },
    Key {
        name: "reclaim_grace",
        about: "of reclaim: how long a task may take to stop (30s)",
        form: Form::Quantity,
        group: "reclaim",
        of: |policy, _| reclaim::told(policy, |rules| rules.grace),
        ..PLAIN
    },
    Key {
        name: "fairness",
        about: "of `tetris`: 1 is the fair order alone, 0 is packing alone (0.25)",
        form: Form::Number,
        group: "fairness",
        apply: apply::fairness,
        of: |policy, _| policy.fairness.map(|knob| Value::Number(f64::from(knob) / 1000.0)),
        ..PLAIN
    },
    Key {
        name: "slots_per_server",
        about: "of `slots`: into how many slots the largest server is cut; of the run",
        form: Form::Count,
        group: "slots_per_server",
        apply: apply::slots,
        ..PLAIN
    },
];

/// Their names, as messages about an unknown one list them.
pub(super) const NAMES: [&str; KEYS.len()] = {
    let mut names = [""; KEYS.len()];
    let mut row = 0;
    while row < names.len() {
        names[row] = KEYS[row].name;
        row += 1;
    }
    names
};

fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

/// The row of the key of that name.
pub(super) fn row(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|row| row.name == name)
}

impl PolicySpec {
    /// What is given, in the order of the rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static Key, &Given)> {
        KEYS.iter().filter_map(|key| Some((key, self.given.get(key.name)?)))
    }
}
