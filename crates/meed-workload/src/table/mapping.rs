//! What of a table is what: settings, known tables and guesses, put together once the columns and
//! the first rows are known.
//!
//! What is given comes first, then what a known table has, then a guess by name; `-` says that
//! there is none. Everything that was not said is told ([`Mapping::words`]).

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use meed::{ResourceKinds, Unit};
use meed_config::nodes::unit_of;
use meed_config::words::{quote, suggest};

use super::amounts::AmountUnit;
use super::assumptions::{KnownTable, TableAmounts, TableAssumptions, TableDots, TableSizes};
use super::expression::Source;
use super::guess::{self, RESOURCES, ROLES, Role, Units};
use super::presets::{Drop, Preset};
use super::record::Record;
use super::times::{self, SECONDS, TimeUnit, Times};

/// How a value came to be the value of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    Given,
    Known,
    Guessed,
}

/// A time in a record.
pub(super) struct Timed {
    pub(super) source: Source,
    pub(super) times: Times,
}

/// A duration in a record, and the unit of its numbers, for each alternative.
pub(super) struct Lasting {
    pub(super) source: Source,
    pub(super) units: Vec<TimeUnit>,
}

/// How long a job runs.
pub(super) enum Length {
    Said(Lasting),
    /// From start to end.
    Between(Timed, Timed),
    /// What is said; from start to end where nothing is.
    Either(Lasting, Timed, Timed),
}

impl Length {
    fn times(&self) -> impl Iterator<Item = &Timed> {
        let times = match self {
            Length::Said(_) => None,
            Length::Between(start, end) | Length::Either(_, start, end) => Some([start, end]),
        };
        times.into_iter().flatten()
    }

    /// The column of the duration, if there is one.
    pub(super) fn said(&self) -> Option<&Lasting> {
        match self {
            Length::Said(said) | Length::Either(said, ..) => Some(said),
            Length::Between(..) => None,
        }
    }
}

/// How much a task, or a job, holds of a resource.
pub(super) struct Held {
    pub(super) kind: usize,
    pub(super) source: Source,
    pub(super) units: Vec<AmountUnit>,
}

