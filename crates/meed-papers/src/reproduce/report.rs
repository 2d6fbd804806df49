//! Measured items as pages and as JSON.

use std::time::Duration;

use meed_report::page::{Badge, Block, Cell, Page, Section, Table, Tone};
use serde::Serialize;

use super::standing::{Standing, UnderFacts};
use super::{Check, Context, Item, ItemOutcome, Measured, Verdict};

/// An item with what came out.
pub type Done = (&'static Item, ItemOutcome);

/// What an item has cost. Only the terminal shows it: it differs from run to run.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The item.
    pub item: &'static str,
    /// Of processors.
    pub cost: Duration,
}

/// Version of the JSON form (docs/json.md).
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    seeds: u64,
    first_seed: u64,
    items: Vec<JsonItem<'a>>,
}

#[derive(Serialize)]
struct JsonItem<'a> {
    id: &'a str,
    title: &'a str,
    source: &'a str,
    verdict: Verdict,
    checks: &'a [Check],
    assumptions: &'a [String],
}

/// One line of JSON with everything but the charts.
pub fn to_json(done: &[Done], context: &Context) -> String {
    let items = done.iter().map(|(item, outcome)| JsonItem {
        id: item.id,
        title: item.title,
        source: item.source,
        verdict: outcome.verdict(),
        checks: &outcome.checks,
        assumptions: &outcome.assumptions,
    });
    let json = Json {
        schema: SCHEMA,
        seeds: context.seeds,
        first_seed: context.first_seed,
        items: items.collect(),
    };
    // Numbers that are not finite become null; nothing else can go wrong with plain records.
    serde_json::to_string(&json).unwrap_or_default() + "\n"
}

/// What the terminal shows: a row for each check, then the reasons, then what it has cost.
pub fn summary_page(done: &[Done], costs: &[Cost], context: &Context) -> Page {
    let rows = done.iter().flat_map(|(item, outcome)| {
        outcome.checks.iter().enumerate().map(move |(number, check)| {
            let id = if number == 0 { item.id } else { "" };
            std::iter::once(Cell::Text(id.to_owned())).chain(cells(check)).collect()
        })
    });
    let table = Table {
        caption: String::new(),
        columns: ["item", "what", "paper", "measured", "verdict"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    };
    let mut sections = vec![Section {
        id: "all".to_owned(),
        title: "Papers and measurements".to_owned(),
        blocks: vec![Block::Table(table)],
        ..Section::default()
    }];
    sections.extend(under_facts(done));
    let differing: Vec<Block> =
        done.iter().flat_map(|(item, outcome)| differences(item, outcome)).collect();
    if !differing.is_empty() {
        sections.push(Section {
            id: "differ".to_owned(),
            title: "What differs, and why".to_owned(),
            blocks: differing,
            ..Section::default()
        });
    }
    sections.extend(cost_of_items(costs));
    Page {
        title: "Reproduction".to_owned(),
        lead: lead(done, context),
        sections,
        ..Page::default()
    }
}

/// A line for each claim that comes out under facts only; `None`: none does.
fn under_facts(done: &[Done]) -> Option<Section> {
    let line = |claim: &UnderFacts<'_>| {
        Block::Text(format!("{}, {}: {}.", claim.item, claim.claim, claim.facts.join("; ")))
    };
    let blocks: Vec<Block> = Standing::of(done).under.iter().map(line).collect();
    (!blocks.is_empty()).then(|| Section {
        id: "under".to_owned(),
        title: "What comes out under a stated fact".to_owned(),
        blocks,
        ..Section::default()
    })
}

/// A row for each item and their sum; nothing where it is not known.
fn cost_of_items(costs: &[Cost]) -> Option<Section> {
    let row = |name: &str, cost: Duration| {
        vec![Cell::Text(name.to_owned()), Cell::Text(format!("{:.1}", cost.as_secs_f64()))]
    };
    let mut rows: Vec<_> = costs.iter().map(|cost| row(cost.item, cost.cost)).collect();
    rows.push(row("all", costs.iter().map(|cost| cost.cost).sum()));
    let table = Table {
        caption: "Processor time; runs that several items read count where they are first made"
            .to_owned(),
        columns: ["item", "s"].map(str::to_owned).to_vec(),
        rows,
    };
    (!costs.is_empty()).then(|| Section {
        id: "cost".to_owned(),
        title: "What it has cost".to_owned(),
        blocks: vec![Block::Table(table)],
        ..Section::default()
    })
}

