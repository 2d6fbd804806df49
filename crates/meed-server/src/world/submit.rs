//! Requests of users: what is checked before anything is written, and what they ask of the driver.

use std::time::Duration;

use meed::{ResourceKinds, Resources, Span};
use meed_config::gang::GangForm;
use meed_config::quantity::{AmountsByName, Quantity, demand};
use meed_journal::{Amounts as Recorded, Arrival, Fact, Group, Name};
use serde_json::json;

use super::facts::Begin;
use super::planned::Planned;
use super::{World, WorldError};
use crate::books::{AfterJob, Fate, JobRow, Phase};
use crate::clock::wall_us;
use crate::protocol::{Answer, JobQuery, NotDone, RefusalKind, Request, Submitted};
use crate::settings::Role;
use crate::spec::Submission;
use crate::user::LocalUser;

/// Rows that are looked through for a name.
const MOST_LOOKED_AT: usize = 10_000;

pub(super) type Checked<T> = Result<Result<T, NotDone>, WorldError>;

macro_rules! checked {
    ($what:expr) => {
        match $what {
            Ok(value) => value,
            Err(refusal) => return Ok(Err(refusal)),
        }
    };
}
pub(super) use checked;

/// The time limit of a job's tasks.
fn limit_of(spec: &Submission) -> Option<Span> {
    spec.time_ms.and_then(|millis| Span::from_micros(millis.saturating_mul(1000)))
}

impl World {
    /// Checks a request. What it changes in the books is not durable yet; what it asks of the
    /// driver is added to `facts`.
    pub(super) fn plan(
        &mut self,
        user: &LocalUser,
        request: Request,
        facts: &mut Vec<Fact>,
    ) -> Result<Planned, WorldError> {
        if user.way.reads_only && request.changes() {
            let why = "this token is for reading only";
            return Ok(Planned::Answer(Answer::of(Err::<(), _>(NotDone::new(
                RefusalKind::Forbidden,
                why,
            )))));
        }
        // Of a submission nothing is known yet: it may be written beside the journal.
        self.precede |= request.changes() && !matches!(request, Request::Submit(_));
        let planned = match request {
            Request::Submit(spec) => self.submit(user, spec, facts)?.map(Planned::Submitted),
            Request::Cancel(query) => self.cancel(user, &query, facts)?.map(Planned::View),
            Request::Hold(query) => self.hold(user, &query, facts)?.map(Planned::View),
            Request::Release(query) => self.release(user, &query, facts)?.map(Planned::View),
            Request::Tie(query) => self.own(user, &query)?.map(|row| Planned::View(row.id)),
            Request::Wait(query) => self.find(user, &query)?.map(|row| Planned::Wait(row.id)),
            Request::Reload {} => self.ask_reload(user, facts).map(Planned::Answer),
            Request::CreateToken(wish) => self.make_token(user, wish),
            Request::RevokeToken(query) => self.revoke_token(user, &query.token),
            other => Ok(Planned::Answer(self.read(user, other)?)),
        };
        Ok(planned.unwrap_or_else(|why| Planned::Answer(Answer::of(Err::<(), _>(why)))))
    }

    /// The answer, after the turn.
    pub(super) fn answer(
        &mut self,
        planned: Planned,
        user: &LocalUser,
    ) -> Result<Answer, WorldError> {
        match planned {
            Planned::Answer(answer) => Ok(answer),
            Planned::Submitted(job) => {
                if let Some(why) = self.refused.get(&job) {
                    return Ok(Answer::of(Err::<(), _>(NotDone::new(
                        RefusalKind::Wrong,
                        why.as_str(),
                    ))));
                }
                let row = self.row_of(job)?;
                let queue = row.map(|row| row.queue).unwrap_or_default();
                Ok(Answer::of(Ok(Submitted { job, queue })))
            }
            Planned::Token(row, secret) => Ok(self.admit(*row, secret)),
            Planned::View(job) | Planned::Wait(job) => self.view_of(job, user),
        }
    }

    fn ask_reload(&mut self, user: &LocalUser, facts: &mut Vec<Fact>) -> Result<Answer, NotDone> {
        if self.settings.members.role(user) != Role::Admin {
            return Err(NotDone::new(
                RefusalKind::Forbidden,
                "only an admin may reload the settings",
            ));
        }
        facts.extend(self.reload()?);
        Ok(Answer::of(Ok(json!({ "reloaded": true }))))
    }

