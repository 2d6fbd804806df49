//! The report of a sweep: one section for each figure that settings are judged by.
//!
//! | settings that vary | chart |
//! |---|---|
//! | none | spreads over the seeds, a row for each policy |
//! | one, in numbers or times | lines over it, one for each policy, with the range over the seeds as a band |
//! | one, in words | a heat map: setting and policy |
//! | two | a heat map for each policy |
//! | more | heat maps of the first two for each combination of the others and the policy, and mean effects |

use meed_report::page::{
    Block, Cell, HeatMap, Line, LineChart, Mark, Page, Section, SpreadChart, SpreadRow, Table,
    capital,
};

use super::gains::gains;
use super::grid::{Axis, Grid, Target, is_memoryless};
use super::results::Results;
use super::summary::{Extreme, JUDGED, Judged, SweepGroup, extremes, groups, quantile};
use super::values::magnitude;
use crate::gain::{FAIR, Gain, TOLD};

/// Most heat maps of one figure; the CSV has all.
const MAX_MAPS: usize = 12;
/// Most settings whose figures are listed one by one.
const MAX_ROWS: usize = 300;
/// An axis whose largest value is so many times its smallest is shown by its logarithm.
const WIDE: f64 = 30.0;

/// The report of `results`; `notes` are what the input does not hold and was assumed.
pub fn page(grid: &Grid, results: &Results, notes: &[String]) -> Page {
    let view = View::new(grid, results);
    let mut sections = vec![view.overview(notes)];
    sections.extend(view.gains().map(|table| Section {
        id: "gains".to_owned(),
        title: table.caption.clone(),
        badge: None,
        blocks: vec![Block::Table(table)],
    }));
    sections.extend(JUDGED.iter().filter_map(|judged| view.section(judged)));
    sections.push(view.listing());
    let runs = format!(
        "{} points: {} settings, seeds: {}. A figure of a setting is its mean over the seeds.",
        results.rows.len(),
        view.groups.len(),
        grid.seeds.len()
    );
    Page {
        title: format!("Sweep of {}", grid.file.display()),
        lead: vec![runs],
        sections,
        ..Page::default()
    }
}

/// What the terminal shows: the settings, one by one if they are few, and the best and the worst.
pub fn terminal(grid: &Grid, results: &Results) -> Page {
    let view = View::new(grid, results);
    let mut blocks = Vec::new();
    if view.groups.len() <= 40 {
        blocks.push(Block::Table(view.settings_table(TERMINAL)));
    }
    blocks.extend(view.gains().map(Block::Table));
    blocks.push(Block::Table(view.best_and_worst()));
    blocks.extend(view.incidents());
    let runs = format!(
        "{} points: {} settings, seeds: {}",
        results.rows.len(),
        view.groups.len(),
        grid.seeds.len()
    );
    let section = Section { id: "settings".to_owned(), title: runs, badge: None, blocks };
    Page {
        title: format!("Sweep of {}", grid.file.display()),
        sections: vec![section],
        ..Page::default()
    }
}

/// Figures of the terminal's table: those that fit beside each other.
const TERMINAL: &[&str] =
    &["psi", "omega", "rho_min", "tenants_below", "mean_job_s", "p99_job_s", "tenant_wait_s_p50"];

/// A figure in its unit; tenants that are counted, and their means where these are whole, without a
/// point.
fn cell(judged: &Judged, value: f64) -> Cell {
    match judged.counts() && value >= 0.0 && value.fract() == 0.0 {
        true => Cell::Count(value as u64),
        false => Cell::Number(value / judged.divisor),
    }
}

/// Results as charts need them.
struct View<'a> {
    grid: &'a Grid,
    results: &'a Results,
    groups: Vec<SweepGroup>,
    /// Places of the settings with more than one value, without the policy.
    varying: Vec<usize>,
    /// Place of the policy.
    policy: usize,
}

