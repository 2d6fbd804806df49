//! Files in and out, for every crate that reads or writes one.
//!
//! - in: [`open`] makes plain bytes of a file, whatever its compression; [`lines`] makes numbered
//!   lines of these.
//! - out: [`create`] writes a file that appears whole or not at all; [`guard`] sees that it never
//!   takes the place of a file that is read, nor of another output. Only a guard opens outputs, so
//!   nobody can forget it.
//!
//! Every failure is a [`FileError`], whose sentence names the file as the caller did.

pub mod create;
mod error;
pub mod guard;
pub mod lines;
mod lz4;
mod members;
pub mod open;

pub use create::Output;
pub use error::FileError;
pub use guard::{Guard, GuardError};
pub use open::{Input, Origin};
