//! Small scenarios: some by hand, the others at random.

use std::fmt::Write;

use proptest::prelude::*;

/// Nodes and queues that come and go, jobs that are cancelled, stages, chains.
pub(crate) const BY_HAND: [&str; 3] = [
    r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
name = "n"
count = 2
capacity = { cpu = 4, memory = "4GiB" }
[[queue]]
name = "a"
[[queue]]
name = "p.b"
[[queue]]
name = "p.c"
weight = 2
[[job]]
queue = "a"
tasks = 30
demand = { cpu = 1 }
duration = 3
limit = "2s"
[[job]]
queue = "p.b"
name = "long"
tasks = 9
demand = { cpu = 2, memory = "1GiB" }
duration = 7
[[job]]
queue = "p.c"
tasks = 12
demand = { cpu = 1, memory = "100MiB" }
duration = 5
[[job]]
queue = "p.c"
submit = 30
tasks = 2
demand = { cpu = 1 }
duration = 1
[[change]]
at = 1
node_joins = { name = "new", capacity = { cpu = 2, memory = "4GiB" } }
[[change]]
at = 2
node_leaves = "n-0"
[[change]]
at = 3
node_resized = { name = "n-1", capacity = { cpu = 3, memory = "2GiB" } }
[[change]]
at = 4
queue = { name = "a", weight = 3, max = { cpu = 3 } }
[[change]]
at = 5
job_cancelled = "long"
[[change]]
at = 6
queue_removed = "p.c"
[[change]]
at = 8
node_leaves = "n-1"
[[change]]
at = 9
node_leaves = "new"
[[change]]
at = 14
node_joins = { name = "n-0", capacity = { cpu = 6, memory = "4GiB" } }
"#,
    r#"
[cluster]
resources = ["slot"]
[[cluster.node]]
capacity = { slot = 5 }
[[queue]]
name = "a"
[[queue]]
name = "p.x"
[[job]]
queue = "a"
tasks = 60
demand = { slot = 1 }
duration = 3
[[change]]
at = 0
queue_removed = "p.x"
"#,
    r#"
[cluster]
resources = ["slot"]
[[queue]]
name = "late"
[[queue]]
name = "other"
[[job]]
queue = "late"
submit = 3
tasks = 3
demand = { slot = 1 }
duration = 2
[[job]]
queue = "other"
submit = 3
tasks = 1
demand = { slot = 3 }
duration = 2
[[change]]
at = 2
node_joins = { capacity = { slot = 4 } }
[[change]]
at = 20
queue_removed = "other"
"#,
];

/// A scenario as drawn.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    nodes: Vec<(u8, u8)>,
    weights: Vec<u8>,
    nested: bool,
    jobs: Vec<Job>,
    closed: Option<(u8, u8)>,
    fail_percent: u8,
    max_attempts: u8,
    until: Option<u8>,
    changes: Vec<(u8, Change)>,
}

#[derive(Clone, Debug)]
struct Job {
    queue: u8,
    submit: u8,
    chain: Option<u8>,
    groups: Vec<(u8, u8, u8, u8)>,
}

#[derive(Clone, Debug)]
enum Change {
    Joins(u8),
    Leaves,
    Resized(u8),
    Weight(u8, u8),
    Cancelled(u8),
    Removed,
}

fn job() -> impl Strategy<Value = Job> {
    let groups = prop::collection::vec((0u8..3, 1u8..6, 1u8..6, 0u8..9), 1..4);
    (0u8..4, 0u8..20, prop::option::weighted(0.3, 0u8..2), groups).prop_map(
        |(queue, submit, chain, mut groups)| {
            groups.sort_unstable();
            // Stages begin at 0 and leave no gap.
            let mut stages: Vec<u8> = groups.iter().map(|group| group.0).collect();
            stages.dedup();
            for group in &mut groups {
                group.0 = stages.iter().position(|stage| *stage == group.0).unwrap_or(0) as u8;
            }
            Job { queue, submit, chain, groups }
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1u8..9).prop_map(Change::Joins),
        Just(Change::Leaves),
        (1u8..9).prop_map(Change::Resized),
        (0u8..4, 1u8..9).prop_map(|(queue, weight)| Change::Weight(queue, weight)),
        (0u8..12).prop_map(Change::Cancelled),
        Just(Change::Removed),
    ]
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    (
        prop::collection::vec((5u8..9, 1u8..9), 1..4),
        prop::collection::vec(1u8..9, 4),
        any::<bool>(),
        prop::collection::vec(job(), 1..12),
        prop::option::weighted(0.3, (1u8..4, 0u8..5)),
        prop_oneof![Just(0u8), 1u8..40],
        0u8..4,
        prop::option::weighted(0.3, 1u8..60),
        prop::collection::vec((0u8..30, change()), 0..4),
    )
        .prop_map(
            |(nodes, weights, nested, jobs, closed, fail_percent, max_attempts, until, changes)| {
                Plan {
                    nodes,
                    weights,
                    nested,
                    jobs,
                    closed,
                    fail_percent,
                    max_attempts,
                    until,
                    changes,
                }
            },
        )
}

