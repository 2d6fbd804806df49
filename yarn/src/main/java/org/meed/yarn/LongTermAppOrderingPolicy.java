package org.meed.yarn;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.IteratorSelector;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.OrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.SchedulableEntity;

/**
 * Long-term fairness among the applications of a leaf of the Capacity Scheduler: {@code
 * yarn.scheduler.capacity.PATH.ordering-policy = org.meed.yarn.LongTermAppOrderingPolicy}.
 *
 * <p>The application that has been charged least comes first. Priorities of applications are not
 * looked at, as in the scheduler's own {@code fair}. It needs {@link LedgerMonitor}; where there is
 * no ledger it is the scheduler's default, {@code fifo}. The order is made anew each time it is
 * asked for, since keys change with time: nothing is kept sorted by what may move.
 */
public class LongTermAppOrderingPolicy<S extends SchedulableEntity> implements OrderingPolicy<S> {
  private final FifoOrderingPolicy<S> stock = new FifoOrderingPolicy<>();

  @Override
  public Iterator<S> getAssignmentIterator(IteratorSelector selector) {
    Iterator<S> turns = turns(false);
    return turns != null ? turns : stock.getAssignmentIterator(selector);
  }

  @Override
  public Iterator<S> getPreemptionIterator() {
    Iterator<S> turns = turns(true);
    return turns != null ? turns : stock.getPreemptionIterator();
  }

  /** Null where there is no ledger. */
  private Iterator<S> turns(boolean lastFirst) {
    Snapshot snapshot = Policy.snapshot();
    if (snapshot == null) {
      return null;
    }
    Policy.orders.increment();
    Row like = snapshot.anyRow();
    Turns<S> turns = new Turns<>(lastFirst);
    for (S app : stock.getSchedulableEntities()) {
      Resource held = app.getSchedulingResourceUsage().getAllUsed();
      String name = app.getId();
      Row row = snapshot.row(name);
      if (row == null && like != null) {
        row = snapshot.newcomer(name, like, 1000);
      }
      Key key = Key.of(row, held.getMemorySize(), held.getVirtualCores(), snapshot);
      turns.add(app, name, key);
    }
    return turns;
  }

  @Override
  public Collection<S> getSchedulableEntities() {
    return stock.getSchedulableEntities();
  }

  @Override
  public void addSchedulableEntity(S app) {
    stock.addSchedulableEntity(app);
  }

  @Override
  public boolean removeSchedulableEntity(S app) {
    return stock.removeSchedulableEntity(app);
  }

  @Override
  public void addAllSchedulableEntities(Collection<S> apps) {
    stock.addAllSchedulableEntities(apps);
  }

  @Override
  public int getNumSchedulableEntities() {
    return stock.getNumSchedulableEntities();
  }

  @Override
  public void configure(Map<String, String> conf) {
    stock.configure(conf);
    // Called whenever the queues are configured.
    Policy.configurationMayHaveChanged();
  }

  @Override
  public void containerAllocated(S app, RMContainer container) {
    stock.containerAllocated(app, container);
  }

  @Override
  public void containerReleased(S app, RMContainer container) {
    stock.containerReleased(app, container);
  }

  @Override
  public void demandUpdated(S app) {
    stock.demandUpdated(app);
  }

  @Override
  public String getInfo() {
    return "LongTermAppOrderingPolicy";
  }

  /** The scheduler finds the class by it. */
  @Override
  public String getConfigName() {
    return LongTermAppOrderingPolicy.class.getName();
  }
}
