//! What delays a grant, as in YARN: heartbeats, and masters that start before a job's tasks are
//! asked for. Off by default; then nothing here has any effect.
//!
//! | at | what is late |
//! |---|---|
//! | a job's arrival | its first stage: its master starts for `master_start` (and holds `master`, if that is said, until the job has ended: then it has to be granted room first) |
//! | a task that is asked for | a node is given at most one task, at its heartbeat |
//! | a grant | the task runs from its master's next heartbeat on |
//! | a task's end | the room is free at the next heartbeat of its node |
//! | the end of a stage | the next one is asked for at the master's next heartbeat |
//!
//! > freed = beat of node(beat of master(granted) + duration)
//!
//! A master beats every `heartbeat` from the instant at which it is up. Nodes beat one after the
//! other, at equal distances: of N the one number i at (k + i / N) heartbeats. A tenant alone on
//! its share has one node, which stands for many and beats in its turn. Nothing is drawn: the same
//! run is the same again.
//!
//! Invariants: the master of a job is its task 0, and of a group of its own; nodes beat until all
//! have been heard since something happened, so that none could be given anything more. Cost:
//! an offer ([`meed::Engine::offer`]) for each heartbeat of a node while something happens.

use meed::{JobId, NodeId, Span, Start, Time};

use meed_scenario::grants::Delays;

use super::World;
use super::desk::Desk;
use super::error::RunError;
use super::planned::Late;
use super::running::{Ending, Running};

/// The first heartbeat after `now` of a master that is up since `up`.
fn told(delays: &Delays, up: Time, now: Time) -> Time {
    let Some(every) = delays.heartbeat.map(Span::as_micros) else { return now };
    let beats = now.saturating_since(up).as_micros() / every + 1;
    at(u128::from(up.as_micros()) + u128::from(beats) * u128::from(every))
}

/// The heartbeats of nodes.
pub(super) struct Beats<At> {
    /// How often each is heard.
    every: Option<Span>,
    /// Nodes, by who serves on them; made anew where nodes change.
    nodes: Vec<(At, NodeId)>,
    /// Heartbeats of all nodes in `every`.
    many: u64,
    /// The next one, of all from the beginning.
    next: u64,
    /// When something happened last.
    stirred: Time,
}

impl<At> Beats<At> {
    pub(super) fn new(delays: &Delays) -> Beats<At> {
        let every = delays.heartbeat;
        Beats { every, nodes: Vec::new(), many: 1, next: 0, stirred: Time::ZERO }
    }

    pub(super) fn is_off(&self) -> bool {
        self.every.is_none()
    }

    /// Nodes have changed.
    pub(super) fn forget_nodes(&mut self) {
        self.nodes.clear();
    }

    /// When heartbeat number `beat` is.
    fn time(&self, beat: u64) -> Option<Time> {
        let every = u128::from(self.every?.as_micros());
        let micros = (u128::from(beat) * every).div_ceil(self.many.into());
        // None are beyond the end of time.
        u64::try_from(micros).ok().and_then(Time::from_micros)
    }

    /// The first heartbeat at `when` or later: the least b with ceil(b * every / many) >= when. Of
    /// several in one microsecond it is the first.
    fn first(&self, when: Time) -> u64 {
        let every = self.every.map_or(1, Span::as_micros);
        let Some(before) = when.as_micros().checked_sub(1) else { return 0 };
        let beats = u128::from(before) * u128::from(self.many) / u128::from(every) + 1;
        u64::try_from(beats).unwrap_or(u64::MAX / 2)
    }

    /// The next heartbeat at which a node may be given something.
    pub(super) fn next_time(&self) -> Option<Time> {
        let last = self.stirred.saturating_add(self.every?);
        self.time(self.next).filter(|&time| time <= last)
    }

    /// As which number the node beats that is given a task now.
    fn given(&self, node: NodeId, partitioned: bool, now: Time) -> u64 {
        // One that stands for many beats now as one of them.
        if partitioned {
            return self.first(now) % self.many;
        }
        self.nodes.partition_point(|(_, other)| *other < node) as u64 % self.many
    }

    /// The first heartbeat, at `end` or later, of the node that beats as number `node`.
    fn reported(&self, node: u64, end: Time) -> Time {
        if self.every.is_none() {
            return end;
        }
        let first = self.first(end);
        let wait = (node + self.many - first % self.many) % self.many;
        self.time(first + wait).unwrap_or(end)
    }
}

fn at(micros: u128) -> Time {
    u64::try_from(micros).ok().and_then(Time::from_micros).unwrap_or(Time::MAX)
}

