//! The answer for people: what to choose and how sure that is, all candidates, and the setting in
//! the words of each scheduler. One description for terminal and report, and JSON for programs.

use meed_report::page::{
    Badge, Block, Cell, Page, PairChart, PairPoint, Section, SpreadChart, SpreadRow, Table, Tone,
    capital,
};
use serde_json::{Value, json};

use super::aims::{FIGURES, Figure};
use meed_sim::record::{COUNTED, assumed_cluster, counted_words};

use super::chance::SAMPLES;
use super::choice::{Advice, Candidate, Observed};
use super::memory::Remembers;
use super::ranks::RanksCompared;
use super::settings::SCHEDULERS;
use super::waits::Waits;
use super::{AdviceAnswer, FAIR, Question};
use crate::gain::change;
use crate::sweep::summary::quantile;
use meed_config::text::clean;

/// The answer, for the terminal; with `charts` also for a report. `notes` are what the input does
/// not hold and was assumed, and what is known of the cluster.
pub fn page(question: &Question, answer: &AdviceAnswer, charts: bool, notes: &[String]) -> Page {
    let view = View { question, answer, advice: &answer.advice };
    // A report says what to do before it shows what else was tried.
    let sections = match charts {
        true => view
            .before_and_after()
            .into_iter()
            .chain([view.settings(), view.candidates(), view.charts()])
            .collect(),
        false => vec![view.candidates(), view.settings()],
    };
    // What all figures rest on comes before them.
    let assumed = assumed_cluster(notes);
    let mut lead: Vec<String> =
        assumed.map(|note| format!("{}.", capital(note))).into_iter().collect();
    let answer = Some(lead.len());
    lead.extend(view.lead());
    lead.extend(counted_words(notes).map(|words| format!("{}.", capital(words))));
    lead.extend(view.incidents());
    // The loads are said already, all of them.
    let is_told = |note: &&String| {
        note.starts_with("load ") || note.starts_with(COUNTED) || Some(*note) == assumed
    };
    let assumed = notes.iter().filter(|note| !is_told(note)).cloned().collect();
    // Where the log lies is nobody's business who reads the page.
    let file = question.log.as_path();
    let name = file.file_name().map_or(file.as_os_str(), |name| name).to_string_lossy();
    Page { title: format!("A setting for {name}"), lead, answer, assumed, sections }
}

/// The answer as JSON (docs/advise.md).
pub fn to_json(question: &Question, answer: &AdviceAnswer, notes: &[String]) -> String {
    let view = View { question, answer, advice: &answer.advice };
    let advice = view.advice;
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
    let people = advice.people.as_ref().map(|people| {
        let one = people.one.as_ref();
        json!({
            "gain": people.gain, "lose": people.lose, "of": people.of,
            "median_s": people.median_s,
            "most_is_one": one.map(|(name, part)| json!({ "tenant": name, "part": part })),
        })
    });
    let size = |(cluster, advice): &(String, Advice)| {
        let chosen = &advice.candidates[advice.chosen];
        let ratio = view.figure(chosen, aims.aim).and_then(|of| of.ratio);
        let chosen = &chosen.policy;
        json!({
            "cluster": cluster, "chosen": chosen, "ratio": ratio,
            "seldom_full": advice.seldom_full,
        })
    };
    let told = answer.told.as_ref().map(|(words, each)| json!({ "order": words, "each": each }));
    let whole = json!({
        "schema": 1,
        "assumptions": notes,
        "baseline": question.baseline().words,
        "baseline_because": question.baseline().why,
        "aim": aims.aim.name,
        "at_most": bounds,
        "replicates": advice.replicates,
        "unchecked": advice.unchecked,
        "chosen": advice.candidates[advice.chosen].policy,
        "unfit": advice.unfit,
        "refused": advice.incidents[1],
        "seldom_full": advice.seldom_full,
        "people": people,
        "waits": answer.waits.map(|of| json!({
            "log": waits_json(&of.log), "simulated": waits_json(&of.simulated),
        })),
        "t_wait": answer.guard.map(|guard| json!({
            "value": guard.value(), "task_s": guard.task_s, "tenants": guard.tenants,
        })),
        "ranks": answer.ranks.map(ranks_json),
        "sizes": answer.sizes.iter().map(size).collect::<Vec<_>>(),
        "site_told_so": told,
        "candidates": advice.candidates.iter().map(candidate).collect::<Vec<_>>(),
        "settings": settings,
    });
    whole.to_string() + "\n"
}

