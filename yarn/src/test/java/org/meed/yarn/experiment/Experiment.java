package org.meed.yarn.experiment;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/**
 * The papers' macro-workloads on a real ResourceManager with its Fair Scheduler; nodes and masters
 * are objects of this process that call its services, as in Hadoop's own load simulator (SLS).
 *
 * <p>All times are divided by one number. What waits for what is YARN's: a container is granted at
 * a node's heartbeat, told at the master's, and free again at a heartbeat of its node.
 */
final class Experiment implements AutoCloseable {
  interface Act {
    void run() throws Exception;
  }

  final Settings settings;
  final Journal journal;
  final Master master;
  private final Plan plan;
  private final Map<NodeId, Node> nodes = new HashMap<>();
  private final ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(4);
  private final AtomicReference<Throwable> broken = new AtomicReference<>();
  private final CountDownLatch ended;
  private final Lateness lateness = new Lateness();

  Experiment(Settings settings, Plan plan, Path events) throws Exception {
    this.settings = settings;
    this.plan = plan;
    journal = new Journal(events);
    ended = new CountDownLatch(plan.jobs);
    pool.setRemoveOnCancelPolicy(true);
    master = new Master(journal);
    master.init(Configured.of(settings, plan, events.resolveSibling("fair-scheduler.xml")));
    master.start();
  }

  void run() throws Exception {
    double step = settings.heartbeatSeconds / settings.nodes;
    for (int i = 0; i < settings.nodes; i++) {
      Node node = new Node(master, i, settings);
      nodes.put(node.id(), node);
    }
    int number = 0;
    for (Node node : nodes.values()) {
      every(settings.heartbeatSeconds, step * number++, node::beat);
    }
    warmUp();
    lateness.reset();
    journal.begin();
    every(1, 0, this::sample);
    plan.open.forEach(job -> after(job.seconds, () -> begin(job, () -> { })));
    plan.chains.values().forEach(chain -> next(chain.iterator()));
    long until = Double.isInfinite(settings.untilSeconds) ? Long.MAX_VALUE
        : settings.nanos(settings.untilSeconds);
    while (!ended.await(200, TimeUnit.MILLISECONDS)) {
      if (broken.get() != null) {
        throw new IllegalStateException("the experiment broke", broken.get());
      }
      if (System.nanoTime() - journal.began() >= until) {
        journal.tell("lateness", lateness);
        return;
      }
    }
    // The last containers end at heartbeats of their nodes.
    Thread.sleep(3 * settings.millis(settings.heartbeatSeconds) + 500);
    journal.tell("lateness", lateness);
  }

  /** Small jobs of which nothing is told: classes are loaded then. */
  private void warmUp() throws Exception {
    for (int round = 0; round < 3; round++) {
      CountDownLatch done = new CountDownLatch(plan.queues.size());
      for (String queue : plan.queues) {
        Plan.Job job = new Plan.Job(-1, queue, -1, 0);
        job.stages.add(new Plan.Stage(0, new double[] {1, 1, 1}));
        new Application(this, job, job.stages, done::countDown).submit();
      }
      if (!done.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("no application ends", broken.get());
      }
    }
    Thread.sleep(1000);
  }

  private void next(Iterator<Plan.Job> chain) {
    if (chain.hasNext()) {
      Plan.Job job = chain.next();
      after(job.seconds, () -> begin(job, () -> next(chain)));
    }
  }

  /** Submits a job's first application; each when the one before has finished. */
  private void begin(Plan.Job job, Runnable then) throws Exception {
    List<List<Plan.Stage>> applications = new ArrayList<>();
    for (Plan.Stage stage : job.stages) {
      if (stage.application == applications.size()) {
        applications.add(new ArrayList<>());
      }
      applications.get(stage.application).add(stage);
    }
    journal.tell("job", job.number, job.queue, applications.size());
    begin(job, applications.iterator(), then);
  }

  private void begin(Plan.Job job, Iterator<List<Plan.Stage>> applications, Runnable then)
      throws Exception {
    if (!applications.hasNext()) {
      ended.countDown();
      then.run();
      return;
    }
    new Application(this, job, applications.next(),
        () -> after(0, () -> begin(job, applications, then))).submit();
  }

  String queueOf(Plan.Job job) {
    return "root." + (settings.flat ? "all" : job.queue);
  }

  Node node(Container container) {
    return nodes.get(container.getNodeId());
  }

  private Runnable guarded(Act act) {
    return () -> {
      try {
        act.run();
      } catch (Throwable e) {
        broken.compareAndSet(null, e);
      }
    };
  }

  /** After so many seconds of the papers' cluster. */
  void after(double seconds, Act act) {
    long due = System.nanoTime() + settings.nanos(seconds);
    pool.schedule(guarded(() -> {
      lateness.note(System.nanoTime() - due);
      act.run();
    }), settings.nanos(seconds), TimeUnit.NANOSECONDS);
  }

  Future<?> every(double seconds, double first, Act act) {
    return pool.scheduleAtFixedRate(guarded(act), settings.nanos(first), settings.nanos(seconds),
        TimeUnit.NANOSECONDS);
  }

  /** What the scheduler itself says of its queues. */
  private void sample() {
    FairScheduler scheduler = (FairScheduler) master.getResourceScheduler();
    for (FSQueue queue : scheduler.getQueueManager().getLeafQueues()) {
      journal.tell("queue", queue.getName().replaceFirst("root\\.", ""),
          queue.getResourceUsage().getMemorySize(), queue.getDemand().getMemorySize(),
          queue.getFairShare().getMemorySize());
    }
  }

  @Override
  public void close() throws Exception {
    pool.shutdownNow();
    pool.awaitTermination(5, TimeUnit.SECONDS);
    journal.close();
    master.stop();
  }

  /** Arguments: the plan, where events go, and settings as {@code key=value}. */
  public static void main(String[] arguments) throws Exception {
    String[] rest = java.util.Arrays.copyOfRange(arguments, 2, arguments.length);
    int code = 0;
    try (Experiment it = new Experiment(Settings.of(rest), Plan.read(Path.of(arguments[0])),
        Path.of(arguments[1]))) {
      it.run();
    } catch (Throwable e) {
      e.printStackTrace();
      code = 1;
    }
    // Hadoop leaves threads behind.
    System.exit(code);
  }
}
