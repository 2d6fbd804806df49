//! Minimum shares under one policy: refused in a resource that nobody counts, and told where they
//! are not read, or mean a dominant share.

use meed::Config;
use meed_config::queues::{Orders, check_minimum, check_minimums, dominant_minimums};

use super::Scenario;
use crate::changes::{Change, TimedChange};

/// Every minimum share is of resources that the order above its queue counts, at the start and in
/// changes; where none are read, nothing is wrong with them.
pub(super) fn check(
    config: &Config,
    changes: &[TimedChange],
    are_read: bool,
) -> Result<(), String> {
    if !are_read {
        return Ok(());
    }
    check_minimums(&config.root, &config.queues, &config.kinds).map_err(|(_, why)| why)?;
    let orders = Orders::of(&config.root, &config.queues);
    for timed in changes {
        let Change::Queue(name, change) = &timed.change else { continue };
        let Some(min) = change.min.as_ref().and_then(Option::as_ref) else { continue };
        check_minimum(name, Some(min), orders.above(name), &config.kinds)
            .map_err(|why| format!("change at {}: {why}", timed.at))?;
    }
    Ok(())
}

impl Scenario {
    /// What people who wrote minimum shares have to know of a policy, in words: that it reads none,
    /// or counts them as dominant shares. Nothing of a policy that there is not.
    ///
    /// ```
    /// use meed_scenario::Scenario;
    /// use meed_workload::OnBadLine;
    /// let queue = "[[queue]]\nname = \"a\"\nmin = { cpu = 1 }\n";
    /// let nodes = "[[cluster.node]]\ncapacity = { cpu = 4, gpu = 4 }\n";
    /// let job = "[[job]]\nqueue = \"a\"\nduration = 1\ndemand = { cpu = 1 }\n";
    /// let text = format!("[cluster]\nresources = [\"cpu\", \"gpu\"]\n{nodes}{queue}{job}");
    /// let scenario = Scenario::parse("a.toml", &text, ".".as_ref(), &[], OnBadLine::Stop)?;
    /// assert!(scenario.words_of_minimums("static")[0].starts_with("`static` reads no minimum"));
    /// assert!(scenario.words_of_minimums("fair").is_empty());
    /// # Ok::<(), meed_scenario::LoadError>(())
    /// ```
    pub fn words_of_minimums(&self, words: &str) -> Vec<String> {
        // Few have any: without them no policy is read for this.
        if self.queues.iter().all(|queue| queue.min.is_none()) {
            return Vec::new();
        }
        let Ok(plan) = self.plan(words) else { return Vec::new() };
        let config = &plan.config;
        let queues = config.queues.iter().filter(|queue| queue.min.is_some());
        if plan.partitioned || plan.slots.is_some() {
            let names: Vec<String> = queues.map(|queue| format!("`{}`", queue.name)).collect();
            return vec![format!(
                "`{words}` reads no minimum shares: those of {} are not kept under it",
                names.join(", ")
            )];
        }
        let told = dominant_minimums(&config.root, &config.queues, &config.kinds);
        told.into_iter().map(|told| format!("under `{words}` {told}")).collect()
    }
}
