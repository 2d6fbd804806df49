//! The MapReduce world's part of the record of a run, and of its samples.

use crate::classes::Class;
use meed::Time;
use meed_driver::record::mapreduce::{
    MapReduceJobRecord, MapReduceRecord, NodeRecord, RequestRecord,
};

use super::jobs::Job;
use super::machines::per_second;
use super::tasks::Work;
use super::views::{Cell, Views, busy_part};
use super::world::MapReduceWorld;

impl MapReduceWorld<'_> {
    /// The record of the run that ended at `end`.
    pub(super) fn record(&mut self, end: Time, views: Option<&Views>) -> MapReduceRecord {
        let seconds = |at: Option<Time>| at.map(Time::as_secs_f64);
        let requests: Vec<RequestRecord> = self
            .requests
            .iter()
            .zip(&self.request_states)
            .map(|(request, state)| RequestRecord {
                request: request.name.clone(),
                submit_s: seconds(state.submit),
                end_s: seconds(state.end),
            })
            .collect();
        let jobs: Vec<MapReduceJobRecord> =
            self.jobs.iter().map(|job| self.job_record(job)).collect();
        let sum = |of: fn(&MapReduceJobRecord) -> u64| jobs.iter().map(of).sum::<u64>();
        let (maps, local_maps) = (sum(|job| job.maps), sum(|job| job.local_maps));
        let times: Vec<f64> = requests
            .iter()
            .filter_map(|request| Some(request.end_s? - request.submit_s?))
            .collect();
        let nodes: Vec<NodeRecord> =
            (0..self.nodes.len()).map(|node| self.node_record(node, end)).collect();
        MapReduceRecord {
            rule: self.rule.to_owned(),
            maps,
            local_maps,
            rack_maps: sum(|job| job.rack_maps),
            locality: (maps > 0).then(|| local_maps as f64 / maps as f64),
            reduces: nodes.iter().map(|node| node.reduces).sum(),
            heartbeats: self.heartbeats,
            slot_settings: self.slot_settings,
            mean_request_s: (!times.is_empty())
                .then(|| times.iter().sum::<f64>() / times.len() as f64),
            speculation: self.cluster.as_hadoop.speculative.then_some(self.speculation),
            page_cache: self.caches.as_ref().map(|caches| caches.used),
            requests,
            jobs,
            nodes,
            series: views
                .map(|views| {
                    views.series(self.cluster.machines.iter().map(|machine| machine.cores))
                })
                .unwrap_or_default(),
        }
    }

    /// Every node at `t`: what runs there, and what was done so far.
    pub(super) fn cells(&mut self, t: Time) -> Vec<Cell> {
        let mut row = vec![Cell::default(); self.nodes.len()];
        for task in self.tasks.iter() {
            let cell = &mut row[task.node as usize];
            let class = || self.jobs[task.job as usize].id.and_then(|id| self.classes.class(id));
            let count = match task.work {
                Work::Reduce(_) => &mut cell.reduces,
                Work::Map { .. } => match class() {
                    Some(Class::Cpu) => &mut cell.cpu_maps,
                    Some(Class::Io) => &mut cell.io_maps,
                    None => &mut cell.other_maps,
                },
            };
            *count += 1;
        }
        for (number, cell) in row.iter_mut().enumerate() {
            cell.usage = self.machines.usage(t, number);
            cell.counts = self.nodes[number].counts;
        }
        row
    }

    fn job_record(&self, job: &Job) -> MapReduceJobRecord {
        let plan = &self.requests[job.request].jobs[job.number];
        let class = job
            .class
            .or_else(|| job.id.filter(|_| job.end.is_none()).and_then(|id| self.classes.class(id)));
        MapReduceJobRecord {
            job: plan.name.clone(),
            queue: plan.queue.clone(),
            kind: self.kinds[plan.kind].name.clone().into_owned(),
            input_bytes: plan.input_bytes,
            submit_s: job.submit.as_secs_f64(),
            maps_end_s: job.maps_end.map(Time::as_secs_f64),
            end_s: job.end.map(Time::as_secs_f64),
            maps: job.counts.maps,
            local_maps: job.counts.local,
            rack_maps: job.counts.rack,
            class: class.map(|class| class.name().to_owned()),
        }
    }

    fn node_record(&mut self, number: usize, end: Time) -> NodeRecord {
        let usage = self.machines.usage(end, number);
        let (machine, node) = (&self.cluster.machines[number], &self.nodes[number]);
        let span = end - Time::ZERO;
        NodeRecord {
            node: machine.name.clone(),
            cpu_busy: busy_part(usage.core_micros, machine.cores, span),
            disk_bytes_per_s: per_second(usage.disk_bytes, span) as f64,
            network_bytes_per_s: per_second(usage.network_bytes, span) as f64,
            maps: node.counts.maps,
            local_maps: node.counts.local,
            reduces: node.counts.reduces,
            slots: node.slots.clone(),
        }
    }
}
