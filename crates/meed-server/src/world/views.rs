//! What users are shown. Of others' jobs and queues a tenant sees what fairness needs: how much is
//! held and waits, not what it is called, nor what it has used.

use std::collections::BTreeMap;

use meed::QueueId;
use meed_driver::explain::QueueStatus;
use serde_json::json;

use super::shown::{ClusterShown, MeShown, NodeShown, QueueShown, QueuesShown, ResourceShown};
use super::{World, WorldError};
use crate::books::{Fate, JobRow, Phase, TaskRow};
use crate::group::Wall;
use crate::protocol::{
    Answer, JobQuery, JobStanding, JobView, Jobs, JobsQuery, LogPlace, LogQuery, MAX_ROWS, NotDone,
    RefusalKind, Request, Shown, TaskView,
};
use crate::settings::Role;
use crate::spec::Submission;
use crate::user::LocalUser;

/// Rows of ended jobs that one request may look through.
const MOST_LOOKED_AT: usize = 200_000;

impl World {
    /// Answers what changes nothing.
    pub(super) fn read(
        &mut self,
        user: &LocalUser,
        request: Request,
    ) -> Result<Answer, WorldError> {
        match request {
            Request::Jobs(query) => Ok(Answer::written(&self.jobs(user, &query)?)),
            Request::Show(query) => Ok(Answer::of(self.show(user, &query)?)),
            Request::Queues {} => Ok(Answer::of(self.queues(user))),
            Request::Why(query) => Ok(Answer::of(self.why(user, &query)?)),
            Request::Cluster {} => Ok(Answer::of(Ok(self.cluster()))),
            Request::Me {} => {
                let role = self.settings.members.role(user);
                let (user, reads_only) = (user.name.clone(), user.way.reads_only);
                Ok(Answer::of(Ok(MeShown { user, role, reads_only })))
            }
            Request::History(query) => Ok(Answer::of(self.history(user, query)?)),
            Request::Metrics {} => {
                let text = self.metrics(user).map(|text| json!({ "text": text }));
                Ok(Answer::of(text))
            }
            Request::Log(query) => Ok(Answer::of(self.log(user, &query)?)),
            Request::Tokens {} => Ok(self.list_tokens(user)),
            Request::Dashboard {} => {
                Ok(self.link(user).unwrap_or_else(|why| Answer::of(Err::<(), _>(why))))
            }
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
        let whole = self.whole_view(row);
        if self.may_see(row, user) { whole } else { whole.for_others() }
    }

    fn running_tasks(&self, row: &JobRow) -> u32 {
        self.running.get(&row.id).map_or(0, |tasks| tasks.len() as u32)
    }

    pub(super) fn standing(&self, row: &JobRow) -> JobStanding {
        state(row, self.running_tasks(row))
    }

    /// All of it.
    pub(super) fn whole_view(&self, row: &JobRow) -> JobView {
        JobView {
            id: row.id,
            name: Some(row.name.clone()),
            user: row.user.clone(),
            queue: row.queue.clone(),
            state: self.standing(row),
            tasks: row.tasks,
            running: self.running_tasks(row),
            done: row.done,
            failed: row.failed,
            stopped: row.stops,
            lost_us: row.lost_us,
            submitted_us: row.submitted_us,
            ended_us: row.ended_us,
            why: row.why.clone(),
        }
    }

    fn may_see(&self, row: &JobRow, user: &LocalUser) -> bool {
        row.uid == user.uid || self.settings.members.role(user) >= Role::Operator
    }

    fn jobs(&self, user: &LocalUser, query: &JobsQuery) -> Result<Jobs, WorldError> {
        let limit = query.limit.unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let below = query.below.unwrap_or(u64::MAX);
        let is_wanted = |row: &JobRow| {
            (query.all || row.uid == user.uid)
                && query.user.as_ref().is_none_or(|name| row.user == *name)
                && query.state.is_none_or(|wanted| self.standing(row) == wanted)
                && query.queue.as_ref().is_none_or(|queue| is_below(&row.queue, queue))
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
            let number = row.number_of(&key.job, key.task);
            if number >= query.from && more.is_none_or(|more| number < more) {
                let before = task.remove(&number);
                task.insert(number, self.running_task(&row, &spec, (key, number), before)?);
            }
        }
        let job = self.view(&row, user);
        let memory_is_enforced = self.groups.walls().has(Wall::Memory);
        let spec = Submission { env: Vec::new(), ..spec };
        let after = row.after.iter().map(|after| after.job).collect();
        Ok(Ok(Shown { job, spec, memory_is_enforced, after, task, more }))
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
            stopping: false,
            stopping_for: None,
            began_us: ended.ended.as_ref().and_then(|end| end.began).map(|began| began.wall_us),
            words: ended.ended.as_ref().map(crate::run::TaskEnd::words),
            ended: ended.ended,
            log: log.to_string_lossy().into_owned(),
            session: None,
            gpus: Vec::new(),
            processors: Vec::new(),
        }
    }

