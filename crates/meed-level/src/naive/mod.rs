//! The policies that DRFH is compared with.

pub(crate) mod per_server;
pub(crate) mod slots;
