//! Records to rows: one job each.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use meed::{MAX_AMOUNT, MAX_MICROS, Resources, Unit};
use meed_config::decimal::{Rounding, parse_scaled, parse_short};
use meed_config::queues::check_name;
use meed_config::words::quote;

use super::accounts::below;
use super::amounts::{self, AmountUnit, Per};
use super::assumptions::TableDots;
use super::expression::{Found, Source, is_missing};
use super::mapping::{Held, Lasting, Length, Mapping, Timed};
use super::reasons::NoJob;
use super::record::Record;
use super::slurm::part::Part;
use super::times::{Wrong, duration};
use crate::error::BadRow;
use crate::fields::MAX_NAME;
use crate::{JobLabel, MAX_TASKS};

/// Of a row that does not say when its job started.
pub(super) const NO_WAIT: u64 = u64::MAX;

/// One job. Small: all of a file are kept.
pub(super) struct Row {
    /// Microseconds since 1970, or since the zero of the table.
    pub(super) submit: u64,
    pub(super) duration: u64,
    /// From submission to start; [`NO_WAIT`]: nobody says.
    pub(super) wait: u64,
    /// 0: none.
    pub(super) limit: u64,
    pub(super) queue: u32,
    pub(super) count: u32,
    /// Tasks that start together, at least; 0: each as it fits.
    pub(super) gang: u32,
    /// Its place among the demands that there are.
    pub(super) demand: u32,
    pub(super) label: JobLabel,
    /// The job of several rows that it is of.
    pub(super) part: Part,
    /// The number of its partitions, from 1; 0: it names none.
    pub(super) partition: u32,
    /// It ran still when the table was made: its duration is what is known of it.
    pub(super) cut: bool,
}

impl Row {
    /// When its run started; its submission where nobody says.
    pub(super) fn start(&self) -> u64 {
        let wait = if self.wait == NO_WAIT { 0 } else { self.wait };
        self.submit.saturating_add(wait)
    }
}

/// Different values, numbered in order of their first use.
pub(super) struct Numbered<T> {
    pub(super) all: Vec<T>,
    numbers: BTreeMap<T, u32>,
    last: u32,
}

impl<T: Clone + Ord> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered { all: Vec::new(), numbers: BTreeMap::new(), last: 0 }
    }

    /// The number of `value`; rows that follow each other are often alike.
    fn of(&mut self, value: &T) -> u32 {
        if self.all.get(self.last as usize) != Some(value) {
            self.last = match self.numbers.get(value) {
                Some(number) => *number,
                None => {
                    let number = self.all.len() as u32;
                    self.all.push(value.clone());
                    self.numbers.insert(value.clone(), number);
                    number
                }
            };
        }
        self.last
    }
}

/// Tenants by what the table calls them.
#[derive(Default)]
pub(super) struct Tenants {
    /// Numbers by what stands in the table; found by the hash, and never read in order.
    numbers: HashTable<(Vec<u8>, u32)>,
    names: BTreeMap<String, u32>,
    /// Names, in order of their first row.
    pub(super) all: Vec<String>,
    last: (Vec<u8>, u32),
    key: Vec<u8>,
    /// How many names had a dot that was replaced.
    pub(super) dotted: u64,
}

