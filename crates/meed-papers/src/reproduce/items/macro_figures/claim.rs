//! What a paper says about a number, and how often it came out over many runs.

use meed_report::page::{Block, SpreadChart, SpreadRow};

use crate::reproduce::{Check, Measured, Spread, Verdict};

/// What each run gave, beside its group: a factor of task times, an environment.
type Values<G> = [(G, Option<f64>)];

/// How groups of runs are called.
pub(in crate::reproduce::items) struct Groups<G> {
    /// In sentences, behind "at".
    pub(in crate::reproduce::items) name: fn(&G) -> String,
    /// In charts, behind what is measured.
    pub(in crate::reproduce::items) short: fn(&G) -> String,
    /// Words below the charts.
    pub(in crate::reproduce::items) caption: &'static str,
}

/// Factors of assumed task times.
const SCALES: Groups<f64> = Groups {
    name: |scale| format!("task times x {scale}"),
    short: |scale| format!("x {scale}"),
    caption: "A row for each factor of our assumed task times, over all seeds.",
};

/// One number that a paper speaks of.
pub(in crate::reproduce::items) struct Claim {
    /// Title of the chart that it is drawn in; neighbours with the same title share one.
    pub(in crate::reproduce::items) chart: &'static str,
    /// What it is.
    pub(in crate::reproduce::items) what: &'static str,
    /// What is printed, in words.
    pub(in crate::reproduce::items) paper: &'static str,
    /// The unit; empty for a ratio.
    pub(in crate::reproduce::items) unit: &'static str,
    /// The paper's value or range, where it gives one.
    pub(in crate::reproduce::items) reference: Option<(f64, f64)>,
    /// From which value up to which a run agrees.
    pub(in crate::reproduce::items) agrees: (f64, f64),
    /// Why it may differ.
    pub(in crate::reproduce::items) otherwise: &'static str,
}

/// The claim, with what each run gave, beside the run's group. Runs in which the number does not
/// exist are left out.
fn check<G: Copy + PartialEq>(claim: &Claim, groups: &Groups<G>, runs: &Values<G>) -> Check {
    let seen: Vec<(G, f64)> =
        runs.iter().filter_map(|(group, value)| Some((*group, (*value)?))).collect();
    let holds = |value: f64| claim.agrees.0 <= value && value <= claim.agrees.1;
    let agreeing = seen.iter().filter(|(_, value)| holds(*value)).count();
    let verdict = Verdict::of_runs(agreeing, seen.len());
    let (mut counts, mut under) = (Vec::new(), Vec::new());
    for group in distinct(runs) {
        let of_group = || seen.iter().filter(|(other, _)| *other == group);
        let (agree, of) =
            (of_group().filter(|(_, value)| holds(*value)).count(), of_group().count());
        let name = (groups.name)(&group);
        counts.push(format!("{agree} of {of} at {name}"));
        if verdict == Verdict::Differs && Verdict::of_runs(agree, of) == Verdict::Agrees {
            under.push(name);
        }
    }
    let counts = format!("{}: {}", bounds(claim.agrees), counts.join(", "));
    let reason = match verdict == Verdict::Agrees || claim.otherwise.is_empty() {
        true => counts,
        false => format!("{} ({counts})", claim.otherwise),
    };
    let values: Vec<f64> = seen.iter().map(|(_, value)| *value).collect();
    Check {
        what: claim.what.to_owned(),
        paper: claim.paper.to_owned(),
        measured: match five(&values) {
            Some(five) => {
                let unit = claim.unit.to_owned();
                Measured::Spread(Spread { five, runs: values.len(), agreeing, unit })
            }
            None => Measured::Words("seen in no run".to_owned()),
        },
        verdict,
        reason: Some(reason),
        under,
        again: None,
    }
}

/// The bounds in words.
fn bounds((low, high): (f64, f64)) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("agreeing runs, from {low} to {high}"),
        (true, false) => format!("agreeing runs, {low} or more"),
        (false, true) => format!("agreeing runs, {high} or less"),
        (false, false) => "agreeing runs".to_owned(),
    }
}

