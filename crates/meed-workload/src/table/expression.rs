//! What stands behind a key of a mapping: where in a record a value is found.
//!
//! | text | value |
//! |---|---|
//! | `user` | the column of this name |
//! | `#3` | the third column |
//! | `mem:MiB` | a column, and the unit of its bare numbers |
//! | `account/user` | several columns, as a path |
//! | `nodes*ppn` | a column times a whole number in another |
//! | `AllocTRES[gres/gpu]` | what stands behind this name in a list like `cpu=4,gres/gpu=1` |
//! | `Elapsed\|End` | the first of them that holds something |
//! | `=1` | this, in every row |
//!
//! A column that has exactly this name comes before all of that. Where no column has, one that
//! differs in case alone is meant, if it is the only one.

use meed_config::words::{quote, suggest};

use super::record::Record;

/// One value of a column, or of a list in it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    column: usize,
    inside: Option<Box<[u8]>>,
}

/// How several parts make one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Join {
    Path,
    Product,
}

/// A value of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Alternative {
    parts: Vec<Part>,
    join: Join,
    /// The unit that was said.
    unit: Option<String>,
}

/// Where a value is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Source {
    constant: Option<Box<[u8]>>,
    alternatives: Vec<Alternative>,
    /// As it was said.
    pub(super) text: String,
}

/// A value that was found.
pub(super) struct Found<'a> {
    /// The value, or the first factor.
    pub(super) text: &'a [u8],
    /// The second factor.
    pub(super) factor: Option<&'a [u8]>,
    /// Which alternative it is.
    pub(super) place: usize,
}

/// Whether a value says that there is none.
pub(super) fn is_missing(value: &[u8]) -> bool {
    const WORDS: [&str; 12] = [
        "unknown",
        "none",
        "null",
        "nan",
        "nat",
        "n/a",
        "na",
        "-",
        "\\n",
        "invalid",
        "undefined",
        "(null)",
    ];
    match value {
        [] => true,
        [first, ..] if first.is_ascii_digit() || value.len() > 9 => false,
        _ => WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())),
    }
}

/// Whether a name says that there is none: as [`is_missing`], but people are called `na`, `none`
/// or `unknown`, so words count only as programs write them.
fn is_nobody(value: &[u8]) -> bool {
    const WORDS: [&str; 9] = ["None", "Unknown", "NULL", "null", "NaN", "nan", "NA", "N/A", "n/a"];
    match value.iter().all(u8::is_ascii_alphabetic) || value.contains(&b'/') {
        true => value.is_empty() || WORDS.iter().any(|word| value == word.as_bytes()),
        false => is_missing(value),
    }
}

impl Source {
    /// Reads `text`, where the columns are called `names`.
    pub(super) fn read(text: &str, names: &[String]) -> Result<Source, String> {
        let source = |constant: Option<&str>, alternatives| Source {
            constant: constant.map(|constant| constant.trim().as_bytes().into()),
            alternatives,
            text: text.to_owned(),
        };
        if let Some(part) = exact(text, names) {
            return Ok(source(None, vec![whole(part)]));
        }
        if let Some(constant) = text.strip_prefix('=') {
            return match is_missing(constant.trim().as_bytes()) {
                true => Err(format!("{} is nothing; write a value", quote(text.as_bytes()))),
                false => Ok(source(Some(constant), Vec::new())),
            };
        }
        let found = text.split('|').map(|text| alternative(text.trim(), names));
        let found: Vec<Result<Alternative, String>> = found.collect();
        let why = found.iter().find_map(|found| found.as_ref().err().cloned());
        let known: Vec<Alternative> = found.into_iter().flatten().collect();
        match why {
            Some(why) if known.is_empty() => Err(why),
            _ => Ok(source(None, known)),
        }
    }

    /// Of this column.
    pub(super) fn column(column: usize, names: &[String]) -> Source {
        let part = Part { column, inside: None };
        Source { constant: None, alternatives: vec![whole(part)], text: names[column].clone() }
    }

    /// Whether this can be said of `key`: each alternative is known, and a number is no path, a
    /// time or a name no product.
    pub(super) fn check(&self, key: &str, names: &[String]) -> Result<(), String> {
        const PATHS: [&str; 2] = ["tenant", "name"];
        const PLAIN: [&str; 7] =
            ["submit", "eligible", "start", "end", "duration", "limit", "gang"];
        let parts = self.text.split('|').map(str::trim);
        let parts = parts.filter(|_| self.alternatives.len() > 1 || self.text.contains('|'));
        for part in parts.filter(|_| exact(&self.text, names).is_none()) {
            alternative(part, names)?;
        }
        let fits = |one: &Alternative| match one.join {
            Join::Path if one.parts.len() > 1 => PATHS.contains(&key),
            Join::Product => !PATHS.contains(&key) && !PLAIN.contains(&key),
            Join::Path => true,
        };
        match self.alternatives.iter().all(fits) {
            true => Ok(()),
            false => Err(format!(
                "{} cannot stand here; a*b is a count or an amount, a/b a tenant or a name",
                quote(self.text.as_bytes())
            )),
        }
    }

