package org.meed.yarn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.ConfigurableResource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;

/**
 * Claims on what is free: of queues whose application master has just started and has asked for
 * nothing yet. An order gives what is free to whoever asks, and a driver that registers some
 * seconds earlier would take all, and keep it for as long as its application runs.
 *
 * <p>While a claim lives, siblings that come after the claimant in the order start nothing that
 * would leave less free than the claims of those before them. A claim ends when the application
 * asks for something, when it is over, and when its time has passed. It is of what the claimant
 * lacks to its share of the cluster, among queues that have applications.
 *
 * <p>The Capacity Scheduler is told by its iterator, which leaves a queue out. The Fair Scheduler
 * offers what is free to every queue in turn, so a queue is held back by its maximum share, which
 * is set back when the claim ends; where an administrator sets another one meanwhile, that stays.
 */
final class Claims {
  /** A claim, with what its queue lacks to its share. */
  private static final class Claim {
    final Queue leaf;
    final long memory;
    final long cores;

    Claim(Queue leaf, long memory, long cores) {
      this.leaf = leaf;
      this.memory = memory;
      this.cores = cores;
    }
  }

  /** A maximum share of ours, and the one that was there. */
  private static final class Cap {
    final ConfigurableResource ours;
    final ConfigurableResource before;

    Cap(ConfigurableResource ours, ConfigurableResource before) {
      this.ours = ours;
      this.before = before;
    }
  }

  private final AbstractYarnScheduler<?, ?> scheduler;
  private volatile List<Claim> claims = List.of();
  private final Map<FSQueue, Cap> caps = new IdentityHashMap<>();
  /** Applications whose first container may have started not long ago. */
  private final Set<ApplicationAttemptId> young = new HashSet<>();

  Claims(AbstractYarnScheduler<?, ?> scheduler) {
    this.scheduler = scheduler;
  }

  /** A container has started. */
  void started(RMContainer container) {
    young.add(container.getApplicationAttemptId());
  }

  /** Looks at who has a claim now. At each tick. O(applications that started something). */
  void refresh(long now, long lasts) {
    List<Claim> found = new ArrayList<>();
    young.removeIf(id -> {
      SchedulerApplicationAttempt attempt = scheduler.getApplicationAttempt(id);
      Queue queue = attempt == null ? null : attempt.getQueue();
      boolean is = queue != null && isYoung(attempt, now, lasts)
          && Asked.by(attempt, false).length == 0;
      // That it is a master is told a moment after it has started.
      if (is && attempt.getLiveContainers().stream().allMatch(RMContainer::isAMContainer)) {
        add(found, queue);
      }
      return !is;
    });
    claims = found;
    if (found.isEmpty()) {
      lift(null);
    }
  }

  /** How many there are. */
  int size() {
    return claims.size();
  }

  /** Nobody is held back any more. */
  void end() {
    claims = List.of();
    lift(null);
  }

  /** Whether all that it has is one container, its master, that started not long ago. */
  private static boolean isYoung(SchedulerApplicationAttempt attempt, long now, long lasts) {
    Collection<RMContainer> live = attempt.getLiveContainers();
    if (live.size() != 1) {
      return false;
    }
    return now - live.iterator().next().getCreationTime() < lasts;
  }

  private void add(List<Claim> to, Queue leaf) {
    Resource all = scheduler.getClusterResource();
    double part = 1;
    for (Queue at = leaf; parent(at) != null; at = parent(at)) {
      double weights = 0;
      for (Queue sibling : children(parent(at))) {
        weights += sibling == at || isActive(sibling) ? Cluster.weightOf(sibling) : 0;
      }
      part *= weights > 0 ? Cluster.weightOf(at) / weights : 0;
    }
    Resource held = held(leaf);
    long memory = (long) (all.getMemorySize() * part) - held.getMemorySize();
    long cores = (long) (all.getVirtualCores() * part) - held.getVirtualCores();
    for (Claim other : to) {
      if (other.leaf == leaf) {
        return;
      }
    }
    if (memory > 0) {
      to.add(new Claim(leaf, memory, Math.max(0, cores)));
    }
  }

