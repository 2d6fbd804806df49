//! What came out, as a table: the simulator's runs and the ResourceManager's, by the same formulas
//! (docs/simulator.md). All figures are read off what `meed simulate` and `meed replay` wrote.

use std::path::Path;

use serde_json::Value;

use super::RUNS;
use super::figures::{self, World};

/// Sharing loss smaller than this is none, as in `meed reproduce tsc-fig7`.
const NO_LOSS: f64 = -0.01;

/// A run that was measured.
struct Column {
    name: String,
    run: Value,
}

/// What a row shows of a run, given the static partition of its world.
type Show = fn(&Value, Option<&Value>, usize) -> Option<f64>;

pub(super) fn of(folder: &Path) -> Result<String, String> {
    let load = |name: &str| -> Result<Vec<Value>, String> {
        let text = super::read(&folder.join(name))?;
        let value: Value = serde_json::from_str(&text).map_err(|why| format!("{name}: {why}"))?;
        Ok(value["runs"].as_array().cloned().unwrap_or_default())
    };
    let mut columns = Vec::new();
    for run in load("simulated.json")? {
        let name = run["policy"].as_str().unwrap_or_default();
        columns.push(Column { name: format!("simulator, {name}"), run });
    }
    let simulated = columns.len();
    for run in &RUNS {
        // What was not run this time may be there from before.
        let runs = load(&format!("{}.json", run.name)).unwrap_or_default();
        let name = format!("YARN, {}", run.name);
        columns.extend(runs.into_iter().next().map(|run| Column { name, run }));
    }
    let run =
        |name: &str| columns.iter().find(|column| column.name == name).map(|column| &column.run);
    let world = |name, alone: &str, fair: &str, long_term: &str| World {
        name,
        alone: run(alone),
        fair: run(fair),
        long_term: run(long_term),
    };
    let worlds = [
        world("simulator", "simulator, static", "simulator, fair", "simulator, long-term"),
        world("YARN", "YARN, static", "YARN, fair", "YARN, long-term"),
        world("YARN, again", "YARN, static", "YARN, fair-again", "YARN, long-term-again"),
    ];
    Ok(format!("{}\n{}", render(&columns, simulated), figures::table(&worlds)))
}

fn render(columns: &[Column], simulated: usize) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let queues = &columns[0].run["queues"];
    let queue = |i: usize| queues[i]["queue"].as_str().unwrap_or_default().to_owned();
    let rows: [(&str, bool, Show); 9] = [
        ("end, s", false, |run, _, _| run["end_s"].as_f64()),
        ("Omega, mean until the end", false, |run, _, _| mean(&run["series"]["omega"])),
        ("least Omega after 10 min", false, |run, _, _| least(run, 600.0)),
        ("last instant with sharing loss, s", false, |run, _, _| last_loss(run)),
        ("Psi at the end", false, |run, _, _| run["psi"].as_f64()),
        ("rho of", true, |run, _, i| run["queues"][i]["rho"].as_f64()),
        ("mean job time, s, of", true, |run, _, i| run["queues"][i]["mean_job_s"].as_f64()),
        ("jobs' speed-up over static of", true, |run, alone, i| {
            let time = |run: &Value| run["queues"][i]["mean_job_s"].as_f64();
            Some(time(alone?)? / time(run)?)
        }),
        ("rho after 10 min of", true, |run, _, i| at(run, i, 600.0)),
    ];
    for (what, by_queue, show) in rows {
        for i in 0..if by_queue { queues.as_array().map_or(0, Vec::len) } else { 1 } {
            let of = if by_queue { format!("{what} {}", queue(i)) } else { what.to_owned() };
            let cell = |(number, column): (usize, &Column)| {
                let first = if number < simulated { 0 } else { simulated };
                let alone = columns.get(first).filter(|alone| alone.name.ends_with("static"));
                let value = show(&column.run, alone.map(|alone| &alone.run), i);
                value.map_or(String::new(), short)
            };
            let cells: Vec<String> = columns.iter().enumerate().map(cell).collect();
            text += &format!("| {of} | {} |\n", cells.join(" | "));
        }
    }
    text
}

fn short(value: f64) -> String {
    match value.abs() >= 100.0 {
        true => format!("{value:.0}"),
        false => format!("{value:.3}"),
    }
}

pub(super) fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().map(|value| value.as_f64().unwrap_or(0.0)).collect()
}

pub(super) fn mean(values: &Value) -> Option<f64> {
    let values = numbers(values);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn omega(run: &Value) -> impl Iterator<Item = (f64, f64)> {
    let series = &run["series"];
    numbers(&series["t_s"]).into_iter().zip(numbers(&series["omega"]))
}

fn least(run: &Value, from: f64) -> Option<f64> {
    omega(run).filter(|(t, _)| *t >= from).map(|(_, omega)| omega).reduce(f64::min)
}

pub(super) fn last_loss(run: &Value) -> Option<f64> {
    let lost = omega(run).filter(|(_, omega)| *omega < NO_LOSS).map(|(t, _)| t);
    Some(lost.last().unwrap_or(0.0))
}

/// rho of a workload so far at an instant.
fn at(run: &Value, queue: usize, when: f64) -> Option<f64> {
    let series = &run["series"];
    let times = numbers(&series["t_s"]);
    let place = times.iter().position(|t| *t >= when)?;
    series["queues"][queue]["rho"][place].as_f64()
}