fn waits_json(waits: &Waits) -> Value {
    json!({
        "jobs": waits.jobs, "mean_s": waits.mean_s, "median_s": waits.median_s,
        "p90_s": waits.p90_s,
    })
}

fn ranks_json(ranks: RanksCompared) -> Value {
    let RanksCompared { users, pairs, log, simulated, used_s: [slurm_s, log_s, simulated_s] } =
        ranks;
    let used = json!({ "slurm": slurm_s, "log": log_s, "simulated": simulated_s });
    json!({
        "users": users, "pairs": pairs, "log": log, "simulated": simulated, "used_s": used,
    })
}

struct View<'a> {
    question: &'a Question,
    answer: &'a AdviceAnswer,
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

fn wait(tenants: usize) -> &'static str {
    if tenants == 1 { "waits" } else { "wait" }
}

/// A part of one.
fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

impl View<'_> {
    fn chosen(&self) -> &Candidate {
        &self.advice.candidates[self.advice.chosen]
    }

    fn memory(&self) -> Option<Remembers> {
        self.question.memory_of(&self.chosen().policy)
    }

    fn base(&self) -> &str {
        &self.question.baseline().words
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
        let (aims, seeds) = (self.question.aims(), self.question.seeds.len());
        let (loads, base) = (self.question.loads(), self.base());
        let bounds: Vec<String> = aims
            .bounds
            .iter()
            .map(|bound| {
                let ratio = rounded(f64::from(bound.ratio) / 1000.0);
                format!("the {} at most {ratio} times that under {base}", bound.figure.title)
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
        let compared = format!("Compared with {base}: {}.", self.question.baseline().why);
        let missing = &self.advice.unchecked;
        let unchecked = (!missing.is_empty()).then(|| {
            let names = missing.join(", ");
            format!("No bound was looked at on {names}: the log has no such figure.")
        });
        let people = self.people();
        [self.verdict()]
            .into_iter()
            .chain(self.sizes())
            .chain(people)
            .chain(self.waits())
            .chain(self.ranks())
            .chain(self.answer.guard.map(|guard| guard.words()))
            .chain([asked, compared])
            .chain(unchecked)
            .collect()
    }

    fn verdict(&self) -> String {
        let (aim, base) = (self.question.aims().aim, self.base());
        let chosen = self.chosen();
        let before = self.figure(&self.advice.candidates[0], aim);
        if let Some([refused, all]) = self.advice.unfit {
            return format!(
                "No advice: {refused} of {all} jobs fit on no node of this cluster, so it is not \
                 the cluster of this log. Give its nodes by --cluster FILE."
            );
        }
        if self.advice.chosen == 0 {
            return format!("Keep {base}: {}.", self.why_keep(before));
        }
        let scale = self.scale(aim);
        let mut words = format!("Choose {}{}.", chosen.policy, self.in_site_words());
        if let (Some(own), Some(before)) = (self.figure(chosen, aim), before) {
            let percent = own.ratio.map(|ratio| format!(" ({})", change(ratio)));
            words += &format!(
                " The {} is {} instead of {} under {base}{}; {}.",
                aim.title,
                scale.words(own.mean),
                scale.words(before.mean),
                percent.unwrap_or_default(),
                self.sure()
            );
        }
        words += &self.beside();
        words + &self.others()
    }

    /// The setting as the site's own scheduler calls it, where that is known and can be told it.
    fn in_site_words(&self) -> String {
        let told = || {
            let site = super::site::scheduler_of(self.base())?;
            let row = SCHEDULERS.iter().find(|row| row.name == site)?;
            let lines = row.setting(self.memory()?).lines?;
            Some(format!(": in {} {}", row.file, lines.replace('\n', "; ")))
        };
        told().unwrap_or_default()
    }

    /// Why the baseline stays.
    fn why_keep(&self, before: Option<&Observed>) -> String {
        let aim = self.question.aims().aim;
        if let Some(part) = self.advice.seldom_full {
            let base = self.base();
            let full = match self.question.is_assumed() {
                true => "the assumed cluster would be seldom full",
                false => "the cluster is seldom full",
            };
            return format!(
                "{full}. Only {} of jobs waited a minute or longer under \
                 {base}, so no order decides much",
                percent(part)
            );
        }
        match before {
            Some(before) if before.mean == 0.0 => format!("the {} is 0 already", aim.title),
            _ if self.advice.drawn == [false; 2] => {
                "there are too few tenants and too short a log to tell a gain from chance"
                    .to_owned()
            }
            _ => {
                format!(
                    "no other candidate within the bounds makes the {} smaller by more than chance",
                    aim.title
                )
            }
        }
    }

    /// How sure a gain is.
    fn sure(&self) -> String {
        let part = match self.advice.part_s as u64 {
            604_800 => "weeks".to_owned(),
            86_400 => "days".to_owned(),
            _ => format!("parts of {} h", rounded(self.advice.part_s / 3600.0)),
        };
        let over = match self.advice.drawn {
            [true, true] => format!("tenants and over {part}"),
            [true, false] => "tenants".to_owned(),
            _ => part,
        };
        format!("it is smaller in at least 95 % of {SAMPLES} draws over {over}")
    }

    /// The gain against sharing without a memory, and what the site's own scheduler would give.
    fn beside(&self) -> String {
        let aim = self.question.aims().aim;
        let (scale, chosen) = (self.scale(aim), self.chosen());
        let mut words = String::new();
        let fair = self.advice.candidates.iter().skip(1).find(|one| one.policy == FAIR);
        let fair = fair.filter(|fair| fair.policy != chosen.policy);
        if let (Some(fair), Some(own)) =
            (fair.and_then(|fair| self.figure(fair, aim)), self.figure(chosen, aim))
        {
            let ratio = (fair.mean > 0.0).then(|| format!(" ({})", change(own.mean / fair.mean)));
            words += &format!(
                " Under {FAIR} it is {}{}.",
                scale.words(fair.mean),
                ratio.unwrap_or_default()
            );
        }
        let before = self.figure(&self.advice.candidates[0], aim);
        if let (Some((order, each)), Some(before)) = (&self.answer.told, before) {
            let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
            let ratio = (before.mean > 0.0).then(|| format!(" ({})", change(mean / before.mean)));
            words += &format!(
                " Your scheduler with this memory ({order}) gives {}{}.",
                scale.words(mean),
                ratio.unwrap_or_default()
            );
        }
        words
    }

    /// Who is as good; a range where that is most of them.
    fn others(&self) -> String {
        let chosen = self.chosen();
        let good = |one: &&Candidate| one.as_good && one.gains && one.policy != chosen.policy;
        let others: Vec<&Candidate> = self.advice.candidates.iter().filter(good).collect();
        if others.is_empty() {
            return String::new();
        }
        let all = others.iter().copied().chain([chosen]);
        let half_lives = all.filter_map(|one| match self.question.memory_of(&one.policy)? {
            Remembers::HalfLife(half_life) => Some(half_life),
            _ => None,
        });
        let mut half_lives: Vec<meed::Span> = half_lives.collect();
        half_lives.sort_unstable();
        let names: Vec<&str> = others.iter().map(|one| one.policy.as_str()).collect();
        let names = names.join("; ");
        const RANGE: usize = 4;
        match (half_lives.first(), half_lives.last()) {
            (Some(least), Some(most)) if half_lives.len() >= RANGE => {
                let span = meed_config::units::format_span;
                format!(
                    " This is one of a range: half-lives from {} to {} are as good, within \
                     chance ({names}).",
                    span(*least),
                    span(*most)
                )
            }
            _ => format!(" As good, within chance: {names}."),
        }
    }

    /// What other sizes of the cluster would be told.
    fn sizes(&self) -> Option<String> {
        let aim = self.question.aims().aim;
        let one = |(cluster, advice): &(String, Advice)| {
            let chosen = &advice.candidates[advice.chosen];
            let ratio = self.figure(chosen, aim).and_then(|of| of.ratio);
            let told = match (advice.seldom_full, advice.chosen) {
                (Some(_), _) => "it is seldom full, and nothing is to be chosen".to_owned(),
                (None, 0) => format!("keep {}", self.base()),
                (None, _) => {
                    let ratio =
                        ratio.map_or(String::new(), |ratio| format!(" ({})", change(ratio)));
                    format!("{}{ratio}", chosen.policy)
                }
            };
            format!("with {cluster}: {told}")
        };
        let all: Vec<String> = self.answer.sizes.iter().map(one).collect();
        (!all.is_empty()).then(|| {
            format!(
                "The answer depends on the size of the cluster, which nobody gave; {}. Give yours \
                 by --cluster FILE.",
                all.join("; ")
            )
        })
    }

    /// How long jobs waited in the log, and in the simulation.
    fn waits(&self) -> Option<String> {
        let is_assumed = self.question.is_assumed();
        self.answer.waits.map(|waits| waits.words(self.base(), is_assumed))
    }

    /// Where Slurm puts users, and where the baseline does.
    fn ranks(&self) -> Option<String> {
        self.answer.ranks.map(|ranks| ranks.words(self.base()))
    }

    /// Who gains and who pays.
    fn people(&self) -> Option<String> {
        let people = self.advice.people.as_ref()?;
        let scale = self.scale(self.question.aims().aim);
        let median = people.median_s.map_or(String::new(), |[before, own]| {
            format!(
                " The median of the tenants that the aim counts waits {} instead of {}.",
                scale.words(own),
                scale.words(before)
            )
        });
        let one = people.one.as_ref().map_or(String::new(), |(name, part)| {
            let much = match *part >= 1.0 {
                true => "all of it".to_owned(),
                false => percent(*part),
            };
            format!(" Most of this is one tenant: {} makes {much}.", clean(name))
        });
        Some(format!(
            "Of {} tenants, {} {} less by a minute or more in the mean, and {} {} longer.\
             {median}{one}",
            people.of,
            people.gain,
            wait(people.gain),
            people.lose,
            wait(people.lose)
        ))
    }

    fn incidents(&self) -> Option<String> {
        let [skipped, refused, unfinished] = self.advice.incidents;
        let count = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let all: Vec<String> = [
            count(skipped, "wrong lines were skipped"),
            count(refused, "jobs fit on no node and were left out"),
            count(unfinished, "jobs had not ended when the run did"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let which = match refused {
            0 => "",
            _ => " `meed simulate` with the same options names the first that fits nowhere.",
        };
        (!all.is_empty())
            .then(|| format!("In the run with most of them: {}.{which}", all.join(", ")))
    }

    /// Each tenant before and after, where something is chosen.
    fn before_and_after(&self) -> Option<Section> {
        let people = self.advice.people.as_ref().filter(|people| people.each.len() > 1)?;
        let point = |(name, [before_s, now_s]): &(String, [f64; 2])| PairPoint {
            name: clean(name).into_owned(),
            before_s: *before_s,
            now_s: *now_s,
        };
        let chart = PairChart {
            title: "Every tenant, before and after".to_owned(),
            caption: "A point for each tenant. On the dashed diagonal nothing changes; tenants \
                below it (blue circles) wait less by a minute or more, those above it (orange \
                triangles) longer. Waits below a second stand at a second."
                .to_owned(),
            what: "mean wait".to_owned(),
            before: self.base().to_owned(),
            now: self.chosen().policy.clone(),
            least_s: super::seen::NOTICED,
            points: people.each.iter().map(point).collect(),
        };
        Some(Section {
            id: "before-after".to_owned(),
            title: "Who gains, who pays".to_owned(),
            badge: None,
            blocks: vec![Block::Pairs(chart)],
        })
    }

    fn candidates(&self) -> Section {
        let mut columns = vec!["policy".to_owned()];
        for figure in self.shown() {
            let unit = self.scale(figure).unit;
            let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
            columns.push(format!("{}{unit}", figure.name));
            columns.push(format!("{} against {}", figure.name, self.base()));
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
            _ if self.advice.chosen == 0 && self.question.baseline().words != FAIR => {
                let words = format!("Nothing: {} is what you have.", self.base());
                vec![Block::Note(words)]
            }
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
    fn charts(&self) -> Section {
        let chart = |figure: &'static Figure| {
            let scale = self.scale(figure);
            let at = FIGURES.iter().position(|row| row.name == figure.name);
            let row = |(number, one): (usize, &Candidate)| {
                let runs = self.answer.runs.get(number)?;
                let mut values: Vec<f64> =
                    runs.iter().filter_map(|seen| *seen.figures.get(at?)?).collect();
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
                rows: self.advice.candidates.iter().enumerate().filter_map(row).collect(),
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
