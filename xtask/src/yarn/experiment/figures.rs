//! TSC'18 Fig. 6 to 8 as printed, beside the simulator and the ResourceManager. Readings are those
//! of `meed reproduce` (tsc-fig6 to tsc-fig8), off the samples that `meed simulate` and `meed
//! replay` wrote.

use serde_json::Value;

use super::table::{last_loss, mean, numbers};

/// Queues in the order of records.
const FACEBOOK: usize = 0;
const PURDUE: usize = 1;
const TPC_H: usize = 2;
const SPARK: usize = 3;
/// Facebook's burst is looked for from then on, and begins before the end of what Fig. 6 shows.
const BURST_FROM_S: f64 = 120.0;
const SHOWN_S: f64 = 260.0;
/// How long the paper follows it: 204 to 260 s.
const BURST_S: f64 = 56.0;

/// The runs of one world.
pub(super) struct World<'a> {
    pub(super) name: &'static str,
    pub(super) alone: Option<&'a Value>,
    pub(super) fair: Option<&'a Value>,
    pub(super) long_term: Option<&'a Value>,
}

/// A run's samples.
#[derive(Clone, Copy)]
struct Read<'a>(&'a Value);

impl Read<'_> {
    fn times(self) -> Vec<f64> {
        numbers(&self.0["series"]["t_s"])
    }

    fn of(self, queue: usize, what: &str) -> Vec<f64> {
        numbers(&self.0["series"]["queues"][queue][what])
    }

    fn share(self, queue: usize) -> f64 {
        self.0["queues"][queue]["share"].as_f64().unwrap_or(0.0)
    }

    fn job_s(self, queue: usize) -> Option<f64> {
        self.0["queues"][queue]["mean_job_s"].as_f64()
    }

    fn rho(self, queue: usize) -> Option<f64> {
        self.0["queues"][queue]["rho"].as_f64()
    }

    /// When demand first falls to the share after it was above.
    fn overload_ends(self, queue: usize) -> Option<f64> {
        let (demand, share) = (self.of(queue, "demand"), self.share(queue));
        let begins = demand.iter().position(|&asked| asked > share)?;
        let length = demand[begins..].iter().position(|&asked| asked <= share)?;
        self.times().get(begins + length).copied()
    }

    /// The most that Facebook holds in its burst, in shares; and how its accumulated resources grow
    /// in that time, against the mean of the others'.
    fn burst(self) -> Option<[f64; 2]> {
        let times = self.times();
        let (facebook, purdue) = (self.of(FACEBOOK, "demand"), self.of(PURDUE, "demand"));
        let share = self.share(FACEBOOK);
        let begins = (0..times.len()).find(|&i| {
            times[i] >= BURST_FROM_S && facebook[i] >= 4.0 * share && purdue[i] > share
        })?;
        if times[begins] >= SHOWN_S {
            return None;
        }
        let last = times.iter().rposition(|&t| t < times[begins] + BURST_S)?;
        let held = self.of(FACEBOOK, "allocation");
        let most = held[begins..=last].iter().copied().fold(0.0, f64::max);
        let grown = |queue: usize| {
            let used = self.of(queue, "usage");
            used[last] - used[begins]
        };
        let others = [PURDUE, TPC_H, SPARK].map(grown).iter().sum::<f64>() / 3.0;
        Some([most / share, grown(FACEBOOK) / others])
    }

    /// The part of the run in which one of TPC-H and Spark, and one of Facebook and Purdue, ask for
    /// more than their shares: without that no loss lasts.
    fn contended(self) -> Option<f64> {
        let times = self.times();
        let over = |queue: usize| -> Vec<bool> {
            let share = self.share(queue);
            self.of(queue, "demand").iter().map(|&asked| asked > share).collect()
        };
        let [facebook, purdue, tpch, spark] = [FACEBOOK, PURDUE, TPC_H, SPARK].map(over);
        let both = |i: &usize| (facebook[*i] || purdue[*i]) && (tpch[*i] || spark[*i]);
        let spans = (1..times.len()).filter(|i| both(&(i - 1)));
        let sum: f64 = spans.map(|i| times[i] - times[i - 1]).sum();
        Some(sum / times.last()?)
    }
}

type Show = fn(&World<'_>) -> Option<f64>;

fn long_term(world: &World<'_>, show: impl Fn(Read<'_>) -> Option<f64>) -> Option<f64> {
    show(Read(world.long_term?))
}

fn fair(world: &World<'_>, show: impl Fn(Read<'_>) -> Option<f64>) -> Option<f64> {
    show(Read(world.fair?))
}

