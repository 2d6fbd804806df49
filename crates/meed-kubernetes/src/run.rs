//! The loop: one task owns the world; watches and writers are others, and talk to it by a channel.
//!
//! A term: take the lease; claim the ledger (from then on the leader before can write neither);
//! list; recover; then hear, decide, write. It ends with a signal (checkpoint, then the lease is
//! let go), or with an error, and then the process ends: what is not written is not known.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::board::{Board, PUBLISH, Stage};
use crate::clock::{LedgerClock, unix_micros};
use crate::error::KubernetesError;
use crate::first::listed;
use crate::hear::Ears;
use crate::lease::{self, Held};
use crate::ledger::{About, LedgerStore};
use crate::listen::listen;
use crate::log;
use crate::look::Looker;
use crate::record::DecisionLog;
use crate::settings::KubernetesSettings;
use crate::statuses::{self, StatusBook};
use crate::wall::wall;
use crate::watch::{self, Heard};
use crate::world::{Listed, Order, World};
use crate::writer::Writer;

/// What may wait to be heard.
const AHEAD: usize = 8192;
/// What is heard between two decisions at most.
const BATCH: usize = 4096;
/// How often queues are looked at for their status.
const STATUS_LOOK: Duration = Duration::from_secs(1);
/// How often it is looked who waits for room.
const MARK_LOOK: Duration = Duration::from_secs(2);
/// How often it is looked for a first queue.
const FIRST_QUEUE: Duration = Duration::from_secs(1);
/// A checkpoint that takes longer has failed.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(20);
/// Finished pods in one page of a list.
const PAGE: u32 = 500;

/// Runs until a signal, or until it must not lead any more.
///
/// # Errors
///
/// No cluster; settings that cannot be; a lease that was lost.
pub fn run(settings: &KubernetesSettings) -> Result<(), KubernetesError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|why| KubernetesError::Settings(why.to_string()))?;
    let done = runtime.block_on(serve(settings));
    runtime.shutdown_timeout(Duration::from_millis(200));
    done
}

async fn serve(settings: &KubernetesSettings) -> Result<(), KubernetesError> {
    settings.kinds()?;
    settings.choices()?;
    // What cannot be written is told before the lease is taken.
    let log = settings.decision_log()?;
    let mut ends = Ends::new()?;
    let board = Arc::new(Board::default());
    if let Some(address) = settings.listen {
        listen(address, Arc::clone(&board)).await?;
    }
    let client = Client::try_default().await;
    let client = client.map_err(|why| KubernetesError::NoCluster(why.to_string()))?;
    let evictor = without_retries().await?;
    let namespace = settings.namespace();
    let me = identity();
    log::line(&format!("{me} waits for the lease {namespace}/{}", settings.lease));
    let held = tokio::select! {
        held = lease::take(&client, &namespace, &settings.lease, &me, &board) => held?,
        () = ends.wait() => return Ok(()),
    };
    log::line(&format!("leads, epoch {}", held.epoch));
    board.stage(Stage::Reads, held.epoch);
    Term::serve(settings, (client, evictor, board), &namespace, (held, log), &mut ends).await
}

/// A client for which a refusal is an answer.
async fn without_retries() -> Result<Client, KubernetesError> {
    let wrong = |why: String| KubernetesError::NoCluster(why);
    let mut config = kube::Config::infer().await.map_err(|why| wrong(why.to_string()))?;
    config.default_retry = false;
    Client::try_from(config).map_err(|why| wrong(why.to_string()))
}

/// A name that no other process has.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "meed".to_owned());
    format!("{host}-{}-{}", std::process::id(), unix_micros())
}

