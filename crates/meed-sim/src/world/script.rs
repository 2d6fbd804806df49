//! Decisions that were taken elsewhere: a recorded run is played back, whatever the engine would
//! decide.
//!
//! Arrivals, ends and changes happen as in every run; only who starts where comes from the log. So
//! a record can be made of a log whose decisions are not this program's: another version's, or
//! another world's.
//!
//! A job is known by the number of its arrival.

use std::sync::Arc;

use meed::{Span, Time};
use meed_journal::JobKey;

use super::error::RunError;

/// What a log tells of a task that was decided.
///
/// It is part of [`Told`]: the page of [`Script`] has an example.
#[derive(Clone, Debug)]
pub enum ToldTo {
    /// It starts on this node.
    Start(String),
    /// It is to stop within this time.
    Stop(Span),
    /// It was lost, where it still runs: its node shrank.
    Lost,
}

/// A decision, as a log tells it.
///
/// The example of [`Script`] makes one.
#[derive(Clone, Debug)]
pub struct Told {
    /// When.
    pub at: Time,
    /// Number of the job's arrival.
    pub number: u64,
    /// Its key in the log.
    pub job: JobKey,
    /// Its number in the job.
    pub task: u32,
    /// What was decided.
    pub what: ToldTo,
    /// Where it stands.
    pub line: u64,
}

/// Starts in their order.
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
/// use meed::Time;
/// use meed_sim::setup;
/// use meed_sim::world::{Script, Told, ToldTo, run};
/// let setup = setup(&scenario, "fair", 1)?;
/// let node = setup.config.nodes[0].name.clone();
/// let told = Told {
///     at: Time::ZERO,
///     number: 0,
///     job: 0.into(),
///     task: 0,
///     what: ToldTo::Start(node),
///     line: 2,
/// };
/// let mut starts = [told].into_iter();
/// let script = Script::new("a.jsonl".into(), move || Ok(starts.next()));
/// let ran = run("fair", setup, Some(script), &mut |_| std::ops::ControlFlow::Continue(()))?;
/// assert_eq!((ran.record.decisions, ran.record.end_s), (1, 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Script<'a> {
    pub(super) file: Arc<str>,
    starts: Box<dyn FnMut() -> Result<Option<Told>, RunError> + 'a>,
    ahead: Option<Told>,
    over: bool,
}

impl<'a> Script<'a> {
    /// Decisions that `starts` tells in their order, of a log that messages call `file`.
    pub fn new(
        file: Arc<str>,
        starts: impl FnMut() -> Result<Option<Told>, RunError> + 'a,
    ) -> Script<'a> {
        Script { file, starts: Box::new(starts), ahead: None, over: false }
    }

    fn peek(&mut self) -> Result<Option<&Told>, RunError> {
        if self.ahead.is_none() && !self.over {
            self.ahead = (self.starts)()?;
            self.over = self.ahead.is_none();
        }
        Ok(self.ahead.as_ref())
    }

    pub(super) fn next_time(&mut self) -> Result<Option<Time>, RunError> {
        Ok(self.peek()?.map(|told| told.at))
    }

    pub(super) fn pop_at(&mut self, now: Time) -> Result<Option<Told>, RunError> {
        match self.peek()? {
            Some(told) if told.at == now => Ok(self.ahead.take()),
            _ => Ok(None),
        }
    }
}
