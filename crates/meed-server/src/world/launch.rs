//! Decisions become processes: tickets, supervisors, and the wait for processors and GPUs that
//! others have not let go of yet.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use meed_driver::live::Action;
use meed_journal::{Fact, TaskKey};

use super::hold::kept_back;
use super::tasks::never;
use super::{Held, Run, Supervisor, World, WorldError};
use crate::books::JobRow;
use crate::group::{Bounds, ControlGroup, Device, Wall};
use crate::run::{TaskFolder, Ticket, TicketSession};
use crate::spec::{Submission, SystemLimit};
use crate::supervise;
use crate::text::Bytes;
use crate::user::LocalUser;

impl World {
    /// Carries out what is durable; what that leads to at once.
    pub(super) fn act(&mut self, actions: Vec<Action>) -> Result<Vec<Fact>, WorldError> {
        let mut facts = Vec::new();
        for action in actions {
            match action {
                Action::Start { task, .. } => {
                    self.note_wait(&task);
                    facts.extend(self.start(task)?);
                }
                Action::Stop { task, .. } => self.stop(&task),
                Action::Reclaim { task, grace, winner, .. } => {
                    facts.extend(self.take_back(&task, grace, Some(&winner)));
                }
            }
        }
        if std::mem::take(&mut self.has_room) {
            for task in std::mem::take(&mut self.deferred) {
                facts.extend(self.start(task)?);
            }
        }
        Ok(facts)
    }

    /// The engine does not know the task any more.
    fn stop(&mut self, task: &TaskKey) {
        let Some(run) = self.runs.get_mut(task) else { return };
        run.stops = true;
        match &run.watched {
            Some(watched) => watched.ask_to_end(),
            None => self.free(task),
        }
    }

    fn start(&mut self, task: TaskKey) -> Result<Vec<Fact>, WorldError> {
        let row = JobRow::id_of(&task.job).and_then(|id| self.rows.get(&id));
        // It was cancelled or held, and the server died before the driver was told.
        let Some(row) = row.filter(|row| !row.is_over()).cloned() else {
            return Ok(vec![Fact::job_cancelled(task.job)]);
        };
        if row.key() != task.job && row.parts.is_empty() {
            return Ok(vec![Fact::job_cancelled(task.job)]);
        }
        if !row.has(&task.job, task.task) {
            return Ok(vec![kept_back(task.job, task.task)]);
        }
        let Some(spec) = self.books.spec(row.id)? else {
            return self.has_ended(&task, never("its description is lost".to_owned())?);
        };
        let folder = self.places.run(&task);
        let held = match folder.ticket() {
            // Made before a crash; what it names was marked when the server came back.
            Ok(ticket) => Some(Held { processors: ticket.processors, gpus: ticket.gpus }),
            Err(_) => self.devices_for(&spec),
        };
        self.watched.touch(row.id);
        self.running.entry(row.id).or_default().insert(task.clone());
        let (watched, stops, gives_back) = (None, false, None);
        let Some(held) = held else {
            let held = Held::default();
            self.runs.insert(task.clone(), Run { folder, held, watched, stops, gives_back });
            self.deferred.push_back(task);
            return Ok(Vec::new());
        };
        let (number, attempt) = (self.number(&task)?, self.attempt(&task)?);
        let ticket = self.ticket(&task, (number, attempt), &row, &spec, &held);
        let run = Run { folder: folder.clone(), held, watched, stops, gives_back };
        self.runs.insert(task.clone(), run);
        let bounds = self.bounds(&spec, &ticket.processors);
        let made = ticket.group.as_ref().map(|path| ControlGroup::at(path.as_path()));
        let made = made.map_or(Ok(()), |group| group.make(&bounds));
        match made.and_then(|()| self.begin(&task, &row, &folder, &ticket)) {
            Ok(watched) => {
                if let Some(run) = self.runs.get_mut(&task) {
                    run.watched = Some(watched);
                }
                Ok(Vec::new())
            }
            Err(why) => self.has_ended(&task, never(format!("it cannot be started: {why}"))?),
        }
    }