    /// Its value in `record`; `None` where it is missing.
    pub(super) fn find<'a>(&'a self, record: &'a Record) -> Option<Found<'a>> {
        if let Some(constant) = &self.constant {
            return Some(Found { text: constant, factor: None, place: 0 });
        }
        self.alternatives.iter().enumerate().find_map(|(place, alternative)| {
            let text = alternative.parts[0].get(record);
            let factor = match alternative.join {
                Join::Product => Some(alternative.parts[1].get(record)),
                Join::Path => None,
            };
            (!is_missing(text)).then_some(Found { text, factor, place })
        })
    }

    /// The parts of its path, which are names, each with `take`; false where one is missing.
    pub(super) fn path<'a>(&'a self, record: &'a Record, mut take: impl FnMut(&'a [u8])) -> bool {
        if let Some(constant) = &self.constant {
            take(constant);
            return true;
        }
        let whole = |alternative: &&Alternative| {
            alternative.parts.iter().all(|part| !is_nobody(part.get(record)))
        };
        let Some(found) = self.alternatives.iter().find(whole) else { return false };
        found.parts.iter().for_each(|part| take(part.get(record)));
        true
    }

    /// Takes `unit` for that of its numbers.
    pub(super) fn say(&mut self, unit: &str) {
        self.alternatives.iter_mut().for_each(|one| one.unit = Some(unit.to_owned()));
    }

    /// The units that were said, of each alternative.
    pub(super) fn units(&self) -> Vec<Option<&str>> {
        match self.constant {
            Some(_) => vec![None],
            None => self.alternatives.iter().map(|one| one.unit.as_deref()).collect(),
        }
    }

    /// Whether nothing, or 0, is found in this record.
    pub(super) fn is_zero(&self, record: &Record) -> bool {
        self.find(record).is_none_or(|found| found.text == b"0")
    }

    /// Every column that it reads.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.alternatives.iter().flat_map(|one| one.parts.iter().map(|part| part.column))
    }
}

impl Part {
    fn get<'a>(&'a self, record: &'a Record) -> &'a [u8] {
        let value = record.get(self.column);
        match &self.inside {
            None => value,
            Some(name) => inside(value, name),
        }
    }
}

/// What stands behind `name=` in a list.
fn inside<'a>(list: &'a [u8], name: &[u8]) -> &'a [u8] {
    let value = |entry: &'a [u8]| entry.trim_ascii().strip_prefix(name)?.strip_prefix(b"=");
    list.split(|byte| *byte == b',').find_map(value).unwrap_or_default()
}

fn whole(part: Part) -> Alternative {
    Alternative { parts: vec![part], join: Join::Path, unit: None }
}

fn exact(text: &str, names: &[String]) -> Option<Part> {
    let column = names.iter().position(|name| name == text).or_else(|| in_any_case(text, names))?;
    Some(Part { column, inside: None })
}

/// The only column of this name in whatever case: programs print names in their own case.
fn in_any_case(text: &str, names: &[String]) -> Option<usize> {
    let is = |(_, name): &(usize, &String)| name.eq_ignore_ascii_case(text);
    let mut found = names.iter().enumerate().filter(is);
    let (column, _) = found.next()?;
    found.next().is_none().then_some(column)
}

/// One part: a column, by name or number, or a name in the list that it holds.
fn part(text: &str, names: &[String]) -> Result<Part, String> {
    if let Some(part) = exact(text, names) {
        return Ok(part);
    }
    if let Some(number) = text.strip_prefix('#') {
        let column = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        return match column.filter(|column| *column < names.len()) {
            Some(column) => Ok(Part { column, inside: None }),
            None => Err(format!(
                "there is no column {}; columns are #1 to #{}",
                quote(text.as_bytes()),
                names.len()
            )),
        };
    }
    if let Some((column, name)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        let part = part(column, names)?;
        return Ok(Part { inside: Some(name.as_bytes().into()), ..part });
    }
    let hint = suggest(text, names.iter().map(String::as_str));
    Err(format!("there is no column {}; {hint}", quote(text.as_bytes())))
}

