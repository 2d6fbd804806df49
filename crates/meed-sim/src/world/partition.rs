//! One engine over the whole cluster, or (static partition) one per tenant over its share.
//!
//! The static partition is what rho and speed-up compare with: each tenant alone on its share,
//! nothing lent. Its part is one node as large as its share, in smallest units. A task larger than
//! the share could never run there, though its tenant could run the same work more slowly: it is
//! given the whole share and runs longer by the ratio (an assumption of ours, docs/simulator.md).
//! Only where the share of a resource is nothing is the job refused.

use meed::{Config, ConfigError, Engine, NodeSpec, QueueId, QueueSpec, Resources, Span, Start};
use meed_workload::{Durations, Job};

/// The engines of a run.
pub(crate) struct Parts {
    /// Knows the whole tree. It schedules unless the run is partitioned; then it only shares out.
    pub(crate) master: usize,
    pub(crate) engines: Vec<Engine>,
    /// Part and queue there of each leaf, by queue index of the master.
    route: Vec<Option<(u32, QueueId)>>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Parts whose queue is to go when its last job has ended.
    draining: Vec<bool>,
    starts: Vec<Start>,
}

/// Makes the placement that the run uses.
pub(crate) type NewPlacement = fn(kinds: usize, seed: u64) -> Box<dyn meed::place::Placement>;

impl Parts {
    /// One engine for all.
    pub(crate) fn whole(
        config: Config,
        place: NewPlacement,
        seed: u64,
    ) -> Result<Parts, ConfigError> {
        let kinds = config.kinds.len();
        let engine = Engine::new(config, place(kinds, seed))?;
        let route =
            engine.queue_ids().map(|id| engine.queue(id).is_leaf.then_some((0, id))).collect();
        Ok(Parts::of(vec![engine], route))
    }

    /// The master, and one engine for each leaf.
    pub(crate) fn partitioned(
        config: Config,
        place: NewPlacement,
        seed: u64,
    ) -> Result<Parts, ConfigError> {
        let policies: Vec<_> = config.queues.iter().map(|queue| queue.policy.clone()).collect();
        let master = Engine::new(config.clone(), place(config.kinds.len(), seed))?;
        let (mut engines, mut route) = (Vec::new(), Vec::new());
        let ids: Vec<QueueId> = master.queue_ids().collect();
        engines.push(master);
        for id in ids {
            let view = engines[0].queue(id);
            if !view.is_leaf {
                route.push(None);
                continue;
            }
            let policy = policies[id.index() - 1].clone();
            let (weight, share) = (view.weight, *view.share);
            let node = share_node(view.name, share);
            // Its full name would ask for its parents, which are not here.
            let name = "tenant".to_owned();
            let mut root = meed::Policy::new(meed::Measure::Arrival);
            root.quantum = policy.quantum;
            let alone = Config {
                kinds: config.kinds.clone(),
                measured: config.measured,
                root,
                queues: vec![QueueSpec { name, weight, min: None, max: None, policy }],
                nodes: if share.is_zero() { Vec::new() } else { vec![node] },
            };
            let engine = Engine::new(alone, place(config.kinds.len(), seed))?;
            let queue = engine.queue_ids().nth(1).expect("the only queue");
            route.push(Some((engines.len() as u32, queue)));
            engines.push(engine);
        }
        Ok(Parts::of(engines, route))
    }

    fn of(engines: Vec<Engine>, route: Vec<Option<(u32, QueueId)>>) -> Parts {
        let (is_touched, draining) = (vec![false; engines.len()], vec![false; engines.len()]);
        Parts {
            master: 0,
            engines,
            route,
            touched: Vec::new(),
            is_touched,
            draining,
            starts: Vec::new(),
        }
    }

    /// Whether each tenant runs alone.
    pub(crate) fn is_partitioned(&self) -> bool {
        self.engines.len() > 1
    }

    /// The engine that knows the whole tree.
    pub(crate) fn tree(&self) -> &Engine {
        &self.engines[self.master]
    }

