//! Generators of a scenario: synthetic jobs, open or closed.

use meed::{ResourceKinds, Time};
use meed_config::Spanned;
use meed_config::gang::GangForm;
use meed_config::quantity::demand;
use meed_config::{Place, TextError as ScenarioError};
use meed_workload::generate::{
    self, Dist, GangLeast, GangSpec, GeneratorSpec, Limit, Per, StageSpec, Weighted,
};

use super::cluster::at;
use super::jobs::span;
use super::raw;

pub(super) fn read(
    raw: &[Spanned<raw::Generator>],
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Vec<GeneratorSpec>, ScenarioError> {
    let mut specs: Vec<GeneratorSpec> = Vec::new();
    let mut streams = std::collections::BTreeSet::new();
    for (number, entry) in raw.iter().enumerate() {
        let spec = at(place, entry, generator(entry.get_ref(), number, kinds))?;
        if !streams.insert(spec.stream.clone()) {
            let what = format!(
                "generator `{}`: there are two of that name, which would draw equal jobs",
                spec.stream
            );
            return Err(place.error(entry.span(), what));
        }
        at(place, entry, spec.check(kinds.len()).map_err(|why| why.to_string()))?;
        specs.push(spec);
    }
    Ok(specs)
}

fn generator(
    raw: &raw::Generator,
    number: usize,
    kinds: &ResourceKinds,
) -> Result<GeneratorSpec, String> {
    let stream = raw.name.clone().unwrap_or_else(|| format!("{}-{number}", raw.queue));
    let in_words = |why: String| format!("generator `{stream}`: {why}");
    let time = |key: &str, raw: &Option<raw::Quantity>| -> Result<Option<Time>, String> {
        let span = raw.as_ref().map(|raw| span(key, raw)).transpose()?;
        Ok(span.map(|span| Time::ZERO.saturating_add(span)))
    };
    let start = time("start", &raw.start).map_err(in_words)?.unwrap_or(Time::ZERO);
    let limit = Limit { jobs: raw.jobs, until: time("until", &raw.until).map_err(in_words)? };
    let weight = u32::try_from(raw.weight).ok().filter(|&weight| weight > 0 && weight <= 1_000_000);
    Ok(GeneratorSpec {
        queue: raw.queue.clone(),
        arrivals: arrivals(&raw.arrivals, start).map_err(in_words)?,
        limit,
        weight: weight.ok_or_else(|| {
            in_words(format!("weight is {}; it must be 1 to 1000000", raw.weight))
        })?,
        stages: stages(raw, kinds).map_err(in_words)?,
        stream,
    })
}

/// How many of the tasks that are drawn start together.
fn gang(terms: raw::Terms<'_>) -> Result<Option<GangSpec>, String> {
    let least = match terms.gang {
        Some(GangForm::Joint(_)) => {
            return Err(
                "gang of a generator is true, or a number; for jobs of several groups that \
                        start together write gang = true, and [[generator.group]] tables"
                    .to_owned(),
            );
        }
        Some(GangForm::All(true)) => GangLeast::All,
        Some(GangForm::Least(least)) => {
            let least = u32::try_from(least).ok().filter(|&least| least > 0);
            GangLeast::AtMost(least.ok_or("gang must be true, or a number from 1 on")?)
        }
        None | Some(GangForm::All(false)) => GangLeast::AtMost(1),
    };
    // What is wrong with the label is wrong for any number.
    let same = GangForm::read(None, terms.same, 1)?.and_then(|gang| gang.same);
    let alone = least == GangLeast::AtMost(1) && same.is_none();
    Ok((!alone).then_some(GangSpec { least, same }))
}

fn stages(raw: &raw::Generator, kinds: &ResourceKinds) -> Result<Vec<StageSpec>, String> {
    let stage = |tasks: &raw::Dist,
                 duration: &raw::Dist,
                 per: raw::Per,
                 needs: &raw::AmountsByName,
                 terms: raw::Terms<'_>| {
        Ok::<_, String>(StageSpec {
            tasks: dist("tasks", tasks)?,
            duration_s: dist("duration", duration)?,
            per: match per {
                raw::Per::Task => Per::Task,
                raw::Per::Job => Per::Job,
            },
            demand: demand(needs, kinds)?,
            constraints: super::jobs::constraints(terms.constraints)?,
            limit: super::jobs::limit(terms.limit)?,
            checkpoint: super::jobs::checkpoint(terms.checkpoint)?,
            gang: gang(terms)?,
        })
    };
    let table = |s: &raw::Stage| stage(&s.tasks, &s.duration, s.per, &s.demand, s.terms());
    if !raw.group.is_empty() {
        let groups: Vec<StageSpec> = raw.group.iter().map(table).collect::<Result<_, _>>()?;
        return as_one_gang(raw, groups);
    }
    let has_terms = raw.tasks.is_some() || !raw.terms().is_empty();
    match (&raw.duration, &raw.demand, raw.stage.is_empty()) {
        (Some(duration), Some(needs), true) => {
            let one = raw::Dist::Constant(raw::Quantity::Whole(1));
            let tasks = raw.tasks.as_ref().unwrap_or(&one);
            Ok(vec![stage(tasks, duration, raw.per, needs, raw.terms())?])
        }
        (None, None, false) if !has_terms => raw.stage.iter().map(table).collect(),
        _ => Err("give tasks, demand, duration, gang, same, limit and constraints, or \
             [[generator.stage]] tables with them"
            .to_owned()),
    }
}

