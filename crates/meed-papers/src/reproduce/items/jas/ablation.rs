//! Which single fact moves each claim of Fig. 6 to 12 most, and how far.
//!
//! Two settings: machines that share nothing, as in the figures' own items, and machines on the
//! paper's hosts ([`super::hosts`]). To each of them one fact at a time is added: what
//! [`super::study`] and [`super::hosts`] vary. What a claim is about is then compared run by run,
//! with the same environment and the same seed, so the same jobs and blocks:
//!
//! > moved(fact) = median over runs of (claim with the fact - claim without it)
//! > noise = most that the claim differs from seed to seed without it, in one environment
//!
//! Of all facts that move a claim farther than the noise of their setting the one that moves it
//! farthest decides it; where there is none, none does. Most runs are those of the two studies;
//! what was read off them is kept.

use meed_report::page::{Block, Cell, Table};

use super::hosts::{self, NAS, four};
use super::rules::{CLAIMS, PRINTED, read};
use super::single::{claims_of_figure_6, figure_6_in, ratios_of_figure_6};
use super::study::{self, ON_HOSTS, fewer, studied};
use super::threshold::figure_10_with;
use super::variant::{FEW_SEEDS, MOST_SEEDS, Variant};
use super::worlds::{World, assumptions, requests, sweep};
use crate::reproduce::report::number;
use crate::reproduce::{
    Again, Check, Context, ItemOutcome, Measured, ReproduceError, Spread, Verdict,
};

