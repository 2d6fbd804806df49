//! What the API server has answered to an order.

use k8s_openapi::api::core::v1::Pod;

/// What whoever wrote found.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Found {
    /// It was done.
    Done,
    /// The pod is gone; one of its name is another.
    Gone,
    /// It was refused; the pod, as it was read after that.
    Pod(Box<Pod>, String),
}

/// The answer to an order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Answer {
    /// Which pod.
    pub(crate) uid: String,
    /// What became of it.
    pub(crate) found: Found,
}
