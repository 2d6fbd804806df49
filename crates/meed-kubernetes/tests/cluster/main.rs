//! Meed against a real control plane: etcd, kube-apiserver, kube-scheduler, with fake nodes (kwok).
//!
//! `cargo xtask kubernetes` builds the control plane and runs these. Where it is not built they say
//! so, and pass; with `MEED_CONTROL_PLANE` set that is a failure (`later`: they are left out, for
//! that command runs them). Meed runs with the shipped role and no other right; what must hold is
//! read from the API alone ([`check`]).

mod admits;
mod answers;
mod chart;
mod check;
mod clock;
mod cluster;
mod counted;
mod curves;
mod dashboard;
mod faults;
mod gangs;
mod gone;
mod image;
mod late;
mod log;
mod marks;
mod neighbours;
mod newest;
mod nodes;
mod people;
mod pins;
mod plane;
mod prices;
mod priorities;
mod probes;
mod promised;
mod reclaim;
mod rules;
mod silent;
mod speed;
mod standby;
mod story;
mod takeover;
mod tutorial;
mod unplaced;
mod volumes;
mod weigh;
