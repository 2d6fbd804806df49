//! The claims of Fig. 6, 8, 9, 11 and 12 on the paper's own hosts (Sec. 4.1): which fact of the
//! environment moves which verdict.
//!
//! The 99 machines run on seven blades with 84 processors, and their disks lie on four partitions
//! that all blades share. So a machine has a processor of its own only while no more than twelve
//! are wanted on its blade, and a quarter of all machines share one partition. The rate of a
//! partition is not printed; it is varied, as is what they lose by seeking.

use meed::Unit;
use meed_config::units::parse_amount;
use meed_sim::record::mapreduce::NodeRecord;
use serde_json::{Value, json};

use super::blades::{
    BLADE_GB, BLADES, PARTITION, PARTITION_MB_S, PARTITIONS, PROCESSORS, cards, hosts_with, on,
    on_paper_hosts, partitions, processors,
};
use super::single::{claims_of_figure_6, claims_of_figure_7, figure_6_in, figure_7_in};
use super::study::compare;
use super::threshold::figure_10_with;
use super::variant::{
    FEW_SEEDS, Variant, fact, few, kept, request, set, slow_fact, varied, worlds,
};
use super::worlds::{HADOOP, NETWORK_MB_S, Nodes, Run, World, megabytes, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread, Verdict};

/// Tables 5 to 7: of most machines.
const MACHINE_GB: u32 = 2;

pub(super) const VARIANTS: [Variant; 19] = [
    kept(varied("a disk and processors for each machine", |_| {})),
    fact("84 processors for all", processors),
    fact("four partitions, 60 MB/s each", |world| partitions(world, PARTITION_MB_S, 0.0)),
    fact("seven cards of 1 Gbit/s", cards),
    kept(fact("all of these", on_paper_hosts)),
    kept(varied("all, partitions of 240 MB/s", |world| {
        hosts_with(world, PARTITION_MB_S * 4.0, 0.0);
    })),
    few(varied("all, partitions of 960 MB/s", |world| {
        hosts_with(world, PARTITION_MB_S * 16.0, 0.0);
    })),
    few(varied("all, partitions lose 1 % for each further stream", |world| {
        hosts_with(world, PARTITION_MB_S, 0.01);
    })),
    few(varied("all, partitions lose 10 % for each further stream", |world| {
        hosts_with(world, PARTITION_MB_S, 0.1);
    })),
    few(varied("all, cards of 10 Gbit/s", |world| {
        processors(world);
        partitions(world, PARTITION_MB_S, 0.0);
    })),
    slow_fact("output on three nodes", on_three_nodes),
    slow_fact("shuffle from disks, five at once", from_disks),
    slow_fact("shuffle from disks, and a page cache", from_disks_or_memory),
    slow_fact("second attempts", second_attempts),
    kept(slow_fact("these three", as_hadoop)),
    kept(slow_fact("all of these, and these three", on_hosts_as_hadoop)),
    kept(slow_fact("all of these, these three, and a page cache", with_page_cache)),
    few(varied("all, output written three times", |world| {
        on_paper_hosts(world);
        set(world, "output_copies", 3);
    })),
    few(varied("all, 5 to 100 GB a job", |world| {
        on_paper_hosts(world);
        request(world, "input", json!(["5GB", "100GB"]));
    })),
];

/// The NAS of Sec. 4.1, "mounted to extend hardware resources", with 3 TB beside the 3 TB of the
/// four partitions. What lay on it is not printed; here half of the machines, as it has half of the
/// room. It is as fast as one disk.
pub(super) const NAS: Variant = few(varied("all, half of the disks on a NAS", |world| {
    on_paper_hosts(world);
    on(world, "nas", 1, "disk_bytes_per_s", megabytes(PARTITION_MB_S));
    let halves = |nodes: &Nodes| {
        [(PARTITION, nodes.count.div_ceil(2)), ("nas", nodes.count / 2)]
            .map(|(name, count)| Nodes { count, disk_on: Some(name), ..*nodes })
    };
    world.nodes = world.nodes.iter().flat_map(halves).collect();
}));

/// Hadoop 0.20's default, `dfs.replication`.
fn on_three_nodes(world: &mut World) {
    set(world, "output_replicas", 3);
}

/// Hadoop 0.20's default, `mapred.reduce.parallel.copies`.
fn from_disks(world: &mut World) {
    set(world, "parallel_copies", 5);
}

