package org.meed.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.junit.Test;

/** What no event told is found where ledger and scheduler are compared, and put right. */
public class SelfCheckTest extends VirtualCluster {
  /** The first ticks look at all containers anyway. */
  private static final int FIRST_TICKS = 8;

  private ApplicationAttemptId running(int memory, int cores) throws Exception {
    keys.put("meed.yarn.policy.resource", "cpu");
    up(OURS, queue("a") + queue("b"));
    addNode(8192, 64);
    ApplicationAttemptId app = createSchedulingRequest(memory, cores, "root.a", "u", 1, 1);
    scheduler.update();
    beat(1);
    pass(FIRST_TICKS);
    assertEquals(1, held(app));
    holds(memory, cores);
    assertEquals("nothing differs so far", 0, ledger.differences());
    return app;
  }

  private void holds(long memory, long cores) {
    Row row = ledger.snapshot().row("root.a");
    assertEquals("memory in the ledger", memory, row.heldMemory);
    assertEquals("cores in the ledger", cores, row.heldCores);
  }

  /** YARN makes a running container smaller, and tells nobody. */
  private void resized(Resource to) throws Exception {
    ApplicationAttemptId app = running(2048, 3);
    Container container = scheduler.getSchedulerApp(app).getLiveContainers().iterator().next()
        .getContainer();
    Resource less = Resources.subtract(container.getResource(), to);
    container.setResource(to);
    for (FSQueue at = scheduler.getQueueManager().getLeafQueue("root.a", false); at != null;
        at = at.getParent()) {
      Resources.subtractFrom(at.getResourceUsage(), less);
    }
    pass(4);
    holds(to.getMemorySize(), to.getVirtualCores());
    assertEquals(1, ledger.differences());
    pass(4);
    assertEquals("once is enough", 1, ledger.differences());
  }

  @Test
  public void sharesThatDifferFromTheSchedulersAreSaid() throws Exception {
    running(2048, 3);
    assertEquals(List.of(), ledger.differingShares());
    FSQueue root = scheduler.getQueueManager().getRootQueue();
    assertEquals(List.of(), Shares.differing(root, ledger.snapshot(), 3));
    // Nobody tells of it: the ledger has the old weight until it is seen.
    scheduler.getQueueManager().getLeafQueue("root.a", false).setWeights(3);
    List<String> said = Shares.differing(root, ledger.snapshot(), 3);
    assertEquals(2, said.size());
    assertEquals("root.a is to have 50.0 % of its parent's by the ledger, 75.0 % by the scheduler",
        said.get(0));
    pass(FIRST_TICKS);
    assertEquals(List.of(), Shares.differing(root, ledger.snapshot(), 3));
  }

  @Test
  public void aContainerWithLessMemoryIsFound() throws Exception {
    resized(Resource.newInstance(1024, 3));
  }

  @Test
  public void aContainerWithFewerCoresIsFound() throws Exception {
    resized(Resource.newInstance(2048, 1));
  }

  /** The start of one that holds cores alone is not told. */
  @Test
  public void aContainerOfCoresAloneIsFound() throws Exception {
    keys.put("yarn.scheduler.minimum-allocation-mb", "0");
    keys.put("yarn.scheduler.increment-allocation-mb", "1");
    running(1024, 1);
    RMApplicationHistoryWriter listens =
        resourceManager.getRMContext().getRMApplicationHistoryWriter();
    resourceManager.getRMContext().setRMApplicationHistoryWriter(new RMApplicationHistoryWriter());
    ApplicationAttemptId deaf = createSchedulingRequest(0, 4, "root.a", "u", 1, 1);
    scheduler.update();
    beat(1);
    assertEquals(1, held(deaf));
    resourceManager.getRMContext().setRMApplicationHistoryWriter(listens);
    pass(4);
    holds(1024, 5);
    assertEquals(1, ledger.differences());
  }

  /** One of three starts is not told: what is left to be asked for is right all the same. */
  @Test
  public void whatIsAskedForIsRightAfterAStartThatNobodyTold() throws Exception {
    running(1024, 1);
    RMApplicationHistoryWriter listens =
        resourceManager.getRMContext().getRMApplicationHistoryWriter();
    resourceManager.getRMContext().setRMApplicationHistoryWriter(new RMApplicationHistoryWriter());
    ApplicationAttemptId deaf = createSchedulingRequest(1024, 1, "root.a", "u", 3, 1);
    scheduler.update();
    beat(1);
    resourceManager.getRMContext().setRMApplicationHistoryWriter(listens);
    pass(4);
    assertEquals(1, ledger.differences());
    waits(deaf, 2);
    beat(1);
    pass(1);
    waits(deaf, 1);
  }

  private void waits(ApplicationAttemptId app, int containers) throws Exception {
    assertEquals(3 - containers, held(app));
    String why = told("Why." + app.getApplicationId());
    assertTrue(why, why.contains("\"waiting\":" + containers));
  }

  /** A leaf in which something happens all the time hides no other. */
  @Test
  public void whatHappensElsewhereHidesNothing() throws Exception {
    ApplicationAttemptId app = running(1024, 1);
    ApplicationAttemptId busy = createSchedulingRequest(1024, 1, "root.b", "u", 100, 1);
    RMApplicationHistoryWriter listens =
        resourceManager.getRMContext().getRMApplicationHistoryWriter();
    resourceManager.getRMContext().setRMApplicationHistoryWriter(new RMApplicationHistoryWriter());
    release(app);
    resourceManager.getRMContext().setRMApplicationHistoryWriter(listens);
    scheduler.update();
    for (int i = 0; i < 4; i++) {
      clock.tickSec(1);
      // It is dated after the tick, as most are at the instant of one: told by the next.
      clock.setTime(clock.getTime() + 1);
      beat(1);
      clock.setTime(clock.getTime() - 1);
      tick();
    }
    assertEquals(1, ledger.differences());
    pass(1);
    holds(0, 0);
    assertEquals(4, ledger.snapshot().row("root.b").heldMemory / 1024);
    assertEquals(4, held(busy));
  }

  /** A queue that the scheduler makes for who asks for it has a row at the next tick. */
  @Test
  public void aQueueThatNobodyDeclaredIsSeen() throws Exception {
    running(1024, 1);
    createSchedulingRequest(1024, 1, "root.made.up", "u", 1, 1);
    scheduler.update();
    beat(1);
    pass(1);
    assertEquals(1024, ledger.snapshot().row("root.made.up").heldMemory);
    assertEquals(1024, ledger.snapshot().row("root.made").heldMemory);
  }

  /** Two differences that cancel out each other are found in turns. */
  @Test
  public void whatCancelsOutIsFoundInTurns() throws Exception {
    running(1024, 1);
    for (String[] leaf : new String[][] {{"root.a", "1"}, {"root.b", "-1"}}) {
      Resources.addTo(scheduler.getQueueManager().getLeafQueue(leaf[0], false).getResourceUsage(),
          Resource.newInstance(0, Integer.parseInt(leaf[1])));
    }
    pass(13);
    assertTrue(ledger.differences() > 0);
  }
}
