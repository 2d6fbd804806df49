package org.meed.yarn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.PendingAsk;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** What is to be seen of a scheduler, Fair or Capacity; nothing is locked for longer than a copy. */
final class Cluster {
  private final AbstractYarnScheduler<?, ?> scheduler;

  Cluster(AbstractYarnScheduler<?, ?> scheduler) {
    this.scheduler = scheduler;
  }

  /** All queues but the root, parents before their children, siblings by name. */
  List<Settings.Queue> queues() {
    List<Settings.Queue> queues = new ArrayList<>();
    if (scheduler instanceof FairScheduler) {
      for (FSQueue queue : ((FairScheduler) scheduler).getQueueManager().getQueues()) {
        if (queue.getParent() != null) {
          queues.add(new Settings.Queue(queue.getName(), queue.getWeight()));
        }
      }
    } else if (scheduler instanceof CapacityScheduler) {
      CapacityScheduler capacity = (CapacityScheduler) scheduler;
      for (CSQueue queue : capacity.getCapacitySchedulerQueueManager().getQueues().values()) {
        if (queue.getParent() != null) {
          // What the queue is entitled to of its parent's: in weight mode and in percent alike.
          double weight = queue.getCapacity() * 100.0;
          queues.add(new Settings.Queue(queue.getQueuePath(), weight));
        }
      }
    }
    queues.sort(Comparator.comparing((Settings.Queue queue) -> depth(queue.name))
        .thenComparing(queue -> queue.name));
    return queues;
  }

  private static long depth(String name) {
    return name.chars().filter(c -> c == '.').count();
  }

  /** What each leaf holds, by its full name: mebibytes. */
  Map<String, Long> heldByLeaves() {
    Map<String, Long> held = new TreeMap<>();
    if (scheduler instanceof FairScheduler) {
      for (FSQueue queue : ((FairScheduler) scheduler).getQueueManager().getLeafQueues()) {
        held.put(queue.getName(), memory(queue.getResourceUsage()));
      }
    } else if (scheduler instanceof CapacityScheduler) {
      CapacityScheduler capacity = (CapacityScheduler) scheduler;
      for (CSQueue queue : capacity.getCapacitySchedulerQueueManager().getQueues().values()) {
        if (queue.getChildQueues() == null || queue.getChildQueues().isEmpty()) {
          held.put(queue.getQueuePath(), memory(queue.getQueueResourceUsage().getAllUsed())
              - memory(queue.getQueueResourceUsage().getAllReserved()));
        }
      }
    }
    return held;
  }

  private static long memory(Resource resource) {
    return resource == null ? 0 : resource.getMemorySize();
  }

  /** Leaves of the Fair Scheduler that ask for more than they hold. */
  void demanding(Order.Leaves.Visit visit) {
    if (!(scheduler instanceof FairScheduler)) {
      return;
    }
    for (FSQueue queue : ((FairScheduler) scheduler).getQueueManager().getLeafQueues()) {
      Resource held = queue.getResourceUsage();
      Resource wanted = queue.getDemand();
      long memory = held.getMemorySize();
      if (wanted.getMemorySize() > memory || wanted.getVirtualCores() > held.getVirtualCores()) {
        visit.leaf(queue.getName(), memory, held.getVirtualCores());
      }
    }
  }

  /** Nodes by name: mebibytes, cores. */
  Map<String, long[]> nodes() {
    Map<String, long[]> nodes = new TreeMap<>();
    Collection<? extends SchedulerNode> all = scheduler.getNodeTracker().getAllNodes();
    for (SchedulerNode node : all) {
      Resource total = node.getTotalResource();
      nodes.put(node.getNodeID().toString(),
          new long[] {total.getMemorySize(), total.getVirtualCores()});
    }
    return nodes;
  }

  /** Attempts of all applications, by their identity. */
  Map<ApplicationId, SchedulerApplicationAttempt> applications() {
    Map<ApplicationId, SchedulerApplicationAttempt> attempts = new TreeMap<>();
    for (Map.Entry<ApplicationId, ? extends SchedulerApplication<?>> entry
        : scheduler.getSchedulerApplications().entrySet()) {
      attempts.put(entry.getKey(), entry.getValue().getCurrentAppAttempt());
    }
    return attempts;
  }

  /** The full name of an attempt's leaf; null where it has none. */
  String queueOf(SchedulerApplicationAttempt attempt) {
    if (attempt == null || attempt.getQueue() == null) {
      return null;
    }
    if (scheduler instanceof CapacityScheduler) {
      return ((CSQueue) attempt.getQueue()).getQueuePath();
    }
    return ((FSQueue) attempt.getQueue()).getName();
  }

  /** What an attempt asks for, of each size once: (mebibytes, cores) to a number. */
  static Map<String, long[]> asks(SchedulerApplicationAttempt attempt) {
    Map<String, long[]> asks = new TreeMap<>();
    for (SchedulerRequestKey key : attempt.getAppSchedulingInfo().getSchedulerKeys()) {
      PendingAsk ask = attempt.getAppSchedulingInfo().getPendingAsk(key);
      if (ask == null || ask.getCount() <= 0) {
        continue;
      }
      long memory = ask.getPerAllocationResource().getMemorySize();
      long cores = ask.getPerAllocationResource().getVirtualCores();
      asks.computeIfAbsent(memory + "/" + cores, size -> new long[] {memory, cores, 0})[2]
          += ask.getCount();
    }
    return asks;
  }

  /** Containers that hold something. */
  List<RMContainer> running() {
    List<RMContainer> running = new ArrayList<>();
    for (SchedulerApplicationAttempt attempt : applications().values()) {
      if (attempt != null) {
        for (RMContainer container : attempt.getLiveContainers()) {
          if (container.getState() != RMContainerState.RESERVED) {
            running.add(container);
          }
        }
      }
    }
    return running;
  }
}
