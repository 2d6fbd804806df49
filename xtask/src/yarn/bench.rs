//! `cargo xtask yarn bench`: what the plug-in costs, measured in the real Fair Scheduler by
//! `CostBench`, which leaves its figures in a file; here they become tables, or data.

use std::fs;

use serde_json::Value;

use crate::tools::root;

/// What is asked for: the table or data, and which of the two measurements.
pub(super) struct Asked {
    json: bool,
    pub(super) tests: &'static str,
}

impl Asked {
    pub(super) fn read(args: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut asked = Asked { json: false, tests: "CostBench" };
        for word in args {
            match word.as_str() {
                "--json" => asked.json = true,
                "assignments" => asked.tests = "CostBench#besideStockFair",
                "ticks" => asked.tests = "CostBench#aTick",
                other => {
                    return Err(format!(
                        "yarn bench knows assignments, ticks and --json, not \"{other}\""
                    ));
                }
            }
        }
        Ok(asked)
    }
}

/// Where the measurement leaves its figures: a line of JSON each.
fn file() -> std::path::PathBuf {
    root().join("target/yarn/bench.jsonl")
}

/// Runs it by `maven`, given what is asked of Maven, and prints what it found.
pub(super) fn run(
    asked: &Asked,
    maven: impl FnOnce(&[&str]) -> Result<(), String>,
) -> Result<(), String> {
    let file = file();
    let named = |why: std::io::Error| format!("{}: {why}", file.display());
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(named)?;
    fs::write(&file, "").map_err(named)?;
    let (tests, to) =
        (format!("-Dtest={}", asked.tests), format!("-Dmeed.bench.file={}", file.display()));
    maven(&["test", &tests, &to])?;
    let text = fs::read_to_string(&file).map_err(named)?;
    let rows: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let rows = rows.map_err(|why| format!("{}: {why}", file.display()))?;
    if rows.is_empty() {
        return Err(format!("{}: nothing was measured", file.display()));
    }
    crate::say(&match asked.json {
        true => Value::Array(rows).to_string(),
        false => tables(&rows),
    });
    Ok(())
}

fn tables(rows: &[Value]) -> String {
    let of = |kind: &str| rows.iter().filter(|row| row["measured"] == kind).collect::<Vec<_>>();
    let (assignments, ticks) = (of("assignment"), of("tick"));
    let mut lines = Vec::new();
    if !assignments.is_empty() {
        lines.push("A NODE_UPDATE that assigns a container: best (median), in turn".to_owned());
        lines.push(columns(&["queues", "stock, us", "ours, us", "best by best", "pairs"]));
        lines.extend(assignments.into_iter().map(assignment));
    }
    if !ticks.is_empty() {
        lines.push("A tick: best (median)".to_owned());
        lines.push(columns(&["queues", "ms", "rows told", "what happens"]));
        lines.extend(ticks.into_iter().map(tick));
    }
    lines.join("\n")
}

fn columns(words: &[&str]) -> String {
    let padded: Vec<String> = words.iter().map(|word| format!("{word:>18}")).collect();
    padded.concat()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}

fn spread(row: &Value, whose: &str, unit: f64, digits: usize) -> String {
    let of = |what: &str| number(row, &format!("{whose}{what}_ns")) / unit;
    format!("{:.digits$} ({:.digits$})", of("best"), of("median"))
}

fn assignment(row: &Value) -> String {
    let ratio = number(row, "ours_best_ns") / number(row, "stock_best_ns");
    columns(&[
        &row["queues"].to_string(),
        &spread(row, "stock_", 1e3, 1),
        &spread(row, "ours_", 1e3, 1),
        &format!("{ratio:.2}"),
        &row["pairs"].to_string(),
    ])
}

fn tick(row: &Value) -> String {
    let what = row["what"].as_str().unwrap_or_default();
    let cells = [row["queues"].to_string(), spread(row, "", 1e6, 2), row["rows"].to_string()];
    format!("{}    {what}", columns(&cells.each_ref().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_tables() {
        let rows = [
            serde_json::json!({
                "measured": "assignment", "queues": 10, "stock_best_ns": 5000,
                "stock_median_ns": 6250, "ours_best_ns": 6000, "ours_median_ns": 9000, "pairs": 23,
            }),
            serde_json::json!({
                "measured": "tick", "queues": 10_000, "what": "nothing runs", "best_ns": 450_000,
                "median_ns": 490_000, "rows": 7,
            }),
        ];
        let text = tables(&rows);
        let words: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[2], ["10", "5.0", "(6.2)", "6.0", "(9.0)", "1.20", "23"]);
        assert_eq!(words[5], ["10000", "0.45", "(0.49)", "7", "nothing", "runs"]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let asked = |words: &[&str]| Asked::read(words.iter().map(|word| (*word).to_owned()));
        assert!(asked(&["ticks", "--json"]).is_ok_and(|asked| asked.json));
        let why = asked(&["tick"]).map(|_| ()).unwrap_err();
        assert!(why.contains("not \"tick\""), "{why}");
    }
}
