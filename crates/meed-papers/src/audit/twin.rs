//! A slow obvious twin of runs and measures: minutes one by one, slots one by one, sums as they
//! stand in the formulas. For tasks of one slot and one minute; it shares no line with the engine,
//! the log or the measures.

use super::case::{Case, Lie};
use super::property::Property;

/// Who is served next: the smallest of these, per weight; of equal ones the tenant that was served
/// longest ago, and of those that never were the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// What is held.
    Fair,
    /// What was ever started.
    LongTerm,
    /// The same, each on its own share alone.
    Static,
}

/// Minute by minute, tenant by tenant.
pub(super) struct Run {
    held: Vec<Vec<u32>>,
    useful: Vec<Vec<u32>>,
    /// After what was started.
    waits: Vec<Vec<u32>>,
    /// Useful tasks that came.
    comes: Vec<Vec<u32>>,
}

/// A job that waits: useful or not, tasks, minute of withdrawal.
struct Waiting {
    useful: bool,
    tasks: u32,
    until: u32,
}

/// What a tenant submits: minute, useful, tasks, minute of withdrawal.
fn jobs(case: &Case, tenant: usize, lying: bool) -> Vec<(u32, bool, u32, u32)> {
    let lies = if lying && tenant == case.liar { &case.lies[..] } else { &[] };
    let mut jobs = Vec::new();
    for (number, burst) in case.tenants[tenant].bursts.iter().enumerate() {
        let later = |lie: &Lie| match lie {
            Lie::Later { burst, by } if *burst == number => *by,
            _ => 0,
        };
        let at = burst.at + lies.iter().map(later).sum::<u32>();
        if !lies.iter().any(|lie| matches!(lie, Lie::Forgo { burst } if *burst == number)) {
            jobs.push((at, true, burst.tasks * case.scale, u32::MAX));
        }
    }
    if case.settle {
        jobs.push((case.horizon, true, u32::MAX / 2, u32::MAX));
    }
    for lie in lies {
        if let Lie::Useless { at, tasks, keep, .. } = lie {
            jobs.push((*at, false, tasks * case.scale, at + keep));
        }
    }
    // First come, first served; of those that come at once the first declared.
    jobs.sort_by_key(|job| job.0);
    jobs
}

pub(super) fn run(case: &Case, rule: Rule, lying: bool) -> Run {
    let tenants = case.tenants.len();
    let mut run =
        Run { held: Vec::new(), useful: Vec::new(), waits: Vec::new(), comes: Vec::new() };
    let all: Vec<_> = (0..tenants).map(|tenant| jobs(case, tenant, lying)).collect();
    let mut queues: Vec<Vec<Waiting>> = (0..tenants).map(|_| Vec::new()).collect();
    let mut ever = vec![0u64; tenants];
    let (mut served, mut starts) = (vec![0u64; tenants], 0);
    for minute in 0..case.end() {
        let (mut held, mut useful) = (vec![0; tenants], vec![0; tenants]);
        let mut comes = vec![0; tenants];
        for tenant in 0..tenants {
            queues[tenant].retain(|job| job.until != minute);
            for &(at, of_use, tasks, until) in &all[tenant] {
                if at == minute {
                    queues[tenant].push(Waiting { useful: of_use, tasks, until });
                    comes[tenant] += if of_use { tasks } else { 0 };
                }
            }
        }
        loop {
            let left = case.capacity() - held.iter().sum::<u32>();
            let room = |i: usize| rule != Rule::Static || held[i] < case.share(i);
            let wants = |i: &usize| left > 0 && room(*i) && !queues[*i].is_empty();
            let key = |i: usize| if rule == Rule::Fair { u64::from(held[i]) } else { ever[i] };
            // a / w_a < b / w_b, and of equal ones by the last service; a is before b.
            let less = |a: usize, b: usize| {
                let (wa, wb) =
                    (u64::from(case.tenants[a].weight), u64::from(case.tenants[b].weight));
                let (mine, theirs) = (key(a) * wb, key(b) * wa);
                mine < theirs || mine == theirs && served[a] <= served[b]
            };
            let next = (0..tenants).filter(wants).reduce(|a, b| if less(a, b) { a } else { b });
            let Some(next) = next else { break };
            let job = &mut queues[next][0];
            job.tasks -= 1;
            held[next] += 1;
            ever[next] += 1;
            starts += 1;
            served[next] = starts;
            useful[next] += u32::from(job.useful);
            queues[next].retain(|job| job.tasks > 0);
        }
        run.waits.push(queues.iter().map(|jobs| jobs.iter().map(|job| job.tasks).sum()).collect());
        run.held.push(held);
        run.useful.push(useful);
        run.comes.push(comes);
    }
    run
}