/// The groups of jobs that start together as a whole.
fn as_one_gang(raw: &raw::Generator, groups: Vec<StageSpec>) -> Result<Vec<StageSpec>, String> {
    // `gang` and `same` are said of all of them together.
    let terms = raw.terms();
    let alone = raw::Terms { gang: None, same: None, ..terms };
    let is_mixed = raw.duration.is_some() || raw.demand.is_some() || raw.tasks.is_some();
    if is_mixed || !raw.stage.is_empty() || !alone.is_empty() {
        let what = "beside [[generator.group]] tables there is gang = true and same; tasks, \
                    demand, duration, limit, checkpoint and constraints are for each of them";
        return Err(what.to_owned());
    }
    if !matches!(terms.gang, Some(GangForm::All(true))) {
        let what = "the groups of [[generator.group]] tables start together: write gang = true in \
                    the [[generator]], or [[generator.stage]] tables for one after the other";
        return Err(what.to_owned());
    }
    if groups.iter().any(|group| group.gang.is_some()) {
        let what = "gang = true makes all groups one gang; a group has no gang or same of its own \
                    then";
        return Err(what.to_owned());
    }
    let same = GangForm::read(None, terms.same, 1)?.and_then(|gang| gang.same);
    let gang = GangSpec { least: GangLeast::Together, same };
    Ok(groups.into_iter().map(|it| StageSpec { gang: Some(gang.clone()), ..it }).collect())
}

fn arrivals(raw: &raw::Arrivals, start: Time) -> Result<generate::Arrivals, String> {
    let kinds = [
        raw.every.is_some(),
        raw.poisson.is_some(),
        raw.gaps.is_some(),
        raw.at.is_some(),
        raw.closed.is_some(),
    ];
    if kinds.iter().filter(|&&given| given).count() != 1 {
        return Err("arrivals are one of every, poisson, gaps, at, closed".to_owned());
    }
    if raw.pause.is_some() && raw.closed.is_none() {
        return Err("only closed arrivals have a pause".to_owned());
    }
    if let Some(gap) = &raw.every {
        return Ok(generate::Arrivals::Every { start, gap: span("every", gap)? });
    }
    if let Some(mean) = &raw.poisson {
        return Ok(generate::Arrivals::poisson(start, span("poisson", mean)?));
    }
    if let Some(gaps) = &raw.gaps {
        return Ok(generate::Arrivals::Gaps { start, gap_s: dist("gaps", gaps)? });
    }
    if let Some(times) = &raw.at {
        let time = |raw| Ok::<_, String>(Time::ZERO.saturating_add(span("at", raw)?));
        return Ok(generate::Arrivals::At(times.iter().map(time).collect::<Result<_, _>>()?));
    }
    Ok(generate::Arrivals::Closed {
        start,
        concurrent: raw.closed.unwrap_or(1),
        pause_s: raw
            .pause
            .as_ref()
            .map_or(Ok(Dist::Constant(0.0)), |pause| dist("pause", pause))?,
    })
}

/// Distributions are of seconds or of numbers of tasks; a constant may be written with a unit of
/// time.
fn dist(key: &str, raw: &raw::Dist) -> Result<Dist, String> {
    let named = match raw {
        raw::Dist::Constant(raw::Quantity::Text(_))
        | raw::Dist::Constant(raw::Quantity::Fraction(_)) => {
            let raw::Dist::Constant(constant) = raw else { unreachable!("matched above") };
            return Ok(Dist::Constant(span(key, constant)?.as_secs_f64()));
        }
        raw::Dist::Constant(raw::Quantity::Whole(number)) => {
            return Ok(Dist::Constant(*number as f64));
        }
        raw::Dist::Named(named) => named,
    };
    let mut found = Vec::new();
    found.extend(named.uniform.map(|[low, high]| Dist::Uniform { low, high }));
    found.extend(named.exponential.map(|mean| Dist::Exponential { mean }));
    found.extend(named.lognormal.map(|[median, sigma]| Dist::LogNormal { median, sigma }));
    found.extend(named.pareto.map(|[scale, shape]| Dist::Pareto { scale, shape }));
    found.extend(named.choice.as_ref().map(|values| {
        Dist::Choice(values.iter().map(|&(value, weight)| Weighted { value, weight }).collect())
    }));
    match (found.pop(), found.is_empty(), named.max) {
        (Some(dist), true, Some(max)) => Ok(Dist::AtMost { dist: Box::new(dist), max }),
        (Some(dist), true, None) => Ok(dist),
        _ => Err(format!("{key} names one of uniform, exponential, lognormal, pareto, choice")),
    }
}