/// Signals that end the process.
struct Ends {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Ends {
    fn new() -> Result<Ends, KubernetesError> {
        let wrong = |why: std::io::Error| KubernetesError::Settings(why.to_string());
        let terminate = signal(SignalKind::terminate()).map_err(wrong)?;
        let interrupt = signal(SignalKind::interrupt()).map_err(wrong)?;
        Ok(Ends { terminate, interrupt })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// A term of a leader.
struct Term<'s> {
    settings: &'s KubernetesSettings,
    client: Client,
    world: World,
    about: About,
    ledger: LedgerStore,
    writer: Writer,
    looker: Looker,
    ears: Ears,
    statuses: StatusBook,
    board: Arc<Board>,
    /// A write of statuses that goes on.
    telling: Option<tokio::task::JoinHandle<()>>,
}

impl Term<'_> {
    async fn serve(
        settings: &KubernetesSettings,
        (client, evictor, board): (Client, Client, Arc<Board>),
        namespace: &str,
        (held, log): (Held, DecisionLog),
        ends: &mut Ends,
    ) -> Result<(), KubernetesError> {
        let epoch = held.epoch;
        let leads = Arc::new(AtomicBool::new(true));
        let (tell, mut heard) = mpsc::channel(AHEAD);
        let (stop, keeper) = keep(held, leads.clone(), tell.clone());
        let (ledger, checkpoint) = LedgerStore::open(&client, namespace, epoch).await?;
        if let Some(checkpoint) = &checkpoint {
            ensure_same(settings, &checkpoint.about)?;
        }
        let looker = Looker::new(client.clone(), tell.clone());
        let hears = (tell.clone(), Arc::clone(&board));
        let writer =
            Writer::new((client.clone(), evictor), epoch, settings.in_flight.into(), hears, leads);
        let (world, about, watches) = loop {
            let watches = watch::all(&client, &tell);
            let listed = tokio::select! {
                listed = listed(&mut heard) => listed?,
                () = ends.wait() => {
                    let_go(stop, keeper).await;
                    return Ok(());
                }
            };
            let listed = match checkpoint {
                Some(_) => with_finished(&client, listed).await?,
                None => listed,
            };
            let (kinds, now) = (settings.kinds()?, wall(&client).await);
            let about = checkpoint.as_ref().map_or_else(
                || About {
                    origin: now,
                    policy: settings.policy.clone(),
                    resources: settings.resources(),
                },
                |checkpoint| checkpoint.about.clone(),
            );
            let clock = LedgerClock::at(about.origin, now);
            let choices = settings.choices()?;
            let world = match &checkpoint {
                Some(checkpoint) => Some(World::restore(checkpoint, choices, clock, listed)?),
                None => World::begin(kinds, choices, clock, listed)?,
            };
            if let Some(world) = world {
                break (world, about, watches);
            }
            board.stage(Stage::WaitsForQueue, epoch);
            drop(watches);
            while heard.try_recv().is_ok() {}
            tokio::select! {
                () = tokio::time::sleep(FIRST_QUEUE) => {}
                () = ends.wait() => {
                    let_go(stop, keeper).await;
                    return Ok(());
                }
            }
        };
        let world = world.record_to(log, &about.policy, epoch)?;
        log::line("has read the cluster, and decides");
        board.stage(Stage::Decides, epoch);
        let mut term = Term {
            settings,
            client,
            world,
            about,
            ledger,
            writer,
            looker,
            ears: Ears::default(),
            statuses: StatusBook::default(),
            board,
            telling: None,
        };
        term.turn(&mut heard, ends).await?;
        drop(watches);
        term.save().await?;
        term.tell_statuses(Duration::ZERO).await?;
        if let Some(telling) = term.telling.take() {
            drop(timeout(CHECKPOINT_PATIENCE, telling).await);
        }
        term.world.end_record()?;
        term.say_remarks();
        let_go(stop, keeper).await;
        Ok(())
    }

    /// Hears, decides, orders; until a signal.
    async fn turn(
        &mut self,
        heard: &mut mpsc::Receiver<Heard>,
        ends: &mut Ends,
    ) -> Result<(), KubernetesError> {
        let mut checkpoint = interval(self.settings.checkpoint_every());
        let mut status = interval(STATUS_LOOK);
        let mut publish = interval(PUBLISH);
        let mut marks = interval(MARK_LOOK);
        for ticks in [&mut checkpoint, &mut status, &mut publish, &mut marks] {
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        self.decide()?;
        loop {
            self.board.is_well();
            let look = self.world.next_look();
            tokio::select! {
                () = sleep(look.unwrap_or_default()), if look.is_some() => self.decide()?,
                Some(first) = heard.recv() => {
                    self.hear(first)?;
                    for _ in 1..BATCH {
                        let Ok(next) = heard.try_recv() else { break };
                        self.hear(next)?;
                    }
                    self.decide()?;
                }
                () = std::future::ready(()), if self.world.is_unsettled() => self.decide()?,
                _ = checkpoint.tick() => self.save().await?,
                _ = marks.tick() => {
                    let now = self.world.now();
                    self.world.marks(now).into_iter().for_each(|order| self.writer.say(order));
                }
                _ = publish.tick(), if self.settings.listen.is_some() => self.publish()?,
                _ = status.tick() => self.tell_statuses(self.settings.status_every()).await?,
                () = ends.wait() => return Ok(()),
            }
        }
    }

    fn hear(&mut self, heard: Heard) -> Result<(), KubernetesError> {
        self.ears.hear(&mut self.world, heard)
    }

    fn publish(&mut self) -> Result<(), KubernetesError> {
        let now = self.world.now();
        self.board.publish(self.world.figures(now)?);
        Ok(())
    }

    fn decide(&mut self) -> Result<(), KubernetesError> {
        let now = self.world.turn();
        for order in self.world.decide(now)? {
            match order {
                Order::Start(order) => self.writer.start(order),
                Order::Say(ref saying) => {
                    let pod = &saying.pod;
                    let (namespace, name) = (&pod.namespace, &pod.name);
                    log::line(&format!("pod {namespace}/{name}: {}", saying.note));
                    self.writer.say(order);
                }
                Order::Mark(_) => self.writer.say(order),
                Order::Look(pod) => self.looker.look(pod),
                Order::Evict(order) => {
                    let (namespace, name) = (&order.pod.namespace, &order.pod.name);
                    log::line(&format!("pod {namespace}/{name} is evicted"));
                    self.writer.evict(order);
                }
            }
        }
        self.say_remarks();
        Ok(())
    }

    fn say_remarks(&mut self) {
        self.world.remarks().iter().for_each(|remark| log::line(remark));
    }

    /// A checkpoint, where something has happened since the last one.
    async fn save(&mut self) -> Result<(), KubernetesError> {
        let now = self.world.now();
        let Some(state) = self.world.checkpoint(now)? else { return Ok(()) };
        match timeout(CHECKPOINT_PATIENCE, self.ledger.save(&self.about, &state)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(deposed @ KubernetesError::Deposed(_))) => return Err(deposed),
            Ok(Err(why)) => log::line(&format!("no checkpoint: {why}; tried again")),
            Err(_) => log::line("no checkpoint: no answer in time; tried again"),
        }
        self.world.checkpoint_failed();
        Ok(())
    }

