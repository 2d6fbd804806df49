//! TPDS'15 Fig. 9: strong sharing incentive, measured. Each user's tasks on a dedicated cloud (k /
//! n servers, rounded up and drawn at random, for it alone) against the shared 2,000 servers under
//! best-fit DRFH.

use std::sync::Arc;

use meed::NodeSpec;
use meed_workload::generate::Stream;
use meed_workload::{Job, JobSource, TraceError};

use super::claim::{Claim, uncut};
use super::fig8::{ratios, sorted};
use super::trace::{BEST_FIT, Google, NEEDED};
use crate::cores;
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

/// Draws of dedicated clouds, at most: each is as much work as a run of the whole trace.
const DRAWS: u64 = 3;

const CUT: &str = "a task that still ran when the trace ended is as long as was known, so whoever \
    waits even a second does not \
    complete it by then; in a dedicated cloud what fits starts at once. Without such tasks see \
    below";

const FEWER: Claim = Claim {
    what: "users with fewer tasks finished under DRFH than in a dedicated cloud",
    paper: "2 %",
    unit: "%",
    agrees: (0.0, 5.0),
    otherwise: CUT,
};
const SLIGHTLY: Claim = Claim {
    what: "by how much less they complete, mean",
    paper: "decreases only slightly",
    unit: "percentage points",
    agrees: (0.0, 10.0),
    otherwise: CUT,
};
const MORE: &str = "users with more tasks finished under DRFH";

/// The same without the tasks that are cut by the trace's end.
const KNOWN_FEWER: Claim = Claim {
    what: "the first without tasks that still ran at the trace's end",
    otherwise: "who has a dedicated cloud never waits for others' tasks to end",
    ..FEWER
};
const KNOWN_SLIGHTLY: Claim = Claim {
    what: "the second without them",
    otherwise: "the mean is over the few users who complete less: on our slice one of 391",
    ..SLIGHTLY
};

pub(in super::super) fn figure_9(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let (Some(google), Some(known)) = (Google::of(context)?, Google::known(context)?) else {
        return Ok(ItemOutcome::skipped(FEWER.what, FEWER.paper, NEEDED));
    };
    let mut outcome = ItemOutcome { assumptions: google.assumptions(), ..ItemOutcome::default() };
    for (google, [first, second], title) in [
        (
            &google,
            [(FEWER, None), (SLIGHTLY, None)],
            "Task completion ratio of users, shared and in dedicated clouds",
        ),
        (
            &known,
            [(KNOWN_FEWER, Some(&FEWER)), (KNOWN_SLIGHTLY, Some(&SLIGHTLY))],
            "The same without tasks that still ran at the trace's end",
        ),
    ] {
        let draws = draws(context, google)?;
        let of = |read: fn(&[(f64, f64)]) -> f64| {
            draws.iter().map(|pairs| read(pairs)).collect::<Vec<f64>>()
        };
        let more = of(|pairs| part(pairs, |(shared, alone)| shared > alone));
        let runs = more.len();
        outcome.checks.extend([
            uncut(
                first.0.over(of(|pairs| part(pairs, |(shared, alone)| shared < alone))),
                "drfh-fig9",
                first.1,
            ),
            uncut(second.0.over(of(less)), "drfh-fig9", second.1),
            Check::beyond(MORE, Measured::Spread(Spread::of(more, runs, "%")), ""),
        ]);
        let column = |of: fn(&(f64, f64)) -> f64| draws[0].iter().map(of).collect::<Vec<f64>>();
        let (shared, alone) = (column(|pair| pair.0), column(|pair| pair.1));
        outcome
            .blocks
            .push(sorted(title, &[("DRFH, shared", &shared), ("dedicated clouds", &alone)]));
    }
    outcome.assumptions.push(format!(
        "a dedicated cloud is as many servers as there are servers for each user, rounded up, \
         drawn for each user anew, so \
         clouds of different users may have the same server; at most {DRAWS} draws"
    ));
    Ok(outcome)
}

/// Of each draw: for each user, the part of its tasks completed in the shared cluster, and in its
/// dedicated cloud.
fn draws(context: &Context, google: &Google) -> Result<Vec<Vec<(f64, f64)>>, ReproduceError> {
    let shared = ratios(&google.runs([BEST_FIT])?[0], &google.submitted);
    let (jobs, nodes) = (jobs_of_users(google)?, google.nodes()?);
    let each = nodes.len().div_ceil(jobs.len().max(1));
    let users: Vec<usize> = (0..jobs.len()).collect();
    let draw = |seed: u64| {
        let alone = cores::map(&users, |&user| {
            alone(google, user, &jobs[user], dedicated(&nodes, each, user, seed))
        })?;
        Ok(shared.iter().zip(alone).filter_map(|(shared, alone)| (*shared).zip(alone)).collect())
    };
    context.seeds().take(DRAWS as usize).map(draw).collect()
}

/// In percent.
fn part(pairs: &[(f64, f64)], holds: fn((f64, f64)) -> bool) -> f64 {
    100.0 * pairs.iter().filter(|pair| holds(**pair)).count() as f64 / pairs.len().max(1) as f64
}

/// By how much those who complete less do so, in percentage points; nothing where nobody does.
fn less(pairs: &[(f64, f64)]) -> f64 {
    let less: Vec<f64> =
        pairs.iter().map(|(shared, alone)| alone - shared).filter(|less| *less > 0.0).collect();
    100.0 * less.iter().sum::<f64>() / less.len().max(1) as f64
}

/// The jobs of each user, in order of submission, as the only queue's.
fn jobs_of_users(google: &Google) -> Result<Vec<Arc<[Job]>>, ReproduceError> {
    let mut source = google.source();
    let mut jobs: Vec<Vec<Job>> = vec![Vec::new(); source.queues().len()];
    while let Some(job) = source.next_job()? {
        let queue = job.queue as usize;
        jobs[queue].push(Job { queue: 0, ..job });
    }
    Ok(jobs.into_iter().map(Arc::from).collect())
}

/// `count` servers drawn without replacement.
fn dedicated(nodes: &[NodeSpec], count: usize, user: usize, seed: u64) -> Vec<NodeSpec> {
    let mut stream = Stream::new(seed, &format!("dedicated cloud of user {user}"));
    let mut left: Vec<usize> = (0..nodes.len()).collect();
    let mut drawn: Vec<usize> = (0..count.min(nodes.len()))
        .map(|_| left.swap_remove(stream.below(left.len() as u64) as usize))
        .collect();
    drawn.sort_unstable();
    drawn.into_iter().map(|node| nodes[node].clone()).collect()
}

/// The part of the user's tasks that its dedicated cloud completes; `None` for users that submit
/// nothing.
fn alone(
    google: &Google,
    user: usize,
    jobs: &Arc<[Job]>,
    nodes: Vec<NodeSpec>,
) -> Result<Option<f64>, ReproduceError> {
    let submitted = google.submitted[user];
    if submitted == 0 {
        return Ok(None);
    }
    let source = Jobs {
        queue: vec![google.source().queues()[user].clone()],
        jobs: Arc::clone(jobs),
        next: 0,
    };
    let run = google.alone(user, nodes, Box::new(source))?;
    Ok(run.queues.first().map(|queue| queue.tasks as f64 / submitted as f64))
}

/// Jobs from memory.
struct Jobs {
    queue: Vec<String>,
    jobs: Arc<[Job]>,
    next: usize,
}

impl JobSource for Jobs {
    fn queues(&self) -> &[String] {
        &self.queue
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let job = self.jobs.get(self.next).cloned();
        self.next += 1;
        Ok(job)
    }
}
