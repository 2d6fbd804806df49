//! What a ResourceManager started and ended, as a log of Meed's.
//!
//! A job of the log is a job of the workload: its master (one task for each of its applications)
//! and the tasks of its stages, asked for when its master did, started and ended when the
//! ResourceManager did. Times are those of the papers' cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// All events of a run, and how late the process was.
pub(super) struct Heard {
    lines: Vec<Value>,
    remark: String,
}

/// A job that has come.
#[derive(Default)]
struct Job {
    queue: String,
    applications: u64,
    submitted: u64,
    tasks: u64,
}

/// An application: its job, and the tasks that were asked for and have not started.
#[derive(Default)]
struct Application {
    job: u64,
    waiting: std::collections::VecDeque<u64>,
}

#[derive(Default)]
struct Reader {
    jobs: BTreeMap<u64, Job>,
    applications: BTreeMap<u64, Application>,
    /// Job and number of the task in each container.
    containers: BTreeMap<(u64, u64), (u64, u64)>,
    lines: Vec<Value>,
    now: f64,
    lateness: String,
    /// What the scheduler itself says that queues hold, and what the events say, in MiB: the
    /// largest difference of their integrals.
    held: BTreeMap<String, (f64, f64)>,
    checked: BTreeMap<String, Check>,
}

/// Integrals of what a queue holds, in MiB x seconds.
#[derive(Default)]
struct Check {
    by_events: f64,
    by_samples: f64,
}

/// Reads the lines that `Journal.java` writes.
pub(super) fn read(text: &str, scale: f64) -> Result<Heard, String> {
    let events: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    // A reservation is told as a start too, and again when it is granted: the last one counts, and
    // only where the container ran.
    let mut starts = BTreeMap::new();
    let mut ended = std::collections::BTreeSet::new();
    for (number, event) in events.iter().enumerate() {
        match (event.get(1), event.get(2), event.get(3)) {
            (Some(&"start"), Some(&application), Some(&container)) => {
                starts.insert((application, container), number);
            }
            (Some(&"end"), Some(&application), Some(&container)) => {
                ended.insert((application, container));
            }
            _ => {}
        }
    }
    let mut reader = Reader::default();
    for (number, event) in events.iter().enumerate() {
        let is_start = event.get(1) == Some(&"start");
        if is_start && event.len() > 3 {
            let container = (event[2], event[3]);
            if starts.get(&container) != Some(&number) || !ended.contains(&container) {
                continue;
            }
        }
        let told = reader.event(event, scale);
        told.map_err(|what| format!("event {} of the run: {what}", number + 1))?;
    }
    let remark = reader.remark();
    Ok(Heard { lines: reader.lines, remark })
}

/// How late the process was, as it said at the end.
pub(super) fn lateness(text: &str) -> String {
    let last = text.lines().rev().find_map(|line| line.split_once("\tlateness\t"));
    let told = last.map_or(String::new(), |(_, words)| words.replace('\t', ", "));
    format!("late by (mean, 99 %, most, in ms of ours): {told}")
}

fn number(words: &[&str], place: usize) -> Result<u64, String> {
    let word = words.get(place).ok_or("it has too few words")?;
    word.parse().map_err(|_| format!("\"{word}\" is no number"))
}

/// A container: that of a master is as large.
fn group(tasks: u64) -> Value {
    json!({ "tasks": tasks, "demand": { "cpu": 1.0, "memory": 2_147_483_648_u64 } })
}

impl Reader {
    fn event(&mut self, words: &[&str], scale: f64) -> Result<(), String> {
        let at = number(words, 0)? as f64 * scale / 1e6;
        // Microseconds of the papers' cluster, which never go back.
        let at = (at.max(self.now) * 1e6).round() / 1e6;
        self.pass(at);
        match *words.get(1).ok_or("it says nothing")? {
            "job" => self.job(words),
            "submit" => self.submit(words),
            "ask" => self.ask(words),
            "start" => self.start(words),
            "end" => self.end(words),
            "queue" => self.sample(words),
            "lateness" => {
                self.lateness = words[2..].join(", ");
                Ok(())
            }
            "finish" => Ok(()),
            other => Err(format!("\"{other}\" is no event")),
        }
    }

    /// Time passes.
    fn pass(&mut self, at: f64) {
        let passed = at - self.now;
        for (queue, (by_events, by_samples)) in &self.held {
            let check = self.checked.entry(queue.clone()).or_default();
            check.by_events += passed * by_events;
            check.by_samples += passed * by_samples;
        }
        self.now = at;
    }

    fn tell(&mut self, kind: &str, what: Value) {
        let line = json!({ "seq": self.lines.len() + 1, "t": self.now, kind: what });
        self.lines.push(line);
    }

    fn job(&mut self, words: &[&str]) -> Result<(), String> {
        let queue = words.get(3).ok_or("it has no queue")?.to_string();
        let applications = number(words, 4)?;
        self.jobs.insert(number(words, 2)?, Job { queue, applications, ..Job::default() });
        Ok(())
    }

