package org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;

/**
 * What the Fair Scheduler tells and takes within its package only: which containers an application
 * is told to give up, and whether a limit keeps an application from starting anything. Its own
 * preemption goes the same way.
 */
public final class MeedSeam {
  private MeedSeam() {}

  /** The application is told, at its next heartbeat, that this container will be stopped. */
  public static void mark(FSAppAttempt app, RMContainer container) {
    app.trackContainerForPreemption(container);
  }

  /** Whether the application could start a container of that size, if there were room. */
  public static boolean mayStart(FSAppAttempt app, Resource one) {
    FSLeafQueue queue = app.getQueue();
    if (!queue.isRunnableApp(app) || !queue.fitsInMaxShare(one)) {
      return false;
    }
    return app.isAmRunning() || queue.canRunAppAM(one);
  }
}
