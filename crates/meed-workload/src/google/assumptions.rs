//! What the reader of Google's traces assumes where they leave a choice. Every choice can be set.

use meed::{ResourceKinds, Resources, Span, Unit};
use meed_config::units::format_span;

use crate::TraceError;

/// Which tasks share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum GoogleQueues {
    /// Those of one user (column 7).
    #[default]
    User,
    /// Those of one job (column 3): `j6251537638`.
    Job,
    /// Those of one scheduling class (column 8), 0 to 3: `c0`.
    Class,
    /// Those of one band of priorities (column 9), as Google's format description groups them:
    /// `free` (0, 1), `other` (2 to 8), `production` (9), `monitoring` (10, 11).
    Priority,
    /// All, in a queue of this name.
    Single(String),
}

/// What the work of a task is that ran several times: it was evicted, failed or was lost, and was
/// submitted again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GoogleEpisode {
    /// The time of its last run.
    #[default]
    Last,
    /// The time of its longest run.
    Longest,
    /// The time of the run that finished (FINISH); tasks without one are left out.
    Finished,
    /// All its runs together: what it occupied, repetitions included.
    Total,
}

/// What to do with a run that has no end in the trace: it still ran when the trace ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GoogleUnfinished {
    /// It ends with the trace: its real length is unknown, and at least that.
    #[default]
    UntilEnd,
    /// It is left out; the task counts by its earlier runs, if it has any.
    Drop,
}

/// All choices of the reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoogleAssumptions {
    /// Which tasks share a queue.
    pub queues: GoogleQueues,
    /// What the work of a task is that ran several times.
    pub episode: GoogleEpisode,
    /// What to do with runs that have no end.
    pub unfinished: GoogleUnfinished,
    /// Whether tasks submitted before the trace begins (time 0) are kept.
    pub keep_earlier: bool,
    /// What tasks ask for whose request is missing, or nothing; `None` leaves them out.
    pub missing_demand: Option<Resources>,
    /// Lowest and highest priority that is kept; others are left out, and so are tasks without a
    /// priority.
    pub priorities: Option<(u8, u8)>,
    /// Tasks of one job that are submitted at most this long after the one before make one job
    /// here.
    pub batch_gap: Span,
}

impl Default for GoogleAssumptions {
    fn default() -> GoogleAssumptions {
        GoogleAssumptions {
            queues: GoogleQueues::default(),
            episode: GoogleEpisode::default(),
            unfinished: GoogleUnfinished::default(),
            keep_earlier: true,
            missing_demand: None,
            priorities: None,
            batch_gap: Span::from_secs(1).unwrap_or(Span::ZERO),
        }
    }
}

/// What the three requests of a row are called as resources.
const NAMES: [&str; 3] = ["cpu", "memory", "disk"];

impl GoogleAssumptions {
    /// Checks the choices; which of the cluster's kinds cpu, memory and disk are.
    pub(super) fn resolve(&self, kinds: &ResourceKinds) -> Result<[Option<usize>; 3], TraceError> {
        let found = NAMES.map(|name| kinds.find(name));
        if found.iter().all(Option::is_none) {
            let known: Vec<&str> = kinds.names().collect();
            return Err(TraceError::settings(
                "the Google reader's resources",
                format!(
                    "the trace has requests for cpu, memory and disk; the cluster has only {}",
                    known.join(", ")
                ),
            ));
        }
        if let Some(kind) =
            found.into_iter().flatten().find(|kind| kinds.unit(*kind) == Unit::Bytes)
        {
            let name = kinds.name(kind);
            return Err(TraceError::settings(
                "the Google reader's resources",
                format!(
                    "\"{name}\" is counted in bytes, but the trace has shares of the largest \
                     machine; declare \
                     {{ name = \"{name}\", unit = \"milli\" }}"
                ),
            ));
        }
        if let Some(demand) = &self.missing_demand
            && (demand.kinds() != kinds.len() || demand.is_zero())
        {
            let why = "does not fit the cluster's resources, or is nothing";
            return Err(TraceError::settings("the Google reader's missing_demand", why));
        }
        match self.priorities {
            Some((low, high)) if low > high => Err(TraceError::settings(
                "the Google reader's priorities",
                format!("{low} to {high} are none; the lowest comes first"),
            )),
            _ => Ok(found),
        }
    }

    /// The choices in words.
    pub(super) fn words(&self, found: &[Option<usize>; 3]) -> Vec<String> {
        let queue = match &self.queues {
            GoogleQueues::User => {
                "one queue per user (column 7), by the first 8 letters of its hash".to_owned()
            }
            GoogleQueues::Job => "one queue per job".to_owned(),
            GoogleQueues::Class => "one queue per scheduling class (column 8)".to_owned(),
            GoogleQueues::Priority => "one queue per band of priorities (column 9)".to_owned(),
            GoogleQueues::Single(name) => format!("all tasks in the queue {name}"),
        };
        let used: Vec<&str> =
            NAMES.iter().zip(found).filter_map(|(name, kind)| kind.map(|_| *name)).collect();
        let work = match self.episode {
            GoogleEpisode::Last => "takes as long as its last run",
            GoogleEpisode::Longest => "takes as long as its longest run",
            GoogleEpisode::Finished => "takes as long as the run that finished, or is left out",
            GoogleEpisode::Total => "takes as long as all its runs together",
        };
        let unfinished = match self.unfinished {
            GoogleUnfinished::UntilEnd => "runs without an end last until the trace ends",
            GoogleUnfinished::Drop => "runs without an end are left out",
        };
        let missing = match self.missing_demand {
            Some(_) => "tasks without a request ask for missing_demand",
            None => "tasks without a request are left out",
        };
        let mut words = vec![
            format!("Google: {queue}"),
            format!("Google: {} of a largest machine are 1000 units each", used.join(", ")),
            format!(
                "Google: a task that was evicted, failed or was lost, and was submitted again, \
                 {work}"
            ),
            "Google: a task that was submitted again after it finished or was killed is a new one"
                .to_owned(),
            format!("Google: {unfinished}; {missing}"),
            format!(
                "Google: tasks of a job submitted within {} of the one before come as one job; \
                 later ones as \
                 another with the same name",
                format_span(self.batch_gap)
            ),
        ];
        words.push(match self.keep_earlier {
            true => {
                "Google: tasks from before the trace are submitted at 0 and begin there".to_owned()
            }
            false => "Google: tasks from before the trace are left out".to_owned(),
        });
        if let Some((low, high)) = self.priorities {
            words.push(format!("Google: priorities {low} to {high} only"));
        }
        words
    }
}

/// The band of a priority.
pub(super) fn band(priority: u8) -> &'static str {
    match priority {
        0 | 1 => "free",
        2..=8 => "other",
        9 => "production",
        10 | 11 => "monitoring",
        _ => "unknown",
    }
}
