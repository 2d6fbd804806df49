//! Names of the files of a store. Numbers have 20 digits, so that names sort as numbers do.

use crate::store::Seq;

/// A file of a store, told by its name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Plain(Seq),
    Compressed(Seq),
    Snapshot(Seq),
}

pub(super) fn plain(first: Seq) -> String {
    format!("{:020}.jsonl", first.get())
}

pub(super) fn compressed(first: Seq) -> String {
    format!("{:020}.jsonl.zst", first.get())
}

pub(super) fn snapshot(seq: Seq) -> String {
    format!("snapshot-{:020}", seq.get())
}

/// What a name says; `None` for files of others.
pub(super) fn parse(name: &str) -> Option<Name> {
    let number = |digits: &str| {
        let plain = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok().map(Seq::new)).flatten()
    };
    if let Some(digits) = name.strip_prefix("snapshot-") {
        return number(digits).map(Name::Snapshot);
    }
    if let Some(digits) = name.strip_suffix(".jsonl.zst") {
        return number(digits).map(Name::Compressed);
    }
    number(name.strip_suffix(".jsonl")?).map(Name::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_they_were_made_of() {
        let seq = Seq::new(u64::MAX);
        assert_eq!(parse(&plain(seq)), Some(Name::Plain(seq)));
        assert_eq!(parse(&compressed(seq)), Some(Name::Compressed(seq)));
        assert_eq!(parse(&snapshot(seq)), Some(Name::Snapshot(seq)));
        for other in ["1.jsonl", "+0000000000000000001.jsonl", "99999999999999999999.jsonl", "x"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
