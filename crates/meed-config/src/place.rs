//! What is wrong with something that a person wrote, and where.

use std::fmt;
use std::ops::Range;

use crate::policy::SpecError;
use crate::tree::FormError;
use crate::words::with_hint;

/// A text that cannot be used: file, line, what is wrong and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The file, or where else the text came from.
    pub file: String,
    /// Line, from 1, where it is known.
    pub line: Option<usize>,
    /// The sentence.
    pub what: String,
    /// Whether the file could not be read at all.
    pub unreadable: bool,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for TextError {}

/// Where messages point to: the text they are about.
///
/// ```
/// use meed_config::Place;
///
/// let place = Place { file: "cluster.toml", text: "a = 1\nb = 2\n" };
/// let wrong = place.error(6..7, "unknown key `b`");
/// assert_eq!(wrong.line, Some(2));
/// assert_eq!(wrong.to_string(), "cluster.toml:2: unknown key `b`");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What messages call it.
    pub file: &'a str,
    /// All of it, for counting lines.
    pub text: &'a str,
}

impl Place<'_> {
    /// An error about the piece of text at `span`.
    pub fn error(&self, span: Range<usize>, what: impl Into<String>) -> TextError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        TextError { line: Some(line), ..self.whole(what) }
    }

    /// An error about the text as a whole.
    pub fn whole(&self, what: impl Into<String>) -> TextError {
        TextError { file: self.file.to_owned(), line: None, what: what.into(), unreadable: false }
    }

    /// An error of a form's reader, with what is near to an unknown word.
    pub fn toml(&self, error: &FormError) -> TextError {
        let what = with_hint(error.message());
        match error.span() {
            Some(span) => self.error(span, what),
            None => self.whole(what),
        }
    }

    /// An error about keys of a policy: at the key, where this text has it.
    pub fn spec(&self, error: &SpecError) -> TextError {
        match error.span() {
            Some(span) => self.error(span, error.to_string()),
            None => self.whole(error.to_string()),
        }
    }
}