/// Makes rows. Cost: one look at each value that the mapping names.
pub(super) struct Rows<'a> {
    mapping: &'a Mapping,
    units: Vec<Unit>,
    pub(super) tenants: Tenants,
    pub(super) demands: Numbered<Resources>,
    /// Partitions as jobs name them, several of one job together.
    pub(super) partitions: Numbered<Vec<String>>,
    /// Jobs that ran still when the table was made.
    cut: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn new(mapping: &'a Mapping, units: Vec<Unit>) -> Rows<'a> {
        let (tenants, demands) = (Tenants::default(), Numbered::new());
        Rows { mapping, units, tenants, demands, partitions: Numbered::new(), cut: 0 }
    }

    /// What `record` is.
    pub(super) fn row(&mut self, record: &Record) -> Result<Row, NoJob> {
        let mapping = self.mapping;
        if let Some((drop, _)) = mapping.drops.iter().find(|(drop, at)| drop.says(record, *at)) {
            return Err(NoJob::LeftOut(drop.why));
        }
        let there = |source: &Option<Source>| {
            source.as_ref().is_none_or(|source| source.find(record).is_some())
        };
        if !there(&mapping.started) {
            return Err(NoJob::LeftOut("jobs that never started"));
        }
        let runs = mapping.runs.filter(|(runs, at)| runs.says(record, *at));
        // One that is ending has an end.
        let runs = runs.filter(|_| !there(&mapping.ended));
        if runs.is_none() && !there(&mapping.ended) {
            return Err(NoJob::LeftOut("jobs without an end"));
        }
        let submit = instant(&mapping.submit, "submit", record, 0);
        let known = submit.as_ref().map_or(0, |submit| submit.unwrap_or(0));
        let duration = match runs {
            Some((runs, _)) => length_so_far(mapping, record)?.ok_or(NoJob::LeftOut(runs.why))?,
            None => length(mapping, record, known)?,
        };
        let submit = submit?.ok_or_else(|| {
            wrong("submit", "it has no time of submission", &mapping.submit.source)
        })?;
        let start = start_of(&mapping.length, submit, record)?;
        let submit = arrival(mapping, submit, start, record)?;
        let wait = start.map_or(NO_WAIT, |start| start.saturating_sub(submit));
        let limit = match &mapping.limit {
            Some(limit) => limit_of(limit, record)?,
            None => 0,
        };
        let whole = |source: &Option<Source>| match source {
            Some(source) => whole_of(source, record),
            None => Ok(1),
        };
        let count = whole(&mapping.count)?;
        if count == 0 {
            return Err(NoJob::LeftOut("jobs of no tasks"));
        }
        let nodes = whole(&mapping.nodes)?.max(1);
        let demand = self.demand(record, count, nodes)?;
        if demand.is_zero() {
            return Err(NoJob::LeftOut("jobs that hold nothing the cluster counts"));
        }
        let gang = match &mapping.gang {
            Some(source) => gang_of(source, count, record)?,
            None => 0,
        };
        let label = match &mapping.name {
            Some(source) => label_of(source, record)?,
            None => JobLabel::Number(record.line),
        };
        let queue = self.tenants.of(mapping, record)?;
        let demand = self.demands.of(&demand);
        let partition = self.partition(record);
        let (part, cut) = (Part::Whole, runs.is_some());
        self.cut += u64::from(cut);
        Ok(Row {
            submit,
            duration,
            wait,
            limit,
            queue,
            count,
            gang,
            demand,
            label,
            part,
            partition,
            cut,
        })
    }

    /// The number of the partitions that a row names, from 1; 0: none.
    fn partition(&mut self, record: &Record) -> u32 {
        let source = self.mapping.partition.as_ref();
        let Some(found) = source.and_then(|source| source.find(record)) else { return 0 };
        let text = String::from_utf8_lossy(found.text);
        let mut names: Vec<String> = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        if names.is_empty() { 0 } else { self.partitions.of(&names) + 1 }
    }

    /// What is said of jobs that ran still when the table was made.
    pub(super) fn cut(&self) -> Option<String> {
        let (jobs, each) = match self.cut {
            0 => return None,
            1 => ("1 job".to_owned(), "it runs as long as it had by then, counts"),
            more => (format!("{more} jobs"), "each runs as long as it had by then, counts"),
        };
        Some(format!(
            "{jobs} ran still when the log ended: {each} as unfinished, and its time is no figure"
        ))
    }

    /// What is said where Slurm could tell of GPUs or memory and no job holds any.
    pub(super) fn held_by_nobody(&self) -> impl Iterator<Item = String> {
        const WORDS: [(&str, &str); 2] = [
            (
                "[gres/gpu]",
                "no job holds a GPU; sacct tells of them where AccountingStorageTRES has gres/gpu",
            ),
            (
                "AllocTRES[mem]",
                "no job holds memory; AllocTRES has none where Slurm does not allocate it \
                 (SelectTypeParameters without Memory). `--map memory=ReqMem:MiB` counts what was \
                 asked for",
            ),
        ];
        WORDS.iter().filter_map(|(list, words)| {
            let held = self.mapping.held.iter().find(|held| held.source.text.contains(list))?;
            let holds_some = |demand: &Resources| demand.get(held.kind) > 0;
            (!self.demands.all.iter().any(holds_some)).then(|| (*words).to_owned())
        })
    }

    /// What each task holds.
    fn demand(&self, record: &Record, count: u32, nodes: u32) -> Result<Resources, NoJob> {
        let mapping = self.mapping;
        let mut demand = Resources::zero(self.units.len());
        if let Some(kind) = mapping.one_of {
            demand.as_mut_slice()[kind] = Unit::Milli.scale();
        }
        let parts = if mapping.per_job { u128::from(count) } else { 1 };
        for held in &mapping.held {
            let Some(found) = held.source.find(record) else { continue };
            let (amount, per) = self.amount(held, &found)?;
            let times = match per {
                Per::Row => 1,
                Per::Node => u128::from(nodes),
                Per::Cpu => self.cpus(record)?,
            };
            let all = u128::from(amount).saturating_mul(times);
            let each = u64::try_from(all.div_ceil(parts)).ok();
            let each = each.filter(|each| *each <= MAX_AMOUNT);
            demand.as_mut_slice()[held.kind] =
                each.ok_or_else(|| unread("amount", Wrong::TooLarge, &held.source, found.text))?;
        }
        Ok(demand)
    }

    fn amount(&self, held: &Held, found: &Found<'_>) -> Result<(u64, Per), NoJob> {
        let unit = held.units.get(found.place).copied();
        let unit = unit.unwrap_or_else(|| AmountUnit::usual(self.units[held.kind]));
        let fail = |why, text: &[u8]| unread("amount", why, &held.source, text);
        let text = match found.text {
            [b'>', text @ ..] if self.mapping.over => text.trim_ascii(),
            text => text,
        };
        let (amount, per) = amounts::amount(text, unit, self.mapping.binary)
            .map_err(|why| fail(why, found.text))?;
        let Some(factor) = found.factor else { return Ok((amount, per)) };
        let times = match is_missing(factor) {
            true => 0,
            false => parse_short(factor).ok_or_else(|| fail(Wrong::Unreadable, factor))?,
        };
        let product = amount.checked_mul(times).filter(|product| *product <= MAX_AMOUNT);
        Ok((product.ok_or_else(|| fail(Wrong::TooLarge, found.text))?, per))
    }

    /// Whole cpus of the row, whether the cluster counts them or not: what a size for each cpu is
    /// multiplied by.
    fn cpus(&self, record: &Record) -> Result<u128, NoJob> {
        let Some(source) = &self.mapping.cpus else { return Ok(1) };
        let Some(found) = source.find(record) else { return Ok(1) };
        let (amount, _) = amounts::amount(found.text, amounts::PIECES, false)
            .map_err(|why| unread("amount", why, source, found.text))?;
        Ok(u128::from(amount.div_ceil(Unit::Milli.scale())).max(1))
    }
}

