//! What happens in a step of the small live world, drawn from a seed: all that a world can tell.
//! Runs of even seeds are the story of the snapshot of version 1: what that does not know is drawn
//! by odd seeds only.

use meed::{Labels, NodeSpec, Policy, QueueChange, QueueSpec, Rank, Resources, Span, Time};
use meed_driver::live::Batch;
use meed_driver::{Applied, Failed};
use meed_journal::{Amounts, Arrival, ClockStep, Fact, Group, JobKey, Note, TaskKey};

use crate::world::{Machine, NODES, config, draw, kinds};

/// What the machine learns beside what commits hand out.
#[derive(Default)]
pub(crate) struct Heard {
    /// They have ended by themselves.
    pub(crate) ended: Vec<TaskKey>,
    /// They run no more, and that is told.
    pub(crate) gone: Vec<TaskKey>,
    /// They run already, there.
    pub(crate) adopted: Vec<(TaskKey, String)>,
    /// They run elsewhere.
    pub(crate) moved: Vec<(TaskKey, String)>,
}

/// One step's dice and its batch.
struct Step<'m, 'b, 'l> {
    machine: &'m Machine,
    seed: u64,
    batch: &'b mut Batch<'l, u32>,
    heard: Heard,
}

/// Draws what happens in a step, and tells it.
pub(crate) fn happens(
    machine: &Machine,
    seed: u64,
    batch: &mut Batch<'_, u32>,
) -> Result<Heard, Failed> {
    let mut step = Step { machine, seed, batch, heard: Heard::default() };
    step.tasks();
    step.nodes()?;
    step.queues();
    step.jobs()?;
    step.surprises()?;
    Ok(step.heard)
}