/// What a machine's tasks leave of its memory holds what it has read and written last.
fn from_disks_or_memory(world: &mut World) {
    from_disks(world);
    set(world, "page_cache", true);
    for nodes in &mut world.nodes {
        nodes.memory_gb = nodes.memory_gb.or(Some(MACHINE_GB));
    }
}

/// The same of the blades' memory, through which all machines of a blade read.
fn with_page_cache(world: &mut World) {
    on_hosts_as_hadoop(world);
    set(world, "page_cache", true);
    on(world, "memory", BLADES, "memory", format!("{BLADE_GB}GB"));
}

/// Hadoop 0.20's default, `mapred.map.tasks.speculative.execution` and that of reduces.
fn second_attempts(world: &mut World) {
    set(world, "speculative", true);
}

fn as_hadoop(world: &mut World) {
    on_three_nodes(world);
    from_disks(world);
    second_attempts(world);
}

fn on_hosts_as_hadoop(world: &mut World) {
    on_paper_hosts(world);
    as_hadoop(world);
}

/// Of Hadoop's defaults: Fig. 6, 7 and 10 again.
fn other_figures(context: &Context) -> Result<Vec<Check>, ReproduceError> {
    let few = &Context { seeds: context.seeds.min(FEW_SEEDS), ..context.clone() };
    let mut checks = Vec::new();
    for variant in VARIANTS.iter().filter(|variant| AS_HADOOP.contains(&variant.name)) {
        let of = |checks: Vec<Check>, item| {
            checks.into_iter().map(move |check| check.again(item, variant.name))
        };
        let sixth = figure_6_in(few, &variant.change)?;
        checks.extend(of(claims_of_figure_6(&sixth), "jas-fig6"));
        let seventh = figure_7_in(few, &variant.change)?;
        checks.extend(of(claims_of_figure_7(&seventh), "jas-fig7"));
    }
    for variant in VARIANTS.iter().filter(|variant| SLOTS_ANEW.contains(&variant.name)) {
        let (tenth, _) = &*figure_10_with(few, variant)?;
        let tenth = tenth.iter().cloned();
        checks.extend(tenth.map(|check| check.again("jas-fig10", variant.name)));
    }
    Ok(checks)
}

const AS_HADOOP: [&str; 7] = [
    "output on three nodes",
    "shuffle from disks, five at once",
    "shuffle from disks, and a page cache",
    "second attempts",
    "these three",
    "all of these, and these three",
    "all of these, these three, and a page cache",
];

/// Fig. 10 is fifty jobs for each threshold.
const SLOTS_ANEW: [&str; 3] = ["all of these", "these three", "all of these, and these three"];

/// The study.
pub(in super::super) fn on_hosts(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = compare(context, &VARIANTS)?;
    let alone = figure_6_in(context, &on_paper_hosts)?;
    let alone = claims_of_figure_6(&alone).into_iter();
    outcome.checks.extend(alone.map(|check| check.again("jas-fig6", "all of these")));
    outcome.checks.extend(other_figures(context)?);
    for variant in VARIANTS.iter().filter(|variant| SAVINGS.contains(&variant.name)) {
        outcome.checks.extend(most_to_save(context, variant)?);
    }
    for variant in VARIANTS.iter().filter(|variant| COMPARED.contains(&variant.name)) {
        outcome.checks.extend(environments_compared(context, variant)?);
    }
    outcome.assumptions = assumptions();
    Ok(outcome)
}

/// What the master needs for a heartbeat, and for each task that it starts: 200 of both in a
/// second.
const MASTER_MS: f64 = 5.0;

/// What Fig. 11 says of the four environments.
const CORES_COUNT_MOST: &str = "how much less time Environment 2 takes than 3 and 4, Hadoop";

/// Tables 5 to 7: cores, memory, and how much faster the master is.
const FOUR: [(&str, [u32; 3], [u32; 3], f64); 4] = [
    ("Environment 1", [1, 1, 1], [2, 2, 2], 1.0),
    ("Environment 2", [2, 4, 8], [2, 2, 2], 1.0),
    ("Environment 3", [1, 1, 1], [2, 4, 8], 1.0),
    ("Environment 4", [1, 1, 1], [2, 2, 2], 2.0),
];

