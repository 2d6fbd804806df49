//! The engine from outside: what the papers promise, and a slow twin that checks every decision.
//!
//! One binary, so that it links once and helpers that only some files need are no dead code.
//! `common` holds the smallest possible world and the twin; each other file is one topic.

mod bounded;
mod chaos;
mod churn;
mod commitment;
mod common;
mod conservation;
mod events;
mod forgotten;
mod gangs;
mod guard;
mod hierarchy;
mod live;
mod memory;
mod node_weights;
mod offers;
mod papers;
mod policies;
mod quantum;
mod reclaim;
mod refusals;
mod rescaled;
mod reserved;
mod returns;
mod rotation;
mod rounds;
mod spares;
mod state;
mod taken_back;
mod told;
mod twin;
mod unequal;
