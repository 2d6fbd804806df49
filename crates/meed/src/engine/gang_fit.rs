//! Which groups of a gang lack room, for people.
//!
//! > alone(group) = tasks of the group that fit, were it alone
//! > beside(group) = tasks of the group that fit besides all tasks of the others
//!
//! A group lacks room by itself where alone is less than its tasks. Where no group does and they
//! do not start, they fit by themselves and not together: beside tells how many are missing then.
//! With a label that keeps the gang together that is told of the value where most of it fits.
//! Cost: that of a look at the gang ([`super::room`]) on each of the values.

use super::explain::GroupView;
use super::view::View;
use crate::resources::Resources;

/// How much of a gang of several groups fits now ([`View::gang_fit`]).
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
/// // A master and two workers on a node of two slots.
/// let groups = [1, 2].map(|tasks| TaskGroup {
///     gang: Some(Box::new(Gang::part(tasks))),
///     ..TaskGroup::new(tasks, Resources::new(&[1000]))
/// });
/// engine.set_infeasible(meed::Infeasible::Wait);
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &groups)))?;
/// let group = engine.view().groups_in_order(ads).remove(0);
/// let fit = engine.view().gang_fit(&group).ok_or("it is a gang of several groups")?;
/// assert_eq!((fit.at_once, fit.groups[0].tasks, fit.groups[1].alone), (2, 1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GangFit {
    /// The most tasks of it that fit at once, of whichever groups.
    pub at_once: u64,
    /// The label that keeps it together, and the value where this is so.
    pub on: Option<(String, String)>,
    /// Its groups that wait.
    pub groups: Vec<GangPart>,
}

/// A group of such a gang.
///
/// It is part of a [`GangFit`], whose page has an example.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GangPart {
    /// Its number among the job's groups.
    pub group: u32,
    /// Tasks of it that wait.
    pub tasks: u64,
    /// What each asks for.
    pub demand: Resources,
    /// Tasks of it that fit, were it alone.
    pub alone: u64,
    /// Tasks of it that fit besides all of the others; `None`: these do not fit without it.
    pub beside: Option<u64>,
    /// Nodes that are up and on which its tasks may run.
    pub nodes: u64,
}

impl<'a> View<'a> {
    /// How much of the gang that a group waits with fits now; `None`: it waits by itself.
    pub fn gang_fit(self, group: &GroupView) -> Option<GangFit> {
        let slot = self.core.slot_of(group)?;
        let turn = self.core.work.group(slot).turn();
        let fit = self.core.room.is_joint(turn).then(|| self.core.room.parts_now(turn))?;
        let part = |(place, slot): (usize, u32)| {
            let group = self.core.work.group(slot);
            GangPart {
                group: group.number,
                tasks: group.waiting(),
                demand: *self.core.room.demand(group.shape),
                alone: fit.most.alone[place],
                beside: fit.most.beside[place],
                nodes: fit.nodes[place],
            }
        };
        let groups = self.core.work.waiting_members(slot).enumerate().map(part).collect();
        let on = fit.on.map(|(label, value)| (label.to_owned(), value.to_owned()));
        Some(GangFit { at_once: fit.most.at_once, on, groups })
    }
}
