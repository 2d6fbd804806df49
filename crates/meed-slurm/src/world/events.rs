//! From a snapshot to what has happened, second by second.
//!
//! | what the snapshot says | what happened |
//! |---|---|
//! | a record runs that did not | it started, then |
//! | one that ran has ended | it ended, then |
//! | one that ran waits, or runs since another instant | it was put back: the run ended when it was submitted anew, or when accounting says |
//! | one that ran is suspended | its piece ended, then; another begins when it goes on |
//! | one began and ended between two looks | both |
//! | one that ran is not there | accounting knows its end; else it is looked for again |
//!
//! What happened in the second of the look is told by the next round, for that second is not over.
//! So every instant is told whole and once, and no end comes late.

use std::collections::BTreeMap;

use meed::Resources;

use super::names::{Charge, Known, Names, Run};
use crate::read::jobs::{JobStage, SlurmJob};
use crate::read::runs::SlurmRun;
use crate::snapshot::{AUDIT, ClusterSnapshot};

/// After so many looks that found neither record nor run, a run counts as ended.
const GIVE_UP: u32 = 60;

/// Runs that are charged, and whose records are gone, are kept for so many seconds: longer than an
/// audit goes back.
const KEPT: i64 = AUDIT + 60;

/// Something that happened to one record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// Its run, or a piece of it, is over.
    End { id: u32, how: How },
    /// The record is no more, or wants nothing more.
    Gone { id: u32 },
    /// The run that was suspended is over: what waits for it does so no more.
    Anew { id: u32 },
    /// A run, or a piece of it, began.
    Start { id: u32, began: Began, what: What },
    /// So many tasks of it wait.
    Wants { id: u32, tasks: u32, what: What },
}

/// How a piece of a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// So does its job.
    Over,
    /// The job is to run again, from its beginning.
    PutBack,
    /// The run is to go on.
    Paused,
}

/// When a run, or a piece of it, began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Began {
    /// When Slurm started the run.
    pub(super) start: i64,
    /// From when on it is charged.
    pub(super) since: i64,
    /// When the run ended that is told after time has passed its end.
    pub(super) over: Option<i64>,
}

impl Began {
    /// Of a run that Slurm started at `start`, and that is charged from `since` on.
    fn of(start: i64, since: i64) -> Began {
        Began { start, since, over: None }
    }
}

/// What a record is to the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct What {
    /// As people write it.
    pub(super) name: String,
    /// Its leaf.
    pub(super) queue: String,
    /// What each of its tasks holds.
    pub(super) tres: Resources,
}

impl What {
    /// It is charged alike: to one leaf, for as much.
    pub(super) fn is_alike(&self, other: &What) -> bool {
        self.queue == other.queue && self.tres == other.tres
    }
}

/// Facts by second; within one ends come first, then changes, then arrivals.
#[derive(Default)]
struct Plan {
    facts: BTreeMap<i64, [Vec<Seen>; 4]>,
    /// Events up to this second are told.
    through: i64,
    late: u64,
    latest: i64,
}

impl Plan {
    fn add(&mut self, second: i64, fact: Seen) {
        let is_end = matches!(fact, Seen::End { .. });
        if is_end && second <= self.through {
            self.late += 1;
            self.latest = self.latest.max(self.through + 1 - second);
        }
        let rank = match fact {
            Seen::End { .. } => 0,
            Seen::Gone { .. } | Seen::Anew { .. } => 1,
            Seen::Start { .. } => 2,
            Seen::Wants { .. } => 3,
        };
        let second = second.max(self.through + 1);
        self.facts.entry(second).or_default()[rank].push(fact);
    }

    /// A run is over, and its job with it or to run again.
    fn add_end(&mut self, second: i64, id: u32, is_gone: bool) {
        let how = if is_gone { How::Over } else { How::PutBack };
        self.add(second, Seen::End { id, how });
        if is_gone {
            self.add(second, Seen::Gone { id });
        }
    }
}

