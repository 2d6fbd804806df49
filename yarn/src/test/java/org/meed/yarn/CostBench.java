package org.meed.yarn;

import static org.junit.Assert.assertTrue;

import java.util.Locale;
import org.junit.Test;

/**
 * What it costs: NODE_UPDATE that assigns a container, ours beside stock fair sharing, turn by turn
 * in one run. {@code cargo xtask yarn bench}.
 */
public class CostBench extends VirtualCluster {
  private static final int ROUNDS = 7;

  /** Best and mean microseconds for an assignment; pairs compared; milliseconds of a tick. */
  private double[] measure(String policy, int count) throws Exception {
    StringBuilder queues = new StringBuilder();
    for (int i = 0; i < count; i++) {
      queues.append(queue("q" + i));
    }
    ledger = null;
    up(policy, queues.toString());
    addNode(1 << 30, 1 << 24);
    for (int i = 0; i < count; i++) {
      createSchedulingRequest(1024, "root.q" + i, "u", 1_000_000);
    }
    scheduler.update();
    tick();
    int beats = count >= 1000 ? 1000 : 3000;
    beat(beats);
    long compared = Policy.comparisons.sum();
    double best = Double.MAX_VALUE;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      pass(1);
      long began = System.nanoTime();
      beat(beats);
      double micros = (System.nanoTime() - began) / 1e3 / beats;
      best = Math.min(best, micros);
      sum += micros;
    }
    double pairs = (Policy.comparisons.sum() - compared) / (double) (ROUNDS * beats);
    double tick = Double.MAX_VALUE;
    for (int round = 0; round < 10 && ledger != null; round++) {
      long began = System.nanoTime();
      pass(1);
      tick = Math.min(tick, (System.nanoTime() - began) / 1e6);
    }
    down();
    return new double[] {best, sum / ROUNDS, pairs, ledger == null ? 0 : tick};
  }

  @Test
  public void besideStockFair() throws Exception {
    for (int count : new int[] {10, 100, 1000}) {
      double[] stock = measure("fair", count);
      double[] ours = measure(OURS, count);
      System.out.printf(Locale.ROOT, "COST %5d queues: NODE_UPDATE stock %.0f us (mean %.0f), ours"
          + " %.0f us (mean %.0f), %.0f pairs; tick %.1f ms%n",
          count, stock[0], stock[1], ours[0], ours[1], ours[2], ours[3]);
      // Sorting n children compares at most so many pairs; a sum over levels of one tree.
      assertTrue("pairs for one assignment", ours[2] < 2.0 * count * (2 + Math.log(count) * 1.5));
      assertTrue("below half a millisecond more", ours[0] < stock[0] + 500);
    }
  }
}
