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
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceUsage;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/** What is to be seen of a scheduler, Fair or Capacity; nothing is locked for longer than a copy. */
final class Cluster {
  private final AbstractYarnScheduler<?, ?> scheduler;
  /** All queues of the last look, in the scheduler's own order, and their weights. */
  private Queue[] seen = new Queue[0];
  private double[] weights = new double[0];
  /** The same without the root, in order; and, in the same places, those that are leaves. */
  private List<Settings.Queue> listed = new ArrayList<>();
  private Queue[] leaves = new Queue[0];

  Cluster(AbstractYarnScheduler<?, ?> scheduler) {
    this.scheduler = scheduler;
  }

  /**
   * All queues but the root, parents before their children, siblings by name: the same list as last
   * time where no queue and no weight has changed. Cost: a look at each queue; only where something
   * has changed they are listed and put in order.
   */
  List<Settings.Queue> queues() {
    Iterable<? extends Queue> all = scheduler instanceof FairScheduler
        ? ((FairScheduler) scheduler).getQueueManager().getQueues()
        : ((CapacityScheduler) scheduler).getCapacitySchedulerQueueManager().getQueues().values();
    int count = 0;
    for (Queue queue : all) {
      if (count == seen.length || seen[count] != queue || weights[count] != weightOf(queue)) {
        list(all);
        return listed;
      }
      count++;
    }
    if (count != seen.length) {
      list(all);
    }
    return listed;
  }

  private void list(Iterable<? extends Queue> all) {
    List<Listed> listing = new ArrayList<>();
    List<Queue> met = new ArrayList<>();
    for (Queue queue : all) {
      met.add(queue);
      if (!isRoot(queue)) {
        listing.add(new Listed(queue));
      }
    }
    seen = met.toArray(new Queue[0]);
    weights = met.stream().mapToDouble(Cluster::weightOf).toArray();
    listing.sort(Comparator.comparing((Listed it) -> it.depth).thenComparing(it -> it.as.name));
    listed = new ArrayList<>();
    leaves = new Queue[listing.size()];
    for (Listed it : listing) {
      leaves[listed.size()] = isLeaf(it.queue) ? it.queue : null;
      listed.add(it.as);
    }
  }

  /** A queue, and how deep it lies. */
  private static final class Listed {
    final Queue queue;
    final Settings.Queue as;
    final long depth;

    Listed(Queue queue) {
      this.queue = queue;
      as = new Settings.Queue(fullName(queue), weightOf(queue));
      depth = as.name.chars().filter(c -> c == '.').count();
    }
  }

  private static boolean isRoot(Queue queue) {
    return queue instanceof FSQueue ? ((FSQueue) queue).getParent() == null
        : ((CSQueue) queue).getParent() == null;
  }

  private static boolean isLeaf(Queue queue) {
    if (queue instanceof FSQueue) {
      return queue instanceof FSLeafQueue;
    }
    List<CSQueue> below = ((CSQueue) queue).getChildQueues();
    return below == null || below.isEmpty();
  }

  private static double weightOf(Queue queue) {
    // What a queue of Capacity is entitled to of its parent's: in weight mode and in percent alike.
    return queue instanceof FSQueue ? ((FSQueue) queue).getWeight()
        : ((CSQueue) queue).getCapacity() * 100.0;
  }

  /**
   * Of a leaf that does not hold the same memory and cores by the ledger and by the scheduler, what
   * they say; null where there is none. {@code made} has rows of the queues of the last look.
   */
  String differs(Snapshot made) {
    for (int place = 0; place < leaves.length; place++) {
      Queue leaf = leaves[place];
      Row row = leaf == null ? null : made.row(place);
      if (row == null) {
        continue;
      }
      long memory = heldMemory(leaf);
      long cores = heldCores(leaf);
      if (row.heldMemory != memory || row.heldCores != cores) {
        return fullName(leaf) + ": ledger " + row.heldMemory + " MB and " + row.heldCores
            + " cores, scheduler " + memory + " MB and " + cores + " cores";
      }
    }
    return null;
  }

  /** Mebibytes that containers of a leaf hold. */
  private static long heldMemory(Queue leaf) {
    if (leaf instanceof FSQueue) {
      return memory(((FSQueue) leaf).getResourceUsage());
    }
    ResourceUsage usage = ((CSQueue) leaf).getQueueResourceUsage();
    return memory(usage.getAllUsed()) - memory(usage.getAllReserved());
  }

  /** The same of virtual cores. */
  private static long heldCores(Queue leaf) {
    if (leaf instanceof FSQueue) {
      return cores(((FSQueue) leaf).getResourceUsage());
    }
    ResourceUsage usage = ((CSQueue) leaf).getQueueResourceUsage();
    return cores(usage.getAllUsed()) - cores(usage.getAllReserved());
  }

  private static long memory(Resource resource) {
    return resource == null ? 0 : resource.getMemorySize();
  }

  private static long cores(Resource resource) {
    return resource == null ? 0 : resource.getVirtualCores();
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
    return attempt == null || attempt.getQueue() == null ? null : fullName(attempt.getQueue());
  }

  static String fullName(Queue queue) {
    return queue instanceof CSQueue ? ((CSQueue) queue).getQueuePath()
        : ((FSQueue) queue).getName();
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
