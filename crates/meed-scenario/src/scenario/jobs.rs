//! Jobs that stand in the scenario itself, and chains of them: the next when the last has ended.

use std::collections::VecDeque;

use meed::{Constraints, ResourceKinds, Span, Time};
use meed_config::Spanned;
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use meed_config::quantity::demand;
use meed_config::{Place, TextError as ScenarioError};
use meed_workload::inline::Inline;
use meed_workload::stretch::Load;
use meed_workload::{
    Cause, Durations, Job, JobGroup, JobLabel, JobSource, SourceCounts, TraceError,
};

use super::cluster::at;
use super::raw::{self, AmountsByName, DurationValue, Quantity};

/// Inline jobs, checked.
#[derive(Clone, Debug, Default)]
pub(super) struct InlineJobs {
    pub(super) queues: Vec<String>,
    /// Jobs that come at a time of their own: those in no chain, and the first of each chain.
    open: Vec<Job>,
    /// The rest of each chain, with the pause after the one before.
    chains: Vec<VecDeque<(Span, Job)>>,
}

impl InlineJobs {
    pub(super) fn read(
        raw: &[Spanned<raw::Job>],
        load: Load,
        kinds: &ResourceKinds,
        place: &Place<'_>,
    ) -> Result<InlineJobs, ScenarioError> {
        let mut jobs = InlineJobs::default();
        let mut queue_numbers = std::collections::BTreeMap::new();
        let mut chain_numbers = std::collections::BTreeMap::new();
        for (number, entry) in raw.iter().enumerate() {
            let name = &entry.get_ref().queue;
            let queue = *queue_numbers.entry(name.clone()).or_insert_with(|| {
                jobs.queues.push(name.clone());
                jobs.queues.len() as u32 - 1
            });
            let mut job = at(place, entry, read_job(entry.get_ref(), number, queue, kinds))?;
            job.submit = load.submit(job.submit);
            let Some(chain) = &entry.get_ref().chain else {
                jobs.open.push(job);
                continue;
            };
            let next = chain_numbers.len() as u32;
            let chain = *chain_numbers.entry(chain.clone()).or_insert(next);
            job.chain = Some(chain);
            if chain == next {
                jobs.chains.push(VecDeque::new());
                jobs.open.push(job);
            } else {
                let pause = entry
                    .get_ref()
                    .pause
                    .as_ref()
                    .map_or(Ok(Span::ZERO), |pause| span("pause", pause));
                jobs.chains[chain as usize].push_back((at(place, entry, pause)?, job));
            }
        }
        Ok(jobs)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The labels of all jobs.
    pub(super) fn labels(&self) -> impl Iterator<Item = &JobLabel> {
        self.open
            .iter()
            .chain(self.chains.iter().flatten().map(|(_, job)| job))
            .map(|job| &job.label)
    }

    /// All demands, each with its job's queue.
    pub(super) fn demands(&self) -> impl Iterator<Item = (&str, &meed::Resources)> {
        let jobs = self.open.iter().chain(self.chains.iter().flatten().map(|(_, job)| job));
        jobs.flat_map(|job| {
            job.groups.iter().map(|group| (self.queues[job.queue as usize].as_str(), &group.demand))
        })
    }

    pub(super) fn source(&self, kinds: usize) -> Result<ChainedSource, TraceError> {
        let open = Inline::new(self.queues.clone(), self.open.clone(), kinds)?;
        let causes = vec![Cause::default(); self.chains.len()];
        Ok(ChainedSource { open, chains: self.chains.clone(), causes, caused: 0 })
    }
}

fn read_job(
    raw: &raw::Job,
    number: usize,
    queue: u32,
    kinds: &ResourceKinds,
) -> Result<Job, String> {
    let label = match &raw.name {
        Some(name) => JobLabel::Name(name.as_str().into()),
        None => JobLabel::Number(number as u64),
    };
    let in_words = |why: String| format!("job {label}: {why}");
    let submit = raw
        .submit
        .as_ref()
        .map_or(Ok(Span::ZERO), |submit| span("submit", submit))
        .map_err(in_words)?;
    let weight = u32::try_from(raw.weight).ok().filter(|&weight| weight > 0 && weight <= 1_000_000);
    let weight = weight
        .ok_or_else(|| in_words(format!("weight is {}; it must be 1 to 1000000", raw.weight)))?;
    // Of a job with groups `gang` and `same` are said of all of them together.
    let of_all = raw::Terms { gang: None, same: None, ..raw.terms() };
    let has_terms = raw.tasks.is_some() || !of_all.is_empty();
    let mut groups = match (&raw.demand, &raw.duration, raw.group.is_empty()) {
        (Some(needs), Some(duration), true) => {
            let read = group(0, raw.tasks, needs, duration, kinds);
            let group = read.and_then(|group| with_terms(group, raw.terms()));
            vec![group.map_err(in_words)?]
        }
        (None, None, false) if !has_terms => {
            let read = |g: &raw::Group| {
                let group = group(g.stage, g.tasks, &g.demand, &g.duration, kinds)?;
                with_terms(group, g.terms())
            };
            let groups = raw.group.iter().map(read).collect::<Result<Vec<_>, _>>();
            groups.and_then(|groups| as_one_gang(groups, raw.terms())).map_err(in_words)?
        }
        _ => {
            let what = "give tasks, demand, duration, gang, same, limit, checkpoint and \
                        constraints, or [[job.group]] tables with them, not a mixture";
            return Err(in_words(what.to_owned()));
        }
    };
    groups.sort_by_key(|group| group.stage);
    let submit = Time::ZERO.saturating_add(submit);
    Ok(Job { label, queue, submit, weight, chain: None, groups })
}

/// The groups of a job that is said to be one gang.
fn as_one_gang(groups: Vec<JobGroup>, terms: raw::Terms<'_>) -> Result<Vec<JobGroup>, String> {
    match (terms.gang, terms.same) {
        (None | Some(GangForm::All(false)), None) => return Ok(groups),
        (Some(GangForm::All(true)), _) => {}
        (None | Some(GangForm::All(false)), Some(_)) => {
            return Err(
                "same of a job with groups needs gang = true: all of them start together, \
                        or give same in each [[job.group]]"
                    .to_owned(),
            );
        }
        _ => {
            return Err(
                "gang of a job with groups is true: all tasks of all groups start together; \
                        numbers are for [[job.group]]"
                    .to_owned(),
            );
        }
    }
    let one = |group: JobGroup| match group.gang {
        Some(_) => {
            Err("gang = true makes all groups one gang; a group has no gang or same of its \
                        own then"
                .to_owned())
        }
        None => {
            let gang = GangForm::read(Some(GangForm::JOINT), terms.same, group.count)?;
            Ok(JobGroup { gang, ..group })
        }
    };
    groups.into_iter().map(one).collect()
}

fn group(
    stage: u16,
    tasks: Option<i64>,
    needs: &AmountsByName,
    duration: &DurationValue,
    kinds: &ResourceKinds,
) -> Result<JobGroup, String> {
    let listed = match duration {
        DurationValue::Each(all) => Some(all.len() as i64),
        DurationValue::Same(_) => None,
    };
    let tasks = tasks.or(listed).unwrap_or(1);
    let count =
        u32::try_from(tasks).ok().filter(|&count| count > 0 && count <= meed_workload::MAX_TASKS);
    let count = count
        .ok_or_else(|| format!("tasks is {tasks}; it must be 1 to {}", meed_workload::MAX_TASKS))?;
    if let Some(listed) = listed.filter(|&listed| listed != tasks) {
        return Err(format!(
            "{listed} durations for {tasks} tasks; give one for all, or one for each"
        ));
    }
    let duration = match duration {
        DurationValue::Same(one) => Durations::Same(span("duration", one)?),
        DurationValue::Each(all) => {
            Durations::Each(all.iter().map(|one| span("duration", one)).collect::<Result<_, _>>()?)
        }
    };
    let demand = demand(needs, kinds)?;
    Ok(JobGroup { stage, ..JobGroup::new(count, demand, duration) })
}

fn with_terms(group: JobGroup, terms: raw::Terms<'_>) -> Result<JobGroup, String> {
    if let Some(GangForm::Joint(_)) = terms.gang {
        return Err(
            "gang = \"joint\" is of traces and logs: write gang = true in the [[job]]".to_owned()
        );
    }
    Ok(JobGroup {
        constraints: constraints(terms.constraints)?,
        limit: limit(terms.limit)?,
        checkpoint: checkpoint(terms.checkpoint)?,
        gang: GangForm::read(terms.gang, terms.same, group.count)?,
        ..group
    })
}

/// The longest that a task may run.
pub(super) fn limit(raw: Option<&Quantity>) -> Result<Option<Span>, String> {
    above_zero("limit", raw)
}

/// How often a task saves what it has done.
pub(super) fn checkpoint(raw: Option<&Quantity>) -> Result<Option<Span>, String> {
    above_zero("checkpoint", raw)
}

fn above_zero(key: &str, raw: Option<&Quantity>) -> Result<Option<Span>, String> {
    match raw.map(|raw| span(key, raw)).transpose()? {
        Some(Span::ZERO) => Err(format!("{key} must be above zero")),
        span => Ok(span),
    }
}

pub(super) fn constraints(
    form: Option<&ConstraintsForm>,
) -> Result<Option<Box<Constraints>>, String> {
    Ok(form.map(ConstraintsForm::read).transpose()?.flatten())
}

pub(super) fn span(key: &str, raw: &Quantity) -> Result<Span, String> {
    raw.span(key)
}

/// Inline jobs as a source.
pub(super) struct ChainedSource {
    open: Inline,
    chains: Vec<VecDeque<(Span, Job)>>,
    /// Of each chain's last caused job.
    causes: Vec<Cause>,
    caused: u64,
}

impl JobSource for ChainedSource {
    fn queues(&self) -> &[String] {
        self.open.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        self.open.next_job()
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        let (pause, mut job) = self.chains.get_mut(chain as usize)?.pop_front()?;
        // A chain's job may name a time as well: it comes at the later of the two.
        self.causes[chain as usize] = Cause { pause, not_before: job.submit };
        job.submit = job.submit.max(now.saturating_add(pause));
        self.caused += 1;
        Some(job)
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.causes.get(chain as usize).copied()
    }

    fn counts(&self) -> SourceCounts {
        let open = self.open.counts();
        SourceCounts { jobs: open.jobs + self.caused, ..open }
    }

    fn progress(&self) -> Option<f64> {
        if self.chains.is_empty() { self.open.progress() } else { None }
    }
}
