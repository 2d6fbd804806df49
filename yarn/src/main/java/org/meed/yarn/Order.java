package org.meed.yarn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;

/**
 * Whose turn it is: the smallest key first, over one snapshot and what is held at this instant.
 *
 * <p>In order: who is starved (the guard's word), who is below its minimum share, the key, who was
 * declared first, the name. A total order: two are never equal, for a set would drop one of them.
 *
 * <p>It runs under the scheduler's lock, where a throw would end the ResourceManager: nothing here
 * throws, locks, or calls the native library.
 */
final class Order implements Comparator<Schedulable> {
  private final Snapshot snapshot;
  private final Row newest;
  /** Ranks of queues with a starved leaf below; null where there is no guard. */
  private final Map<String, Integer> starved;

  Order(Snapshot snapshot, Map<String, Integer> starved) {
    this.snapshot = snapshot;
    this.starved = starved;
    this.newest = snapshot.anyRow();
  }

  @Override
  public int compare(Schedulable a, Schedulable b) {
    if (a == b) {
      return 0;
    }
    Policy.comparisons.increment();
    String nameA = a.getName();
    String nameB = b.getName();
    if (starved != null) {
      int first = Integer.compare(rank(nameA), rank(nameB));
      if (first != 0) {
        return first;
      }
    }
    Resource heldA = a.getResourceUsage();
    Resource heldB = b.getResourceUsage();
    long memoryA = heldA.getMemorySize();
    long memoryB = heldB.getMemorySize();
    int below = belowMinimum(a.getMinShare(), memoryA, b.getMinShare(), memoryB);
    if (below != 0) {
      return below;
    }
    Row rowA = row(a, nameA);
    Row rowB = row(b, nameB);
    if (rowA == null || rowB == null || rowA.dominant != rowB.dominant) {
      // Nothing is known of them: by what they hold.
      return last(Long.compare(memoryA, memoryB), nameA, nameB);
    }
    int key = Row.compare(
        rowA, memoryA, heldA.getVirtualCores(), rowB, memoryB, heldB.getVirtualCores());
    if (key == 0) {
      key = Integer.compare(rowA.number, rowB.number);
    }
    if (key == 0) {
      key = Long.compare(a.getStartTime(), b.getStartTime());
    }
    return last(key, nameA, nameB);
  }

  private static int last(int known, String nameA, String nameB) {
    return known != 0 ? known : nameA.compareTo(nameB);
  }

  private int rank(String name) {
    Integer rank = starved.get(name);
    return rank == null ? Integer.MAX_VALUE : rank;
  }

  /** Who holds less of its minimum comes first; zero where neither is below. */
  private static int belowMinimum(Resource minA, long heldA, Resource minB, long heldB) {
    long a = minA == null ? 0 : minA.getMemorySize();
    long b = minB == null ? 0 : minB.getMemorySize();
    boolean needsA = heldA < a;
    boolean needsB = heldB < b;
    if (needsA && needsB) {
      return Wide.compareProducts(heldA, b, heldB, a);
    }
    return needsA ? -1 : needsB ? 1 : 0;
  }

  /** Of one that came since the tick: nothing is charged but what it holds. */
  private Row row(Schedulable child, String name) {
    Row row = snapshot.row(name);
    if (row != null) {
      return row;
    }
    Row like = null;
    long weight = 1000;
    if (child instanceof FSAppAttempt) {
      like = snapshot.row(((FSAppAttempt) child).getQueueName());
    } else if (child instanceof FSQueue) {
      int dot = name.lastIndexOf('.');
      like = dot < 0 ? null : snapshot.row(name.substring(0, dot));
      weight = Math.round(child.getWeight() * 1000.0);
    }
    like = like == null ? newest : like;
    return like == null ? null : snapshot.newcomer(name, like, weight);
  }

  /** What a leaf asks for and holds now: what the guard must know. */
  interface Leaves {
    /** Tells each leaf that asks for more than it holds. */
    void forEach(Visit visit);

    interface Visit {
      void leaf(String name, long heldMemory, long heldCores);
    }
  }

  /**
   * Ranks of queues by the starvation guard (TSC'18 Algorithm 2): among demanding leaves the one
   * with the smallest key comes first once it has waited long enough. Where it cannot be served,
   * the next one is asked, as long as each of them is starved.
   */
  static Map<String, Integer> starved(Snapshot snapshot, Leaves leaves, long now, Served served) {
    if (snapshot.tWait < 0) {
      return null;
    }
    class Standing {
      Snapshot.Guarded guarded;
      long memory;
      long cores;
    }
    List<Standing> demanding = new ArrayList<>();
    leaves.forEach((name, memory, cores) -> {
      Snapshot.Guarded guarded = snapshot.guarded.get(name);
      if (guarded != null) {
        Standing standing = new Standing();
        standing.guarded = guarded;
        standing.memory = memory;
        standing.cores = cores;
        demanding.add(standing);
      }
    });
    Collections.sort(demanding, (a, b) -> {
      int key = Row.compare(
          a.guarded.row, a.memory, a.cores, b.guarded.row, b.memory, b.cores);
      return key != 0 ? key : Integer.compare(a.guarded.row.number, b.guarded.row.number);
    });
    Map<String, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < demanding.size(); rank++) {
      Snapshot.Guarded guarded = demanding.get(rank).guarded;
      long waited = served.since(guarded.queue, snapshot, now);
      long before = guarded.waited + (now - snapshot.now) * 1000;
      if (Math.min(waited, before) < snapshot.tWait) {
        break;
      }
      String at = guarded.queue;
      while (true) {
        ranks.putIfAbsent(at, rank);
        int dot = at.lastIndexOf('.');
        if (dot < 0) {
          break;
        }
        at = at.substring(0, dot);
      }
    }
    return ranks;
  }

  /** Since when a leaf has not been served. */
  interface Served {
    /** Microseconds since a container started there after the tick; very long where none did. */
    long since(String queue, Snapshot snapshot, long now);
  }
}