    /// Numbers of processors and GPUs; `None`: others that are being stopped still hold them.
    fn devices_for(&mut self, spec: &Submission) -> Option<Held> {
        let demand = self.demand(spec).ok()?;
        let kinds = self.live.engine().kinds();
        let whole = |name: &str| {
            let amount = kinds.find(name).map_or(0, |kind| demand.get(kind));
            // A part of a processor has none of its own.
            if amount.is_multiple_of(1000) { (amount / 1000) as usize } else { 0 }
        };
        let processors = if self.settings.affinity { whole("cpu") } else { 0 };
        let somebody_stops = self.runs.values().any(|run| run.stops);
        if somebody_stops && !self.devices.has_processors(processors) {
            return None;
        }
        self.devices.take(processors, whole("gpu"))
    }

    /// `number` and `attempt`: as the user knows them.
    fn ticket(
        &self,
        task: &TaskKey,
        (number, attempt): (u32, u32),
        row: &JobRow,
        spec: &Submission,
        held: &Held,
    ) -> Ticket {
        let user = LocalUser::of(row.uid, row.gid);
        let mut limits = spec.limits.clone();
        let kinds = self.live.engine().kinds();
        if let Some(memory) = kinds.find("memory").filter(|_| spec.bound_address_space) {
            let bytes = self.demand(spec).map_or(0, |demand| demand.get(memory));
            if bytes > 0 {
                limits.retain(|limit| limit.name != "as");
                let (soft, hard) = (Some(bytes), Some(bytes));
                limits.push(SystemLimit { name: "as".to_owned(), soft, hard });
            }
        }
        let grace = self.settings.grace.as_millis();
        let gpus = self.gpus_for(spec, held);
        Ticket {
            version: Ticket::VERSION,
            cookie: self.cookie(task),
            command: spec.command.clone(),
            env: environment((number, attempt), row, spec, gpus.as_ref(), &user),
            closed: self.closed_to(held),
            max_output: Some(self.settings.max_output),
            session: spec.session.and_then(|wish| {
                let socket = self.session_of(row, spec, number)?.as_str().into();
                Some(TicketSession { socket, wish })
            }),
            folder: spec.folder.clone(),
            umask: spec.umask,
            limits,
            account: user.account(),
            log: self.places.logs(row.id).join(format!("{}.log", spec.tasks.index(number))).into(),
            stdout: spec.stdout.clone(),
            stderr: spec.stderr.clone(),
            time_ms: spec.time_ms,
            grace_ms: spec.grace_ms.unwrap_or(u64::try_from(grace).unwrap_or(u64::MAX)),
            group: self.control_group(task).map(|group| group.path().into()),
            processors: held.processors.clone(),
            gpus: held.gpus.clone(),
        }
    }

    /// The GPUs that a task sees: its own. `None`: there are none here that Meed hands out, and
    /// nothing is said of them.
    fn gpus_for(&self, spec: &Submission, held: &Held) -> Option<GpusTold> {
        let kind = self.live.engine().kinds().find("gpu");
        let has_some = kind.is_some_and(|gpu| self.settings.node().capacity.get(gpu) > 0);
        if !has_some && !spec.demand.contains_key("gpu") {
            return None;
        }
        let own = held.gpus.clone();
        // Who cannot open the others finds only its own, and counts these from 0.
        let visible = match self.closes_gpus() {
            true => (0..).take(own.len()).collect(),
            false => own.clone(),
        };
        Some(GpusTold { own, visible })
    }

    fn control_group(&self, task: &TaskKey) -> Option<ControlGroup> {
        self.groups.of(self.places.run(task).path())
    }

    /// What the kernel is to bound, where it can.
    fn bounds(&self, spec: &Submission, processors: &[u32]) -> Bounds {
        let (walls, kinds) = (self.groups.walls(), self.live.engine().kinds());
        let demand = self.demand(spec).ok();
        let asked = |name: &str, wall: Wall| {
            let kind = kinds.find(name).filter(|_| walls.has(wall))?;
            demand.as_ref().map(|demand| demand.get(kind))
        };
        let milli = asked("cpu", Wall::Processors);
        let processors =
            if walls.has(Wall::OwnProcessors) { processors.to_vec() } else { Vec::new() };
        Bounds {
            memory: asked("memory", Wall::Memory).filter(|&bytes| bytes > 0),
            part_milli: milli,
            most_milli: milli.filter(|_| self.settings.cpu_max),
            processors,
            processes: walls.has(Wall::Processes).then_some(self.settings.max_processes),
        }
    }

