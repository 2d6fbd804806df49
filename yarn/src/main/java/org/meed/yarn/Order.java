package org.meed.yarn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;

/**
 * Whose turn it is: the smallest key first, over one snapshot and what is held at this instant.
 *
 * <p>In order: who is starved (the guard's word), who is below its minimum share, who asks for
 * anything at all, the key, who was served longest ago as of the tick, who was declared first, the
 * name. A total order: two are never equal, for a set would drop one of them.
 *
 * <p>Each child is looked at once, when it is first compared, so that it does not move while a set
 * is made of it; a set asks of one new child again and again, so the last one is kept at hand. One
 * order is used by one thread.
 *
 * <p>It runs under the scheduler's lock, where a throw would end the ResourceManager: nothing here
 * throws, locks, or calls the native library.
 */
final class Order implements Comparator<Schedulable> {
  private final Snapshot snapshot;
  private final Row newest;
  /** Ranks of queues with a starved leaf below; null where there is no guard. */
  private final Map<String, Integer> starved;
  private final Map<Schedulable, Standing> standings = new IdentityHashMap<>();
  private Standing last;
  private long pairs;

  Order(Snapshot snapshot, Map<String, Integer> starved) {
    this.snapshot = snapshot;
    this.starved = starved;
    this.newest = snapshot.anyRow();
  }

  /** A child as it was when it was looked at. */
  private static final class Standing {
    final Schedulable of;
    final String name;
    final int rank;
    /** What it is to have at least, as far as it wants that. */
    final long minimum;
    final boolean isBelow;
    final boolean isIdle;
    final Key key;

    Standing(Schedulable of, int rank, Row row, Snapshot in) {
      this.of = of;
      this.rank = rank;
      name = of.getName();
      Resource held = of.getResourceUsage();
      Resource least = of.getMinShare();
      Resource wanted = of.getDemand();
      minimum = least == null ? 0 : Math.min(least.getMemorySize(), wanted.getMemorySize());
      isBelow = held.getMemorySize() < minimum;
      isIdle = wanted.getMemorySize() == 0 && wanted.getVirtualCores() == 0;
      key = Key.of(row, held.getMemorySize(), held.getVirtualCores(), in);
    }
  }

  @Override
  public int compare(Schedulable one, Schedulable other) {
    if (one == other) {
      return 0;
    }
    pairs++;
    Standing a = last;
    if (a == null || a.of != one) {
      a = standing(one);
      last = a;
    }
    Standing b = standing(other);
    if (a.rank != b.rank) {
      return a.rank < b.rank ? -1 : 1;
    }
    if (a.isBelow || b.isBelow) {
      int below = below(a, b);
      if (below != 0) {
        return below;
      }
    }
    if (a.isIdle != b.isIdle) {
      return a.isIdle ? 1 : -1;
    }
    int known = Key.compare(a.key, b.key);
    if (known == 0) {
      known = Long.compare(one.getStartTime(), other.getStartTime());
    }
    return known != 0 ? known : a.name.compareTo(b.name);
  }

  private Standing standing(Schedulable of) {
    Standing known = standings.get(of);
    if (known == null) {
      String name = of.getName();
      known = new Standing(of, starved == null ? 0 : rank(name), row(of, name), snapshot);
      standings.put(of, known);
    }
    return known;
  }

  /** How many pairs were compared. */
  long pairs() {
    return pairs;
  }

  private int rank(String name) {
    Integer rank = starved.get(name);
    return rank == null ? Integer.MAX_VALUE : rank;
  }

  /** Who holds less of its minimum comes first; one of them is below. */
  private static int below(Standing a, Standing b) {
    if (a.isBelow && b.isBelow) {
      return Wide.compareProducts(a.key.memory, b.minimum, b.key.memory, a.minimum);
    }
    return a.isBelow ? -1 : 1;
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
   * that has used least of what it is entitled to, as a part of the root, comes first once it has
   * waited long enough. Where it cannot be served, the next one is asked, as long as each of them
   * is starved.
   */
  static Map<String, Integer> starved(Snapshot snapshot, Leaves leaves, long now, Served served) {
    if (snapshot.tWait < 0) {
      return null;
    }
    class Leaf {
      Snapshot.Guarded guarded;
      Key key;
    }
    List<Leaf> demanding = new ArrayList<>();
    leaves.forEach((name, memory, cores) -> {
      Snapshot.Guarded guarded = snapshot.guarded(name);
      if (guarded != null) {
        Leaf leaf = new Leaf();
        leaf.guarded = guarded;
        leaf.key = Key.of(guarded.row, memory, cores, snapshot);
        demanding.add(leaf);
      }
    });
    Collections.sort(demanding, (a, b) ->
        Entitlement.compare(a.key, a.guarded.entitled, b.key, b.guarded.entitled));
    Map<String, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < demanding.size(); rank++) {
      Snapshot.Guarded guarded = demanding.get(rank).guarded;
      long waited = served.since(guarded.queue, snapshot, now);
      long before = (now - guarded.since / 1000) * 1000;
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
