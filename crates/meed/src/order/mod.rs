//! Who is served next: the key of a child, made from its queue's policy.
//!
//! [`Domain`] is a queue's way to order its children (queues, or jobs in a leaf); [`Standing`] is
//! one child's position in it: what it holds, what its ledger says, since when it counts. The
//! measures are one small file each; this module knows nothing of trees, jobs or places.
//!
//! A child's amount is a scalar, or, for dominant shares, a vector (`dominant`): [`Rate`] is
//! either.
//!
//! **The law that every measure keeps: keys never fall between events.** While time passes and
//! nothing is told, a key stays or rises, and it may rise when a task starts; what may make it fall
//! (a task that ends before its quantum, a new weight, a new round) comes with an event or a chore,
//! which brings the stored key up to date at once (`Engine::rekey`). The heaps rest on it: a stored
//! key is a lower bound, and only the top is read anew (`heap`), so a key that falls by the clock
//! alone would be served too late. [`heap::Heap::certifies`] asserts it at each look in builds with
//! assertions. A measure that fades with time cannot be compared as it is: find what all children
//! share of the fading and leave it out, as `ledger::clock` does.
//! A rule for which there is no such thing is no measure: it is computed outside, and told
//! (`told`).
//!
//! **Ties.** Of siblings with equal keys the one served longest ago comes first: starts are
//! numbered, and the number of a child's last service (the last start of a task of it, or below it)
//! stands behind its ratio; who was never served has 0 and comes first, in order of declaration. A
//! number changes when a task of its child starts, and rises then, so the law of keys holds. Who is
//! `told` where it stands is told its ties too: there declaration decides.
//!
//! > *Rotation.* Take consecutive starts below a parent, at each of which all children in a set D
//! > want something that fits and have the same tier and ratio, the smallest of all. Between two
//! > starts of one of them each other one in D starts exactly once. So in any stretch of such
//! > starts the numbers of starts of any two children in D differ by at most one.
//!
//! Proof: at each of these starts the child in D with the smallest number is served, and gets the
//! largest. After a start of c, all others in D have smaller numbers than c until they are served,
//! so c is not served again before each of them is. When d is served meanwhile, its number is
//! larger than c's, so d is not served again before c is. The starts go round D.
//!
//! Equal children that end and start at once stay equal: under `fair`, n children of one weight
//! that always want unit tasks, G of which run at a time and end together, are served in turns for
//! ever, so that their totals never differ by more than one (tests/suite/rotation.rs), where
//! declaration would give the first G mod n one task more in each round.
//!
//! A start that is undone was a service here (unlike in ledgers): it was that child's turn. Were it
//! given back, a child whose starts always fail would come first at each tie. Adopted tasks count
//! when they are told of, in the order in which they are told.
//!
//! To add a measure: its row in CONTRIBUTING.md names the places, and those of which neither
//! compiler nor tests notice that they were forgotten.

mod carry;
mod commitment;
pub(crate) mod domain;
pub(crate) mod dominant;
mod fair;
mod fifo;
pub(crate) mod heap;
pub(crate) mod key;
mod long_term;
mod measure;
mod newcomer;
mod parts;
pub(crate) mod rate;
pub(crate) mod rescaled;
mod seldom;
pub(crate) mod standing;
mod state;
pub(crate) mod task_share;
pub(crate) mod terms;
mod told;

pub(crate) use domain::Domain;
pub(crate) use dominant::Pool;
pub use key::Tier;
pub(crate) use newcomer::pseudo_accumulated;
pub(crate) use rate::{Rate, Requantified};
pub(crate) use standing::Standing;
pub(crate) use task_share::Alone;
pub(crate) use terms::{Minimum, Terms};
