//! Words in messages: how a value is quoted, and which known word is near to an unknown one.
//!
//! Near means: at most one edit (a letter more, less, other, or two swapped), and one more for
//! every three letters of the unknown word. Of several equally near the first wins, so lists begin
//! with what is most common. Cost: the lengths' product for each known word of about that length.

/// Longest piece of a value that a message quotes, in bytes.
const QUOTE_LIMIT: usize = 40;

/// Longest message of a parser that is passed on, in characters.
const MESSAGE_LIMIT: usize = 1000;

/// A value as messages quote it: printable, and short however long the value is.
pub fn quote(value: &[u8]) -> String {
    let cut = &value[..value.len().min(QUOTE_LIMIT)];
    let dots = if cut.len() < value.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_ascii())
}

/// By how many edits `known` differs from `unknown`, where that is few enough to be a slip.
pub fn slips(unknown: &str, known: &str) -> Option<usize> {
    let length = unknown.chars().count();
    let most = 1 + length / 3;
    // Each edit changes the length by one at most, so this needs no look at the letters.
    let near = known.chars().count().abs_diff(length) <= most;
    near.then(|| strsim::damerau_levenshtein(unknown, known)).filter(|slips| *slips <= most)
}

/// Known words that [`suggest`] compares with an unknown one. A trace may have a hundred thousand
/// queues, and as many lines with a wrong one.
const COMPARED: usize = 200;

/// The known word that is nearest to `unknown`, where one is near.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().filter_map(|word| Some((slips(unknown, word)?, word)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, word)| word)
}

/// "did you mean `x`?" where a known word is near.
///
/// ```
/// let known = ["weight", "min", "max"];
/// let hint = meed_config::words::did_you_mean("wieght", known);
/// assert_eq!(hint.as_deref(), Some("did you mean `weight`?"));
/// assert_eq!(meed_config::words::did_you_mean("colour", known), None);
/// ```
pub fn did_you_mean<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(unknown, known).map(|near| format!("did you mean `{near}`?"))
}

/// `did you mean "x"?` where a known word is near, else the words to choose from; of very many only
/// the first are looked at.
pub fn suggest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.take(COMPARED + 1).collect();
    match nearest(unknown, known.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if known.is_empty() => "none are known".to_owned(),
        None if known.len() <= 10 => format!("known are {}", known.join(", ")),
        None if known.len() > COMPARED => format!("known are {} and more", known[..10].join(", ")),
        None => format!("known are {} and {} more", known[..10].join(", "), known.len() - 10),
    }
}

/// A parser's message about an unknown word, with the expected word that is nearest to it.
pub fn with_hint(message: &str) -> String {
    let message: String = message.chars().take(MESSAGE_LIMIT).collect();
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next().filter(|_| message.starts_with("unknown"));
    match unknown.and_then(|unknown| did_you_mean(unknown, words)) {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_printable() {
        assert_eq!(quote(b"a\xffb\n"), r#""a\xffb\n""#);
        assert_eq!(quote(&[b'x'; 1000]).len(), QUOTE_LIMIT + 5);
    }

    #[test]
    fn suggestions_are_near_or_a_list() {
        let known = ["cpu", "memory", "gpu"];
        assert_eq!(suggest("memry", known.into_iter()), "did you mean \"memory\"?");
        assert_eq!(suggest("network", known.into_iter()), "known are cpu, memory, gpu");
        assert_eq!(suggest("xpu", known.into_iter()), "did you mean \"cpu\"?", "the first of two");
        let long = "x".repeat(1_000_000);
        assert_eq!(suggest(&long, known.into_iter()), "known are cpu, memory, gpu");
    }

    #[test]
    fn a_message_about_an_unknown_word_gets_a_hint() {
        let message = "unknown field `wieght`, expected `name` or `weight`";
        assert_eq!(with_hint(message), format!("{message}; did you mean `weight`?"));
        assert_eq!(with_hint("missing field `name`"), "missing field `name`");
    }
}
