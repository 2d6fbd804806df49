//! The comparison for people and programs: one table, charts, who beats long-term fairness in what,
//! and JSON.

use meed_report::page::{
    Badge, Block, Cell, HeatMap, Page, Section, SpreadChart, SpreadRow, Table, Tone, capital,
};
use meed_sim::record::{COUNTED, assumed_cluster, counted_words};
use serde_json::{Map, Value, json};

use super::figures::{FIGURES, FigureUnit, Replicates, RivalFigure};
use super::liars::{LIES, Lied};
use super::windows::WINDOWS;
use super::{Contest, Fared};
use crate::gain::{FAIR, Gain, TOLD};

/// What the first table shows.
const SHOWN: [&str; 10] = [
    "gap_1d",
    "gap_30d",
    "unserved_s",
    "back_p95_s",
    "rho_min",
    "tenants_below",
    "light_wait_s",
    "heavy_wait_s",
    "mean_job_s",
    "used",
];

/// What the table of who beats whom tells.
const JUDGED: [&str; 19] = [
    "gap_1h",
    "gap_6h",
    "gap_1d",
    "gap_7d",
    "gap_30d",
    "worst_gap_1d",
    "worst_gap_30d",
    "unserved_s",
    "back_p50_s",
    "back_p95_s",
    "back_max_s",
    "rho_min",
    "tenants_below",
    "light_wait_s",
    "heavy_wait_s",
    "wide_wait_s",
    "mean_job_s",
    "p99_job_s",
    "used",
];

/// The page: for the terminal, or with `charts` for a report. `notes` are what the input does not
/// hold and was assumed.
pub fn page(contest: &Contest, all: &[Fared], charts: bool, notes: &[String]) -> Page {
    let name = contest.log.file_name().map_or(contest.log.as_os_str(), |name| name);
    let mut sections = vec![overview(contest, all)];
    sections.extend(gains(contest, all));
    sections.push(beaten(all));
    if all.iter().any(|one| !one.lies.is_empty()) {
        sections.push(lies(all));
    }
    if charts {
        sections.push(gaps(all));
        sections.push(waits(all));
    }
    sections.push(who(all));
    // What all figures rest on comes before them.
    let assumed = assumed_cluster(notes);
    let first = assumed.map(|note| format!("{}.", capital(note)));
    let mut lead: Vec<String> = first.into_iter().chain([lead(contest)]).collect();
    lead.extend(
        baseline(contest).map(|words| format!("Compared with {words}: as --baseline says.")),
    );
    lead.extend(counted_words(notes).map(|words| format!("{}.", capital(words))));
    let is_told = |note: &&String| note.starts_with(COUNTED) || Some(*note) == assumed;
    let assumed = notes.iter().filter(|note| !is_told(note)).cloned().collect();
    Page {
        title: format!("Rivals on {}", name.to_string_lossy()),
        lead,
        assumed,
        sections,
        ..Page::default()
    }
}

/// The same as JSON (docs/rivals.md).
pub fn to_json(contest: &Contest, all: &[Fared], notes: &[String]) -> String {
    let figure = |spread: &Option<Replicates>| match spread {
        None => Value::Null,
        Some(spread) => {
            let (least, most) = spread.range();
            json!({ "mean": spread.mean(), "least": least, "most": most })
        }
    };
    let standing = |one: &Fared| {
        let named = FIGURES.iter().zip(&one.figures);
        let figures: Map<String, Value> =
            named.map(|(row, spread)| (row.name.to_owned(), figure(spread))).collect();
        let rival = one.contender.rival.as_ref();
        json!({
            "order": one.contender.words,
            "of": rival.map_or("Meed", |chosen| chosen.rival.of),
            "cadence_s": rival.map(|chosen| chosen.cadence.as_secs_f64()),
            "figures": figures,
            "gains": gains_json(contest, all, one),
            "lies": lies_json(one),
        })
    };
    let loads: Vec<f64> = contest.loads.iter().map(|load| f64::from(*load) / 1000.0).collect();
    let whole = json!({
        "schema": 1,
        "assumptions": notes,
        "baseline": baseline(contest),
        "loads": loads,
        "seeds": contest.seeds,
        "orders": all.iter().map(standing).collect::<Vec<_>>(),
    });
    whole.to_string() + "\n"
}