impl Tenants {
    fn of(&mut self, mapping: &Mapping, record: &Record) -> Result<u32, NoJob> {
        let source = &mapping.tenant;
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let there = source.path(record, |part| {
            if !key.is_empty() {
                key.push(0);
            }
            key.extend_from_slice(part);
        });
        let found = match there {
            false => Err(wrong("tenant", "it has no tenant", source)),
            true if key == self.last.0 && !self.all.is_empty() => Ok(self.last.1),
            true => match self.numbers.find(hash_of(&key), |(known, _)| *known == key) {
                Some((_, number)) => Ok(*number),
                None => self.add(&key, mapping),
            },
        };
        if let Ok(number) = found {
            self.last.0.clone_from(&key);
            self.last.1 = number;
        }
        self.key = key;
        found
    }

    fn add(&mut self, key: &[u8], mapping: &Mapping) -> Result<u32, NoJob> {
        let (source, dots) = (&mapping.tenant, mapping.dots);
        let fail = |why: String| {
            let row = BadRow::field(field("tenant", source), why);
            NoJob::Wrong("its tenant is no name", row)
        };
        let text = std::str::from_utf8(key);
        let text = text.map_err(|_| fail(format!("{} is no text in UTF-8", quote(key))))?;
        let has_dot = text.contains('.');
        let flat = match dots {
            TableDots::Flat if has_dot => text.replace('.', "_"),
            _ => text.to_owned(),
        };
        let account = text.split('\0').next().unwrap_or_default();
        let name = match mapping.accounts.get(account) {
            None => flat.replace('\0', "."),
            Some(path) => {
                let rest = flat.split_once('\0').map(|(_, rest)| rest.replace('\0', "."));
                below(path, rest.as_deref())
            }
        };
        check_name(&name).map_err(fail)?;
        if self.names.contains_key(&name) {
            return Err(fail(format!(
                "{} would have the name of another tenant, {name}; say dots = \"path\"",
                quote(key)
            )));
        }
        self.dotted += u64::from(has_dot && dots == TableDots::Flat);
        let number = self.all.len() as u32;
        self.all.push(name.clone());
        self.names.insert(name, number);
        let row = (key.to_vec(), number);
        self.numbers.insert_unique(hash_of(key), row, |(known, _)| hash_of(known));
        Ok(number)
    }
}

