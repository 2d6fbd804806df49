package org.meed.yarn;

import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.MeedSeam;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes containers back for a queue that is owed. The native side decides, and its decision is
 * durable when it is told here; this carries it out, as Hadoop's own preemption would: the
 * application is told first, and the container is killed when its grace is over.
 */
final class Reclaimer {
  private static final Logger LOG = LoggerFactory.getLogger(Reclaimer.class);
  private static final String FAIR_PREEMPTION = "yarn.scheduler.fair.preemption";

  private final RMContext rm;
  private final AbstractYarnScheduler<?, ?> scheduler;
  private final Cluster cluster;

  Reclaimer(RMContext rm, AbstractYarnScheduler<?, ?> scheduler, Cluster cluster) {
    this.rm = rm;
    this.scheduler = scheduler;
    this.cluster = cluster;
  }

  /** Two that take containers back would take them from each other's winners. */
  static void ensureAlone(Configuration conf, AbstractYarnScheduler<?, ?> scheduler)
      throws LedgerException {
    String theirs = null;
    if (scheduler instanceof FairScheduler && conf.getBoolean(FAIR_PREEMPTION, false)) {
      theirs = FAIR_PREEMPTION + " is true";
    }
    String policy = ProportionalCapacityPreemptionPolicy.class.getName();
    if (List.of(conf.getTrimmedStrings(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES))
        .contains(policy)) {
      theirs = YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES + " names " + policy;
    }
    if (theirs != null) {
      throw new LedgerException(Settings.POLICY + "reclaim-after takes containers back by what"
          + " queues have used over time, and " + theirs + ", which takes them back by what queues"
          + " hold at this instant: leave one of the two out", false);
    }
  }

  /** What an application asks for, by its identity; who is stopped is told anew what it asks. */
  void look(Ledger ledger, Settings settings, long now, Map<ApplicationId, Asked> asked)
      throws LedgerException {
    Json json = new Json().object().key("take_back").object().key("now").value(now);
    json.key("dry").value(settings.reclaimsDry);
    Json masters = json.key("masters").array();
    for (RMContainer container : cluster.running()) {
      if (container.isAMContainer()) {
        masters.value(container.getContainerId().toString());
      }
    }
    json.endArray().key("held_up").array();
    for (Map.Entry<ApplicationId, SchedulerApplicationAttempt> app
        : cluster.applications().entrySet()) {
      Asked asks = asked.get(app.getKey());
      if (asks != null && app.getValue() != null && !mayStart(app.getValue(), asks)) {
        json.value(app.getKey().toString());
      }
    }
    json.endArray().key("spared").array();
    cluster.spared().forEach(json::value);
    json.endArray().key("floors").array();
    cluster.floors().forEach((queue, least) -> json.array().value(queue)
        .value(least.getMemorySize()).value(least.getVirtualCores()).endArray());
    json.endArray();
    for (String line : ledger.ask(json.endObject().endObject()).split("\n")) {
      if (!line.isEmpty()) {
        carryOut(line.split("\t", 3), asked);
      }
    }
  }

  private static boolean mayStart(SchedulerApplicationAttempt attempt, Asked asks) {
    Resource one = asks.first();
    if (one == null) {
      return true;
    }
    if (attempt instanceof FSAppAttempt) {
      return MeedSeam.mayStart((FSAppAttempt) attempt, one);
    }
    return !(attempt.getQueue() instanceof AbstractLeafQueue)
        || !((AbstractLeafQueue) attempt.getQueue()).getPendingApplications().contains(attempt);
  }

  private void carryOut(String[] words, Map<ApplicationId, Asked> asked) {
    if (words[0].equals("say")) {
      LOG.warn("Reclaim: {}", words[1]);
      return;
    }
    RMContainer container = scheduler.getRMContainer(ContainerId.fromString(words[1]));
    if (container == null) {
      // It has ended: the ledger hears of that by itself.
      return;
    }
    ApplicationAttemptId attempt = container.getApplicationAttemptId();
    if (words[0].equals("mark")) {
      LOG.warn("Reclaim: {}", words[2]);
      mark(attempt, container);
    } else {
      LOG.warn("Reclaim: {} is killed, its grace is over", words[1]);
      Asked asks = asked.get(attempt.getApplicationId());
      if (asks != null) {
        asks.forget();
      }
      kill(attempt, container);
    }
  }

  private void mark(ApplicationAttemptId attempt, RMContainer container) {
    if (scheduler instanceof CapacityScheduler) {
      handle(attempt, container, SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION);
      return;
    }
    SchedulerApplicationAttempt app = scheduler.getApplicationAttempt(attempt);
    if (app instanceof FSAppAttempt) {
      MeedSeam.mark((FSAppAttempt) app, container);
    }
  }

  private void kill(ApplicationAttemptId attempt, RMContainer container) {
    if (scheduler instanceof CapacityScheduler) {
      handle(attempt, container, SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      return;
    }
    // Preempted: an application does not count that as a failure.
    scheduler.completedContainer(container, SchedulerUtils.createPreemptedContainerStatus(
        container.getContainerId(), SchedulerUtils.PREEMPTED_CONTAINER), RMContainerEventType.KILL);
  }

  @SuppressWarnings("unchecked")
  private void handle(ApplicationAttemptId attempt, RMContainer container,
      SchedulerEventType what) {
    rm.getDispatcher().getEventHandler().handle(
        new ContainerPreemptEvent(attempt, container, what));
  }
}
