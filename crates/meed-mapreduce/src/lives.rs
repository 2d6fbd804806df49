//! Jobs are submitted, their reduces begin when their maps have ended, they end.

use meed::{JobSpec, ResourceKinds, TaskGroup};
use meed_driver::{Failed, NewJob};
use meed_journal::{Amounts, Arrival, Group, JobKey};
use meed_workload::generate::Stream;

use super::blocks::Blocks;
use super::error::MapReduceError;
use super::jobs::{Counts, Job, MAP_DEMAND, REDUCE_DEMAND, RequestState, group};
use super::kinds::Reduces;
use super::setup::Begin;
use super::stage::Stage;
use super::world::MapReduceWorld;

impl MapReduceWorld<'_> {
    /// Submits the jobs of request `number`.
    pub(super) fn submit(&mut self, number: usize) -> Result<(), MapReduceError> {
        let jobs = self.requests[number].jobs.len();
        self.request_states[number] =
            RequestState { submit: Some(self.now), end: None, left: jobs };
        for job in 0..jobs {
            self.submit_job(number, job)?;
        }
        Ok(())
    }

    fn submit_job(&mut self, request: usize, number: usize) -> Result<(), MapReduceError> {
        let plan = &self.requests[request].jobs[number];
        let kind = &self.kinds[plan.kind];
        let maps = plan.input_bytes.div_ceil(self.cluster.block_bytes) as u32;
        let reduces = match kind.reduces {
            Reduces::Count(count) => count,
            Reduces::Slots => {
                self.cluster.machines.iter().map(|machine| machine.reduce_slots).sum()
            }
        };
        let tree = self.driver.engine();
        let queue = tree.find_queue(&plan.queue).expect("the scenario's reader checks names");
        let slot = self.jobs.len() as u32;
        let mut job = Job {
            id: None,
            request,
            number,
            submit: self.now,
            blocks: None,
            reduces,
            waiting_reduces: 0,
            counts: Counts::default(),
            maps_end: None,
            end: None,
            class: None,
            groups: 1,
            tasks: maps,
            reduces_group: None,
            made: Vec::new(),
            stage: Stage::of(maps),
        };
        if self.cluster.as_hadoop.parallel_copies.is_some() {
            job.made = vec![0; self.nodes.len()];
        }
        let now = self.now;
        let groups = [group(maps, MAP_DEMAND)];
        let open = reduces > 0 || self.cluster.as_hadoop.speculative;
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open, max_attempts: 0 };
        let (key, name) = (JobKey::from(u64::from(slot)), JobKey::from(plan.name.as_str()));
        let new = || NewJob { key: key.clone(), name: Some(name.clone()), detail: slot };
        // What this world knows of the job besides: for readers of the log.
        let detail = || {
            serde_json::json!({
                "request": self.requests[request].name,
                "type": kind.name,
                "input_bytes": plan.input_bytes,
                "reduces": reduces,
            })
        };
        let reduce = [group(reduces.max(1), REDUCE_DEMAND)];
        let arrived = match tree.check_tasks(queue, &reduce) {
            Ok(()) => self.driver.job_arrived(now, spec, new, |_, arrival, _| {
                arrival.detail = Some(Box::new(detail()));
            }),
            Err(why) => Err(why.into()),
        };
        match arrived {
            Ok(id) => {
                let mut stream = Stream::new(self.seed, &format!("blocks of {}", plan.name));
                job.blocks =
                    Some(Blocks::place(maps, self.cluster.replicas, &self.racks, &mut stream));
                job.id = Some(id);
                self.live.insert(slot);
                self.waiting_maps += u64::from(maps);
                self.classes.job_arrived(id);
            }
            Err(Failed::Rejected(why)) if self.strict => {
                let (job, queue) = (plan.name.clone(), plan.queue.clone());
                return Err(MapReduceError::Refused { job, queue, why });
            }
            Err(Failed::Rejected(why)) => {
                let arrival = |kinds: &ResourceKinds| Arrival {
                    name: Some(name),
                    detail: Some(Box::new(detail())),
                    ..Arrival::new(plan.queue.as_str().into(), key, refused(&groups, kinds))
                };
                let told = self.driver.job_refused(now, &why, arrival);
                told.map_err(|why| MapReduceError::of(now, why))?;
                self.request_shrinks(request);
            }
            Err(failed) => return Err(MapReduceError::of(now, failed)),
        }
        self.jobs.push(job);
        Ok(())
    }

    /// All maps of job number `number` have ended: its reduces may begin.
    pub(super) fn maps_ended(&mut self, number: u32) -> Result<(), MapReduceError> {
        let now = self.now;
        let job = &mut self.jobs[number as usize];
        job.maps_end = Some(now);
        // Nobody asks any more where they lie.
        job.blocks = None;
        job.waiting_reduces = job.reduces;
        let (id, reduces) = (job.id.expect("it was accepted"), job.reduces);
        if reduces == 0 {
            return Ok(());
        }
        job.reduces_group = Some(job.groups);
        job.groups += 1;
        job.tasks += reduces;
        job.stage = Stage::of(reduces);
        let (groups, open) = ([group(reduces, REDUCE_DEMAND)], self.cluster.as_hadoop.speculative);
        // It was looked at when the job arrived, and nothing has changed.
        let added = self.driver.tasks_added(now, id, &groups, open, |_, _| {});
        added.map_err(|why| MapReduceError::of(now, why))?;
        self.waiting_reduces += u64::from(reduces);
        Ok(())
    }

    /// Job number `number` has ended.
    pub(super) fn end_job(&mut self, number: u32) {
        let now = self.now;
        let job = &mut self.jobs[number as usize];
        let id = job.id.expect("it was accepted");
        job.end = Some(now);
        job.class = self.classes.class(id);
        self.classes.job_ended(id);
        self.live.remove(&number);
        let request = job.request;
        if let Some(caches) = &mut self.caches {
            caches.job_left(number);
        }
        self.request_shrinks(request);
    }

    /// One job of the request fewer; the last one lets what follows it begin.
    fn request_shrinks(&mut self, request: usize) {
        let now = self.now;
        let state = &mut self.request_states[request];
        state.left -= 1;
        if state.left > 0 {
            return;
        }
        state.end = Some(now);
        for (number, next) in self.requests.iter().enumerate() {
            if let Begin::After(before, pause) = next.begin
                && before == request
            {
                self.due.insert((now.saturating_add(pause), number));
            }
        }
    }
}

/// Groups of a job that is refused, as records hold them.
fn refused(groups: &[TaskGroup], kinds: &ResourceKinds) -> Vec<Group> {
    let form = |group: &TaskGroup| Group {
        tasks: group.count,
        demand: Amounts::of(&group.demand, kinds),
        ..Group::default()
    };
    groups.iter().map(form).collect()
}