/// A second, and what happened in it.
pub(super) type Told = (i64, Vec<Seen>);

impl Names {
    /// What happened after `through` and before the second of the snapshot.
    pub(super) fn plan(&mut self, snapshot: &ClusterSnapshot, through: i64) -> Vec<Told> {
        let mut plan = Plan { through, ..Plan::default() };
        if snapshot.at - 1 <= through {
            return Vec::new();
        }
        let there = &snapshot.jobs;
        self.looked = snapshot.at;
        let known = &self.known;
        self.charged.retain(|(id, _), charge| {
            if known.contains_key(id) || there.contains_key(id) {
                charge.seen = snapshot.at;
            }
            charge.seen + KEPT >= snapshot.at
        });
        self.confirm(there);
        self.plan_missing(&mut plan, snapshot);
        self.plan_runs(&mut plan, snapshot);
        for job in there.values() {
            let Some(what) = self.what(&job.account, &job.user, &job.name, job.tres) else {
                continue;
            };
            self.plan_anew(&mut plan, job);
            match job.stage {
                JobStage::Ended => self.plan_ended(&mut plan, snapshot, job, what),
                JobStage::Running => self.plan_running(&mut plan, snapshot, job, what),
                JobStage::Suspended => self.plan_suspended(&mut plan, snapshot, job, what),
                JobStage::Pending => self.plan_pending(&mut plan, snapshot, job, what),
            }
        }
        self.oddities.late += plan.late;
        self.oddities.latest = self.oddities.latest.max(plan.latest);
        plan.facts.into_iter().map(|(second, facts)| (second, facts.concat())).collect()
    }

    fn what(&mut self, account: &str, user: &str, name: &str, tres: Resources) -> Option<What> {
        let Some(queue) = self.leaf(account, user) else {
            let why = format!(
                "job {name} of user {user} in account `{account}` has no association, so it is \
                 neither counted nor ordered"
            );
            if self.oddities.refused.len() < 20 {
                self.oddities.refused.push(why);
            }
            return None;
        };
        Some(What { name: name.to_owned(), queue, tres })
    }

    /// Records that the ledger knows and `slurmctld` does not.
    fn plan_missing(&mut self, plan: &mut Plan, snapshot: &ClusterSnapshot) {
        for (&id, known) in &mut self.known {
            if snapshot.jobs.contains_key(&id) {
                known.unseen = 0;
                continue;
            }
            let paused = known.paused();
            let Some(run) = &mut known.run else {
                let row = paused.and_then(|paused| row_around(paused, id, snapshot));
                match row.and_then(|row| Some((row, row.end?))) {
                    Some((_, end)) if end >= snapshot.at => {}
                    Some((row, end)) => plan_rest(plan, known, row, end),
                    None if paused.is_some() && known.unseen < GIVE_UP => {
                        known.unseen += u32::from(snapshot.is_accounted);
                    }
                    None => plan.add(snapshot.at - 1, Seen::Gone { id }),
                }
                continue;
            };
            let row = row_of(run, id, snapshot);
            // So that accounting's row is known again in the next round.
            run.start = row.map(|row| row.start).or(run.start);
            if let Some((row, end)) = row.and_then(|row| Some((row, row.end?))) {
                if end < snapshot.at {
                    let counted = run.since + row.elapsed - known.charged;
                    plan.add_end(counted_end(counted, end, plan.through), id, true);
                }
                continue;
            }
            known.unseen += u32::from(snapshot.is_accounted);
            if known.unseen > GIVE_UP {
                self.oddities.lost += 1;
                plan.add_end(snapshot.at - 1, id, true);
            }
        }
    }

