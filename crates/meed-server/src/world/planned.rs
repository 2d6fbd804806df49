//! What a request leads to, between the check before a turn writes and the answer after it.

use crate::access::TokenRow;
use crate::protocol::Answer;

/// What a request leads to, once all is durable.
pub(super) enum Planned {
    /// This answer.
    Answer(Answer),
    /// The job was taken, unless the engine refuses it.
    Submitted(u64),
    /// The job's state.
    View(u64),
    /// The end of the job.
    Wait(u64),
    /// This token, with its secret.
    Token(Box<TokenRow>, String),
}
