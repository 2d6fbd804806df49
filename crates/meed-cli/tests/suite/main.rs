//! `meed` as users run it. One program, so that it is linked once.

mod common;

mod allocate;
mod audit;
mod bad_input;
mod crates;
mod determinism;
mod docs;
mod escapes;
mod explain;
mod files;
mod issue;
mod live;
mod mapreduce;
mod possible;
mod real_traces;
mod replay;
mod sweep;
mod tidy;
