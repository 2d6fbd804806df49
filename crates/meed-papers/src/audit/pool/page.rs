//! The report: how often each policy misses each property, by how much, and the worst case.

use meed_report::page::{Badge, Block, Cell as Shown, HeatMap, Page, Section, Table, Tone};

use super::property::PoolProperty;
use super::replay::folder_name;
use super::{PoolAudit, PoolCell};

/// The rates and the worst: what a terminal shows.
pub fn pool_summary(audit: &PoolAudit) -> Page {
    let tables = [
        table(audit, "Cases in which somebody lacks more than one task [%]", &|cell| {
            Shown::Number(100.0 * f64::from(cell.showed) / f64::from(cell.trials.max(1)))
        }),
        table(
            audit,
            &format!(
                "Tasks {} times finer: cases in which somebody lacks more than whole tasks explain \
                 [%]",
                audit.fine
            ),
            &|cell| {
                Shown::Number(100.0 * f64::from(cell.showed_fine) / f64::from(cell.trials.max(1)))
            },
        ),
        table(audit, "Worst counterexample found", &worst),
    ];
    Page {
        title: "Property audit of greedy policies".to_owned(),
        lead: vec![
            format!(
                "{} random pools of 1 to 4 unequal servers and 2 to 4 users for each property and \
                 policy, seed {}.",
                audit.trials, audit.seed
            ),
            "A value is the part of the tasks that a user could have that it lacks; whole tasks \
             alone make some of it. \
             \"none found\" proves nothing. docs/properties.md says what is measured."
                .to_owned(),
        ],
        sections: vec![Section {
            id: "rates".to_owned(),
            title: "Whole tasks on unequal servers".to_owned(),
            badge: None,
            blocks: tables.into_iter().map(Block::Table).collect(),
        }],
        ..Page::default()
    }
}

/// The whole report.
pub fn pool_page(audit: &PoolAudit) -> Page {
    let mut page = pool_summary(audit);
    page.sections[0].blocks.push(Block::Heat(heat(audit)));
    page.sections.extend(audit.properties.iter().map(|&property| of_property(audit, property)));
    page
}

fn find<'a>(audit: &'a PoolAudit, property: PoolProperty, policy: &str) -> Option<&'a PoolCell> {
    audit.cells.iter().find(|cell| cell.property == property && cell.policy == policy)
}

/// A policy's words, with places where a line may break.
fn spaced(policy: &str) -> String {
    policy.replace(',', ", ")
}

fn worst(cell: &PoolCell) -> Shown {
    let (word, tone) = match &cell.counterexample {
        Some(found) => (format!("{:.1} %", 100.0 * found.value), Tone::Bad),
        None => ("none found".to_owned(), Tone::Plain),
    };
    Shown::Badge(Badge { word, tone })
}

fn table(audit: &PoolAudit, caption: &str, show: &dyn Fn(&PoolCell) -> Shown) -> Table {
    let row = |&property: &PoolProperty| {
        let cells = audit.policies.iter().map(|policy| find(audit, property, policy));
        let cells = cells.map(|cell| cell.map_or(Shown::Empty, show));
        std::iter::once(Shown::Text(property.row().name.to_owned())).chain(cells).collect()
    };
    let names = audit.policies.iter().map(|policy| spaced(policy));
    Table {
        caption: caption.to_owned(),
        columns: std::iter::once("property".to_owned()).chain(names).collect(),
        rows: audit.properties.iter().map(row).collect(),
    }
}

fn heat(audit: &PoolAudit) -> HeatMap {
    let rate = |property: PoolProperty, policy: &String| {
        let cell = find(audit, property, policy)?;
        Some(100.0 * cell.mean_fine)
    };
    let row = |&property: &PoolProperty| {
        audit.policies.iter().map(|policy| rate(property, policy)).collect()
    };
    HeatMap {
        title: format!("Mean lack of the worst user, tasks {} times finer", audit.fine),
        caption: "What stays here does not come from whole tasks.".to_owned(),
        x: "policy".to_owned(),
        y: "property".to_owned(),
        value: "mean value [%]".to_owned(),
        x_labels: audit.policies.iter().map(|policy| spaced(policy)).collect(),
        y_labels: audit.properties.iter().map(|property| property.row().name.to_owned()).collect(),
        values: audit.properties.iter().map(row).collect(),
        middle: None,
    }
}

fn of_property(audit: &PoolAudit, property: PoolProperty) -> Section {
    let row = property.row();
    let cells: Vec<&PoolCell> =
        audit.cells.iter().filter(|cell| cell.property == property).collect();
    let mut blocks = vec![
        Block::Text(format!("Value: {}.", row.means)),
        Block::Note(format!("For divisible tasks under DRFH (TPDS'15): {}.", row.paper)),
        Block::Table(details(&cells)),
    ];
    let found = cells.iter().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?)));
    for (cell, found) in found.clone() {
        blocks.push(Block::Text(format!(
            "{} (folder {} of --out):",
            spaced(&cell.policy),
            folder_name(cell)
        )));
        blocks.push(Block::Code(found.story.join("\n")));
    }
    let badge = match found.count() {
        0 => Badge { word: "no counterexample".to_owned(), tone: Tone::Good },
        some => Badge { word: format!("{some} of {}", cells.len()), tone: Tone::Bad },
    };
    Section { id: row.name.to_owned(), title: row.title.to_owned(), badge: Some(badge), blocks }
}

fn details(cells: &[&PoolCell]) -> Table {
    let columns = [
        "policy",
        "cases",
        "more than a task",
        "mean [%]",
        "largest [%]",
        "finer: beyond whole tasks",
        "finer: mean [%]",
        "finer: largest [%]",
        "counterexample [%]",
        "whole tasks explain of it [%]",
    ];
    let row = |cell: &&PoolCell| {
        let found = cell.counterexample.as_ref();
        let part =
            |value: Option<f64>| value.map_or(Shown::Empty, |value| Shown::Number(100.0 * value));
        vec![
            Shown::Text(spaced(&cell.policy)),
            Shown::Number(f64::from(cell.trials)),
            Shown::Number(f64::from(cell.showed)),
            part(Some(cell.mean)),
            part(Some(cell.largest)),
            Shown::Number(f64::from(cell.showed_fine)),
            part(Some(cell.mean_fine)),
            part(Some(cell.largest_fine)),
            part(found.map(|found| found.value)),
            part(found.map(|found| found.tolerance)),
        ]
    };
    Table {
        caption: "Searches".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: cells.iter().map(row).collect(),
    }
}
