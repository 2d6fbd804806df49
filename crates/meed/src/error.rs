//! What can be wrong with a configuration or an event, in sentences that say what would be right.

use crate::resources::{MAX_AMOUNT, MAX_KINDS};
use thiserror::Error;

/// A configuration that cannot be scheduled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Too few or too many resource kinds.
    #[error("a cluster has 1 to {MAX_KINDS} resource kinds, not {given}")]
    KindCount {
        /// How many were given.
        given: usize,
    },
    /// A resource kind without a name, or named twice.
    #[error("resource names must be distinct and not empty: `{name}`")]
    KindName {
        /// The offending name.
        name: String,
    },
    /// A node without resources.
    #[error("node `{node}`: capacity must be above zero in at least one resource")]
    EmptyNode {
        /// Its name.
        node: String,
    },
    /// A node weight (Eq. 9's delta) of zero, or beyond 10.
    #[error("node `{node}`: weight must be above 0 and at most 10")]
    NodeWeight {
        /// Its name.
        node: String,
    },
    /// Two nodes of one name, both up.
    #[error("node `{node}` is declared twice")]
    DuplicateNode {
        /// Its name.
        node: String,
    },
    /// The cluster's total of one resource exceeds [`MAX_AMOUNT`].
    #[error("the cluster's total of `{kind}` exceeds {MAX_AMOUNT} of its smallest unit")]
    TotalOverflow {
        /// The resource.
        kind: String,
    },
    /// All numbers of nodes are used up.
    #[error("2^32 - 1 nodes have joined, which is the most: begin anew")]
    TooManyNodes,
    /// Numbers of queues are never used again, and all have been given.
    #[error("2^32 - 1 queues were declared, which is the most: begin anew")]
    TooManyQueues,
    /// Two queues of one name.
    #[error("queue `{queue}` is declared twice")]
    DuplicateQueue {
        /// Full name.
        queue: String,
    },
    /// A queue name with an empty part.
    #[error("queue name `{queue}` has an empty part; write `parent.child`")]
    QueueName {
        /// Full name.
        queue: String,
    },
    /// A queue below one that holds jobs.
    #[error("queue `{queue}` cannot lie below `{parent}`: that queue takes jobs itself")]
    ParentIsLeaf {
        /// Full name of the new queue.
        queue: String,
        /// Full name of its would-be parent.
        parent: String,
    },
    /// A queue whose parent has not been declared.
    #[error("queue `{queue}`: its parent `{parent}` is not declared before it")]
    NoParent {
        /// Full name of the new queue.
        queue: String,
        /// Full name of the missing parent.
        parent: String,
    },
    /// A weight of zero or too large.
    #[error("queue `{queue}`: weight must be above 0 and at most 1000000")]
    Weight {
        /// Full name.
        queue: String,
    },
    /// Minimum above maximum.
    #[error("queue `{queue}`: minimum share of `{kind}` is above its maximum")]
    MinAboveMax {
        /// Full name.
        queue: String,
        /// The resource.
        kind: String,
    },
    /// The children's minimum shares add up to more than the parent's minimum (or the parent's
    /// maximum).
    #[error(
        "queue `{queue}`: the minimum shares of `{kind}` below it add up to more than its own \
         {bound}"
    )]
    ChildrenMinimum {
        /// Full name of the parent.
        queue: String,
        /// The resource.
        kind: String,
        /// Which of the parent's bounds: "minimum" or "maximum".
        bound: &'static str,
    },
    /// A policy whose choices contradict each other or are out of range.
    #[error("policy of queue `{queue}`: {problem}")]
    Policy {
        /// Full name, or `root`.
        queue: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A vector of another length than there are kinds.
    #[error("{what}: {given} amounts for {expected} resource kinds")]
    Dimensions {
        /// Whose vector.
        what: String,
        /// Its length.
        given: usize,
        /// Number of kinds.
        expected: usize,
    },
    /// An amount above the bound.
    #[error("{what}: amount of `{kind}` exceeds {MAX_AMOUNT} of its smallest unit")]
    AmountOverflow {
        /// Whose amount.
        what: String,
        /// The resource.
        kind: String,
    },
    /// No queue that could take a job.
    #[error("there is no queue: declare at least one")]
    NoQueue,
}

