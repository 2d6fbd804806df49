//! What became of a run: which containers queues held, by Hadoop's own notes of them, and what
//! executors that were taken back had done, by Spark's event logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::witness;
use super::submitted::{ALL, Asked, Scene, Told};

/// A container, by seconds from the beginning.
pub(super) struct Held {
    /// Which of the scene's programs.
    pub(super) program: usize,
    pub(super) from: f64,
    pub(super) until: f64,
}

/// What is kept of a run.
pub(super) struct Heard {
    pub(super) held: Vec<Held>,
    pub(super) asked: Asked,
    /// Executors that were taken back.
    pub(super) lost: u64,
    /// Seconds that their tasks had run.
    pub(super) lost_work: f64,
    /// The machine's load average when the run ended.
    pub(super) load: f64,
}

impl Heard {
    /// How many containers a program holds.
    pub(super) fn at(&self, program: usize, at: f64) -> u64 {
        let mine = self.held.iter().filter(|held| held.program == program);
        mine.filter(|held| held.from <= at && at < held.until).count() as u64
    }

    /// Container-seconds of a program until then.
    pub(super) fn used(&self, program: usize, at: f64) -> f64 {
        let mine = self.held.iter().filter(|held| held.program == program);
        mine.map(|held| (held.until.min(at) - held.from.max(0.0)).max(0.0)).sum()
    }

    /// The part of all containers that was held.
    pub(super) fn utilisation(&self, ends: f64) -> f64 {
        (self.used(0, ends) + self.used(1, ends)) / (ALL as f64 * ends)
    }

    pub(super) fn json(&self) -> Value {
        let held = |held: &Held| json!([held.program, held.from, held.until]);
        json!({
            "held": self.held.iter().map(held).collect::<Vec<_>>(),
            "asked": self.asked.iter().map(|told| json_of(told)).collect::<Vec<_>>(),
            "lost": self.lost,
            "lost_work": self.lost_work,
            "load": self.load,
        })
    }

    pub(super) fn read(text: &str) -> Option<Heard> {
        let all: Value = serde_json::from_str(text).ok()?;
        let held = all["held"].as_array()?.iter().map(|held| {
            let program = usize::try_from(held[0].as_u64()?).ok()?;
            Some(Held { program, from: held[1].as_f64()?, until: held[2].as_f64()? })
        });
        let asked = all["asked"].as_array()?.iter().map(of_json);
        Some(Heard {
            held: held.collect::<Option<_>>()?,
            asked: asked.collect::<Option<_>>()?,
            lost: all["lost"].as_u64()?,
            lost_work: all["lost_work"].as_f64()?,
            load: all["load"].as_f64()?,
        })
    }
}

fn json_of(told: &[(f64, Told)]) -> Value {
    let line = |&(at, told): &(f64, Told)| match told {
        Told::Wants(total) => json!([at, "wants", total]),
        Told::Returns(idle) => json!([at, "returns", idle]),
    };
    told.iter().map(line).collect()
}

fn of_json(told: &Value) -> Option<Vec<(f64, Told)>> {
    let line = |line: &Value| {
        let (at, number) = (line[0].as_f64()?, line[2].as_u64()?);
        match line[1].as_str()? {
            "wants" => Some((at, Told::Wants(number))),
            "returns" => Some((at, Told::Returns(number))),
            _ => None,
        }
    };
    told.as_array()?.iter().map(line).collect()
}

/// What Spark's dynamic allocation told YARN, by the log of a driver whose clock is UTC; times of
/// that log are whole seconds.
pub(super) fn asked(log: &str, began: u64) -> Vec<(f64, Told)> {
    let lines = log.lines().filter_map(|line| {
        let told = if let Some((_, after)) = line.split_once("new desired total will be ") {
            Told::Wants(after.split(' ').next()?.parse().ok()?)
        } else {
            let (_, after) = line.split_once("ExecutorAllocationManager: Executors ")?;
            let (ids, _) = after.split_once(" removed due to idle timeout")?;
            Told::Returns(ids.split(',').count() as u64)
        };
        let clock: Vec<f64> =
            line.split(' ').nth(1)?.split(':').filter_map(|part| part.parse().ok()).collect();
        let &[hours, minutes, seconds] = clock.as_slice() else { return None };
        let day = 86_400.0;
        let at = 3600.0 * hours + 60.0 * minutes + seconds + 0.5;
        let began = (began as f64 / 1000.0).rem_euclid(day);
        // From the beginning, on the same day or the next.
        Some(((at - began + day / 2.0).rem_euclid(day) - day / 2.0, told))
    });
    lines.collect()
}

