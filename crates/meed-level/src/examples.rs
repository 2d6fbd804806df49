//! The worked examples of the papers, as problems to be solved; the tests hold what is printed.

use crate::limits::SLOTS_PER_SERVER;
use crate::problem::{Problem, Server, User, UserLedgers};

/// CPU and memory; servers as (count, CPU, memory), users as (CPU, memory) of a task without end.
pub fn cpu_and_memory(servers: &[(f64, f64, f64)], users: &[(f64, f64)]) -> Problem {
    let user = |(number, &(cpu, memory)): (usize, &(f64, f64))| User {
        name: format!("{}", number + 1),
        demand: vec![cpu, memory],
        weight: 1.0,
        tasks: None,
        used: 0.0,
        ledgers: UserLedgers::default(),
    };
    let server =
        |&(count, cpu, memory): &(f64, f64, f64)| Server { count, capacity: vec![cpu, memory] };
    Problem {
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        servers: servers.iter().map(server).collect(),
        users: users.iter().enumerate().map(user).collect(),
        slots_per_server: SLOTS_PER_SERVER,
        worth: 1.0,
    }
}

/// TPDS'15 Sec. 2: nine CPUs and 18 GB in one place. Under DRF user 1 has three tasks, user 2 two,
/// both the share 2/3.
pub fn section_2() -> Problem {
    cpu_and_memory(&[(1.0, 9.0, 18.0)], &[(1.0, 4.0), (3.0, 1.0)])
}

/// TPDS'15 Fig. 1: the same amounts on two servers, of which user 1 alone can use two tasks' worth
/// at most.
pub fn figure_1() -> Problem {
    cpu_and_memory(&[(1.0, 1.0, 14.0), (1.0, 8.0, 4.0)], &[(1.0, 4.0), (3.0, 1.0)])
}

/// TPDS'15 Fig. 2: two servers, two users. Fig. 3: DRF on each server gives both six tasks. Fig. 4:
/// DRFH gives both ten, and the share 5/7.
pub fn figure_2() -> Problem {
    cpu_and_memory(&[(1.0, 2.0, 12.0), (1.0, 12.0, 2.0)], &[(0.2, 1.0), (1.0, 0.2)])
}

/// TPDS'15 Prop. 4: under DRFH both users have the share 12/25; an equal part of each server would
/// give user 2 1/2.
pub fn proposition_4() -> Problem {
    cpu_and_memory(&[(1.0, 1.0, 2.0), (1.0, 4.0, 3.0)], &[(1.0, 1.0), (3.0, 2.0)])
}

/// Tang et al. 2014, Fig. 4: 40 CPUs and 40 GB. Whole tasks give both 13 and 26/40; the fluid
/// optimum is 2/3 for both.
pub fn economic_figure_4() -> Problem {
    cpu_and_memory(&[(1.0, 40.0, 40.0)], &[(1.0, 2.0), (2.0, 1.0)])
}

/// TPDS'15 Table 1: the servers of one of Google's clusters, as (number, CPUs, memory).
pub const GOOGLE: &[(f64, f64, f64)] = &[
    (6732.0, 0.50, 0.50),
    (3863.0, 0.50, 0.25),
    (1001.0, 0.50, 0.75),
    (795.0, 1.00, 1.00),
    (126.0, 0.25, 0.25),
    (52.0, 0.50, 0.12),
    (5.0, 0.50, 0.03),
    (5.0, 0.50, 0.97),
    (3.0, 1.00, 0.50),
    (1.0, 0.50, 0.06),
];

/// TPDS'15 Fig. 5: up to three users, with (0.2, 0.3), (0.5, 0.1) and (0.1, 0.3) for a task. The
/// paper draws 100 servers from [`GOOGLE`]; here is the whole cluster they are drawn from.
pub fn figure_5(users: usize) -> Problem {
    let all = [(0.2, 0.3), (0.5, 0.1), (0.1, 0.3)];
    cpu_and_memory(GOOGLE, &all[..users.min(all.len())])
}

/// TPDS'15 Eq. 9: how ill a task fits a server, the distance of demand and free amounts, each
/// relative to the first resource. Sec. 5.2: a task of (1/10, 1/30) fits (1/5, 1/15) with 0, and
/// (1/8, 1/4) with 5/3.
pub fn misfit(demand: &[f64], free: &[f64]) -> f64 {
    demand.iter().zip(free).map(|(need, have)| (need / demand[0] - have / free[0]).abs()).sum()
}
