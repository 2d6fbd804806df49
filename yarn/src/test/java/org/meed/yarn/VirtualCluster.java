package org.meed.yarn;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairSchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairSchedulerTestBase;
import org.apache.hadoop.yarn.util.ControlledClock;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.junit.After;

/** The real Fair Scheduler in a MockRM, in virtual time: no node, no application, no sleep. */
public abstract class VirtualCluster extends FairSchedulerTestBase {
  static final String OURS = LongTermFairPolicy.class.getName();
  static final long MB_MS = 1000L * 1000 * (1 << 20);

  final ControlledClock clock = new ControlledClock();
  final Map<String, String> keys = new LinkedHashMap<>();
  LedgerMonitor ledger;
  File allocations;

  void allocations(String policy, String queues) throws Exception {
    if (allocations == null) {
      allocations = File.createTempFile("fair-scheduler", ".xml");
      allocations.deleteOnExit();
    }
    try (PrintWriter out = new PrintWriter(allocations)) {
      out.print("<?xml version=\"1.0\"?><allocations>" + queues
          + "<queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault>"
          + "<defaultQueueSchedulingPolicy>" + policy + "</defaultQueueSchedulingPolicy>"
          + "</allocations>");
    }
  }

  void up(String policy, String queues) throws Exception {
    allocations(policy, queues);
    conf = createConfiguration();
    conf.set(FairSchedulerConfiguration.ALLOCATION_FILE, allocations.getAbsolutePath());
    // update() and ticks are called by hand.
    conf.setLong(FairSchedulerConfiguration.UPDATE_INTERVAL_MS, 3_600_000);
    // This test ticks; a monitor of the ResourceManager's own would tick by the machine's clock.
    conf.setBoolean("yarn.resourcemanager.scheduler.monitor.enable", false);
    conf.set("meed.yarn.policy.quantum", "1s");
    keys.forEach(conf::set);
    resourceManager = new MockRM(conf);
    LogManager.getRootLogger().setLevel(Level.ERROR);
    resourceManager.start();
    scheduler = (FairScheduler) resourceManager.getResourceScheduler();
    clock.setTime(1_760_000_000_000L);
    scheduler.setClock(clock);
    if (policy.equals(OURS)) {
      ledger = new LedgerMonitor(clock);
      ledger.init(conf, resourceManager.getRMContext(), scheduler);
      ledger.editSchedule();
      assertFalse("the ledger is on", ledger.isOver());
    }
  }

  @After
  public void down() {
    Policy.deactivate(Policy.active());
    rmNodes.clear();
    if (resourceManager != null) {
      resourceManager.stop();
    }
  }

  static String queue(String name) {
    return "<queue name=\"" + name + "\"/>";
  }

  void beat(int times) {
    for (int i = 0; i < times; i++) {
      scheduler.handle(new NodeUpdateSchedulerEvent(rmNodes.get(0)));
    }
  }

  /** A second passes, and another. */
  void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      clock.tickSec(1);
      tick();
    }
  }

  void tick() {
    if (ledger != null) {
      ledger.editSchedule();
      assertFalse("the ledger is on", ledger.isOver());
    }
  }

  int held(ApplicationAttemptId app) {
    return scheduler.getSchedulerApp(app).getLiveContainers().size();
  }

  /** All containers of an application end. */
  void release(ApplicationAttemptId app) {
    // They are taken first: of what nobody has taken the request would come back.
    scheduler.allocate(app, Collections.emptyList(), null, Collections.emptyList(), null, null,
        new ContainerUpdates());
    List<ContainerId> all = new ArrayList<>();
    for (RMContainer container : scheduler.getSchedulerApp(app).getLiveContainers()) {
      all.add(container.getContainerId());
    }
    scheduler.allocate(app, Collections.emptyList(), null, all, null, null,
        new ContainerUpdates());
  }

  /** What people are told: {@code Queues}, or {@code Why.APPLICATION}. */
  static String told(String what) throws Exception {
    return (String) ManagementFactory.getPlatformMBeanServer().getAttribute(
        new ObjectName(StandingBean.NAME), what);
  }

  /** Mebibytes x milliseconds in the ledger. */
  long used(String queue) {
    Snapshot rows = ledger.snapshot();
    Row row = rows.row(queue);
    assertNotNull(queue, row);
    // Two ticks at one instant of this clock are a microsecond apart in the ledger.
    BigInteger half = BigInteger.valueOf(MB_MS / 2);
    BigInteger[] parts = rows.charged(row).big().add(half)
        .divideAndRemainder(BigInteger.valueOf(MB_MS * 1024));
    assertTrue("mebibytes x milliseconds, nearly whole", parts[1].longValueExact() < 200 * MB_MS);
    return parts[0].longValueExact() * 1024;
  }
}