/// Containers by Hadoop's notes; `began` in milliseconds. Who is there before is 0 s old.
pub(super) fn containers(
    notes: &str,
    queues: &BTreeMap<String, String>,
    scene: &Scene,
    began: u64,
) -> Result<Vec<Held>, String> {
    let mut open: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let number = |text: &str| text.parse().map_err(|_| format!("the notes say {text}"));
    for line in notes.lines() {
        match *line.split(' ').collect::<Vec<_>>() {
            ["start", id, _, at] => drop(open.insert(id, number(at)?)),
            ["end", id, at] => drop(ends.insert(id, number(at)?)),
            _ => return Err(format!("the notes say {line}")),
        }
    }
    let seconds = |at: u64| (at as f64 - began as f64) / 1000.0;
    let mut all = Vec::new();
    for (id, from) in open {
        let app = witness::application(id).ok_or_else(|| format!("{id} is no container"))?;
        // Of another run there.
        let Some(queue) = queues.get(&app) else { continue };
        let name = queue.trim_start_matches("root.");
        let program = scene.programs.iter().position(|program| program.name == name);
        let program = program.ok_or_else(|| format!("{queue} is no queue of this scene"))?;
        let until = ends.get(id).map_or(scene.ends as f64, |&at| seconds(at));
        all.push(Held { program, from: seconds(from), until });
    }
    Ok(all)
}

/// How many executors were preempted, and how long their tasks had run, by a plain event log.
pub(super) fn lost(log: &str) -> (u64, f64) {
    let (mut executors, mut work) = (0, 0.0);
    for event in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match event["Event"].as_str() {
            Some("SparkListenerExecutorRemoved") => {
                let why = event["Removed Reason"].as_str().unwrap_or_default();
                executors += u64::from(why.contains("preempted"));
            }
            Some("SparkListenerTaskEnd")
                if event["Task End Reason"]["Reason"] == "ExecutorLostFailure" =>
            {
                let task = &event["Task Info"];
                let of = |key: &str| task[key].as_f64().unwrap_or(0.0);
                work += (of("Finish Time") - of("Launch Time")).max(0.0) / 1000.0;
            }
            _ => {}
        }
    }
    (executors, work)
}

/// Text of all event logs below a folder.
pub(super) fn event_logs(folder: &Path) -> Result<String, String> {
    let named = |why: std::io::Error| format!("{}: {why}", folder.display());
    let mut text = String::new();
    for file in fs::read_dir(folder).map_err(named)? {
        let file = file.map_err(named)?.path();
        if file.is_file() && file.extension().is_none_or(|ending| ending != "crc") {
            text += &fs::read_to_string(&file).map_err(named)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::submitted::SCENES;
    use super::*;

    #[test]
    fn containers_are_those_of_queues() {
        let app = "application_1_0001".to_owned();
        let queues = BTreeMap::from([(app, "root.b".to_owned())]);
        let notes = "start container_e01_1_0001_01_000001 1024 4000\n\
            start container_1_0001_01_000002 1024 6000\nend container_1_0001_01_000002 9500\n";
        let held = containers(notes, &queues, &SCENES[0], 5000).unwrap();
        let heard = Heard {
            held,
            asked: vec![vec![(1.5, Told::Wants(2))], vec![]],
            lost: 0,
            lost_work: 0.0,
            load: 0.0,
        };
        assert_eq!((heard.at(1, 0.5), heard.at(1, 2.0), heard.at(0, 2.0)), (1, 2, 0));
        assert_eq!(heard.used(1, 10.0), 10.0 + 3.5);
        let again = Heard::read(&heard.json().to_string()).unwrap();
        assert_eq!(again.used(1, 10.0), 13.5);
        assert_eq!(again.asked[0], [(1.5, Told::Wants(2))]);
    }

    #[test]
    fn work_of_preempted_executors_is_lost() {
        let log = r#"{"Event":"SparkListenerExecutorRemoved","Removed Reason":"it was preempted."}
            {"Event":"SparkListenerExecutorRemoved","Removed Reason":"killed by driver."}
            {"Event":"SparkListenerTaskEnd","Task End Reason":{"Reason":"ExecutorLostFailure"},
             "Task Info":{"Launch Time":1000,"Finish Time":3500}}"#;
        let log = log.replace(",\n             ", ",");
        assert_eq!(lost(&log), (1, 2.5));
    }

    #[test]
    fn what_spark_asks_for_is_in_its_log() {
        let log = "26/12/01 00:00:02 INFO ExecutorAllocationManager: Requesting 2 new executors \
            because tasks are backlogged (new desired total will be 3 for resource profile id: 0)\n\
            26/12/01 00:00:09 INFO ExecutorAllocationManager: Executors 1,8 removed due to idle \
            timeout.\n";
        // A second before midnight.
        let told = asked(log, 86_399_000);
        assert_eq!(told, [(3.5, Told::Wants(3)), (10.5, Told::Returns(2))]);
    }
}
