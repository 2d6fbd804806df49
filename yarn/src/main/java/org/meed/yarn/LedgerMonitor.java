package org.meed.yarn;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.SchedulingEditPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.util.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the ledger once a tick what happened, and publishes its rows. To be named in {@code
 * yarn.resourcemanager.scheduler.monitor.policies}.
 *
 * <p>It opens the ledger at its first tick, when the state store is recovered and the epoch is
 * known, and only where this ResourceManager is active. Whatever goes wrong is said once, and stock
 * fair sharing decides from then on: nothing here ends the ResourceManager.
 */
public class LedgerMonitor implements SchedulingEditPolicy {
  private static final Logger LOG = LoggerFactory.getLogger(LedgerMonitor.class);

  /**
   * Events are told so much later than they happen: so that none that happened before is told after
   * (a container's end is noted a moment before it is announced).
   */
  private static final long LAG_MILLIS = 20;
  /** Ticks for which a leaf may differ between ledger and scheduler, before that is put right. */
  private static final int PATIENCE = 2;
  /** Applications that are looked at in one tick. */
  private static final int LOOKS = 500;
  /** Shares are compared with the scheduler's so often: it is a look at all queues. */
  private static final int SHARES_EVERY = 60;
  /** Ticks at the start in which all containers are looked at: nodes report them bit by bit. */
  private static final int LOOKING = 5;

  /** What happened to a container. */
  private static final class Happened {
    final RMContainer container;
    final boolean started;
    final long at;

    Happened(RMContainer container, boolean started, long at) {
      this.container = container;
      this.started = started;
      this.at = at;
    }
  }

  private Configuration conf;
  private RMContext rm;
  private AbstractYarnScheduler<?, ?> scheduler;
  private Cluster cluster;
  private Reclaimer reclaimer;
  private Claims claims;
  /** A clock that a test moves; null: the machine's, as for the times of containers. */
  private Clock virtual;
  private volatile Settings settings;

  private volatile Ledger ledger;
  private volatile boolean over;
  private volatile boolean mayHaveChanged;
  private volatile boolean panics;
  private List<Settings.Queue> queues = new ArrayList<>();
  private List<String> names = new ArrayList<>();
  /** Settings are told with the next tick, whether queues have changed or not. */
  private boolean tellsSettings;
  private Map<String, long[]> nodes = new TreeMap<>();
  /** What applications asked for when that was told last: by their leaf, and by size. */
  private final Map<ApplicationId, Asked> asked = new HashMap<>();
  /** Where the look at applications has come to; and how many it met that were told. */
  private Iterator<? extends Map.Entry<ApplicationId, ? extends SchedulerApplication<?>>> looking;
  private int met;
  /** Leaves of which ledger and scheduler do not say the same, and for how many ticks. */
  private Map<String, Integer> doubts = new TreeMap<>();
  private boolean looksAtAll;
  /** What differed when shares were compared last. */
  private List<String> differingShares = List.of();
  private int ticks;
  private LedgerMetrics metrics;
  private StandingBean people;

  private final Object events = new Object();
  private List<Happened> happened = new ArrayList<>();
  /** Events up to here are among those that were served. */
  private int noted;
  private volatile Snapshot snapshot;
  /** When a container last started in a leaf, by the ResourceManager's clock. */
  private final Map<String, Long> served = new ConcurrentHashMap<>();

  /** By configuration. */
  public LedgerMonitor() {}

  LedgerMonitor(Clock virtual) {
    this.virtual = virtual;
  }

  @Override
  public void init(Configuration configuration, RMContext context, ResourceScheduler of) {
    conf = configuration;
    rm = context;
    try {
      settings = new Settings(configuration);
    } catch (LedgerException e) {
      // At the start what is wrong is refused: nobody would look for it later.
      throw new YarnRuntimeException(e.getMessage());
    }
    if (of instanceof AbstractYarnScheduler) {
      scheduler = (AbstractYarnScheduler<?, ?>) of;
      cluster = new Cluster(scheduler);
      reclaimer = new Reclaimer(context, scheduler, cluster);
      claims = new Claims(scheduler);
    } else {
      giveUp("the scheduler " + of.getClass().getName() + " is neither Fair nor Capacity");
      return;
    }
    try {
      Native.load(settings.nativeLibrary);
      // What is wrong with keys is said before anything runs.
      check(settings);
    } catch (LedgerException e) {
      if (!e.isOver()) {
        throw new YarnRuntimeException(e.getMessage());
      }
      giveUp(e.getMessage());
    }
  }

