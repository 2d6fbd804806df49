package org.meed.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

/** Whole masters and nodes, over RPC. */
public class MiniClusterTest {
  private static final String OURS = LongTermFairPolicy.class.getName();

  /** A has all while B is away; then B has all until both are even; then both have a half. */
  @Test(timeout = 300_000)
  public void whatWasLentIsGivenBack() throws Exception {
    try (Mini mini = new Mini().up(1, 2);
        Mini.App a = mini.new App("root.a", 16, 1000)) {
      Mini.await("A has the cluster", 60, () -> a.holds() == 8);
      Thread.sleep(6000);
      try (Mini.App b = mini.new App("root.b", 16, 1000)) {
        Mini.await("B has the cluster", 30, () -> b.holds() == 8 && a.holds() == 0);
        Mini.await("both are even", 60, () -> a.holds() > 0);
        Thread.sleep(4000);
        int sum = 0;
        for (int i = 0; i < 40; i++) {
          sum += a.holds() - b.holds();
          Thread.sleep(100);
        }
        assertTrue("a half each on average, not " + sum / 40.0, Math.abs(sum) < 80);
        Snapshot rows = Mini.rows();
        double gap = charged(rows, "root.a") / charged(rows, "root.b");
        assertEquals("ledgers are even", 1.0, gap, 0.15);
        liveChanges(mini);
      }
    }
  }

  private static double charged(Snapshot rows, String queue) {
    return rows.charged(rows.row(queue)).approximate();
  }

  private static void liveChanges(Mini mini) throws Exception {
    mini.allocations("fair", "a", "b");
    mini.refresh();
    assertEquals("fair", mini.policyOf("root.a"));
    mini.allocations(OURS, "a", "b", "c");
    mini.refresh();
    assertEquals(LongTermFairPolicy.NAME, mini.policyOf("root.c"));
    Mini.await("the new queue has a row", 20, () -> Mini.rows().row("root.c") != null);
    assertTrue(charged(Mini.rows(), "root.a") > 0);
    wrongValues(mini);
  }

  /** yarn-site.xml is edited, queues are refreshed: what is wrong is refused, and all goes on. */
  private static void wrongValues(Mini mini) throws Exception {
    Path site = Path.of(MiniClusterTest.class.getResource("/yarn-site.xml").toURI());
    String right = Files.readString(site);
    LedgerMonitor monitor = Policy.active();
    long refused = monitor.refusals();
    try {
      Files.writeString(site, right.replace("</configuration>", "<property>"
          + "<name>meed.yarn.policy.discount</name><value>7</value></property></configuration>"));
      mini.refresh();
      Mini.await("it is refused", 20, () -> monitor.refusals() > refused);
    } finally {
      Files.writeString(site, right);
    }
    long at = Mini.rows().now;
    Mini.await("the old ones stay", 20, () -> Mini.rows().now > at + 1000);
    assertTrue(Policy.active() == monitor && !monitor.isOver());
  }

  /** Two masters in one process: the ledger goes from one to the other, and on. */
  @Test(timeout = 300_000)
  public void theLedgerSurvivesFailovers() throws Exception {
    try (Mini mini = new Mini().up(2, 1)) {
      Mini.await("a master is active", 60, () -> mini.active() >= 0);
      mini.sleepers("root.a", 3);
      Mini.await("all run", 90, () -> Mini.rows().row("root.a").heldMemory == 3072);
      for (int i = 0; i < 3; i++) {
        Thread.sleep(2000);
        Snapshot last = Mini.rows();
        double before = charged(last, "root.a");
        long at = last.now;
        LedgerMonitor monitor = Policy.active();
        mini.failOver();
        Mini.await("another monitor ticks", 30,
            () -> Policy.active() != monitor && Policy.snapshot() != null);
        Mini.await("the containers are known again", 60,
            () -> Mini.rows().row("root.a").heldMemory == 3072);
        // Containers that are told again are charged their quantum at once, as at a start: until
        // they have run for it, the charge is ahead.
        Mini.await("the quantum has passed", 60, () -> Mini.rows().now > at + 5000);
        // 3 GB held all the time: each millisecond is charged once.
        Snapshot after = Mini.rows();
        double mbMs = 1e6 * (1 << 20);
        double gained = (charged(after, "root.a") - before) / mbMs;
        double ran = 3072.0 * (after.now - at);
        assertEquals("failover " + i, ran, gained, 3072 * 5.0);
      }
      try (var epochs = Files.list(mini.folder.resolve("ledger"))) {
        assertTrue(epochs.filter(path -> path.toString().contains("epoch-")).count() >= 3);
      }
      // Somebody with a higher epoch silences this one, and the master lives.
      Files.createDirectory(mini.folder.resolve("ledger").resolve("epoch-0000000099"));
      Mini.await("the ledger is over", 20, () -> Policy.active() == null);
      assertNull(Policy.snapshot());
      assertTrue(mini.active() >= 0);
    }
  }

  /** The library is another file: stock fair sharing, and the master lives. */
  @Test(timeout = 300_000)
  public void withoutALibraryItIsStockFair() throws Exception {
    Path no = Files.createTempFile("no-library", ".so");
    try (Mini mini = new Mini()) {
      mini.conf.set("meed.yarn.native-library", no.toString());
      Native.forget();
      halves(mini);
    } finally {
      Native.forget();
      Files.delete(no);
    }
  }

  /** The library is of another version than the jar: the same. */
  @Test(timeout = 300_000)
  public void withALibraryOfAnotherVersionItIsStockFair() throws Exception {
    try (Mini mini = new Mini()) {
      Native.speak(Native.PROTOCOL + 1);
      halves(mini);
    } finally {
      Native.speak(Native.PROTOCOL);
    }
  }

  private static void halves(Mini mini) throws Exception {
    mini.up(1, 2);
    try (Mini.App a = mini.new App("root.a", 16, 1000)) {
      Mini.await("A has the cluster", 60, () -> a.holds() == 8);
      try (Mini.App b = mini.new App("root.b", 16, 1000)) {
        Mini.await("a half each", 30, () -> a.holds() == 4 && b.holds() == 4);
      }
      assertNull(Policy.active());
      assertTrue(mini.active() >= 0);
    }
  }

  /** The library panics: the same, from then on. */
  @Test(timeout = 300_000)
  public void afterAPanicItIsStockFair() throws Exception {
    try (Mini mini = new Mini().up(1, 2);
        Mini.App a = mini.new App("root.a", 16, 1000)) {
      Mini.await("A has the cluster", 60, () -> a.holds() == 8);
      Mini.rows();
      LedgerMonitor monitor = Policy.active();
      monitor.panic();
      Mini.await("the ledger is over", 20, monitor::isOver);
      try (Mini.App b = mini.new App("root.b", 16, 1000)) {
        Mini.await("a half each", 30, () -> a.holds() == 4 && b.holds() == 4);
      }
    }
  }
}