impl Plan {
    fn queue(&self, number: u8) -> &'static str {
        match self.nested {
            true => ["p.a", "p.b", "q.c", "q.d"][usize::from(number)],
            false => ["a", "b", "c", "d"][usize::from(number)],
        }
    }

    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::from("[cluster]\nresources = [\"cpu\", \"memory\"]\n");
        self.write(&mut text).expect("text can be written");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        for (cpu, memory) in &self.nodes {
            writeln!(
                text,
                "[[cluster.node]]\ncapacity = {{ cpu = {cpu}, memory = {} }}",
                4 + memory
            )?;
        }
        for (number, weight) in (0..).zip(&self.weights) {
            writeln!(text, "[[queue]]\nname = \"{}\"\nweight = {weight}", self.queue(number))?;
        }
        for (number, job) in self.jobs.iter().enumerate() {
            let queue = self.queue(job.queue);
            writeln!(
                text,
                "[[job]]\nname = \"j{number}\"\nqueue = \"{queue}\"\nsubmit = {}",
                job.submit
            )?;
            if let Some(chain) = job.chain {
                writeln!(text, "chain = \"{chain}\"\npause = 2")?;
            }
            for (stage, tasks, cpu, duration) in &job.groups {
                writeln!(
                    text,
                    "[[job.group]]\nstage = {stage}\ntasks = {tasks}\ndemand = {{ cpu = \"{}m\", \
                     memory = {} }}\nduration = \"{}ms\"",
                    u32::from(*cpu) * 700,
                    cpu % 3,
                    u32::from(*duration) * 730
                )?;
            }
        }
        if let Some((chains, pause)) = self.closed {
            writeln!(
                text,
                "[[generator]]\nname = \"closed\"\nqueue = \"{}\"\njobs = 9\ntasks = {{ uniform = \
                 [1.0, 4.0] }}\nduration = {{ exponential = 2.0 }}\n\
                 demand = {{ cpu = 1 }}\narrivals = {{ closed = {chains}, pause = {pause} }}",
                self.queue(1)
            )?;
        }
        writeln!(
            text,
            "[run]\nfail_rate = 0.{:02}\nmax_attempts = {}",
            self.fail_percent, self.max_attempts
        )?;
        if let Some(until) = self.until {
            writeln!(text, "until = {until}")?;
        }
        self.write_changes(text)
    }

    fn write_changes(&self, text: &mut String) -> std::fmt::Result {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|(at, _)| *at);
        let (mut left, mut removed) = (false, false);
        for (number, (at, change)) in changes.iter().enumerate() {
            let line = match change {
                Change::Joins(cpu) => {
                    format!(
                        "node_joins = {{ name = \"new-{number}\", capacity = {{ cpu = {cpu}, \
                         memory = 3 }} }}"
                    )
                }
                Change::Leaves if !std::mem::replace(&mut left, true) => {
                    "node_leaves = \"n0\"".to_owned()
                }
                Change::Resized(cpu) if !left => {
                    format!(
                        "node_resized = {{ name = \"n0\", capacity = {{ cpu = {cpu}, memory = 2 }} \
                         }}"
                    )
                }
                Change::Weight(queue, weight) if !removed => {
                    format!("queue = {{ name = \"{}\", weight = {weight} }}", self.queue(*queue))
                }
                Change::Cancelled(job) if usize::from(*job) < self.jobs.len() => {
                    format!("job_cancelled = \"j{job}\"")
                }
                Change::Removed if !std::mem::replace(&mut removed, true) => {
                    format!("queue_removed = \"{}\"", self.queue(3))
                }
                _ => continue,
            };
            writeln!(text, "[[change]]\nat = {at}\n{line}")?;
        }
        Ok(())
    }
}