  /** Asks a ledger of nothing whether it would take these settings. */
  private void check(Settings given) throws LedgerException {
    if (given.reclaims()) {
      Reclaimer.ensureAlone(conf, scheduler);
    }
    List<Settings.Queue> one = new ArrayList<>();
    one.add(new Settings.Queue("root.default", 1));
    try (Ledger trial = Ledger.open(openQuestion(given, one, null, 0))) {
      LOG.debug("settings are right: {}", trial.opened());
    }
  }

  @Override
  public long getMonitoringInterval() {
    return settings.intervalMillis;
  }

  @Override
  public String getPolicyName() {
    return "meed-ledger";
  }

  Snapshot snapshot() {
    return over ? null : snapshot;
  }

  Claims claims() {
    return claims;
  }

  long staleNanos() {
    return 20 * settings.intervalMillis * 1_000_000L;
  }

  void configurationMayHaveChanged() {
    mayHaveChanged = true;
  }

  /** Whether the ledger has ended, and stock fair sharing decides. */
  boolean isOver() {
    return over;
  }

  /** How often settings were refused since the ledger was opened. */
  long refusals() {
    return metrics.refusals();
  }

  /** How often it differed from the scheduler, since it was opened, for longer than a moment. */
  long differences() {
    return metrics.differences();
  }

  /** Shares that differed when they were compared last. */
  List<String> differingShares() {
    return differingShares;
  }

  /** For tests: the library panics at the next tick. */
  void panic() {
    panics = true;
  }

  /** For tests: all rows, which those of the snapshot are to be the same as. */
  Snapshot whole() throws LedgerException {
    Json question = new Json().object().key("rows").object().endObject().endObject();
    return new Snapshot(ledger.rows(question), null, names);
  }

  private long now() {
    return virtual != null ? virtual.getTime() : System.currentTimeMillis();
  }

  /**
   * How queues stand, or why an application waits: JSON, as of the last tick. On the web server's
   * threads.
   */
  String explain(String app) {
    Ledger asked = ledger;
    Snapshot last = snapshot();
    if (asked == null || last == null) {
      return failed("long-term fairness is not on here: the ResourceManager's log says why");
    }
    Json question = new Json().object().key("explain").object().key("now").value(last.now);
    if (app != null) {
      question.key("app").value(app);
    }
    try {
      return asked.ask(question.endObject().endObject());
    } catch (LedgerException e) {
      return failed(e.getMessage());
    }
  }

  private static String failed(String why) {
    return new Json().object().key("error").value(why).endObject().toString();
  }

  // ---- Events: on the scheduler's threads, under its locks.

  void started(RMContainer container) {
    synchronized (events) {
      happened.add(new Happened(container, true, now()));
    }
  }

  void ended(RMContainer container) {
    long at = virtual != null ? virtual.getTime() : container.getFinishTime();
    Happened end = new Happened(container, false, at);
    synchronized (events) {
      happened.add(end);
      giveBack(snapshot, end);
    }
  }

  private static void giveBack(Snapshot to, Happened end) {
    if (to == null || end.container.getState() == RMContainerState.RESERVED) {
      return;
    }
    Resource held = end.container.getAllocatedResource();
    if (held != null) {
      to.end(appOf(end.container), end.container.getQueueName(), held.getMemorySize(),
          held.getVirtualCores(), end.container.getCreationTime());
    }
  }

  private static String appOf(RMContainer container) {
    return container.getApplicationAttemptId().getApplicationId().toString();
  }

  // ---- The guard: asked by the comparator's maker.

  Map<String, Integer> starved(Snapshot of) {
    if (of.tWait < 0) {
      return null;
    }
    noteServed();
    return Order.starved(of, cluster::demanding, now(), (queue, at, now) -> {
      Long last = served.get(queue);
      return last == null ? Long.MAX_VALUE : Math.max(0, now - last) * 1000;
    });
  }

  /** Leaves in which something started since the last look are not starved any more. */
  private void noteServed() {
    synchronized (events) {
      for (; noted < happened.size(); noted++) {
        Happened last = happened.get(noted);
        // A container has its queue a moment after it is announced.
        String queue = last.container.getQueueName();
        if (last.started && queue != null) {
          served.merge(queue, last.at, Math::max);
        }
      }
    }
  }

  // ---- The tick: on the monitor's own thread.

