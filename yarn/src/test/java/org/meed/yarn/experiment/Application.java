package org.meed.yarn.experiment;

import java.security.PrivilegedExceptionAction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;

/**
 * An application and its master: it is submitted, its master's container is granted, the master
 * starts, asks for the containers of its stages one stage after the other, and unregisters. All
 * that it says to the ResourceManager it says at its heartbeats.
 */
final class Application {
  private final Experiment world;
  private final Plan.Job job;
  private final List<Plan.Stage> stages;
  private final Runnable then;
  private final Deque<Double> tasks = new ArrayDeque<>();
  private ApplicationId id;
  private UserGroupInformation user;
  private Container masters;
  private Future<?> beats;
  private int next;
  private int left;
  private int response;

  Application(Experiment world, Plan.Job job, List<Plan.Stage> stages, Runnable then) {
    this.world = world;
    this.job = job;
    this.stages = stages;
    this.then = then;
  }

  void submit() throws Exception {
    id = world.master.getClientRMService()
        .getNewApplication(GetNewApplicationRequest.newInstance()).getApplicationId();
    ApplicationSubmissionContext context = ApplicationSubmissionContext.newInstance(id,
        job.queue + " " + job.number, world.queueOf(job), Priority.newInstance(0),
        ContainerLaunchContext.newInstance(Collections.emptyMap(), Collections.emptyMap(),
            Collections.emptyList(), null, null, null),
        false, false, 1, container());
    world.master.launched(id, this::launched);
    world.journal.tell("submit", job.number, id.getId());
    UserGroupInformation.createRemoteUser("papers")
        .doAs((PrivilegedExceptionAction<Void>) () -> {
          world.master.getClientRMService()
              .submitApplication(SubmitApplicationRequest.newInstance(context));
          return null;
        });
  }

  private Resource container() {
    return Resource.newInstance(world.settings.containerMegabytes, 1);
  }

  /** The master's container is there: its process starts. */
  private void launched(RMAppAttempt attempt) {
    masters = attempt.getMasterContainer();
    world.node(masters).starts(masters.getId());
    user = UserGroupInformation.createRemoteUser(attempt.getAppAttemptId().toString());
    try {
      user.addTokenIdentifier(attempt.getAMRMToken().decodeIdentifier());
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
    world.after(world.settings.masterSeconds, this::registers);
  }

  private void registers() throws Exception {
    user.doAs((PrivilegedExceptionAction<Void>) () -> {
      world.master.getApplicationMasterService().registerApplicationMaster(
          RegisterApplicationMasterRequest.newInstance("localhost", 0, ""));
      return null;
    });
    beats = world.every(world.settings.heartbeatSeconds, 0, this::beat);
  }

  /** A heartbeat of the master. */
  private synchronized void beat() throws Exception {
    List<ResourceRequest> asks = new ArrayList<>();
    if (left == 0) {
      if (next == stages.size()) {
        finishes();
        return;
      }
      for (double seconds : stages.get(next).seconds) {
        tasks.add(seconds);
      }
      left = tasks.size();
      next++;
      asks.add(ResourceRequest.newInstance(Priority.newInstance(next), ResourceRequest.ANY,
          container(), left));
      world.journal.tell("ask", job.number, id.getId(), left, next == stages.size());
    }
    AllocateResponse answer = user.doAs((PrivilegedExceptionAction<AllocateResponse>) () ->
        world.master.getApplicationMasterService().allocate(
            AllocateRequest.newInstance(response, 0.5f, asks, null, null)));
    response = answer.getResponseId();
    for (Container container : answer.getAllocatedContainers()) {
      runs(container, tasks.remove());
    }
  }

  private void runs(Container container, double seconds) {
    Node node = world.node(container);
    node.starts(container.getId());
    world.after(seconds, () -> {
      node.ends(container.getId());
      synchronized (this) {
        left--;
      }
    });
  }

  private void finishes() throws Exception {
    beats.cancel(false);
    user.doAs((PrivilegedExceptionAction<Void>) () -> {
      world.master.getApplicationMasterService().finishApplicationMaster(
          FinishApplicationMasterRequest.newInstance(FinalApplicationStatus.SUCCEEDED, "", ""));
      return null;
    });
    world.node(masters).ends(masters.getId());
    world.journal.tell("finish", job.number, id.getId());
    then.run();
  }
}