fn alternative(text: &str, names: &[String]) -> Result<Alternative, String> {
    let unknown = match part(text, names) {
        Ok(part) => return Ok(whole(part)),
        Err(why) => why,
    };
    if let Some((column, unit)) = text.rsplit_once(':')
        && let Ok(found) = alternative(column.trim(), names)
    {
        return Ok(Alternative { unit: Some(unit.trim().to_owned()), ..found });
    }
    for (sign, join) in [('*', Join::Product), ('/', Join::Path)] {
        let parts: Vec<&str> = text.split(sign).map(str::trim).collect();
        if parts.len() == 2 || (parts.len() > 2 && join == Join::Path) {
            let parts = parts.iter().map(|text| part(text, names)).collect::<Result<_, _>>();
            return Ok(Alternative { parts: parts?, join, unit: None });
        }
    }
    Err(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["user", "account", "a/b", "mem", "tres", "n"].map(str::to_owned).to_vec()
    }

    fn record() -> Record {
        let mut record = Record::default();
        for (column, value) in
            ["ann", " lab ", "both", "Unknown", "cpu=4,gres/gpu=2,mem=16G", "3"].iter().enumerate()
        {
            record.put(column, value.as_bytes());
        }
        record
    }

    #[test]
    fn values_are_found() {
        let (names, record) = (names(), record());
        let find = |text: &str| {
            let source = Source::read(text, &names).unwrap();
            source.find(&record).map(|found| String::from_utf8(found.text.to_vec()).unwrap())
        };
        let rows = [
            ("user", Some("ann")),
            ("#2", Some("lab")),
            ("a/b", Some("both")),
            ("mem", None),
            ("mem|user", Some("ann")),
            ("absent|user", Some("ann")),
            ("tres[gres/gpu]", Some("2")),
            ("tres[gres]", None),
            ("tres[mem]:MiB", Some("16G")),
            ("=7", Some("7")),
            ("USER", Some("ann")),
            ("Tres[gres/gpu]", Some("2")),
        ];
        for (text, expected) in rows {
            assert_eq!(find(text).as_deref(), expected, "{text}");
        }
        let product = Source::read("n*tres[cpu]:milli", &names).unwrap();
        let found = product.find(&record).unwrap();
        assert_eq!((found.text, found.factor), (&b"3"[..], Some(&b"4"[..])));
        assert_eq!(product.units(), [Some("milli")]);
        let mut path = Vec::new();
        let account = Source::read("account/user", &names).unwrap();
        assert!(account.path(&record, |one| path.push(one)));
        assert_eq!(path, [&b"lab"[..], b"ann"]);
        assert!(!Source::read("mem/user", &names).unwrap().path(&record, |_| ()));
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (text, expected) in [
            ("usr", "there is no column \"usr\"; did you mean \"user\"?"),
            ("#7", "there is no column \"#7\"; columns are #1 to #6"),
            ("#0", "there is no column \"#0\"; columns are #1 to #6"),
            ("user/nobody", "there is no column \"nobody\"; known are"),
            ("=", "\"=\" is nothing; write a value"),
        ] {
            let why = Source::read(text, &names()).unwrap_err();
            assert!(why.starts_with(expected), "{text}: {why}");
        }
    }

    #[test]
    fn each_key_has_its_forms() {
        let check = |text: &str, key: &str| {
            Source::read(text, &names()).and_then(|source| source.check(key, &names()))
        };
        for (text, key) in
            [("n*mem", "count"), ("account/user", "tenant"), ("n|mem", "submit"), ("a/b", "limit")]
        {
            assert_eq!(check(text, key), Ok(()), "{text} for {key}");
        }
        for (text, key) in [("n*mem", "duration"), ("n*mem", "tenant"), ("n/mem", "memory")] {
            let why = check(text, key).unwrap_err();
            assert!(why.contains("cannot stand here"), "{text} for {key}: {why}");
        }
        assert!(check("n|memm", "duration").unwrap_err().contains("did you mean \"mem\"?"));
    }

    #[test]
    fn words_for_nothing() {
        for word in ["", "Unknown", "NONE", "NaN", "\\N", "-"] {
            assert!(is_missing(word.as_bytes()), "{word}");
        }
        for word in ["0", "7", "nobody", "-1"] {
            assert!(!is_missing(word.as_bytes()), "{word}");
            assert!(!is_nobody(word.as_bytes()), "{word}");
        }
        for word in ["", "Unknown", "None", "NULL", "NaN", "NA", "n/a", "\\N", "-", "(null)"] {
            assert!(is_nobody(word.as_bytes()), "{word}");
        }
        for word in ["na", "Na", "none", "unknown", "NONE", "nat", "invalid", "a/b"] {
            assert!(!is_nobody(word.as_bytes()), "{word}");
        }
    }
}
