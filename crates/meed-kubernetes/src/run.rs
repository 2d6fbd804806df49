//! The loop: one task owns the world; watches and writers are others, and talk to it by a channel.
//!
//! A process stands by with its watches open ([`crate::standby`]) until it has the lease. Then it
//! claims the ledger (from then on the leader before can write neither), hears what that one wrote
//! last, recovers; then it hears, decides, writes. It ends with a signal (checkpoint, then the
//! lease is let go), or with an error, and then the process ends: what is not written is not known.
//!
//! A checkpoint is written beside the loop, one at a time: what is decided does not wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kube::Client;
use meed_pods::Resizes;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::board::{Board, PUBLISH, Stage};
use crate::clock::{LedgerClock, monotonic, unix_micros};
use crate::connect::Connector;
use crate::dashboard::{self, question::Ask};
use crate::error::KubernetesError;
use crate::hear::Ears;
use crate::heard::Heard;
use crate::lease::{self, Claim, Held, LeaseName};
use crate::ledger::{About, CHECKPOINT_PATIENCE, Checkpoint, LedgerStore, Writes};
use crate::listen::listen;
use crate::log;
use crate::look::Looker;
use crate::pod::demand::Counts;
use crate::record::DecisionLog;
use crate::settings::KubernetesSettings;
use crate::standby::{Picture, stand_by};
use crate::statuses::{self, StatusBook};
use crate::version;
use crate::wall::wall;
use crate::watch::{self, Watches};
use crate::world::{Order, World};
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
/// A request at the beginning of a term that had no answer is made again, so often in all.
const ATTEMPTS: u32 = 3;
/// The pause before.
const AGAIN: Duration = Duration::from_secs(1);
/// Who is ended is killed after so long (`terminationGracePeriodSeconds` of the manifests).
const GRACE: Duration = Duration::from_secs(30);
/// So long the last checkpoints are waited for, then twice the statuses of queues (those that are
/// being written, and the last ones), then that the lease is let go. What is not written the next
/// leader learns from the API server, or writes.
const LAST_CHECKPOINTS: Duration = Duration::from_secs(12);
const LAST_STATUSES: Duration = Duration::from_secs(3);
const LAST_RELEASE: Duration = Duration::from_secs(4);

const _: () = {
    let all = LAST_CHECKPOINTS.as_secs() + 2 * LAST_STATUSES.as_secs() + LAST_RELEASE.as_secs();
    assert!(all + 5 <= GRACE.as_secs(), "all of it is done before it is killed");
};

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
    let kinds = settings.kinds()?;
    settings.choices(Resizes::default())?;
    let dashboard = settings.dashboard()?;
    // What cannot be written is told before the lease is taken.
    let log = settings.decision_log()?;
    let mut ends = Ends::new()?;
    let board = Arc::new(Board::default());
    if let Some(address) = settings.listen {
        listen(address, Arc::clone(&board)).await?;
    }
    let connector = Connector::infer().await?;
    let client = connector.client()?;
    let mut asks = None;
    if let Some(address) = dashboard {
        let at = (address, settings.dashboard_host.as_slice());
        asks = Some(dashboard::listen(at, client.clone(), Arc::clone(&board)).await?);
    }
    let (evictor, elector) = (connector.without_retries()?, connector.for_lease()?);
    let namespace = settings.namespace();
    let lease = LeaseName { namespace: &namespace, name: &settings.lease };
    let me = identity();
    log::line(&format!("{me} waits for the lease {namespace}/{}", settings.lease));
    let (tell, mut heard) = mpsc::channel(AHEAD);
    let resizes = patiently(|| version::resizes(&client)).await?;
    let counts = Counts { kinds: &kinds, resizes };
    let watches = watch::all(&client, &tell, counts);
    let mut picture = Picture::default();
    let held = tokio::select! {
        held = stand_by(
            (&client, &namespace, counts),
            (&tell, &mut heard),
            &mut picture,
            lease::take(&elector, lease, &me, &board),
        ) => held?,
        () = ends.wait() => return Ok(()),
    };
    let claim = held.claim().clone();
    let leads = Arc::new(AtomicBool::new(true));
    let keeper = keep(held, leads.clone(), tell.clone());
    let namespace = namespace.clone();
    let begin = Begin { settings, client, resizes, namespace, claim, picture, watches, board };
    let led = begin.lead(log, (evictor, tell, leads), (&mut heard, &mut ends), asks).await;
    // However it ends: the next need not wait until the lease is stale.
    let_go(keeper).await;
    led
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

