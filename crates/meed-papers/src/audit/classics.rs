//! Cases that are known from the papers or from analysis: every search begins with them.
//!
//! | case | source |
//! |---|---|
//! | lending that is not given back | ICS'14 Table 1 |
//! | asking for more than needed | CloudCom'14 Fig. 1: true demands 40, 30, 60 of 120 |
//! | a lender comes back, and who has used just its own share must wait | ours |
//! | holding slots with useless tasks until work comes | TSC'18 Sec. 1, first problem |
//! | letting a rival finish first, so that fewer rivals are left for the work that comes later | ours |
//! | coming when others' run times are learned and one's own are not | ours |
//! | a token task, to be no newcomer later | ours |
//! | a task that needs half of the cluster, among narrow ones whose ends never meet | issue of wide jobs |
//! | two queues from the start, or a new queue when the old one has used much | ours |

use super::case::{Burst, Case, Lie, LieKind, Tasks, Tenant};
use super::property::Against;
use super::random::Kind;

fn tenant(bursts: &[(u32, u32, u32)]) -> Tenant {
    let burst = |&(at, tasks, length): &(u32, u32, u32)| Burst { at, tasks, length, width: 1 };
    Tenant { weight: 1, bursts: bursts.iter().map(burst).collect() }
}

fn flat(kind: Kind, per_weight: u32, horizon: u32, tenants: Vec<Tenant>) -> Case {
    Case {
        tasks: kind.tasks,
        per_weight,
        tenants,
        grouped: kind.grouped,
        horizon,
        liar: 0,
        lies: Vec::new(),
        scale: 1,
        settle: kind.property.against == Against::Contribution,
        limits: false,
    }
}

/// The cases that fit this kind of search.
pub(super) fn classics(kind: Kind) -> Vec<Case> {
    let table_1 =
        flat(kind, 5, 2, vec![tenant(&[(0, 2, 1), (1, 4, 1)]), tenant(&[(0, 10, 1), (1, 6, 1)])]);
    let fig_1 =
        flat(kind, 4, 1, vec![tenant(&[(0, 4, 1)]), tenant(&[(0, 3, 1)]), tenant(&[(0, 6, 1)])]);
    let returning =
        flat(kind, 4, 12, vec![tenant(&[(8, 100, 1)]), tenant(&[(0, 32, 1), (8, 100, 1)])]);
    let long_tasks = flat(kind, 4, 20, vec![tenant(&[(2, 40, 2)]), tenant(&[(0, 40, 5)])]);
    let mut cases = vec![table_1, fig_1.clone(), returning, long_tasks];
    if kind.property.against == Against::Turn && kind.tasks == Tasks::Whole {
        let narrow = tenant(&[(0, 3, 5), (1, 3, 5), (2, 100, 5)]);
        let mut wide = tenant(&[(3, 1, 1)]);
        wide.bursts[0].width = 4;
        let case = flat(kind, 4, 60, vec![wide, narrow]);
        cases.push(Case { limits: true, ..case.clone() });
        cases.push(case);
    }
    if kind.needs_lie() {
        cases.clear();
        if kind.property.lies.contains(&LieKind::Useless) {
            let more = Lie::Useless { at: 0, tasks: 6, length: 1, keep: 1 };
            cases.push(Case { lies: vec![more], ..fig_1 });
            let hold = Lie::Useless { at: 0, tasks: 8, length: 5, keep: 2 };
            let held = flat(kind, 4, 10, vec![tenant(&[(2, 32, 2)]), tenant(&[(0, 40, 5)])]);
            cases.push(Case { lies: vec![hold], tasks: Tasks::Whole, ..held });
            let token = Lie::Useless { at: 0, tasks: 1, length: 1, keep: 1 };
            let late = flat(kind, 4, 12, vec![tenant(&[(8, 100, 1)]), tenant(&[(1, 200, 1)])]);
            cases.push(Case { lies: vec![token], ..late });
        }
        if kind.property.lies.contains(&LieKind::Later) {
            let later = Lie::Later { burst: 0, by: 1 };
            let both = flat(kind, 4, 3, vec![tenant(&[(0, 16, 1)]), tenant(&[(0, 16, 1)])]);
            cases.push(Case { lies: vec![later], ..both });
            let wait = Lie::Later { burst: 0, by: 2 };
            let rivals = vec![
                tenant(&[(0, 12, 1), (5, 60, 1)]),
                tenant(&[(0, 36, 1)]),
                tenant(&[(2, 60, 1)]),
            ];
            cases.push(Case { lies: vec![wait], ..flat(kind, 4, 7, rivals) });
        }
        if kind.property.lies.contains(&LieKind::Forgo) {
            // What it gives up nobody else takes: half of the cluster is idle, or its rival's.
            let forgo = Lie::Forgo { burst: 0 };
            let later = vec![tenant(&[(0, 8, 1), (4, 100, 1)]), tenant(&[(0, 100, 1)])];
            cases.push(Case { lies: vec![forgo], ..flat(kind, 4, 10, later) });
        }
        let busy =
            || flat(kind, 4, 12, vec![tenant(&[(0, 60, 1), (8, 60, 1)]), tenant(&[(0, 200, 1)])]);
        for (lie, what) in [
            (LieKind::SplitWeight, Lie::Split { full: false, alternate: true }),
            (LieKind::SplitFull, Lie::Split { full: true, alternate: false }),
            (LieKind::Rejoin, Lie::Rejoin { at: 8 }),
        ] {
            if kind.property.lies.contains(&lie) && (lie != LieKind::Rejoin || kind.remembers) {
                cases.push(Case { lies: vec![what], ..busy() });
            }
        }
    }
    cases.retain(|case| case.tasks == kind.tasks);
    for case in &mut cases {
        case.mend();
    }
    cases.retain(|case| !kind.needs_lie() || !case.lies.is_empty());
    cases
}
