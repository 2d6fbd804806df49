//! What a view sees between a change of shares and the pass that gives them out (`share_out`).

use super::books::Books;
use super::guard::Guard;
use super::tree::Tree;

/// The parts that tell shares, as they are once shares have been given out.
pub(super) struct Seen {
    pub(super) tree: Tree,
    pub(super) books: Books,
    pub(super) guard: Option<Guard>,
}