/// The four environments, with memory and a master that takes its time.
pub(super) fn four(variant: &Variant) -> Vec<World> {
    let world = |(label, cores, memory, faster): (&'static str, [u32; 3], [u32; 3], f64)| {
        let thirds = cores.into_iter().zip(memory);
        let nodes = thirds.map(|(cores, gb)| Nodes { memory_gb: Some(gb), ..Nodes::third(cores) });
        let mut world = World::new(label, nodes.collect());
        request(&mut world, "count", 3);
        (variant.change)(&mut world);
        for key in ["master_heartbeat", "master_task"] {
            set(&mut world, key, format!("{}ms", MASTER_MS / faster));
        }
        world
    };
    FOUR.into_iter().map(world).collect()
}

/// How the four environments compare under Hadoop's rule.
fn environments_compared(
    context: &Context,
    variant: &Variant,
) -> Result<Vec<Check>, ReproduceError> {
    let time = |runs: &[Run]| runs[0].request_s();
    let runs = sweep(context, variant.most_seeds, &four(variant), &[HADOOP], time)?;
    let times: Vec<Vec<f64>> = runs.chunks(runs.len() / FOUR.len()).map(times).collect();
    let less = |of: usize, than: usize| -> Vec<f64> {
        times[of].iter().zip(&times[than]).map(|(of, than)| 100.0 * (1.0 - of / than)).collect()
    };
    let most: Vec<f64> =
        less(1, 2).into_iter().zip(less(1, 3)).map(|(memory, master)| memory.min(master)).collect();
    let agreeing = most.iter().filter(|less| **less > 0.0).count();
    let claim = Check {
        what: CORES_COUNT_MOST.to_owned(),
        paper: "numbers of CPUs have a considerably greater effect".to_owned(),
        verdict: Verdict::of_runs(agreeing, most.len()),
        measured: Measured::Spread(Spread::of(most, agreeing, "%")),
        reason: Some(
            "where the disks are what is waited for, cores, memory and master change nothing; \
             agreeing runs, above 0: the lesser of both"
                .to_owned(),
        ),
        under: Vec::new(),
        again: None,
    };
    let beside = [(1, "2, cores"), (2, "3, memory"), (3, "4, master")].map(|(of, name)| {
        let values = less(of, 0);
        let gains = values.iter().filter(|less| **less > 0.0).count();
        Check::beyond(
            format!("{}: Environment {name}, less time than 1", variant.name),
            Measured::Spread(Spread::of(values, gains, "%")),
            "runs counted: those in which it takes less time",
        )
    });
    let claim = match variant.fact {
        true => claim.again("jas-hosts", variant.name),
        false => claim,
    };
    Ok(std::iter::once(claim).chain(beside).collect())
}

