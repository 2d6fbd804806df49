//! What was held: the containers of an application's executors and of its master, as jobs.
//!
//! Executors that were asked for with the application come with it. Those that dynamic allocation
//! asked for later come when it did, and one that replaces another when that was removed: each time
//! as another job of that name. What was asked for within a second comes together.
//!
//! A log tells when an executor registered. Its container was held from before: by YARN's list of
//! applications (`memorySeconds`) it is known how much all containers of an application held, and
//! what the log does not tell of it is spread over the executors, the same time for each:
//! `(memorySeconds - what the log tells) / memory of all executors`.

use std::collections::BTreeMap;

use super::app::App;
use super::assumptions::{Holds, SparkAssumptions};
use super::list::Listed;
use super::sizes::Manager;

/// What was asked for within so many milliseconds comes together.
const TOGETHER: u64 = 1000;
/// Bytes of a mebibyte.
const MIB: u64 = 1 << 20;

/// One container. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container {
    pub(super) holds: Holds,
    pub(super) asked: u64,
    pub(super) begin: u64,
    pub(super) millis: u64,
    /// It held on when its log ended.
    pub(super) cut: bool,
    pub(super) is_executor: bool,
}

/// Containers of an application, and what of YARN's list they differ from.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) containers: Vec<Container>,
    /// What is told of executors alone, thousandths of a core x milliseconds: registered.
    pub(super) cores: u128,
    /// What each executor's container was held besides, by YARN's list.
    pub(super) before_ms: u64,
    /// YARN's list says less than the log.
    pub(super) is_less: bool,
}

/// The containers of the attempts of one application.
pub(super) fn held(apps: &[App], listed: Option<&Listed>, assumed: &SparkAssumptions) -> Held {
    let mut held = Held::default();
    for (number, app) in apps.iter().enumerate() {
        let Some(known) = &app.known else { continue };
        let manager = app.manager();
        let listed = listed.filter(|_| manager == Manager::Yarn);
        let is_last = number + 1 == apps.len();
        let finished = listed.map(|listed| listed.end).filter(|end| *end > 0 && is_last);
        let ends = match (app.end, finished) {
            (Some(end), _) => end,
            (None, Some(finished)) => finished.max(app.last),
            (None, None) => app.last,
        };
        let cut = app.end.is_none() && finished.is_none();
        let launched = listed.map(|listed| listed.launch).filter(|at| *at > 0 && number == 0);
        let asked = submitted(app, listed.filter(|_| number == 0), known.start);
        if let Some(holds) = app.settings.master(manager, assumed.container_step) {
            let begin = launched.or(app.master).unwrap_or(known.start).max(asked);
            let end = finished.unwrap_or(ends);
            held.containers.push(Container {
                holds,
                asked,
                begin,
                millis: end.saturating_sub(begin),
                cut,
                is_executor: false,
            });
        }
        let asked_for = app.asked();
        for (id, executor) in &app.executors {
            let holds = match executor.is_driver {
                true => app.settings.driver(executor.cores),
                false => app.settings.executor(
                    manager,
                    app.profiles.get(&executor.profile),
                    executor.profile == 0,
                    [executor.cores, executor.gpus],
                    assumed.container_step,
                ),
            };
            let end = executor.removed.unwrap_or(ends);
            let millis = end.saturating_sub(executor.added);
            held.cores += u128::from(holds.cores) * u128::from(millis);
            held.containers.push(Container {
                holds,
                asked: asked_for.get(&**id).copied().unwrap_or(asked).max(asked),
                begin: executor.added,
                millis,
                cut: cut && executor.removed.is_none(),
                is_executor: true,
            });
        }
    }
    if let Some(listed) = listed.filter(|listed| listed.end > 0) {
        held.as_listed(listed);
    }
    held
}

/// When an application was submitted.
fn submitted(app: &App, listed: Option<&Listed>, start: u64) -> u64 {
    let first = app.executors.values().map(|executor| executor.added).min();
    let submit = listed.map(|listed| listed.submit).filter(|at| *at > 0);
    submit.unwrap_or(start).min(first.unwrap_or(u64::MAX))
}

impl Held {
    /// Makes executors as long as YARN's list says.
    fn as_listed(&mut self, listed: &Listed) {
        let sum = |of: &dyn Fn(&Container) -> u128| self.containers.iter().map(of).sum::<u128>();
        let told = sum(&|one| u128::from(one.holds.memory) * u128::from(one.millis));
        let each = sum(&|one| u128::from(one.holds.memory) * u128::from(one.is_executor));
        let listed = u128::from(listed.mib_seconds) * u128::from(MIB) * 1000;
        self.is_less = listed < told;
        if each == 0 {
            return;
        }
        let before = u64::try_from(listed.saturating_sub(told) / each).unwrap_or(u64::MAX);
        self.before_ms = before;
        for container in self.containers.iter_mut().filter(|one| one.is_executor) {
            container.millis = container.millis.saturating_add(before);
            container.begin = container.begin.saturating_sub(before).max(container.asked);
        }
    }

    /// Containers that came together, in order; of each what is equal stands together.
    pub(super) fn batches(mut self) -> Vec<Batch> {
        self.containers.retain(|container| container.millis > 0);
        // Stable: equal times stay in their order.
        self.containers.sort_by_key(|container| container.asked);
        let mut batches: Vec<Batch> = Vec::new();
        for container in self.containers {
            let is_with = |batch: &&mut Batch| container.asked - batch.submit <= TOGETHER;
            let batch = match batches.last_mut().filter(is_with) {
                Some(batch) => batch,
                None => {
                    let (submit, begin) = (container.asked, container.begin);
                    batches.push(Batch { submit, begin, tasks: BTreeMap::new() });
                    batches.last_mut().expect("it was pushed")
                }
            };
            batch.begin = batch.begin.min(container.begin);
            batch.tasks.entry((container.holds, container.cut)).or_default().push(container.millis);
        }
        batches
    }
}

/// Containers that were asked for together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) submit: u64,
    /// When the first of them began.
    pub(super) begin: u64,
    /// How long they were held, by what they hold and whether they held on at the end of the log.
    pub(super) tasks: BTreeMap<(Holds, bool), Vec<u64>>,
}
