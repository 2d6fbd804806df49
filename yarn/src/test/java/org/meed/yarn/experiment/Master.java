package org.meed.yarn.experiment;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.amlauncher.AMLauncherEvent;
import org.apache.hadoop.yarn.server.resourcemanager.amlauncher.AMLauncherEventType;
import org.apache.hadoop.yarn.server.resourcemanager.amlauncher.ApplicationMasterLauncher;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptImpl;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;

/**
 * A whole ResourceManager, but that it launches no processes: whoever asked for an application is
 * told when its master's container is there. Each container's start and end go into the journal.
 */
final class Master extends ResourceManager {
  private final Journal journal;
  private final Map<ApplicationId, Consumer<RMAppAttempt>> waiting = new ConcurrentHashMap<>();

  Master(Journal journal) {
    this.journal = journal;
  }

  /** Calls when the container of the application's master is there. */
  void launched(ApplicationId id, Consumer<RMAppAttempt> then) {
    waiting.put(id, then);
  }

  @Override
  protected RMApplicationHistoryWriter createRMApplicationHistoryWriter() {
    return new RMApplicationHistoryWriter() {
      @Override
      public void containerStarted(RMContainer container) {
        tell("start", container);
      }

      @Override
      public void containerFinished(RMContainer container) {
        tell("end", container);
      }
    };
  }

  private void tell(String what, RMContainer container) {
    if (container.getContainerId() != null) {
      journal.tell(what, container.getApplicationAttemptId().getApplicationId().getId(),
          container.getContainerId().getContainerId(), container.getAllocatedNode().getHost(),
          container.getAllocatedResource().getMemorySize());
    }
  }

  @Override
  protected ApplicationMasterLauncher createAMLauncher() {
    RMContext context = getRMContext();
    return new ApplicationMasterLauncher(context) {
      @Override
      public synchronized void handle(AMLauncherEvent event) {
        RMAppAttempt attempt = event.getAppAttempt();
        Consumer<RMAppAttempt> then =
            waiting.remove(attempt.getAppAttemptId().getApplicationId());
        if (event.getType() != AMLauncherEventType.LAUNCH || then == null) {
          return;
        }
        ((RMAppAttemptImpl) attempt).setAMRMToken(context.getAMRMTokenSecretManager()
            .createAndGetAMRMToken(attempt.getAppAttemptId()));
        context.getDispatcher().getEventHandler().handle(new RMAppAttemptEvent(
            attempt.getAppAttemptId(), RMAppAttemptEventType.LAUNCHED));
        then.accept(attempt);
      }
    };
  }
}
