//! What an hour on a node counts: a factor for each class of nodes, so that an hour on the newest
//! accelerator is not an hour on the oldest.
//!
//! The class of a node is the value of one label, `nvidia.com/gpu.product` unless another is named.
//! The factor is the engine's weight of a node (delta of ICS'14 Eq. 9): all that a pod asks for is
//! charged by it. What a queue *holds* does not know it.
//!
//! Invariant: a factor is 1 to 10,000 thousandths. Cost: a look into a map for each node that
//! changes.

use std::collections::BTreeMap;

use meed_config::decimal::{NumberError, Rounding, parse_scaled};

/// What an ordinary node counts, in thousandths.
const ONE: u32 = 1000;
/// The largest factor, in thousandths.
const MOST: u64 = 10_000;
/// The longest value of a label.
const LONGEST: usize = 63;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prices {
    label: String,
    classes: BTreeMap<String, u32>,
}

impl Prices {
    /// Reads `CLASS=FACTOR`, one for each class; in a sentence what is wrong, and with which.
    pub(crate) fn parse(label: &str, rows: &[String]) -> Result<Prices, String> {
        let mut classes = BTreeMap::new();
        for row in rows {
            let wrong = |what: String| format!("--price {row}: {what}");
            let Some((class, factor)) = row.rsplit_once('=') else {
                let what = "is not CLASS=FACTOR, as in Tesla-T4=0.5";
                return Err(format!("--price {row}: {what}"));
            };
            check_class(class).map_err(wrong)?;
            let factor = read(factor).map_err(wrong)?;
            if classes.insert(class.to_owned(), factor).is_some() {
                return Err(wrong(format!("class `{class}` has a price already")));
            }
        }
        check_label(label).map_err(|what| format!("--class-label {label}: {what}"))?;
        Ok(Prices { label: label.to_owned(), classes })
    }

    /// What a node with these labels counts, in thousandths; one without a class, or of one without
    /// a price, counts as it is.
    pub(crate) fn weight(&self, labels: &BTreeMap<String, String>) -> u32 {
        let class = labels.get(&self.label);
        class.and_then(|class| self.classes.get(class)).copied().unwrap_or(ONE)
    }

    /// The class of a node that has no price, where others have.
    pub(crate) fn unpriced<'l>(&self, labels: &'l BTreeMap<String, String>) -> Option<&'l str> {
        let class = labels.get(&self.label).filter(|_| !self.classes.is_empty())?;
        (!self.classes.contains_key(class)).then_some(class)
    }
}

fn read(text: &str) -> Result<u32, String> {
    let scaled = parse_scaled(text.as_bytes(), u64::from(ONE), MOST, Rounding::Exact);
    let wrong = |why: &str| format!("the factor `{text}` {why}: give 0.001 to 10");
    match scaled {
        Ok(0) => Err(wrong("is zero")),
        Ok(factor) => u32::try_from(factor).map_err(|_| wrong("is too large")),
        Err(NumberError::NotANumber) => Err(wrong("is no number")),
        Err(NumberError::Negative) => Err(wrong("is below zero")),
        Err(NumberError::TooLarge) => Err(wrong("is too large")),
        Err(NumberError::TooFine) => Err(wrong("has more than three decimals")),
    }
}

/// Whether a text can be the value of a label: nothing else is the class of a node.
fn check_class(class: &str) -> Result<(), String> {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = class.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let is_right = is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(is_inner)
        && bytes.len() <= LONGEST;
    match is_right {
        true => Ok(()),
        false => Err(format!("the class `{class}` can be no label's value, so no node has it")),
    }
}

fn check_label(label: &str) -> Result<(), String> {
    let name = label.rsplit_once('/').map_or(label, |(_, name)| name);
    check_class(name).map_err(|_| "is no label's name, as nvidia.com/gpu.product is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "nvidia.com/gpu.product";

    fn parse(rows: &[&str]) -> Result<Prices, String> {
        let rows: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
        Prices::parse(LABEL, &rows)
    }

    #[test]
    fn a_class_has_its_factor_and_all_others_one() {
        let prices = parse(&["A100=4", "T4=0.5", "odd=0.001", "most=10"]).unwrap();
        let labels = |class: &str| [(LABEL.to_owned(), class.to_owned())].into();
        for (class, weight) in [("A100", 4000), ("T4", 500), ("odd", 1), ("most", 10_000)] {
            assert_eq!(prices.weight(&labels(class)), weight);
            assert_eq!(prices.unpriced(&labels(class)), None);
        }
        assert_eq!(prices.weight(&labels("H100")), 1000);
        assert_eq!(prices.unpriced(&labels("H100")), Some("H100"));
        assert_eq!(prices.weight(&BTreeMap::new()), 1000);
        assert_eq!(Prices::default().unpriced(&labels("H100")), None, "nothing has a price");
    }

    #[test]
    fn a_wrong_table_is_refused_with_its_place_and_value() {
        for (row, what) in [
            ("A100", "--price A100: is not CLASS=FACTOR"),
            ("A100=-1", "--price A100=-1: the factor `-1` is below zero: give 0.001 to 10"),
            ("A100=0", "the factor `0` is zero"),
            ("A100=10.001", "the factor `10.001` is too large"),
            ("A100=1e300", "the factor `1e300` is too large"),
            ("A100=0.0001", "the factor `0.0001` has more than three decimals"),
            ("A100=four", "the factor `four` is no number"),
            ("A100=", "the factor `` is no number"),
            ("=1", "the class `` can be no label's value"),
            ("nvidia.com/gpu.product=1", "the class `nvidia.com/gpu.product` can be no label's"),
            ("-A=1", "the class `-A`"),
        ] {
            let error = parse(&[row]).unwrap_err();
            assert!(error.contains(what) && error.starts_with("--price "), "{error}");
        }
        let error = parse(&["A=1", "B=2", "A=2"]).unwrap_err();
        assert_eq!(error, "--price A=2: class `A` has a price already");
        let error = Prices::parse("a b", &[]).unwrap_err();
        assert!(error.starts_with("--class-label a b: is no label's name"), "{error}");
    }
}
