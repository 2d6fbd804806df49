//! What users are shown. Of others' jobs and queues a tenant sees what fairness needs: how much is
//! held and waits, not what it is called, nor what it has used.

use std::collections::BTreeMap;

use meed::QueueId;
use meed_driver::explain::QueueStatus;
use meed_journal::UnitName;
use serde::Serialize;
use serde_json::json;

use super::{World, WorldError};
use crate::books::{Fate, JobRow, Phase, TaskRow};
use crate::protocol::{
    Answer, JobQuery, JobStanding, JobView, Jobs, JobsQuery, MAX_ROWS, NotDone, RefusalKind,
    Request, Shown, TaskView,
};
use crate::settings::Role;
use crate::spec::Submission;
use crate::user::LocalUser;

/// Rows of ended jobs that one request may look through.
const MOST_LOOKED_AT: usize = 200_000;

/// A resource of the machine.
#[derive(Serialize)]
struct ResourceShown {
    resource: String,
    unit: UnitName,
    has: f64,
    held: f64,
}

/// How a queue stands.
#[derive(Serialize)]
struct QueueShown {
    queue: String,
    /// Its place among the queues that are served next; `None`: nothing of it waits.
    next: Option<usize>,
    weight: f64,
    measured: String,
    share: f64,
    held: f64,
    demand: f64,
    waiting_tasks: u64,
    jobs: u64,
    /// Of own queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    books: Option<QueueStatus>,
}

impl World {
    /// Answers what changes nothing.
    pub(super) fn read(
        &mut self,
        user: &LocalUser,
        request: Request,
    ) -> Result<Answer, WorldError> {
        match request {
            Request::Jobs(query) => Ok(Answer::of(Ok(self.jobs(user, &query)?))),
            Request::Show(query) => Ok(Answer::of(self.show(user, &query)?)),
            Request::Queues {} => Ok(Answer::of(self.queues(user))),
            Request::Why(query) => Ok(Answer::of(self.why(user, &query)?)),
            _ => Ok(Answer::of(Ok(json!({
                "server": env!("CARGO_PKG_VERSION"),
                "user": user.name,
                "node": self.settings.node().name,
            })))),
        }
    }

    /// The job as lists show it.
    pub(super) fn view_of(&self, job: u64, user: &LocalUser) -> Result<Answer, WorldError> {
        let row = self.row_of(job)?;
        let view = row.map(|row| self.view(&row, user));
        Ok(Answer::of(
            view.ok_or_else(|| NotDone::new(RefusalKind::Unknown, "there is no such job")),
        ))
    }

    pub(super) fn view(&self, row: &JobRow, user: &LocalUser) -> JobView {
        let running = self.running.get(&row.id).map_or(0, |tasks| tasks.len() as u32);
        JobView::of(row, state(row, running), running, self.may_see(row, user))
    }

    fn may_see(&self, row: &JobRow, user: &LocalUser) -> bool {
        row.uid == user.uid || self.settings.members.role(user) >= Role::Operator
    }

    fn jobs(&self, user: &LocalUser, query: &JobsQuery) -> Result<Jobs, WorldError> {
        let limit = query.limit.unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let below = query.below.unwrap_or(u64::MAX);
        let is_wanted = |row: &JobRow| {
            (query.all || row.uid == user.uid)
                && query.queue.as_ref().is_none_or(|queue| row.queue == *queue)
        };
        let mut jobs: Vec<JobView> = Vec::new();
        let mut more = None;
        let mut looked = 0;
        let mut visit = |row: &JobRow| {
            looked += 1;
            if jobs.len() == limit || looked > MOST_LOOKED_AT {
                more = Some(row.id + 1);
                return false;
            }
            if is_wanted(row) {
                jobs.push(self.view(row, user));
            }
            true
        };
        if query.ended {
            self.books.jobs_below(below, |row| visit(self.rows.get(&row.id).unwrap_or(&row)))?;
        } else {
            let _ = self.rows.range(..below).rev().all(|(_, row)| visit(row));
        }
        Ok(Jobs { jobs, more })
    }

    fn show(
        &self,
        user: &LocalUser,
        query: &JobQuery,
    ) -> Result<Result<Shown, NotDone>, WorldError> {
        let row = match self.own(user, query)? {
            Ok(row) => row,
            Err(why) => return Ok(Err(why)),
        };
        let Some(spec) = self.books.spec(row.id)? else {
            return Ok(Err(NotDone::new(RefusalKind::Failed, "the job's description is lost")));
        };
        let ended = self.books.tasks(row.id, query.from, MAX_ROWS + 1)?;
        let more = ended.get(MAX_ROWS).map(|&(task, _)| task);
        let mut task = BTreeMap::new();
        for (number, row_of_task) in ended.into_iter().take(MAX_ROWS) {
            task.insert(number, self.ended_task(&row, &spec, number, row_of_task));
        }
        for key in self.running.get(&row.id).into_iter().flatten() {
            if key.task >= query.from && more.is_none_or(|more| key.task < more) {
                let before = task.remove(&key.task);
                task.insert(key.task, self.running_task(&row, &spec, key, before));
            }
        }
        let job = self.view(&row, user);
        let spec = Submission { env: Vec::new(), ..spec };
        let after = row.after.iter().map(|after| after.job).collect();
        Ok(Ok(Shown { job, spec, after, task, more }))
    }

