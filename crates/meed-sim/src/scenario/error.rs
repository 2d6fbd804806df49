//! What is wrong with a scenario, and where.

use std::fmt;

use meed_config::words::with_hint;

/// A scenario that cannot be run: file, line, what is wrong and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The scenario's file, or where else the text came from.
    pub file: String,
    /// Line, from 1, where it is known.
    pub line: Option<usize>,
    /// The sentence.
    pub what: String,
    /// Whether the file could not be read at all.
    pub unreadable: bool,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// Where messages point to: the text they are about.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Place<'_> {
    /// An error about the piece of text at `span`.
    pub(super) fn error(
        &self,
        span: std::ops::Range<usize>,
        what: impl Into<String>,
    ) -> ScenarioError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        ScenarioError {
            file: self.file.to_owned(),
            line: Some(line),
            what: what.into(),
            unreadable: false,
        }
    }

    /// An error about the scenario as a whole.
    pub(super) fn whole(&self, what: impl Into<String>) -> ScenarioError {
        ScenarioError {
            file: self.file.to_owned(),
            line: None,
            what: what.into(),
            unreadable: false,
        }
    }

    /// A TOML error, with what is near to an unknown word.
    pub(super) fn toml(&self, error: &toml::de::Error) -> ScenarioError {
        let what = with_hint(error.message());
        match error.span() {
            Some(span) => self.error(span, what),
            None => self.whole(what),
        }
    }
}
