//! Facts as a world tells them: what the driver fills in (a queue, an attempt) is left out.

use meed::{Labels, NodeSpec, Policy, QueueChange, QueueSpec, ResourceKinds, Time};

use crate::{
    Amounts, Arrival, Cancelled, Decide, Fact, Group, JobChanged, JobKey, Keys, Moved, Name,
    NodeAmounts, NodeEntry, NodeMark, PoliciesChanged, QueueChanged, QueueEntry, QueueMark,
    Relabelled, Started, TaskFact, TaskKey, TasksAdded, Unplaceable, UsedByOthers,
};

/// Jobs.
impl Fact {
    /// A job arrives.
    pub fn job_arrived(arrival: Arrival) -> Fact {
        Fact::JobArrived(Box::new(arrival))
    }

    /// An open job gets more tasks; `open`: whether still more may come.
    pub fn tasks_added(job: JobKey, groups: Vec<Group>, open: bool) -> Fact {
        Fact::TasksAdded(TasksAdded { job, stage: 0, groups, open })
    }

    /// A job's weight among the jobs of its queue changes; in thousandths.
    pub fn job_changed(job: JobKey, weight: u64) -> Fact {
        Fact::JobChanged(JobChanged { job, weight })
    }

    /// Somebody cancels a job.
    pub fn job_cancelled(job: JobKey) -> Fact {
        Fact::JobCancelled(Cancelled { job: Some(job), name: None })
    }
}

/// Tasks.
impl Fact {
    /// A task has ended well.
    pub fn task_ended(task: TaskKey) -> Fact {
        Fact::TaskEnded(TaskFact::of(task))
    }

    /// A task has failed; it waits again until its job's attempts are used up.
    pub fn task_failed(task: TaskKey) -> Fact {
        Fact::TaskFailed(TaskFact::of(task))
    }

    /// A start could not be carried out: it is charged nothing and no attempt, and the task waits
    /// again. `why`: for readers of the record.
    pub fn start_failed(task: TaskKey, why: Option<&str>) -> Fact {
        Fact::StartFailed(TaskFact { why: why.map(Into::into), ..TaskFact::of(task) })
    }

    /// A task runs no more, without its fault; it waits again.
    pub fn task_lost(task: TaskKey, why: Option<&str>) -> Fact {
        Fact::TaskLost(TaskFact { why: why.map(Into::into), ..TaskFact::of(task) })
    }

    /// The task of that number is wanted no more, whether it waits or runs.
    pub fn task_withdrawn(job: JobKey, task: u32, why: Option<&str>) -> Fact {
        let key = TaskKey { job, task, attempt: 0 };
        Fact::TaskWithdrawn(TaskFact { why: why.map(Into::into), ..TaskFact::of(key) })
    }

    /// A task that waits runs already, since an instant that is not in the future; `by` decided it.
    pub fn task_adopted(
        job: JobKey,
        task: u32,
        node: impl Into<Name>,
        since: Time,
        by: Option<Name>,
    ) -> Fact {
        Fact::TaskStarted(Started {
            queue: Name::default(),
            job,
            task,
            attempt: 0,
            node: node.into(),
            failures: 0,
            by,
            since: Some(since),
            reason: None,
            detail: None,
        })
    }

    /// A task turns out to run on another node, and has done so since its start.
    pub fn task_moved(task: TaskKey, node: impl Into<Name>) -> Fact {
        let TaskKey { job, task, attempt } = task;
        Fact::TaskMoved(Moved { job, task, attempt, node: node.into() })
    }
}

/// Nodes and queues.
impl Fact {
    /// A node joins.
    pub fn node_joined(node: &NodeSpec, kinds: &ResourceKinds) -> Fact {
        Fact::NodeJoined(Box::new(NodeEntry::of(node, kinds)))
    }

    /// A node leaves: its tasks wait again.
    pub fn node_left(name: impl Into<Name>) -> Fact {
        Fact::NodeLeft(NodeMark::of(name.into()))
    }

    /// A node has another capacity. `keeps_tasks`: what runs there goes on, also where there is
    /// less room than it holds; otherwise tasks that no longer fit wait again.
    pub fn node_resized(name: impl Into<Name>, capacity: Amounts, keeps_tasks: bool) -> Fact {
        Fact::NodeResized(NodeAmounts { name: name.into(), capacity, keeps_tasks, of_share: false })
    }

    /// Nothing new starts on a node; what runs there goes on. `why`: for readers of the record.
    pub fn node_cordoned(name: impl Into<Name>, why: Option<&str>) -> Fact {
        Fact::NodeCordoned(NodeMark { why: why.map(str::to_owned), ..NodeMark::of(name.into()) })
    }

    /// Tasks may start there again.
    pub fn node_uncordoned(name: impl Into<Name>, why: Option<&str>) -> Fact {
        Fact::NodeUncordoned(NodeMark { why: why.map(str::to_owned), ..NodeMark::of(name.into()) })
    }

    /// A node has other labels: these are all.
    pub fn node_relabelled(name: impl Into<Name>, labels: Labels) -> Fact {
        Fact::NodeRelabelled(Relabelled { name: name.into(), labels })
    }

    /// Work that is not this scheduler's uses so much of a node, in all.
    pub fn node_used_by_others(name: impl Into<Name>, used: Amounts) -> Fact {
        Fact::NodeUsedByOthers(UsedByOthers { name: name.into(), used })
    }

    /// What becomes, from now on, of tasks that no node could hold: they wait for a node that can,
    /// or their job is refused.
    pub fn set_infeasible(waits: bool) -> Fact {
        Fact::Infeasible(Unplaceable { waits })
    }

    /// A queue is added below an existing one, or comes back. `own`: the keys of its policy that it
    /// has under every policy, as its configuration has them.
    pub fn queue_added(queue: &QueueSpec, own: Keys, kinds: &ResourceKinds) -> Fact {
        Fact::QueueAdded(Box::new(QueueEntry::of(queue, own, None, kinds)))
    }

    /// A queue's weight or bounds change.
    pub fn queue_changed(
        name: impl Into<Name>,
        change: &QueueChange,
        kinds: &ResourceKinds,
    ) -> Fact {
        Fact::QueueChanged(Box::new(QueueChanged::of(name.into(), change, kinds)))
    }

    /// Queues order otherwise ([`PoliciesChanged::of`]).
    pub fn policies_changed<'p>(
        root: Option<&Policy>,
        others: impl IntoIterator<Item = (&'p str, &'p Policy)>,
        kinds: &ResourceKinds,
    ) -> Fact {
        Fact::PoliciesChanged(Box::new(PoliciesChanged::of(root, others, kinds)))
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(name: impl Into<Name>) -> Fact {
        Fact::QueueRemoved(QueueMark { name: name.into() })
    }

    /// Nothing has happened until now, and it is decided.
    pub fn time_passed() -> Fact {
        Fact::TimePassed(Decide {})
    }
}