    /// An application comes: its master is asked for.
    fn submit(&mut self, words: &[&str]) -> Result<(), String> {
        let (number_, id) = (number(words, 2)?, number(words, 3)?);
        let job = self.jobs.get_mut(&number_).ok_or("its job has not come")?;
        job.submitted += 1;
        job.tasks += 1;
        let (first, task, queue) = (job.submitted == 1, job.tasks - 1, job.queue.clone());
        self.applications.insert(id, Application { job: number_, waiting: [task].into() });
        let groups = [group(1)];
        match first {
            true => self.tell(
                "arrive",
                json!({ "queue": queue, "job": number_, "groups": groups, "open": true }),
            ),
            false => self.tell(
                "tasks_added",
                json!({ "job": number_, "stage": 0, "groups": groups, "open": true }),
            ),
        }
        Ok(())
    }

    /// A master asks for the tasks of a stage.
    fn ask(&mut self, words: &[&str]) -> Result<(), String> {
        let (id, tasks) = (number(words, 3)?, number(words, 4)?);
        let last = words.get(5) == Some(&"true");
        let application = self.applications.get_mut(&id).ok_or("its application is unknown")?;
        let number_ = application.job;
        let job = self.jobs.get_mut(&number_).ok_or("its job has not come")?;
        application.waiting.extend(job.tasks..job.tasks + tasks);
        job.tasks += tasks;
        let open = !(last && job.submitted == job.applications);
        self.tell(
            "tasks_added",
            json!({ "job": number_, "stage": 0, "groups": [group(tasks)], "open": open }),
        );
        Ok(())
    }

    fn start(&mut self, words: &[&str]) -> Result<(), String> {
        let (id, container) = (number(words, 2)?, number(words, 3)?);
        let node = *words.get(4).ok_or("it has no node")?;
        // The jobs that only load classes are not told.
        let Some(application) = self.applications.get_mut(&id) else { return Ok(()) };
        let task = application.waiting.pop_front().ok_or("a container that nobody asked for")?;
        let number_ = application.job;
        self.containers.insert((id, container), (number_, task));
        let queue = self.jobs[&number_].queue.clone();
        self.held.entry(queue.clone()).or_default().0 += 2048.0;
        let start = json!({ "queue": queue, "job": number_, "task": task, "node": node });
        self.tell("start", start);
        Ok(())
    }

    fn end(&mut self, words: &[&str]) -> Result<(), String> {
        let container = (number(words, 2)?, number(words, 3)?);
        let Some((job, task)) = self.containers.remove(&container) else { return Ok(()) };
        if let Some(held) = self.held.get_mut(&self.jobs[&job].queue) {
            held.0 -= 2048.0;
        }
        self.tell("end", json!({ "job": job, "task": task }));
        Ok(())
    }

    fn sample(&mut self, words: &[&str]) -> Result<(), String> {
        let queue = words.get(2).ok_or("it has no queue")?.to_string();
        self.held.entry(queue).or_default().1 = number(words, 3)? as f64;
        Ok(())
    }

    fn remark(&self) -> String {
        // With all jobs in one queue the scheduler knows no other.
        let known = self.checked.values().filter(|it| it.by_events > 0.0 && it.by_samples > 0.0);
        let apart = known.map(|it| (it.by_events / it.by_samples - 1.0).abs());
        let apart = apart.reduce(f64::max).map_or(String::new(), |apart| {
            let apart = apart * 100.0;
            format!("; events and the scheduler's own samples differ by {apart:.2} % at most")
        });
        format!(
            "{:.0} s of the papers' cluster; late by (mean, 99 %, most, in ms of ours): {}{apart}",
            self.now, self.lateness
        )
    }
}

impl Heard {
    pub(super) fn remark(&self) -> String {
        self.remark.clone()
    }

    /// The log, with that first line.
    pub(super) fn log(&self, header: &Value) -> Result<String, String> {
        let last = self.lines.last().ok_or("nothing has happened")?;
        let finish = json!({
            "seq": self.lines.len() + 1,
            "t": last["t"],
            "finish": { "events": 0, "decisions": 0 },
        });
        let all = [header].into_iter().chain(&self.lines).chain([&finish]);
        Ok(all.map(|line| line.to_string() + "\n").collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_is_no_start() {
        let text = "0\tjob\t7\tTPC-H\t1\n0\tsubmit\t7\t1\n10\tstart\t1\t1\tn0\t2048\n\
                    20\task\t7\t1\t1\ttrue\n30\tstart\t1\t2\tn0\t2048\n40\tstart\t1\t2\tn1\t2048\n\
                    50\tend\t1\t2\tn1\t2048\n60\tend\t1\t1\tn0\t2048\n60\tlateness\t1\t2\t3\n";
        let heard = read(text, 20.0).expect("it is sound");
        let starts: Vec<&Value> = heard.lines.iter().filter_map(|line| line.get("start")).collect();
        assert_eq!(starts.len(), 2, "the master and one task");
        assert_eq!((&starts[1]["node"], &starts[1]["task"]), (&json!("n1"), &json!(1)));
        let times: Vec<f64> = heard.lines.iter().filter_map(|line| line["t"].as_f64()).collect();
        assert_eq!(times, [0.0, 0.0002, 0.0004, 0.0008, 0.001, 0.0012]);
        assert_eq!(heard.lines[2]["tasks_added"]["open"], false);
        let wrong = read("0\tsubmit\t7\t1\n", 20.0).map(|_| ()).expect_err("no job has come");
        assert!(wrong.contains("event 1"), "{wrong}");
    }
}
