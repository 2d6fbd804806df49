//! The engine with its slow twin beside it: each event goes to both, each decision is checked.

use super::model::Model;
use super::{engine, micros};
use meed::*;

/// An event that owns what it holds, so that it can be kept and sent again.
#[derive(Clone, Debug)]
pub(crate) enum Ev {
    NodeJoined(NodeSpec),
    NodeChanged(NodeId, Resources),
    NodeLeft(NodeId),
    QueueAdded(QueueSpec),
    QueueChanged(QueueId, QueueChange),
    QueueRemoved(QueueId),
    Job { queue: QueueId, weight: u64, groups: Vec<TaskGroup>, open: bool, max_attempts: u16 },
    Tasks { job: JobId, groups: Vec<TaskGroup>, open: bool },
    JobChanged(JobId, u64),
    Cancelled(JobId),
    Ended(AllocationId),
    Failed(AllocationId),
    StartFailed(AllocationId),
    TaskLost(AllocationId),
    Withdrawn(JobId, u32),
    Adopted { job: JobId, task: u32, node: NodeId, since: u64 },
    Moved(AllocationId, NodeId),
    Resized(NodeId, Resources),
    Cordoned(NodeId, bool),
    Relabelled(NodeId, Labels),
    UsedByOthers(NodeId, Resources),
}

impl Ev {
    pub(crate) fn send(&self, engine: &mut Engine, now: u64) -> Result<Effect, Rejected> {
        let event = match self {
            Ev::NodeJoined(spec) => Event::NodeJoined(spec.clone()),
            Ev::NodeChanged(node, capacity) => Event::NodeChanged(*node, *capacity),
            Ev::NodeLeft(node) => Event::NodeLeft(*node),
            Ev::QueueAdded(spec) => Event::QueueAdded(spec.clone()),
            Ev::QueueChanged(queue, change) => Event::QueueChanged(*queue, change.clone()),
            Ev::QueueRemoved(queue) => Event::QueueRemoved(*queue),
            Ev::Job { queue, weight, groups, open, max_attempts } => Event::JobArrived(JobSpec {
                queue: *queue,
                weight: *weight,
                groups,
                open: *open,
                max_attempts: *max_attempts,
            }),
            Ev::Tasks { job, groups, open } => Event::TasksAdded { job: *job, groups, open: *open },
            Ev::JobChanged(job, weight) => Event::JobChanged { job: *job, weight: *weight },
            Ev::Cancelled(job) => Event::JobCancelled(*job),
            Ev::Ended(allocation) => Event::TaskEnded(*allocation),
            Ev::Failed(allocation) => Event::TaskFailed(*allocation),
            Ev::StartFailed(allocation) => Event::StartFailed(*allocation),
            Ev::Adopted { job, task, node, since } => {
                Event::TaskAdopted { job: *job, task: *task, node: *node, since: micros(*since) }
            }
            Ev::Moved(allocation, node) => Event::TaskMoved(*allocation, *node),
            Ev::Resized(node, capacity) => Event::NodeResized(*node, *capacity),
            Ev::Cordoned(node, true) => Event::NodeCordoned(*node),
            Ev::Cordoned(node, false) => Event::NodeUncordoned(*node),
            Ev::Relabelled(node, labels) => Event::NodeRelabelled(*node, labels.clone()),
            Ev::UsedByOthers(node, amounts) => Event::NodeUsedByOthers(*node, *amounts),
            Ev::TaskLost(allocation) => Event::TaskLost(*allocation),
            Ev::Withdrawn(job, task) => Event::TaskWithdrawn { job: *job, task: *task },
        };
        engine.apply(micros(now), event)
    }
}

pub(crate) struct Shadow {
    pub(crate) engine: Engine,
    /// The same engine, not asked for reasons: it wakes fewer leaves, and decides the same.
    silent: Engine,
    pub(crate) model: Model,
    /// Looks at each decision before it is taken over; whatever it says, node room and maxima are
    /// checked.
    pub(crate) judge: fn(&mut Model, &Start),
    /// Whether tasks say how long they run at most.
    pub(crate) tells_limits: bool,
    /// Tasks that were told to stop since somebody looked.
    pub(crate) told_to_stop: Vec<AllocationId>,
}