/// A refusal is no failure: what is told may not fit what is there.
fn unless_refused(done: Result<Applied, Failed>) -> Result<Option<Applied>, Failed> {
    match done {
        Ok(applied) => Ok(Some(applied)),
        Err(Failed::Rejected(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

impl Step<'_, '_, '_> {
    fn die(&self, what: u64, below: u64) -> u64 {
        draw(&[self.seed, self.machine.step, what], below)
    }

    /// Tasks end, fail, are lost; starts are undone.
    fn tasks(&mut self) {
        let (seed, step) = (self.seed, self.machine.step);
        for (number, task) in self.machine.running.keys().enumerate() {
            let die = |what: u64, below: u64| draw(&[seed, step, what, number as u64], below);
            if self.machine.stopping.contains(task) && die(95, 3) > 0 {
                // Its room is taken back, and it has stopped.
                let lost = Fact::task_lost(task.clone(), Some("it was told to stop"));
                if self.batch.apply(&lost).is_ok() {
                    self.heard.gone.push(task.clone());
                }
                continue;
            }
            if die(99, 6) == 0 {
                // Its job may have failed a moment ago, and taken it along.
                let fact = match die(98, 5) > 0 {
                    true => Fact::task_ended(task.clone()),
                    false => Fact::task_failed(task.clone()),
                };
                if self.batch.apply(&fact).is_ok() {
                    self.heard.ended.push(task.clone());
                }
            } else if die(97, 25) == 0 {
                let fact = match die(96, 2) {
                    0 => Fact::start_failed(task.clone(), Some("no such image")),
                    _ => Fact::task_lost(task.clone(), None),
                };
                if self.batch.apply(&fact).is_ok() {
                    self.heard.gone.push(task.clone());
                }
            }
        }
    }

    /// Nodes come, go and change.
    fn nodes(&mut self) -> Result<(), Failed> {
        let number = self.die(1, NODES as u64) as usize;
        let (node, is_down) = (format!("n{number}"), self.machine.down.contains(&number));
        if self.die(2, 12) == 0 {
            let fact = match is_down {
                true => {
                    let spec = NodeSpec::new(node, Resources::new(&[4000, 4000]));
                    Fact::node_joined(&spec, &kinds())
                }
                false => Fact::node_left(node),
            };
            return self.batch.apply(&fact).map(drop);
        }
        if is_down || self.die(3, 4) > 0 {
            return Ok(());
        }
        let capacity = Resources::new(&[2000 + 1000 * self.die(4, 3), 4000]);
        let capacity = Amounts::of(&capacity, &kinds());
        let fact = match self.die(60, 6) {
            0 => Fact::node_resized(node, capacity, false),
            1 => Fact::node_resized(node, capacity, true),
            2 => Fact::node_cordoned(node, Some("an update")),
            3 => Fact::node_uncordoned(node, None),
            4 => {
                let zone = ["a", "b"][self.die(61, 2) as usize].to_owned();
                Fact::node_relabelled(node, Labels::from([("zone".to_owned(), zone)]))
            }
            _ => {
                let used = Resources::new(&[500 * self.die(62, 4), 250]);
                Fact::node_used_by_others(node, Amounts::of(&used, &kinds()))
            }
        };
        self.batch.apply(&fact).map(drop)
    }

    /// Queues come, go and change.
    fn queues(&mut self) {
        let name = format!("e{}", self.die(20, 3));
        let fact = match self.die(21, 24) {
            0 => {
                let policy = config(self.seed + self.die(22, 2)).root;
                let weight = 1000 + self.die(23, 3) * 500;
                let max = (self.die(24, 2) == 0).then(|| Resources::new(&[5000, 5000]));
                let spec = QueueSpec { name, weight, min: None, max, policy };
                Fact::queue_added(&spec, Default::default(), &kinds())
            }
            1 => Fact::queue_removed(name),
            2 => {
                let weight = Some(500 + self.die(25, 8) * 500);
                let change = QueueChange { weight, ..Default::default() };
                Fact::queue_changed("b.c", &change, &kinds())
            }
            // The story of the snapshot of version 1, which is that of an even seed, knows none.
            3 if self.seed % 2 == 1 => self.policies(),
            // Nor does it know ranks.
            4 | 5 if self.seed % 2 == 1 => self.rank(),
            _ => return,
        };
        unless_refused(self.batch.apply(&fact)).expect("nothing breaks here");
    }

    /// Somebody tells where a queue stands: it is a fact under every order, and `told` follows it.
    fn rank(&self) -> Fact {
        let rank = Rank {
            amount: self.die(70, 9),
            step: self.die(71, 3) as u32,
            per: (1 + self.die(72, 4) as u32).try_into().expect("above zero"),
            quota: [u64::MAX, 1000 * self.die(73, 5)][self.die(74, 2) as usize],
        };
        let name = ["a", "b", "b.c", "b.d", "e0"][self.die(75, 5) as usize];
        // Some with more than that.
        let weight = (self.die(76, 3) == 0).then(|| 500 + self.die(77, 4) * 500);
        let change = QueueChange { rank: Some(rank), weight, ..Default::default() };
        Fact::queue_changed(name, &change, &kinds())
    }

    /// The root, or a queue, orders otherwise.
    fn policies(&self) -> Fact {
        let [root, own] = [26, 27].map(|what| match self.die(what, 13) {
            12 => Policy::preset("told").expect("a preset"),
            number => config(number).root,
        });
        let root = (self.die(28, 3) > 0).then_some(root);
        let others = (self.die(29, 2) == 0).then_some(("b", &own));
        Fact::policies_changed(root.as_ref(), others, &kinds())
    }

    /// Jobs come, grow, change and go.
    fn jobs(&mut self) -> Result<(), Failed> {
        let step = self.machine.step;
        if self.die(5, 8) == 0 {
            let job = self.die(6, 1 + step).into();
            unless_refused(self.batch.apply(&Fact::job_cancelled(job)))?;
        }
        let some = JobKey::from(step.saturating_sub(self.die(30, 6)));
        match self.die(31, 10) {
            0 => {
                let changed = Fact::job_changed(some, 500 + self.die(32, 4000));
                unless_refused(self.batch.apply(&changed))?;
            }
            1 | 2 => {
                let more = vec![self.group(33)];
                let added = Fact::tasks_added(some, more, self.die(34, 2) == 0);
                unless_refused(self.batch.apply(&added))?;
            }
            _ => {}
        }
        if self.die(7, 3) > 0 {
            let queue = ["a", "b.c", "b.d", "e0", "e1"][self.die(8, 5) as usize];
            let mut arrival = Arrival::new(queue.into(), step.into(), vec![self.group(9)]);
            arrival.open = self.die(35, 4) == 0;
            arrival.max_attempts = (self.die(36, 4) == 0).then_some(3);
            unless_refused(self.batch.apply(&Fact::job_arrived(arrival)))?;
        }
        Ok(())
    }

    fn group(&self, what: u64) -> Group {
        let demand = [250 * (1 + self.die(what, 5)), 250 * (1 + self.die(what + 1, 5))];
        // Some no node can hold: they are refused, or wait for a larger one.
        let demand = if self.die(12, 15) == 0 { [9000, 1] } else { demand };
        let demand = Amounts::of(&Resources::new(&demand), &kinds());
        let zone = || vec!["a".to_owned()];
        let constraints = (self.die(what + 2, 6) == 0).then(|| {
            Box::new(meed_config::constraints::ConstraintsForm {
                forbid: [("zone".to_owned(), zone())].into_iter().collect(),
                ..Default::default()
            })
        });
        // The story of the snapshot of version 1, which is that of an even seed, knows no limits.
        let limit = (self.seed % 2 == 1 && self.die(what + 3, 3) == 0)
            .then(|| Span::from_secs(1 + self.die(what + 4, 9)).unwrap());
        let tasks = 1 + self.die(11, 4) as u32;
        Group { tasks, demand, constraints, limit, ..Group::default() }
    }

    /// What is in no plan.
    fn surprises(&mut self) -> Result<(), Failed> {
        let step = self.machine.step;
        let job = JobKey::from(step.saturating_sub(self.die(40, 5)));
        if self.die(41, 6) == 0 {
            let task = self.die(42, 4) as u32;
            let fact = Fact::task_withdrawn(job.clone(), task, Some("enough"));
            unless_refused(self.batch.apply(&fact))?;
        }
        if self.die(43, 6) == 0 {
            let now = self.batch.now();
            let ago = Span::from_micros(self.die(44, 2_000_000)).expect("in range");
            let since = Time::ZERO.saturating_add(now.saturating_since(Time::ZERO + ago));
            let (task, node) = (self.die(45, 4) as u32, format!("n{}", self.die(46, 3)));
            let by = (self.die(47, 2) == 0).then(|| "another".into());
            let fact = Fact::task_adopted(job, task, &*node, since, by);
            let applied = unless_refused(self.batch.apply(&fact))?;
            let adopted = applied.and_then(|applied| applied.adopted);
            self.heard.adopted.extend(adopted.map(|key| (key, node)));
        }
        let running = self.machine.running.keys();
        let wanders = running.clone().nth(self.die(48, 30) as usize).cloned();
        if let Some(task) = wanders {
            let node = format!("n{}", self.die(49, 3));
            let fact = Fact::task_moved(task.clone(), &*node);
            if unless_refused(self.batch.apply(&fact))?.is_some() {
                self.heard.moved.push((task, node));
            }
        }
        let fact = match self.die(51, 20) {
            0 => Fact::set_infeasible(true),
            1 => Fact::set_infeasible(false),
            2 => Fact::Clock(ClockStep { was_us: 5, epoch_us: 5 + step }),
            3 => Fact::Note(Note { about: "nothing".into(), detail: None }),
            _ => return Ok(()),
        };
        self.batch.apply(&fact).map(drop)
    }
}