/// The groups, in the order of the runs; those of a group follow each other.
fn distinct<G: Copy + PartialEq>(runs: &Values<G>) -> Vec<G> {
    let mut groups: Vec<G> = runs.iter().map(|(group, _)| *group).collect();
    groups.dedup();
    groups
}

/// Checks and charts of all claims; `runs` has a value for each claim, beside the run's factor of
/// task times.
pub(in crate::reproduce::items) fn check_all<const N: usize>(
    claims: &[Claim; N],
    runs: &[(f64, [Option<f64>; N])],
) -> (Vec<Check>, Vec<Block>) {
    check_groups(claims, &SCALES, runs)
}

/// How runs whose grants were late are called.
pub(super) const LATE: Groups<f64> = Groups {
    name: |_| "late grants".to_owned(),
    short: |_| "late".to_owned(),
    caption: "Late grants.",
};

/// Checks of all claims of an item over runs whose grants were late.
pub(in crate::reproduce::items) fn check_late<const N: usize>(
    item: &'static str,
    claims: &[Claim; N],
    runs: &[(f64, [Option<f64>; N])],
) -> Vec<Check> {
    check_under(item, &LATE, claims, runs)
}

/// Facebook's and Purdue's tasks are long against the stages of TPC-H and Spark.
pub(super) const FULL: Groups<f64> = Groups {
    name: |_| "tasks of Facebook x 3, of Purdue x 15".to_owned(),
    short: |_| "x 3, x 15".to_owned(),
    caption: "Tasks of Facebook take three times, those of Purdue 15 times as long as assumed.",
};

/// Purdue's still longer.
pub(super) const FULLER: Groups<f64> = Groups {
    name: |_| "tasks of Facebook x 3, of Purdue x 20".to_owned(),
    short: |_| "x 3, x 20".to_owned(),
    caption: "Tasks of Facebook take three times, those of Purdue 20 times as long as assumed.",
};

/// Both alike.
pub(super) const BOTH_TEN: Groups<f64> = Groups {
    name: |_| "tasks of Facebook and Purdue x 10".to_owned(),
    short: |_| "x 10".to_owned(),
    caption: "Tasks of Facebook and Purdue take ten times as long as assumed.",
};

/// All but TPC-H's tasks take three times as long as assumed.
pub(super) const OTHERS_LONGER: Groups<f64> = Groups {
    name: |_| "all tasks but TPC-H's x 3".to_owned(),
    short: |_| "x 3".to_owned(),
    caption: "All tasks but TPC-H's take three times as long as assumed.",
};

/// The same, and grants are late.
pub(super) const LATE_LONGER: Groups<f64> =
    Groups { name: |_| "late grants, all tasks but TPC-H's x 3".to_owned(), ..LATE };

/// Grants are late, and masters hold a container each.
pub(super) const MASTERS: Groups<f64> =
    Groups { name: |_| "late grants, masters hold containers".to_owned(), ..LATE };

/// The same, and those containers count among running tasks.
pub(super) const MASTERS_COUNTED: Groups<f64> =
    Groups { name: |_| "late grants, containers of masters counted".to_owned(), ..LATE };

/// Masters hold a container each, and all tasks but TPC-H's take three times as long.
pub(super) const MASTERS_LONGER: Groups<f64> = Groups {
    name: |_| "late grants, masters hold containers, all tasks but TPC-H's x 3".to_owned(),
    ..LATE
};

/// All of these.
pub(super) const MASTERS_COUNTED_LONGER: Groups<f64> = Groups {
    name: |_| "late grants, containers of masters counted, all tasks but TPC-H's x 3".to_owned(),
    ..LATE
};

/// Checks of all claims of an item over runs of one group, which is the fact.
pub(super) fn check_under<const N: usize>(
    item: &'static str,
    group: &Groups<f64>,
    claims: &[Claim; N],
    runs: &[(f64, [Option<f64>; N])],
) -> Vec<Check> {
    let (checks, _) = check_groups(claims, group, runs);
    let fact = (group.name)(&1.0);
    checks.into_iter().map(|check| check.again(item, &fact)).collect()
}

