//! How long a tenant whose turn it is by any account is not served.
//!
//! A tenant *starves* while it waits, holds nothing, and has used less of its share so far than
//! every other that waits or holds something. The value is its longest stretch of that, over T.
//!
//! Exact: between two instants nothing changes but use, and its own does not. Cost: linear in the
//! steps of the course, times the tenants.

use std::collections::BTreeMap;

use meed_sim::record::RunRecord;

use super::course::Course;

#[derive(Default)]
struct Tenant {
    share: f64,
    waiting: i64,
    held: f64,
    /// Slot-seconds so far.
    used: f64,
}

impl Tenant {
    fn wants(&self) -> bool {
        self.waiting > 0 || self.held > 0.0
    }

    /// Whether it is behind `other` from this instant on, where it holds nothing.
    fn is_behind(&self, other: &Tenant) -> bool {
        let (own, theirs) = (self.used * other.share, other.used * self.share);
        own < theirs || (own == theirs && other.held > 0.0)
    }
}

/// The longest time for which the queue called `name` starves, over the time of the run.
pub(super) fn longest_starved(course: &Course, record: &RunRecord, name: &str) -> f64 {
    let tenant = |share: f64| Tenant { share, ..Tenant::default() };
    let queues = record.queues.iter();
    let mut tenants: BTreeMap<&str, Tenant> =
        queues.map(|queue| (queue.queue.as_str(), tenant(queue.share))).collect();
    let (mut longest, mut since, mut at) = (0.0, None, 0.0);
    // All of an instant happens before anybody is looked at.
    for instant in course.steps.chunk_by(|a, b| a.at == b.at) {
        let now = instant[0].at;
        tenants.values_mut().for_each(|tenant| tenant.used += tenant.held * (now - at));
        at = now;
        for step in instant {
            let job = &course.jobs[step.job];
            if let Some(tenant) = tenants.get_mut(job.queue.as_str()) {
                tenant.waiting += step.waits;
                tenant.held += step.runs as f64 * job.width;
            }
        }
        match starves(&tenants, name) {
            true => _ = since.get_or_insert(now),
            false => longest = since.take().map_or(longest, |since| f64::max(longest, now - since)),
        }
    }
    since.map_or(longest, |since| longest.max(record.end_s - since)) / record.end_s
}

/// Whether the tenant starves from now on.
fn starves(tenants: &BTreeMap<&str, Tenant>, name: &str) -> bool {
    let Some(own) = tenants.get(name) else { return false };
    let mut others = tenants.iter().filter(|(other, tenant)| **other != name && tenant.wants());
    own.waiting > 0 && own.held == 0.0 && others.all(|(_, other)| own.is_behind(other))
}