impl<'a> View<'a> {
    fn new(grid: &'a Grid, results: &'a Results) -> View<'a> {
        let named = grid.axes.iter().position(|axis| axis.target == Target::Name);
        let varies = |&at: &usize| grid.axes[at].values.len() > 1 && Some(at) != named;
        View {
            grid,
            results,
            groups: groups(results),
            varying: (0..grid.axes.len()).filter(varies).collect(),
            policy: named.unwrap_or(grid.axes.len()),
        }
    }

    fn policies(&self) -> Vec<String> {
        match self.grid.axes.get(self.policy) {
            Some(axis) => axis.values.clone(),
            None => self.grid.policies.clone(),
        }
    }

    fn column(&self, judged: &Judged) -> Option<usize> {
        self.results.measured.iter().position(|name| name == judged.column)
    }

    /// Mean of the one group that has these values, in the figure's unit.
    fn value(&self, judged: &Judged, wanted: &[(usize, &str)]) -> Option<f64> {
        let group = self.group(wanted)?;
        group.mean(self.column(judged)?).map(|value| value / judged.divisor)
    }

    fn group(&self, wanted: &[(usize, &str)]) -> Option<&SweepGroup> {
        self.groups
            .iter()
            .find(|group| wanted.iter().all(|&(at, value)| group.setting[at] == value))
    }

    /// What each setting gains against the baseline, where somebody named one.
    fn gains(&self) -> Option<Table> {
        let base = &self.grid.baseline.as_ref()?.words;
        let rows = gains(self.grid, self.results, &self.groups);
        let mut columns = self.results.parameters[..self.results.parameters.len() - 1].to_vec();
        for (_, title) in TOLD {
            columns.extend([format!("{title}, against {base}"), format!("against {FAIR}")]);
        }
        let row = |(group, gains): &(&SweepGroup, Vec<Gain>)| {
            let setting = group.setting.iter().cloned().map(Cell::Text);
            let words = gains.iter().flat_map(|gain| gain.words());
            setting.chain(words.map(|words| words.map_or(Cell::Empty, Cell::Text))).collect()
        };
        let caption = format!("Against {base}, and against {FAIR}, at the same setting");
        Some(Table { caption, columns, rows: rows.iter().take(MAX_ROWS).map(row).collect() })
    }

    fn overview(&self, notes: &[String]) -> Section {
        let mut table = Table {
            caption: "What varies".to_owned(),
            columns: ["setting", "values", "number"].map(str::to_owned).to_vec(),
            rows: Vec::new(),
        };
        let mut row = |name: &str, values: Vec<String>| {
            let count = Cell::Count(values.len() as u64);
            table.rows.push(vec![
                Cell::Text(name.to_owned()),
                Cell::Text(values.join(", ")),
                count,
            ]);
        };
        self.grid.axes.iter().for_each(|axis| row(&axis.name, axis.values.clone()));
        if self.policy == self.grid.axes.len() {
            row("policy", self.grid.policies.clone());
        }
        let (first, last) = (self.grid.seeds.first(), self.grid.seeds.last());
        let seeds: Vec<String> = first.into_iter().chain(last).map(u64::to_string).collect();
        table.rows.push(vec![
            Cell::Text("seed".to_owned()),
            Cell::Text(if self.grid.seeds.len() > 1 {
                seeds.join(" to ")
            } else {
                seeds[0].clone()
            }),
            Cell::Count(self.grid.seeds.len() as u64),
        ]);
        let mut blocks = vec![Block::Table(table), Block::Table(self.best_and_worst())];
        blocks.extend(self.incidents());
        blocks.extend(self.unread().map(Block::Note));
        // What varies is no assumption.
        let varies = |note: &str| {
            let load = |axis: &Axis| axis.target == Target::Scenario("run.load".to_owned());
            note.starts_with("load ") && self.grid.axes.iter().any(load)
        };
        let notes = notes.iter().filter(|note| !varies(note));
        blocks.extend(notes.map(|note| Block::Note(format!("Assumed: {note}"))));
        Section {
            id: "overview".to_owned(),
            title: "What was run, and what came out".to_owned(),
            badge: None,
            blocks,
        }
    }

    /// What a reader must know before he trusts the figures: refused, failed, unfinished, skipped.
    fn incidents(&self) -> Vec<Block> {
        const KINDS: [(&str, &str); 4] = [
            ("skipped_lines", "wrong lines of the trace were skipped"),
            ("refused", "jobs were refused"),
            ("failed", "jobs failed or were cancelled"),
            ("unfinished", "jobs were unfinished at the end"),
        ];
        let rows = &self.results.rows;
        let note = |(column, words): &(&str, &str)| {
            let at = self.results.measured.iter().position(|name| name == column)?;
            let counts = rows.iter().filter_map(|row| row.cells.get(at)?.parse::<f64>().ok());
            let some: Vec<f64> = counts.filter(|count| *count > 0.0).collect();
            let most = some.iter().copied().max_by(f64::total_cmp)?;
            Some(Block::Note(format!(
                "At {} of {} points {words}, at most {most}.",
                some.len(),
                rows.len()
            )))
        };
        KINDS.iter().filter_map(note).collect()
    }

    /// Policies that do not read a key that varies.
    fn unread(&self) -> Option<String> {
        const READ_BY_ALL: [&str; 5] =
            ["order", "placement", "resource", "when_blocked", "reservations"];
        let keys: Vec<&str> = self
            .varying
            .iter()
            .filter_map(|&at| match &self.grid.axes[at].target {
                Target::Policy(key) if !READ_BY_ALL.contains(&key.as_str()) => Some(key.as_str()),
                _ => None,
            })
            .collect();
        let policies: Vec<String> =
            self.policies().into_iter().filter(|name| is_memoryless(name)).collect();
        (!keys.is_empty() && !policies.is_empty()).then(|| {
            let (keys, policies) = (keys.join(", "), policies.join(", "));
            format!("{keys}: not read by {policies}, whose figures are the same along it.")
        })
    }

    fn best_and_worst(&self) -> Table {
        let columns =
            ["figure", "better", "best", "at", "worst", "at "].map(str::to_owned).to_vec();
        let mut table = Table {
            caption: "The best and the worst setting by each figure".to_owned(),
            columns,
            rows: Vec::new(),
        };
        for judged in &JUDGED {
            let Some(column) = self.column(judged) else { continue };
            for (load, groups) in self.by_load() {
                table.rows.extend(self.extremes_row(judged, column, load.as_deref(), &groups));
            }
        }
        table
    }

    /// All settings; where the load varies beside others, those of each load: jobs that come
    /// faster always wait longer, which says nothing of a setting.
    fn by_load(&self) -> Vec<(Option<String>, Vec<&SweepGroup>)> {
        let load = self.load_axis().filter(|_| self.varying.len() + self.policies().len() > 2);
        let Some(at) = load else { return vec![(None, self.groups.iter().collect())] };
        let mut all: Vec<(Option<String>, Vec<&SweepGroup>)> = Vec::new();
        for group in &self.groups {
            let load = Some(group.setting[at].clone());
            match all.iter_mut().find(|(known, _)| *known == load) {
                Some((_, groups)) => groups.push(group),
                None => all.push((load, vec![group])),
            }
        }
        all
    }

    /// Where the load stands among the settings that vary.
    fn load_axis(&self) -> Option<usize> {
        let is_load =
            |at: &usize| ["load", "run.load"].contains(&self.results.parameters[*at].as_str());
        self.varying.iter().copied().find(is_load)
    }

    /// The best and the worst of these settings by one figure.
    fn extremes_row(
        &self,
        judged: &Judged,
        column: usize,
        load: Option<&str>,
        groups: &[&SweepGroup],
    ) -> Option<Vec<Cell>> {
        let found = extremes(groups, column, judged.better)?;
        let at = |found: Extreme| {
            let more = match found.count {
                0 | 1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            Cell::Text(self.words(groups[found.first], load.is_some()) + &more)
        };
        let better = format!("{:?}", judged.better).to_lowercase();
        let figure = with_unit(judged);
        let figure = load.map_or(figure.clone(), |load| format!("{figure}, load={load}"));
        let number = |found: Extreme| cell(judged, found.value);
        let rest = match found.best.value == found.worst.value {
            true => {
                let alike = Cell::Text("all alike".to_owned());
                [number(found.best), alike, Cell::Empty, Cell::Empty]
            }
            false => [number(found.best), at(found.best), number(found.worst), at(found.worst)],
        };
        Some([Cell::Text(figure), Cell::Text(better)].into_iter().chain(rest).collect())
    }

    /// A group's settings that vary; without the load where that is said already.
    fn words(&self, group: &SweepGroup, has_load: bool) -> String {
        let mut places = self.varying.clone();
        places.retain(|at| !has_load || Some(*at) != self.load_axis());
        if self.policies().len() > 1 || places.is_empty() {
            places.push(self.policy);
        }
        let words = places
            .iter()
            .map(|&at| format!("{}={}", self.results.parameters[at], group.setting[at]));
        words.collect::<Vec<_>>().join(" ")
    }

    fn section(&self, judged: &Judged) -> Option<Section> {
        let column = self.column(judged)?;
        self.groups.iter().find_map(|group| group.mean(column))?;
        let mut blocks = match self.varying[..] {
            [] => vec![self.spreads(judged, column)],
            [one] => {
                vec![self.lines(judged, column, one).unwrap_or_else(|| self.by_policy(judged, one))]
            }
            [first, second, ..] => self.maps(judged, first, second),
        };
        if self.varying.len() > 1 {
            blocks.push(Block::Table(self.effects(judged, column)));
        }
        let (id, title) = (judged.column.replace('_', "-"), capital(judged.title));
        Some(Section { id, title, badge: None, blocks })
    }

    fn spreads(&self, judged: &Judged, column: usize) -> Block {
        let row = |group: &SweepGroup| {
            let mut values: Vec<f64> =
                group.values[column].iter().map(|value| value / judged.divisor).collect();
            values.sort_by(f64::total_cmp);
            let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&values, q));
            let [Some(a), Some(b), Some(c), Some(d), Some(e)] = five else { return None };
            Some(SpreadRow {
                label: self.words(group, false),
                five: [a, b, c, d, e],
                reference: None,
            })
        };
        Block::Spreads(SpreadChart {
            title: capital(judged.title),
            caption: format!("Over {} seeds: range, quartiles, median.", self.grid.seeds.len()),
            x: with_unit(judged),
            rows: self.groups.iter().filter_map(row).collect(),
        })
    }

    /// Lines over a setting in numbers or times; nothing when some value is neither.
    fn lines(&self, judged: &Judged, column: usize, at: usize) -> Option<Block> {
        let axis = &self.grid.axes[at];
        let scale = Scale::of(&axis.values)?;
        let mut order: Vec<(f64, &String)> =
            axis.values.iter().filter_map(|value| Some((scale.place(value)?, value))).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line = |policy: &String| {
            let found = |value: &String| self.group(&[(at, value), (self.policy, policy)]);
            let range = |value: &String| {
                found(value).and_then(|group| group.range(column)).unwrap_or((0.0, 0.0))
            };
            let bounds = |pick: fn((f64, f64)) -> f64| -> Vec<f64> {
                order.iter().map(|(_, value)| pick(range(value)) / judged.divisor).collect()
            };
            let y: Vec<Option<f64>> = order
                .iter()
                .map(|(_, value)| found(value)?.mean(column).map(|mean| mean / judged.divisor))
                .collect();
            let whole = self.grid.seeds.len() > 1 && y.iter().all(Option::is_some);
            Line {
                name: policy.clone(),
                x: order.iter().map(|(place, _)| *place).collect(),
                y,
                band: whole.then(|| (bounds(|range| range.0), bounds(|range| range.1))),
                steps: false,
                dashed: is_memoryless(policy) && matches!(axis.target, Target::Policy(_)),
            }
        };
        let marks = |(place, value): &(f64, &String)| Mark { at: *place, label: (*value).clone() };
        let seeds = match self.grid.seeds.len() {
            1 => String::new(),
            seeds => {
                format!(
                    "Lines are means over {seeds} seeds, bands go from the smallest to the largest."
                )
            }
        };
        Some(Block::Lines(LineChart {
            title: format!("{} over {}", capital(judged.title), axis.name),
            caption: seeds,
            x: scale.label(&axis.name),
            y: with_unit(judged),
            lines: self.policies().iter().map(line).collect(),
            marks: if scale.log { order.iter().map(marks).collect() } else { Vec::new() },
            levels: Vec::new(),
        }))
    }

    /// A map of a setting in words and the policies.
    fn by_policy(&self, judged: &Judged, at: usize) -> Block {
        let policies = self.policies();
        let cell = |policy: &String, value: &String| {
            self.value(judged, &[(at, value), (self.policy, policy)])
        };
        self.map(
            judged,
            at,
            "policy",
            &policies,
            &|policy, value| cell(policy, value),
            String::new(),
        )
    }

    /// Maps of two settings, one for each combination of the policy and the other settings.
    fn maps(&self, judged: &Judged, first: usize, second: usize) -> Vec<Block> {
        let mut rest: Vec<(usize, Vec<String>)> =
            self.varying[2..].iter().map(|&at| (at, self.grid.axes[at].values.clone())).collect();
        rest.push((self.policy, self.policies()));
        let combinations = combine(&rest);
        let rows = &self.grid.axes[second].values;
        let name = &self.grid.axes[second].name;
        let map = |fixed: &Vec<(usize, &str)>| {
            let cell = |y: &String, x: &String| {
                let wanted: Vec<(usize, &str)> = [(first, x.as_str()), (second, y.as_str())]
                    .into_iter()
                    .chain(fixed.iter().copied())
                    .collect();
                self.value(judged, &wanted)
            };
            let words: Vec<String> = fixed
                .iter()
                .map(|&(at, value)| format!("{}={value}", self.results.parameters[at]))
                .collect();
            self.map(judged, first, name, rows, &cell, words.join(", "))
        };
        let mut blocks: Vec<Block> = combinations.iter().take(MAX_MAPS).map(map).collect();
        if combinations.len() > MAX_MAPS {
            let more = combinations.len() - MAX_MAPS;
            blocks.push(Block::Note(format!(
                "{more} more combinations of the other settings are in the CSV."
            )));
        }
        blocks
    }

    fn map(
        &self,
        judged: &Judged,
        x: usize,
        y: &str,
        rows: &[String],
        cell: &dyn Fn(&String, &String) -> Option<f64>,
        at: String,
    ) -> Block {
        let axis = &self.grid.axes[x];
        let behind = if at.is_empty() { String::new() } else { format!(" at {at}") };
        Block::Heat(HeatMap {
            title: format!("{}{behind}", capital(judged.title)),
            caption: String::new(),
            x: axis.name.clone(),
            y: y.to_owned(),
            value: with_unit(judged),
            x_labels: axis.values.clone(),
            y_labels: rows.to_vec(),
            values: rows
                .iter()
                .map(|row| axis.values.iter().map(|value| cell(row, value)).collect())
                .collect(),
            middle: (judged.column == "rho_min").then_some(1.0),
        })
    }

    /// Mean over all points that have a value of a setting.
    fn effects(&self, judged: &Judged, column: usize) -> Table {
        let mut table = Table {
            caption: "Mean over all settings that have the value".to_owned(),
            columns: vec!["setting".to_owned(), "value".to_owned(), with_unit(judged)],
            rows: Vec::new(),
        };
        let policies = (self.policy, self.policies());
        let settings = self
            .varying
            .iter()
            .map(|&at| (at, self.grid.axes[at].values.clone()))
            .chain([policies]);
        for (at, values) in settings.filter(|(_, values)| values.len() > 1) {
            for value in values {
                let having = self.groups.iter().filter(|group| group.setting[at] == value);
                let means: Vec<f64> = having.filter_map(|group| group.mean(column)).collect();
                let mean =
                    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
                let name = Cell::Text(self.results.parameters[at].clone());
                table.rows.push(vec![
                    name,
                    Cell::Text(value),
                    mean.map_or(Cell::Empty, |mean| cell(judged, mean)),
                ]);
            }
        }
        table
    }

    fn settings_table(&self, figures: &[&str]) -> Table {
        let shown: Vec<&Judged> =
            JUDGED.iter().filter(|judged| figures.contains(&judged.column)).collect();
        let settings = self.results.parameters.len() - 1;
        let mut columns = self.results.parameters[..settings].to_vec();
        columns.extend(shown.iter().map(|judged| with_unit(judged)));
        let row = |group: &SweepGroup| {
            let own = group.setting.iter().map(|value| Cell::Text(value.clone()));
            let figures = shown.iter().map(|judged| {
                let mean = self.column(judged).and_then(|column| group.mean(column));
                mean.map_or(Cell::Empty, |mean| cell(judged, mean))
            });
            own.chain(figures).collect()
        };
        let caption = "Each setting; means over the seeds".to_owned();
        Table { caption, columns, rows: self.groups.iter().take(MAX_ROWS).map(row).collect() }
    }

    fn listing(&self) -> Section {
        let all: Vec<&str> = JUDGED.iter().map(|judged| judged.column).collect();
        let mut blocks = vec![Block::Table(self.settings_table(&all))];
        if self.groups.len() > MAX_ROWS {
            blocks.push(Block::Note(format!(
                "The first {MAX_ROWS} of {}; the CSV has all.",
                self.groups.len()
            )));
        }
        Section { id: "settings".to_owned(), title: "All settings".to_owned(), badge: None, blocks }
    }
}

