//! TPDS'15 Fig. 9: strong sharing incentive, measured. Each user's tasks on a dedicated cloud (k / n servers, rounded up and
//! drawn at random, for it alone) against the shared 2,000 servers under best-fit DRFH.

use meed::NodeSpec;
use meed_workload::generate::Stream;
use meed_workload::{Job, JobSource, TraceError};
use rayon::prelude::*;

use super::claim::{Claim, beyond};
use super::fig8::{ratios, sorted};
use super::trace::{BEST_FIT, Google, NEEDED};
use crate::reproduce::{Context, Measured, Outcome, ReproduceError, Spread};

/// Draws of dedicated clouds, at most: each is as much work as a run of the whole trace.
const DRAWS: u64 = 3;

const FEWER: Claim = Claim {
    what: "users with fewer tasks finished under DRFH than in a dedicated cloud",
    paper: "2 %",
    unit: "%",
    agrees: (0.0, 5.0),
    otherwise: "of a user's tasks those that run longest are cut by the trace's end, so whoever starts them a little later \
        does not complete them: a dedicated cloud starts at once what fits on it",
};
const SLIGHTLY: Claim = Claim {
    what: "by how much less they complete, mean",
    paper: "decreases only slightly",
    unit: "percentage points",
    agrees: (0.0, 10.0),
    otherwise: FEWER.otherwise,
};

pub(in super::super) fn figure_9(context: &Context) -> Result<Outcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(Outcome::skipped(FEWER.what, FEWER.paper, NEEDED));
    };
    let run = &google.runs([BEST_FIT])?[0];
    let shared = ratios(run, &google.submitted);
    let jobs = jobs_of_users(&google)?;
    let nodes = google.nodes()?;
    let each = nodes.len().div_ceil(jobs.len().max(1));
    let seeds: Vec<u64> = context.seeds().take(DRAWS as usize).collect();
    let mut draws = Vec::new();
    for seed in &seeds {
        let alone: Vec<Option<f64>> = (0..jobs.len())
            .into_par_iter()
            .map(|user| alone(&google, user, &jobs[user], dedicated(&nodes, each, user, *seed)))
            .collect::<Result<_, ReproduceError>>()?;
        draws.push(alone);
    }
    let pairs = |alone: &[Option<f64>]| -> Vec<(f64, f64)> {
        shared.iter().zip(alone).filter_map(|(shared, alone)| (*shared).zip(*alone)).collect()
    };
    let fewer: Vec<f64> = draws
        .iter()
        .map(|alone| {
            let pairs = pairs(alone);
            100.0 * pairs.iter().filter(|(shared, alone)| shared < alone).count() as f64
                / pairs.len().max(1) as f64
        })
        .collect();
    let by: Vec<f64> = draws
        .iter()
        .map(|alone| {
            let less: Vec<f64> = pairs(alone)
                .iter()
                .map(|(shared, alone)| alone - shared)
                .filter(|less| *less > 0.0)
                .collect();
            100.0 * less.iter().sum::<f64>() / less.len().max(1) as f64
        })
        .collect();
    let more: Vec<f64> = draws
        .iter()
        .map(|alone| {
            let pairs = pairs(alone);
            100.0 * pairs.iter().filter(|(shared, alone)| shared > alone).count() as f64
                / pairs.len().max(1) as f64
        })
        .collect();
    let first = pairs(&draws[0]);
    let lines: [Vec<f64>; 2] =
        [first.iter().map(|pair| pair.0).collect(), first.iter().map(|pair| pair.1).collect()];
    let mut assumptions = google.assumptions();
    assumptions.push(format!(
        "a dedicated cloud is {each} servers ({} over {} users, rounded up), drawn for each user anew, so clouds of \
         different users may have the same server; {} draws",
        nodes.len(),
        jobs.len(),
        seeds.len()
    ));
    let runs = more.len();
    Ok(Outcome {
        checks: vec![
            FEWER.over(fewer),
            SLIGHTLY.over(by),
            beyond(
                "users with more tasks finished under DRFH",
                Measured::Spread(Spread::of(more, runs, "%")),
                "",
            ),
        ],
        assumptions,
        blocks: vec![sorted(
            "Task completion ratio of users, shared and in dedicated clouds",
            &[("DRFH, shared", &lines[0]), ("dedicated clouds", &lines[1])],
        )],
    })
}

/// The jobs of each user, in order of submission, as the only queue's.
fn jobs_of_users(google: &Google) -> Result<Vec<Vec<Job>>, ReproduceError> {
    let mut source = google.source();
    let mut jobs = vec![Vec::new(); source.queues().len()];
    while let Some(job) = source.next_job()? {
        let queue = job.queue as usize;
        jobs[queue].push(Job { queue: 0, ..job });
    }
    Ok(jobs)
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

/// The part of the user's tasks that its dedicated cloud completes; `None` for users that submit nothing.
fn alone(
    google: &Google,
    user: usize,
    jobs: &[Job],
    nodes: Vec<NodeSpec>,
) -> Result<Option<f64>, ReproduceError> {
    let submitted = google.submitted[user];
    if submitted == 0 {
        return Ok(None);
    }
    let source =
        Jobs { queue: vec![google.source().queues()[user].clone()], jobs: jobs.to_vec().into_iter() };
    let run = google.alone(user, nodes, Box::new(source))?;
    Ok(run.queues.first().map(|queue| queue.tasks as f64 / submitted as f64))
}

/// Jobs from memory.
struct Jobs {
    queue: Vec<String>,
    jobs: std::vec::IntoIter<Job>,
}

impl JobSource for Jobs {
    fn queues(&self) -> &[String] {
        &self.queue
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        Ok(self.jobs.next())
    }
}
