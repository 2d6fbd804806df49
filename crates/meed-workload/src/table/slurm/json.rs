//! `sacct --json`: the whole document, or one job of it on each line (`jq -c '.jobs[]'`).
//!
//! A job becomes a record with the columns of `sacct --parsable2` ([`COLUMNS`]), so that all that
//! is known of those holds. Two generations of the schema are read:
//!
//! | | Slurm 22.05 (`dbv0.0.38`) | later (`data_parser`, from v0.0.39) |
//! |---|---|---|
//! | numbers that may be unset | a number; null: unset or infinite | `{set, infinite, number}` |
//! | `state.current` | a text | a text, or a list with flags: `["PENDING", "REQUEUED"]` |
//!
//! Both are known from their sources, and from what Slurm 22.05.8, 24.11.5 (v0.0.40 to v0.0.42) and
//! 26.05.5 (v0.0.43 to v0.0.45) print.

use std::io::ErrorKind;

use meed_files::open::{Input, Origin};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::record::Record;
use super::super::separated::MOST_COLUMNS;
use crate::TraceError;
use crate::error::BadRow;
use crate::fields::json_problem;

/// Columns of a record, by the names that sacct gives them.
pub(in super::super) const COLUMNS: [&str; 16] = [
    "JobID",
    "User",
    "Account",
    "Partition",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ElapsedRaw",
    "Suspended",
    "TimelimitRaw",
    "AllocTRES",
    "ReqTRES",
    "State",
    "JobName",
];

/// Longest object, in bytes: one of a job with many steps is long.
const OBJECT_LIMIT: usize = 64 << 20;

/// Whether a file begins like this document, or like one job of it on each line. A list of live
/// jobs (`squeue --json`) has neither steps nor allocated resources.
pub(in super::super) fn is_beginning(start: &[u8]) -> bool {
    let has = |name: &[u8]| memchr::memmem::find(start, name).is_some();
    has(b"\"job_id\"")
        && has(b"\"account\"")
        && (has(b"\"allocation_nodes\"")
            || opens(start, b"\"steps\"", b'[')
            || opens(start, b"\"tres\"", b'{'))
        || is_without_jobs(start)
}

/// Whether this is the document of a time in which there were no jobs.
pub(in super::super) fn is_without_jobs(start: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Document {
        #[serde(deserialize_with = "Option::deserialize")]
        jobs: Option<Vec<IgnoredAny>>,
        #[serde(rename = "meta")]
        _meta: IgnoredAny,
    }
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let document = serde_json::from_slice::<Document>(start);
    document.is_ok_and(|document| document.jobs.is_none_or(|jobs| jobs.is_empty()))
}

/// Whether a value that begins with `sign` stands behind the key `name`: anybody's table may have
/// a column of that name.
fn opens(start: &[u8], name: &[u8], sign: u8) -> bool {
    memchr::memmem::find_iter(start, name).any(|at| {
        let rest = start[at + name.len()..].trim_ascii_start();
        let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| value.first() == Some(&sign))
    })
}

/// Jobs of the document, one after the other. Cost: a look at each byte, memory for one job.
pub(in super::super) struct JsonJobs {
    pub(in super::super) input: Input,
    scan: Scan,
}

/// Finds the objects that are jobs.
struct Scan {
    /// Whole lines so far.
    line: u64,
    place: Place,
    depth: usize,
    in_text: bool,
    escaped: bool,
    object: Vec<u8>,
    /// The line on which the object begins.
    begun: u64,
}

/// Where the reader is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Outside the list of jobs: an object is a job, or the document.
    Outside,
    /// In the list of jobs.
    Inside,
    /// Behind it: nothing more is of interest.
    Behind,
}

impl JsonJobs {
    /// Opens `origin`.
    pub(in super::super) fn open(origin: &Origin) -> Result<JsonJobs, TraceError> {
        let scan = Scan {
            line: 0,
            place: Place::Outside,
            depth: 0,
            in_text: false,
            escaped: false,
            object: Vec::new(),
            begun: 1,
        };
        Ok(JsonJobs { input: origin.open()?, scan })
    }

    /// Whole lines so far.
    pub(in super::super) fn line(&self) -> u64 {
        self.scan.line
    }

