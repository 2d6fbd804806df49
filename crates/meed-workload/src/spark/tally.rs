//! What is told of logs besides their jobs: what was held and used, what is not known, and what was
//! passed over.

use std::collections::BTreeMap;
use std::sync::Arc;

use meed_config::text::counted;

use super::app::App;
use super::assumptions::{SparkAssumptions, SparkShape};
use super::held::Held;
use super::list::Listed;
use super::needed;
use super::sizes::Manager;
use crate::Used;

/// Kinds of events that are counted apart.
const MOST_KINDS: usize = 1000;
/// Kinds of events, or files, that are named.
const NAMED: usize = 4;
/// Queues whose idle share is told.
const QUEUES: usize = 8;
/// Thousandths of a core x milliseconds in an hour of a core.
const CORE_HOUR: f64 = 3.6e9;

/// What is told of one application.
pub(super) struct Of<'a> {
    pub(super) last: &'a App,
    pub(super) listed: Option<&'a Listed>,
    pub(super) held: &'a Held,
    /// Nobody knows when it ended.
    pub(super) is_open: bool,
}

/// Thousandths of a core x milliseconds.
#[derive(Default)]
struct CoreTime {
    held: u128,
    containers: u128,
    used: u128,
}

#[derive(Default)]
pub(super) struct Tally {
    /// Logs that end in the middle of an event.
    pub(super) cut: u64,
    /// Applications without an end that were left out.
    pub(super) dropped: u64,
    /// Names with dots.
    pub(super) dots: u64,
    others: BTreeMap<String, u64>,
    files: Vec<String>,
    missing: Vec<String>,
    core_time: BTreeMap<u32, CoreTime>,
    applications: u64,
    on_yarn: u64,
    joined: u64,
    is_less: u64,
    before_ms: Vec<u64>,
    open: u64,
    with_gpus: u64,
    without_executors: u64,
}

impl Tally {
    /// An event that is not read.
    pub(super) fn other(&mut self, name: &str) {
        let kind = name.rsplit('.').next().unwrap_or_default();
        if let Some(count) = self.others.get_mut(kind) {
            *count += 1;
            return;
        }
        // Who makes up kinds without end fills no memory.
        let is_full = self.others.len() >= MOST_KINDS;
        let kind = if is_full { "others".to_owned() } else { kind.chars().take(100).collect() };
        *self.others.entry(kind).or_default() += 1;
    }

    /// Files of a folder that are no logs.
    pub(super) fn others(&mut self, names: &[String]) {
        self.files = names.to_vec();
    }

    /// Parts of a log that are not there.
    pub(super) fn missing(&mut self, name: &Arc<str>, parts: &[u64]) {
        let parts: Vec<String> = parts.iter().map(u64::to_string).collect();
        self.missing.push(format!("{} (of {name})", parts.join(", ")));
    }

    /// An application with these attempts, of the queue of this number.
    pub(super) fn take(&mut self, queue: u32, attempts: &[App], of: Of<'_>) {
        self.applications += 1;
        self.open += u64::from(of.is_open);
        let is_on_yarn = of.last.manager() == Manager::Yarn;
        self.on_yarn += u64::from(is_on_yarn);
        self.joined += u64::from(of.listed.is_some());
        self.is_less += u64::from(of.held.is_less);
        if of.listed.is_some_and(|listed| listed.end > 0) {
            self.before_ms.push(of.held.before_ms);
        }
        let has_gpu = of.held.containers.iter().any(|container| container.holds.gpus > 0);
        self.with_gpus += u64::from(has_gpu);
        let has_executor = of.held.containers.iter().any(|container| container.is_executor);
        self.without_executors += u64::from(!has_executor);
        // Of one without an end the last tasks are not told.
        if of.is_open {
            return;
        }
        let time = self.core_time.entry(queue).or_default();
        time.held += of.held.cores;
        let executors = of.held.containers.iter().filter(|one| one.is_executor);
        let held = executors.map(|one| u128::from(one.holds.cores) * u128::from(one.millis));
        time.containers += held.sum::<u128>();
        time.used += attempts.iter().map(needed::used).sum::<u128>();
    }

    /// What executors held and used, by queue.
    pub(super) fn used(&self, queues: &[String]) -> Vec<Used> {
        let of = |(number, time): (&u32, &CoreTime)| {
            Some(Used {
                queue: queues.get(*number as usize)?.clone(),
                held_core_s: time.held as f64 / 1e6,
                container_core_s: time.containers as f64 / 1e6,
                used_core_s: time.used as f64 / 1e6,
            })
        };
        self.core_time.iter().filter_map(of).collect()
    }