fn speed_up(alone: Option<&Value>, run: Option<&Value>, queue: usize) -> Option<f64> {
    Some(Read(alone?).job_s(queue)? / Read(run?).job_s(queue)?)
}

/// What, as printed, and how it is read.
const ROWS: [(&str, &str, Show); 19] = [
    ("6: Facebook's most in its burst, long-term, shares", "3.85", |world| {
        long_term(world, |run| Some(run.burst()?[0]))
    }),
    (
        "6: what it gains in 56 s of it, over the others' mean",
        "a significant increment, the others slightly",
        |world| long_term(world, |run| Some(run.burst()?[1])),
    ),
    ("6: end of Purdue's first overload, long-term, s", "131", |world| {
        long_term(world, |run| run.overload_ends(PURDUE))
    }),
    ("6: of TPC-H's", "146", |world| long_term(world, |run| run.overload_ends(TPC_H))),
    ("6: of Spark's", "118", |world| long_term(world, |run| run.overload_ends(SPARK))),
    ("7: mean Omega until the end, fair", "about -0.5", |world| {
        fair(world, |run| mean(&run.0["series"]["omega"]))
    }),
    ("7: last loss, fair, s", "until all has ended", |world| fair(world, |run| last_loss(run.0))),
    ("7: last loss, long-term, s", "650", |world| long_term(world, |run| last_loss(run.0))),
    ("7: rho of TPC-H at the end, fair", "below 1", |world| fair(world, |run| run.rho(TPC_H))),
    ("7: of Spark", "below 1", |world| fair(world, |run| run.rho(SPARK))),
    (
        "part of the run in which TPC-H or Spark, and Facebook or Purdue, ask for more than their \
         shares, fair",
        "not printed",
        |world| fair(world, |run| run.contended()),
    ),
    ("8: Facebook's jobs against static, fair", "1.14 to 1.19", |world| {
        speed_up(world.alone, world.fair, FACEBOOK)
    }),
    ("8: Purdue's, fair", "1.14 to 1.19", |world| speed_up(world.alone, world.fair, PURDUE)),
    ("8: TPC-H's, fair", "at least 1", |world| speed_up(world.alone, world.fair, TPC_H)),
    ("8: Spark's, fair", "at least 1", |world| speed_up(world.alone, world.fair, SPARK)),
    ("8: Facebook's, long-term", "1.10 to 1.23", |world| {
        speed_up(world.alone, world.long_term, FACEBOOK)
    }),
    ("8: Purdue's, long-term", "1.10 to 1.23", |world| {
        speed_up(world.alone, world.long_term, PURDUE)
    }),
    ("8: TPC-H's, long-term", "at least 1", |world| speed_up(world.alone, world.long_term, TPC_H)),
    ("8: Spark's, long-term", "at least 1", |world| speed_up(world.alone, world.long_term, SPARK)),
];

pub(super) fn table(worlds: &[World<'_>]) -> String {
    let names: Vec<&str> = worlds.iter().map(|world| world.name).collect();
    let mut text = format!("| figure | paper | {} |\n", names.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(names.len()));
    for (what, paper, show) in ROWS {
        let cell = |world| show(world).map_or(String::new(), |value| format!("{value:.3}"));
        let cells: Vec<String> = worlds.iter().map(cell).collect();
        text += &format!("| {what} | {paper} | {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn overloads_and_bursts_are_read_off_samples() {
        fn queue(demand: [f64; 5], allocation: [f64; 5], usage: [f64; 5]) -> Value {
            json!({ "demand": demand, "allocation": allocation, "usage": usage })
        }
        let held = [1.0, 1.0, 2.0, 3.0, 1.0];
        let run = json!({
            "queues": vec![json!({ "share": 1.0 }); 4],
            "series": {
                "t_s": [0.0, 100.0, 150.0, 200.0, 300.0],
                "queues": [
                    queue([0.0, 4.0, 4.0, 4.0, 0.0], held, [0.0, 1.0, 2.0, 8.0, 9.0]),
                    queue([2.0; 5], held, [0.0, 0.0, 1.0, 3.0, 9.0]),
                    queue([0.0, 2.0, 1.0, 1.0, 0.0], held, [0.0, 0.0, 1.0, 4.0, 9.0]),
                    queue([0.0, 0.0, 0.0, 0.0, 0.0], held, [0.0, 0.0, 1.0, 2.0, 9.0]),
                ],
            },
        });
        let run = Read(&run);
        assert_eq!((run.overload_ends(TPC_H), run.overload_ends(PURDUE)), (Some(150.0), None));
        assert_eq!(run.burst(), Some([3.0, 3.0]));
        assert_eq!(run.contended(), Some(50.0 / 300.0));
    }
}