/// How values stand on an axis.
struct Scale {
    log: bool,
    /// Whether the values are times, which are shown in hours.
    times: bool,
}

impl Scale {
    fn of(values: &[String]) -> Option<Scale> {
        let numbers: Vec<f64> =
            values.iter().map(|value| magnitude(value)).collect::<Option<_>>()?;
        let (low, high) =
            numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), &n| (low.min(n), high.max(n)));
        let times = values.iter().all(|value| value.parse::<f64>().is_err());
        Some(Scale { log: low > 0.0 && high / low > WIDE, times })
    }

    fn place(&self, value: &str) -> Option<f64> {
        let number = magnitude(value)? / if self.times { 3600.0 } else { 1.0 };
        Some(if self.log { libm::log10(number) } else { number })
    }

    fn label(&self, name: &str) -> String {
        match (self.log, self.times) {
            (false, false) => name.to_owned(),
            (false, true) => format!("{name}, h"),
            (true, false) => format!("{name}, as a power of 10"),
            (true, true) => format!("{name}, h, as a power of 10"),
        }
    }
}

/// All combinations of one value each.
fn combine(rest: &[(usize, Vec<String>)]) -> Vec<Vec<(usize, &str)>> {
    let mut combinations: Vec<Vec<(usize, &str)>> = vec![Vec::new()];
    for (at, values) in rest {
        let mut longer = Vec::with_capacity(combinations.len() * values.len());
        for start in &combinations {
            for value in values {
                longer.push(start.iter().copied().chain([(*at, value.as_str())]).collect());
            }
        }
        combinations = longer;
    }
    combinations
}

fn with_unit(judged: &Judged) -> String {
    if judged.unit.is_empty() {
        judged.title.to_owned()
    } else {
        format!("{} [{}]", judged.title, judged.unit)
    }
}
