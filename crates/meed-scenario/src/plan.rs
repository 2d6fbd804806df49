//! What a policy's name means for a scenario, ready for a world.

use meed::Config;
use meed::place::Placement;
use meed_mapreduce::classes::Rule;

use crate::grants::Delays;
use crate::plans::Terms;
use crate::slots::SlotCut;

/// Makes the placement that a run uses.
pub type NewPlacement = fn(kinds: usize, seed: u64) -> Box<dyn Placement>;

/// What a policy's name means for a scenario.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// let plan = scenario.plan("drfh")?;
/// assert_eq!(plan.placement_name, "best-fit"); // what goes with `drfh`
/// assert!(!plan.partitioned && scenario.plan("static")?.partitioned);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan {
    /// Cluster, tree and policies.
    pub config: Config,
    /// Whether each tenant runs alone on its share.
    pub partitioned: bool,
    /// Makes the placement.
    pub placement: NewPlacement,
    /// How servers are cut, where slots are shared.
    pub slots: Option<SlotCut>,
    /// What the placement, or the rule, is called.
    pub placement_name: String,
    /// How `as-you-pay` counts, where that is the order.
    pub pays: Option<Terms>,
    /// Of the MapReduce world: which maps a slot may run.
    pub rule: Option<&'static Rule>,
}

impl Plan {
    /// What delays grants, in the resources of the run.
    pub fn delays(&self, delays: Delays) -> Delays {
        self.slots.map_or(delays, |slots| delays.in_slots(&slots))
    }
}
