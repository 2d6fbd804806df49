//! Signs that something has happened, from `sdiag`: a cheap question, before jobs are read.
//!
//! `slurmctld` counts the jobs that were submitted, started and ended, the passes of its
//! schedulers, and each kind of message that came. Where none of these counts moved, no job was
//! submitted, changed, started or ended by anybody. Messages that only ask are left out.
//!
//! Passes of the schedulers stand apart: one may find that a job which waited for an hour of the
//! day may start now, but most change nothing, and they come all the time while jobs wait.
//!
//! What moves no count is noticed by the look that comes anyway (`due.rs`): a node that answers
//! no more, and a time limit until the node's message comes.

use std::collections::BTreeMap;

/// Messages that change nothing. One that is not among them counts as a change.
const QUESTIONS: [&str; 30] = [
    "REQUEST_ASSOC_MGR_INFO",
    "REQUEST_BATCH_SCRIPT",
    "REQUEST_BUILD_INFO",
    "REQUEST_BURST_BUFFER_INFO",
    "REQUEST_BURST_BUFFER_STATUS",
    "REQUEST_CONFIG",
    "REQUEST_CONTROL_STATUS",
    "REQUEST_FED_INFO",
    "REQUEST_FRONT_END_INFO",
    "REQUEST_HET_JOB_ALLOC_INFO",
    "REQUEST_JOB_ALLOCATION_INFO",
    "REQUEST_JOB_END_TIME",
    "REQUEST_JOB_INFO",
    "REQUEST_JOB_INFO_SINGLE",
    "REQUEST_JOB_READY",
    "REQUEST_JOB_SBCAST_CRED",
    "REQUEST_JOB_STATE",
    "REQUEST_JOB_STEP_INFO",
    "REQUEST_JOB_USER_INFO",
    "REQUEST_LICENSE_INFO",
    "REQUEST_NODE_INFO",
    "REQUEST_NODE_INFO_SINGLE",
    "REQUEST_PARTITION_INFO",
    "REQUEST_PING",
    "REQUEST_PRIORITY_FACTORS",
    "REQUEST_RESERVATION_INFO",
    "REQUEST_SHARE_INFO",
    "REQUEST_STATS_INFO",
    "REQUEST_TOPO_INFO",
    "REQUEST_TRIGGER_GET",
];

/// Lines of counts that are signs.
const COUNTS: [&str; 6] = [
    "Data since",
    "Jobs submitted:",
    "Jobs started:",
    "Jobs completed:",
    "Jobs canceled:",
    "Jobs failed:",
];

/// Lines of passes: of the main scheduler and of backfill.
const PASSES: &str = "Total cycles:";

/// The message that changes a job: one for each job of a list.
const UPDATE: &str = "REQUEST_UPDATE_JOB";

/// What `slurmctld` has counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signs {
    lines: Vec<String>,
    messages: BTreeMap<String, u64>,
    passes: Vec<String>,
}

impl Signs {
    /// Nothing was counted between the two, but for passes of the schedulers.
    pub(crate) fn are_still(&self, other: &Signs) -> bool {
        self.lines == other.lines && self.messages == other.messages
    }

    /// So many jobs were updated by this program: that is no sign.
    pub(crate) fn updated(&mut self, jobs: u64) {
        if jobs > 0 {
            *self.messages.entry(UPDATE.to_owned()).or_default() += jobs;
        }
    }
}

/// Reads what `sdiag` prints; `None`: it is not of the form in which its counts can be told.
pub(crate) fn parse_signs(text: &str) -> Option<Signs> {
    let (counts, messages) = text.split_once("statistics by message type")?;
    // Behind them the same messages are counted by user.
    let messages = messages.split("statistics by user").next().unwrap_or(messages);
    let of = |begins: &[&str]| -> Vec<String> {
        let lines = counts.lines().map(str::trim);
        let lines = lines.filter(|line| begins.iter().any(|begin| line.starts_with(begin)));
        lines.map(str::to_owned).collect()
    };
    let (lines, passes) = (of(&COUNTS), of(&[PASSES]));
    if lines.len() != COUNTS.len() || passes.len() != 2 {
        return None;
    }
    let messages: BTreeMap<String, u64> = messages.lines().filter_map(message).collect();
    let messages = messages.into_iter().filter(|(name, _)| !QUESTIONS.contains(&name.as_str()));
    Some(Signs { lines, messages: messages.collect(), passes })
}