impl Shadow {
    pub(crate) fn new(config: &Config) -> Shadow {
        let (engine, silent) = (engine(config), engine(config));
        let tells_limits = matches!(config.root.blocked, Blocked::Reserve(_));
        let (model, judge) = (Model::new(config), Model::check_order);
        let told_to_stop = Vec::new();
        Shadow { engine, silent, model, judge, tells_limits, told_to_stop }
    }

    pub(crate) fn set_infeasible(&mut self, infeasible: Infeasible) {
        self.engine.set_infeasible(infeasible);
        self.silent.set_infeasible(infeasible);
    }

    /// Tells both; a refused event changes neither.
    pub(crate) fn apply(&mut self, now: u64, event: &Ev) -> Result<Effect, Rejected> {
        let answer = event.send(&mut self.engine, now);
        let silent = event.send(&mut self.silent, now);
        assert_eq!(format!("{answer:?}"), format!("{silent:?}"), "without reasons, at {now} us");
        if let Ok(effect) = &answer {
            self.model.apply(now, event, effect);
        }
        self.model.check(&mut self.engine, now);
        answer
    }

    /// Decides, each start checked before it is taken over; afterwards nothing that waits may fit.
    pub(crate) fn decide(&mut self, now: u64) -> Vec<Start> {
        self.engine.advance(micros(now)).expect("time goes on");
        self.model.advance(now);
        let (model, judge, mut starts) = (&mut self.model, self.judge, Vec::new());
        self.engine.decide(true, |start| {
            judge(model, &start);
            model.started(&start);
            starts.push(start);
        });
        let mut silent = Vec::new();
        self.silent.advance(micros(now)).expect("time goes on");
        match starts.len() % 2 {
            0 => self.silent.decide(false, |start| silent.push(start)),
            // One by one it comes to the same.
            _ => silent.extend(std::iter::from_fn(|| self.silent.next_start(false))),
        }
        assert_same(&starts, &silent);
        self.model.check_nothing_missed();
        self.check_stops();
        self.model.check_holds(&self.engine);
        self.model.check(&mut self.engine, now);
        starts
    }

    /// Who is told to stop is who the twin says.
    fn check_stops(&mut self) {
        let expected = self.model.take_stops();
        for engine in [&mut self.engine, &mut self.silent] {
            let stops: Vec<Stop> = std::iter::from_fn(|| engine.next_stop()).collect();
            let told = stops.iter().map(|stop| {
                let winner = (self.model.job(stop.winner.job), stop.winner.group);
                (stop.allocation, winner, stop.winner.waited.as_micros())
            });
            assert_eq!(told.collect::<Vec<_>>(), expected, "stops, at {} us", self.model.now);
            for stop in &stops {
                let task = &self.model.tasks[self.model.task(stop.allocation)];
                assert_eq!(stop.queue.index(), task.queue);
                assert_eq!(stop.node.index(), task.node);
                assert_eq!(stop.ran.as_micros(), self.model.now - task.start);
                assert_ne!(stop.queue, stop.winner.queue, "nobody is stopped for his own queue");
            }
        }
        self.told_to_stop.extend(expected.into_iter().map(|(allocation, ..)| allocation));
    }

    /// The next decisions, at most so many: the world stops in between.
    pub(crate) fn decide_some(&mut self, now: u64, most: usize) -> Vec<Start> {
        self.engine.advance(micros(now)).expect("time goes on");
        self.silent.advance(micros(now)).expect("time goes on");
        self.model.advance(now);
        let (mut starts, mut silent, mut told_all) = (Vec::new(), Vec::new(), false);
        // A gang's starts are all taken.
        while starts.len() < most || self.model.starting.is_some() {
            let Some(start) = self.engine.next_start(true) else {
                self.model.check_nothing_missed();
                told_all = true;
                break;
            };
            (self.judge)(&mut self.model, &start);
            self.model.started(&start);
            starts.push(start);
        }
        while silent.len() < starts.len() {
            let Some(start) = self.silent.next_start(false) else { break };
            silent.push(start);
        }
        if starts.len() < most {
            assert!(self.silent.next_start(false).is_none(), "there is nothing more to start");
        }
        assert_same(&starts, &silent);
        if told_all {
            self.check_stops();
        }
        self.model.check(&mut self.engine, now);
        starts
    }
}

fn assert_same(starts: &[Start], silent: &[Start]) {
    let plain = |start: &Start| (start.allocation, start.job, start.task, start.queue, start.node);
    let same = starts.iter().map(plain).eq(silent.iter().map(plain));
    assert!(same, "{starts:?} are not {silent:?}");
}
