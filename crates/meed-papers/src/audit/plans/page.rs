//! The tables: how many random cases show a violation, and the worst counterexample to each
//! property, by problem and order; and its story.

use meed_report::page::{Badge, Block, Cell as Shown, Page, Section, Table, Tone};

use super::files::folder_name;
use super::problem::PlanProblem;
use super::property::PlanProperty;
use super::result::{PlanAudit, PlanCell};

/// The verdicts, a table for each problem: what a terminal shows.
pub fn plans_summary(audit: &PlanAudit) -> Page {
    let section = |&problem: &PlanProblem| Section {
        id: format!("problem-{}", problem.name()),
        title: format!("Problem {}", problem.name()),
        badge: None,
        blocks: vec![Block::Table(verdicts(audit, problem))],
    };
    Page {
        title: "Property audit under prices and plans".to_owned(),
        lead: vec![
            format!(
                "{} random cases for each problem, property and order, half as many steps of each \
                 climb, seed {}.",
                audit.trials, audit.seed
            ),
            "A percentage is the worst counterexample found, of what the tenant contributes (for \
             as-you-pay: of what it paid); behind it, how many of the random cases show one. \
             \"none found\" proves nothing. docs/prices-and-plans.md says what is measured."
                .to_owned(),
        ],
        sections: audit.problems.iter().map(section).collect(),
        ..Page::default()
    }
}

/// The whole report.
pub fn plans_page(audit: &PlanAudit) -> Page {
    let mut page = plans_summary(audit);
    page.sections.extend(audit.properties.iter().map(|&property| of_property(audit, property)));
    page
}

fn worst(cell: Option<&PlanCell>) -> Shown {
    let Some(cell) = cell else { return Shown::Text("does not apply".to_owned()) };
    let (word, tone) = match &cell.counterexample {
        Some(found) => {
            let percent = 100.0 * found.value;
            (format!("{percent:.1} % ({}/{})", cell.showed, cell.trials), Tone::Bad)
        }
        None => ("none found".to_owned(), Tone::Plain),
    };
    Shown::Badge(Badge { word, tone })
}

fn verdicts(audit: &PlanAudit, problem: PlanProblem) -> Table {
    let row = |&property: &PlanProperty| {
        let cell = |policy: &String| {
            let same = |cell: &&PlanCell| {
                cell.problem == problem && cell.property == property && cell.policy == *policy
            };
            worst(audit.cells.iter().find(same))
        };
        let name = Shown::Text(property.row().name.to_owned());
        std::iter::once(name).chain(audit.policies.iter().map(cell)).collect()
    };
    let policies = audit.policies.iter().map(|policy| policy.replace(',', ", "));
    Table {
        caption: "Worst counterexample found (random cases that show one)".to_owned(),
        columns: std::iter::once("property".to_owned()).chain(policies).collect(),
        rows: audit.properties.iter().map(row).collect(),
    }
}

fn of_property(audit: &PlanAudit, property: PlanProperty) -> Section {
    let columns = ["problem", "policy", "worst", "tasks and ticks explain [%]", "mean [%]"];
    let cells: Vec<&PlanCell> =
        audit.cells.iter().filter(|cell| cell.property == property).collect();
    let row = |cell: &&PlanCell| {
        let explained = cell.counterexample.as_ref().map(|found| found.tolerance * 100.0);
        vec![
            Shown::Text(cell.problem.name().to_owned()),
            Shown::Text(cell.policy.replace(',', ", ")),
            worst(Some(cell)),
            explained.map_or(Shown::Empty, Shown::Number),
            Shown::Number(cell.mean * 100.0),
        ]
    };
    let mut blocks = vec![
        Block::Text(format!("Value: {}.", property.row().means)),
        Block::Table(Table {
            caption: "Searches".to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: cells.iter().map(row).collect(),
        }),
    ];
    for cell in &cells {
        if let Some(found) = &cell.counterexample {
            blocks.push(Block::Text(format!(
                "Problem {}, {} (folder {} of --out):",
                cell.problem.name(),
                cell.policy.replace(',', ", "),
                folder_name(cell)
            )));
            blocks.push(Block::Code(found.story.join("\n")));
        }
    }
    let name = property.row().name;
    Section { id: name.to_owned(), title: name.to_owned(), badge: None, blocks }
}