    fn submit(
        &mut self,
        user: &LocalUser,
        spec: Submission,
        facts: &mut Vec<Fact>,
    ) -> Checked<u64> {
        let wrong = |why: String| NotDone::new(RefusalKind::Wrong, why);
        checked!(spec.check().map_err(wrong));
        let spec = Submission { demand: self.with_defaults(&spec), ..spec };
        checked!(self.check_fits(&spec).map_err(wrong));
        let spec = checked!(self.with_limit(spec).map_err(wrong));
        let open = self.rows_of.get(&user.uid).copied().unwrap_or(0);
        let most = self.settings.max_jobs;
        if open >= most as usize {
            let why = format!("{} has {open} jobs that have not ended; at most {most}", user.name);
            return Ok(Err(NotDone::new(RefusalKind::Limit, why)));
        }
        checked!(self.check_name_is_free(user, &spec).map_err(wrong));
        let queue = checked!(self.queue_for(user, spec.queue.as_deref(), facts));
        let mut after = Vec::new();
        for other in &spec.after {
            let query = JobQuery { job: other.job.clone(), from: 0 };
            let found = checked!(self.find(user, &query)?);
            after.push(AfterJob { job: found.id, even_if_failed: other.even_if_failed });
        }
        let id = self.meta.next;
        self.meta.next += 1;
        let row = JobRow {
            id,
            uid: user.uid,
            gid: user.gid,
            user: user.name.clone(),
            queue,
            name: spec.shown_name(),
            is_named: spec.name.is_some(),
            submitted_us: wall_us(),
            phase: if spec.hold { Phase::Held } else { Phase::New },
            holds: 0,
            tasks: spec.tasks.count,
            parts: Default::default(),
            attempts_before: Default::default(),
            told_of_part: 0,
            told: 0,
            done: 0,
            failed: 0,
            stops: 0,
            lost_us: 0,
            at_once: spec.tasks.at_once,
            retries: spec.retries,
            after,
            fate: None,
            why: None,
            ended_us: None,
        };
        self.writes.spec(id, &spec);
        self.know(row);
        self.changed.insert(id);
        self.watched.touch(id);
        self.await_others(id);
        self.arrive_if_ready(id, Some(&spec), facts)?;
        // What it waits for may end in this turn.
        if self.rows.get(&id).is_some_and(|row| !row.after.is_empty()) {
            self.fresh.insert(id, spec);
        }
        Ok(Ok(id))
    }

    /// The job of that name that has not ended, if its user has given it.
    fn named(&self, uid: u32, name: &str) -> Option<&JobRow> {
        let row = self.rows.get(self.named.get(&(uid, name.to_owned()))?)?;
        (!row.is_over()).then_some(row)
    }

    /// A name says which of a user's jobs is meant. One that a command gives may say less: then it
    /// is the newest.
    fn check_name_is_free(&self, user: &LocalUser, spec: &Submission) -> Result<(), String> {
        let Some(name) = &spec.name else { return Ok(()) };
        let Some(other) = self.named(user.uid, name) else { return Ok(()) };
        let (id, state) = (other.id, self.standing(other).word());
        let name = meed_config::text::clean(name);
        Err(format!(
            "your job {id} is called `{name}` already and has not ended ({state}); give this one \
             another --name, or wait for job {id} (`meed wait {id}`), or cancel it"
        ))
    }

    /// Who waits is found by whom it waits for.
    pub(super) fn await_others(&mut self, id: u64) {
        let Some(row) = self.rows.get(&id) else { return };
        for after in &row.after {
            if self.rows.get(&after.job).is_some_and(|row| !row.is_over()) {
                self.dependents.entry(after.job).or_default().insert(id);
            }
        }
    }

    /// The driver is told of the job where nothing stands in its way.
    pub(super) fn arrive_if_ready(
        &mut self,
        id: u64,
        spec: Option<&Submission>,
        facts: &mut Vec<Fact>,
    ) -> Result<(), WorldError> {
        match self.may_begin(id)? {
            Begin::Now => match spec {
                Some(spec) => facts.extend(self.arrival_of(id, spec)),
                None => facts.extend(self.arrival(id)?),
            },
            Begin::Later => {}
            Begin::Never(why) => facts.extend(self.job_over(id, Fate::Failed, Some(why))?),
        }
        Ok(())
    }