/// What a leader reads at first.
struct Read {
    ledger: LedgerStore,
    checkpoint: Option<Checkpoint>,
    /// By the clock that counts, in microseconds since 1970.
    now: i64,
}

/// What a leader begins with.
struct Begin<'s> {
    settings: &'s KubernetesSettings,
    client: Client,
    resizes: Resizes,
    namespace: String,
    claim: Claim,
    picture: Picture,
    watches: Watches,
    board: Arc<Board>,
}

/// A request that had no answer is made again: one silent connection does not end a term.
async fn patiently<T, F>(mut ask: impl FnMut() -> F) -> Result<T, KubernetesError>
where
    F: Future<Output = Result<T, KubernetesError>>,
{
    for _ in 1..ATTEMPTS {
        match ask().await {
            Err(why) if why.is_unanswered() => {
                log::line(&format!("{why}; tried again"));
                sleep(AGAIN).await;
            }
            done => return done,
        }
    }
    ask().await
}

/// What a term writes with: who evicts, who is told, and whether this process leads.
type Hands = (Client, mpsc::Sender<Heard>, Arc<AtomicBool>);

impl<'s> Begin<'s> {
    /// Leads until a signal, or until this process must not lead any more.
    async fn lead(
        mut self,
        log: DecisionLog,
        hands: Hands,
        (heard, ends): (&mut mpsc::Receiver<Heard>, &mut Ends),
        asks: Option<mpsc::Receiver<Ask>>,
    ) -> Result<(), KubernetesError> {
        let epoch = self.claim.epoch();
        log::line(&format!("leads, epoch {epoch}"));
        self.board.stage(Stage::Reads, epoch);
        let since = monotonic();
        let read = tokio::select! {
            read = self.read(heard) => read?,
            () = ends.wait() => return Ok(()),
        };
        let (mut term, watches) = self.term(read, log, hands)?;
        term.decide()?;
        let took = since.elapsed().as_secs_f64();
        let after = format!("{took:.1} s after it took the lease");
        log::line(&format!("has read the cluster, and decides, {after}"));
        term.board.stage(Stage::Decides, epoch);
        term.turn(heard, &mut Asked::new(asks), ends).await?;
        drop(watches);
        term.end().await
    }

    /// Claims and reads the ledger, and hears what the leader before wrote last. Where a ledger
    /// begins it waits for a queue.
    async fn read(&mut self, heard: &mut mpsc::Receiver<Heard>) -> Result<Read, KubernetesError> {
        let (client, namespace) = (&self.client, self.namespace.as_str());
        let opened = patiently(|| LedgerStore::open(client, namespace, self.writes()));
        let (ledger, checkpoint) = opened.await?;
        if let Some(checkpoint) = &checkpoint {
            ensure_same(self.settings, &checkpoint.about)?;
        }
        let kinds = self.settings.kinds()?;
        let version = match self.claim.epoch() {
            // Nobody has led before.
            ..=1 => 0,
            _ => patiently(|| watch::version_of_now(client)).await?,
        };
        self.watches.hear_up_to(version);
        while !self.picture.is_whole_to(version) {
            let Some(one) = heard.recv().await else { break };
            self.picture.hear(one)?;
        }
        if checkpoint.is_some() && !self.picture.knows_ended() {
            // Listed after those that had not, so that none is in neither list.
            let counts = Counts { kinds: &kinds, resizes: self.resizes };
            let ended = patiently(|| watch::finished_pods(&self.client, counts)).await?;
            self.picture.has_ended(ended)?;
        }
        let root = self.settings.policy()?;
        let mut look = interval(FIRST_QUEUE);
        let can_begin = |picture: &Picture| {
            picture.is_whole() && World::can_begin(&kinds, &root, picture.queues())
        };
        while checkpoint.is_none() && !can_begin(&self.picture) {
            self.board.stage(Stage::WaitsForQueue, self.claim.epoch());
            tokio::select! {
                _ = look.tick() => {}
                Some(one) = heard.recv() => self.picture.hear(one)?,
            }
        }
        Ok(Read { ledger, checkpoint, now: wall(&self.client).await })
    }

    fn writes(&self) -> Writes {
        Writes { epoch: self.claim.epoch(), holder: self.claim.holder().to_owned() }
    }