  @Override
  public synchronized void editSchedule() {
    if (over || rm.getHAServiceState() != HAServiceState.ACTIVE) {
      return;
    }
    try {
      long started = System.nanoTime();
      if (ledger == null) {
        // The first tick may come before the scheduler has read its queues.
        if (cluster.queues().isEmpty()) {
          return;
        }
        open();
      }
      if (panics) {
        ledger.ask(new Json().object().key("panic").object().endObject().endObject());
      }
      refresh();
      tick();
      claims.refresh(now(), settings.claimMillis);
      if (settings.reclaims() && ticks >= LOOKING) {
        reclaimer.look(ledger, settings, now() - lag(), asked);
      }
      metrics.ticked(System.nanoTime() - started, snapshot);
    } catch (LedgerException e) {
      giveUp(e.getMessage());
    } catch (RuntimeException | LinkageError e) {
      LOG.error("The ledger's tick failed", e);
      giveUp(e.toString());
    }
  }

  private void giveUp(String why) {
    over = true;
    snapshot = null;
    Policy.deactivate(this);
    LOG.error("Long-term fairness is OFF, stock fair sharing decides from now on: {}", why);
    close();
  }

  private synchronized void close() {
    if (claims != null) {
      claims.end();
    }
    if (ledger != null) {
      ledger.close();
      ledger = null;
    }
    if (metrics != null) {
      metrics.close();
      metrics = null;
    }
    if (people != null) {
      people.close();
      people = null;
    }
    RMApplicationHistoryWriter writer = rm == null ? null : rm.getRMApplicationHistoryWriter();
    if (writer instanceof ContainerEvents && ((ContainerEvents) writer).monitor() == this) {
      rm.setRMApplicationHistoryWriter(((ContainerEvents) writer).next());
    }
  }

  private void open() throws LedgerException {
    LedgerMonitor before = Policy.active();
    if (before != null && before != this) {
      // Of a ResourceManager in this process that is active no more: nobody tells it.
      Policy.deactivate(before);
      before.close();
    }
    take(cluster.queues());
    ledger = Ledger.open(openQuestion(settings, queues, settings.folder, epoch()));
    LOG.info("Long-term fairness is on: epoch {}, ledger {}, {}", epoch(), settings.folder,
        ledger.opened());
    for (String unknown : settings.unknown(queues)) {
      LOG.warn("{}{}.policy.*: there is no queue of that name", Settings.QUEUE, unknown);
    }
    String doubt = doubt();
    if (doubt != null) {
      LOG.warn(doubt);
    }
    if (settings.exactEvents) {
      listen();
    }
    metrics = new LedgerMetrics(this);
    people = new StandingBean(this);
    Policy.activate(this);
  }

  /** Why cores that are counted are none; null where they are, or are not counted. */
  String doubt() {
    if (!settings.countsCores() || !cluster.countsContainersAsCores()) {
      return null;
    }
    return "cores are counted, and the Capacity Scheduler says 1 for each container, whatever it"
        + " asked for: set yarn.scheduler.capacity.resource-calculator to"
        + " org.apache.hadoop.yarn.util.resource.DominantResourceCalculator, or count memory";
  }

  private void take(List<Settings.Queue> configured) {
    queues = configured;
    names = new ArrayList<>();
    for (Settings.Queue queue : configured) {
      names.add(queue.name);
    }
  }

  /** Hears of containers from now on; those that run already are looked at. */
  private void listen() {
    RMApplicationHistoryWriter writer = rm.getRMApplicationHistoryWriter();
    while (writer instanceof ContainerEvents) {
      writer = ((ContainerEvents) writer).next();
    }
    rm.setRMApplicationHistoryWriter(new ContainerEvents(writer, this));
  }

  /** Where epochs do not count up, the time of the start does. */
  private long epoch() {
    boolean counts = conf.getBoolean(YarnConfiguration.RECOVERY_ENABLED, false)
        && conf.getBoolean(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_ENABLED, true);
    return counts ? rm.getEpoch() : org.apache.hadoop.yarn.server.resourcemanager.ResourceManager
        .getClusterTimeStamp();
  }

  private Json openQuestion(Settings given, List<Settings.Queue> of, String folder, long epoch) {
    Json json = new Json().object().key("open").object();
    json.key("protocol").value(Native.PROTOCOL).key("epoch").value(epoch);
    json.key("now").value(now() - lag());
    if (folder != null) {
      json.key("folder").value(folder);
    }
    json.key("by").value(conf.get(YarnConfiguration.RM_HA_ID, ""));
    json.key("settings");
    given.write(json, of);
    return json.endObject().endObject();
  }

  private long lag() {
    return virtual != null ? 0 : LAG_MILLIS;
  }

