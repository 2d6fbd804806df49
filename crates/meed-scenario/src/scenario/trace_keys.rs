//! The keys of `[trace]`, as what the reader of each format assumes.

use meed::{ResourceKinds, Unit};
use meed_config::quantity::amounts;
use meed_config::units::parse_amount;
use meed_workload::format::TraceFormat;
use meed_workload::google::{GoogleAssumptions, GoogleEpisode, GoogleQueues, GoogleUnfinished};
use meed_workload::jhist::{HistoryAssumptions, HistoryEpisode, HistoryQueues, HistoryReduces};
use meed_workload::kubernetes::KubernetesQueues;
use meed_workload::limits::TimeLimits;
use meed_workload::mwf::{MwfAssumptions, MwfProperties, MwfQueues};
use meed_workload::philly::{PhillyAlign, PhillyAssumptions, PhillyShape};
use meed_workload::swf::{SwfAssumptions, SwfMemory, SwfProcessors, SwfQueues, SwfShape};
use meed_workload::swim::{SwimAssumptions, TenantSplit};
use meed_workload::table::{
    TableAmounts, TableAssumptions, TableDates, TableDecimal, TableDots, TableMap, TableSizes,
    separator_named,
};
use meed_workload::yarn::{YarnAssumptions, YarnQueues, YarnShape};

use super::jobs::span;
use super::raw::{self, Quantity, Tenants};
use crate::logged::LogAssumptions;

pub(super) fn philly(raw: &raw::Trace) -> Result<PhillyAssumptions, String> {
    let default = PhillyAssumptions::default();
    let aligns = [("start", PhillyAlign::Start), ("end", PhillyAlign::End)];
    let shapes =
        [("rigid", PhillyShape::Rigid), ("split", PhillyShape::Split), ("gang", PhillyShape::Gang)];
    let offset = |(name, raw): (&String, &Quantity)| {
        let offset = span("offsets", raw).map_err(|why| format!("trace, {why}"))?;
        Ok::<_, String>((name.clone(), offset))
    };
    Ok(PhillyAssumptions {
        align: one_of("align", &raw.align, &aligns, default.align)?,
        offsets: raw.offsets.iter().flatten().map(offset).collect::<Result<_, _>>()?,
        shape: one_of("shape", &raw.shape, &shapes, default.shape)?,
        gpu_kind: raw.gpu_resource.clone(),
        time_zone: raw.time_zone.clone(),
    })
}

/// The keys of a table of jobs.
pub(super) fn table(raw: &raw::Trace, format: TraceFormat) -> Result<TableAssumptions, String> {
    let (form, known) = format.table().unwrap_or_default();
    let separator = raw.separator.as_deref().map(|name| {
        let wrong = || format!("trace, separator: `{name}` is not one of `,`, `;`, `tab`, `|`");
        separator_named(name).ok_or_else(wrong)
    });
    let separator = match (separator.transpose()?, format) {
        (None, TraceFormat::Tsv) => Some(b'\t'),
        (None, TraceFormat::Sacct) => Some(b'|'),
        (separator, _) => separator,
    };
    let sizes = [("decimal", Some(TableSizes::Decimal)), ("binary", Some(TableSizes::Binary))];
    let amounts =
        [("per-task", Some(TableAmounts::PerTask)), ("per-job", Some(TableAmounts::PerJob))];
    let dots = [("flat", TableDots::Flat), ("path", TableDots::Path)];
    let dates = [
        ("iso", TableDates::Iso),
        ("month-first", TableDates::MonthFirst),
        ("day-first", TableDates::DayFirst),
    ];
    let decimals = [("point", TableDecimal::Point), ("comma", TableDecimal::Comma)];
    let partitions = [("ignore", false), ("nodes", true)];
    let usual = says(format).map(|says| says.usual(raw)).transpose()?;
    Ok(TableAssumptions {
        form,
        known,
        map: raw.map.clone().unwrap_or_default(),
        usual: usual.unwrap_or_default(),
        separator,
        header: raw.header,
        time_zone: raw.time_zone.clone(),
        dates: one_of("dates", &raw.dates, &dates, TableDates::default())?,
        decimal: one_of("decimal", &raw.decimal, &decimals, TableDecimal::default())?,
        sizes: one_of("sizes", &raw.sizes, &sizes, None)?,
        amounts: one_of("amounts", &raw.amounts, &amounts, None)?,
        partitions: one_of("partitions", &raw.partitions, &partitions, false)?,
        dots: one_of("dots", &raw.dots, &dots, TableDots::default())?,
        accounts: raw.accounts.clone().unwrap_or_default(),
    })
}

