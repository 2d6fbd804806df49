//! Meed on one machine: the server that a team shares, and the program `meed-server`, which `meed`
//! runs for `meed serve`, `meed submit` and the other commands of a server.
//!
//! | part | what |
//! |---|---|
//! | [`service`] | socket, signals, service manager; one thread owns the world |
//! | [`world`] | what the driver decides becomes processes, and their ends become events |
//! | [`books`] | jobs as they were submitted, and how tasks ended |
//! | [`run`] | the folder of a task: what server and supervisor say to each other |
//! | [`group`] | control groups: nobody gets away, and what is taken is bounded |
//! | [`session`] | what an interactive task and its user say to each other |
//! | [`supervise`] | the process that runs a task, and outlives the server |
//! | [`settings`] | the configuration; who may do what |
//! | [`protocol`], [`client`] | what users and the server say to each other |
//! | `access`, `http` | who comes in by HTTP; the interface, and the dashboard |
//! | `feed`, `metrics` | what others watch |
//! | `cli` | the command line |
//!
//! Invariants: nothing is acknowledged or begun before it is durable; an attempt of a task begins
//! at most once, whatever dies in between; who a user is says the system alone.

mod access;
pub mod books;
mod cli;
pub mod client;
pub mod clock;
mod feed;
pub mod group;
pub mod here;
mod http;
pub mod protocol;
pub mod run;
pub mod service;
pub mod session;
pub mod settings;
pub mod spec;
pub mod supervise;
pub mod text;
pub mod user;
pub mod world;

pub use cli::main;
