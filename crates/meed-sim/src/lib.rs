//! The virtual-time simulator.
pub mod record;
