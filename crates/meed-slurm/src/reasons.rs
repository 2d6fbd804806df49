//! Slurm's reasons in words: a table, and for limits the parts of their names.
//!
//! `AssocGrpCpuLimit` says whose limit it is (`Assoc`, `QOS`), over which jobs (`Grp`, `Max`), of
//! what (`Cpu`), and for what each (`PerJob`, `PerUser`). Versions differ in upper and lower case,
//! which is passed over.

/// Reasons by the word that `squeue` prints.
const REASONS: [(&str, &str); 22] = [
    ("Resources", "it waits for room"),
    ("Priority", "jobs of a higher priority wait for the same room"),
    ("None", "Slurm has not looked at it since something changed"),
    ("SchedDefer", "the site has new jobs wait for the next pass of the scheduler"),
    ("Dependency", "it waits for another job"),
    ("DependencyNeverSatisfied", "the job that it waits for has ended otherwise"),
    ("JobHeldUser", "its user holds it"),
    ("JobHeldAdmin", "an administrator holds it"),
    ("BeginTime", "it is not to begin yet, or was put back a moment ago"),
    ("JobArrayTaskLimit", "as many elements of the array run as its user allows"),
    ("ReqNodeNotAvail", "a node that it asks for is away"),
    ("NodeDown", "a node that it asks for is down"),
    ("Licenses", "a licence that it needs is in use"),
    ("Reservation", "it waits for its reservation to begin"),
    ("ReservationDeleted", "its reservation is gone"),
    ("PartitionDown", "its partition is down"),
    ("PartitionInactive", "its partition is inactive"),
    ("PartitionTimeLimit", "it asks for more time than its partition allows"),
    ("PartitionNodeLimit", "it asks for more nodes than its partition allows"),
    ("InvalidAccount", "its account is none of this cluster"),
    ("InvalidQOS", "its QOS is none of this cluster"),
    ("QOSNotAllowed", "its QOS is not allowed in its account or partition"),
];

/// Whose limit it is.
const OWNERS: [(&str, &str); 2] = [("assoc", "account or user"), ("qos", "QOS")];

/// What is limited: the first that a name holds.
const LIMITED: [(&str, &str); 15] = [
    ("cpurunmin", "core-minutes that running jobs have left"),
    ("cpumin", "core-minutes"),
    ("cpu", "cores"),
    ("mem", "memory"),
    ("gres", "generic resources such as GPUs"),
    ("submitjob", "jobs that are submitted"),
    ("jobs", "jobs that run"),
    ("wall", "time"),
    ("node", "nodes"),
    ("license", "licences"),
    ("billing", "billing"),
    ("energy", "energy"),
    ("bb", "burst buffers"),
    ("time", "time"),
    ("job", "jobs"),
];

/// For what each.
const EACH: [(&str, &str); 4] = [
    ("perjob", ", for one job"),
    ("peruser", ", for one user"),
    ("pernode", ", on one node"),
    ("peraccount", ", for one account"),
];

/// A reason in words.
pub(crate) fn reason(word: &str) -> String {
    match REASONS.iter().find(|(name, _)| *name == word) {
        Some((_, words)) => (*words).to_owned(),
        None => limit(word).unwrap_or_else(|| "see `man squeue`, JOB REASON CODES".to_owned()),
    }
}

fn limit(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    let (begin, owner) = OWNERS.iter().find(|(begin, _)| word.starts_with(begin))?;
    let rest = &word[begin.len()..];
    let of = |table: &[(&str, &'static str)]| {
        table.iter().find(|(part, _)| rest.contains(part)).map(|(_, words)| *words)
    };
    let each = of(&EACH).unwrap_or_default();
    // `PerNode` and `PerJob` name no limited thing.
    let named = rest.split("per").next().unwrap_or(rest);
    let limited = LIMITED.iter().find(|(part, _)| named.contains(part));
    let what = limited.map_or(String::new(), |(_, what)| format!(" of {what}"));
    if rest.starts_with("min") {
        return Some(format!("it asks for less than the least of its {owner}{what}"));
    }
    let together = if rest.starts_with("grp") { " for all its jobs together" } else { "" };
    Some(format!("its {owner} is at a limit{what}{together}{each}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_by_the_parts_of_their_names() {
        for (word, words) in [
            (
                "AssocGrpCPULimit",
                "its account or user is at a limit of cores for all its jobs together",
            ),
            (
                "AssocGrpCpuLimit",
                "its account or user is at a limit of cores for all its jobs together",
            ),
            ("QOSMaxCpuPerUserLimit", "its QOS is at a limit of cores, for one user"),
            ("QOSMaxJobsPerUserLimit", "its QOS is at a limit of jobs that run, for one user"),
            ("AssocMaxJobsLimit", "its account or user is at a limit of jobs that run"),
            (
                "AssocMaxWallDurationPerJobLimit",
                "its account or user is at a limit of time, for one job",
            ),
            ("QOSMinMemory", "it asks for less than the least of its QOS of memory"),
            (
                "AssocMaxGRESPerNode",
                "its account or user is at a limit of generic resources such \
                as GPUs, on one node",
            ),
            ("AssociationJobLimit", "its account or user is at a limit of jobs"),
            ("Dependency", "it waits for another job"),
            ("FrontEndDown", "see `man squeue`, JOB REASON CODES"),
        ] {
            assert_eq!(reason(word), words, "{word}");
        }
    }
}
