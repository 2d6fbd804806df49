//! The world does what a script says (`script`).

use std::sync::Arc;

use meed_driver::Failed;

use super::World;
use super::desk::Desk;
use super::error::RunError;
use super::script::{Told, ToldTo};

impl<'a, D: Desk<'a>> World<'a, D> {
    /// The engine decides from now on, and nothing comes from outside: no arrival, no change.
    pub(crate) fn leave_alone(&mut self) {
        self.script = None;
        self.arrivals.close();
        (self.next_change, self.changes) = (None, Vec::new().into_iter());
    }

    pub(super) fn do_as_told(&mut self) -> Result<(), RunError> {
        // What was touched has been decided elsewhere.
        self.desk.decided_elsewhere();
        while let Some(script) = &mut self.script {
            let Some(told) = script.pop_at(self.now)? else { return Ok(()) };
            let file = Arc::clone(&script.file);
            self.do_told(&told).map_err(|what| match what {
                Ok(error) => error,
                Err(what) => RunError::Played { file, line: told.line, what },
            })?;
        }
        Ok(())
    }

    /// Does what is told; in words why that cannot be.
    fn do_told(&mut self, told: &Told) -> Result<(), Result<RunError, String>> {
        let Told { number, job, task, what, .. } = told;
        let found = self.find_job(*number);
        let (at, id) = found.ok_or_else(|| Err(format!("job {job} is not there then")))?;
        // Nothing else need have happened at this instant.
        self.rest_until(self.now).map_err(Ok)?;
        let driver = self.desk.driver_mut(at);
        let node = match what {
            ToldTo::Start(node) => node,
            ToldTo::Lost => {
                let running = driver.engine().running_task(id, *task);
                let Some(running) = running else { return Ok(()) };
                let lost = driver.task_lost(self.now, running, None);
                return lost.map(drop).map_err(|why| Ok(RunError::of(self.now, why)));
            }
            ToldTo::Stop(grace) => {
                let running = driver.engine().running_task(id, *task);
                let running = running
                    .ok_or_else(|| Err(format!("job {job}, task {task}: it does not run then")))?;
                driver.stop_as_told(running).map_err(|why| Ok(RunError::of(self.now, why)))?;
                self.tell_to_stop(at, running, *grace);
                return Ok(());
            }
        };
        let place = driver.node_named(node);
        let place = place.ok_or_else(|| Err(format!("there is no node `{node}` then")))?;
        match driver.start_as_told(id, *task, place) {
            Ok(start) => self.start_task(at, start).map_err(Ok),
            Err(Failed::Rejected(why)) => Err(Err(format!("job {job}, task {task}: {why}"))),
            Err(failed) => Err(Ok(RunError::of(self.now, failed))),
        }
    }
}
