//! Fields of the column formats (SWF, SWIM), from bytes, with messages that say which column.

use meed::{MAX_MICROS, MICROS_PER_S, ResourceKinds, Resources, Span, Time, Unit};
use meed_config::decimal::{NumberError, Rounding, parse_scaled};
use meed_config::units::format_span;
use meed_config::words::{quote, suggest};

use crate::error::{BadRow, TraceError};

/// Longest name of a job, a user, a node or a virtual cluster, in bytes.
pub(crate) const MAX_NAME: usize = 200;

/// Whether a name has 1 to [`MAX_NAME`] bytes.
pub(crate) fn check_length(name: &str) -> Result<(), String> {
    match name.len() {
        1..=MAX_NAME => Ok(()),
        bytes => Err(format!("{bytes} bytes long; wanted are 1 to {MAX_NAME}")),
    }
}

/// The words of a line, between ASCII white space. A loop of its own, because lines are split here
/// for each job of a log: `split` by a closure and `filter` are slower.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let from = &rest[begin..];
        let end = from.iter().position(u8::is_ascii_whitespace).unwrap_or(from.len());
        let word;
        (word, rest) = from.split_at(end);
        Some(word)
    })
}

/// What is wrong with an object of JSON. Where in the object helps nobody: the reader tells the
/// line of the object.
pub(crate) fn json_problem(why: &serde_json::Error) -> String {
    let why = why.to_string();
    why.split(" at line ").next().unwrap_or_default().to_owned()
}

/// A column: its number from 1 and its name.
#[derive(Clone, Copy)]
pub(crate) struct Column(pub(crate) usize, pub(crate) &'static str);

impl Column {
    fn problem(self, what: String) -> BadRow {
        BadRow::field(format!("column {} ({})", self.0, self.1), what)
    }

    /// A problem with this column's `value`.
    pub(crate) fn wrong(self, value: &[u8], what: &str) -> BadRow {
        self.problem(format!("{} {what}", quote(value)))
    }

    fn number_error(self, value: &[u8], error: NumberError, wanted: &str) -> BadRow {
        let wrong = match error {
            NumberError::NotANumber => "is not a number",
            NumberError::Negative => "is negative",
            NumberError::TooLarge => "is too large",
            NumberError::TooFine => "is not a whole number",
        };
        self.wrong(value, &format!("{wrong}; wanted is {wanted}"))
    }

    /// Seconds, rounded to the nearest microsecond.
    pub(crate) fn seconds(self, value: &[u8]) -> Result<u64, BadRow> {
        parse_scaled(value, MICROS_PER_S, MAX_MICROS, Rounding::Nearest)
            .map_err(|error| self.number_error(value, error, "seconds, 0 or more, up to 285 years"))
    }

    /// A time that was asked for. Unknown (`-1`, or any other negative number), 0 and what is
    /// longer than any time are none.
    pub(crate) fn some_seconds(self, value: &[u8]) -> Result<Option<Span>, BadRow> {
        match parse_scaled(value, MICROS_PER_S, MAX_MICROS, Rounding::Nearest) {
            Ok(0) | Err(NumberError::Negative | NumberError::TooLarge) => Ok(None),
            _ => self.seconds(value).map(|micros| Some(span(micros))),
        }
    }

    /// A whole number of at most `limit`.
    pub(crate) fn whole(self, value: &[u8], limit: u64) -> Result<u64, BadRow> {
        parse_scaled(value, 1, limit, Rounding::Exact).map_err(|error| {
            self.number_error(value, error, &format!("a whole number from 0 to {limit}"))
        })
    }
}

/// Converts microseconds that [`Column::seconds`] bounded.
pub(crate) fn span(micros: u64) -> Span {
    Span::from_micros(micros).unwrap_or(Span::MAX)
}

/// Converts microseconds that [`Column::seconds`] bounded.
pub(crate) fn time(micros: u64) -> Time {
    Time::from_micros(micros).unwrap_or(Time::MAX)
}

/// The problem of a job that is submitted before the one that precedes it.
pub(crate) fn out_of_order(submit: Time, last: Time) -> String {
    let (submit_text, last_text) =
        (format_span(submit - Time::ZERO), format_span(last - Time::ZERO));
    format!(
        "submitted at {} s ({submit_text}), before the preceding job's {} s ({last_text}); a trace \
         is in order of \
         submission",
        submit.as_secs_f64(),
        last.as_secs_f64()
    )
}

/// The kind that a setting names, or the default: the first kind that passes `default`.
pub(crate) fn pick_kind(
    kinds: &ResourceKinds,
    named: Option<&str>,
    setting: &str,
    default: impl Fn(usize) -> bool,
) -> Result<Option<usize>, TraceError> {
    match named {
        None => Ok((0..kinds.len()).find(|kind| default(*kind))),
        Some(name) => kinds.find(name).map(Some).ok_or_else(|| {
            let hint = suggest(name, kinds.names());
            TraceError::settings(setting, format!("the cluster has no resource \"{name}\"; {hint}"))
        }),
    }
}

/// One natural unit (one core, one slot) of the first kind that is not counted in bytes.
pub(crate) fn one_of_first(kinds: &ResourceKinds) -> Option<Resources> {
    let first = (0..kinds.len()).find(|kind| kinds.unit(*kind) == Unit::Milli)?;
    let mut demand = Resources::zero(kinds.len());
    demand.as_mut_slice()[first] = Unit::Milli.scale();
    Some(demand)
}
