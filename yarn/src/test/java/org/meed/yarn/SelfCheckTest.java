package org.meed.yarn;

import static org.junit.Assert.assertEquals;

import java.util.Collections;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
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
    RMContainer container =
        scheduler.getSchedulerApp(app).getLiveContainers().iterator().next();
    allocate(app, new ContainerUpdates());
    container.handle(
        new RMContainerEvent(container.getContainerId(), RMContainerEventType.LAUNCHED));
    ContainerUpdates smaller = new ContainerUpdates();
    smaller.getDecreaseRequests().add(UpdateContainerRequest.newInstance(0,
        container.getContainerId(), ContainerUpdateType.DECREASE_RESOURCE, to, null));
    allocate(app, smaller);
    allocate(app, new ContainerUpdates());
    assertEquals("the scheduler knows", to,
        scheduler.getQueueManager().getLeafQueue("root.a", false).getResourceUsage());
    pass(4);
    holds(to.getMemorySize(), to.getVirtualCores());
    assertEquals(1, ledger.differences());
    pass(4);
    assertEquals("once is enough", 1, ledger.differences());
  }

  private void allocate(ApplicationAttemptId app, ContainerUpdates updates) {
    scheduler.allocate(app, Collections.emptyList(), null, Collections.emptyList(), null, null,
        updates);
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
}
