//! The papers' worked examples: exactly (divisible tasks, `meed-level`), and as whole tasks in the
//! simulator.

use std::fmt::Write as _;

use meed_level::audit::strong_sharing;
use meed_level::examples as known;
use meed_level::{Allocation, AllocationPolicy, Problem, allocate};

use super::super::hierarchy::starts;
use super::super::worked::run;
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Verdict};

/// Sec. 2 and Fig. 1: nine CPUs and 18 GB in one place, and the same on two servers.
pub(in super::super) fn section_2(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let one = known::section_2();
    let exact = allocate(&one, AllocationPolicy::Drf)?;
    let split = known::figure_1();
    let mut alone = split.clone();
    alone.users.truncate(1);
    let most = allocate(&alone, AllocationPolicy::Drfh)?;
    Ok(ItemOutcome {
        checks: vec![
            same("tasks of both users under DRF, one system", "3 and 2", tasks(&exact)),
            same("their dominant share", "2/3", shares(&exact)),
            same("the same with whole tasks, in the simulator", "3 and 2", whole(&one, "drf")?),
            same(
                "what DRF promises of the two servers of Fig. 1",
                "3 and 2",
                tasks(&allocate(&split, AllocationPolicy::Drf)?),
            ),
            same(
                "tasks that user 1, alone, can run on them",
                "at most 2",
                format!("at most {}", tasks(&most)),
            ),
            same(
                "the same in the simulator",
                "at most 2",
                format!("at most {}", whole(&alone, "drfh")?),
            ),
        ],
        ..ItemOutcome::default()
    })
}

/// Fig. 2 to 4.
pub(in super::super) fn figures_2_to_4(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let problem = known::figure_2();
    let naive = allocate(&problem, AllocationPolicy::PerServerDrf)?;
    let drfh = allocate(&problem, AllocationPolicy::Drfh)?;
    let on_servers = |allocation: &Allocation| {
        let server = |served: &Vec<(usize, f64)>| {
            let of = |user: usize| {
                served.iter().find(|(who, _)| *who == user).map_or(0.0, |(_, tasks)| *tasks)
            };
            format!("{} and {}", fraction(of(0)), fraction(of(1)))
        };
        allocation.servers.iter().map(server).collect::<Vec<_>>().join("; ")
    };
    let first_fit = whole(&problem, "drf")?;
    let mut outcome = ItemOutcome {
        checks: vec![
            same("tasks of both users, DRF on each server (Fig. 3)", "6 and 6", tasks(&naive)),
            same("of these on server 1; on server 2", "5 and 1; 1 and 5", on_servers(&naive)),
            same("tasks of both users, DRFH (Fig. 4)", "10 and 10", tasks(&drfh)),
            same("on server 1; on server 2", "10 and 0; 0 and 10", on_servers(&drfh)),
            same("dominant share g", "5/7", shares(&drfh)),
            same(
                "whole tasks, `drfh` (best fit), in the simulator",
                "10 and 10",
                whole(&problem, "drfh")?,
            ),
        ],
        ..ItemOutcome::default()
    };
    outcome.checks.push(Check::beyond(
        "whole tasks, `drf` (first fit), in the simulator",
        Measured::Words(first_fit),
        "the paper does not run first fit here",
    ));
    Ok(outcome)
}

/// Prop. 4.
pub(in super::super) fn proposition_4(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let problem = known::proposition_4();
    let drfh = allocate(&problem, AllocationPolicy::Drfh)?;
    // Tasks over those on an equal part of every server, so its share there is the share here over
    // that ratio.
    let ratio = strong_sharing(&problem, &drfh)[1];
    Ok(ItemOutcome {
        checks: vec![
            same("dominant share of both under DRFH", "12/25", shares(&drfh)),
            same(
                "dominant share of user 2 on half of each server",
                "1/2",
                fraction(drfh.users[1].dominant_share / ratio),
            ),
        ],
        ..ItemOutcome::default()
    })
}

/// Sec. 5.2: two servers have room for a task of (1/10, 1/30) of the pool; what is left of it has
/// no room for one.
pub(in super::super) fn equation_9(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let demand = [1.0 / 10.0, 1.0 / 30.0];
    let misfits =
        [[1.0 / 5.0, 1.0 / 15.0], [1.0 / 8.0, 1.0 / 4.0]].map(|free| known::misfit(&demand, &free));
    // In 120ths of the pool. The better server comes second, so that first fit would take the
    // other.
    let text = "[cluster]\nresources = [\"cpu\", { name = \"memory\", unit = \"milli\" }]\n\
        [[cluster.node]]\nname = \"server-2\"\ncapacity = { cpu = 15, memory = 30 }\n\
        [[cluster.node]]\nname = \"server-1\"\ncapacity = { cpu = 24, memory = 8 }\n\
        [[cluster.node]]\nname = \"full-of-memory\"\ncapacity = { cpu = 81 }\n\
        [[cluster.node]]\nname = \"full-of-cpu\"\ncapacity = { memory = 82 }\n\
        [[queue]]\nname = \"i\"\n\
        [[job]]\nqueue = \"i\"\nduration = \"1h\"\ndemand = { cpu = 12, memory = 4 }\n";
    let placed = |policy: &str| -> Result<String, ReproduceError> {
        let starts = starts(text, policy)?;
        Ok(starts
            .first()
            .and_then(|line| line["start"]["node"].as_str())
            .unwrap_or_default()
            .to_owned())
    };
    Ok(ItemOutcome {
        checks: vec![
            same("H of server 1", "0", fraction(misfits[0])),
            same("H of server 2", "5/3", fraction(misfits[1])),
            same("where best fit puts the task, in the simulator", "server-1", placed("drfh")?),
            Check::beyond(
                "where first fit puts it",
                Measured::Words(placed("drfh,placement=first-fit")?),
                "the first in the file",
            ),
        ],
        ..ItemOutcome::default()
    })
}

