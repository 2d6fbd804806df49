package org.meed.yarn;

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

  /** Rows older than this are not believed any more. */
  static final long STALE_NANOS = 60_000_000_000L;

  private static volatile LedgerMonitor active;
  private static volatile boolean saidStale;

  private Policy() {}

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