    fn term(
        self,
        Read { ledger, checkpoint, now }: Read,
        log: DecisionLog,
        (evictor, tell, leads): Hands,
    ) -> Result<(Term<'s>, Watches), KubernetesError> {
        let Begin { settings, client, resizes, claim, picture, watches, board, .. } = self;
        let epoch = claim.epoch();
        let about = checkpoint.as_ref().map_or_else(
            || About {
                origin: now,
                policy: settings.policy.clone(),
                resources: settings.resources(),
            },
            |checkpoint| checkpoint.about.clone(),
        );
        let clock = LedgerClock::at(about.origin, now);
        let (choices, listed) = (settings.choices(resizes)?, picture.into_listed(now));
        let world = match &checkpoint {
            Some(checkpoint) => World::restore(checkpoint, choices, clock, listed)?,
            None => World::begin(settings.kinds()?, choices, clock, listed)?
                .ok_or_else(|| KubernetesError::Engine("a queue is gone again".to_owned()))?,
        };
        let world = world.record_to(log, &about.policy, epoch)?;
        let looker = Looker::new(client.clone(), tell.clone());
        let hears = (tell, Arc::clone(&board));
        let in_flight = settings.in_flight.into();
        let writer = Writer::new((client.clone(), evictor), claim, in_flight, hears, leads);
        let term = Term {
            settings,
            client,
            world,
            about,
            ledger: Some(ledger),
            saving: None,
            writer: writer
                .tells_bound(settings.bound_events, in_flight)
                .keeps_fields(settings.keep_managed_fields),
            looker,
            ears: Ears::default(),
            statuses: StatusBook::default(),
            board,
            telling: None,
        };
        Ok((term, watches))
    }
}

/// A checkpoint that is being written: the store, and what became of it.
type Saving = tokio::task::JoinHandle<(LedgerStore, Result<(), KubernetesError>)>;
type Saved = Result<(LedgerStore, Result<(), KubernetesError>), tokio::task::JoinError>;

/// A term of a leader.
struct Term<'s> {
    settings: &'s KubernetesSettings,
    client: Client,
    world: World,
    about: About,
    /// Here, while no checkpoint is being written.
    ledger: Option<LedgerStore>,
    saving: Option<Saving>,
    writer: Writer,
    looker: Looker,
    ears: Ears,
    statuses: StatusBook,
    board: Arc<Board>,
    /// A write of statuses that goes on.
    telling: Option<tokio::task::JoinHandle<()>>,
}

