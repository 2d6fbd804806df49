//! How much each user gets of a pool of unequal servers, exactly: the fluid optimum (divisible
//! tasks) of DRFH, with a proof that anyone can check.
//!
//! Find the largest level at which the dominant shares x_i(level) = clip(w_i level - H_i, 0, cap_i)
//! fit on the servers (Wang, Liang, Li, "Multi-Resource Fair Allocation in Heterogeneous Cloud
//! Computing Systems", TPDS 2015, Eq. 6; weights and finite tasks: Sec. 5.1; history H_i: the
//! long-term form, of Tang et al. 2014, Sec. VI). Who can rise above that level goes on, until
//! nobody can: the allocation is lexicographically largest, hence Pareto optimal.
//!
//! | module | what |
//! |---|---|
//! | [`problem`], [`error`] | servers, users; what can be wrong with them |
//! | [`policy`] | which policies there are, and [`allocate`] |
//! | `past` | what a policy holds against a user, as a weight and a history |
//! | `exact` | the level: one server, two resources in closed form, more by prices |
//! | `naive` | the policies to compare with: DRF on each server, slots |
//! | [`allocation`] | the result: shares, who is served where, the certificate |
//! | [`verify`](mod@verify) | checks a result against its problem, independently of how it was found |
//! | [`audit`] | properties of DRFH Sec. 3.3 and 4.5, measured on a result |
//! | [`examples`] | the papers' worked examples |
//! | [`document`] | problems and results as JSON and TOML |
//!
//! **Why a crate of its own.** The engine decides on exact integers and may depend on next to
//! nothing; here are ratios in floating point, matrices, and a document format, none of which a
//! decision needs. It is as pure: no I/O, clock or randomness, only + - * / and square roots; same
//! input, same bytes. There is no LP library in it either: the interior point method that three
//! resources need is small once the structure is used, and much faster than a general solver, which
//! serves as the slow twin in tests.

mod allocate;
pub mod allocation;
pub mod audit;
pub mod document;
pub mod error;
mod exact;
pub mod examples;
pub mod limits;
mod line;
mod naive;
mod past;
pub mod policy;
mod pool;
pub mod problem;
pub mod verify;

pub use allocate::{Sorted, allocate};
pub use allocation::{Allocation, Certificate, Round, UserShare};
pub use error::InputError;
pub use policy::{AllocationPolicy, POLICIES};
pub use problem::{Problem, Server, User, UserLedgers};
pub use verify::{VerifyError, verify};
