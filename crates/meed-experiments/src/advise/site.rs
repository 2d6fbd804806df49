//! What a site has now: the order of the scheduler whose log it is, with its defaults.

use meed_config::units::format_span;
use meed_workload::format::TraceFormat;

use super::memory::Remembers;

/// Whose order `fair-tree` is.
pub(super) const SLURM: &str = "Slurm";

/// A present order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Baseline {
    /// In the words of `meed rivals`.
    pub words: String,
    /// Why this one, in words.
    pub why: String,
}

impl Baseline {
    /// As somebody has asked for it.
    pub fn asked(words: &str) -> Baseline {
        Baseline { words: words.to_owned(), why: "as --baseline says".to_owned() }
    }
}

/// Format, order, and of what it is the default.
const BY_FORMAT: [(TraceFormat, &str, &str); 8] = [
    (TraceFormat::Sacct, "fair-tree,half_life=7d", "Slurm's default, for this is its log"),
    (TraceFormat::SacctJson, "fair-tree,half_life=7d", "Slurm's default, for this is its log"),
    (TraceFormat::Pbs, "pbs", "PBS's fair share with its defaults, for this is its log"),
    // HIST_HOURS is 5, after which a tenth counts: 3.32 half-lives.
    (
        TraceFormat::Lsf,
        "long-term,half_life=90min",
        "near LSF's default, HIST_HOURS=5, for this is its log",
    ),
    (TraceFormat::Condor, "condor", "HTCondor's default, for this is its log"),
    (TraceFormat::GridEngine, "sge", "Grid Engine's share tree with its defaults"),
    (TraceFormat::Kubernetes, "fair", "Kueue forgets all unless it is told otherwise"),
    (TraceFormat::Yarn, "fair", "YARN's Fair Scheduler forgets all"),
];

/// The present order of a site with a log of this format.
pub fn of_format(format: Option<TraceFormat>) -> Baseline {
    let row = BY_FORMAT.iter().find(|(known, ..)| Some(*known) == format);
    match row {
        Some((_, words, why)) => Baseline { words: (*words).to_owned(), why: (*why).to_owned() },
        None if matches!(format, Some(TraceFormat::Swf | TraceFormat::Mwf)) => {
            let why = "sharing without a memory, for the log names no scheduler. Batch schedulers \
                have a memory: --baseline fair-tree compares with Slurm's, and the gain is smaller";
            Baseline { words: super::FAIR.to_owned(), why: why.to_owned() }
        }
        None => {
            let why = "sharing without a memory, for nobody says what you have (--baseline)";
            Baseline { words: super::FAIR.to_owned(), why: why.to_owned() }
        }
    }
}

/// A rival, the scheduler of [`super::settings::SCHEDULERS`] whose it is, and the key of its
/// memory.
const SCHEDULER_OF: [(&str, &str, &str); 5] = [
    ("fair-tree", SLURM, "half_life"),
    ("condor", "HTCondor", "half_life"),
    ("pbs", "PBS", "decay_time"),
    ("sge", "Grid Engine", "halftime"),
    ("kueue-afs", "Kueue", "half_life"),
];

fn row(words: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let name = words.split(',').next().unwrap_or_default().trim();
    SCHEDULER_OF.iter().find(|(rival, ..)| *rival == name)
}

/// The scheduler whose order these words name.
pub fn scheduler_of(words: &str) -> Option<&'static str> {
    row(words).map(|(_, scheduler, _)| *scheduler)
}

/// The order of the same scheduler with another memory: what a site would get that writes the
/// setting. Nothing where it cannot be told so.
pub fn with_memory(words: &str, memory: Remembers) -> Option<String> {
    let (rival, _, key) = row(words)?;
    let Remembers::HalfLife(half_life) = memory else { return None };
    // How often it looks stays the site's.
    let cadence = words.split(',').find(|key| key.trim().starts_with("cadence="));
    let cadence = cadence.map_or(String::new(), |cadence| format!(",{}", cadence.trim()));
    Some(format!("{rival},{key}={}{cadence}", format_span(half_life)))
}