    /// The next job; `None` at the end.
    pub(in super::super) fn next(
        &mut self,
        record: &mut Record,
    ) -> Result<Option<Result<(), BadRow>>, TraceError> {
        record.clear(self.scan.line + 1);
        loop {
            let chunk = match self.input.reader().fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.input.failure(error, self.scan.line).into()),
            };
            if chunk.is_empty() {
                return Ok(self.scan.last(record).map(Err));
            }
            let (taken, step) = self.scan.take_all(chunk);
            self.input.reader().consume(taken);
            match step {
                Step::More => {}
                Step::Job => return Ok(Some(self.job(record))),
                Step::Wrong(why) => {
                    record.clear(self.scan.line + 1);
                    return Ok(Some(Err(BadRow::line(why))));
                }
            }
        }
    }

    /// The object that was read last, as a record.
    fn job(&mut self, record: &mut Record) -> Result<(), BadRow> {
        let object = &self.scan.object;
        record.clear(self.scan.begun);
        if object.len() >= OBJECT_LIMIT {
            return Err(BadRow::line(format!("an object of more than {OBJECT_LIMIT} bytes")));
        }
        let job: JobObject = serde_json::from_slice(object).map_err(|why| {
            let what = json_problem(&why);
            BadRow::line(format!("{what}; wanted is a job as sacct --json prints it"))
        })?;
        for (column, value) in job.values().iter().enumerate() {
            record.put(column, value.as_bytes());
        }
        Ok(())
    }
}

impl Scan {
    /// Takes bytes up to the first that brings something; how many, and what.
    fn take_all(&mut self, bytes: &[u8]) -> (usize, Step) {
        for (at, byte) in bytes.iter().enumerate() {
            match self.take(*byte) {
                Step::More => {}
                step => return (at + 1, step),
            }
        }
        (bytes.len(), Step::More)
    }

    /// What is wrong at the end of the file.
    fn last(&mut self, record: &mut Record) -> Option<BadRow> {
        if self.depth == 0 || self.place == Place::Behind {
            return None;
        }
        self.depth = 0;
        record.clear(self.begun);
        Some(BadRow::line("an object of JSON is opened and not closed"))
    }

    /// Goes one byte on.
    fn take(&mut self, byte: u8) -> Step {
        self.line += u64::from(byte == b'\n');
        if self.place == Place::Behind {
            return Step::More;
        }
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = byte == b'\\' && !self.escaped;
            return self.keep(byte);
        }
        match byte {
            byte if byte.is_ascii_whitespace() => Step::More,
            b'{' => {
                if self.depth == 0 {
                    self.object.clear();
                    self.begun = self.line + 1;
                }
                self.depth += 1;
                self.keep(byte)
            }
            b'[' if self.opens_jobs() => {
                (self.place, self.depth) = (Place::Inside, 0);
                Step::More
            }
            b']' if self.depth == 0 && self.place == Place::Inside => {
                self.place = Place::Behind;
                Step::More
            }
            b',' if self.depth == 0 => Step::More,
            b'}' if self.depth == 1 => {
                self.depth = 0;
                self.object.push(byte);
                Step::Job
            }
            _ if self.depth == 0 => {
                // One sentence for all of it.
                let first = std::mem::replace(&mut self.object, b"?".to_vec()) != b"?";
                match first {
                    true => Step::Wrong("wanted are objects of JSON, a job each"),
                    false => Step::More,
                }
            }
            byte => {
                self.in_text = byte == b'"';
                self.depth -= usize::from(byte == b'}');
                self.keep(byte)
            }
        }
    }

    /// Whether the list that begins here is that of the jobs.
    fn opens_jobs(&self) -> bool {
        let is_key = self.object.ends_with(b"{\"jobs\":") || self.object.ends_with(b",\"jobs\":");
        self.place == Place::Outside && (self.depth == 0 || (self.depth == 1 && is_key))
    }

    fn keep(&mut self, byte: u8) -> Step {
        if self.object.len() < OBJECT_LIMIT {
            self.object.push(byte);
        }
        Step::More
    }
}

