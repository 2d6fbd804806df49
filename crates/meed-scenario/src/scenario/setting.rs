//! Changes to a scenario before it is read: keys and their values.
//!
//! A key is a path of names and, within lists, numbers from 0: `policy.quantum`,
//! `cluster.node.0.count`, `queue.2.weight`. A queue may be named as well: `queue.ads.weight`,
//! `queue."a.b".weight` ([`super::set`]). Whoever knows what is to change makes the change here, by
//! its meaning ([`Setting::load`]); `--set KEY=VALUE` is one such caller ([`Setting::parse`]).
//! Whether a key means anything is checked when the scenario is read.

use std::path::Path;
use std::str::FromStr;

use meed_config::TextError as ScenarioError;
use meed_config::policy::PolicySpec;
use meed_workload::format::TraceFormat;
use toml_edit::{Array, InlineTable, Key, Value};

/// A part of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) text: String,
    /// A name, though it may look like a number.
    pub(super) quoted: bool,
}

/// A change to a scenario before it is read.
///
/// ```
/// use meed_scenario::Setting;
///
/// let typed = Setting::load(1.5);
/// assert_eq!(typed.words(), "run.load=1.5");
/// assert_eq!(typed, Setting::parse("run.load=1.5")?);
/// assert!(Setting::parse("run.load").is_err());
/// # Ok::<(), meed_scenario::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Setting {
    key: Vec<Part>,
    value: Value,
    /// As `--set` would say it.
    words: String,
}

impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        self.words == other.words
    }
}

impl FromStr for Setting {
    type Err = ScenarioError;

    fn from_str(words: &str) -> Result<Setting, ScenarioError> {
        Setting::parse(words)
    }
}

impl Setting {
    /// What `--set KEY=VALUE` says. A value is TOML, or plain text where it is not.
    pub fn parse(words: &str) -> Result<Setting, ScenarioError> {
        let wrong = || of_set(words, "is not of the form key=value".to_owned());
        let (key, value) = Setting::split(words).ok_or_else(wrong)?;
        Ok(Setting { words: words.to_owned(), ..Setting::of_text(key, value) })
    }

    /// What each of `--set` says.
    pub fn parse_all(words: &[String]) -> Result<Vec<Setting>, ScenarioError> {
        words.iter().map(|words| Setting::parse(words)).collect()
    }

    /// `key` with the value that somebody has written.
    pub fn of_text(key: &str, value: &str) -> Setting {
        let words = format!("{key}={value}");
        let value = value.trim();
        let value = value.parse::<Value>().unwrap_or_else(|_| Value::from(value));
        Setting { key: parts(key.trim()), value, words }
    }

    /// The parts of `KEY=VALUE`: at the first `=` that stands in no quoted name.
    pub fn split(words: &str) -> Option<(&str, &str)> {
        // A quote opens where a name begins; within it, in TOML, a backslash takes the next letter.
        let (mut quote, mut escaped, mut begins) = (None, false, true);
        let at = words.find(|letter: char| {
            match (quote, letter) {
                _ if escaped => escaped = false,
                (Some('"'), '\\') => escaped = true,
                (Some(open), _) if open == letter => quote = None,
                (None, '"' | '\'') if begins => quote = Some(letter),
                (None, '=') => return true,
                _ => {}
            }
            begins = letter == '.' || begins && letter.is_whitespace();
            false
        });
        // A quote that nobody closes is a letter.
        at.map(|at| (&words[..at], &words[at + 1..])).or_else(|| words.split_once('='))
    }

    /// How fast jobs come, against how the workload has it.
    pub fn load(factor: f64) -> Setting {
        Setting::new(&["run", "load"], factor)
    }

    /// The weight of the queue of this full name, as tables of weights write it.
    pub fn weight(queue: &str, weight: &str) -> Setting {
        let quoted = Part { text: queue.to_owned(), quoted: true };
        Setting::at(vec![plain("queue"), quoted, plain("weight")], Value::from(weight))
    }

    /// The policy that is called `name`, as a whole: one of that name in a file is put away.
    pub fn policy(name: &str, keys: &PolicySpec) -> Result<Setting, serde_json::Error> {
        Ok(Setting::new(&["policies", name], of_json(&serde_json::to_value(keys)?)))
    }

    /// When the run ends, as somebody has written it.
    pub fn until(span: &str) -> Setting {
        Setting::new(&["run", "until"], span)
    }

    /// The file of the trace.
    pub(super) fn trace_file(name: &str) -> Setting {
        Setting::new(&["trace", "file"], name)
    }

    /// The format of the trace, by its name.
    pub fn trace_format(name: &str) -> Setting {
        Setting::new(&["trace", "format"], name)
    }

    /// Which run of a log is the trace, by its number or policy.
    pub fn trace_run(which: &str) -> Setting {
        Setting::new(&["trace", "run"], which)
    }

    /// In which column of a table something of a job is.
    pub fn trace_column(what: &str, column: &str) -> Setting {
        let key = [plain("trace"), plain("map")].into_iter().chain(parts(what));
        Setting::at(key.collect(), Value::from(column))
    }