/// Tang et al. 2014, Fig. 4.
pub(in super::super) fn economic_fig_4(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let problem = known::economic_figure_4();
    let whole = whole(&problem, "drf")?;
    let exact = allocate(&problem, AllocationPolicy::Drf)?;
    let share =
        whole.split(' ').next().and_then(|tasks| tasks.parse::<f64>().ok()).unwrap_or(f64::NAN)
            * 2.0;
    Ok(ItemOutcome {
        checks: vec![
            same(
                "dominant share of both, whole tasks in the simulator",
                "26/40",
                format!("{share}/40"),
            ),
            same("their tasks", "13 and 13", whole),
            Check::beyond(
                "dominant share of both with divisible tasks",
                Measured::Words(shares(&exact)),
                "whole tasks leave 1 CPU and 1 GB idle",
            ),
        ],
        ..ItemOutcome::default()
    })
}

fn same(what: &str, paper: &str, measured: String) -> Check {
    Check {
        what: what.to_owned(),
        paper: paper.to_owned(),
        verdict: if measured == paper { Verdict::Same } else { Verdict::Differs },
        measured: Measured::Words(measured),
        reason: None,
        under: Vec::new(),
        again: None,
    }
}

fn tasks(allocation: &Allocation) -> String {
    let all: Vec<String> = allocation.users.iter().map(|user| fraction(user.tasks)).collect();
    all.join(" and ")
}

/// One where they are all the same.
fn shares(allocation: &Allocation) -> String {
    let mut all: Vec<String> =
        allocation.users.iter().map(|user| fraction(user.dominant_share)).collect();
    all.dedup();
    all.join(" and ")
}

/// What a value is as a fraction of small numbers, else as a decimal.
fn fraction(value: f64) -> String {
    let small = (1..=100u32)
        .map(f64::from)
        .find(|below| (value * below - (value * below).round()).abs() < 1e-9);
    match small {
        Some(1.0) => format!("{}", value.round() + 0.0),
        Some(below) => format!("{}/{below}", (value * below).round()),
        None => format!("{value:.4}"),
    }
}

/// How many whole tasks each user runs at once when all have more than fits, under a policy in the
/// simulator.
fn whole(problem: &Problem, policy: &str) -> Result<String, ReproduceError> {
    let mut text =
        "[cluster]\nresources = [\"cpu\", { name = \"memory\", unit = \"milli\" }]\n".to_owned();
    let put = |text: &mut String, line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("a string takes all that is written");
    };
    for server in &problem.servers {
        let [cpu, memory] = [0, 1].map(|kind| server.capacity[kind]);
        let count = server.count;
        put(
            &mut text,
            format_args!(
                "[[cluster.node]]\ncount = {count}\ncapacity = {{ cpu = {cpu}, memory = {memory} \
                 }}\n"
            ),
        );
    }
    for user in &problem.users {
        let (name, [cpu, memory]) = (&user.name, [0, 1].map(|kind| user.demand[kind]));
        put(
            &mut text,
            format_args!(
                "[[queue]]\nname = \"{name}\"\n[[job]]\nqueue = \"{name}\"\ntasks = 1000\nduration \
                 = \"1h\"\n\
                 demand = {{ cpu = {cpu}, memory = {memory} }}\n"
            ),
        );
    }
    let records = run(&text, &[policy], Some("1s"))?;
    let held = records[0].queues.iter().zip(&problem.users).map(|(queue, user)| {
        let tasks = queue.usage["cpu"] / records[0].end_s / user.demand[0];
        fraction(tasks)
    });
    Ok(held.collect::<Vec<_>>().join(" and "))
}

#[cfg(test)]
mod tests {
    use super::fraction;

    #[test]
    fn fractions() {
        for (value, words) in [
            (12.0 / 25.0, "12/25"),
            (5.0 / 3.0, "5/3"),
            (10.0, "10"),
            (1e-17, "0"),
            (0.123_456, "0.1235"),
        ] {
            assert_eq!(fraction(value), words);
        }
    }
}
