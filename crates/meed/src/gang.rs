//! Gangs: tasks that are of use together only, so that they start at one instant or not at all.
//!
//! A group of n tasks with `least` = k starts k of them at once; the others start as they fit, and
//! so do single ones that failed while at least k go on. Those that wait again while fewer than k
//! have begun start together again.
//!
//! > turn(group) = min(waiting, max(1, least - begun))
//!
//! where `begun` counts tasks that run or have ended well. A turn is one turn in the order of
//! fairness, and charged as its tasks. Two gangs never hold parts of what both need: neither holds
//! anything before all of it starts.
//!
//! A gang may be of several groups of a job, whose tasks ask for different amounts: a master and
//! its workers (`joint`). All of its waiting tasks are one turn then; where they are of one group,
//! that is the turn of an ordinary gang.

/// How many tasks of a group start together, and how near to each other.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, Gang, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds,
/// #     Resources, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let one = [TaskGroup::new(1, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &one)))?;
/// let first = engine.next_start(false).ok_or("there is room")?;
///
/// // Two tasks that start together: one of the two slots is taken, so neither starts.
/// let mut pair = TaskGroup::new(2, Resources::new(&[1000]));
/// pair.gang = Gang::all(2);
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &[pair])))?;
/// assert!(engine.next_start(false).is_none());
///
/// engine.apply(Time::ZERO, Event::TaskEnded(first.allocation))?;
/// let mut together = 0;
/// engine.decide(false, |_| together += 1);
/// assert_eq!(together, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Gang {
    /// So many tasks of the group at least: from 1 to all of them.
    pub least: u32,
    /// All tasks of the group that run run on nodes with one value of this label: a rack, an
    /// island of fast links. Of values with enough room the gang takes the one with the least.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub same: Option<String>,
    /// The groups that come with this one are all of one gang with it: all their tasks start
    /// together, and all are where `same` says together. Then `least` is all of the group.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub joint: bool,
}

impl Gang {
    /// At least so many tasks, wherever they run.
    pub fn of(least: u32) -> Gang {
        Gang { least, same: None, joint: false }
    }

    /// All of a group of so many tasks, boxed as groups hold it; `None`: one task is no gang.
    pub fn all(count: u32) -> Option<Box<Gang>> {
        (count > 1).then(|| Box::new(Gang::of(count)))
    }

    /// One of the groups of a gang: all of these tasks.
    pub fn part(count: u32) -> Gang {
        Gang { joint: true, ..Gang::of(count) }
    }

    /// The same, on nodes with one value of `label`.
    #[must_use]
    pub fn within(self, label: impl Into<String>) -> Gang {
        Gang { same: Some(label.into()), ..self }
    }
}

/// What the waiting tasks of a gang's group wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub(crate) struct Turn {
    /// So many of them start together.
    pub(crate) tasks: std::num::NonZeroU32,
    /// On nodes with one value of this label, whichever it is; by number, 0 for none.
    pub(crate) same: u32,
    /// They are of several groups: which, the shape says.
    pub(crate) joint: bool,
}
