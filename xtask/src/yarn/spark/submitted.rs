//! What is submitted, and the same for the simulator: neither knows what was granted.

use std::fmt::Write as _;

/// Seconds of a phase.
pub(super) const PHASE: u64 = 20;

/// Containers of the cluster, and of each of both nodes.
pub(super) const ALL: u64 = 12;
pub(super) const NODE: u64 = 6;

/// How many tasks an application has at once, and until when, in seconds.
pub(super) type Phase = (u64, u64);

/// An application: a master, and executors.
pub(super) struct Program {
    /// Of the application and, below the root, of its queue.
    pub(super) name: &'static str,
    pub(super) phases: &'static [Phase],
    /// Submitted once the other one holds all that it asks for. The run begins as it asks.
    pub(super) comes_later: bool,
    /// Executors that it holds from the beginning to the end; `None`: dynamic allocation.
    pub(super) executors: Option<u64>,
}

/// A story of two applications.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) programs: [Program; 2],
    /// Seconds after which the lender is owed its share.
    pub(super) owed: u64,
    pub(super) ends: u64,
}

impl Scene {
    /// How long the borrower has held all, in the simulator, when a lender comes later.
    pub(super) fn before(&self) -> u64 {
        match self.programs.iter().any(|program| program.comes_later) {
            true => 10,
            false => 0,
        }
    }
}

/// TSC'18 Table 1 with a tenth of the units, as long-term fairness leaves the requests; and a
/// borrower that never gives back, beside a lender that comes later.
pub(super) const SCENES: [Scene; 2] = [
    Scene {
        name: "dynamic",
        programs: [
            Program {
                name: "a",
                phases: &[(2, PHASE), (4, 2 * PHASE), (8, 3 * PHASE), (6, 4 * PHASE)],
                comes_later: false,
                executors: None,
            },
            Program {
                name: "b",
                phases: &[(10, PHASE), (8, 2 * PHASE), (7, 3 * PHASE), (10, 4 * PHASE)],
                comes_later: false,
                executors: None,
            },
        ],
        owed: 2 * PHASE,
        ends: 4 * PHASE,
    },
    Scene {
        name: "fixed",
        programs: [
            Program { name: "a", phases: &[(8, 40)], comes_later: true, executors: Some(8) },
            Program { name: "b", phases: &[(10, 40)], comes_later: false, executors: Some(10) },
        ],
        owed: 0,
        ends: 40,
    },
];

/// What Spark's dynamic allocation told YARN, by its own log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    /// So many executors in all; of fewer than before those that it waits for are given up.
    Wants(u64),
    /// So many that were idle are given back.
    Returns(u64),
}

/// By program, at seconds from the beginning.
pub(super) type Asked = Vec<Vec<(f64, Told)>>;

/// A job is an executor, or a master: from when it is asked for until it is given back.
/// With what Spark told YARN dynamic allocation is that; without, each phase asks at once.
pub(super) fn scenario(scene: &Scene, asked: Option<&Asked>) -> String {
    let mut text = format!(
        "# Written by `cargo xtask yarn spark experiment`: what applications of Spark ask for.\n\
         [cluster]\nresources = [\"slot\"]\n\n[[cluster.node]]\ncount = 2\n\
         capacity = {{ slot = {NODE} }}\n\n[run]\nuntil = \"{}s\"\n\n[policy]\nquantum = \"1s\"\n",
        scene.before() + scene.ends
    );
    let (mut jobs, mut changes) = (String::new(), String::new());
    let mut job = |queue: &str, name: String, from: f64, until: Option<f64>| {
        let _ = write!(
            jobs,
            "\n[[job]]\nqueue = \"{queue}\"\nname = \"{name}\"\nsubmit = {from:.3}\n\
             duration = \"1h\"\ndemand = {{ slot = 1 }}\n"
        );
        if let Some(until) = until {
            let _ = write!(changes, "\n[[change]]\nat = {until:.3}\njob_cancelled = \"{name}\"\n");
        }
    };
    for (place, program) in scene.programs.iter().enumerate() {
        let comes = if program.comes_later { scene.before() as f64 } else { 0.0 };
        let queue = program.name;
        job(queue, format!("{queue}-master"), comes / 2.0, None);
        if let Some(executors) = program.executors {
            for number in 0..executors {
                job(queue, format!("{queue}-{number}"), comes, None);
            }
            continue;
        }
        let all = match asked {
            Some(asked) => wanted(&asked[place]),
            None => spans(program.phases),
        };
        for (number, Span { from, until }) in all.into_iter().enumerate() {
            let until = until.filter(|&until| until < scene.ends as f64);
            job(queue, format!("{queue}-{number}"), from, until);
        }
    }
    for program in &scene.programs {
        let _ = write!(text, "\n[[queue]]\nname = \"{}\"\n", program.name);
    }
    text + &jobs + &changes
}

/// One executor is wanted.
#[derive(Debug, PartialEq)]
struct Span {
    from: f64,
    /// `None`: to the end.
    until: Option<f64>,
}

/// The executors that phases want, in the order in which they are asked for.
fn spans(phases: &[Phase]) -> Vec<Span> {
    let mut from = 0;
    let mut told = Vec::new();
    for &(tasks, until) in phases {
        told.push((from as f64, Told::Wants(tasks)));
        from = until;
    }
    wanted(&told)
}

/// The executors that Spark asks for, in that order. It gives back what it has had longest.
fn wanted(told: &[(f64, Told)]) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    let mut live: Vec<usize> = Vec::new();
    for &(at, told) in told {
        let at = at.max(0.0);
        match told {
            Told::Wants(total) => {
                while (live.len() as u64) < total {
                    live.push(all.len());
                    all.push(Span { from: at, until: None });
                }
                while (live.len() as u64) > total {
                    let newest = live.pop().expect("more than none");
                    all[newest].until = Some(at);
                }
            }
            Told::Returns(idle) => {
                let idle = usize::try_from(idle).unwrap_or(usize::MAX).min(live.len());
                for oldest in live.drain(..idle) {
                    all[oldest].until = Some(at);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_are_wanted_phase_by_phase() {
        let span = |from, until| Span { from, until };
        assert_eq!(
            spans(&[(2, 10), (1, 20), (3, 30)]),
            [span(0.0, None), span(0.0, Some(10.0)), span(20.0, None), span(20.0, None)]
        );
    }

    #[test]
    fn what_is_idle_goes_and_what_waits_is_given_up() {
        let told = [
            (1.5, Told::Wants(3)),
            (2.5, Told::Wants(2)),
            (9.5, Told::Returns(1)),
            (12.0, Told::Wants(2)),
        ];
        let all = wanted(&told);
        let until: Vec<Option<f64>> = all.iter().map(|span| span.until).collect();
        assert_eq!(until, [Some(9.5), None, Some(2.5), None]);
        assert_eq!(all[3].from, 12.0);
    }
}
