package org.meed.yarn;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.junit.Test;

/** What is served when, second by second. */
public class LongTermFairTest extends VirtualCluster {
  /** A has had all for ten seconds when B comes, and all comes free. */
  private int[] lend(String policy) throws Exception {
    up(policy, queue("a") + queue("b"));
    addNode(8192, 64);
    ApplicationAttemptId a = createSchedulingRequest(1024, "root.a", "u", 16);
    scheduler.update();
    beat(8);
    tick();
    assertEquals(8, held(a));
    pass(10);
    ApplicationAttemptId b = createSchedulingRequest(1024, "root.b", "u", 16);
    scheduler.update();
    pass(1);
    release(a);
    beat(8);
    return new int[] {held(a), held(b)};
  }

  @Test
  public void stockFairSharingSplits() throws Exception {
    assertArrayEquals(new int[] {4, 4}, lend("fair"));
  }

  @Test
  public void theLenderComesFirstAndTheLedgerIsExact() throws Exception {
    assertArrayEquals(new int[] {0, 8}, lend(OURS));
    tick();
    assertEquals(8 * 1024 * 11_000L, used("root.a"));
    // What runs is charged its quantum.
    assertEquals(8 * 1024 * 1000L, used("root.b"));
    pass(5);
    assertEquals(8 * 1024 * 11_000L, used("root.a"));
    assertEquals(8 * 1024 * 5000L, used("root.b"));
  }

  /** Where nobody tells of containers, they are looked at: the order is the same, use is late. */
  @Test
  public void byLookingTheLenderComesFirstAndTheLedgerIsATickLateAtMost() throws Exception {
    keys.put("meed.yarn.exact-events", "false");
    assertArrayEquals(new int[] {0, 8}, lend(OURS));
    clock.tickMsec(400);
    tick();
    // A's have ended when that tick begins, and B's have begun: as far as a look can tell.
    assertEquals(8 * 1024 * 11_400L, used("root.a"));
    pass(5);
    assertEquals(8 * 1024 * 11_400L, used("root.a"));
    assertEquals(8 * 1024 * 5000L, used("root.b"));
  }

  @Test
  public void betweenTicksStartsAreChargedTheirQuantum() throws Exception {
    up(OURS, queue("a") + queue("b"));
    addNode(8192, 64);
    ApplicationAttemptId a = createSchedulingRequest(1024, "root.a", "u", 16);
    ApplicationAttemptId b = createSchedulingRequest(1024, "root.b", "u", 16);
    scheduler.update();
    // No tick in between: without the live part all eight would go to one.
    beat(8);
    assertArrayEquals(new int[] {4, 4}, new int[] {held(a), held(b)});
  }

  /**
   * New demands of four instants of A and of B (ICS'14 and TSC'18 Table 1), times a factor, on as
   * many times 100 units; tasks of one unit and one instant.
   */
  private void table(String policy, int factor, int[][] served) throws Exception {
    up(policy, queue("a") + queue("b"));
    addNode(factor * 100 * 1024, factor * 200);
    int[][] demands = {{20, 100}, {40, 60}, {80, 50}, {60, 50}};
    List<ApplicationAttemptId> ofA = new ArrayList<>();
    List<ApplicationAttemptId> ofB = new ArrayList<>();
    for (int t = 0; t < demands.length; t++) {
      ofA.add(createSchedulingRequest(1024, "root.a", "u", factor * demands[t][0]));
      ofB.add(createSchedulingRequest(1024, "root.b", "u", factor * demands[t][1]));
      scheduler.update();
      tick();
      beat(factor * 110);
      int a = ofA.stream().mapToInt(this::held).sum();
      int b = ofB.stream().mapToInt(this::held).sum();
      assertArrayEquals("at t" + (t + 1), served[t], new int[] {a, b});
      clock.tickSec(1);
      ofA.forEach(this::release);
      ofB.forEach(this::release);
      tick();
    }
  }

