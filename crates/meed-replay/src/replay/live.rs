//! Recorded runs of live worlds, run again; see [`crate::live`].

use std::io::Write;
use std::sync::Arc;

use meed_driver::record::{Comparison, RunRecord, SCHEMA};
use meed_journal::Header;
use meed_scenario::Scenario;
use meed_scenario::log::read::LogError;
use meed_scenario::logged::begun::Begun;
use meed_scenario::plan::Plan;
use meed_sim::log::Log;
use meed_sim::world::RunError;
use meed_sim::{Watch, add_speedups};

use super::{
    Difference, Others, PLAYED_BACK, RecordedWorld, Recording, ReplayError, ReplayOptions, Replayed,
};
use crate::live::{Begin, Fates, Mode, World};

impl Recording {
    /// How long the tasks of a live world's run took, and with what its record begins.
    fn live(&self) -> Option<(&Arc<Fates>, Option<&Arc<Begun>>)> {
        match &self.world {
            RecordedWorld::Live { fates, begun } => Some((fates, begun.as_ref())),
            RecordedWorld::Simulated | RecordedWorld::MapReduce => None,
        }
    }

    /// With what the record of a live world begins, where that is in the middle.
    pub(crate) fn begun(&self) -> Option<&Arc<Begun>> {
        self.live()?.1
    }

    /// Whether a queue of that name came while the record went on.
    pub(crate) fn came_later(&self, queue: &str) -> bool {
        let later = self.live().map_or(&[][..], |(fates, _)| &fates.queues_added);
        later.iter().any(|name| name == queue)
    }

    /// The world of a live run, under the recorded policy.
    pub(crate) fn live_world<'a>(
        &self,
        mode: Mode,
        series_points: usize,
        log: Log<'a>,
    ) -> Result<World<'a>, ReplayError> {
        let plan = self.recorded_plan()?;
        Ok(World::new(self.begin(mode, &self.scenario, plan, series_points, log)?)?)
    }

    fn begin<'a>(
        &self,
        mode: Mode,
        scenario: &Scenario,
        plan: Plan,
        series_points: usize,
        log: Log<'a>,
    ) -> Result<Begin<'a>, LogError> {
        let (fates, begun) = self.live().expect("asked of live runs only");
        Ok(Begin {
            mode,
            config: plan.config,
            placement: plan.placement,
            seed: scenario.seed,
            max_attempts: scenario.failures().1,
            as_recorded: true,
            records: self.log.read(&self.run)?,
            file: Arc::clone(self.log.file()),
            fates: Arc::clone(fates),
            begun: begun.cloned(),
            cut_at: (!self.run.finished).then_some(self.run.end),
            series_points,
            log,
        })
    }

    /// What the user should know about the record of a live world.
    pub(super) fn live_remarks(&self, fates: &Fates) -> Vec<String> {
        let (file, end) = (self.log.name(), self.run.end);
        let mut remarks = Vec::new();
        if !self.run.finished {
            let line = self.run.last_line;
            remarks.push(format!(
                "{file}: the journal goes to {end} (line {line}); what came later is not known"
            ));
        }
        let Fates { running, endless, .. } = fates;
        if running + endless > 0 {
            remarks.push(format!(
                "{file}: how long {} tasks take is not known: {running} ran still at the end, \
                 {endless} were stopped or had not started; under other policies such a task runs \
                 from its start to the end of the record",
                running + endless
            ));
        }
        remarks
    }

    /// Runs again under the recorded policy: its record, and the first decision that is not the
    /// recorded one. Where there is one, the record is that of what the log says.
    pub(super) fn live_again(
        &self,
        points: usize,
        watch: &mut dyn Watch,
    ) -> Result<(RunRecord, Option<Difference>), ReplayError> {
        watch.begins(self.policy());
        let mut run = |mode| -> Result<_, ReplayError> {
            let world = self.live_world(mode, points, Log::off())?;
            Ok(world.run(&self.column(), self.run.end, &mut |word| watch.goes_on(word))?)
        };
        let again = run(Mode::Again)?;
        match again.difference {
            None => Ok((again.record, None)),
            some => Ok((run(Mode::AsTold)?.record, some)),
        }
    }

    /// Writes the recorded lines as one log.
    fn copy_to(&self, out: &mut dyn Write) -> Result<(), ReplayError> {
        let mut reader = self.log.read(&self.run)?;
        while let Some((_, record)) = reader.next_any().map_err(LogError::from)? {
            let mut line = Vec::new();
            record.encode(&mut line);
            line.push(b'\n');
            out.write_all(&line).map_err(RunError::Log)?;
        }
        Ok(out.flush().map_err(RunError::Log)?)
    }
}