fn differences(item: &Item, outcome: &ItemOutcome) -> Vec<Block> {
    let differ = outcome.checks.iter().filter(|check| check.verdict == Verdict::Differs);
    let words = |check: &Check| {
        let reason = check.reason.as_deref().unwrap_or("no reason known");
        Block::Text(format!("{}, {}: {reason}.", item.id, check.what))
    };
    differ.map(words).collect()
}

/// The report: a section for each item, with its charts.
pub fn page(done: &[Done], context: &Context) -> Page {
    let section = |(item, outcome): &Done| Section {
        id: item.id.to_owned(),
        title: format!("{}: {}", item.source, item.title),
        badge: Some(badge(outcome.verdict())),
        blocks: blocks(outcome),
    };
    Page {
        title: "The papers, reproduced".to_owned(),
        lead: lead(done, context),
        sections: under_facts(done).into_iter().chain(done.iter().map(section)).collect(),
        ..Page::default()
    }
}

fn blocks(outcome: &ItemOutcome) -> Vec<Block> {
    let row = |check: &Check| {
        let reason = check.reason.clone().map_or(Cell::Empty, Cell::Text);
        cells(check).into_iter().chain([reason]).collect()
    };
    let table = Table {
        caption: "What the paper says, and what came out".to_owned(),
        columns: ["what", "paper", "measured", "verdict", "bounds, or likely reason"]
            .map(str::to_owned)
            .to_vec(),
        rows: outcome.checks.iter().map(row).collect(),
    };
    let notes =
        outcome.assumptions.iter().map(|assumed| Block::Note(format!("Assumed: {assumed}")));
    std::iter::once(Block::Table(table)).chain(outcome.blocks.clone()).chain(notes).collect()
}

/// How many claims come out, and how.
pub(super) fn counts(done: &[Done]) -> [(&'static str, usize); 6] {
    let standing = Standing::of(done);
    let come_out = standing.same + standing.agree;
    [
        ("all", come_out + standing.under.len() + standing.differ),
        ("come out", come_out),
        ("of these to the digit", standing.same),
        ("come out under a stated fact, or with one assumption varied", standing.under.len()),
        ("come out under nothing that was tried", standing.differ),
        ("not measured: a trace is missing", standing.skipped),
    ]
}

fn lead(done: &[Done], context: &Context) -> Vec<String> {
    let standing = Standing::of(done);
    let mut lead = vec![format!(
        "{} claims of the papers: {} come out, {} of them to the digit; {} come out under a \
         stated fact of the environment, or with one assumption varied; {} come out under nothing \
         that was tried.{} What no paper \
         reports is measured besides.",
        standing.same + standing.agree + standing.under.len() + standing.differ,
        standing.same + standing.agree,
        standing.same,
        standing.under.len(),
        standing.differ,
        match standing.skipped {
            0 => String::new(),
            skipped => format!(" {skipped} were skipped because a trace file is missing."),
        },
    )];
    lead.push(format!("Random workloads: {} seeds from {} on.", context.seeds, context.first_seed));
    lead
}

fn cells(check: &Check) -> [Cell; 4] {
    [
        Cell::Text(check.what.clone()),
        Cell::Text(check.paper.clone()),
        Cell::Text(check.measured.words()),
        Cell::Badge(badge(check.verdict)),
    ]
}

pub(super) fn badge(verdict: Verdict) -> Badge {
    let (word, tone) = match verdict {
        Verdict::Skipped => ("not measured", Tone::Plain),
        Verdict::Measured => ("measured", Tone::Plain),
        Verdict::Given => ("no claim", Tone::Plain),
        Verdict::Same => ("same", Tone::Good),
        Verdict::Agrees => ("agrees", Tone::Good),
        Verdict::Differs => ("differs", Tone::Warn),
    };
    Badge { word: word.to_owned(), tone }
}

impl Measured {
    /// For people.
    pub fn words(&self) -> String {
        let with = |unit: &str| if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match self {
            Measured::Words(words) => words.clone(),
            Measured::Number { value, unit } => format!("{}{}", number(*value), with(unit)),
            Measured::Spread(spread) => {
                let [low, _, median, _, high] = spread.five.map(number);
                format!(
                    "{median}{} ({low} to {high}); in {} of {} runs",
                    with(&spread.unit),
                    spread.agreeing,
                    spread.runs
                )
            }
        }
    }
}

/// About four digits.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 1000.0 || value == value.trunc() => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}
