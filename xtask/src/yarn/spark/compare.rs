//! The same submissions in the simulator, and how far it is from what was heard.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::heard::Heard;
use super::submitted::{Asked, Scene, scenario};
use super::{RECLAIM, Variant};

/// Samples of a simulated run.
const SAMPLES: usize = 400;

/// A simulated run: use of each program over time, in container-seconds.
pub(super) struct Simulated {
    times: Vec<f64>,
    used: Vec<Vec<f64>>,
}

/// How far a simulated program is from the real one, in parts of what the real one used.
#[derive(Clone, Copy)]
pub(super) struct Off {
    /// At the end.
    pub(super) total: f64,
    /// The largest distance at any instant.
    pub(super) most: f64,
}

impl Simulated {
    pub(super) fn run(
        mut meed: Command,
        folder: &Path,
        scene: &Scene,
        variant: &Variant,
        asked: Option<&Asked>,
    ) -> Result<Simulated, String> {
        let file = folder.join("submitted.toml");
        fs::write(&file, scenario(scene, asked))
            .map_err(|why| format!("{}: {why}", file.display()))?;
        meed.arg("simulate").arg(&file).args(["-q", "--json", "-", "-p", &policy(variant)]);
        meed.args(["--series", &SAMPLES.to_string()]);
        let told = crate::tools::printed(&mut meed, "meed simulate")?;
        let told: Value = serde_json::from_slice(&told).map_err(|why| why.to_string())?;
        Simulated::read(&told, scene)
            .ok_or_else(|| "meed simulate does not tell what queues used".to_owned())
    }

    fn read(told: &Value, scene: &Scene) -> Option<Simulated> {
        let numbers = |list: &Value| -> Option<Vec<f64>> {
            list.as_array()?.iter().map(Value::as_f64).collect()
        };
        let run = &told["runs"][0];
        let names = run["queues"].as_array()?;
        let used = scene.programs.iter().map(|program| {
            let place = names.iter().position(|queue| queue["queue"] == program.name)?;
            numbers(&run["series"]["queues"][place]["usage"])
        });
        let (times, used) = (numbers(&run["series"]["t_s"])?, used.collect::<Option<Vec<_>>>()?);
        // From when the run begins.
        let before = scene.before() as f64;
        let first = times.iter().position(|&at| at >= before)?;
        let since = |used: &Vec<f64>| used[first..].iter().map(|at| at - used[first]).collect();
        let used = used.iter().map(since).collect();
        Some(Simulated { times: times[first..].iter().map(|at| at - before).collect(), used })
    }

    pub(super) fn off(&self, heard: &Heard, program: usize) -> Off {
        let last = self.times.last().copied().unwrap_or(0.0);
        let all = heard.used(program, last).max(1.0);
        let apart = |(&at, &used): (&f64, &f64)| used - heard.used(program, at);
        let mut pairs = self.times.iter().zip(&self.used[program]);
        let most = pairs.clone().map(|pair| apart(pair).abs()).fold(0.0, f64::max);
        Off { total: pairs.next_back().map_or(0.0, apart) / all, most: most / all }
    }

    /// How many containers a program holds on average between two instants.
    pub(super) fn held(&self, program: usize, from: f64, until: f64) -> f64 {
        let at = |wanted: f64| {
            let place = self.times.iter().position(|&at| at >= wanted);
            let place = place.unwrap_or(self.times.len().saturating_sub(1));
            (self.times[place], self.used[program][place])
        };
        let (first, last) = (at(from), at(until));
        (last.1 - first.1) / (last.0 - first.0).max(f64::MIN_POSITIVE)
    }
}

fn policy(variant: &Variant) -> String {
    match (variant.meed, variant.reclaims) {
        (false, _) => "fair".to_owned(),
        (true, false) => "long-term".to_owned(),
        (true, true) => {
            let keys = RECLAIM.map(|(key, value)| format!(",{}={value}", key.replace('-', "_")));
            format!("long-term,reservations=all{}", keys.concat())
        }
    }
}
