//! DRFH: the paper's examples and its trace-driven evaluation (Wang, Liang, Li, IEEE TPDS 2015;
//! Tang et al. 2014, Fig. 4).
//!
//! | file | what |
//! |---|---|
//! | [`examples`] | Sec. 2, Fig. 1 to 4, Prop. 4, Eq. 9: exactly, and as whole tasks in the simulator |
//! | [`fig5`] | three users that come and go on 100 servers |
//! | [`servers`] | all servers that its printed totals leave |
//! | [`trace`] | Google's trace on 2,000 servers: read once, each policy run once for all figures |
//! | [`table2`], [`fig6`], [`fig7`], [`fig8`], [`fig9`] | one table or figure each |
//! | [`claim`] | a number over many runs, and whether it is the paper's |

pub(super) mod claim;
mod examples;
mod fig5;
mod fig6;
mod fig7;
mod fig8;
mod fig9;
mod servers;
mod table2;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod trace;

pub(super) use examples::{economic_fig_4, equation_9, figures_2_to_4, proposition_4, section_2};
pub(super) use fig5::figure_5;
pub(super) use fig6::figure_6;
pub(super) use fig7::figure_7;
pub(super) use fig8::figure_8;
pub(super) use fig9::figure_9;
pub(super) use table2::table_2;
pub(in crate::reproduce) use trace::Shared;
