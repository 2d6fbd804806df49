//! The MapReduce world: maps and reduces that contend for cores, disks and networks
//! (docs/mapreduce.md).
//!
//! Unlike in the world of `meed-sim`, how long a task runs is not given but follows: each task is a
//! sequence of phases, and each phase is work at one server that all tasks there share (`sharing`).
//! Nodes tell at heartbeats what has ended, and ask for work; the engine says which job is served
//! ([`meed::Engine::offer`]), [`classes`] which maps a slot may run. The crate reads no
//! file and no clock: `[mapreduce]` of a scenario is handed to it as
//! [`tables::MapReduceForm`].
//!
//! Files: `cluster` machines as declared; `sharing` one server; `hosts`, `pools` servers that share
//! one below them; `timers` the next of many; `machines` servers of nodes; `flows` works side by
//! side; `blocks` where input lies; `kinds` what jobs do; `tasks` phases; `courses` shuffle and
//! output as Hadoop's; `copies`, `stage` speculative execution; `pages` what of files lies in
//! memory, `caches` whose memory; `setup` what a run starts from, `run` one of them; `world` the
//! loop; `rounds` when heartbeats come; `beat` one of them; `nodes` which slots are taken; `jobs`
//! what is known of them, `lives` their lives; `views` samples for reports.

mod beat;
mod blocks;
mod caches;
pub mod classes;
mod cluster;
mod copies;
mod courses;
mod error;
mod flows;
mod hosts;
mod jobs;
mod kinds;
mod lives;
mod machines;
mod nodes;
mod pages;
mod pools;
mod record;
mod rounds;
mod run;
mod setup;
mod sharing;
mod stage;
pub mod tables;
mod tasks;
mod timers;
#[cfg(test)]
mod twin;
mod views;
mod world;

pub use cluster::{AsHadoop, Cluster, Machine, Master, SpeedChange, Speeds};
pub use error::MapReduceError;
pub use hosts::{Host, HostsOf};
pub use kinds::{KINDS, MapReduceKind, RATIO_ONE, Reduces};
pub use run::run;
pub use setup::{Begin, MapReduceRequest, MapReduceSetup, PlannedJob};
pub use world::MapReduceWorld;

/// What the header of a run calls this world.
pub const WORLD: &str = "mapreduce";