/// A claim under one fact.
struct Looked {
    check: Check,
    /// What the runs gave, beside their environment, in order of seeds.
    values: Vec<(&'static str, f64)>,
}

/// The item, and the place of a claim in [`look`].
const PLACES: [(&str, std::ops::Range<usize>); 3] =
    [("jas-fig6", 0..4), ("jas-fig8", 4..17), ("jas-fig10", 17..18)];

/// All claims under a fact, in order of their places; `None` where the fact does not touch them or
/// they are not looked at.
fn look(
    context: &Context,
    variant: &Variant,
    tenth: bool,
) -> Result<Vec<Option<Looked>>, ReproduceError> {
    let mut all: Vec<Option<Looked>> = Vec::new();
    // Fig. 6 and 10 have jobs of their own.
    let of_requests = changes_requests(variant);
    match of_requests {
        true => all.extend((0..4).map(|_| None)),
        false => {
            let few = Context { seeds: context.seeds.min(MOST_SEEDS), ..context.clone() };
            let times = figure_6_in(&few, &|world| variant.apply(world))?;
            let values = ratios_of_figure_6(&times).map(|ratios| {
                ratios.into_iter().map(|ratio| ("Environment 1", ratio)).collect::<Vec<_>>()
            });
            let checks = claims_of_figure_6(&times).into_iter();
            all.extend(checks.zip(values).map(|(check, values)| Some(Looked { check, values })));
        }
    }
    let done = studied(context, variant)?;
    let looked = done.checks.iter().zip(&done.values);
    all.extend(
        looked.map(|(check, values)| Some(Looked { check: check.clone(), values: values.clone() })),
    );
    all.push(match tenth && !of_requests {
        false => None,
        true => {
            let (checks, values) = &*figure_10_with(context, variant)?;
            let values = study::columns(values).next().unwrap_or_default();
            checks.first().map(|check| Looked { check: check.clone(), values })
        }
    });
    Ok(all)
}

fn changes_requests(variant: &Variant) -> bool {
    let mut world = World { requests: vec![requests()], ..World::new("", Vec::new()) };
    variant.apply(&mut world);
    world.requests != [requests()]
}

/// A setting, and what facts make of it.
struct Setting {
    name: &'static str,
    base: Vec<Option<Looked>>,
    facts: Vec<(&'static str, Vec<Option<Looked>>)>,
}

impl Setting {
    fn of(
        context: &Context,
        (name, base): (&'static str, &Variant),
        facts: &[Variant],
        tenth: bool,
    ) -> Result<Setting, ReproduceError> {
        let base = look(context, base, true)?;
        let mut of_facts = Vec::new();
        for fact in facts {
            // Fifty jobs for each threshold: not where runs are long.
            let tenth = tenth && fact.most_seeds == MOST_SEEDS;
            of_facts.push((fact.name, look(context, fact, tenth)?));
        }
        Ok(Setting { name, base, facts: of_facts })
    }
}

/// Machines that share nothing, with what the study varies, each fact of the hosts alone, and each
/// of Hadoop's defaults.
fn plain(context: &Context) -> Result<Setting, ReproduceError> {
    const ALONE: [&str; 7] = [
        "84 processors for all",
        "four partitions, 60 MB/s each",
        "seven cards of 1 Gbit/s",
        "output on three nodes",
        "shuffle from disks, five at once",
        "shuffle from disks, and a page cache",
        "second attempts",
    ];
    let mut facts = study::VARIANTS[1..].to_vec();
    facts.extend(hosts::VARIANTS.iter().filter(|variant| ALONE.contains(&variant.name)));
    Setting::of(context, ("plain", &study::VARIANTS[0]), &facts, true)
}

/// All of the paper's hosts.
const ALL: &str = "all of these";

/// Machines on the paper's hosts, with what both studies vary.
fn on_hosts(context: &Context) -> Result<Setting, ReproduceError> {
    let mut facts: Vec<Variant> = hosts::VARIANTS
        .iter()
        .filter(|variant| variant.name.starts_with("all, "))
        .copied()
        .collect();
    facts.extend(ON_HOSTS);
    facts.push(NAS);
    Setting::of(context, ("on hosts", base_on_hosts()), &facts, false)
}

fn base_on_hosts() -> &'static Variant {
    let base = hosts::VARIANTS.iter().find(|variant| variant.name == ALL);
    base.expect("a row of that name")
}

/// What a fact does to a claim.
struct Move {
    fact: &'static str,
    setting: &'static str,
    by: f64,
    from: f64,
    to: f64,
    /// Whether that is farther than the noise.
    counts: bool,
}

fn moved(
    setting: &'static str,
    base: &Looked,
    (fact, looked): (&'static str, &Looked),
) -> Option<Move> {
    let pairs = paired(&base.values, &looked.values);
    if pairs.is_empty() {
        return None;
    }
    let by = median(pairs.iter().map(|(from, to)| to - from));
    let (from, to) =
        (median(pairs.iter().map(|pair| pair.0)), median(pairs.iter().map(|pair| pair.1)));
    let counts = by.abs() > noise(&base.values);
    Some(Move { fact, setting, by, from, to, counts })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    Spread::of(values.collect(), 0, "").five[2]
}

/// The labels, in order.
fn labels(values: &[(&'static str, f64)]) -> Vec<&'static str> {
    let mut labels: Vec<&str> = values.iter().map(|(label, _)| *label).collect();
    labels.dedup();
    labels
}

fn of_label(values: &[(&'static str, f64)], label: &str) -> Vec<f64> {
    values.iter().filter(|(other, _)| *other == label).map(|(_, value)| *value).collect()
}

/// Runs of the same environment and seed, without and with the fact.
fn paired(base: &[(&'static str, f64)], with: &[(&'static str, f64)]) -> Vec<(f64, f64)> {
    let of = |label| of_label(base, label).into_iter().zip(of_label(with, label));
    labels(base).into_iter().flat_map(of).collect()
}

/// Most that values of one environment lie apart.
fn noise(values: &[(&'static str, f64)]) -> f64 {
    let apart = |label| {
        let five = Spread::of(of_label(values, label), 0, "").five;
        five[4] - five[0]
    };
    labels(values).into_iter().map(apart).fold(0.0, f64::max)
}

/// Everything about one claim.
struct Row {
    item: &'static str,
    what: String,
    paper: String,
    unit: String,
    /// Medians in each setting.
    settings: Vec<f64>,
    farthest: Option<Move>,
    /// Facts under which the claim comes out, and how many were looked at.
    agree: Vec<&'static str>,
    looked_at: usize,
}

fn row(item: &'static str, place: usize, settings: &[Setting]) -> Option<Row> {
    let first = settings[0].base[place].as_ref()?;
    let mut moves: Vec<Move> = Vec::new();
    let (mut agree, mut looked_at) = (Vec::new(), 0);
    for setting in settings {
        let Some(base) = &setting.base[place] else { continue };
        for (fact, all) in &setting.facts {
            let Some(looked) = &all[place] else { continue };
            moves.extend(moved(setting.name, base, (fact, looked)));
            looked_at += 1;
            agree.extend((looked.check.verdict == Verdict::Agrees).then_some(*fact));
        }
    }
    let unit = match &first.check.measured {
        Measured::Spread(spread) => spread.unit.clone(),
        _ => String::new(),
    };
    let base = settings.iter().filter_map(|setting| setting.base[place].as_ref());
    Some(Row {
        item,
        what: first.check.what.clone(),
        paper: first.check.paper.clone(),
        unit,
        settings: base.map(|base| median(base.values.iter().map(|(_, value)| *value))).collect(),
        farthest: moves.into_iter().max_by(farther),
        agree,
        looked_at,
    })
}

/// A move that counts before one that does not, for each setting has a noise of its own; then the
/// farther one.
fn farther(a: &Move, b: &Move) -> std::cmp::Ordering {
    a.counts.cmp(&b.counts).then(a.by.abs().total_cmp(&b.by.abs()))
}

/// Of so many names all are listed.
const FEW_NAMES: usize = 3;

impl Row {
    /// "1.752 plain, 2.280 on hosts; most +1.1, by CPU work halved (plain, 1.752 to 2.852)".
    fn words(&self, settings: &[Setting]) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let at = self.settings.iter().zip(settings);
        let at: Vec<String> =
            at.map(|(value, setting)| format!("{} {}", number(*value), setting.name)).collect();
        let farthest = match &self.farthest {
            Some(it) if it.counts => format!(
                "most {}{unit}, by \"{}\" ({}, from {} to {})",
                signed(it.by),
                it.fact,
                it.setting,
                number(it.from),
                number(it.to)
            ),
            Some(it) => format!(
                "none decides: most {}{unit}, by \"{}\", which is within what seeds differ by",
                signed(it.by),
                it.fact
            ),
            None => "no fact was looked at".to_owned(),
        };
        format!("{}; {farthest}", at.join(", "))
    }

    /// The facts under which the claim comes out.
    fn facts(&self) -> Vec<String> {
        match self.agree.len() {
            0..=FEW_NAMES => self.agree.iter().map(|&fact| fact.to_owned()).collect(),
            many => vec![format!("{many} of {} single facts (jas-ablation)", self.looked_at)],
        }
    }

    fn check(&self, settings: &[Setting]) -> Check {
        let names = match self.agree.len() {
            0 => "comes out with none of them".to_owned(),
            _ => format!("comes out with {}", self.agree.join("; ")),
        };
        let again = Again { item: self.item, claim: self.what.clone(), facts: self.facts() };
        Check {
            paper: self.paper.clone(),
            again: Some(again),
            ..Check::beyond(
                format!("what decides: {}", fewer(&self.what)),
                Measured::Words(self.words(settings)),
                &format!("{} facts were looked at; the claim {names}", self.looked_at),
            )
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let value =
            |at: usize| self.settings.get(at).map_or(Cell::Empty, |value| Cell::Number(*value));
        let text = |text: &str| Cell::Text(text.to_owned());
        let farthest = match &self.farthest {
            Some(it) if it.counts => [text(it.fact), text(it.setting), Cell::Number(it.by)],
            _ => [text("none"), Cell::Empty, Cell::Empty],
        };
        let first = [text(&fewer(&self.what)), text(&self.paper), value(0), value(1)];
        first.into_iter().chain(farthest).chain([Cell::Text(self.facts().join("; "))]).collect()
    }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

fn table(rows: &[Row]) -> Block {
    let columns =
        ["claim", "paper", "plain", "on hosts", "moved most by", "where", "by", "comes out with"];
    Block::Table(Table {
        caption: "Medians, and the one fact that moves each claim farthest: run by run, with the \
            same environment and seed. None: no farther than seeds differ by"
            .to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.iter().map(Row::cells).collect(),
    })
}

/// The gains of Fig. 8 and 11 in each of the four environments by itself: Environments 3 and 4
/// differ from the first in memory and in the master only.
fn environments_apart(context: &Context) -> Result<Vec<Check>, ReproduceError> {
    let mut checks = Vec::new();
    for (name, variant) in [("plain", &study::VARIANTS[0]), ("on hosts", base_on_hosts())] {
        let runs = sweep(context, FEW_SEEDS, &four(variant), &PRINTED, read)?;
        for (i, claim) in CLAIMS.iter().enumerate().filter(|(_, claim)| claim.unit == "%") {
            let values: Vec<(&str, f64)> =
                runs.iter().filter_map(|(label, seen)| Some((*label, seen.claims[i]?))).collect();
            let of = |label| number(median(of_label(&values, label).into_iter()));
            let words: Vec<String> = labels(&values).into_iter().map(of).collect();
            checks.push(Check {
                paper: claim.paper.to_owned(),
                ..Check::beyond(
                    format!("{} in Environments 1, 2, 3, 4 ({name})", claim.what),
                    Measured::Words(format!("{} %", words.join(", "))),
                    "medians over the seeds; with the memory of Tables 5 to 7 and a master that \
                     takes its time",
                )
            });
        }
    }
    Ok(checks)
}

/// See the module.
pub(in super::super) fn ablation(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let settings = [plain(context)?, on_hosts(context)?];
    let places = PLACES.into_iter().flat_map(|(item, places)| places.map(move |at| (item, at)));
    let rows: Vec<Row> = places.filter_map(|(item, at)| row(item, at, &settings)).collect();
    let mut checks: Vec<Check> = rows.iter().map(|row| row.check(&settings)).collect();
    checks.extend(environments_apart(context)?);
    let mut assumptions = assumptions();
    // Environments 3 and 4 are run here.
    assumptions.truncate(3);
    assumptions.push(format!(
        "Facts are looked at one by one: what jas-study varies, each fact of the hosts and each of \
         Hadoop's defaults alone; on the hosts what jas-hosts and jas-study vary. Three requests, \
         at most {MOST_SEEDS} seeds, {FEW_SEEDS} on the hosts and where runs are long. Fig. 6 \
         again where a fact is not about requests; Fig. 10 so, and only where machines share \
         nothing, over {FEW_SEEDS} seeds."
    ));
    assumptions.push(
        "On the hosts a disk or network that is so many times as fast is a partition or card that \
         is, too. On a NAS: half of all machines on one disk more, of 60 MB/s; the others on the \
         four partitions."
            .to_owned(),
    );
    Ok(ItemOutcome { checks, assumptions, blocks: vec![table(&rows)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::ITEMS;

    #[test]
    fn a_move_beyond_the_noise_of_its_own_setting_comes_before_a_farther_one_that_is_not() {
        let one = |by, counts| Move { fact: "f", setting: "s", by, from: 0.0, to: by, counts };
        let farthest = |moves: [Move; 3]| moves.into_iter().max_by(farther).map(|it| it.by);
        assert_eq!(farthest([one(-13.0, false), one(5.0, true), one(-4.0, true)]), Some(5.0));
        assert_eq!(farthest([one(-13.0, false), one(5.0, false), one(4.0, false)]), Some(-13.0));
    }

    #[test]
    fn moves_are_paired_by_environment_and_seed() {
        let base = [("1", 1.0), ("1", 2.0), ("1", 4.0), ("2", 10.0), ("2", 11.0)];
        let with = [("1", 2.0), ("1", 4.0), ("2", 13.0)];
        assert_eq!(paired(&base, &with), [(1.0, 2.0), (2.0, 4.0), (10.0, 13.0)]);
        assert_eq!(noise(&base), 3.0);
        let check = Check::beyond("", Measured::Words(String::new()), "");
        let looked = |values: &[(&'static str, f64)]| Looked {
            check: check.clone(),
            values: values.to_vec(),
        };
        let moved_by = |with: &[(&'static str, f64)]| {
            let it = moved("plain", &looked(&base), ("a fact", &looked(with)))?;
            Some((it.by, it.counts))
        };
        assert_eq!(moved_by(&with), Some((2.0, false)));
        assert_eq!(moved_by(&[("1", -9.0), ("2", 0.0), ("2", 0.5)]), Some((-10.0, true)));
        assert_eq!(moved_by(&[]), None);
    }

    #[test]
    fn which_facts_are_of_requests() {
        let of_requests = |variants: &[Variant]| -> Vec<&'static str> {
            variants.iter().filter(|it| changes_requests(it)).map(|it| it.name).collect()
        };
        assert_eq!(of_requests(&study::VARIANTS).len(), 4);
        assert_eq!(of_requests(&hosts::VARIANTS), ["all, 5 to 100 GB a job"]);
        assert_eq!(of_requests(&ON_HOSTS).len(), 3);
    }

    /// One fact in each setting; all of them are for `meed reproduce jas-ablation`.
    #[test]
    fn what_moves_each_claim_most() {
        if crate::thorough::is_left_out("jas-ablation") {
            return;
        }
        let context = Context::new(None, 1, 1);
        let tenth_as_fast = &study::VARIANTS[5..6];
        let settings = [
            Setting::of(&context, ("plain", &study::VARIANTS[0]), tenth_as_fast, true),
            Setting::of(&context, ("on hosts", base_on_hosts()), &[NAS], false),
        ];
        let settings = settings.map(|setting| setting.expect("it runs through"));
        let places = PLACES.into_iter().flat_map(|(item, all)| all.map(move |at| (item, at)));
        let rows: Vec<Row> =
            places.map(|(item, at)| row(item, at, &settings).expect("a claim")).collect();
        // Four claims of Fig. 6, 13 of Fig. 8 to 12, one of Fig. 10.
        assert_eq!(rows.len(), 18);
        for row in &rows {
            let check = row.check(&settings);
            let words = check.measured.words();
            assert!(words.contains(" plain, ") && words.contains(" on hosts; "), "{words}");
            assert!(ITEMS.iter().any(|item| item.id == row.item));
            assert_eq!(row.looked_at, if row.item == "jas-fig10" { 1 } else { 2 });
        }
        // Where disks are slow sorting takes long, as printed.
        let words = rows[0].words(&settings);
        assert!(words.contains("disks a tenth as fast"), "{words}");
        assert!(rows[0].agree.contains(&"disks a tenth as fast (shared)"));
        // Half of the machines on one disk more is another world.
        let nas = &settings[1].facts[0].1[4].as_ref().expect("looked at").values;
        assert_ne!(nas, &settings[1].base[4].as_ref().expect("looked at").values);
    }
}
