package org.meed.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import java.io.File;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.junit.After;
import org.junit.Test;

/** A queue whose master has just started keeps a claim on what is free, on both schedulers. */
public class ClaimsTest {
  private MockRM master;

  @After
  public void down() {
    Policy.deactivate(Policy.active());
    if (master != null) {
      master.stop();
    }
  }

  private static YarnConfiguration fair() throws Exception {
    File file = File.createTempFile("fair-scheduler", ".xml");
    file.deleteOnExit();
    try (PrintWriter out = new PrintWriter(file)) {
      out.print("<?xml version=\"1.0\"?><allocations><queue name=\"a\"/><queue name=\"b\"/>"
          + "<queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault><defaultQueueSchedulingPolicy>"
          + LongTermFairPolicy.class.getName() + "</defaultQueueSchedulingPolicy></allocations>");
    }
    YarnConfiguration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, FairScheduler.class, ResourceScheduler.class);
    conf.setBoolean("yarn.resourcemanager.scheduler.monitor.enable", false);
    conf.set("yarn.scheduler.fair.allocation.file", file.getAbsolutePath());
    // It knows of a demand when it has looked.
    conf.set("yarn.scheduler.fair.update-interval-ms", "20");
    conf.set("yarn.resource-types.memory-mb.increment-allocation", "1024");
    conf.set("meed.yarn.policy.quantum", "1s");
    return conf;
  }

  private List<Container> take(MockAM app, MockNM node, int beats) throws Exception {
    List<Container> got = new ArrayList<>();
    for (int i = 0; i < beats; i++) {
      Thread.sleep(50);
      node.nodeHeartbeat(true);
      master.drainEvents();
      got.addAll(app.allocate(new ArrayList<>(), new ArrayList<>()).getAllocatedContainers());
    }
    return got;
  }

  /**
   * A holds eight of ten and its master one. B's master starts, and asks for nothing yet; A gives
   * back its eight, and asks for eight again. How many it gets at once, and when the claim is over.
   */
  private int[] race(YarnConfiguration conf, String claim) throws Exception {
    conf.set("meed.yarn.claim-ms", claim);
    master = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.ERROR);
    master.start();
    MockNM node = master.registerNode("127.0.0.1:1234", 10 * 1024, 100);
    LedgerMonitor ledger = new LedgerMonitor();
    ledger.init(conf, master.getRMContext(), master.getResourceScheduler());
    ledger.editSchedule();
    assertFalse(ledger.isOver());
    MockAM a = CapacityTest.applicationOf(master, node, "a");
    a.allocate("*", 1024, 8, new ArrayList<>());
    List<Container> held = take(a, node, 12);
    assertEquals(8, held.size());
    Thread.sleep(1500);
    CapacityTest.applicationOf(master, node, "b");
    // An end is told a moment later than it happens.
    Thread.sleep(50);
    ledger.editSchedule();
    assertEquals(claim.equals("0") ? 0 : 1, ledger.claims().size());
    List<ContainerId> back = new ArrayList<>();
    held.forEach(container -> back.add(container.getId()));
    a.allocate(new ArrayList<>(), back);
    a.allocate("*", 1024, 8, new ArrayList<>());
    master.drainEvents();
    int atOnce = take(a, node, 12).size();
    if (!claim.equals("0")) {
      Thread.sleep(Long.parseLong(claim));
    }
    ledger.editSchedule();
    assertEquals(0, ledger.claims().size());
    if (master.getResourceScheduler() instanceof FairScheduler) {
      Resource most = ((FairScheduler) master.getResourceScheduler()).getQueueManager()
          .getLeafQueue("root.a", false).getMaxShare();
      assertEquals("its own maximum again", Integer.MAX_VALUE, most.getVirtualCores());
    }
    return new int[] {atOnce, atOnce + take(a, node, 12).size()};
  }

  /** B lacks four of its five: so many stay free until its claim is over. */
  private void assertRaces(YarnConfiguration without, YarnConfiguration with) throws Exception {
    int[] free = race(without, "0");
    assertEquals(8, free[0]);
    down();
    int[] claimed = race(with, "6000");
    assertEquals("4, then 8, not " + claimed[0] + ", then " + claimed[1],
        408, 100 * claimed[0] + claimed[1]);
  }

  @Test
  public void ofTheFairScheduler() throws Exception {
    assertRaces(fair(), fair());
  }

  @Test
  public void ofTheCapacityScheduler() throws Exception {
    String ours = LongTermQueueOrderingPolicy.class.getName();
    assertRaces(CapacityTest.configured(ours, null), CapacityTest.configured(ours, null));
  }
}
