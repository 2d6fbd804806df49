//! The tree of TSC'18 Fig. 9, and what Fig. 10 and 11 show of it: how long TPC-H gets nothing under
//! the naive walk, and how many of its tasks the starvation guard keeps running.
//!
//! > mean of running tasks = integral of their number / length of the window
//!
//! The window begins when tasks have had the time to gather, and ends when the naive walk serves
//! TPC-H. A simulator's log and a ResourceManager's events become the same moves, so both are
//! measured by the same lines. Cost: one pass over what happened for each figure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Fig. 9, as the scenario and the allocation file call its leaves.
pub(super) const LEAVES: [&str; 4] =
    ["Group1.Facebook", "Group2.Purdue", "Group1.TPC-H", "Group2.Spark"];
/// Facebook runs alone until then (TSC'18 Sec. 7.6).
pub(super) const OTHERS_S: f64 = 900.0;
/// What the figures show.
pub(super) const UNTIL_S: f64 = 1800.0;
/// Mean time of a TPC-H task (Fig. 11a).
const TASK_S: f64 = 23.6;
const STARVED: &str = "Group1.TPC-H";

/// A figure: its workloads' task times as multiples of those assumed, and the guards.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) factors: [f64; 4],
    /// Seconds, as Fig. 10c and 11b have them.
    pub(super) waits: [&'static str; 3],
    /// Running tasks until the window begins, in mean task times (as `meed reproduce` has it).
    gather: f64,
    /// What is printed.
    printed: [&'static str; 3],
}

/// As `meed reproduce tsc-fig10` (times three times as long) and `tsc-fig11`.
pub(super) const FIGURES: [Figure; 2] = [
    Figure {
        name: "10",
        factors: [3.0, 3.0, 3.0, 3.0],
        waits: ["0", "10", "80"],
        gather: 1.0,
        printed: ["not starved", "2 to 10", "1 to 4"],
    },
    Figure {
        name: "11",
        factors: [3.0, 3.0, 1.0, 3.0],
        waits: ["2", "4", "10"],
        gather: 3.0,
        printed: ["about 12", "about 6", "about 3"],
    },
];

/// Something starts or ends: when, in which leaf, one more or one less, and whether it is a master.
struct Move {
    at: f64,
    leaf: String,
    more: bool,
    master: bool,
}

/// What happened in one run.
#[derive(Default)]
pub(super) struct Moves(Vec<Move>);

impl Moves {
    /// Of the ResourceManager, as `Journal.java` writes it. The first container of an application
    /// is its master.
    pub(super) fn of_events(text: &str, scale: f64) -> Result<Moves, String> {
        let mut jobs: BTreeMap<&str, &str> = BTreeMap::new();
        let mut leaves: BTreeMap<&str, &str> = BTreeMap::new();
        let mut running: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        let mut begun: BTreeSet<&str> = BTreeSet::new();
        let mut moves = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('\t').collect();
            let at: f64 = words[0].parse().map_err(|_| format!("event {}: no time", number + 1))?;
            let at = at * scale / 1e6;
            match words[1..] {
                ["job", job, queue, ..] => drop(jobs.insert(job, queue)),
                ["submit", job, application] => {
                    let leaf = jobs.get(job).ok_or(format!("event {}: no job", number + 1))?;
                    leaves.insert(application, leaf);
                }
                ["start", application, container, ..] => {
                    // Those that only load classes have no job.
                    let Some(leaf) = leaves.get(application) else { continue };
                    let master = begun.insert(application);
                    if running.insert((application, container), master).is_none() {
                        moves.push(Move { at, leaf: leaf.to_string(), more: true, master });
                    }
                }
                ["end", application, container, ..] => {
                    if let Some(master) = running.remove(&(application, container)) {
                        let leaf = leaves[application].to_owned();
                        moves.push(Move { at, leaf, more: false, master });
                    }
                }
                _ => {}
            }
        }
        Ok(Moves(moves))
    }

    /// Of the simulator: the run number `number` of its log.
    pub(super) fn of_log(text: &str, number: usize) -> Result<Moves, String> {
        let mut runs = 0;
        let mut leaves: BTreeMap<String, String> = BTreeMap::new();
        let mut moves = Vec::new();
        for line in text.lines() {
            let line: Value =
                serde_json::from_str(line).map_err(|why| format!("the log: {why}"))?;
            runs += usize::from(line.get("run").is_some());
            if runs != number + 1 {
                continue;
            }
            let at = line["t"].as_f64().unwrap_or(0.0);
            if let Some(start) = line.get("start") {
                let leaf = start["queue"].as_str().unwrap_or_default().to_owned();
                leaves.insert(start["job"].to_string(), leaf.clone());
                moves.push(Move { at, leaf, more: true, master: false });
            } else if let Some(end) = line.get("end") {
                let leaf = leaves.get(&end["job"].to_string()).cloned().unwrap_or_default();
                moves.push(Move { at, leaf, more: false, master: false });
            }
        }
        Ok(Moves(moves))
    }

    /// Containers x seconds from `from` to `to` of the leaves whose names begin so.
    fn held(&self, of: &str, masters: bool, from: f64, to: f64) -> f64 {
        let (mut held, mut sum, mut at) = (0.0, 0.0, from);
        for step in &self.0 {
            if step.leaf.starts_with(of) && (masters || !step.master) {
                let now = step.at.clamp(from, to);
                sum += held * (now - at);
                at = now;
                held += if step.more { 1.0 } else { -1.0 };
            }
        }
        sum + held * (to - at)
    }

    /// How long no task of the starved leaf runs after the others have begun. Its first master does
    /// not count: it is asked for at once, while the others ask for no more than theirs.
    fn starved_s(&self) -> Option<f64> {
        let task = |step: &&Move| step.leaf == STARVED && step.more && !step.master;
        let first = self.0.iter().find(task)?;
        Some(first.at - OTHERS_S)
    }
}

