//! Values of keys, with messages that name the key.

use meed::{Span, Unit};
use meed_config::quantity::Quantity;
use meed_config::units::{parse_amount, parse_span};
use meed_config::{Place, Spanned, TextError};

/// Fastest disk or link, 10^15 bytes a second: rates in parts of 2^-32 then fit 64 bits.
const MAX_BANDWIDTH: u64 = 1_000_000_000_000_000;

/// Most cores of a node: core-microseconds of the longest run then fit 64 bits.
pub(super) const MAX_CORES: u32 = 1024;

/// The value of a key, read by `read`; its message names the key.
pub(super) fn optional<T, R>(
    place: &Place<'_>,
    raw: &Option<Spanned<R>>,
    key: &str,
    read: impl Fn(&R) -> Result<T, String>,
) -> Result<Option<T>, TextError> {
    let Some(raw) = raw else { return Ok(None) };
    read(raw.get_ref())
        .map(Some)
        .map_err(|why| place.error(raw.span(), format!("mapreduce, {key}: {why}")))
}

/// The value of a key of a table's own, where it is given; its message names the key.
pub(super) fn given<T, R>(
    raw: &Option<R>,
    key: &str,
    read: impl Fn(&R) -> Result<T, String>,
) -> Result<Option<T>, String> {
    raw.as_ref().map(read).transpose().map_err(|why| format!(", {key}: {why}"))
}

/// A whole number between two bounds.
pub(super) fn whole(
    place: &Place<'_>,
    raw: &Option<Spanned<i64>>,
    key: &str,
    low: u32,
    high: u32,
) -> Result<Option<u32>, TextError> {
    optional(place, raw, key, |&number| between(number, low, high))
}

pub(super) fn between(number: i64, low: u32, high: u32) -> Result<u32, String> {
    let fits = u32::try_from(number).ok().filter(|number| (low..=high).contains(number));
    fits.ok_or_else(|| format!("{number} must be {low} to {high}"))
}

pub(super) fn span(raw: &Quantity) -> Result<Span, String> {
    parse_span(&raw.text()).map_err(|why| why.to_string())
}

pub(super) fn bytes(raw: &Quantity) -> Result<u64, String> {
    parse_amount(&raw.text(), Unit::Bytes).map_err(|why| why.to_string())
}

pub(super) fn thousandths(raw: &Quantity) -> Result<u64, String> {
    parse_amount(&raw.text(), Unit::Milli).map_err(|why| why.to_string())
}

/// What a disk loses for each further stream, in thousandths.
pub(super) fn penalty(raw: &Quantity) -> Result<u32, String> {
    match thousandths(raw)? {
        penalty @ 0..=100_000 => Ok(penalty as u32),
        _ => Err(format!("{} must be 0 to 100", raw.text())),
    }
}

/// A disk's or a link's.
pub(super) fn bandwidth(raw: &Quantity) -> Result<u64, String> {
    match bytes(raw)? {
        0 => {
            Err("a bandwidth of zero: nothing would ever be read; it must be above zero".to_owned())
        }
        bytes @ 1..=MAX_BANDWIDTH => Ok(bytes),
        _ => {
            Err(format!("{} is more than 1000 TB a second, the most that is possible", raw.text()))
        }
    }
}

/// The message of an error about a spanned table.
pub(super) fn at<T, V>(
    place: &Place<'_>,
    raw: &Spanned<V>,
    result: Result<T, String>,
) -> Result<T, TextError> {
    result.map_err(|what| place.error(raw.span(), what))
}
