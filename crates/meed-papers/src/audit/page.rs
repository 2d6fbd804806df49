//! The report: which property holds under which policy, and the worst counterexample to each with
//! its course.

use meed_report::page::{
    Badge, Block, Cell as Shown, HeatMap, Line, LineChart, Page, Section, Table, Tone,
};
use meed_sim::record::RunRecord;

use super::case::Tasks;
use super::draft::Draft;
use super::error::AuditError;
use super::ground::Ground;
use super::property::Property;
use super::replay;
use super::result::{Audit, AuditCell, AuditVerdict, Counterexample};

/// Samples over time of a course.
const POINTS: usize = 200;

/// The verdicts alone: what a terminal shows.
pub fn summary_page(audit: &Audit) -> Page {
    let verdicts = |&tasks: &Tasks| Section {
        id: format!("verdicts-{}", word(tasks)),
        title: title(tasks).to_owned(),
        badge: None,
        blocks: vec![Block::Table(verdicts(audit, tasks))],
    };
    Page {
        title: "Property audit".to_owned(),
        lead: vec![
            format!(
                "{} random cases for each property and policy, {} steps of each climb, seed {}.",
                audit.trials, audit.steps, audit.seed
            ),
            "A percentage is the worst counterexample found, of what the tenant contributes over \
             the run (for pareto: \
             of the cluster's capacity). \"none found\" proves nothing; \"proof\" has one. \
             docs/properties.md says what \
             is measured."
                .to_owned(),
        ],
        sections: kinds(audit).iter().map(verdicts).collect(),
        ..Page::default()
    }
}

/// The whole report. Runs the counterexamples that it shows again, to draw their course.
pub fn page(audit: &Audit) -> Result<Page, AuditError> {
    let mut page = summary_page(audit);
    for (section, tasks) in page.sections.iter_mut().zip(kinds(audit)) {
        section.blocks.push(Block::Heat(heat(audit, tasks)));
    }
    for &property in &audit.properties {
        page.sections.push(of_property(audit, property)?);
    }
    Ok(page)
}

fn kinds(audit: &Audit) -> Vec<Tasks> {
    let all = [Tasks::Unit, Tasks::Whole].into_iter();
    all.filter(|&tasks| audit.cells.iter().any(|cell| cell.tasks == tasks)).collect()
}

fn word(tasks: Tasks) -> &'static str {
    match tasks {
        Tasks::Unit => "unit",
        Tasks::Whole => "whole",
    }
}

fn title(tasks: Tasks) -> &'static str {
    match tasks {
        Tasks::Unit => "Unit tasks: one slot, one minute, shared out anew each minute",
        Tasks::Whole => "Whole tasks: one or more slots for minutes, never interrupted",
    }
}

fn find<'a>(
    audit: &'a Audit,
    tasks: Tasks,
    property: Property,
    policy: &str,
) -> Option<&'a AuditCell> {
    audit
        .cells
        .iter()
        .find(|cell| cell.tasks == tasks && cell.property == property && cell.policy == policy)
}

fn percent(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

/// A policy's words, with places where a line may break.
fn spaced(policy: &str) -> String {
    policy.replace(',', ", ")
}

fn verdict(cell: &AuditCell) -> Shown {
    let (word, tone) = match (&cell.counterexample, cell.verdict) {
        (Some(found), _) => (percent(found.value), Tone::Bad),
        (None, AuditVerdict::Proof) => ("proof".to_owned(), Tone::Good),
        (None, AuditVerdict::DoesNotApply) => ("does not apply".to_owned(), Tone::Plain),
        (None, _) => ("none found".to_owned(), Tone::Plain),
    };
    Shown::Badge(Badge { word, tone })
}

fn verdicts(audit: &Audit, tasks: Tasks) -> Table {
    let row = |policy: &String| {
        let cells = audit.properties.iter().map(|&property| find(audit, tasks, property, policy));
        let cells = cells.map(|cell| cell.map_or(Shown::Empty, verdict));
        std::iter::once(Shown::Text(spaced(policy))).chain(cells).collect()
    };
    let names = audit.properties.iter().map(|property| property.row().name.to_owned());
    Table {
        caption: "Worst counterexample found".to_owned(),
        columns: std::iter::once("policy".to_owned()).chain(names).collect(),
        rows: audit.policies.iter().map(row).collect(),
    }
}

fn heat(audit: &Audit, tasks: Tasks) -> HeatMap {
    let value = |property: Property, policy: &String| {
        let cell = find(audit, tasks, property, policy)?;
        Some(cell.counterexample.as_ref().map_or(0.0, |found| (found.value * 100.0).min(100.0)))
    };
    let row = |&property: &Property| {
        audit.policies.iter().map(|policy| value(property, policy)).collect()
    };
    HeatMap {
        title: format!("Worst values, {} tasks", word(tasks)),
        caption: "0: no counterexample found. Values above 100 % are shown as 100 %.".to_owned(),
        x: "policy".to_owned(),
        y: "property".to_owned(),
        value: "worst value [%]".to_owned(),
        x_labels: audit.policies.iter().map(|policy| spaced(policy)).collect(),
        y_labels: audit.properties.iter().map(|property| property.row().name.to_owned()).collect(),
        values: audit.properties.iter().map(row).collect(),
        middle: None,
    }
}

fn of_property(audit: &Audit, property: Property) -> Result<Section, AuditError> {
    let row = property.row();
    let mut blocks = vec![Block::Text(format!("Value: {}.", row.means))];
    if let Some(marks) = row.table_2 {
        let marked = ["MLRF (fair)", "LTRF (long-term)", "H-LTRF (t_wait)"].into_iter().zip(marks);
        let marked: Vec<&str> = marked.filter(|(_, mark)| *mark).map(|(name, _)| name).collect();
        blocks.push(Block::Note(format!("TSC'18 Table 2 marks it for {}.", marked.join(", "))));
    }
    blocks.push(Block::Table(details(audit, property)));
    let ours = audit.cells.iter().filter(|cell| cell.property == property);
    let found: Vec<(&AuditCell, &Counterexample)> =
        ours.clone().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?))).collect();
    for tasks in kinds(audit) {
        let of_kind = found.iter().filter(|(cell, _)| cell.tasks == tasks);
        let excess = |found: &Counterexample| found.value - found.tolerance;
        if let Some((cell, worst)) = of_kind.max_by(|a, b| excess(a.1).total_cmp(&excess(b.1))) {
            blocks.extend(course(cell, worst)?);
        }
    }
    let badge = match found.len() {
        0 => Badge { word: "no counterexample".to_owned(), tone: Tone::Good },
        some => Badge { word: format!("{some} of {}", ours.count()), tone: Tone::Bad },
    };
    Ok(Section { id: row.name.to_owned(), title: row.title.to_owned(), badge: Some(badge), blocks })
}