fn hash_of(key: &[u8]) -> u64 {
    FixedState::default().hash_one(key)
}

/// How a column is called in messages.
fn field(key: &str, source: &Source) -> String {
    let text = meed_config::text::clean(&source.text).into_owned();
    if text == key { format!("`{text}`") } else { format!("`{text}` ({key})") }
}

fn wrong(key: &str, why: &'static str, source: &Source) -> NoJob {
    NoJob::Wrong(why, BadRow::field(field(key, source), why.to_owned()))
}

/// The reasons of values that cannot be read, by what the value is for.
const UNREAD: [(&str, &str, &str, &str); 9] = [
    // key, unreadable or too large, negative, what is wanted
    ("submit", "its submission is no time", "its submission is before 1970", TIME),
    (
        "eligible",
        "the time since which it could start cannot be used",
        "the time since which it could start is before 1970",
        TIME,
    ),
    ("start", "its start is no time", "its start is before 1970", TIME),
    ("end", "its end is no time", "its end is before 1970", TIME),
    ("duration", "its duration cannot be used", "its duration is negative", SPAN),
    (
        "suspended",
        "the time in which it was suspended cannot be used",
        "the time in which it was suspended is negative",
        SPAN,
    ),
    ("limit", "its time limit cannot be used", "its time limit is negative", SPAN),
    (
        "amount",
        "an amount cannot be used",
        "an amount is negative",
        "a number, with a unit or without",
    ),
    (
        "count",
        "a count cannot be used",
        "a count is negative",
        "a whole number of at most 16777216",
    ),
];
const TIME: &str = "a number, or a date as 2026-01-31T23:59:59";
const OTHER_UNIT: &str = "a time has another unit than those of the other rows";
const SPAN: &str = "a number, 1-02:03:04, 02:03:04 or 90min";

#[cold]
fn unread(key: &'static str, why: Wrong, source: &Source, value: &[u8]) -> NoJob {
    let known = UNREAD.iter().find(|(known, ..)| *known == key);
    let (_, unreadable, negative, wanted) = known.unwrap_or(&UNREAD[7]);
    let (reason, what) = match why {
        Wrong::Unreadable => (unreadable, "cannot be read"),
        Wrong::TooLarge => (unreadable, "is too large"),
        Wrong::Negative => (negative, "is below zero"),
        Wrong::MixedDate => (unreadable, "is a date among numbers that do not count from 1970"),
        Wrong::OtherUnit => (&OTHER_UNIT, "is in another unit than the other rows"),
    };
    let comma = match matches!(why, Wrong::Unreadable) && has_decimal_comma(value) {
        true => " (--set trace.decimal=comma reads a comma as the decimal point)",
        false => "",
    };
    let what = format!("{} {what}; wanted is {wanted}{comma}", quote(value));
    NoJob::Wrong(reason, BadRow::field(field(key, source), what))
}

