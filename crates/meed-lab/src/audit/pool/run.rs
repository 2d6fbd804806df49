//! A case as a scenario file, and what a policy decides of it when all tasks wait and nothing runs.

use std::fmt::Write;
use std::path::Path;

use meed::{Engine, Event, JobSpec, TaskGroup, Time};
use meed_sim::scenario::Scenario;
use meed_workload::OnBadLine;

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

/// What the policy `words` decides for a scenario's text. A task that the policy could never start
/// runs nowhere.
pub(super) fn decide(name: &str, text: &str, words: &str) -> Result<Counts, AuditError> {
    let scenario = Scenario::parse(name, text, Path::new("."), &[], OnBadLine::Stop)?;
    let mut setup = scenario.setup(words, SEED)?;
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
        let Some(queue) = engine.find_queue(&named[job.queue as usize]) else { continue };
        let groups: Vec<TaskGroup> =
            job.groups.iter().map(|group| TaskGroup::new(group.count, group.demand)).collect();
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        // Refused: no server could ever hold it (under `slots`, of so many slots).
        let _refused = engine.apply(Time::ZERO, Event::JobArrived(spec)).is_err();
    }
    let mut counts = vec![vec![0; servers]; users];
    let ids: Vec<_> = queues.iter().map(|name| engine.find_queue(name)).collect();
    engine.decide(false, |start| {
        if let Some(user) = ids.iter().position(|id| *id == Some(start.queue)) {
            counts[user][start.node.index()] += 1;
        }
    });
    Ok(counts)
}

/// The same for a case.
pub(super) fn of_case(case: &PoolCase, deviating: bool, words: &str) -> Result<Counts, AuditError> {
    decide("audit", &text(case, deviating, &[]), words)
}
