package org.meed.yarn;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;

/**
 * What is counted, in Hadoop's metrics: so JMX and every sink (Prometheus too) shows it. One record
 * {@code MeedLedger}, and one {@code MeedQueue} for each queue.
 */
final class LedgerMetrics implements MetricsSource, AutoCloseable {
  private static final String NAME = "MeedLedger";
  private static final String QUEUE = "MeedQueue,queue=";

  private final LedgerMonitor monitor;
  private final AtomicLong ticks = new AtomicLong();
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong rowsTold = new AtomicLong();
  private final AtomicLong late = new AtomicLong();
  private final AtomicLong missed = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final AtomicLong differences = new AtomicLong();
  private volatile long lastNanos;
  private final Set<String> announced = new HashSet<>();

  LedgerMetrics(LedgerMonitor monitor) {
    this.monitor = monitor;
    MetricsSystem system = DefaultMetricsSystem.instance();
    system.unregisterSource(NAME);
    system.register(NAME, "Long-term fairness of queues", this);
  }

  @Override
  public void close() {
    DefaultMetricsSystem.instance().unregisterSource(NAME);
    for (String name : announced) {
      DefaultMetricsSystem.instance().unregisterSource(QUEUE + name);
    }
    announced.clear();
  }

  void ticked(long tookNanos, Snapshot snapshot) {
    ticks.incrementAndGet();
    nanos.addAndGet(tookNanos);
    lastNanos = tookNanos;
    if (snapshot != null) {
      late.addAndGet(snapshot.late);
      missed.addAndGet(snapshot.missed);
      rowsTold.addAndGet(snapshot.told);
      if (snapshot.whole) {
        announce(snapshot);
      }
    }
  }

  void refused() {
    refusals.incrementAndGet();
  }

  long refusals() {
    return refusals.get();
  }

  void differed() {
    differences.incrementAndGet();
  }

  long differences() {
    return differences.get();
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    MetricsRecordBuilder record = collector.addRecord(NAME);
    counter(record, "Ticks", "Ticks of the ledger", ticks.get());
    counter(record, "TickNanos", "Time in ticks", nanos.get());
    record.addGauge(Interns.info("LastTickNanos", "Time of the last tick"), lastNanos);
    counter(record, "RowsTold", "Rows that ticks told anew", rowsTold.get());
    counter(record, "Orders", "Orders that were asked for", Policy.orders.sum());
    counter(record, "Comparisons", "Pairs that were compared", Policy.comparisons.sum());
    counter(record, "LateEvents", "Events that were told after their time", late.get());
    counter(record, "MissedEvents", "Starts and ends that no event told", missed.get());
    counter(record, "Differences", "Ledger and scheduler differed", differences.get());
    counter(record, "RefusedSettings", "Settings that were refused", refusals.get());
  }

  /** Queues are sources of their own: one source is one bean of JMX. */
  private void announce(Snapshot snapshot) {
    for (String name : snapshot.queues()) {
      if (snapshot.row(name) != null && announced.add(name)) {
        DefaultMetricsSystem.instance().register(
            QUEUE + name, "Long-term fairness of a queue", new OfQueue(name));
      }
    }
  }

  private final class OfQueue implements MetricsSource {
    private final String name;

    OfQueue(String name) {
      this.name = name;
    }

    @Override
    public void getMetrics(MetricsCollector collector, boolean all) {
      Snapshot snapshot = monitor.snapshot();
      Row row = snapshot == null ? null : snapshot.row(name);
      if (row != null) {
        queue(collector.addRecord("MeedQueue"), name, row, snapshot.charged(row));
      }
    }
  }

  private static void queue(
      MetricsRecordBuilder record, String name, Row row, Wide amount) {
    record.tag(Interns.info("Queue", "The queue"), name);
    record.addGauge(Interns.info("HeldMB", "Memory held at the tick"), row.heldMemory);
    record.addGauge(Interns.info("Weight", "Weight among its siblings"), row.weight / 1000.0);
    // Thousandths of a byte x microsecond, or of the scalar that is compared.
    double charged = amount.approximate() / 1e3 / 1e6 / (1 << 20);
    record.addGauge(Interns.info("ChargedMBSeconds", "Memory x time charged"), charged);
    record.addGauge(
        Interns.info("ChargedPerWeight", "The same per weight 1"), charged / row.weight * 1000.0);
    record.addGauge(Interns.info("QuantumSeconds", "What a start is charged"), row.quantum / 1e6);
  }

  private static void counter(MetricsRecordBuilder record, String name, String about, long value) {
    record.addCounter(Interns.info(name, about), value);
  }
}
