//! Changes of the cluster, the queue tree and the policies; the clock, and marks.

use std::num::NonZeroU32;

use meed::{Labels, QueueChange, Rank, ResourceKinds, Time};
use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::detail::Detail;
use crate::exact;
use crate::exact::is_usual;
use crate::keys::Keys;
use crate::name::Name;

/// A node of which nothing more is to be told.
///
/// [`Record`](crate::Record) has an example of one that leaves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeMark {
    /// The node.
    pub name: Name,
    /// It follows from other records: under `static` each tenant's node follows its share.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub of_share: bool,
    /// Why, where the world said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl NodeMark {
    /// Of `name`.
    pub fn of(name: Name) -> NodeMark {
        NodeMark { name, of_share: false, why: None }
    }
}

/// A node's capacity.
///
/// The content of a [`Fact::NodeResized`](crate::Fact); [`NodeEntry`](crate::NodeEntry) has an
/// example of a capacity.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeAmounts {
    /// The node.
    pub name: Name,
    /// From now on.
    pub capacity: Amounts,
    /// What runs there goes on, also where there is less room than it holds; otherwise
    /// records behind this one tell which tasks were lost.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub keeps_tasks: bool,
    /// It follows from other records: under `static` each tenant's node follows its share.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub of_share: bool,
}

/// What becomes, from now on, of tasks that no node could hold when it is empty.
///
/// The content of a [`Fact::Infeasible`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unplaceable {
    /// They wait for a node that can hold them; otherwise their job is refused.
    pub waits: bool,
}

/// What work that is not this scheduler's uses of a node.
///
/// The content of a [`Fact::NodeUsedByOthers`](crate::Fact); [`Amounts`] has an example.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UsedByOthers {
    /// The node.
    pub name: Name,
    /// In all, from now on.
    pub used: Amounts,
}

/// A node has other labels.
///
/// The content of a [`Fact::NodeRelabelled`](crate::Fact); the page of [`Record`](crate::Record)
/// has an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Relabelled {
    /// The node.
    pub name: Name,
    /// All its labels from now on.
    pub labels: Labels,
}

/// A queue's weight or bounds change; what is missing stays as it was.
///
/// ```
/// use meed::{QueueChange, ResourceKinds, Unit};
/// use meed_journal::QueueChanged;
///
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
/// let change = QueueChange { weight: Some(2500), ..QueueChange::default() };
/// let told = QueueChanged::of("physics".into(), &change, &kinds);
/// assert_eq!(serde_json::to_string(&told)?, r#"{"name":"physics","weight":2.5}"#);
/// assert_eq!(told.read(&kinds)?.weight, Some(2500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct QueueChanged {
    /// The queue.
    pub name: Name,
    /// New weight, in thousandths.
    #[serde(default, with = "exact::some_thousandths", skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
    /// New minimum; `Some(None)`: none from now on.
    #[serde(
        default,
        deserialize_with = "exact::given::deserialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub min: Option<Option<Amounts>>,
    /// New maximum; `Some(None)`: none from now on.
    #[serde(
        default,
        deserialize_with = "exact::given::deserialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub max: Option<Option<Amounts>>,
    /// Where it stands from now on, for a parent that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankForm>,
}

/// Where a queue stands among its siblings ([`Rank`]).
///
/// ```
/// use meed::Rank;
/// use meed_journal::RankForm;
///
/// let told = RankForm::from(Rank::at(7));
/// assert_eq!((told.amount, told.quota), (7, None)); // none: `u64::MAX` in a `Rank`
/// assert_eq!(Rank::from(told), Rank::at(7));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RankForm {
    /// What it stands at while it holds nothing.
    pub amount: u64,
    /// How much each smallest unit that it holds adds.
    pub step: u32,
    /// What that is divided by.
    pub per: NonZeroU32,
    /// Below what it comes before those that hold theirs, in smallest units; missing: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<u64>,
}

impl From<Rank> for RankForm {
    fn from(rank: Rank) -> RankForm {
        let Rank { amount, step, per, quota } = rank;
        RankForm { amount, step, per, quota: (quota < u64::MAX).then_some(quota) }
    }
}

impl From<RankForm> for Rank {
    fn from(form: RankForm) -> Rank {
        let RankForm { amount, step, per, quota } = form;
        Rank { amount, step, per, quota: quota.unwrap_or(u64::MAX) }
    }
}

