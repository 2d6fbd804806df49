//! Why no rule saves anything where half is idle: one run of each environment, read off its log and
//! its samples; and the same where the causes are varied.
//!
//! A rule chooses only while a map waits. What it might save then is at most
//!
//! > room = the part of the time in which maps wait x (1 - the busiest meanwhile)
//!
//! where cores, disks and cards count as they are used, and map slots as far as maps need them
//! alone ([`super::worlds::Run::map_seconds_alone`]), in proportion to how long they are held. The
//! room says how much, not that a rule finds it; what a choice does to the rest of the time is not
//! in it.
//! Cost: forty runs of three requests.

use std::collections::{BTreeMap, BTreeSet};

use meed_journal::{Fact, JobKey};
use meed_report::page::{Block, Cell, Table};
use serde_json::json;

use super::hosts::Capacity;
use super::variant::{Variant, request, varied, worlds};
use super::worlds::{Choice, DJASL, DMR, HADOOP, JAS, JASL, Run, Traced, World};
use crate::cores;
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError};

/// Those that choose by class.
const CLASS_AWARE: [Choice; 4] = [DMR, JAS, JASL, DJASL];

/// The first is traced; the others vary how many slots there are, and how long maps wait.
const CAUSES: [Variant; 4] = [
    varied("as assumed", |_| {}),
    varied("as many map slots as cores, at least two", slots_as_cores),
    varied("100 GB a job", large),
    varied("both", |world| {
        slots_as_cores(world);
        large(world);
    }),
];

fn slots_as_cores(world: &mut World) {
    for nodes in &mut world.nodes {
        nodes.map_slots = nodes.cores.max(2);
    }
}

fn large(world: &mut World) {
    request(world, "input", json!("100GB"));
}

/// What a part of a run is like; parts of all there is.
#[derive(Clone, Copy, Default, Debug)]
struct Part {
    of_time: f64,
    /// Map slots that are held.
    held: f64,
    cores: f64,
    disks: f64,
    cards: f64,
}

/// A run, read.
#[derive(Debug)]
struct Seen {
    /// While maps wait, and the rest of the time.
    parts: [Part; 2],
    /// What maps would need of the time for which they hold slots.
    alone: f64,
    /// Maps that started before one of a job that came earlier.
    out_of_turn: u64,
    maps: u64,
    /// Mean time of a map of each job, in seconds; jobs in the order in which they came.
    mean_s: Vec<f64>,
    /// Of maps out of turn: how long all of them took, and of which job each was.
    out_s: f64,
    out_of: Vec<usize>,
}