/// All of it.
pub(super) struct Mapping {
    pub(super) tenant: Source,
    pub(super) submit: Timed,
    /// When it could first start, if that is later than its submission.
    pub(super) eligible: Option<Timed>,
    pub(super) length: Length,
    /// The part of the time from start to end in which the job was suspended.
    pub(super) suspended: Option<Lasting>,
    /// Where it is known: jobs without it never started.
    pub(super) started: Option<Source>,
    /// Where it is known: jobs without it have not ended.
    pub(super) ended: Option<Source>,
    pub(super) limit: Option<Lasting>,
    pub(super) name: Option<Source>,
    pub(super) count: Option<Source>,
    pub(super) nodes: Option<Source>,
    pub(super) gang: Option<Source>,
    /// Whose nodes it may run on, where that is asked for.
    pub(super) partition: Option<Source>,
    pub(super) held: Vec<Held>,
    /// How many cpus the whole row has, where a column says so.
    pub(super) cpus: Option<Source>,
    /// Where nothing says what tasks hold: one of this.
    pub(super) one_of: Option<usize>,
    pub(super) drops: Vec<(&'static Drop, usize)>,
    /// What says that a job ran still when the table was made.
    pub(super) runs: Option<(&'static Drop, usize)>,
    pub(super) binary: bool,
    pub(super) per_job: bool,
    /// `>24` is 24.
    pub(super) over: bool,
    pub(super) dots: TableDots,
    /// What the first part of a tenant's path is called.
    pub(super) accounts: BTreeMap<String, String>,
    /// Whether rows can be parts of one job, as Slurm's can.
    pub(super) is_slurm: bool,
    /// Columns of numbers and times.
    pub(super) numbers: BTreeSet<usize>,
    /// What messages call the table.
    pub(super) title: &'static str,
    /// What was found, guessed and passed over.
    pub(super) words: Vec<String>,
}

/// The key of cpus.
const CPU: &str = "cpu";

/// Puts a mapping together.
struct Maker<'a> {
    names: &'a [String],
    sample: Vec<&'a Record>,
    options: &'a TableAssumptions,
    preset: Option<&'static Preset>,
    zone: TimeZone,
    used: BTreeSet<usize>,
    words: Vec<String>,
}

/// Resources that the table has columns for, where no cluster names any.
pub(super) fn resources(names: &[String], options: &TableAssumptions) -> Vec<(String, Unit)> {
    let said = |key: &&String| Role::of_key(key).is_none() && options.map[*key] != "-";
    let mut found: Vec<(String, Unit)> =
        options.map.keys().filter(said).map(|key| (key.clone(), unit_of(key))).collect();
    let preset = options.preset();
    for (name, unit, known) in RESOURCES {
        let in_preset = preset.and_then(|preset| of_preset(preset, name));
        let there = match in_preset {
            Some(text) => Source::read(text, names).is_ok(),
            None if preset.is_some() => false,
            None => guess::column(names, known, Units::Amount(unit), &[]).is_some(),
        };
        if there && !options.map.contains_key(name) {
            found.push((name.to_owned(), unit));
        }
    }
    let place = |name: &str| RESOURCES.iter().position(|(known, ..)| *known == name);
    found.sort_by_key(|(name, _)| place(name).unwrap_or(RESOURCES.len()));
    // The first is what fairness is measured in where nobody says: of memory and GPUs, GPUs.
    let gpu = found.iter().position(|(name, _)| name == "gpu");
    if let (Some((_, Unit::Bytes)), Some(gpu)) = (found.first(), gpu) {
        found[..=gpu].rotate_right(1);
    }
    found
}

fn of_preset(preset: &'static Preset, key: &str) -> Option<&'static str> {
    preset.map.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

/// The mapping of a table with these columns and first rows; what is wrong with it, as a sentence.
pub(super) fn make(
    names: &[String],
    sample: Vec<&Record>,
    kinds: &ResourceKinds,
    options: &TableAssumptions,
) -> Result<Mapping, String> {
    let zone = match &options.time_zone {
        None => TimeZone::UTC,
        Some(name) => times::zone(name).ok_or_else(|| {
            format!(
                "time_zone: {} is not known; write UTC, an offset as +02:00, or a name as \
                 Europe/Berlin",
                quote(name.as_bytes())
            )
        })?,
    };
    let preset = options.preset();
    let (used, words) = (BTreeSet::new(), Vec::new());
    let maker = Maker { names, sample, options, preset, zone, used, words };
    maker.check_keys(kinds)?;
    maker.mapping(kinds)
}

impl Maker<'_> {
    /// Every key that is given means something.
    fn check_keys(&self, kinds: &ResourceKinds) -> Result<(), String> {
        let known = || ROLES.iter().map(|(_, key, _)| *key).chain(kinds.names());
        for key in self.options.map.keys() {
            if !known().any(|known| known == key) {
                let hint = suggest(key, known());
                return Err(format!(
                    "map.{key}: no part of a job and no resource of the cluster is called so; \
                     {hint}"
                ));
            }
        }
        Ok(())
    }

    fn mapping(mut self, kinds: &ResourceKinds) -> Result<Mapping, String> {
        let preset = self.preset;
        let tenant = self.needed(Role::Tenant)?;
        let (submit, duration) = (self.found(Role::Submit)?, self.found(Role::Duration)?);
        // Where the length is known in another way, start and end serve nothing, but that a known
        // table says by them what never ran.
        let between = duration.is_none() || preset.is_some();
        let start = if between || submit.is_none() { self.found(Role::Start)? } else { None };
        let end = if between { self.found(Role::End)? } else { None };
        let known = |source: &Option<Source>| source.clone().filter(|_| preset.is_some());
        let (started, ended) = (known(&start), known(&end));
        let submit = match (submit, &start) {
            (Some(submit), _) => submit,
            (None, Some(start)) => {
                self.words.push(
                    "jobs come when they started: no column says when they were \
                    submitted, so nothing is known of their waits"
                        .to_owned(),
                );
                start.clone()
            }
            (None, None) => return Err(self.lacking(Role::Submit)),
        };
        let submit = self.timed(submit, Role::Submit)?;
        let eligible = match self.found(Role::Eligible)? {
            // 0 is no time there, as of LSF.
            Some(source) if self.sample.iter().all(|record| source.is_zero(record)) => {
                self.tell(Role::Eligible.key(), &source, self.why(Role::Eligible.key()), "");
                let times = Times { unit: SECONDS, ..submit.times.clone() };
                Some(Timed { source, times })
            }
            Some(source) => Some(self.timed(source, Role::Eligible)?),
            None => None,
        };
        if let Some(eligible) = &eligible {
            same_zero("eligible", &eligible.times, &submit.times)?;
            self.words.push(
                "a job comes when it was submitted, or when it could first start if that is later"
                    .to_owned(),
            );
        }
        let length = self.length(duration, start, end, &submit)?;
        let suspended = self.suspended(&length)?;
        let limit = match self.found(Role::Limit)? {
            Some(source) => Some(self.lasting(source, Role::Limit)?),
            None => None,
        };
        let [name, count, nodes, gang] =
            [Role::Name, Role::Count, Role::Nodes, Role::Gang].map(|role| self.found(role));
        let (name, count, nodes, gang) = (name?, count?, nodes?, gang?);
        let partition = match self.options.names_partitions() {
            true => self.found(Role::Partition)?,
            false => None,
        };
        let held = self.all_held(kinds)?;
        let one_of = self.one_of(&held, kinds)?;
        let binary = self.options.sizes.map_or_else(
            || preset.is_some_and(|preset| preset.binary),
            |sizes| sizes == TableSizes::Binary,
        );
        let per_job = self.options.amounts.map_or_else(
            || preset.is_some_and(|preset| preset.per_job),
            |amounts| amounts == TableAmounts::PerJob,
        );
        let cpus = match self.options.map.get(CPU).map(String::as_str) {
            Some("-") => None,
            Some(given) => Some(given),
            None => preset.and_then(|preset| of_preset(preset, CPU)),
        };
        let cpus = cpus.and_then(|text| Source::read(text, self.names).ok());
        let counted = |held: &&Held| kinds.name(held.kind) == CPU;
        let cpus = cpus.or_else(|| held.iter().find(counted).map(|held| held.source.clone()));
        let drops = preset.map_or(&[][..], |preset| preset.drops).iter();
        let runs = preset.and_then(|preset| preset.runs.as_ref());
        let mut placed = |drop: &'static Drop| {
            let column = self.names.iter().position(|name| name == drop.column)?;
            self.used.insert(column);
            Some((drop, column))
        };
        let drops = drops.filter_map(&mut placed).collect();
        let runs = runs.and_then(&mut placed);
        self.rest(&submit.times, per_job && count.is_some());
        let dots = self.options.dots;
        let title = preset.map_or("table", |preset| preset.title);
        let plain = [&count, &nodes, &gang];
        let plain = plain.into_iter().flatten().chain(held.iter().map(|held| &held.source));
        let timed = [Some(&submit), eligible.as_ref()].into_iter().flatten();
        let timed = timed.chain(length.times()).map(|timed| &timed.source);
        let lasting = limit.iter().chain(length.said()).chain(&suspended);
        let lasting = lasting.map(|lasting| &lasting.source);
        let numbers = plain.chain(timed).chain(lasting).flat_map(Source::columns).collect();
        let words = self.words;
        Ok(Mapping {
            tenant,
            submit,
            eligible,
            length,
            suspended,
            started,
            ended,
            limit,
            name,
            count,
            nodes,
            gang,
            partition,
            held,
            cpus,
            one_of,
            drops,
            runs,
            binary,
            per_job,
            over: preset.is_some_and(|preset| preset.over),
            dots,
            accounts: self.options.accounts.clone(),
            is_slurm: self.options.known == Some(KnownTable::Slurm),
            numbers,
            title,
            words,
        })
    }

    /// What is said at the end: times without a zone, columns that are not used.
    fn rest(&mut self, times: &Times, shared: bool) {
        if shared {
            self.words.push("amounts are those of a whole job: each task holds its part".into());
        }
        if times.since_1970 && self.options.time_zone.is_none() {
            self.words.push("dates without a zone are in UTC (time_zone says another)".to_owned());
        }
        if let Some(name) = &self.options.time_zone {
            self.words.push(format!("dates without a zone are in {name}"));
        }
        let unused = |column: &usize| !self.used.contains(column);
        let unused: Vec<String> = (0..self.names.len())
            .filter(unused)
            .filter(|column| !self.names[*column].is_empty())
            .map(|column| format!("`{}`", self.names[column]))
            .collect();
        const SHOWN: usize = 30;
        if !unused.is_empty() {
            let more = match unused.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let shown = &unused[..unused.len().min(SHOWN)];
            self.words.push(format!("columns that are not used: {}{more}", shown.join(", ")));
        }
        let preset = self.preset.map_or(&[][..], |preset| preset.words);
        self.words.extend(preset.iter().map(|words| (*words).to_owned()));
    }

    /// The value of a key: given, known or guessed.
    fn look(
        &mut self,
        key: &str,
        known: &[&str],
        units: Units,
    ) -> Result<Option<(Source, Why, Option<String>)>, String> {
        let options = self.options;
        let said = (options.map.get(key), options.usual.get(key), self.preset);
        let (source, why, unit) = match said {
            (Some(text), ..) if text == "-" => return Ok(None),
            (Some(text), ..) => {
                let wrong = |why: String| format!("map.{key}: {why}");
                let source = Source::read(text, self.names).map_err(wrong)?;
                source.check(key, self.names).map_err(wrong)?;
                (source, Why::Given, None)
            }
            (None, Some(text), _) => {
                let source = Source::read(text, self.names);
                (source.map_err(|why| format!("{key}: {why}"))?, Why::Known, None)
            }
            (None, None, Some(preset)) => {
                let text = of_preset(preset, key);
                let source = text.and_then(|text| Source::read(text, self.names).ok());
                let Some(source) = source else { return Ok(None) };
                (source, Why::Known, None)
            }
            (None, None, None) => {
                let taken: Vec<usize> = self.used.iter().copied().collect();
                let found = guess::column(self.names, known, units, &taken);
                let Some((column, unit)) = found else { return Ok(None) };
                (Source::column(column, self.names), Why::Guessed, unit)
            }
        };
        self.used.extend(source.columns());
        Ok(Some((source, why, unit)))
    }

    fn found(&mut self, role: Role) -> Result<Option<Source>, String> {
        let known = ROLES.iter().find(|(known, ..)| *known == role).map_or(&[][..], |row| row.2);
        // Where one of a table's ways to a length is given, the others are not guessed.
        let given = |role: Role| self.options.map.contains_key(role.key());
        if role == Role::Duration && !given(role) && given(Role::End) {
            return Ok(None);
        }
        let Some((mut source, why, unit)) = self.look(role.key(), known, role.units())? else {
            return Ok(None);
        };
        if let Some(unit) = unit {
            source.say(&unit);
        }
        if role.units() == Units::None {
            self.tell(role.key(), &source, why, "");
        }
        Ok(Some(source))
    }

    fn needed(&mut self, role: Role) -> Result<Source, String> {
        match self.found(role)? {
            Some(source) => Ok(source),
            None => Err(self.lacking(role)),
        }
    }

    /// The message about a key without which nothing can be read.
    fn lacking(&self, role: Role) -> String {
        const SHOWN: usize = 20;
        let names: Vec<&str> = self.names.iter().take(SHOWN).map(String::as_str).collect();
        let more = if self.names.len() > SHOWN { ", ..." } else { "" };
        let key = role.key();
        let way = match role {
            Role::Tenant => " (or --map tenant==all, which puts all jobs in one queue)",
            Role::Duration => " (or start and end)",
            _ => "",
        };
        let recipe = match self.options.known {
            Some(KnownTable::Slurm) => format!("; {}", super::presets::SLURM_RECIPE),
            _ => String::new(),
        };
        format!(
            "no column is known to be the {key}; the columns are {}{more}; say which it is with \
             --map {key}=COLUMN, or map.{key} in [trace]{way}{recipe}",
            names.join(", ")
        )
    }

    fn tell(&mut self, key: &str, source: &Source, why: Why, unit: &str) {
        let how = match why {
            Why::Given | Why::Known => "",
            Why::Guessed => super::GUESSED,
        };
        let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
        self.words.push(format!("{key} is `{}`{unit}{how}", source.text));
    }

    fn why(&self, key: &str) -> Why {
        match (self.options.map.contains_key(key), self.preset) {
            (true, _) => Why::Given,
            (_, Some(_)) => Why::Known,
            _ => Why::Guessed,
        }
    }

    fn time_unit(&self, word: &str, key: &str) -> Result<TimeUnit, String> {
        TimeUnit::named(word).ok_or_else(|| {
            let hint = suggest(word, TimeUnit::words());
            format!("map.{key}: {} is no unit of time; {hint}", quote(word.as_bytes()))
        })
    }

    fn timed(&mut self, source: Source, role: Role) -> Result<Timed, String> {
        let key = role.key();
        let said = source.units().into_iter().flatten().next();
        let said = said.map(|word| self.time_unit(word, key)).transpose()?;
        let times = {
            let values = self.sample.iter().filter_map(|record| Some(source.find(record)?.text));
            let values: Vec<_> = values.map(|text| self.options.decimal.point(text)).collect();
            let values = values.iter().map(|text| &**text);
            Times::of_sample(values, said, &self.zone, self.options.dates)
        };
        let first = self.sample.iter().find_map(|record| Some(source.find(record)?.text));
        let unit = match first {
            Some(text) if self.options.dates.is_date(text) => "dates".to_owned(),
            _ => times.words(),
        };
        let why = self.why(key);
        self.tell(key, &source, why, &unit);
        Ok(Timed { source, times })
    }

    fn lasting(&mut self, source: Source, role: Role) -> Result<Lasting, String> {
        let key = role.key();
        let unit = |word: Option<&str>| match word {
            Some(word) => self.time_unit(word, key),
            None => Ok(SECONDS),
        };
        let units = source.units().into_iter().map(unit).collect::<Result<Vec<_>, _>>()?;
        let why = self.why(key);
        let unit = units.first().map_or("", |unit| unit.name);
        self.tell(key, &source, why, unit);
        Ok(Lasting { source, units })
    }

    fn length(
        &mut self,
        duration: Option<Source>,
        start: Option<Source>,
        end: Option<Source>,
        submit: &Timed,
    ) -> Result<Length, String> {
        let said = match duration {
            Some(source) => Some(self.lasting(source, Role::Duration)?),
            None => None,
        };
        let falls_back = self.preset.is_some_and(|preset| preset.falls_back);
        let (start, end) = match (said, start, end) {
            (Some(said), Some(start), Some(end)) if falls_back && self.knows(Role::Duration) => {
                let (start, end) = self.between(start, end, submit)?;
                return Ok(Length::Either(said, start, end));
            }
            (Some(said), ..) => return Ok(Length::Said(said)),
            (None, Some(start), Some(end)) => (start, end),
            (None, ..) => return Err(self.lacking(Role::Duration)),
        };
        let (start, end) = self.between(start, end, submit)?;
        Ok(Length::Between(start, end))
    }

    /// The time in which a job was suspended, where start and end tell how long it ran.
    fn suspended(&mut self, length: &Length) -> Result<Option<Lasting>, String> {
        if length.times().next().is_none() {
            if self.options.map.contains_key(Role::Suspended.key()) {
                let words = "suspended is not used: the duration is said, not the end";
                self.words.push(words.to_owned());
            }
            return Ok(None);
        }
        let source = self.found(Role::Suspended)?;
        source.map(|source| self.lasting(source, Role::Suspended)).transpose()
    }

    /// Whether the value of a role is that of a known table: neither given nor guessed.
    fn knows(&self, role: Role) -> bool {
        self.preset.is_some() && !self.options.map.contains_key(role.key())
    }

    fn between(
        &mut self,
        start: Source,
        end: Source,
        submit: &Timed,
    ) -> Result<(Timed, Timed), String> {
        let (start, end) = (self.timed(start, Role::Start)?, self.timed(end, Role::End)?);
        same_zero("start", &start.times, &submit.times)?;
        same_zero("end", &end.times, &submit.times)?;
        Ok((start, end))
    }

    fn all_held(&mut self, kinds: &ResourceKinds) -> Result<Vec<Held>, String> {
        let mut all = Vec::new();
        for (kind, name) in kinds.names().enumerate() {
            let unit = kinds.unit(kind);
            if let Some(held) = self.held(kind, name, unit)? {
                all.push(held);
            }
        }
        let absent = resources(self.names, self.options);
        let absent: Vec<&str> = absent
            .iter()
            .filter(|(name, _)| {
                let counted = |held: &Held| {
                    guess::resource_of(kinds.name(held.kind)).is_some_and(|(of, ..)| of == name)
                        || kinds.name(held.kind) == name
                };
                !all.iter().any(counted)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if !absent.is_empty() {
            self.words.push(format!(
                "{} is in the table, and not counted: the cluster has none of it",
                absent.join(", ")
            ));
        }
        Ok(all)
    }

    fn held(&mut self, kind: usize, name: &str, unit: Unit) -> Result<Option<Held>, String> {
        let family = guess::resource_of(name).filter(|(_, of, _)| *of == unit);
        let own = [guess::words_of(name)];
        let own = [own[0].as_str()];
        let known = family.map_or(&own[..], |(_, _, names)| names);
        let key = match family {
            Some((family, ..)) if !self.options.map.contains_key(name) => family,
            _ => name,
        };
        let Some((mut source, why, guessed)) = self.look(key, known, Units::Amount(unit))? else {
            return Ok(None);
        };
        if let Some(word) = guessed {
            source.say(&word);
        }
        let one = |word: Option<&str>| {
            let Some(word) = word else { return Ok(AmountUnit::usual(unit)) };
            AmountUnit::named(word).filter(|found| found.suits(unit)).ok_or_else(|| {
                let hint = suggest(word, AmountUnit::words(unit == Unit::Bytes));
                format!("map.{name}: {} is no unit of it; {hint}", quote(word.as_bytes()))
            })
        };
        let units = source.units().into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let word = units.first().map_or("", |unit| unit.name);
        self.tell(name, &source, why, word);
        Ok(Some(Held { kind, source, units }))
    }

    /// What a task holds where no column says it: one of the first resource that is no size.
    fn one_of(&mut self, held: &[Held], kinds: &ResourceKinds) -> Result<Option<usize>, String> {
        if !held.is_empty() {
            return Ok(None);
        }
        let first = (0..kinds.len()).find(|kind| kinds.unit(*kind) == Unit::Milli);
        let first =
            first.ok_or("no column says what jobs hold; say it with --map RESOURCE=COLUMN")?;
        self.words
            .push(format!("each task holds 1 {}: no column says what it holds", kinds.name(first)));
        Ok(Some(first))
    }
}

/// Whether a time counts from the same zero as the submission.
fn same_zero(key: &str, times: &Times, submit: &Times) -> Result<(), String> {
    match times.since_1970 == submit.since_1970 {
        true => Ok(()),
        false => Err(format!(
            "submit and {key} do not count from the same zero; say their units, as in --map \
             {key}=COLUMN:ms"
        )),
    }
}

/// Whether the columns of a table are known well enough to take it for one of jobs.
pub(super) fn is_likely(names: &[String]) -> bool {
    let has = |wanted: Role| {
        ROLES.iter().find(|(role, ..)| *role == wanted).is_some_and(|(role, _, known)| {
            guess::column(names, known, role.units(), &[]).is_some()
        })
    };
    let length = has(Role::Duration) || (has(Role::Start) && has(Role::End));
    length && (has(Role::Submit) || has(Role::Start))
}
