//! Which column is what, by well-known names.
//!
//! A name is compared as words: `startTime`, `Start Time` and `START_TIME` are alike. A unit at its
//! end (`mem_gb`, `Duration (s)`) is taken off where the name is known without it, and is the unit
//! of the column. Of several columns that would do, the name that stands first in the table wins.

use meed::Unit;

use super::amounts::AmountUnit;
use super::times::TimeUnit;

/// What a column can be to a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    Submit,
    Eligible,
    Start,
    End,
    Duration,
    Suspended,
    Limit,
    Tenant,
    Name,
    Count,
    Nodes,
    Gang,
    Partition,
}

/// Which units a role's numbers can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Units {
    None,
    Time,
    Amount(Unit),
}

/// Each role, the key that names it, and the names of columns that are it.
pub(super) const ROLES: [(Role, &str, &[&str]); 13] = [
    // Nobody guesses it: it binds jobs to nodes.
    (Role::Partition, "partition", &[]),
    (
        Role::Submit,
        "submit",
        &[
            "submit",
            "submit_time",
            "submission_time",
            "submitted",
            "submitted_at",
            "submit_at",
            "arrival",
            "arrival_time",
            "arrived",
            "arrived_at",
            "enqueue_time",
            "enqueued_at",
            "queued_at",
            "creation_time",
            "creation_timestamp",
            "create_time",
            "created",
            "created_at",
            "submission",
            "timestamp",
        ],
    ),
    (Role::Eligible, "eligible", &["eligible", "eligible_at", "eligible_since"]),
    (
        Role::Start,
        "start",
        &[
            "start",
            "start_time",
            "started",
            "started_at",
            "begin",
            "begin_time",
            "launch_time",
            "dispatch_time",
            "scheduled_time",
            "scheduled_at",
            "start_date",
            "start_timestamp",
        ],
    ),
    (
        Role::End,
        "end",
        &[
            "end",
            "end_time",
            "ended",
            "ended_at",
            "finish",
            "finish_time",
            "finished",
            "finished_at",
            "finished_time",
            "completion_time",
            "completed",
            "completed_at",
            "complete_time",
            "deletion_time",
            "terminated_at",
            "end_date",
            "end_timestamp",
        ],
    ),
    (
        Role::Duration,
        "duration",
        &[
            "duration",
            "run_time",
            "runtime",
            "elapsed",
            "elapsed_time",
            "execution_time",
            "exec_time",
            "running_time",
            "run_duration",
            "job_runtime",
            "service_time",
            "elapsed_raw",
        ],
    ),
    (Role::Suspended, "suspended", &[]),
    (
        Role::Limit,
        "limit",
        &[
            "limit",
            "time_limit",
            "timelimit",
            "requested_time",
            "req_time",
            "requested_walltime",
            "req_walltime",
            "walltime_limit",
            "wallclock_limit",
            "walltime_requested",
            "max_run_time",
            "timelimit_raw",
            "time_requested",
        ],
    ),
    (
        Role::Tenant,
        "tenant",
        &[
            "tenant",
            "tenant_id",
            "user",
            "user_name",
            "username",
            "user_id",
            "userid",
            "uid",
            "owner",
            "account",
            "account_name",
            "project",
            "project_id",
            "team",
            "group",
            "group_name",
            "group_id",
            "namespace",
            "vc",
            "virtual_cluster",
            "org",
            "organization",
            "department",
            "customer",
            "queue",
            "queue_name",
        ],
    ),
    (
        Role::Name,
        "name",
        &[
            "job_id", "jobid", "id", "id_job", "job", "job_name", "jobname", "name", "task_id",
            "pod", "pod_name",
        ],
    ),
    (
        Role::Count,
        "count",
        &["tasks", "num_tasks", "task_count", "ntasks", "instances", "instance_num", "replicas"],
    ),
    (Role::Nodes, "nodes", &[]),
    (Role::Gang, "gang", &["gang"]),
];

/// Resources by the name that they have where no cluster names them, and names of columns.
pub(super) const RESOURCES: [(&str, Unit, &[&str]); 3] = [
    (
        "cpu",
        Unit::Milli,
        &[
            "cpu",
            "cpus",
            "cores",
            "ncpus",
            "num_cpus",
            "num_cpu",
            "cpu_num",
            "cpu_count",
            "cpu_cores",
            "num_cores",
            "n_cpus",
            "n_cores",
            "vcpus",
            "vcores",
            "alloc_cpus",
            "cpus_alloc",
            "req_cpus",
            "cpus_req",
            "requested_cpus",
            "cpu_request",
            "request_cpus",
            "plan_cpu",
            "processors",
            "procs",
            "nprocs",
            "num_procs",
        ],
    ),
    (
        "memory",
        Unit::Bytes,
        &[
            "memory",
            "mem",
            "ram",
            "req_mem",
            "mem_req",
            "mem_request",
            "memory_request",
            "request_memory",
            "requested_memory",
            "alloc_mem",
            "mem_alloc",
            "memory_alloc",
            "plan_mem",
            "memory_requested",
        ],
    ),
    (
        "gpu",
        Unit::Milli,
        &[
            "gpu",
            "gpus",
            "ngpus",
            "num_gpus",
            "num_gpu",
            "gpu_num",
            "gpu_count",
            "n_gpus",
            "gpu_request",
            "request_gpus",
            "req_gpus",
            "gpus_req",
            "alloc_gpus",
            "gpus_alloc",
            "requested_gpus",
            "plan_gpu",
        ],
    ),
];