/// Checks and charts of all claims; `runs` has a value for each claim, beside the run's group.
pub(in crate::reproduce::items) fn check_groups<G: Copy + PartialEq, const N: usize>(
    claims: &[Claim; N],
    groups: &Groups<G>,
    runs: &[(G, [Option<f64>; N])],
) -> (Vec<Check>, Vec<Block>) {
    let column = |i: usize| -> Vec<(G, Option<f64>)> {
        runs.iter().map(|(group, values)| (*group, values[i])).collect()
    };
    let checks =
        claims.iter().enumerate().map(|(i, claim)| check(claim, groups, &column(i))).collect();
    let mut charts: Vec<SpreadChart> = Vec::new();
    for (i, claim) in claims.iter().enumerate() {
        if charts.last().is_none_or(|chart| chart.title != claim.chart) {
            charts.push(SpreadChart {
                title: claim.chart.to_owned(),
                caption: groups.caption.to_owned(),
                x: if claim.unit.is_empty() { "ratio".to_owned() } else { claim.unit.to_owned() },
                rows: Vec::new(),
            });
        }
        let alone = claims.iter().filter(|other| other.chart == claim.chart).count() == 1;
        let rows = rows(if alone { "" } else { claim.what }, claim.reference, groups, &column(i));
        if let Some(chart) = charts.last_mut() {
            chart.rows.extend(rows);
        }
    }
    charts.retain(|chart| !chart.rows.is_empty());
    (checks, charts.into_iter().map(Block::Spreads).collect())
}

/// A row for each group; `what` is empty where the chart's title says it.
fn rows<G: Copy + PartialEq>(
    what: &str,
    reference: Option<(f64, f64)>,
    groups: &Groups<G>,
    runs: &Values<G>,
) -> Vec<SpreadRow> {
    let row = |group: G| {
        let of_group = runs.iter().filter(|(other, _)| *other == group);
        let values: Vec<f64> = of_group.filter_map(|(_, value)| *value).collect();
        let label = match what {
            "" => (groups.name)(&group),
            what => format!("{what}, {}", (groups.short)(&group)),
        };
        Some(SpreadRow { label, five: five(&values)?, reference })
    };
    distinct(runs).into_iter().filter_map(row).collect()
}

/// Smallest, first quartile, median, third quartile, largest; quartiles between neighbours by
/// straight lines.
pub(in crate::reproduce::items) fn five(values: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|part| {
        let place = part * last as f64;
        let (below, rest) = (place as usize, place.fract());
        sorted[below] + rest * (sorted[(below + 1).min(last)] - sorted[below])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles() {
        assert_eq!(five(&[]), None);
        assert_eq!(five(&[3.0]), Some([3.0; 5]));
        assert_eq!(five(&[4.0, 1.0, 2.0, 3.0]), Some([1.0, 1.75, 2.5, 3.25, 4.0]));
        assert_eq!(five(&[5.0, 1.0, 2.0, 3.0, 4.0]), Some([1.0, 2.0, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn three_quarters_of_the_runs_decide() {
        let claim = Claim {
            chart: "c",
            what: "w",
            paper: "2",
            unit: "s",
            reference: None,
            agrees: (1.0, 3.0),
            otherwise: "because",
        };
        let rows: [(&Values<f64>, Verdict, &str); 4] = [
            (
                &[(0.5, Some(1.0)), (0.5, Some(3.0)), (1.0, Some(2.0)), (1.0, Some(9.0))],
                Verdict::Agrees,
                "agreeing runs, from 1 to 3: 2 of 2 at task times x 0.5, 1 of 2 at task times x 1",
            ),
            (
                &[(1.0, Some(0.0)), (1.0, Some(2.0))],
                Verdict::Differs,
                "because (agreeing runs, from 1 to 3: 1 of 2 at task times x 1)",
            ),
            (
                &[(1.0, None), (1.0, Some(2.0))],
                Verdict::Agrees,
                "agreeing runs, from 1 to 3: 1 of 1 at task times x 1",
            ),
            (
                &[(1.0, None)],
                Verdict::Differs,
                "because (agreeing runs, from 1 to 3: 0 of 0 at task times x 1)",
            ),
        ];
        for (runs, verdict, reason) in rows {
            let check = check(&claim, &SCALES, runs);
            assert_eq!((check.verdict, check.reason.as_deref()), (verdict, Some(reason)));
        }
    }
}
