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
    /// Seconds; `None`: it was there before, with its master.
    pub(super) comes: Option<u64>,
    /// Executors that it holds from the beginning to the end; `None`: dynamic allocation.
    pub(super) executors: Option<u64>,
}

/// A story of two applications.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) programs: [Program; 2],
    /// Seconds after which the lender is first owed its share: where its request is later, then.
    pub(super) owed: u64,
    pub(super) ends: u64,
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
                comes: None,
                executors: None,
            },
            Program {
                name: "b",
                phases: &[(10, PHASE), (8, 2 * PHASE), (7, 3 * PHASE), (10, 4 * PHASE)],
                comes: None,
                executors: None,
            },
        ],
        owed: 2 * PHASE,
        ends: 4 * PHASE,
    },
    Scene {
        name: "fixed",
        programs: [
            Program { name: "a", phases: &[(8, 60)], comes: Some(5), executors: Some(8) },
            Program { name: "b", phases: &[(10, 60)], comes: None, executors: Some(10) },
        ],
        owed: 0,
        ends: 60,
    },
];

/// When Spark tells YARN, in seconds after a phase has begun.
#[derive(Clone, Copy)]
pub(super) enum Delays {
    None,
    /// By Spark's settings: after a second of backlog it asks for one more executor, then each
    /// second for twice as many as before; what is idle for four goes. Then the heartbeat of
    /// its master.
    Spark,
}

impl Delays {
    /// Of the n-th executor more, from 1.
    fn asks(self, nth: u64) -> f64 {
        match self {
            Delays::None => 0.0,
            Delays::Spark => 1.5 + f64::from(nth.max(1).ilog2()),
        }
    }

    fn gives_back(self) -> f64 {
        match self {
            Delays::None => 0.0,
            Delays::Spark => 5.0,
        }
    }
}

/// When applications that came later had their masters' containers, and when they asked for
/// executors.
pub(super) type Came = Vec<Option<[f64; 2]>>;

/// A job is an executor, or a master: from when it is asked for until it is given back.
pub(super) fn scenario(scene: &Scene, came: &Came, delays: Delays) -> String {
    let mut text = format!(
        "# Written by `cargo xtask yarn spark experiment`: what two applications of Spark ask for.\n\
         [cluster]\nresources = [\"slot\"]\n\n[[cluster.node]]\ncount = 2\n\
         capacity = {{ slot = {NODE} }}\n\n[run]\nuntil = \"{}s\"\n\n[policy]\nquantum = \"1s\"\n",
        scene.ends
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
    for (program, came) in scene.programs.iter().zip(came) {
        let queue = program.name;
        let [master, asks] = came.unwrap_or_default();
        job(queue, format!("{queue}-master"), master, None);
        if let Some(executors) = program.executors {
            for number in 0..executors {
                job(queue, format!("{queue}-{number}"), asks, None);
            }
            continue;
        }
        for (number, span) in spans(program.phases).into_iter().enumerate() {
            let Span { from, nth, until } = span;
            let until = (until < scene.ends).then(|| until as f64 + delays.gives_back());
            let from = from as f64 + delays.asks(nth);
            job(queue, format!("{queue}-{number}"), from, until);
        }
    }
    for program in &scene.programs {
        let _ = write!(text, "\n[[queue]]\nname = \"{}\"\n", program.name);
    }
    text + &jobs + &changes
}

/// One executor is wanted; `nth` of those that are wanted from then on.
#[derive(Debug, PartialEq)]
struct Span {
    from: u64,
    nth: u64,
    until: u64,
}

/// The executors that are wanted, in the order in which they are asked for.
fn spans(phases: &[Phase]) -> Vec<Span> {
    let most = phases.iter().map(|phase| phase.0).max().unwrap_or(0);
    let mut all = Vec::new();
    for place in 0..most {
        let (mut begins, mut before): (Option<(u64, u64)>, u64) = (None, 0);
        let mut from = 0;
        for &(tasks, until) in phases {
            match (tasks > place, begins) {
                (true, None) => begins = Some((from, place + 1 - before)),
                (false, Some((from_then, nth))) => {
                    all.push(Span { from: from_then, nth, until: from });
                    begins = None;
                }
                _ => {}
            }
            (before, from) = (tasks, until);
        }
        all.extend(begins.map(|(begun, nth)| Span { from: begun, nth, until: from }));
    }
    all.sort_by_key(|span| span.from);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_are_wanted_phase_by_phase() {
        let span = |from, nth, until| Span { from, nth, until };
        assert_eq!(
            spans(&[(2, 10), (1, 20), (3, 30)]),
            [span(0, 1, 30), span(0, 2, 10), span(20, 1, 30), span(20, 2, 30)]
        );
        let a = spans(SCENES[0].programs[0].phases);
        let wanted: u64 = a.iter().map(|span| span.until - span.from).sum();
        assert_eq!(wanted, (2 + 4 + 8 + 6) * PHASE);
    }

    /// Twice as many each second: the fourth to seventh come together.
    #[test]
    fn spark_asks_for_twice_as_many_each_second() {
        let asked: Vec<f64> = (1..=8).map(|nth| Delays::Spark.asks(nth)).collect();
        assert_eq!(asked, [1.5, 2.5, 2.5, 3.5, 3.5, 3.5, 3.5, 4.5]);
    }
}
