//! Every decision equals a plain scan's over charges counted up by definition: random trees, policies, weights,
//! bounds, kinds and nodes. The comparison itself is in `common::verify`.

use crate::common::dice::dice;
use crate::common::*;
use meed::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn decides_as_a_plain_scan(mut dice in dice(260)) {
        let config = dice.config();
        let jobs = dice.jobs(&config, 16);
        World::run(&config, jobs);
    }

    /// With equal tasks whoever wants something is ready, so the guard's choice is the scan's as well.
    #[test]
    fn decides_as_a_plain_scan_under_the_guard(mut dice in dice(200), wait in 0u64..6) {
        let mut config = dice.config();
        (config.kinds, config.measured, config.nodes) = (kinds(1), 0, vec![node("n", slots(5))]);
        config.root.measure = Measure::Usage;
        (config.root.newcomer, config.root.t_wait) = (Newcomer::Zero, Some(span(wait * S)));
        config.root.scalar = Scalar::Kind(0);
        for queue in &mut config.queues {
            (queue.min, queue.max, queue.policy.scalar) = (None, None, Scalar::Kind(0));
        }
        let mut jobs = dice.jobs(&config, 16);
        for (demand, _) in jobs.iter_mut().flat_map(|job| &mut job.groups) {
            *demand = slots(1);
        }
        World::run(&config, jobs);
    }
}