  private void usedAfterwards(int ofEach) {
    assertEquals(ofEach * 1024 * 1000L, used("root.a"));
    assertEquals(ofEach * 1024 * 1000L, used("root.b"));
  }

  /** ICS'14 and TSC'18 Table 1 (a): memoryless, and so Hadoop's own. */
  @Test
  public void stockFairServesTheMemorylessTable() throws Exception {
    table("fair", 1, new int[][] {{20, 80}, {40, 60}, {50, 50}, {50, 50}});
  }

  /** The same (b). */
  @Test
  public void theTableOfThePaperIsServed() throws Exception {
    table(OURS, 1, new int[][] {{20, 80}, {40, 60}, {80, 20}, {60, 40}});
    usedAfterwards(200);
  }

  /** The same (c): use above the share counts half. */
  @Test
  public void theTableWithADiscountIsServed() throws Exception {
    keys.put("meed.yarn.policy.discount", "0.5");
    table(OURS, 1, new int[][] {{20, 80}, {40, 60}, {80, 20}, {60, 40}});
    usedAfterwards(180);
  }

  /** CloudCom'14 Table I (a) and (b): twice as much of all. */
  @Test
  public void theTableOfTwoHundredIsServed() throws Exception {
    table(OURS, 2, new int[][] {{40, 160}, {80, 120}, {160, 40}, {120, 80}});
    usedAfterwards(400);
  }

  @Test
  public void stockFairServesTheMemorylessTableOfTwoHundred() throws Exception {
    table("fair", 2, new int[][] {{40, 160}, {80, 120}, {100, 100}, {100, 100}});
  }

  /**
   * TSC'18 Sec. 5.2: B has used least of all leaves, its sibling A most. At t_wait = 0 B is served
   * as if there were one level; without a guard its parent's use holds it back.
   */
  private int[] tree(String tWait) throws Exception {
    keys.put("meed.yarn.policy.t-wait", tWait);
    up(OURS, "<queue name=\"g1\">" + queue("a") + queue("b") + "</queue>"
        + "<queue name=\"g2\">" + queue("c") + queue("d") + "</queue>");
    addNode(12 * 1024, 64);
    String[] leaves = {"root.g1.a", "root.g1.b", "root.g2.c", "root.g2.d"};
    int[] seconds = {20, 1, 5, 6};
    for (int i = 0; i < leaves.length; i++) {
      ApplicationAttemptId app = createSchedulingRequest(10 * 1024, leaves[i], "u", 1);
      scheduler.update();
      tick();
      beat(1);
      assertEquals(1, held(app));
      pass(seconds[i]);
      release(app);
      tick();
    }
    ApplicationAttemptId[] apps = new ApplicationAttemptId[4];
    for (int i = 0; i < leaves.length; i++) {
      apps[i] = createSchedulingRequest(1024, leaves[i], "u", 100);
    }
    scheduler.update();
    tick();
    beat(3);
    int[] now = new int[4];
    for (int i = 0; i < 4; i++) {
      now[i] = held(apps[i]);
    }
    return now;
  }

  @Test
  public void withoutWaitingTheLeafThatUsedLeastIsServed() throws Exception {
    assertArrayEquals(new int[] {0, 3, 0, 0}, tree("0s"));
  }

  @Test
  public void withoutAGuardItsParentHoldsItBack() throws Exception {
    assertArrayEquals(new int[] {0, 0, 3, 0}, tree("never"));
  }

  @Test
  public void aStarvedLeafIsServedOnceItHasWaited() throws Exception {
    int[] before = tree("30s");
    assertArrayEquals(new int[] {0, 0, 3, 0}, before);
    pass(31);
    beat(1);
    assertEquals(1, scheduler.getQueueManager().getLeafQueue("root.g1.b", false)
        .getResourceUsage().getMemorySize() / 1024);
  }