/// An event that the engine refuses; its state is as if the event had not come.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Rejected {
    /// Time went backwards.
    #[error(
        "event at {given_us} us comes after the engine has seen {now_us} us; events must not go \
         back in time"
    )]
    TimeWentBack {
        /// The event's time.
        given_us: u64,
        /// The engine's.
        now_us: u64,
    },
    /// The queue is not known, or was removed.
    #[error("there is no such queue")]
    UnknownQueue,
    /// A job was submitted to a parent queue.
    #[error("queue `{queue}` is a parent; jobs go to its leaves")]
    NotALeaf {
        /// Full name.
        queue: String,
    },
    /// The queue is being removed and takes no new jobs.
    #[error("queue `{queue}` is being removed and takes no new jobs")]
    Draining {
        /// Full name.
        queue: String,
    },
    /// A parent queue that still has children cannot be removed.
    #[error("queue `{queue}` still has queues below it; remove those first")]
    HasChildren {
        /// Full name.
        queue: String,
    },
    /// The job is not known: it has ended, or never was.
    #[error("there is no such job (it has ended, or never was)")]
    UnknownJob,
    /// The allocation is not known: its task has ended, or never ran.
    #[error("there is no such running task (it has ended, or never ran)")]
    UnknownAllocation,
    /// The node is not known, or has left.
    #[error("there is no such node (it has left, or never joined)")]
    UnknownNode,
    /// The task is not known, or does not wait.
    #[error("the job has no such task that could start next")]
    UnknownTask,
    /// The job has no task of that number, or it has ended.
    #[error("the job has no task number {task} that waits or runs")]
    NoSuchTask {
        /// The number.
        task: u32,
    },
    /// A task is told to run that does not wait.
    #[error("task number {task} of the job does not wait: it runs, has ended, or never was")]
    TaskDoesNotWait {
        /// The number.
        task: u32,
    },
    /// A task is told to run since an instant that has not come.
    #[error("a task is told to run since {given_us} us, after the present ({now_us} us)")]
    RunsLater {
        /// The instant given.
        given_us: u64,
        /// The present.
        now_us: u64,
    },
    /// A start on a cordoned node.
    #[error("node `{node}` is cordoned: nothing starts there")]
    Cordoned {
        /// Its name.
        node: String,
    },
    /// A start on a node that has not enough free.
    #[error("node `{node}` has no room for the task")]
    NoRoom {
        /// Its name.
        node: String,
    },
    /// A job without tasks.
    #[error("a job needs at least one task")]
    NoTasks,
    /// A task that asks for nothing.
    #[error("a task must ask for some amount of at least one resource")]
    EmptyDemand,
    /// A task that may run for no time at all.
    #[error("a task's limit is 0; leave it out where nobody knows how long it may run")]
    ZeroLimit,
    /// A gang of no tasks, or of more than there are.
    #[error("a gang of at least {least} tasks, in a group of {count}; from 1 to all are right")]
    GangOfOthers {
        /// What is asked for.
        least: u32,
        /// Tasks of the group.
        count: u32,
    },
    /// A gang that the cluster could never hold.
    #[error(
        "a gang of {least} tasks of {each}: the cluster could hold {most} of them at once when \
         empty"
    )]
    GangTooWide {
        /// How many start together.
        least: u32,
        /// What each asks for, and what keeps them together, in words.
        each: String,
        /// The most that could run at once.
        most: u64,
    },
    /// Groups that are to start together, and cannot be one gang.
    #[error("a gang of several groups: {problem}")]
    GangOfParts {
        /// What is wrong, and what would be right.
        problem: &'static str,
    },
    /// A gang of so many unlike tasks that nobody can tell whether they fit.
    #[error(
        "a gang of several groups: of all but the largest group there are more than {most} ways \
         to take some tasks (the product of tasks + 1 of each); put tasks that ask for the same \
         into one group"
    )]
    GangOfTooManyParts {
        /// So many are right.
        most: u64,
    },
    /// A gang of several groups that the cluster could never hold.
    #[error("a gang of {parts}: the cluster could not hold them all at once when empty")]
    GangPartsTooWide {
        /// How many of each group, what each asks for, and what keeps them together, in words.
        parts: String,
    },
    /// A gang that is to stay within one value of a label that no node has.
    #[error("a gang on nodes with the same `{label}`: no node has a label of that name")]
    UnknownLabel {
        /// The label.
        label: String,
    },
    /// A gang larger than the maximum share of its queue.
    #[error("a gang asks for {demand} at once, more than the maximum share of {bound}")]
    GangAboveMaximum {
        /// What all of it asks for, in words.
        demand: String,
        /// The queue (or one of its parents) whose maximum it is, and the maximum, in words.
        bound: String,
    },
    /// A gang where each server decides on its own.
    #[error(
        "with `per-server-drf`, `rps-dsf` and `tetris` each server decides on its own: it starts \
         no gangs"
    )]
    GangPerServer,
    /// An event before the starts of a gang were all taken.
    #[error("the starts of a gang have not all been taken: call `next_start` until it says none")]
    UntoldStarts,
    /// A task that no node could ever hold.
    #[error(
        "a task asks for {demand}, which no node of this cluster could hold; the largest has \
         {largest}"
    )]
    FitsNoNode {
        /// The demand in words.
        demand: String,
        /// The largest capacity in words.
        largest: String,
    },
    /// A task whose label rules no node that is large enough satisfies.
    #[error(
        "a task asks for {demand} on a node with {rules}; no node of this cluster is both large \
         enough and so labelled"
    )]
    NoNodeAllowed {
        /// The demand in words.
        demand: String,
        /// The rules in words.
        rules: String,
    },
    /// A task on a node that its constraints forbid.
    #[error("node `{node}` is not allowed by the task's constraints")]
    NodeNotAllowed {
        /// The node.
        node: String,
    },
    /// A task larger than the maximum share of its queue.
    #[error("a task asks for {demand}, more than the maximum share of queue `{queue}` ({maximum})")]
    AboveMaximum {
        /// The demand in words.
        demand: String,
        /// The queue (or one of its parents) whose maximum it is.
        queue: String,
        /// The maximum in words.
        maximum: String,
    },
    /// More tasks than can be counted.
    #[error("a job can have at most {} tasks", u32::MAX)]
    TooManyTasks,
    /// The change contradicts the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
}
