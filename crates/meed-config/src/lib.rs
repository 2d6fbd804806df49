//! What people write to configure a scheduler, as values, and back to text.
//!
//! This crate stands between the engine and everybody who reads something that a person wrote:
//! scenario files, traces, logs, problems of `meed allocate`, command lines, servers. It knows no
//! trace, no clock and no file format of its own.
//!
//! Which module do you want?
//! - text to times and amounts, and back: [`units`]; numbers of JSON that lose nothing: [`number`];
//!   decimal digits: [`decimal`]
//! - where a task may run: [`constraints`]
//! - messages: what is quoted, and which known word is near to an unknown one: [`words`]; names as
//!   they may be shown to people: [`text`]

pub mod constraints;
pub mod decimal;
pub mod number;
pub mod text;
pub mod units;
pub mod words;
