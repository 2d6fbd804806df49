//! The floor that Meed's HTTP servers stand on: connections are taken within bounds, and what
//! headers say of who asks is read by one rule.
//!
//! A server has routes, an idea of who somebody is, and words for its refusals; it gives
//! [`HttpLimits`] and a service, and [`HttpLimits::accept`] and [`HttpLimits::serve`] do the rest.
//! [`AskedFrom`] tells pages of others from its own, and [`tell_browser`] adds what every answer
//! tells a browser.

mod accept;
mod headers;
mod origin;
mod seats;
mod stall;

pub use accept::{HttpLimits, WhenFull};
pub use headers::{METRICS, bearer, cookie, one, session_cookie, tell_browser};
pub use origin::AskedFrom;
pub use seats::{Seat, Seats};
