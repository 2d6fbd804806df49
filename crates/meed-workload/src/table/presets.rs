//! Tables whose columns are known: what of them is what, and which rows are no jobs.

use super::accounting::ENDED;
use super::record::Record;

/// A known table. All of it is data.
pub(super) struct Preset {
    /// What messages call it.
    pub(super) title: &'static str,
    /// Its columns, where the file has no line that names them.
    pub(super) columns: Option<&'static [&'static str]>,
    /// What is where, by key.
    pub(super) map: &'static [(&'static str, &'static str)],
    /// Sizes are powers of 1024 where only a letter says so.
    pub(super) binary: bool,
    /// Amounts are those of all tasks together.
    pub(super) per_job: bool,
    /// Amounts may be `>24`, in a table of ranges: this counts as 24.
    pub(super) over: bool,
    /// Where a row does not say how long it ran, start and end do.
    pub(super) falls_back: bool,
    /// Rows that are left out.
    pub(super) drops: &'static [Drop],
    /// Rows of jobs that ran still when the table was made.
    pub(super) runs: Option<Drop>,
    /// What is said of a file that has no jobs, and is not empty.
    pub(super) nothing: &'static str,
    /// What is assumed, in words.
    pub(super) words: &'static [&'static str],
}

/// Rows that are left out, and why.
pub(super) struct Drop {
    pub(super) column: &'static str,
    pub(super) when: When,
    pub(super) why: &'static str,
}

