//! The short form of a policy: `long-term,half_life=24h`. The grammar stands at [`super`].

use std::fmt;
use std::str::FromStr;

use super::keys::{Form, NAMES, row};
use super::spec::{Given, PolicySpec, STATIC, SpecError, orders, unknown_word};
use super::value::Value;
use crate::quantity::Quantity;
use crate::tree::{FormError, Node};
use crate::words::did_you_mean;

/// A spec in the short form, of which the name has not been looked up yet: where names can be given
/// to policies (`[policies.NAME]`), it is for the reader to know them.
///
/// ```
/// use meed_config::policy::Words;
///
/// let words = Words::parse("mine,quantum=30s")?;
/// assert_eq!(words.name, "mine");
/// assert_eq!(words.keys.to_string(), "quantum=30s");
/// # Ok::<(), meed_config::policy::SpecError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Words<'a> {
    /// What stands before the first comma.
    pub name: &'a str,
    /// The keys after it.
    pub keys: PolicySpec,
}

impl<'a> Words<'a> {
    /// The name, and the keys, in which values have the form that their keys need.
    pub fn parse(words: &'a str) -> Result<Words<'a>, SpecError> {
        let parts = parts(words);
        let (name, keys) = parts.split_first().expect("there is a first part, if an empty one");
        Ok(Words { name: name.trim(), keys: read_keys(keys)? })
    }
}

fn read_keys(parts: &[&str]) -> Result<PolicySpec, SpecError> {
    let mut spec = PolicySpec::default();
    for part in parts {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| SpecError::whole(format!("`{part}` is not of the form key=value")))?;
        let (key, value) = (key.trim(), value.trim());
        let row = row(key).ok_or_else(|| SpecError::whole(unknown_key(key)))?;
        let value = read(row.form, value).map_err(|why| {
            let what = format!("{key}: {}", why.message());
            SpecError { key: Some(row.name), span: None, what }
        })?;
        if spec.given.insert(row.name, Given { value, span: None }).is_some() {
            return Err(SpecError::whole(format!("`{key}` is given twice")));
        }
    }
    Ok(spec)
}

fn unknown_key(key: &str) -> String {
    let known: Vec<String> = NAMES.iter().map(|name| format!("`{name}`")).collect();
    let near = did_you_mean(key, NAMES).map_or(String::new(), |near| format!("; {near}"));
    format!("unknown key `{key}`, expected one of {}{near}", known.join(", "))
}

/// A value of TOML, or plain text where it is none.
fn read(form: Form, text: &str) -> Result<Value, FormError> {
    let value = text.parse::<toml::Value>();
    let value = value.unwrap_or_else(|_| toml::Value::String(text.to_owned()));
    form.read(&Node::from(value))
}

/// The parts between commas, of which those in the quotes and braces of a value do not count.
fn parts(words: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    // Quotes and braces have their meaning at the beginning of a value, and within braces.
    let (mut key, mut begins, mut depth) = (true, false, 0u32);
    let (mut quote, mut escaped) = (None, false);
    for (at, letter) in words.char_indices() {
        match (quote, letter) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if begins || depth > 0 => quote = Some(letter),
            (None, '{' | '[') if begins || depth > 0 => depth += 1,
            (None, '}' | ']') if depth > 0 => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&words[start..at]);
                (start, key) = (at + 1, true);
            }
            _ => {}
        }
        let equals = key && letter == '=';
        begins = equals || (begins && letter == ' ');
        key &= !equals;
    }
    parts.push(&words[start..]);
    parts
}

/// Without a scenario: the name is an order, or `static`; it may be missing.
impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(words: &str) -> Result<PolicySpec, SpecError> {
        let parts = parts(words);
        let name = parts[0].trim();
        if parts[0].contains('=') || (name.is_empty() && parts.len() == 1) {
            let keys: &[&str] = if name.is_empty() { &[] } else { &parts };
            return read_keys(keys);
        }
        let keys = read_keys(&parts[1..])?;
        if name == STATIC {
            return Ok(PolicySpec { partitioned: true, ..keys });
        }
        if !orders().any(|order| order == name) {
            let known = [STATIC].into_iter().chain(orders());
            return Err(SpecError::whole(unknown_word("policy", name, known)));
        }
        Ok(keys.over(&PolicySpec::order(name)))
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = self.word("order").filter(|name| orders().any(|order| order == *name));
        let name = if self.partitioned { Some(STATIC) } else { order };
        f.write_str(name.unwrap_or_default())?;
        let mut comma = if name.is_some() { "," } else { "" };
        for (key, given) in self.rows() {
            // The order is the name already.
            if key.name == "order" && !self.partitioned && order.is_some() {
                continue;
            }
            write!(f, "{comma}{}={}", key.name, Written(key.form, &given.value))?;
            comma = ",";
        }
        Ok(())
    }
}

/// A value as it reads back.
struct Written<'a>(Form, &'a Value);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Written(form, value) = *self;
        let text = match value {
            Value::Word(text) => text.clone(),
            Value::Quantity(Quantity::Text(text)) => text.clone(),
            Value::Quantity(quantity) => quantity.text(),
            Value::Count(count) => count.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => return write_number(f, *number),
            Value::Prices(prices) => {
                f.write_str("{")?;
                for (i, (name, price)) in prices.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    write_quoted(f, name, is_bare)?;
                    f.write_str("=")?;
                    write_number(f, *price)?;
                }
                return f.write_str("}");
            }
        };
        write_quoted(f, &text, |text| reads_as_it_is(form, text, value))
    }
}

/// Whether `text` without quotes, in a list of keys, is `value`.
fn reads_as_it_is(form: Form, text: &str, value: &Value) -> bool {
    !text.is_empty()
        && !text.contains(',')
        && !text.starts_with(['"', '\'', '{', '['])
        && text.trim() == text
        && !text.contains(char::is_control)
        && read(form, text).is_ok_and(|found| found == *value)
}

/// A key of TOML that needs no quotes.
fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn write_quoted(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    plain: impl Fn(&str) -> bool,
) -> fmt::Result {
    if plain(text) {
        return f.write_str(text);
    }
    f.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            _ if letter.is_control() => write!(f, "\\u{:04X}", u32::from(letter))?,
            _ => write!(f, "{letter}")?,
        }
    }
    f.write_str("\"")
}

/// A number that TOML reads back to the bit.
fn write_number(f: &mut fmt::Formatter<'_>, number: f64) -> fmt::Result {
    match number {
        _ if number.is_nan() => f.write_str("nan"),
        _ if number.abs() < 1e15 => write!(f, "{number}"),
        _ => write!(f, "{number:?}"),
    }
}
