//! The answer for people: what to choose and how sure that is, all candidates, and the setting in
//! the words of each scheduler. One description for terminal and report, and JSON for programs.

use meed_report::page::{Badge, Block, Cell, Page, Section, SpreadChart, SpreadRow, Table, Tone};
use serde_json::{Value, json};

use super::aims::{FIGURES, Figure};
use super::choice::{Advice, Candidate, LEAST, Observed};
use super::memory::Remembers;
use super::settings::SCHEDULERS;
use super::{BASELINE, Question};
use crate::sweep::Results;
use crate::sweep::page::capital;
use crate::sweep::summary::quantile;

/// The answer, for the terminal; with `results` also charts, for a report. `notes` are what the
/// input does not hold and was assumed.
pub fn page(
    question: &Question,
    advice: &Advice,
    results: Option<&Results>,
    notes: &[String],
) -> Page {
    let view = View { question, advice };
    let mut sections = vec![view.candidates(), view.settings()];
    sections.extend(results.map(|results| view.charts(results)));
    let mut lead = view.lead();
    lead.extend(view.incidents());
    // The loads are said already, all of them.
    let notes = notes.iter().filter(|note| !note.starts_with("load "));
    lead.extend(notes.map(|note| format!("Assumed: {note}")));
    // Where the log lies is nobody's business who reads the page.
    let file = question.grid().file.as_path();
    let name = file.file_name().map_or(file.as_os_str(), |name| name).to_string_lossy();
    Page { title: format!("A setting for {name}"), lead, sections }
}

/// The answer as JSON (docs/advise.md).
pub fn to_json(question: &Question, advice: &Advice) -> String {
    let view = View { question, advice };
    let figure = |figure: &Option<Observed>| match figure {
        Some(of) => json!({
            "mean": of.mean, "least": of.least, "most": of.most, "ratio": of.ratio,
        }),
        None => Value::Null,
    };
    let candidate = |one: &Candidate| {
        let figures: serde_json::Map<String, Value> = FIGURES
            .iter()
            .zip(&one.figures)
            .map(|(row, of)| (row.name.to_owned(), figure(of)))
            .collect();
        json!({
            "policy": one.policy, "figures": figures, "beyond": one.beyond,
            "as_good": one.as_good, "gains": one.gains,
        })
    };
    let settings: Vec<Value> = view.memory().map_or_else(Vec::new, |memory| {
        let setting = |row: &super::settings::Scheduler| {
            let setting = row.setting(memory);
            json!({
                "scheduler": row.name, "where": row.file, "lines": setting.lines,
                "remark": setting.remark,
            })
        };
        SCHEDULERS.iter().map(setting).collect()
    });
    let aims = question.aims();
    let bounds: serde_json::Map<String, Value> = aims
        .bounds
        .iter()
        .map(|bound| (bound.figure.name.to_owned(), (f64::from(bound.ratio) / 1000.0).into()))
        .collect();
    let whole = json!({
        "schema": 1,
        "baseline": BASELINE,
        "aim": aims.aim.name,
        "at_most": bounds,
        "replicates": advice.replicates,
        "unchecked": advice.unchecked,
        "chosen": advice.candidates[advice.chosen].policy,
        "candidates": advice.candidates.iter().map(candidate).collect::<Vec<_>>(),
        "settings": settings,
    });
    whole.to_string() + "\n"
}

struct View<'a> {
    question: &'a Question,
    advice: &'a Advice,
}

/// A unit for all values of one figure.
struct Scale {
    divisor: f64,
    unit: &'static str,
}

impl Scale {
    fn of(figure: &Figure, baseline: Option<&Observed>) -> Scale {
        let size = baseline.map_or(0.0, |of| of.mean);
        let (divisor, unit) = match (figure.is_time, size) {
            (false, _) => (1.0, ""),
            (true, size) if size >= 3600.0 => (3600.0, "h"),
            (true, size) if size >= 60.0 => (60.0, "min"),
            (true, _) => (1.0, "s"),
        };
        Scale { divisor, unit }
    }

    fn words(&self, value: f64) -> String {
        let number = rounded(value / self.divisor);
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }
}

