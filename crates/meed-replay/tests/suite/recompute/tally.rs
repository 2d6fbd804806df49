//! Replays a log and compares what comes out with the record.

use std::collections::{BTreeMap, BTreeSet};

use meed_sim::record::{QueueRecord, RunRecord};
use serde_json::Value;

/// Amounts in smallest units, in order of the header's resources.
type Amounts = Vec<i128>;

#[derive(Default)]
struct Queue {
    weight: i128,
    /// In whole units that add up: nodes of a partition, lending.
    share: Amounts,
    /// Of the first resource, as the weights give it.
    exact: f64,
    held: Amounts,
    demand: i128,
    used: Amounts,
    entitled: f64,
    borrowed: i128,
    live: usize,
    leaving: bool,
    job_micros: Vec<i128>,
    tasks: u64,
    waits: Vec<i128>,
    capped: bool,
}

struct Task {
    demand: Amounts,
    duration: i128,
    /// Since when it waits; `None` while it runs and when it has ended.
    waits: Option<i128>,
    started: bool,
    attempts: u64,
}

struct Job {
    queue: String,
    /// What it is called.
    name: String,
    arrived: i128,
    stage: u64,
    tasks: Vec<Task>,
    running: BTreeMap<usize, (String, i128)>,
}

struct Replay {
    kinds: Vec<String>,
    partitioned: bool,
    work_conserving: bool,
    now: i128,
    nodes: BTreeMap<String, Amounts>,
    /// Nodes of the tenants alone on their share.
    parts: BTreeMap<String, Amounts>,
    free: BTreeMap<String, Amounts>,
    capacity_time: Amounts,
    queues: BTreeMap<String, Queue>,
    order: Vec<String>,
    removed: BTreeSet<String>,
    /// By key.
    jobs: BTreeMap<u64, Job>,
    /// When each label arrived and when it ended or was refused.
    arrived: BTreeMap<String, i128>,
    ended: BTreeMap<String, i128>,
    counts: BTreeMap<&'static str, u64>,
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The key of a job.
fn key(value: &Value) -> u64 {
    value["job"].as_u64().expect("the number of its arrival")
}

/// What a job that arrives is called.
fn called(value: &Value) -> String {
    text(if value["name"].is_null() { &value["job"] } else { &value["name"] })
}

fn micros(value: &Value) -> i128 {
    (value.as_f64().expect("a number") * 1e6).round() as i128
}

fn add(to: &mut Amounts, amounts: &Amounts, sign: i128) {
    to.iter_mut().zip(amounts).for_each(|(to, amount)| *to += sign * amount);
}

pub(crate) fn check(lines: &[Value], record: &RunRecord, scenario: &str) {
    let mut replay = Replay::new(&lines[0]["run"]);
    let mut finish = None;
    for (seq, line) in lines.iter().enumerate().skip(1) {
        assert_eq!(line["seq"], seq);
        let t = micros(&line["t"]);
        assert!(t >= replay.now && finish.is_none());
        if t > replay.now {
            replay.settle();
            replay.pass(t);
        }
        let (what, value) = line
            .as_object()
            .expect("an object")
            .iter()
            .find(|(key, _)| !["seq", "t"].contains(&key.as_str()))
            .expect("a key");
        match what.as_str() {
            "arrive" => replay.arrive(value),
            "refuse" => {
                replay.count("refuse");
                replay.ended.insert(called(&value["arrival"]), t);
            }
            "start" => replay.start(value),
            "job_end" => replay.job_end(value),
            "tasks_added" => replay.stage(value),
            "job_cancelled" => {}
            what if what.starts_with("node_") || what.starts_with("queue_") => {
                replay.change(what, value);
            }
            "finish" => finish = Some(value),
            _ => replay.task(what, value),
        }
    }
    let finish = finish.expect("a run finishes");
    assert_eq!(finish["decisions"], record.decisions);
    assert_eq!(finish["events"], record.events);
    replay.settle();
    replay.compare(record);
    replay.check_arrivals(scenario);
}

impl Replay {
    fn new(header: &Value) -> Replay {
        let kinds: Vec<String> =
            header["resources"].as_array().expect("a list").iter().map(text).collect();
        let mut replay = Replay {
            partitioned: header["partitioned"].as_bool().expect("yes or no"),
            work_conserving: !text(&header["policy"]).contains("when_blocked=wait"),
            now: 0,
            nodes: BTreeMap::new(),
            parts: BTreeMap::new(),
            free: BTreeMap::new(),
            capacity_time: vec![0; kinds.len()],
            queues: BTreeMap::new(),
            order: Vec::new(),
            removed: BTreeSet::new(),
            jobs: BTreeMap::new(),
            arrived: BTreeMap::new(),
            ended: BTreeMap::new(),
            counts: BTreeMap::new(),
            kinds,
        };
        for node in header["nodes"].as_array().expect("a list") {
            replay.nodes.insert(text(&node["name"]), replay.amounts(&node["capacity"]));
        }
        for queue in header["queues"].as_array().expect("a list") {
            let nothing = || vec![0; replay.kinds.len()];
            let new = Queue {
                weight: (queue["weight"].as_f64().unwrap_or(1.0) * 1e3).round() as i128,
                share: nothing(),
                held: nothing(),
                used: nothing(),
                ..Queue::default()
            };
            replay.order.push(text(&queue["queue"]));
            replay.queues.insert(text(&queue["queue"]), new);
        }
        replay.share_out();
        let leaves: Vec<String> = replay.leaves();
        for leaf in leaves.iter().filter(|_| replay.partitioned) {
            replay.parts.insert(format!("share of {leaf}"), replay.queues[leaf].share.clone());
        }
        replay.free = if replay.partitioned { replay.parts.clone() } else { replay.nodes.clone() };
        replay
    }