  /** Reads the keys again where an administrator has asked for it. */
  private void refresh() throws LedgerException {
    if (!mayHaveChanged) {
      return;
    }
    mayHaveChanged = false;
    cluster.mayHaveChanged();
    Configuration fresh = new Configuration(conf);
    fresh.reloadConfiguration();
    try {
      Settings given = new Settings(fresh);
      if (given.reclaims()) {
        Reclaimer.ensureAlone(fresh, scheduler);
      }
      List<Settings.Queue> now = cluster.queues();
      Json question = new Json().object().key("check");
      given.write(question, now);
      ledger.ask(question.endObject());
      settings = given;
      tellsSettings = true;
    } catch (LedgerException e) {
      if (e.isOver()) {
        throw e;
      }
      metrics.refused();
      LOG.error("Settings of long-term fairness are refused, the old ones stay: {}",
          e.getMessage());
    }
  }

  private void tick() throws LedgerException {
    List<Happened> told = new ArrayList<>();
    long now = now() - lag();
    synchronized (events) {
      List<Happened> later = new ArrayList<>();
      for (Happened event : happened) {
        (event.at <= now ? told : later).add(event);
        if (event.started && event.container.getQueueName() != null) {
          served.merge(event.container.getQueueName(), event.at, Math::max);
        }
      }
      happened = later;
      noted = 0;
    }
    Json json = new Json().object().key("tick").object().key("now").value(now);
    List<Settings.Queue> configured = cluster.queues();
    if (configured != queues) {
      tellsSettings |= !configured.equals(queues);
      take(configured);
    }
    if (tellsSettings) {
      json.key("settings");
      settings.write(json, queues);
      tellsSettings = false;
    }
    Snapshot last = snapshot;
    json.key("whole").value(last == null || last.isLittered());
    writeNodes(json);
    writeEvents(json, told);
    if (!settings.exactEvents || ticks < LOOKING || looksAtAll) {
      writeRunning(json);
    }
    if (looksAtAll) {
      // A start that is found serves one that waits, of which the scheduler has told already.
      asked.values().forEach(Asked::forget);
      looksAtAll = false;
    }
    writeApplications(json);
    Snapshot made = new Snapshot(ledger.rows(json.endObject().endObject()), last, names);
    synchronized (events) {
      made.takeOver(last);
      for (Happened event : happened) {
        if (!event.started) {
          giveBack(made, event);
        }
      }
      snapshot = made;
    }
    if (ticks % SHARES_EVERY == LOOKING) {
      // Said when it is first seen, and when it is another one.
      List<String> differing = Shares.differing(Cluster.rootOf(scheduler), made, 3);
      if (!differing.isEmpty() && !differing.equals(differingShares)) {
        LOG.warn("Shares of the ledger and of the scheduler differ: {}", differing);
      }
      differingShares = differing;
    }
    ticks++;
    for (String remark : made.remarks) {
      LOG.warn("The ledger could not take: {}", remark);
    }
    compare(made);
  }

  /**
   * The self-check: what the ledger holds and what the scheduler says are the same. Of a leaf of
   * which something has happened since the tick that is not known; as long as it goes on, what was
   * known of it stays.
   */
  private void compare(Snapshot made) {
    boolean quiet;
    synchronized (events) {
      quiet = happened.isEmpty();
    }
    Map<String, String> found = cluster.differing(made, quiet, doubts.keySet());
    if (!settings.exactEvents || found.isEmpty() && doubts.isEmpty()) {
      // Without events all containers are looked at in each tick anyway.
      return;
    }
    Map<String, Integer> before = doubts;
    doubts = new TreeMap<>();
    String why = null;
    for (Map.Entry<String, String> leaf : found.entrySet()) {
      int known = before.getOrDefault(leaf.getKey(), 0);
      int ticks = hasNews(leaf.getKey()) ? known : known + 1;
      doubts.put(leaf.getKey(), ticks);
      why = ticks > PATIENCE ? leaf.getKey() + ": " + leaf.getValue() : why;
    }
    if (why != null) {
      doubts.clear();
      looksAtAll = true;
      metrics.differed();
      LOG.warn("Ledger and scheduler differ ({}): all containers are looked at", why);
    }
  }

  /** Whether something happened in a leaf that no tick has told. */
  private boolean hasNews(String leaf) {
    synchronized (events) {
      for (Happened event : happened) {
        // A container has its queue a moment after it is announced.
        String queue = event.container.getQueueName();
        if (queue == null || queue.equals(leaf)) {
          return true;
        }
      }
      return false;
    }
  }