    /// A record that was suspended waits again, or another run of it began.
    fn plan_anew(&mut self, plan: &mut Plan, job: &SlurmJob) {
        let id = job.id;
        let Some(paused) = self.known.get(&id).and_then(Known::paused) else { return };
        let is_new = job.start.is_some_and(|start| start > paused);
        if job.stage != JobStage::Pending && !is_new {
            return;
        }
        self.lose_sight(id);
        if let Some(known) = self.known.get_mut(&id) {
            (known.charged, known.waits) = (0, 0);
        }
        plan.add(paused, Seen::Anew { id });
    }

    /// Whole runs that only accounting knows.
    fn plan_runs(&mut self, plan: &mut Plan, snapshot: &ClusterSnapshot) {
        for row in &snapshot.runs {
            let Some(end) = row.end.filter(|end| *end > self.floor && *end < snapshot.at) else {
                continue;
            };
            if let Some(rest) = self.rest_of(row) {
                let row = SlurmRun { elapsed: rest, before: Vec::new(), ..row.clone() };
                self.plan_unseen(plan, snapshot, &row, end);
                continue;
            }
            let run = self.known.get(&row.id).and_then(|known| known.run.as_ref());
            let is_known = run.is_some_and(|run| is_same(run, row.start))
                || self.is_charged(row)
                || self.is_paused(row);
            // A row that begins later than the run of the record is a piece of that run.
            let job = snapshot.jobs.get(&row.id).filter(|job| {
                job.stage != JobStage::Pending && job.start.is_some_and(|start| start <= row.start)
            });
            // What ended before, and is not charged, had no association then.
            let has_ended = job.is_some_and(|job| job.stage == JobStage::Ended);
            let is_told = job.is_some() && (!has_ended || end > plan.through);
            if is_known || is_told || row.elapsed <= 0 {
                continue;
            }
            self.plan_unseen(plan, snapshot, row, end);
        }
    }

    /// A run, or the rest of one, that only accounting knows.
    fn plan_unseen(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        row: &SlurmRun,
        end: i64,
    ) {
        // Of a record that is still there another run is told, or it waits.
        let job = snapshot.jobs.get(&row.id);
        let is_gone = job.is_none_or(|job| job.stage == JobStage::Ended);
        match end - row.elapsed > plan.through {
            true => self.plan_whole(plan, row, end, is_gone),
            false => self.plan_late(plan, snapshot, row, is_gone),
        }
    }

    /// A run that is known from the journal alone began when Slurm says.
    fn confirm(&mut self, there: &BTreeMap<u32, SlurmJob>) {
        for (id, job) in there.iter().filter(|(_, job)| job.stage != JobStage::Pending) {
            let run = self.known.get_mut(id).and_then(|known| known.run.as_mut());
            if let (Some(run), Some(start)) = (run, job.start)
                && run.start.is_none()
                && start <= run.since
            {
                run.start = Some(start);
            }
        }
    }

    /// A run that nobody saw, and that accounting tells after time has passed its start: it is
    /// charged now, for as long as it was. Where that is longer than the round, it is charged as so
    /// many runs at once.
    fn plan_late(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        row: &SlurmRun,
        is_gone: bool,
    ) {
        let (first, last) = (plan.through + 1, snapshot.at - 1);
        // Accounting is asked again, where the round is too short for two instants.
        if first >= last || self.known.get(&row.id).is_some_and(|known| known.run.is_some()) {
            return;
        }
        let Some(what) = self.what(&row.account, &row.user, &row.name, row.tres) else { return };
        let (id, end) = (row.id, row.end.unwrap_or(last));
        let (copies, rest) = (row.elapsed / (last - first), row.elapsed % (last - first));
        let pieces = [(first, last - rest, copies), (last - rest, last, copies + 1)];
        for (since, until, copies) in pieces {
            if copies == 0 || since == until {
                continue;
            }
            let what = What { tres: times(what.tres, copies), ..what.clone() };
            let began = Began { start: row.start, since, over: Some(end) };
            plan.add(since, Seen::Start { id, began, what });
            match until == last {
                true => plan.add_end(until, id, is_gone),
                false => plan.add(until, Seen::End { id, how: How::Paused }),
            }
        }
        let charge = Charge { end, seen: snapshot.at, is_exact: true, paused_after: None };
        self.charged.remove(&(id, row.start));
        self.close(id, row.start, charge);
    }

