//! What a pod of Kubernetes holds, and from when to when.
//!
//! The Kubernetes world reads pods as the API server sends them, the reader of traces as kubectl
//! lists them. Both ask here, so a pod counts for the same in both. Nothing here knows the objects
//! of the API: callers say what they have read ([`PodHolds`], [`PodTimes`]), as amounts and
//! instants.
//!
//! The rule is that of kube-scheduler (Kubernetes 1.37, `component-helpers/resource`, function
//! `PodRequests` with status resources and pod-level resizes, which are on by default from 1.36):
//!
//! | step | what |
//! |---|---|
//! | 1 | the sum of containers and sidecars, or what the largest init container needs beside the sidecars that come before it, whichever is more |
//! | 2 | that sum three times: as the spec wants it, as it is allocated, as it is on the node; the largest of the three counts. Up to 1.36 the largest of each container counts instead, which is never less ([`Resizes`]) |
//! | 3 | after a resize that the node cannot give (condition `PodResizePending`, reason `Infeasible`) the spec is left out of step 2 |
//! | 4 | requests of the whole pod (`spec.resources`) take the place of that sum, by the same rule |
//! | 5 | the overhead of its runtime class is added |
//!
//! Claims of devices (dynamic resource allocation) are in no request: who counts them counts the
//! claims.

mod holds;
pub mod quantity;
mod times;

pub use holds::{ContainerHolds, PodHolds, Resizes, TooLarge, is_pod_level};
pub use times::PodTimes;
