//! A counterexample in words.

use super::case::{PERIOD, PlanCase, PlanLie, Wants, name};
use super::measure::Judged;
use super::property::PlanProperty;
use super::{PlanCounterexample, PlanProblem};

/// What was found, for people.
pub(super) fn counterexample(property: PlanProperty, worst: Judged) -> PlanCounterexample {
    let case = &worst.case;
    let market: Vec<String> = case.market.iter().map(u32::to_string).collect();
    let mut story = vec![format!(
        "{} periods of {PERIOD} min; the market's price of an instance and hour: {}.",
        case.periods(),
        market.join(", ")
    )];
    story.extend((0..case.tenants.len()).map(|tenant| of_tenant(case, tenant)));
    story.extend(case.lie.map(|lie| of_lie(case, lie)));
    let percent = worst.value * 100.0;
    story.push(format!("{}: {percent:.1} %; {}.", name(worst.tenant), property.row().means));
    PlanCounterexample {
        value: worst.value,
        tolerance: worst.tolerance,
        tenant: name(worst.tenant),
        story,
        case: worst.case,
    }
}

fn of_tenant(case: &PlanCase, tenant: usize) -> String {
    let one = &case.tenants[tenant];
    let wants = one.wants.iter().map(|want| match want {
        Wants::Nothing => "nothing",
        Wants::Own => "its own",
        Wants::All => "all",
    });
    let price = one.fixed.map_or("at the market's price".to_owned(), |it| format!("at {it}"));
    let kind = match case.problem {
        PlanProblem::UnequalInstances => format!(" of weight {}", one.weight),
        _ => String::new(),
    };
    let tasks = match case.problem.resources() {
        [first, second] => {
            let [of_first, of_second] = one.task;
            format!(" Tasks of {of_first} {first} and {of_second} {second}.")
        }
        _ => String::new(),
    };
    format!(
        "{} contributes {} instances{kind} {price} from period {} to {}; new work: {}.{tasks}",
        name(tenant),
        one.count * case.scale,
        one.from + 1,
        one.until,
        wants.collect::<Vec<_>>().join(", ")
    )
}

fn of_lie(case: &PlanCase, lie: PlanLie) -> String {
    let liar = name(case.liar);
    match lie {
        PlanLie::Later { period, by } => {
            format!("The lie: {liar} submits its work of period {} by {by} later.", period + 1)
        }
        PlanLie::Early { by } => {
            let count = case.stay(case.liar, true).count;
            format!("The lie: {liar} contributes {count} instances instead, {by} earlier.")
        }
        PlanLie::From { period } => {
            format!("The lie: {liar} contributes from period {} on.", period + 1)
        }
        PlanLie::Name { periods, gives } => {
            let which = (0..case.periods()).filter(|period| periods >> period & 1 == 1);
            let which: Vec<String> = which.map(|period| (period + 1).to_string()).collect();
            format!(
                "The lie: a second name, which contributes {} of the instances, has {liar}'s work \
                 of period {}.",
                gives * case.scale,
                which.join(", ")
            )
        }
        PlanLie::Times { factor } => {
            format!("The lie: {liar} pays {factor} times as much, and is given it back.")
        }
        PlanLie::Drive { period, factor } => {
            format!(
                "The lie: {liar} makes the market {factor} times as dear in period {}.",
                period + 1
            )
        }
    }
}