/// What all are compared with, where somebody named it.
fn baseline(contest: &Contest) -> Option<&str> {
    let first = contest.contenders.first().filter(|_| contest.has_baseline);
    first.map(|order| order.words.as_str())
}

/// A figure of `one` against the baseline, and against sharing without a memory.
fn gain(all: &[Fared], one: &Fared, row: usize) -> Gain {
    let mean = |one: &Fared| one.figures[row].as_ref().map(Replicates::mean);
    let fair = all.iter().find(|one| one.contender.words == FAIR);
    Gain::of(mean(one), all.first().and_then(mean), fair.and_then(mean))
}

fn gains_json(contest: &Contest, all: &[Fared], one: &Fared) -> Value {
    if !contest.has_baseline {
        return Value::Null;
    }
    let told = TOLD.iter().filter_map(|(name, _)| {
        let (row, _) = RivalFigure::find(name)?;
        Some(((*name).to_owned(), gain(all, one, row).to_json()))
    });
    Value::Object(told.collect())
}

/// What each order gains.
fn gains(contest: &Contest, all: &[Fared]) -> Option<Section> {
    let base = baseline(contest)?;
    let shown: Vec<(usize, &str)> = TOLD
        .iter()
        .filter_map(|(name, title)| Some((RivalFigure::find(name)?.0, *title)))
        .collect();
    let mut columns = vec!["order".to_owned()];
    for (_, title) in &shown {
        columns.extend([format!("{title}, against {base}"), format!("{title}, against {FAIR}")]);
    }
    let row = |one: &Fared| {
        let gains = shown.iter().flat_map(|(row, _)| gain(all, one, *row).words());
        let cells = gains.map(|words| words.map_or(Cell::Empty, Cell::Text));
        std::iter::once(Cell::Text(one.contender.words.clone())).chain(cells).collect()
    };
    let caption = format!("Changes of mean waits and job times against {base}, and against {FAIR}");
    let table = Table { caption, columns, rows: all.iter().skip(1).map(row).collect() };
    Some(section("gains", &format!("Against {base}"), vec![Block::Table(table)]))
}

fn lead(contest: &Contest) -> String {
    let loads: Vec<String> =
        contest.loads.iter().map(|load| (f64::from(*load) / 1000.0).to_string()).collect();
    format!(
        "{} orders; the same jobs, nodes and placement for all. Load (the log's own is 1): {}. \
         Seeds: {}.",
        contest.contenders.len(),
        loads.join(", "),
        contest.seeds.len(),
    )
}

/// Figures of one row in one scale: that of the largest.
struct Scale {
    divisor: f64,
    unit: &'static str,
}

impl Scale {
    fn of(figure: &RivalFigure, row: usize, all: &[Fared]) -> Scale {
        let means = all.iter().filter_map(|one| one.figures[row].as_ref()).map(Replicates::mean);
        let most = means.fold(0.0, f64::max);
        let (divisor, unit) = match figure.unit {
            FigureUnit::Part => (0.01, "%"),
            FigureUnit::Number => (1.0, ""),
            FigureUnit::Seconds if most >= 86_400.0 * 3.0 => (86_400.0, "d"),
            FigureUnit::Seconds if most >= 3600.0 => (3600.0, "h"),
            FigureUnit::Seconds if most >= 60.0 => (60.0, "min"),
            FigureUnit::Seconds => (1.0, "s"),
        };
        Scale { divisor, unit }
    }

    fn heading(&self, figure: &RivalFigure) -> String {
        match self.unit {
            "" => figure.title.to_owned(),
            unit => format!("{} [{unit}]", figure.title),
        }
    }

    fn cell(&self, spread: &Replicates) -> Cell {
        let number = |value: f64| value / self.divisor;
        let (least, most) = spread.range();
        match spread.each.len() {
            1 => Cell::Number(number(spread.mean())),
            _ => Cell::Text(format!(
                "{} ({} to {})",
                rounded(number(spread.mean())),
                rounded(number(least)),
                rounded(number(most))
            )),
        }
    }
}

fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn rows(names: &[&str]) -> Vec<(usize, &'static RivalFigure)> {
    names.iter().filter_map(|name| RivalFigure::find(name)).collect()
}

