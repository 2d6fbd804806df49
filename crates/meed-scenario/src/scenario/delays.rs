//! `heartbeat`, `master_start` and `master` of `[run]`: what delays grants; and how the header of a
//! run tells of it, in its `detail`.

use meed::{ResourceKinds, Span};
use meed_config::Spanned;
use meed_config::quantity::demand;
use meed_config::{Place, TextError as ScenarioError};
use meed_journal::{Amounts, Detail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::raw::{self, Quantity};
use crate::grants::Delays;

/// Where a header's detail has it.
const KEY: &str = "delays";

/// As headers tell it.
#[derive(Serialize, Deserialize)]
struct Form {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heartbeat_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    master_start_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    master: Option<Amounts>,
}

/// What `[run]` says.
pub(super) fn read(
    run: &raw::Run,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Delays, ScenarioError> {
    let time = |key: &str, given: &Option<Spanned<Quantity>>| {
        let Some(given) = given else { return Ok(None) };
        let wrong = |why: String| place.error(given.span(), why);
        match given.get_ref().span(key).map_err(wrong)? {
            Span::ZERO => Err(wrong(format!("{key} must be above zero; leave it out for none"))),
            span => Ok(Some(span)),
        }
    };
    let heartbeat = time("heartbeat", &run.heartbeat)?;
    let master_start = time("master_start", &run.master_start)?;
    let master = match &run.master {
        None => None,
        Some(given) => {
            let wrong = |why: String| place.error(given.span(), format!("master: {why}"));
            if master_start.is_none() {
                return Err(wrong("say master_start too: how long it takes to start".to_owned()));
            }
            Some(demand(given.get_ref(), kinds).map_err(wrong)?)
        }
    };
    if let (Some(given), true) = (&run.checkpoint, heartbeat.is_some()) {
        let what = "checkpoint cannot be beside heartbeat: what a task had done when it was \
            stopped is not known between two heartbeats";
        return Err(place.error(given.span(), what));
    }
    Ok(Delays { heartbeat, master_start: master_start.unwrap_or(Span::ZERO), master })
}

/// The detail of a header of a run with these delays.
pub(super) fn told(delays: &Delays, kinds: &ResourceKinds) -> Detail {
    if delays.is_off() {
        return None;
    }
    let form = Form {
        heartbeat_us: delays.heartbeat.map(Span::as_micros),
        master_start_us: Some(delays.master_start.as_micros()).filter(|&micros| micros > 0),
        master: delays.master.as_ref().map(|master| Amounts::of(master, kinds)),
    };
    Some(Box::new(json!({ KEY: form })))
}

/// The delays of which a header tells; in words what is wrong with them.
pub(super) fn of_detail(detail: &Detail, kinds: &ResourceKinds) -> Result<Delays, String> {
    let Some(form) = detail.as_ref().and_then(|detail| detail.get(KEY)) else {
        return Ok(Delays::default());
    };
    let wrong = |why: String| format!("detail, {KEY}: {why}");
    let form: Form = Form::deserialize(form as &Value).map_err(|why| wrong(why.to_string()))?;
    let span = |micros: u64| {
        let span = Span::from_micros(micros).filter(|span| *span > Span::ZERO);
        span.ok_or_else(|| wrong(format!("{micros} microseconds is no time above zero")))
    };
    let master = form.master.map(|master| master.read(kinds)).transpose().map_err(wrong)?;
    Ok(Delays {
        heartbeat: form.heartbeat_us.map(span).transpose()?,
        master_start: form.master_start_us.map_or(Ok(Span::ZERO), span)?,
        master,
    })
}