    async fn tell_statuses(&mut self, every: Duration) -> Result<(), KubernetesError> {
        if self.telling.as_ref().is_some_and(|telling| !telling.is_finished()) {
            if !every.is_zero() {
                return Ok(());
            }
            if let Some(telling) = self.telling.take() {
                drop(timeout(CHECKPOINT_PATIENCE, telling).await);
            }
        }
        let now = self.world.now();
        let due = self.statuses.due(self.world.statuses(now)?, every);
        if !due.is_empty() {
            self.telling = Some(tokio::spawn(statuses::write(self.client.clone(), due)));
        }
        Ok(())
    }
}

/// Keeps the lease in a task of its own; says so when it is lost.
fn keep(
    mut held: Held,
    leads: Arc<AtomicBool>,
    tell: mpsc::Sender<Heard>,
) -> (oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let keeper = tokio::spawn(async move {
        tokio::select! {
            why = held.keep() => {
                leads.store(false, Ordering::Relaxed);
                drop(tell.send(Heard::Deposed(why)).await);
            }
            _ = stopped => {
                leads.store(false, Ordering::Relaxed);
                held.release().await;
            }
        }
    });
    (stop, keeper)
}

async fn let_go(stop: oneshot::Sender<()>, keeper: tokio::task::JoinHandle<()>) {
    // Where the lease is lost already nobody waits for this.
    _ = stop.send(());
    drop(timeout(CHECKPOINT_PATIENCE, keeper).await);
}

/// What cannot change while a ledger lasts has not changed.
fn ensure_same(settings: &KubernetesSettings, about: &About) -> Result<(), KubernetesError> {
    let resources = settings.resources();
    let wrong = |what: &str, now: &str, then: &str| {
        let text = format!(
            "the ledger began with {what} {then}, and {now} is asked for: go on with {then}, or \
             delete the ConfigMap meed-ledger, which forgets all history"
        );
        Err(KubernetesError::Settings(text))
    };
    if about.policy != settings.policy {
        return wrong("--policy", &settings.policy, &about.policy);
    }
    if about.resources != resources {
        return wrong("--resources", &resources.join(","), &about.resources.join(","));
    }
    Ok(())
}

/// The same, with pods that have ended and are still there: some may have ended since the last
/// checkpoint. They are listed after those that had not ended, so that none is in neither list.
async fn with_finished(client: &Client, listed: Listed) -> Result<Listed, KubernetesError> {
    let mut listed = listed;
    listed.finished = finished_pods(client).await?;
    let ended: BTreeSet<_> = listed.finished.iter().map(|pod| pod.metadata.uid.clone()).collect();
    listed.pods.retain(|pod| !ended.contains(&pod.metadata.uid));
    Ok(listed)
}

/// Pods that have ended.
async fn finished_pods(client: &Client) -> Result<Vec<Pod>, KubernetesError> {
    let pods: Api<Pod> = Api::all(client.clone());
    let mut all = Vec::new();
    for phase in ["Succeeded", "Failed"] {
        let mut page = ListParams::default().fields(&format!("status.phase={phase}")).limit(PAGE);
        loop {
            let list = pods.list(&page).await;
            let list = list.map_err(|why| KubernetesError::api("list finished pods", why))?;
            all.extend(list.items);
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => break,
            }
        }
    }
    Ok(all)
}