    /// Whether tasks are kept from the GPUs of others.
    fn closes_gpus(&self) -> bool {
        self.groups.walls().has(Wall::Gpus) && self.settings.closes_gpus()
    }

    /// Devices that who holds these may not open.
    fn closed_to(&self, held: &Held) -> Vec<Device> {
        if !self.closes_gpus() {
            return Vec::new();
        }
        let gpus = (0..).zip(&self.settings.gpus);
        let others = gpus.filter(|(number, _)| !held.gpus.contains(number));
        others.filter_map(|(_, device)| *device).collect()
    }

    fn begin(
        &mut self,
        task: &TaskKey,
        row: &JobRow,
        folder: &TaskFolder,
        ticket: &Ticket,
    ) -> io::Result<Supervisor> {
        let mode = if ticket.account.is_some() { 0o711 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(self.places.logs(row.id))?;
        folder.make(ticket)?;
        // The program itself, even where a newer one has taken its place on the disk.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("meed").arg(supervise::COMMAND).arg(folder.path());
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        let number = i32::try_from(child.id()).map_err(io::Error::other)?;
        let token = self.token(task);
        self.watch.add(token, number, Some(child))
    }

    /// Waits for a supervisor that was there before this server; whether it still is.
    pub(super) fn watch_process(&mut self, task: &TaskKey, supervisor: i32) -> bool {
        let token = self.token(task);
        let Ok(watched) = self.watch.add(token, supervisor, None) else {
            self.tokens.remove(&token);
            return false;
        };
        let Some(run) = self.runs.get_mut(task) else { return true };
        // It lives after it was taken hold of: so that is no other process of the same number.
        if run.folder.look().ok() != Some(crate::run::FolderState::Runs(supervisor)) {
            self.tokens.remove(&token);
            return false;
        }
        if run.stops {
            watched.ask_to_end();
        }
        run.watched = Some(watched);
        self.ask_to_give_back(task);
        true
    }

    fn token(&mut self, task: &TaskKey) -> u64 {
        self.next_token += 1;
        self.tokens.insert(self.next_token, task.clone());
        self.next_token
    }
}

/// GPUs by number, as a task is told of them.
struct GpusTold {
    /// Those that it holds, as the machine counts them.
    own: Vec<u32>,
    /// The same, as its programs count them.
    visible: Vec<u32>,
}

/// The user's own, what an account brings where that is missing, and what a task is told.
fn environment(
    (number, attempt): (u32, u32),
    row: &JobRow,
    spec: &Submission,
    gpus: Option<&GpusTold>,
    user: &LocalUser,
) -> Vec<(Bytes, Bytes)> {
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut told = vec![
        ("MEED_JOB", row.id.to_string()),
        ("MEED_TASK", spec.tasks.index(number).to_string()),
        ("MEED_TASKS", row.tasks.to_string()),
        ("MEED_ATTEMPT", attempt.to_string()),
        ("MEED_QUEUE", row.queue.clone()),
    ];
    // Without a GPU of its own a task sees none.
    if let Some(gpus) = gpus {
        told.push(("MEED_GPUS", list(&gpus.own)));
        told.push(("CUDA_VISIBLE_DEVICES", list(&gpus.visible)));
        told.push(("HIP_VISIBLE_DEVICES", list(&gpus.visible)));
        // Else CUDA counts the fastest first, and two tasks could mean one GPU by two numbers.
        told.push(("CUDA_DEVICE_ORDER", "PCI_BUS_ID".to_owned()));
    }
    let usual = [("HOME", &user.home), ("SHELL", &user.shell), ("USER", &user.name)];
    let is_told = |key: &Bytes| told.iter().any(|(name, _)| key.as_os() == *name);
    let mut env: Vec<(Bytes, Bytes)> =
        spec.env.iter().filter(|(key, _)| !is_told(key)).cloned().collect();
    for (name, value) in usual {
        if env.iter().all(|(key, _)| key.as_os() != name) {
            env.push((name.into(), value.as_str().into()));
        }
    }
    env.extend(told.into_iter().map(|(name, value)| (name.into(), value.into())));
    env
}