/// What a byte has brought.
enum Step {
    More,
    /// An object is whole.
    Job,
    Wrong(&'static str),
}

/// Names of the columns.
pub(in super::super) fn names() -> Vec<String> {
    const { assert!(COLUMNS.len() <= MOST_COLUMNS) };
    COLUMNS.map(str::to_owned).to_vec()
}

#[derive(Deserialize)]
struct JobObject {
    job_id: u64,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    account: Option<String>,
    #[serde(default)]
    partition: Option<String>,
    #[serde(default)]
    qos: Option<String>,
    #[serde(default)]
    association: Association,
    #[serde(default)]
    array: ArrayOf,
    #[serde(default)]
    het: HetOf,
    state: State,
    time: TimeOf,
    tres: TresOf,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Association {
    user: Option<String>,
    account: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ArrayOf {
    job_id: Count,
    task_id: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HetOf {
    job_id: Count,
    job_offset: Count,
}

#[derive(Deserialize)]
struct State {
    current: Current,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Current {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct TimeOf {
    #[serde(default)]
    elapsed: Count,
    #[serde(default)]
    suspended: Count,
    #[serde(default)]
    eligible: Count,
    submission: Count,
    #[serde(default)]
    start: Count,
    #[serde(default)]
    end: Count,
    #[serde(default)]
    limit: Count,
}

#[derive(Deserialize)]
struct TresOf {
    #[serde(default)]
    allocated: Vec<Tres>,
    #[serde(default)]
    requested: Vec<Tres>,
}

#[derive(Deserialize)]
struct Tres {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    count: Count,
}

/// Slurm's own number for none (`NO_VAL`). Slurm 24.11.5 and 26.05.5 print it bare as the start of
/// a job that was cancelled before it started.
const NO_VALUE: u64 = 0xffff_fffe;

/// A number that may be unset or infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Count {
    #[default]
    Unset,
    Infinite,
    Of(u64),
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Whole(u64),
            Marked {
                set: bool,
                #[serde(default)]
                infinite: bool,
                #[serde(default)]
                number: Option<u64>,
            },
            Other(IgnoredAny),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Whole(NO_VALUE) => Count::Unset,
            Form::Whole(number) => Count::Of(number),
            Form::Marked { infinite: true, .. } => Count::Infinite,
            Form::Marked { set: true, number: Some(number), .. } => Count::Of(number),
            Form::Marked { .. } | Form::Other(_) => Count::Unset,
        })
    }
}

impl Count {
    /// The number, unless it is 0, which is Slurm's word for none.
    fn some(self) -> Option<u64> {
        match self {
            Count::Of(number) if number > 0 => Some(number),
            _ => None,
        }
    }

    /// An instant, or seconds; nothing where there is none.
    fn instant(self) -> String {
        self.some().map_or_else(String::new, |number| number.to_string())
    }
}

/// Flags of a state that say more than the state beside them.
const TELLING: [&str; 4] = ["REQUEUED", "RESIZING", "REVOKED", "SPECIAL_EXIT"];

impl State {
    fn text(&self) -> &str {
        match &self.current {
            Current::One(state) => state,
            Current::Many(states) => {
                let telling = states.iter().find(|state| TELLING.contains(&state.as_str()));
                telling.or(states.first()).map_or("", String::as_str)
            }
        }
    }
}

impl JobObject {
    /// Its name as sacct prints it: `12`, `12_3` of an array, `12+1` of a heterogeneous job.
    fn id(&self) -> String {
        let pairs = [
            (self.array.job_id, '_', self.array.task_id),
            (self.het.job_id, '+', self.het.job_offset),
        ];
        let pair = pairs.into_iter().find_map(|(of, sign, part)| match (of.some(), part) {
            (Some(of), Count::Of(part)) => Some(format!("{of}{sign}{part}")),
            _ => None,
        });
        pair.unwrap_or_else(|| self.job_id.to_string())
    }

    /// Values of [`COLUMNS`].
    fn values(&self) -> [String; COLUMNS.len()] {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let either = |own: &Option<String>, other: &Option<String>| {
            own.clone().filter(|own| !own.is_empty()).or_else(|| other.clone()).unwrap_or_default()
        };
        let elapsed = match self.time.elapsed {
            Count::Of(elapsed) => elapsed.to_string(),
            _ => String::new(),
        };
        let limit = match self.time.limit {
            Count::Infinite => "UNLIMITED".to_owned(),
            limit => limit.instant(),
        };
        [
            self.id(),
            either(&self.user, &self.association.user),
            either(&self.account, &self.association.account),
            text(&self.partition),
            text(&self.qos),
            self.time.submission.instant(),
            self.time.eligible.instant(),
            self.time.start.instant(),
            self.time.end.instant(),
            elapsed,
            self.time.suspended.instant(),
            limit,
            list(&self.tres.allocated),
            list(&self.tres.requested),
            self.state.text().to_owned(),
            text(&self.name),
        ]
    }
}

/// Trackable resources as sacct prints them: `cpu=4,mem=8192M,gres/gpu:a100=2`. Memory is counted
/// in MiB.
fn list(all: &[Tres]) -> String {
    let entry = |tres: &Tres| {
        let Count::Of(count) = tres.count else { return None };
        let name = tres.name.as_deref().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| tres.kind.clone(), |name| format!("{}/{name}", tres.kind));
        let unit = if tres.kind == "mem" { "M" } else { "" };
        Some(format!("{name}={count}{unit}"))
    };
    all.iter().filter_map(entry).collect::<Vec<_>>().join(",")
}
