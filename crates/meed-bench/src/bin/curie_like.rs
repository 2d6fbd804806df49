//! Writes a log of the size and kind of CEA-Curie (298,092 jobs of 582 users on 93,312 processors)
//! in the Standard Workload Format, for measurements of large logs. The log is drawn: the same on
//! every machine.
//!
//! `cargo run --release -p meed-bench --bin curie_like -- [JOBS] > FILE`
//!
//! Users submit sessions of similar jobs, more of them by day. A few users submit most. Sizes are
//! powers of two, and a run ends by its limit. The log lasts as long as 60 % load needs. Waits in
//! the log are those of strict order of arrival.

#![expect(clippy::print_stdout, reason = "a program of measurements prints")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meed_bench::common::{Random, argument};

const PROCESSORS: u64 = 93_312;
const USERS: u64 = 582;
const DAY: u64 = 86_400;
/// Parts of the log's length into which sessions are drawn.
const STEPS: u64 = 1 << 40;
const LIMITS: [u64; 8] = [1_800, 3_600, 7_200, 14_400, 43_200, DAY, DAY, 2 * DAY];

/// One job; `at` is in steps of the log's length, `behind` in seconds after that.
struct Job {
    at: u64,
    behind: u64,
    run: u64,
    processors: u64,
    limit: u64,
    user: u64,
}

/// Sessions of similar jobs, until there are so many jobs.
fn draw(jobs: u64, random: &mut Random) -> Vec<Job> {
    let mut all = Vec::new();
    while (all.len() as u64) < jobs {
        // The cube of a uniform number: a tenth of the users submit nearly half.
        let part = random.below(1 << 20);
        let user = ((((part * part) >> 20) * part) * USERS) >> 40;
        let at = random.below(STEPS);
        let processors = 1 << random.below(13);
        let limit = LIMITS[random.below(LIMITS.len() as u64) as usize];
        let mut behind = 0;
        let most = 1 + random.below(40);
        for _ in 0..=random.below(most) {
            // Half of all jobs end soon.
            let part = if random.below(2) == 0 { 20 } else { 1 };
            let run = 1 + random.below(limit / part);
            all.push(Job { at, behind, run, processors, limit, user });
            behind += random.below(600);
        }
    }
    all.truncate(jobs as usize);
    all
}

/// Instants of submission in seconds: by day four times as many sessions as by night.
fn submitted(jobs: &[Job]) -> Vec<u64> {
    let work: u64 = jobs.iter().map(|job| job.run * job.processors).sum();
    let length = work * 10 / (PROCESSORS * 6);
    let instant = |job: &Job| {
        let at = ((u128::from(job.at) * u128::from(length)) >> 40) as u64;
        let (day, second) = (at / DAY * DAY, at % DAY);
        // The first four fifths of a day's sessions come in its first half.
        let half = DAY / 2;
        let second = match second * 5 < DAY * 4 {
            true => second * 5 / 8,
            false => half + (second * 5 - DAY * 4) / 2,
        };
        day + second + job.behind
    };
    jobs.iter().map(instant).collect()
}

fn main() {
    let count: u64 = argument(1, 298_092);
    let mut random = Random(1);
    let jobs = draw(count, &mut random);
    let at = submitted(&jobs);
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&job| at[job]);
    println!("; Version: 2.2\n; Computer: drawn, of the size of CEA-Curie");
    println!("; MaxJobs: {count}\n; MaxProcs: {PROCESSORS}\n; UnixStartTime: 1296555600");
    let (mut free, mut now) = (PROCESSORS, 0);
    let mut ends = BinaryHeap::new();
    for (number, &place) in order.iter().enumerate() {
        let job = &jobs[place];
        now = at[place].max(now);
        while let Some(&Reverse((end, processors))) = ends.peek()
            && (end <= now || free < job.processors)
        {
            now = now.max(end);
            free += processors;
            ends.pop();
        }
        free -= job.processors;
        ends.push(Reverse((now + job.run, job.processors)));
        let (wait, Job { run, processors, limit, user, .. }) = (now - at[place], job);
        println!(
            "{} {} {wait} {run} {processors} -1 -1 {processors} {limit} -1 1 {} 1 -1 1 1 -1 -1",
            number + 1,
            at[place],
            user + 1
        );
    }
}
