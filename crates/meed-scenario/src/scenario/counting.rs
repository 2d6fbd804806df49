//! `run.warm_up`, `run.cool_down`: what of a run is left out of figures, at its beginning and at
//! its end.
//!
//! Both are times of the workload, as it is at load 1: at each load the same jobs count. Of a bare
//! trace both are as long as a cluster that begins empty takes to fill
//! ([`meed_workload::filling`]), of a scenario file none, unless it says otherwise.

use meed::{Span, Time};
use meed_config::units::format_span;
use meed_config::{Place, TextError as ScenarioError};
use meed_driver::CountedSpan;
use meed_driver::record::COUNTED;
use meed_journal::Detail;
use meed_workload::filling::Filling;
use meed_workload::stretch::Load;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::raw;

/// Where a header tells of it.
const KEY: &str = "counted";

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountingPlan {
    pub(super) warm_up: Span,
    pub(super) cool_down: Span,
    /// Nothing before counts: those that ran or waited when the window begins.
    pub(super) least: Span,
    /// The last submission of the workload.
    pub(super) last: Option<Time>,
    /// What a header tells, instead of all that.
    pub(super) told: Option<CountedSpan>,
}

impl CountingPlan {
    /// What `run` says.
    pub(super) fn read(run: &raw::Run, place: &Place<'_>) -> Result<CountingPlan, ScenarioError> {
        let span = |key: &str, given: &Option<meed_config::Spanned<raw::Quantity>>| match given {
            None => Ok(Span::ZERO),
            Some(given) => given.get_ref().span(key).map_err(|why| place.error(given.span(), why)),
        };
        let warm_up = span("warm_up", &run.warm_up)?;
        let cool_down = span("cool_down", &run.cool_down)?;
        Ok(CountingPlan { warm_up, cool_down, ..CountingPlan::default() })
    }

    /// The same from another time on.
    pub(super) fn from(self, warm_up: Span) -> CountingPlan {
        let told = self.told.unwrap_or_default();
        let told = CountedSpan { from: Time::ZERO.saturating_add(warm_up), ..told };
        CountingPlan { told: Some(told), ..self }
    }

    /// The part of a run that counts, which ends by `until` at the latest where it has an end.
    pub(super) fn span(&self, load: Load, until: Option<Time>) -> CountedSpan {
        if let Some(told) = self.told {
            return told;
        }
        let at = |span: Span| load.submit(Time::ZERO.saturating_add(span));
        let from = at(self.warm_up.max(self.least));
        let last = self.last.map(|last| load.submit(last)).into_iter().chain(until).min();
        let to = match last {
            Some(last) if self.cool_down > Span::ZERO => {
                let before = last.as_micros().saturating_sub(at(self.cool_down).as_micros());
                Time::from_micros(before).unwrap_or(Time::MAX)
            }
            _ => Time::MAX,
        };
        CountedSpan { from, to: to.max(from) }
    }

    /// What is said of it: how it was chosen, and how many jobs of all it leaves.
    pub(super) fn words(&self, chosen: Option<Filling>, counted: usize, all: usize) -> String {
        let (first, last) = (format_span(self.warm_up), format_span(self.cool_down));
        let why = match chosen {
            None => String::new(),
            Some(Filling { is_capped: true, .. }) => {
                ", a tenth of the log each: a cluster that begins empty takes longer to fill with \
                 these jobs"
                    .to_owned()
            }
            Some(_) => {
                ", as long as a cluster that begins empty takes to fill to 95 % with these jobs"
                    .to_owned()
            }
        };
        let ends = [("the first", self.warm_up, first), ("the last", self.cool_down, last)];
        let ends = ends.into_iter().filter(|(_, span, _)| *span > Span::ZERO);
        let ends: Vec<String> = ends.map(|(which, _, words)| format!("{which} {words}")).collect();
        let what = match ends.is_empty() {
            true => "those that were there when its window begins are run and left out".to_owned(),
            false => format!(
                "{} of the log are run and left out{why} (--warm-up 0 --cool-down 0 counts all)",
                ends.join(" and ")
            ),
        };
        format!("{COUNTED}figures are of {counted} of {all} jobs: {what}")
    }
}

#[derive(Serialize, Deserialize)]
struct Form {
    from_us: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_us: Option<u64>,
}

/// `detail` with what a header tells of `counted`.
pub(super) fn told(counted: CountedSpan, detail: Detail) -> Detail {
    if counted.is_all() {
        return detail;
    }
    let to_us = Some(counted.to).filter(|to| *to < Time::MAX).map(Time::as_micros);
    let form = Form { from_us: counted.from.as_micros(), to_us };
    let mut all = detail.unwrap_or_else(|| Box::new(json!({})));
    if let Value::Object(all) = &mut *all {
        all.insert(KEY.to_owned(), json!(form));
    }
    Some(all)
}

/// What a header tells; in words what is wrong with it.
pub(super) fn of_detail(detail: &Detail) -> Result<CountingPlan, String> {
    let Some(form) = detail.as_ref().and_then(|detail| detail.get(KEY)) else {
        return Ok(CountingPlan::default());
    };
    let wrong = |why: String| format!("detail, {KEY}: {why}");
    let form = Form::deserialize(form as &Value).map_err(|why| wrong(why.to_string()))?;
    let time = |micros: u64| {
        Time::from_micros(micros).ok_or_else(|| wrong(format!("{micros} microseconds is no time")))
    };
    let to = form.to_us.map_or(Ok(Time::MAX), time)?;
    let told = Some(CountedSpan { from: time(form.from_us)?, to });
    Ok(CountingPlan { told, ..CountingPlan::default() })
}
