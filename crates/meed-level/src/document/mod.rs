//! Problems and results as text: JSON and TOML in, JSON out (docs/allocate.md).

mod read;
mod write;

pub use read::{DocumentError, Format, read};
pub use write::to_json;
