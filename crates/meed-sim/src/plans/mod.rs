//! Prices and plans (docs/prices-and-plans.md): tenants contribute instances under plans, at prices
//! that move, and what they receive is held against what they have paid.
//!
//! Of tenant i at instant t: rate p_i (money per hour), contribution c_ir and use g_ir of resource
//! r; P and C_r are the sums over tenants. Everything is constant between the instants of the
//! timetable, and use between events.
//!
//! > paid     P_i = integral of p_i, and what was paid at once
//! > credit   E_i = P_i, or the integral of P * mean over r of c_ir / C_r
//! > value    V_i = max over r of the integral of v_r * g_ir;  v_r = P / C_r, or 1 / (most C_r)
//! > key of `as-you-pay` = V_i / E_i
//!
//! Keys fall between events where credit grows faster than value, which no measure of the engine
//! may. So ranks are told (`meed::Measure::Told`): before an instant with an event, whenever the
//! timetable has changed or the cadence is over.
//!
//! | module | what |
//! |---|---|
//! | `price` | prices, and series of them |
//! | `contribution` | one contribution: when it is there, what it costs |
//! | `timetable` | what changes when, in the order of time |
//! | `weights` | what orders that know weights alone are told |
//! | `accounts` | the books: paid, entitled, received, valued, exactly |
//! | `ranks` | from the books to ranks |
//! | `statement` | the books at the end, for people |
//!
//! Invariants, asserted: what all are entitled to is the capacity, to the last unit; payments are
//! what contributions cost; balances sum to nothing. Money is counted in whole grains, and values
//! in whole parts of a grain; nothing is rounded but a fee's last grains and ranks.

mod accounts;
mod contribution;
mod price;
mod ranks;
mod statement;
mod timetable;
mod weights;

use meed::Span;

pub use accounts::Accounts;
pub(crate) use contribution::{Contribution, PricingPlan};
pub(crate) use price::{Prices, money};
pub(crate) use timetable::Timetable;

/// The order by what was received over what was paid, on the command line.
pub const AS_YOU_PAY: &str = "as-you-pay";

/// What a tenant is entitled by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Entitled {
    /// What it has paid.
    #[default]
    Paid,
    /// What it has contributed, at the pool's price of the moment.
    Contributed,
}

/// What a unit of a resource that was received counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Value {
    /// The pool's price of the moment.
    #[default]
    Price,
    /// The same at all times.
    Resource,
}

/// How accounts are kept, and how often ranks are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    pub(crate) entitled: Entitled,
    pub(crate) value: Value,
    pub(crate) every: Span,
}

impl Terms {
    /// Reads a key of theirs; nothing where it is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let one_of = |known: &str| format!("{key} is `{value}`; it is one of {known}");
        match (key, value) {
            ("entitled", "paid") => self.entitled = Entitled::Paid,
            ("entitled", "contributed") => self.entitled = Entitled::Contributed,
            ("entitled", _) => return Err(one_of("paid, contributed")),
            ("value", "price") => self.value = Value::Price,
            ("value", "resource") => self.value = Value::Resource,
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
        Terms { entitled: Entitled::default(), value: Value::default(), every }
    }
}
