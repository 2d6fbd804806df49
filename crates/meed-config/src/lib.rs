//! What people write to configure a scheduler, as values, and back to text.
//!
//! This crate stands between the engine and everybody who reads something that a person wrote:
//! scenario files, traces, logs, problems of `meed allocate`, command lines, servers. It knows no
//! trace, no clock and no world.
//!
//! Which module do you want?
//! - a whole cluster, for [`meed::Engine::new`]: [`cluster`]
//! - a policy by its name and keys: [`policy`]; its own words of the command line:
//!   [`policy::Words`]
//! - parts of a file: [`queues`], [`nodes`], [`constraints`]
//! - text to times and amounts, and back: [`units`]; numbers or text, as files hold them:
//!   [`quantity`]; numbers of JSON that lose nothing: [`number`]; decimal digits: [`decimal`]
//! - a form of one's own, from TOML or data: [`tree`]
//! - messages: where something is wrong, [`place`]; what is quoted, and which known word is near to
//!   an unknown one, [`words`]; names as they may be shown to people, [`text`]

pub mod cluster;
pub mod constraints;
pub mod decimal;
pub mod gang;
pub mod nodes;
pub mod number;
pub mod place;
pub mod policy;
pub mod quantity;
pub mod queues;
pub mod text;
pub mod tree;
pub mod units;
pub mod words;

pub use cluster::ClusterConfig;
pub use place::{Place, TextError};
pub use policy::PolicySpec;
pub use tree::Spanned;