    /// All of it in words.
    pub(super) fn words(
        &self,
        assumed: &SparkAssumptions,
        counts_gpus: bool,
        has_list: bool,
        queues: &[String],
    ) -> Vec<String> {
        let mut words = vec![self.idle_words(queues)];
        if self.on_yarn > 0 {
            words.push(format!(
                "a container on YARN holds its memory and overhead, rounded up to {} MiB \
                 (`container_step`; no log tells it)",
                assumed.container_step >> 20
            ));
        }
        if assumed.shape == SparkShape::Executors {
            words.extend(self.list_words(has_list));
        }
        let apps = |count: u64| counted(count, "application");
        let rows = [
            (
                self.open,
                format!(
                    "no end in the log: {}; what ran is held until the last event, which is too \
                     short, for Spark writes events of tasks late (`unfinished = \"drop\"` leaves \
                     it out)",
                    apps(self.open)
                ),
            ),
            (self.dropped, format!("left out without an end in the log: {}", apps(self.dropped))),
            (
                self.cut,
                format!(
                    "cut in the middle of an event: {}; what came before counts",
                    counted(self.cut, "log")
                ),
            ),
            (
                self.missing.len() as u64,
                format!("parts of logs that are not there: {}", first(&self.missing)),
            ),
            (self.without_executors, format!("no executors: {}", apps(self.without_executors))),
            (
                if counts_gpus { 0 } else { self.with_gpus },
                format!(
                    "GPUs, which are no resource here, were held by {} (`gpu_resource = \"gpu\"`)",
                    apps(self.with_gpus)
                ),
            ),
            (self.dots, format!("dots, shown as _, are in {}", counted(self.dots, "name"))),
            (self.others.len() as u64, self.passed_words()),
            (
                self.files.len() as u64,
                format!(
                    "no event logs that can be read: {} of the folder ({})",
                    counted(self.files.len() as u64, "file"),
                    first(&self.files)
                ),
            ),
        ];
        words.extend(rows.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        words
    }

    /// What YARN's list tells, or would tell.
    fn list_words(&self, has_list: bool) -> Vec<String> {
        let mut words = Vec::new();
        let apps = |count: u64| counted(count, "application");
        let mut before = self.before_ms.clone();
        before.sort_unstable();
        if let Some(most) = before.last() {
            words.push(format!(
                "by YARN's list (memorySeconds) each executor's container was held longer than \
                 its log tells: {} s in the median of {}, {} s at most; the same for all \
                 executors of an application",
                seconds(before[(before.len() - 1) / 2]),
                apps(before.len() as u64),
                seconds(*most),
            ));
        }
        let without = self.on_yarn - self.joined;
        if without > 0 {
            let how = match has_list {
                true => "YARN's list does not have them",
                false => "YARN's list of applications tells it (`applications = \"apps.json\"`)",
            };
            words.push(format!(
                "held longer than is known here: containers of {} on YARN, for a log tells when \
                 an executor registered, not when YARN gave its container; {how}",
                apps(without)
            ));
        }
        if self.is_less > 0 {
            words.push(format!(
                "less memory x time in YARN's list than in the log: {}, whose log counts; look at \
                 `container_step`",
                apps(self.is_less)
            ));
        }
        words
    }

    fn passed_words(&self) -> String {
        let mut kinds: Vec<_> = self.others.iter().collect();
        kinds.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then(a.cmp(b)));
        let all: u64 = self.others.values().sum();
        let named: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let (all, of) = (counted(all, "event"), counted(kinds.len() as u64, "kind"));
        format!("passed over: {all} of {of} ({})", first(&named))
    }

    fn idle_words(&self, queues: &[String]) -> String {
        let used = self.used(queues);
        let sum = |of: fn(&Used) -> f64| used.iter().map(of).sum::<f64>();
        let all = Used {
            queue: String::new(),
            held_core_s: sum(|used| used.held_core_s),
            container_core_s: sum(|used| used.container_core_s),
            used_core_s: sum(|used| used.used_core_s),
        };
        let share = |used: &Used| match used.idle_share() {
            Some(share) => format!("{:.1} % idle", share * 100.0),
            None => "nothing held".to_owned(),
        };
        let hours = |core_s: f64| core_s * 1e6 / CORE_HOUR;
        let containers = match all.container_core_s > all.held_core_s {
            true => format!(" ({:.3} with their start, by YARN)", hours(all.container_core_s)),
            false => String::new(),
        };
        let mut text = format!(
            "registered executors held {:.3} core-hours{containers}, tasks ran in {:.3} of them: \
             {}",
            hours(all.held_core_s),
            hours(all.used_core_s),
            share(&all)
        );
        if used.len() > 1 {
            let of = |used: &Used| format!("{} {}", used.queue, share(used));
            let each: Vec<String> = used.iter().take(QUEUES).map(of).collect();
            let more = if used.len() > QUEUES { ", ..." } else { "" };
            text += &format!(" ({}{more})", each.join(", "));
        }
        if self.open > 0 {
            text += "; those whose log has no end are not counted";
        }
        text
    }
}

fn seconds(ms: u64) -> f64 {
    (ms as f64 / 100.0).round() / 10.0
}

/// The first of some names.
fn first(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let named = &names[..names.len().min(NAMED)];
    named.join(", ") + more
}