  /**
   * Of the Capacity Scheduler: whether a queue is to start nothing now, since what is free is
   * claimed by a sibling before it. {@code comesAfter} says of two siblings whether the first one
   * comes after the second one.
   */
  boolean holdsBack(CSQueue queue, Later<CSQueue> comesAfter) {
    long claimed = 0;
    for (Claim claim : claims) {
      Queue side = sideOf(claim.leaf, queue.getParent());
      if (side != null && side != queue && comesAfter.test(queue, (CSQueue) side)) {
        claimed += claim.memory;
      }
    }
    return claimed > 0 && free().getMemorySize() <= claimed;
  }

  /** Of two siblings, whether the first one comes after the second one. */
  interface Later<T> {
    boolean test(T one, T other);
  }

  /** Of the Fair Scheduler, under its lock: siblings after a claimant are held back. */
  void holdBack(Comparator<Schedulable> order) {
    List<Claim> now = claims;
    if (now.isEmpty() || !(scheduler instanceof FairScheduler)) {
      return;
    }
    Resource free = free();
    Map<FSQueue, long[]> claimed = new IdentityHashMap<>();
    for (Claim claim : now) {
      for (Queue at = claim.leaf; parent(at) != null; at = parent(at)) {
        for (Queue sibling : children(parent(at))) {
          FSQueue other = (FSQueue) sibling;
          if (sibling != at && order.compare(other, (FSQueue) at) > 0) {
            long[] sum = claimed.computeIfAbsent(other, queue -> new long[2]);
            sum[0] += claim.memory;
            sum[1] += claim.cores;
          }
        }
      }
    }
    lift(claimed);
    claimed.forEach((queue, sum) -> cap(queue, free, sum));
  }

  private void cap(FSQueue queue, Resource free, long[] claimed) {
    Resource held = queue.getResourceUsage();
    Resource least = queue.getMinShare();
    long memory = held.getMemorySize() + Math.max(0, free.getMemorySize() - claimed[0]);
    // Cores are not what is scarce where memory is: they only keep to what is there.
    long cores = held.getVirtualCores() + free.getVirtualCores();
    synchronized (caps) {
      Cap known = caps.get(queue);
      ConfigurableResource there = queue.getRawMaxShare();
      ConfigurableResource before = known != null && known.ours == there ? known.before : there;
      Resource most = before.getResource(scheduler.getClusterResource());
      Resource ours = Resource.newInstance(
          Math.min(most.getMemorySize(), Math.max(memory, least.getMemorySize())),
          (int) Math.min(most.getVirtualCores(), Math.max(cores, least.getVirtualCores())));
      Cap cap = new Cap(new ConfigurableResource(ours), before);
      caps.put(queue, cap);
      queue.setMaxShare(cap.ours);
    }
  }

  /** Sets back what is not among these. */
  private void lift(Map<FSQueue, long[]> but) {
    synchronized (caps) {
      caps.entrySet().removeIf(entry -> {
        if (but != null && but.containsKey(entry.getKey())) {
          return false;
        }
        if (entry.getKey().getRawMaxShare() == entry.getValue().ours) {
          entry.getKey().setMaxShare(entry.getValue().before);
        }
        return true;
      });
    }
  }

  private Resource free() {
    Resource all = scheduler.getClusterResource();
    Resource held = held(Cluster.rootOf(scheduler));
    return Resource.newInstance(Math.max(0, all.getMemorySize() - held.getMemorySize()),
        Math.max(0, all.getVirtualCores() - held.getVirtualCores()));
  }

  private static Resource held(Queue queue) {
    return queue instanceof FSQueue ? ((FSQueue) queue).getResourceUsage()
        : ((CSQueue) queue).getQueueResourceUsage().getAllUsed();
  }

  private static boolean isActive(Queue queue) {
    return queue instanceof FSQueue ? ((FSQueue) queue).isActive()
        : ((CSQueue) queue).getNumApplications() > 0;
  }

  private static List<? extends Queue> children(Queue queue) {
    return Cluster.childrenOf(queue);
  }

  private static Queue parent(Queue queue) {
    return queue instanceof FSQueue ? ((FSQueue) queue).getParent()
        : ((CSQueue) queue).getParent();
  }

  /** The child of {@code above} that has {@code leaf} below it, or is it. */
  private static Queue sideOf(Queue leaf, Queue above) {
    for (Queue at = leaf; at != null; at = parent(at)) {
      if (parent(at) == above) {
        return at;
      }
    }
    return null;
  }
}
