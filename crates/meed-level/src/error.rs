//! What is wrong with a problem: sentences that say where, and what would be right.

use crate::limits::{LARGEST, MAX_RESOURCES, MOST_CREDITS, SMALLEST};

/// Why a problem cannot be solved. Servers are numbered from 0, as in the input.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum InputError {
    /// Too few or too many resources.
    #[error("there are {given} resources; 1 to {MAX_RESOURCES} are possible")]
    Resources {
        /// How many there are.
        given: usize,
    },
    /// No server.
    #[error("there are no servers; `servers` needs at least one")]
    NoServers,
    /// No user.
    #[error("there are no users; `users` needs at least one")]
    NoUsers,
    /// A count that is none.
    #[error("servers[{server}]: count is {given}; it must be a whole number from 1 to 1e15")]
    Count {
        /// Which one.
        server: usize,
        /// What is written.
        given: f64,
    },
    /// A capacity that is no amount.
    #[error(
        "servers[{server}]: capacity of `{resource}` is {given}; it must be 0, or from \
         {SMALLEST:e} to {LARGEST:e}"
    )]
    Capacity {
        /// Which one.
        server: usize,
        /// Of what.
        resource: String,
        /// What is written.
        given: f64,
    },
    /// A server that has nothing.
    #[error(
        "servers[{server}]: has a capacity of zero; it must have some of at least one resource"
    )]
    EmptyServer {
        /// Which one.
        server: usize,
    },
    /// No name.
    #[error("a user has an empty name")]
    NoName,
    /// Two users of one name.
    #[error("there are two users `{name}`; each needs a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A demand that is no amount.
    #[error(
        "user `{user}`: demand of `{resource}` is {given}; it must be 0, or from {SMALLEST:e} to \
         {LARGEST:e}"
    )]
    Demand {
        /// Whose.
        user: String,
        /// Of what.
        resource: String,
        /// What is written.
        given: f64,
    },
    /// A task that needs nothing.
    #[error("user `{user}`: a task demands nothing; it must demand some of at least one resource")]
    NoDemand {
        /// Whose.
        user: String,
    },
    /// A weight, number of tasks or past usage that is none.
    #[error(
        "user `{user}`: {key} is {given}; it must be {}from {SMALLEST:e} to {LARGEST:e}",
        if *key == "weight" { "" } else { "0, or " }
    )]
    Figure {
        /// Whose.
        user: String,
        /// Which key.
        key: &'static str,
        /// What is written.
        given: f64,
    },
    /// A task larger than every server.
    #[error("user `{user}`: a task demands {need} of `{resource}`; the largest server has {most}")]
    TooLarge {
        /// Whose.
        user: String,
        /// Of what.
        resource: String,
        /// How much.
        need: f64,
        /// The most that a server has.
        most: f64,
    },
    /// A task that fits no server, though no single resource is to blame.
    #[error("user `{user}`: a task fits no server: each lacks some of a resource that it demands")]
    FitsNowhere {
        /// Whose.
        user: String,
    },
    /// A demand for what no server has.
    #[error("user `{user}`: demands the unknown resource `{resource}`; {known}")]
    UnknownResource {
        /// Whose.
        user: String,
        /// Of what.
        resource: String,
        /// What there is.
        known: String,
    },
    /// Not a number of slots.
    #[error("slots_per_server is {given}; it must be a whole number from 1 to 1e6")]
    Slots {
        /// What is written.
        given: f64,
    },
    /// No value of the pool.
    #[error("worth is {given}; it must be from {SMALLEST:e} to {LARGEST:e}")]
    Worth {
        /// What is written.
        given: f64,
    },
    /// More credits than can be told apart.
    #[error(
        "user `{user}`: credits are {given}; they must be at most {MOST_CREDITS}, where 1 is the \
         whole pool for the time of the allocation (only differences count: take as many from all)"
    )]
    Credits {
        /// Whose.
        user: String,
        /// What is written.
        given: f64,
    },
    /// Who has paid nothing has no share of what is paid for.
    #[error(
        "user `{user}`: has paid nothing; under as-you-pay `paid` must be above 0 (leave out who \
         only takes what is left)"
    )]
    NothingPaid {
        /// Whose.
        user: String,
    },
    /// Amounts of money whose ratio is lost in rounding.
    #[error(
        "user `{user}`: {key} is {given}, too far from the pool's worth; their ratio must be 0, \
         or from {SMALLEST:e} to {LARGEST:e}"
    )]
    FarFromWorth {
        /// Whose.
        user: String,
        /// Which key.
        key: &'static str,
        /// What is written.
        given: f64,
    },
    /// The text is no such document.
    #[error("{0}")]
    Syntax(String),
}
