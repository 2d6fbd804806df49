//! The jobs of a MapReduce scenario: their types, jobs one by one, and requests that submit several
//! at once.

use std::borrow::Cow;

use meed::{Span, Time};
use meed_config::quantity::Quantity;
use meed_config::words::did_you_mean;
use meed_config::{Place, Spanned, TextError};
use meed_workload::generate::Stream;
use meed_workload::stretch::Load;

use super::keys::{at, between, bytes, span, thousandths};
use super::raw::{self, Input, MapReduceForm};
use crate::{Begin, KINDS, MapReduceKind, MapReduceRequest, PlannedJob, RATIO_ONE, Reduces};

/// Most jobs of a scenario.
const MAX_JOBS: usize = 1 << 20;

/// Largest ratio of bytes: a hundred written for each one read.
const MAX_RATIO: u64 = 100 * RATIO_ONE as u64;

/// Longest CPU time per MB: an hour.
const MAX_CPU_MICROS: u64 = 3_600_000_000;

/// What is asked for, before anything is drawn.
pub(super) struct Workload {
    entries: Vec<Entry>,
}

/// Jobs that one table asks for.
struct Entry {
    name: String,
    queue: String,
    kinds: Vec<usize>,
    /// Smallest and largest input.
    input: [u64; 2],
    shuffled: bool,
    at: Time,
    count: u32,
    next: Next,
    /// A plain job keeps its name; jobs of requests are told apart by their types.
    single: bool,
}

/// When the next of several requests comes.
#[derive(Clone, Copy)]
enum Next {
    Every(Span),
    AfterTheLast(Span),
}

/// The known types, and those of the scenario, which may change known ones.
pub(super) fn kinds(
    raw: &[Spanned<raw::MapReduceKind>],
    place: &Place<'_>,
) -> Result<Vec<MapReduceKind>, TextError> {
    let mut kinds = KINDS.to_vec();
    for (number, entry) in raw.iter().enumerate() {
        let name = &entry.get_ref().name;
        if raw[..number].iter().any(|other| other.get_ref().name == *name) {
            return Err(place.error(entry.span(), format!("kind `{name}` is declared twice")));
        }
        let known = kinds.iter().position(|kind| kind.name == *name);
        let base = known.map_or_else(|| plain(name), |known| kinds[known].clone());
        let kind = at(
            place,
            entry,
            kind(entry.get_ref(), base).map_err(|why| format!("kind `{name}`, {why}")),
        )?;
        match known {
            Some(known) => kinds[known] = kind,
            None => kinds.push(kind),
        }
    }
    Ok(kinds)
}

/// A new type before its keys are read: it reads its input and does nothing else.
fn plain(name: &str) -> MapReduceKind {
    MapReduceKind {
        name: Cow::Owned(name.to_owned()),
        map_read: RATIO_ONE,
        map_cpu_micros_per_mb: 0,
        map_output: 0,
        shuffle: 0,
        reduce_cpu_micros_per_mb: 0,
        output: 0,
        reduces: Reduces::Count(1),
    }
}

fn kind(raw: &raw::MapReduceKind, base: MapReduceKind) -> Result<MapReduceKind, String> {
    let ratio = |key: &str, raw: &Option<Quantity>, usual: u32| match raw {
        None => Ok(usual),
        Some(raw) => match thousandths(raw).map_err(|why| format!("{key}: {why}"))? {
            ratio @ 0..=MAX_RATIO => Ok(ratio as u32),
            _ => Err(format!("{key}: {} must be 0 to 100 bytes per byte of input", raw.text())),
        },
    };
    let cpu = |key: &str, raw: &Option<Quantity>, usual: u64| match raw {
        None => Ok(usual),
        Some(raw) => match span(raw).map_err(|why| format!("{key}: {why}"))?.as_micros() {
            micros @ 0..=MAX_CPU_MICROS => Ok(micros),
            _ => Err(format!("{key}: {} must be at most 1h per MB", raw.text())),
        },
    };
    Ok(MapReduceKind {
        map_read: ratio("map_read", &raw.map_read, base.map_read)?,
        map_cpu_micros_per_mb: cpu(
            "map_cpu_per_mb",
            &raw.map_cpu_per_mb,
            base.map_cpu_micros_per_mb,
        )?,
        map_output: ratio("map_output", &raw.map_output, base.map_output)?,
        shuffle: ratio("shuffle", &raw.shuffle, base.shuffle)?,
        reduce_cpu_micros_per_mb: cpu(
            "reduce_cpu_per_mb",
            &raw.reduce_cpu_per_mb,
            base.reduce_cpu_micros_per_mb,
        )?,
        output: ratio("output", &raw.output, base.output)?,
        reduces: match &raw.reduces {
            None => base.reduces,
            Some(Quantity::Text(word)) if word == "slots" => Reduces::Slots,
            Some(Quantity::Whole(count)) => Reduces::Count(
                between(*count, 0, meed_workload::MAX_TASKS)
                    .map_err(|why| format!("reduces: {why}"))?,
            ),
            Some(other) => {
                return Err(format!(
                    "reduces: {} is neither a whole number nor \"slots\"",
                    other.text()
                ));
            }
        },
        name: base.name,
    })
}

