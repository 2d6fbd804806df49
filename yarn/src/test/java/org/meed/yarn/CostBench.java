package org.meed.yarn;

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.placement.ApplicationPlacementContext;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.junit.Test;

/**
 * What it costs: NODE_UPDATE that assigns a container, ours beside stock fair sharing, turn by turn
 * in one run; and a tick. {@code cargo xtask yarn bench}.
 */
public class CostBench extends VirtualCluster {
  /** Stock, ours, stock, ours: so many times. */
  private static final int TURNS = 4;
  private static final int ROUNDS = 6;
  private static final int MANY = 1_000_000;

  private void cluster(String policy, int count, int asking) throws Exception {
    StringBuilder queues = new StringBuilder();
    for (int i = 0; i < count; i++) {
      queues.append(queue("q" + i));
    }
    ledger = null;
    up(policy, queues.toString());
    addNode(1 << 30, 1 << 24);
    for (int i = 0; i < asking; i++) {
      createSchedulingRequest(1024, "root.q" + i, "u", MANY);
    }
    scheduler.update();
    tick();
  }

  /**
   * So many applications, one to a leaf, each asking for so many containers, and given one; 100
   * leaves to each of so many parents: with all of them below the root the scheduler itself would
   * take minutes to start as many.
   */
  private void tree(int parents, int asking, int each) throws Exception {
    StringBuilder queues = new StringBuilder();
    for (int i = 0; i < parents; i++) {
      queues.append("<queue name=\"p").append(i).append("\">");
      for (int j = 0; j < LEAVES; j++) {
        queues.append(queue("q" + j));
      }
      queues.append("</queue>");
    }
    ledger = null;
    up(OURS, queues.toString());
    addNode(1 << 30, 1 << 24);
    for (int i = 0; i < asking; i++) {
      ask("root.p" + i / LEAVES + ".q" + i % LEAVES, i, each);
    }
    scheduler.update();
    tick();
    beat(asking);
  }

  /** What a ResourceManager has compiled after an hour; here for a hundred queues. */
  private void warm() throws Exception {
    tree(1, LEAVES, MANY);
    for (int round = 0; round < 150; round++) {
      beat(LEAVES);
      pass(1);
    }
    down();
  }

  /** As {@code createSchedulingRequest}, which brings all shares up to date each time. */
  private void ask(String queue, int number, int count) {
    ApplicationId app = ApplicationId.newInstance(1, number);
    ApplicationAttemptId attempt = ApplicationAttemptId.newInstance(app, 1);
    createMockRMApp(attempt);
    scheduler.handle(new AppAddedSchedulerEvent(app, queue, "u",
        new ApplicationPlacementContext(queue)));
    scheduler.handle(new AppAttemptAddedSchedulerEvent(attempt, false));
    List<ResourceRequest> asks = new ArrayList<>();
    asks.add(createResourceRequest(1024, ResourceRequest.ANY, 1, count, true));
    scheduler.allocate(attempt, asks, null, Collections.emptyList(), null, null,
        new ContainerUpdates());
  }

  /** Microseconds for an assignment, of each round; and, last, pairs compared for one. */
  private double[] measure(String policy, int count) throws Exception {
    cluster(policy, count, count);
    int beats = count >= 1000 ? 500 : 2000;
    beat(beats);
    double[] result = new double[ROUNDS + 1];
    long before = Policy.comparisons.sum();
    for (int round = 0; round < ROUNDS; round++) {
      pass(1);
      long began = System.nanoTime();
      beat(beats);
      result[round] = (System.nanoTime() - began) / 1e3 / beats;
    }
    result[ROUNDS] = (Policy.comparisons.sum() - before) / (double) (ROUNDS * beats);
    down();
    return result;
  }

  private static double[] rounds(double[][] turns) {
    double[] all = Arrays.stream(turns).flatMapToDouble(turn -> Arrays.stream(turn, 0, ROUNDS))
        .toArray();
    Arrays.sort(all);
    return all;
  }

  private static long nanos(double micros) {
    return Math.round(micros * 1e3);
  }

  /** For {@code cargo xtask yarn bench}, which makes tables of it. */
  private static void found(Json row) throws IOException {
    String file = System.getProperty("meed.bench.file");
    if (file == null) {
      System.out.println(row);
    } else {
      Files.writeString(Path.of(file), row + "\n", StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }

  @Test
  public void besideStockFair() throws Exception {
    // What is compiled only after a while is so for both.
    measure("fair", 10);
    measure(OURS, 10);
    for (int count : new int[] {10, 100, 1000}) {
      double[][] stock = new double[TURNS][];
      double[][] ours = new double[TURNS][];
      for (int turn = 0; turn < TURNS; turn++) {
        stock[turn] = measure("fair", count);
        ours[turn] = measure(OURS, count);
      }
      double[] a = rounds(stock);
      double[] b = rounds(ours);
      double pairs = ours[0][ROUNDS];
      found(new Json().object().key("measured").value("assignment").key("queues").value(count)
          .key("stock_best_ns").value(nanos(a[0])).key("stock_median_ns")
          .value(nanos(a[a.length / 2])).key("ours_best_ns").value(nanos(b[0]))
          .key("ours_median_ns").value(nanos(b[b.length / 2])).key("pairs")
          .value(Math.round(pairs)).endObject());
      // Sorting n children compares at most so many pairs; a sum over levels of one tree.
      assertTrue("pairs for one assignment", pairs < 2.0 * count * (2 + Math.log(count) * 1.5));
      assertTrue("below half a millisecond more", b[0] < a[0] + 500);
    }
  }

  private static final int TICKS = 50;
  /** Ticks of that kind before any is measured: what was compiled for few queues is so anew. */
  private static final int WARM = 300;
  private static final int LEAVES = 100;

  /**
   * A tick: nothing runs; a hundredth of the queues starts a container; it holds some; every queue
   * holds one.
   */
  @Test
  public void aTick() throws Exception {
    warm();
    for (int count : new int[] {100, 1000, 10_000}) {
      tree(count / LEAVES, 0, 0);
      ticks(count, 0, "nothing runs");
      down();
      tree(count / LEAVES, count, 1);
      ticks(count, 0, "all run");
      down();
      tree(count / LEAVES, count / 100, MANY);
      for (int round = 0; round < WARM; round++) {
        beat(count / 100);
        pass(1);
      }
      ticks(count, count / 100, "a hundredth starts one");
      ticks(count, 0, "a hundredth runs");
      down();
    }
  }

  private void ticks(int count, int starts, String what) throws Exception {
    pass(8);
    double[] took = new double[TICKS];
    long told = 0;
    for (int round = 0; round < TICKS; round++) {
      beat(starts);
      clock.tickSec(1);
      long began = System.nanoTime();
      tick();
      took[round] = (System.nanoTime() - began) / 1e3;
      told += ledger.snapshot().told;
    }
    Arrays.sort(took);
    found(new Json().object().key("measured").value("tick").key("queues").value(count).key("what")
        .value(what).key("best_ns").value(nanos(took[0])).key("median_ns")
        .value(nanos(took[TICKS / 2])).key("rows").value(told / TICKS).endObject());
  }
}
