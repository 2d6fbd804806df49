//! Lies about jobs, one by one.

use meed::Gang;
use meed_workload::{JobLabel, TraceError};
use proptest::prelude::*;

use super::*;

/// Jobs at hand.
struct Given {
    queues: Vec<String>,
    jobs: std::vec::IntoIter<Job>,
}

impl JobSource for Given {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        Ok(self.jobs.next())
    }
}

fn job(number: u64, queue: u32, seconds: u64, groups: Vec<JobGroup>) -> Job {
    let submit = Time::ZERO + Span::from_secs(seconds).unwrap();
    Job { label: JobLabel::Number(number), queue, submit, weight: 1, chain: None, groups }
}

fn group(stage: u16, amount: u64, seconds: u64) -> JobGroup {
    let duration = Durations::Same(Span::from_secs(seconds).unwrap());
    JobGroup { stage, ..JobGroup::new(2, Resources::new(&[amount, 10]), duration) }
}

/// What comes of these jobs, and what was true of the liar's.
fn told(jobs: Vec<Job>, lie: Deceit, seed: u64) -> (Vec<Job>, Truth) {
    let queues = ["a", "b"].map(str::to_owned).to_vec();
    let source = Box::new(Given { queues, jobs: jobs.into_iter() });
    let liar = Liar { tenant: "b".to_owned(), lie, seed };
    let (mut lying, said) = Lying::new(source, liar, Resources::new(&[100, 100]));
    let mut all = Vec::new();
    while let Some(job) = lying.next_job().unwrap() {
        all.push(job);
    }
    let truth = *said.0.borrow();
    (all, truth)
}

#[test]
fn demands_are_inflated_up_to_the_largest_node() {
    let jobs = || {
        let mut gang = group(0, 40, 9);
        gang.gang = Some(Box::new(Gang::of(2)));
        vec![
            job(0, 0, 0, vec![group(0, 40, 9)]),
            job(1, 1, 1, vec![group(0, 41, 9), group(1, 90, 9)]),
            job(2, 1, 2, vec![gang]),
        ]
    };
    let (all, truth) = told(jobs(), Deceit::Inflates, 1);
    assert_eq!(all[0], jobs()[0]);
    let asked = |job: &Job| -> Vec<Vec<u64>> {
        job.groups.iter().map(|group| group.demand.as_slice().to_vec()).collect()
    };
    assert_eq!(asked(&all[1]), [[62, 15], [100, 15]]);
    assert_eq!(all[2], jobs()[2]);
    assert_eq!((truth.jobs, truth.submitted, truth.filler), (2, 3.0, 0.0));
}

#[test]
fn the_last_stage_holds_on() {
    let jobs = vec![job(0, 1, 7, vec![group(0, 1, 30), group(1, 1, 20), group(1, 1, 10)])];
    let (all, truth) = told(jobs, Deceit::Holds, 1);
    let spans: Vec<f64> =
        all[0].groups.iter().map(|group| group.duration.get(0).as_secs_f64()).collect();
    assert_eq!(spans, [30.0, 30.0, 15.0]);
    assert_eq!((truth.jobs, truth.submitted, truth.filler), (1, 7.0, 10.0));
}

#[test]
fn about_a_tenth_of_the_hours_is_hidden() {
    for seed in 0..20 {
        let hidden = (0..10_000).filter(|&hour| hides(seed, hour)).count();
        assert!((850..1150).contains(&hidden), "{hidden}");
    }
}

proptest! {
    /// The honest tenant's jobs come as they are; the liar's come all, in order of time, never in
    /// a hidden hour, and no later than the first that is not hidden.
    #[test]
    fn what_is_hidden_comes_when_the_hour_is_over(
        gaps in prop::collection::vec((0u32..2, 0u64..4000), 0..60), seed in any::<u64>(),
    ) {
        let mut now = 0;
        let jobs: Vec<Job> = gaps.iter().enumerate().map(|(number, &(queue, gap))| {
            now += gap;
            job(number as u64, queue, now, vec![group(0, 1, 5)])
        }).collect();
        for lie in [Deceit::Hides, Deceit::Late] {
            let (all, truth) = told(jobs.clone(), lie, seed);
            prop_assert!(all.windows(2).all(|pair| pair[0].submit <= pair[1].submit));
            let honest = |all: &[Job]| -> Vec<Job> {
                all.iter().filter(|job| job.queue == 0).cloned().collect()
            };
            prop_assert_eq!(honest(&all), honest(&jobs));
            let mut lied: Vec<&Job> = all.iter().filter(|job| job.queue == 1).collect();
            lied.sort_by_key(|job| job.label.to_string().parse::<u64>().unwrap());
            let true_ones: Vec<&Job> = jobs.iter().filter(|job| job.queue == 1).collect();
            prop_assert_eq!(lied.len(), true_ones.len());
            prop_assert_eq!(truth.jobs as usize, lied.len());
            for (lied, job) in lied.into_iter().zip(true_ones) {
                let late = lied.submit.saturating_since(job.submit).as_micros();
                let hours = job.submit.as_micros() / HOUR..lied.submit.as_micros() / HOUR;
                match lie {
                    Deceit::Late => prop_assert_eq!(late, 1_000_000),
                    _ => {
                        prop_assert!(!hides(seed, lied.submit.as_micros() / HOUR));
                        prop_assert!(hours.clone().all(|hour| hides(seed, hour)));
                        prop_assert_eq!(hours.is_empty(), late == 0);
                    }
                }
            }
        }
    }
}