/// What counts most, with its part.
type Busiest = (&'static str, f64);

impl Seen {
    fn of(world: &World, traced: &Traced) -> Seen {
        let mut maps = Maps::default();
        for record in &traced.log {
            maps.hear(record.t.as_secs_f64(), &record.fact);
        }
        let held: f64 = maps.seconds.iter().sum();
        let mean = |(sum, count): (&f64, &u64)| sum / (*count).max(1) as f64;
        Seen {
            parts: parts(world, &traced.run, &maps.course),
            alone: (traced.run.map_seconds_alone(world) / held).min(1.0),
            out_of_turn: maps.out_of.len() as u64,
            maps: maps.counts.iter().sum(),
            mean_s: maps.seconds.iter().zip(&maps.counts).map(mean).collect(),
            out_s: maps.out_s,
            out_of: maps.out_of,
        }
    }

    fn busiest(&self) -> Busiest {
        let Part { held, cores, disks, cards, .. } = self.parts[0];
        let all = [
            ("cores", cores),
            ("disks", disks),
            ("cards", cards),
            ("map slots", held * self.alone),
        ];
        all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("four of them")
    }

    fn room(&self) -> f64 {
        self.parts[0].of_time * (1.0 - self.busiest().1).max(0.0)
    }

    /// How much longer its maps out of turn took than the same jobs' maps in `other`, as a part.
    fn longer_than(&self, other: &Seen) -> Option<f64> {
        let there: f64 = self.out_of.iter().map(|&job| other.mean_s[job]).sum();
        (there > 0.0).then(|| self.out_s / there - 1.0)
    }
}

/// Maps as a log tells of them.
#[derive(Default)]
struct Maps {
    /// In the order in which they came.
    number: BTreeMap<JobKey, usize>,
    /// Maps of each job; tasks of later numbers are reduces.
    of_job: Vec<u32>,
    waiting: Vec<u32>,
    /// Jobs of which maps wait.
    wait: BTreeSet<usize>,
    /// When each map that runs started, and whether out of turn.
    since: BTreeMap<(usize, u32), (f64, bool)>,
    /// Of each job: how long its maps held slots, and how many have.
    seconds: Vec<f64>,
    counts: Vec<u64>,
    out_s: f64,
    out_of: Vec<usize>,
    /// From when on maps wait, and how many run.
    course: Vec<(f64, bool, usize)>,
}

impl Maps {
    fn hear(&mut self, at: f64, fact: &Fact) {
        match fact {
            Fact::JobArrived(job) => {
                let maps = job.groups.first().map_or(0, |group| group.tasks);
                let number = self.of_job.len();
                self.number.insert(job.job.clone(), number);
                self.of_job.push(maps);
                self.waiting.push(maps);
                self.seconds.push(0.0);
                self.counts.push(0);
                self.wait.extend((maps > 0).then_some(number));
            }
            Fact::TaskStarted(started) => {
                let Some(job) = self.map(&started.job, started.task) else { return };
                let out = self.wait.first().is_some_and(|&first| first < job);
                self.since.insert((job, started.task), (at, out));
                self.waiting[job] -= 1;
                if self.waiting[job] == 0 {
                    self.wait.remove(&job);
                }
            }
            Fact::TaskEnded(ended) => {
                let Some(job) = self.map(&ended.job, ended.task) else { return };
                let Some((since, out)) = self.since.remove(&(job, ended.task)) else { return };
                self.seconds[job] += at - since;
                self.counts[job] += 1;
                if out {
                    self.out_s += at - since;
                    self.out_of.push(job);
                }
            }
            _ => return,
        }
        self.course.push((at, !self.wait.is_empty(), self.since.len()));
    }

    /// The number of its job, where the task is a map.
    fn map(&self, job: &JobKey, task: u32) -> Option<usize> {
        self.number.get(job).copied().filter(|&job| task < self.of_job[job])
    }
}

/// While maps wait, and the rest: by the middle of the time between two samples.
fn parts(world: &World, run: &Run, course: &[(f64, bool, usize)]) -> [Part; 2] {
    let series = &run.world().series;
    let there_is = Capacity::of(world);
    let cores = there_is.cores.unwrap_or_default();
    let all_cores: f64 = cores.iter().sum();
    let all_slots: f64 =
        world.nodes.iter().map(|nodes| f64::from(nodes.count * nodes.map_slots)).sum();
    let mut parts = [Part::default(); 2];
    for (i, pair) in series.t_s.windows(2).enumerate() {
        let (span, middle) = (pair[1] - pair[0], (pair[0] + pair[1]) / 2.0);
        let before = course.partition_point(|(at, ..)| *at <= middle).checked_sub(1);
        let (waits, running) = before.map_or((false, 0), |last| (course[last].1, course[last].2));
        let part = &mut parts[usize::from(!waits)];
        let busy =
            series.nodes.iter().zip(&cores).map(|(node, cores)| node.cpu_busy[i + 1] * cores);
        let bytes = |of: fn(&meed_sim::record::mapreduce::NodeSeries) -> &[u64]| -> f64 {
            series.nodes.iter().map(|node| of(node)[i + 1] as f64).sum()
        };
        part.of_time += span;
        part.held += span * running as f64 / all_slots;
        part.cores += span * busy.sum::<f64>() / all_cores;
        part.disks += span * bytes(|node| &node.disk_bytes_per_s) / there_is.disk_bytes_per_s;
        part.cards += span * bytes(|node| &node.network_bytes_per_s) / there_is.network_bytes_per_s;
    }
    let end: f64 = parts.iter().map(|part| part.of_time).sum();
    parts.map(|part| {
        let mean = |sum: f64| if part.of_time > 0.0 { sum / part.of_time } else { 0.0 };
        Part {
            of_time: part.of_time / end,
            held: mean(part.held),
            cores: mean(part.cores),
            disks: mean(part.disks),
            cards: mean(part.cards),
        }
    })
}

/// A world under all rules, Hadoop's first, with what was seen of each.
fn runs(world: &World, seed: u64) -> Result<Vec<(Run, Seen)>, ReproduceError> {
    let choices: Vec<Choice> = std::iter::once(HADOOP).chain(CLASS_AWARE).collect();
    cores::map(&choices, |choice| {
        let traced = world.traced(choice, seed)?;
        let seen = Seen::of(world, &traced);
        Ok((traced.run, seen))
    })
}

/// The item.
pub(in super::super) fn trace(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = ItemOutcome::default();
    let (mut when, mut choices, mut causes) = (Vec::new(), Vec::new(), Vec::new());
    for (number, cause) in CAUSES.iter().enumerate() {
        for world in worlds(cause) {
            let runs = runs(&world, context.first_seed)?;
            causes.push(of_cause(cause, &world, &runs));
            if number == 0 {
                outcome.checks.extend(checks(&world, &runs[0].1));
                when.extend(of_times(&world, &runs[0].1));
                choices.extend(of_choices(&world, &runs));
            }
        }
    }
    outcome.blocks = vec![
        table("What is used when, under Hadoop's rule, in percent of all there is", &WHEN, when),
        table(
            "What choosing by class changes, against Hadoop's rule, in percent",
            &CHOSEN,
            choices,
        ),
        table("Where causes are varied, in percent", &VARIED, causes),
    ];
    outcome.assumptions.push(format!(
        "All as for jas-fig8, but one run of three requests with seed {}. Out of turn: a job that \
         came earlier had maps waiting. Busiest: of cores, disks, cards, and map slots as far as \
         maps would hold them alone. Room: the part of the time in which maps wait, times what \
         the busiest leaves then.",
        context.first_seed
    ));
    Ok(outcome)
}

fn checks(world: &World, hadoop: &Seen) -> [Check; 2] {
    let (name, busy) = hadoop.busiest();
    let percent = |part: f64| Measured::Number { value: 100.0 * part, unit: "%".to_owned() };
    [
        Check::beyond(
            format!(
                "{}: part of the time in which a map waits, so that a rule chooses",
                world.label
            ),
            percent(hadoop.parts[0].of_time),
            "Hadoop's rule, one run; in the rest of the time no rule has anything to choose",
        ),
        Check::beyond(
            format!("{}: room for a rule", world.label),
            percent(hadoop.room()),
            &format!(
                "that part times what the busiest leaves meanwhile: {name}, {:.0} %",
                100.0 * busy
            ),
        ),
    ]
}

const WHEN: [&str; 7] =
    ["environment", "while", "of the time", "map slots held", "cores", "disks", "cards"];

fn of_times(world: &World, hadoop: &Seen) -> Vec<Vec<Cell>> {
    let row = |(words, part): (&str, &Part)| {
        let numbers = [part.of_time, part.held, part.cores, part.disks, part.cards];
        let words = [world.label, words].map(|words| Cell::Text(words.to_owned()));
        words.into_iter().chain(numbers.map(percent)).collect()
    };
    ["maps wait", "no map waits"].into_iter().zip(&hadoop.parts).map(row).collect()
}

const CHOSEN: [&str; 6] = [
    "environment",
    "rule",
    "maps out of turn",
    "such a map takes longer by",
    "of the time maps wait",
    "less time of a request",
];

fn of_choices(world: &World, runs: &[(Run, Seen)]) -> Vec<Vec<Cell>> {
    let (hadoop, plain) = &runs[0];
    let row = |(choice, (run, seen)): (&Choice, &(Run, Seen))| {
        vec![
            Cell::Text(world.label.to_owned()),
            Cell::Text(choice.name.to_owned()),
            percent(seen.out_of_turn as f64 / seen.maps.max(1) as f64),
            seen.longer_than(plain).map_or(Cell::Empty, percent),
            percent(seen.parts[0].of_time),
            percent(run.better_than(hadoop) / 100.0),
        ]
    };
    CLASS_AWARE.iter().zip(&runs[1..]).map(row).collect()
}

const VARIED: [&str; 10] = [
    "cause",
    "environment",
    "Hadoop, s a request",
    "maps wait",
    "busiest meanwhile",
    "room",
    "DMR saves",
    "JAS saves",
    "JASL saves",
    "DJASL saves",
];

fn of_cause(cause: &Variant, world: &World, runs: &[(Run, Seen)]) -> Vec<Cell> {
    let (hadoop, seen) = &runs[0];
    let (name, busy) = seen.busiest();
    let first = [
        Cell::Text(cause.name.to_owned()),
        Cell::Text(world.label.to_owned()),
        Cell::Number(tenths(hadoop.request_s())),
        percent(seen.parts[0].of_time),
        Cell::Text(format!("{name}, {:.0}", 100.0 * busy)),
        percent(seen.room()),
    ];
    let saved = runs[1..].iter().map(|(run, _)| percent(run.better_than(hadoop) / 100.0));
    first.into_iter().chain(saved).collect()
}

fn percent(part: f64) -> Cell {
    Cell::Number(tenths(100.0 * part))
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Block {
    Block::Table(Table {
        caption: caption.to_owned(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows,
    })
}

#[cfg(test)]
mod tests {
    use meed_journal::Record;

    use super::*;

    /// Two jobs of two maps on two slots: the second job's first map starts before the first job's
    /// second, and takes 3 s.
    #[test]
    fn maps_out_of_turn() {
        let groups = r#""groups":[{"tasks":2,"demand":{"map":1.0}}]"#;
        let arrive = |job: u32| {
            format!(r#"{{"seq":{job},"t":0.0,"arrive":{{"queue":"a","job":{job},{groups}}}}}"#)
        };
        let lines = [
            r#"{"seq":2,"t":1.0,"start":{"queue":"a","job":0,"task":0,"node":"n"}}"#,
            r#"{"seq":3,"t":1.0,"start":{"queue":"a","job":1,"task":0,"node":"n"}}"#,
            r#"{"seq":4,"t":3.0,"end":{"job":0,"task":0}}"#,
            r#"{"seq":5,"t":3.0,"start":{"queue":"a","job":0,"task":1,"node":"n"}}"#,
            r#"{"seq":6,"t":4.0,"end":{"job":1,"task":0}}"#,
            r#"{"seq":7,"t":4.0,"start":{"queue":"a","job":1,"task":1,"node":"n"}}"#,
            r#"{"seq":8,"t":4.0,"start":{"queue":"a","job":0,"task":2,"node":"n"}}"#,
            r#"{"seq":9,"t":9.0,"end":{"job":0,"task":1}}"#,
        ];
        let mut maps = Maps::default();
        for line in [0, 1].map(arrive).into_iter().chain(lines.map(str::to_owned)) {
            let record = Record::decode(line.as_bytes()).expect("a record");
            maps.hear(record.t.as_secs_f64(), &record.fact);
        }
        assert_eq!((maps.out_of.as_slice(), maps.out_s), (&[1][..], 3.0));
        assert_eq!((maps.seconds, maps.counts), (vec![8.0, 3.0], vec![2, 1]));
        // The third task of the first job is a reduce: nothing waits, and two maps run until 9 s.
        assert_eq!(maps.course.last(), Some(&(9.0, false, 1)));
        assert_eq!(maps.course.iter().find(|(_, waits, _)| !waits).map(|at| at.0), Some(4.0));
    }
}
