//! Text for people: what a file says, without what a terminal or a browser would obey.
//!
//! A name in a trace may hold an escape sequence that clears the screen or renames the window, a
//! line break that forges a line of a table, or a control of the writing direction that makes
//! `txt.exe` of what ends in `exe.txt`. [`clean`] puts a visible mark in the place of each such
//! character; everything that is shown to people goes through it: terminal, messages, pages. Data
//! for programs (JSON, logs, CSV) keep the name as it is, escaped as their format escapes it.
//!
//! Cost: O(bytes), and no copy where nothing is to be replaced.

use std::borrow::Cow;

/// The visible mark for a character that must not reach people; `None` for one that may.
///
/// Controls of ASCII have pictures of their own (␛ for ESC, ␊ for a line feed); others, and what
/// changes the direction of writing, ends a line, or is invisible, become `\u{fffd}`. Joiners
/// (U+200C, U+200D) stay: Persian and Hindi need them.
///
/// ```
/// assert_eq!(meed_config::text::mark('\u{1b}'), Some('␛'));
/// assert_eq!(meed_config::text::mark('\u{202e}'), Some('\u{fffd}'));
/// assert_eq!(meed_config::text::mark('é'), None);
/// ```
pub fn mark(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        // Controls of Latin-1; marks, embeddings and isolates of direction.
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => Some('\u{fffd}'),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some('\u{fffd}'),
        // Line and paragraph separators; what has no width; tags.
        '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}'..='\u{2065}' => Some('\u{fffd}'),
        '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => Some('\u{fffd}'),
        '\u{e0000}'..='\u{e007f}' => Some('\u{fffd}'),
        _ => None,
    }
}

/// One line for people: every character that [`mark`] knows is replaced.
///
/// ```
/// assert_eq!(meed_config::text::clean("a\u{1b}[31m\nb"), "a␛[31m␊b");
/// ```
pub fn clean(text: &str) -> Cow<'_, str> {
    replace(text, |_| false)
}

/// A number of things, with the noun as it is then: that adds an `s`.
///
/// ```
/// assert_eq!(meed_config::text::counted(1, "job"), "1 job");
/// assert_eq!(meed_config::text::counted(0, "job"), "0 jobs");
/// ```
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Several lines for people: as [`clean`], but line breaks stay.
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    replace(text, |c| c == '\n')
}

fn replace(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let replaced = |c: char| mark(c).filter(|_| !stays(c));
    match text.chars().any(|c| replaced(c).is_some()) {
        true => Cow::Owned(text.chars().map(|c| replaced(c).unwrap_or(c)).collect()),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_obeyed_is_left() {
        let all: String = ('\0'..=char::MAX).collect();
        let clean = clean(&all);
        assert_eq!(clean.chars().count(), all.chars().count(), "one mark for each character");
        assert!(!clean.chars().any(|c| c.is_control() || mark(c).is_some()));
        for c in "\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2069}".chars()
        {
            assert!(!clean.contains(c));
        }
        assert!(clean.contains("aé漢\u{200d}🙂") || clean.contains('漢'));
    }

    #[test]
    fn lines_stay_where_there_are_several() {
        assert_eq!(clean_lines("a\r\nb\tc"), "a\u{240d}\nb\u{2409}c");
        assert!(matches!(clean("plain, grün, 漢字, \u{200c}"), Cow::Borrowed(_)));
    }
}
