//! What each setting of a sweep gains against the baseline, at the same values of all other
//! settings.

use serde_json::{Value, json};

use super::grid::Grid;
use super::results::Results;
use super::summary::{SweepGroup, groups};
use crate::gain::{FAIR, Gain, TOLD};

/// For each group but those of the baseline the gains of [`TOLD`].
pub(super) fn gains<'a>(
    grid: &Grid,
    results: &Results,
    groups: &'a [SweepGroup],
) -> Vec<(&'a SweepGroup, Vec<Gain>)> {
    let Some(base) = grid.baseline.as_ref().map(|order| order.words.as_str()) else {
        return Vec::new();
    };
    // Behind the settings stands the policy, the last of a group's values.
    let same = |own: &SweepGroup, policy: &str| {
        let at = own.setting.len().saturating_sub(1);
        let is_same = |other: &&SweepGroup| {
            other.setting[..at] == own.setting[..at] && other.setting[at] == policy
        };
        groups.iter().find(is_same)
    };
    let column = |name: &str| results.measured.iter().position(|own| own == name);
    let gain = |own: &SweepGroup, name: &str| {
        let mean = |group: &SweepGroup| group.mean(column(name)?);
        Gain::of(mean(own), same(own, base).and_then(mean), same(own, FAIR).and_then(mean))
    };
    let others = groups.iter().filter(|group| group.setting.last().is_some_and(|own| own != base));
    let row = |group: &'a SweepGroup| {
        (group, TOLD.iter().map(|(name, _)| gain(group, name)).collect::<Vec<Gain>>())
    };
    others.map(row).collect()
}

/// The same as JSON.
pub(super) fn to_json(grid: &Grid, results: &Results) -> Value {
    let groups = groups(results);
    let row = |(group, gains): (&SweepGroup, Vec<Gain>)| {
        let setting = results.parameters.iter().zip(&group.setting);
        let setting: serde_json::Map<String, Value> =
            setting.map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let gains =
            TOLD.iter().zip(gains).map(|((name, _), gain)| ((*name).to_owned(), gain.to_json()));
        let gains: serde_json::Map<String, Value> = gains.collect();
        json!({ "parameters": setting, "gains": gains })
    };
    gains(grid, results, &groups).into_iter().map(row).collect()
}
