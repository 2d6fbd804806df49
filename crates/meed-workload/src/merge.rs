//! Several sources as one, in order of submission.
//!
//! Queues of the same name become one, in order of first declaration; closed chains of different
//! sources stay distinct. Invariant: the result is ordered, and jobs of equal times come in the
//! order of the sources. Cost: one job per source in memory; a heap operation per job.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use meed::Time;

use crate::{BadLine, Cause, Job, JobSource, SourceCounts, TraceError};

/// Several sources as one.
///
/// ```
/// # use meed::{Resources, Span, Time};
/// # use meed_workload::inline::Inline;
/// # use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource};
/// # let tasks = Durations::Same(Span::from_secs(10).ok_or("in range")?);
/// # let job = |number: u64| Job {
/// #     label: JobLabel::Number(number),
/// #     queue: 0,
/// #     submit: Time::from_secs(number * 60).unwrap_or(Time::ZERO),
/// #     weight: 1000,
/// #     chain: None,
/// #     groups: vec![JobGroup::new(1, Resources::new(&[1000]), tasks.clone())],
/// # };
/// # let mut source = Inline::new(vec!["ads".to_owned()], vec![job(0), job(1)], 1)?;
/// use meed_workload::merge::Merge;
/// let second = Inline::new(vec!["search".to_owned()], Vec::new(), 1)?;
/// let mut both = Merge::new(vec![Box::new(source), Box::new(second)])?;
/// assert_eq!(both.queues(), ["ads", "search"]);
/// assert!(both.next_job()?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Merge<'a> {
    parts: Vec<Part<'a>>,
    queues: Vec<String>,
    /// Parts that have a next job, by its time and then their number.
    heap: BinaryHeap<Reverse<(Time, usize)>>,
    /// Source and chain there, of each chain here.
    chains: Vec<(usize, u32)>,
}

struct Part<'a> {
    source: Box<dyn JobSource + Send + 'a>,
    /// Queue here, of each queue there.
    queues: Vec<u32>,
    /// Chain here, of each chain there that was seen.
    chains: BTreeMap<u32, u32>,
    next: Option<Job>,
    /// The job held back is counted by the source, but not handed out.
    held: bool,
}

