package org.meed.yarn;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.apache.hadoop.yarn.util.resource.DominantResourceCalculator;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.junit.After;
import org.junit.Test;

/** The real Capacity Scheduler, with the same ledger. */
public class CapacityTest {
  private MockRM master;

  @After
  public void down() {
    Policy.deactivate(Policy.active());
    if (master != null) {
      master.stop();
    }
  }

  /** Orders of the root's children, and of the applications of each leaf; null: the default. */
  static YarnConfiguration configured(String ofQueues, String ofApplications) {
    YarnConfiguration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CapacityScheduler.class, ResourceScheduler.class);
    conf.setBoolean("yarn.resourcemanager.scheduler.monitor.enable", false);
    String prefix = "yarn.scheduler.capacity.";
    // Since Hadoop 3.5 it places without waiting for a node, which no step of a test could follow.
    conf.setBoolean(prefix + "schedule-asynchronously.enable", false);
    conf.set(prefix + "root.queues", "a,b");
    conf.set(prefix + "maximum-am-resource-percent", "1.0");
    for (String queue : new String[] {"a", "b"}) {
      conf.set(prefix + "root." + queue + ".capacity", "50");
      conf.set(prefix + "root." + queue + ".maximum-capacity", "100");
      conf.set(prefix + "root." + queue + ".user-limit-factor", "100");
      if (ofApplications != null) {
        conf.set(prefix + "root." + queue + ".ordering-policy", ofApplications);
      }
    }
    if (ofQueues != null) {
      conf.set(prefix + "root.ordering-policy", ofQueues);
    }
    conf.set("meed.yarn.policy.quantum", "1s");
    return conf;
  }

  /** Of a queue by its short name, with either scheduler. */
  static MockAM applicationOf(MockRM master, MockNM node, String queue) throws Exception {
    boolean capacity = master.getResourceScheduler() instanceof CapacityScheduler;
    return application(master, node, capacity ? queue : "root." + queue);
  }

  private static MockAM application(MockRM master, MockNM node, String queue) throws Exception {
    RMApp app = MockRMAppSubmitter.submit(master, MockRMAppSubmissionData.Builder
        .createWithMemory(1024, master).withAppName(queue).withUser("u").withQueue(queue)
        .withAcls(null).withUnmanagedAM(false).build());
    return MockRM.launchAndRegisterAM(app, master, node);
  }

  private List<Container> take(MockAM app, MockNM node, int beats) throws Exception {
    List<Container> got = new ArrayList<>();
    for (int i = 0; i < beats; i++) {
      node.nodeHeartbeat(true);
      master.drainEvents();
      got.addAll(app.allocate(new ArrayList<>(), new ArrayList<>()).getAllocatedContainers());
    }
    return got;
  }

  private LedgerMonitor ledger(YarnConfiguration conf) {
    LedgerMonitor ledger = new LedgerMonitor();
    ledger.init(conf, master.getRMContext(), master.getResourceScheduler());
    ledger.editSchedule();
    assertFalse(ledger.isOver());
    return ledger;
  }

  /**
   * The first holds all for some seconds, then gives all back while both ask for more. They are in
   * these queues.
   */
  private int[] lend(YarnConfiguration conf, boolean ours, String ofFirst, String ofSecond)
      throws Exception {
    master = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.ERROR);
    master.start();
    MockNM node = master.registerNode("127.0.0.1:1234", 10 * 1024, 100);
    MockAM a = application(master, node, ofFirst);
    MockAM b = application(master, node, ofSecond);
    LedgerMonitor ledger = ours ? ledger(conf) : null;
    a.allocate("*", 1024, 8, new ArrayList<>());
    List<Container> held = take(a, node, 10);
    assertEquals(8, held.size());
    Thread.sleep(3000);
    if (ours) {
      ledger.editSchedule();
      Thread.sleep(50);
      ledger.editSchedule();
      long masters = ofFirst.equals(ofSecond) ? 2 : 1;
      assertEquals((8 + masters) * 1024, Policy.snapshot().row("root." + ofFirst).heldMemory);
    }
    List<ContainerId> back = new ArrayList<>();
    held.forEach(container -> back.add(container.getId()));
    b.allocate("*", 1024, 8, new ArrayList<>());
    a.allocate("*", 1024, 8, Collections.emptyList());
    a.allocate(new ArrayList<>(), back);
    master.drainEvents();
    for (int i = 0; i < 10; i++) {
      node.nodeHeartbeat(true);
      master.drainEvents();
    }
    return new int[] {
      a.allocate(new ArrayList<>(), new ArrayList<>()).getAllocatedContainers().size(),
      b.allocate(new ArrayList<>(), new ArrayList<>()).getAllocatedContainers().size()};
  }

  private static final String QUEUES = LongTermQueueOrderingPolicy.class.getName();
  private static final String APPS = LongTermAppOrderingPolicy.class.getName();

  @Test
  public void itsOwnOrderSplits() throws Exception {
    assertArrayEquals(new int[] {4, 4}, lend(configured(null, null), false, "a", "b"));
  }

  @Test
  public void theLenderComesFirst() throws Exception {
    assertArrayEquals(new int[] {0, 8}, lend(configured(QUEUES, null), true, "a", "b"));
  }

  @Test
  public void withinALeafTheFirstComesFirst() throws Exception {
    assertArrayEquals(new int[] {8, 0}, lend(configured(null, null), false, "a", "a"));
  }

  @Test
  public void withinALeafTheSchedulersOwnFairOrderSplits() throws Exception {
    assertArrayEquals(new int[] {4, 4}, lend(configured(null, "fair"), false, "a", "a"));
  }

  @Test
  public void withinALeafWhoWaitedComesFirst() throws Exception {
    assertArrayEquals(new int[] {0, 8}, lend(configured(QUEUES, APPS), true, "a", "a"));
  }

  /** Without a ledger it is the default, and applications are not lost. */
  @Test
  public void withoutALedgerALeafIsFirstInFirstOut() throws Exception {
    assertArrayEquals(new int[] {8, 0}, lend(configured(QUEUES, APPS), false, "a", "a"));
  }

  /** Rows' weights of two queues of these capacities, in thousandths of a hundredth. */
  private long[] weights(String ofA, String ofB) throws Exception {
    YarnConfiguration conf = configured(QUEUES, null);
    conf.set("yarn.scheduler.capacity.root.a.capacity", ofA);
    conf.set("yarn.scheduler.capacity.root.b.capacity", ofB);
    for (String queue : new String[] {"a", "b"}) {
      // As a percentage it is refused beside absolute amounts.
      conf.unset("yarn.scheduler.capacity.root." + queue + ".maximum-capacity");
    }
    master = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.ERROR);
    master.start();
    MockNM node = master.registerNode("127.0.0.1:1234", 8 * 1024, 8);
    application(master, node, "a");
    application(master, node, "b");
    LedgerMonitor ledger = ledger(conf);
    ledger.editSchedule();
    return new long[] {
      Policy.snapshot().row("root.a").weight, Policy.snapshot().row("root.b").weight};
  }

  @Test
  public void percentagesAreWeights() throws Exception {
    assertArrayEquals(new long[] {75_000, 25_000}, weights("75", "25"));
  }

  /** In this mode Hadoop says that the capacity of each queue is 0. */
  @Test
  public void weightsAreWeights() throws Exception {
    assertArrayEquals(new long[] {75_000, 25_000}, weights("3w", "1w"));
  }

  @Test
  public void absoluteAmountsAreWeights() throws Exception {
    assertArrayEquals(new long[] {75_000, 25_000},
        weights("[memory=6144,vcores=6]", "[memory=2048,vcores=2]"));
  }

  /** What is said of cores under a key of the policy, with a calculator of the scheduler's. */
  private String doubtOf(String key, String value, Class<?> calculator) throws Exception {
    YarnConfiguration conf = configured(QUEUES, null);
    conf.set("meed.yarn.policy." + key, value);
    conf.set("yarn.scheduler.capacity.resource-calculator", calculator.getName());
    master = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.ERROR);
    master.start();
    String doubt = ledger(conf).doubt();
    down();
    return doubt;
  }

  @Test
  public void coresThatAreContainersAreDoubted() throws Exception {
    Class<?> usual = DefaultResourceCalculator.class;
    for (String[] key : new String[][] {{"resource", "cpu"}, {"order", "long-term-drf"}}) {
      String doubt = doubtOf(key[0], key[1], usual);
      assertTrue(doubt, doubt.contains("1 for each container"));
      assertNull(doubtOf(key[0], key[1], DominantResourceCalculator.class));
    }
    assertNull(doubtOf("resource", "memory", usual));
  }

  @Test
  public void aRefreshWithAWrongValueIsRefusedAndTheOldOnesStay() throws Exception {
    YarnConfiguration conf = configured(QUEUES, APPS);
    master = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.OFF);
    master.start();
    LedgerMonitor ledger = ledger(conf);
    ledger.editSchedule();
    long before = ledger.refusals();
    conf.set("meed.yarn.policy.discount", "7");
    CapacityScheduler scheduler = (CapacityScheduler) master.getResourceScheduler();
    scheduler.reinitialize(conf, master.getRMContext());
    ledger.editSchedule();
    assertFalse(ledger.isOver());
    assertEquals(before + 1, ledger.refusals());
  }
}