/// What `queues` and `shape` say of a batch system's table, as its mapping.
struct Says {
    /// Tenants by the name of the choice; the first is the usual one.
    queues: &'static [(&'static str, &'static str)],
    /// Nodes of a job: so many tasks are its gang. `None`: a job has one, and no `shape`.
    nodes: Option<&'static str>,
}

const SACCT: Says = Says {
    queues: &[
        ("user", "User|Account"),
        ("account", "Account"),
        ("account-user", "Account/User"),
        ("partition", "Partition"),
        ("qos", "QOS"),
        ("single", "=all"),
    ],
    nodes: Some("AllocTRES[node]|AllocNodes|NNodes"),
};

const PBS: Says = Says {
    queues: &[
        ("user", "user"),
        ("group", "group"),
        ("group-user", "group/user"),
        ("account", "account"),
        ("account-user", "account/user"),
        ("project", "project"),
        ("queue", "queue"),
        ("single", "=all"),
    ],
    nodes: Some("Resource_List.nodect|hosts"),
};

const LSF: Says = Says {
    queues: &[
        ("user", "userName"),
        ("project", "projectName"),
        ("project-user", "projectName/userName"),
        ("queue", "queue"),
        ("single", "=all"),
    ],
    nodes: Some("hosts"),
};

const GRID_ENGINE: Says = Says {
    queues: &[
        ("user", "owner"),
        ("group", "group"),
        ("group-user", "group/owner"),
        ("project", "project"),
        ("project-user", "project/owner"),
        ("department", "department"),
        ("department-user", "department/owner"),
        ("queue", "qname"),
        ("single", "=all"),
    ],
    nodes: None,
};

const CONDOR: Says = Says {
    queues: &[
        ("owner", "Owner|User"),
        ("accounting-group", "AcctGroup|AccountingGroup"),
        ("accounting-group-owner", "AcctGroup/Owner"),
        ("single", "=all"),
    ],
    nodes: Some("hosts"),
};

fn says(format: TraceFormat) -> Option<&'static Says> {
    match format {
        TraceFormat::Sacct | TraceFormat::SacctJson => Some(&SACCT),
        TraceFormat::Pbs => Some(&PBS),
        TraceFormat::Lsf => Some(&LSF),
        TraceFormat::GridEngine => Some(&GRID_ENGINE),
        TraceFormat::Condor => Some(&CONDOR),
        _ => None,
    }
}

impl Says {
    fn usual(&self, raw: &raw::Trace) -> Result<TableMap, String> {
        let tenant = one_of("queues", &raw.queues, self.queues, self.queues[0].1)?;
        let mut all = vec![("tenant", tenant)];
        // Of another format `shape` is told to mean nothing.
        if let Some(nodes) = self.nodes {
            let gang = [("count", nodes), ("gang", "=true")];
            let shapes = [("rigid", &[][..]), ("gang", &gang[..])];
            all.extend(one_of("shape", &raw.shape, &shapes, &[][..])?);
        }
        Ok(all.into_iter().map(|(key, text)| (key.to_owned(), text.to_owned())).collect())
    }
}

/// The keys of a log.
pub(super) fn logged(raw: &raw::Trace) -> Result<LogAssumptions, String> {
    let unfinished = [("until-end", false), ("drop", true)];
    Ok(LogAssumptions {
        run: raw.run.as_ref().map(Quantity::text),
        drops_unfinished: one_of("unfinished", &raw.unfinished, &unfinished, false)?,
    })
}

pub(super) fn kubernetes(raw: &raw::Trace) -> Result<KubernetesQueues, String> {
    let queues = [
        ("namespace", KubernetesQueues::Namespace),
        ("queue", KubernetesQueues::Queue),
        ("cluster-queue", KubernetesQueues::ClusterQueue),
        ("single", KubernetesQueues::Single("all".to_owned())),
    ];
    one_of("queues", &raw.queues, &queues, KubernetesQueues::default())
}

pub(super) fn yarn(raw: &raw::Trace) -> Result<YarnAssumptions, String> {
    let default = YarnAssumptions::default();
    let queues = [
        ("queue", YarnQueues::Queue),
        ("user", YarnQueues::User),
        ("single", YarnQueues::Single("all".to_owned())),
    ];
    let shapes = [("split", YarnShape::Split), ("rigid", YarnShape::Rigid)];
    Ok(YarnAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        shape: one_of("shape", &raw.shape, &shapes, default.shape)?,
        processor_kind: raw.processor_resource.clone(),
        memory_kind: raw.memory_resource.clone(),
    })
}