    fn running_task(
        &self,
        row: &JobRow,
        spec: &Submission,
        (key, number): (&meed_journal::TaskKey, u32),
        before: Option<TaskView>,
    ) -> Result<TaskView, WorldError> {
        let before =
            before.unwrap_or_else(|| self.ended_task(row, spec, number, TaskRow::default()));
        let run = self.runs.get(key);
        let began = run.and_then(|run| run.folder.began().ok().flatten());
        Ok(TaskView {
            attempt: self.attempt(key)?,
            running: true,
            stopping: run.is_some_and(|run| run.gives_back.is_some()),
            stopping_for: run.and_then(|run| run.gives_back).and_then(|order| order.winner),
            session: began.is_some().then(|| self.session_of(row, spec, number)).flatten(),
            began_us: began.map(|began| began.at.wall_us),
            gpus: run.map(|run| run.held.gpus.clone()).unwrap_or_default(),
            processors: run.map(|run| run.held.processors.clone()).unwrap_or_default(),
            ..before
        })
    }

    /// The socket at which a task is talked to.
    pub(super) fn session_of(
        &self,
        row: &JobRow,
        spec: &Submission,
        number: u32,
    ) -> Option<String> {
        spec.session?;
        let index = spec.tasks.index(number);
        let path = self.places.logs(row.id).join(format!("{index}.session"));
        Some(path.to_string_lossy().into_owned())
    }

    fn queues(&mut self, user: &LocalUser) -> Result<QueuesShown, NotDone> {
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
        Ok(QueuesShown { queues, resources: self.resources() })
    }

    /// The machine: one node, which is up while it serves.
    fn cluster(&self) -> ClusterShown {
        let engine = self.live.engine();
        let jobs = self.rows.values().filter(|row| !row.is_over()).count();
        let node = self.settings.node().name.clone();
        ClusterShown {
            server: env!("CARGO_PKG_VERSION").to_owned(),
            nodes: vec![NodeShown { node, resources: self.resources() }],
            policy: self.settings.policy.word("order").unwrap_or_default().to_owned(),
            queues: engine.queue_ids().skip(1).filter(|&id| !engine.is_removed(id)).count(),
            open_jobs: jobs,
        }
    }

    /// Where the output of a task is: for its user, and for admins.
    fn log(
        &self,
        user: &LocalUser,
        query: &LogQuery,
    ) -> Result<Result<LogPlace, NotDone>, WorldError> {
        let which = JobQuery { job: query.job.clone(), from: 0 };
        let row = match self.own(user, &which)? {
            Ok(row) => row,
            Err(why) => return Ok(Err(why)),
        };
        if row.uid != user.uid && self.settings.members.role(user) < Role::Admin {
            let why = format!("what job {} wrote is for its user and admins", row.id);
            return Ok(Err(NotDone::new(RefusalKind::Forbidden, why)));
        }
        let Some(spec) = self.books.spec(row.id)? else {
            return Ok(Err(NotDone::new(RefusalKind::Failed, "the job's description is lost")));
        };
        let Some(number) = spec.tasks.number(query.task) else {
            let why = format!("job {} has no task {}", row.id, query.task);
            return Ok(Err(NotDone::new(RefusalKind::Unknown, why)));
        };
        let running = self.running.get(&row.id).into_iter().flatten();
        let running = running.into_iter().any(|it| row.number_of(&it.job, it.task) == number);
        let path = self.places.logs(row.id).join(format!("{}.log", query.task));
        let path = path.strip_prefix(&self.places.state).unwrap_or(&path);
        let path = spec.stdout.is_none().then(|| path.to_string_lossy().into_owned());
        Ok(Ok(LogPlace { path, uid: row.uid, running }))
    }

    /// What the machine has, and what tasks hold of it.
    pub(super) fn resources(&self) -> Vec<ResourceShown> {
        let engine = self.live.engine();
        let (kinds, held) = (engine.kinds(), engine.queue(QueueId::ROOT).held);
        let shown = |kind: usize| {
            let natural = |amount: u64| amount as f64 / kinds.unit(kind).scale() as f64;
            let (has, held) = (engine.capacity().get(kind), held.get(kind));
            ResourceShown {
                resource: kinds.name(kind).to_owned(),
                unit: kinds.unit(kind).into(),
                has: natural(has),
                held: natural(held),
                free: natural(has.saturating_sub(held)),
            }
        };
        (0..kinds.len()).map(shown).collect()
    }
}

/// Whether a queue is this one, or below it.
fn is_below(queue: &str, above: &str) -> bool {
    let rest = queue.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn state(row: &JobRow, running: u32) -> JobStanding {
    match (row.phase, row.fate) {
        (Phase::Ended, Some(Fate::Done)) => JobStanding::Done,
        (Phase::Ended, Some(Fate::Cancelled)) => JobStanding::Cancelled,
        (Phase::Ended, _) => JobStanding::Failed,
        (Phase::Held, _) => JobStanding::Held,
        (Phase::New, _) if running > 0 => JobStanding::Running,
        (Phase::New, _) if !row.after.is_empty() => JobStanding::After,
        (Phase::Told, _) if running > 0 => JobStanding::Running,
        _ => JobStanding::Waiting,
    }
}