    /// What a task asks for; of what it does not name the default, and one processor.
    fn with_defaults(&self, spec: &Submission) -> std::collections::BTreeMap<String, String> {
        let defaults = self.settings.default_demand.iter();
        let mut demand: std::collections::BTreeMap<String, String> =
            defaults.map(|(name, amount)| (name.clone(), amount.text())).collect();
        if self.kinds().find("cpu").is_some() {
            demand.entry("cpu".to_owned()).or_insert_with(|| "1".to_owned());
        }
        demand.extend(spec.demand.clone());
        demand
    }

    fn kinds(&self) -> &ResourceKinds {
        self.live.engine().kinds()
    }

    /// What a task asks for.
    pub(super) fn demand(&self, spec: &Submission) -> Result<Resources, String> {
        let amount =
            |(name, text): (&String, &String)| (name.clone(), Quantity::Text(text.clone()));
        let amounts: AmountsByName = spec.demand.iter().map(amount).collect();
        demand(&amounts, self.kinds())
    }

    fn check_fits(&self, spec: &Submission) -> Result<(), String> {
        if spec.demand.contains_key("gpu") && self.kinds().find("gpu").is_none() {
            let known: Vec<&str> = self.kinds().names().collect();
            return Err(format!(
                "this server lends no GPUs: it lends {}; who runs it gives it some by `gpu` in \
                 [cluster], or on a machine that shows some",
                known.join(", ")
            ));
        }
        let (demand, kinds) = (self.demand(spec)?, self.kinds());
        if let Some(gpu) = kinds.find("gpu").filter(|&gpu| demand.get(gpu) % 1000 != 0) {
            let asked = meed_config::units::format_amount(demand.get(gpu), kinds.unit(gpu));
            return Err(format!("{asked} GPUs; they are handed out whole"));
        }
        self.check_least(&demand)?;
        self.check_most(&demand)?;
        let has = self.settings.node().capacity;
        // Of a gang all is there at once.
        let tasks = if spec.gang { u64::from(spec.tasks.count) } else { 1 };
        let fits = |kind: usize| demand.get(kind).saturating_mul(tasks) <= has.get(kind);
        let Some(kind) = (0..kinds.len()).find(|&kind| !fits(kind)) else {
            return Ok(());
        };
        let amount = |amount| meed_config::units::format_amount(amount, kinds.unit(kind));
        let (asked, name) = (amount(demand.get(kind)), kinds.name(kind));
        let who = match demand.get(kind) <= has.get(kind) {
            true => format!("a gang of {tasks} tasks asks for {asked} {name} each"),
            false => format!("a task asks for {asked} {name}"),
        };
        Err(format!("{who}, more than this machine has ({})", amount(has.get(kind))))
    }

    /// A task asks for what is the least here, or more.
    fn check_least(&self, demand: &Resources) -> Result<(), String> {
        let (least, kinds) = (&self.settings.least, self.kinds());
        let Some(kind) = (0..kinds.len()).find(|&kind| demand.get(kind) < least.get(kind)) else {
            return Ok(());
        };
        let amount = |amount| meed_config::units::format_amount(amount, kinds.unit(kind));
        let (asked, least) = (amount(demand.get(kind)), amount(least.get(kind)));
        Err(format!("a task asks for {asked} {}; the least here is {least}", kinds.name(kind)))
    }

    /// A task that asks for more than a user may hold would wait for ever.
    fn check_most(&self, demand: &Resources) -> Result<(), String> {
        let (Some(most), kinds) = (&self.settings.user_max, self.kinds()) else { return Ok(()) };
        let Some(kind) = (0..kinds.len()).find(|&kind| demand.get(kind) > most.get(kind)) else {
            return Ok(());
        };
        let amount = |amount| meed_config::units::format_amount(amount, kinds.unit(kind));
        let (asked, most) = (amount(demand.get(kind)), amount(most.get(kind)));
        Err(format!("a task asks for {asked} {}; a user has at most {most}", kinds.name(kind)))
    }

