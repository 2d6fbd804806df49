//! The world without a server.
