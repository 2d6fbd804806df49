//! Meed on Kubernetes: over time every tenant gets its share of a cluster.
//!
//! | part | what |
//! |---|---|
//! | [`crd`] | the kind `Queue`: what people write, and what they read |
//! | `prices` | what an hour on a node of each class counts |
//! | `pod` | what a pod asks for, where it may run, and what of it is not known |
//! | `world` | the API's words to the engine's and back; pure: no clock, no network |
//! | `connect` | the way to the API server, with time limits |
//! | `watch`, `follow`, `volumes`, `hear` | what is heard, in one stream |
//! | `look` | what became of pods that a list did not show |
//! | `standby` | the picture of who does not lead yet |
//! | `wall` | what time it is |
//! | `writer` | what is written, a bounded number at a time |
//! | `lease` | who leads, and in which term |
//! | `ledger`, `shards` | what outlives the process: checkpoints in ConfigMaps |
//! | `record` | what happened and was decided, for who wants to read it later |
//! | `board`, `listen` | probes and metrics |
//! | `dashboard` | the page of this cluster, and who may see what |
//! | `run` | the loop |
//! | `import` | the queues of Kueue as Queues |
//! | [`people`] | what people ask: `queues`, `why` |
//!
//! One task owns the world and with it the engine; all others talk to it by a channel. So all
//! decisions are made in one place, one after the other, from what was heard; and what was heard
//! may be late, twice, or out of order between kinds, which the world is made for.
//!
//! Who may write is checked where it is written: every start carries the term of its leader, and
//! admission policies (`fence.yaml` in `deploy/kubernetes`) refuse all terms but the present one.

mod board;
mod clock;
mod connect;
pub mod crd;
mod dashboard;
mod device;
mod error;
#[cfg(test)]
mod fake;
mod follow;
mod hear;
mod heard;
mod import;
mod keys;
mod lean;
mod lease;
mod ledger;
mod listen;
mod log;
mod look;
pub mod people;
mod pod;
mod prices;
mod record;
mod relist;
mod run;
mod settings;
mod shards;
mod standby;
mod statuses;
mod version;
mod volumes;
mod wall;
mod watch;
mod world;
mod writer;

pub use error::KubernetesError;
pub use import::import;
pub use run::run;
pub use settings::KubernetesSettings;
