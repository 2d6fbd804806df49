//! What a policy decides of a case when all tasks wait and nothing runs: from the case itself in
//! the search, and from the scenario file that says the same. A test compares the two.

use std::fmt::Write;
use std::path::Path;

use meed::{
    Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Span,
    TaskGroup, Time, Unit,
};
use meed_config::policy::{PolicySpec, SpecError};
use meed_scenario::Scenario;
use meed_sim::world::{StopAt, WorldSetup};
use meed_workload::inline::Inline;
use meed_workload::{Durations, Job, JobGroup, JobLabel, OnBadLine};

use super::super::AuditError;
use super::case::{KINDS, PoolCase};

/// Tasks of each user on each server.
pub(super) type Counts = Vec<Vec<u64>>;

/// Seed of placements that draw.
const SEED: u64 = 0;

/// The scenario, below `remarks` (lines of a comment).
pub(super) fn text(case: &PoolCase, deviating: bool, remarks: &[String]) -> String {
    let mut out = String::new();
    for line in remarks {
        out += format!("# {line}").trim_end();
        out.push('\n');
    }
    write(&mut out, case, deviating).expect("a string takes all that is written to it");
    out
}

fn write(out: &mut String, case: &PoolCase, deviating: bool) -> std::fmt::Result {
    let kinds = &KINDS[..case.kinds()];
    let amounts = |amounts: &mut dyn Iterator<Item = u64>| {
        let pairs: Vec<String> =
            kinds.iter().zip(amounts).map(|(kind, amount)| format!("{kind} = {amount}")).collect();
        pairs.join(", ")
    };
    let names: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
    writeln!(out, "[cluster]\nresources = [{}]", names.join(", "))?;
    for server in &case.servers {
        let mut scaled = server.iter().map(|&amount| u64::from(amount) * u64::from(case.scale));
        writeln!(out, "\n[[cluster.node]]\ncapacity = {{ {} }}", amounts(&mut scaled))?;
    }
    for (user, demand) in case.asked(deviating).into_iter().enumerate() {
        let name = PoolCase::name(user);
        writeln!(out, "\n[[queue]]\nname = \"{name}\"")?;
        let Some(demand) = demand else { continue };
        let mut needs = demand.iter().map(|&amount| u64::from(amount));
        writeln!(
            out,
            "\n[[job]]\nqueue = \"{name}\"\ntasks = {}\nduration = \"1h\"",
            enough(case, demand)
        )?;
        writeln!(out, "demand = {{ {} }}", amounts(&mut needs))?;
    }
    writeln!(out, "\n[run]\nuntil = \"1min\"")
}

/// One task more than all servers together could hold, empty: as good as without end.
fn enough(case: &PoolCase, demand: &[u32]) -> u64 {
    let on = |server: &Vec<u32>| {
        let parts = demand.iter().zip(server).filter(|(need, _)| **need > 0);
        let tasks =
            parts.map(|(&need, &have)| u64::from(have) * u64::from(case.scale) / u64::from(need));
        tasks.min().unwrap_or(0)
    };
    case.servers.iter().map(on).sum::<u64>() + 1
}

/// What a run of the case under the policy `words` starts from: what [`text`] says, without a text.
fn setup(case: &PoolCase, deviating: bool, words: &str) -> Result<WorldSetup<'static>, AuditError> {
    let wrong = |what: String| AuditError::Case { file: format!("--policy {words}"), what };
    let fail = |why: SpecError| wrong(why.to_string());
    let spec: PolicySpec = words.parse().map_err(fail)?;
    if let Some(why) = spec.contradiction() {
        return Err(fail(why));
    }
    let names = KINDS[..case.kinds()].iter().map(|kind| ((*kind).to_owned(), Unit::Milli));
    let kinds = ResourceKinds::new(names.collect())?;
    let policy = spec.policy(&kinds).map_err(fail)?;
    let (nodes, queues) = (nodes(case), queues(case, &policy));
    let source = Inline::new(
        queues.iter().map(|queue| queue.name.clone()).collect(),
        jobs(case, deviating),
        kinds.len(),
    )?;
    let setup = WorldSetup {
        placement: spec.placement().map_err(fail)?.new,
        partitioned: spec.is_partitioned(),
        stop: StopAt { at: Time::ZERO + Span::from_secs(60).unwrap_or(Span::ZERO), hold: true },
        ..WorldSetup::new(
            Config { kinds, measured: 0, root: policy, queues, nodes },
            Box::new(source),
        )
    };
    match spec.slots() {
        None => Ok(setup),
        Some(number) => setup.in_slots(number).map_err(wrong),
    }
}

