//! What the files of a site change of a scenario: `--cluster` and `--weights`.

use std::path::Path;

use meed_scenario::{Scenario, Setting, TraceReading};

use crate::cluster::ClusterArgs;
use crate::exit::Failure;
use crate::weights::WeightArgs;

/// `settings` behind the changes that these files make to the scenario at `input`. `say` is told
/// what the weights gave.
pub fn before(
    input: &Path,
    (cluster, weights): (&ClusterArgs, &WeightArgs),
    settings: Vec<Setting>,
    reading: &TraceReading,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Setting>, Failure> {
    let settings = cluster.before(input, settings)?;
    weights.before(settings, say, |settings| {
        let scenario = Scenario::load_any(input, settings, reading)?;
        Ok(scenario.queue_names().map(str::to_owned).collect())
    })
}
