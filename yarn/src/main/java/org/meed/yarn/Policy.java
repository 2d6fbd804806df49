package org.meed.yarn;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the scheduling policies of a process share: the snapshot of the ResourceManager that is
 * active, and what is counted.
 *
 * <p>Hadoop keeps one object of a policy class in a process, also for two ResourceManagers in one;
 * so the snapshot is that of the monitor that ticked last.
 */
final class Policy {
  private static final Logger LOG = LoggerFactory.getLogger(Policy.class);

  /** How many pairs were compared, and how often an order was asked for. */
  static final LongAdder comparisons = new LongAdder();
  static final LongAdder orders = new LongAdder();
  /** Orders count their own pairs, which are added up when the next one is made. */
  private static final AtomicReference<Order> lastOrder = new AtomicReference<>();

  /** Rows older than this are not believed any more. */
  static final long STALE_NANOS = 60_000_000_000L;

  private static volatile LedgerMonitor active;
  private static volatile boolean saidStale;

  private Policy() {}

  /** An order over these rows, counted. */
  static Order order(Snapshot snapshot, Map<String, Integer> starved) {
    orders.increment();
    Order order = new Order(snapshot, starved);
    Order before = lastOrder.getAndSet(order);
    if (before != null) {
      comparisons.add(before.pairs());
    }
    return order;
  }

  static void activate(LedgerMonitor monitor) {
    active = monitor;
  }

  static void deactivate(LedgerMonitor monitor) {
    if (active == monitor) {
      active = null;
    }
  }

  static LedgerMonitor active() {
    return active;
  }

  /** An administrator has asked for queues to be configured again. */
  static void configurationMayHaveChanged() {
    LedgerMonitor monitor = active;
    if (monitor != null) {
      monitor.configurationMayHaveChanged();
    }
  }

  /** Rows to order by; null where stock fair is to decide. */
  static Snapshot snapshot() {
    LedgerMonitor monitor = active;
    Snapshot snapshot = monitor == null ? null : monitor.snapshot();
    if (snapshot == null) {
      return null;
    }
    if (System.nanoTime() - snapshot.madeNanos > Math.max(STALE_NANOS, monitor.staleNanos())) {
      if (!saidStale) {
        saidStale = true;
        LOG.error("The ledger has not ticked for a minute: stock fair sharing decides until it"
            + " does. Is {} still among the monitor policies?", LedgerMonitor.class.getName());
      }
      return null;
    }
    saidStale = false;
    return snapshot;
  }
}
