package org.meed.yarn;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSQueue;

/**
 * The self-check of shares: what part of its parent's a queue is to have by the ledger's weights,
 * and by the scheduler's own figures, which do not come from the same place: the Capacity
 * Scheduler's memory that is guaranteed now, the Fair Scheduler's weight.
 */
final class Shares {
  /** Parts that differ by less are the same: weights are whole thousandths. */
  private static final double SAME = 0.01;

  private Shares() {}

  /** Sentences about the first few that differ; none where all agree. */
  static List<String> differing(Queue root, Snapshot made, int most) {
    List<String> found = new ArrayList<>();
    List<Queue> above = new ArrayList<>();
    above.add(root);
    // The list grows meanwhile.
    for (int i = 0; i < above.size() && found.size() < most; i++) {
      List<? extends Queue> children = Cluster.childrenOf(above.get(i));
      double ours = 0;
      double theirs = 0;
      for (Queue child : children) {
        Row row = made.row(Cluster.fullName(child));
        // One that has no row yet is told at the next tick: nothing is known of its siblings.
        ours += row == null ? Double.NaN : row.weight;
        theirs += figure(child);
      }
      for (Queue child : children) {
        above.add(child);
        if (!(ours > 0 && theirs > 0) || found.size() >= most) {
          continue;
        }
        double mine = made.row(Cluster.fullName(child)).weight / ours;
        double its = figure(child) / theirs;
        if (Math.abs(mine - its) > SAME) {
          found.add(String.format(Locale.ROOT,
              "%s is to have %.1f %% of its parent's by the ledger, %.1f %% by the scheduler",
              Cluster.fullName(child), 100 * mine, 100 * its));
        }
      }
    }
    return found;
  }

  private static double figure(Queue queue) {
    if (queue instanceof FSQueue) {
      return ((FSQueue) queue).getWeight();
    }
    Resource least = ((CSQueue) queue).getQueueResourceQuotas().getEffectiveMinResource();
    return least == null ? 0 : least.getMemorySize();
  }
}