impl Run {
    fn sum(rows: &[Vec<u32>], tenant: usize) -> f64 {
        rows.iter().map(|row| f64::from(row[tenant])).sum()
    }

    fn work(&self, tenant: usize) -> f64 {
        Run::sum(&self.useful, tenant)
    }

    fn all(&self, tenant: usize) -> f64 {
        Run::sum(&self.held, tenant)
    }
}

/// The value of the property for a tenant, in slot-minutes over S_i T; of a lie for the liar.
pub(super) fn value(property: Property, case: &Case, rule: Rule, tenant: usize) -> f64 {
    let (honest, tenants) = (run(case, rule, false), case.tenants.len());
    let liar = case.liar;
    let contributed = |i: usize| f64::from(case.share(i)) * f64::from(case.end());
    let lying = || run(case, rule, true);
    match property {
        Property::SharingIncentive => {
            let alone = run(case, Rule::Static, false);
            (alone.work(tenant) - honest.work(tenant)) / contributed(tenant)
        }
        Property::WorkloadIncentive | Property::StrategyProofness => {
            (lying().work(liar) - honest.work(liar)) / contributed(liar)
        }
        Property::Contribution => {
            let all: f64 = (0..tenants).map(|i| honest.all(i)).sum();
            let due = all * f64::from(case.share(tenant)) / f64::from(case.capacity());
            1.0 - honest.all(tenant) / due
        }
        Property::Overclaiming => {
            let lying = lying();
            let others = (0..tenants).filter(|&i| i != liar);
            let harm: f64 = others.map(|i| (honest.work(i) - lying.work(i)).max(0.0)).sum();
            (lying.all(liar) - honest.all(liar)).min(harm) / contributed(liar)
        }
        Property::EnvyFreeness => {
            let others = (0..tenants).filter(|&j| j != tenant);
            let theirs = others.map(|j| with_theirs(case, &honest, tenant, j));
            let most = theirs.fold(f64::NEG_INFINITY, f64::max);
            (most - honest.work(tenant)) / contributed(tenant)
        }
        Property::CreditFairness => {
            let alone = run(case, Rule::Static, false);
            let lacks = alone.work(tenant) - honest.work(tenant);
            lacks.max(owed(case, &honest, tenant)) / contributed(tenant)
        }
        Property::History => {
            let (lying, since) = (lying(), case.honest_again().min(case.end()) as usize);
            let part = |run: &Run, from: usize, to: usize| Run::sum(&run.useful[from..to], liar);
            let end = case.end() as usize;
            let gain = part(&lying, since, end) - part(&honest, since, end);
            let loss = part(&honest, 0, since) - part(&lying, 0, since);
            (gain - loss.max(0.0)) / contributed(liar)
        }
        other => panic!("no twin of {other:?}"),
    }
}

fn with_theirs(case: &Case, run: &Run, own: usize, other: usize) -> f64 {
    let part = f64::from(case.share(own)) / f64::from(case.share(other));
    let (mut left, mut done) = (0.0, 0.0);
    for minute in 0..run.held.len() {
        left += f64::from(run.comes[minute][own]);
        let now = f64::min(left, f64::from(run.held[minute][other]) * part);
        left -= now;
        done += now;
    }
    done
}

/// Steps of a minute: a balance that changes its sign within a minute is seen so much too late.
const STEPS: u32 = 1000;

fn owed(case: &Case, run: &Run, own: usize) -> f64 {
    let tenants = case.tenants.len();
    let (mut balance, mut had) = (vec![0.0; tenants], vec![0.0; tenants]);
    let share = |i: usize| f64::from(case.share(i));
    for (held, waits) in run.held.iter().zip(&run.waits) {
        for _ in 0..STEPS {
            let part = 1.0 / f64::from(STEPS);
            for j in 0..tenants {
                if waits[own] > 0 && balance[own] > 1e-9 && balance[j] < -1e-9 {
                    had[j] += f64::from(held[j]) * part;
                }
            }
            let over = |i: usize| (f64::from(held[i]) - share(i)).max(0.0);
            let under = |i: usize| (share(i) - f64::from(held[i])).max(0.0);
            let (taken, left): (f64, f64) =
                ((0..tenants).map(over).sum(), (0..tenants).map(under).sum());
            for (i, balance) in balance.iter_mut().enumerate() {
                let lent = if taken > 0.0 { under(i) / left * taken } else { 0.0 };
                *balance += (lent - over(i)) * part;
            }
        }
    }
    let back: f64 = (0..tenants).map(|j| had[j].min((-balance[j]).max(0.0))).sum();
    back.min(balance[own].max(0.0))
}
