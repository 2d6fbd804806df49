package org.meed.yarn;

import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;

/**
 * Hears of every container that starts or ends, inside the scheduler's critical path: it appends to
 * a list and hands on to the writer that was there.
 */
final class ContainerEvents extends RMApplicationHistoryWriter {
  private final RMApplicationHistoryWriter next;
  private final LedgerMonitor monitor;

  ContainerEvents(RMApplicationHistoryWriter next, LedgerMonitor monitor) {
    this.next = next;
    this.monitor = monitor;
  }

  LedgerMonitor monitor() {
    return monitor;
  }

  RMApplicationHistoryWriter next() {
    return next;
  }

  @Override
  public void containerStarted(RMContainer container) {
    monitor.started(container);
    if (next != null) {
      next.containerStarted(container);
    }
  }

  @Override
  public void containerFinished(RMContainer container) {
    monitor.ended(container);
    if (next != null) {
      next.containerFinished(container);
    }
  }

  @Override
  public void applicationStarted(RMApp app) {
    if (next != null) {
      next.applicationStarted(app);
    }
  }

  @Override
  public void applicationFinished(RMApp app, RMAppState finalState) {
    if (next != null) {
      next.applicationFinished(app, finalState);
    }
  }

  @Override
  public void applicationAttemptStarted(RMAppAttempt attempt) {
    if (next != null) {
      next.applicationAttemptStarted(attempt);
    }
  }

  @Override
  public void applicationAttemptFinished(RMAppAttempt attempt, RMAppAttemptState finalState) {
    if (next != null) {
      next.applicationAttemptFinished(attempt, finalState);
    }
  }
}