/// Runs what `options` ask for beside the recorded run.
pub(super) fn replay(
    recording: &Recording,
    options: &ReplayOptions,
    mut log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Replayed, ReplayError> {
    let (header, points) = (&recording.run.header, options.series_points);
    let mut remarks = recording.remarks();
    let others = Others::of(recording, options, &mut remarks)?;
    if let (Some((fates, _)), false) = (recording.live(), others.plans.is_empty())
        && fates.adopted > 0
    {
        remarks.push(format!(
            "{file}: another scheduler decided {} of the starts: these happen as recorded under \
             every policy; `meed simulate {file}` decides them anew",
            fates.adopted,
            file = recording.log.name()
        ));
    }
    if recording.begun().is_some() && !others.plans.is_empty() {
        let what = "this run begins in the middle, with the ledgers and running tasks of its \
            policy: it can be verified and explained, and not be run under another policy or on \
            other nodes";
        return Err(recording.scenario.error(what).into());
    }
    if others.plans.iter().any(|(_, plan)| plan.partitioned) {
        let what = "a live world's record cannot be run under `static`: what happened to nodes is \
            of the whole cluster";
        return Err(recording.scenario.error(what).into());
    }
    if !others.scenario.delays().is_off() {
        let what = "heartbeat and master_start mean nothing for a live world's record: what was \
            late there is in its records";
        return Err(recording.scenario.error(what).into());
    }
    let (recorded, difference) = recording.live_again(points, watch)?;
    if let (Some(out), true) = (&mut log, others.plans.is_empty()) {
        recording.copy_to(&mut **out)?;
    }
    if let Some(difference) = &difference {
        remarks.push(recording.decides_otherwise(difference, PLAYED_BACK));
    }
    let mut runs = vec![recorded];
    for (words, plan) in others.plans {
        watch.begins(&words);
        let mut out = log.as_mut().map_or(Log::off(), |out| Log::to(&mut **out));
        let assumptions = header.assumptions.clone();
        let first = || Header {
            world: header.world.clone(),
            ..others.scenario.header(&words, others.scenario.seed, &plan, assumptions)
        };
        out.header(first).map_err(RunError::Log)?;
        let as_recorded = words == header.policy && options.settings.is_empty();
        let begin = recording.begin(Mode::Otherwise, &others.scenario, plan, points, out)?;
        let begin = Begin { as_recorded, ..begin };
        let name = words + &others.suffix;
        let ran =
            World::new(begin)?.run(&name, recording.run.end, &mut |word| watch.goes_on(word))?;
        if ran.left_out > 0 {
            remarks.push(format!(
                "{name}: {} recorded facts could not be (of tasks, jobs or nodes that were not \
                 there then) and are left out",
                ran.left_out
            ));
        }
        runs.push(ran.record);
    }
    add_speedups(&mut runs);
    let comparison = Comparison {
        schema: SCHEMA,
        scenario: header.scenario.clone(),
        seed: header.seed,
        assumptions: header.assumptions.clone(),
        clock_us: recording.clock_us(),
        baseline: None,
        is_usual: false,
        runs,
    };
    Ok(Replayed { comparison, remarks, differs: difference })
}