/// The keys of Hadoop's job histories.
pub(super) fn history(
    raw: &raw::Trace,
    kinds: &ResourceKinds,
) -> Result<HistoryAssumptions, String> {
    let default = HistoryAssumptions::default();
    let queues = [
        ("queue", HistoryQueues::Queue),
        ("user", HistoryQueues::User),
        ("single", HistoryQueues::Single("all".to_owned())),
    ];
    let episodes = [("total", HistoryEpisode::Total), ("finished", HistoryEpisode::Finished)];
    let reduces =
        [("after-maps", HistoryReduces::AfterMaps), ("with-maps", HistoryReduces::WithMaps)];
    let demand = |value: &Option<raw::AmountsByName>| {
        value.as_ref().map(|raw| amounts(raw, kinds)).transpose()
    };
    Ok(HistoryAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        episode: one_of("episode", &raw.episode, &episodes, default.episode)?,
        reduces: one_of("reduces", &raw.reduces, &reduces, default.reduces)?,
        map_demand: demand(&raw.map_demand)?,
        reduce_demand: demand(&raw.reduce_demand)?,
        processor_kind: raw.processor_resource.clone(),
        memory_kind: raw.memory_resource.clone(),
    })
}

/// Formats whose rows may be outliers: nothing is assumed of Meed's own, and the traces of Google
/// and SWIM have published contents. The first five and Philly's are no tables: `keys`
/// cuts the list there.
pub(super) const OF_OTHERS: &[TraceFormat] = &[
    TraceFormat::Swf,
    TraceFormat::Mwf,
    TraceFormat::Yarn,
    TraceFormat::Jhist,
    TraceFormat::Kubernetes,
    TraceFormat::Philly,
    TraceFormat::Csv,
    TraceFormat::Tsv,
    TraceFormat::JsonLines,
    TraceFormat::Sacct,
    TraceFormat::SacctJson,
    TraceFormat::Pbs,
    TraceFormat::Lsf,
    TraceFormat::GridEngine,
    TraceFormat::Condor,
    TraceFormat::Openb,
    TraceFormat::Alibaba2018,
    TraceFormat::AzureVms,
];

/// Each key of a format, whether it is given, and the formats that it means something for.
pub(super) fn keys(raw: &raw::Trace) -> [(&'static str, bool, &'static [TraceFormat]); 46] {
    use TraceFormat::{
        Alibaba2018, AzureVms, Condor, Csv, Google, GridEngine, Jhist, Kubernetes, Log, Lsf, Mwf,
        Openb, Pbs, Philly, Sacct, SacctJson, Swf, Swim, Tsv, Yarn,
    };
    // Philly's own JSON has dates, and is no table.
    const DATED: &[TraceFormat] = OF_OTHERS.split_at(5).1;
    const TABLES: &[TraceFormat] = DATED.split_at(1).1;
    [
        ("outliers", raw.outliers.is_some(), OF_OTHERS),
        ("window", raw.window.is_some(), OF_OTHERS),
        ("run", raw.run.is_some(), &[Log]),
        ("map", raw.map.is_some(), TABLES),
        ("separator", raw.separator.is_some(), &[Csv, Tsv, Sacct, Openb, Alibaba2018, AzureVms]),
        ("header", raw.header.is_some(), &[Csv, Tsv]),
        ("time_zone", raw.time_zone.is_some(), DATED),
        ("dates", raw.dates.is_some(), TABLES),
        ("decimal", raw.decimal.is_some(), TABLES),
        ("sizes", raw.sizes.is_some(), TABLES),
        ("amounts", raw.amounts.is_some(), TABLES),
        ("dots", raw.dots.is_some(), TABLES),
        ("accounts", raw.accounts.is_some(), TABLES),
        ("partitions", raw.partitions.is_some(), TABLES),
        (
            "queues",
            raw.queues.is_some(),
            &[
                Swf, Mwf, Google, Yarn, Jhist, Sacct, SacctJson, Pbs, Lsf, GridEngine, Condor,
                Kubernetes,
            ],
        ),
        ("shape", raw.shape.is_some(), &[Swf, Philly, Yarn, Sacct, SacctJson, Pbs, Lsf, Condor]),
        ("processors", raw.processors.is_some(), &[Swf]),
        ("processor_resource", raw.processor_resource.is_some(), &[Swf, Mwf, Yarn, Jhist]),
        ("memory", raw.memory.is_some(), &[Swf, Mwf]),
        ("memory_resource", raw.memory_resource.is_some(), &[Swf, Mwf, Yarn, Jhist]),
        ("limits", raw.limits.is_some(), &[Swf, Mwf]),
        ("min_duration", raw.min_duration.is_some(), &[Swf]),
        ("keep_cancelled", raw.keep_cancelled.is_some(), &[Swf]),
        ("properties", raw.properties.is_some(), &[Mwf]),
        ("episode", raw.episode.is_some(), &[Google, Jhist]),
        ("reduces", raw.reduces.is_some(), &[Jhist]),
        ("unfinished", raw.unfinished.is_some(), &[Google, Log]),
        ("keep_earlier", raw.keep_earlier.is_some(), &[Google]),
        ("missing_demand", raw.missing_demand.is_some(), &[Google]),
        ("priorities", raw.priorities.is_some(), &[Google]),
        ("batch_gap", raw.batch_gap.is_some(), &[Google]),
        ("align", raw.align.is_some(), &[Philly]),
        ("offsets", raw.offsets.is_some(), &[Philly]),
        ("gpu_resource", raw.gpu_resource.is_some(), &[Philly]),
        ("tenants", raw.tenants.is_some(), &[Swim]),
        ("split", raw.split.is_some(), &[Swim]),
        ("split_seed", raw.split_seed.is_some(), &[Swim]),
        ("tenant_weights", raw.tenant_weights.is_some(), &[Swim]),
        ("map_bytes", raw.map_bytes.is_some(), &[Swim]),
        ("reduce_bytes", raw.reduce_bytes.is_some(), &[Swim]),
        ("max_tasks", raw.max_tasks.is_some(), &[Swim]),
        ("task_base", raw.task_base.is_some(), &[Swim]),
        ("map_bytes_per_s", raw.map_bytes_per_s.is_some(), &[Swim]),
        ("reduce_bytes_per_s", raw.reduce_bytes_per_s.is_some(), &[Swim]),
        ("map_demand", raw.map_demand.is_some(), &[Swim, Jhist]),
        ("reduce_demand", raw.reduce_demand.is_some(), &[Swim, Jhist]),
    ]
}

