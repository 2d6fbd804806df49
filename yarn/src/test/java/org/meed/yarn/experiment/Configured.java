package org.meed.yarn.experiment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/** Configuration and allocation file. */
final class Configured {
  private static final String[] ADDRESSES = {
      YarnConfiguration.RM_ADDRESS, YarnConfiguration.RM_SCHEDULER_ADDRESS,
      YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, YarnConfiguration.RM_ADMIN_ADDRESS,
      YarnConfiguration.RM_WEBAPP_ADDRESS,
  };

  private Configured() {
  }

  static YarnConfiguration of(Settings settings, Plan plan, Path allocations) throws IOException {
    Files.writeString(allocations, allocations(settings, plan));
    YarnConfiguration conf = new YarnConfiguration();
    for (String address : ADDRESSES) {
      conf.set(address, "127.0.0.1:0");
    }
    conf.set(YarnConfiguration.RM_SCHEDULER, FairScheduler.class.getName());
    conf.set("yarn.scheduler.fair.allocation.file", allocations.toString());
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 1024);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MAXIMUM_ALLOCATION_MB, settings.nodeMegabytes);
    conf.setLong("yarn.scheduler.fair.update-interval-ms", settings.millis(0.5));
    conf.setLong(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS,
        settings.millis(settings.heartbeatSeconds));
    // As in Hadoop 2.2, and the defaults of today: one container for each heartbeat of a node.
    conf.setBoolean("yarn.scheduler.fair.assignmultiple", false);
    conf.setBoolean("yarn.scheduler.fair.preemption", false);
    if (settings.policy.equals("fair")) {
      conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, false);
      return conf;
    }
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
    conf.set(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES, "org.meed.yarn.LedgerMonitor");
    conf.set("yarn.scheduler.reservation-threshold.increment-multiple", "100000");
    conf.set("meed.yarn.interval-ms", Long.toString(Math.max(10, settings.millis(1))));
    // What scenarios have where they say nothing: 10 s at first, looked at each second.
    conf.set("meed.yarn.policy.quantum-initial", settings.millis(10) + "ms");
    conf.set("meed.yarn.policy.quantum-interval", settings.millis(1) + "ms");
    if (settings.tWaitSeconds >= 0) {
      conf.set("meed.yarn.policy.t-wait", Math.round(settings.tWaitSeconds * 1e3 / settings.scale)
          + "ms");
    }
    if (!settings.ledger.isEmpty()) {
      conf.set("meed.yarn.ledger-dir", settings.ledger);
    }
    return conf;
  }

  private static String allocations(Settings settings, Plan plan) {
    StringBuilder text = new StringBuilder("<?xml version=\"1.0\"?><allocations>");
    text.append("<queueMaxAMShareDefault>" + settings.mastersShare + "</queueMaxAMShareDefault>");
    text.append("<queue name=\"root\">");
    text.append("<schedulingPolicy>" + settings.policy + "</schedulingPolicy>");
    String most = "";
    if (settings.partitioned) {
      int part = plan.queues.size();
      most = "<maxResources>" + settings.nodes * settings.nodeMegabytes / part + " mb, "
          + settings.nodes * settings.nodeCores / part + " vcores</maxResources>";
    }
    String within = "";
    List<String> leaves = new ArrayList<>(settings.flat ? List.of("all") : plan.queues);
    Collections.sort(leaves);
    for (String leaf : leaves) {
      // A leaf below a group is called by both, parted by a dot.
      String[] names = leaf.split("\\.");
      String group = names.length > 1 ? names[0] : "";
      if (!group.equals(within)) {
        text.append(within.isEmpty() ? "" : "</queue>");
        text.append(group.isEmpty() ? "" : "<queue name=\"" + group + "\"><schedulingPolicy>"
            + settings.policy + "</schedulingPolicy>");
        within = group;
      }
      text.append("<queue name=\"" + names[names.length - 1]
          + "\"><schedulingPolicy>fair</schedulingPolicy>" + most + "</queue>");
    }
    text.append(within.isEmpty() ? "" : "</queue>");
    return text.append("</queue></allocations>").toString();
  }
}