impl Role {
    /// The key that names it.
    pub(super) fn key(self) -> &'static str {
        ROLES.iter().find(|(role, ..)| *role == self).map_or("", |(_, key, _)| key)
    }

    /// The role that a key names.
    pub(super) fn of_key(key: &str) -> Option<Role> {
        ROLES.iter().find(|(_, known, _)| *known == key).map(|(role, ..)| *role)
    }

    pub(super) fn units(self) -> Units {
        match self {
            Role::Submit | Role::Eligible | Role::Start | Role::End => Units::Time,
            Role::Duration | Role::Suspended | Role::Limit => Units::Time,
            _ => Units::None,
        }
    }
}

/// The resource of the table that a name is one of: `cores` is `cpu`.
pub(super) fn resource_of(name: &str) -> Option<(&'static str, Unit, &'static [&'static str])> {
    let name = words_of(name);
    RESOURCES.iter().find(|(_, _, names)| names.contains(&name.as_str())).copied()
}

/// A name as words in lower case with `_` between them.
pub(super) fn words_of(name: &str) -> String {
    let mut words = String::new();
    let mut last = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && last.is_lowercase();
        if c.is_alphanumeric() {
            if (begins || !last.is_alphanumeric()) && !words.is_empty() {
                words.push('_');
            }
            words.extend(c.to_lowercase());
        }
        last = c;
    }
    words
}

/// The column among `names` whose name is one of `known`, and the unit at the end of it.
pub(super) fn column(
    names: &[String],
    known: &[&str],
    units: Units,
    taken: &[usize],
) -> Option<(usize, Option<String>)> {
    let words: Vec<String> = names.iter().map(|name| words_of(name)).collect();
    let free = || words.iter().enumerate().filter(|(column, _)| !taken.contains(column));
    known.iter().find_map(|known| {
        let whole = free().find(|(_, words)| words.as_str() == *known);
        let whole = whole.map(|(column, _)| (column, None));
        whole.or_else(|| {
            free().find_map(|(column, words)| {
                let unit = words.strip_prefix(*known)?.strip_prefix('_')?;
                is_unit(unit, units).then(|| (column, Some(unit.to_owned())))
            })
        })
    })
}

fn is_unit(word: &str, units: Units) -> bool {
    match units {
        Units::None => false,
        Units::Time => TimeUnit::named(word).is_some(),
        Units::Amount(unit) => AmountUnit::named(word).is_some_and(|found| found.suits(unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (name, words) in [
            ("startTime", "start_time"),
            ("Start Time", "start_time"),
            ("JobID", "job_id"),
            ("Duration (s)", "duration_s"),
            ("memory [GiB]", "memory_gi_b"),
            ("NCPUS", "ncpus"),
            ("__x__", "x"),
            ("", ""),
        ] {
            assert_eq!(words_of(name), words, "{name}");
        }
    }

    #[test]
    fn columns_are_found_by_name_and_unit() {
        let names = ["Job ID", "username", "mem_gb", "Run Time (min)", "gpu_milli", "mem_free"];
        let names = names.map(str::to_owned);
        let role = |role: Role| {
            let row = ROLES.iter().find(|(known, ..)| *known == role).unwrap();
            column(&names, row.2, role.units(), &[])
        };
        let resource =
            |at: usize| column(&names, RESOURCES[at].2, Units::Amount(RESOURCES[at].1), &[]);
        assert_eq!(role(Role::Name), Some((0, None)));
        assert_eq!(role(Role::Tenant), Some((1, None)));
        assert_eq!(role(Role::Duration), Some((3, Some("min".to_owned()))));
        assert_eq!(role(Role::Submit), None);
        assert_eq!(resource(0), None);
        assert_eq!(resource(1), Some((2, Some("gb".to_owned()))));
        assert_eq!(resource(2), Some((4, Some("milli".to_owned()))));
        assert_eq!(column(&names, &["mem"], Units::Amount(Unit::Bytes), &[2]), None);
    }
}