    /// With the time limit that is usual here.
    fn with_limit(&self, spec: Submission) -> Result<Submission, String> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let most = self.settings.max_time.map(millis);
        let time_ms = spec.time_ms.or(self.settings.default_time.map(millis)).or(most);
        match (time_ms, most) {
            (Some(asked), Some(most)) if asked > most => {
                Err(format!("a time limit of {} s; at most {} s", asked / 1000, most / 1000))
            }
            _ => Ok(Submission { time_ms, ..spec }),
        }
    }

    /// As the driver is told of it.
    pub(super) fn arrival(&self, id: u64) -> Result<Option<Fact>, WorldError> {
        if let Some(spec) = self.fresh.get(&id) {
            return Ok(self.arrival_of(id, spec));
        }
        Ok(self.books.spec(id)?.and_then(|spec| self.arrival_of(id, &spec)))
    }

    fn arrival_of(&self, id: u64, spec: &Submission) -> Option<Fact> {
        let row = self.rows.get(&id)?;
        // Of a job that was held some may run, or be over.
        let left = row.tasks - row.told;
        let count = row.at_once.unwrap_or(u32::MAX).saturating_sub(row.there()).min(left);
        if count == 0 {
            return None;
        }
        let group = self.group_of(spec, count)?;
        let mut arrival = Arrival::new(Name::from(row.queue.as_str()), row.key(), vec![group]);
        arrival.name = Some(row.name.as_str().into());
        arrival.open = count < left;
        arrival.limit = limit_of(spec);
        Some(Fact::JobArrived(Box::new(arrival)))
    }

    /// So many tasks that are added to a job. Those of its arrival have the arrival's time limit;
    /// these say theirs.
    pub(super) fn group(&self, id: u64, count: u32) -> Result<Option<Group>, WorldError> {
        let Some(spec) = self.books.spec(id)? else { return Ok(None) };
        let limit = limit_of(&spec).filter(|limit| *limit > Span::ZERO);
        Ok(self.group_of(&spec, count).map(|group| Group { limit, ..group }))
    }

    fn group_of(&self, spec: &Submission, tasks: u32) -> Option<Group> {
        let demand = Recorded::of(&self.demand(spec).ok()?, self.kinds());
        let gang = (spec.gang && tasks > 1).then(|| GangForm::Least(i64::from(tasks)));
        Some(Group { tasks, demand, gang, ..Group::default() })
    }

    fn cancel(
        &mut self,
        user: &LocalUser,
        query: &JobQuery,
        facts: &mut Vec<Fact>,
    ) -> Checked<u64> {
        let row = checked!(self.own(user, query)?);
        if !row.is_over() {
            let parts = (0..=row.holds).map(|part| row.key_of(part));
            let told = parts.filter(|key| self.live.job(key).is_some());
            facts.extend(told.map(Fact::job_cancelled));
            let why = (row.uid != user.uid).then(|| format!("cancelled by {}", user.name));
            facts.extend(self.job_over(row.id, Fate::Cancelled, why)?);
        }
        Ok(Ok(row.id))
    }

    /// The job of that number; or of the user's of that name, the one that was given it and has not
    /// ended, else the newest that is called so.
    pub(super) fn find(&self, user: &LocalUser, query: &JobQuery) -> Checked<JobRow> {
        let unknown =
            || NotDone::new(RefusalKind::Unknown, format!("there is no job `{}`", query.job));
        if let Ok(id) = query.job.parse() {
            return Ok(self.row_of(id)?.ok_or_else(unknown));
        }
        if let Some(row) = self.named(user.uid, &query.job) {
            return Ok(Ok(row.clone()));
        }
        let is_it = |row: &JobRow| row.uid == user.uid && row.name == query.job;
        if let Some(row) = self.rows.values().rev().find(|row| is_it(row)) {
            return Ok(Ok(row.clone()));
        }
        let (mut found, mut looked) = (None, 0);
        self.books.jobs_below(self.meta.next, |row| {
            looked += 1;
            found = is_it(&row).then_some(row);
            found.is_none() && looked < MOST_LOOKED_AT
        })?;
        Ok(found.ok_or_else(unknown))
    }

    /// The same, if the user may change it.
    pub(super) fn own(&self, user: &LocalUser, query: &JobQuery) -> Checked<JobRow> {
        let row = checked!(self.find(user, query)?);
        let may = row.uid == user.uid || self.settings.members.role(user) >= Role::Operator;
        let why = || format!("job {} is not yours", row.id);
        Ok(if may { Ok(row) } else { Err(NotDone::new(RefusalKind::Forbidden, why())) })
    }

    pub(super) fn row_of(&self, id: u64) -> Result<Option<JobRow>, WorldError> {
        match self.rows.get(&id) {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(self.books.job(id)?),
        }
    }
}
