//! A task's folder: what the server and the supervisor of one attempt say to each other.
//!
//! | file | who writes it | what |
//! |---|---|---|
//! | `ticket.json` | server, before it starts the supervisor | what is to be run |
//! | `claim` | supervisor, or the server in its place | who may run it: there is one for ever. It appears whole, and locked while its supervisor lives |
//! | `began.json` | supervisor | since when it runs |
//! | `stop.json` | server, before it asks a supervisor to end for another task | for whom, and how soon |
//! | `result.json` | supervisor, at the end, durably | how it ended, and when |
//! | `problem` | the task's own beginning | why the command could not begin |
//!
//! Invariant: an attempt begins at most once, whatever dies in between. Whoever makes `claim` may
//! begin; it is made by linking, which fails where there is one. The server takes the claim itself
//! of a task that must not begin any more.

mod folder;
mod leftover;
mod stop;
mod ticket;
mod watch;

pub use folder::{FolderState, TaskFolder};
pub use leftover::kill_leftovers;
pub use stop::StopOrder;
pub use ticket::{Account, Began, EndCause, How, TaskEnd, Ticket, TicketSession};
pub use watch::{SupervisorWatch, Watched};