fn overview(contest: &Contest, all: &[Fared]) -> Section {
    let shown = rows(&SHOWN);
    let scales: Vec<Scale> =
        shown.iter().map(|(row, figure)| Scale::of(figure, *row, all)).collect();
    let mut columns = vec!["order".to_owned()];
    columns.extend(shown.iter().zip(&scales).map(|((_, figure), scale)| scale.heading(figure)));
    let cells = |one: &Fared| {
        let mut cells = vec![Cell::Text(one.contender.words.clone())];
        cells.extend(shown.iter().zip(&scales).map(|((row, _), scale)| {
            one.figures[*row].as_ref().map_or(Cell::Empty, |spread| scale.cell(spread))
        }));
        cells
    };
    let runs = contest.scenarios.len() * contest.seeds.len();
    let caption = match runs {
        1 => "One run of each".to_owned(),
        runs => format!("Means over {runs} runs of each, in brackets the smallest and the largest"),
    };
    let table = Table { caption, columns, rows: all.iter().map(cells).collect() };
    section("orders", "All orders", vec![Block::Table(table), Block::Note(WORDS.to_owned())])
}

const WORDS: &str = "Service gap: of tenants that wait at each hour of a window, the difference \
                     between who used most and who used least, per weight 1, as a part of what the \
                     cluster has in that window. Rho: used over what the tenant's own part alone \
                     would have served; below 1 it had less than that. Light half, heavy tenth: by \
                     what tenants used. Longest wait without service: a tenant waits and uses \
                     nothing, at a grain of an hour. Time to get back: from when a tenant that was \
                     given less than its own part waits again, until it has what its part alone \
                     would have given, or waits no more.";

/// For each figure the best of Meed's long-term orders beside the best of the others.
fn beaten(all: &[Fared]) -> Section {
    let is_long_term = |one: &&Fared| {
        one.contender.rival.is_none() && one.contender.words.starts_with("long-term")
    };
    let row = |(at, figure): (usize, &'static RivalFigure)| {
        let best = |ours: bool| {
            let of = all.iter().filter(|one| is_long_term(one) == ours);
            let of = of.filter_map(|one| Some((one, one.figures[at].as_ref()?)));
            let order = |a: &Replicates, b: &Replicates| match figure.more {
                true => b.mean().total_cmp(&a.mean()),
                false => a.mean().total_cmp(&b.mean()),
            };
            of.min_by(|a, b| order(a.1, b.1))
        };
        let (ours, other) = (best(true)?, best(false)?);
        let scale = Scale::of(figure, at, all);
        let verdict = match () {
            () if other.1.beats(ours.1, figure) => ("beaten", Tone::Bad),
            () if ours.1.beats(other.1, figure) => ("best", Tone::Good),
            () => ("even", Tone::Plain),
        };
        Some(vec![
            Cell::Text(scale.heading(figure)),
            Cell::Text(ours.0.contender.words.clone()),
            scale.cell(ours.1),
            Cell::Text(other.0.contender.words.clone()),
            scale.cell(other.1),
            Cell::Badge(Badge { word: verdict.0.to_owned(), tone: verdict.1 }),
        ])
    };
    let columns = ["figure", "best long-term", "its", "best other", "its", "long-term is"];
    let table = Table {
        caption:
            "The best of Meed's long-term orders beside the best of all others. Beaten: worse \
                  by more than a hundredth, at each load and seed."
                .to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows(&JUDGED).into_iter().filter_map(row).collect(),
    };
    section("beaten", "Where long-term fairness is beaten", vec![Block::Table(table)])
}

