package org.meed.yarn;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/** A small cluster in this process, on loopback, and applications without processes. */
final class Mini implements AutoCloseable {
  final YarnConfiguration conf = new YarnConfiguration();
  final Path folder;
  private final File allocations;
  private MiniYARNCluster cluster;

  Mini() throws Exception {
    folder = Files.createTempDirectory("meed-mini");
    allocations = folder.resolve("fair-scheduler.xml").toFile();
    allocations(LongTermFairPolicy.class.getName(), "a", "b");
    conf.set(YarnConfiguration.RM_SCHEDULER, FairScheduler.class.getName());
    conf.set("yarn.scheduler.fair.allocation.file", allocations.getPath());
    // Else a starved application reserves a node, past the order.
    conf.set("yarn.scheduler.reservation-threshold.increment-multiple", "100000");
    conf.setBoolean("yarn.scheduler.fair.assignmultiple", true);
    conf.setBoolean("yarn.scheduler.fair.dynamic.max.assign", false);
    conf.setInt("yarn.scheduler.fair.update-interval-ms", 100);
    conf.setInt(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS, 100);
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    conf.setInt(YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, 500);
    conf.setInt("yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms", 0);
    conf.set("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage",
        "99.9");
    conf.set("meed.yarn.interval-ms", "200");
    conf.set("meed.yarn.policy.quantum", "1s");
    conf.set("meed.yarn.ledger-dir", folder.resolve("ledger").toString());
  }

  void allocations(String policy, String... queues) throws Exception {
    try (PrintWriter out = new PrintWriter(allocations)) {
      out.print("<?xml version=\"1.0\"?><allocations>");
      for (String queue : queues) {
        out.print("<queue name=\"" + queue + "\"/>");
      }
      out.print("<queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault>"
          + "<defaultQueueSchedulingPolicy>" + policy + "</defaultQueueSchedulingPolicy>"
          + "</allocations>");
    }
  }

  Mini up(int masters, int nodes) {
    if (masters > 1) {
      conf.setBoolean(YarnConfiguration.AUTO_FAILOVER_ENABLED, false);
      conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
      conf.set(YarnConfiguration.RM_STORE,
          "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore");
      conf.set(YarnConfiguration.FS_RM_STATE_STORE_URI, folder.resolve("store").toUri().toString());
      ports();
    }
    cluster = new MiniYARNCluster("meed", masters, nodes, 1, 1);
    cluster.init(conf);
    cluster.start();
    return this;
  }

  /** Clients find both masters under addresses that are known before. */
  private void ports() {
    conf.setBoolean(YarnConfiguration.YARN_MINICLUSTER_FIXED_PORTS, true);
    // Without RPC nodes know the first master only.
    conf.setBoolean(YarnConfiguration.YARN_MINICLUSTER_USE_RPC, true);
    conf.set(YarnConfiguration.RM_HA_IDS, "rm0,rm1");
    conf.setBoolean(YarnConfiguration.RM_HA_ENABLED, true);
    conf.setInt(YarnConfiguration.CLIENT_FAILOVER_SLEEPTIME_BASE_MS, 100);
    conf.setInt(YarnConfiguration.CLIENT_FAILOVER_SLEEPTIME_MAX_MS, 500);
    for (String id : new String[] {"rm0", "rm1"}) {
      for (String key : YarnConfiguration.getServiceAddressConfKeys(conf)) {
        conf.set(key + "." + id, "127.0.0.1:" + freePort());
      }
    }
    for (String key : new String[] {YarnConfiguration.NM_ADDRESS,
        YarnConfiguration.NM_LOCALIZER_ADDRESS, YarnConfiguration.NM_COLLECTOR_SERVICE_ADDRESS,
        YarnConfiguration.NM_WEBAPP_ADDRESS}) {
      conf.set(key, "127.0.0.1:0");
    }
  }

  private static int freePort() {
    try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
  }

  int active() {
    return cluster.getActiveRMIndex();
  }

  ResourceManager master() {
    return cluster.getResourceManager(Math.max(0, active()));
  }

  FairScheduler scheduler() {
    return (FairScheduler) master().getResourceScheduler();
  }

  String policyOf(String queue) {
    return scheduler().getQueueManager().getQueue(queue).getPolicy().getName();
  }

