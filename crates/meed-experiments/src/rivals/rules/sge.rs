//! `sge`: Grid Engine's share tree with compensation.
//!
//! > each 60 s: usage <- usage * (1 - ln 2 / halftime * 60) + used
//! > among children that have jobs: shr = shares^2 / max(usage, ltt), stt = shr / sum of shr,
//! > ltt = shares / sum of shares; where stt > compensation * ltt, shr is divided by
//! > stt / (compensation * ltt), and all stt follow anew
//! > a job's priority: stt / (slots of the child ahead of it + 1), the largest first
//!
//! So a user is served in proportion to stt, which falls with his usage and rises with the square
//! of his shares. Who has no jobs counts in no sum; what he would have is told, for when he comes.
//!
//! Source: `source/libs/sched/sgeee.c` (`sge_calc_node_targets`, `sge_sort_pending_job_nodes`).
//! Ahead are slots, as in 8.1.9: what the child holds, in natural units. In a tree the usage of an
//! inner node is that of its users with jobs, and each level compensates by itself.

use std::num::NonZeroU32;

use meed::Rank;

use super::super::rule::{Rule, Seen, geometric};

/// `SGE_MIN_USAGE`.
const LEAST: f64 = 1.0;

/// How often usage decays there, in seconds.
const INTERVAL: f64 = 60.0;

/// See the module.
pub(crate) struct Sge {
    halftime: f64,
    compensation: f64,
    usage: Vec<f64>,
}

impl Sge {
    /// With `halftime` in seconds (0 for none), and `compensation_factor` (0 for none).
    pub(crate) fn new(halftime: f64, compensation: f64) -> Sge {
        Sge { halftime, compensation, usage: Vec::new() }
    }

    /// What of the usage is left after `seconds`.
    fn kept(&self, seconds: f64) -> f64 {
        if self.halftime <= 0.0 {
            return 1.0;
        }
        let each = (1.0 - std::f64::consts::LN_2 / self.halftime * INTERVAL).max(0.0);
        libm::pow(each, seconds / INTERVAL)
    }
}

/// The usage that counts against a child.
fn counted(child: &super::Child, usage: f64) -> f64 {
    if child.is_leaf { usage } else { child.active }
}

/// The short term targets of children: shares, usage, and whether each has jobs.
pub(crate) fn targets(children: &[(f64, f64, bool)], compensation: f64) -> Vec<f64> {
    let active = |all: &[f64]| -> f64 {
        children.iter().zip(all).filter(|(child, _)| child.2).map(|(_, value)| value).sum()
    };
    let shares: Vec<f64> = children.iter().map(|child| child.0).collect();
    let sum_shares = active(&shares);
    let part = |value: f64, sum: f64| if sum > 0.0 { value / sum } else { 0.0 };
    let long: Vec<f64> = shares.iter().map(|&share| part(share, sum_shares)).collect();
    let shr = |(&(shares, usage, _), ltt): (&(f64, f64, bool), &f64)| {
        if *ltt > 0.0 { shares * shares / usage.max(LEAST * ltt) } else { 0.0 }
    };
    let mut shr: Vec<f64> = children.iter().zip(&long).map(shr).collect();
    let sum = active(&shr);
    if compensation > 0.0 {
        for (shr, ltt) in shr.iter_mut().zip(&long) {
            let (target, bound) = (part(*shr, sum), compensation * ltt);
            if target > bound {
                *shr /= target / bound;
            }
        }
    }
    let sum = active(&shr);
    shr.iter().map(|&shr| part(shr, sum)).collect()
}

impl Rule for Sge {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.usage.resize(seen.children.len(), 0.0);
        let (kept, sum) = geometric(self.kept(seen.seconds), more);
        for (usage, child) in self.usage.iter_mut().zip(seen.children) {
            *usage = *usage * kept + child.used * sum;
        }
    }

    fn active(&self, seen: &Seen<'_>) -> f64 {
        let children = seen.children.iter().zip(&self.usage);
        let wanting = children.filter(|(child, _)| child.wants > 0.0);
        wanting.map(|(child, &usage)| counted(child, usage)).sum()
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let child = |(child, &usage): (&super::Child, &f64)| {
            (child.weight, counted(child, usage), child.wants > 0.0)
        };
        let children: Vec<(f64, f64, bool)> =
            seen.children.iter().zip(&self.usage).map(child).collect();
        let finest = f64::from(1u32 << 31);
        ranks.clear();
        ranks.extend(targets(&children, self.compensation).iter().map(|target| {
            Rank {
                step: 1,
                per: NonZeroU32::new((target * finest).clamp(1.0, finest) as u32)
                    .unwrap_or(NonZeroU32::MIN),
                // The job itself.
                ..Rank::at(seen.unit as u64)
            }
        }));
    }
}