/// Whether this is a number as much of Europe writes it, `3,32`.
fn has_decimal_comma(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b',');
    let is_number = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// A time of a row, which is not before `least` where it may be one of two.
#[inline]
fn instant(
    timed: &Timed,
    key: &'static str,
    record: &Record,
    least: u64,
) -> Result<Option<u64>, NoJob> {
    let Some(found) = timed.source.find(record) else { return Ok(None) };
    match timed.times.read_after(found.text, least) {
        Ok(micros) => Ok(Some(micros)),
        Err(why) => Err(no_instant(timed, key, found.text, why)),
    }
}

#[cold]
fn no_instant(timed: &Timed, key: &'static str, text: &[u8], why: Wrong) -> NoJob {
    match why {
        Wrong::OtherUnit => other_unit(key, timed, text),
        Wrong::Unreadable => match timed.times.order.hint(text) {
            Some(hint) => {
                let (_, reason, ..) = UNREAD[0];
                let what = format!("{} is no date of ISO 8601; {hint}", quote(text));
                NoJob::Wrong(reason, BadRow::field(field(key, &timed.source), what))
            }
            None => unread(key, why, &timed.source, text),
        },
        _ => unread(key, why, &timed.source, text),
    }
}

fn other_unit(key: &str, timed: &Timed, value: &[u8]) -> NoJob {
    let what = format!(
        "{} does not fit the other rows, which are in {}",
        quote(value),
        timed.times.words()
    );
    NoJob::Wrong(OTHER_UNIT, BadRow::field(field(key, &timed.source), what))
}

fn length(mapping: &Mapping, record: &Record, submit: u64) -> Result<u64, NoJob> {
    let (start, end) = match &mapping.length {
        Length::Said(said) => {
            let said = lasting(said, "duration", record)?;
            return said.ok_or(NoJob::LeftOut("jobs without a duration"));
        }
        Length::Between(start, end) => (start, end),
        Length::Either(said, start, end) => match lasting(said, "duration", record)? {
            Some(micros) => return Ok(micros),
            None => (start, end),
        },
    };
    let from = instant(start, "start", record, submit)?;
    let from = from.ok_or(NoJob::LeftOut("jobs that never started"))?;
    let to = instant(end, "end", record, from)?;
    let to = to.ok_or(NoJob::LeftOut("jobs without an end"))?;
    let between = to.checked_sub(from);
    let between = between.ok_or_else(|| wrong("end", "it ends before it starts", &end.source))?;
    let Some(suspended) = &mapping.suspended else { return Ok(between) };
    let Some(time) = lasting(suspended, "suspended", record)? else { return Ok(between) };
    let why = "it was suspended for longer than from its start to its end";
    between.checked_sub(time).ok_or_else(|| wrong("suspended", why, &suspended.source))
}

/// How long a job has run that runs still, where a row says it.
fn length_so_far(mapping: &Mapping, record: &Record) -> Result<Option<u64>, NoJob> {
    let said = mapping.length.said();
    said.map_or(Ok(None), |said| lasting(said, "duration", record))
}

/// What a row says of a duration, if it does.
#[inline]
fn lasting(said: &Lasting, key: &'static str, record: &Record) -> Result<Option<u64>, NoJob> {
    let Some(found) = said.source.find(record) else { return Ok(None) };
    let micros = duration(found.text, said.units[found.place]);
    match micros {
        Ok(micros) => Ok(Some(micros)),
        Err(why) => Err(unread(key, why, &said.source, found.text)),
    }
}

/// When its run started, where a row says that.
#[inline]
fn start_of(length: &Length, submit: u64, record: &Record) -> Result<Option<u64>, NoJob> {
    match length {
        Length::Said(_) => Ok(None),
        Length::Between(start, _) | Length::Either(_, start, _) => {
            instant(start, "start", record, submit)
        }
    }
}