fn times(runs: &[(&'static str, f64)]) -> Vec<f64> {
    runs.iter().map(|(_, time)| *time).collect()
}

/// Of these it is said how much there is to save at all.
const SAVINGS: [&str; 6] = [
    "a disk and processors for each machine",
    "all of these",
    "these three",
    "all of these, and these three",
    "all of these, these three, and a page cache",
    "all, partitions of 240 MB/s",
];

/// In these all four environments are compared.
const COMPARED: [&str; 4] = [
    "a disk and processors for each machine",
    "84 processors for all",
    "all of these",
    "shuffle from disks, and a page cache",
];

/// How much of Hadoop's time any rule could save at most, in each environment.
///
/// > most = 1 - max over cores, disks, cards and map slots of what is used under Hadoop / what
/// > there is
///
/// For whatever the rule, the same work is to be done (more, where blocks are read from afar). Of
/// map slots is used what maps need alone ([`Run::map_seconds_alone`]): for the rest of the time
/// that they hold them maps wait for each other, and a rule might save that. Where machines share
/// processors their cores say nothing: a core that waits for one counts as used.
fn most_to_save(context: &Context, variant: &Variant) -> Result<Vec<Check>, ReproduceError> {
    let mut checks = Vec::new();
    for world in worlds(variant) {
        let there_is = Capacity::of(&world);
        let left = |runs: &[Run]| there_is.left(&runs[0], runs[0].slots_needed(&world));
        let worlds = std::slice::from_ref(&world);
        let runs = sweep(context, variant.most_seeds, worlds, &[HADOOP], left)?;
        let values: Vec<f64> = runs.iter().map(|(_, left)| 100.0 * left).collect();
        let enough = values.iter().filter(|value| **value >= LEAST_GAIN).count();
        checks.push(Check::beyond(
            format!("{}, {}: most that any rule could save", variant.name, runs[0].0),
            Measured::Spread(Spread::of(values, enough, "%")),
            "what the busiest of cores, disks, cards and map slots leaves under Hadoop's rule; \
             runs counted: those in which it is the 15 % that JAS is printed to save",
        ));
    }
    Ok(checks)
}

/// Printed of JAS against Hadoop, in percent.
const LEAST_GAIN: f64 = 15.0;

/// All that a world has.
pub(super) struct Capacity {
    /// Of each machine; `None` where processors are shared.
    pub(super) cores: Option<Vec<f64>>,
    pub(super) disk_bytes_per_s: f64,
    pub(super) network_bytes_per_s: f64,
}

impl Capacity {
    pub(super) fn of(world: &World) -> Capacity {
        let shared = |key: &str| {
            let of = |host: &Value| Some(host["count"].as_f64()? * host[key].as_str().map(rate)?);
            world.hosts.iter().find_map(of)
        };
        let all = |of: fn(&Nodes) -> f64| {
            1e6 * world.nodes.iter().map(|nodes| f64::from(nodes.count) * of(nodes)).sum::<f64>()
        };
        let each = world
            .nodes
            .iter()
            .flat_map(|nodes| std::iter::repeat_n(f64::from(nodes.cores), nodes.count as usize));
        let own = world.hosts.iter().all(|host| host["cores"].is_null());
        Capacity {
            cores: own.then(|| each.collect()),
            disk_bytes_per_s: shared("disk_bytes_per_s").unwrap_or(all(|nodes| nodes.disk_mb_s)),
            network_bytes_per_s: shared("network_bytes_per_s")
                .unwrap_or(all(|nodes| nodes.network_mb_s)),
        }
    }

    /// The part of the busiest that is left.
    fn left(&self, run: &Run, slots: f64) -> f64 {
        let nodes = &run.world().nodes;
        let cores = self.cores.as_ref().map_or(0.0, |cores| {
            let used = nodes.iter().zip(cores).map(|(node, cores)| node.cpu_busy * cores);
            used.sum::<f64>() / cores.iter().sum::<f64>()
        });
        let sum = |of: fn(&NodeRecord) -> f64| nodes.iter().map(of).sum::<f64>();
        let disk = sum(|node| node.disk_bytes_per_s) / self.disk_bytes_per_s;
        let network = sum(|node| node.network_bytes_per_s) / self.network_bytes_per_s;
        1.0 - cores.max(disk).max(network).max(slots)
    }
}

/// Bytes a second of words such as `60MB`.
fn rate(words: &str) -> f64 {
    parse_amount(words, Unit::Bytes).map_or(f64::NAN, |bytes| bytes as f64)
}

fn assumptions() -> Vec<String> {
    let of_jobs = super::worlds::assumptions().swap_remove(0);
    vec![
        of_jobs,
        format!(
            "As in Sec. 4.1: {BLADES} blades of {PROCESSORS} processors, {PARTITIONS} partitions; \
             machines are dealt to them one after the other. Assumed: {PARTITION_MB_S} MB/s for a \
             partition, a card of {NETWORK_MB_S} MB/s for each blade (what machines of one blade \
             send each other counts too). A host that has less than its machines want gives each \
             the same part of what it wants."
        ),
        format!(
            "Where the four environments are compared, machines have the memory of Tables 5 to 7, \
             less 200 MiB for each slot (Hadoop 0.20's default): reduces need not read again what \
             stays there. The master takes {MASTER_MS} ms for a heartbeat and as much for each \
             task that it starts, half of that in Environment 4."
        ),
        format!(
            "With a page cache what was read or written last is read from memory: what slots leave \
             of {MACHINE_GB} GB of a machine, or of {BLADE_GB} GB of a blade, a seventh of the \
             1,450 GB of Sec. 4.1."
        ),
        "\"These three\" are Hadoop 0.20.205's defaults, which the paper does not speak of: a \
         block of output on three nodes, in a pipeline; a shuffle that reads from disks, five \
         copies at once; a second attempt of tasks that lag a fifth behind the mean after a \
         minute. They, and what is varied but for partitions of 240 MB/s, are looked at over two \
         seeds."
            .to_owned(),
        "Three requests instead of ten; one fact at a time, then all, then all with one varied."
            .to_owned(),
    ]
}
