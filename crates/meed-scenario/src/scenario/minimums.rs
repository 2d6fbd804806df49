//! Minimum shares under one policy: refused in a resource that nobody counts, and told where they
//! are not read, or mean a dominant share.

use meed::{Config, Policy, QueueSpec, Scalar};
use meed_config::queues::{check_minimum, check_minimums};

use super::Scenario;
use crate::changes::{Change, TimedChange};
use crate::plan::Plan;

/// The policy that orders the children of the parent of a queue.
fn above<'a>(config: &'a Config, queue: &str) -> &'a Policy {
    let parent = queue.rsplit_once('.').map(|(parent, _)| parent);
    let parent = config.queues.iter().find(|queue| Some(queue.name.as_str()) == parent);
    parent.map_or(&config.root, |parent| &parent.policy)
}

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
    for timed in changes {
        let Change::Queue(name, change) = &timed.change else { continue };
        let Some(min) = change.min.as_ref().and_then(Option::as_ref) else { continue };
        check_minimum(name, Some(min), above(config, name), &config.kinds)
            .map_err(|why| format!("change at {}: {why}", timed.at))?;
    }
    Ok(())
}

impl Scenario {
    /// What people who wrote minimum shares have to know of a policy, in words: that it reads none,
    /// or counts them as dominant shares.
    ///
    /// ```
    /// use meed_scenario::Scenario;
    /// use meed_workload::OnBadLine;
    /// let queue = "[[queue]]\nname = \"a\"\nmin = { cpu = 1 }\n";
    /// let nodes = "[[cluster.node]]\ncapacity = { cpu = 4, gpu = 4 }\n";
    /// let job = "[[job]]\nqueue = \"a\"\nduration = 1\ndemand = { cpu = 1 }\n";
    /// let text = format!("[cluster]\nresources = [\"cpu\", \"gpu\"]\n{nodes}{queue}{job}");
    /// let scenario = Scenario::parse("a.toml", &text, ".".as_ref(), &[], OnBadLine::Stop)?;
    /// let words = scenario.words_of_minimums("static", &scenario.plan("static")?);
    /// assert!(words[0].starts_with("`static` reads no minimum shares"));
    /// assert!(scenario.words_of_minimums("fair", &scenario.plan("fair")?).is_empty());
    /// # Ok::<(), meed_scenario::LoadError>(())
    /// ```
    pub fn words_of_minimums(&self, words: &str, plan: &Plan) -> Vec<String> {
        let queues = plan.config.queues.iter().filter(|queue| queue.min.is_some());
        if plan.partitioned || plan.slots.is_some() {
            let names: Vec<String> = queues.map(|queue| format!("`{}`", queue.name)).collect();
            let told = format!(
                "`{words}` reads no minimum shares: those of {} are not kept under it",
                names.join(", ")
            );
            return if names.is_empty() { Vec::new() } else { vec![told] };
        }
        queues.filter_map(|queue| self.dominant_minimum(words, &plan.config, queue)).collect()
    }

    /// The same of a queue whose minimum names some of the resources, under dominant shares.
    fn dominant_minimum(&self, words: &str, config: &Config, queue: &QueueSpec) -> Option<String> {
        let min = queue.min.as_ref().filter(|min| !min.is_zero())?;
        let kinds = &config.kinds;
        let is_dominant = matches!(above(config, &queue.name).scalar, Scalar::Dominant);
        let (named, others): (Vec<usize>, Vec<usize>) =
            (0..kinds.len()).partition(|&kind| min.get(kind) > 0);
        let names = |of: &[usize]| of.iter().map(|&k| kinds.name(k)).collect::<Vec<_>>().join(", ");
        (is_dominant && !others.is_empty()).then(|| {
            format!(
                "under `{words}` the minimum share of `{}` is a dominant share: a queue that holds \
                 as large a part of {} has it, whatever it holds of {}",
                queue.name,
                names(&others),
                names(&named)
            )
        })
    }
}