/// A column: the naive walk, and the three guards.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) naive: Moves,
    pub(super) guarded: [Moves; 3],
}

/// What came out of a figure's runs, as a table.
pub(super) fn table(figure: &Figure, columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = format!("| Fig. {} | paper | {} |\n", figure.name, names.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(names.len()));
    let mut row = |what: &str, paper: &str, show: &dyn Fn(&Column) -> Option<f64>| {
        let cell =
            |column| show(column).map_or("until the end".to_owned(), |it| format!("{it:.2}"));
        let cells: Vec<String> = columns.iter().map(cell).collect();
        text += &format!("| {what} | {paper} | {} |\n", cells.join(" | "));
    };
    let ends = |column: &Column| {
        column.naive.starved_s().map_or(UNTIL_S, |starved| (OTHERS_S + starved).min(UNTIL_S))
    };
    row("no task of TPC-H starts under the naive walk, s", "680", &|column| {
        column.naive.starved_s()
    });
    row("what Group2 has used by then, of what Group1 has", "about 1", &|column| {
        let used = |of| column.naive.held(of, true, 0.0, ends(column));
        Some(used("Group2") / used("Group1"))
    });
    for (i, wait) in figure.waits.into_iter().enumerate() {
        let what = format!("no task of TPC-H starts with t_wait = {wait} s, s");
        row(&what, "", &|column| column.guarded[i].starved_s());
    }
    let from = OTHERS_S + figure.gather * TASK_S * figure.factors[2];
    for masters in [false, true] {
        for (i, wait) in figure.waits.into_iter().enumerate() {
            let with = if masters { ", masters too" } else { "" };
            let what = format!("mean running tasks of TPC-H with t_wait = {wait} s{with}");
            row(&what, figure.printed[i], &|column| {
                let to = ends(column);
                (to > from)
                    .then(|| column.guarded[i].held(STARVED, masters, from, to) / (to - from))
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_counted_with_its_masters_and_without() {
        let text = "0\tjob\t7\tGroup1.TPC-H\t1\n0\tsubmit\t7\t1\n\
                    1000000\tstart\t1\t1\tn0\t2048\n2000000\tstart\t1\t2\tn0\t2048\n\
                    2500000\tstart\t1\t2\tn0\t2048\n3000000\tend\t1\t2\tn0\t2048\n\
                    5000000\tlateness\t1\t2\t3\n";
        let moves = Moves::of_events(text, 10.0).expect("it is sound");
        assert_eq!(moves.held("Group1", true, 0.0, 40.0), 30.0 + 10.0);
        assert_eq!(moves.held("Group1.TPC-H", false, 0.0, 40.0), 10.0);
        assert_eq!(moves.held("Group1", true, 15.0, 25.0), 10.0 + 5.0);
        assert_eq!(moves.held("Group2", true, 0.0, 40.0), 0.0);
        assert_eq!(moves.starved_s(), Some(20.0 - OTHERS_S));
    }

    #[test]
    fn a_log_is_read_run_by_run() {
        let text = "{\"run\":{}}\n{\"t\":1,\"start\":{\"queue\":\"Group1.TPC-H\",\"job\":1}}\n\
                    {\"run\":{}}\n{\"t\":2,\"start\":{\"queue\":\"Group1.TPC-H\",\"job\":1}}\n\
                    {\"t\":5,\"end\":{\"job\":1}}\n";
        let moves = Moves::of_log(text, 1).expect("it is sound");
        assert_eq!(moves.held("Group1.TPC-H", false, 0.0, 9.0), 3.0);
    }
}
