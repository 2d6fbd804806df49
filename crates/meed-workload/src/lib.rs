//! Trace readers and generators: from many sources to one canonical workload.
//!
//! A [`JobSource`] is a stream of [`Job`]s in order of submission. Readers (SWIM, SWF, Philly,
//! YARN, anybody's tables, Meed's own format) and generators all make it, worlds take it, and none
//! of them knows policies.
//!
//! Which module do you want?
//! - a trace file: [`swf`], [`mwf`], [`swim`], [`google`], [`philly`], [`yarn`],
//!   [`jhist`], [`spark`], [`kubernetes`], [`table`] (also Slurm's and Alibaba's),
//!   [`canonical`]; [`format`](mod@format) tells them apart
//! - a synthetic workload: [`generate`]; the LTYARN papers': [`macro_workload`]; jobs in memory:
//!   [`inline`]; several sources at once: [`merge`]
//! - the nodes of a cluster, as its own scheduler tells them: [`cluster`]
//! - a look at a source, or a copy of it: [`inspect`], [`convert`]; its jobs kept, to be read
//!   once: [`kept`]
//! - a source whose submissions come faster or slower: [`stretch`](mod@stretch); one without its
//!   outliers: [`outliers`]; one whose jobs are kept to nodes: [`partitions`]; the time for which a
//!   log has all jobs: [`window`], and what of it a cluster takes to fill: [`filling`]
//! - below all of them: the files of [`meed_files`], and [`error`]
//!
//! Invariants: a source hands out jobs in order of submission, each of which passes [`Job::check`];
//! equal input and settings give equal jobs on every machine (integers and software floating point
//! only, no clock, no unseeded randomness); memory does not grow with the length of a trace (but
//! for [`philly`], [`yarn`], [`jhist`], [`spark`], [`kubernetes`] and [`table`], which are sorted,
//! and [`google`], where a job is known only when its tasks have ended).

pub mod canonical;
pub mod changed;
pub mod cluster;
pub mod convert;
pub mod error;
mod fields;
pub mod filling;
pub mod format;
pub mod generate;
pub mod google;
pub mod inline;
pub mod inspect;
pub mod jhist;
mod job;
pub mod kept;
pub mod kubernetes;
pub mod limits;
pub mod machines;
pub mod macro_workload;
pub mod merge;
pub mod mwf;
pub mod noted;
mod ordered;
pub mod outliers;
pub mod partitions;
pub mod philly;
mod records;
pub mod size;
mod source;
pub mod spark;
pub mod stretch;
pub mod swf;
pub mod swim;
pub mod table;
mod whole;
pub mod window;
pub mod yarn;

pub use error::{BadLine, OnBadLine, TraceError};
pub use job::{Durations, Job, JobGroup, JobLabel, MAX_TASKS};
pub use limits::TimeLimits;
pub use meed_files::Origin;
pub use source::{CLOCK_END_US, Cause, JobSource, SourceCounts, Used};