/// What a value must be for its row to be left out.
pub(super) enum When {
    /// It has this byte.
    Holds(u8),
    /// It has this text within.
    Has(&'static str),
    /// It begins with one of these.
    Begins(&'static [&'static str]),
    /// It is this.
    Is(&'static str),
    /// It is anything but this.
    IsNot(&'static str),
}

impl Drop {
    /// Whether this says so of the row, whose value is in `column`.
    pub(super) fn says(&self, record: &Record, column: usize) -> bool {
        let value = record.get(column);
        match self.when {
            When::Holds(byte) => value.contains(&byte),
            When::Has(text) => value.windows(text.len()).any(|part| part == text.as_bytes()),
            When::Is(word) => value == word.as_bytes(),
            When::IsNot(word) => value != word.as_bytes(),
            When::Begins(words) => words.iter().any(|word| value.starts_with(word.as_bytes())),
        }
    }
}

const NEVER_STARTED: &str = "jobs that never started";
const NOT_ENDED: &str = "jobs that have not ended";

const NO_ROWS: &str = "no line holds a job";
const NO_LINES: &str = "the accounting file of Grid Engine has comments only; wanted is a line for \
    each job that has ended";
const NO_ROWS_OF_SACCT: &str = "sacct has listed no jobs; ask it for the time in which some ended \
    (-S and -E), and for those of all users (-a)";

/// How to ask Slurm for all that is read.
pub(super) const SLURM_RECIPE: &str = "sacct prints it with --parsable2 -o \
    JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,AllocTRES,\
    ReqMem,State";

/// `sacct --parsable2`.
pub(super) const SLURM: Preset = Preset {
    title: "Slurm",
    columns: None,
    map: &[
        ("submit", "Submit"),
        ("eligible", "Eligible"),
        ("start", "Start"),
        ("end", "End"),
        ("duration", "ElapsedRaw:s|Elapsed"),
        // Of the time from start to end; Elapsed does without it already.
        ("suspended", "Suspended"),
        ("limit", "TimelimitRaw:min|Timelimit"),
        ("tenant", "User|Account"),
        ("name", "JobID|JobIDRaw"),
        ("partition", "Partition"),
        ("nodes", "AllocTRES[node]|AllocNodes|NNodes|ReqTRES[node]|ReqNodes"),
        ("cpu", "AllocTRES[cpu]|AllocCPUS|NCPUS|ReqTRES[cpu]|ReqCPUS"),
        ("memory", "AllocTRES[mem]:MiB|ReqTRES[mem]:MiB|ReqMem:MiB"),
        ("gpu", "AllocTRES[gres/gpu]|ReqTRES[gres/gpu]"),
    ],
    binary: true,
    per_job: true,
    over: false,
    falls_back: true,
    drops: &[
        Drop { column: "JobID", when: When::Holds(b'.'), why: "steps of jobs" },
        Drop { column: "JobIDRaw", when: When::Holds(b'.'), why: "steps of jobs" },
        Drop {
            column: "State",
            when: When::Begins(&["PENDING", "CONFIGURING", "PD", "CF"]),
            why: NEVER_STARTED,
        },
        // Older ones write a start for jobs that were cancelled before it.
        Drop { column: "AllocTRES", when: When::Is(""), why: NEVER_STARTED },
        Drop { column: "AllocCPUS", when: When::Is("0"), why: NEVER_STARTED },
    ],
    runs: Some(Drop {
        column: "State",
        when: When::Begins(&["RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "CG"]),
        why: "jobs that ran still, and nothing says how long (ask sacct for Elapsed)",
    }),
    nothing: NO_ROWS_OF_SACCT,
    words: &["run times are those under the scheduler of then, as is who waited for whom"],
};

/// Accounting logs of PBS.
pub(super) const PBS: Preset = Preset {
    title: "PBS",
    columns: None,
    map: &[
        ("submit", "ctime:s|qtime:s"),
        ("eligible", "etime:s"),
        ("start", "start:s"),
        ("end", "end:s"),
        ("duration", "resources_used.walltime:s"),
        ("limit", "Resource_List.walltime:s"),
        ("tenant", "user"),
        ("name", "record.job"),
        ("partition", "queue"),
        ("nodes", "Resource_List.nodect|hosts"),
        // Torque's ncpus may be a queue's default beside nodes=2:ppn=8.
        ("cpu", "slots|Resource_List.ncpus"),
        ("memory", "Resource_List.mem|Resource_List.pmem*slots"),
        ("gpu", "Resource_List.ngpus|Resource_List.gpus"),
    ],
    binary: true,
    per_job: true,
    over: false,
    falls_back: true,
    drops: &[
        Drop {
            column: "record.type",
            when: When::IsNot(ENDED),
            why: "records of other kinds than ends of jobs",
        },
        // `80[].server` is the array, `80[3].server` an element of it.
        Drop {
            column: "record.job",
            when: When::Has("[]"),
            why: "parents of arrays, whose elements have records of their own",
        },
        Drop { column: "start", when: When::Is("0"), why: NEVER_STARTED },
    ],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "run times are those under the scheduler of then, as is who waited for whom",
        "a job that was run again counts from its first submission, with its last run",
        "run times are resources_used.walltime, which stands still while a job is suspended; where \
         it is not there, end minus start",
    ],
};

const NO_RUN: &str = "runs without times: they never began, or were lost with their host";
const NO_SLOT: &str = "jobs of the scheduler and local universes (DAGMan), which hold no slot";

/// Accounting logs of LSF.
pub(super) const LSF: Preset = Preset {
    title: "LSF",
    columns: None,
    map: &[
        ("submit", "submitTime:s"),
        ("eligible", "beginTime:s"),
        ("start", "startTime:s"),
        ("end", "eventTime:s"),
        ("tenant", "userName"),
        ("name", "jobId/idx"),
        ("nodes", "hosts"),
        ("cpu", "slots|numProcessors"),
        ("memory", "maxRMem:KiB"),
    ],
    binary: true,
    per_job: true,
    over: false,
    falls_back: false,
    drops: &[
        Drop {
            column: "record.type",
            when: When::IsNot(super::lsf::ENDED),
            why: "records of other kinds than ends of jobs",
        },
        Drop { column: "startTime", when: When::Is("0"), why: NEVER_STARTED },
    ],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "run times are those under the scheduler of then, as is who waited for whom",
        "memory is the most that a job used: the log does not say what it asked for",
    ],
};

/// The accounting file of Grid Engine.
pub(super) const GRID_ENGINE: Preset = Preset {
    title: "Grid Engine",
    columns: None,
    map: &[
        ("submit", "submission_time"),
        ("start", "start_time"),
        ("end", "end_time"),
        ("limit", "request.h_rt:s"),
        ("tenant", "owner"),
        ("name", "job"),
        ("cpu", "slots"),
    ],
    binary: true,
    per_job: true,
    over: false,
    falls_back: false,
    drops: &[
        Drop { column: "start_time", when: When::Is("0"), why: NO_RUN },
        Drop {
            column: "slave",
            when: When::IsNot(""),
            why: "tasks of parallel jobs that have a line of their own beside their job's",
        },
    ],
    runs: None,
    nothing: NO_LINES,
    words: &[
        "run times are those under the scheduler of then, as is who waited for whom",
        "slots are those of the whole job; run times hold the time in which a job was suspended",
        "a job that ran again comes when it was put back into the queue: the file forgets its \
         first submission",
        "requests of -l are columns, such as request.h_vmem; whether one is for each slot or for \
         the job is said by the site alone, so memory and GPUs are not read (--map \
         memory=request.h_vmem*slots)",
    ],
};

/// `condor_history -jsonl` of HTCondor.
pub(super) const CONDOR: Preset = Preset {
    title: "HTCondor",
    columns: None,
    map: &[
        ("submit", "QDate:s"),
        ("duration", "RemoteWallClockTime:s"),
        ("tenant", "Owner|User"),
        ("name", "ClusterId/ProcId"),
        ("nodes", "hosts"),
        ("cpu", "CpusProvisioned*hosts|RequestCpus*hosts"),
        ("memory", "MemoryProvisioned*hosts:MiB|RequestMemory*hosts:MiB"),
        ("gpu", "GPUsProvisioned*hosts|RequestGPUs*hosts|RequestGpus*hosts"),
    ],
    binary: true,
    per_job: true,
    over: false,
    falls_back: false,
    drops: &[
        Drop { column: "JobUniverse", when: When::Is("7"), why: NO_SLOT },
        Drop { column: "JobUniverse", when: When::Is("12"), why: NO_SLOT },
        Drop { column: "JobStatus", when: When::Is("1"), why: NOT_ENDED },
        Drop { column: "JobStatus", when: When::Is("2"), why: NOT_ENDED },
        Drop { column: "JobStatus", when: When::Is("5"), why: NOT_ENDED },
        Drop { column: "JobStatus", when: When::Is("6"), why: NOT_ENDED },
        Drop { column: "JobStatus", when: When::Is("7"), why: NOT_ENDED },
        Drop { column: "RemoteWallClockTime", when: When::Is("0.0"), why: NEVER_STARTED },
        Drop { column: "RemoteWallClockTime", when: When::Is("0"), why: NEVER_STARTED },
    ],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "run times are those under the scheduler of then, as is who waited for whom",
        "a job that was evicted runs as long as all of its runs together",
        "a job of the parallel universe holds what it asks for on each of its hosts",
    ],
};

/// The pods of Alibaba's GPU cluster of 2023 (openb).
pub(super) const OPENB: Preset = Preset {
    title: "openb",
    columns: None,
    map: &[
        ("submit", "creation_time"),
        ("start", "scheduled_time"),
        ("end", "deletion_time"),
        ("tenant", "qos"),
        ("name", "name"),
        ("cpu", "cpu_milli:milli"),
        ("memory", "memory_mib:MiB"),
        ("gpu", "gpu_milli*num_gpu:milli"),
    ],
    binary: true,
    per_job: false,
    over: false,
    falls_back: false,
    drops: &[],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "the file names no users; quality-of-service classes stand in for tenants, so no \
         figure says anything about Alibaba's users",
        "a pod holds its GPU share times its GPUs of one pool for each node, and what pods \
         say about models of GPUs is passed over",
    ],
};

