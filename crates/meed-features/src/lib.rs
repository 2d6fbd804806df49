//! Nothing but dependencies: `Cargo.toml` names the features of crates that several of Meed's
//! programs share, so that each program builds them with the same features. `cargo xtask features`
//! checks it, and names the row that is missing.
