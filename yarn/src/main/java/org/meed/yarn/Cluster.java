package org.meed.yarn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
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
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;

/** What is to be seen of a scheduler, Fair or Capacity; nothing is locked for longer than a copy. */
final class Cluster {
  private final AbstractYarnScheduler<?, ?> scheduler;
  /** Parents of the last listing, each with its children of then. */
  private Queue[] parents = new Queue[0];
  private Queue[][] children = new Queue[0][];
  /** All queues of it but the root, in order; by the same places: is it a leaf, its weight. */
  private List<Settings.Queue> listed = new ArrayList<>();
  private Queue[] all = new Queue[0];
  private boolean[] leaf = new boolean[0];
  private double[] weights = new double[0];
  /** Weights may be others than those that are listed. */
  private boolean isStale = true;
  /** A refresh goes on: the scheduler tells of it first, and sets weights last. */
  private boolean isRefreshing;
  /** The place that was looked at last. */
  private int turn;

  Cluster(AbstractYarnScheduler<?, ?> scheduler) {
    this.scheduler = scheduler;
  }

  /** Weights may have changed: the next look at queues is a whole one. */
  void mayHaveChanged() {
    isStale = true;
    isRefreshing = true;
  }

  /**
   * All queues but the root, parents before their children, siblings by name: the same list as last
   * time where no queue and no weight has changed. Cost: the children of each parent are compared
   * with those of last time; only where some have changed all are listed and put in order. Weights
   * are looked at where somebody has asked for it, and, in turns, where queues are compared with
   * the ledger ({@link #differing}).
   */
  List<Settings.Queue> queues() {
    if (isStale || !hasSameQueues()) {
      list();
    }
    return listed;
  }

  /** A queue that is new is a child of one that was there. */
  private boolean hasSameQueues() {
    for (int i = 0; i < parents.length; i++) {
      if (!isSame(childrenOf(parents[i]), children[i])) {
        return false;
      }
    }
    return parents.length > 0 && parents[0] == root();
  }

  private static boolean isSame(List<? extends Queue> now, Queue[] before) {
    if (now.size() != before.length) {
      return false;
    }
    for (int i = 0; i < before.length; i++) {
      if (now.get(i) != before[i]) {
        return false;
      }
    }
    return true;
  }

  /** Whether each container has one core, whatever it asked for: Capacity's default. */
  boolean countsContainersAsCores() {
    return scheduler instanceof CapacityScheduler && ((CapacityScheduler) scheduler)
        .getResourceCalculator() instanceof DefaultResourceCalculator;
  }

  private Queue root() {
    return rootOf(scheduler);
  }

  static Queue rootOf(AbstractYarnScheduler<?, ?> scheduler) {
    return scheduler instanceof FairScheduler
        ? ((FairScheduler) scheduler).getQueueManager().getRootQueue()
        : ((CapacityScheduler) scheduler).getRootQueue();
  }

  /** None: it is a leaf. */
  static List<? extends Queue> childrenOf(Queue queue) {
    List<? extends Queue> below = queue instanceof FSQueue ? ((FSQueue) queue).getChildQueues()
        : ((CSQueue) queue).getChildQueues();
    return below == null ? List.of() : below;
  }

  /** Whether it may have children, though it may have none now. */
  private static boolean isParent(Queue queue) {
    return !(queue instanceof FSLeafQueue || queue instanceof AbstractLeafQueue);
  }

  private void list() {
    isStale = isRefreshing;
    isRefreshing = false;
    List<Listed> listing = new ArrayList<>();
    List<Queue> above = new ArrayList<>();
    List<Queue[]> below = new ArrayList<>();
    if (root() != null) {
      above.add(root());
    }
    // The tree is walked level by level; the list grows meanwhile.
    for (int i = 0; i < above.size(); i++) {
      below.add(childrenOf(above.get(i)).toArray(new Queue[0]));
      for (Queue queue : below.get(i)) {
        listing.add(new Listed(queue));
        if (isParent(queue)) {
          above.add(queue);
        }
      }
    }
    parents = above.toArray(new Queue[0]);
    children = below.toArray(new Queue[0][]);
    listing.sort(Comparator.comparing((Listed it) -> it.depth).thenComparing(it -> it.as.name));
    listed = new ArrayList<>();
    listing.forEach(it -> listed.add(it.as));
    all = listing.stream().map(it -> it.queue).toArray(Queue[]::new);
    weights = listing.stream().mapToDouble(it -> it.weight).toArray();
    leaf = new boolean[all.length];
    for (int place = 0; place < all.length; place++) {
      leaf[place] = isLeaf(all[place]);
    }
  }

  /** A queue, and how deep it lies. */
  private static final class Listed {
    final Queue queue;
    final double weight;
    final Settings.Queue as;
    final long depth;

    Listed(Queue queue) {
      this.queue = queue;
      weight = weightOf(queue);
      as = new Settings.Queue(fullName(queue), weight);
      depth = as.name.chars().filter(c -> c == '.').count();
    }
  }

