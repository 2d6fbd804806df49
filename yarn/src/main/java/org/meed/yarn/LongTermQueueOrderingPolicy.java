package org.meed.yarn;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceUsage;
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
    // Called whenever the queues are configured.
    Policy.configurationMayHaveChanged();
  }

  @Override
  public Iterator<CSQueue> getAssignmentIterator(String partition) {
    Snapshot snapshot = Policy.snapshot();
    if (snapshot == null) {
      return stock.getAssignmentIterator(partition);
    }
    Policy.orders.increment();
    // The list and what queues hold may change meanwhile: keys are frozen, then ordered.
    Row like = snapshot.anyRow();
    LedgerMonitor monitor = Policy.active();
    Claims claims = monitor == null || monitor.claims().size() == 0 ? null : monitor.claims();
    Map<CSQueue, Key> keys = claims == null ? null : new IdentityHashMap<>();
    Turns<CSQueue> turns = new Turns<>(false);
    for (CSQueue queue : new ArrayList<>(queues)) {
      String name = queue.getQueuePath();
      Row row = snapshot.row(name);
      if (row == null && like != null) {
        long weight = new Settings.Queue(name, Cluster.weightOf(queue)).weight;
        row = snapshot.newcomer(name, like, weight);
      }
      // What is reserved runs nowhere: the ledger does not count it.
      ResourceUsage usage = queue.getQueueResourceUsage();
      Resource held = usage.getAllUsed();
      Resource reserved = usage.getAllReserved();
      Key key = Key.of(row, held.getMemorySize() - reserved.getMemorySize(),
          held.getVirtualCores() - reserved.getVirtualCores(), snapshot);
      if (keys == null) {
        turns.add(queue, name, key);
      } else {
        keys.put(queue, key);
      }
    }
    if (keys != null) {
      Claims.Later<CSQueue> comesAfter = (one, other) -> keys.get(one) != null
          && keys.get(other) != null && Key.compare(keys.get(one), keys.get(other)) > 0;
      keys.forEach((queue, key) -> {
        if (!claims.holdsBack(queue, comesAfter)) {
          turns.add(queue, queue.getQueuePath(), key);
        }
      });
    }
    return turns;
  }

  /** Children inherit this name, and find the class by it. */
  @Override
  public String getConfigName() {
    return LongTermQueueOrderingPolicy.class.getName();
  }
}