/// `REQUEST_PING ( 1008) count:45 ave_time:115 total_time:5207`: its name and count.
fn message(line: &str) -> Option<(String, u64)> {
    let name = line.split_whitespace().next()?;
    let count = line.split_whitespace().find_map(|word| word.strip_prefix("count:"))?;
    Some((name.to_owned(), count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Slurm 22.05.8; lines that are not read are left out.
    const TOLD: &str = "\
*******************************************************
sdiag output at Mon Nov 30 00:50:16 2026 (1795999816)
Data since      Mon Nov 30 00:48:40 2026 (1795999720)
*******************************************************
Server thread count:  3
DBD Agent queue size: 0

Jobs submitted: 2000
Jobs started:   0
Jobs completed: 0
Jobs canceled:  0
Jobs failed:    0

Job states ts:  Mon Nov 30 00:50:10 2026 (1795999810)
Jobs pending:   2000
Jobs running:   0

Main schedule statistics (microseconds):
\tLast cycle:   1635
\tTotal cycles: 6
\tMean cycle:   1273

Backfilling stats
\tTotal backfilled jobs (since last slurm start): 0
\tTotal cycles: 2
\tLast cycle when: Mon Nov 30 00:49:09 2026 (1795999749)

Remote Procedure Call statistics by message type
\tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:2000   ave_time:1659   total_time:3319056
\tREQUEST_JOB_INFO                        ( 2003) count:89     ave_time:2737   total_time:243593
\tREQUEST_STATS_INFO                      ( 2035) count:44     ave_time:204    total_time:8983

Remote Procedure Call statistics by user
\troot            (       0) count:2419   ave_time:1509   total_time:3651343

Pending RPC statistics
\tNo pending RPCs
";

    #[test]
    fn questions_are_no_signs() {
        let first = parse_signs(TOLD).unwrap();
        for (from, to) in [
            ("count:89 ", "count:90 "),
            ("count:44 ", "count:45 "),
            ("output at Mon Nov 30 00:50:16", "output at Mon Nov 30 00:50:18"),
            ("count:2419", "count:2423"),
            ("Last cycle:   1635", "Last cycle:   1700"),
        ] {
            assert_eq!(parse_signs(&TOLD.replace(from, to)).unwrap(), first, "{from}");
        }
    }

    #[test]
    fn whatever_may_have_changed_a_job_is_a_sign() {
        let first = parse_signs(TOLD).unwrap();
        let unknown =
            "\tREQUEST_OF_LATER                ( 4999) count:1      ave_time:1\n\tREQUEST_JOB";
        for (from, to) in [
            ("Jobs submitted: 2000", "Jobs submitted: 2001"),
            ("Jobs started:   0", "Jobs started:   1"),
            ("count:2000 ", "count:2001 "),
            ("since      Mon Nov 30 00:48:40", "since      Mon Nov 30 00:51:40"),
            ("\tREQUEST_JOB", unknown),
        ] {
            let later = parse_signs(&TOLD.replacen(from, to, 1)).unwrap();
            assert!(!later.are_still(&first), "{from}");
        }
        for (from, to) in [("cycles: 6", "cycles: 7"), ("cycles: 2", "cycles: 3")] {
            let later = parse_signs(&TOLD.replacen(from, to, 1)).unwrap();
            assert!(later.are_still(&first) && later != first, "{from}");
        }
    }

    #[test]
    fn own_updates_are_no_signs() {
        let mut first = parse_signs(TOLD).unwrap();
        let updates = "\tREQUEST_UPDATE_JOB  ( 3001) count:24  ave_time:1\n\tREQUEST_JOB_INFO ";
        let later = parse_signs(&TOLD.replacen("\tREQUEST_JOB_INFO ", updates, 1)).unwrap();
        first.updated(0);
        assert!(!later.are_still(&first));
        first.updated(20);
        first.updated(4);
        assert!(later.are_still(&first));
    }

    #[test]
    fn text_without_the_counts_says_nothing() {
        assert_eq!(parse_signs(""), None);
        assert_eq!(parse_signs(&TOLD.replace("Jobs failed:", "Jobs lost:")), None);
        assert_eq!(parse_signs(&TOLD.replace("message type", "kind")), None);
    }
}