    /// A run that nobody saw, of which no second is told yet.
    fn plan_whole(&mut self, plan: &mut Plan, row: &SlurmRun, end: i64, is_gone: bool) {
        let Some(what) = self.what(&row.account, &row.user, &row.name, row.tres) else { return };
        let (id, start) = (row.id, row.start);
        // Suspensions are left out: as many seconds before the end as it ran.
        let mut since = end - row.elapsed;
        for &(seconds, tres) in row.before.iter().filter(|(seconds, _)| *seconds > 0) {
            // Before it was resized.
            if since + seconds >= end {
                break;
            }
            let what = What { tres, ..what.clone() };
            plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
            since += seconds;
            plan.add(since, Seen::End { id, how: How::Paused });
        }
        plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
        plan.add_end(end, id, is_gone);
    }

    fn plan_ended(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        job: &SlurmJob,
        what: What,
    ) {
        let id = job.id;
        let end = job.end.unwrap_or(snapshot.at - 1);
        if end >= snapshot.at {
            return self.plan_ending(plan, snapshot, job, what);
        }
        let is_known = self.known.contains_key(&id);
        let mut charged = self.known.get(&id).map_or(0, |known| known.charged);
        let run = self.known.get_mut(&id).and_then(|known| known.run.as_mut());
        match (run, job.start) {
            (Some(run), Some(start)) if is_same(run, start) => {
                // Slurm's own count decides where a suspension was not seen to the second.
                let end = counted_end(run.since + job.used - charged, end, plan.through);
                return plan.add_end(end, id, true);
            }
            (Some(run), start) => {
                // The run that ended, if any, is another one.
                let start = start.unwrap_or(end);
                let back = put_back(run, charged, job, snapshot, plan.through);
                plan.add(back.unwrap_or(start).min(start), Seen::End { id, how: How::PutBack });
                charged = 0;
            }
            (None, _) => {}
        }
        // It may be told already, by the look in whose second it ended.
        let is_new = |start: &i64| is_known || !self.charged.contains_key(&(id, *start));
        let is_untold = end > plan.through && job.used > 0;
        if let Some(start) = job.start.filter(|_| is_untold).filter(is_new) {
            let since = end - (job.used - charged).max(0);
            // Where its seconds are told already, accounting's row is charged late.
            if (plan.through + 1..end).contains(&since) {
                plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
                plan.add(end, Seen::End { id, how: How::Over });
            }
        } else if !is_known {
            return;
        }
        plan.add(end, Seen::Gone { id });
    }

    /// It ended in the second of the look, which is told by the next one. Until then it ran, unless
    /// it was suspended before: for how long it ran is known now.
    fn plan_ending(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        job: &SlurmJob,
        what: What,
    ) {
        let (id, Some(start)) = (job.id, job.start) else { return };
        let known = self.known.get(&id);
        let charged = known.map_or(0, |known| known.charged);
        let run = known.and_then(|known| known.run.as_ref());
        let since = match run {
            Some(run) if is_same(run, start) => Some(run.since),
            None if charged == 0 => Some(start),
            _ => None,
        };
        let is_new = run.is_none();
        match since.map(|since| since + job.used - charged).filter(|over| *over < snapshot.at) {
            None => self.plan_running(plan, snapshot, job, what),
            // Where its start is told already, the next look charges the seconds before its end.
            Some(_) if is_new && (job.used == 0 || start <= plan.through) => {}
            Some(over) => {
                if is_new {
                    plan.add(start, Seen::Start { id, began: Began::of(start, start), what });
                }
                plan.add_end(over, id, true);
            }
        }
    }

