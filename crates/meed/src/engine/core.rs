//! What every engine has: the tree, jobs and tasks, room, accounts, and who may be asked.
//!
//! Its parts have private fields and know nothing of each other. What `impl Core` adds, in the
//! files of this folder, are the steps that touch several parts. [`Engine`](super::Engine) puts
//! these steps in order, and tells the reservations (`holds`), which the core does not know: it
//! knows what they make of the walk alone ([`Reserved`]).

use std::cell::OnceCell;

use super::books::Books;
use super::guard::Guard;
use super::ready::Ready;
use super::rescale::rows::Rescaling;
use super::reserved::Reserved;
use super::room::Room;
use super::seen::Seen;
use super::servers::Servers;
use super::tree::Tree;
use super::work::Work;
use crate::policy::{Blocked, Policy};
use crate::resources::ResourceKinds;
use crate::time::Time;

/// See the module.
pub(super) struct Core {
    pub(super) kinds: ResourceKinds,
    pub(super) now: Time,
    /// Whose child is who, with what share.
    pub(super) tree: Tree,
    /// What there is to do, and what is being done.
    pub(super) work: Work,
    /// What fits where.
    pub(super) room: Room,
    /// Who has used what.
    pub(super) books: Books,
    /// Who may be asked.
    pub(super) ready: Ready,
    /// Which waiting tasks are out of the walk for their reservation.
    pub(super) reserved: Reserved,
    /// Who is served out of turn, if the root's policy says so.
    pub(super) guard: Option<Guard>,
    /// What is held on each server, where each decides on its own.
    pub(super) servers: Option<Servers>,
    /// Whether a parent may stand by its children rescaled: what nobody has costs nothing.
    pub(super) rescales: bool,
    /// What is kept for that.
    pub(super) rescaling: Rescaling,
    /// Whether to stop at a task that fits nowhere (`Blocked::Wait`; with reservations, while it is
    /// looked for who is first).
    pub(super) waits: bool,
    /// Whether shares are to be given out before somebody reads them (`share_out`).
    pub(super) shares_due: bool,
    /// What they will make of tree and books, for who looks meanwhile.
    pub(super) seen: OnceCell<Box<Seen>>,
    /// See [`View::sweeps`](super::View::sweeps) and
    /// [`View::refreshes`](super::View::refreshes).
    pub(super) sweeps: u64,
    pub(super) refreshes: u64,
    /// See [`View::recharged`](super::View::recharged): by row of the queue, as far as there is
    /// anything to tell.
    pub(super) recharged: Vec<u64>,
}

impl Core {
    /// A core in which nothing has happened yet, under the policy of its root.
    pub(super) fn of(
        kinds: ResourceKinds,
        tree: Tree,
        room: Room,
        books: Books,
        root: &Policy,
    ) -> Core {
        Core {
            now: Time::ZERO,
            tree,
            work: Work::new(),
            room,
            books,
            ready: Ready::new(kinds.len()),
            reserved: Reserved::default(),
            guard: root.t_wait.map(|t_wait| Guard::new(t_wait, root)),
            servers: Servers::of(root),
            rescales: false,
            rescaling: Rescaling::default(),
            waits: root.blocked == Blocked::Wait,
            shares_due: false,
            seen: OnceCell::new(),
            sweeps: 0,
            refreshes: 0,
            recharged: Vec::new(),
            kinds,
        }
    }
}