impl<'a, D: Desk<'a>> World<'a, D> {
    /// A job has come, some of whose tasks may have been asked for.
    pub(super) fn comes_late(&mut self, place: D::At, id: JobId) {
        let (delays, now) = (self.delays, self.now);
        if delays.is_off() {
            return;
        }
        let begun = delays.master_start == Span::ZERO;
        let late = Late { up: now, begun, left: 0, over: false, master: None };
        if let Some(live) = self.desk.driver_mut(place).job_mut(id) {
            live.detail.aside.get_or_insert_default().late = Some(late);
        }
        if delays.comes_empty() {
            self.begins_later(now.saturating_add(delays.master_start), place, id);
        }
    }

    fn begins_later(&mut self, when: Time, place: D::At, id: JobId) {
        if when <= self.now {
            return self.next_stages.push((place, id));
        }
        self.later.insert((when, self.laters), (place, id));
        self.laters += 1;
    }

    /// Stages that begin now, of those that wait for it.
    pub(super) fn take_later(&mut self) {
        while let Some(first) = self.later.first_entry()
            && first.key().0 <= self.now
        {
            self.next_stages.push(first.remove());
        }
    }

    pub(super) fn next_later(&self) -> Option<Time> {
        self.later.first_key_value().map(|(&(when, _), _)| when)
    }

    /// A stage of so many tasks has begun.
    pub(super) fn begun_late(&mut self, place: D::At, id: JobId, tasks: u64) {
        let now = self.now;
        let live = self.desk.driver_mut(place).job_mut(id);
        let Some(late) = live.and_then(|live| live.detail.late_mut()) else { return };
        if !late.begun {
            late.up = now;
        }
        (late.begun, late.left) = (true, late.left + tasks);
    }

    /// As [`World::start_task`], where grants are late.
    pub(super) fn start_late(&mut self, place: D::At, start: &Start) {
        let (delays, now) = (self.delays, self.now);
        let node = self.beats.given(start.node, self.partitioned, now);
        let (lasts, ending) = self.attempt_of(place, start);
        let live = self.desk.driver_mut(place).job_mut(start.job);
        let late = live.and_then(|live| live.detail.late_mut()).expect("its job came late");
        if delays.master.is_some() && start.task == 0 {
            late.master = Some((start.allocation, node));
            let (begun, over) = (late.begun, late.over);
            late.begun = true;
            match (begun, over) {
                (_, true) => self.end_master(place, start.job),
                // It was lost, and is there again.
                (true, false) => {}
                (false, false) => {
                    late.up = now.saturating_add(delays.master_start);
                    let up = late.up;
                    self.begins_later(up, place, start.job);
                }
            }
            return;
        }
        let told = told(&delays, late.up, now);
        let task = Running { at: place, allocation: start.allocation, ending };
        let end = self.beats.reported(node, told.saturating_add(lasts));
        self.put_end(end, task);
    }

    /// A task of a job that is still there has ended well; `drained`: nothing is left of it that
    /// was asked for.
    pub(super) fn ended_late(&mut self, place: D::At, id: JobId, task: u32, drained: bool) {
        let (delays, now) = (self.delays, self.now);
        let Some(live) = self.desk.driver_mut(place).job_mut(id) else { return };
        let more = live.detail.tasks.has_more();
        let Some(late) = live.detail.late_mut() else { return };
        let when = told(&delays, late.up, now);
        if delays.master.is_none() {
            if drained {
                self.begins_later(when, place, id);
            }
            return;
        }
        if task == 0 {
            return;
        }
        late.left = late.left.saturating_sub(1);
        match (late.left, more) {
            (0, true) => self.begins_later(when, place, id),
            (0, false) => {
                late.over = true;
                self.end_master(place, id);
            }
            _ => {}
        }
    }

    /// Looks which nodes there are, where that is not known.
    pub(super) fn know_nodes(&mut self) {
        if self.beats.is_off() || !self.beats.nodes.is_empty() {
            return;
        }
        let mut nodes = Vec::new();
        for (place, driver) in self.desk.drivers() {
            nodes.extend(driver.engine().node_ids().map(|node| (place, node)));
        }
        self.beats.nodes = nodes;
        self.beats.many = (self.desk.tree().node_ids().len() as u64).max(1);
        self.beats.next = self.beats.first(self.now);
    }

    /// Nodes that beat now are given at most a task each.
    pub(super) fn offer_late(&mut self) -> Result<(), RunError> {
        self.desk.decided_elsewhere();
        let now = self.now;
        self.beats.next = self.beats.next.max(self.beats.first(now));
        while self.beats.time(self.beats.next) == Some(now) {
            let turn = self.beats.next as usize % self.beats.nodes.len().max(1);
            self.beats.next += 1;
            let Some(&(place, node)) = self.beats.nodes.get(turn) else { continue };
            let driver = self.desk.driver_mut(place);
            let offered = driver.offer(now, node, &mut |_, _| Some(0), &mut |_, _| true);
            if let Some(start) = offered.map_err(|why| RunError::of(now, why))? {
                self.start_task(place, start)?;
                self.stirs();
            }
        }
        Ok(())
    }

    /// The next heartbeat at which a node may be given something by this program.
    pub(super) fn next_beat(&self) -> Option<Time> {
        let next = self.beats.next_time().filter(|_| self.script.is_none())?;
        self.desk.drivers().any(|(_, one)| one.engine().live_jobs() > 0).then_some(next)
    }

    /// Something has happened: nodes may be given something.
    pub(super) fn stirs(&mut self) {
        self.beats.stirred = self.now;
    }

    /// Nothing is left of a job but its master: it ends.
    fn end_master(&mut self, place: D::At, id: JobId) {
        let (delays, now) = (self.delays, self.now);
        let live = self.desk.driver(place).job(id);
        let Some(late) = live.and_then(|live| live.detail.late()) else { return };
        let Some((allocation, node)) = late.master else { return };
        let end = self.beats.reported(node, told(&delays, late.up, now));
        self.put_end(end, Running { at: place, allocation, ending: Ending::Done });
    }
}
