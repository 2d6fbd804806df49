//! How accounts are kept, and how often ranks are told: `[accounts]` and keys of `as-you-pay`.

use meed::Span;

/// What a tenant is entitled by.
///
/// It is part of [`Terms`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Entitled {
    /// What it has paid.
    #[default]
    Paid,
    /// What it has contributed, at the pool's price of the moment.
    Contributed,
}

/// What a unit of a resource that was received counts.
///
/// It is part of [`Terms`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ValueBy {
    /// The pool's price of the moment.
    #[default]
    Price,
    /// The same at all times.
    Resource,
}

/// How accounts are kept, and how often ranks are told.
///
/// ```
/// use meed::Span;
/// use meed_scenario::plans::{Entitled, Terms, ValueBy};
///
/// let every = Span::from_secs(60).ok_or("in range")?;
/// let terms = Terms { entitled: Entitled::Paid, value: ValueBy::default(), every };
/// assert_eq!(terms.value, ValueBy::Price);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// What a tenant is entitled by.
    pub entitled: Entitled,
    /// What a unit that was received counts.
    pub value: ValueBy,
    /// How often ranks are told.
    pub every: Span,
}

impl Terms {
    /// Reads a key of theirs; nothing where it is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let one_of = |known: &str| format!("{key} is `{value}`; it is one of {known}");
        match (key, value) {
            ("entitled", "paid") => self.entitled = Entitled::Paid,
            ("entitled", "contributed") => self.entitled = Entitled::Contributed,
            ("entitled", _) => return Err(one_of("paid, contributed")),
            ("value", "price") => self.value = ValueBy::Price,
            ("value", "resource") => self.value = ValueBy::Resource,
            ("value", _) => return Err(one_of("price, resource")),
            _ => {
                let every = meed_config::units::parse_span(value);
                self.every = every.map_err(|why| format!("every: {why}"))?;
                if self.every == Span::ZERO {
                    return Err("every must be above zero".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// Keys of [`Terms`].
pub(crate) const TERMS: [&str; 3] = ["entitled", "value", "every"];

impl Default for Terms {
    fn default() -> Terms {
        let every = Span::from_micros(60_000_000).unwrap_or(Span::MAX);
        Terms { entitled: Entitled::default(), value: ValueBy::default(), every }
    }
}
