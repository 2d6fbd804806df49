//! The rules of other schedulers, one file each; [`super::table`] has a row for each.

mod condor;
mod fair_tree;
mod flexible_lending;
mod kai;
mod karma;
mod kueue_afs;
#[cfg(test)]
mod lending_tests;
mod mr_karma;
mod pbs;
mod sge;
mod t_period;
#[cfg(test)]
mod tests;
mod volcano;

use super::rule::Child;
pub(super) use condor::Condor;
pub(super) use fair_tree::FairTree;
pub(super) use flexible_lending::FlexibleLending;
pub(super) use kai::Kai;
pub(super) use karma::Karma;
pub(super) use kueue_afs::KueueAfs;
pub(super) use mr_karma::MrKarma;
pub(super) use pbs::Pbs;
pub(super) use sge::Sge;
pub(super) use t_period::TPeriod;
pub(super) use volcano::Volcano;
