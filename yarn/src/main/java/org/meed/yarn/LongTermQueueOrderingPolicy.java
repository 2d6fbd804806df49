package org.meed.yarn;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.policy.PriorityUtilizationQueueOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.policy.QueueOrderingPolicy;

/**
 * Long-term fairness among the children of a queue of the Capacity Scheduler: {@code
 * yarn.scheduler.capacity.PATH.ordering-policy = org.meed.yarn.LongTermQueueOrderingPolicy}.
 *
 * <p>It needs {@link LedgerMonitor}; where there is no ledger it is the scheduler's own order by
 * utilization. What queues are guaranteed and at most given is the scheduler's business in either
 * case.
 */
public class LongTermQueueOrderingPolicy implements QueueOrderingPolicy {
  private final PriorityUtilizationQueueOrderingPolicy stock =
      new PriorityUtilizationQueueOrderingPolicy(false);
  private volatile List<CSQueue> queues = new ArrayList<>();

  @Override
  public void setQueues(List<CSQueue> given) {
    queues = given;
    stock.setQueues(given);
  }

  @Override
  public Iterator<CSQueue> getAssignmentIterator(String partition) {
    Snapshot snapshot = Policy.snapshot();
    if (snapshot == null) {
      return stock.getAssignmentIterator(partition);
    }
    Policy.orders.increment();
    // The list and what queues hold may change meanwhile: keys are frozen, then sorted.
    List<Standing> standings = new ArrayList<>();
    for (CSQueue queue : new ArrayList<>(queues)) {
      standings.add(new Standing(queue, snapshot));
    }
    Row like = snapshot.anyRow();
    standings.forEach(standing -> standing.ensureRow(snapshot, like));
    standings.sort(ORDER);
    List<CSQueue> order = new ArrayList<>();
    standings.forEach(standing -> order.add(standing.queue));
    return order.iterator();
  }

  /** Children inherit this name, and find the class by it. */
  @Override
  public String getConfigName() {
    return LongTermQueueOrderingPolicy.class.getName();
  }

  /** A queue and its key, frozen. */
  private static final class Standing {
    final CSQueue queue;
    final String name;
    final long memory;
    final long cores;
    Row row;

    Standing(CSQueue queue, Snapshot snapshot) {
      this.queue = queue;
      name = queue.getQueuePath();
      Resource held = queue.getQueueResourceUsage().getAllUsed();
      memory = held.getMemorySize();
      cores = held.getVirtualCores();
      row = snapshot.row(name);
    }

    void ensureRow(Snapshot snapshot, Row like) {
      if (row == null && like != null) {
        row = snapshot.newcomer(name, like, Math.round(queue.getCapacity() * 100_000.0));
      }
    }
  }

  private static final Comparator<Standing> ORDER = (a, b) -> {
    if (a.row == null || b.row == null || a.row.dominant != b.row.dominant) {
      int held = Long.compare(a.memory, b.memory);
      return held != 0 ? held : a.name.compareTo(b.name);
    }
    Policy.comparisons.increment();
    int key = Row.compare(a.row, a.memory, a.cores, b.row, b.memory, b.cores);
    if (key == 0) {
      key = Integer.compare(a.row.number, b.row.number);
    }
    return key != 0 ? key : a.name.compareTo(b.name);
  };
}