pub(super) fn workload(
    raw: &MapReduceForm,
    kinds: &[MapReduceKind],
    block_bytes: u64,
    place: &Place<'_>,
) -> Result<Workload, TextError> {
    if raw.job.is_empty() && raw.request.is_empty() {
        return Err(place.whole("has no jobs; add [[mapreduce.job]] or [[mapreduce.request]]"));
    }
    let mut entries = Vec::new();
    for (number, job) in raw.job.iter().enumerate() {
        entries.push(at(place, job, self::job(job.get_ref(), number, kinds))?);
    }
    for (number, request) in raw.request.iter().enumerate() {
        entries.push(at(place, request, self::request(request.get_ref(), number, kinds))?);
    }
    let spans = raw.job.iter().map(Spanned::span).chain(raw.request.iter().map(Spanned::span));
    let mut jobs = 0;
    for ((number, entry), span) in entries.iter().enumerate().zip(spans) {
        if entries[..number].iter().any(|other| other.name == entry.name) {
            let what = format!("`{}`: there are two jobs or requests of that name", entry.name);
            return Err(place.error(span, what));
        }
        let maps = entry.input[1].div_ceil(block_bytes);
        if maps > u64::from(meed_workload::MAX_TASKS) {
            let what = format!(
                "`{}`: an input of {maps} blocks; at most {} are possible",
                entry.name,
                meed_workload::MAX_TASKS
            );
            return Err(place.error(span, what));
        }
        jobs += entry.count as usize * entry.kinds.len();
        if jobs > MAX_JOBS {
            return Err(place.error(span, format!("more than {MAX_JOBS} jobs")));
        }
    }
    Ok(Workload { entries })
}

fn find_kind(name: &str, kinds: &[MapReduceKind]) -> Result<usize, String> {
    kinds.iter().position(|kind| kind.name == name).ok_or_else(|| {
        let names: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
        let near = did_you_mean(name, names.iter().copied()).unwrap_or_default();
        format!("unknown kind `{name}`; known are {}. {near}", names.join(", "))
            .trim_end()
            .to_owned()
    })
}

fn size(raw: &Quantity) -> Result<u64, String> {
    match bytes(raw).map_err(|why| format!("input: {why}"))? {
        0 => Err("input: a job must have at least one byte of it".to_owned()),
        bytes => Ok(bytes),
    }
}

fn time(key: &str, raw: &Option<Quantity>) -> Result<Option<Span>, String> {
    raw.as_ref().map(span).transpose().map_err(|why| format!("{key}: {why}"))
}

fn count(raw: Option<i64>) -> Result<u32, String> {
    between(raw.unwrap_or(1), 1, MAX_JOBS as u32).map_err(|why| format!("count: {why}"))
}

fn job(raw: &raw::Job, number: usize, kinds: &[MapReduceKind]) -> Result<Entry, String> {
    let name = raw.name.clone().unwrap_or_else(|| format!("job{number}"));
    let in_words = |why: String| format!("job `{name}`: {why}");
    let input = size(&raw.input).map_err(in_words)?;
    Ok(Entry {
        queue: raw.queue.clone(),
        kinds: vec![find_kind(&raw.kind, kinds).map_err(in_words)?],
        input: [input, input],
        shuffled: false,
        at: Time::ZERO
            .saturating_add(time("submit", &raw.submit).map_err(in_words)?.unwrap_or(Span::ZERO)),
        count: count(raw.count).map_err(in_words)?,
        // Several equal jobs of one table come at once.
        next: Next::Every(Span::ZERO),
        single: true,
        name,
    })
}

