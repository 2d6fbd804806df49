package org.meed.yarn;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.junit.Test;

/** Containers that do not end are taken back for a queue that is owed, second by second. */
public class ReclaimTest extends VirtualCluster {
  private ApplicationAttemptId borrower;
  private ApplicationAttemptId lender;

  /** A holds all eight for ten seconds and goes on; B asks for eight. */
  private void lend(String ofA) throws Exception {
    keys.putIfAbsent("meed.yarn.policy.reclaim-after", "10s");
    keys.put("meed.yarn.policy.reclaim-min-runtime", "5s");
    keys.put("meed.yarn.policy.reclaim-guard", "30s");
    keys.put("meed.yarn.policy.reclaim-grace", "3s");
    up(OURS, ofA + queue("b"));
    addNode(8192, 64);
    borrower = createSchedulingRequest(1024, "root.a", "u", 8);
    scheduler.update();
    beat(8);
    tick();
    pass(10);
    lender = createSchedulingRequest(1024, "root.b", "u", 8);
    scheduler.update();
    pass(1);
  }

  private void assertHeld(int a, int b) {
    beat(8);
    assertArrayEquals(new int[] {a, b}, new int[] {held(borrower), held(lender)});
  }

  @Test
  public void theLenderHasItsShareAfterTheGrace() throws Exception {
    lend(queue("a"));
    pass(9);
    assertHeld(8, 0);
    // They are told at ten seconds, and have three.
    pass(3);
    assertHeld(8, 0);
    pass(2);
    assertHeld(4, 4);
    pass(60);
    assertHeld(4, 4);
    assertEquals(0, ledger.differences());
    // What was stopped is charged up to its end.
    assertTrue(used("root.a") > 4 * 1024 * 60_000L);
  }

  @Test
  public void aDryRunOnlySays() throws Exception {
    keys.put("meed.yarn.reclaim-dry-run", "true");
    lend(queue("a"));
    pass(40);
    assertHeld(8, 0);
  }

  @Test
  public void itIsOffUnlessItIsAskedFor() throws Exception {
    keys.put("meed.yarn.policy.reclaim-after", "never");
    lend(queue("a"));
    pass(40);
    assertHeld(8, 0);
  }

  @Test
  public void whoMayNotBePreemptedIsSparedAndMinimumsAreKept() throws Exception {
    lend("<queue name=\"a\"><allowPreemptionFrom>false</allowPreemptionFrom></queue>");
    pass(40);
    assertHeld(8, 0);
    down();
    lend("<queue name=\"a\"><minResources>6144 mb,0 vcores</minResources></queue>");
    pass(40);
    assertHeld(6, 2);
  }

  @Test
  public void hadoopsOwnPreemptionBesideItIsRefused() throws Exception {
    keys.put("yarn.scheduler.fair.preemption", "true");
    try {
      lend(queue("a"));
    } catch (YarnRuntimeException e) {
      assertTrue(e.getMessage(), e.getMessage().contains("yarn.scheduler.fair.preemption is true"));
      return;
    }
    fail("both are on");
  }
}