  /**
   * Two groups of weight 1 and 3, of one and two leaves: parts 1/4, 3/8, 3/8 of the root. Whoever
   * the guard serves, at t_wait = 0 everybody, gets its part.
   */
  @Test
  public void theGuardServesByPartsOfTheRoot() throws Exception {
    keys.put("meed.yarn.policy.t-wait", "0s");
    up(OURS, "<queue name=\"g1\">" + queue("a") + "</queue>"
        + "<queue name=\"g2\"><weight>3</weight>" + queue("b") + queue("c") + "</queue>");
    addNode(16 * 1024, 64);
    String[] leaves = {"root.g1.a", "root.g2.b", "root.g2.c"};
    ApplicationAttemptId[] apps = new ApplicationAttemptId[3];
    for (int i = 0; i < 3; i++) {
      apps[i] = createSchedulingRequest(1024, leaves[i], "u", 100);
    }
    scheduler.update();
    tick();
    beat(16);
    assertArrayEquals(new int[] {4, 6, 6},
        new int[] {held(apps[0]), held(apps[1]), held(apps[2])});
  }

  @Test
  public void dominantSharesAreRemembered() throws Exception {
    keys.put("meed.yarn.policy.order", "long-term-drf");
    assertArrayEquals(new int[] {0, 8}, lend(OURS));
  }

  @Test
  public void weightsDivide() throws Exception {
    up(OURS, "<queue name=\"a\"><weight>3</weight></queue>" + queue("b"));
    addNode(8192, 64);
    ApplicationAttemptId a = createSchedulingRequest(1024, "root.a", "u", 16);
    ApplicationAttemptId b = createSchedulingRequest(1024, "root.b", "u", 16);
    scheduler.update();
    tick();
    beat(8);
    assertArrayEquals(new int[] {6, 2}, new int[] {held(a), held(b)});
  }

  @Test
  public void applicationsOfALeafTakeTurns() throws Exception {
    up(OURS, queue("a"));
    addNode(4096, 64);
    ApplicationAttemptId first = createSchedulingRequest(1024, "root.a", "u", 16);
    scheduler.update();
    tick();
    beat(4);
    pass(10);
    ApplicationAttemptId second = createSchedulingRequest(1024, "root.a", "u", 16);
    scheduler.update();
    pass(1);
    release(first);
    beat(4);
    assertArrayEquals(new int[] {0, 4}, new int[] {held(first), held(second)});
  }

  @Test
  public void whatIsWrongIsRefusedAtTheStart() throws Exception {
    for (String[] wrong : new String[][] {
        {"meed.yarn.policy.half-live", "7d", "did you mean `half_life`?"},
        {"meed.yarn.policy.discount", "2", "discount"},
        {"meed.yarn.queue.root.default.policy.quantum", "soon", "queue `root.default`"},
        {"meed.yarn.interval-ms", "0", "from 10 to 3600000"},
        {"meed.yarn.intervall-ms", "100", "unknown key meed.yarn.intervall-ms"}}) {
      keys.clear();
      keys.put(wrong[0], wrong[1]);
      try {
        up(OURS, queue("a"));
        fail(wrong[0] + " is taken");
      } catch (YarnRuntimeException e) {
        assertTrue(e.getMessage(), e.getMessage().contains(wrong[2]));
      }
      down();
      ledger = null;
    }
  }

  @Test
  public void aRefreshAddsQueuesAndKeepsTheHistoryOfThoseThatGo() throws Exception {
    lend(OURS);
    tick();
    long before = used("root.a");
    allocations(OURS, "<queue name=\"a\"><weight>2</weight></queue>" + queue("b") + queue("c"));
    scheduler.reinitialize(conf, resourceManager.getRMContext());
    tick();
    assertEquals(before, used("root.a"));
    assertEquals(0, used("root.c"));
    assertEquals(2000, ledger.snapshot().row("root.a").weight);
  }

