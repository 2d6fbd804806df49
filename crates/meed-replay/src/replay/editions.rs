//! Runs that another edition of the rules decided ([`meed::RULES`]): what they decided is what
//! happened, and this version may decide otherwise without anything being wrong.
//!
//! Such a run is run again like any other, for the editions may agree about it. Where they do not,
//! it is played back, and verified in that way: each recorded decision can be carried out, and then
//! everything else (ends, failures, changes, the order within an instant) happens as recorded.

use std::io::Write;

use meed::RULES;

use meed_scenario::log::read::LogError;
use meed_sim::Watch;
use meed_sim::log::Log;
use meed_sim::world::{RunError, run};

use super::{Compare, Difference, RecordedWorld, Recording, ReplayError};

/// What came of verifying a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VerifiedRun {
    /// This version decides as recorded: line by line, or of a live world decision by decision.
    AsRecorded,
    /// Another edition of the rules decided otherwise, or for other reasons, and what it decided
    /// could be played back; in words.
    PlayedBack(String),
    /// The first difference.
    Differs(Difference),
}

const AS_RECORDED: &str = "played back as recorded";

/// Verifies a run: as [`super::verify`], with what was done.
pub fn verified(recording: &Recording, watch: &mut dyn Watch) -> Result<VerifiedRun, ReplayError> {
    let difference = match recording.world {
        // How its world worded its reasons is its own.
        RecordedWorld::Live { .. } => recording.live_again(0, watch)?.1,
        _ => recording.again(0, None, watch)?.bytes,
    };
    let Some(difference) = difference else { return Ok(VerifiedRun::AsRecorded) };
    let differs = match recording.world {
        _ if !recording.has_other_rules() => Some(difference.clone()),
        // It cannot be played back.
        RecordedWorld::MapReduce => Some(difference.clone()),
        // It was played back to come by its record.
        RecordedWorld::Live { .. } => None,
        RecordedWorld::Simulated => recording.differs_played_back(watch)?,
    };
    Ok(match differs {
        Some(difference) => VerifiedRun::Differs(difference),
        None => VerifiedRun::PlayedBack(recording.decides_otherwise(&difference, AS_RECORDED)),
    })
}

impl Recording {
    /// The edition of the rules that decided it.
    pub fn rules(&self) -> u32 {
        self.run.header.rules()
    }

    /// Whether that is not this version's.
    pub(super) fn has_other_rules(&self) -> bool {
        self.rules() != RULES
    }

    /// A remark that this version decides otherwise, from `difference` on, and what is shown `so`.
    pub(crate) fn decides_otherwise(&self, difference: &Difference, so: &str) -> String {
        let (name, line, policy) = (self.log.name(), difference.line, self.policy());
        match self.rules() {
            RULES => format!("{name}:{line}: this Meed decides otherwise under {policy}; {so}"),
            rules => format!(
                "{name}: decided by rules {rules}; this version decides by rules {RULES} \
                 (under {policy} line {line} is the first that differs); {so}"
            ),
        }
    }

    /// The first line that is not as recorded where the recorded decisions are played back.
    fn differs_played_back(
        &self,
        watch: &mut dyn Watch,
    ) -> Result<Option<Difference>, ReplayError> {
        let compare = Compare::played_back(&self.log, &self.run)?;
        let mut writer = compare.clone();
        let mut log = Log::to(&mut writer);
        log.header(|| self.run.header.clone()).map_err(RunError::Log)?;
        let setup = self.recorded_setup(0, log)?;
        let script = Some(self.script()?);
        let ran = run(&self.column(), setup, script, &mut |progress| watch.goes_on(progress));
        let (bytes, _) = compare.verdict(ran.is_ok() && self.run.finished)?;
        ran?;
        Ok(bytes)
    }

    /// Writes the log under the recorded policy of a run that other rules decided: the recorded
    /// lines, where this version decides otherwise.
    pub(super) fn write_by_other_rules(
        &self,
        otherwise: bool,
        out: &mut dyn Write,
        watch: &mut dyn Watch,
    ) -> Result<(), ReplayError> {
        if !otherwise {
            return self.again(0, Some(out), watch).map(drop);
        }
        let mut reader = self.log.read(&self.run)?;
        while let Some((_, line)) = reader.next_raw().map_err(LogError::from)? {
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(RunError::Log)?;
        }
        Ok(out.flush().map_err(RunError::Log)?)
    }
}