impl QueueChanged {
    /// The form of `change` of the queue `name`.
    pub fn of(name: Name, change: &QueueChange, kinds: &ResourceKinds) -> QueueChanged {
        let min = |bound: &meed::Resources| Amounts::of(bound, kinds);
        let max = |bound: &meed::Resources| Amounts::of_maximum(bound, kinds);
        QueueChanged {
            name,
            weight: change.weight,
            min: change.min.as_ref().map(|bound| bound.as_ref().map(min)),
            max: change.max.as_ref().map(|bound| bound.as_ref().map(max)),
            rank: change.rank.map(RankForm::from),
        }
    }

    /// The change; in words what is wrong with it.
    pub fn read(&self, kinds: &ResourceKinds) -> Result<QueueChange, String> {
        let min = self.min.as_ref().map(|bound| bound.as_ref().map(|b| b.read(kinds)).transpose());
        let max = self
            .max
            .as_ref()
            .map(|bound| bound.as_ref().map(|b| b.read_maximum(kinds)).transpose());
        if self.weight.is_some_and(|weight| weight > meed::MAX_WEIGHT) {
            return Err(format!("weight: at most {}", meed::MAX_WEIGHT / 1000));
        }
        Ok(QueueChange {
            weight: self.weight,
            min: min.transpose().map_err(|why| format!("min: {why}"))?,
            max: max.transpose().map_err(|why| format!("max: {why}"))?,
            rank: self.rank.map(Rank::from),
        })
    }
}

/// A queue that takes no more jobs and goes when it is empty.
///
/// The content of a [`Fact::QueueRemoved`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueueMark {
    /// The queue.
    pub name: Name,
}

/// Queues order what is below them otherwise from now on.
///
/// ```
/// use meed::{Policy, ResourceKinds, Unit};
/// use meed_journal::{PoliciesChanged, QueuePolicy, keys_of, policy_of};
///
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
/// let fair = Policy::preset("fair").ok_or("no such preset")?;
/// let policy = keys_of(&fair, &kinds);
/// let queues = vec![QueuePolicy { name: "physics".into(), policy }];
/// let change = PoliciesChanged { root: None, queues };
/// assert_eq!(policy_of(&change.queues[0].policy, &kinds)?, fair);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PoliciesChanged {
    /// The root's policy in full, where it changes. Queues that ordered as the root did follow it,
    /// unless they are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Keys>,
    /// Queues with another policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueuePolicy>,
}

/// The policy of a queue.
///
/// It is part of [`PoliciesChanged`], whose page has an example.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueuePolicy {
    /// The queue.
    pub name: Name,
    /// Its policy in full.
    pub policy: Keys,
}

/// The journal is opened again, by a program that goes on with it.
///
/// The content of a [`Fact::Open`](crate::Fact); [`ClockStep`] has an example of its epoch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Opened {
    /// Program and version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The wall clock at time 0, in microseconds since 1970-01-01 UTC, from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch_us: Option<u64>,
}

/// The wall clock stepped: it is told by what it says of the journal's time 0, in microseconds
/// since 1970-01-01 UTC.
///
/// ```
/// use meed::Time;
/// use meed_journal::{ClockStep, wall_micros};
///
/// let step = ClockStep { was_us: 1_000_000, epoch_us: 1_500_000 };
/// let t = Time::from_secs(2).ok_or("in range")?;
/// assert_eq!(wall_micros(step.epoch_us, t), 3_500_000); // half a second later than before
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockStep {
    /// Before.
    pub was_us: u64,
    /// From now on.
    pub epoch_us: u64,
}

/// The wall clock at instant `t` of a journal whose time 0 was at `epoch_us`, in microseconds since
/// 1970-01-01 UTC.
pub fn wall_micros(epoch_us: u64, t: Time) -> u64 {
    epoch_us.saturating_add(t.as_micros())
}

/// Something of the world that is no business of the scheduler's: kept in its place, for the
/// world's own readers.
///
/// The content of a [`Fact::Note`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// What it is about.
    pub about: Name,
    /// What the world says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

/// A state was stored that holds everything up to a record: reading may begin behind it.
///
/// The content of a [`Fact::Snapshot`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SnapshotTaken {
    /// Sequence number of the last record that it holds.
    pub through: u64,
    /// Where it is, where that does not follow from the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Decisions were asked for at this instant, of which no other record tells.
///
/// The content of a [`Fact::TimePassed`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Decide {}

/// The run is over.
///
/// The content of a [`Fact::Finish`](crate::Fact); [`Run`](crate::Run) has an example with one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Finish {
    /// Events that the engine was told.
    pub events: u64,
    /// Starts that it decided.
    pub decisions: u64,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}
