package org.meed.yarn;

import java.util.Collection;
import java.util.Comparator;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSContext;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.SchedulingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.policies.FairSharePolicy;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;

/**
 * Long-term fairness among the children of a queue of the Fair Scheduler: queues, or applications
 * of a leaf. {@code <schedulingPolicy>org.meed.yarn.LongTermFairPolicy</schedulingPolicy>}.
 *
 * <p>It needs {@link LedgerMonitor}. Where there is no ledger it is stock fair sharing. Shares, for
 * the web page and for preemption, are those of stock fair sharing in either case.
 */
public class LongTermFairPolicy extends SchedulingPolicy {
  /** What REST and web pages show. */
  public static final String NAME = "long-term-fair";

  private SchedulingPolicy stock;

  private SchedulingPolicy stock() {
    // Not in the constructor: an object is made and thrown away at every parse of the file.
    SchedulingPolicy known = stock;
    if (known == null) {
      known = new FairSharePolicy();
      stock = known;
    }
    return known;
  }

  @Override
  public void initialize(FSContext context) {
    stock().initialize(context);
    // Called again for each queue whenever the allocation file is read.
    Policy.configurationMayHaveChanged();
  }

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public ResourceCalculator getResourceCalculator() {
    return stock().getResourceCalculator();
  }

  @Override
  public Comparator<Schedulable> getComparator() {
    Snapshot snapshot = Policy.snapshot();
    if (snapshot == null) {
      return stock().getComparator();
    }
    LedgerMonitor monitor = Policy.active();
    if (monitor != null && monitor.claims().size() > 0) {
      monitor.claims().holdBack(new Order(snapshot, monitor.starved(snapshot)));
    }
    return Policy.order(snapshot, monitor == null ? null : monitor.starved(snapshot));
  }

  @Override
  public void computeShares(Collection<? extends Schedulable> schedulables, Resource total) {
    stock().computeShares(schedulables, total);
  }

  @Override
  public void computeSteadyShares(Collection<? extends FSQueue> queues, Resource total) {
    stock().computeSteadyShares(queues, total);
  }

  @Override
  public boolean checkIfUsageOverFairShare(Resource usage, Resource fairShare) {
    return stock().checkIfUsageOverFairShare(usage, fairShare);
  }

  /**
   * All that is free. Stock fair sharing says: as much as is left of the share; an application
   * master whose queue is ahead would then give up running work to make room.
   */
  @Override
  public Resource getHeadroom(Resource queueFairShare, Resource queueUsage, Resource maxAvailable) {
    return Resource.newInstance(maxAvailable);
  }
}
