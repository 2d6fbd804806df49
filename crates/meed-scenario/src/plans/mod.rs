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
//! | `terms` | how accounts are kept |
//!
//! The books of a run (paid, entitled, received, valued, exactly) and ranks from them are the
//! worlds' (`meed_sim`).
//!
//! Invariants, asserted: what all are entitled to is the capacity, to the last unit; payments are
//! what contributions cost; balances sum to nothing. Money is counted in whole grains, and values
//! in whole parts of a grain; nothing is rounded but a fee's last grains and ranks.

mod contribution;
mod price;
mod terms;
mod timetable;
mod weights;

pub use contribution::GRAINS;
pub(crate) use contribution::{Contribution, PricingPlan};
pub use price::MONEY;
pub(crate) use price::{Prices, money};
pub(crate) use terms::TERMS;
pub use terms::{Entitled, Terms, ValueBy};
pub use timetable::{PlanMoment, PlanPart, Pool, Timetable};

/// The order by what was received over what was paid, on the command line.
pub const AS_YOU_PAY: &str = "as-you-pay";
