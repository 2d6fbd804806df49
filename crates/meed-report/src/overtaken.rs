//! Words about tasks that were overtaken (docs/reservations.md).

use std::iter::once;

use meed_driver::record::{MostOvertaken, RunRecord, WithReserve};

use crate::number::{Scale, count, significant};

/// Rarer is not worth a word.
const WORTH_A_WORD: u64 = 10;
/// Rarer is not worth one where nobody knows whether anything helps.
const WORTH_ONE_ANYWAY: u64 = 100;

/// The task of the run that was overtaken most, with its queue, where it matters: where room held
/// for it would have halved its wait at least, or nobody knows and it was overtaken very often.
fn notable(run: &RunRecord) -> Option<(&str, &MostOvertaken)> {
    let each = run.queues.iter().filter_map(|queue| {
        let most = queue.overtaken.as_ref()?.most.as_ref()?;
        Some((queue.queue.as_str(), most))
    });
    // The first of equal ones.
    let (queue, most) = each.rev().max_by_key(|(_, most)| most.times)?;
    is_notable(most).then_some((queue, most))
}

fn is_notable(most: &MostOvertaken) -> bool {
    match most.with_reserve {
        Some(WithReserve { waited_s: Some(waited) }) => {
            most.times >= WORTH_A_WORD && 2.0 * waited <= most.waited_s
        }
        Some(WithReserve { waited_s: None }) => false,
        None => most.times >= WORTH_ONE_ANYWAY,
    }
}

/// A sentence or two about it.
pub(crate) fn sentence(run: &RunRecord) -> Option<String> {
    notable(run).map(|(queue, most)| words(queue, most))
}

fn words(queue: &str, most: &MostOvertaken) -> String {
    let asks: Vec<String> =
        most.demand.iter().map(|(name, amount)| self::amount(name, *amount)).collect();
    let still = if most.started_s.is_none() { ", and still waits at the end" } else { "" };
    let by: Vec<String> =
        most.by.iter().take(3).map(|by| format!("{}: {}", by.queue, count(by.times))).collect();
    let more = if most.by.len() > 3 { ", others" } else { "" };
    let mut text = format!(
        "job {} of {queue} waited {} for {} on one node{still}; {} narrower tasks that came later \
         started meanwhile ({}{more})",
        most.job,
        span(most.waited_s),
        asks.join(", "),
        count(most.times),
        by.join(", "),
    );
    if let Some(WithReserve { waited_s: Some(waited) }) = most.with_reserve {
        text += &format!(
            "; with when_blocked=reserve it would have waited {} (run a second time)",
            span(waited)
        );
    }
    text
}

fn amount(name: &str, amount: f64) -> String {
    match name {
        "memory" | "mem" => format!("{} GiB of {name}", significant(amount / (1u64 << 30) as f64)),
        _ => format!("{} {name}", significant(amount)),
    }
}

fn span(seconds: f64) -> String {
    let scale = Scale::time(once(Some(seconds)));
    format!("{} {}", scale.show(Some(seconds)), if seconds > 0.0 { &scale.unit } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use meed_driver::record::Overtaker;

    use super::*;

    fn most(times: u64, reserve: Option<Option<f64>>) -> MostOvertaken {
        MostOvertaken {
            job: 17.into(),
            demand: BTreeMap::from([
                ("cpu".to_owned(), 4.5),
                ("memory".to_owned(), 6_442_450_944.0),
            ]),
            since_s: 0.0,
            started_s: Some(36_000.0),
            waited_s: 36_000.0,
            times,
            by: vec![Overtaker { queue: "b".to_owned(), times }],
            with_reserve: reserve.map(|waited_s| WithReserve { waited_s }),
        }
    }

    #[test]
    fn it_is_told_where_it_matters() {
        let matters = |times, reserve| is_notable(&most(times, reserve));
        assert!(matters(10, Some(Some(18_000.0))) && !matters(9, Some(Some(0.0))));
        assert!(!matters(1000, Some(Some(18_001.0))), "held room would have helped little");
        assert!(!matters(1000, Some(None)) && matters(100, None) && !matters(99, None));
    }

    #[test]
    fn in_words() {
        assert_eq!(
            words("a.b", &most(12_345, Some(Some(90.0)))),
            "job 17 of a.b waited 10.0 h for 4.500 cpu, 6 GiB of memory on one node; 12,345 \
             narrower tasks that came later started meanwhile (b: 12,345); with \
             when_blocked=reserve it would have waited 90.0 s (run a second time)"
        );
        let waits = MostOvertaken { started_s: None, ..most(200, None) };
        assert!(words("q", &waits).contains("on one node, and still waits at the end; 200 narrow"));
        assert!(!words("q", &waits).contains("when_blocked"));
    }
}