/// When a job comes to the scheduler: at its submission, or when it could first start, if that is
/// later. What is later than the start of its run says nothing of a wait, and counts as the start.
#[inline]
fn arrival(
    mapping: &Mapping,
    submit: u64,
    start: Option<u64>,
    record: &Record,
) -> Result<u64, NoJob> {
    // 0 is no time there, as of LSF.
    let eligible = mapping.eligible.as_ref().filter(|eligible| !eligible.source.is_zero(record));
    let Some(eligible) = eligible else { return Ok(submit) };
    let Some(eligible) = instant(eligible, "eligible", record, submit)? else { return Ok(submit) };
    Ok(submit.max(eligible.min(start.unwrap_or(u64::MAX))))
}

/// Words for a job without a time limit.
const UNLIMITED: [&str; 6] =
    ["UNLIMITED", "Partition_Limit", "INFINITE", "INFINITY", "NOT_SET", "-1"];

fn limit_of(limit: &Lasting, record: &Record) -> Result<u64, NoJob> {
    let Some(found) = limit.source.find(record) else { return Ok(0) };
    if UNLIMITED.iter().any(|word| found.text.eq_ignore_ascii_case(word.as_bytes())) {
        return Ok(0);
    }
    match duration(found.text, limit.units[found.place]) {
        Ok(micros) => Ok(micros.min(MAX_MICROS)),
        Err(Wrong::TooLarge) => Ok(0),
        Err(why) => Err(unread("limit", why, &limit.source, found.text)),
    }
}

/// A whole number of tasks or nodes; 1 where nothing is said.
fn whole_of(source: &Source, record: &Record) -> Result<u32, NoJob> {
    let Some(found) = source.find(record) else { return Ok(1) };
    let number = parse_scaled(found.text, 1, u64::from(MAX_TASKS), Rounding::Exact);
    let number = number.map_err(|why| unread("count", why.into(), source, found.text))?;
    let times = match found.factor {
        None => Some(1),
        Some(factor) if is_missing(factor) => Some(0),
        Some(factor) => parse_short(factor),
    };
    let product = times.and_then(|times| number.checked_mul(times));
    let product = product.filter(|product| *product <= u64::from(MAX_TASKS));
    let factor = found.factor.unwrap_or(found.text);
    let product = product.ok_or_else(|| unread("count", Wrong::TooLarge, source, factor))?;
    Ok(u32::try_from(product).unwrap_or(MAX_TASKS))
}

/// How many start together at least: `true` is all, a number so many.
fn gang_of(source: &Source, count: u32, record: &Record) -> Result<u32, NoJob> {
    let Some(found) = source.find(record) else { return Ok(0) };
    let is =
        |words: &[&str]| words.iter().any(|word| found.text.eq_ignore_ascii_case(word.as_bytes()));
    if is(&["true", "yes", "all"]) {
        return Ok(count);
    }
    if is(&["false", "no"]) {
        return Ok(0);
    }
    let number = parse_short(found.text).and_then(|number| u32::try_from(number).ok());
    number.filter(|number| *number <= count).ok_or_else(|| {
        let what = format!(
            "{} is no gang of {count} tasks; wanted is true, false or a number of tasks",
            quote(found.text)
        );
        NoJob::Wrong("its gang is none", BadRow::field(field("gang", source), what))
    })
}

fn label_of(source: &Source, record: &Record) -> Result<JobLabel, NoJob> {
    let mut text = Vec::new();
    let there = source.path(record, |part| {
        if !text.is_empty() {
            text.push(b'/');
        }
        text.extend_from_slice(part);
    });
    if !there {
        return Ok(JobLabel::Number(record.line));
    }
    match parse_short(&text) {
        Some(number) if text[0] != b'0' || text.len() == 1 => Ok(JobLabel::Number(number)),
        _ => {
            let fail = || {
                let what = format!(
                    "{} is no name; wanted are 1 to {MAX_NAME} bytes of text",
                    quote(&text)
                );
                NoJob::Wrong("its name is none", BadRow::field(field("name", source), what))
            };
            if text.len() > MAX_NAME {
                return Err(fail());
            }
            std::str::from_utf8(&text).map(|name| JobLabel::Name(name.into())).map_err(|_| fail())
        }
    }
}