fn nodes(case: &PoolCase) -> Vec<NodeSpec> {
    let node = |(number, server): (usize, &Vec<u32>)| {
        let scaled = server.iter().map(|&amount| u64::from(amount) * u64::from(case.scale));
        NodeSpec::new(format!("n{number}"), milli(scaled))
    };
    case.servers.iter().enumerate().map(node).collect()
}

fn queues(case: &PoolCase, policy: &Policy) -> Vec<QueueSpec> {
    let queue = |user| QueueSpec {
        name: PoolCase::name(user),
        weight: 1000,
        min: None,
        max: None,
        policy: policy.clone(),
    };
    (0..case.users.len()).map(queue).collect()
}

fn jobs(case: &PoolCase, deviating: bool) -> Vec<Job> {
    let job = |(user, demand): (usize, Option<&[u32]>)| {
        let demand = demand?;
        Some(Job {
            label: JobLabel::Number(user as u64),
            queue: user as u32,
            submit: Time::ZERO,
            weight: 1,
            chain: None,
            groups: vec![JobGroup::new(
                u32::try_from(enough(case, demand)).unwrap_or(u32::MAX),
                milli(demand.iter().map(|&amount| u64::from(amount))),
                Durations::Same(Span::from_secs(3600).unwrap_or(Span::MAX)),
            )],
        })
    };
    case.asked(deviating).into_iter().enumerate().filter_map(job).collect()
}

/// Whole units in thousandths, as the engine counts them.
fn milli(amounts: impl Iterator<Item = u64>) -> Resources {
    Resources::new(&amounts.map(|amount| 1000 * amount).collect::<Vec<_>>())
}

/// What is decided when all tasks wait and nothing runs. A task that the policy could never start
/// runs nowhere.
fn decide(mut setup: WorldSetup<'_>, words: &str) -> Result<Counts, AuditError> {
    if setup.partitioned {
        let (file, what) = (
            format!("--policy {words}"),
            "a pool of unequal servers has no static shares".to_owned(),
        );
        return Err(AuditError::Case { file, what });
    }
    let (users, servers) = (setup.config.queues.len(), setup.config.nodes.len());
    let queues = setup.config.queues.iter().map(|queue| queue.name.clone()).collect::<Vec<_>>();
    let place = (setup.placement)(setup.config.kinds.len(), SEED);
    let mut engine = Engine::new(setup.config, place)?;
    let named = setup.source.queues().to_vec();
    while let Some(job) = setup.source.next_job()? {
        let Some(queue) = engine.view().find_queue(&named[job.queue as usize]) else { continue };
        let groups: Vec<TaskGroup> =
            job.groups.iter().map(|group| TaskGroup::new(group.count, group.demand)).collect();
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        // Refused: no server could ever hold it (under `slots`, of so many slots).
        let _refused = engine.apply(Time::ZERO, Event::JobArrived(spec)).is_err();
    }
    let mut counts = vec![vec![0; servers]; users];
    let ids: Vec<_> = queues.iter().map(|name| engine.view().find_queue(name)).collect();
    engine.decide(false, |start| {
        if let Some(user) = ids.iter().position(|id| *id == Some(start.queue)) {
            counts[user][start.node.index()] += 1;
        }
    });
    Ok(counts)
}

/// What the policy decides for a case.
pub(super) fn of_case(case: &PoolCase, deviating: bool, words: &str) -> Result<Counts, AuditError> {
    decide(setup(case, deviating, words)?, words)
}

/// What it decides for a scenario's text, as [`text`] has written it.
pub(super) fn of_text(name: &str, text: &str, words: &str) -> Result<Counts, AuditError> {
    let scenario = Scenario::parse(name, text, Path::new("."), &[], OnBadLine::Stop)?;
    decide(meed_sim::setup(&scenario, words, SEED)?, words)
}