impl Term<'_> {
    /// The end in good order.
    async fn end(&mut self) -> Result<(), KubernetesError> {
        let saved = timeout(LAST_CHECKPOINTS, async {
            self.settle_saving().await?;
            self.save()?;
            self.settle_saving().await
        })
        .await;
        match saved {
            Ok(saved) => saved?,
            Err(_) => {
                log::line("no last checkpoint: the API server does not answer");
                if let Some(saving) = self.saving.take() {
                    saving.abort();
                }
            }
        }
        self.tell_statuses(Duration::ZERO).await?;
        self.end_telling().await;
        self.world.end_record()?;
        self.say_remarks();
        Ok(())
    }

    /// Hears, decides, orders; until a signal.
    async fn turn(
        &mut self,
        heard: &mut mpsc::Receiver<Heard>,
        asked: &mut Asked,
        ends: &mut Ends,
    ) -> Result<(), KubernetesError> {
        let mut checkpoint = interval(self.settings.checkpoint_every());
        let mut status = interval(STATUS_LOOK);
        let mut publish = interval(PUBLISH);
        let mut marks = interval(MARK_LOOK);
        for ticks in [&mut checkpoint, &mut status, &mut publish, &mut marks] {
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
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
                _ = checkpoint.tick() => self.save()?,
                done = written(&mut self.saving), if self.saving.is_some() => self.saved(done)?,
                _ = marks.tick() => {
                    let now = self.world.now();
                    if self.settings.dashboard.is_some() {
                        self.world.sample(now)?;
                    }
                    self.world.marks(now).into_iter().for_each(|order| self.writer.say(order));
                }
                _ = publish.tick(), if self.settings.listen.is_some() => self.publish()?,
                Some(ask) = asked.next() => {
                    let began = monotonic();
                    self.answer(ask)?;
                    asked.rest(began.elapsed());
                }
                _ = status.tick() => self.tell_statuses(self.settings.status_every()).await?,
                () = ends.wait() => return Ok(()),
            }
        }
    }

    fn hear(&mut self, heard: Heard) -> Result<(), KubernetesError> {
        self.ears.hear(&mut self.world, heard)
    }

    fn answer(&mut self, Ask { sees, question, reply }: Ask) -> Result<(), KubernetesError> {
        if reply.is_closed() {
            // Whoever asked has gone.
            return Ok(());
        }
        let now = self.world.now();
        // Who has gone meanwhile does not hear it.
        drop(reply.send(self.world.answer(&sees, question, now)?));
        Ok(())
    }

    fn publish(&mut self) -> Result<(), KubernetesError> {
        let now = self.world.now();
        self.board.publish(self.world.figures(now)?);
        Ok(())
    }

    fn decide(&mut self) -> Result<(), KubernetesError> {
        self.board.turns();
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

    /// Begins a checkpoint, where something has happened since the last one, and none goes on.
    fn save(&mut self) -> Result<(), KubernetesError> {
        let Some(mut ledger) = self.ledger.take() else { return Ok(()) };
        let now = self.world.now();
        let Some(state) = self.world.checkpoint(now)? else {
            self.ledger = Some(ledger);
            return Ok(());
        };
        let about = self.about.clone();
        self.saving = Some(tokio::spawn(async move {
            let saved = timeout(CHECKPOINT_PATIENCE, ledger.save(&about, state)).await;
            let late = KubernetesError::Settings("no answer in time".to_owned());
            (ledger, saved.unwrap_or(Err(late)))
        }));
        Ok(())
    }

    /// Waits for the checkpoint that is being written, where there is one.
    async fn settle_saving(&mut self) -> Result<(), KubernetesError> {
        match self.saving.is_some() {
            true => {
                let done = written(&mut self.saving).await;
                self.saved(done)
            }
            false => Ok(()),
        }
    }

    /// A checkpoint was written, or was not.
    fn saved(&mut self, done: Saved) -> Result<(), KubernetesError> {
        self.saving = None;
        let (ledger, saved) = done.map_err(|why| KubernetesError::Engine(why.to_string()))?;
        self.ledger = Some(ledger);
        match saved {
            Ok(()) => return Ok(()),
            Err(deposed @ KubernetesError::Deposed(_)) => return Err(deposed),
            Err(why) => log::line(&format!("no checkpoint: {why}; tried again")),
        }
        self.world.checkpoint_failed();
        Ok(())
    }

    /// Waits a moment for the write of statuses that goes on; then it ends.
    async fn end_telling(&mut self) {
        if let Some(mut telling) = self.telling.take()
            && timeout(LAST_STATUSES, &mut telling).await.is_err()
        {
            telling.abort();
        }
    }

    async fn tell_statuses(&mut self, every: Duration) -> Result<(), KubernetesError> {
        if self.telling.as_ref().is_some_and(|telling| !telling.is_finished()) {
            if !every.is_zero() {
                return Ok(());
            }
            self.end_telling().await;
        }
        let now = self.world.now();
        let due = self.statuses.due(self.world.statuses(now)?, every);
        if !due.is_empty() {
            self.telling = Some(tokio::spawn(statuses::write(self.client.clone(), due)));
        }
        Ok(())
    }
}

/// Questions of the dashboard. After each the loop rests from them four times as long as the answer
/// took: so whoever asks, however much, a fifth of its time goes there at most.
struct Asked {
    asks: Option<mpsc::Receiver<Ask>>,
    rests_until: Instant,
}

impl Asked {
    fn new(asks: Option<mpsc::Receiver<Ask>>) -> Asked {
        Asked { asks, rests_until: monotonic() }
    }

    async fn next(&mut self) -> Option<Ask> {
        let Some(asks) = &mut self.asks else { return std::future::pending().await };
        sleep(self.rests_until.saturating_duration_since(monotonic())).await;
        asks.recv().await
    }

    fn rest(&mut self, took: Duration) {
        self.rests_until = monotonic() + took * 4;
    }
}

/// Waits for the checkpoint that is being written.
async fn written(saving: &mut Option<Saving>) -> Saved {
    match saving {
        Some(saving) => saving.await,
        None => std::future::pending().await,
    }
}

/// Keeps the lease in a task of its own; says so when it is lost.
fn keep(mut held: Held, leads: Arc<AtomicBool>, tell: mpsc::Sender<Heard>) -> Keeper {
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

/// The task that keeps the lease, and what ends it.
type Keeper = (oneshot::Sender<()>, tokio::task::JoinHandle<()>);

async fn let_go((stop, keeper): Keeper) {
    // Where the lease is lost already nobody waits for this.
    _ = stop.send(());
    drop(timeout(LAST_RELEASE, keeper).await);
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
