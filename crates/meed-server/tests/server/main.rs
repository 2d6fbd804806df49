//! A server, its supervisors and its clients, as real processes.
//!
//! A program of its own: it needs the system rather than the crates, and is run by itself, as root
//! for what only root can show: `cargo test -p meed-server --test server`. What is left out says
//! so.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bench;

mod bad_input;
mod beside;
mod clock;
mod crash;
mod cut_off;
mod gpus;
mod groups;
mod handed;
mod hold;
mod hostile;
mod http;
mod http_hostile;
mod life;
mod many;
mod members;
mod outputs;
mod policies;
mod reclaim;
mod scripts;
mod sessions;
mod state;
mod storm;
mod systemd;
mod top;
mod tutorial;
mod users;
mod web;
mod whom;
