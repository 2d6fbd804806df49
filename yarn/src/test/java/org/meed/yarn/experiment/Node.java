package org.meed.yarn.experiment;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerResponse;
import org.apache.hadoop.yarn.server.api.records.MasterKey;
import org.apache.hadoop.yarn.server.api.records.NodeHealthStatus;
import org.apache.hadoop.yarn.server.api.records.NodeStatus;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;

/** A NodeManager without processes: it reports containers that run and that have ended. */
final class Node {
  private final ResourceManager master;
  private final NodeId id;
  private final Set<ContainerId> running = ConcurrentHashMap.newKeySet();
  private final Map<ContainerId, Boolean> ended = new ConcurrentHashMap<>();
  private MasterKey tokens;
  private MasterKey containers;
  private int response;

  Node(ResourceManager master, int number, Settings settings) throws Exception {
    this.master = master;
    // An address by its number: the ResourceManager looks names up at each heartbeat.
    id = NodeId.newInstance("127.0.1." + (number + 1), 1);
    RegisterNodeManagerRequest request = RegisterNodeManagerRequest.newInstance(id, 80,
        Resource.newInstance(settings.nodeMegabytes, settings.nodeCores), VersionInfo.getVersion(),
        new ArrayList<>(), new ArrayList<>());
    RegisterNodeManagerResponse answer =
        master.getResourceTrackerService().registerNodeManager(request);
    tokens = answer.getNMTokenMasterKey();
    containers = answer.getContainerTokenMasterKey();
  }

  NodeId id() {
    return id;
  }

  void starts(ContainerId container) {
    running.add(container);
  }

  /** The process has ended; the next heartbeat says so. */
  void ends(ContainerId container) {
    running.remove(container);
    ended.put(container, true);
  }

  void beat() throws Exception {
    List<ContainerStatus> statuses = new ArrayList<>();
    for (ContainerId container : running) {
      statuses.add(status(container, ContainerState.RUNNING));
    }
    for (ContainerId container : new HashSet<>(ended.keySet())) {
      ended.remove(container);
      statuses.add(status(container, ContainerState.COMPLETE));
    }
    NodeStatus status = NodeStatus.newInstance(id, response, statuses, Collections.emptyList(),
        NodeHealthStatus.newInstance(true, "", 0), null, null, null);
    response = master.getResourceTrackerService().nodeHeartbeat(
        NodeHeartbeatRequest.newInstance(status, containers, tokens, null)).getResponseId();
  }

  private static ContainerStatus status(ContainerId container, ContainerState state) {
    return ContainerStatus.newInstance(container, state, "", 0);
  }
}
