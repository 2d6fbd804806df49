//! The simulator with `when_blocked = "reserve"` backfills real logs as the textbook does.

use super::{CTC, METACENTRUM, NASA, log, same, scenario};
use crate::engine::starts;
use crate::twins::conservative::{Compression, conservative};
use crate::twins::easy::easy;

/// The engine compresses the schedule whenever something has ended (docs/reservations.md).
const COMPRESSION: Compression = Compression::EveryEnd;

/// What was to take no time has no limit: run times are at least a second.
const TRACE: &str = "limits = \"at-least-run\"\nmin_duration = \"1s\"";

#[test]
fn one_reservation_is_easy() {
    for name in [CTC, NASA, METACENTRUM] {
        let Some((path, processors, log)) = log(name, 1) else { continue };
        let policy = "when_blocked = \"reserve\"\nreservations = 1";
        let got = starts(&scenario(&path, processors, policy, TRACE));
        same(&got, &easy(processors, &log.jobs).starts);
    }
}

#[test]
fn all_reservations_are_conservative() {
    for name in [CTC, NASA, METACENTRUM] {
        let Some((path, processors, log)) = log(name, 1) else { continue };
        let policy = "when_blocked = \"reserve\"\nreservations = \"all\"";
        let got = starts(&scenario(&path, processors, policy, TRACE));
        same(&got, &conservative(processors, &log.jobs, COMPRESSION).starts);
    }
}