    fn amounts(&self, named: &Value) -> Amounts {
        let scale = |kind: &str| if kind == "memory" { 1.0 } else { 1e3 };
        let amount = |kind: &String| {
            (named[kind.as_str()].as_f64().unwrap_or(0.0) * scale(kind)).round() as i128
        };
        self.kinds.iter().map(amount).collect()
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn leaves(&self) -> Vec<String> {
        let is_parent =
            |name: &String| self.order.iter().any(|other| other.starts_with(&format!("{name}.")));
        self.order.iter().filter(|name| !is_parent(name)).cloned().collect()
    }

    fn total(&self) -> Amounts {
        let mut total = vec![0; self.kinds.len()];
        self.nodes.values().for_each(|node| add(&mut total, node, 1));
        total
    }

    /// Eq. 2, level by level: floors, then the largest remainders, the first declared first.
    fn share_out(&mut self) {
        let exact = self.total()[0] as f64;
        let mut above = vec![(String::new(), self.total(), exact)];
        while let Some((parent, total, exact)) = above.pop() {
            let is_child = |name: &&String| match name.rsplit_once('.') {
                Some((up, _)) => up == parent,
                None => parent.is_empty(),
            };
            let children: Vec<String> = self
                .order
                .iter()
                .filter(is_child)
                .filter(|name| !self.removed.contains(*name))
                .cloned()
                .collect();
            let sum: i128 = children.iter().map(|child| self.queues[child].weight).sum();
            for (kind, all) in total.into_iter().enumerate() {
                let quota = |child: &String| all * self.queues[child].weight;
                let mut parts: Vec<i128> =
                    children.iter().map(|child| quota(child) / sum).collect();
                let mut by_rest: Vec<usize> = (0..children.len()).collect();
                by_rest.sort_by_key(|&i| (-(quota(&children[i]) % sum), i));
                let left = all - parts.iter().sum::<i128>();
                by_rest.iter().take(left as usize).for_each(|&i| parts[i] += 1);
                for (child, part) in children.iter().zip(parts) {
                    self.queues.get_mut(child).expect("a child").share[kind] = part;
                }
            }
            for child in children {
                let queue = self.queues.get_mut(&child).expect("a child");
                queue.exact = exact * queue.weight as f64 / sum as f64;
                above.push((child, queue.share.clone(), queue.exact));
            }
        }
        for name in &self.removed {
            let queue = self.queues.get_mut(name).expect("it was there");
            queue.share.fill(0);
            queue.exact = 0.0;
        }
    }

    fn pass(&mut self, t: i128) {
        let dt = t - self.now;
        let total = self.total();
        self.capacity_time.iter_mut().zip(total).for_each(|(sum, amount)| *sum += amount * dt);
        for queue in self.queues.values_mut() {
            queue.used.iter_mut().zip(&queue.held).for_each(|(used, held)| *used += held * dt);
            // Alone on its node a tenant is entitled to all of it.
            let share = if self.partitioned { queue.share[0] as f64 } else { queue.exact };
            queue.entitled += share.min(queue.demand as f64) * dt as f64;
            queue.borrowed += (queue.held[0] - queue.share[0]).max(0) * dt;
        }
        self.now = t;
    }

    fn tasks(&mut self, queue: &str, groups: &Value) -> Vec<Task> {
        let mut tasks = Vec::new();
        for group in groups.as_array().expect("a list") {
            let durations = group["duration_s"].as_array().expect("a list");
            for task in 0..group["tasks"].as_u64().expect("a number") as usize {
                let duration = micros(&durations[if durations.len() == 1 { 0 } else { task }]);
                let demand = self.amounts(&group["demand"]);
                tasks.push(Task {
                    demand,
                    duration,
                    waits: Some(self.now),
                    started: false,
                    attempts: 0,
                });
            }
        }
        let leaf = self.queues.get_mut(queue).expect("a known queue");
        leaf.demand += tasks.iter().map(|task| task.demand[0]).sum::<i128>();
        tasks
    }

    fn arrive(&mut self, value: &Value) {
        let (queue, name, now) = (text(&value["queue"]), called(value), self.now);
        let tasks = self.tasks(&queue, &value["groups"]);
        let leaf = self.queues.get_mut(&queue).expect("a known queue");
        leaf.live += 1;
        assert!(
            !leaf.leaving
                && self
                    .arrived
                    .insert(name.clone(), now)
                    .is_none_or(|_| name.parse::<u64>().is_ok())
        );
        let new = Job { queue, name, arrived: now, stage: 0, tasks, running: BTreeMap::new() };
        assert!(self.jobs.insert(key(value), new).is_none(), "it arrives once");
    }

    fn stage(&mut self, value: &Value) {
        let queue = self.jobs[&key(value)].queue.clone();
        let tasks = self.tasks(&queue, &value["groups"]);
        let job = self.jobs.get_mut(&key(value)).expect("its first stage has come");
        let stage = value["stage"].as_u64().expect("a number");
        assert!(
            job.stage < stage && job.running.is_empty(),
            "stages come in order, after all tasks before"
        );
        assert!(job.tasks.iter().all(|task| task.started && task.waits.is_none()));
        job.stage = stage;
        job.tasks.extend(tasks);
    }

    fn start(&mut self, value: &Value) {
        self.count("start");
        let (task, node) =
            (value["task"].as_u64().expect("a number") as usize, text(&value["node"]));
        let job = self.jobs.get_mut(&key(value)).expect("a live job");
        assert_eq!(job.queue, text(&value["queue"]));
        let attempt = value["attempt"].as_u64().unwrap_or(0);
        assert_eq!(attempt, job.tasks[task].attempts, "starts before this one");
        job.tasks[task].attempts += 1;
        let since = job.tasks[task].waits.take().expect("it waits");
        job.tasks[task].started = true;
        assert!(job.running.insert(task, (node.clone(), self.now)).is_none());
        let queue = self.queues.get_mut(&job.queue).expect("a known queue");
        queue.waits.push(self.now - since);
        add(&mut queue.held, &job.tasks[task].demand, 1);
        add(self.free.get_mut(&node).expect("a node that is up"), &job.tasks[task].demand, -1);
        let reason = &value["reason"];
        assert!(
            !reason["levels"].as_array().expect("levels").is_empty()
                || !reason["starved_for_s"].is_null()
        );
    }

    fn task(&mut self, what: &str, value: &Value) {
        let number = value["task"].as_u64().expect("a number") as usize;
        let job = self.jobs.get_mut(&key(value)).expect("a live job");
        let (node, since) = job.running.remove(&number).expect("it runs");
        assert_eq!(value["attempt"].as_u64().unwrap_or(0) + 1, job.tasks[number].attempts);
        let (task, ran) = (&mut job.tasks[number], self.now - since);
        let queue = self.queues.get_mut(&job.queue).expect("a known queue");
        add(&mut queue.held, &task.demand, -1);
        if let Some(free) = self.free.get_mut(&node) {
            add(free, &task.demand, 1);
        }
        match what {
            "end" => assert_eq!(ran, task.duration, "it runs as long as it takes"),
            _ => assert!(ran <= task.duration, "{what}"),
        }
        match what {
            "end" | "stop" => queue.demand -= task.demand[0],
            "fail" | "lost" => task.waits = Some(self.now),
            other => panic!("an unknown line `{other}`"),
        }
        queue.tasks += u64::from(what == "end");
    }

    fn job_end(&mut self, value: &Value) {
        let job = self.jobs.remove(&key(value)).expect("it ends once");
        assert!(job.running.is_empty());
        let queue = self.queues.get_mut(&job.queue).expect("a known queue");
        queue.live -= 1;
        if value["outcome"] == "done" {
            assert!(job.tasks.iter().all(|task| task.started && task.waits.is_none()));
            queue.job_micros.push(self.now - job.arrived);
        } else {
            *self.counts.entry("failed").or_default() += 1;
            let waiting = job.tasks.iter().filter(|task| task.waits.is_some());
            queue.demand -= waiting.map(|task| task.demand[0]).sum::<i128>();
        }
        self.ended.insert(job.name, self.now);
        self.let_go(&job.queue);
    }

    fn let_go(&mut self, queue: &str) {
        if self.queues[queue].leaving
            && self.queues[queue].live == 0
            && self.removed.insert(queue.to_owned())
        {
            self.share_out();
        }
    }

    fn change(&mut self, what: &str, value: &Value) {
        let name = text(&value["name"]);
        let capacity = self.amounts(&value["capacity"]);
        match what {
            "node_joins" | "node_resized" | "node_leaves" => {
                let of_part = name.starts_with("share of ");
                let old = match of_part {
                    true => self.parts.insert(name.clone(), capacity.clone()),
                    false => self.nodes.insert(name.clone(), capacity.clone()),
                };
                if of_part == self.partitioned {
                    let free =
                        self.free.entry(name.clone()).or_insert_with(|| vec![0; capacity.len()]);
                    add(free, &capacity, 1);
                    add(free, &old.unwrap_or_else(|| vec![0; capacity.len()]), -1);
                }
                self.share_out();
            }
            "queue_changed" => {
                let queue = self.queues.get_mut(&name).expect("a known queue");
                if let Some(weight) = value["weight"].as_f64() {
                    queue.weight = (weight * 1e3).round() as i128;
                }
                queue.capped |= !value["max"].is_null();
                self.share_out();
            }
            "queue_removed" => {
                self.queues.get_mut(&name).expect("a known queue").leaving = true;
                self.let_go(&name);
            }
            other => panic!("an unknown change `{other}`"),
        }
    }

    /// What holds when an instant is over.
    fn settle(&mut self) {
        assert!(
            self.free.values().flatten().all(|free| *free >= 0),
            "a node is over-allocated at {}",
            self.now
        );
        for part in
            self.parts.iter().filter(|(_, capacity)| capacity.iter().any(|amount| *amount > 0))
        {
            let share = &self.queues[part.0.trim_start_matches("share of ")].share;
            assert_eq!(part.1, share, "{} at {}", part.0, self.now);
        }
        if !self.work_conserving {
            return;
        }
        for job in self.jobs.values() {
            let (queue, name) = (&job.queue, &job.name);
            let waiting = job.tasks.iter().find(|task| {
                let fits = |free: &Amounts| {
                    task.demand.iter().zip(free).all(|(demand, free)| demand <= free)
                };
                let own = format!("share of {queue}");
                let mut nodes =
                    self.free.iter().filter(|(name, _)| !self.partitioned || **name == own);
                task.waits.is_some() && nodes.any(|(_, free)| fits(free))
            });
            assert!(
                waiting.is_none() || self.queues[queue].capped,
                "{queue} {name} waits at {} for nothing",
                self.now
            );
        }
    }

    fn compare(&self, record: &RunRecord) {
        assert_eq!(self.now, (record.end_s * 1e6).round() as i128);
        let count = |what: &str| self.counts.get(what).copied().unwrap_or(0);
        assert_eq!(
            (count("start"), count("refuse"), count("failed"), self.jobs.len() as u64),
            (record.decisions, record.refused, record.failed, record.unfinished)
        );
        let leaves = self.leaves();
        assert_eq!(
            leaves,
            record.queues.iter().map(|queue| queue.queue.clone()).collect::<Vec<_>>()
        );
        record.queues.iter().for_each(|queue| self.compare_queue(queue));
        for (kind, name) in self.kinds.iter().enumerate() {
            let used: i128 = self.queues.values().map(|queue| queue.used[kind]).sum();
            let all = self.capacity_time[kind];
            near(
                record.utilization[name],
                if all > 0 { used as f64 / all as f64 } else { 0.0 },
                "utilization",
            );
        }
        let rhos: Vec<f64> = leaves.iter().filter_map(|leaf| self.rho(leaf)).collect();
        near(record.psi, rhos.iter().map(|rho| (rho - 1.0).max(0.0)).sum(), "psi");
        near(record.omega, rhos.iter().map(|rho| (rho - 1.0).min(0.0)).sum(), "omega");
        let squares: f64 = rhos.iter().map(|rho| rho * rho).sum();
        let sum: f64 = rhos.iter().sum();
        let jain = (squares > 0.0).then(|| sum * sum / (rhos.len() as f64 * squares));
        assert_eq!(record.jain.is_some(), jain.is_some());
        near(record.jain.unwrap_or(0.0), jain.unwrap_or(0.0), "jain");
        let queues: Vec<_> = record.queues.iter().map(|queue| &self.queues[&queue.queue]).collect();
        let waits: Vec<i128> =
            queues.iter().flat_map(|queue| queue.waits.iter().copied()).collect();
        mean(record.mean_wait_s, &waits, "wait of all");
        let longest =
            record.queues.iter().filter_map(|queue| queue.longest_wait_s).max_by(f64::total_cmp);
        assert_eq!(record.longest_wait_s, longest);
        let mut times: Vec<i128> =
            queues.iter().flat_map(|queue| queue.job_micros.iter().copied()).collect();
        times.sort_unstable();
        let median = times.len().checked_sub(1).map(|last| times[last / 2] as f64 / 1e6);
        assert_eq!(record.p50_job_s, median, "exact while few");
        let sum = |of: fn(&QueueRecord) -> f64| record.queues.iter().map(of).sum::<f64>();
        let has_child = |name: &String| {
            self.order.iter().any(|other| {
                other.starts_with(&format!("{name}.")) && !self.removed.contains(other)
            })
        };
        if self.order.iter().all(|name| leaves.contains(name) || has_child(name)) {
            near(sum(|queue| queue.lent), sum(|queue| queue.borrowed), "lent and borrowed");
        }
    }

    fn rho(&self, leaf: &str) -> Option<f64> {
        let queue = &self.queues[leaf];
        (queue.entitled > 0.0).then(|| queue.used[0] as f64 / queue.entitled)
    }

    fn compare_queue(&self, record: &QueueRecord) {
        let queue = &self.queues[&record.queue];
        let scale = |kind: usize| if self.kinds[kind] == "memory" { 1e6 } else { 1e9 };
        for (kind, name) in self.kinds.iter().enumerate() {
            near(record.usage[name], queue.used[kind] as f64 / scale(kind), "usage");
        }
        assert_eq!(record.rho.is_some(), self.rho(&record.queue).is_some());
        near(record.rho.unwrap_or(0.0), self.rho(&record.queue).unwrap_or(0.0), "rho");
        let borrowed = if self.partitioned { 0 } else { queue.borrowed };
        near(record.borrowed, borrowed as f64 / scale(0), "borrowed");
        near(record.share, queue.exact / scale(0) * 1e6, "share");
        assert_eq!((record.jobs, record.tasks), (queue.job_micros.len() as u64, queue.tasks));
        mean(record.mean_job_s, &queue.job_micros, "job time");
        mean(record.mean_wait_s, &queue.waits, "wait");
        let ours = self.jobs.values().filter(|job| job.queue == record.queue);
        let still = ours
            .flat_map(|job| &job.tasks)
            .filter_map(|task| task.waits)
            .map(|since| self.now - since);
        let longest = queue.waits.iter().copied().chain(still).max();
        assert_eq!(record.longest_wait_s.map(|wait| (wait * 1e6).round() as i128), longest);
    }

    /// Inline jobs come when they say, chained ones a pause after the one before.
    fn check_arrivals(&self, scenario: &str) {
        let table: toml::Table = toml::from_str(scenario).expect("it was read before");
        let number = |job: &toml::Value, key: &str| {
            job.get(key).and_then(toml::Value::as_integer).unwrap_or(0)
        };
        let mut before: BTreeMap<String, Option<i128>> = BTreeMap::new();
        for (index, job) in table["job"].as_array().expect("jobs").iter().enumerate() {
            let label = job
                .get("name")
                .map_or(index.to_string(), |name| name.as_str().unwrap_or_default().to_owned());
            let submit = i128::from(number(job, "submit")) * 1_000_000;
            let mut expected = Some(submit);
            if let Some(chain) = job.get("chain") {
                if let Some(last) = before.get(&chain.to_string()) {
                    expected = last.map(|last| {
                        submit.max(last + i128::from(number(job, "pause")) * 1_000_000)
                    });
                }
                before.insert(chain.to_string(), self.ended.get(&label).copied());
            }
            if let Some(arrived) = self.arrived.get(&label) {
                assert_eq!(Some(*arrived), expected, "{label}");
            } else {
                let never = expected.is_none_or(|at| at > self.now);
                assert!(
                    never || self.ended.get(&label).copied() == expected,
                    "{label} does not come"
                );
            }
        }
    }
}

fn mean(given: Option<f64>, all: &[i128], what: &str) {
    assert_eq!(given.is_some(), !all.is_empty(), "{what}");
    let sum: i128 = all.iter().sum();
    near(given.unwrap_or(0.0), sum as f64 / all.len().max(1) as f64 / 1e6, what);
}

fn near(given: f64, expected: f64, what: &str) {
    assert!(
        (given - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "{what}: {given} is not {expected}"
    );
}
