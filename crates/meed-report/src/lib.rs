//! Run records to what people and programs read: a terminal table, a JSON file, and one HTML file
//! with plots.
//!
//! | function | for |
//! |---|---|
//! | [`summary_table`] | the terminal: policies compared, then tenants |
//! | [`to_json`], [`write_json`] | programs: the record as it is (docs/json.md) |
//! | [`write_jobs`] | programs: jobs one by one, as CSV (docs/jobs.md) |
//! | [`to_html`] | a browser, also offline: interactive plots, tables, explanations |
//! | [`wrap`] | a line of text over several |
//! | [`dashboard`] | worlds that serve the dashboard: its files |
//! | [`page`] | results of any other kind, described once: a browser or the terminal |
//!
//! This crate shows what a [`meed_driver::record::Comparison`] holds and computes nothing else than
//! layout, order and quantiles across tenants. It reads no clock: the same record gives the same
//! bytes.

mod accounts;
pub mod dashboard;
mod embed;
mod gains;
mod html;
mod jobs;
mod json;
mod legend;
mod made;
mod number;
mod overtaken;
pub mod page;
pub mod parts;
mod rounded;
mod shell;
mod table;
mod tenants;
mod words;

pub use accounts::write_accounts;
pub use html::{to_html, to_html_made};
pub use jobs::{bounded_slowdown, write_jobs};
pub use json::{to_json, write_json};
pub use made::Made;
pub use table::{TableOptions, summary_table};
pub use words::wrap;