    fn plan_running(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        job: &SlurmJob,
        what: What,
    ) {
        let id = job.id;
        let Some(start) = job.start.filter(|start| *start < snapshot.at) else { return };
        let was_suspended = snapshot.at - start > job.used + 1;
        let told = snapshot.suspensions.get(&id);
        let mut is_put_back = false;
        if let Some(known) = self.known.get_mut(&id)
            && let Some(run) = &mut known.run
        {
            if is_same(run, start) {
                run.start = Some(start);
                if let Some(told) = told.filter(|told| told.at > run.since) {
                    // It was suspended and resumed between two looks, or goes on since the second
                    // of this one, which is told by the next one.
                    let paused = run.since + told.ran_before - known.charged;
                    let (paused, began) = (paused.min(told.at), Began::of(start, told.at));
                    if paused < snapshot.at {
                        plan.add(paused, Seen::End { id, how: How::Paused });
                        if told.at < snapshot.at {
                            plan.add(told.at, Seen::Start { id, began, what });
                        }
                        return;
                    }
                }
                if known.what.tres != what.tres {
                    let since = snapshot.at - 1;
                    plan.add(since, Seen::End { id, how: How::Paused });
                    plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
                }
                return;
            }
            let end = put_back(run, known.charged, job, snapshot, plan.through);
            plan.add(end.unwrap_or(start).min(start), Seen::End { id, how: How::PutBack });
            is_put_back = true;
        }
        let charged = self.known.get(&id).map_or(0, |known| known.charged);
        let charged = if is_put_back { 0 } else { charged };
        let since = match told {
            Some(told) if was_suspended => {
                let paused = (start + told.ran_before).min(told.at);
                let is_unseen = charged == 0 && start > plan.through;
                if is_unseen && (start + 1..snapshot.at).contains(&paused) {
                    // Its first piece, which nobody saw.
                    let what = what.clone();
                    plan.add(start, Seen::Start { id, began: Began::of(start, start), what });
                    plan.add(paused, Seen::End { id, how: How::Paused });
                }
                // It went on and was suspended once more, which nobody saw: so many seconds sooner.
                let missed = if charged > 0 { told.ran_before - charged } else { 0 };
                let paused = self.known.get(&id).and_then(Known::paused).unwrap_or(start);
                (told.at - missed.max(0)).max(paused).max(start)
            }
            // It went on so soon that nobody asked when: as many seconds ago as are not charged.
            _ if charged > 0 => start.max(snapshot.at - (job.used - charged)),
            _ => start,
        };
        if since < snapshot.at {
            plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
        }
    }

    fn plan_suspended(
        &self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        job: &SlurmJob,
        what: What,
    ) {
        let id = job.id;
        let known = self.known.get(&id);
        let told = snapshot.suspensions.get(&id);
        if known.is_some_and(|known| known.run.is_some()) {
            let at = told.map_or(snapshot.at - 1, |told| told.at);
            if at < snapshot.at {
                plan.add(at, Seen::End { id, how: How::Paused });
            }
            return;
        }
        if let Some(start) = job.start.filter(|start| *start > plan.through)
            && known.is_none_or(|known| known.charged == 0)
            && job.used > 0
        {
            plan.add(start, Seen::Start { id, began: Began::of(start, start), what });
            // What was suspended in the second of the look ran before.
            if start + job.used < snapshot.at {
                plan.add(start + job.used, Seen::End { id, how: How::Paused });
            }
        }
    }

