//! Words for a terminal.

/// Breaks a text between words; the first line begins with `first`, the others with `rest`. A word
/// longer than a line has a line of its own. Ends with a newline.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let (mut used, mut begun) = (first.chars().count(), false);
    for word in text.split(' ') {
        let length = word.chars().count();
        if begun && used + 1 + length > width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out += rest;
            used = rest.chars().count();
        } else if begun {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += length;
        begun = true;
    }
    out.truncate(out.trim_end_matches(' ').len());
    out + "\n"
}

/// A name as a line for people.
pub(crate) fn clean(name: &str) -> String {
    meed_config::text::clean(name).into_owned()
}

/// Words as a sentence or a heading begins: with a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrap("one two three", 8, "", "  "), "one two\n  three\n");
        assert_eq!(wrap("- averylongword x", 6, "", "  "), "-\n  averylongword\n  x\n");
        assert_eq!(wrap("", 6, "", "  "), "\n");
    }
}