    fn ended_task(&self, row: &JobRow, spec: &Submission, number: u32, ended: TaskRow) -> TaskView {
        let index = spec.tasks.index(number);
        let log = match &spec.stdout {
            Some(path) => spec.folder.as_path().join(path.as_path()),
            None => self.places.logs(row.id).join(format!("{index}.log")),
        };
        TaskView {
            index,
            attempt: ended.attempt,
            running: false,
            began_us: ended.ended.as_ref().and_then(|end| end.began).map(|began| began.wall_us),
            words: ended.ended.as_ref().map(crate::run::TaskEnd::words),
            ended: ended.ended,
            log: log.to_string_lossy().into_owned(),
            gpus: Vec::new(),
            processors: Vec::new(),
        }
    }

    fn running_task(
        &self,
        row: &JobRow,
        spec: &Submission,
        key: &meed_journal::TaskKey,
        before: Option<TaskView>,
    ) -> TaskView {
        let before =
            before.unwrap_or_else(|| self.ended_task(row, spec, key.task, TaskRow::default()));
        let run = self.runs.get(key);
        let began = run.and_then(|run| run.folder.began().ok().flatten());
        TaskView {
            attempt: key.attempt,
            running: true,
            began_us: began.map(|began| began.at.wall_us),
            gpus: run.map(|run| run.held.gpus.clone()).unwrap_or_default(),
            processors: run.map(|run| run.held.processors.clone()).unwrap_or_default(),
            ..before
        }
    }

    fn queues(&mut self, user: &LocalUser) -> Result<serde_json::Value, NotDone> {
        let failed = |why: meed::Rejected| NotDone::new(RefusalKind::Failed, why.to_string());
        let now = self.live.instant(self.meta.clock.now());
        let books = self.live.queues(now).map_err(failed)?;
        let engine = self.live.engine();
        let first = engine.children_in_order(QueueId::ROOT);
        let order: BTreeMap<&str, usize> = (0..)
            .zip(&first)
            .map(|(place, child)| (engine.queue(child.queue).name, place))
            .collect();
        let members = &self.settings.members;
        let sees_all = members.role(user) >= Role::Operator;
        let shown = |(id, state): (QueueId, QueueStatus)| {
            let queue = engine.queue(id).name.to_owned();
            let top = queue.split('.').next().unwrap_or_default();
            QueueShown {
                next: order.get(top).copied().filter(|_| state.waiting_tasks > 0),
                weight: state.weight,
                measured: state.measured.clone(),
                share: state.share,
                held: state.held,
                demand: state.demand,
                waiting_tasks: state.waiting_tasks,
                jobs: state.jobs,
                books: (sees_all || members.may_use(user, &queue)).then_some(state),
                queue,
            }
        };
        let queues: Vec<QueueShown> = books.into_iter().map(shown).collect();
        Ok(json!({ "queues": queues, "resources": self.resources() }))
    }

    /// What the machine has, and what tasks hold of it.
    fn resources(&self) -> Vec<ResourceShown> {
        let engine = self.live.engine();
        let (kinds, held) = (engine.kinds(), engine.queue(QueueId::ROOT).held);
        let shown = |kind: usize| {
            let natural = |amount: u64| amount as f64 / kinds.unit(kind).scale() as f64;
            ResourceShown {
                resource: kinds.name(kind).to_owned(),
                unit: kinds.unit(kind).into(),
                has: natural(engine.capacity().get(kind)),
                held: natural(held.get(kind)),
            }
        };
        (0..kinds.len()).map(shown).collect()
    }
}

fn state(row: &JobRow, running: u32) -> JobStanding {
    match (row.phase, row.fate) {
        (Phase::Ended, Some(Fate::Done)) => JobStanding::Done,
        (Phase::Ended, Some(Fate::Cancelled)) => JobStanding::Cancelled,
        (Phase::Ended, _) => JobStanding::Failed,
        (Phase::Held, _) => JobStanding::Held,
        (Phase::New, _) if !row.after.is_empty() => JobStanding::After,
        (Phase::Told, _) if running > 0 => JobStanding::Running,
        _ => JobStanding::Waiting,
    }
}