  /**
   * Each value that is wrong is refused at a refresh as at the start, and the old ones stay: one
   * for each key of long-term fairness, and for each of the plug-in's own.
   */
  @Test
  public void whatIsWrongIsRefusedAtARefreshAndTheOldOnesStay() throws Exception {
    lend(OURS);
    tick();
    long before = used("root.a");
    long refused = ledger.refusals();
    String[][] wrong = {{"policy.memory", "long"}, {"policy.round", "-1h"},
        {"policy.half-life", "soon"}, {"policy.discount", "7"}, {"policy.quantum", "often"},
        {"policy.quantum-initial", "x"}, {"policy.quantum-interval", "0s"},
        {"policy.newcomer", "late"}, {"policy.t-wait", "-5s"}, {"policy.resource", "disks"},
        {"policy.prices", "{disks=1}"}, {"policy.order", "fair"}, {"policy.placement", "best-fit"},
        {"queue.root.a.policy.discount", "x"}, {"interval-ms", "1"}, {"keep-days", "0"},
        {"exact-events", "maybe"}, {"ledgerdir", "/tmp"},
        // Right by itself, but not while the ledger is kept.
        {"policy.half-life", "7d"}};
    for (String[] key : wrong) {
      String right = conf.get("meed.yarn." + key[0]);
      conf.set("meed.yarn." + key[0], key[1]);
      scheduler.reinitialize(conf, resourceManager.getRMContext());
      tick();
      assertEquals(key[0], ++refused, ledger.refusals());
      assertEquals(key[0], before, used("root.a"));
      if (right == null) {
        conf.unset("meed.yarn." + key[0]);
      } else {
        conf.set("meed.yarn." + key[0], right);
      }
    }
    scheduler.reinitialize(conf, resourceManager.getRMContext());
    tick();
    assertEquals("what is right again is taken", refused, ledger.refusals());
  }

  /** Each key of long-term fairness in scenarios has one here. */
  @Test
  public void everyKeyIsTaken() throws Exception {
    for (String[] key : new String[][] {{"memory", "forever"}, {"round", "24h"},
        {"half-life", "7d"}, {"discount", "0.5"}, {"quantum", "30s"},
        {"quantum-initial", "20s"}, {"quantum-interval", "10min"}, {"newcomer", "early-bird"},
        {"t-wait", "5min"}, {"resource", "cpu"}, {"prices", "{memory=1,cpu=0.25}"},
        {"order", "long-term-drf"}}) {
      keys.clear();
      keys.put("meed.yarn.policy.quantum", "adaptive");
      keys.put("meed.yarn.policy." + key[0], key[1]);
      up(OURS, queue("a"));
      tick();
      down();
      ledger = null;
    }
  }

  @Test
  public void peopleAreToldWhoseTurnItIsAndWhy() throws Exception {
    up(OURS, queue("a") + queue("b"));
    addNode(8192, 64);
    ApplicationAttemptId a = createSchedulingRequest(1024, "root.a", "u", 16);
    scheduler.update();
    beat(8);
    pass(10);
    ApplicationAttemptId b = createSchedulingRequest(1024, "root.b", "u", 16);
    scheduler.update();
    pass(1);
    String queues = told("Queues");
    assertTrue(queues, queues.contains("\"queue\":\"root.b\"") && queues.contains("\"next\":0"));
    String why = told("Why." + a.getApplicationId());
    assertTrue(why, why.contains("\"place\":1") && why.contains("\"among\":\"root\""));
    why = told("Why." + b.getApplicationId());
    assertTrue(why, why.contains("\"place\":0"));
    why = told("Why.application_1_0099");
    assertTrue(why, why.contains("\"error\":\"application application_1_0099 is not known"));
    String nobody = ManagementFactory.getPlatformMBeanServer().getMBeanInfo(
        new ObjectName(StandingBean.NAME)).getAttributes()[0].getName();
    assertEquals("who reads all beans waits for nothing", "Protocol", nobody);
  }
}
