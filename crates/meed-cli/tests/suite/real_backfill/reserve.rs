//! The simulator with `when_blocked = "reserve"` backfills real logs as the textbook does.

use super::{CTC, METACENTRUM, NASA, log, same, scenario, swf};
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

/// So many jobs of METACENTRUM: tens of thousands wait later, and all are planned at every end.
const JOBS: usize = 3_000;

#[test]
fn all_reservations_are_conservative() {
    let place = tempfile::tempdir().expect("a place for short logs");
    for name in [CTC, NASA, METACENTRUM] {
        let Some((mut path, processors, mut log)) = log(name, 1) else { continue };
        if name == METACENTRUM {
            let short = place.path().join("short.swf");
            std::fs::write(&short, swf::first_jobs(&path, JOBS)).expect("there is room");
            (path, log) = (short.clone(), swf::read(&short, 1));
        }
        let policy = "when_blocked = \"reserve\"\nreservations = \"all\"";
        let got = starts(&scenario(&path, processors, policy, TRACE));
        assert!(got.len() > JOBS / 2);
        same(&got, &conservative(processors, &log.jobs, COMPRESSION).starts);
    }
}
