//! `infeasible` of `[run]`: what becomes of tasks that no node could hold.

use meed::Infeasible;
use meed_config::{Place, TextError};

use super::raw;
use crate::log::infeasible::of_word;

/// What `[run]` says.
pub(super) fn read(run: &raw::Run, place: &Place<'_>) -> Result<Infeasible, TextError> {
    let Some(given) = &run.infeasible else { return Ok(Infeasible::Refuse) };
    of_word(given.get_ref()).map_err(|why| place.error(given.span(), why))
}
