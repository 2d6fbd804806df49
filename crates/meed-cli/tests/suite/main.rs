//! `meed` as users run it. One program, so that it is linked once.

mod common;

mod advised;
mod allocate;
mod bad_input;
mod bad_mapreduce;
mod begin;
mod cluster;
mod crates;
mod determinism;
mod docs;
#[path = "../../../meed-sim/tests/suite/backfill/engine.rs"]
mod engine;
mod escapes;
mod examples;
mod explain;
mod files;
mod issue;
mod jobs;
mod live;
mod logged;
mod manual;
mod mapreduce;
mod names;
mod overtaken;
mod partitions;
mod possible;
mod prose;
mod real_backfill;
mod real_traces;
mod replay;
mod slurm_day;
mod spark;
mod sweep;
mod tables;
mod tidy;
#[path = "../../../meed-sim/tests/suite/backfill/twins/mod.rs"]
mod twins;
mod versions;
mod weights;
mod window;
