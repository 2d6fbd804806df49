//! Properties of DRFH Sec. 3.3 and 4.5, measured on a result: by how much each user is better or
//! worse off.
//!
//! Where the paper proves a property, tests assert it on random problems; where it does not (strong
//! sharing incentive), the rate at which it fails is a measurement. Ratios are tasks over tasks: at
//! least 1 is good. A user whose tasks are all served wants no more, so tasks beyond them do not
//! count.

use crate::allocate::allocate;
use crate::allocation::Allocation;
use crate::error::InputError;
use crate::policy::AllocationPolicy;
use crate::problem::Problem;

/// Tasks of a demand that amounts on one server hold (Eq. 1).
fn tasks_in(demand: &[f64], amounts: impl Fn(usize) -> f64) -> f64 {
    let needs = demand.iter().enumerate().filter(|(_, need)| **need > 0.0);
    needs.map(|(r, need)| amounts(r) / need).fold(f64::INFINITY, f64::min)
}

/// Over all servers, tasks of user `user` that what `other` holds would serve (`other` has `scale`
/// times as much).
fn tasks_with(
    problem: &Problem,
    allocation: &Allocation,
    user: usize,
    other: usize,
    scale: f64,
) -> f64 {
    let demand = &problem.users[user].demand;
    let held = &problem.users[other].demand;
    let on = allocation.servers.iter().flatten().filter(|(who, _)| *who == other);
    on.map(|(_, tasks)| tasks_in(demand, |r| scale * tasks * held[r])).sum()
}

/// The tasks that count.
fn wanted(problem: &Problem, user: usize, tasks: f64) -> f64 {
    problem.users[user].tasks.map_or(tasks, |most| tasks.min(most))
}

fn ratio(tasks: f64, instead: f64) -> f64 {
    if instead > 0.0 { tasks / instead } else { f64::INFINITY }
}

/// Envy-freeness (Prop. 1): for each user, its tasks over the most that it would have with the
/// allocation of another, scaled to its own weight. Cost: O(users^2 x servers).
pub fn envy(problem: &Problem, allocation: &Allocation) -> Vec<f64> {
    let of = |user: usize| {
        let others = (0..problem.users.len()).filter(|&other| other != user).map(|other| {
            let scale = problem.users[user].weight / problem.users[other].weight;
            wanted(problem, user, tasks_with(problem, allocation, user, other, scale))
        });
        ratio(allocation.users[user].tasks, others.fold(0.0, f64::max))
    };
    (0..problem.users.len()).map(of).collect()
}

/// Strong sharing incentive (Def. 2): each user's tasks over those that its part (by weight) of
/// every server would serve.
pub fn strong_sharing(problem: &Problem, allocation: &Allocation) -> Vec<f64> {
    let weights: f64 = problem.users.iter().map(|user| user.weight).sum();
    let of = |number: usize| {
        let user = &problem.users[number];
        let part = user.weight / weights;
        let each = |server: &crate::Server| {
            tasks_in(&user.demand, |r| server.capacity[r] * server.count * part)
        };
        let instead = problem.servers.iter().map(each).sum();
        ratio(allocation.users[number].tasks, wanted(problem, number, instead))
    };
    (0..problem.users.len()).map(of).collect()
}

/// Weak sharing incentive (Def. 4, Prop. 5): each user's tasks over those of one equal partition,
/// built as in the paper's proof: everybody keeps what it has, and what is left is handed out until
/// all have 1/n of every resource. Where somebody has more than 1/n already (case 1 of the proof),
/// any equal partition serves at most 1/n of the dominant resource. For users of equal weight
/// without end of tasks.
pub fn weak_sharing(problem: &Problem, allocation: &Allocation) -> Vec<f64> {
    let (n, kinds) = (problem.users.len() as f64, problem.resources.len());
    let totals = problem.totals();
    if allocation.users.iter().any(|user| user.dominant_share >= 1.0 / n) {
        return allocation.users.iter().map(|user| user.dominant_share * n).collect();
    }
    let share = |user: usize, r: usize| {
        problem.users[user].demand[r] * allocation.users[user].tasks / totals[r]
    };
    let left: Vec<f64> = (0..kinds)
        .map(|r| 1.0 - (0..problem.users.len()).map(|user| share(user, r)).sum::<f64>())
        .collect();
    let mut instead = vec![0.0; problem.users.len()];
    for (server, served) in problem.servers.iter().zip(&allocation.servers) {
        let mut held = vec![0.0; problem.users.len()];
        served.iter().for_each(|(user, tasks)| held[*user] += tasks);
        let free: Vec<f64> = (0..kinds)
            .map(|r| {
                let used: f64 =
                    served.iter().map(|(user, tasks)| tasks * problem.users[*user].demand[r]).sum();
                (server.count * server.capacity[r] - used).max(0.0)
            })
            .collect();
        for (user, tasks) in instead.iter_mut().enumerate() {
            let demand = &problem.users[user].demand;
            let part =
                |r: usize| if left[r] > 0.0 { (1.0 / n - share(user, r)) / left[r] } else { 0.0 };
            *tasks += tasks_in(demand, |r| held[user] * demand[r] + free[r] * part(r));
        }
    }
    allocation.users.iter().zip(instead).map(|(user, instead)| ratio(user.tasks, instead)).collect()
}

/// Group strategy-proofness (Prop. 3): for each liar, tasks when all tell the truth over tasks that
/// its lie brings; the property says that one of them is at least 1. A lie is another demand for
/// one's tasks.
pub fn lies(
    problem: &Problem,
    policy: AllocationPolicy,
    lies: &[(usize, Vec<f64>)],
) -> Result<Vec<f64>, InputError> {
    let honest = allocate(problem, policy)?;
    let mut claimed = problem.clone();
    lies.iter().for_each(|(user, demand)| claimed.users[*user].demand.clone_from(demand));
    let result = allocate(&claimed, policy)?;
    // What they hold is measured by what they really need.
    let truth = |&(user, ref demand): &(usize, Vec<f64>)| {
        let held = result.servers.iter().flatten().filter(|(who, _)| *who == user);
        let useful = held
            .map(|(_, tasks)| tasks_in(&problem.users[user].demand, |r| tasks * demand[r]))
            .sum();
        ratio(honest.users[user].tasks, wanted(problem, user, useful))
    };
    Ok(lies.iter().map(truth).collect())
}

/// Population monotonicity (Prop. 9): for each user that stays, tasks once `leaver` has gone over
/// tasks before.
pub fn departure(
    problem: &Problem,
    policy: AllocationPolicy,
    leaver: usize,
) -> Result<Vec<f64>, InputError> {
    let before = allocate(problem, policy)?;
    let mut rest = problem.clone();
    rest.users.remove(leaver);
    let after = allocate(&rest, policy)?;
    let stays = before.users.iter().enumerate().filter(|(user, _)| *user != leaver);
    Ok(after
        .users
        .iter()
        .zip(stays)
        .map(|(after, (_, before))| ratio(after.tasks, before.tasks))
        .collect())
}