/// What each lie brought, and who paid.
fn lies(all: &[Fared]) -> Section {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let told = |values: &[f64], rest: String| match values {
        [] => Cell::Empty,
        [one] => Cell::Text(format!("{}{rest}", rounded(one * 100.0))),
        all => {
            let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mean, most) = (rounded(mean(all) * 100.0), rounded(most * 100.0));
            Cell::Text(format!("{mean} (most {most}){rest}"))
        }
    };
    let gain = |lied: &[Lied]| {
        told(&lied.iter().filter_map(|one| one.gain).collect::<Vec<_>>(), String::new())
    };
    let pays = |lied: &[Lied]| {
        let payers: Vec<f64> = lied.iter().map(|one| one.payers as f64).collect();
        let who = format!(", {} pay", rounded(mean(&payers)));
        told(&lied.iter().filter_map(|one| one.others_wait).collect::<Vec<_>>(), who)
    };
    let table = |caption: &str, of: &dyn Fn(&[Lied]) -> Cell| {
        let mut columns = vec!["order".to_owned()];
        columns.extend(LIES.iter().map(|(_, _, title)| format!("{title} [%]")));
        let row = |one: &Fared| {
            let first = Cell::Text(one.contender.words.clone());
            std::iter::once(first).chain(one.lies.iter().map(|lied| of(lied))).collect()
        };
        Block::Table(Table {
            caption: caption.to_owned(),
            columns,
            rows: all.iter().map(row).collect(),
        })
    };
    let names: Vec<&str> = all
        .first()
        .and_then(|one| one.lies.first())
        .map_or(Vec::new(), |lied| lied.iter().map(|one| one.tenant.as_str()).collect());
    let who = format!(
        "Liars, each alone among honest tenants: {}. The last column is no lie: what it shows is \
         chance.",
        names.join(", ")
    );
    let blocks = vec![
        table(
            "By how much the liar's mean time of true jobs is shorter than in truth; below 0 the \
             lie costs",
            &gain,
        ),
        table(
            "By how much all others together wait longer, and how many tenants wait longer by a \
             hundredth and a minute",
            &pays,
        ),
        Block::Note(who),
    ];
    section("lies", "What lies gain, and who pays", blocks)
}

/// By lie, then liar.
fn lies_json(one: &Fared) -> Value {
    let lied = |one: &Lied| {
        json!({
            "tenant": one.tenant,
            "gain": one.gain,
            "others_wait": one.others_wait,
            "payers": one.payers,
            "most_hurt": one.most_hurt.as_ref().map(|(tenant, _)| tenant),
        })
    };
    let named = LIES.iter().zip(&one.lies).map(|((_, name, _), liars)| {
        ((*name).to_owned(), Value::Array(liars.iter().map(lied).collect()))
    });
    Value::Object(named.collect())
}

fn gaps(all: &[Fared]) -> Section {
    let map = |title: &str, prefix: &str| {
        let at = |window: &str| RivalFigure::find(&format!("{prefix}{window}")).map(|(at, _)| at);
        let of = |one: &Fared, window: &str| {
            let spread = at(window).and_then(|at| one.figures[at].as_ref());
            spread.map(|spread| spread.mean() * 100.0)
        };
        let row = |one: &Fared| WINDOWS.iter().map(|(window, _)| of(one, window)).collect();
        Block::Heat(HeatMap {
            title: title.to_owned(),
            caption: "Part of the cluster between who was served most and least of those that \
                      waited throughout. Less is better."
                .to_owned(),
            x: "window".to_owned(),
            y: "order".to_owned(),
            value: "gap [%]".to_owned(),
            x_labels: WINDOWS.iter().map(|(window, _)| (*window).to_owned()).collect(),
            y_labels: all.iter().map(|one| one.contender.words.clone()).collect(),
            values: all.iter().map(row).collect(),
            middle: None,
        })
    };
    let blocks = vec![map("Mean service gap", "gap_"), map("Worst service gap", "worst_gap_")];
    section("gaps", "Service gaps by window", blocks)
}

fn waits(all: &[Fared]) -> Section {
    let row = |one: &Fared| {
        let five = one.waits?.map(|seconds| seconds / 3600.0);
        Some(SpreadRow { label: one.contender.words.clone(), five, reference: None })
    };
    let chart = SpreadChart {
        title: "Mean waits of tenants".to_owned(),
        caption: "Of each tenant the mean wait of its tasks: range, quartiles, median.".to_owned(),
        x: "mean wait [h]".to_owned(),
        rows: all.iter().filter_map(row).collect(),
    };
    section("waits", "Who waits", vec![Block::Spreads(chart)])
}

fn who(all: &[Fared]) -> Section {
    let row = |one: &Fared| {
        let chosen = one.contender.rival.as_ref()?;
        Some(vec![
            Cell::Text(one.contender.words.clone()),
            Cell::Text(chosen.rival.of.to_owned()),
            Cell::Text(chosen.rival.about.to_owned()),
            Cell::Text(chosen.pace()),
        ])
    };
    let table = Table {
        caption: "Ranks are recomputed at each tick; in between the engine serves by the last ones"
            .to_owned(),
        columns: ["order", "of", "what it does", "ticks every"].map(str::to_owned).to_vec(),
        rows: all.iter().filter_map(row).collect(),
    };
    section("rivals", "The rivals", vec![Block::Table(table)])
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), badge: None, blocks }
}