    fn plan_pending(
        &mut self,
        plan: &mut Plan,
        snapshot: &ClusterSnapshot,
        job: &SlurmJob,
        what: What,
    ) {
        let id = job.id;
        let mut known = self.known.get_mut(&id);
        let charged = known.as_ref().map_or(0, |known| known.charged);
        let run = known.as_mut().and_then(|known| known.run.as_mut());
        let has_run = run.is_some();
        if let Some(run) = run {
            let end = put_back(run, charged, job, snapshot, plan.through);
            let end = end.unwrap_or(snapshot.at - 1);
            if end >= snapshot.at {
                return;
            }
            plan.add(end, Seen::End { id, how: How::PutBack });
        }
        let tasks = if job.is_eligible() { job.tasks } else { 0 };
        let is_known = known.is_some();
        let is_so = known.is_some_and(|known| {
            let same = known.what.is_alike(&what);
            known.waits == tasks && (same || tasks == 0)
        });
        if has_run || (!is_so && (tasks > 0 || is_known)) {
            plan.add(snapshot.at - 1, Seen::Wants { id, tasks, what });
        }
    }
}

/// What so many runs of that kind hold together.
fn times(tres: Resources, copies: i64) -> Resources {
    let copies = u64::try_from(copies).unwrap_or(0);
    let all = tres.as_slice().iter().map(|amount| amount.saturating_mul(copies));
    Resources::new(&all.map(|amount| amount.min(meed::MAX_AMOUNT)).collect::<Vec<u64>>())
}

/// Whether the run that began at `start` is this one.
fn is_same(run: &Run, start: i64) -> bool {
    match run.start {
        Some(known) => known == start,
        // From the journal: what began later is another one.
        None => start <= run.since,
    }
}

/// The row of accounting of a run that was suspended at `paused`.
fn row_around(paused: i64, id: u32, snapshot: &ClusterSnapshot) -> Option<&SlurmRun> {
    let is_it = |row: &&SlurmRun| {
        row.id == id && row.start <= paused && row.end.is_none_or(|end| end >= paused)
    };
    snapshot.runs.iter().rfind(is_it)
}

/// A run that was suspended went on, and ended, while nobody looked: what is not charged yet.
fn plan_rest(plan: &mut Plan, known: &Known, row: &SlurmRun, end: i64) {
    let (id, start, rest) = (row.id, row.start, row.elapsed - known.charged);
    if rest > 0 && end > plan.through + 1 {
        let (since, what) = (end - rest, known.what.clone());
        plan.add(since, Seen::Start { id, began: Began::of(start, since), what });
        plan.add(end, Seen::End { id, how: How::Over });
    }
    plan.add(end, Seen::Gone { id });
}

/// The row of accounting of a run: the last that may be of it.
fn row_of<'a>(run: &Run, id: u32, snapshot: &'a ClusterSnapshot) -> Option<&'a SlurmRun> {
    let rows = snapshot.runs.iter().filter(|row| {
        let is_of_it = row.end.is_none_or(|end| end >= run.since);
        row.id == id && is_same(run, row.start) && is_of_it
    });
    rows.max_by_key(|row| row.start)
}

/// The end of a run, with suspensions left out that were not seen: `counted`, where Slurm's count
/// of the seconds that it ran has it end, if that second is not told yet.
fn counted_end(counted: i64, end: i64, through: i64) -> i64 {
    if (through + 1..=end).contains(&counted) { counted } else { end }
}

/// When a run ended whose job waits or runs again: as accounting says, else when it was submitted
/// anew. Its start is accounting's from then on. `charged`: the seconds before the piece of now.
fn put_back(
    run: &mut Run,
    charged: i64,
    job: &SlurmJob,
    snapshot: &ClusterSnapshot,
    through: i64,
) -> Option<i64> {
    let row = row_of(run, job.id, snapshot);
    run.start = row.map(|row| row.start).or(run.start);
    let accounted =
        row.and_then(|row| Some(counted_end(run.since + row.elapsed - charged, row.end?, through)));
    accounted.or(Some(job.submit).filter(|submit| *submit >= run.since))
}

impl Known {
    /// A record of which nothing waits and nothing runs.
    pub(super) fn new(what: &What) -> Known {
        Known { key: None, what: what.clone(), waits: 0, run: None, charged: 0, unseen: 0 }
    }
}