    /// Where a leaf of the tree is scheduled; `None` for parents.
    #[inline]
    pub(crate) fn route(&self, queue: QueueId) -> Option<(u32, QueueId)> {
        self.route[queue.index()]
    }

    /// Whether the part's queue takes no more jobs; where one engine serves all, the engine itself
    /// knows.
    pub(super) fn is_draining(&self, part: u32) -> bool {
        self.draining[part as usize]
    }

    pub(super) fn drain(&mut self, part: u32) {
        self.draining[part as usize] = true;
    }

    /// A part will have something to decide at this instant.
    #[inline]
    pub(super) fn touch(&mut self, part: u32) {
        if !std::mem::replace(&mut self.is_touched[part as usize], true) {
            self.touched.push(part);
        }
    }

    pub(super) fn touch_all(&mut self) {
        (0..self.engines.len() as u32).for_each(|part| self.touch(part));
    }

    /// The touched parts, and a buffer for their decisions.
    pub(super) fn take_buffers(&mut self) -> (Vec<u32>, Vec<Start>) {
        for &part in &self.touched {
            self.is_touched[part as usize] = false;
        }
        (std::mem::take(&mut self.touched), std::mem::take(&mut self.starts))
    }

    pub(super) fn give_back(&mut self, touched: Vec<u32>, starts: Vec<Start>) {
        (self.touched, self.starts) = (touched, starts);
    }
}

/// The only node of a tenant that is alone on its share.
pub(crate) fn share_node(queue: &str, share: Resources) -> NodeSpec {
    NodeSpec::new(format!("share of {queue}"), share)
}

/// The job as its tenant alone would run it: tasks larger than `share` are cut to it and last
/// longer by the ratio. `None` when there is nothing of a resource that it needs, or it would last
/// beyond all bounds.
pub(super) fn fit_to_share(mut job: Job, share: &Resources) -> Option<Job> {
    for group in &mut job.groups {
        // A share is one node without labels: where a task may run means nothing there.
        group.constraints = None;
        if group.demand.fits_in(share) {
            continue;
        }
        let (mut need, mut have) = (1u64, 1u64);
        for (&amount, &room) in group.demand.as_slice().iter().zip(share.as_slice()) {
            if amount > 0 && room == 0 {
                return None;
            }
            // amount / room > need / have
            if amount > room
                && u128::from(amount) * u128::from(have) > u128::from(need) * u128::from(room)
            {
                (need, have) = (amount, room);
            }
        }
        for (amount, room) in group.demand.as_mut_slice().iter_mut().zip(share.as_slice()) {
            *amount = (*amount).min(*room);
        }
        let stretch = |span: Span| {
            let micros = u128::from(span.as_micros()) * u128::from(need) / u128::from(have);
            u64::try_from(micros).ok().and_then(Span::from_micros)
        };
        group.duration = match &group.duration {
            Durations::Same(span) => Durations::Same(stretch(*span)?),
            Durations::Each(spans) => {
                Durations::Each(spans.iter().map(|&span| stretch(span)).collect::<Option<_>>()?)
            }
        };
    }
    Some(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::Time;
    use meed_workload::{JobLabel, TaskGroup};

    #[test]
    fn a_wide_task_takes_the_whole_share_for_longer() {
        let seconds = |s| Span::from_secs(s).expect("in range");
        let group = TaskGroup {
            stage: 0,
            count: 1,
            demand: Resources::new(&[300, 10]),
            duration: Durations::Same(seconds(7)),
            constraints: None,
        };
        let job = Job {
            label: JobLabel::Number(1),
            queue: 0,
            submit: Time::ZERO,
            weight: 1,
            chain: None,
            groups: vec![group],
        };
        let cut = fit_to_share(job.clone(), &Resources::new(&[100, 20])).expect("it can run");
        assert_eq!(cut.groups[0].demand, Resources::new(&[100, 10]));
        assert_eq!(cut.groups[0].duration, Durations::Same(seconds(21)));
        assert_eq!(fit_to_share(job.clone(), &Resources::new(&[300, 10])), Some(job.clone()));
        assert_eq!(fit_to_share(job, &Resources::new(&[0, 20])), None);
    }
}