pub(super) fn one_of<T: Clone>(
    key: &str,
    value: &Option<String>,
    known: &[(&str, T)],
    default: T,
) -> Result<T, String> {
    let Some(value) = value else { return Ok(default) };
    known.iter().find(|(name, _)| name == value).map(|(_, meaning)| meaning.clone()).ok_or_else(
        || {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            format!("trace, {key}: `{value}` is not one of {}", names.join(", "))
        },
    )
}

pub(super) fn swf(raw: &raw::Trace) -> Result<SwfAssumptions, String> {
    let default = SwfAssumptions::default();
    let queues = [
        ("user", SwfQueues::User),
        ("group", SwfQueues::Group),
        ("executable", SwfQueues::Executable),
        ("queue", SwfQueues::Queue),
        ("partition", SwfQueues::Partition),
        ("single", SwfQueues::Single("all".to_owned())),
    ];
    let processors =
        [("allocated", SwfProcessors::Allocated), ("requested", SwfProcessors::Requested)];
    let memory = [
        ("requested", SwfMemory::Requested),
        ("used", SwfMemory::Used),
        ("ignore", SwfMemory::Ignore),
    ];
    Ok(SwfAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        shape: one_of(
            "shape",
            &raw.shape,
            &[("rigid", SwfShape::Rigid), ("split", SwfShape::Split), ("gang", SwfShape::Gang)],
            default.shape,
        )?,
        processors: one_of("processors", &raw.processors, &processors, default.processors)?,
        processor_kind: raw.processor_resource.clone(),
        memory: one_of("memory", &raw.memory, &memory, default.memory)?,
        memory_kind: raw.memory_resource.clone(),
        limits: limits(raw)?,
        min_duration: raw
            .min_duration
            .as_ref()
            .map_or(Ok(default.min_duration), |raw| span("min_duration", raw))?,
        ignore_cancelled: !raw.keep_cancelled.unwrap_or(!default.ignore_cancelled),
        ignore_partial: default.ignore_partial,
    })
}

pub(super) fn mwf(raw: &raw::Trace) -> Result<MwfAssumptions, String> {
    let default = MwfAssumptions::default();
    let queues = [
        ("user", MwfQueues::User),
        ("queue", MwfQueues::Queue),
        ("single", MwfQueues::Single("all".to_owned())),
    ];
    let properties = [
        ("known", MwfProperties::Known),
        ("all", MwfProperties::All),
        ("ignore", MwfProperties::Ignore),
    ];
    let memory = [("requested", true), ("ignore", false)];
    Ok(MwfAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        properties: one_of("properties", &raw.properties, &properties, default.properties)?,
        processor_kind: raw.processor_resource.clone(),
        count_memory: one_of("memory", &raw.memory, &memory, default.count_memory)?,
        memory_kind: raw.memory_resource.clone(),
        limits: limits(raw)?,
    })
}