/// Three digits, as people read figures.
fn rounded(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A ratio to the baseline as a change: `-64 %`.
fn change(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}

impl View<'_> {
    fn chosen(&self) -> &Candidate {
        &self.advice.candidates[self.advice.chosen]
    }

    fn memory(&self) -> Option<Remembers> {
        let (scenario, words) = (self.question.grid().scenarios.first()?, &self.chosen().policy);
        // One that has a name of its own is known to the scenario alone.
        let named = || scenario.root_policy(words).map(|policy| Remembers::of_policy(&policy));
        Remembers::of(words, scenario.kinds()).or_else(named)
    }

    fn figure<'a>(&self, of: &'a Candidate, figure: &Figure) -> Option<&'a Observed> {
        let at = FIGURES.iter().position(|row| row.name == figure.name)?;
        of.figures.get(at)?.as_ref()
    }

    /// The aim, then the bounds.
    fn shown(&self) -> impl Iterator<Item = &'static Figure> {
        let aims = self.question.aims();
        std::iter::once(aims.aim).chain(aims.bounds.iter().map(|bound| bound.figure))
    }

    fn scale(&self, figure: &Figure) -> Scale {
        Scale::of(figure, self.figure(&self.advice.candidates[0], figure))
    }

    fn lead(&self) -> Vec<String> {
        let (aims, seeds) = (self.question.aims(), self.question.grid().seeds.len());
        let loads = self.question.loads();
        let bounds: Vec<String> = aims
            .bounds
            .iter()
            .map(|bound| {
                let ratio = rounded(f64::from(bound.ratio) / 1000.0);
                format!("the {} at most {ratio} times that under {BASELINE}", bound.figure.title)
            })
            .collect();
        let bounds = match bounds.is_empty() {
            true => String::new(),
            false => format!(", with {}", bounds.join(" and ")),
        };
        let asked = format!(
            "Wanted: the {} as small as can be{bounds}. Each candidate was run at {loads} loads{}.",
            aims.aim.title,
            if seeds > 1 { format!(" and {seeds} seeds") } else { String::new() }
        );
        let missing = &self.advice.unchecked;
        let unchecked = (!missing.is_empty()).then(|| {
            let names = missing.join(", ");
            format!("No bound was looked at on {names}: the log has no such figure.")
        });
        [self.verdict(), asked].into_iter().chain(unchecked).collect()
    }

    fn verdict(&self) -> String {
        let (aim, chosen) = (self.question.aims().aim, self.chosen());
        let base = self.figure(&self.advice.candidates[0], aim);
        if self.advice.chosen == 0 {
            let nobody = base.is_some_and(|base| base.mean == 0.0);
            let why = match nobody {
                true => format!("the {} is 0 already", aim.title),
                false if self.advice.replicates < LEAST => format!(
                    "nothing can be told apart from chance by fewer than {LEAST} runs; more \
                     --loads or --seeds can"
                ),
                false => format!(
                    "no candidate within the bounds has a smaller {} at each of {} runs",
                    aim.title, self.advice.replicates
                ),
            };
            return format!("Keep {BASELINE}: {why}.");
        }
        let scale = self.scale(aim);
        let mut words = format!("Choose {}.", chosen.policy);
        if let (Some(own), Some(base)) = (self.figure(chosen, aim), base) {
            let percent = own.ratio.map(|ratio| format!(" ({})", change(ratio)));
            words += &format!(
                " The {} is {} instead of {} under {BASELINE}{}; it is smaller at each of {} runs.",
                aim.title,
                scale.words(own.mean),
                scale.words(base.mean),
                percent.unwrap_or_default(),
                self.advice.replicates
            );
        }
        let good = |one: &&Candidate| one.as_good && one.policy != chosen.policy;
        let others = self.advice.candidates.iter().filter(good);
        let others: Vec<&str> = others.map(|one| one.policy.as_str()).collect();
        if !others.is_empty() {
            words += &format!(" As good, within chance: {}.", others.join("; "));
        }
        words
    }

    fn incidents(&self) -> Option<String> {
        let [skipped, refused, unfinished] = self.advice.incidents;
        let count = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let all: Vec<String> = [
            count(skipped, "lines were skipped"),
            count(refused, "jobs were refused"),
            count(unfinished, "jobs were unfinished at the end"),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!all.is_empty()).then(|| format!("At most, in one run: {}.", all.join(", ")))
    }

    fn candidates(&self) -> Section {
        let mut columns = vec!["policy".to_owned()];
        for figure in self.shown() {
            let unit = self.scale(figure).unit;
            let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
            columns.push(format!("{}{unit}", figure.name));
            columns.push(format!("{} against {BASELINE}", figure.name));
        }
        columns.push("verdict".to_owned());
        let table = Table {
            caption: format!(
                "{}. Means over {} runs, in brackets the smallest and the largest",
                self.shown()
                    .map(|figure| format!("{}: {}", figure.name, figure.title))
                    .collect::<Vec<_>>()
                    .join("; "),
                self.advice.replicates
            ),
            columns,
            rows: (0..self.advice.candidates.len()).map(|at| self.row(at)).collect(),
        };
        Section {
            id: "candidates".to_owned(),
            title: "All candidates".to_owned(),
            badge: None,
            blocks: vec![Block::Table(table)],
        }
    }

    fn row(&self, at: usize) -> Vec<Cell> {
        let one = &self.advice.candidates[at];
        let mut cells = vec![Cell::Text(one.policy.clone())];
        for figure in self.shown() {
            let scale = self.scale(figure);
            let number = |value: f64| rounded(value / scale.divisor);
            let of = self.figure(one, figure);
            cells.push(of.map_or(Cell::Empty, |of| {
                let range = format!("{} to {}", number(of.least), number(of.most));
                Cell::Text(format!("{} ({range})", number(of.mean)))
            }));
            let ratio = of.and_then(|of| of.ratio).filter(|_| at > 0);
            cells.push(ratio.map_or(Cell::Empty, |ratio| Cell::Text(change(ratio))));
        }
        cells.push(Cell::Badge(self.badge(at)));
        cells
    }

    fn badge(&self, at: usize) -> Badge {
        let one = &self.advice.candidates[at];
        let badge = |word: &str, tone| Badge { word: word.to_owned(), tone };
        match one {
            _ if at == self.advice.chosen => badge("chosen", Tone::Good),
            _ if at == 0 => badge("compared with", Tone::Plain),
            _ if !one.beyond.is_empty() => {
                badge(&format!("{} beyond its bound", one.beyond.join(", ")), Tone::Bad)
            }
            _ if one.as_good => badge("as good", Tone::Plain),
            _ => badge("worse", Tone::Warn),
        }
    }

    fn settings(&self) -> Section {
        let blocks = match self.memory() {
            None => vec![Block::Note(format!(
                "{} is a policy of the scenario: its memory is told by the scenario alone.",
                self.chosen().policy
            ))],
            Some(memory) => {
                let rows = SCHEDULERS.iter().map(|row| {
                    let setting = row.setting(memory);
                    vec![
                        Cell::Text(row.name.to_owned()),
                        Cell::Text(row.file.to_owned()),
                        setting
                            .lines
                            .map_or(Cell::Empty, |lines| Cell::Text(lines.replace('\n', "; "))),
                        match setting.remark.is_empty() {
                            true => Cell::Empty,
                            false => Cell::Text(setting.remark),
                        },
                    ]
                });
                let table = Table {
                    caption: "The same memory, as each scheduler calls it".to_owned(),
                    columns: ["scheduler", "where", "write", "remark"].map(str::to_owned).to_vec(),
                    rows: rows.collect(),
                };
                let note = "The figures above are Meed's. Another scheduler that remembers as long \
                            may order by it in another way.";
                vec![Block::Table(table), Block::Note(note.to_owned())]
            }
        };
        Section {
            id: "settings".to_owned(),
            title: "What to write".to_owned(),
            badge: None,
            blocks,
        }
    }

    /// How each figure spreads over the replicates, a row for each candidate.
    fn charts(&self, results: &Results) -> Section {
        let chart = |figure: &'static Figure| {
            let scale = self.scale(figure);
            let row = |one: &Candidate| {
                let mut values = super::choice::replicates(results, &one.policy, figure.column);
                values.sort_by(f64::total_cmp);
                let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&values, q));
                let [Some(a), Some(b), Some(c), Some(d), Some(e)] = five else { return None };
                let five = [a, b, c, d, e].map(|value| value / scale.divisor);
                Some(SpreadRow { label: one.policy.clone(), five, reference: None })
            };
            let unit = if scale.unit.is_empty() { "tenants" } else { scale.unit };
            Block::Spreads(SpreadChart {
                title: capital(figure.title),
                caption: format!("Over {} runs: range, quartiles, median.", self.advice.replicates),
                x: format!("{} [{unit}]", figure.title),
                rows: self.advice.candidates.iter().filter_map(row).collect(),
            })
        };
        Section {
            id: "spread".to_owned(),
            title: "How sure is it?".to_owned(),
            badge: None,
            blocks: self.shown().map(chart).collect(),
        }
    }
}
