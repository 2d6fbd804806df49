package org.meed.yarn;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.PendingAsk;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** What an application asks for: mostly it is looked at, and is what it was. */
final class Asked {
  private static final int FIELDS = 3;

  /** No request is told as more than this. */
  static final int MOST = 1_000_000;

  /** No look at an application equals it. */
  private static final long[] UNKNOWN = {-1, -1, -1};

  final Queue queue;
  /** Mebibytes, cores and number of each request, in the order of their keys. */
  private long[] asks;

  Asked(Queue queue, long[] asks) {
    this.queue = queue;
    this.asks = asks;
  }

  /** {@code oneCore}: each container is given one core, whatever it asks for. */
  static long[] by(SchedulerApplicationAttempt attempt, boolean oneCore) {
    long[] asks = new long[FIELDS];
    int used = 0;
    for (SchedulerRequestKey key : attempt.getAppSchedulingInfo().getSchedulerKeys()) {
      PendingAsk ask = attempt.getAppSchedulingInfo().getPendingAsk(key);
      if (ask == null || ask.getCount() <= 0) {
        continue;
      }
      if (used == asks.length) {
        asks = Arrays.copyOf(asks, 2 * used);
      }
      Resource one = ask.getPerAllocationResource();
      asks[used++] = one.getMemorySize();
      asks[used++] = oneCore ? 1 : one.getVirtualCores();
      asks[used++] = Math.min(ask.getCount(), MOST);
    }
    return used == asks.length ? asks : Arrays.copyOf(asks, used);
  }

  /** The size of the first request; null where there is none, or it is not known. */
  Resource first() {
    return asks.length == 0 || asks[0] < 0 ? null
        : Resource.newInstance(asks[0], Math.toIntExact(asks[1]));
  }

  /** Whether just these are asked for. */
  boolean isOf(long[] others) {
    return Arrays.equals(asks, others);
  }

  /**
   * A container of that size starts: one less is asked for, which the ledger counts by itself. So
   * an application that is served, and asks for nothing else, has nothing to tell.
   */
  void serve(long memory, long cores) {
    long all = 0;
    int first = -1;
    for (int at = 0; at < asks.length; at += FIELDS) {
      if (asks[at] == memory && asks[at + 1] == cores) {
        all += asks[at + 2];
        first = first < 0 ? at : first;
      }
    }
    if (all > MOST) {
      // The ledger was told fewer.
      forget();
    } else if (first >= 0) {
      asks[first + 2]--;
      asks = asks[first + 2] > 0 ? asks : without(first);
    }
  }

  /** The ledger may hold something else: at the next look it is told anew. */
  void forget() {
    asks = UNKNOWN;
  }

  private long[] without(int at) {
    long[] fewer = Arrays.copyOf(asks, asks.length - FIELDS);
    System.arraycopy(asks, at + FIELDS, fewer, at, fewer.length - at);
    return fewer;
  }

  /** Of each size once: mebibytes, cores, number. */
  Collection<long[]> bySize() {
    Map<String, long[]> sizes = new TreeMap<>();
    for (int at = 0; at < asks.length; at += FIELDS) {
      long memory = asks[at];
      long cores = asks[at + 1];
      sizes.computeIfAbsent(memory + "/" + cores, size -> new long[] {memory, cores, 0})[2]
          += asks[at + 2];
    }
    return sizes.values();
  }
}
