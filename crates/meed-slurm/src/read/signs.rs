//! Signs that something has happened, from `sdiag`: a cheap question, before jobs are read.
//!
//! `slurmctld` counts the jobs that were submitted, started and ended, the passes of its
//! schedulers, and each kind of message that came. Where none of these counts moved, no job was
//! submitted, changed, started or ended by anybody. Messages that only ask are left out.
//!
//! What moves no count is noticed by the look that comes anyway (`looks.rs`): a node that answers
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
const COUNTS: [&str; 7] = [
    "Data since",
    "Jobs submitted:",
    "Jobs started:",
    "Jobs completed:",
    "Jobs canceled:",
    "Jobs failed:",
    // Of the main scheduler and of backfill.
    "Total cycles:",
];

/// What `slurmctld` has counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signs {
    lines: Vec<String>,
    messages: BTreeMap<String, u64>,
}

/// Reads what `sdiag` prints; `None`: it is not of the form in which its counts can be told.
pub(crate) fn parse_signs(text: &str) -> Option<Signs> {
    let (counts, messages) = text.split_once("statistics by message type")?;
    // Behind them the same messages are counted by user.
    let messages = messages.split("statistics by user").next().unwrap_or(messages);
    let lines = counts.lines().map(str::trim);
    let lines = lines.filter(|line| COUNTS.iter().any(|count| line.starts_with(count)));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    // Each of them, and the cycles of both schedulers.
    if lines.len() != COUNTS.len() + 1 {
        return None;
    }
    let messages: BTreeMap<String, u64> = messages.lines().filter_map(message).collect();
    let messages = messages.into_iter().filter(|(name, _)| !QUESTIONS.contains(&name.as_str()));
    Some(Signs { lines, messages: messages.collect() })
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
            ("Total cycles: 6", "Total cycles: 7"),
            ("Total cycles: 2", "Total cycles: 3"),
            ("count:2000 ", "count:2001 "),
            ("since      Mon Nov 30 00:48:40", "since      Mon Nov 30 00:51:40"),
            ("\tREQUEST_JOB", unknown),
        ] {
            assert_ne!(parse_signs(&TOLD.replacen(from, to, 1)).unwrap(), first, "{from}");
        }
    }

    #[test]
    fn text_without_the_counts_says_nothing() {
        assert_eq!(parse_signs(""), None);
        assert_eq!(parse_signs(&TOLD.replace("Jobs failed:", "Jobs lost:")), None);
        assert_eq!(parse_signs(&TOLD.replace("message type", "kind")), None);
    }
}