fn request(raw: &raw::Request, number: usize, kinds: &[MapReduceKind]) -> Result<Entry, String> {
    let name = raw.name.clone().unwrap_or_else(|| format!("request{number}"));
    let in_words = |why: String| format!("request `{name}`: {why}");
    let input = match &raw.input {
        Input::Same(input) => [size(input).map_err(in_words)?; 2],
        Input::Between([low, high]) => {
            [size(low).map_err(in_words)?, size(high).map_err(in_words)?]
        }
    };
    if input[0] > input[1] {
        return Err(in_words(
            "input: the smallest stands first, as in [\"5GB\", \"100GB\"]".to_owned(),
        ));
    }
    let shuffled = match raw.order.as_deref() {
        None | Some("random") => true,
        Some("given") => false,
        Some(other) => {
            return Err(in_words(format!("order `{other}` is not one of random, given")));
        }
    };
    let numbers = match &raw.kinds {
        None => (0..KINDS.len()).collect(),
        Some(names) if names.is_empty() => {
            return Err(in_words("kinds: at least one is needed".to_owned()));
        }
        Some(names) => names
            .iter()
            .map(|name| find_kind(name, kinds))
            .collect::<Result<_, _>>()
            .map_err(in_words)?,
    };
    let next = match (
        time("every", &raw.every).map_err(in_words)?,
        time("pause", &raw.pause).map_err(in_words)?,
    ) {
        (Some(_), Some(_)) => {
            return Err(in_words(
                "`every` says when requests come, `pause` how long after the end of the last; \
                     give one"
                    .to_owned(),
            ));
        }
        (Some(every), None) => Next::Every(every),
        (None, pause) => Next::AfterTheLast(pause.unwrap_or(Span::ZERO)),
    };
    Ok(Entry {
        queue: raw.queue.clone(),
        kinds: numbers,
        input,
        shuffled,
        at: Time::ZERO.saturating_add(time("at", &raw.at).map_err(in_words)?.unwrap_or(Span::ZERO)),
        count: count(raw.count).map_err(in_words)?,
        next,
        single: false,
        name,
    })
}

impl Workload {
    /// The requests, with everything drawn from `seed`; the same under every policy. `load` divides
    /// times of submission.
    pub(super) fn requests(
        &self,
        seed: u64,
        kinds: &[MapReduceKind],
        load: Load,
    ) -> Vec<MapReduceRequest> {
        let mut requests: Vec<MapReduceRequest> = Vec::new();
        for entry in &self.entries {
            let mut stream = Stream::new(seed, &format!("request {}", entry.name));
            for number in 0..entry.count {
                let name = match entry.count {
                    1 => entry.name.clone(),
                    _ => format!("{}-{number}", entry.name),
                };
                let begin = match entry.next {
                    Next::AfterTheLast(pause) if number > 0 => {
                        Begin::After(requests.len() - 1, pause)
                    }
                    Next::AfterTheLast(_) => Begin::At(load.submit(entry.at)),
                    Next::Every(every) => {
                        let micros = every.as_micros().saturating_mul(u64::from(number));
                        let after = Span::from_micros(micros).unwrap_or(Span::MAX);
                        Begin::At(load.submit(entry.at.saturating_add(after)))
                    }
                };
                let jobs = entry.jobs(&name, kinds, &mut stream);
                requests.push(MapReduceRequest { name, begin, jobs });
            }
        }
        requests
    }
}

impl Entry {
    fn jobs(&self, name: &str, kinds: &[MapReduceKind], stream: &mut Stream) -> Vec<PlannedJob> {
        let mut order = self.kinds.clone();
        if self.shuffled {
            // Fisher and Yates.
            for i in (1..order.len()).rev() {
                order.swap(i, stream.below(i as u64 + 1) as usize);
            }
        }
        let [low, high] = self.input;
        let mut seen = vec![0u32; kinds.len()];
        let mut job = |kind: usize| {
            seen[kind] += 1;
            let twice = self.kinds.iter().filter(|&&other| other == kind).count() > 1;
            let own = match (self.single, twice) {
                (true, _) => name.to_owned(),
                (false, false) => format!("{name}-{}", kinds[kind].name),
                (false, true) => format!("{name}-{}-{}", kinds[kind].name, seen[kind] - 1),
            };
            let input_bytes = low + stream.below(high - low + 1);
            PlannedJob { name: own, queue: self.queue.clone(), kind, input_bytes }
        };
        order.into_iter().map(&mut job).collect()
    }
}