  private void writeNodes(Json json) {
    Map<String, long[]> found = cluster.nodes();
    boolean same = found.size() == nodes.size();
    for (Map.Entry<String, long[]> node : found.entrySet()) {
      long[] size = nodes.get(node.getKey());
      same &= size != null && size[0] == node.getValue()[0] && size[1] == node.getValue()[1];
    }
    if (same) {
      return;
    }
    nodes = found;
    json.key("nodes").array();
    for (Map.Entry<String, long[]> node : found.entrySet()) {
      json.object().key("name").value(node.getKey()).key("memory").value(node.getValue()[0])
          .key("cores").value(node.getValue()[1]).endObject();
    }
    json.endArray();
  }

  private void writeEvents(Json json, List<Happened> told) {
    json.key("events").array();
    for (Happened event : told) {
      if (!event.started) {
        json.object().key("end").object().key("id")
            .value(event.container.getContainerId().toString()).key("at").value(event.at)
            .endObject().endObject();
      } else if (event.container.getState() != RMContainerState.RESERVED) {
        json.object().key("start");
        if (!writeStarted(json, event.container, event.at)) {
          throw new IllegalStateException("a container without a queue");
        }
        json.endObject();
        serve(event.container);
        claims.started(event.container);
      }
    }
    json.endArray();
  }

  private void serve(RMContainer container) {
    Asked by = asked.get(container.getApplicationAttemptId().getApplicationId());
    if (by != null) {
      Resource held = container.getAllocatedResource();
      by.serve(held.getMemorySize(), held.getVirtualCores());
    }
  }

  private void writeRunning(Json json) {
    json.key("running").array();
    for (RMContainer container : cluster.running()) {
      writeStarted(json, container, now() - lag());
    }
    json.endArray();
  }

  private boolean writeStarted(Json json, RMContainer container, long heard) {
    String app = appOf(container);
    String queue = container.getQueueName();
    Resource held = container.getAllocatedResource();
    if (held == null || container.getAllocatedNode() == null) {
      return false;
    }
    SchedulerApplicationAttempt attempt =
        scheduler.getApplicationAttempt(container.getApplicationAttemptId());
    String leaf = attempt == null ? null : cluster.queueOf(attempt);
    leaf = leaf == null ? queue : leaf;
    if (leaf == null) {
      return false;
    }
    json.object().key("id").value(container.getContainerId().toString()).key("app").value(app);
    json.key("queue").value(leaf).key("node").value(container.getAllocatedNode().toString());
    json.key("memory").value(held.getMemorySize()).key("cores").value(held.getVirtualCores());
    // With a clock that a test moves, containers begin when that clock says.
    long since = virtual != null ? heard : container.getCreationTime();
    json.key("since").value(since).endObject();
    return true;
  }

  /**
   * What applications ask for, where that has changed. So many are looked at in a tick, in turns:
   * a look at one costs more than all else that a tick does for it.
   */
  private void writeApplications(Json json) {
    Map<ApplicationId, ? extends SchedulerApplication<?>> all =
        scheduler.getSchedulerApplications();
    Map<ApplicationId, Asked> changed = new TreeMap<>();
    boolean round = false;
    for (int looks = 0; looks < LOOKS && !round; looks++) {
      if (looking == null) {
        looking = all.entrySet().iterator();
        met = 0;
      }
      round = !looking.hasNext();
      if (!round) {
        look(looking.next(), changed);
      }
    }
    json.key("pending").array();
    changed.forEach((app, now) -> {
      json.object().key("app").value(app.toString()).key("queue")
          .value(Cluster.fullName(now.queue));
      json.key("asks").array();
      for (long[] ask : now.bySize()) {
        json.array().value(ask[0]).value(ask[1]).value(Math.min(ask[2], Asked.MOST)).endArray();
      }
      json.endArray().endObject();
    });
    json.endArray().key("gone").array();
    if (asked.size() > all.size() || round && met < asked.size()) {
      asked.keySet().removeIf(app -> {
        if (all.containsKey(app)) {
          return false;
        }
        json.value(app.toString());
        return true;
      });
    }
    json.endArray();
    looking = round ? null : looking;
  }

  private void look(Map.Entry<ApplicationId, ? extends SchedulerApplication<?>> app,
      Map<ApplicationId, Asked> changed) {
    SchedulerApplicationAttempt attempt = app.getValue().getCurrentAppAttempt();
    Queue queue = attempt == null ? null : attempt.getQueue();
    Asked last = asked.get(app.getKey());
    if (queue == null) {
      met += last == null ? 0 : 1;
      return;
    }
    met++;
    long[] asks = Asked.by(attempt, cluster.countsContainersAsCores());
    if (last == null || last.queue != queue || !last.isOf(asks)) {
      Asked now = new Asked(queue, asks);
      asked.put(app.getKey(), now);
      changed.put(app.getKey(), now);
    }
  }
}