    /// Which account is below which, where a table names accounts without it.
    pub fn trace_accounts<'n>(paths: impl IntoIterator<Item = (&'n str, &'n str)>) -> Setting {
        let paths = paths.into_iter().map(|(account, path)| (account, Value::from(path)));
        Setting::new(&["trace", "accounts"], paths.collect::<InlineTable>())
    }

    /// Rows of the trace that are far from all others are left out, or stay.
    pub fn trace_outliers(drops: bool) -> Setting {
        Setting::new(&["trace", "outliers"], if drops { "drop" } else { "keep" })
    }

    /// The part of the log that is read: `all`, `find`, or FROM..TO.
    pub fn trace_window(window: &str) -> Setting {
        Setting::new(&["trace", "window"], window)
    }

    /// How much of the run is left out of figures at its beginning.
    pub fn warm_up(span: &str) -> Setting {
        Setting::of_text("run.warm_up", span)
    }

    /// The same at its end.
    pub fn cool_down(span: &str) -> Setting {
        Setting::of_text("run.cool_down", span)
    }

    /// How much of a resource the first node has.
    pub fn capacity(resource: &str, amount: i64) -> Setting {
        Setting::new(&["cluster", "node", "0", "capacity", resource], amount)
    }

    /// The nodes that a file of a site's own cluster tells, instead of all others.
    pub fn nodes_of(file: &Path) -> [Setting; 3] {
        let machines = |key, value: &str| Setting::new(&["cluster", "machines", key], value);
        let file = file.display().to_string();
        [
            Setting::new(&["cluster", "node"], Array::new()),
            machines("file", &file),
            machines("format", "cluster"),
        ]
    }

    /// As `--set` would say it.
    pub fn words(&self) -> &str {
        &self.words
    }

    fn new(key: &[&str], value: impl Into<Value>) -> Setting {
        Setting::at(key.iter().map(|name| plain(name)).collect(), value.into())
    }

    fn at(key: Vec<Part>, value: Value) -> Setting {
        let name = |part: &Part| match part.quoted {
            true => serde_json::Value::from(part.text.as_str()).to_string(),
            false => Key::new(&part.text).to_string(),
        };
        let names: Vec<String> = key.iter().map(name).collect();
        let words = format!("{}={}", names.join("."), value.to_string().trim());
        Setting { key, value, words }
    }

    pub(super) fn key(&self) -> &[Part] {
        &self.key
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// Whether this is the key.
    pub(super) fn is(&self, key: &[&str]) -> bool {
        self.key.len() == key.len() && self.is_within(key)
    }

    /// Whether this is the key or stands within it.
    pub(super) fn is_within(&self, key: &[&str]) -> bool {
        let mut own = self.key.iter();
        key.iter().all(|name| own.next().is_some_and(|part| part.text == *name))
    }

    /// Whether this says something of the key: of it, within it, or of all in which it stands.
    pub(super) fn touches(&self, key: &[&str]) -> bool {
        self.is_within(&key[..key.len().min(self.key.len())])
    }

    /// The last part of a key with one part more than `key`, in which it stands.
    pub(super) fn name_in(&self, key: &[&str]) -> Option<&str> {
        let is_in = self.key.len() == key.len() + 1 && self.is_within(key);
        self.key.last().filter(|_| is_in).map(|part| part.text.as_str())
    }

    /// The format that this says the trace has, where it says one.
    pub(super) fn said_format(&self) -> Option<Result<TraceFormat, String>> {
        let value = self.is(&["trace", "format"]).then(|| match self.value.as_str() {
            Some(name) => name.to_owned(),
            None => self.value.to_string().trim().to_owned(),
        })?;
        Some(TraceFormat::named(value.trim()).ok_or(value))
    }
}

/// Something wrong with a change.
pub(super) fn of_set(set: &str, what: String) -> ScenarioError {
    ScenarioError { file: format!("--set {set}"), line: None, what, unreadable: false }
}

/// A value of JSON as one of TOML; what TOML lacks is its text.
fn of_json(value: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match value {
        Json::Object(table) => {
            let rows = table.iter().map(|(key, value)| (key.as_str(), of_json(value)));
            rows.collect::<InlineTable>().into()
        }
        Json::Array(values) => values.iter().map(of_json).collect::<Array>().into(),
        Json::String(text) => text.as_str().into(),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(float)) => float.into(),
            (None, None) => number.to_string().into(),
        },
        Json::Null => String::new().into(),
    }
}

fn plain(text: &str) -> Part {
    Part { text: text.to_owned(), quoted: false }
}

/// The parts of a key as somebody has written it.
pub(super) fn parts(key: &str) -> Vec<Part> {
    let part = |key: &Key| {
        let quoted = key.display_repr().starts_with(['"', '\'']);
        Part { text: key.get().to_owned(), quoted }
    };
    // Names of letters that TOML would have in quotes need none here.
    Key::parse(key).map_or_else(
        |_| key.split('.').map(plain).collect(),
        |keys| keys.iter().map(part).collect(),
    )
}