fn details(audit: &Audit, property: Property) -> Table {
    let columns = [
        "tasks",
        "policy",
        "verdict",
        "whole tasks explain [%]",
        "mean [%]",
        "trials that show it",
        "trials",
        "largest value met [%]",
        "in words",
    ];
    let words = |cell: &AuditCell| match (&cell.counterexample, &cell.proof) {
        (Some(found), _) => found
            .story
            .iter()
            .filter(|line| line.starts_with("The lie"))
            .cloned()
            .collect::<Vec<_>>()
            .join(" "),
        (None, Some(proof)) => proof.clone(),
        (None, None) => cell.reason.clone().unwrap_or_default(),
    };
    let row = |cell: &AuditCell| {
        let tolerance =
            cell.counterexample.as_ref().map(|found| Shown::Number(found.tolerance * 100.0));
        vec![
            Shown::Text(word(cell.tasks).to_owned()),
            Shown::Text(spaced(&cell.policy)),
            verdict(cell),
            tolerance.unwrap_or(Shown::Empty),
            Shown::Number(cell.mean * 100.0),
            Shown::Number(f64::from(cell.showed)),
            Shown::Number(f64::from(cell.trials)),
            Shown::Number(cell.largest * 100.0),
            Shown::Text(words(cell)),
        ]
    };
    let cells = audit.cells.iter().filter(|cell| cell.property == property);
    Table {
        caption: "Searches".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: cells.map(row).collect(),
    }
}

/// The worst counterexample: its story, and what each tenant held over time, in both runs that are
/// compared.
fn course(cell: &AuditCell, found: &Counterexample) -> Result<Vec<Block>, AuditError> {
    let ground = Ground::of(&cell.policy)?;
    let honest = Draft::of(&found.case, false);
    let mut blocks = vec![
        Block::Text(format!(
            "Furthest beyond what whole tasks explain, {} tasks: {} (folder {} of --out).",
            word(cell.tasks),
            cell.policy,
            replay::folder_name(cell)
        )),
        Block::Code(found.story.join("\n")),
    ];
    let mut show = |title: String, record: &RunRecord| {
        blocks.push(Block::Lines(lines(title, record)));
    };
    let against = cell.property.row().against;
    let says = match against {
        _ if against.is_lie() => "all honest",
        _ if against.is_alone() => "shared",
        _ => "what is held",
    };
    show(format!("{}: {says}", cell.policy), &ground.run_sampled(&honest, POINTS)?);
    if against.is_lie() {
        let lying = ground.run_sampled(&Draft::of(&found.case, true), POINTS)?;
        show(format!("{}: with the lie", cell.policy), &lying);
    }
    if against.is_alone() {
        let alone = Ground::of(meed_scenario::STATIC)?.run_sampled(&honest, POINTS)?;
        show("static: alone on the share".to_owned(), &alone);
    }
    Ok(blocks)
}

fn lines(title: String, record: &RunRecord) -> LineChart {
    let x: Vec<f64> = record.series.t_s.iter().map(|t| t / 60.0).collect();
    let queues = record.queues.iter().zip(&record.series.queues);
    let line =
        |(queue, series): (&meed_sim::record::QueueRecord, &meed_sim::record::QueueSeries)| Line {
            name: queue.queue.clone(),
            x: x.clone(),
            y: series.allocation.iter().copied().map(Some).collect(),
            band: None,
            steps: true,
            dashed: false,
        };
    LineChart {
        title,
        caption: String::new(),
        x: "minutes".to_owned(),
        y: "slots held".to_owned(),
        lines: queues.map(line).collect(),
        marks: Vec::new(),
        levels: Vec::new(),
    }
}
