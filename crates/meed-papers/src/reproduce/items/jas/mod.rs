//! Class-aware placement (JAS: Hsieh et al., IEEE TCC 2018): the paper's examples and its
//! evaluation, and what lies beyond it.
//!
//! | file | what |
//! |---|---|
//! | [`worlds`], [`shared`] | environments, rules, runs over seeds; runs that are made once |
//! | [`worked`] | Fig. 2 to 5: slots and assignments of small clusters |
//! | [`single`] | Fig. 6 and 7: each job alone |
//! | [`rules`] | Fig. 8, 9, 11 and 12: time and locality of all rules |
//! | [`trace`] | what binds when in one run, and what a class-aware choice gains |
//! | [`threshold`] | Fig. 10: when DJASL sets its slots anew |
//! | [`hosts`] | the same on seven blades and four partitions that all machines share |
//! | [`blades`], [`variant`] | those blades and partitions; environments with one thing changed |
//! | [`study`] | which verdicts hang on our assumptions |
//! | [`ablation`] | which single fact moves which claim, and how far |
//! | [`fair`] | all of it under long-term fairness, in seven environments |
//! | [`beyond`], [`slow_down`], [`tenants`] | unequal disks and networks, stragglers; nodes that slow down; many tenants |

mod ablation;
mod beyond;
mod blades;
mod fair;
mod hosts;
mod rules;
mod shared;
mod single;
mod slow_down;
mod study;
mod tenants;
#[cfg(test)]
mod tests;
mod threshold;
mod trace;
mod variant;
mod worked;
mod worlds;

pub(super) use ablation::ablation;
pub(super) use beyond::{stragglers, unequal};
pub(super) use fair::under_long_term;
pub(super) use hosts::on_hosts;
pub(super) use rules::figures_8_to_12;
pub(in crate::reproduce) use shared::Shared;
pub(super) use single::{figure_6, figure_7};
pub(super) use slow_down::slow_down;
pub(super) use study::study;
pub(super) use tenants::tenants;
pub(super) use threshold::figure_10;
pub(super) use trace::trace;
pub(super) use worked::{figure_3, figure_4, figure_5};