impl<'a> Merge<'a> {
    /// All jobs of all `sources`.
    pub fn new(sources: Vec<Box<dyn JobSource + Send + 'a>>) -> Result<Merge<'a>, TraceError> {
        let mut queues: Vec<String> = Vec::new();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut merge = Merge {
            parts: Vec::new(),
            queues: Vec::new(),
            heap: BinaryHeap::new(),
            chains: Vec::new(),
        };
        for source in sources {
            let number = |name: &String| {
                *numbers.entry(name.clone()).or_insert_with(|| {
                    queues.push(name.clone());
                    (queues.len() - 1) as u32
                })
            };
            let map = source.queues().iter().map(number).collect();
            merge.parts.push(Part {
                source,
                queues: map,
                chains: BTreeMap::new(),
                next: None,
                held: false,
            });
        }
        merge.queues = queues;
        for part in 0..merge.parts.len() {
            merge.fetch(part)?;
        }
        Ok(merge)
    }

    fn fetch(&mut self, number: usize) -> Result<(), TraceError> {
        let part = &mut self.parts[number];
        part.next = part.source.next_job()?;
        part.held = part.next.is_some();
        if let Some(job) = &part.next {
            self.heap.push(Reverse((job.submit, number)));
        }
        Ok(())
    }

    /// A job of part `number` as a job of the whole.
    fn adopt(&mut self, number: usize, mut job: Job) -> Job {
        let part = &mut self.parts[number];
        job.queue = part.queues[job.queue as usize];
        job.chain = job.chain.map(|chain| {
            *part.chains.entry(chain).or_insert_with(|| {
                self.chains.push((number, chain));
                (self.chains.len() - 1) as u32
            })
        });
        job
    }
}

impl JobSource for Merge<'_> {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(Reverse((_, number))) = self.heap.pop() else { return Ok(None) };
        let Some(job) = self.parts[number].next.take() else { return Ok(None) };
        self.fetch(number)?;
        Ok(Some(self.adopt(number, job)))
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        let (number, inner) = *self.chains.get(chain as usize)?;
        let job = self.parts[number].source.job_ended(inner, now)?;
        Some(self.adopt(number, job))
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        let (number, inner) = *self.chains.get(chain as usize)?;
        self.parts[number].source.cause(inner)
    }

    fn counts(&self) -> SourceCounts {
        let mut sum = SourceCounts::default();
        for part in &self.parts {
            let counts = part.source.counts();
            sum.lines += counts.lines;
            sum.jobs += counts.jobs - u64::from(part.held);
            sum.bad += counts.bad;
            sum.ignored += counts.ignored;
        }
        sum
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.parts.iter().flat_map(|part| part.source.bad_lines()).collect()
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for words in self.parts.iter().flat_map(|part| part.source.assumptions()) {
            if !all.contains(&words) {
                all.push(words);
            }
        }
        all
    }

    fn clock_us(&self) -> Option<u64> {
        let mut known = self.parts.iter().filter_map(|part| part.source.clock_us());
        let first = known.next()?;
        known.all(|other| other == first).then_some(first)
    }

    fn progress(&self) -> Option<f64> {
        // The mean over those that know: good enough for a bar.
        let known: Vec<f64> = self.parts.iter().filter_map(|part| part.source.progress()).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Arrivals, Dist, Generator, GeneratorSpec, Limit, Per, StageSpec};
    use crate::inline::Inline;
    use crate::{Durations, JobGroup, JobLabel};
    use meed::{Resources, Span};

    fn job(name: &str, queue: u32, submit_s: u64) -> Job {
        let demand = Resources::new(&[1000]);
        let duration = Durations::Same(Span::ZERO);
        Job {
            label: JobLabel::Name(name.into()),
            queue,
            submit: Time::from_secs(submit_s).unwrap(),
            weight: 1,
            chain: None,
            groups: vec![JobGroup::new(1, demand, duration)],
        }
    }

    fn inline(queues: &[&str], jobs: Vec<Job>) -> Box<dyn JobSource + Send> {
        Box::new(Inline::new(queues.iter().map(|q| (*q).to_owned()).collect(), jobs, 1).unwrap())
    }

    fn closed(queue: &str, concurrent: u32) -> Box<dyn JobSource + Send> {
        let stage = StageSpec {
            constraints: None,
            limit: None,
            checkpoint: None,
            gang: None,
            tasks: Dist::Constant(1.0),
            duration_s: Dist::Constant(1.0),
            per: Per::Job,
            demand: Resources::new(&[1000]),
        };
        let spec = GeneratorSpec {
            queue: queue.into(),
            stream: queue.into(),
            arrivals: Arrivals::Closed {
                start: Time::ZERO,
                concurrent,
                pause_s: Dist::Constant(1.0),
            },
            limit: Limit::default(),
            weight: 1,
            stages: vec![stage],
        };
        Box::new(Generator::new(spec, 1, 1).unwrap())
    }

    #[test]
    fn ties_go_to_the_source_named_first_and_queues_unite() {
        let first = inline(&["a", "b"], vec![job("a5", 0, 5), job("a9", 1, 9), job("a5b", 1, 5)]);
        let second = inline(&["c", "b"], vec![job("b0", 0, 0), job("b5", 1, 5), job("b9", 1, 9)]);
        let mut merge = Merge::new(vec![first, second]).unwrap();
        assert_eq!(merge.queues(), ["a", "b", "c"]);
        assert_eq!(merge.counts().jobs, 0);
        let seen: Vec<(String, u32)> = std::iter::from_fn(|| merge.next_job().unwrap())
            .map(|job| (job.label.to_string(), job.queue))
            .collect();
        let expected = [("b0", 2), ("a5", 0), ("a5b", 1), ("b5", 1), ("a9", 1), ("b9", 1)];
        assert_eq!(seen, expected.map(|(name, queue)| (name.to_owned(), queue)));
        assert_eq!((merge.counts().jobs, merge.progress()), (6, Some(1.0)));
    }

    #[test]
    fn chains_of_different_sources_stay_apart() {
        let mut merge = Merge::new(vec![closed("a", 2), closed("b", 1)]).unwrap();
        let jobs: Vec<Job> = std::iter::from_fn(|| merge.next_job().unwrap()).collect();
        let chains: Vec<_> = jobs.iter().map(|job| job.chain.unwrap()).collect();
        assert_eq!(chains, [0, 1, 2]);
        for job in jobs {
            let next = merge.job_ended(job.chain.unwrap(), Time::from_secs(7).unwrap()).unwrap();
            assert_eq!((next.queue, next.chain), (job.queue, job.chain));
            assert_eq!(next.submit, Time::from_secs(8).unwrap());
        }
        assert_eq!(merge.job_ended(3, Time::ZERO), None);
    }
}
