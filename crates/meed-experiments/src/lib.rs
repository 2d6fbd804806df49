//! Experiments over the simulator: many runs, compared with a claim.
//!
//! | module | question |
//! |---|---|
//! | [`advise`] | Which memory serves my aims, on my log? |
//! | [`rivals`] | What would other schedulers do with my log? |
//! | [`sweep`] | How do the results depend on a setting? |
//!
//! An experiment decides nothing and measures nothing itself: it makes scenarios, lets `meed-sim`
//! run them on all cores, reads the records, and says what they show, as typed results that the
//! report renders and scripts read.

pub mod advise;
pub mod cores;
mod error;
mod gain;
pub mod order;
pub mod rivals;
pub mod sweep;