/// Which time limits the tasks of a machine's log have.
fn limits(raw: &raw::Trace) -> Result<TimeLimits, String> {
    let known = [
        ("requested", TimeLimits::Requested),
        ("at-least-run", TimeLimits::AtLeastRun),
        ("ignore", TimeLimits::Ignore),
    ];
    one_of("limits", &raw.limits, &known, TimeLimits::default())
}

pub(super) fn google(raw: &raw::Trace, kinds: &ResourceKinds) -> Result<GoogleAssumptions, String> {
    let default = GoogleAssumptions::default();
    let queues = [
        ("user", GoogleQueues::User),
        ("job", GoogleQueues::Job),
        ("class", GoogleQueues::Class),
        ("priority", GoogleQueues::Priority),
        ("single", GoogleQueues::Single("all".to_owned())),
    ];
    let episodes = [
        ("last", GoogleEpisode::Last),
        ("longest", GoogleEpisode::Longest),
        ("finished", GoogleEpisode::Finished),
        ("total", GoogleEpisode::Total),
    ];
    let unfinished = [("until-end", GoogleUnfinished::UntilEnd), ("drop", GoogleUnfinished::Drop)];
    let missing = raw.missing_demand.as_ref().map(|raw| amounts(raw, kinds)).transpose();
    let gap = raw.batch_gap.as_ref().map_or(Ok(default.batch_gap), |raw| span("batch_gap", raw));
    Ok(GoogleAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        episode: one_of("episode", &raw.episode, &episodes, default.episode)?,
        unfinished: one_of("unfinished", &raw.unfinished, &unfinished, default.unfinished)?,
        keep_earlier: raw.keep_earlier.unwrap_or(default.keep_earlier),
        missing_demand: missing.map_err(|why| format!("missing_demand: {why}"))?,
        priorities: raw.priorities.map(|[low, high]| (low, high)),
        batch_gap: gap?,
    })
}

pub(super) fn swim(raw: &raw::Trace, kinds: &ResourceKinds) -> Result<SwimAssumptions, String> {
    let default = SwimAssumptions::default();
    let bytes = |key: &str, value: &Option<Quantity>, default: u64| match value {
        Some(value) => {
            parse_amount(&value.text(), Unit::Bytes).map_err(|why| format!("trace, {key}: {why}"))
        }
        None => Ok(default),
    };
    let demand = |value: &Option<raw::AmountsByName>| {
        value.as_ref().map(|raw| amounts(raw, kinds)).transpose()
    };
    let seed = match &default.split {
        TenantSplit::Random { seed, .. } => raw.split_seed.unwrap_or(*seed),
        TenantSplit::RoundRobin => raw.split_seed.unwrap_or(1),
    };
    let weights = raw.tenant_weights.clone().unwrap_or_default();
    let random = TenantSplit::Random { seed, weights };
    let splits = [("random", random.clone()), ("round-robin", TenantSplit::RoundRobin)];
    Ok(SwimAssumptions {
        tenants: match &raw.tenants {
            None => default.tenants,
            Some(Tenants::Names(names)) => names.clone(),
            Some(Tenants::Count(count)) if (1..=1_000_000).contains(count) => {
                (1..=*count).map(|number| format!("t{number}")).collect()
            }
            Some(Tenants::Count(count)) => {
                return Err(format!("trace, tenants: {count} is not 1 to 1000000"));
            }
        },
        split: one_of("split", &raw.split, &splits, random)?,
        map_bytes: bytes("map_bytes", &raw.map_bytes, default.map_bytes)?,
        reduce_bytes: bytes("reduce_bytes", &raw.reduce_bytes, default.reduce_bytes)?,
        max_tasks: raw.max_tasks.unwrap_or(default.max_tasks),
        task_base: raw
            .task_base
            .as_ref()
            .map_or(Ok(default.task_base), |raw| span("task_base", raw))?,
        map_bytes_per_s: bytes("map_bytes_per_s", &raw.map_bytes_per_s, default.map_bytes_per_s)?,
        reduce_bytes_per_s: bytes(
            "reduce_bytes_per_s",
            &raw.reduce_bytes_per_s,
            default.reduce_bytes_per_s,
        )?,
        map_demand: demand(&raw.map_demand)?,
        reduce_demand: demand(&raw.reduce_demand)?,
    })
}
