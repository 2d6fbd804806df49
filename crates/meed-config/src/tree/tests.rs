//! Forms read from the tree, beside the library of TOML that reads them without one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{FormError, Spanned, read, read_data};
use crate::policy::InToml;
use crate::quantity::Quantity;

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Task,
    Job,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged, expecting = "a number or { low = number }")]
enum Either {
    Number(f64),
    Named { low: f64 },
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of all")]
struct Form {
    text: Option<String>,
    small: Option<u8>,
    signed: Option<i64>,
    count: Option<u64>,
    part: Option<f64>,
    flag: Option<bool>,
    pair: Option<[f64; 2]>,
    word: Option<Word>,
    either: Option<Either>,
    #[serde(default)]
    amounts: BTreeMap<String, Quantity>,
    #[serde(default)]
    inner: Vec<Inner>,
    rest: Option<Seen>,
}

/// Equal to anything: what is ignored is not kept.
#[derive(Clone, Debug, Deserialize)]
struct Seen(IgnoredAny);

impl PartialEq for Seen {
    fn eq(&self, _other: &Seen) -> bool {
        true
    }
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an [[inner]] table")]
struct Inner {
    name: String,
    at: Option<Quantity>,
}

/// The twin.
fn of_library(text: &str) -> Result<Form, FormError> {
    toml::from_str(text).map_err(FormError::from)
}

const KEYS: [&str; 13] = [
    "text",
    "small",
    "signed",
    "count",
    "part",
    "flag",
    "pair",
    "either",
    "amounts.cpu",
    "amounts",
    "inner",
    "rest",
    "unknown",
];

/// Dates are none of them: the library hands them on as tables with a key of its own.
const VALUES: [&str; 24] = [
    "\"a\"",
    "'b'",
    "7",
    "-7",
    "300",
    "0x10",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "-99999999999999999999",
    "0.5",
    "inf",
    "-nan",
    "1e9",
    "true",
    "[1, 2.5]",
    "[]",
    "[\"x\", 2]",
    "{ low = 2 }",
    "{ low = 1, high = 2 }",
    "[{ name = \"n\", at = \"3s\" }]",
    "[{ name = 3 }]",
    "[{ at = 3, other = 1 }]",
    "]",
];

proptest! {
    #[test]
    fn the_library_says_the_same(
        lines in prop::collection::vec((0..KEYS.len(), 0..VALUES.len()), 0..5),
    ) {
        let line = |&(key, value): &(usize, usize)| format!("{} = {}\n", KEYS[key], VALUES[value]);
        let text: String = lines.iter().map(line).collect();
        // Twice, for a NaN is no number that equals itself.
        prop_assert_eq!(format!("{:?}", read::<Form>(&text)), format!("{:?}", of_library(&text)));
    }
}

/// Each value alone under each key: all of the pairs, whatever the draws above.
#[test]
fn each_kind_under_each_key() {
    for key in KEYS {
        for value in VALUES {
            let text = format!("# a line\n{key} = {value}");
            let (ours, theirs) = (read::<Form>(&text), of_library(&text));
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{text}");
        }
    }
}

#[test]
fn dates_are_nothing_that_forms_take() {
    for key in ["text", "count", "part", "flag", "pair", "amounts", "inner"] {
        let text = format!("{key} = 1979-05-27");
        let why = read::<Form>(&text).expect_err("a date");
        assert!(why.message().starts_with("invalid type: date or time, expected "), "{why}");
    }
    assert!(read::<Form>("either = 07:32:00").is_err());
    #[derive(Debug, Deserialize)]
    struct OfPolicy {
        #[serde(rename = "policy")]
        _policy: InToml,
    }
    let why = read::<OfPolicy>("policy = 1979-05-27").expect_err("a date");
    assert!(why.message().starts_with("unknown field `date or time`, expected one of"), "{why}");
    assert!(read::<Form>("rest = 07:32:00").is_ok());
}

#[test]
fn words_are_words() {
    assert_eq!(read::<Form>("word = \"job\"").expect("a word").word, Some(Word::Job));
    let unknown = read::<Form>("word = \"jbo\"").expect_err("no word");
    assert_eq!(unknown, of_library("word = \"jbo\"").expect_err("no word"));
    let number = read::<Form>("word = 1").expect_err("a number");
    assert_eq!(number.message(), "wanted is one of the words `task`, `job`");
    assert_eq!(number.span(), Some(7..8));
}

#[test]
fn places_are_those_of_the_library() {
    #[derive(Deserialize)]
    struct Ours {
        list: Vec<Spanned<Inner>>,
        #[serde(default)]
        gone: Option<Spanned<String>>,
    }
    #[derive(Deserialize)]
    struct Theirs {
        list: Vec<toml::Spanned<Inner>>,
    }
    let text = "list = [{ name = \"a\" }]\n\n";
    let tables = "[[list]]\nname = \"a\"\n\n[[list]]\nname = \"b\"\nat = 1\n";
    for text in [text, tables] {
        let ours: Ours = read(text).expect("two");
        let theirs: Theirs = toml::from_str(text).expect("two");
        let places = ours.list.iter().map(Spanned::span);
        assert!(places.eq(theirs.list.iter().map(toml::Spanned::span)), "{text}");
        assert!(ours.gone.is_none());
    }
}

#[test]
fn data_are_read_alike_and_stand_nowhere() {
    let data = toml::toml! {
        text = "a"
        amounts = { cpu = 1 }
        inner = [{ name = "n", at = 2 }]
    };
    let text = toml::to_string(&data).expect("a table");
    let of_data = read_data::<Form>(toml::Value::Table(data)).expect("a form");
    assert_eq!(of_data, read::<Form>(&text).expect("a form"));
    let wrong = toml::Value::Table(toml::toml! { small = 300 });
    let why = read_data::<Form>(wrong).expect_err("too large");
    assert_eq!(why.message(), "invalid value: integer `300`, expected u8");
    assert_eq!(why.span(), Some(0..0));
    let elsewhere: Spanned<String> = serde_json::from_str("\"a\"").expect("text");
    assert_eq!((elsewhere.span(), elsewhere.get_ref().as_str()), (0..0, "a"));
}