/// batch_task of Alibaba's cluster trace of 2018, which has no line with names.
pub(super) const ALIBABA_2018: Preset = Preset {
    title: "Alibaba 2018",
    columns: Some(&[
        "task_name",
        "instance_num",
        "job_name",
        "task_type",
        "status",
        "start_time",
        "end_time",
        "plan_cpu",
        "plan_mem",
    ]),
    map: &[
        ("submit", "start_time"),
        ("start", "start_time"),
        ("end", "end_time"),
        ("tenant", "task_type"),
        ("name", "job_name/task_name"),
        ("count", "instance_num"),
        ("cpu", "plan_cpu:percent"),
        ("memory", "plan_mem:GiB"),
    ],
    binary: true,
    per_job: false,
    over: false,
    falls_back: false,
    drops: &[Drop {
        column: "status",
        when: When::Begins(&["Running", "Ready", "Waiting", "Interrupted"]),
        why: "tasks that have not ended",
    }],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "the file names no users; types of tasks stand in for tenants, so no figure \
         says anything about Alibaba's users",
        "tasks come when they began, for nothing says when they were submitted; \
         dependencies between the tasks of a job are passed over",
        "memory is in hundredths of a machine, and counted as GiB: a machine has \
         100GiB; all instances of a task run as long as the task",
    ],
};

/// vmtable of Azure's traces of virtual machines (V1 of 2017, V2 of 2019), which has no line with
/// names. V2 has ranges of sizes.
pub(super) const AZURE_VMS: Preset = Preset {
    title: "Azure VMs",
    columns: Some(&[
        "vmid",
        "subscriptionid",
        "deploymentid",
        "vmcreated",
        "vmdeleted",
        "maxcpu",
        "avgcpu",
        "p95maxcpu",
        "vmcategory",
        "vmcorecount",
        "vmmemory",
    ]),
    map: &[
        ("submit", "vmcreated"),
        ("start", "vmcreated"),
        ("end", "vmdeleted"),
        ("tenant", "subscriptionid"),
        ("name", "vmid"),
        ("cpu", "vmcorecount"),
        ("memory", "vmmemory:GiB"),
    ],
    binary: true,
    per_job: false,
    over: true,
    falls_back: false,
    drops: &[],
    runs: None,
    nothing: NO_ROWS,
    words: &[
        "a virtual machine is a task, submitted when it was created; one that is there when the \
         trace ends is deleted then",
        "sizes of the second version are ranges: `>24` cores counts as 24; how much of a machine \
         was used (maxcpu, avgcpu, p95maxcpu), its category and its deployment are passed over",
    ],
};

impl Preset {
    /// Whether a line without names, of these values, is one of an [`AZURE_VMS`] table.
    pub(super) fn is_azure_vm(fields: &[&[u8]]) -> bool {
        const CATEGORIES: [&str; 3] = ["Delay-insensitive", "Interactive", "Unknown"];
        let is_number = |field: &&[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
        fields.len() == 11
            && fields[3..5].iter().all(is_number)
            && CATEGORIES.iter().any(|category| {
                let field = fields[8].trim_ascii();
                field.strip_prefix(b"\"").unwrap_or(field).starts_with(category.as_bytes())
            })
    }
}
