//! What is wrong with a text that is read into a form, and where.

use std::fmt;
use std::ops::Range;

/// What is wrong, and the place of the innermost value that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormError(Box<Inner>);

// Behind a pointer: results of forms are then as small as the forms.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Inner {
    message: String,
    span: Option<Range<usize>>,
}

impl FormError {
    pub(super) fn new(message: String, span: Option<Range<usize>>) -> FormError {
        FormError(Box::new(Inner { message, span }))
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the text.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// About `place`, unless something within it is known to be to blame.
    #[cold]
    pub(super) fn at(mut self, place: &Range<usize>) -> FormError {
        self.0.span.get_or_insert_with(|| place.clone());
        self
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for FormError {}

impl serde::de::Error for FormError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> FormError {
        FormError::new(message.to_string(), None)
    }
}

impl From<toml::de::Error> for FormError {
    fn from(error: toml::de::Error) -> FormError {
        FormError::new(error.message().to_owned(), error.span())
    }
}
