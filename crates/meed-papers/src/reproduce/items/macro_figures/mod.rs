//! The figures of LTYARN's evaluation, on the macro-workloads made anew (TSC'18 Sec. 7, ICS'14 Sec.
//! 6).
//!
//! | file | what |
//! |---|---|
//! | [`experiment`] | clusters, queues, starts; runs over seeds, task times and cores |
//! | [`claim`] | what a paper says of a number, and how often it came out |
//! | [`reading`] | numbers and lines off a run's samples |
//! | the rest | one figure each: an experiment, what is read off a run, and the claims |
//!
//! The papers' task times are mostly unknown, so each claim is asked of every seed at half, at the
//! assumed and at double the times, and counts as agreeing when three quarters of these runs do.

pub(super) mod claim;
mod experiment;
mod ics_fig7;
mod reading;
#[cfg(test)]
mod tests;
mod tsc_fig10;
mod tsc_fig11;
mod tsc_fig6;
mod tsc_fig7;
mod tsc_fig8;

pub(super) use ics_fig7::ics_fig7;
pub(super) use tsc_fig6::tsc_fig6;
pub(super) use tsc_fig7::tsc_fig7;
pub(super) use tsc_fig8::tsc_fig8;
pub(super) use tsc_fig10::tsc_fig10;
pub(super) use tsc_fig11::tsc_fig11;