  /** The other master takes over. */
  void failOver() throws Exception {
    StateChangeRequestInfo user = new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER);
    int before = active();
    cluster.getResourceManager(before).getRMContext().getRMAdminService()
        .transitionToStandby(user);
    cluster.getResourceManager(1 - before).getRMContext().getRMAdminService()
        .transitionToActive(user);
  }

  /** As {@code yarn rmadmin -refreshQueues}. */
  void refresh() throws Exception {
    master().getRMContext().getRMAdminService().refreshQueues(
        org.apache.hadoop.yarn.server.api.protocolrecords.RefreshQueuesRequest.newInstance());
  }

  interface Condition {
    boolean holds() throws Exception;
  }

  static void await(String what, long seconds, Condition condition) throws Exception {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(what + ": not after " + seconds + " s");
      }
      Thread.sleep(50);
    }
  }

  /** The rows of now; waits for the ledger. */
  static Snapshot rows() throws Exception {
    await("a ledger", 60, () -> Policy.snapshot() != null);
    return Policy.snapshot();
  }

  @Override
  public void close() throws Exception {
    if (cluster != null) {
      cluster.stop();
    }
    LedgerMonitor last = Policy.active();
    if (last != null) {
      Policy.deactivate(last);
    }
    org.apache.hadoop.fs.FileUtil.fullyDelete(folder.toFile());
  }

  /**
   * Applications of which each is one process, its master, that sleeps: nodes report it to the next
   * ResourceManager, which they do not for applications without processes.
   */
  void sleepers(String queue, int count) throws Exception {
    YarnClient client = YarnClient.createYarnClient();
    client.init(new YarnConfiguration(cluster.getConfig()));
    client.start();
    try {
      for (int i = 0; i < count; i++) {
        ApplicationSubmissionContext context = client.createApplication()
            .getApplicationSubmissionContext();
        context.setApplicationName("sleeper");
        context.setQueue(queue);
        context.setResource(Resource.newInstance(1024, 1));
        context.setAMContainerSpec(ContainerLaunchContext.newInstance(
            Collections.emptyMap(), Collections.emptyMap(),
            Collections.singletonList("sleep 600"), null, null, null));
        client.submitApplication(context);
      }
    } finally {
      client.stop();
    }
  }

  /** An application that asks for containers of 1 GB and gives them back after a while. */
  final class App implements AutoCloseable {
    private final YarnClient client = YarnClient.createYarnClient();
    private final AMRMClient<AMRMClient.ContainerRequest> master = AMRMClient.createAMRMClient();
    private final UserGroupInformation user;
    private final Deque<Container> held = new ArrayDeque<>();
    private final Deque<Long> until = new ArrayDeque<>();
    private final long holdMillis;
    private final Thread loop;
    private volatile int wanted;
    private volatile int holds;
    private volatile boolean done;
    final ApplicationId id;

    App(String queue, int wanted, long holdMillis) throws Exception {
      this.wanted = wanted;
      this.holdMillis = holdMillis;
      Configuration own = new YarnConfiguration(cluster.getConfig());
      client.init(own);
      client.start();
      ApplicationSubmissionContext context = client.createApplication()
          .getApplicationSubmissionContext();
      id = context.getApplicationId();
      context.setApplicationName("load");
      context.setQueue(queue);
      context.setPriority(Priority.newInstance(0));
      context.setUnmanagedAM(true);
      context.setAMContainerSpec(ContainerLaunchContext.newInstance(
          Collections.emptyMap(), Collections.emptyMap(), Collections.emptyList(), null, null,
          null));
      context.setResource(Resource.newInstance(128, 1));
      client.submitApplication(context);
      await("the application is accepted", 60, () -> client.getApplicationReport(id)
          .getYarnApplicationState() == YarnApplicationState.ACCEPTED
          && client.getAMRMToken(id) != null);
      user = UserGroupInformation.createRemoteUser("load");
      user.addToken(client.getAMRMToken(id));
      user.doAs((PrivilegedExceptionAction<Void>) () -> {
        master.init(own);
        master.start();
        master.registerApplicationMaster("localhost", 0, "");
        return null;
      });
      loop = new Thread(this::run, "load-" + queue);
      loop.setDaemon(true);
      loop.start();
    }

    private void run() {
      try {
        user.doAs((PrivilegedExceptionAction<Void>) () -> {
          int asked = 0;
          while (!done) {
            for (; asked + held.size() < wanted; asked++) {
              master.addContainerRequest(new AMRMClient.ContainerRequest(
                  Resource.newInstance(1024, 1), null, null, Priority.newInstance(1)));
            }
            for (Container container : master.allocate(0).getAllocatedContainers()) {
              asked--;
              held.add(container);
              until.add(System.currentTimeMillis() + holdMillis);
            }
            while (!held.isEmpty() && until.peek() <= System.currentTimeMillis()) {
              until.remove();
              master.releaseAssignedContainer(held.remove().getId());
            }
            holds = held.size();
            Thread.sleep(50);
          }
          return null;
        });
      } catch (Exception e) {
        if (!done) {
          throw new IllegalStateException(e);
        }
      }
    }

    /** How many containers it holds. */
    int holds() {
      return holds;
    }

    void wants(int containers) {
      wanted = containers;
    }

    @Override
    public void close() throws Exception {
      done = true;
      loop.join(5000);
      try {
        user.doAs((PrivilegedExceptionAction<Void>) () -> {
          master.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
          return null;
        });
      } finally {
        master.stop();
        client.stop();
      }
    }
  }
}