  private static boolean isLeaf(Queue queue) {
    if (queue instanceof FSQueue) {
      return queue instanceof FSLeafQueue;
    }
    List<CSQueue> below = ((CSQueue) queue).getChildQueues();
    return below == null || below.isEmpty();
  }

  static double weightOf(Queue queue) {
    return queue instanceof FSQueue ? ((FSQueue) queue).getWeight() : weightOf((CSQueue) queue);
  }

  /**
   * What a queue of Capacity is entitled to of its parent's, in hundredths, however that is
   * configured: in weight mode Hadoop's {@code getCapacity()} is 0, while the absolute capacity is
   * right in each mode.
   */
  static double weightOf(CSQueue queue) {
    CSQueue parent = queue.getParent();
    float above = parent == null ? 1 : parent.getAbsoluteCapacity();
    return 100.0 * (above > 0 ? queue.getAbsoluteCapacity() / (double) above : queue.getCapacity());
  }

  /**
   * Leaves that do not hold the same memory and cores by the ledger and by the scheduler, by name,
   * with what both say. {@code made} has rows of the queues of the last look.
   *
   * <p>Of all leaves together that is looked at each time; one by one where that differs, though
   * nothing is underway ({@code quiet}); else those of {@code doubted}, and the others in turns.
   * For a look at each leaf costs more than all else of a tick: none of it is at hand.
   */
  Map<String, String> differing(Snapshot made, boolean quiet, Set<String> doubted) {
    Map<String, String> differing = new TreeMap<>();
    boolean each = quiet && !isSameInAll(made);
    int count = all.length;
    int turns = each ? count : Math.min((count + TURNS - 1) / TURNS, LOOKS);
    // Those first: however many others differ, what differs for long is seen to.
    if (!doubted.isEmpty() && !each) {
      for (int place = 0; place < count; place++) {
        if (leaf[place] && doubted.contains(listed.get(place).name)) {
          compare(made, place, differing);
        }
      }
    }
    for (int i = 0; i < turns; i++) {
      turn = turn + 1 < count ? turn + 1 : 0;
      isStale |= weightOf(all[turn]) != weights[turn];
      compare(made, turn, differing);
    }
    return differing;
  }

  private void compare(Snapshot made, int place, Map<String, String> differing) {
    if (leaf[place] && differing.size() < SHOWN) {
      long memory = held(all[place], Resource::getMemorySize);
      long cores = held(all[place], Resource::getVirtualCores);
      if (!made.holds(place, memory, cores)) {
        differing.put(listed.get(place).name, made.held(place) + ", scheduler " + memory
            + " MB and " + cores + " cores");
      }
    }
  }

  /** Whether what the root holds is what the ledger holds of all leaves. */
  private boolean isSameInAll(Snapshot made) {
    long memory = 0;
    long cores = 0;
    for (int place = 0; place < leaf.length; place++) {
      if (leaf[place]) {
        memory += made.heldMemory(place);
        cores += made.heldCores(place);
      }
    }
    Queue root = root();
    return root != null && memory == held(root, Resource::getMemorySize)
        && cores == held(root, Resource::getVirtualCores);
  }

  /** This part of all queues is looked at in a tick. */
  private static final int TURNS = 10;
  /** At most so many in one tick: each is far from all else that a tick looks at. */
  private static final int LOOKS = 250;
  /** So many leaves that differ are told at once: one is enough to look at all containers. */
  private static final int SHOWN = 100;

  /** How much containers of a queue hold, of mebibytes or of virtual cores. */
  private static long held(Queue queue, ToLongFunction<Resource> of) {
    if (queue instanceof FSQueue) {
      return amount(((FSQueue) queue).getResourceUsage(), of);
    }
    ResourceUsage usage = ((CSQueue) queue).getQueueResourceUsage();
    return amount(usage.getAllUsed(), of) - amount(usage.getAllReserved(), of);
  }

  private static long amount(Resource resource, ToLongFunction<Resource> of) {
    return resource == null ? 0 : of.applyAsLong(resource);
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

  /** Leaves of which nothing is taken back, by their own configuration. */
  List<String> spared() {
    List<String> spared = new ArrayList<>();
    for (int place = 0; place < all.length; place++) {
      boolean may = all[place] instanceof FSQueue ? ((FSQueue) all[place]).isPreemptable()
          : !((CSQueue) all[place]).getPreemptionDisabled();
      if (leaf[place] && !may) {
        spared.add(listed.get(place).name);
      }
    }
    return spared;
  }

  /** Minimum shares of queues that have some. */
  Map<String, Resource> floors() {
    Map<String, Resource> floors = new TreeMap<>();
    for (int place = 0; place < all.length; place++) {
      Resource least = all[place] instanceof FSQueue ? ((FSQueue) all[place]).getMinShare() : null;
      if (least != null && (least.getMemorySize() > 0 || least.getVirtualCores() > 0)) {
        floors.put(listed.get(place).name, least);
      }
    }
    return floors;
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
