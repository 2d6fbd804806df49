//! Slow, obvious twins of the textbook ways to serve one queue of rigid jobs on one pool of
//! processors: [`fcfs`], [`easy`] and [`conservative`] backfilling.
//!
//! The definitions are those of Mu'alem and Feitelson, "Utilization, predictability, workloads, and
//! user runtime estimates in scheduling the IBM SP2 with backfilling" (IEEE TPDS 12(6), 2001). They
//! share nothing with the engine: this file plays the world, the others decide.
//!
//! At each instant: first all ends, then all arrivals, then decisions. A job that takes no time
//! ends at the instant of its start, which then comes once more.

pub(crate) mod conservative;
pub(crate) mod easy;
pub(crate) mod fcfs;

/// A rigid job. Times are whole seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    pub(crate) submit: u64,
    pub(crate) processors: u64,
    pub(crate) run: u64,
    /// At least `run`, and above 0: what was to take no time would have its room for none.
    pub(crate) estimate: u64,
}

/// A job that runs.
#[derive(Clone, Copy)]
struct Running {
    processors: u64,
    ends: u64,
    /// What a scheduler knows of its end.
    estimated_end: u64,
}

/// What is there at an instant, after its ends and arrivals.
struct Pool<'a> {
    jobs: &'a [Job],
    processors: u64,
    now: u64,
    running: Vec<Running>,
    /// In order of arrival; the last ones have come now.
    waiting: Vec<usize>,
    /// Whether a job has ended now, and whether one did so before its estimate said.
    ended: bool,
    ended_early: bool,
}

impl Pool<'_> {
    fn free(&self) -> u64 {
        self.processors - self.running.iter().map(|job| job.processors).sum::<u64>()
    }

    /// The job, if it starts now.
    fn started(&self, job: usize) -> Running {
        let Job { processors, run, estimate, .. } = self.jobs[job];
        Running { processors, ends: self.now + run, estimated_end: self.now + estimate }
    }
}

/// Decides.
trait Rule {
    /// The jobs that start now.
    fn starts(&mut self, pool: &Pool<'_>) -> Vec<usize>;

    /// When it wants to be asked again, even if nothing ends or arrives.
    fn wakes(&self) -> Option<u64> {
        None
    }
}

/// When each job starts, the jobs being in order of arrival.
fn play(processors: u64, jobs: &[Job], rule: &mut dyn Rule) -> Vec<u64> {
    assert!(jobs.is_sorted_by_key(|job| job.submit), "jobs are not in order of arrival");
    for job in jobs {
        assert!((1..=processors).contains(&job.processors), "{job:?}");
        assert!(job.run.max(1) <= job.estimate, "{job:?}");
    }
    let (running, waiting) = (Vec::new(), Vec::new());
    let mut pool =
        Pool { jobs, processors, now: 0, running, waiting, ended: false, ended_early: false };
    let mut starts = vec![None; jobs.len()];
    let mut arrived = 0;
    loop {
        let end = pool.running.iter().map(|job| job.ends).min();
        let arrival = jobs.get(arrived).map(|job| job.submit);
        let Some(now) = [end, arrival, rule.wakes()].into_iter().flatten().min() else { break };
        assert!(now >= pool.now, "time goes back");
        pool.now = now;
        let ended: Vec<Running> = pool.running.extract_if(.., |job| job.ends == now).collect();
        pool.ended = !ended.is_empty();
        pool.ended_early = ended.iter().any(|job| job.estimated_end > now);
        while jobs.get(arrived).is_some_and(|job| job.submit == now) {
            pool.waiting.push(arrived);
            arrived += 1;
        }
        for job in rule.starts(&pool) {
            assert!(jobs[job].processors <= pool.free(), "job {job} does not fit");
            assert_eq!(starts[job].replace(now), None, "job {job} starts twice");
            pool.waiting.retain(|other| *other != job);
            pool.running.push(pool.started(job));
        }
    }
    starts.into_iter().map(|start| start.expect("every job starts")).collect()
}
